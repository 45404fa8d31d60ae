//! Silence: alerts muted in every Alertmanager that selects the object.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Admission, Cel, FailurePolicy, Kind, KindInfo, Permission};
use crate::gates::System;
use crate::model::cel::{NotATime, has, time};
use crate::model::object::Object;
use crate::reconcile::Reconciler;
use crate::review::edits::Edits;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings, Rule};

pub mod breadth;
pub mod codes;
mod comparison;
mod defaults;
mod preview;
mod rules;
pub mod schedule;
mod selection;
pub mod spec;
pub mod sync;
pub mod tenancy;
pub mod trial;
pub mod window;

use spec::SilenceSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "monitoring.coreos.com",
    versions: &["v1alpha1"],
    kind: "Silence",
    plural: "silences",
    namespaced: true,
    slug: "silence",
    system: System::Silence,
    is_guest: false,
    crd: spec::Silence::crd,
    cel: &[
        Cel {
            at: &["spec"],
            expression: "[has(self.expiresAt), has(self.duration), has(self.schedule)].exists_one(given, given)",
            rule: &codes::ONE_END,
            holds: has_one_end,
        },
        Cel {
            at: &["spec"],
            expression: "!has(self.startsAt) || !has(self.expiresAt) || timestamp(self.startsAt) < timestamp(self.expiresAt)",
            rule: &codes::START_BEFORE_END,
            holds: starts_before_it_ends,
        },
        Cel {
            at: &["spec"],
            expression: "!has(self.schedule) || !has(self.startsAt)",
            rule: &codes::SCHEDULE_ALONE,
            holds: |spec| !has(spec, "schedule") || time(spec, "startsAt").is_none(),
        },
        Cel {
            at: &["spec", "schedule"],
            expression: "has(self.cron) != has(self.weekly)",
            rule: &codes::ONE_RECURRENCE,
            holds: |schedule| has(schedule, "cron") != has(schedule, "weekly"),
        },
    ],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<Silence>,
        judge: admit::judge_tree::<Silence>,
        mutate: Some(admit::mutate_tree::<Silence>),
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: true,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: Some(Reconciler {
        run: sync::sweeper::run,
        reads: &["alertmanagers", "namespaces", "pods"],
        needs: &[("monitoring.coreos.com", "alertmanagers"), ("", "namespaces"), ("", "pods")],
        finalizer: Some(crate::names::SILENCE_CLEANUP),
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct Silence;

impl Kind for Silence {
    type Spec = SilenceSpec;

    /// Limits for requests, and what is judged for each Alertmanager when the Silence is sent there.
    const DOOR_ONLY: &'static [&'static Rule] = &[
        &codes::COMMENT_POLICY,
        &codes::PAST_END,
        &codes::TOO_LONG,
        &codes::FOREIGN_NAMESPACE,
        &codes::MIN_MATCHERS,
        &codes::REQUIRED_LABELS,
        &codes::TOO_LARGE,
        &codes::LABEL_NAME,
        &codes::MATCHES_EMPTY,
        &codes::BROAD,
        &codes::BROAD_RECORD,
    ];

    const PERMISSION: Option<Permission> =
        Some(Permission { verb: "silence-all", lifts: &[&codes::BROAD, &codes::BROAD_RECORD] });

    fn asks(object: &Object<SilenceSpec>, old: Option<&Object<SilenceSpec>>, facts: &Facts<'_>) -> bool {
        selection::asks(object, old, facts)
    }

    /// The record of a permission is no part of the spec, and nobody inherits it.
    fn rests_on_the_same(object: &Object<SilenceSpec>, old: &Object<SilenceSpec>) -> bool {
        let record = |silence: &Object<SilenceSpec>| {
            silence.metadata.annotation(crate::names::BROAD_ALLOWED).map(str::to_owned)
        };
        object.spec == old.spec && record(object) == record(old)
    }

    fn defaults(
        object: &Object<SilenceSpec>,
        old: Option<&Object<SilenceSpec>>,
        facts: &Facts<'_>,
        edits: &mut Edits,
    ) {
        defaults::defaults(object, old, facts, edits);
    }

    fn check(
        object: &Object<SilenceSpec>,
        old: Option<&Object<SilenceSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, old, facts, out);
    }

    /// Never refuses: whatever is deleted, the Silence goes.
    fn check_delete(old: &Object<SilenceSpec>, facts: &Facts<'_>, out: &mut Findings) {
        preview::check_delete(old, facts, out);
    }
}

fn has_one_end(spec: &Value) -> bool {
    let readable = !matches!(time(spec, "expiresAt"), Some(Err(NotATime)));
    readable && ["expiresAt", "duration", "schedule"].iter().filter(|end| has(spec, end)).count() == 1
}

/// CEL's `||` is true as soon as one side is, whatever happens on the other.
fn starts_before_it_ends(spec: &Value) -> bool {
    match (time(spec, "startsAt"), time(spec, "expiresAt")) {
        (None, _) | (_, None) => true,
        (Some(Ok(starts)), Some(Ok(ends))) => starts < ends,
        _ => false,
    }
}
