//! How the operators and functions of a query are spelled, and what holds for each of them.

use super::tree::{BinaryOp, CompareOp, Conversion, LineOp, MatchOp, RangeOp, VectorOp};

impl MatchOp {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Regex => "=~",
            Self::NotRegex => "!~",
        }
    }
}

impl LineOp {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Contains => "|=",
            Self::NotContains => "!=",
            Self::Regex => "|~",
            Self::NotRegex => "!~",
            Self::Pattern => "|>",
            Self::NotPattern => "!>",
        }
    }

    pub(super) fn is_negated(self) -> bool {
        matches!(self, Self::NotContains | Self::NotRegex | Self::NotPattern)
    }
}

impl CompareOp {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Less => "<",
            Self::LessEqual => "<=",
        }
    }
}

impl Conversion {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Duration => "duration",
            Self::DurationSeconds => "duration_seconds",
        }
    }
}

impl BinaryOp {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Unless => "unless",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Mod => "%",
            Self::Pow => "^",
        }
    }

    /// The higher, the tighter it binds.
    pub(super) fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And | Self::Unless => 2,
            Self::Equal
            | Self::NotEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::Less
            | Self::LessEqual => 3,
            Self::Add | Self::Sub => 4,
            Self::Mul | Self::Div | Self::Mod => 5,
            Self::Pow => 6,
        }
    }

    /// Whether `a op b op c` means `a op (b op c)`.
    pub(super) fn is_right_associative(self) -> bool {
        self == Self::Pow
    }

    pub(super) fn is_set(self) -> bool {
        matches!(self, Self::Or | Self::And | Self::Unless)
    }

    pub(super) fn is_comparison(self) -> bool {
        self.precedence() == 3
    }
}

impl RangeOp {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::RateCounter => "rate_counter",
            Self::CountOverTime => "count_over_time",
            Self::BytesRate => "bytes_rate",
            Self::BytesOverTime => "bytes_over_time",
            Self::AvgOverTime => "avg_over_time",
            Self::SumOverTime => "sum_over_time",
            Self::MinOverTime => "min_over_time",
            Self::MaxOverTime => "max_over_time",
            Self::StdvarOverTime => "stdvar_over_time",
            Self::StddevOverTime => "stddev_over_time",
            Self::QuantileOverTime => "quantile_over_time",
            Self::FirstOverTime => "first_over_time",
            Self::LastOverTime => "last_over_time",
            Self::AbsentOverTime => "absent_over_time",
        }
    }

    /// Whether it can count lines or bytes, that is, work without `unwrap`.
    pub(super) fn takes_lines(self) -> bool {
        matches!(
            self,
            Self::Rate | Self::CountOverTime | Self::BytesRate | Self::BytesOverTime | Self::AbsentOverTime
        )
    }

    /// Whether it can compute with the values of an `unwrap`.
    pub(super) fn takes_unwrap(self) -> bool {
        !matches!(self, Self::CountOverTime | Self::BytesRate | Self::BytesOverTime)
    }

    /// Whether `by (..)` or `without (..)` may follow.
    pub(super) fn takes_grouping(self) -> bool {
        matches!(
            self,
            Self::AvgOverTime
                | Self::MinOverTime
                | Self::MaxOverTime
                | Self::StddevOverTime
                | Self::StdvarOverTime
                | Self::FirstOverTime
                | Self::LastOverTime
                | Self::QuantileOverTime
        )
    }
}

impl VectorOp {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Max => "max",
            Self::Min => "min",
            Self::Count => "count",
            Self::Stddev => "stddev",
            Self::Stdvar => "stdvar",
            Self::Bottomk => "bottomk",
            Self::Topk => "topk",
            Self::ApproxTopk => "approx_topk",
            Self::Sort => "sort",
            Self::SortDesc => "sort_desc",
        }
    }

    /// Whether it needs to be told how many series to keep.
    pub(super) fn takes_parameter(self) -> bool {
        matches!(self, Self::Bottomk | Self::Topk | Self::ApproxTopk)
    }
}
