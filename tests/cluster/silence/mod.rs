//! Silences in real Alertmanagers, by the numbers of the acceptance cases.

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kube::api::{Api, DeleteParams, DynamicObject, ListParams};
use serde_json::{Value, json};
use usher::serve::run::Running;
use usher::settings::{AlertmanagerSettings, Settings};

use crate::Turn;
use crate::support::alertmanager_fake::Fake;
use crate::support::alertmanager_objects::{alertmanager, place};
use crate::support::alertmanagers::Alertmanagers;
use crate::support::audit;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Options, Process, get, replica};

mod admission;
mod crash;
mod deletion;
mod discovery;
mod drift;
mod faults;
mod gossip;
mod limits;
mod opting;
mod proposal;
mod reconcile;
mod sent;
mod status;
mod storm;
mod subsystem;
mod tenancy;
mod trust;
mod windows;

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

/// The cluster, without anything that a test before left behind.
pub async fn stage() -> (&'static Cluster, Turn) {
    let (cluster, turn) = crate::cluster().await;
    install::no_webhooks(cluster);
    if kept(cluster, |kept| std::mem::take(&mut kept.is_altered)) {
        install::everything(cluster);
    }
    let (_, text, _) = cluster.kubectl(&["get", "silences", "-A", "-o", "json"], None);
    let left: Value = serde_json::from_str(&text).unwrap_or_default();
    for object in left["items"].as_array().into_iter().flatten() {
        let name = object["metadata"]["name"].as_str().unwrap();
        strip(cluster, object["metadata"]["namespace"].as_str().unwrap(), name);
    }
    // Events of a test before, about an object of the same name, would prove anything.
    for kind in ["alertmanagers", "pods", "events"] {
        cluster.kubectl(&["delete", kind, "--all", "-A", "--force", "--grace-period=0"], None);
    }
    for namespace in ["monitoring", "frontend", "backend"] {
        install::namespace(cluster, namespace);
    }
    forgive_refusals(cluster);
    (cluster, turn)
}

/// A test takes CRDs or rights away, or has put them back: one that fails in between must not take the others with it.
pub fn altering(cluster: &Cluster, begins: bool) {
    kept(cluster, |kept| kept.is_altered = begins);
}

/// What is kept of a cluster from test to test.
#[derive(Default)]
struct Kept {
    is_altered: bool,
    /// Where the audit log was when the test began.
    began: u64,
}

fn kept<T>(cluster: &Cluster, use_it: impl FnOnce(&mut Kept) -> T) -> T {
    static KEPT: Mutex<BTreeMap<SocketAddr, Kept>> = Mutex::new(BTreeMap::new());
    use_it(KEPT.lock().unwrap().entry(cluster.address).or_default())
}

/// What a test made usher be refused on purpose is no concern of [`clean`].
pub fn forgive_refusals(cluster: &Cluster) {
    kept(cluster, |kept| kept.began = audit::mark(cluster));
}

/// Case 57: usher has the printed roles and nothing else, and that is enough for all that it did since the test began.
/// A namespace that goes takes no events.
fn nothing_was_refused(cluster: &Cluster) {
    let seen = audit::ushers(cluster, kept(cluster, |kept| kept.began));
    let refused = seen.iter().filter(|entry| entry.code == 403 && entry.resource != "events");
    let refused: Vec<_> = refused.collect();
    assert!(refused.is_empty(), "{refused:?}");
}

/// Deletes a Silence without anybody cleaning up.
pub fn strip(cluster: &Cluster, namespace: &str, name: &str) {
    let free = r#"{"metadata":{"finalizers":null}}"#;
    cluster.kubectl(&["patch", "silence", "-n", namespace, name, "--type=merge", "-p", free], None);
    cluster.kubectl(&["delete", "silence", "-n", namespace, name, "--ignore-not-found"], None);
}

/// A process `usher serve` with such times, ready and the leader.
pub async fn process(cluster: &Cluster, more: &[&str]) -> Process {
    let process = begin(cluster, more);
    until(40, "ready and the leader", || async { process.is_ready() && process.is_leader() }).await;
    process
}

/// The same, just begun.
pub fn begin(cluster: &Cluster, more: &[&str]) -> Process {
    let usual = [
        "--cert-mode=self",
        "--leader-lease-duration=3s",
        "--silence-resync=3s",
        "--silence-sweep-interval=4s",
        "--silence-cleanup-timeout=8s",
        "--alertmanager-timeout=3s",
    ];
    let all: Vec<&str> = usual.iter().chain(more).copied().collect();
    let binary = env!("CARGO_BIN_EXE_usher").as_ref();
    Process::start(cluster, binary, &install::account(cluster), &all)
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

/// The same with a fake, which has one instance.
pub fn place_fake(cluster: &Cluster, name: &str, fake: &Fake, spec: Value) {
    let mut whole = json!({"version": "v0.34.2", "silenceSelector": {}, "silenceNamespaceSelector": {}});
    if let (Some(whole), Value::Object(more)) = (whole.as_object_mut(), spec) {
        whole.extend(more);
    }
    place(cluster, &alertmanager("monitoring", name, 1, whole), &[fake.address]);
}

/// Takes everything away that a test made.
pub fn clean(cluster: &Cluster) {
    nothing_was_refused(cluster);
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

/// Waits for an event about an object: events are written after the status.
pub async fn heard(cluster: &Cluster, name: &str, reason: &str) {
    until(20, reason, || async { events(cluster, name).iter().any(|heard| heard == reason) }).await;
}

/// Waits until a Silence says this.
pub async fn told(cluster: &Cluster, namespace: &str, name: &str, expected: &str) -> Value {
    let started = Instant::now();
    loop {
        let object = stored(cluster, namespace, name);
        if ready(&object) == expected {
            return object;
        }
        let status = &object["status"];
        assert!(started.elapsed() < Duration::from_secs(40), "{name} is not {expected}: {status:#}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// The binding of an Alertmanager.
pub fn binding<'a>(object: &'a Value, name: &str) -> &'a Value {
    let all = object["status"]["bindings"].as_array();
    all.into_iter().flatten().find(|binding| binding["name"] == name).unwrap_or(&Value::Null)
}

/// `synced/total` of a binding.
pub fn counts(binding: &Value) -> String {
    format!("{}/{}", binding["syncedInstances"], binding["totalInstances"])
}

/// What kubectl says when it applies an object, really or as a dry run: whether it was taken, and every warning.
pub fn asked(cluster: &Cluster, arguments: &[&str], object: &Value) -> (bool, Vec<String>, String) {
    let all: Vec<&str> = arguments.iter().copied().chain(["-f", "-"]).collect();
    let (ok, out, errors) = cluster.kubectl(&all, Some(&object.to_string()));
    let warnings = errors.lines().filter(|line| line.starts_with("Warning: ")).map(str::to_owned);
    (ok, warnings.collect(), format!("{out}{errors}"))
}

/// The calls that Alertmanagers have answered, by what they were, from their own metrics.
pub fn calls(members: &Alertmanagers) -> BTreeMap<&'static str, u64> {
    let mut calls = BTreeMap::new();
    for member in 0..members.len() {
        let (_, page) = get(&format!("{}/metrics", members.url(member))).expect("it answers");
        let lines = page
            .lines()
            .filter_map(|line| line.strip_prefix("alertmanager_http_request_duration_seconds_count{"));
        for line in lines.filter(|line| line.contains("/api/v2/")) {
            let has = |text: &str| line.contains(text);
            let call = match () {
                () if has("method=\"post\"") => "post",
                () if has("method=\"delete\"") => "delete",
                () if has("handler=\"/api/v2/silences\"") => "list",
                () if has("handler=\"/api/v2/silence/") => "get",
                () if has("handler=\"/api/v2/status\"") => "status",
                () if has("handler=\"/api/v2/alerts\"") => "alerts",
                () => "other",
            };
            let count: u64 = line.rsplit(' ').next().and_then(|count| count.parse().ok()).unwrap();
            *calls.entry(call).or_default() += count;
        }
    }
    calls
}

/// Deletes a Silence and waits until it is gone.
pub fn delete(cluster: &Cluster, namespace: &str, name: &str) {
    let arguments = ["delete", "silence", "-n", namespace, name, "--timeout=60s"];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
}

/// Deletes all Silences of a namespace in one call, and waits until they are gone.
pub async fn delete_all(cluster: &Cluster, namespace: &str) {
    let resource = usher::kinds::silence::KIND.api_resource();
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client().await, namespace, &resource);
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
    until(90, "all deleted", || async {
        api.list_metadata(&ListParams::default()).await.unwrap().items.is_empty()
    })
    .await;
}

/// Does a Silence exist, being deleted or not?
pub fn exists(cluster: &Cluster, namespace: &str, name: &str) -> bool {
    cluster.kubectl(&["get", "silence", "-n", namespace, name], None).0
}

pub fn annotate(cluster: &Cluster, kind: &str, namespace: &str, name: &str, annotation: &str) {
    let arguments = ["annotate", "--overwrite", kind, "-n", namespace, name, annotation];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
}

/// A silence as somebody makes it by hand.
pub fn by_hand(created_by: &str, label: &str, value: &str) -> Value {
    let now = jiff::Timestamp::now();
    json!({
        "matchers": [{"name": label, "value": value, "isRegex": false, "isEqual": true}],
        "startsAt": now,
        "endsAt": now + jiff::SignedDuration::from_hours(5),
        "createdBy": created_by,
        "comment": "made by hand",
    })
}

/// A silence that was listed, as it is posted again after an edit.
pub fn edited(silence: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut edited = silence.clone();
    for listed_only in ["status", "updatedAt"] {
        edited.as_object_mut().unwrap().remove(listed_only);
    }
    change(&mut edited);
    edited
}

pub fn id(silence: &Value) -> &str {
    silence["id"].as_str().unwrap()
}

/// A little later than every resync and sweep of [`settings`]: to see that something does not happen.
pub async fn some_passes() {
    tokio::time::sleep(Duration::from_secs(8)).await;
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
