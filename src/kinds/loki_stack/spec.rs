//! The part of the Loki operator's LokiStack that decides about rules. All other fields are kept as they are.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::selector::LabelSelector;

/// Which rules the ruler of a Loki evaluates, and for which tenants.
#[derive(Debug, Clone, Default, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "loki.grafana.com",
    version = "v1",
    kind = "LokiStack",
    plural = "lokistacks",
    namespaced,
    status = "LokiStackStatus",
    doc = "LokiStack is a Loki that the Loki operator runs."
)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct LokiStackSpec {
    /// The rules that are evaluated; absent means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<StackRules>,
    /// The tenants; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<StackTenants>,
}

/// Which rules a LokiStack selects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct StackRules {
    /// Is there a ruler at all?
    pub enabled: bool,
    /// Absent selects nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// Absent selects the stack's own namespace, which is always among the selected ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
}

/// The tenants of a LokiStack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct StackTenants {
    /// `static`, `dynamic`, `openshift-logging` or `openshift-network`.
    #[serde(default)]
    pub mode: String,
    /// The tenants of the first two modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Vec<StackTenant>>,
}

/// A tenant of a LokiStack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct StackTenant {
    /// The tenant.
    pub tenant_name: String,
}

/// What the Loki operator tells; usher reads none of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-preserve-unknown-fields" = true))]
pub struct LokiStackStatus {}
