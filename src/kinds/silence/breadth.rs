//! The "matches everything" test: a silence is broad when no matcher pins a concrete value.
//!
//! The matchers are tried on label sets that no real alert has. The values are fixed, so that every door and every
//! replica comes to the same verdict. This catches mistakes; the boundary between tenants is the enforcement.

use std::collections::BTreeMap;

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

/// Three styles of made-up values, one word per label.
const STYLES: [fn(usize) -> String; 3] =
    [|n| format!("Uq7zk{n}Wp"), |n| format!("xk-vw-{n}-jq"), |n| format!("9f3{n}7c1")];

const USUAL: [&str; 6] = ["alertname", "namespace", "severity", "job", "instance", "cluster"];

const SEVERITIES: [&str; 4] = ["critical", "warning", "info", "none"];

type Labels<'a> = BTreeMap<&'a str, String>;

/// Measures a list of `=` and `!=` matchers. Lists with regular expressions are not measured (`None`).
pub fn measure(matchers: &[Matcher]) -> Option<Breadth> {
    if matchers.iter().any(Matcher::is_regex) {
        return None;
    }
    for style in STYLES {
        if probes(matchers, style).iter().any(|probe| matches(matchers, probe)) {
            return Some(Breadth::Broad);
        }
    }
    for style in STYLES {
        for severity in SEVERITIES {
            let severe = |mut probe: Labels<'_>| {
                probe.insert("severity", severity.to_owned());
                matches(matchers, &probe)
            };
            if probes(matchers, style).into_iter().any(severe) {
                return Some(Breadth::SeverityOnly);
            }
        }
    }
    Some(Breadth::Narrow)
}

/// The label sets: nothing, a name only, and an alert with every usual label and every label that is named.
fn probes<'a>(matchers: &'a [Matcher], style: fn(usize) -> String) -> [Labels<'a>; 3] {
    let mut full: Labels<'a> = USUAL.iter().enumerate().map(|(n, label)| (*label, style(n))).collect();
    for (n, matcher) in matchers.iter().enumerate() {
        full.entry(matcher.name.as_str()).or_insert_with(|| style(USUAL.len() + n));
    }
    [Labels::new(), Labels::from([("alertname", style(0))]), full]
}

/// Do the matchers match? Alertmanager reads a missing label as the empty string.
fn matches(matchers: &[Matcher], labels: &Labels<'_>) -> bool {
    matchers.iter().all(|matcher| {
        let value = labels.get(matcher.name.as_str()).map_or("", String::as_str);
        match matcher.kind() {
            MatchType::Equal => value == matcher.value,
            MatchType::NotEqual => value != matcher.value,
            MatchType::Regex | MatchType::NotRegex => false,
        }
    })
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
