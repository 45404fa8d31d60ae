//! What a requester may do beyond what the rules allow: the API server is asked, in the requester's name.
//!
//! Only when nothing but such a rule stands in the way, and within a second: no answer means no.

use std::time::Duration;

use kube::Client;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cluster::send;
use crate::kinds::{KindInfo, Permission};
use crate::reconcile::Api;

const PATIENCE: Duration = Duration::from_secs(1);
const PATH: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// Asks the API server.
#[derive(Debug, Clone)]
pub struct Permissions(Api);

/// The part of a review that says who asks.
#[derive(Deserialize)]
struct Review {
    request: Asked,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    user_info: UserInfo,
}

#[derive(Deserialize)]
struct UserInfo {
    #[serde(default)]
    username: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    extra: Value,
}

impl Permissions {
    /// Asks with this client.
    pub fn new(client: Client) -> Self {
        Self(Api(client))
    }

    /// May the requester of a review use a permission, in all namespaces?
    pub async fn allow(&self, kind: &KindInfo, permission: Permission, body: &[u8]) -> bool {
        let Ok(Review { request: Asked { user_info } }) = serde_json::from_slice(body) else { return false };
        let mut review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user_info.username,
                "uid": user_info.uid,
                "groups": user_info.groups,
                // No namespace: a right on one's own namespace must not count.
                "resourceAttributes": {"group": kind.group, "resource": kind.plural, "verb": permission.verb},
            }
        });
        if user_info.extra.is_object() {
            review["spec"]["extra"] = user_info.extra;
        }
        let asking = send(&self.0.0, "POST", PATH, Some(&review));
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(answer)) => answer["status"]["allowed"] == true,
            Ok(Err(error)) => {
                tracing::warn!(%error, verb = permission.verb, "what a requester may do cannot be told");
                false
            }
            Err(_) => {
                tracing::warn!(verb = permission.verb, "what a requester may do was not answered in time");
                false
            }
        }
    }
}
