//! From bytes to tokens, as Go cuts them: text between actions, and inside of actions words, literals and signs.
//!
//! Literals are checked where they are cut. Go checks them a little later, but every literal either reaches that check
//! or is refused before.

use std::ops::Range;

use super::super::Fault;
use super::advice;
use super::functions::FunctionSet;
use super::literals::{self, decode};
use super::numbers;
use crate::lang::letters::is_name_character;

/// A word that starts or parts an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Block,
    Break,
    Continue,
    Define,
    Else,
    End,
    If,
    Range,
    Template,
    With,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// `{{`
    Open,
    /// `}}`
    Close,
    EndOfText,
    Space,
    Assign,
    Declare,
    Comma,
    Pipe,
    LeftParen,
    RightParen,
    /// A string or raw string.
    String,
    /// A number or character constant.
    Number,
    Bool,
    Nil,
    Dot,
    Field,
    Variable,
    Identifier,
    Keyword(Keyword),
}

impl Kind {
    /// Whether an operand starts with such a token.
    pub(super) fn starts_operand(self) -> bool {
        self.is_value() || matches!(self, Self::Field | Self::Variable | Self::Identifier | Self::LeftParen)
    }

    /// Whether it is a value that can neither be called nor have fields.
    pub(super) fn is_value(self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Bool | Self::Nil | Self::Dot)
    }
}

/// A piece of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// The piece's place in the text.
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

/// How a variable at the start of a pipeline goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declaring {
    /// `:=` or `=`: the pipeline's value follows.
    Value,
    /// `,`: another variable follows.
    Comma,
}

/// Cuts the text; cheap to copy, so that a caller can look ahead and return.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    inside: bool,
    parens: usize,
    /// Where the current action, or the last one, was opened.
    opened: usize,
    /// Whether `break` and `continue` are keywords: functions of these names take precedence.
    loop_words: [bool; 2],
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8], set: &FunctionSet) -> Self {
        let loop_words = [!set.has_function(b"break"), !set.has_function(b"continue")];
        Self { text, at: 0, inside: false, parens: 0, opened: 0, loop_words }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, token: Token) -> &'a [u8] {
        self.text.get(token.span()).unwrap_or_default()
    }

    /// The action up to here, from its `{{`.
    pub(super) fn action(&self) -> Range<usize> {
        self.opened..self.at
    }

    /// The next token.
    pub(super) fn next(&mut self) -> Result<Token, Fault> {
        if self.inside { self.inside_action() } else { self.outside_action() }
    }

    /// The next token that is no space.
    pub(super) fn next_non_space(&mut self) -> Result<Token, Fault> {
        loop {
            let token = self.next()?;
            if token.kind != Kind::Space {
                return Ok(token);
            }
        }
    }

    /// Reads a variable and the sign that makes it a declaration, if that is what follows; otherwise reads nothing.
    pub(super) fn declaration(&mut self) -> Option<(Token, Declaring)> {
        let start = self.after_spaces(self.at);
        if self.byte(start) != Some(b'$') {
            return None;
        }
        let end = self.after_word(start + 1);
        if !self.terminates(end) {
            return None;
        }
        let sign = self.after_spaces(end);
        let (declaring, length) = match (self.byte(sign), self.byte(sign + 1)) {
            (Some(b'='), _) => (Declaring::Value, 1),
            (Some(b':'), Some(b'=')) => (Declaring::Value, 2),
            (Some(b','), _) => (Declaring::Comma, 1),
            _ => return None,
        };
        self.at = sign + length;
        Some((Token { kind: Kind::Variable, start, end }, declaring))
    }

    /// Whether a variable is the next thing after any spaces.
    pub(super) fn at_variable(&self) -> bool {
        self.byte(self.after_spaces(self.at)) == Some(b'$')
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    fn token(&mut self, kind: Kind, start: usize, end: usize) -> Token {
        self.at = end;
        Token { kind, start, end }
    }

    fn after_spaces(&self, at: usize) -> usize {
        let rest = self.rest(at);
        at + rest.iter().position(|&byte| !is_space(byte)).unwrap_or(rest.len())
    }

    fn after_word(&self, mut at: usize) -> usize {
        while let Some((character, length)) = decode(self.rest(at)) {
            if !is_name_character(character) {
                break;
            }
            at += length;
        }
        at
    }

    /// Whether a word may end here.
    fn terminates(&self, at: usize) -> bool {
        match self.byte(at) {
            None | Some(b'.' | b',' | b'|' | b':' | b')' | b'(') => true,
            Some(byte) => is_space(byte) || self.rest(at).starts_with(b"}}"),
        }
    }

    /// The length of the closing delimiter with its trim marker, if one is here.
    fn closing(&self, at: usize) -> Option<usize> {
        match self.rest(at) {
            [b'}', b'}', ..] => Some(2),
            [space, b'-', b'}', b'}', ..] if is_space(*space) => Some(4),
            _ => None,
        }
    }

    fn outside_action(&mut self) -> Result<Token, Fault> {
        loop {
            let rest = self.rest(self.at);
            let Some(length) = rest.windows(2).position(|pair| pair == b"{{") else {
                let kind = if rest.is_empty() { Kind::EndOfText } else { Kind::Text };
                return Ok(self.token(kind, self.at, self.text.len()));
            };
            if length > 0 {
                return Ok(self.token(Kind::Text, self.at, self.at + length));
            }
            self.opened = self.at;
            let mut inner = self.at + 2;
            if let [b'-', space, ..] = self.rest(inner)
                && is_space(*space)
            {
                inner += 2;
            }
            if !self.rest(inner).starts_with(b"/*") {
                self.inside = true;
                self.parens = 0;
                return Ok(self.token(Kind::Open, self.at, inner));
            }
            self.at = self.comment(inner + 2)?;
        }
    }

    /// The end of a comment's action; the comment's first two signs are behind us.
    fn comment(&self, start: usize) -> Result<usize, Fault> {
        let Some(length) = self.rest(start).windows(2).position(|pair| pair == b"*/") else {
            return Err(advice::unclosed_comment(self.opened..start));
        };
        let end = start + length + 2;
        match self.closing(end) {
            Some(length) => Ok(end + length),
            None => Err(advice::comment_not_alone(self.text, end)),
        }
    }

    fn inside_action(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        if let Some(length) = self.closing(start) {
            if self.parens > 0 {
                return Err(advice::unclosed_paren(self.action(), start + length));
            }
            self.inside = false;
            return Ok(self.token(Kind::Close, start, start + length));
        }
        let Some(byte) = self.byte(start) else {
            return Err(advice::unclosed_action(self.text, self.opened));
        };
        let kind = match byte {
            _ if is_space(byte) => return Ok(self.space()),
            b'=' => Kind::Assign,
            b'|' => Kind::Pipe,
            b',' => Kind::Comma,
            b':' if self.byte(start + 1) == Some(b'=') => {
                return Ok(self.token(Kind::Declare, start, start + 2));
            }
            b'(' => {
                self.parens += 1;
                Kind::LeftParen
            }
            b')' => {
                self.parens = self.parens.checked_sub(1).ok_or_else(|| advice::unopened_paren(start))?;
                Kind::RightParen
            }
            b'"' => return self.quoted(b'"', Kind::String),
            b'\'' => return self.quoted(b'\'', Kind::Number),
            b'`' => return self.raw(),
            b'$' => return self.word(1, |_| Kind::Variable),
            b'.' if !self.byte(start + 1).is_some_and(|next| next.is_ascii_digit()) => {
                return self.word(1, |word| if word.len() > 1 { Kind::Field } else { Kind::Dot });
            }
            b'.' | b'+' | b'-' | b'0'..=b'9' => return self.number(),
            _ => return self.identifier(),
        };
        Ok(self.token(kind, start, start + 1))
    }

    fn space(&mut self) -> Token {
        let start = self.at;
        let mut end = self.after_spaces(start);
        // The last space belongs to the closing delimiter when that has a trim marker.
        if self.closing(end - 1).is_some() {
            end -= 1;
        }
        self.token(Kind::Space, start, end)
    }

    fn identifier(&mut self) -> Result<Token, Fault> {
        let (start, rest) = (self.at, self.rest(self.at));
        match decode(rest) {
            Some((character, _)) if is_name_character(character) => {
                let mut token = self.word(0, word_kind)?;
                let [break_word, continue_word] = self.loop_words;
                if token.kind == Kind::Keyword(Keyword::Break) && !break_word
                    || token.kind == Kind::Keyword(Keyword::Continue) && !continue_word
                {
                    token.kind = Kind::Identifier;
                }
                Ok(token)
            }
            read => Err(advice::bad_sign(self.text, start, read)),
        }
    }

    /// Reads a word after a sign of `skipped` bytes.
    fn word(&mut self, skipped: usize, kind: fn(&[u8]) -> Kind) -> Result<Token, Fault> {
        let start = self.at;
        let end = self.after_word(start + skipped);
        if !self.terminates(end) {
            return Err(advice::bad_word(self.text, start, end));
        }
        let kind = kind(self.text.get(start..end).unwrap_or_default());
        Ok(self.token(kind, start, end))
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        let scan = numbers::scan(self.text, start);
        let literal = self.text.get(start..scan.end).unwrap_or_default();
        if !scan.complete {
            return Err(advice::bad_number(self.text, start, scan.end, None));
        }
        numbers::check(literal, scan.split.map(|split| split - start))
            .map_err(|why| advice::bad_number(self.text, start, scan.end, Some(why)))?;
        Ok(self.token(Kind::Number, start, scan.end))
    }

    fn quoted(&mut self, quote: u8, kind: Kind) -> Result<Token, Fault> {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                Some(b'\\') if !matches!(self.byte(at + 1), None | Some(b'\n')) => at += 2,
                None | Some(b'\\' | b'\n') => return Err(advice::unterminated(self.text, start, at)),
                Some(byte) if byte == quote => break,
                Some(_) => at += 1,
            }
        }
        let literal = self.text.get(start..=at).unwrap_or_default();
        let checked =
            if quote == b'"' { literals::check_quoted(literal) } else { literals::check_character(literal) };
        checked.map_err(|bad| advice::bad_literal(literal, start, bad))?;
        Ok(self.token(kind, start, at + 1))
    }

    fn raw(&mut self) -> Result<Token, Fault> {
        let start = self.at;
        match self.rest(start + 1).iter().position(|&byte| byte == b'`') {
            Some(length) => Ok(self.token(Kind::String, start, start + length + 2)),
            None => Err(advice::unterminated(self.text, start, self.text.len())),
        }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

fn word_kind(word: &[u8]) -> Kind {
    Kind::Keyword(match word {
        b"block" => Keyword::Block,
        b"break" => Keyword::Break,
        b"continue" => Keyword::Continue,
        b"define" => Keyword::Define,
        b"else" => Keyword::Else,
        b"end" => Keyword::End,
        b"if" => Keyword::If,
        b"range" => Keyword::Range,
        b"template" => Keyword::Template,
        b"with" => Keyword::With,
        b"nil" => return Kind::Nil,
        b"true" | b"false" => return Kind::Bool,
        _ => return Kind::Identifier,
    })
}
