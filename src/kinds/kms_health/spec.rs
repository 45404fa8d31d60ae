//! The KMSHealth resource: its fields and limits (`crds/kmshealths.yaml` is generated from here).
//!
//! Reporters write one condition each into the status; the aggregator owns the rest of it.

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::selector::LabelSelector;

/// The form of a key's local id, which is part of a socket's name.
const KEY_ID: &str = r"^[A-Za-z0-9._-]+$";

/// The form of a node's name, and so of a reporter's id.
const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/// The form of a namespace's name.
const LABEL: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";

/// The form of `<resource>.<group>/<version>/<name>`.
const TARGET: &str = concat!(
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+",
    r"/[a-z]([-a-z0-9]*[a-z0-9])?",
    r"/[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
);

/// The form of a Go duration; both signs for micro are Go's.
const GO_DURATION: &str = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|\x{b5}s|\x{3bc}s|ms|s|m|h))+)$";

/// Settings of the aggregator for one group of API servers.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "usher.dev",
    version = "v1alpha1",
    kind = "KMSHealth",
    plural = "kmshealths",
    status = "KMSHealthStatus",
    doc = "KMSHealth shows whether the KMS plugins of some API servers are healthy and agree on the key.",
    printcolumn(name = "Mode", type_ = "string", json_path = ".spec.mode"),
    printcolumn(
        name = "Degraded",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"KMSPluginsDegraded\")].status"
    ),
    printcolumn(
        name = "Converged",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"KMSKeysConverged\")].status"
    ),
    printcolumn(name = "Nodes", type_ = "string", json_path = ".status.nodesFresh"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct KMSHealthSpec {
    /// The object that carries the reports, `<resource>.<group>/<version>/<name>`; absent means this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 635), regex(pattern = TARGET))]
    pub target: Option<String>,
    /// Whether reports are taken and judged; Auto follows OpenShift's encryption setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Enabled"))]
    pub mode: Option<Mode>,
    /// The seconds between two probes, as the reporters were told; a report is stale after four times that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5, max = 600), extend("default" = 30))]
    pub probe_interval_seconds: Option<i32>,
    /// Which reporters are expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = {"type": "Nodes"}))]
    pub reporter_source: Option<ReporterSource>,
    /// The accounts that may report; absent means the one that `usher manifests` prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 256), extend("x-kubernetes-list-type" = "atomic"))]
    pub reporters: Option<Vec<Reporter>>,
    /// The id of the key that encrypts; absent means the largest one that is reported.
    #[serde(rename = "writeKeyID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512), regex(pattern = KEY_ID))]
    pub write_key_id: Option<String>,
    /// How long all reporters must agree before KMSKeysConverged is True: a Go duration, at least 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64), regex(pattern = GO_DURATION), extend("default" = "5m"))]
    pub convergence_hold: Option<String>,
    /// Resources, `<resource>.<group>` or `<resource>`, whose storage migration waits for KMSKeysConverged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 256),
        inner(length(min = 1, max = 317), regex(pattern = SUBDOMAIN)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub gate_resources: Option<Vec<String>>,
}

/// Whether reports are taken and judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Mode {
    Enabled,
    Disabled,
    Auto,
}

/// Which reporters are expected: the block that type names, and no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReporterSource {
    /// Nodes, Pods, Static (a list), or Observed: whoever reported.
    pub r#type: ReporterSourceType,
    /// With Nodes: one reporter on each of these nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodesSource>,
    /// With Pods: one reporter in each of these pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodsSource>,
    /// With Static: these reporters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#static: Option<StaticSource>,
}

/// Where the expected reporters are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ReporterSourceType {
    Nodes,
    Pods,
    Static,
    Observed,
}

/// One reporter on each node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodesSource {
    /// The nodes; absent means those of the control plane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend(
        "default" = {
            "matchExpressions": [{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}]
        }
    ))]
    pub selector: Option<LabelSelector>,
}

/// One reporter in each pod, whose name is the reporter's id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodsSource {
    /// The namespace of the pods.
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL))]
    pub namespace: String,
    /// The pods.
    pub selector: LabelSelector,
}

/// A list of reporters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaticSource {
    /// The ids of the reporters.
    #[schemars(
        length(max = 256),
        inner(length(min = 1, max = 253), regex(pattern = SUBDOMAIN)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub ids: Vec<String>,
}

/// An account that may report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reporter {
    /// The service account.
    pub service_account: ServiceAccount,
    /// The one reporter of an account whose token names no node; absent with tokens that are bound to a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub id: Option<String>,
}

/// A service account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServiceAccount {
    /// Its namespace.
    #[schemars(length(min = 1, max = 63), regex(pattern = LABEL))]
    pub namespace: String,
    /// Its name.
    #[schemars(length(min = 1, max = 253), regex(pattern = SUBDOMAIN))]
    pub name: String,
}

/// What the reporters say and what the aggregator makes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KMSHealthStatus {
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted, Ready, KMSPluginsDegraded, KMSKeysConverged, and each reporter's `KMSHealthReporter_<id>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
    /// The reporters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["id"]))]
    pub nodes: Option<Vec<NodeHealth>>,
    /// How many of the expected reporters are fresh, `<fresh>/<expected>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_fresh: Option<String>,
    /// The keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["keyID"]))]
    pub keys: Option<Vec<KeyAgreement>>,
}

/// One reporter and its plugins. It holds no time that moves with each report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeHealth {
    /// The reporter's id, the node's name unless it was told otherwise.
    #[schemars(length(min = 1, max = 253))]
    pub id: String,
    /// The state of its reports.
    pub state: ReporterState,
    /// Plugins that are healthy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub healthy: Option<i32>,
    /// Plugins that are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub total: Option<i32>,
    /// Since when it has been in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// The state of a reporter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ReporterState {
    Fresh,
    Stale,
    Malformed,
    Missing,
    Pending,
    Orphan,
}

/// Whether the reporters agree on one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyAgreement {
    /// The local id of the key.
    #[serde(rename = "keyID")]
    #[schemars(length(min = 1, max = 512))]
    pub key_id: String,
    /// The id of the remote key, when all reporters say the same.
    #[serde(rename = "kekID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub kek_id: Option<String>,
    /// How many different remote keys are reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub distinct: Option<i32>,
    /// Since when all reporters have said the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub converged_since: Option<Timestamp>,
    /// The id of the remote key before this one.
    #[serde(rename = "previousKEKID", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub previous_kek_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn the_patterns_take_what_they_should() {
        let cases: [(&str, &[&str], &[&str]); 4] = [
            (
                TARGET,
                &["kmshealths.usher.dev/v1alpha1/cluster", "kubeapiservers.operator.openshift.io/v1/cluster"],
                &["kmshealths/v1alpha1/cluster", "kmshealths.usher.dev/v1alpha1", "a.b/v1/c/d", "A.b/v1/c"],
            ),
            (
                SUBDOMAIN,
                &["secrets", "widgets.example.com", "node-1.eu"],
                &["", "Secrets", ".com", "a..b", "a/b"],
            ),
            (KEY_ID, &["1", "key_2.b-c"], &["", "a/b", "a b", "ü"]),
            (
                GO_DURATION,
                &["5m", "1h30m", "1.5h", ".5m", "90s", "0", "1µs", "1μs"],
                &["", "5", "5 m", "1d", "m"],
            ),
        ];
        for (pattern, good, bad) in cases {
            let regex = Regex::new(pattern).unwrap();
            assert!(good.iter().all(|text| regex.is_match(text)), "{pattern} takes {good:?}");
            assert!(!bad.iter().any(|text| regex.is_match(text)), "{pattern} refuses {bad:?}");
        }
    }
}
