//! The Contact resource: somebody whom UptimeRobot alerts.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::uptime::LocalRef;

/// An alert contact or integration of an UptimeRobot account.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "Contact",
    plural = "contacts",
    status = "ContactStatus",
    doc = "Contact is somebody whom UptimeRobot alerts, found by id or by name. At most one is the default.",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Default", type_ = "boolean", json_path = ".spec.isDefault"),
    printcolumn(name = "Friendly Name", type_ = "string", json_path = ".spec.contact.name"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct ContactSpec {
    /// Used by Monitors that name no Contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub is_default: Option<bool>,
    /// The Account that the contact belongs to; absent means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<LocalRef>,
    /// Which contact it is.
    pub contact: ContactIdentity,
}

impl ContactSpec {
    /// The name of the Account; empty means the default one.
    pub fn account_name(&self) -> &str {
        self.account.as_ref().and_then(|account| account.name.as_deref()).unwrap_or_default()
    }
}

/// A contact by id or by name; exactly one is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContactIdentity {
    /// The contact's id at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub id: Option<String>,
    /// The contact's friendly name at UptimeRobot, exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub name: Option<String>,
}

/// What usher learned from UptimeRobot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactStatus {
    /// The contact was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_from: Option<ResolvedFrom>,
    /// The Account it was found in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Accepted, Ready and DefaultConflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// Where a contact was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ResolvedFrom {
    AlertContact,
    Integration,
}
