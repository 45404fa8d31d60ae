//! Reads label filters and how they are joined.

use super::parser::Parser;
use super::parser_pipeline::match_op;
use super::token::Kind;
use super::tree::{self, CompareOp, FilterNode, Joiner, MatchOp, MatcherNode, Span};
use crate::lang::Fault;

/// Something that was begun and waits for its end.
#[derive(Clone, Copy)]
enum Open {
    Paren,
    Joiner(Joiner),
}

/// Filters that are not joined yet.
#[derive(Default)]
struct Pending {
    open: Vec<Open>,
    operands: Vec<u32>,
}

impl Parser<'_> {
    /// A label filter with everything that is joined to it; tells its root.
    pub(super) fn label_filter(&mut self) -> Result<u32, Fault> {
        // The usual filter stands alone.
        if self.token.kind == Kind::Ident {
            let single = self.comparison()?;
            if !self.joins() {
                return Ok(single);
            }
            return self.joined_filter(Pending { open: Vec::new(), operands: vec![single] }, true);
        }
        self.joined_filter(Pending::default(), false)
    }

    fn joins(&self) -> bool {
        matches!(self.token.kind, Kind::And | Kind::Or | Kind::Comma | Kind::Ident | Kind::OpenParen)
    }

    fn joined_filter(&mut self, mut pending: Pending, mut complete: bool) -> Result<u32, Fault> {
        let mut parens = 0;
        loop {
            if !complete {
                if self.token.kind == Kind::OpenParen {
                    self.enter()?;
                    pending.open.push(Open::Paren);
                    parens += 1;
                } else {
                    let filter = self.comparison()?;
                    pending.operands.push(filter);
                    complete = true;
                }
                continue;
            }
            let joiner = match self.token.kind {
                Kind::And => Joiner::And,
                Kind::Or => Joiner::Or,
                Kind::Comma | Kind::Ident | Kind::OpenParen => Joiner::Comma,
                Kind::CloseParen if parens > 0 => {
                    self.join(&mut pending, None);
                    pending.open.pop();
                    parens -= 1;
                    self.leave("`)`")?;
                    continue;
                }
                _ if parens > 0 => return Err(self.unexpected("`and`, `or` or `)` behind a label filter")),
                _ => break,
            };
            self.join(&mut pending, Some(joiner));
            if matches!(self.token.kind, Kind::And | Kind::Or | Kind::Comma) {
                self.advance()?;
            }
            pending.open.push(Open::Joiner(joiner));
            complete = false;
        }
        self.join(&mut pending, None);
        Ok(pending.operands.pop().unwrap_or_default())
    }

    /// Joins what is complete when this joiner comes; everything back to the last parenthesis when none comes.
    ///
    /// `and` binds tighter than `or`. A comma, or nothing, has no rank in Loki's grammar: it always waits for more.
    fn join(&mut self, pending: &mut Pending, coming: Option<Joiner>) {
        while let Some(&Open::Joiner(waiting)) = pending.open.last() {
            let ready = match coming {
                None => true,
                Some(Joiner::Comma) => false,
                Some(Joiner::Or) => waiting != Joiner::Comma,
                Some(Joiner::And) => waiting == Joiner::And,
            };
            if !ready {
                return;
            }
            pending.open.pop();
            let (Some(right), Some(left)) = (pending.operands.pop(), pending.operands.pop()) else { return };
            let join = FilterNode::Join { joiner: waiting, left, right };
            pending.operands.push(tree::add(&mut self.tree.filters, join));
        }
    }

    /// One comparison of a label.
    fn comparison(&mut self) -> Result<u32, Fault> {
        let name = self.expect_name("a label name")?;
        let matching = match_op(self.token.kind);
        let comparing = compare_op(self.token.kind);
        if matching.is_none() && comparing.is_none() {
            return Err(self.unexpected("a comparison such as `=`, `=~` or `>` behind the label"));
        }
        self.advance()?;
        let node = match (self.token.kind, matching, comparing) {
            (Kind::Str(_), Some(op), _) => {
                let value = self.expect_string("a string")?;
                let matcher = MatcherNode { name, op: Some(op), value };
                FilterNode::Match { matcher: tree::add(&mut self.tree.matchers, matcher) }
            }
            (Kind::Ip, Some(op @ (MatchOp::Equal | MatchOp::NotEqual)), _) => {
                FilterNode::Ip { name, negated: op == MatchOp::NotEqual, pattern: self.ip_call()? }
            }
            (_, _, Some(op)) => self.quantity(name, op, matching.is_some())?,
            _ => return Err(self.unexpected("a string behind `=~` or `!~`")),
        };
        Ok(tree::add(&mut self.tree.filters, node))
    }

    /// What a label is compared with when it is not text.
    fn quantity(&mut self, name: Span, op: CompareOp, text_too: bool) -> Result<FilterNode, Fault> {
        Ok(match self.token.kind {
            Kind::Duration(nanoseconds) => {
                self.advance()?;
                FilterNode::Duration { name, op, nanoseconds }
            }
            Kind::Bytes(bytes) => {
                self.advance()?;
                FilterNode::Bytes { name, op, bytes }
            }
            Kind::Number | Kind::Add | Kind::Sub => {
                let negative = self.token.kind == Kind::Sub;
                if self.token.kind != Kind::Number {
                    self.advance()?;
                }
                FilterNode::Number { name, op, number: self.number("a number behind its sign")?, negative }
            }
            _ if text_too => {
                return Err(self.unexpected("a string, a number, a duration, a byte size or ip(\"..\")"));
            }
            _ => return Err(self.unexpected("a number, a duration or a byte size")),
        })
    }
}

fn compare_op(kind: Kind) -> Option<CompareOp> {
    Some(match kind {
        Kind::Eq | Kind::CmpEq => CompareOp::Equal,
        Kind::Neq => CompareOp::NotEqual,
        Kind::Gt => CompareOp::Greater,
        Kind::Gte => CompareOp::GreaterEqual,
        Kind::Lt => CompareOp::Less,
        Kind::Lte => CompareOp::LessEqual,
        _ => return None,
    })
}
