//! Equality of queries: the same tree, wherever its parts stand in the text.
//!
//! Operands stand before what uses them in every arena, so two equal trees have equal nodes at equal places; only
//! the texts and lists beside the nodes may be kept in another order.

use super::tree::{At, Grouping, Id, Matching, Node, Query, Shift, Slice};

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        let pair = Pair { left: self, right: other };
        self.gives == other.gives
            && self.root == other.root
            && self.amounts == other.amounts
            && self.nodes.len() == other.nodes.len()
            && self.nodes.iter().zip(&other.nodes).all(|(left, right)| pair.nodes(left, right))
    }
}

/// Two queries under comparison.
struct Pair<'q> {
    left: &'q Query,
    right: &'q Query,
}

impl Pair<'_> {
    fn nodes(&self, left: &Node, right: &Node) -> bool {
        match (left, right) {
            (Node::Number(a), Node::Number(b)) => a == b,
            (Node::Text(a), Node::Text(b)) => self.bytes(*a, *b),
            (
                Node::Selector { name, matchers, shift, extension },
                Node::Selector { name: name_b, matchers: matchers_b, shift: shift_b, extension: extension_b },
            ) => {
                extension == extension_b
                    && same_shift(*shift, *shift_b)
                    && optional(*name, *name_b, |a, b| self.bytes(a, b))
                    && self.conditions(*matchers, *matchers_b)
            }
            (Node::Range { selector, range }, Node::Range { selector: selector_b, range: range_b }) => {
                selector == selector_b && range == range_b
            }
            (
                Node::Subquery { inner, range, step, shift },
                Node::Subquery { inner: inner_b, range: range_b, step: step_b, shift: shift_b },
            ) => (inner, range, step) == (inner_b, range_b, step_b) && same_shift(*shift, *shift_b),
            (Node::Paren(a), Node::Paren(b)) => a == b,
            (Node::Sign { minus, inner }, Node::Sign { minus: minus_b, inner: inner_b }) => {
                minus == minus_b && inner == inner_b
            }
            (
                Node::Binary { operator, left, right, matching },
                Node::Binary { operator: operator_b, left: left_b, right: right_b, matching: matching_b },
            ) => {
                (operator, left, right) == (operator_b, left_b, right_b)
                    && optional(*matching, *matching_b, |a, b| self.matchings(a, b))
            }
            (
                Node::Call { function, arguments },
                Node::Call { function: function_b, arguments: arguments_b },
            ) => {
                function.name == function_b.name
                    && self.left.arguments[arguments.range()] == self.right.arguments[arguments_b.range()]
            }
            (
                Node::Aggregate { aggregator, parameter, inner, grouping },
                Node::Aggregate {
                    aggregator: other,
                    parameter: parameter_b,
                    inner: inner_b,
                    grouping: grouping_b,
                },
            ) => {
                (aggregator, parameter, inner) == (other, parameter_b, inner_b)
                    && optional(*grouping, *grouping_b, |a: Grouping, b: Grouping| {
                        a.without == b.without && self.labels(a.labels, b.labels)
                    })
            }
            _ => false,
        }
    }

    fn bytes(&self, left: Slice, right: Slice) -> bool {
        self.left.bytes(left) == self.right.bytes(right)
    }

    fn labels(&self, left: Slice, right: Slice) -> bool {
        let (left, right) = (&self.left.labels[left.range()], &self.right.labels[right.range()]);
        left.len() == right.len() && left.iter().zip(right).all(|(a, b)| self.bytes(*a, *b))
    }

    fn conditions(&self, left: Slice, right: Slice) -> bool {
        let (left, right) = (&self.left.conditions[left.range()], &self.right.conditions[right.range()]);
        left.len() == right.len()
            && left.iter().zip(right).all(|(a, b)| {
                a.comparison == b.comparison && self.bytes(a.label, b.label) && self.bytes(a.value, b.value)
            })
    }

    fn matchings(&self, left: Id, right: Id) -> bool {
        let a: &Matching = &self.left.matchings[left as usize];
        let b: &Matching = &self.right.matchings[right as usize];
        let labels = |a: (bool, Slice), b: (bool, Slice)| a.0 == b.0 && self.labels(a.1, b.1);
        a.boolean == b.boolean
            && (a.fill_left, a.fill_right) == (b.fill_left, b.fill_right)
            && optional(a.labels, b.labels, labels)
            && optional(a.group, b.group, labels)
    }
}

fn optional<T>(left: Option<T>, right: Option<T>, same: impl FnOnce(T, T) -> bool) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => same(left, right),
        (None, None) => true,
        _ => false,
    }
}

fn same_shift(left: Shift, right: Shift) -> bool {
    let at = match (left.at, right.at) {
        (At::Time(a), At::Time(b)) => a.to_bits() == b.to_bits(),
        (At::Unset, At::Unset) | (At::Start, At::Start) | (At::End, At::End) => true,
        _ => false,
    };
    at && left.offset == right.offset
}
