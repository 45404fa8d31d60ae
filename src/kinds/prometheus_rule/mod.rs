//! PrometheusRule: prometheus-operator's rules for Prometheus. A guest: its CRD is prometheus-operator's.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::review::edits::Edits;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod defaults;
pub mod features;
mod rules;
mod selection;
pub mod spec;

use spec::PrometheusRuleSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "monitoring.coreos.com",
    versions: &["v1"],
    kind: "PrometheusRule",
    plural: "prometheusrules",
    namespaced: true,
    slug: "prometheus-rule",
    system: System::PrometheusRules,
    is_guest: true,
    crd: spec::PrometheusRule::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<PrometheusRule>,
        judge: admit::judge_tree::<PrometheusRule>,
        mutate: Some(admit::mutate_tree::<PrometheusRule>),
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: None,
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct PrometheusRule;

impl Kind for PrometheusRule {
    type Spec = PrometheusRuleSpec;

    fn defaults(
        object: &Object<PrometheusRuleSpec>,
        _old: Option<&Object<PrometheusRuleSpec>>,
        facts: &Facts<'_>,
        edits: &mut Edits,
    ) {
        defaults::defaults(object, facts, edits);
    }

    fn mend(object: &Value, edits: &mut Edits) {
        defaults::mend(object, edits);
    }

    fn check(
        object: &Object<PrometheusRuleSpec>,
        _old: Option<&Object<PrometheusRuleSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, facts, out);
    }
}
