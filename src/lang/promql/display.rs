//! The canonical text of a query: it parses back to the same tree. No recursion, so that any chain can be written.

use std::fmt::{self, Write as _};

use super::number::Literal;
use super::quoted;
use super::token::keyword;
use super::tree::{Amount, At, Extension, Id, Matching, Node, Query, Shift, Slice};

/// What is still to be written, last first.
enum Rest {
    Node(Id),
    Text(&'static str),
    Range { range: Id, shift: Shift, extension: Extension },
    Subquery { range: Id, step: Option<Id>, shift: Shift },
    Operator(Id),
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = vec![Rest::Node(self.root)];
        while let Some(next) = rest.pop() {
            match next {
                Rest::Text(text) => f.write_str(text)?,
                Rest::Node(id) => self.write_node(id, &mut rest, f)?,
                Rest::Operator(id) => self.write_operator(id, f)?,
                Rest::Range { range, shift, extension } => {
                    f.write_char('[')?;
                    self.write_amount(range, f)?;
                    f.write_char(']')?;
                    self.write_modifiers(shift, extension, f)?;
                }
                Rest::Subquery { range, step, shift } => {
                    f.write_char('[')?;
                    self.write_amount(range, f)?;
                    f.write_char(':')?;
                    step.map_or(Ok(()), |step| self.write_amount(step, f))?;
                    f.write_char(']')?;
                    self.write_modifiers(shift, Extension::Plain, f)?;
                }
            }
        }
        Ok(())
    }
}

impl Query {
    fn write_node(&self, id: Id, rest: &mut Vec<Rest>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.node(id) {
            Node::Number(literal) => write_literal(literal, f)?,
            Node::Text(text) => quoted::write(self.bytes(text), f)?,
            Node::Selector { name, matchers, shift, extension } => {
                self.write_selector(name, matchers, f)?;
                self.write_modifiers(shift, extension, f)?;
            }
            Node::Range { selector, range } => {
                if let Node::Selector { name, matchers, shift, extension } = *self.node(selector) {
                    self.write_selector(name, matchers, f)?;
                    rest.push(Rest::Range { range, shift, extension });
                }
            }
            Node::Subquery { inner, range, step, shift } => {
                rest.push(Rest::Subquery { range, step, shift });
                rest.push(Rest::Node(inner));
            }
            Node::Paren(inner) => {
                f.write_char('(')?;
                rest.extend([Rest::Text(")"), Rest::Node(inner)]);
            }
            Node::Sign { minus, inner } => {
                f.write_char(if minus { '-' } else { '+' })?;
                rest.push(Rest::Node(inner));
            }
            Node::Binary { left, right, .. } => {
                rest.extend([Rest::Node(right), Rest::Operator(id), Rest::Node(left)]);
            }
            Node::Call { function, arguments } => {
                write!(f, "{}(", function.name)?;
                rest.push(Rest::Text(")"));
                let arguments = &self.arguments[arguments.range()];
                for (place, argument) in arguments.iter().enumerate().rev() {
                    rest.push(Rest::Node(*argument));
                    if place > 0 {
                        rest.push(Rest::Text(", "));
                    }
                }
            }
            Node::Aggregate { aggregator, parameter, inner, grouping } => {
                f.write_str(aggregator.name())?;
                if let Some(grouping) = grouping {
                    f.write_str(if grouping.without { " without " } else { " by " })?;
                    self.write_labels(grouping.labels, f)?;
                    f.write_char(' ')?;
                }
                f.write_char('(')?;
                rest.extend([Rest::Text(")"), Rest::Node(inner)]);
                if let Some(parameter) = parameter {
                    rest.extend([Rest::Text(", "), Rest::Node(parameter)]);
                }
            }
        }
        Ok(())
    }

    fn write_selector(
        &self,
        name: Option<Slice>,
        matchers: Slice,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        if let Some(name) = name {
            f.write_str(&self.text(name))?;
        }
        let conditions = &self.conditions[matchers.range()];
        if name.is_some() && conditions.is_empty() {
            return Ok(());
        }
        f.write_char('{')?;
        for (place, condition) in conditions.iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            let label = self.bytes(condition.label);
            if is_word(label) {
                f.write_str(&self.text(condition.label))?;
            } else {
                quoted::write(label, f)?;
            }
            f.write_str(condition.comparison.sign())?;
            quoted::write(self.bytes(condition.value), f)?;
        }
        f.write_char('}')
    }

    /// The offset comes first: an operator right behind an offset in brackets would become part of it.
    fn write_modifiers(&self, shift: Shift, extension: Extension, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = shift.offset {
            f.write_str(" offset ")?;
            if let Some(literal) = self.first_literal(offset) {
                // Two signs make Prometheus read on behind the first number.
                f.write_str(if literal.value().is_sign_negative() { "+" } else { "++" })?;
            }
            self.write_amount(offset, f)?;
        }
        match shift.at {
            At::Unset => {}
            At::Time(time) => {
                f.write_str(" @ ")?;
                write_number(time, f)?;
            }
            At::Start => f.write_str(" @ start()")?,
            At::End => f.write_str(" @ end()")?,
        }
        match extension {
            Extension::Plain => Ok(()),
            Extension::Anchored => f.write_str(" anchored"),
            Extension::Smoothed => f.write_str(" smoothed"),
        }
    }

    /// The literal that arithmetic begins with.
    fn first_literal(&self, amount: Id) -> Option<Literal> {
        let Amount::Binary { mut left, .. } = self.amount(amount) else { return None };
        loop {
            match self.amount(left) {
                Amount::Literal(literal) => return Some(literal),
                Amount::Binary { left: further, .. } => left = further,
                _ => return None,
            }
        }
    }

    fn write_amount(&self, amount: Id, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        enum Part {
            Amount(Id),
            Text(&'static str),
        }
        let mut rest = vec![Part::Amount(amount)];
        while let Some(next) = rest.pop() {
            let id = match next {
                Part::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Part::Amount(id) => id,
            };
            match self.amount(id) {
                Amount::Literal(literal) => write_literal(literal, f)?,
                Amount::Step => f.write_str("step()")?,
                Amount::Range => f.write_str("range()")?,
                Amount::Larger { left, right } | Amount::Smaller { left, right } => {
                    let larger = matches!(self.amount(id), Amount::Larger { .. });
                    f.write_str(if larger { "max_of(" } else { "min_of(" })?;
                    rest.extend([Part::Text(")"), Part::Amount(right), Part::Text(", "), Part::Amount(left)]);
                }
                Amount::Paren(inner) => {
                    f.write_char('(')?;
                    rest.extend([Part::Text(")"), Part::Amount(inner)]);
                }
                Amount::Sign { minus, inner } => {
                    f.write_char(if minus { '-' } else { '+' })?;
                    rest.push(Part::Amount(inner));
                }
                Amount::Binary { operator, left, right } => {
                    let sign = Part::Text(operator.sign());
                    rest.extend([
                        Part::Amount(right),
                        Part::Text(" "),
                        sign,
                        Part::Text(" "),
                        Part::Amount(left),
                    ]);
                }
            }
        }
        Ok(())
    }

    fn write_operator(&self, id: Id, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Node::Binary { operator, matching, .. } = *self.node(id) else { return Ok(()) };
        write!(f, " {}", operator.sign())?;
        if let Some(matching) = matching {
            self.write_matching(&self.matchings[matching as usize], f)?;
        }
        f.write_char(' ')
    }

    fn write_matching(&self, matching: &Matching, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matching.boolean { " bool" } else { "" })?;
        if let Some((on, labels)) = matching.labels {
            f.write_str(if on { " on " } else { " ignoring " })?;
            self.write_labels(labels, f)?;
        }
        if let Some((left, labels)) = matching.group {
            f.write_str(if left { " group_left " } else { " group_right " })?;
            self.write_labels(labels, f)?;
        }
        let (left, right) = (matching.fill_left, matching.fill_right);
        if left == right {
            return left.map_or(Ok(()), |value| write_fill(" fill (", value, f));
        }
        left.map_or(Ok(()), |value| write_fill(" fill_left (", value, f))?;
        right.map_or(Ok(()), |value| write_fill(" fill_right (", value, f))
    }

    fn write_labels(&self, labels: Slice, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        for (place, label) in self.labels[labels.range()].iter().enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            let bytes = self.bytes(*label);
            let plain = is_word(bytes) && keyword(bytes).is_none_or(super::token::Kind::names_label);
            if plain { f.write_str(&self.text(*label))? } else { quoted::write(bytes, f)? }
        }
        f.write_char(')')
    }
}

fn is_word(name: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    name.first().is_some_and(letter) && name.iter().all(|byte| letter(byte) || byte.is_ascii_digit())
}

fn write_fill(keyword: &str, value: Literal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(keyword)?;
    write_number(value.value(), f)?;
    f.write_char(')')
}

fn write_literal(literal: Literal, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let nanoseconds = match literal {
        Literal::Plain(value) => return write_number(value, f),
        Literal::Duration(nanoseconds) => nanoseconds,
    };
    if nanoseconds < 0 {
        f.write_char('-')?;
    }
    // Literals are whole milliseconds, because no unit is smaller.
    let mut left = nanoseconds.unsigned_abs() / 1_000_000;
    if left == 0 {
        return f.write_str("0s");
    }
    for (unit, length) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)] {
        if left >= length {
            write!(f, "{}{unit}", left / length)?;
            left %= length;
        }
    }
    Ok(())
}

/// A number as PromQL reads it: very large and very small ones with an exponent, to stay short.
fn write_number(value: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if value.is_nan() {
        return f.write_str("NaN");
    }
    if value.is_infinite() {
        return f.write_str(if value < 0.0 { "-Inf" } else { "Inf" });
    }
    if value != 0.0 && !(1e-7..1e21).contains(&value.abs()) {
        write!(f, "{value:e}")
    } else {
        write!(f, "{value}")
    }
}
