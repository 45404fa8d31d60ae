//! LokiStack: the Loki operator's Loki. A guest of which usher reads and judges one part, the rules.

use kube::CustomResourceExt;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod rules;
pub mod spec;

use spec::LokiStackSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "LokiStack",
    plural: "lokistacks",
    namespaced: true,
    slug: "loki-stack",
    system: System::LokiRules,
    is_guest: true,
    crd: spec::LokiStack::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<LokiStack>,
        judge: admit::judge_tree::<LokiStack>,
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
pub struct LokiStack;

impl Kind for LokiStack {
    type Spec = LokiStackSpec;

    fn check(
        object: &Object<LokiStackSpec>,
        _old: Option<&Object<LokiStackSpec>>,
        _facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        if let Some(rules) = &object.spec.rules {
            rules::check(rules, out);
        }
    }

    /// Only the rules are judged; whatever else a stack says is the Loki operator's.
    fn is_untouched(object: &Object<LokiStackSpec>, old: &Object<LokiStackSpec>) -> bool {
        object.spec.rules == old.spec.rules
    }
}
