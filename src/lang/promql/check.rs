//! Types and the rules that hold beyond grammar: one pass over the arena, operands before what uses them.

use std::collections::HashSet;
use std::ops::Range;

use super::functions::Function;
use super::hints;
use super::token::{Aggregator, Operator};
use super::tree::{Id, Matching, Node, Query, Slice, ValueType};
use crate::lang::Fault;

/// The type of the whole query, or the first rule that is broken.
pub(super) fn check(query: &Query, text: &str) -> Result<ValueType, Fault> {
    let mut checker = Checker { query, text, types: Vec::with_capacity(query.nodes.len()) };
    for (id, node) in (0..).zip(&query.nodes) {
        let found = checker.node(id, node)?;
        checker.types.push(found);
    }
    Ok(checker.kind(query.root))
}

struct Checker<'q> {
    query: &'q Query,
    text: &'q str,
    types: Vec<ValueType>,
}

impl Checker<'_> {
    fn kind(&self, id: Id) -> ValueType {
        self.types[id as usize]
    }

    fn fault(&self, id: Id, message: impl Into<String>) -> Fault {
        Fault::new(self.query.span(id), message)
    }

    fn node(&self, id: Id, node: &Node) -> Result<ValueType, Fault> {
        Ok(match *node {
            Node::Number(_) => ValueType::Scalar,
            Node::Text(_) => ValueType::String,
            Node::Selector { name, matchers, .. } => {
                self.selector(id, name, matchers)?;
                ValueType::Vector
            }
            Node::Range { .. } => ValueType::Matrix,
            Node::Subquery { inner, .. } => {
                if self.kind(inner) != ValueType::Vector {
                    let message = format!(
                        "a subquery needs an instant vector, and this is {}",
                        self.kind(inner).described()
                    );
                    return Err(self.fault(inner, message));
                }
                ValueType::Matrix
            }
            Node::Paren(inner) => self.kind(inner),
            Node::Sign { inner, .. } => {
                let found = self.kind(inner);
                if !matches!(found, ValueType::Scalar | ValueType::Vector) {
                    let message = format!(
                        "a sign needs a scalar or an instant vector, and this is {}",
                        found.described()
                    );
                    return Err(hints::needless_range(found, self.fault(id, message)));
                }
                found
            }
            Node::Binary { operator, left, right, matching } => {
                self.binary(id, operator, left, right, matching)?
            }
            Node::Call { function, arguments } => {
                self.call(id, function, arguments)?;
                function.gives
            }
            Node::Aggregate { aggregator, parameter, inner, .. } => {
                self.aggregation(aggregator, parameter, inner)?;
                ValueType::Vector
            }
        })
    }

    fn selector(&self, id: Id, name: Option<Slice>, matchers: Slice) -> Result<(), Fault> {
        let conditions = &self.query.conditions[matchers.range()];
        if let Some(name) = name {
            let named = |label| self.query.bytes(label) == b"__name__";
            return match conditions.iter().find(|condition| named(condition.label)) {
                Some(second) => {
                    let span = second.span.start as usize..second.span.end as usize;
                    let message = "the metric is named twice, before the braces and in them";
                    Err(Fault::new(span, message)
                        .hint(format!("leave out {} or this", hints::short(&self.query.text(name)))))
                }
                None => Ok(()),
            };
        }
        if conditions.iter().all(|condition| condition.holds_for_empty) && !self.names_labels_of_info(id) {
            return Err(hints::selects_everything(self.query.span(id), conditions.is_empty()));
        }
        Ok(())
    }

    /// Whether the selector is the second argument of `info`, which names labels only and may be empty. Such a
    /// selector stands right before its call: arguments come in order, and `info` takes no third.
    fn names_labels_of_info(&self, id: Id) -> bool {
        match self.query.nodes.get(id as usize + 1) {
            Some(Node::Call { function, arguments }) if function.name == "info" => {
                self.query.arguments[arguments.range()].get(1) == Some(&id)
            }
            _ => false,
        }
    }

    fn binary(
        &self,
        id: Id,
        operator: Operator,
        left: Id,
        right: Id,
        matching: Option<Id>,
    ) -> Result<ValueType, Fault> {
        let between = self.operator_span(left, right);
        let (left_type, right_type) = (self.kind(left), self.kind(right));
        for (side, found) in [(left, left_type), (right, right_type)] {
            if !matches!(found, ValueType::Scalar | ValueType::Vector) {
                let message = format!(
                    "{} works on scalars and instant vectors, and this is {}",
                    operator.sign(),
                    found.described()
                );
                return Err(hints::needless_range(found, self.fault(side, message)));
            }
        }
        let matching = matching.map(|matching| &self.query.matchings[matching as usize]);
        let boolean = matching.is_some_and(|matching| matching.boolean);
        if boolean && !operator.is_comparison() {
            return Err(Fault::new(
                between,
                format!("bool belongs to comparisons, not to {}", operator.sign()),
            )
            .hint("leave bool out"));
        }
        let scalars = left_type == ValueType::Scalar && right_type == ValueType::Scalar;
        if operator.is_comparison() && scalars && !boolean {
            return Err(Fault::new(between, "a comparison of two scalars needs bool")
                .hint(format!("write {} bool, which gives 0 or 1", operator.sign())));
        }
        let vectors = left_type == ValueType::Vector && right_type == ValueType::Vector;
        if operator.is_set() && !vectors {
            let scalar = if left_type == ValueType::Scalar { left } else { right };
            return Err(self
                .fault(scalar, format!("{} joins two instant vectors, and this is a scalar", operator.sign()))
                .hint("vector(...) makes a vector of a scalar; a comparison of scalars is not a condition"));
        }
        if let Some(matching) = matching {
            self.matching(id, operator, vectors, matching)?;
        }
        Ok(if scalars { ValueType::Scalar } else { ValueType::Vector })
    }

    /// The operator and its modifiers, without the blanks around them.
    fn operator_span(&self, left: Id, right: Id) -> Range<usize> {
        let between = self.query.span(left).end..self.query.span(right).start;
        let words = self.text.get(between.clone()).unwrap_or_default();
        let start = between.start + words.len() - words.trim_start().len();
        start..start + words.trim().len()
    }

    fn matching(&self, id: Id, operator: Operator, vectors: bool, matching: &Matching) -> Result<(), Fault> {
        let labels =
            |slice: Slice| self.query.labels[slice.range()].iter().map(|label| self.query.bytes(*label));
        if let (Some((true, on)), Some((_, included))) = (matching.labels, matching.group) {
            let on: HashSet<&[u8]> = labels(on).collect();
            if let Some(label) = labels(included).find(|label| on.contains(label)) {
                let label = String::from_utf8_lossy(label);
                let label = hints::short(&label);
                return Err(self
                    .fault(id, format!("the label {label} stands in on and in the group modifier"))
                    .hint("labels of on are in the result anyway: leave it out of the group modifier"));
            }
        }
        let filled = matching.fill_left.is_some() || matching.fill_right.is_some();
        if !vectors {
            if matching.labels.is_some_and(|(_, labels)| labels.len() > 0) {
                return Err(self.fault(id, "labels can be matched only between two instant vectors"));
            }
            if filled {
                return Err(self.fault(id, "series can be filled in only between two instant vectors"));
            }
        } else if operator.is_set() {
            if matching.group.is_some() {
                return Err(self
                    .fault(id, format!("{} takes no group_left and no group_right", operator.sign()))
                    .hint("sets always match many to many"));
            }
            if filled {
                return Err(self.fault(id, format!("{} fills no series in", operator.sign())));
            }
        }
        Ok(())
    }

    fn call(&self, id: Id, function: &Function, arguments: Slice) -> Result<(), Fault> {
        let arguments = &self.query.arguments[arguments.range()];
        let count = arguments.len();
        if count < function.least || function.most.is_some_and(|most| count > most) {
            return Err(hints::argument_count(function, count, self.query.span(id)));
        }
        for (place, &argument) in arguments.iter().enumerate() {
            let Some(&wanted) = function.takes.get(place).or_else(|| function.takes.last()) else { break };
            let found = self.kind(argument);
            if found != wanted {
                let swapped = count == 2 && self.kind(arguments[1 - place.min(1)]) == wanted;
                let span = self.query.span(argument);
                let selects = matches!(self.query.node(argument), Node::Selector { .. });
                return Err(hints::argument_type(self.text, function, wanted, found, span, selects, swapped));
            }
        }
        if function.name == "info"
            && let Some(&labels) = arguments.get(1)
            && !matches!(self.query.node(labels), Node::Selector { name: None, .. })
        {
            return Err(self
                .fault(labels, "the second argument of info names labels only")
                .hint("write braces without a metric, such as info(up, {version=~\".+\"})"));
        }
        Ok(())
    }

    fn aggregation(&self, aggregator: Aggregator, parameter: Option<Id>, inner: Id) -> Result<(), Fault> {
        let found = self.kind(inner);
        let name = aggregator.name();
        if found != ValueType::Vector {
            let fault = self.fault(
                inner,
                format!("{name} aggregates an instant vector, and this is {}", found.described()),
            );
            let swapped = parameter.is_some_and(|parameter| self.kind(parameter) == ValueType::Vector);
            return Err(if swapped {
                fault.hint(format!("the parameter comes first: {name}(parameter, vector)"))
            } else {
                hints::needless_range(found, fault)
            });
        }
        let wanted =
            if aggregator == Aggregator::CountValues { ValueType::String } else { ValueType::Scalar };
        if let Some(parameter) = parameter
            && self.kind(parameter) != wanted
        {
            let found = self.kind(parameter);
            return Err(self
                .fault(
                    parameter,
                    format!(
                        "the parameter of {name} is {}, and this is {}",
                        wanted.described(),
                        found.described()
                    ),
                )
                .hint(format!("write {name}({wanted}, instant vector)")));
        }
        Ok(())
    }
}
