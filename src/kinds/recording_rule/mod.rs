//! RecordingRule: groups of recording rules for a Loki ruler.

use kube::CustomResourceExt;

use super::loki::{self, Flavour, Group, Rule, Rules};
use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::reconcile::{ConditionsOnly, Reconciler, Synced, driver};
use crate::review::edits::Edits;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod spec;

use spec::RecordingRuleSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "RecordingRule",
    plural: "recordingrules",
    namespaced: true,
    slug: "recording-rule",
    system: System::LokiRules,
    is_guest: false,
    crd: spec::RecordingRule::crd,
    cel: &[],
    admission: Some(Admission {
        rules: loki::codes::OF_RECORDING,
        answer: door::answer::<RecordingRule>,
        judge: admit::judge_tree::<RecordingRule>,
        mutate: Some(admit::mutate_tree::<RecordingRule>),
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: Some(Reconciler {
        run: driver::run::<RecordingRule>,
        reads: &[],
        needs: &[],
        finalizer: None,
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct RecordingRule;

impl Kind for RecordingRule {
    type Spec = RecordingRuleSpec;

    /// The tenancy mode may add a matcher.
    fn defaults(
        object: &Object<RecordingRuleSpec>,
        _old: Option<&Object<RecordingRuleSpec>>,
        facts: &Facts<'_>,
        edits: &mut Edits,
    ) {
        loki::inject(&rules(object), facts, edits);
    }

    fn check(
        object: &Object<RecordingRuleSpec>,
        _old: Option<&Object<RecordingRuleSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        loki::check(&rules(object), facts, out);
    }

    /// Of the metadata only one annotation decides something.
    fn is_untouched(object: &Object<RecordingRuleSpec>, old: &Object<RecordingRuleSpec>) -> bool {
        Self::rests_on_the_same(object, old)
    }

    fn rests_on_the_same(object: &Object<RecordingRuleSpec>, old: &Object<RecordingRuleSpec>) -> bool {
        object.spec == old.spec && loki::same_switch(&object.metadata, &old.metadata)
    }
}

impl Synced for RecordingRule {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;
}

fn rules(object: &Object<RecordingRuleSpec>) -> Rules<'_> {
    let groups = object.spec.groups.iter().flatten().map(|group| Group {
        name: &group.name,
        interval: group.interval.as_ref().map(|text| text.0.as_str()),
        limit: group.limit,
        rules: group
            .rules
            .iter()
            .map(|rule| Rule {
                name: rule.record.as_deref(),
                expr: &rule.expr,
                r#for: None,
                labels: rule.labels.as_ref(),
                annotations: None,
            })
            .collect(),
    });
    Rules {
        flavour: Flavour::Recording,
        metadata: &object.metadata,
        tenant: &object.spec.tenant_id,
        groups: groups.collect(),
    }
}
