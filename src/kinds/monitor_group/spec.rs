//! The MonitorGroup resource: its fields and limits (`crds/monitorgroups.yaml` is generated from here).

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::uptime::{Duration, LocalRef, SkippedMonitor, SyncedAccount};

/// Monitors that belong together at UptimeRobot.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "MonitorGroup",
    plural = "monitorgroups",
    namespaced,
    status = "MonitorGroupStatus",
    shortname = "mgrp",
    doc = "MonitorGroup puts Monitors of its namespace into one group at UptimeRobot.",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Name", type_ = "string", json_path = ".spec.friendlyName"),
    printcolumn(name = "Count", type_ = "integer", json_path = ".status.monitorCount"),
    printcolumn(name = "ID", type_ = "string", json_path = ".status.id", priority = "1"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct MonitorGroupSpec {
    /// How often the group is compared with UptimeRobot and repaired: a Go duration, at least 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "24h"))]
    pub sync_interval: Option<Duration>,
    /// Deletes the group at UptimeRobot when this object is deleted; its monitors stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub prune: Option<bool>,
    /// The Account; absent or without a name means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<LocalRef>,
    /// The name at UptimeRobot.
    #[schemars(length(min = 1, max = 255))]
    pub friendly_name: String,
    /// The Monitors of this namespace that are in the group; a Monitor is in one group only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub monitors: Option<Vec<LocalRef>>,
    /// Ids of groups whose monitors move here, once, when the group is made; 0 means those of no group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0)), extend("x-kubernetes-list-type" = "atomic"))]
    pub pull_from_groups: Option<Vec<i64>>,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorGroupStatus {
    /// Always equal to the condition Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The id at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Monitors that were found and are in the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_count: Option<i32>,
    /// Listed Monitors that are not in the group yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub skipped_monitors: Option<Vec<SkippedMonitor>>,
    /// When the group was last synced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconciled: Option<Timestamp>,
    /// Whether pullFromGroups was done; it is never done again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulled: Option<bool>,
    /// The Account that the group belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<SyncedAccount>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict), Ready (the summary), Synced, Error, Deleting and AccountChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
