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

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases 8, 9 and 10, their second halves: a value is compared as Go's engine does, and as a whole.
    #[test]
    fn case_08_09_10_values_are_compared_as_alertmanager_compares_them() {
        for (pattern, value, expected) in [
            (r"\Qa.b\E", "a.b", true),
            (r"\Qa.b\E", "axb", false),
            ("a{,5}", "a{,5}", true),
            ("a{,5}", "aaa", false),
            ("{{x}}", "{{x}}", true),
            ("[[]", "[", true),
            (r"\12", "\n", true),
            (r"[\d-z]", "-", true),
            (r"[\d-z]", "y", false),
            (r"\p{^Greek}", "a", true),
            (r"\p{^Greek}", "α", false),
            ("(?P<n>a)(?P<n>b)", "ab", true),
            ("a{01}", "a{01}", true),
            (r"\d", "7", true),
            (r"\d", "٣", false),
            (r"\<x\>", "<x>", true),
            (r"\<x\>", "x", false),
            ("api", "api", true),
            ("api", "api-1", false),
        ] {
            let matcher = Matcher {
                name: "a".to_owned(),
                value: pattern.to_owned(),
                match_type: Some(MatchType::Regex),
            };
            assert_eq!(Compared::new(&matcher).matches(value), Some(expected), "{pattern} and {value}");
        }
    }
}
