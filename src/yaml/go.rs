//! JSON values as Go's yaml.v2 writes them, character for character (but for U+0085, U+2028 and U+2029): what
//! prometheus-operator measures.
//!
//! Mirrors `encode.go` and `emitterc.go` of yaml.v2 2.4 for maps, lists and scalars in block style: 80 columns, two
//! blanks, lists at the indentation of their key. Keys keep their order, which changes no size.

use std::fmt::Write as _;

use serde_json::Value;

use super::resolve;

/// Folding begins behind this column.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// A longer key stands behind a question mark.
const LONGEST_SIMPLE_KEY: usize = 128;

/// The value as a document, ending in a line break.
pub fn write(value: &Value) -> String {
    let mut writer = Writer::default();
    match value {
        Value::Object(map) if !map.is_empty() => writer.map(map, 0),
        Value::Array(items) if !items.is_empty() => writer.list(items, 0),
        scalar => writer.scalar(scalar, INDENT, false),
    }
    writer.line();
    writer.out
}

/// What may become of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

#[derive(Debug, Default)]
struct Writer {
    out: String,
    column: usize,
}

impl Writer {
    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column = if c == '\n' { 0 } else { self.column + 1 };
    }

    fn text(&mut self, text: &str) {
        text.chars().for_each(|c| self.put(c));
    }

    /// Ends a line that has begun.
    fn line(&mut self) {
        if self.column > 0 {
            self.put('\n');
        }
    }

    fn indent(&mut self, indent: usize) {
        while self.column < indent {
            self.put(' ');
        }
    }

    fn map(&mut self, map: &serde_json::Map<String, Value>, indent: usize) {
        for (key, value) in map {
            // The first one stands behind the dash of its list, if that is where the map is.
            if self.column != indent || !self.out.ends_with(' ') {
                self.line();
            }
            self.indent(indent);
            if key.len() > LONGEST_SIMPLE_KEY || key.contains(is_break) {
                self.text("? ");
                self.scalar(&Value::String(key.clone()), indent + INDENT, false);
                self.line();
                self.indent(indent);
            } else {
                self.scalar(&Value::String(key.clone()), indent, true);
            }
            self.put(':');
            self.nested(value, indent);
        }
    }

    fn nested(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(map) if !map.is_empty() => self.map(map, indent + INDENT),
            Value::Array(items) if !items.is_empty() => self.list(items, indent),
            scalar => {
                self.put(' ');
                self.scalar(scalar, indent + INDENT, false);
            }
        }
    }

    fn list(&mut self, items: &[Value], indent: usize) {
        for item in items {
            self.line();
            self.indent(indent);
            self.text("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.map(map, indent + INDENT),
                Value::Array(items) if !items.is_empty() => self.list(items, indent + INDENT),
                scalar => self.scalar(scalar, indent + INDENT, false),
            }
        }
    }

    /// A scalar; further lines of it begin at `indent`.
    fn scalar(&mut self, value: &Value, indent: usize, is_key: bool) {
        let Value::String(text) = value else {
            return self.text(&value.to_string());
        };
        match style(text, is_key) {
            Style::Plain => self.plain(text, indent, is_key),
            Style::Single => self.single(text, indent, is_key),
            Style::Double => self.double(text, indent, is_key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn fold(&mut self, indent: usize) {
        self.line();
        self.indent(indent);
    }

    fn plain(&mut self, text: &str, indent: usize, is_key: bool) {
        let mut after_blank = false;
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            if c == ' ' && !is_key && !after_blank && self.column > WIDTH && rest.peek() != Some(&' ') {
                self.fold(indent);
            } else {
                self.put(c);
            }
            after_blank = c == ' ';
        }
    }

    fn single(&mut self, text: &str, indent: usize, is_key: bool) {
        self.put('\'');
        let mut after_blank = false;
        let mut rest = text.chars().peekable();
        let mut is_first = true;
        while let Some(c) = rest.next() {
            let folds = !is_first && rest.peek().is_some_and(|next| *next != ' ');
            if c == ' ' && !is_key && !after_blank && self.column > WIDTH && folds {
                self.fold(indent);
            } else {
                if c == '\'' {
                    self.put('\'');
                }
                self.put(c);
            }
            (after_blank, is_first) = (c == ' ', false);
        }
        self.put('\'');
    }

    fn double(&mut self, text: &str, indent: usize, is_key: bool) {
        self.put('"');
        // It looks for a mark at the beginning wherever it is, and so escapes everything behind one.
        let is_marked = text.starts_with('\u{feff}');
        let mut after_blank = false;
        let mut rest = text.chars().peekable();
        let mut is_first = true;
        while let Some(c) = rest.next() {
            if is_marked || !is_printable(c) || is_break(c) || c == '"' || c == '\\' {
                self.text(&escape(c));
                after_blank = false;
            } else if c == ' ' {
                let next = rest.peek().copied();
                if !is_key && !after_blank && self.column > WIDTH && !is_first && next.is_some() {
                    self.fold(indent);
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                after_blank = true;
            } else {
                self.put(c);
                after_blank = false;
            }
            is_first = false;
        }
        self.put('"');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put('|');
        if text.starts_with(' ') || text.starts_with(is_break) {
            self.text(&INDENT.to_string());
        }
        match text.strip_suffix(is_break) {
            None => self.put('-'),
            Some(rest) if rest.is_empty() || rest.ends_with(is_break) => self.put('+'),
            Some(_) => {}
        }
        self.put('\n');
        for line in text.split_inclusive(is_break) {
            if !line.starts_with(is_break) {
                self.indent(indent);
            }
            self.text(line);
        }
    }
}

fn style(text: &str, is_key: bool) -> Style {
    let reads_as_text =
        matches!(resolve::plain(text), Ok(Value::String(_))) && !is_base_60(text) && !is_date(text);
    let wanted = match () {
        () if text.contains('\n') => Style::Literal,
        () if reads_as_text => Style::Plain,
        () => Style::Double,
    };
    let may = allowed(text);
    match wanted {
        Style::Literal if may.literal && !is_key => Style::Literal,
        Style::Plain if may.plain && !(is_key && text.is_empty()) => Style::Plain,
        Style::Plain if may.single && !(is_key && text.contains(is_break)) => Style::Single,
        _ => Style::Double,
    }
}

/// The styles in which a text can be read back.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    plain: bool,
    single: bool,
    literal: bool,
}

fn allowed(text: &str) -> Allowed {
    if text.is_empty() {
        return Allowed { plain: true, single: true, literal: false };
    }
    let mut indicators = text.starts_with("---") || text.starts_with("...");
    let (mut breaks, mut special, mut break_blank, mut blank_break) = (false, false, false, false);
    let (mut after_blank, mut after_break, mut after_white) = (false, false, true);
    let mut rest = text.chars().peekable();
    let mut is_first = true;
    while let Some(c) = rest.next() {
        let before_white = rest.peek().is_none_or(|next| is_white(*next));
        indicators |= match c {
            '#' if !is_first => after_white,
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => is_first,
            '?' | '-' => is_first && before_white,
            ':' => before_white,
            _ => false,
        };
        special |= !is_printable(c);
        if c == ' ' {
            break_blank |= after_break;
            (after_blank, after_break) = (true, false);
        } else if is_break(c) {
            breaks = true;
            blank_break |= after_blank;
            (after_blank, after_break) = (false, true);
        } else {
            (after_blank, after_break) = (false, false);
        }
        after_white = is_white(c);
        is_first = false;
    }
    let at_an_end = |found: fn(char) -> bool| text.starts_with(found) || text.ends_with(found);
    let loose = at_an_end(|c| c == ' ') || at_an_end(is_break);
    Allowed {
        plain: !loose && !break_blank && !blank_break && !special && !breaks && !indicators,
        single: !break_blank && !blank_break && !special,
        literal: !text.ends_with(' ') && !blank_break && !special,
    }
}

/// What yaml.v2 takes for printable; a tab is not, nor is anything beyond U+FFFF.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

fn is_break(c: char) -> bool {
    matches!(c, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_white(c: char) -> bool {
    matches!(c, ' ' | '\t') || is_break(c)
}

fn escape(c: char) -> String {
    let mut text = String::from('\\');
    let letter = match c {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other => {
            let code = u32::from(other);
            let _ = match code {
                0..=0xff => write!(text, "x{code:02X}"),
                0x100..=0xffff => write!(text, "u{code:04X}"),
                _ => write!(text, "U{code:08X}"),
            };
            return text;
        }
    };
    text.push(letter);
    text
}

/// `190:20:30`, which other readers of YAML 1.1 take for a number.
fn is_base_60(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let is_number = |part: &str, more: &str| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| c.is_ascii_digit() || more.contains(c))
    };
    let starts = parts.next().is_some_and(|first| is_number(first, "_"));
    let mut rest: Vec<&str> = parts.collect();
    let Some(last) = rest.pop().filter(|_| starts) else { return false };
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    let is_sixtieth = |part: &str| match part.as_bytes() {
        [one] => one.is_ascii_digit(),
        [ten, one] => (b'0'..=b'5').contains(ten) && one.is_ascii_digit(),
        _ => false,
    };
    rest.into_iter().chain([last]).all(is_sixtieth)
        && fraction.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// `2026-01-10`, with or without a time, which yaml.v2 takes for an instant.
fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let day = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (day, time) = rest.split_at(day);
    let is_time = match time.as_bytes().first() {
        None => true,
        Some(b' ') => is_time(&time[1..]),
        Some(b'T' | b't') => without_zone(&time[1..]).is_some_and(is_time),
        Some(_) => false,
    };
    year.len() == 4 && is_below(year, 9999) && is_below(month, 12) && is_below(day, 31) && is_time
}

/// A time without its zone, which it needs behind a `T`.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some(time);
    }
    let (time, zone) = text.split_at(text.rfind(['+', '-'])?);
    let (hours, minutes) = zone[1..].split_once(':')?;
    let is_zone = hours.len() == 2 && minutes.len() == 2 && is_below(hours, 24) && is_below(minutes, 60);
    is_zone.then_some(time)
}

/// `15:04:05`, with or without a fraction.
fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let [hours, minutes, seconds] = parts[..] else { return false };
    let (seconds, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, "0"));
    is_below(hours, 23)
        && is_below(minutes, 59)
        && is_below(seconds, 59)
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// A number of few digits, and no more than this.
fn is_below(digits: &str, most: u32) -> bool {
    let width = if most > 99 { 4 } else { 2 };
    let is_number =
        !digits.is_empty() && digits.len() <= width && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && digits.parse::<u32>().is_ok_and(|number| number <= most)
}
