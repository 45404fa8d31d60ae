//! The tree of a query, in one arena: operands stand before what uses them, and a chain of any length is flat.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::functions::Function;
use super::number::Literal;
use super::token::{Aggregator, Operator};

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueType {
    /// One number.
    Scalar,
    /// One value for each series, an instant vector.
    Vector,
    /// A range of values for each series, a range vector.
    Matrix,
    /// A text.
    String,
}

impl ValueType {
    /// As Prometheus' documentation calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Vector => "instant vector",
            Self::Matrix => "range vector",
            Self::String => "string",
        }
    }

    /// The name with its article, for messages.
    pub(super) fn described(self) -> &'static str {
        match self {
            Self::Scalar => "a scalar",
            Self::Vector => "an instant vector",
            Self::Matrix => "a range vector",
            Self::String => "a string",
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a matcher compares the value of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `=~`
    Regex,
    /// `!~`
    NoRegex,
}

impl Comparison {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Unequal => "!=",
            Self::Regex => "=~",
            Self::NoRegex => "!~",
        }
    }
}

/// Index of a node, or of an amount of time.
pub(super) type Id = u32;

/// Some neighbours in one of the arena's lists, or some bytes of its pool.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slice {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Slice {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn len(self) -> usize {
        self.range().len()
    }
}

/// An index as the arena stores it. Texts are far smaller than 4 GiB, and the parser refuses those that are not.
pub(super) fn index(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Where `@` pins the evaluation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum At {
    #[default]
    Unset,
    Time(f64),
    Start,
    End,
}

/// `@` and `offset` of a selector or a subquery.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shift {
    pub(super) at: At,
    /// An amount; not set for an offset of zero, which counts as none.
    pub(super) offset: Option<Id>,
}

/// How a range is extended beyond its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Extension {
    #[default]
    Plain,
    Anchored,
    Smoothed,
}

/// One expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Number(Literal),
    Text(Slice),
    Selector { name: Option<Slice>, matchers: Slice, shift: Shift, extension: Extension },
    Range { selector: Id, range: Id },
    Subquery { inner: Id, range: Id, step: Option<Id>, shift: Shift },
    Paren(Id),
    Sign { minus: bool, inner: Id },
    Binary { operator: Operator, left: Id, right: Id, matching: Option<Id> },
    Call { function: &'static Function, arguments: Slice },
    Aggregate { aggregator: Aggregator, parameter: Option<Id>, inner: Id, grouping: Option<Grouping> },
}

/// `by` or `without` and their labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grouping {
    pub(super) without: bool,
    pub(super) labels: Slice,
}

/// What stands behind a binary operator, before its right side.
#[derive(Debug, Clone, Default)]
pub(super) struct Matching {
    pub(super) boolean: bool,
    /// Whether `on` (or else `ignoring`), and the labels.
    pub(super) labels: Option<(bool, Slice)>,
    /// Whether `group_left` (or else `group_right`), and the labels.
    pub(super) group: Option<(bool, Slice)>,
    pub(super) fill_left: Option<Literal>,
    pub(super) fill_right: Option<Literal>,
}

/// An amount of time behind `offset` or in a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Amount {
    Literal(Literal),
    Step,
    Range,
    Larger { left: Id, right: Id },
    Smaller { left: Id, right: Id },
    Paren(Id),
    Sign { minus: bool, inner: Id },
    Binary { operator: Operator, left: Id, right: Id },
}

/// One condition on a label.
#[derive(Debug, Clone)]
pub(super) struct Condition {
    pub(super) label: Slice,
    pub(super) comparison: Comparison,
    pub(super) value: Slice,
    /// Whether series without the label fulfil it.
    pub(super) holds_for_empty: bool,
    pub(super) span: Range<u32>,
}

/// A query that Prometheus accepts.
///
/// Two queries are equal when they mean the same tree; where things stand in the text does not matter.
#[derive(Debug, Clone)]
pub struct Query {
    pub(super) nodes: Vec<Node>,
    pub(super) spans: Vec<Range<u32>>,
    pub(super) amounts: Vec<Amount>,
    pub(super) matchings: Vec<Matching>,
    pub(super) conditions: Vec<Condition>,
    pub(super) arguments: Vec<Id>,
    pub(super) labels: Vec<Slice>,
    pub(super) pool: Vec<u8>,
    pub(super) root: Id,
    pub(super) gives: ValueType,
}

impl Query {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(capacity),
            spans: Vec::with_capacity(capacity),
            amounts: Vec::new(),
            matchings: Vec::new(),
            conditions: Vec::new(),
            arguments: Vec::new(),
            labels: Vec::new(),
            pool: Vec::new(),
            root: 0,
            gives: ValueType::Scalar,
        }
    }

    pub(super) fn add(&mut self, node: Node, span: Range<usize>) -> Id {
        self.nodes.push(node);
        self.spans.push(index(span.start)..index(span.end));
        index(self.nodes.len() - 1)
    }

    pub(super) fn add_amount(&mut self, amount: Amount) -> Id {
        self.amounts.push(amount);
        index(self.amounts.len() - 1)
    }

    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn span(&self, id: Id) -> Range<usize> {
        let span = &self.spans[id as usize];
        span.start as usize..span.end as usize
    }

    pub(super) fn amount(&self, id: Id) -> Amount {
        self.amounts[id as usize]
    }

    pub(super) fn bytes(&self, slice: Slice) -> &[u8] {
        &self.pool[slice.range()]
    }

    pub(super) fn text(&self, slice: Slice) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(slice))
    }

    /// What the query gives.
    pub fn value_type(&self) -> ValueType {
        self.gives
    }

    /// Every selector of the query, in the order of the text.
    pub fn selectors(&self) -> impl Iterator<Item = Selector<'_>> {
        self.nodes.iter().zip(&self.spans).filter_map(|(node, span)| match node {
            Node::Selector { name, matchers, .. } => {
                let span = span.start as usize..span.end as usize;
                Some(Selector { query: self, name: *name, matchers: *matchers, span })
            }
            _ => None,
        })
    }
}

/// One selector of series: `up{job="api"}`.
#[derive(Debug, Clone)]
pub struct Selector<'q> {
    query: &'q Query,
    name: Option<Slice>,
    matchers: Slice,
    span: Range<usize>,
}

impl<'q> Selector<'q> {
    /// The metric, when the selector names exactly one: before the braces, or in them as `"name"` or
    /// `__name__="name"`. Bytes that are no UTF-8 are shown as U+FFFD.
    pub fn metric(&self) -> Option<Cow<'q, str>> {
        let by_condition = || {
            let conditions = &self.query.conditions[self.matchers.range()];
            let named = conditions.iter().find(|condition| {
                condition.comparison == Comparison::Equal && self.query.bytes(condition.label) == b"__name__"
            });
            named.map(|condition| condition.value)
        };
        self.name.or_else(by_condition).map(|name| self.query.text(name))
    }

    /// The conditions in the braces, in their order.
    pub fn matchers(&self) -> impl Iterator<Item = Matcher<'q>> + use<'q> {
        let query = self.query;
        query.conditions[self.matchers.range()].iter().map(move |condition| Matcher {
            label: query.text(condition.label),
            comparison: condition.comparison,
            value: query.text(condition.value),
            span: condition.span.start as usize..condition.span.end as usize,
        })
    }

    /// The name and the braces in the text, without a range or modifiers.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

/// One condition in the braces of a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matcher<'q> {
    /// The label. Bytes that are no UTF-8 are shown as U+FFFD.
    pub label: Cow<'q, str>,
    /// How the value is compared.
    pub comparison: Comparison,
    /// The value or the regular expression. Bytes that are no UTF-8 are shown as U+FFFD.
    pub value: Cow<'q, str>,
    /// Where it stands in the text.
    pub span: Range<usize>,
}
