//! A stored object as a reconciler watches it: trimmed, and never an obstacle to the watch.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::LazyLock;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::Synced;
use crate::model::condition::Condition;
use crate::model::object::{LAST_APPLIED, Meta, Object};
use crate::review::admit::Undecodable;

/// What is kept of a stored object between two looks at it: its text. Decoded it would take half as much again, and it is
/// looked at only now and then.
#[derive(Debug, Clone)]
pub struct Watched<K> {
    /// Only what kube needs to find the object again; the rest is in the text, once.
    identity: ObjectMeta,
    text: Box<str>,
    kind: PhantomData<K>,
}

impl<K: Synced> Watched<K> {
    /// The object.
    pub fn decode(&self) -> Stored<K> {
        let value = serde_json::from_str(&self.text).expect("it was written by serde_json");
        Stored::new(&value, self.identity.generation)
    }
}

impl<'de, K: Synced> Deserialize<'de> for Watched<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let mut value = Value::deserialize(deserializer)?;
        let identity = ObjectMeta::deserialize(&value["metadata"]).map_err(D::Error::custom)?;
        let identity = ObjectMeta {
            name: identity.name,
            namespace: identity.namespace,
            // kube's watcher goes on from it: without it every event would be an error and a new list.
            resource_version: identity.resource_version,
            generation: identity.generation,
            ..ObjectMeta::default()
        };
        if let Some(object) = value.as_object_mut() {
            object.retain(|field, _| matches!(field.as_str(), "metadata" | "spec" | "status"));
        }
        if let Some(metadata) = value.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
        let annotations = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut);
        if let Some(annotations) = annotations {
            annotations.remove(LAST_APPLIED);
        }
        Ok(Self { identity, text: value.to_string().into(), kind: PhantomData })
    }
}

impl<K: Synced> Resource for Watched<K> {
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

/// A stored object. One that does not decode is kept as such, so that its user can be told.
#[derive(Debug, Clone)]
pub struct Stored<K: Synced> {
    generation: Option<i64>,
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
    fn new(value: &Value, generation: Option<i64>) -> Self {
        let object: Result<Object<K::Spec>, _> = serde_path_to_error::deserialize(value);
        let loose = match &object {
            Ok(_) => None,
            Err(_) => Meta::deserialize(&value["metadata"]).ok().map(Box::new),
        };
        let conditions = Vec::deserialize(&value["status"]["conditions"]).unwrap_or_default();
        let status = K::Status::deserialize(&value["status"]).unwrap_or_default();
        Self { generation, object: object.map_err(Undecodable::from), loose, conditions, status }
    }

    /// The generation that is judged.
    pub fn generation(&self) -> Option<i64> {
        self.generation
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

#[cfg(test)]
impl<K: Synced> From<Value> for Stored<K> {
    fn from(value: Value) -> Self {
        serde_json::from_value::<Watched<K>>(value).expect("an object").decode()
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
        let watched: Watched<Account> = serde_json::from_value(value).unwrap();
        assert_eq!(watched.meta().resource_version.as_deref(), Some("7"), "the watcher needs it");
        assert!(!watched.text.contains("managedFields") && !watched.text.contains("annotations"));
        let stored = watched.decode();
        assert_eq!((stored.generation(), stored.metadata().uid.as_str()), (Some(2), "u"));
        let broken = json!({"metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}, "spec": 5});
        let stored: Stored<Account> = broken.into();
        assert!(
            stored.object.is_err() && stored.metadata().uid == "u",
            "one bad object does not stall a watch"
        );
    }
}
