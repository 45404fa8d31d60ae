//! MonitorGroup: Monitors that belong together at UptimeRobot. Schema only; its rules come with the
//! UptimeRobot system.

use kube::CustomResourceExt;

use super::KindInfo;
use crate::gates::System;

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "MonitorGroup",
    plural: "monitorgroups",
    namespaced: true,
    slug: "monitor-group",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::MonitorGroup::crd,
    cel: &[],
    admission: None,
    reconciler: None,
};
