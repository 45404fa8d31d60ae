//! The tree of a query: nodes in flat lists that refer to each other by number, children before parents.
//!
//! Flat, because a chain of 65,000 operators is a legal query: nothing here is dropped, copied or compared by recursion.

use std::ops::Range;

/// Bytes of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    /// From two byte offsets of a query, which is never longer than 128 KiB.
    pub(super) fn new(start: usize, end: usize) -> Self {
        Self { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
    }

    pub(super) fn to(self, end: Self) -> Self {
        Self { start: self.start, end: end.end }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A text: bytes of the query as they stand, or, where escapes had to be resolved, of a pool beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Text {
    pub(super) bytes: Span,
    pub(super) pooled: bool,
}

/// A string of the query: its text and where it stands, quotes included.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Str {
    pub(super) text: Text,
    pub(super) span: Span,
}

/// Neighbours in one of the flat lists.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct List {
    pub(super) first: u32,
    pub(super) end: u32,
}

impl List {
    pub(super) fn of<T>(self, all: &[T]) -> &[T] {
        all.get(self.first as usize..self.end as usize).unwrap_or_default()
    }
}

/// The position that the next element of a flat list will have.
pub(super) fn next<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

/// Adds an element to a flat list and tells its number.
pub(super) fn add<T>(all: &mut Vec<T>, element: T) -> u32 {
    let index = next(all);
    all.push(element);
    index
}

/// All nodes of a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    pub(super) source: String,
    pub(super) pool: Vec<u8>,
    /// The last one is the root.
    pub(super) exprs: Vec<Expr>,
    pub(super) ranges: Vec<LogRange>,
    pub(super) selectors: Vec<SelectorNode>,
    pub(super) matchers: Vec<MatcherNode>,
    pub(super) stages: Vec<StageKind>,
    pub(super) operands: Vec<LineOperand>,
    pub(super) filters: Vec<FilterNode>,
    /// Roots of the label filters behind an `unwrap`.
    pub(super) post_filters: Vec<u32>,
    pub(super) pairs: Vec<Pair>,
    pub(super) names: Vec<Span>,
    pub(super) numbers: Vec<Number>,
    pub(super) groupings: Vec<Grouping>,
    pub(super) matchings: Vec<Matching>,
    pub(super) strings: Vec<Str>,
    /// Operands of `variants(..)`.
    pub(super) variants: Vec<u32>,
    /// Expressions inside of `variants(..)`, which Loki reads but does not check.
    pub(super) unchecked: Vec<List>,
    /// Where `//` begins a comment.
    pub(super) slashes: Vec<Span>,
}

impl Tree {
    pub(super) fn bytes(&self, text: Text) -> &[u8] {
        let all = if text.pooled { &self.pool } else { self.source.as_bytes() };
        all.get(text.bytes.range()).unwrap_or_default()
    }

    pub(super) fn name(&self, span: Span) -> &str {
        self.source.get(span.range()).unwrap_or_default()
    }

    pub(super) fn root(&self) -> u32 {
        next(&self.exprs).saturating_sub(1)
    }
}

#[derive(Debug, Clone)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) span: Span,
}

#[derive(Debug, Clone)]
pub(super) enum ExprKind {
    Log {
        selector: u32,
        stages: List,
    },
    Range {
        op: RangeOp,
        parameter: Option<u32>,
        range: u32,
        grouping: Option<u32>,
    },
    Vector {
        op: VectorOp,
        parameter: Option<u32>,
        grouping: Option<u32>,
        operand: u32,
    },
    Binary {
        op: BinaryOp,
        returns_bool: bool,
        matching: Option<u32>,
        left: u32,
        right: u32,
    },
    Literal {
        number: u32,
        negative: bool,
    },
    /// `vector(n)`.
    Constant {
        number: u32,
    },
    /// Destination, replacement, source and regular expression, in this order.
    LabelReplace {
        operand: u32,
        strings: List,
    },
    Variants {
        operands: List,
        range: u32,
    },
}

/// A number as it is written and what it is worth; nothing where Go's float parser refuses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) span: Span,
    pub(super) value: Option<f64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Grouping {
    pub(super) without: bool,
    pub(super) names: List,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Matching {
    pub(super) on: bool,
    pub(super) names: List,
    pub(super) group: Option<Side>,
    pub(super) include: List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

#[derive(Debug, Clone)]
pub(super) struct LogRange {
    pub(super) selector: u32,
    pub(super) stages: List,
    pub(super) unwrap: Option<Unwrap>,
    pub(super) interval: i64,
    pub(super) interval_span: Span,
    pub(super) offset: Option<i64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Unwrap {
    pub(super) name: Span,
    pub(super) conversion: Option<Conversion>,
    pub(super) filters: List,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct SelectorNode {
    pub(super) matchers: List,
    pub(super) span: Span,
}

/// A matcher, or in `drop` and `keep` only a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatcherNode {
    pub(super) name: Span,
    pub(super) op: Option<MatchOp>,
    pub(super) value: Str,
}

#[derive(Debug, Clone)]
pub(super) enum StageKind {
    LineFilter { op: LineOp, operands: List },
    Json { pairs: List },
    Logfmt { strict: bool, keep_empty: bool, pairs: List },
    Regexp(Str),
    Pattern(Str),
    Unpack,
    LabelFilter { root: u32 },
    LineFormat(Str),
    LabelFormat { pairs: List },
    Decolorize,
    Drop { matchers: List },
    Keep { matchers: List },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LineOperand {
    pub(super) text: Str,
    pub(super) ip: bool,
}

/// `name`, `name=other` or `name="text"` in a list of a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) name: Span,
    pub(super) value: PairValue,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PairValue {
    None,
    Name(Span),
    Text(Str),
}

#[derive(Debug, Clone)]
pub(super) enum FilterNode {
    Match { matcher: u32 },
    Ip { name: Span, negated: bool, pattern: Str },
    Duration { name: Span, op: CompareOp, nanoseconds: i64 },
    Bytes { name: Span, op: CompareOp, bytes: u64 },
    Number { name: Span, op: CompareOp, number: u32, negative: bool },
    Join { joiner: Joiner, left: u32, right: u32 },
}

/// What stands between two label filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joiner {
    And,
    Or,
    /// A comma, or nothing: means `and`, but its right side reaches as far as it can.
    Comma,
}

/// How a matcher compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchOp {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `=~`
    Regex,
    /// `!~`
    NotRegex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOp {
    Contains,
    NotContains,
    Regex,
    NotRegex,
    Pattern,
    NotPattern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompareOp {
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Or,
    And,
    Unless,
    Equal,
    NotEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RangeOp {
    Rate,
    RateCounter,
    CountOverTime,
    BytesRate,
    BytesOverTime,
    AvgOverTime,
    SumOverTime,
    MinOverTime,
    MaxOverTime,
    StdvarOverTime,
    StddevOverTime,
    QuantileOverTime,
    FirstOverTime,
    LastOverTime,
    AbsentOverTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorOp {
    Sum,
    Avg,
    Max,
    Min,
    Count,
    Stddev,
    Stdvar,
    Bottomk,
    Topk,
    ApproxTopk,
    Sort,
    SortDesc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    Bytes,
    Duration,
    DurationSeconds,
}
