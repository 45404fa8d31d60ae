//! ScrapeClass: scrape settings that an administrator offers and monitors pick by name.

use kube::CustomResourceExt;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::claim::Single;
use crate::gates::System;
use crate::model::object::Object;
use crate::reconcile::{ConditionsOnly, Reconciler, Synced, driver};
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod relabel;
mod rules;
pub mod spec;
mod tls;
pub(super) mod workloads;

use spec::ScrapeClassSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "monitoring.coreos.com",
    versions: &["v1alpha1"],
    kind: "ScrapeClass",
    plural: "scrapeclasses",
    namespaced: false,
    slug: "scrape-class",
    system: System::ScrapeClass,
    is_guest: false,
    crd: spec::ScrapeClass::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<ScrapeClass>,
        judge: admit::judge_tree::<ScrapeClass>,
        mutate: None,
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: false,
        timeout_seconds: 10,
        claims: true,
    }),
    reconciler: Some(Reconciler {
        run: driver::run::<ScrapeClass>,
        reads: &["scrapeclasses", "prometheuses", "prometheusagents", "namespaces"],
        needs: &[],
        finalizer: None,
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct ScrapeClass;

impl Kind for ScrapeClass {
    type Spec = ScrapeClassSpec;

    const SINGLE: Option<Single<ScrapeClassSpec>> = Some(Single {
        rule: &codes::SECOND_DEFAULT,
        field: "default",
        lease: "scrape-class-default",
        is_on: |spec| spec.default == Some(true),
        scope: |_, _| String::new(),
        excludes: Some(workloads::overlap),
        claims_again: |old, new, _| workloads::query(old) != workloads::query(new),
    });

    fn check(
        object: &Object<ScrapeClassSpec>,
        _old: Option<&Object<ScrapeClassSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, facts, out);
    }
}

impl Synced for ScrapeClass {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;
}
