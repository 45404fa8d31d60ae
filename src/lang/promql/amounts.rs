//! Amounts of time: what may stand in a range and behind `offset`, with the arithmetic of duration expressions.

use std::ops::Range;

use super::parser::{Parser, WaitingAmount};
use super::token::{Kind, Operator, Token};
use super::tree::{Amount, Id};
use crate::lang::Fault;

/// The longest amount in seconds; more nanoseconds do not fit into 64 bits.
const LONGEST: f64 = 9_223_372_036.854_776;

impl Parser<'_> {
    /// The amount of a range or of a step. Only a plain literal is known to be positive or not.
    pub(super) fn positive_amount(&mut self) -> Result<Id, Fault> {
        let first = self.ahead;
        let amount = self.amount(None)?;
        if let Amount::Literal(literal) = self.tree.amount(amount)
            && literal.value() <= 0.0
        {
            return Err(Fault::new(first.start..self.ahead.start, "the duration must be greater than 0"));
        }
        Ok(amount)
    }

    /// The amount behind `offset`. It ends at the first complete term, so that `a offset 5m * 2` multiplies the
    /// series; but once Prometheus' grammar took it for a duration expression, because of a bracket or of two
    /// signs, operators behind it belong to it.
    pub(super) fn offset_amount(&mut self) -> Result<Id, Fault> {
        let Kind::Operator(operator @ (Operator::Add | Operator::Sub)) = self.ahead.kind else {
            return if self.ahead.kind == Kind::OpenParen { self.amount(None) } else { self.term() };
        };
        let minus = operator == Operator::Sub;
        self.advance()?;
        let inner = match self.ahead.kind {
            Kind::Operator(Operator::Add | Operator::Sub) => {
                return self.amount(Some(WaitingAmount::Sign { minus }));
            }
            // No feature flag is asked for here: Prometheus forgot it behind a sign.
            Kind::OpenParen => self.paren()?,
            _ => self.term()?,
        };
        Ok(self.signed(minus, inner))
    }

    /// A whole duration expression; `before` is a sign that was already taken.
    fn amount(&mut self, before: Option<WaitingAmount>) -> Result<Id, Fault> {
        let floor = self.waiting_amounts.len();
        self.waiting_amounts.extend(before);
        loop {
            while let Kind::Operator(sign @ (Operator::Add | Operator::Sub)) = self.ahead.kind {
                self.advance()?;
                self.waiting_amounts.push(WaitingAmount::Sign { minus: sign == Operator::Sub });
            }
            let mut amount = if self.ahead.kind == Kind::OpenParen {
                self.require_expressions(self.ahead.span())?;
                self.paren()?
            } else {
                self.term()?
            };
            let next = match self.ahead.kind {
                Kind::Operator(operator) if operator.is_arithmetic() => Some(operator),
                _ => None,
            };
            while self.waiting_amounts.len() > floor && self.last_goes_before(next) {
                amount = self.join_amount(amount)?;
            }
            let Some(operator) = next else { return Ok(amount) };
            self.require_expressions(self.ahead.span())?;
            let sign = self.advance()?;
            self.waiting_amounts.push(WaitingAmount::Binary { operator, left: amount, sign });
        }
    }

    fn last_goes_before(&self, next: Option<Operator>) -> bool {
        let Some(next) = next else { return true };
        match self.waiting_amounts.last() {
            Some(WaitingAmount::Sign { .. }) => Operator::Mul.goes_before(next),
            Some(WaitingAmount::Binary { operator, .. }) => operator.goes_before(next),
            None => false,
        }
    }

    fn join_amount(&mut self, right: Id) -> Result<Id, Fault> {
        match self.waiting_amounts.pop() {
            Some(WaitingAmount::Sign { minus }) => Ok(self.signed(minus, right)),
            Some(WaitingAmount::Binary { operator, left, sign }) => {
                if let (Operator::Div | Operator::Mod, Amount::Literal(literal)) =
                    (operator, self.tree.amount(right))
                    && literal.value() == 0.0
                {
                    return Err(Fault::new(sign.span(), "a duration is divided by zero"));
                }
                Ok(self.tree.add_amount(Amount::Binary { operator, left, right }))
            }
            None => Ok(right),
        }
    }

    fn signed(&mut self, minus: bool, inner: Id) -> Id {
        if let Amount::Literal(literal) = &mut self.tree.amounts[inner as usize] {
            *literal = if minus { literal.negated() } else { *literal };
            return inner;
        }
        self.tree.add_amount(Amount::Sign { minus, inner })
    }

    /// `(`, a duration expression, `)`.
    fn paren(&mut self) -> Result<Id, Fault> {
        self.open_bracket()?;
        let inner = self.amount(None)?;
        if self.ahead.kind != Kind::CloseParen {
            return Err(self.unexpected("an operator or )"));
        }
        self.close_bracket()?;
        Ok(self.tree.add_amount(Amount::Paren(inner)))
    }

    /// A number, a duration, `step()`, `range()`, `max_of(a, b)` or `min_of(a, b)`.
    fn term(&mut self) -> Result<Id, Fault> {
        let kind = self.ahead.kind;
        match kind {
            Kind::Number | Kind::Duration => {
                let token = self.advance()?;
                self.literal_amount(token)
            }
            Kind::Step | Kind::Range => {
                self.require_expressions(self.ahead.span())?;
                self.advance()?;
                self.empty_parens()?;
                Ok(self.tree.add_amount(if kind == Kind::Step { Amount::Step } else { Amount::Range }))
            }
            Kind::MaxOf | Kind::MinOf => {
                self.require_expressions(self.ahead.span())?;
                self.advance()?;
                let (left, right) = self.pair()?;
                let larger = Amount::Larger { left, right };
                let smaller = Amount::Smaller { left, right };
                Ok(self.tree.add_amount(if kind == Kind::MaxOf { larger } else { smaller }))
            }
            _ => Err(self.unexpected("a duration such as 5m")),
        }
    }

    fn literal_amount(&mut self, token: Token) -> Result<Id, Fault> {
        let literal = self.literal(token)?;
        if literal.value().abs() > LONGEST {
            return Err(Fault::new(token.span(), "the duration is longer than about 292 years"));
        }
        Ok(self.tree.add_amount(Amount::Literal(literal)))
    }

    /// `(a, b)`.
    fn pair(&mut self) -> Result<(Id, Id), Fault> {
        if self.ahead.kind != Kind::OpenParen {
            return Err(self.unexpected("( and two durations"));
        }
        self.open_bracket()?;
        let left = self.amount(None)?;
        if self.ahead.kind != Kind::Comma {
            return Err(self.unexpected("a comma and the second duration"));
        }
        self.advance()?;
        let right = self.amount(None)?;
        if self.ahead.kind != Kind::CloseParen {
            return Err(self.unexpected(")"));
        }
        self.close_bracket()?;
        Ok((left, right))
    }

    fn require_expressions(&self, span: Range<usize>) -> Result<(), Fault> {
        if self.options.duration_expressions {
            return Ok(());
        }
        Err(Fault::new(span, "arithmetic with durations is experimental and not enabled")
            .hint("write the duration out, or run Prometheus with --enable-feature=promql-duration-expr"))
    }
}
