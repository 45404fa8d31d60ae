//! Faults of the lexer, with advice for the mistakes that people make most.

use std::ops::Range;

use super::super::Fault;
use super::literals::{BadLiteral, WhyBad, decode};
use super::numbers::BadNumber;
use crate::lang::letters::is_name_character;

/// Text for a message: short, and readable whatever the bytes are.
pub(super) fn quote(bytes: &[u8]) -> String {
    let mut quoted = String::from("`");
    for character in short(bytes).chars() {
        match character {
            '"' | '\'' | '\\' => quoted.push(character),
            // Control characters and invisible ones become visible.
            _ => quoted.extend(character.escape_debug()),
        }
    }
    quoted + "`"
}

/// The same as a part of something that a hint quotes.
pub(super) fn short(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    // Four bytes make the longest character; nothing behind them needs a look.
    let shown = bytes.get(..4 * LONGEST).unwrap_or(bytes);
    let text = String::from_utf8_lossy(shown);
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

pub(super) fn unclosed_action(text: &[u8], opened: usize) -> Fault {
    let line = text.get(opened..).unwrap_or_default();
    let length = line.iter().position(|&byte| byte == b'\n').unwrap_or(line.len());
    Fault::new(opened..opened + length, "this action is never closed")
        .hint("close it with `}}`; to print two braces, write `{{ \"{{\" }}`")
}

pub(super) fn unclosed_comment(span: Range<usize>) -> Fault {
    Fault::new(span, "this comment is never closed").hint("end it with `*/}}` or `*/ -}}`")
}

pub(super) fn comment_not_alone(text: &[u8], end: usize) -> Fault {
    let length = match text.get(end..) {
        None | Some([]) => 0,
        Some(rest) => decode(rest).map_or(1, |(_, length)| length),
    };
    let span = end..end + length;
    let fault = Fault::new(span, "a comment must fill its whole action: `}}` has to follow `*/` at once");
    let rest = text.get(end..).unwrap_or_default();
    if rest.first().is_some_and(u8::is_ascii_whitespace) && rest.trim_ascii_start().starts_with(b"}}") {
        fault.hint("leave out the space between `*/` and `}}`")
    } else {
        fault.hint("write the comment as an action of its own: `{{/* … */}}`")
    }
}

pub(super) fn unclosed_paren(action: Range<usize>, end: usize) -> Fault {
    Fault::new(action.start..end, "this action ends with an open parenthesis").hint("add the missing `)`")
}

pub(super) fn unopened_paren(at: usize) -> Fault {
    Fault::new(at..at + 1, "this `)` closes nothing").hint("remove it, or add the missing `(`")
}

const INVISIBLE: &str = "this is an invisible character, often pasted; replace it with a plain space";

fn is_invisible(character: char) -> bool {
    !character.is_ascii() && character.is_whitespace()
        || matches!(character, '\u{feff}' | '\u{200b}'..='\u{200f}')
}

/// A sign that nothing inside of an action starts with.
pub(super) fn bad_sign(text: &[u8], start: usize, read: Option<(char, usize)>) -> Fault {
    let Some((character, length)) = read else {
        return Fault::new(start..start + 1, "an action holds a byte that is no UTF-8")
            .hint("write it inside of a quoted string, as `\\xff`");
    };
    let fault = Fault::new(
        start..start + length,
        format!(
            "{} has no meaning inside of an action",
            quote(character.encode_utf8(&mut [0; 4]).as_bytes())
        ),
    );
    let next = text.get(start + length).copied();
    match (character, next) {
        ('}', _) => fault.hint("close the action with two braces: `}}`"),
        ('{', _) => fault.hint("an action starts with exactly two braces and holds none outside of strings"),
        ('&', _) => fault.hint("write `and A B`"),
        ('!', Some(b'=')) => fault.hint("write `ne A B`"),
        ('!', _) => fault.hint("write `not A`"),
        ('<', Some(b'=')) => fault.hint("write `le A B`"),
        ('<', _) => fault.hint("write `lt A B`"),
        ('>', Some(b'=')) => fault.hint("write `ge A B`"),
        ('>', _) => fault.hint("write `gt A B`"),
        ('[', _) => fault.hint("write `index A \"key\"`"),
        ('/', Some(b'*')) => {
            fault.hint("a comment starts right after the braces: `{{/* … */}}` or `{{- /* … */}}`")
        }
        ('*' | '/' | '%' | '^', _) => fault.hint("templates have no arithmetic signs, only functions"),
        ('“' | '”' | '„' | '‘' | '’' | '«' | '»', _) => {
            fault.hint("strings stand in plain double quotes: `\"…\"`")
        }
        _ if is_invisible(character) => fault.hint(INVISIBLE),
        (':', _) => fault.hint("a variable is declared with `:=`"),
        ('#', _) => fault.hint("comments look like `{{/* … */}}`"),
        _ => fault,
    }
}

/// A name that ends with a sign which cannot follow a name.
pub(super) fn bad_word(text: &[u8], start: usize, end: usize) -> Fault {
    let rest = text.get(end..).unwrap_or_default();
    let (shown, length) = match decode(rest) {
        Some((_, length)) => (rest.get(..length).unwrap_or_default(), length),
        None => (rest.get(..1).unwrap_or_default(), 1),
    };
    let word = text.get(start..end).unwrap_or_default();
    let fault =
        Fault::new(end..end + length, format!("{} cannot follow {} directly", quote(shown), quote(word)));
    match shown {
        b"-" | b"/" | b"@" | b"~" if matches!(word.first(), Some(b'.' | b'$')) => {
            match dashed_field(text, start, end) {
                Some(hint) => fault.hint(hint),
                None => fault.hint("put a space before it"),
            }
        }
        b"}" => fault.hint("close the action with two braces: `}}`"),
        b"=" if word.first() == Some(&b'$') => fault.hint("put a space before `=`, or declare with `:=`"),
        b"=" | b"!" | b"<" | b">" | b"&" => {
            fault.hint("compare with `eq`, `ne`, `lt`, `le`, `gt`, `ge`; combine with `and`, `or`, `not`")
        }
        b"[" => fault.hint(format!("write `index {} \"key\"`", short(word))),
        b"'" => fault.hint("put a space before it; strings stand in double quotes: `\"…\"`"),
        b"\"" | b"`" | b"$" => fault.hint("put a space before it"),
        b"+" | b"*" | b"%" | b"-" | b"/" => fault.hint("templates have no arithmetic signs, only functions"),
        _ if decode(rest).is_some_and(|(character, _)| is_invisible(character)) => fault.hint(INVISIBLE),
        _ => fault,
    }
}

/// How to reach a field whose name has a sign that field names cannot have.
fn dashed_field(text: &[u8], start: usize, end: usize) -> Option<String> {
    let is_part =
        |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/' | b'@' | b'~');
    let rest = text.get(end..)?;
    let whole = end + rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    if text.get(start) != Some(&b'.') || start + 1 == end || whole == end + 1 {
        return None;
    }
    // The path before the field: fields and a variable that adjoin it.
    let before = text.get(..start)?;
    let length =
        before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(byte)).count();
    let path = short(before.get(before.len() - length..)?);
    let path = if path.is_empty() { "." } else { &path };
    let field = short(text.get(start + 1..whole)?);
    Some(format!("field names hold only letters, digits and `_`; write `index {path} \"{field}\"`"))
}

/// A number that Go cannot read; no reason means that something other than a digit follows.
pub(super) fn bad_number(text: &[u8], start: usize, end: usize, why: Option<BadNumber>) -> Fault {
    let rest = text.get(start..).unwrap_or_default();
    let length = match why {
        Some(_) => end - start,
        None => name_length(rest, end - start),
    };
    let shown = rest.get(..length).unwrap_or_default();
    let span = start..start + length;
    match why {
        Some(BadNumber::Integer) if shown.trim_ascii_start().starts_with(b"0") => {
            Fault::new(span, format!("{} starts with 0 but is no octal number", quote(shown)))
                .hint("leave out the leading zeros")
        }
        Some(BadNumber::Integer) => Fault::new(span, format!("{} does not fit into 64 bits", quote(shown)))
            .hint("write it as a float, such as `1e20`"),
        Some(BadNumber::TooLarge) => Fault::new(span, format!("{} is too large for a number", quote(shown)))
            .hint("numbers reach up to about 1.8e308"),
        Some(BadNumber::Syntax) if matches!(shown, b"-" | b"+") => {
            let next = rest.get(1..).unwrap_or_default();
            let fault = Fault::new(span, format!("{} needs a number right after it", quote(shown)));
            if next.starts_with(b"}}") {
                fault.hint("a trim marker has a space before it: ` -}}`")
            } else {
                fault.hint("templates have no arithmetic signs, only functions")
            }
        }
        _ => {
            let fault = Fault::new(span, format!("{} is no number", quote(shown)));
            match shown.first() {
                Some(b'.') => fault.hint(format!(
                    "field names do not start with a digit; write `index . \"{}\"`",
                    short(shown.get(1..).unwrap_or_default())
                )),
                _ => fault.hint(format!("if a string is meant, write `\"{}\"`", short(shown))),
            }
        }
    }
}

/// How far the letters and digits go on.
fn name_length(rest: &[u8], mut length: usize) -> usize {
    while let Some((character, more)) = rest.get(length..).and_then(decode) {
        if !is_name_character(character) {
            break;
        }
        length += more;
    }
    length
}

/// A literal without its closing quote.
pub(super) fn unterminated(text: &[u8], start: usize, end: usize) -> Fault {
    let what = match text.get(start) {
        Some(b'"') => "string",
        Some(b'`') => "raw string",
        _ => "character constant",
    };
    let fault = Fault::new(start..end.min(text.len()).max(start + 1), format!("this {what} is never closed"));
    match (what, text.get(end)) {
        ("string", Some(b'\n')) => {
            fault.hint("a quoted string ends on its line; write `\\n`, or use backquotes for several lines")
        }
        ("string", _) => fault.hint("add the closing `\"`"),
        ("raw string", _) => fault.hint("add the closing backquote"),
        _ => fault.hint("strings stand in double quotes: `\"…\"`"),
    }
}

/// A literal whose inside is wrong.
pub(super) fn bad_literal(literal: &[u8], at: usize, bad: BadLiteral) -> Fault {
    let shown = literal.get(bad.start..bad.end).unwrap_or_default();
    let span = at + bad.start..at + bad.end;
    match bad.why {
        WhyBad::Escape => Fault::new(span, format!("{} is no escape that strings know", quote(shown)))
            .hint("double the backslash, or write the string in backquotes"),
        WhyBad::NoCharacter => {
            Fault::new(span, "a character constant needs a character").hint("the empty string is `\"\"`")
        }
        WhyBad::ManyCharacters => Fault::new(span, "single quotes hold exactly one character").hint(format!(
            "strings stand in double quotes: `\"{}\"`",
            short(literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default())
        )),
    }
}
