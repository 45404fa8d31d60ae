//! ScrapeClass: scrape settings that an administrator offers and monitors pick by name.

use kube::CustomResourceExt;

use super::{Admission, Kind, KindInfo};
use crate::model::object::Object;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
mod relabel;
mod rules;
pub mod spec;
mod tls;
mod workloads;

use spec::ScrapeClassSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "monitoring.coreos.com",
    versions: &["v1alpha1"],
    kind: "ScrapeClass",
    plural: "scrapeclasses",
    namespaced: false,
    slug: "scrape-class",
    crd: spec::ScrapeClass::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<ScrapeClass>,
        judge: admit::judge_tree::<ScrapeClass>,
        mutate: None,
        sees_delete: false,
        timeout_seconds: 10,
    }),
};

/// The kind, for the doors.
#[derive(Debug)]
pub struct ScrapeClass;

impl Kind for ScrapeClass {
    type Spec = ScrapeClassSpec;

    fn check(
        object: &Object<ScrapeClassSpec>,
        _old: Option<&Object<ScrapeClassSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, facts, out);
    }
}
