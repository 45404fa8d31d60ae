//! Silences in real Alertmanagers, by the numbers of the acceptance cases.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use usher::serve::run::Running;
use usher::settings::{AlertmanagerSettings, Settings};

use crate::support::alertmanager_objects::{alertmanager, place};
use crate::support::alertmanagers::Alertmanagers;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Options, replica};

mod admission;
mod reconcile;

/// Settings with short times: everything that waits for minutes in production waits for seconds here.
pub fn settings() -> Settings {
    Settings {
        alertmanager: AlertmanagerSettings {
            resync: Duration::from_secs(3),
            sweep_interval: Duration::from_secs(4),
            cleanup_timeout: Duration::from_secs(8),
            timeout: Duration::from_secs(3),
            ..AlertmanagerSettings::default()
        },
        ..Settings::default()
    }
}

/// A replica with such settings.
pub async fn usher(cluster: &Cluster, settings: Settings) -> Running {
    replica(&Options { settings: Arc::new(settings), ..Options::new(cluster) }).await
}

pub fn addresses(alertmanagers: &Alertmanagers) -> Vec<SocketAddr> {
    (0..alertmanagers.len()).map(|index| alertmanagers.addr(index)).collect()
}

/// Puts an Alertmanager that selects everything into the cluster, with the pods of real ones.
pub fn bind(cluster: &Cluster, name: &str, alertmanagers: &Alertmanagers, spec: Value) {
    let mut whole = json!({
        "version": "v0.34.2",
        "silenceSelector": {},
        "silenceNamespaceSelector": {},
        "clusterPushpullInterval": "2s",
    });
    if let (Some(whole), Value::Object(more)) = (whole.as_object_mut(), spec) {
        whole.extend(more);
    }
    install::namespace(cluster, "monitoring");
    install::namespace(cluster, "frontend");
    install::namespace(cluster, "backend");
    let object = alertmanager("monitoring", name, alertmanagers.len(), whole);
    place(cluster, &object, &addresses(alertmanagers));
}

/// Takes everything away that a test made.
pub fn clean(cluster: &Cluster) {
    for namespace in ["frontend", "backend", "monitoring"] {
        let arguments =
            ["delete", "silences", "--all", "-n", namespace, "--timeout=60s", "--ignore-not-found"];
        let (ok, _, errors) = cluster.kubectl(&arguments, None);
        assert!(ok, "{errors}");
    }
    for kind in ["alertmanagers", "pods"] {
        let arguments = ["delete", kind, "--all", "-n", "monitoring", "--force", "--grace-period=0"];
        cluster.kubectl(&arguments, None);
    }
}

/// A Silence of two hours.
pub fn silence(namespace: &str, name: &str, matchers: Value) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "Silence",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"comment": "maintenance", "duration": "2h", "matchers": matchers},
    })
}

pub fn apply(cluster: &Cluster, object: &Value) {
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    assert!(ok, "{errors}");
}

pub fn patch(cluster: &Cluster, namespace: &str, name: &str, patch: Value) {
    let arguments = ["patch", "silence", "-n", namespace, name, "--type=merge", "-p", &patch.to_string()];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
}

pub fn stored(cluster: &Cluster, namespace: &str, name: &str) -> Value {
    let (_, text, _) = cluster.kubectl(&["get", "silence", "-n", namespace, name, "-o", "json"], None);
    serde_json::from_str(&text).unwrap_or_default()
}

/// A condition as `Status/Reason`.
pub fn ready(object: &Value) -> String {
    let all = object["status"]["conditions"].as_array();
    let found = all.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    found.map_or(String::new(), |found| {
        format!("{}/{}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
    })
}

pub fn events(cluster: &Cluster, name: &str) -> Vec<String> {
    let (_, text, _) = cluster.kubectl(&["get", "events.events.k8s.io", "-A", "-o", "json"], None);
    let all: Value = serde_json::from_str(&text).unwrap_or_default();
    let ours = all["items"].as_array().into_iter().flatten();
    let ours = ours.filter(|event| event["regarding"]["name"] == name);
    ours.map(|event| event["reason"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Tries until it is so.
pub async fn until<F: Future<Output = bool>>(most: u64, what: &str, mut done: impl FnMut() -> F) {
    let started = Instant::now();
    while !done().await {
        assert!(started.elapsed() < Duration::from_secs(most), "{what}: not within {most} s");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The matchers of a silence in an Alertmanager, as `name=value`, in their order.
pub fn matchers(silence: &Value) -> Vec<String> {
    let sign = |matcher: &Value| match (matcher["isEqual"].as_bool(), matcher["isRegex"].as_bool()) {
        (Some(false), Some(true)) => "!~",
        (Some(false), _) => "!=",
        (_, Some(true)) => "=~",
        _ => "=",
    };
    let shown = |matcher: &Value| {
        format!(
            "{}{}{}",
            matcher["name"].as_str().unwrap(),
            sign(matcher),
            matcher["value"].as_str().unwrap()
        )
    };
    silence["matchers"].as_array().unwrap().iter().map(shown).collect()
}
