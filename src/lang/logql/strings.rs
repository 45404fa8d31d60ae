//! Strings and single-quoted characters: which escapes there are and what they say.

use super::lexer::Lexer;
use super::token::{Kind, Token};
use super::tree::{Span, Text};
use crate::lang::Fault;

impl Lexer<'_> {
    /// `` `...` ``: no escapes, may go over lines.
    pub(super) fn raw(&mut self, start: usize) -> Result<Token, Fault> {
        let Some(length) = self.text[start + 1..].find('`') else {
            return Err(Fault::new(start..self.text.len(), "the string has no closing backtick"));
        };
        self.at = start + length + 2;
        Ok(self.verbatim(start, start + 1, start + 1 + length))
    }

    /// `"..."`: Go's escapes, on one line.
    pub(super) fn quoted(&mut self, start: usize) -> Result<Token, Fault> {
        let bytes = self.text.as_bytes();
        let inside = start + 1;
        let stop = |&byte: &u8| matches!(byte, b'"' | b'\\' | b'\n');
        let mut at = inside + bytes[inside..].iter().position(stop).unwrap_or(bytes.len() - inside);
        if self.byte(at) == b'"' {
            self.at = at + 1;
            return Ok(self.verbatim(start, inside, at));
        }
        let pooled_from = self.pool.len();
        let mut copied = inside;
        loop {
            match self.byte(at) {
                b'\\' => {
                    self.pool.extend_from_slice(&bytes[copied..at]);
                    at = self.escape(at, b'"', true)?;
                    copied = at;
                }
                b'"' => break,
                b'\n' => {
                    return Err(Fault::new(start..at, "the string has no closing quote on its line")
                        .hint("close it, or use backticks for a string of several lines"));
                }
                0 if at >= bytes.len() => {
                    return Err(Fault::new(start..at, "the string has no closing quote"));
                }
                _ => at += 1,
            }
        }
        self.pool.extend_from_slice(&bytes[copied..at]);
        self.at = at + 1;
        let text = Text { bytes: Span::new(pooled_from, self.pool.len()), pooled: true };
        Ok(self.token(Kind::Str(text), start))
    }

    /// `'x'`: one character in single quotes is a name for Loki, quotes included; anything longer is an error.
    pub(super) fn single_quoted(&mut self, start: usize) -> Result<Token, Fault> {
        let bytes = self.text.as_bytes();
        let (mut at, mut characters) = (start + 1, 0);
        loop {
            match self.byte(at) {
                b'\'' => break,
                b'\\' => at = self.escape(at, b'\'', false)?,
                b'\n' => return Err(single_quotes(start..at)),
                0 if at >= bytes.len() => return Err(single_quotes(start..at)),
                _ => at += self.text[at..].chars().next().map_or(1, char::len_utf8),
            }
            characters += 1;
        }
        self.at = at + 1;
        if characters == 1 { Ok(self.token(Kind::Ident, start)) } else { Err(single_quotes(start..self.at)) }
    }

    /// Reads the escape at `at`, keeps what it says if asked to, and tells where it ends. Values are only looked at when kept.
    fn escape(&mut self, at: usize, quote: u8, keep: bool) -> Result<usize, Fault> {
        let letter = self.byte(at + 1);
        let (base, digits, from) = match letter {
            b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'\\' => {
                if keep {
                    self.pool.push(simple(letter));
                }
                return Ok(at + 2);
            }
            _ if letter == quote => {
                if keep {
                    self.pool.push(quote);
                }
                return Ok(at + 2);
            }
            b'0'..=b'7' => (8, 3, at + 1),
            b'x' => (16, 2, at + 2),
            b'u' => (16, 4, at + 2),
            b'U' => (16, 8, at + 2),
            _ => return Err(self.unknown_escape(at)),
        };
        let mut value = 0_u32;
        for place in from..from + digits {
            let Some(digit) = char::from(self.byte(place)).to_digit(base) else {
                return Err(Fault::new(at..place, "the escape has too few digits"));
            };
            value = value.wrapping_mul(base).wrapping_add(digit);
        }
        let end = from + digits;
        if keep {
            self.keep(letter, value, at..end)?;
        }
        Ok(end)
    }

    /// Adds the character or byte that a numeric escape names.
    fn keep(&mut self, letter: u8, value: u32, span: std::ops::Range<usize>) -> Result<(), Fault> {
        let low = value.to_le_bytes()[0];
        match letter {
            b'u' | b'U' if value > 0x7FFF_FFFF => self.pool.push(low), // negative for Go, which then keeps the lowest byte
            b'u' | b'U' if value > 0x10_FFFF => {
                return Err(Fault::new(span, "the escape names no character"));
            }
            b'u' | b'U' => {
                let c = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.pool.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            b'x' => self.pool.push(low),
            _ if value > 255 => return Err(Fault::new(span, "an octal escape is at most \\377")),
            _ => self.pool.push(low),
        }
        Ok(())
    }

    fn unknown_escape(&self, at: usize) -> Fault {
        let Some(c) = self.text.get(at + 1..).and_then(|rest| rest.chars().next()) else {
            return Fault::new(at..self.text.len(), "the string ends inside of an escape");
        };
        let fault = Fault::new(
            at..at + 1 + c.len_utf8(),
            format!("`\\{}` is no escape of a string", c.escape_debug()),
        );
        fault.hint("in a regular expression double the backslash, or put the string in backticks")
    }
}

fn simple(letter: u8) -> u8 {
    match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        other => other,
    }
}

fn single_quotes(span: std::ops::Range<usize>) -> Fault {
    Fault::new(span, "single quotes make no string").hint("use double quotes or backticks")
}
