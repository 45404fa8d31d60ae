//! The rulebook's vocabulary: findings, paths, facts. Everything here is pure; no door is known.

pub mod facts;
pub mod finding;
pub mod nearest;
pub mod path;

pub use facts::{Facts, Operation, Uniqueness, User};
pub use finding::{Finding, Findings, Home, Rule, Severity, quoted};
pub(crate) use finding::{cel_rules, rules};
pub use path::FieldPath;
