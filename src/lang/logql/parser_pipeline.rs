//! Reads log selectors and the stages of a pipeline.

use super::parser::Parser;
use super::token::Kind;
use super::tree::{
    self, LineOp, LineOperand, List, MatchOp, MatcherNode, Pair, PairValue, SelectorNode, Span, StageKind,
    Str,
};
use crate::lang::Fault;

impl Parser<'_> {
    /// `{a="b", ..}`.
    pub(super) fn selector(&mut self) -> Result<u32, Fault> {
        let start = self.expect(Kind::OpenBrace, "a selector such as {app=\"foo\"}")?.span;
        let first = tree::next(&self.tree.matchers);
        if self.token.kind != Kind::CloseBrace {
            loop {
                let name = self.expect_name("a label name")?;
                let op =
                    match_op(self.token.kind).ok_or_else(|| self.unexpected("`=`, `!=`, `=~` or `!~`"))?;
                self.advance()?;
                let value = self.expect_string("a string in double quotes or backticks")?;
                self.tree.matchers.push(MatcherNode { name, op: Some(op), value });
                if !self.eat(Kind::Comma)? {
                    break;
                }
            }
        }
        let end = self.expect(Kind::CloseBrace, "`,` or `}`")?.span;
        let matchers = List { first, end: tree::next(&self.tree.matchers) };
        Ok(tree::add(&mut self.tree.selectors, SelectorNode { matchers, span: start.to(end) }))
    }

    /// The stages of a log query.
    pub(super) fn pipeline(&mut self) -> Result<List, Fault> {
        Ok(self.stages(false)?.0)
    }

    /// Stages as long as there are some. Where `unwrap` may follow, it stops behind the pipe in front of it and says so.
    pub(super) fn stages(&mut self, unwrap_may_follow: bool) -> Result<(List, bool), Fault> {
        let first = tree::next(&self.tree.stages);
        let mut at_unwrap = false;
        loop {
            let stage = if let Some(op) = line_op(self.token.kind) {
                self.advance()?;
                self.line_filter(op)?
            } else if self.eat(Kind::Pipe)? {
                at_unwrap = unwrap_may_follow && self.token.kind == Kind::Unwrap;
                if at_unwrap {
                    break;
                }
                self.stage()?
            } else {
                break;
            };
            self.tree.stages.push(stage);
        }
        Ok((List { first, end: tree::next(&self.tree.stages) }, at_unwrap))
    }

    /// What follows the operator of a line filter: one operand, or several with `or` between them.
    fn line_filter(&mut self, op: LineOp) -> Result<StageKind, Fault> {
        let first = tree::next(&self.tree.operands);
        loop {
            let ip = self.token.kind == Kind::Ip;
            let text = if ip { self.ip_call()? } else { self.expect_string("a string or ip(\"..\")")? };
            self.tree.operands.push(LineOperand { text, ip });
            if !self.eat(Kind::Or)? {
                return Ok(StageKind::LineFilter {
                    op,
                    operands: List { first, end: tree::next(&self.tree.operands) },
                });
            }
        }
    }

    /// `ip("..")`.
    pub(super) fn ip_call(&mut self) -> Result<Str, Fault> {
        self.advance()?;
        self.enter()?;
        let pattern = self.expect_string("an address, a prefix or a range of addresses as a string")?;
        self.leave("`)` behind the addresses")?;
        Ok(pattern)
    }

    /// What follows a `|`.
    fn stage(&mut self) -> Result<StageKind, Fault> {
        match self.token.kind {
            Kind::Ident | Kind::OpenParen => {
                return Ok(StageKind::LabelFilter { root: self.label_filter()? });
            }
            Kind::Json
            | Kind::Logfmt
            | Kind::Regexp
            | Kind::Pattern
            | Kind::Unpack
            | Kind::LineFormat
            | Kind::LabelFormat
            | Kind::Decolorize
            | Kind::Drop
            | Kind::Keep => {}
            _ => return Err(self.unexpected("a parser, a label filter or a formatter behind `|`")),
        }
        Ok(match self.advance()?.kind {
            Kind::Json => StageKind::Json { pairs: self.extractions()? },
            Kind::Logfmt => {
                let (mut strict, mut keep_empty) = (false, false);
                loop {
                    match self.token.kind {
                        Kind::StrictFlag => strict = true,
                        Kind::KeepEmptyFlag => keep_empty = true,
                        _ => break,
                    }
                    self.advance()?;
                }
                StageKind::Logfmt { strict, keep_empty, pairs: self.extractions()? }
            }
            Kind::Regexp => StageKind::Regexp(self.expect_string("a regular expression as a string")?),
            Kind::Pattern => StageKind::Pattern(self.expect_string("a pattern as a string")?),
            Kind::Unpack => StageKind::Unpack,
            Kind::LineFormat => StageKind::LineFormat(self.expect_string("a template as a string")?),
            Kind::LabelFormat => StageKind::LabelFormat { pairs: self.label_formats()? },
            Kind::Drop => StageKind::Drop { matchers: self.picks()? },
            Kind::Keep => StageKind::Keep { matchers: self.picks()? },
            _ => StageKind::Decolorize,
        })
    }

    /// `a="b.c", d`, or nothing.
    fn extractions(&mut self) -> Result<List, Fault> {
        let first = tree::next(&self.tree.pairs);
        while self.token.kind == Kind::Ident || tree::next(&self.tree.pairs) > first {
            let name = self.expect_name("a label name")?;
            let mut value = PairValue::None;
            if self.eat(Kind::Eq)? {
                value = PairValue::Text(self.expect_string("an expression as a string")?);
            }
            self.tree.pairs.push(Pair { name, value });
            if !self.eat(Kind::Comma)? {
                break;
            }
        }
        Ok(List { first, end: tree::next(&self.tree.pairs) })
    }

    /// `a=b, c="{{.d}}"`.
    fn label_formats(&mut self) -> Result<List, Fault> {
        let first = tree::next(&self.tree.pairs);
        loop {
            let name = self.expect_name("a label name")?;
            self.expect(Kind::Eq, "`=` behind the label to write")?;
            let value = if self.token.kind == Kind::Ident {
                PairValue::Name(self.advance()?.span)
            } else {
                PairValue::Text(self.expect_string("a label name or a template as a string")?)
            };
            self.tree.pairs.push(Pair { name, value });
            if !self.eat(Kind::Comma)? {
                return Ok(List { first, end: tree::next(&self.tree.pairs) });
            }
        }
    }

    /// Names and matchers of `drop` and `keep`.
    fn picks(&mut self) -> Result<List, Fault> {
        let first = tree::next(&self.tree.matchers);
        loop {
            let name: Span = self.expect_name("a label name")?;
            let op = match_op(self.token.kind);
            let mut value = Str::default();
            // `!=` and `!~` belong to the name here, never to a line filter behind the stage.
            if op.is_some() {
                self.advance()?;
                value = self.expect_string("a string")?;
            }
            self.tree.matchers.push(MatcherNode { name, op, value });
            if !self.eat(Kind::Comma)? {
                return Ok(List { first, end: tree::next(&self.tree.matchers) });
            }
        }
    }
}

pub(super) fn match_op(kind: Kind) -> Option<MatchOp> {
    Some(match kind {
        Kind::Eq => MatchOp::Equal,
        Kind::Neq => MatchOp::NotEqual,
        Kind::Re => MatchOp::Regex,
        Kind::Nre => MatchOp::NotRegex,
        _ => return None,
    })
}

fn line_op(kind: Kind) -> Option<LineOp> {
    Some(match kind {
        Kind::PipeExact => LineOp::Contains,
        Kind::Neq => LineOp::NotContains,
        Kind::PipeMatch => LineOp::Regex,
        Kind::Nre => LineOp::NotRegex,
        Kind::PipePattern => LineOp::Pattern,
        Kind::Npa => LineOp::NotPattern,
        _ => return None,
    })
}
