//! From text to tokens. What a sign means depends on the bracket it stands in, never on the grammar.

use super::number::{self, Scanned};
use super::quoted;
use super::token::{Kind, Operator, Token, keyword};
use crate::lang::Fault;

/// What surrounds the place that is read next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of braces; also inside a range once its first number was read.
    Statement,
    /// Between `{` and `}`, where no word is a keyword.
    Braces,
    /// Behind `[`, until the first number.
    Range,
}

/// The scanner over one text.
pub(super) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    place: Place,
    in_range: bool,
    /// Whether any range so far began with something that contains a number. Prometheus never forgets this, so
    /// `[step():]` is refused in a text where no range before held a number.
    range_had_number: bool,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
            place: Place::Statement,
            in_range: false,
            range_had_number: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The character at the place that is read, for messages.
    fn character(&self) -> char {
        self.text.get(self.at..).and_then(|rest| rest.chars().next()).unwrap_or(' ')
    }

    fn token(&mut self, kind: Kind, length: usize) -> Token {
        let start = self.at;
        self.at += length;
        Token { kind, start, end: self.at }
    }

    fn skip_blanks(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                // Before the first number of a range there is no place for a comment.
                b'#' if self.place != Place::Range => {
                    let rest = &self.bytes[self.at..];
                    let length = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
                    self.at += length.unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The next token; `Kind::End` again and again at the end.
    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        self.skip_blanks();
        match self.place {
            Place::Statement => self.statement(),
            Place::Braces => self.braces(),
            Place::Range => self.range(),
        }
    }

    fn statement(&mut self) -> Result<Token, Fault> {
        let Some(byte) = self.peek() else { return Ok(self.token(Kind::End, 0)) };
        let following = self.bytes.get(self.at + 1).copied();
        let (kind, length) = match (byte, following) {
            (b',', _) => (Kind::Comma, 1),
            (b'*', _) => (Kind::Operator(Operator::Mul), 1),
            (b'/', _) => (Kind::Operator(Operator::Div), 1),
            (b'%', _) => (Kind::Operator(Operator::Mod), 1),
            (b'+', _) => (Kind::Operator(Operator::Add), 1),
            (b'-', _) => (Kind::Operator(Operator::Sub), 1),
            (b'^', _) => (Kind::Operator(Operator::Pow), 1),
            (b'=', Some(b'=')) => (Kind::Operator(Operator::Equal), 2),
            (b'=' | b'!', Some(b'~')) => return Err(self.regex_outside_braces()),
            (b'=', _) => (Kind::Equal, 1),
            (b'!', Some(b'=')) => (Kind::Operator(Operator::Unequal), 2),
            (b'<', Some(b'=')) => (Kind::Operator(Operator::LessEqual), 2),
            (b'<', Some(b'/')) => (Kind::Operator(Operator::TrimUpper), 2),
            (b'<', _) => (Kind::Operator(Operator::Less), 1),
            (b'>', Some(b'=')) => (Kind::Operator(Operator::GreaterEqual), 2),
            (b'>', Some(b'/')) => (Kind::Operator(Operator::TrimLower), 2),
            (b'>', _) => (Kind::Operator(Operator::Greater), 1),
            (b'0'..=b'9', _) | (b'.', Some(b'0'..=b'9')) => return self.number(),
            (b'"' | b'\'' | b'`', _) => return self.quoted(),
            (b':', _) if self.in_range => (Kind::Colon, 1),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) if self.in_range => return self.range_word(),
            (b'a'..=b'z' | b'A'..=b'Z' | b'_' | b':', _) => return Ok(self.word()),
            (b'(', _) => (Kind::OpenParen, 1),
            (b')', _) => (Kind::CloseParen, 1),
            (b'{', _) => {
                self.place = Place::Braces;
                (Kind::OpenBrace, 1)
            }
            (b'[', _) => {
                self.place = Place::Range;
                self.in_range = true;
                (Kind::OpenBracket, 1)
            }
            (b']', _) => {
                self.in_range = false;
                (Kind::CloseBracket, 1)
            }
            (b'@', _) => (Kind::At, 1),
            _ => return Err(self.foreign_sign()),
        };
        Ok(self.token(kind, length))
    }

    fn braces(&mut self) -> Result<Token, Fault> {
        let Some(byte) = self.peek() else { return Ok(self.token(Kind::End, 0)) };
        let following = self.bytes.get(self.at + 1).copied();
        let (kind, length) = match (byte, following) {
            (b'a'..=b'z' | b'A'..=b'Z' | b'_', _) => (Kind::Word, self.word_length(false)),
            (b',', _) => (Kind::Comma, 1),
            (b'"' | b'\'' | b'`', _) => return self.quoted(),
            (b'=', Some(b'~')) => (Kind::RegexEqual, 2),
            (b'=', _) => (Kind::Equal, 1),
            (b'!', Some(b'~')) => (Kind::RegexUnequal, 2),
            (b'!', Some(b'=')) => (Kind::Operator(Operator::Unequal), 2),
            (b'}', _) => {
                self.place = Place::Statement;
                (Kind::CloseBrace, 1)
            }
            _ => return Err(self.foreign_sign_in_braces()),
        };
        Ok(self.token(kind, length))
    }

    fn range(&mut self) -> Result<Token, Fault> {
        let Some(byte) = self.peek() else { return Ok(self.token(Kind::End, 0)) };
        let kind = match byte {
            b']' => {
                self.place = Place::Statement;
                self.in_range = false;
                Kind::CloseBracket
            }
            b':' if self.range_had_number => Kind::Colon,
            b':' => {
                return Err(Fault::new(self.at..self.at + 1, "a number or duration must come before this colon")
                    .hint("Prometheus refuses a subquery range without a number, write [1 * step():] instead of [step():]"));
            }
            b'(' => Kind::OpenParen,
            b')' => Kind::CloseParen,
            b'+' => Kind::Operator(Operator::Add),
            b'-' => Kind::Operator(Operator::Sub),
            b'*' => Kind::Operator(Operator::Mul),
            b'/' => Kind::Operator(Operator::Div),
            b'%' => Kind::Operator(Operator::Mod),
            b'^' => Kind::Operator(Operator::Pow),
            b',' => Kind::Comma,
            b'0'..=b'9' => {
                self.begin_number();
                return self.number();
            }
            b'.' if self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit) => {
                self.begin_number();
                return self.number();
            }
            _ => return self.range_word(),
        };
        Ok(self.token(kind, 1))
    }

    fn begin_number(&mut self) {
        self.range_had_number = true;
        self.place = Place::Statement;
    }

    /// A word inside a range: only the words of duration expressions exist there.
    fn range_word(&mut self) -> Result<Token, Fault> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
        if let Some(kind @ (Kind::Step | Kind::Range | Kind::MaxOf | Kind::MinOf)) = keyword(&rest[..length])
        {
            return Ok(self.token(kind, length));
        }
        let end = self.at + length.max(self.character().len_utf8());
        let found = super::hints::short(&self.text[self.at..end]);
        Err(Fault::new(self.at..end, format!("{found:?} does not belong into a range"))
            .hint("a range is a duration such as [5m], a subquery is [30m:1m]"))
    }

    fn number(&mut self) -> Result<Token, Fault> {
        match number::scan(self.bytes, self.at) {
            Scanned::Number(end) => Ok(self.token(Kind::Number, end - self.at)),
            Scanned::Duration(end) => Ok(self.token(Kind::Duration, end - self.at)),
            Scanned::Neither(_) => {
                let rest = &self.bytes[self.at..];
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
                let end = self.at + rest.iter().take_while(|byte| word(byte)).count();
                Err(super::hints::bad_number(self.text, self.at..end))
            }
        }
    }

    fn quoted(&mut self) -> Result<Token, Fault> {
        let end = quoted::scan(self.text, self.at)?;
        Ok(self.token(Kind::Quoted, end - self.at))
    }

    fn word_length(&self, colons: bool) -> usize {
        let rest = &self.bytes[self.at..];
        let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || colons && *byte == b':';
        rest.iter().take_while(|byte| part(byte)).count()
    }

    fn word(&mut self) -> Token {
        let length = self.word_length(true);
        let word = &self.bytes[self.at..self.at + length];
        let kind = match keyword(word) {
            // These became keywords late, so a metric may still be called like them.
            Some(Kind::Fill | Kind::FillLeft | Kind::FillRight) if !self.calls(self.at + length) => {
                Kind::Word
            }
            Some(kind) => kind,
            None if word.contains(&b':') => Kind::ColonWord,
            None => Kind::Word,
        };
        self.token(kind, length)
    }

    /// Whether only blanks stand between that place and a `(`.
    fn calls(&self, from: usize) -> bool {
        let mut rest = self.bytes.get(from..).unwrap_or_default().iter();
        rest.find(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) == Some(&b'(')
    }

    fn regex_outside_braces(&self) -> Fault {
        let sign = &self.text[self.at..self.at + 2];
        Fault::new(self.at..self.at + 2, format!("{sign} matches labels and stands only inside braces"))
            .hint(format!("write metric{{label{sign}\"pattern\"}}; values are compared with == and != only"))
    }

    fn foreign_sign(&self) -> Fault {
        super::hints::foreign_sign(self.text, self.at, self.character())
    }

    fn foreign_sign_in_braces(&self) -> Fault {
        super::hints::foreign_sign_in_braces(self.text, self.at, self.character())
    }
}
