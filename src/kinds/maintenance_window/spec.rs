//! The MaintenanceWindow resource: its fields and limits (`crds/maintenancewindows.yaml` is generated from
//! here).

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::uptime::{Duration, LocalRef, SkippedMonitor, SyncedAccount};

/// Times in which UptimeRobot does not alert.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "MaintenanceWindow",
    plural = "maintenancewindows",
    namespaced,
    status = "MaintenanceWindowStatus",
    doc = "MaintenanceWindow is a time, once or again and again, in which UptimeRobot does not alert.",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Interval", type_ = "string", json_path = ".spec.interval"),
    printcolumn(name = "Start Date", type_ = "string", json_path = ".spec.startDate"),
    printcolumn(name = "Duration", type_ = "string", json_path = ".spec.duration"),
    printcolumn(name = "Monitor Count", type_ = "integer", json_path = ".status.monitorCount"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceWindowSpec {
    /// How often the window is compared with UptimeRobot and repaired: a Go duration, at least 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "24h"))]
    pub sync_interval: Option<Duration>,
    /// Deletes the window at UptimeRobot when this object is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub prune: Option<bool>,
    /// The Account; absent or without a name means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<LocalRef>,
    /// The name at UptimeRobot.
    #[schemars(length(min = 3, max = 255))]
    pub name: String,
    /// How often the window opens.
    pub interval: Interval,
    /// The day of a window that opens once, YYYY-MM-DD; no other window has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 10),
        regex(pattern = r"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")
    )]
    pub start_date: Option<String>,
    /// The time of day at which the window opens, HH:MM:SS.
    #[schemars(length(max = 8), regex(pattern = r"^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$"))]
    pub start_time: String,
    /// How long the window stays open: a Go duration of whole minutes, at least 1m.
    pub duration: Duration,
    /// Weekly: 0 (Sunday) to 6 (Saturday), 7 also means Sunday. Monthly: 1 to 31, -1 means the last day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 31),
        inner(range(min = -1, max = 31)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub days: Option<Vec<i32>>,
    /// Covers every monitor of the Account, later ones too; excludes monitorRefs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub auto_add_monitors: Option<bool>,
    /// The Monitors of this namespace that the window covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub monitor_refs: Option<Vec<LocalRef>>,
}

/// How often a window opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Interval {
    Once,
    Daily,
    Weekly,
    Monthly,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceWindowStatus {
    /// Always equal to the condition Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The id at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Monitors that the window covers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_count: Option<i32>,
    /// Listed Monitors that the window does not cover yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub skipped_monitors: Option<Vec<SkippedMonitor>>,
    /// The Account that the window belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<SyncedAccount>,
    /// When the window was last compared with UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_time: Option<Timestamp>,
    /// When the window opens next, its times read in the time zone of usher's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_start: Option<Timestamp>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict), Ready (the summary), Synced, Error, Deleting and AccountChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
