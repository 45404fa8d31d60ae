//! Which Alertmanagers select a silence, and what each of them is sent.
//!
//! [`effective`] is the single source of truth about matchers: the mutating door shows it, the validating door judges
//! it and the reconciler sends it. All matchers are ANDed, so appending the namespace matcher is enough and nothing
//! a tenant writes can widen it; a user's own namespace matcher is never replaced.

use std::borrow::Cow;
use std::sync::Arc;

use super::spec::{MatchType, Matcher, SilenceSpec};
use crate::kinds::alertmanager::spec::AlertmanagerSpec;
use crate::model::object::{Meta, Object};
use crate::model::selector::{Error as SelectorError, LabelSelector};
use crate::names;
use crate::rule::Facts;
use crate::settings::SilenceSettings;
use crate::view::records::Alertmanager as Known;
use crate::view::{Term, View};

type Alertmanager = Object<AlertmanagerSpec>;

/// An Alertmanager that selects the silence.
#[derive(Debug, Clone)]
pub struct Selecting {
    /// The Alertmanager.
    pub alertmanager: Arc<Known>,
    /// Does it get the namespace matcher?
    pub enforces: bool,
}

impl Selecting {
    /// `namespace/name`, as messages call it.
    pub fn name(&self) -> String {
        format!("{}/{}", self.alertmanager.metadata.namespace, self.alertmanager.metadata.name)
    }
}

/// The Alertmanagers that select a silence.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Those that certainly do.
    pub selecting: Vec<Selecting>,
    /// Those of which nobody can tell: a selector is invalid, or a namespace is not known.
    pub uncertain: Vec<Arc<Known>>,
    /// Are all Alertmanagers known?
    pub certain: bool,
}

impl Selection {
    /// Does every selecting Alertmanager (and there is one) enforce the namespace?
    pub fn all_enforce(&self) -> bool {
        !self.selecting.is_empty() && self.selecting.iter().all(|selecting| selecting.enforces)
    }

    /// May a rule about Alertmanagers refuse?
    pub fn decides(&self) -> bool {
        self.is_certain() && !self.selecting.is_empty()
    }

    /// Is that all there is to know? If not, the rules about Alertmanagers only warn.
    pub fn is_certain(&self) -> bool {
        self.certain && self.uncertain.is_empty()
    }
}

/// Finds the selecting Alertmanagers.
pub fn select(metadata: &Meta, facts: &Facts<'_>) -> Selection {
    let targets = facts.settings.silence.targets.iter().map(|target| Arc::clone(&target.alertmanager));
    let objects = facts.view.alertmanagers.all();
    let mut selection = Selection { certain: objects.is_some(), ..Selection::default() };
    let objects =
        objects.into_iter().flatten().filter(|object| !is_static(&object.metadata, &facts.settings.silence));
    for alertmanager in targets.chain(objects) {
        if alertmanager.metadata.is_terminating() {
            continue;
        }
        match selects(&alertmanager, metadata, facts) {
            Some(true) => {
                let enforces = enforces(&alertmanager, &metadata.namespace);
                selection.selecting.push(Selecting { alertmanager, enforces });
            }
            Some(false) => {}
            None => selection.uncertain.push(alertmanager),
        }
    }
    selection
}

/// Is an Alertmanager of this name in the settings? Of two with one name the operator's word counts, whatever it selects:
/// an object of a tenant must not speak for it.
pub fn is_static(metadata: &Meta, settings: &SilenceSettings) -> bool {
    settings.targets.iter().any(|target| {
        let own = &target.alertmanager.metadata;
        (&own.namespace, &own.name) == (&metadata.namespace, &metadata.name)
    })
}

/// Where a selector comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The spec's field.
    Spec,
    /// The annotation.
    Annotation,
    /// usher's settings.
    Setting,
    /// Nowhere.
    None,
}

/// A selector that was looked up; an error when it cannot be used.
pub type Sourced = (Source, Result<Option<LabelSelector>, SelectorError>);

/// Which Silences an Alertmanager selects. Without a selector it has not opted in.
pub fn silence_selector(alertmanager: &Alertmanager, settings: &SilenceSettings) -> Sourced {
    let field = &alertmanager.spec.silence_selector;
    lookup(field, alertmanager, names::SILENCE_SELECTOR, &settings.selector)
}

/// Of which namespaces; without a selector, of its own.
pub fn namespace_selector(alertmanager: &Alertmanager, settings: &SilenceSettings) -> Sourced {
    let field = &alertmanager.spec.silence_namespace_selector;
    lookup(field, alertmanager, names::SILENCE_NAMESPACE_SELECTOR, &settings.namespace_selector)
}

/// Why nobody can tell what an Alertmanager selects, if its selectors are the cause.
pub fn unusable(alertmanager: &Alertmanager, settings: &SilenceSettings) -> Option<SelectorError> {
    let silences = silence_selector(alertmanager, settings).1.err();
    silences.or_else(|| namespace_selector(alertmanager, settings).1.err())
}

/// Might this Alertmanager select anything? One that has not opted in is left alone.
pub fn opts_in(alertmanager: &Alertmanager, settings: &SilenceSettings) -> bool {
    silence_selector(alertmanager, settings).0 != Source::None
}

/// `None` when a selector is invalid or a namespace's labels are not known: never taken for "nothing".
pub fn selects(alertmanager: &Alertmanager, silence: &Meta, facts: &Facts<'_>) -> Option<bool> {
    let settings = &facts.settings.silence;
    // Absent selects nothing: an Alertmanager opts in.
    let Some(objects) = silence_selector(alertmanager, settings).1.ok()? else { return Some(false) };
    if !objects.selects(silence.labels.as_ref()).ok()? {
        return Some(false);
    }
    match namespace_selector(alertmanager, settings).1.ok()? {
        None => Some(alertmanager.metadata.namespace == silence.namespace),
        Some(selector) if selector.is_empty() => Some(true),
        Some(selector) => {
            let namespace = namespace_of(facts.view, &silence.namespace)?;
            selector.selects(namespace.metadata.labels.as_ref()).ok()
        }
    }
}

fn namespace_of(view: &View, name: &str) -> Option<Arc<crate::view::records::Namespace>> {
    view.namespaces.get("", name).flatten()
}

/// The first of spec field, annotation and setting that is present. Presence, not the CRD's schema, decides: else an
/// upgrade of the CRD that adds the fields would deselect every silence at once.
fn lookup(
    field: &Option<LabelSelector>,
    alertmanager: &Alertmanager,
    annotation: &str,
    setting: &Option<LabelSelector>,
) -> Sourced {
    if let Some(selector) = field {
        let problem = selector.problems().into_iter().next();
        let usable = problem.map_or(Ok(()), |problem| Err(SelectorError::Unusable(problem.message)));
        return (Source::Spec, usable.map(|()| Some(selector.clone())));
    }
    match (alertmanager.metadata.annotation(annotation), setting) {
        (Some(text), _) => (Source::Annotation, LabelSelector::parse(text).map(Some)),
        (None, Some(selector)) => (Source::Setting, Ok(Some(selector.clone()))),
        (None, None) => (Source::None, Ok(None)),
    }
}

/// Does this Alertmanager get the namespace matcher for silences of that namespace?
pub fn enforces(alertmanager: &Alertmanager, namespace: &str) -> bool {
    let annotated = || alertmanager.metadata.annotation(names::NAMESPACE_INJECTION) == Some("true");
    let injected = alertmanager.spec.namespace_injection.unwrap_or_else(annotated);
    // Injection may only tighten; an empty or unknown strategy is the default one.
    injected
        || match alertmanager.spec.alertmanager_config_matcher_strategy.r#type.as_str() {
            "None" => false,
            "OnNamespaceExceptForAlertmanagerNamespace" => alertmanager.metadata.namespace != namespace,
            _ => true,
        }
}

/// The matcher that enforcement adds.
pub fn namespace_matcher(label: &str, namespace: &str) -> Matcher {
    Matcher { name: label.to_owned(), value: namespace.to_owned(), match_type: Some(MatchType::Equal) }
}

/// The position of the matcher that usher itself put into the spec, if it did.
///
/// The record is honoured only for the exact own-namespace matcher, so that forging it gains nothing.
pub fn injected(silence: &Object<SilenceSpec>, label: &str) -> Option<usize> {
    let record = silence.metadata.annotation(names::INJECTED_MATCHERS)?;
    let own = namespace_matcher(label, &silence.metadata.namespace);
    let position = silence.spec.matchers.iter().position(|matcher| equal(matcher, &own));
    position.filter(|_| record == shown(&own))
}

/// The matchers that the user wrote: without the injected one, exact repetitions once.
pub fn written(silence: &Object<SilenceSpec>, label: &str) -> Vec<Matcher> {
    let injected = injected(silence, label);
    let mut matchers: Vec<Matcher> = Vec::with_capacity(silence.spec.matchers.len());
    for (index, matcher) in silence.spec.matchers.iter().enumerate() {
        if injected != Some(index) && !matchers.iter().any(|other| equal(other, matcher)) {
            matchers.push(matcher.clone());
        }
    }
    matchers
}

/// What an Alertmanager is sent: the user's matchers in their order, then the enforced one.
pub fn effective(mut written: Vec<Matcher>, enforces: bool, label: &str, namespace: &str) -> Vec<Matcher> {
    let own = namespace_matcher(label, namespace);
    if enforces && !written.iter().any(|matcher| equal(matcher, &own)) {
        written.push(own);
    }
    written
}

/// Do two matchers say the same?
pub fn equal(one: &Matcher, other: &Matcher) -> bool {
    one.name == other.name && one.value == other.value && one.kind() == other.kind()
}

/// A matcher as Alertmanager writes it: `name="value"`. No two matchers, and no two lists of them, have one text.
pub fn shown(matcher: &Matcher) -> String {
    format!("{}{}{:?}", shown_name(&matcher.name), matcher.kind().as_str(), matcher.value)
}

/// A label name, in quotes where it holds what else separates it from its value: `a!="b",c` is a name, too.
pub fn shown_name(name: &str) -> Cow<'_, str> {
    let is_reserved = |c: char| c.is_whitespace() || "{}!=~,\\'\"`".contains(c);
    if name.contains(is_reserved) { format!("{name:?}").into() } else { name.into() }
}

/// A matcher for a message: its value is cut.
pub fn brief(matcher: &Matcher) -> String {
    format!("{}{}{}", matcher.name, matcher.kind().as_str(), crate::rule::quoted(&matcher.value))
}

/// A word that two lists share exactly when they hold the same matchers, in whatever order.
pub fn fingerprint(matchers: &[Matcher]) -> String {
    let mut shown: Vec<String> = matchers.iter().map(shown).collect();
    shown.sort_unstable();
    shown.dedup();
    shown.join(",")
}

/// A word that silences of one namespace share when they may be sent alike: an own-namespace matcher, which enforcement
/// adds anyway, makes no difference. (With another `--silence-namespace-label` it does: then only equal lists share.)
pub fn likeness(matchers: &[Matcher], namespace: &str) -> Term {
    let mut term = Term::new("silence", &[namespace]);
    for (index, matcher) in matchers.iter().enumerate() {
        let own =
            matcher.name == "namespace" && matcher.value == namespace && matcher.kind() == MatchType::Equal;
        if !own && !matchers[..index].iter().any(|earlier| equal(earlier, matcher)) {
            term = term.with(Term::new(matcher.kind().as_str(), &[&matcher.name, &matcher.value]));
        }
    }
    term
}

impl Matcher {
    /// The type of comparison; absent means `=`.
    pub fn kind(&self) -> MatchType {
        self.match_type.unwrap_or(MatchType::Equal)
    }

    /// Is the value a regular expression?
    pub fn is_regex(&self) -> bool {
        matches!(self.kind(), MatchType::Regex | MatchType::NotRegex)
    }
}

impl MatchType {
    /// The sign.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Regex => "=~",
            Self::NotRegex => "!~",
        }
    }
}
