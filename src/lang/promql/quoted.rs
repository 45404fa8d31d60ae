//! Strings in three kinds of quotes. What they mean is bytes, because `\xff` is allowed and no UTF-8.

use std::fmt;
use std::ops::Range;

use crate::lang::Fault;

/// Reads the string whose quote stands at `start`; the end of it behind the closing quote.
pub(super) fn scan(text: &str, start: usize) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let quote = bytes.get(start).copied().unwrap_or(b'"');
    let raw = quote == b'`';
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            None => return Err(unclosed(text, start, text.len())),
            Some(b'\n') if !raw => return Err(unclosed(text, start, at)),
            Some(b'\\') if !raw => at = escape(text, at, quote)?.end,
            Some(&byte) if byte == quote => return Ok(at + 1),
            // U+FFFD is what Go sees for broken UTF-8, so Prometheus takes the character itself for that.
            Some(0xEF) if bytes[at..].starts_with("\u{FFFD}".as_bytes()) => {
                return Err(Fault::new(at..at + 3, "the replacement character U+FFFD is not allowed in a string")
                    .hint("write \\ufffd if the character is really meant; otherwise the text was damaged on its way"));
            }
            Some(_) => at += 1,
        }
    }
}

fn unclosed(text: &str, start: usize, end: usize) -> Fault {
    let quote = &text[start..=start];
    let fault = Fault::new(start..end, format!("this string is never closed, {quote} is missing"));
    if end < text.len() {
        fault.hint("a string in \" or ' ends on its own line: write \\n for a line break, or quote with `")
    } else {
        fault
    }
}

/// An escape sequence: what it stands for and where it ends.
struct Escape {
    meaning: Meaning,
    end: usize,
}

enum Meaning {
    Byte(u8),
    Character(char),
}

fn escape(text: &str, start: usize, quote: u8) -> Result<Escape, Fault> {
    let bytes = text.as_bytes();
    let Some(&letter) = bytes.get(start + 1) else {
        return Err(Fault::new(start..text.len(), "the escape sequence is cut off"));
    };
    let (digits, radix): (Range<usize>, u32) = match letter {
        b'0'..=b'7' => (start + 1..start + 4, 8),
        b'x' => (start + 2..start + 4, 16),
        b'u' => (start + 2..start + 6, 16),
        b'U' => (start + 2..start + 10, 16),
        _ => {
            let byte = match letter {
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                b'\\' => b'\\',
                _ if letter == quote => quote,
                _ => return Err(unknown_escape(text, start)),
            };
            return Ok(Escape { meaning: Meaning::Byte(byte), end: start + 2 });
        }
    };
    let mut value: u32 = 0;
    for at in digits.clone() {
        let digit = bytes.get(at).and_then(|&byte| char::from(byte).to_digit(radix));
        let Some(digit) = digit else {
            let kind = if radix == 8 { "octal" } else { "hexadecimal" };
            let message =
                format!("the escape sequence \\{} needs {} {kind} digits", char::from(letter), digits.len());
            return Err(Fault::new(start..at.min(text.len()), message)
                .hint("to match a literal backslash, write \\\\ or quote the string with `"));
        };
        // Eight hexadecimal digits fill a u32 exactly, so nothing is lost here.
        value = value.wrapping_mul(radix).wrapping_add(digit);
    }
    let meaning = match letter {
        b'u' | b'U' => char::from_u32(value).map(Meaning::Character),
        _ => u8::try_from(value).ok().map(Meaning::Byte),
    };
    match meaning {
        Some(meaning) => Ok(Escape { meaning, end: digits.end }),
        None => Err(Fault::new(start..digits.end, "the escape sequence stands for no character")),
    }
}

fn unknown_escape(text: &str, start: usize) -> Fault {
    let letter = text[start + 1..].chars().next().unwrap_or(' ');
    let end = start + 1 + letter.len_utf8();
    let hint = match letter {
        '"' | '\'' | '`' => format!("{letter} needs no backslash inside these quotes"),
        _ => format!(
            "a backslash that a regular expression shall see is written \\\\{letter}, or \\{letter} in a string quoted with `"
        ),
    };
    Fault::new(start..end, format!("unknown escape sequence \\{}", letter.escape_debug())).hint(hint)
}

/// Appends what a string that `scan` accepted stands for.
pub(super) fn unquote(text: &str, span: Range<usize>, pool: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let quote = bytes.get(span.start).copied().unwrap_or(b'"');
    let inner = span.start + 1..span.end - 1;
    if quote == b'`' || !bytes[inner.clone()].contains(&b'\\') {
        pool.extend_from_slice(&bytes[inner]);
        return;
    }
    let mut at = inner.start;
    while at < inner.end {
        if bytes[at] == b'\\'
            && let Ok(found) = escape(text, at, quote)
        {
            match found.meaning {
                Meaning::Byte(byte) => pool.push(byte),
                Meaning::Character(character) => {
                    pool.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
            at = found.end;
        } else {
            pool.push(bytes[at]);
            at += 1;
        }
    }
}

/// Writes bytes as a string in double quotes that means the same bytes.
pub(super) fn write(bytes: &[u8], to: &mut impl fmt::Write) -> fmt::Result {
    to.write_char('"')?;
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' => to.write_str("\\\"")?,
                '\\' => to.write_str("\\\\")?,
                '\n' => to.write_str("\\n")?,
                '\r' => to.write_str("\\r")?,
                '\t' => to.write_str("\\t")?,
                '\u{FFFD}' => to.write_str("\\ufffd")?,
                _ if character.is_control() => write!(to, "\\u{:04x}", u32::from(character))?,
                _ => to.write_char(character)?,
            }
        }
        for byte in chunk.invalid() {
            write!(to, "\\x{byte:02x}")?;
        }
    }
    to.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(text: &str) -> Result<Vec<u8>, Fault> {
        let end = scan(text, 0)?;
        let mut pool = Vec::new();
        unquote(text, 0..end, &mut pool);
        Ok(pool)
    }

    #[test]
    fn strings_mean_bytes() {
        for (text, expected) in [
            (r#""a\"b""#, &b"a\"b"[..]),
            (r"'\x41\101\u00e9\U0001F600'", "AA\u{e9}\u{1F600}".as_bytes()),
            (r"`a\b`", br"a\b"),
            (r#""\xff""#, b"\xff"),
        ] {
            let found = meaning(text).unwrap();
            assert_eq!(found, expected, "{text}");
            let mut written = String::new();
            write(&found, &mut written).unwrap();
            assert_eq!(meaning(&written).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn broken_strings_are_refused() {
        for text in
            [r#""a"#, "\"a\nb\"", r#""\'""#, r#""\400""#, r#""\ud800""#, r#""\d""#, "\"\u{FFFD}\"", r#""\"#]
        {
            assert!(meaning(text).is_err(), "{text}");
        }
    }
}
