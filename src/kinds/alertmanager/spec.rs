//! The part of prometheus-operator's Alertmanager that decides about Silences. All other fields are kept as they are.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::selector::LabelSelector;

/// What decides how an Alertmanager treats Silences.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "monitoring.coreos.com",
    version = "v1",
    kind = "Alertmanager",
    plural = "alertmanagers",
    namespaced,
    doc = "Alertmanager is an Alertmanager that prometheus-operator runs."
)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct AlertmanagerSpec {
    /// Absent selects nothing.
    pub silence_selector: Option<LabelSelector>,
    /// Absent selects the Alertmanager's own namespace.
    pub silence_namespace_selector: Option<LabelSelector>,
    /// May only tighten the strategy.
    pub namespace_injection: Option<bool>,
    /// Who gets the namespace matcher.
    pub alertmanager_config_matcher_strategy: MatcherStrategy,
    /// `v0.34.0`.
    pub version: String,
    /// The image, whose tag tells the version when `version` does not.
    pub image: String,
    /// `classic-mode`, `utf8-strict-mode`, …
    pub enable_features: Vec<String>,
    /// No port is open to others.
    pub listen_local: bool,
    /// Command line arguments.
    pub additional_args: Vec<Argument>,
    /// The number of instances; absent means one.
    pub replicas: Option<i32>,
    /// The name of the container port; absent means `web`.
    pub port_name: Option<String>,
    /// The governing service; absent means `alertmanager-operated`.
    pub service_name: Option<String>,
    /// Where the API begins; absent means `/`.
    pub route_prefix: Option<String>,
    /// Its web server.
    pub web: Option<Web>,
    /// How long ended silences are kept, as a Go duration; absent means 120h.
    pub retention: Option<String>,
    /// How often members exchange everything; absent means 60s.
    pub cluster_pushpull_interval: Option<String>,
    /// Limits that usher warns of.
    pub limits: Option<Limits>,
}

impl AlertmanagerSpec {
    /// How many instances there should be.
    pub fn instances(&self) -> usize {
        usize::try_from(self.replicas.unwrap_or(1)).unwrap_or_default()
    }
}

/// The web server of an Alertmanager.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Web {
    /// With it, https is spoken.
    pub tls_config: Option<WebTls>,
}

/// The TLS side of that web server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct WebTls {
    /// Where the certificate is, when it is in an object.
    pub cert: Option<SecretOrConfigMap>,
    /// `RequireAndVerifyClientCert`, …
    pub client_auth_type: Option<String>,
}

/// A key of a Secret or of a ConfigMap.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct SecretOrConfigMap {
    /// In a Secret.
    pub secret: Option<KeyOf>,
    /// In a ConfigMap.
    pub config_map: Option<KeyOf>,
}

/// A key of an object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct KeyOf {
    /// The object.
    pub name: String,
    /// The key.
    pub key: String,
}

/// Limits of an Alertmanager.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Limits {
    /// Counts ended silences too, whatever the field's text says.
    pub max_silences: Option<i64>,
    /// Becomes a flag that no Alertmanager has.
    pub max_per_silence_bytes: Option<serde_json::Value>,
}

/// Who gets the namespace matcher.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct MatcherStrategy {
    /// `OnNamespace`, `OnNamespaceExceptForAlertmanagerNamespace` or `None`.
    pub r#type: String,
}

/// A command line argument.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct Argument {
    /// Without the dashes.
    pub name: String,
    /// Empty for switches.
    pub value: String,
}
