//! The PrometheusRule resource as prometheus-operator defines it (0.93). usher judges it and does not own its CRD.

use std::collections::BTreeMap;

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Groups of rules for a Prometheus or a Thanos ruler.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "monitoring.coreos.com",
    version = "v1",
    kind = "PrometheusRule",
    plural = "prometheusrules",
    namespaced,
    doc = "PrometheusRule holds groups of alerting and recording rules."
)]
pub struct PrometheusRuleSpec {
    /// The groups; their names are unique within the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<RuleGroup>>,
}

/// Rules that are evaluated one after the other at the same interval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleGroup {
    /// The group's name.
    pub name: String,
    /// Labels of every rule's result; a rule's own labels win.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// How often the group is evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// How far in the past the group is evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_offset: Option<String>,
    /// The rules, in the order of their evaluation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Rule>>,
    /// What a Thanos ruler does with partial answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_response_strategy: Option<String>,
    /// The most alerts or series of one rule; 0 means any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// One alerting or recording rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rule {
    /// The name of the recorded metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// The alert's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<String>,
    /// The PromQL expression; a whole number may be written as such.
    pub expr: Expression,
    /// How long the expression must answer before the alert fires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#for: Option<String>,
    /// How long an alert goes on firing when the expression answers no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_firing_for: Option<String>,
    /// Labels that are added to the result, as Go templates for alerts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, Text>>,
    /// Texts for people, as Go templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, Text>>,
}

/// An expression: text, or a whole number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(extend("x-kubernetes-int-or-string" = true), transform = without_alternatives)]
pub enum Expression {
    /// PromQL.
    Text(String),
    /// A number, which is PromQL too.
    Number(i64),
}

/// The value of a label or an annotation. The CRD asks for a string; the mutating door makes one of numbers and
/// booleans first, for `severity: 1` is a common slip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Text(#[schemars(with = "String")] pub Value);

impl Text {
    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        self.0.as_str()
    }
}

/// Kubernetes' int-or-string has a mark of its own instead of alternatives.
fn without_alternatives(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.remove("type");
}
