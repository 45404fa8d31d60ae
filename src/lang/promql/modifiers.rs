//! What stands behind an operand (`[5m]`, `offset`, `@`, `anchored`) or behind an operator (`bool`, `on`, `fill`).

use super::hints;
use super::number::Literal;
use super::parser::Parser;
use super::token::{Kind, Operator, Token};
use super::tree::{Amount, At, Extension, Id, Matching, Node, Shift, Slice, index};
use crate::lang::Fault;

/// From here on a timestamp in seconds does not fit into 64 bits.
const LATEST: f64 = 9_223_372_036_854_775_808.0;

impl Parser<'_> {
    /// An operand with all that binds to it more tightly than any operator.
    pub(super) fn modified(&mut self, mut operand: Id) -> Result<Id, Fault> {
        loop {
            match self.ahead.kind {
                Kind::OpenBracket => operand = self.range(operand)?,
                Kind::Offset => self.offset(operand)?,
                Kind::At => self.at(operand)?,
                Kind::Anchored => self.extend(operand, Extension::Anchored)?,
                Kind::Smoothed => self.extend(operand, Extension::Smoothed)?,
                _ => return Ok(operand),
            }
        }
    }

    fn range(&mut self, operand: Id) -> Result<Id, Fault> {
        let opener = self.open_bracket()?;
        let range = self.positive_amount()?;
        let start = self.tree.span(operand).start;
        match self.ahead.kind {
            Kind::CloseBracket => {
                let end = self.close_bracket()?.end;
                match self.tree.node(operand) {
                    Node::Selector { shift: Shift { at: At::Unset, offset: None }, .. } => {}
                    Node::Selector { shift, .. } => {
                        let modifier = if shift.offset.is_some() { "offset" } else { "@" };
                        return Err(Fault::new(
                            opener.start..end,
                            format!("the range must come before {modifier}"),
                        )
                        .hint(format!("write metric[5m] {modifier} ...")));
                    }
                    _ => return Err(hints::range_of_expression(self.text, start, opener.start..end)),
                }
                Ok(self.tree.add(Node::Range { selector: operand, range }, start..end))
            }
            Kind::Colon => {
                self.advance()?;
                let step =
                    if self.ahead.kind == Kind::CloseBracket { None } else { Some(self.positive_amount()?) };
                if self.ahead.kind != Kind::CloseBracket {
                    return Err(self.unexpected("]"));
                }
                let end = self.close_bracket()?.end;
                let shift = Shift::default();
                Ok(self.tree.add(Node::Subquery { inner: operand, range, step, shift }, start..end))
            }
            _ => Err(self.unexpected("] or :")),
        }
    }

    /// The node that modifiers of an operand belong to: those of a range are its selector's.
    fn carrier(&self, operand: Id) -> usize {
        match *self.tree.node(operand) {
            Node::Range { selector, .. } => selector as usize,
            _ => operand as usize,
        }
    }

    /// The `@` and `offset` of an operand that can have them.
    fn shift(&mut self, operand: Id, modifier: Token) -> Result<&mut Shift, Fault> {
        let carrier = self.carrier(operand);
        let span = self.tree.span(operand);
        match &mut self.tree.nodes[carrier] {
            Node::Selector { shift, .. } | Node::Subquery { shift, .. } => Ok(shift),
            _ => Err(hints::modifier_of_expression(self.text, span, modifier)),
        }
    }

    fn offset(&mut self, operand: Id) -> Result<(), Fault> {
        let keyword = self.advance()?;
        let before = self.tree.amounts.len();
        let amount = self.offset_amount()?;
        // An offset of zero counts as none, so that another may follow.
        let zero = match self.tree.amount(amount) {
            Amount::Literal(literal) => (literal.value() * 1e9).round() == 0.0,
            _ => false,
        };
        let shift = self.shift(operand, keyword)?;
        if shift.offset.is_some() {
            return Err(Fault::new(keyword.span(), "offset is set twice").hint("add the two offsets up"));
        }
        if zero {
            self.tree.amounts.truncate(before);
        } else {
            shift.offset = Some(amount);
        }
        Ok(())
    }

    fn at(&mut self, operand: Id) -> Result<(), Fault> {
        let sign = self.advance()?;
        let at = if let kind @ (Kind::Start | Kind::Finish) = self.ahead.kind {
            self.advance()?;
            self.empty_parens()?;
            if kind == Kind::Start { At::Start } else { At::End }
        } else {
            At::Time(self.time()?)
        };
        let shift = self.shift(operand, sign)?;
        if !matches!(shift.at, At::Unset) {
            return Err(Fault::new(sign.span(), "@ is set twice").hint("keep one of the two"));
        }
        shift.at = at;
        Ok(())
    }

    /// A time in seconds, with or without a sign.
    fn time(&mut self) -> Result<f64, Fault> {
        let (value, token) = self.signed_number("a timestamp in seconds, start() or end() behind @")?;
        if value.is_nan() || value.abs() >= LATEST {
            return Err(Fault::new(token.span(), "no timestamp that Prometheus can hold")
                .hint("the time is given in seconds since 1970, such as @ 1609746000"));
        }
        Ok(value)
    }

    /// A number or duration, with or without one sign.
    fn signed_number(&mut self, expected: &str) -> Result<(f64, Token), Fault> {
        let minus = self.ahead.kind == Kind::Operator(Operator::Sub);
        if minus || self.ahead.kind == Kind::Operator(Operator::Add) {
            self.advance()?;
        }
        if !matches!(self.ahead.kind, Kind::Number | Kind::Duration) {
            return Err(self.unexpected(expected));
        }
        let token = self.advance()?;
        let value = self.literal(token)?.value();
        Ok((if minus { -value } else { value }, token))
    }

    /// `()`, which the words of time carry.
    pub(super) fn empty_parens(&mut self) -> Result<usize, Fault> {
        if self.ahead.kind != Kind::OpenParen {
            return Err(self.unexpected("()"));
        }
        self.open_bracket()?;
        if self.ahead.kind != Kind::CloseParen {
            return Err(self.unexpected(")"));
        }
        Ok(self.close_bracket()?.end)
    }

    fn extend(&mut self, operand: Id, wanted: Extension) -> Result<(), Fault> {
        let keyword = self.advance()?;
        let name = self.word(keyword);
        if !self.options.extended_ranges {
            return Err(Fault::new(keyword.span(), format!("{name} is experimental and not enabled")).hint(
                "it exists only when Prometheus runs with --enable-feature=promql-extended-range-selectors",
            ));
        }
        let carrier = self.carrier(operand);
        match &mut self.tree.nodes[carrier] {
            Node::Selector { extension, .. } => {
                if *extension != Extension::Plain && *extension != wanted {
                    return Err(Fault::new(keyword.span(), "anchored and smoothed exclude each other"));
                }
                *extension = wanted;
                Ok(())
            }
            _ => Err(Fault::new(keyword.span(), format!("{name} belongs to a selector or its range"))
                .hint(format!("write metric[5m] {name}"))),
        }
    }

    /// What stands between a binary operator and its right side.
    pub(super) fn matching(&mut self) -> Result<Option<Id>, Fault> {
        let mut matching = Matching::default();
        let first = self.ahead;
        if self.ahead.kind == Kind::Bool {
            self.advance()?;
            matching.boolean = true;
        }
        if let kind @ (Kind::On | Kind::Ignoring) = self.ahead.kind {
            let keyword = self.advance()?;
            matching.labels = Some((kind == Kind::On, self.label_list(keyword)?));
            if let kind @ (Kind::GroupLeft | Kind::GroupRight) = self.ahead.kind {
                let keyword = self.advance()?;
                let labels = match self.ahead.kind {
                    Kind::OpenParen => self.label_list(keyword)?,
                    _ => Slice::default(),
                };
                matching.group = Some((kind == Kind::GroupLeft, labels));
            }
        }
        match self.ahead.kind {
            Kind::Fill => {
                let value = self.fill()?;
                (matching.fill_left, matching.fill_right) = (Some(value), Some(value));
            }
            Kind::FillLeft => {
                matching.fill_left = Some(self.fill()?);
                if self.ahead.kind == Kind::FillRight {
                    matching.fill_right = Some(self.fill()?);
                }
            }
            Kind::FillRight => {
                matching.fill_right = Some(self.fill()?);
                if self.ahead.kind == Kind::FillLeft {
                    matching.fill_left = Some(self.fill()?);
                }
            }
            _ => {}
        }
        if self.ahead.start == first.start {
            return Ok(None);
        }
        self.tree.matchings.push(matching);
        Ok(Some(index(self.tree.matchings.len() - 1)))
    }

    /// A keyword of filling and its value in brackets.
    fn fill(&mut self) -> Result<Literal, Fault> {
        let keyword = self.advance()?;
        if !self.options.fill_modifiers {
            let message = format!("{} is experimental and not enabled", self.word(keyword));
            return Err(Fault::new(keyword.span(), message).hint(
                "it exists only when Prometheus runs with --enable-feature=promql-binop-fill-modifiers",
            ));
        }
        if self.ahead.kind != Kind::OpenParen {
            return Err(self.unexpected("( and a number"));
        }
        self.open_bracket()?;
        let (value, _) = self.signed_number("a number to fill in")?;
        if self.ahead.kind != Kind::CloseParen {
            return Err(self.unexpected(")"));
        }
        self.close_bracket()?;
        Ok(Literal::Plain(value))
    }
}
