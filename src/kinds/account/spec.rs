//! The Account resource: an UptimeRobot account, known by its API key.

use jiff::Timestamp;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;

/// An UptimeRobot account that other objects are made in.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "Account",
    plural = "accounts",
    status = "AccountStatus",
    doc = "Account is an UptimeRobot account, known by its API key. At most one is the default.",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Default", type_ = "boolean", json_path = ".spec.isDefault"),
    printcolumn(name = "Email", type_ = "string", json_path = ".status.email"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct AccountSpec {
    /// Used by objects that name no Account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub is_default: Option<bool>,
    /// The API key, in a Secret of usher's cluster-resource namespace.
    pub api_key_secret_ref: SecretKeyRef,
}

/// A key of a Secret in the cluster-resource namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct SecretKeyRef {
    /// The Secret's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = ""))]
    pub name: Option<String>,
    /// The key.
    pub key: String,
    /// The Secret or its key may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<bool>,
}

/// What usher learned from UptimeRobot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountStatus {
    /// The key works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The account's mail address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The account's alert contacts; the middle of each value is masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub alert_contacts: Option<Vec<AlertContact>>,
    /// The account's plan, as UptimeRobot calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// Monitors that the account has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitors_count: Option<i32>,
    /// Monitors that the plan allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_limit: Option<i32>,
    /// What is left of the request budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// When usher last heard from UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_synced_time: Option<Timestamp>,
    /// Accepted, Ready and DefaultConflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// An alert contact of the account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlertContact {
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friendly_name: Option<String>,
    /// Email, SMS, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The address, its middle masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What is left of the request budget.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateLimit {
    /// Requests in a period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i32>,
    /// Requests that are left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<i32>,
    /// When the period ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_at: Option<Timestamp>,
}
