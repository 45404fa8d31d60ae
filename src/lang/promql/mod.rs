//! PromQL as Prometheus 3.15 reads it.
//!
//! [`parse`] accepts a text exactly when Prometheus' own parser does. Everything that Prometheus checks before it
//! evaluates is checked here, types included.

mod amounts;
mod check;
mod display;
mod functions;
mod hints;
mod lexer;
mod modifiers;
mod number;
mod parser;
mod quoted;
mod same;
mod selectors;
mod token;
mod tree;

pub use token::{Aggregator, Operator};
pub use tree::{Comparison, Matcher, Query, Selector, ValueType};

use crate::lang::Fault;

/// What the Prometheus that will read the query has switched on. By default, nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Functions and aggregations behind `promql-experimental-functions`.
    pub experimental_functions: bool,
    /// Arithmetic in ranges and offsets, behind `promql-duration-expr`.
    pub duration_expressions: bool,
    /// `anchored` and `smoothed`, behind `promql-extended-range-selectors`.
    pub extended_ranges: bool,
    /// `fill`, `fill_left` and `fill_right`, behind `promql-binop-fill-modifiers`.
    pub fill_modifiers: bool,
}

/// Reads a query, or says why Prometheus would not.
pub fn parse(text: &str, options: Options) -> Result<Query, Fault> {
    if u32::try_from(text.len()).is_err() {
        return Err(Fault::new(0..0, "the text is longer than 4 GiB"));
    }
    let mut parser = parser::Parser::new(text, options)?;
    parser.query()?;
    let mut query = parser.tree;
    query.gives = check::check(&query, text)?;
    Ok(query)
}

#[cfg(test)]
mod tests;
