//! RecordingRule: groups of recording rules for a Loki ruler. Schema only; its rules come with the languages.

use kube::CustomResourceExt;

use super::KindInfo;
use crate::gates::System;

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "RecordingRule",
    plural: "recordingrules",
    namespaced: true,
    slug: "recording-rule",
    system: System::LokiRules,
    crd: spec::RecordingRule::crd,
    cel: &[],
    admission: None,
    reconciler: None,
};
