//! Amounts of time: what may stand in a range and behind `offset`, with the arithmetic of duration expressions.

use std::ops::Range;

use super::parser::{AroundAmount, Ended, Parser, WaitingAmount};
use super::token::{Kind, Operator, Token};
use super::tree::{Amount, Id};
use crate::lang::Fault;

/// The longest amount in seconds; more nanoseconds do not fit into 64 bits.
const LONGEST: f64 = 9_223_372_036.854_776;

/// How much is read as an amount.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// One term; an operator behind it belongs to somebody else.
    Term,
    /// As much as operators join.
    Whole,
}

impl Parser<'_> {
    /// The amount of a range or of a step. Only a plain literal is known to be positive or not.
    pub(super) fn positive_amount(&mut self) -> Result<Id, Fault> {
        let first = self.ahead;
        let amount = self.amount(None, Extent::Whole)?;
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
            let extent = if self.ahead.kind == Kind::OpenParen { Extent::Whole } else { Extent::Term };
            return self.amount(None, extent);
        };
        let minus = operator == Operator::Sub;
        self.advance()?;
        if let Kind::Operator(Operator::Add | Operator::Sub) = self.ahead.kind {
            return self.amount(Some(WaitingAmount::Sign { minus }), Extent::Whole);
        }
        let inner = self.amount(None, Extent::Term)?;
        Ok(self.signed(minus, inner))
    }

    /// A duration expression or one term of it, with everything that it holds in brackets; `before` is a sign that was
    /// already taken.
    fn amount(&mut self, before: Option<WaitingAmount>, extent: Extent) -> Result<Id, Fault> {
        let (base, mut floor) = (self.around_amounts.len(), self.waiting_amounts.len());
        self.waiting_amounts.extend(before);
        'term: loop {
            let is_term = extent == Extent::Term && self.around_amounts.len() == base;
            while let Kind::Operator(sign @ (Operator::Add | Operator::Sub)) = self.ahead.kind
                && !is_term
            {
                self.advance()?;
                self.waiting_amounts.push(WaitingAmount::Sign { minus: sign == Operator::Sub });
            }
            if let Some(around) = self.begun_amount(is_term)? {
                self.around_amounts.push((around, floor));
                floor = self.waiting_amounts.len();
                continue;
            }
            let mut amount = self.term()?;
            loop {
                if extent == Extent::Term && self.around_amounts.len() == base {
                    return Ok(amount);
                }
                let next = match self.ahead.kind {
                    Kind::Operator(operator) if operator.is_arithmetic() => Some(operator),
                    _ => None,
                };
                while self.waiting_amounts.len() > floor && self.last_goes_before(next) {
                    amount = self.join_amount(amount)?;
                }
                if let Some(operator) = next {
                    self.require_expressions(self.ahead.span())?;
                    let sign = self.advance()?;
                    self.waiting_amounts.push(WaitingAmount::Binary { operator, left: amount, sign });
                    continue 'term;
                }
                if self.around_amounts.len() == base {
                    return Ok(amount);
                }
                let Some((around, further_out)) = self.around_amounts.pop() else { return Ok(amount) };
                match self.end_of_amount(amount, around)? {
                    Ended::Bracket(bracket) => (amount, floor) = (bracket, further_out),
                    Ended::More(around) => {
                        self.around_amounts.push((around, further_out));
                        continue 'term;
                    }
                }
            }
        }
    }

    /// Takes the bracket or the function that a term begins with.
    fn begun_amount(&mut self, is_term: bool) -> Result<Option<AroundAmount>, Fault> {
        let around = match self.ahead.kind {
            Kind::OpenParen => {
                // No feature flag is asked for behind the sign of an offset: Prometheus forgot it.
                if !is_term {
                    self.require_expressions(self.ahead.span())?;
                }
                AroundAmount::Paren
            }
            kind @ (Kind::MaxOf | Kind::MinOf) => {
                self.require_expressions(self.ahead.span())?;
                self.advance()?;
                if self.ahead.kind != Kind::OpenParen {
                    return Err(self.unexpected("( and two durations"));
                }
                AroundAmount::First { larger: kind == Kind::MaxOf }
            }
            _ => return Ok(None),
        };
        self.open_bracket()?;
        Ok(Some(around))
    }

    /// Takes what stands behind an amount inside a bracket: its end, or the comma before more.
    fn end_of_amount(&mut self, inner: Id, around: AroundAmount) -> Result<Ended<AroundAmount>, Fault> {
        let (closing, amount) = match around {
            AroundAmount::First { larger } => {
                if self.ahead.kind != Kind::Comma {
                    return Err(self.unexpected("a comma and the second duration"));
                }
                self.advance()?;
                return Ok(Ended::More(AroundAmount::Second { larger, left: inner }));
            }
            AroundAmount::Paren => ("an operator or )", Amount::Paren(inner)),
            AroundAmount::Second { larger: true, left } => (")", Amount::Larger { left, right: inner }),
            AroundAmount::Second { larger: false, left } => (")", Amount::Smaller { left, right: inner }),
        };
        if self.ahead.kind != Kind::CloseParen {
            return Err(self.unexpected(closing));
        }
        self.close_bracket()?;
        Ok(Ended::Bracket(self.tree.add_amount(amount)))
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

    /// A number, a duration, `step()` or `range()`.
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

    fn require_expressions(&self, span: Range<usize>) -> Result<(), Fault> {
        if self.options.duration_expressions {
            return Ok(());
        }
        Err(Fault::new(span, "arithmetic with durations is experimental and not enabled")
            .hint("write the duration out, or run Prometheus with --enable-feature=promql-duration-expr"))
    }
}
