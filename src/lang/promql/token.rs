//! The words and signs of PromQL.

use std::ops::Range;

/// One token: what it is and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// The bytes of the text that the token covers.
    pub(super) fn span(self) -> Range<usize> {
        self.start..self.end
    }
}

/// What a token is. Keywords are recognised everywhere but inside braces; whether one is meant as a name is
/// decided by the parser, from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Comma,
    Colon,
    OpenParen,
    CloseParen,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Equal,
    RegexEqual,
    RegexUnequal,
    At,
    Number,
    Duration,
    Quoted,
    Word,
    ColonWord,
    Operator(Operator),
    Aggregator(Aggregator),
    Bool,
    By,
    Without,
    On,
    Ignoring,
    GroupLeft,
    GroupRight,
    Fill,
    FillLeft,
    FillRight,
    Offset,
    Smoothed,
    Anchored,
    Start,
    Finish,
    Step,
    Range,
    MaxOf,
    MinOf,
}

impl Kind {
    /// Whether the token can be the name of a metric.
    pub(super) fn names_metric(self) -> bool {
        match self {
            Self::Word
            | Self::ColonWord
            | Self::Aggregator(_)
            | Self::By
            | Self::Without
            | Self::Fill
            | Self::FillLeft
            | Self::FillRight
            | Self::Offset
            | Self::Smoothed
            | Self::Anchored
            | Self::Start
            | Self::Finish
            | Self::Step
            | Self::Range
            | Self::MaxOf
            | Self::MinOf => true,
            Self::Operator(operator) => operator.is_set(),
            _ => false,
        }
    }

    /// Whether the token can be a label in a list of labels. `without` cannot, although `by` can: so it is in
    /// Prometheus' grammar.
    pub(super) fn names_label(self) -> bool {
        match self {
            Self::Without => false,
            Self::Bool | Self::GroupLeft | Self::GroupRight | Self::Ignoring | Self::On => true,
            Self::Operator(operator) => operator.is_set() || operator == Operator::Atan2,
            other => other.names_metric(),
        }
    }
}

/// An operator between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Mod,
    /// `^`
    Pow,
    /// `atan2`
    Atan2,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `</`, which cuts the upper buckets of a histogram off
    TrimUpper,
    /// `>/`, which cuts the lower buckets of a histogram off
    TrimLower,
    /// `and`
    And,
    /// `or`
    Or,
    /// `unless`
    Unless,
}

impl Operator {
    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Pow => "^",
            Self::Atan2 => "atan2",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::TrimUpper => "</",
            Self::TrimLower => ">/",
            Self::And => "and",
            Self::Or => "or",
            Self::Unless => "unless",
        }
    }

    /// How tightly it binds; a sign before an expression binds as `*` does.
    fn strength(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And | Self::Unless => 2,
            Self::Equal
            | Self::Unequal
            | Self::Greater
            | Self::GreaterEqual
            | Self::Less
            | Self::LessEqual
            | Self::TrimUpper
            | Self::TrimLower => 3,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Mod | Self::Atan2 => 5,
            Self::Pow => 6,
        }
    }

    /// Whether it takes what stands between it and `next` before `next` does.
    pub(super) fn goes_before(self, next: Self) -> bool {
        self.strength() > next.strength() || self.strength() == next.strength() && next != Self::Pow
    }

    /// `and`, `or` and `unless`.
    pub fn is_set(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Unless)
    }

    /// The six comparisons.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Self::Equal | Self::Unequal | Self::Greater | Self::GreaterEqual | Self::Less | Self::LessEqual
        )
    }

    /// The operators of duration expressions.
    pub(super) fn is_arithmetic(self) -> bool {
        matches!(self, Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Mod | Self::Pow)
    }
}

/// An aggregation over the series of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregator {
    /// `avg`
    Avg,
    /// `bottomk`
    Bottomk,
    /// `count`
    Count,
    /// `count_values`
    CountValues,
    /// `group`
    Group,
    /// `limitk`
    Limitk,
    /// `limit_ratio`
    LimitRatio,
    /// `max`
    Max,
    /// `min`
    Min,
    /// `quantile`
    Quantile,
    /// `stddev`
    Stddev,
    /// `stdvar`
    Stdvar,
    /// `sum`
    Sum,
    /// `topk`
    Topk,
}

impl Aggregator {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avg => "avg",
            Self::Bottomk => "bottomk",
            Self::Count => "count",
            Self::CountValues => "count_values",
            Self::Group => "group",
            Self::Limitk => "limitk",
            Self::LimitRatio => "limit_ratio",
            Self::Max => "max",
            Self::Min => "min",
            Self::Quantile => "quantile",
            Self::Stddev => "stddev",
            Self::Stdvar => "stdvar",
            Self::Sum => "sum",
            Self::Topk => "topk",
        }
    }

    /// Whether a parameter stands before the vector.
    pub fn takes_parameter(self) -> bool {
        matches!(
            self,
            Self::Topk | Self::Bottomk | Self::CountValues | Self::Quantile | Self::Limitk | Self::LimitRatio
        )
    }

    /// Whether it exists only with the feature flag of experimental functions.
    pub fn is_experimental(self) -> bool {
        matches!(self, Self::Limitk | Self::LimitRatio)
    }
}

/// The longest keyword, `count_values`.
const LONGEST_KEYWORD: usize = 12;

/// The keyword that a word is, in whatever case it is written.
pub(super) fn keyword(word: &[u8]) -> Option<Kind> {
    let mut lower = [0; LONGEST_KEYWORD];
    let lower = lower.get_mut(..word.len())?;
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    Some(match &*lower {
        b"and" => Kind::Operator(Operator::And),
        b"or" => Kind::Operator(Operator::Or),
        b"unless" => Kind::Operator(Operator::Unless),
        b"atan2" => Kind::Operator(Operator::Atan2),
        b"sum" => Kind::Aggregator(Aggregator::Sum),
        b"avg" => Kind::Aggregator(Aggregator::Avg),
        b"count" => Kind::Aggregator(Aggregator::Count),
        b"min" => Kind::Aggregator(Aggregator::Min),
        b"max" => Kind::Aggregator(Aggregator::Max),
        b"group" => Kind::Aggregator(Aggregator::Group),
        b"stddev" => Kind::Aggregator(Aggregator::Stddev),
        b"stdvar" => Kind::Aggregator(Aggregator::Stdvar),
        b"topk" => Kind::Aggregator(Aggregator::Topk),
        b"bottomk" => Kind::Aggregator(Aggregator::Bottomk),
        b"count_values" => Kind::Aggregator(Aggregator::CountValues),
        b"quantile" => Kind::Aggregator(Aggregator::Quantile),
        b"limitk" => Kind::Aggregator(Aggregator::Limitk),
        b"limit_ratio" => Kind::Aggregator(Aggregator::LimitRatio),
        b"offset" => Kind::Offset,
        b"smoothed" => Kind::Smoothed,
        b"anchored" => Kind::Anchored,
        b"by" => Kind::By,
        b"without" => Kind::Without,
        b"on" => Kind::On,
        b"ignoring" => Kind::Ignoring,
        b"group_left" => Kind::GroupLeft,
        b"group_right" => Kind::GroupRight,
        b"fill" => Kind::Fill,
        b"fill_left" => Kind::FillLeft,
        b"fill_right" => Kind::FillRight,
        b"bool" => Kind::Bool,
        b"start" => Kind::Start,
        b"end" => Kind::Finish,
        b"step" => Kind::Step,
        b"range" => Kind::Range,
        b"max_of" => Kind::MaxOf,
        b"min_of" => Kind::MinOf,
        b"inf" | b"nan" => Kind::Number,
        _ => return None,
    })
}
