//! A stored object as a reconciler watches it: decoded once, trimmed, and never an obstacle to the watch.

use std::borrow::Cow;
use std::sync::LazyLock;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Synced;
use crate::model::condition::Condition;
use crate::model::object::{Meta, Object};
use crate::review::admit::Undecodable;

/// What is kept of a stored object. One that does not decode is kept as such, so that its user can be told.
#[derive(Debug, Clone)]
pub struct Stored<K: Synced> {
    /// Only what kube needs to find the object again; the rest is in `object`, once.
    identity: ObjectMeta,
    /// The object that rules judge.
    pub object: Result<Object<K::Spec>, Undecodable>,
    /// The metadata of an object that does not decode.
    loose: Option<Box<Meta>>,
    /// The conditions as stored.
    pub conditions: Vec<Condition>,
    /// The rest of the status as stored; empty when it does not decode.
    pub status: K::Status,
}

impl<K: Synced> Stored<K> {
    /// The generation that is judged.
    pub fn generation(&self) -> Option<i64> {
        self.identity.generation
    }

    /// The metadata, of whichever form.
    pub fn metadata(&self) -> &Meta {
        static NOTHING: LazyLock<Meta> = LazyLock::new(Meta::default);
        match (&self.object, &self.loose) {
            (Ok(object), _) => &object.metadata,
            (Err(_), Some(loose)) => loose,
            (Err(_), None) => &NOTHING,
        }
    }
}

impl<'de, K: Synced> Deserialize<'de> for Stored<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let value = Value::deserialize(deserializer)?;
        let identity = ObjectMeta::deserialize(&value["metadata"]).map_err(D::Error::custom)?;
        let identity = ObjectMeta {
            name: identity.name,
            namespace: identity.namespace,
            // kube's watcher goes on from it: without it every event would be an error and a new list.
            resource_version: identity.resource_version,
            generation: identity.generation,
            ..ObjectMeta::default()
        };
        let object: Result<Object<K::Spec>, _> = serde_path_to_error::deserialize(&value);
        let loose = match &object {
            Ok(_) => None,
            Err(_) => Meta::deserialize(&value["metadata"]).ok().map(Box::new),
        };
        let conditions = serde_json::from_value(value["status"]["conditions"].clone()).unwrap_or_default();
        let status = K::Status::deserialize(&value["status"]).unwrap_or_default();
        Ok(Self { identity, object: object.map_err(Undecodable::from), loose, conditions, status })
    }
}

impl<K: Synced> Resource for Stored<K> {
    type DynamicType = ();
    type Scope = kube::core::DynamicResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::INFO.kind.into()
    }

    fn group((): &()) -> Cow<'_, str> {
        K::INFO.group.into()
    }

    fn version((): &()) -> Cow<'_, str> {
        K::INFO.storage_version().into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::INFO.plural.into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.identity
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.identity
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::account::Account;

    #[test]
    fn what_kube_and_the_guard_need_is_kept() {
        let value = json!({
            "metadata": {"name": "a", "uid": "u", "resourceVersion": "7", "generation": 2, "managedFields": [{}]},
            "spec": {"apiKeySecretRef": {"name": "s", "key": "k"}}
        });
        let stored: Stored<Account> = serde_json::from_value(value).unwrap();
        assert_eq!(stored.meta().resource_version.as_deref(), Some("7"), "the watcher needs it");
        assert_eq!((stored.generation(), stored.metadata().uid.as_str()), (Some(2), "u"));
        let broken = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "spec": 5});
        let stored: Stored<Account> = serde_json::from_value(broken).unwrap();
        assert!(
            stored.object.is_err() && stored.metadata().uid == "u",
            "one bad object does not stall a watch"
        );
    }
}
