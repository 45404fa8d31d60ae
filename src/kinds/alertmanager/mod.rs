//! Alertmanager: prometheus-operator's. A guest of which usher judges what it does with Silences, and only warns.

use kube::CustomResourceExt;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::names;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod rules;
pub mod spec;
pub mod version;

use spec::AlertmanagerSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "monitoring.coreos.com",
    versions: &["v1"],
    kind: "Alertmanager",
    plural: "alertmanagers",
    namespaced: true,
    slug: "alertmanager",
    system: System::Silence,
    is_guest: true,
    crd: spec::Alertmanager::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<Alertmanager>,
        judge: admit::judge_tree::<Alertmanager>,
        mutate: None,
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: None,
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct Alertmanager;

impl Kind for Alertmanager {
    type Spec = AlertmanagerSpec;

    fn check(
        object: &Object<AlertmanagerSpec>,
        old: Option<&Object<AlertmanagerSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, old, facts, out);
    }

    /// Only what decides about Silences is judged; whatever else it says is prometheus-operator's.
    fn is_untouched(object: &Object<AlertmanagerSpec>, old: &Object<AlertmanagerSpec>) -> bool {
        let annotated = |key| object.metadata.annotation(key) == old.metadata.annotation(key);
        let (new, old) = (&object.spec, &old.spec);
        new.silence_selector == old.silence_selector
            && new.silence_namespace_selector == old.silence_namespace_selector
            && new.namespace_injection == old.namespace_injection
            && new.alertmanager_config_matcher_strategy == old.alertmanager_config_matcher_strategy
            && new.limits == old.limits
            && [names::SILENCE_SELECTOR, names::SILENCE_NAMESPACE_SELECTOR, names::NAMESPACE_INJECTION]
                .into_iter()
                .all(annotated)
    }
}
