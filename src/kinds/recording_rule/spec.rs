//! The RecordingRule resource: its fields and limits (`crds/recordingrules.yaml` is generated from here).
//!
//! Field names are those of the Loki operator's `v1`. Names and expressions are judged by rules, with
//! positions and reasons; the schema holds forms and bounds of single fields only.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::loki::PrometheusDuration;

/// Recording rules of one Loki tenant.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "loki.grafana.com",
    version = "v1",
    kind = "RecordingRule",
    plural = "recordingrules",
    namespaced,
    status = "RecordingRuleStatus",
    doc = "RecordingRule holds groups of recording rules that a Loki ruler evaluates for one tenant."
)]
#[serde(rename_all = "camelCase")]
pub struct RecordingRuleSpec {
    /// The tenant whose logs the rules read.
    #[serde(rename = "tenantID")]
    #[schemars(length(min = 1, max = 150))]
    pub tenant_id: String,
    /// The groups; their names are unique within the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub groups: Option<Vec<RecordingRuleGroup>>,
}

/// Rules that are evaluated one after the other at the same interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordingRuleGroup {
    /// The group's name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// How often the group is evaluated; 0 means at the ruler's own interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "1m"))]
    pub interval: Option<PrometheusDuration>,
    /// The most series that one rule may record; 0 means any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("default" = 0))]
    pub limit: Option<i32>,
    /// The rules, in the order of their evaluation.
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub rules: Vec<RecordingRuleGroupRule>,
}

/// One recording rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordingRuleGroupRule {
    /// The name of the recorded metric. The ruler demands one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The LogQL metric query whose answer is recorded.
    pub expr: String,
    /// Labels that are added to the recorded series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordingRuleStatus {
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict), Ready (the summary) and Synced (whether the targets have the rules).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
