//! The "matches everything" test: a silence is broad when no matcher pins a concrete value.
//!
//! The matchers are tried on alerts with made-up values that nobody writes into a matcher: no label at all, only a name,
//! and every usual label with every label that is named. For `=` and `!=` it is enough to know that a made-up value
//! equals nothing, so no value is ever made. This catches mistakes; the boundary between tenants is the enforcement.

use super::spec::{MatchType, Matcher};

/// How wide a silence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breadth {
    /// Some matcher pins a value.
    Narrow,
    /// Only the severity narrows it.
    SeverityOnly,
    /// Nothing narrows it.
    Broad,
}

/// An alert that the matchers are tried on.
#[derive(Debug, Clone, Copy)]
enum Probe {
    NoLabels,
    NameOnly,
    EveryLabel,
}

const PROBES: [Probe; 3] = [Probe::NoLabels, Probe::NameOnly, Probe::EveryLabel];

const SEVERITIES: [&str; 4] = ["critical", "warning", "info", "none"];

/// Measures a list of `=` and `!=` matchers. Lists with regular expressions are not measured (`None`).
pub fn measure(matchers: &[Matcher]) -> Option<Breadth> {
    if matchers.iter().any(Matcher::is_regex) {
        return None;
    }
    let all_match = |probe, severity| matchers.iter().all(|matcher| matches(matcher, probe, severity));
    if PROBES.iter().any(|probe| all_match(*probe, None)) {
        return Some(Breadth::Broad);
    }
    let by_severity =
        PROBES.iter().any(|probe| SEVERITIES.iter().any(|severity| all_match(*probe, Some(*severity))));
    Some(if by_severity { Breadth::SeverityOnly } else { Breadth::Narrow })
}

/// Does a matcher match? Alertmanager reads a missing label as the empty string.
fn matches(matcher: &Matcher, probe: Probe, severity: Option<&str>) -> bool {
    let equal = match (severity, probe, matcher.name.as_str()) {
        (Some(severity), _, "severity") => severity == matcher.value,
        // A made-up value equals nothing that is written.
        (_, Probe::EveryLabel, _) | (_, Probe::NameOnly, "alertname") => false,
        _ => matcher.value.is_empty(),
    };
    equal == (matcher.kind() == MatchType::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(matchers: &[(&str, MatchType, &str)]) -> Vec<Matcher> {
        let matcher = |(name, kind, value): &(&str, MatchType, &str)| Matcher {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
            match_type: Some(*kind),
        };
        matchers.iter().map(matcher).collect()
    }

    #[test]
    fn measures_lists_without_regular_expressions() {
        use MatchType::{Equal, NotEqual, Regex};
        let cases = [
            (list(&[("alertname", Equal, "Down")]), Some(Breadth::Narrow)),
            (list(&[("severity", NotEqual, "none")]), Some(Breadth::Broad)),
            (list(&[("team", NotEqual, "")]), Some(Breadth::Broad)),
            (list(&[("team", Equal, "")]), Some(Breadth::Broad)),
            (list(&[("alertname", Equal, "")]), Some(Breadth::Broad)),
            (list(&[("alertname", NotEqual, ""), ("team", Equal, "")]), Some(Breadth::Broad)),
            (list(&[("severity", Equal, "warning")]), Some(Breadth::SeverityOnly)),
            (list(&[("severity", Equal, "warning"), ("job", NotEqual, "x")]), Some(Breadth::SeverityOnly)),
            (list(&[("severity", Equal, "warning"), ("job", Equal, "x")]), Some(Breadth::Narrow)),
            (list(&[("alertname", Regex, ".+")]), None),
        ];
        for (matchers, breadth) in cases {
            assert_eq!(measure(&matchers), breadth, "{matchers:?}");
        }
    }
}
