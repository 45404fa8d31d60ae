//! From a silence in an Alertmanager to the manifest of a Silence that takes it over, or why there is none.
//!
//! What is printed passes `usher check`: it is judged here with the same rules.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::check::judge::judge;
use crate::kinds::silence::KIND;
use crate::kinds::silence::spec::{MatchType, Matcher};
use crate::kinds::silence::sync::state_at;
use crate::kinds::silence::tenancy::{equal, namespace_matcher, shown};
use crate::model::naming::is_label;
use crate::names;
use crate::rule::{Facts, Operation, Uniqueness, User, quoted};
use crate::settings::Settings;
use crate::upstream::alertmanager::{self as upstream, Silence, State};
use crate::view::View;

/// What the CRD allows.
const LONGEST_COMMENT: usize = 1024;

/// How silences become manifests.
#[derive(Debug)]
pub(super) struct Maker<'a> {
    /// Where all of them go; else their `=` matcher on the namespace label says it.
    pub(super) namespace: Option<&'a str>,
    /// The label that carries an alert's namespace is in there.
    pub(super) settings: &'a Settings,
    /// May usher's own have lost what tells them from others?
    pub(super) may_lack_annotations: bool,
    pub(super) now: Timestamp,
    /// Names that are given away, with their namespaces.
    pub(super) taken: BTreeSet<(String, String)>,
}

/// A manifest.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) object: Value,
    /// What it will not do although one might think so.
    pub(super) notes: Vec<String>,
}

/// Why there is no manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Skipped {
    #[error("it has ended")]
    Expired,
    #[error("usher keeps it already")]
    Managed,
    #[error(
        "created by {0}, which is how usher signs, and this Alertmanager (before 0.32) keeps no annotations that would tell; \
         if no Silence of this name exists, change its creator in Alertmanager and import again"
    )]
    PerhapsManaged(String),
    #[error("no matcher {0}=\"…\" says which namespace it belongs to; choose one with -n")]
    NoNamespace(String),
    #[error("{0} is not the name of a namespace; choose one with -n")]
    BadNamespace(String),
    #[error("it ends later than any Silence can; give it an end before the last days of 9999")]
    TooFar,
    #[error("no Silence can be like it: {0}")]
    Refused(String),
}

impl Maker<'_> {
    /// The manifest of a silence.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn make(&mut self, silence: &Silence) -> Result<Manifest, Skipped> {
        if state_at(silence, self.now) == State::Expired {
            return Err(Skipped::Expired);
        }
        if silence.annotations.get(names::MANAGED_BY).is_some_and(|who| who == names::USHER) {
            return Err(Skipped::Managed);
        }
        let created_by = &silence.created_by;
        if self.may_lack_annotations && silence.annotations.is_empty() && is_signature(created_by) {
            return Err(Skipped::PerhapsManaged(quoted(created_by)));
        }
        let matchers: Vec<Matcher> = silence.matchers.iter().map(matcher).collect();
        let namespace = self.namespace_of(&matchers)?;
        let name = self.name(&namespace, &silence.id);
        let (starts_at, expires_at) = window(silence).ok_or(Skipped::TooFar)?;
        let matchers_written: Vec<Value> = matchers
            .iter()
            .map(|matcher| json!({"name": matcher.name, "value": matcher.value, "matchType": matcher.kind()}))
            .collect();
        let object = json!({
            "apiVersion": KIND.api_version(),
            "kind": KIND.kind,
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": {names::ADOPT: silence.id},
            },
            "spec": {
                "comment": comment(silence),
                "matchers": matchers_written,
                "startsAt": starts_at.to_string(),
                "expiresAt": expires_at.to_string(),
            },
        });
        self.judge(&object, &namespace)?;
        let notes = self.notes(&matchers, &namespace);
        self.taken.insert((namespace, name));
        Ok(Manifest { object, notes })
    }

    fn label(&self) -> &str {
        &self.settings.silence.namespace_label
    }

    fn namespace_of(&self, matchers: &[Matcher]) -> Result<String, Skipped> {
        if let Some(namespace) = self.namespace {
            return Ok(namespace.to_owned());
        }
        let says = |matcher: &&Matcher| matcher.name == self.label() && matcher.kind() == MatchType::Equal;
        let Some(said) = matchers.iter().find(says) else {
            return Err(Skipped::NoNamespace(self.label().to_owned()));
        };
        if is_label(&said.value) {
            Ok(said.value.clone())
        } else {
            Err(Skipped::BadNamespace(quoted(&said.value)))
        }
    }

    /// The beginning of the id tells enough; should it not, the whole of it does.
    fn name(&self, namespace: &str, id: &str) -> String {
        let plain = |most: usize| -> String {
            let kept = id.chars().filter(char::is_ascii_alphanumeric).take(most);
            format!("imported-{}", kept.collect::<String>().to_ascii_lowercase())
        };
        let short = plain(8);
        if self.taken.contains(&(namespace.to_owned(), short.clone())) { plain(64) } else { short }
    }

    /// The Alertmanagers of the cluster are not known here, so that nothing about them refuses.
    fn judge(&self, object: &Value, namespace: &str) -> Result<(), Skipped> {
        let (view, nobody) = (View::default(), User::default());
        let facts = Facts {
            operation: Operation::Create,
            user: &nobody,
            now: self.now,
            settings: self.settings,
            view: &view,
            uniqueness: Uniqueness::ByView,
        };
        let judgement = judge(&KIND, object, namespace, &facts);
        let errors: Vec<String> = judgement
            .findings
            .errors()
            .map(|finding| format!("{}: {} ({})", finding.path, finding.message, finding.rule.code))
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(Skipped::Refused(errors.join("; "))) }
    }

    /// A silence is taken over only where the Silence is sent with the very same matchers.
    fn notes(&self, matchers: &[Matcher], namespace: &str) -> Vec<String> {
        let own = namespace_matcher(self.label(), namespace);
        let mut notes = Vec::new();
        let repeats = |(index, matcher): (usize, &Matcher)| {
            matchers.iter().take(index).any(|earlier| equal(earlier, matcher))
        };
        if matchers.iter().enumerate().any(repeats) {
            notes.push(
                "a matcher is there twice, and usher sends it once: the silence made by hand stays beside usher's \
                 until it ends"
                    .to_owned(),
            );
        } else if !matchers.iter().any(|matcher| equal(matcher, &own)) {
            notes.push(format!(
                "an Alertmanager that enforces namespaces gets a second, narrower silence with {} added; the one made \
                 by hand stays until it ends",
                shown(&own)
            ));
        }
        notes
    }
}

/// `namespace/name`: how usher signs where there are no annotations.
fn is_signature(created_by: &str) -> bool {
    created_by.split_once('/').is_some_and(|(namespace, name)| {
        is_label(namespace) && name.split('.').all(is_label) && name.len() <= 253
    })
}

fn matcher(of: &upstream::Matcher) -> Matcher {
    let kind = match (of.is_equal, of.is_regex) {
        (true, false) => MatchType::Equal,
        (false, false) => MatchType::NotEqual,
        (true, true) => MatchType::Regex,
        (false, true) => MatchType::NotRegex,
    };
    Matcher { name: of.name.clone(), value: of.value.clone(), match_type: Some(kind) }
}

fn comment(silence: &Silence) -> String {
    let text = silence.comment.trim();
    let text = if text.is_empty() {
        match silence.created_by.trim() {
            "" => "imported from Alertmanager".to_owned(),
            creator => format!("imported from Alertmanager (created by {creator})"),
        }
    } else {
        silence.comment.clone()
    };
    if text.chars().count() <= LONGEST_COMMENT {
        return text;
    }
    text.chars().take(LONGEST_COMMENT - 1).chain(['…']).collect()
}

/// In whole seconds, as Kubernetes knows them: never shorter than the silence.
fn window(silence: &Silence) -> Option<(Timestamp, Timestamp)> {
    let (start, end) = (silence.starts_at, silence.ends_at);
    let start = start.as_second() - i64::from(start.subsec_nanosecond() < 0);
    let end = end.as_second().checked_add(i64::from(end.subsec_nanosecond() > 0))?;
    Some((Timestamp::from_second(start).ok()?, Timestamp::from_second(end).ok()?))
}

/// Who made a silence, for a line that people read beside the manifest; no text of theirs ends that line.
pub(super) fn origin(silence: &Silence) -> String {
    let state = match silence.state {
        State::Active => "active",
        State::Pending => "pending",
        State::Expired => "expired",
    };
    format!("{} ({state}, created by {})", quoted(&silence.id).trim_matches('"'), quoted(&silence.created_by))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "f3b1c9a0-4d5e-4f60-8a7b-9c0d1e2f3a4b";

    fn silence(change: impl FnOnce(&mut Value)) -> Silence {
        let mut value = json!({
            "id": ID, "createdBy": "jane", "comment": "disk swap",
            "matchers": [
                {"name": "namespace", "value": "shop", "isRegex": false, "isEqual": true},
                {"name": "pod", "value": "web-.*", "isRegex": true, "isEqual": false},
            ],
            "startsAt": "2026-01-10T10:00:00.250Z", "endsAt": "2026-01-10T12:00:00.001Z",
            "updatedAt": "2026-01-10T10:00:00.250Z", "status": {"state": "active"},
        });
        change(&mut value);
        serde_json::from_value(value).unwrap()
    }

    fn make_in(
        namespace: Option<&str>,
        may_lack_annotations: bool,
        change: impl FnOnce(&mut Value),
    ) -> Result<Manifest, Skipped> {
        let settings = Settings::default();
        let now = "2026-01-10T11:00:00Z".parse().unwrap();
        let taken = BTreeSet::new();
        Maker { namespace, settings: &settings, may_lack_annotations, now, taken }.make(&silence(change))
    }

    fn make(change: impl FnOnce(&mut Value)) -> Result<Manifest, Skipped> {
        make_in(None, false, change)
    }

    #[test]
    fn a_silence_becomes_the_manifest_that_takes_it_over() {
        let made = make(|_| {}).unwrap();
        let expected = json!({
            "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
            "metadata": {"name": "imported-f3b1c9a0", "namespace": "shop", "annotations": {"usher.dev/adopt": ID}},
            "spec": {
                "comment": "disk swap",
                "matchers": [
                    {"name": "namespace", "value": "shop", "matchType": "="},
                    {"name": "pod", "value": "web-.*", "matchType": "!~"},
                ],
                "startsAt": "2026-01-10T10:00:00Z", "expiresAt": "2026-01-10T12:00:01Z",
            },
        });
        assert_eq!(made.object, expected);
        assert!(made.notes.is_empty(), "{:?}", made.notes);
    }

    #[test]
    fn comments_are_kept_made_up_or_cut() {
        let comment = |text: &str, by: &str| {
            let made = make(|value| {
                value["comment"] = json!(text);
                value["createdBy"] = json!(by);
            });
            made.unwrap().object["spec"]["comment"].as_str().unwrap().to_owned()
        };
        assert_eq!(comment(" kept\nas is ", "jane"), " kept\nas is ");
        assert_eq!(comment(" \n", "jane"), "imported from Alertmanager (created by jane)");
        assert_eq!(comment("", ""), "imported from Alertmanager");
        let cut = comment(&"ü".repeat(1025), "jane");
        assert_eq!((cut.chars().count(), cut.chars().last()), (1024, Some('…')));
        assert_eq!(comment(&"ü".repeat(1024), "jane"), "ü".repeat(1024));
        assert_eq!(comment("", &"x".repeat(2000)).chars().count(), 1024);
    }

    #[test]
    fn what_has_ended_or_is_kept_already_is_left_out() {
        assert_eq!(
            make(|value| value["endsAt"] = json!("2026-01-10T10:30:00Z")).unwrap_err(),
            Skipped::Expired
        );
        let state = json!({"state": "expired"});
        assert_eq!(make(|value| value["status"] = state).unwrap_err(), Skipped::Expired);
        let managed = json!({"usher.dev/managed-by": "usher", "usher.dev/cluster": "another"});
        assert_eq!(make(|value| value["annotations"] = managed).unwrap_err(), Skipped::Managed);
    }

    #[test]
    fn without_annotations_a_signature_is_left_alone() {
        let signed = |value: &mut Value| value["createdBy"] = json!("shop/api.v2");
        assert!(make_in(None, false, signed).is_ok(), "annotations would have told");
        assert!(matches!(make_in(None, true, signed).unwrap_err(), Skipped::PerhapsManaged(_)));
        for other in ["jane", "jane doe/ops", "a/b/c", "https://x", "/"] {
            assert!(make_in(None, true, |value| value["createdBy"] = json!(other)).is_ok(), "{other}");
        }
    }

    #[test]
    fn the_namespace_is_given_or_matched_or_missing() {
        let bare =
            |value: &mut Value| value["matchers"] = json!([{"name": "a", "value": "b", "isRegex": false}]);
        assert_eq!(make(bare).unwrap_err(), Skipped::NoNamespace("namespace".to_owned()));
        let made = make_in(Some("ops"), false, bare).unwrap();
        assert_eq!(made.object["metadata"]["namespace"], "ops");
        assert!(made.notes[0].contains("namespace=\"ops\""), "{:?}", made.notes);
        let regex = json!([{"name": "namespace", "value": "shop", "isRegex": true}]);
        assert!(matches!(make(|value| value["matchers"] = regex).unwrap_err(), Skipped::NoNamespace(_)));
        let odd = json!([{"name": "namespace", "value": "Shop One", "isRegex": false}]);
        assert!(matches!(make(|value| value["matchers"] = odd).unwrap_err(), Skipped::BadNamespace(_)));
    }

    #[test]
    fn what_no_silence_can_be_like_is_refused_with_the_reason() {
        let matcher = |name: &str, value: &str, is_regex: bool| json!({"name": name, "value": value, "isRegex": is_regex});
        let many: Vec<Value> = (0..65).map(|index| matcher(&format!("l{index}"), "x", false)).collect();
        for (matchers, part) in [
            (many, "spec.matchers"),
            (vec![matcher("a", &"x".repeat(4097), false)], "spec.matchers[0].value"),
            (vec![matcher(&"a".repeat(257), "x", false)], "spec.matchers[0].name"),
            (vec![matcher("a", r"\Qabc", true)], "USHS016"),
        ] {
            let refused =
                make_in(Some("ops"), false, |value| value["matchers"] = json!(matchers)).unwrap_err();
            let Skipped::Refused(why) = &refused else { panic!("{refused:?}") };
            assert!(why.contains(part), "{why}");
        }
        let far = make(|value| value["endsAt"] = json!("9999-12-31T23:59:59Z")).unwrap_err();
        assert_eq!(far, Skipped::TooFar);
    }

    #[test]
    fn a_repeated_matcher_is_told_of() {
        let twice = json!([
            {"name": "namespace", "value": "shop", "isRegex": false},
            {"name": "namespace", "value": "shop", "isRegex": false},
        ]);
        let made = make(|value| value["matchers"] = twice).unwrap();
        assert!(made.notes[0].contains("twice"), "{:?}", made.notes);
    }

    #[test]
    fn ids_that_begin_alike_get_names_of_their_own() {
        let settings = Settings::default();
        let now = "2026-01-10T11:00:00Z".parse().unwrap();
        let taken = BTreeSet::new();
        let mut maker =
            Maker { namespace: None, settings: &settings, may_lack_annotations: false, now, taken };
        let mut name = |id: &str| {
            let made = maker.make(&silence(|value| value["id"] = json!(id))).unwrap();
            made.object["metadata"]["name"].as_str().unwrap().to_owned()
        };
        assert_eq!(name(ID), "imported-f3b1c9a0");
        assert_eq!(name("F3B1C9A0-1"), "imported-f3b1c9a01");
    }

    #[test]
    fn nothing_that_people_write_ends_the_line() {
        let silence = silence(|value| value["createdBy"] = json!("x\n---\nkind: Secret"));
        assert_eq!(origin(&silence), format!(r#"{ID} (active, created by "x\n---\nkind: Secret")"#));
    }
}
