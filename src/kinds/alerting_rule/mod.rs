//! AlertingRule: groups of alerting rules for a Loki ruler.

use kube::CustomResourceExt;

use super::loki::{self, Flavour, Group, Rule, Rules};
use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::reconcile::{ConditionsOnly, Reconciler, Synced, driver};
use crate::review::edits::Edits;
use crate::review::{admit, door};
use crate::rule::{Facts, FieldPath, Findings};

pub mod spec;

use spec::AlertingRuleSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "AlertingRule",
    plural: "alertingrules",
    namespaced: true,
    slug: "alerting-rule",
    system: System::LokiRules,
    is_guest: false,
    crd: spec::AlertingRule::crd,
    cel: &[],
    admission: Some(Admission {
        rules: loki::codes::ALL,
        answer: door::answer::<AlertingRule>,
        judge: admit::judge_tree::<AlertingRule>,
        mutate: Some(admit::mutate_tree::<AlertingRule>),
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: Some(Reconciler {
        run: driver::run::<AlertingRule>,
        reads: &[],
        needs: &[],
        finalizer: None,
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct AlertingRule;

impl Kind for AlertingRule {
    type Spec = AlertingRuleSpec;

    /// Upstream refuses an alert without `for`; here it means at once. The tenancy mode may add a matcher.
    fn defaults(
        object: &Object<AlertingRuleSpec>,
        _old: Option<&Object<AlertingRuleSpec>>,
        facts: &Facts<'_>,
        edits: &mut Edits,
    ) {
        for (group, rules) in object.spec.groups.iter().flatten().enumerate() {
            for (rule, written) in rules.rules.iter().enumerate() {
                let path = || FieldPath::spec("groups").index(group).field("rules").index(rule).field("for");
                match &written.r#for {
                    None => edits.add(path(), "0s"),
                    Some(text) if text.0.is_empty() => edits.replace(path(), "0s"),
                    Some(_) => {}
                }
            }
        }
        loki::inject(&rules(object), facts, edits);
    }

    fn check(
        object: &Object<AlertingRuleSpec>,
        _old: Option<&Object<AlertingRuleSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        loki::check(&rules(object), facts, out);
    }

    /// Of the metadata only one annotation decides something.
    fn is_untouched(object: &Object<AlertingRuleSpec>, old: &Object<AlertingRuleSpec>) -> bool {
        Self::rests_on_the_same(object, old)
    }

    fn rests_on_the_same(object: &Object<AlertingRuleSpec>, old: &Object<AlertingRuleSpec>) -> bool {
        object.spec == old.spec && loki::same_switch(&object.metadata, &old.metadata)
    }
}

impl Synced for AlertingRule {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;
}

fn rules(object: &Object<AlertingRuleSpec>) -> Rules<'_> {
    let groups = object.spec.groups.iter().flatten().map(|group| Group {
        name: &group.name,
        interval: group.interval.as_ref().map(|text| text.0.as_str()),
        limit: group.limit,
        rules: group
            .rules
            .iter()
            .map(|rule| Rule {
                name: rule.alert.as_deref(),
                expr: &rule.expr,
                r#for: rule.r#for.as_ref().map(|text| text.0.as_str()),
                labels: rule.labels.as_ref(),
                annotations: rule.annotations.as_ref(),
            })
            .collect(),
    });
    Rules {
        flavour: Flavour::Alerting,
        metadata: &object.metadata,
        tenant: &object.spec.tenant_id,
        groups: groups.collect(),
    }
}
