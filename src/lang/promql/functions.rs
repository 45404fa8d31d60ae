//! The functions of Prometheus 3.15: what they take, what they give, and which need a feature flag.

use super::tree::ValueType::{self, Matrix, Scalar, String, Vector};

/// One function.
#[derive(Debug)]
pub(super) struct Function {
    /// Its name; the case matters.
    pub(super) name: &'static str,
    /// The types of the arguments; the last stands for all that follow.
    pub(super) takes: &'static [ValueType],
    /// How many arguments there must be.
    pub(super) least: usize,
    /// How many there may be; any number when it does not say.
    pub(super) most: Option<usize>,
    /// What it gives.
    pub(super) gives: ValueType,
    /// Whether it exists only with the feature flag.
    pub(super) experimental: bool,
}

impl Function {
    /// How the function is called, for advice: `histogram_quantile(scalar, instant vector)`.
    pub(super) fn signature(&self) -> std::string::String {
        let mut text = format!("{}(", self.name);
        for (index, kind) in self.takes.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let optional = if index >= self.least { "optional " } else { "" };
            text.extend([separator, optional, kind.name()]);
        }
        if self.most.is_none_or(|most| most > self.takes.len()) {
            text.push_str(", ...");
        }
        text.push(')');
        text
    }
}

/// The function of that name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    let index = FUNCTIONS.binary_search_by(|function| function.name.cmp(name)).ok()?;
    FUNCTIONS.get(index)
}

const fn row(
    name: &'static str,
    takes: &'static [ValueType],
    least: usize,
    most: Option<usize>,
    gives: ValueType,
    experimental: bool,
) -> Function {
    Function { name, takes, least, most, gives, experimental }
}

/// All functions, sorted by name.
pub(super) static FUNCTIONS: &[Function] = &[
    row("abs", &[Vector], 1, Some(1), Vector, false),
    row("absent", &[Vector], 1, Some(1), Vector, false),
    row("absent_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("acos", &[Vector], 1, Some(1), Vector, false),
    row("acosh", &[Vector], 1, Some(1), Vector, false),
    row("asin", &[Vector], 1, Some(1), Vector, false),
    row("asinh", &[Vector], 1, Some(1), Vector, false),
    row("atan", &[Vector], 1, Some(1), Vector, false),
    row("atanh", &[Vector], 1, Some(1), Vector, false),
    row("avg_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("ceil", &[Vector], 1, Some(1), Vector, false),
    row("changes", &[Matrix], 1, Some(1), Vector, false),
    row("clamp", &[Vector, Scalar, Scalar], 3, Some(3), Vector, false),
    row("clamp_max", &[Vector, Scalar], 2, Some(2), Vector, false),
    row("clamp_min", &[Vector, Scalar], 2, Some(2), Vector, false),
    row("cos", &[Vector], 1, Some(1), Vector, false),
    row("cosh", &[Vector], 1, Some(1), Vector, false),
    row("count_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("day_of_month", &[Vector], 0, Some(1), Vector, false),
    row("day_of_week", &[Vector], 0, Some(1), Vector, false),
    row("day_of_year", &[Vector], 0, Some(1), Vector, false),
    row("days_in_month", &[Vector], 0, Some(1), Vector, false),
    row("deg", &[Vector], 1, Some(1), Vector, false),
    row("delta", &[Matrix], 1, Some(1), Vector, false),
    row("deriv", &[Matrix], 1, Some(1), Vector, false),
    row("double_exponential_smoothing", &[Matrix, Scalar, Scalar], 3, Some(3), Vector, true),
    row("end", &[], 0, Some(0), Scalar, true),
    row("exp", &[Vector], 1, Some(1), Vector, false),
    row("first_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("floor", &[Vector], 1, Some(1), Vector, false),
    row("histogram_avg", &[Vector], 1, Some(1), Vector, false),
    row("histogram_count", &[Vector], 1, Some(1), Vector, false),
    row("histogram_fraction", &[Scalar, Scalar, Vector], 3, Some(3), Vector, false),
    row("histogram_quantile", &[Scalar, Vector], 2, Some(2), Vector, false),
    row("histogram_quantiles", &[Vector, String, Scalar, Scalar], 3, Some(12), Vector, true),
    row("histogram_stddev", &[Vector], 1, Some(1), Vector, false),
    row("histogram_stdvar", &[Vector], 1, Some(1), Vector, false),
    row("histogram_sum", &[Vector], 1, Some(1), Vector, false),
    row("hour", &[Vector], 0, Some(1), Vector, false),
    row("idelta", &[Matrix], 1, Some(1), Vector, false),
    row("increase", &[Matrix], 1, Some(1), Vector, false),
    row("info", &[Vector, Vector], 1, Some(2), Vector, true),
    row("irate", &[Matrix], 1, Some(1), Vector, false),
    row("label_join", &[Vector, String, String, String], 3, None, Vector, false),
    row("label_replace", &[Vector, String, String, String, String], 5, Some(5), Vector, false),
    row("last_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("ln", &[Vector], 1, Some(1), Vector, false),
    row("log10", &[Vector], 1, Some(1), Vector, false),
    row("log2", &[Vector], 1, Some(1), Vector, false),
    row("mad_over_time", &[Matrix], 1, Some(1), Vector, true),
    row("max_of", &[Scalar, Scalar], 2, Some(2), Scalar, true),
    row("max_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("min_of", &[Scalar, Scalar], 2, Some(2), Scalar, true),
    row("min_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("minute", &[Vector], 0, Some(1), Vector, false),
    row("month", &[Vector], 0, Some(1), Vector, false),
    row("pi", &[], 0, Some(0), Scalar, false),
    row("predict_linear", &[Matrix, Scalar], 2, Some(2), Vector, false),
    row("present_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("quantile_over_time", &[Scalar, Matrix], 2, Some(2), Vector, false),
    row("rad", &[Vector], 1, Some(1), Vector, false),
    row("range", &[], 0, Some(0), Scalar, true),
    row("rate", &[Matrix], 1, Some(1), Vector, false),
    row("resets", &[Matrix], 1, Some(1), Vector, false),
    row("round", &[Vector, Scalar], 1, Some(2), Vector, false),
    row("scalar", &[Vector], 1, Some(1), Scalar, false),
    row("sgn", &[Vector], 1, Some(1), Vector, false),
    row("sin", &[Vector], 1, Some(1), Vector, false),
    row("sinh", &[Vector], 1, Some(1), Vector, false),
    row("sort", &[Vector], 1, Some(1), Vector, false),
    row("sort_by_label", &[Vector, String], 1, None, Vector, true),
    row("sort_by_label_desc", &[Vector, String], 1, None, Vector, true),
    row("sort_desc", &[Vector], 1, Some(1), Vector, false),
    row("sqrt", &[Vector], 1, Some(1), Vector, false),
    row("start", &[], 0, Some(0), Scalar, true),
    row("start_timestamp", &[Vector], 1, Some(1), Vector, true),
    row("stddev_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("stdvar_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("step", &[], 0, Some(0), Scalar, true),
    row("sum_over_time", &[Matrix], 1, Some(1), Vector, false),
    row("tan", &[Vector], 1, Some(1), Vector, false),
    row("tanh", &[Vector], 1, Some(1), Vector, false),
    row("time", &[], 0, Some(0), Scalar, false),
    row("timestamp", &[Vector], 1, Some(1), Vector, false),
    row("ts_of_first_over_time", &[Matrix], 1, Some(1), Vector, true),
    row("ts_of_last_over_time", &[Matrix], 1, Some(1), Vector, true),
    row("ts_of_max_over_time", &[Matrix], 1, Some(1), Vector, true),
    row("ts_of_min_over_time", &[Matrix], 1, Some(1), Vector, true),
    row("vector", &[Scalar], 1, Some(1), Vector, false),
    row("year", &[Vector], 0, Some(1), Vector, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(FUNCTIONS.is_sorted_by(|a, b| a.name < b.name));
    }

    #[test]
    fn signatures_name_what_is_optional() {
        for (name, expected) in [
            ("rate", "rate(range vector)"),
            ("round", "round(instant vector, optional scalar)"),
            ("label_join", "label_join(instant vector, string, string, optional string, ...)"),
        ] {
            assert_eq!(find(name).unwrap().signature(), expected);
        }
    }
}
