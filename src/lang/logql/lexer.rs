//! Cuts a query into tokens exactly where Loki cuts it.
//!
//! Loki scans with Go's text scanner and looks at the words afterwards. Much of what follows from that looks odd: `-0` is a
//! duration, `a // b` has a comment, `'x'` is a name. Here it is repeated, not judged.

use super::token::{Kind, Token, word};
use super::tree::{Span, Text};
use crate::lang::letters::{is_digit, is_letter, is_number};
use crate::lang::{Fault, duration, size};

/// Reads one token after the other.
pub(super) struct Lexer<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// What strings with escapes say.
    pub(super) pool: Vec<u8>,
    /// Where `//` begins a comment.
    pub(super) slashes: Vec<Span>,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // A byte order mark at the very beginning is passed over, anywhere else it is a name.
        let at = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
        Self { text, at, pool: Vec::new(), slashes: Vec::new() }
    }

    pub(super) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn char(&self, at: usize) -> Option<char> {
        self.text.get(at..).and_then(|rest| rest.chars().next())
    }

    /// The next token; at the end of the query the end, again and again.
    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        let adjacent = self.skip_blanks()?;
        let start = self.at;
        let first = self.byte(start);
        if first < 0x80 {
            match first {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => return Ok(self.name(start)),
                b'0'..=b'9' => return self.number(start, false, adjacent),
                b'.' if self.byte(start + 1).is_ascii_digit() => return self.number(start, true, adjacent),
                b'"' => return self.quoted(start),
                b'`' => return self.raw(start),
                b'\'' => return self.single_quoted(start),
                b'[' => return self.range(start),
                b'-' => return Ok(self.minus(start)),
                _ => {}
            }
            if let Some((kind, length)) = self.sign(first, start) {
                self.at = start + length;
                return Ok(self.token(kind, start));
            }
        } else if self.char(start).is_some_and(is_letter) {
            return Ok(self.name(start));
        }
        let Some(other) = self.char(start) else {
            return Ok(self.token(Kind::End, start));
        };
        // Whatever means nothing is a name of one character.
        self.at = start + other.len_utf8();
        Ok(self.token(Kind::Ident, start))
    }

    pub(super) fn token(&self, kind: Kind, start: usize) -> Token {
        Token { kind, span: Span::new(start, self.at) }
    }

    /// Passes over blanks and comments; tells whether there were none since the last token or `#` comment.
    fn skip_blanks(&mut self) -> Result<bool, Fault> {
        let mut from = self.at;
        loop {
            match self.byte(self.at) {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                b'#' => {
                    self.at = self.line_end(self.at, true);
                    from = self.at;
                }
                b'/' if self.byte(self.at + 1) == b'/' => {
                    let end = self.line_end(self.at, false);
                    self.slashes.push(Span::new(self.at, end));
                    self.at = end;
                }
                b'/' if self.byte(self.at + 1) == b'*' => {
                    let inside = self.at + 2;
                    let Some(length) = self.text.get(inside..).and_then(|rest| rest.find("*/")) else {
                        return Err(Fault::new(self.at..self.text.len(), "the comment has no end")
                            .hint("close it with */"));
                    };
                    self.at = inside + length + 2;
                }
                _ => return Ok(self.at == from),
            }
        }
    }

    fn line_end(&self, from: usize, with_newline: bool) -> usize {
        match self.text.as_bytes()[from..].iter().position(|&byte| byte == b'\n') {
            Some(length) => from + length + usize::from(with_newline),
            None => self.text.len(),
        }
    }

    /// Operators and brackets, by the longest match.
    fn sign(&self, first: u8, start: usize) -> Option<(Kind, usize)> {
        let second = self.byte(start + 1);
        Some(match (first, second) {
            (b'=', b'~') => (Kind::Re, 2),
            (b'=', b'=') => (Kind::CmpEq, 2),
            (b'!', b'=') => (Kind::Neq, 2),
            (b'!', b'~') => (Kind::Nre, 2),
            (b'!', b'>') => (Kind::Npa, 2),
            (b'|', b'=') => (Kind::PipeExact, 2),
            (b'|', b'~') => (Kind::PipeMatch, 2),
            (b'|', b'>') => (Kind::PipePattern, 2),
            (b'>', b'=') => (Kind::Gte, 2),
            (b'<', b'=') => (Kind::Lte, 2),
            (b'=', _) => (Kind::Eq, 1),
            (b'|', _) => (Kind::Pipe, 1),
            (b'>', _) => (Kind::Gt, 1),
            (b'<', _) => (Kind::Lt, 1),
            (b',', _) => (Kind::Comma, 1),
            (b'.', _) => (Kind::Dot, 1),
            (b'{', _) => (Kind::OpenBrace, 1),
            (b'}', _) => (Kind::CloseBrace, 1),
            (b'(', _) => (Kind::OpenParen, 1),
            (b')', _) => (Kind::CloseParen, 1),
            (b']', _) => (Kind::CloseBracket, 1),
            (b'+', _) => (Kind::Add, 1),
            (b'*', _) => (Kind::Mul, 1),
            (b'/', _) => (Kind::Div, 1),
            (b'%', _) => (Kind::Mod, 1),
            (b'^', _) => (Kind::Pow, 1),
            _ => return None,
        })
    }

    /// A name or a word. Names of functions are only that in front of a parenthesis or a grouping.
    fn name(&mut self, start: usize) -> Token {
        let mut end = start;
        loop {
            let byte = self.byte(end);
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                end += 1;
            } else if byte < 0x80 {
                break;
            } else if let Some(c) = self.char(end).filter(|&c| is_letter(c) || is_digit(c)) {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        self.at = end;
        let kind = match word(&self.text[start..end]) {
            Some((kind, contextual)) if !contextual || self.calls(end) => kind,
            _ => Kind::Ident,
        };
        self.token(kind, start)
    }

    /// Whether `(`, or `by` or `without` and then `(`, comes next. Comments count as something else here.
    fn calls(&self, at: usize) -> bool {
        let after = |at: usize| self.text[at..].trim_start();
        let rest = after(at);
        if rest.starts_with('(') {
            return true;
        }
        let here = self.text.len() - rest.len();
        let behind = |grouping: &str| {
            let mut chars = rest.char_indices();
            for expected in grouping.chars() {
                let (_, c) = chars.next()?;
                let lower = if c == '\u{130}' { 'i' } else { c.to_ascii_lowercase() };
                if lower != expected {
                    return None;
                }
            }
            Some(here + chars.next().map_or(rest.len(), |(offset, _)| offset))
        };
        behind("by").or_else(|| behind("without")).is_some_and(|end| after(end).starts_with('('))
    }

    /// `-`, a flag of a parser, or a negative duration.
    fn minus(&mut self, start: usize) -> Token {
        if self.byte(start + 1) == b'-' {
            let rest = &self.text[start..];
            let end = rest.find(|c: char| c != '-' && !is_letter(c)).unwrap_or(rest.len());
            let flag = match &rest[..end] {
                "--strict" => Some(Kind::StrictFlag),
                "--keep-empty" => Some(Kind::KeepEmptyFlag),
                _ => None,
            };
            if let Some(kind) = flag {
                self.at = start + end;
                return self.token(kind, start);
            }
        }
        self.at = start + 1;
        let kind = self.duration(start).unwrap_or(Kind::Sub);
        self.token(kind, start)
    }

    /// A duration that began at `start` and goes on here, if what follows makes it one.
    pub(super) fn duration(&mut self, start: usize) -> Option<Kind> {
        let end = self.run_end(|c| matches!(c, 'n' | 'u' | '\u{B5}' | 'm' | 's' | 'h' | 'd' | 'w' | 'y'));
        if end == self.at {
            return None;
        }
        let nanoseconds = duration::logql(&self.text[start..end]).ok()?;
        self.at = end;
        Some(Kind::Duration(nanoseconds))
    }

    /// A byte size that began at `start` and goes on here, if what follows makes it one.
    pub(super) fn bytes(&mut self, start: usize) -> Option<Kind> {
        let end = self.run_end(|c| matches!(c, 'B' | 'i' | 'k' | 'K' | 'M' | 'G' | 'T' | 'P'));
        if end == self.at {
            return None;
        }
        let bytes = size::parse(&self.text[start..end]).ok()?;
        self.at = end;
        Some(Kind::Bytes(bytes))
    }

    /// Where the run of numbers, dots and letters of units ends that begins here.
    fn run_end(&self, is_unit: impl Fn(char) -> bool) -> usize {
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !(c == '.' || is_unit(c) || is_number(c))).unwrap_or(rest.len());
        self.at + length
    }

    /// `[5m]`: everything up to the bracket has to be a duration.
    fn range(&mut self, start: usize) -> Result<Token, Fault> {
        let rest = &self.text[start + 1..];
        let Some(length) = rest.find(']') else {
            return Err(Fault::new(start..self.text.len(), "the range has no closing bracket")
                .hint("write the range as in [5m]"));
        };
        let inside = &rest[..length];
        self.at = start + length + 2;
        match duration::prometheus(inside) {
            Ok(nanoseconds) => Ok(self.token(Kind::Range(nanoseconds), start)),
            Err(error) => {
                let fault = Fault::new(start..self.at, format!("`[{inside}]` is no range: {error}"));
                Err(match super::advice::range(inside) {
                    Some(hint) => fault.hint(hint),
                    None => fault,
                })
            }
        }
    }

    /// A string as it stands in the query.
    pub(super) fn verbatim(&self, start: usize, from: usize, to: usize) -> Token {
        let text = Text { bytes: Span::new(from, to), pooled: false };
        self.token(Kind::Str(text), start)
    }
}
