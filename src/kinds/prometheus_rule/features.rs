//! The feature flags of Prometheus that change what PromQL is.

use crate::lang::promql::Options;

/// Their names, as `--enable-feature` and `spec.enableFeatures` write them.
pub const ALL: [&str; 4] = [
    "promql-experimental-functions",
    "promql-duration-expr",
    "promql-extended-range-selectors",
    "promql-binop-fill-modifiers",
];

/// What PromQL may use where these flags are set.
pub fn options(is_set: impl Fn(&str) -> bool) -> Options {
    let [experimental, durations, extended, fill] = ALL.map(is_set);
    Options {
        experimental_functions: experimental,
        duration_expressions: durations,
        extended_ranges: extended,
        fill_modifiers: fill,
    }
}
