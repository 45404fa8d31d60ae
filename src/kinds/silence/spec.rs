//! The Silence resource: its fields and limits (`crds/silences.yaml` is generated from here).

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;

/// A silence that usher keeps in every Alertmanager that selects it.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "monitoring.coreos.com",
    version = "v1alpha1",
    kind = "Silence",
    plural = "silences",
    namespaced,
    status = "SilenceStatus",
    shortname = "sil",
    category = "prometheus-operator",
    doc = "Silence mutes the alerts that all its matchers match, in every Alertmanager that selects it.",
    printcolumn(name = "State", type_ = "string", json_path = ".status.phase"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Expires", type_ = "string", json_path = ".status.expiresAt"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Starts", type_ = "string", json_path = ".status.startsAt", priority = "1"),
    printcolumn(name = "Next", type_ = "string", json_path = ".status.nextWindow.startsAt", priority = "1"),
    printcolumn(name = "Comment", type_ = "string", json_path = ".spec.comment", priority = "1")
)]
#[serde(rename_all = "camelCase")]
pub struct SilenceSpec {
    /// Why the alerts are muted: a reason that the next person on call understands.
    #[schemars(length(min = 1, max = 1024))]
    pub comment: String,
    /// The matchers; an alert is muted when all of them match it.
    #[schemars(length(min = 1, max = 64), extend("x-kubernetes-list-type" = "atomic"))]
    pub matchers: Vec<Matcher>,
    /// When the silence ends. Exactly one of expiresAt, duration and schedule is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When the silence begins; absent means when the object was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    /// How long the silence lasts from its beginning: w, d, h, m, s, each at most once, largest first (1d12h).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 2, max = 64),
        regex(pattern = r"^([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$")
    )]
    pub duration: Option<String>,
    /// Recurring windows instead of a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<Schedule>>,
    /// Ends the silence in every Alertmanager and keeps the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub suspend: Option<bool>,
}

/// One condition on an alert's labels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Matcher {
    /// The label's name.
    #[schemars(length(min = 1, max = 256))]
    pub name: String,
    /// The value, or the regular expression for =~ and !~ (anchored at both ends by Alertmanager).
    #[schemars(length(max = 4096))]
    pub value: String,
    /// How the label is compared with the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "="))]
    pub match_type: Option<MatchType>,
}

/// How a label is compared with a matcher's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum MatchType {
    /// Equal.
    #[serde(rename = "=")]
    Equal,
    /// Not equal.
    #[serde(rename = "!=")]
    NotEqual,
    /// Matches the regular expression.
    #[serde(rename = "=~")]
    Regex,
    /// Does not match the regular expression.
    #[serde(rename = "!~")]
    NotRegex,
}

/// Recurring windows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Schedule {
    /// Five cron fields: minute, hour, day of month, month, day of week. Exactly one of cron and weekly is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub cron: Option<String>,
    /// Weekdays and times, for people who do not speak cron.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 28), extend("x-kubernetes-list-type" = "atomic"))]
    pub weekly: Option<Vec<Weekly>>,
    /// The IANA time zone of the starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), extend("default" = "UTC"))]
    pub time_zone: Option<String>,
    /// How long each window lasts: w, d, h, m, s, each at most once, largest first.
    #[schemars(
        length(min = 2, max = 64),
        regex(pattern = r"^([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$")
    )]
    pub duration: String,
    /// No window starts before this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// No window starts at or after this instant; a running one is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Windows that start at one time of day on some days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Weekly {
    /// The days.
    #[schemars(length(min = 1, max = 7), extend("x-kubernetes-list-type" = "set"))]
    pub days: Vec<Day>,
    /// The time of day, HH:MM.
    #[schemars(length(max = 5), regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    pub at: String,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SilenceStatus {
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict) and Ready (the summary over the bindings).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
    /// The rest.
    #[serde(flatten)]
    pub state: SilenceState,
}

/// What the status tells besides its conditions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SilenceState {
    /// The state in one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The resolved beginning of the current window, else of the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_at: Option<Timestamp>,
    /// The resolved end of that window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// With a schedule: the window after that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_window: Option<Window>,
    /// The Alertmanagers that select this silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["namespace", "name"]))]
    pub bindings: Option<Vec<Binding>>,
}

/// The state of a silence in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Phase {
    Pending,
    Active,
    Scheduled,
    Expired,
    Suspended,
    Unbound,
    Error,
}

impl Phase {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Active => "Active",
            Self::Scheduled => "Scheduled",
            Self::Expired => "Expired",
            Self::Suspended => "Suspended",
            Self::Unbound => "Unbound",
            Self::Error => "Error",
        }
    }
}

/// A window of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Its beginning.
    pub starts_at: Timestamp,
    /// Its end.
    pub expires_at: Timestamp,
}

/// The silence as one Alertmanager holds it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Binding {
    /// The Alertmanager's name.
    pub name: String,
    /// The Alertmanager's namespace.
    pub namespace: String,
    /// The id that Alertmanager gave to the silence.
    #[serde(rename = "silenceID", default, skip_serializing_if = "Option::is_none")]
    pub silence_id: Option<String>,
    /// When usher last wrote to this Alertmanager or found it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sync_time: Option<Timestamp>,
    /// Instances that hold the silence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_instances: Option<i32>,
    /// Instances that the Alertmanager has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_instances: Option<i32>,
    /// The matchers as sent to this Alertmanager.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub effective_matchers: Option<Vec<String>>,
    /// Alerts that the silence muted at the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silenced_alerts: Option<i32>,
    /// Whether this Alertmanager holds what it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
