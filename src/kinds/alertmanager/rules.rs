//! What the doors say about an Alertmanager (specification of Silences, sections 1.4, 2.1, 5.2 and 5.6).

use super::codes;
use super::spec::AlertmanagerSpec;
use crate::kinds::silence::spec::SilenceSpec;
use crate::kinds::silence::tenancy::{
    enforces, equal, namespace_matcher, namespace_selector, selects, silence_selector, written,
};
use crate::kinds::silence::window::windows;
use crate::model::object::{Meta, Object};
use crate::model::selector::LabelSelector;
use crate::names;
use crate::rule::{Facts, FieldPath, Findings, quoted};

type Alertmanager = Object<AlertmanagerSpec>;

pub(super) fn check(
    alertmanager: &Alertmanager,
    old: Option<&Alertmanager>,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let spec = &alertmanager.spec;
    for (name, selector, annotation) in [
        ("silenceSelector", &spec.silence_selector, names::SILENCE_SELECTOR),
        ("silenceNamespaceSelector", &spec.silence_namespace_selector, names::SILENCE_NAMESPACE_SELECTOR),
    ] {
        check_selector(alertmanager, name, selector, annotation, out);
    }
    if spec.limits.as_ref().is_some_and(|limits| limits.max_per_silence_bytes.is_some()) {
        let path = FieldPath::spec("limits").field("maxPerSilenceBytes");
        out.warn(&codes::NO_SUCH_FLAG, path, codes::NO_SUCH_FLAG.title);
    }
    let strategy = FieldPath::spec("alertmanagerConfigMatcherStrategy").field("type");
    if let Some(old) = old {
        check_widening(alertmanager, old, strategy.clone(), facts, out);
    }
    if is_for_everybody(alertmanager, facts) {
        out.warn(&codes::EVERYBODY, strategy, "Silences of every namespace may mute every alert here");
    }
}

/// The spec field counts where it is present, else the annotation.
fn check_selector(
    alertmanager: &Alertmanager,
    name: &'static str,
    selector: &Option<LabelSelector>,
    annotation: &str,
    out: &mut Findings,
) {
    if let Some(selector) = selector {
        let path = FieldPath::spec(name);
        for problem in selector.problems() {
            let path = path.in_selector(&problem.place);
            out.warn(&codes::SELECTOR, path, problem.message).value(problem.value);
        }
    } else if let Some(text) = alertmanager.metadata.annotation(annotation)
        && LabelSelector::parse(text).is_err()
    {
        let message = format!("{} is not a label selector", quoted(text));
        out.warn(&codes::SELECTOR, FieldPath::annotation(annotation), message).value(text);
    }
}

/// Does it select Silences, those of all namespaces, and add its namespace to none of them?
fn is_for_everybody(alertmanager: &Alertmanager, facts: &Facts<'_>) -> bool {
    let settings = &facts.settings.silence;
    let opts_in = matches!(silence_selector(alertmanager, settings).1, Ok(Some(_)));
    let all = namespace_selector(alertmanager, settings).1;
    opts_in
        && matches!(all, Ok(Some(selector)) if selector.is_empty())
        && !enforces(alertmanager, "")
        && !enforces(alertmanager, &alertmanager.metadata.namespace)
}

/// Silences that were sent with the namespace matcher, and will be sent without it.
fn check_widening(
    alertmanager: &Alertmanager,
    old: &Alertmanager,
    path: FieldPath,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let loses = |silence: &Meta| {
        enforces(old, &silence.namespace)
            && !enforces(alertmanager, &silence.namespace)
            && selects(old, silence, facts) == Some(true)
            && selects(alertmanager, silence, facts) == Some(true)
    };
    let label = &facts.settings.silence.namespace_label;
    let widens = |silence: &Object<SilenceSpec>| {
        let own = namespace_matcher(label, &silence.metadata.namespace);
        silence.spec.suspend != Some(true)
            && !windows(silence, facts.now).is_over(facts.now)
            && !written(silence, label).iter().any(|matcher| equal(matcher, &own))
    };
    let silences = facts.view.silences.all().unwrap_or_default();
    let count = silences.iter().filter(|silence| loses(&silence.metadata) && widens(silence)).count();
    if count > 0 {
        let message = format!("{count} existing Silences lose their namespace matcher and mute more");
        out.warn(&codes::WIDENS, path, message);
    }
}
