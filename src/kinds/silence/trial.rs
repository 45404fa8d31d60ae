//! What a silence would do before it does it: what each Alertmanager would be sent, and which alerts that mutes.
//!
//! Nothing is asked of anybody here. A matcher that only Alertmanager can decide never makes an alert certain.

use std::collections::BTreeMap;

use super::comparison::Compared;
use super::spec::{Matcher, SilenceSpec};
use super::tenancy::{Selecting, effective, select, shown, written};
use crate::model::object::Object;
use crate::rule::Facts;

/// What some Alertmanagers are sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// Those Alertmanagers; none when no one is known.
    pub to: Vec<String>,
    /// Was the namespace matcher added, or would it be?
    pub enforced: bool,
    /// The effective matchers.
    pub matchers: Vec<Matcher>,
}

/// To whom a silence goes, and as what.
#[derive(Debug, Clone, PartialEq)]
pub struct Sendings {
    /// Alertmanagers that get the same, together; at least one entry, assumed when nobody is known to select it.
    pub all: Vec<Sending>,
    /// Those of which nobody can tell whether they select it.
    pub uncertain: Vec<String>,
    /// Is it known that there are no others?
    pub certain: bool,
}

/// What would be sent where. Without an Alertmanager that selects the silence, enforcement is assumed: it is the default.
pub fn sendings(silence: &Object<SilenceSpec>, facts: &Facts<'_>) -> Sendings {
    let selection = select(&silence.metadata, facts);
    let (label, namespace) = (&facts.settings.silence.namespace_label, &silence.metadata.namespace);
    let user = written(silence, label);
    let sending = |enforced: bool, to: Vec<String>| {
        let matchers = effective(user.clone(), enforced, label, namespace);
        Sending { to, enforced, matchers }
    };
    let named = |enforced: bool| -> Vec<String> {
        let alike = selection.selecting.iter().filter(|selecting| selecting.enforces == enforced);
        alike.map(Selecting::name).collect()
    };
    let mut all: Vec<Sending> = [true, false]
        .into_iter()
        .map(|enforced| sending(enforced, named(enforced)))
        .filter(|sending| !sending.to.is_empty())
        .collect();
    if all.is_empty() {
        all.push(sending(true, Vec::new()));
    }
    let name = |alertmanager: &std::sync::Arc<crate::view::records::Alertmanager>| {
        format!("{}/{}", alertmanager.metadata.namespace, alertmanager.metadata.name)
    };
    Sendings {
        all,
        uncertain: selection.uncertain.iter().map(name).collect(),
        certain: selection.is_certain(),
    }
}

/// Matchers that are tried on alerts.
#[derive(Debug)]
pub struct Trial<'a>(Vec<Compared<'a>>);

impl<'a> Trial<'a> {
    /// Reads the expressions once.
    pub fn new(matchers: &'a [Matcher]) -> Self {
        Self(Compared::all(matchers))
    }

    /// Would an alert with these labels be muted? A label that is missing counts as empty, as in Alertmanager.
    ///
    /// # Errors
    /// The matchers that only Alertmanager can decide, when everything depends on them.
    pub fn mutes(&self, labels: &BTreeMap<String, String>) -> Result<bool, Vec<String>> {
        let mut undecided = Vec::new();
        for compared in &self.0 {
            let value = labels.get(&compared.matcher.name).map(String::as_str).unwrap_or_default();
            match compared.matches(value) {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => undecided.push(shown(compared.matcher)),
            }
        }
        if undecided.is_empty() { Ok(true) } else { Err(undecided) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn matchers(list: serde_json::Value) -> Vec<Matcher> {
        serde_json::from_value(list).unwrap()
    }

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn all_matchers_must_match_and_a_missing_label_is_empty() {
        let matchers = matchers(json!([
            {"name": "service", "value": "api|web", "matchType": "=~"},
            {"name": "canary", "value": "yes", "matchType": "!="},
        ]));
        let trial = Trial::new(&matchers);
        assert_eq!(trial.mutes(&labels(&[("service", "api")])), Ok(true));
        assert_eq!(trial.mutes(&labels(&[("service", "api2")])), Ok(false), "anchored at both ends");
        assert_eq!(trial.mutes(&labels(&[("service", "web"), ("canary", "yes")])), Ok(false));
        assert_eq!(trial.mutes(&labels(&[])), Ok(false));
    }

    #[test]
    fn what_only_alertmanager_can_decide_is_named_unless_another_matcher_decides() {
        // Half of a surrogate pair: Go's engine has a meaning for it, ours has none.
        let matchers = matchers(json!([
            {"name": "pod", "value": "a\\x{D800}?", "matchType": "=~"},
            {"name": "service", "value": "api"},
        ]));
        let trial = Trial::new(&matchers);
        assert_eq!(trial.mutes(&labels(&[("pod", "a"), ("service", "web")])), Ok(false));
        let undecided = trial.mutes(&labels(&[("pod", "a"), ("service", "api")])).unwrap_err();
        assert_eq!(undecided, [r#"pod=~"a\\x{D800}?""#]);
    }
}
