//! The webhook configurations, derived from the table.
//!
//! DELETE is always an entry of its own with failurePolicy Ignore: a dead usher must not hold up a namespace. Entries
//! for CREATE and UPDATE leave out objects that are being deleted, so that finalizers can always be removed.

use serde_json::{Value, json};

use super::Certificates;
use crate::kinds::{Admission, FailurePolicy, KindInfo, TABLE};
use crate::names;
use crate::review::door::{Phase, path};

/// How the API server reaches usher.
#[derive(Debug, Clone)]
pub enum Target {
    /// The Service in usher's namespace.
    Service {
        /// The namespace.
        namespace: String,
    },
    /// A URL, for demos and tests.
    Url {
        /// `https://127.0.0.1:8443`
        base: String,
    },
}

/// Both configurations. With cert-manager they say where their CA comes from.
pub fn configurations(target: &Target, ca_bundle: Option<&str>, certificates: Certificates) -> Vec<Value> {
    let mut validating = Vec::new();
    let mut mutating = Vec::new();
    for kind in TABLE {
        let Some(admission) = &kind.admission else { continue };
        let client = |phase| client_config(target, ca_bundle, &path(phase, kind));
        if admission.mutate.is_some() {
            let policy = match admission.mutate_failure {
                FailurePolicy::Fail => "Fail",
                FailurePolicy::Ignore => "Ignore",
            };
            let mut entry =
                entry(kind, admission, "mutate", &["CREATE", "UPDATE"], policy, client(Phase::Mutate));
            entry["reinvocationPolicy"] = json!("IfNeeded");
            mutating.push(entry);
        }
        // Guests must not stop when usher does.
        let policy = if kind.is_guest { "Ignore" } else { "Fail" };
        let client_config = client(Phase::Validate);
        validating.push(entry(kind, admission, "validate", &["CREATE", "UPDATE"], policy, client_config));
        if admission.sees_delete {
            let mut entry = entry(kind, admission, "delete", &["DELETE"], "Ignore", client(Phase::Validate));
            entry["timeoutSeconds"] = json!(3);
            validating.push(entry);
        }
    }
    let configuration = |kind: &str, webhooks: Vec<Value>| {
        let mut metadata = json!({"name": names::USHER, "labels": super::labels()});
        if let (Target::Service { namespace }, Certificates::CertManager) = (target, certificates) {
            metadata["annotations"] = super::certs::injection(namespace);
        }
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": metadata,
            "webhooks": webhooks
        })
    };
    vec![
        configuration("ValidatingWebhookConfiguration", validating),
        configuration("MutatingWebhookConfiguration", mutating),
    ]
}

fn entry(
    kind: &KindInfo,
    admission: &Admission,
    name: &str,
    operations: &[&str],
    policy: &str,
    client: Value,
) -> Value {
    let mut entry = json!({
        "name": format!("{name}.{}.usher.dev", kind.route()),
        "admissionReviewVersions": ["v1"],
        "clientConfig": client,
        "failurePolicy": policy,
        "matchPolicy": "Equivalent",
        // Claims are taken by the validating webhook, for what may be stored.
        "sideEffects": if admission.claims && name == "validate" { "NoneOnDryRun" } else { "None" },
        "timeoutSeconds": admission.timeout_seconds,
        "rules": [{
            "apiGroups": [kind.group],
            "apiVersions": kind.versions,
            "operations": operations,
            "resources": [kind.plural],
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" }
        }]
    });
    if !operations.contains(&"DELETE") {
        entry["matchConditions"] = json!([{
            "name": "not-terminating",
            "expression": "!has(object.metadata.deletionTimestamp)"
        }]);
    }
    entry
}

fn client_config(target: &Target, ca_bundle: Option<&str>, path: &str) -> Value {
    let mut client = match target {
        Target::Service { namespace } => {
            json!({"service": {"name": names::USHER, "namespace": namespace, "path": path, "port": 443}})
        }
        Target::Url { base } => json!({"url": format!("{}{path}", base.trim_end_matches('/'))}),
    };
    if let Some(bundle) = ca_bundle {
        client["caBundle"] = json!(bundle);
    }
    client
}
