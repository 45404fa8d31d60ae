//! What is trusted goes into usher's own webhook configurations, the two called `usher`, and nowhere else.

use base64::Engine as _;
use kube::api::{Patch, PatchParams};
use kube::core::DynamicObject;
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::names;

/// The two configurations.
pub const KINDS: [&str; 2] = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];

/// The configurations of one kind; only the one called `usher` is ever touched.
pub fn api(client: &Client, kind: &str) -> Api<DynamicObject> {
    let gvk = kube::core::GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
    Api::all_with(client.clone(), &kube::api::ApiResource::from_gvk(&gvk))
}

/// Does every entry carry this bundle?
pub fn carries(configuration: &DynamicObject, bundle: &str) -> bool {
    let wanted = encoded(bundle);
    entries(configuration).iter().all(|entry| entry["clientConfig"]["caBundle"] == wanted.as_str())
}

/// Makes every entry carry the bundle, if the configuration is still the one that was looked at.
///
/// # Errors
/// When the API server refuses or fails; a configuration that changed meanwhile is a conflict.
pub async fn publish(
    api: &Api<DynamicObject>,
    configuration: &DynamicObject,
    bundle: &str,
) -> Result<(), kube::Error> {
    let wanted = encoded(bundle);
    let version = configuration.metadata.resource_version.clone().unwrap_or_default();
    // Written, not tested: another version is then a conflict, as for any update.
    let mut operations =
        vec![json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version})];
    for (index, entry) in entries(configuration).iter().enumerate() {
        if entry["clientConfig"]["caBundle"] != wanted.as_str() {
            let path = format!("/webhooks/{index}/clientConfig/caBundle");
            operations.push(json!({"op": "add", "path": path, "value": wanted}));
        }
    }
    let patch: json_patch::Patch =
        serde_json::from_value(Value::Array(operations)).map_err(kube::Error::SerdeError)?;
    let params =
        PatchParams { field_manager: Some(names::FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    api.patch(names::USHER, &params, &Patch::<()>::Json(patch)).await.map(|_| ())
}

fn entries(configuration: &DynamicObject) -> &[Value] {
    configuration.data["webhooks"].as_array().map_or(&[], Vec::as_slice)
}

fn encoded(bundle: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(bundle)
}
