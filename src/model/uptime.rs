//! What the kinds of uptimerobot.com share: durations, references by name, and parts of their status.
//!
//! No status field of this group is required: a partial status must be storable.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration in Go's syntax (90s, 2h30m, 1.5h), kept as it was written.
///
/// Equality is that of the text; whether 24h is 24h0m0s is asked of the parsed value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Duration(#[schemars(length(max = 64))] pub String);

/// A reference by name; an empty name means the default object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct LocalRef {
    /// The name; empty means the default object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253), extend("default" = ""))]
    pub name: Option<String>,
}

/// The Account that an object was synced with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SyncedAccount {
    /// The Account's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The Account's uid, by which a later one of the same name is told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// A Monitor that is listed but was left out of the last sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedMonitor {
    /// The Monitor's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
