//! Reads range aggregations: the places where a range, an offset, a pipeline and an `unwrap` may stand around a selector.

use super::parser::Parser;
use super::token::Kind;
use super::tree::{self, ExprKind, List, LogRange, RangeOp, Span, Unwrap};
use crate::lang::Fault;

/// A range and its offset.
#[derive(Clone, Copy)]
struct Window {
    interval: i64,
    span: Span,
    offset: Option<i64>,
}

impl Parser<'_> {
    /// An aggregation over a range, from its name on.
    pub(super) fn range_aggregation(&mut self, op: RangeOp) -> Result<ExprKind, Fault> {
        self.advance()?;
        self.enter()?;
        let mut parameter = None;
        if self.token.kind == Kind::Number {
            parameter = Some(self.number("a number")?);
            self.expect(Kind::Comma, "`,` behind the parameter")?;
        }
        let range = self.log_range()?;
        self.leave("`)` behind the range")?;
        let grouping = self.grouping()?;
        Ok(ExprKind::Range { op, parameter, range, grouping })
    }

    /// A selector with its range, in one of the shapes that Loki knows, in any number of parentheses.
    pub(super) fn log_range(&mut self) -> Result<u32, Fault> {
        let mut parens = 0;
        while self.token.kind == Kind::OpenParen {
            self.enter()?;
            parens += 1;
        }
        let selector = self.selector()?;
        let mut stages = List::default();
        let mut unwrap = None;
        let window = if matches!(self.token.kind, Kind::Range(_)) {
            // The range directly behind the selector: everything else follows it.
            let window = self.window()?;
            (stages, unwrap) = self.pipeline_with_unwrap()?;
            window
        } else {
            let bare = self.token.kind == Kind::CloseParen;
            (stages, unwrap) = if bare { (stages, unwrap) } else { self.pipeline_with_unwrap()? };
            if parens > 0 && self.token.kind == Kind::CloseParen {
                // The innermost parentheses hold the query without its range.
                parens -= 1;
                self.leave("`)`")?;
                let window = self.window()?;
                if bare && self.token.kind == Kind::Pipe {
                    unwrap = Some(self.unwrap()?);
                }
                window
            } else {
                self.window()?
            }
        };
        for _ in 0..parens {
            self.leave("`)`")?;
        }
        let Window { interval, span, offset } = window;
        let range = LogRange { selector, stages, unwrap, interval, interval_span: span, offset };
        Ok(tree::add(&mut self.tree.ranges, range))
    }

    /// `[5m]`, perhaps with `offset 1h`.
    fn window(&mut self) -> Result<Window, Fault> {
        let Kind::Range(interval) = self.token.kind else {
            return Err(self.unexpected("a range such as [5m]"));
        };
        let span = self.advance()?.span;
        let mut offset = None;
        if self.eat(Kind::Offset)? {
            let Kind::Duration(nanoseconds) = self.token.kind else {
                return Err(self.unexpected("a duration such as 1h behind `offset`"));
            };
            self.advance()?;
            offset = Some(nanoseconds);
        }
        Ok(Window { interval, span, offset })
    }

    fn pipeline_with_unwrap(&mut self) -> Result<(List, Option<Unwrap>), Fault> {
        let (stages, at_unwrap) = self.stages(true)?;
        let unwrap = if at_unwrap { Some(self.unwrap_behind_pipe()?) } else { None };
        Ok((stages, unwrap))
    }

    /// `| unwrap x` and the label filters behind it.
    fn unwrap(&mut self) -> Result<Unwrap, Fault> {
        self.expect(Kind::Pipe, "`| unwrap`")?;
        if self.token.kind != Kind::Unwrap {
            return Err(
                self.unexpected("`unwrap`, the only stage behind a selector in parentheses with its range")
            );
        }
        self.unwrap_behind_pipe()
    }

    fn unwrap_behind_pipe(&mut self) -> Result<Unwrap, Fault> {
        let start = self.behind();
        self.advance()?;
        let mut conversion = None;
        if let Kind::Conversion(function) = self.token.kind {
            conversion = Some(function);
            self.advance()?;
            self.enter()?;
        }
        let name = self.expect_name("a label name behind `unwrap`")?;
        if conversion.is_some() {
            self.leave("`)` behind the label name")?;
        }
        let span = start.to(self.behind());
        let first = tree::next(&self.tree.post_filters);
        while self.eat(Kind::Pipe)? {
            if matches!(self.token.kind, Kind::Ident | Kind::OpenParen) {
                let root = self.label_filter()?;
                self.tree.post_filters.push(root);
            } else {
                return Err(self.unexpected("a label filter, the only stage that can follow `unwrap`"));
            }
        }
        let filters = List { first, end: tree::next(&self.tree.post_filters) };
        Ok(Unwrap { name, conversion, filters, span })
    }
}
