//! RulerConfig: how a Loki ruler evaluates, notifies and writes.
//!
//! The CRD has no rules across fields on purpose: where the Loki operator's CRD is already installed, usher
//! leaves it alone, and a CEL rule of ours would hold in some clusters only.

use kube::CustomResourceExt;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::gates::System;
use crate::model::object::Object;
use crate::reconcile::{ConditionsOnly, Reconciler, Synced, driver};
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod relabel;
mod rules;
pub mod spec;
mod target;
mod urls;

use spec::RulerConfigSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "RulerConfig",
    plural: "rulerconfigs",
    namespaced: true,
    slug: "ruler-config",
    system: System::LokiRules,
    is_guest: false,
    crd: spec::RulerConfig::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<RulerConfig>,
        judge: admit::judge_tree::<RulerConfig>,
        mutate: None,
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 5,
        claims: false,
    }),
    reconciler: Some(Reconciler { run: driver::run::<RulerConfig>, reads: &[], needs: &[], finalizer: None }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct RulerConfig;

impl Kind for RulerConfig {
    type Spec = RulerConfigSpec;

    fn check(
        object: &Object<RulerConfigSpec>,
        _old: Option<&Object<RulerConfigSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(&object.spec, out);
        target::check(&object.metadata, facts, out);
    }

    /// Labels and annotations decide nothing here.
    fn is_untouched(object: &Object<RulerConfigSpec>, old: &Object<RulerConfigSpec>) -> bool {
        object.spec == old.spec
    }
}

impl Synced for RulerConfig {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;
}
