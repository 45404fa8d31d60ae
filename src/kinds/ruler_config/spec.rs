//! The RulerConfig resource: its fields and limits (`crds/rulerconfigs.yaml` is generated from here).
//!
//! Field names are those of the Loki operator's `v1`. URLs, header names, regular expressions and what fields
//! mean together are judged by rules.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::loki::PrometheusDuration;
use crate::model::secret_text::SecretText;

/// Settings of a Loki ruler.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "loki.grafana.com",
    version = "v1",
    kind = "RulerConfig",
    plural = "rulerconfigs",
    namespaced,
    status = "RulerConfigStatus",
    doc = "RulerConfig holds the ruler's settings of the Loki that has the same name and namespace."
)]
#[serde(rename_all = "camelCase")]
pub struct RulerConfigSpec {
    /// How often rules are evaluated that have no interval of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub evaluation_interval: Option<PrometheusDuration>,
    /// How often the ruler looks for changed rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub poll_interval: Option<PrometheusDuration>,
    /// Where alerts are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alertmanager: Option<AlertManagerSpec>,
    /// Where recorded series are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_write: Option<RemoteWriteSpec>,
    /// Settings of single tenants, by tenant; nothing is inherited from the settings above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overrides: Option<BTreeMap<String, RulerOverrides>>,
}

/// Settings of one tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulerOverrides {
    /// Where the tenant's alerts are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alertmanager: Option<AlertManagerSpec>,
}

/// Where alerts are sent, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerSpec {
    /// The URL under which people reach the ruler; alerts link to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_url: Option<String>,
    /// Labels that are added to every alert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_labels: Option<BTreeMap<String, String>>,
    /// Uses Alertmanager's API v2; absent means true.
    #[serde(rename = "enableV2", default, skip_serializing_if = "Option::is_none")]
    pub enable_v2: Option<bool>,
    /// The URLs of the Alertmanagers.
    #[schemars(length(min = 1), extend("x-kubernetes-list-type" = "atomic"))]
    pub endpoints: Vec<String>,
    /// How Alertmanagers are found by DNS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<AlertManagerDiscovery>,
    /// The queue of notifications and the timing of alerts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_queue: Option<AlertManagerNotificationQueue>,
    /// Changes alerts before they are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub relabel_configs: Option<Vec<RelabelConfig>>,
    /// How Alertmanagers are reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<AlertManagerClient>,
}

/// How Alertmanagers are found by DNS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerDiscovery {
    /// Reads SRV records: the hosts of the endpoints are then like _http._tcp.alertmanager.
    #[serde(rename = "enableSRV", default, skip_serializing_if = "Option::is_none")]
    pub enable_srv: Option<bool>,
    /// How often DNS is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub refresh_interval: Option<PrometheusDuration>,
}

/// The queue of notifications and the timing of alerts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerNotificationQueue {
    /// Notifications that may wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 10000))]
    pub capacity: Option<i32>,
    /// How long one delivery may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "10s"))]
    pub timeout: Option<PrometheusDuration>,
    /// The longest outage after which the state of pending alerts is restored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1h"))]
    pub for_outage_tolerance: Option<PrometheusDuration>,
    /// The least time between a restored alert and its firing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "10m"))]
    pub for_grace_period: Option<PrometheusDuration>,
    /// The least time before an alert is sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub resend_delay: Option<PrometheusDuration>,
}

/// How Alertmanagers are reached. Only one of headerAuth and basicAuth is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerClient {
    /// Certificates, as paths in the ruler's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<AlertManagerClientTls>,
    /// Credentials in an Authorization header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header_auth: Option<AlertManagerClientHeaderAuth>,
    /// Name and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basic_auth: Option<AlertManagerClientBasicAuth>,
}

/// Certificates, as paths in the ruler's container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerClientTls {
    /// The CA that signed the Alertmanagers' certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_path: Option<String>,
    /// The name that is expected in the Alertmanagers' certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// The client's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_path: Option<String>,
    /// The client's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_path: Option<String>,
    /// Trusts any certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
}

/// Credentials in an Authorization header. Only one of credentials and credentialsFile is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerClientHeaderAuth {
    /// The scheme; absent means Bearer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The credentials in clear text; credentialsFile keeps them out of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<SecretText>,
    /// The path of a file with the credentials in the ruler's container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_file: Option<String>,
}

/// Name and password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertManagerClientBasicAuth {
    /// The name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// The password in clear text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<SecretText>,
}

/// Where recorded series are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteWriteSpec {
    /// Turns remote write on; it then needs a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// How often the ruler reads these settings again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "10s"))]
    pub refresh_period: Option<PrometheusDuration>,
    /// The receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<RemoteWriteClient>,
    /// The queue in front of the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<RemoteWriteQueue>,
}

/// The receiver of recorded series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteWriteClient {
    /// The name of this client in Loki's metrics and logs.
    pub name: String,
    /// The URL of the receiver.
    pub url: String,
    /// How long one request may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "30s"))]
    pub timeout: Option<PrometheusDuration>,
    /// How the ruler proves who it is; header is an old word for bearer.
    pub authorization: RemoteWriteAuthorization,
    /// The Secret with username and password (basic) or bearer_token (bearer).
    pub authorization_secret_name: String,
    /// Headers that are sent with every request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub additional_headers: Option<BTreeMap<String, String>>,
    /// Changes series before they are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub relabel_configs: Option<Vec<RelabelConfig>>,
    /// The URL of a proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_url: Option<String>,
    /// Follows redirects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub follow_redirects: Option<bool>,
}

/// How the ruler proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum RemoteWriteAuthorization {
    Basic,
    Bearer,
    Header,
}

/// The queue in front of the receiver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemoteWriteQueue {
    /// Samples that each shard holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 2500))]
    pub capacity: Option<i32>,
    /// The most shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 200))]
    pub max_shards: Option<i32>,
    /// The fewest shards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 200))]
    pub min_shards: Option<i32>,
    /// The most samples of one request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 500))]
    pub max_samples_per_send: Option<i32>,
    /// How long samples wait for a request to fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "5s"))]
    pub batch_send_deadline: Option<PrometheusDuration>,
    /// The first delay after a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "30ms"))]
    pub min_back_off_period: Option<PrometheusDuration>,
    /// The longest delay after failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "100ms"))]
    pub max_back_off_period: Option<PrometheusDuration>,
}

/// One step that changes or drops labelled things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelabelConfig {
    /// The labels whose values, joined by the separator, the regular expression is matched against.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub source_labels: Vec<String>,
    /// Stands between the joined values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ";"))]
    pub separator: Option<String>,
    /// The label that replace and hashmod write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_label: Option<String>,
    /// The regular expression, anchored at both ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "(.*)"))]
    pub regex: Option<String>,
    /// What hashmod divides by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub modulus: Option<i64>,
    /// The new value; $1 is the first group of the regular expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "$1"))]
    pub replacement: Option<String>,
    /// What happens on a match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "replace"))]
    pub action: Option<RelabelAction>,
}

/// What a relabelling step does on a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum RelabelAction {
    Drop,
    HashMod,
    Keep,
    LabelDrop,
    LabelKeep,
    LabelMap,
    Replace,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulerConfigStatus {
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict), Ready (the summary) and Rendered (whether the settings were written).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
