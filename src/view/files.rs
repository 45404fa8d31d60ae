//! Fills a View from files: the file set of `usher check`, the directory of `usher serve --standalone`.

use serde_json::{Value, json};

use super::{Standing, View};

/// Puts every object on its shelf.
///
/// What usher owns is complete in a file set. Other kinds usually live elsewhere: a file set without any Alertmanager
/// says nothing about Alertmanagers, so that shelf stays unknown.
///
/// Namespaced objects that name no namespace are put into `namespace`.
pub fn fill(view: &View, objects: Vec<Value>, namespace: &str) {
    for feed in view.feeds() {
        let resource = feed.resource();
        let api_version = resource.api_version();
        let mut own: Vec<Value> = objects
            .iter()
            .filter(|object| object["kind"] == resource.kind && object["apiVersion"] == api_version.as_str())
            .cloned()
            .collect();
        if resource.namespaced {
            for object in &mut own {
                put_into(object, namespace);
            }
        }
        let owned = crate::kinds::find(&api_version, resource.kind).is_some_and(|kind| !kind.is_guest);
        let standing = if owned || !own.is_empty() { Standing::Synced } else { Standing::Waiting };
        feed.replace(&mut own.into_iter(), standing);
    }
}

fn put_into(object: &mut Value, namespace: &str) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("namespace").is_none_or(|value| value.is_null() || value == "")
    {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
}

/// An object that is there already, although its file has no creation time: it is older than anything judged.
pub fn mark_as_existing(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("creationTimestamp").or_insert_with(|| json!("1970-01-01T00:00:00Z"));
    }
    object
}
