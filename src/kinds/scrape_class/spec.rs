//! The ScrapeClass resource: named scrape settings that monitors pick by name.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::selector::LabelSelector;

/// Scrape settings that an administrator offers to the authors of monitors.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "monitoring.coreos.com",
    version = "v1alpha1",
    kind = "ScrapeClass",
    plural = "scrapeclasses",
    status = "ScrapeClassStatus",
    shortname = "sclass",
    category = "prometheus-operator",
    doc = "ScrapeClass holds scrape settings, unsafe ones included, that monitors pick by name. Only cluster administrators should be able to write it: a class may name files inside the Prometheus container.",
    printcolumn(name = "Default", type_ = "boolean", json_path = ".spec.default"),
    printcolumn(name = "Workloads", type_ = "integer", json_path = ".status.workloads"),
    printcolumn(name = "Monitors", type_ = "integer", json_path = ".status.monitors"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeClassSpec {
    /// Applies to monitors that name no class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
    /// The Prometheus and PrometheusAgent objects that offer the class; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_selector: Option<LabelSelector>,
    /// The namespaces of those objects; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_namespace_selector: Option<LabelSelector>,
    /// The namespaces whose monitors may use the class; absent means all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_monitor_namespaces: Option<LabelSelector>,
    /// TLS settings of the scrape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls_config: Option<TlsConfig>,
    /// The Authorization header of the scrape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorization: Option<Authorization>,
    /// Target relabeling, applied before the monitor's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub relabelings: Option<Vec<RelabelConfig>>,
    /// Sample relabeling, applied before the monitor's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub metric_relabelings: Option<Vec<RelabelConfig>>,
    /// Metadata that is attached to discovered targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach_metadata: Option<AttachMetadata>,
    /// What a target is taken to speak when it does not say; needs Prometheus 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_scrape_protocol: Option<ScrapeProtocol>,
}

/// TLS settings: certificates by reference or by file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TlsConfig {
    /// The CA that the target's certificate is verified against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<SecretOrConfigMap>,
    /// The same as a file in the Prometheus container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
    /// The client certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert: Option<SecretOrConfigMap>,
    /// The same as a file in the Prometheus container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert_file: Option<String>,
    /// The client certificate's key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_secret: Option<KeySelector>,
    /// The same as a file in the Prometheus container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// The name that the target's certificate must be for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// Do not verify the target's certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insecure_skip_verify: Option<bool>,
    /// The lowest TLS version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_version: Option<TlsVersion>,
    /// The highest TLS version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_version: Option<TlsVersion>,
}

/// A value from a Secret or a ConfigMap in the workload's namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretOrConfigMap {
    /// From a Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<KeySelector>,
    /// From a ConfigMap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config_map: Option<KeySelector>,
}

/// A key of a Secret or a ConfigMap.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct KeySelector {
    /// The object's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    /// The key.
    pub key: String,
    /// The object or the key may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// A TLS version; the names sort in the order of the versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum TlsVersion {
    #[serde(rename = "TLS10")]
    Tls10,
    #[serde(rename = "TLS11")]
    Tls11,
    #[serde(rename = "TLS12")]
    Tls12,
    #[serde(rename = "TLS13")]
    Tls13,
}

/// The Authorization header.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Authorization {
    /// The scheme; absent means Bearer. Basic is not allowed here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The credentials, from a Secret in the workload's namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<KeySelector>,
    /// The same as a file in the Prometheus container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_file: Option<String>,
}

/// One relabeling step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RelabelConfig {
    /// The labels whose values are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub source_labels: Option<Vec<String>>,
    /// What they are joined with; absent means a semicolon, empty means nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<String>,
    /// The label that is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_label: Option<String>,
    /// What the joined value is matched against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// The divisor of hashmod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub modulus: Option<i64>,
    /// What is written; absent means the first group, empty means nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<String>,
    /// What the step does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Action>", extend("default" = "replace"))]
    pub action: Option<String>,
}

/// What a relabeling step does, in lower or camel case.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Action {
    #[serde(rename = "replace")]
    ReplaceLower,
    Replace,
    #[serde(rename = "keep")]
    KeepLower,
    Keep,
    #[serde(rename = "drop")]
    DropLower,
    Drop,
    #[serde(rename = "hashmod")]
    HashModLower,
    HashMod,
    #[serde(rename = "labelmap")]
    LabelMapLower,
    LabelMap,
    #[serde(rename = "labeldrop")]
    LabelDropLower,
    LabelDrop,
    #[serde(rename = "labelkeep")]
    LabelKeepLower,
    LabelKeep,
    #[serde(rename = "lowercase")]
    LowercaseLower,
    Lowercase,
    #[serde(rename = "uppercase")]
    UppercaseLower,
    Uppercase,
    #[serde(rename = "keepequal")]
    KeepEqualLower,
    KeepEqual,
    #[serde(rename = "dropequal")]
    DropEqualLower,
    DropEqual,
}

/// Metadata that is attached to discovered targets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachMetadata {
    /// Attach the node's metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<bool>,
}

/// A format in which a target offers its metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ScrapeProtocol {
    PrometheusProto,
    #[serde(rename = "OpenMetricsText0.0.1")]
    OpenMetricsText001,
    #[serde(rename = "OpenMetricsText1.0.0")]
    OpenMetricsText100,
    #[serde(rename = "PrometheusText0.0.4")]
    PrometheusText004,
    #[serde(rename = "PrometheusText1.0.0")]
    PrometheusText100,
}

/// What usher last saw.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeClassStatus {
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, Ready, Valid, DefaultConflict, Shadowed, Projected and InUse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
    /// Workloads that offer the class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workloads: Option<i32>,
    /// Monitors that use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitors: Option<i32>,
    /// Workloads for which it is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), extend("x-kubernetes-list-type" = "atomic"))]
    pub default_for: Option<Vec<WorkloadRef>>,
}

/// A Prometheus or PrometheusAgent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadRef {
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}
