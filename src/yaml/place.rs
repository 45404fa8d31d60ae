//! From a place in a decoded string to the place in the file where it was written.
//!
//! A scalar is written in one of five styles, and four of them change the text: lines are folded, indentation is taken
//! off, quotes and escapes are read. The writing is therefore walked along with the decoded text.

use std::ops::Range;

/// The bytes of the file that hold `part` of the decoded `value`, which stands at `scalar`; `None` when the writing and
/// the value do not go together.
pub fn place(text: &str, scalar: &Range<usize>, value: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let written = text.get(scalar.clone())?;
    if part.start > part.end || part.end > value.len() {
        return None;
    }
    let walk = match written.bytes().next() {
        Some(b'|' | b'>') => block(written, value),
        Some(b'"') => quoted(written, value, b'"'),
        Some(b'\'') => quoted(written, value, b'\''),
        // Some parsers leave the indicator of a block out of its span.
        _ if is_block_content(text, scalar.start) => {
            let line = text[..scalar.start].rfind('\n').map_or(0, |newline| newline + 1);
            block_content(written, 0, value, scalar.start - line)
        }
        _ => flow(written, 0, written.len(), value, None),
    }?;
    let start = *walk.get(part.start)?;
    // An end is behind the last character that is meant; what is empty has nothing to point at but its start.
    let end = if part.end > part.start { walk.get(part.end - 1).map(|at| at + 1) } else { Some(start) };
    let mut end = end?.max(start);
    while end < written.len() && !written.is_char_boundary(end) {
        end += 1;
    }
    Some(scalar.start + start..scalar.start + end)
}

/// Does a block scalar's content begin here? Then its header stands at the end of the line before.
fn is_block_content(text: &str, start: usize) -> bool {
    let before = text[..start].trim_end_matches([' ', '\t']);
    let Some(before) = before.strip_suffix('\n') else { return false };
    let line = before.trim_end().rsplit('\n').next().unwrap_or_default();
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let header = line.trim_end_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    header.ends_with(['|', '>'])
}

/// A block scalar, from its `|` or `>`.
fn block(written: &str, value: &str) -> Option<Vec<usize>> {
    let header = written.find('\n')? + 1;
    block_content(written, header, value, 0)
}

/// The lines of a block scalar, the first of which may begin behind some blanks. For each byte of the value: where it
/// is written.
fn block_content(written: &str, start: usize, value: &str, blanks_before: usize) -> Option<Vec<usize>> {
    let content = &written[start..];
    let first = content.split('\n').find(|line| !line.trim().is_empty()).unwrap_or_default();
    // What the value begins with tells how much of the first line's blanks is indentation.
    let own = value.trim_start_matches('\n');
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let kept = blanks(own.split('\n').next().unwrap_or_default());
    // The blanks that the span leaves out belong to the first line.
    let is_first = content.starts_with(first);
    let indent = (blanks(first) + if is_first { blanks_before } else { 0 }).saturating_sub(kept);
    let skipped = if is_first { blanks(first).saturating_sub(kept) } else { 0 };
    // A span may begin behind empty lines; those that count are then found at its beginning.
    let lost = if is_first { value.len() - own.len() } else { 0 };
    let mut places = vec![start; lost];
    places.extend(flow(written, start + skipped, written.len(), &value[lost..], Some(indent))?);
    Some(places)
}

/// Lines that may be folded: blanks at their ends are dropped, or exactly `indent` of them at their beginnings.
fn flow(written: &str, start: usize, end: usize, value: &str, indent: Option<usize>) -> Option<Vec<usize>> {
    let (source, decoded) = (written.as_bytes(), value.as_bytes());
    let mut places = Vec::with_capacity(decoded.len() + 1);
    let mut at = start;
    while places.len() < decoded.len() {
        let wanted = decoded[places.len()];
        if at >= end {
            // The last line break may be the writing's end.
            if decoded[places.len()..].iter().all(|byte| *byte == b'\n') {
                places.resize(decoded.len(), end.saturating_sub(1));
                break;
            }
            return None;
        }
        let Some(first) = line_break(source, at, end, indent.is_none()) else {
            if source[at] != wanted {
                return None;
            }
            places.push(at);
            at += 1;
            continue;
        };
        // A run of breaks in the writing is as many breaks less one, or a blank, or as many breaks.
        let (breaks, next) = breaks(source, first, end, indent);
        let last = *breaks.last()?;
        let meant = decoded[places.len()..].iter().take_while(|byte| **byte == b'\n').count();
        if meant == 0 {
            if wanted != b' ' {
                return None;
            }
            places.push(last);
        } else {
            let skipped = breaks.len().saturating_sub(meant);
            places.extend((0..meant).map(|index| breaks.get(skipped + index).copied().unwrap_or(last)));
        }
        at = next;
    }
    places.push(at.min(end));
    Some(places)
}

/// The line breaks of a run that begins at `first`, and where the next text begins.
fn breaks(source: &[u8], first: usize, end: usize, indent: Option<usize>) -> (Vec<usize>, usize) {
    let (mut breaks, mut next) = (Vec::new(), first);
    while let Some(found) = line_break(source, next, end, false) {
        breaks.push(found);
        next = found + 1;
        let blanks = leading(source, next, end);
        // A line of blanks only is empty.
        let is_empty = line_break(source, next + blanks, end, false).is_some();
        next += if is_empty { blanks } else { indent.map_or(blanks, |indent| blanks.min(indent)) };
    }
    (breaks, next)
}

/// The line break at `at`, or behind blanks there when those are dropped.
fn line_break(source: &[u8], at: usize, end: usize, drops_blanks: bool) -> Option<usize> {
    let skipped = if drops_blanks { leading(source, at, end) } else { 0 };
    let skipped = if source.get(at + skipped) == Some(&b'\r') { skipped + 1 } else { skipped };
    (at + skipped < end && source[at + skipped] == b'\n').then_some(at + skipped)
}

fn leading(source: &[u8], at: usize, end: usize) -> usize {
    source[at..end].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A quoted scalar: `''` in single quotes, escapes in double ones, both folded over lines.
fn quoted(written: &str, value: &str, quote: u8) -> Option<Vec<usize>> {
    let source = written.as_bytes();
    let end = written.len().checked_sub(usize::from(source.len() > 1 && source.last() == Some(&quote)))?;
    let decoded = value.as_bytes();
    let mut places = Vec::with_capacity(decoded.len() + 1);
    let mut at = 1;
    while places.len() < decoded.len() {
        if at >= end {
            return None;
        }
        if quote == b'"' && source[at] == b'\\' {
            let (length, bytes) = escape(&written[at..])?;
            places.extend(std::iter::repeat_n(at, bytes));
            at += length;
            if bytes == 0 {
                at += leading(source, at, end);
            }
        } else if quote == b'\'' && source[at] == b'\'' {
            places.push(at);
            at += 2;
        } else if line_break(source, at, end, true).is_some() {
            // One line break is a blank, several are one less.
            let mut breaks = Vec::new();
            while let Some(found) = line_break(source, at, end, true) {
                breaks.push(found);
                at = found + 1;
            }
            at += leading(source, at, end);
            if breaks.len() > 1 {
                breaks.remove(0);
            }
            places.append(&mut breaks);
        } else {
            places.push(at);
            at += 1;
        }
    }
    places.push(at.min(end));
    Some(places)
}

/// How long an escape is, and how many bytes it stands for; none for an escaped line break.
fn escape(text: &str) -> Option<(usize, usize)> {
    let digits = |count: usize| {
        let code = u32::from_str_radix(text.get(2..2 + count)?, 16).ok()?;
        Some((2 + count, char::from_u32(code).map_or(3, char::len_utf8)))
    };
    match text[1..].chars().next()? {
        'x' => digits(2),
        'u' => digits(4),
        'U' => digits(8),
        '\n' => Some((2, 0)),
        '\r' if text[2..].starts_with('\n') => Some((3, 0)),
        // Next line, no-break space, line and paragraph separator.
        'N' | '_' => Some((2, 2)),
        'L' | 'P' => Some((2, 3)),
        other => Some((1 + other.len_utf8(), 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::FieldPath;

    /// Every character of the value is found at one that is the same, or at what stands for it.
    fn agrees(text: &str, path: &FieldPath) -> String {
        let documents = crate::yaml::read(text).unwrap();
        let node = &documents[0].root;
        let value = node.to_json().pointer(&path.pointer()).unwrap().as_str().unwrap().to_owned();
        let span = crate::yaml::Places::new(node).locate(path);
        let mut last = 0;
        for (at, c) in value.char_indices() {
            let found = place(text, &span, &value, &(at..at + c.len_utf8()));
            let found =
                found.unwrap_or_else(|| panic!("{c:?} at {at} of {value:?} has no place in {text:?}"));
            assert!(found.start >= last, "{text:?}: {c:?} at {at} goes back");
            last = found.start;
            if !c.is_whitespace() && !text[found.clone()].starts_with(['\\', '\'']) {
                assert_eq!(&text[found], c.to_string(), "{text:?}: {at}");
            }
        }
        value
    }

    #[test]
    fn every_character_has_its_place_in_every_style() {
        let path = FieldPath::of(&["a", "b"]);
        for (text, value) in [
            ("a:\n  b: plain text\n", "plain text"),
            ("a:\n  b: plain\n    folded\n\n    text\n", "plain folded\ntext"),
            ("a:\n  b: |\n    one\n      two\n\n    three\n  c: 1\n", "one\n  two\n\nthree\n"),
            ("a:\n  b: |-\n    one\n    two\n", "one\ntwo"),
            ("a:\n  b: |2-\n      one\n    two\n", "  one\ntwo"),
            ("a:\n  b: >\n    one\n    two\n\n    three\n", "one two\nthree\n"),
            ("a:\n  b: >-\n    one\n      more\n    two\n", "one\n  more\ntwo"),
            ("a:\n  b: >- # why\n\n    one\n    zwölf\n", "\none zwölf"),
            ("a:\n  b: \"x\\ty\\u00e9\\\\z \\\n    w\"\n", "x\tyé\\z w"),
            ("a:\n  b: \"one\n    two\n\n    three\"\n", "one two\nthree"),
            ("a:\n  b: 'it''s\n    so'\n", "it's so"),
            ("{a: {b: sum(x)}}\n", "sum(x)"),
            ("a:\r\n  b: |\r\n    one\r\n\r\n    two\r\n", "one\n\ntwo\n"),
            ("a:\r\n  b: \"x\\\r\n    y\"\r\n", "xy"),
        ] {
            assert_eq!(agrees(text, &path), value, "{text:?}");
        }
    }
}
