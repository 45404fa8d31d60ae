//! Go's `text/template` language: whatever Go finds at parse time, with the functions and variables of the program
//! that will read the text.
//!
//! Only parsing is judged. What depends on data (a missing field, a wrong argument, a template that nobody defined)
//! shows when the text is executed, and none of the programs here executes a text before they accept it.
//!
//! Nothing recurses: blocks and parentheses live on stacks of their own, so any depth is decided as Go decides it.

mod advice;
mod definitions;
mod functions;
mod lexer;
mod literals;
mod numbers;
mod parser;
mod pipeline;
mod unexpected;

use super::Fault;

pub use functions::{BUILTIN_FUNCTIONS, FunctionSet, LOKI_ALERT, LOKI_LABEL, LOKI_LINE, PROMETHEUS_ALERT};

/// Judges a text as the program behind the set does.
///
/// For alerts, whose root template bears the alert's name, [`check_named`] is the exact form; the two differ only for
/// texts that define a template of that very name.
pub fn check(text: &str, set: &FunctionSet) -> Result<(), Fault> {
    check_bytes(text.as_bytes(), set)
}

/// The same for bytes that may be no UTF-8, as LogQL string literals can produce with `\xff`.
pub fn check_bytes(text: &[u8], set: &FunctionSet) -> Result<(), Fault> {
    check_named(text, set, "")
}

/// The same where the root template's name has an ending of its own: the name of the alert.
///
/// The name matters because a text may not define a template that is called like itself.
pub fn check_named(text: &[u8], set: &FunctionSet, owner: &str) -> Result<(), Fault> {
    parser::parse(text, set, owner)
}

#[cfg(test)]
mod tests;
