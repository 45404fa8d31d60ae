//! The "matches everything" test: a silence is broad when no matcher pins a concrete value.
//!
//! The matchers are tried on alerts with made-up values that nobody writes into a matcher: no label at all, only a name,
//! and every usual label with every label that is named. This catches mistakes; the boundary between tenants is the
//! enforcement.

use super::comparison::Compared;

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

/// Made-up values in three styles, for expressions that ask for a style. The same in every door and replica.
const STYLES: [&str; 3] = ["Uq7zkWmPx0Lr", "xk-vw-qjz-hbn", "9f3c0b7e21d4"];

const SEVERITIES: [&str; 4] = ["critical", "warning", "info", "none"];

/// Measures a list.
pub fn measure(matchers: &[Compared<'_>]) -> Breadth {
    let all_match = |severity: Option<&str>| {
        PROBES.iter().any(|probe| {
            STYLES.iter().any(|style| {
                matchers.iter().all(|matcher| matcher.may_match(value(matcher, *probe, style, severity)))
            })
        })
    };
    if all_match(None) {
        Breadth::Broad
    } else if SEVERITIES.iter().any(|severity| all_match(Some(severity))) {
        Breadth::SeverityOnly
    } else {
        Breadth::Narrow
    }
}

/// The value of the matcher's label. Alertmanager reads a missing label as the empty string.
fn value<'s>(matcher: &Compared<'_>, probe: Probe, style: &'s str, severity: Option<&'s str>) -> &'s str {
    match (severity, probe, matcher.matcher.name.as_str()) {
        (Some(severity), _, "severity") => severity,
        (_, Probe::EveryLabel, _) | (_, Probe::NameOnly, "alertname") => style,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::{MatchType, Matcher};
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
    fn measures_lists() {
        use MatchType::{Equal, NotEqual, NotRegex, Regex};
        let cases = [
            (list(&[("alertname", Equal, "Down")]), Breadth::Narrow),
            (list(&[("severity", NotEqual, "none")]), Breadth::Broad),
            (list(&[("team", NotEqual, "")]), Breadth::Broad),
            (list(&[("team", Equal, "")]), Breadth::Broad),
            (list(&[("alertname", Equal, "")]), Breadth::Broad),
            (list(&[("alertname", NotEqual, ""), ("team", Equal, "")]), Breadth::Broad),
            (list(&[("severity", Equal, "warning")]), Breadth::SeverityOnly),
            (list(&[("severity", Equal, "warning"), ("job", NotEqual, "x")]), Breadth::SeverityOnly),
            (list(&[("severity", Equal, "warning"), ("job", Equal, "x")]), Breadth::Narrow),
            (list(&[("alertname", Regex, ".+")]), Breadth::Broad),
            (list(&[("alertname", Regex, "[a-z0-9-]+")]), Breadth::Broad),
            (list(&[("namespace", NotRegex, "kube-.*")]), Breadth::Broad),
            (list(&[("team", Regex, ".*"), ("job", Regex, "api")]), Breadth::Narrow),
            (list(&[("severity", Regex, "critical|warning")]), Breadth::SeverityOnly),
            (list(&[("alertname", Regex, "Kube.*")]), Breadth::Narrow),
            // Refused as an expression; here it cannot be told, and so it pins nothing.
            (list(&[("alertname", Regex, "(")]), Breadth::Broad),
        ];
        for (matchers, breadth) in cases {
            assert_eq!(measure(&Compared::all(&matchers)), breadth, "{matchers:?}");
        }
    }
}
