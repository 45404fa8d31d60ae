//! AlertingRule: groups of alerting rules for a Loki ruler. Schema only; its rules come with the languages.

use kube::CustomResourceExt;

use super::KindInfo;
use crate::gates::System;

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "AlertingRule",
    plural: "alertingrules",
    namespaced: true,
    slug: "alerting-rule",
    system: System::LokiRules,
    crd: spec::AlertingRule::crd,
    cel: &[],
    admission: None,
    reconciler: None,
};
