//! The parts of a Kubernetes object that rules read.
//!
//! `metadata` is decoded into the few fields that decide something; `managedFields`, the largest part of a stored
//! object, is skipped. Nothing here is written back: mutation is a list of edits against the raw object.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What rules know of `metadata`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// Empty in the mutating call of a CREATE with `generateName`.
    pub name: String,
    /// The prefix of a name that the API server will make.
    pub generate_name: String,
    /// Empty on cluster-scoped objects.
    pub namespace: String,
    /// Empty until the API server has set it.
    pub uid: String,
    /// Changes with every write.
    pub resource_version: String,
    /// `None` and empty are different for a patch that wants to add one.
    pub labels: Option<BTreeMap<String, String>>,
    /// As the labels.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Empty in the mutating call of a CREATE and in files.
    pub creation_timestamp: Option<Timestamp>,
    /// Set when the object is being deleted.
    pub deletion_timestamp: Option<Timestamp>,
}

impl Meta {
    /// The value of an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(String::as_str)
    }

    /// Is the object being deleted? Such objects are never blocked.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// The name to show: the final one, or the prefix of one.
    pub fn shown_name(&self) -> &str {
        if self.name.is_empty() { &self.generate_name } else { &self.name }
    }
}

/// A decoded object: its metadata, its spec and, where the reader wants it, its status.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de>, T: Deserialize<'de>"))]
pub struct Object<S, T = IgnoredAny> {
    /// `metadata`.
    #[serde(default)]
    pub metadata: Meta,
    /// `spec`.
    pub spec: S,
    /// `status`; absent until somebody wrote it.
    #[serde(default = "no_status")]
    pub status: Option<T>,
}

fn no_status<T>() -> Option<T> {
    None
}
