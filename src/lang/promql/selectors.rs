//! Selectors and lists of labels.

use super::hints;
use super::parser::Parser;
use super::token::{Kind, Operator, Token};
use super::tree::{Comparison, Condition, Extension, Id, Node, Shift, Slice, index};
use crate::lang::{Fault, re2};

impl Parser<'_> {
    /// A selector; its name, if there is one, was taken already.
    pub(super) fn selector(&mut self, name: Option<Token>) -> Result<Id, Fault> {
        let start = name.map_or(self.ahead.start, |name| name.start);
        let mut end = name.map_or(start, |name| name.end);
        let name = name.map(|name| self.kept(name.span()));
        let first = index(self.tree.conditions.len());
        if self.ahead.kind == Kind::OpenBrace {
            end = self.conditions()?;
        }
        let matchers = Slice { start: first, end: index(self.tree.conditions.len()) };
        let (shift, extension) = (Shift::default(), Extension::default());
        Ok(self.tree.add(Node::Selector { name, matchers, shift, extension }, start..end))
    }

    /// `{`, conditions, `}`; returns where the brace closed.
    fn conditions(&mut self) -> Result<usize, Fault> {
        self.open_bracket()?;
        while self.ahead.kind != Kind::CloseBrace {
            self.condition()?;
            match self.ahead.kind {
                Kind::Comma => {
                    self.advance()?;
                }
                Kind::CloseBrace => {}
                _ => return Err(hints::after_condition(self.ahead, self.unexpected("a comma or }"))),
            }
        }
        Ok(self.close_bracket()?.end)
    }

    fn condition(&mut self) -> Result<(), Fault> {
        let first = self.ahead;
        let label = match first.kind {
            Kind::Word => {
                self.advance()?;
                self.kept(first.span())
            }
            Kind::Quoted => {
                self.advance()?;
                self.unquoted(first)
            }
            _ => return Err(self.unexpected("a label or }")),
        };
        let comparison = match self.ahead.kind {
            Kind::Equal => Comparison::Equal,
            Kind::Operator(Operator::Unequal) => Comparison::Unequal,
            Kind::RegexEqual => Comparison::Regex,
            Kind::RegexUnequal => Comparison::NoRegex,
            // A string alone names the metric.
            _ if first.kind == Kind::Quoted => {
                let start = index(self.tree.pool.len());
                self.tree.pool.extend_from_slice(b"__name__");
                let name = Slice { start, end: index(self.tree.pool.len()) };
                self.add_condition(name, Comparison::Equal, label, label.len() == 0, first, first);
                return Ok(());
            }
            _ => return Err(self.unexpected("one of =, !=, =~ and !~")),
        };
        self.advance()?;
        if self.ahead.kind != Kind::Quoted {
            return Err(hints::unquoted_value(self.text, self.ahead, self.unexpected("a string")));
        }
        let token = self.advance()?;
        let value = self.unquoted(token);
        let holds_for_empty = match comparison {
            Comparison::Equal => value.len() == 0,
            Comparison::Unequal => value.len() != 0,
            Comparison::Regex => self.matches_empty(value, token)?,
            Comparison::NoRegex => !self.matches_empty(value, token)?,
        };
        self.add_condition(label, comparison, value, holds_for_empty, first, token);
        Ok(())
    }

    fn add_condition(
        &mut self,
        label: Slice,
        comparison: Comparison,
        value: Slice,
        holds_for_empty: bool,
        first: Token,
        last: Token,
    ) {
        let span = index(first.start)..index(last.end);
        self.tree.conditions.push(Condition { label, comparison, value, holds_for_empty, span });
    }

    /// Whether the regular expression of a matcher matches the empty text; a fault if it is none.
    fn matches_empty(&self, value: Slice, token: Token) -> Result<bool, Fault> {
        let pattern = re2::matcher(self.tree.bytes(value));
        pattern.map(|pattern| pattern.matches_empty()).map_err(|mut fault| {
            // Without escapes, a place in the value is a place in the text.
            let plain = value.len() + 2 == token.end - token.start;
            fault.span = if plain {
                token.start + 1 + fault.span.start..token.start + 1 + fault.span.end
            } else {
                token.span()
            };
            fault
        })
    }

    /// `(`, labels, `)` behind `by`, `on` and their like.
    pub(super) fn label_list(&mut self, keyword: Token) -> Result<Slice, Fault> {
        let start = index(self.tree.labels.len());
        if self.ahead.kind != Kind::OpenParen {
            return Err(hints::labels_without_brackets(
                self.text,
                keyword,
                self.ahead,
                self.unexpected("( and labels"),
            ));
        }
        self.open_bracket()?;
        while self.ahead.kind != Kind::CloseParen {
            let token = self.ahead;
            let label = match token.kind {
                Kind::Quoted => {
                    self.advance()?;
                    self.unquoted(token)
                }
                kind if kind.names_label() => {
                    self.advance()?;
                    self.kept(token.span())
                }
                _ => return Err(hints::label_expected(self.text, token, self.unexpected("a label or )"))),
            };
            let bytes = self.tree.bytes(label);
            if bytes.is_empty() || std::str::from_utf8(bytes).is_err() {
                return Err(Fault::new(token.span(), "a label must be valid UTF-8 and not empty"));
            }
            self.tree.labels.push(label);
            match self.ahead.kind {
                Kind::Comma => {
                    self.advance()?;
                }
                Kind::CloseParen => {}
                _ => {
                    return Err(hints::label_expected(
                        self.text,
                        self.ahead,
                        self.unexpected("a comma or )"),
                    ));
                }
            }
        }
        self.close_bracket()?;
        Ok(Slice { start, end: index(self.tree.labels.len()) })
    }
}
