//! RulerConfig: how a Loki ruler evaluates, notifies and writes. Schema only; its rules come with the Loki
//! system.
//!
//! The CRD has no rules across fields on purpose: where the Loki operator's CRD is already installed, usher
//! leaves it alone, and a CEL rule of ours would hold in some clusters only.

use kube::CustomResourceExt;

use super::KindInfo;
use crate::gates::System;

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "loki.grafana.com",
    versions: &["v1", "v1beta1"],
    kind: "RulerConfig",
    plural: "rulerconfigs",
    namespaced: true,
    slug: "ruler-config",
    system: System::LokiRules,
    crd: spec::RulerConfig::crd,
    cel: &[],
    admission: None,
    reconciler: None,
};
