//! Takes usher's finalizers away, for when usher itself goes: nobody else would, and objects that hold one cannot be
//! deleted without it. `usher release` is the command, `usher silence release` the one for Silences only.

use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

use crate::kinds::KindInfo;
use crate::names;

/// Why objects cannot be freed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API server refused or failed.
    #[error(transparent)]
    Api(#[from] kube::Error),
    /// usher's own webhook has put the finalizer back.
    #[error("{kind} {name} got its finalizer back at once: remove usher's webhook configurations first")]
    PutBack {
        /// The kind.
        kind: &'static str,
        /// The object.
        name: String,
    },
}

/// An object that was freed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freed {
    /// Its kind.
    pub kind: &'static str,
    /// Its namespace; empty for cluster-scoped kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// The objects of a kind that hold a finalizer.
pub(super) async fn holding(
    client: &Client,
    kind: &KindInfo,
    finalizer: &str,
) -> Result<Vec<DynamicObject>, kube::Error> {
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &kind.api_resource());
    let mut list = match api.list(&ListParams::default()).await {
        Ok(list) => list.items,
        Err(kube::Error::Api(status)) if status.code == 404 => Vec::new(),
        Err(error) => return Err(error),
    };
    list.retain(|object| object.finalizers().iter().any(|held| held == finalizer));
    Ok(list)
}

/// Takes usher's finalizers off every object of these kinds.
///
/// # Errors
/// When the API server refuses or fails; what was freed before stays freed.
pub async fn release(client: &Client, kinds: &[&'static KindInfo]) -> Result<Vec<Freed>, Error> {
    let mut freed = Vec::new();
    for kind in kinds {
        let Some(finalizer) = kind.reconciler.as_ref().and_then(|reconciler| reconciler.finalizer) else {
            continue;
        };
        for object in holding(client, kind, finalizer).await? {
            let left = drop_finalizer(client, kind, &object, finalizer).await?;
            if left.is_some_and(|left| left.finalizers().iter().any(|held| held == finalizer)) {
                return Err(Error::PutBack { kind: kind.kind, name: object.name_any() });
            }
            freed.push(Freed {
                kind: kind.kind,
                namespace: object.namespace().unwrap_or_default(),
                name: object.name_any(),
            });
        }
    }
    Ok(freed)
}

/// Takes one finalizer off one object, if it is still as it was seen. Gives back what is left; an object that is gone is
/// free too.
///
/// # Errors
/// When the object changed meanwhile, or the API server refuses or fails.
pub async fn drop_finalizer(
    client: &Client,
    kind: &KindInfo,
    object: &DynamicObject,
    finalizer: &str,
) -> Result<Option<DynamicObject>, kube::Error> {
    let Some(index) = object.finalizers().iter().position(|held| held == finalizer) else { return Ok(None) };
    let path = format!("/metadata/finalizers/{index}");
    let operations = json!([
        {"op": "test", "path": "/metadata/uid", "value": object.uid()},
        {"op": "test", "path": path, "value": finalizer},
        {"op": "remove", "path": path},
    ]);
    match edit(client, kind, object, operations).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        other => other.map(Some),
    }
}

/// Puts a finalizer on one object, if it has none yet.
///
/// # Errors
/// When the object changed meanwhile, or the API server refuses or fails.
pub async fn add_finalizer(
    client: &Client,
    kind: &KindInfo,
    object: &DynamicObject,
    finalizer: &str,
) -> Result<(), kube::Error> {
    let version = object.resource_version();
    let mut patch = vec![json!({"op": "test", "path": "/metadata/resourceVersion", "value": version})];
    if object.metadata.finalizers.is_none() {
        patch.push(json!({"op": "add", "path": "/metadata/finalizers", "value": []}));
    }
    patch.push(json!({"op": "add", "path": "/metadata/finalizers/-", "value": finalizer}));
    edit(client, kind, object, Value::Array(patch)).await.map(|_| ())
}

async fn edit(
    client: &Client,
    kind: &KindInfo,
    object: &DynamicObject,
    patch: Value,
) -> Result<DynamicObject, kube::Error> {
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &kind.api_resource()),
        None => Api::all_with(client.clone(), &kind.api_resource()),
    };
    let patch: json_patch::Patch = serde_json::from_value(patch).map_err(kube::Error::SerdeError)?;
    let params =
        PatchParams { field_manager: Some(names::FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    api.patch(&object.name_any(), &params, &Patch::<()>::Json(patch)).await
}
