//! The Monitor resource: its fields and limits (`crds/monitors.yaml` is generated from here).
//!
//! `interval`, `timeout`, `gracePeriod`, `method` and `heartbeat.interval` have no schema default: theirs
//! depend on the type, and a schema default would hide that a field was left out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::blocks::{Auth, DnsRecords, Heartbeat, Keyword, Port, PostBody};
use crate::model::condition::Condition;
use crate::model::secret_text::SecretText;
use crate::model::uptime::{Duration, LocalRef, SyncedAccount};

/// A check that UptimeRobot runs.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "Monitor",
    plural = "monitors",
    namespaced,
    status = "MonitorStatus",
    doc = "Monitor is one check that UptimeRobot runs, and whom it alerts.",
    scale(spec_replicas_path = ".spec.monitor.status", status_replicas_path = ".status.status"),
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Status", type_ = "string", json_path = ".status.state"),
    printcolumn(name = "Type", type_ = "string", json_path = ".spec.monitor.type"),
    printcolumn(name = "Friendly Name", type_ = "string", json_path = ".spec.monitor.name"),
    printcolumn(name = "URL", type_ = "string", json_path = ".spec.monitor.url", priority = "1"),
    printcolumn(
        name = "Heartbeat URL",
        type_ = "string",
        json_path = ".status.heartbeatURL",
        priority = "1"
    ),
    printcolumn(name = "Last Synced", type_ = "date", json_path = ".status.lastSyncedTime", priority = "1"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct MonitorSpec {
    /// How often the monitor is compared with UptimeRobot and repaired: a Go duration, at least 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "24h"))]
    pub sync_interval: Option<Duration>,
    /// Deletes the monitor at UptimeRobot when this object is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub prune: Option<bool>,
    /// The Account; absent or without a name means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<LocalRef>,
    /// Whom UptimeRobot alerts; one entry without a name means the default Contact, an empty list nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic", "default" = [{}]))]
    pub contacts: Option<Vec<ContactRef>>,
    /// The object that this one was made from; set by the Ingress sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ref: Option<SourceRef>,
    /// Where the URL of a Heartbeat is published.
    #[serde(rename = "heartbeatURLPublish", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_url_publish: Option<HeartbeatUrlPublish>,
    /// The check.
    pub monitor: MonitorSettings,
}

/// A Contact that is alerted, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContactRef {
    /// The Contact's name; empty means the default Contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), extend("default" = ""))]
    pub name: Option<String>,
    /// How long the monitor must be down before the alert: a Go duration of whole minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub threshold: Option<Duration>,
    /// How often the alert is repeated: a Go duration of whole minutes; absent means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<Duration>,
}

/// An object in the same namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct SourceRef {
    /// The API group; absent means the core group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// Where the URL of a Heartbeat is published. Whoever has that URL can fake a sign of life.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeartbeatUrlPublish {
    /// The kind of the object that holds the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Secret"))]
    pub r#type: Option<PublishTarget>,
    /// The name of that object; absent means the Monitor's name followed by -heartbeat-url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub name: Option<String>,
    /// The key in that object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[A-Za-z0-9._-]+$"),
        extend("default" = "heartbeatURL")
    )]
    pub key: Option<String>,
}

/// The kind of object that holds a published URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum PublishTarget {
    Secret,
    ConfigMap,
}

/// What is checked, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorSettings {
    /// The friendly name at UptimeRobot.
    #[schemars(length(min = 1, max = 250))]
    pub name: String,
    /// What is checked: a URL for HTTPS and Keyword, a host for Ping, Port and DNS; a Heartbeat has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10000))]
    pub url: Option<String>,
    /// The type of the check. Changing it means a new monitor without history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "HTTPS"))]
    pub r#type: Option<MonitorType>,
    /// How often is checked, or a Heartbeat expected: whole seconds, at least 30s; absent: 60s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
    /// 1 runs the monitor, 0 pauses it; `kubectl scale` sets it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1), extend("default" = 1))]
    pub status: Option<i32>,
    /// How long an answer may take, at most 60s; absent: 30s for HTTPS, Keyword, Ping and Port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Duration>,
    /// How late a Heartbeat may be, at most 24h; absent: 60s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_period: Option<Duration>,
    /// The HTTP method; absent: HEAD for HTTPS, GET for Keyword.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<HttpMethod>,
    /// The body of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post: Option<PostBody>,
    /// The text that a Keyword monitor looks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyword: Option<Keyword>,
    /// The port that a Port monitor connects to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<Port>,
    /// How the request proves who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// The records that a DNS monitor expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns: Option<DnsRecords>,
    /// An older place for the interval of a Heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<Heartbeat>,
    /// Tags at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub tags: Option<Vec<String>>,
    /// Headers of the request; their names do not differ by case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_http_headers: Option<BTreeMap<String, SecretText>>,
    /// The response codes that count as up, like 200 or 2xx; absent: UptimeRobot's own, 2xx and 3xx.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub success_http_response_codes: Option<Vec<String>>,
    /// Alerts on certificates that cannot be trusted.
    #[serde(rename = "checkSSLErrors", default, skip_serializing_if = "Option::is_none")]
    pub check_ssl_errors: Option<bool>,
    /// Reminds of certificates that expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssl_expiration_reminder: Option<bool>,
    /// Reminds of domains that expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_expiration_reminder: Option<bool>,
    /// Follows redirects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_redirections: Option<bool>,
    /// The response time in milliseconds from which the monitor counts as slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 60000))]
    pub response_time_threshold: Option<i32>,
    /// The region that checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
    /// The id of the group at UptimeRobot; 0 means none. A MonitorGroup object does the same by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<i64>,
    /// The ids of maintenance windows at UptimeRobot. A MaintenanceWindow object does the same by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub maintenance_window_ids: Option<Vec<i64>>,
}

/// The type of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum MonitorType {
    #[serde(rename = "HTTPS")]
    Https,
    Keyword,
    Ping,
    Port,
    Heartbeat,
    #[serde(rename = "DNS")]
    Dns,
}

/// An HTTP method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum HttpMethod {
    Head,
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// A region of UptimeRobot: North America, Europe, Asia, Oceania.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Region {
    Na,
    Eu,
    As,
    Oc,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MonitorStatus {
    /// Always equal to the condition Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The id at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The type that the monitor was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<MonitorType>,
    /// 1 when the monitor runs, 0 when it is paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub status: Option<i32>,
    /// The same in a word: running or paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The URL that a Heartbeat expects to be called; a credential, which a setting of usher hides.
    #[serde(rename = "heartbeatURL", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_url: Option<SecretText>,
    /// The kind of the object that holds the published URL.
    #[serde(rename = "heartbeatURLPublishTargetType", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_url_publish_target_type: Option<PublishTarget>,
    /// The name of that object.
    #[serde(rename = "heartbeatURLPublishTargetName", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_url_publish_target_name: Option<String>,
    /// The key in that object.
    #[serde(rename = "heartbeatURLPublishTargetKey", default, skip_serializing_if = "Option::is_none")]
    pub heartbeat_url_publish_target_key: Option<String>,
    /// When the monitor was last compared with UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_time: Option<Timestamp>,
    /// The Account that the monitor belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<SyncedAccount>,
    /// What UptimeRobot says of the monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_state: Option<RemoteState>,
    /// A creation whose outcome is not known yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_create: Option<PendingCreate>,
    /// A hash of what was last sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_hash: Option<String>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, Ready, Synced, Error, Deleting, ContactsResolved, HeartbeatPublished and AccountChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}

/// The state of a monitor at UptimeRobot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs)]
pub enum RemoteState {
    Up,
    Down,
    LooksDown,
    Started,
    Paused,
}

/// A creation whose outcome is not known yet: by this the monitor is looked for before another is made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PendingCreate {
    /// When it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The friendly name that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The type that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<MonitorType>,
    /// The url that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}
