//! Every CREATE case of the corpus on the real API server with usher's webhooks: its verdict is the offline one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use usher::manifests::{Install, rbac};
use usher::review::door::{Clock, Door};
use usher::rule::Uniqueness;

use crate::cluster;
use crate::door::{Usher, usher, usher_with};
use crate::support::cluster::Cluster;
use crate::support::corpus::{Case, Verdict, cases};
use crate::support::install::{self, CONTEXT_LABEL};
use crate::support::replica::eventually;

fn path(plural: &str, api_version: &str, namespace: &str) -> String {
    let prefix = if api_version.contains('/') { "/apis" } else { "/api" };
    let scope = if namespace.is_empty() { String::new() } else { format!("namespaces/{namespace}/") };
    format!("{prefix}/{api_version}/{scope}{plural}")
}

async fn send(
    client: &kube::Client,
    method: &str,
    path: String,
    kind: &str,
    body: &Value,
) -> Result<Value, (u16, String)> {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind)
        .body(if body.is_null() { Vec::new() } else { body.to_string().into_bytes() })
        .unwrap();
    match client.request::<Value>(request).await {
        Ok(value) => Ok(value),
        Err(kube::Error::Api(status)) => Err((status.code, status.message.clone())),
        Err(other) => panic!("{other}"),
    }
}

/// One object of a case's context in the cluster.
struct Placed {
    path: String,
    terminating: bool,
    has_status: bool,
}

struct Stage<'a> {
    cluster: &'a Cluster,
    client: kube::Client,
    /// Who may write everything, and has no permission beyond.
    editor: kube::Client,
    usher: &'a Usher,
    namespaces: BTreeSet<String>,
}

impl Stage<'_> {
    fn namespace(&mut self, name: &str) {
        let valid = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if valid && self.namespaces.insert(name.to_owned()) {
            install::namespace(self.cluster, name);
        }
    }

    fn resource(&self, object: &Value) -> (&'static str, String) {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let feed = self.usher.running.view.feed(text("apiVersion"), text("kind"));
        let plural = feed
            .map(|feed| feed.resource().plural)
            .or_else(|| usher::kinds::find(text("apiVersion"), text("kind")).map(|kind| kind.plural));
        (plural.unwrap_or_else(|| panic!("no resource for {object}")), text("apiVersion").to_owned())
    }

    async fn wait_in_view(&self, object: &Value, present: bool) {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let Some(feed) = self.usher.running.view.feed(text("apiVersion"), text("kind")) else { return };
        let key = usher::view::key_of(object);
        // Secrets elsewhere are not watched.
        let watched = self.usher.running.door.load().settings.uptime.cluster_resource_namespace.clone();
        if text("kind") == "Secret" && key.0 != watched {
            return;
        }
        let started = Instant::now();
        while feed.has(&key) != present {
            assert!(started.elapsed() < Duration::from_secs(10), "the View does not see {object}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Creates a context object past the webhooks, with its status and its deletion under way if it says so.
    async fn place(&mut self, object: &Value) -> Placed {
        let (plural, api_version) = self.resource(object);
        let metadata = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (metadata("namespace"), metadata("name"));
        let mut stored = object.clone();
        let meta = stored["metadata"].as_object_mut().unwrap();
        let terminating = meta.remove("deletionTimestamp").is_some();
        meta.remove("creationTimestamp");
        meta.entry("labels")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .unwrap()
            .insert(CONTEXT_LABEL.to_owned(), json!("1"));
        if terminating {
            meta.insert("finalizers".to_owned(), json!(["usher.test/hold"]));
        }
        if object["kind"] == "Namespace" {
            self.namespace(&name);
            let patch = json!({"metadata": {"labels": stored["metadata"]["labels"]}});
            let path = format!("/api/v1/namespaces/{name}");
            send(&self.client, "PATCH", path.clone(), "application/merge-patch+json", &patch).await.unwrap();
            return Placed { path, terminating: false, has_status: false };
        }
        self.namespace(&namespace);
        let collection = path(plural, &api_version, &namespace);
        let created = send(&self.client, "POST", collection.clone(), "application/json", &stored).await;
        created.unwrap_or_else(|(code, message)| panic!("placing {object}: {code} {message}"));
        let path = format!("{collection}/{name}");
        let has_status = object.get("status").is_some();
        if has_status {
            let patch = json!({"status": object["status"]});
            send(&self.client, "PATCH", format!("{path}/status"), "application/merge-patch+json", &patch)
                .await
                .unwrap();
        }
        if terminating {
            send(&self.client, "DELETE", path.clone(), "application/json", &Value::Null).await.unwrap();
        }
        self.wait_in_view(object, true).await;
        Placed { path, terminating, has_status: has_status || terminating }
    }

    async fn clear(&self, object: &Value, placed: &Placed) {
        if object["kind"] == "Namespace" {
            let old = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
            let none: serde_json::Map<String, Value> =
                old.into_iter().map(|(key, _)| (key, Value::Null)).collect();
            let patch = json!({"metadata": {"labels": none}});
            send(&self.client, "PATCH", placed.path.clone(), "application/merge-patch+json", &patch)
                .await
                .unwrap();
            return;
        }
        if !placed.terminating {
            send(&self.client, "DELETE", placed.path.clone(), "application/json", &Value::Null)
                .await
                .unwrap();
        } else {
            let patch = json!({"metadata": {"finalizers": null}});
            send(&self.client, "PATCH", placed.path.clone(), "application/merge-patch+json", &patch)
                .await
                .unwrap();
        }
    }

    /// Clears all, then waits: a deleted Account stays for as long as something uses it.
    async fn clear_all(&self, case: &Case, placed: &[Placed]) {
        for (object, placed) in case.context.iter().zip(placed).rev() {
            self.clear(object, placed).await;
        }
        for object in case.context.iter().filter(|object| object["kind"] != "Namespace") {
            self.wait_in_view(object, false).await;
        }
    }

    async fn verdict(&mut self, case: &Case) -> Result<(), (u16, String)> {
        let kind = case.kind();
        let metadata = |field: &str| case.object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let namespace = match (kind.namespaced, metadata("namespace")) {
            (false, _) => String::new(),
            (true, name) if name.is_empty() => "default".to_owned(),
            (true, name) => name,
        };
        self.namespace(&namespace);
        let api_version = case.object["apiVersion"].as_str().unwrap_or_default();
        let path = path(kind.plural, api_version, &namespace) + "?dryRun=All&fieldValidation=Strict";
        send(&self.editor, "POST", path, "application/json", &case.object).await.map(|_| ())
    }
}

/// An administrator may mute everything; the cases are about people who may not.
async fn editor(cluster: &Cluster) -> kube::Client {
    let verbs = ["get", "list", "create", "update", "patch", "delete"];
    let documents = json!([
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "corpus-editor"},
         "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": verbs}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
         "metadata": {"name": "corpus-editor"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "corpus-editor"},
         "subjects": [{"kind": "User", "name": "editor", "apiGroup": "rbac.authorization.k8s.io"}]},
    ]);
    install::apply(cluster, documents.as_array().unwrap());
    let can = ["auth", "can-i", "create", "accounts.uptimerobot.com", "--as", "editor"];
    eventually("the editor's rights", || cluster.kubectl(&can, None).0).await;
    cluster.client_as("editor").await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_create_case_has_the_same_verdict_on_the_api_server() {
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    let client = cluster.client().await;
    let namespaces: BTreeSet<String> =
        ["default", "shop", "usher-system", "kube-system"].map(str::to_owned).into();
    let mut stage = Stage {
        cluster,
        client,
        editor: editor(cluster).await,
        usher: &usher,
        namespaces: namespaces.clone(),
    };
    let (mut count, mut failures) = (0, Vec::new());
    for case in cases().iter().filter(|case| case.is_create() && case.verdict != Verdict::Mutate) {
        // Which Secrets are watched is decided at start: such a case is judged by its own server below.
        if case.settings.get("cluster-resource-namespace").is_some() {
            continue;
        }
        count += 1;
        let view = Arc::clone(&usher.running.view);
        usher.running.door.store(Arc::new(Door {
            settings: case.settings(),
            view,
            clock: Clock::Fixed(case.now),
            uniqueness: Uniqueness::ByClaim,
            permitted: false,
        }));
        let mut placed = Vec::new();
        for object in &case.context {
            placed.push(stage.place(object).await);
        }
        let allowed = case.verdict == Verdict::Accept;
        let mut verdict = stage.verdict(case).await;
        // A status or a deletion reaches the watch a moment after the object itself.
        let late = placed.iter().any(|placed| placed.has_status)
            || case.context.iter().any(|object| object["kind"] == "Namespace");
        for _ in 0..40 {
            if verdict.is_ok() == allowed || !late {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            verdict = stage.verdict(case).await;
        }
        if verdict.is_ok() != allowed {
            failures.push(format!("{}: the API server says {verdict:?}", case.name()));
        }
        stage.clear_all(case, &placed).await;
    }
    usher.stop(cluster).await;
    for case in cases()
        .iter()
        .filter(|case| case.is_create() && case.settings.get("cluster-resource-namespace").is_some())
    {
        count += 1;
        let keys = case.settings().uptime.cluster_resource_namespace.clone();
        install::namespace(cluster, &keys);
        let install = Install { cluster_resource_namespace: keys, ..Install::default() };
        install::apply(cluster, &rbac::documents(&install));
        let usher = usher_with(cluster, case.settings()).await;
        let client = cluster.client().await;
        let mut stage = Stage {
            cluster,
            client,
            editor: editor(cluster).await,
            usher: &usher,
            namespaces: namespaces.clone(),
        };
        let mut placed = Vec::new();
        for object in &case.context {
            placed.push(stage.place(object).await);
        }
        // The new webhook configuration takes a moment to take effect.
        tokio::time::sleep(Duration::from_secs(2)).await;
        let verdict = stage.verdict(case).await;
        if verdict.is_ok() != (case.verdict == Verdict::Accept) {
            failures.push(format!("{}: the API server says {verdict:?}", case.name()));
        }
        stage.clear_all(case, &placed).await;
        usher.stop(cluster).await;
    }
    println!("corpus: {count} CREATE cases on the real API server");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count > 100, "only {count} cases");
}
