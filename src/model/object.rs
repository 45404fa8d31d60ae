//! The parts of a Kubernetes object that rules read.
//!
//! `metadata` is decoded into the few fields that decide something; `managedFields`, the largest part of a stored
//! object, is skipped. Nothing here is written back: mutation is a list of edits against the raw object.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

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
    /// Empty until the object is stored; the View does not keep it.
    pub resource_version: String,
    /// Who keeps the object from going; `None` and empty are different for a patch. The View does not keep them.
    pub finalizers: Option<Vec<String>>,
    /// `None` and empty are different for a patch that wants to add one.
    pub labels: Option<BTreeMap<String, String>>,
    /// As the labels; kubectl's copy of the whole object is left out.
    #[serde(deserialize_with = "annotations")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// Empty in the mutating call of a CREATE and in files.
    pub creation_timestamp: Option<Timestamp>,
    /// Set when the object is being deleted.
    pub deletion_timestamp: Option<Timestamp>,
}

/// kubectl's copy of the whole object: no rule reads it, and it doubles what is decoded and kept.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Reads annotations and skips [`LAST_APPLIED`].
fn annotations<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, String>>, D::Error> {
    struct Annotations;

    impl<'de> Visitor<'de> for Annotations {
        type Value = Option<BTreeMap<String, String>>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a map of strings")
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut annotations = BTreeMap::new();
            while let Some(key) = map.next_key::<String>()? {
                if key == LAST_APPLIED {
                    map.next_value::<IgnoredAny>()?;
                } else {
                    annotations.insert(key, map.next_value()?);
                }
            }
            Ok(Some(annotations))
        }
    }

    deserializer.deserialize_any(Annotations)
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

    /// Does this object stand before another one where only one can be? An object that is being deleted never does, a
    /// stored one does. Files have no creation time: there the lowest name does.
    pub fn stands_before(&self, other: &Self) -> bool {
        let first =
            self.creation_timestamp.is_some() || other.creation_timestamp.is_none() && self.name < other.name;
        self.name != other.name && !self.is_terminating() && first
    }

    /// Of two stored objects where only one can be: is this one it? The oldest is, then the one with the lowest name.
    pub fn is_elder_of(&self, other: &Self) -> bool {
        self.name != other.name
            && !self.is_terminating()
            && (self.creation_timestamp, &self.name) < (other.creation_timestamp, &other.name)
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
