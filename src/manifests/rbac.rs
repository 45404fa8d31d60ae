//! usher's rights, and roles for its users.
//!
//! Least privilege: each verb here is used, and a test runs usher with exactly these. What is read in the whole cluster is
//! what the View watches; Secrets are read in the cluster-resource namespace only. No user role holds a status, and none is
//! aggregated into `view`, `edit` or `admin`: with an Alertmanager that does not enforce namespaces, whoever may edit
//! anything in any namespace could mute everybody.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Certificates, Install, labels};
use crate::certs::bundle;
use crate::kinds::{KindInfo, TABLE, owned};
use crate::names;
use crate::view::View;

/// Service account, roles and bindings of usher, and the roles of its users.
pub fn documents(install: &Install) -> Vec<Value> {
    let mut documents = vec![
        json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": names::USHER, "namespace": install.namespace, "labels": labels()}
        }),
        role("ClusterRole", names::USHER, None, cluster_rules(install)),
        binding("ClusterRoleBinding", "ClusterRole", names::USHER, None, install),
        role("Role", names::USHER, Some(&install.namespace), own_rules(install)),
        binding("RoleBinding", "Role", names::USHER, Some(&install.namespace), install),
    ];
    // The keys of Accounts may live elsewhere, so they have a role of their own.
    let keys = Some(install.cluster_resource_namespace.as_str());
    let read = vec![json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["list", "watch"]})];
    documents.push(role("Role", "usher-account-keys", keys, read));
    documents.push(binding("RoleBinding", "Role", "usher-account-keys", keys, install));
    documents.extend(owned().flat_map(user_roles));
    documents.push(role(
        "ClusterRole",
        "usher-silence-all",
        None,
        vec![json!({"apiGroups": ["monitoring.coreos.com"], "resources": ["silences"], "verbs": ["silence-all"]})],
    ));
    documents
}

/// What usher may do in the whole cluster.
fn cluster_rules(install: &Install) -> Vec<Value> {
    let mut rules: Vec<Value> = read_rules();
    for kind in TABLE {
        let Some(reconciler) = &kind.reconciler else { continue };
        let claims = kind.admission.as_ref().is_some_and(|admission| admission.claims);
        let mut verbs = Vec::new();
        if claims || reconciler.finalizer.is_some() {
            verbs.push("get");
        }
        if reconciler.finalizer.is_some() {
            verbs.push("patch");
        }
        if !verbs.is_empty() {
            rules.push(json!({"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs}));
        }
        let status = format!("{}/status", kind.plural);
        rules.push(json!({"apiGroups": [kind.group], "resources": [status], "verbs": ["patch"]}));
    }
    rules.push(json!({
        "apiGroups": ["apiextensions.k8s.io"],
        "resources": ["customresourcedefinitions"],
        "verbs": ["get", "list", "watch"]
    }));
    rules
        .push(json!({"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]}));
    // May this requester silence everything?
    rules.push(json!({
        "apiGroups": ["authorization.k8s.io"],
        "resources": ["subjectaccessreviews"],
        "verbs": ["create"]
    }));
    if install.certificates == Certificates::Own {
        let resources = bundle::KINDS.map(|kind| format!("{}s", kind.to_lowercase()));
        rules.push(json!({
            "apiGroups": ["admissionregistration.k8s.io"],
            "resources": resources,
            "resourceNames": [names::USHER],
            "verbs": ["list", "watch", "patch"]
        }));
    }
    rules
}

/// What the View and the reconcilers watch, group by group.
fn read_rules() -> Vec<Value> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for feed in View::default().feeds() {
        let resource = feed.resource();
        // Never in the whole cluster.
        if resource.kind != "Secret" {
            groups.entry(resource.group).or_default().push(resource.plural);
        }
    }
    for kind in TABLE.iter().filter(|kind| kind.reconciler.is_some()) {
        let known = groups.entry(kind.group).or_default();
        if !known.contains(&kind.plural) {
            known.push(kind.plural);
        }
    }
    let rule = |(group, resources): (&str, Vec<&str>)| json!({"apiGroups": [group], "resources": resources, "verbs": ["list", "watch"]});
    groups.into_iter().map(rule).collect()
}

/// What usher may do in its own namespace.
fn own_rules(install: &Install) -> Vec<Value> {
    let mut rules = vec![json!({
        "apiGroups": ["coordination.k8s.io"],
        "resources": ["leases"],
        "verbs": ["get", "create", "update"]
    })];
    if install.certificates == Certificates::Own {
        // A name cannot be demanded of what is only being created.
        rules.push(json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["create"]}));
        rules.push(json!({
            "apiGroups": [""],
            "resources": ["secrets"],
            "resourceNames": [names::CERTIFICATE_SECRET],
            "verbs": ["get", "list", "watch", "update"]
        }));
    }
    rules
}

/// For people and pipelines: to look, and to write.
fn user_roles(kind: &KindInfo) -> [Value; 2] {
    let make = |suffix: &str, verbs: &[&str]| {
        let rule = json!({"apiGroups": [kind.group], "resources": [kind.plural], "verbs": verbs});
        role("ClusterRole", &format!("usher-{}-{suffix}", kind.slug), None, vec![rule])
    };
    [
        make("view", &["get", "list", "watch"]),
        make("edit", &["get", "list", "watch", "create", "update", "patch", "delete"]),
    ]
}

fn role(kind: &str, name: &str, namespace: Option<&str>, rules: Vec<Value>) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata(name, namespace),
        "rules": rules
    })
}

fn binding(kind: &str, role: &str, name: &str, namespace: Option<&str>, install: &Install) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata(name, namespace),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": names::USHER, "namespace": install.namespace}]
    })
}

fn metadata(name: &str, namespace: Option<&str>) -> Value {
    let mut metadata = json!({"name": name, "labels": labels()});
    if let Some(namespace) = namespace {
        metadata["namespace"] = json!(namespace);
    }
    metadata
}
