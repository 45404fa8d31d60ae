//! Matchers that can be tried on values, as Alertmanager tries them.

use super::spec::{MatchType, Matcher};
use crate::lang::re2::{self, Names, Pattern, Wrap};

/// A matcher and, for `=~` and `!~`, its expression.
#[derive(Debug)]
pub struct Compared<'a> {
    /// The matcher.
    pub matcher: &'a Matcher,
    /// Nothing for `=` and `!=`, and for an expression that is not valid.
    pattern: Option<Pattern>,
}

impl<'a> Compared<'a> {
    /// Reads the expressions of a list, each once.
    pub fn all(matchers: &'a [Matcher]) -> Vec<Self> {
        matchers.iter().map(Self::new).collect()
    }

    /// Reads the expression, if it has one.
    pub fn new(matcher: &'a Matcher) -> Self {
        let read = || re2::parse_wrapped(matcher.value.as_bytes(), Names::Current, Wrap::Group).ok();
        let pattern = if matcher.is_regex() { read() } else { None };
        Self { matcher, pattern }
    }

    /// Does the matcher match an alert whose label has this value? Nothing when only Alertmanager can tell.
    pub fn matches(&self, value: &str) -> Option<bool> {
        let matcher = self.matcher;
        let positive = matches!(matcher.kind(), MatchType::Equal | MatchType::Regex);
        let equal =
            if matcher.is_regex() { self.pattern.as_ref()?.is_match(value)? } else { matcher.value == value };
        Some(equal == positive)
    }

    /// The same; what cannot be told counts as matching.
    pub fn may_match(&self, value: &str) -> bool {
        self.matches(value).unwrap_or(true)
    }
}
