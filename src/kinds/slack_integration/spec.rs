//! The SlackIntegration resource: its fields and limits (`crds/slackintegrations.yaml` is generated from
//! here).

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::condition::Condition;
use crate::model::secret_text::SecretText;
use crate::model::uptime::{Duration, LocalRef, SyncedAccount};

/// A Slack channel that UptimeRobot alerts.
#[derive(Debug, Clone, PartialEq, CustomResource, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "uptimerobot.com",
    version = "v1alpha1",
    kind = "SlackIntegration",
    plural = "slackintegrations",
    namespaced,
    status = "SlackIntegrationStatus",
    doc = "SlackIntegration is a Slack channel that UptimeRobot alerts.",
    printcolumn(name = "Ready", type_ = "boolean", json_path = ".status.ready"),
    printcolumn(name = "Type", type_ = "string", json_path = ".status.type"),
    printcolumn(name = "ID", type_ = "string", json_path = ".status.id"),
    printcolumn(name = "Friendly Name", type_ = "string", json_path = ".spec.integration.friendlyName"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct SlackIntegrationSpec {
    /// How often the integration is compared with UptimeRobot and repaired: a Go duration, at least 1m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "24h"))]
    pub sync_interval: Option<Duration>,
    /// Deletes the integration at UptimeRobot when this object is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub prune: Option<bool>,
    /// The Account; absent or without a name means the default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<LocalRef>,
    /// The integration.
    pub integration: SlackSettings,
}

/// The channel, and what it is told. Exactly one of webhookURL and secretName is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackSettings {
    /// The name at UptimeRobot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 60))]
    pub friendly_name: Option<String>,
    /// What the channel is told of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "UpAndDown"))]
    pub enable_notifications_for: Option<Notifications>,
    /// Reminds of certificates that expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssl_expiration_reminder: Option<bool>,
    /// The webhook in clear text; secretName keeps it out of the object.
    #[serde(rename = "webhookURL", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1500))]
    pub webhook_url: Option<SecretText>,
    /// The Secret of this namespace that holds the webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub secret_name: Option<String>,
    /// The key of the webhook in the Secret.
    #[serde(rename = "webhookURLKey", default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), extend("default" = "webhookURL"))]
    pub webhook_url_key: Option<String>,
    /// A text that is added to every message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 5000))]
    pub custom_value: Option<String>,
}

/// What a channel is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum Notifications {
    UpAndDown,
    Down,
    Up,
    #[serde(rename = "None")]
    Nothing,
}

/// What usher last saw and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SlackIntegrationStatus {
    /// Always equal to the condition Ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The id at UptimeRobot; a Contact can name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The type of the integration at UptimeRobot: Slack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// The Account that the integration belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<SyncedAccount>,
    /// The generation that the rest of the status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// Accepted (the guard's verdict), Ready (the summary), Synced, Error, Deleting and AccountChanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Option<Vec<Condition>>,
}
