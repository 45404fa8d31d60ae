//! The place of the parser in the token stream, and what is read in more than one place.

use super::advice;
use super::number;
use super::parser::Parser;
use super::token::{Kind, Token};
use super::tree::{self, Grouping, List, Number, Span, Str};
use crate::lang::Fault;

impl<'t> Parser<'t> {
    pub(super) fn text(&self, span: Span) -> &'t str {
        self.lexer.text.get(span.range()).unwrap_or_default()
    }

    /// Goes on to the next token and gives the one that was current.
    pub(super) fn advance(&mut self) -> Result<Token, Fault> {
        let next = self.lexer.next()?;
        self.previous = std::mem::replace(&mut self.token, next);
        Ok(self.previous)
    }

    pub(super) fn eat(&mut self, kind: Kind) -> Result<bool, Fault> {
        let found = self.token.kind == kind;
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<Token, Fault> {
        if self.token.kind == kind { self.advance() } else { Err(self.unexpected(what)) }
    }

    pub(super) fn expect_string(&mut self, what: &str) -> Result<Str, Fault> {
        let Kind::Str(text) = self.token.kind else {
            return Err(self.unexpected(what));
        };
        Ok(Str { text, span: self.advance()?.span })
    }

    pub(super) fn expect_name(&mut self, what: &str) -> Result<Span, Fault> {
        Ok(self.expect(Kind::Ident, what)?.span)
    }

    /// The fault that the current token is not what had to come.
    pub(super) fn unexpected(&self, expected: &str) -> Fault {
        let commented = self.lexer.slashes.last().copied();
        advice::unexpected(self.lexer.text, expected, self.previous, self.token, commented)
    }

    /// An opening parenthesis.
    pub(super) fn enter(&mut self) -> Result<Token, Fault> {
        self.expect(Kind::OpenParen, "`(`")
    }

    pub(super) fn leave(&mut self, what: &str) -> Result<Token, Fault> {
        self.expect(Kind::CloseParen, what)
    }

    /// A number token, kept as text and value.
    pub(super) fn number(&mut self, what: &str) -> Result<u32, Fault> {
        let span = self.expect(Kind::Number, what)?.span;
        let value = number::float(self.text(span)).ok();
        Ok(tree::add(&mut self.tree.numbers, Number { span, value }))
    }

    /// `a, b, c` without anything around.
    pub(super) fn names(&mut self, what: &str) -> Result<List, Fault> {
        let first = tree::next(&self.tree.names);
        loop {
            let name = self.expect_name(what)?;
            self.tree.names.push(name);
            if !self.eat(Kind::Comma)? {
                return Ok(List { first, end: tree::next(&self.tree.names) });
            }
        }
    }

    /// `(a, b)`, possibly empty.
    pub(super) fn name_list(&mut self) -> Result<List, Fault> {
        self.enter()?;
        let names =
            if self.token.kind == Kind::CloseParen { List::default() } else { self.names("a label name")? };
        self.leave("`,` or `)` behind a label name")?;
        Ok(names)
    }

    /// `by (..)` or `without (..)`, if there is one.
    pub(super) fn grouping(&mut self) -> Result<Option<u32>, Fault> {
        if !matches!(self.token.kind, Kind::By | Kind::Without) {
            return Ok(None);
        }
        let word = self.advance()?;
        let names = self.name_list()?;
        let grouping =
            Grouping { without: word.kind == Kind::Without, names, span: word.span.to(self.previous.span) };
        Ok(Some(tree::add(&mut self.tree.groupings, grouping)))
    }

    /// Where the token before the current one ended.
    pub(super) fn behind(&self) -> Span {
        self.previous.span
    }
}
