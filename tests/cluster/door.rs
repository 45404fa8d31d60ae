//! The webhook behind the real API server: what a user sees.

use std::sync::Arc;

use usher::serve::run::Running;
use usher::settings::Settings;

use crate::cluster;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Options, eventually, files, replica};

/// usher against the cluster, with the printed roles, its certificate in files, its webhooks installed.
pub struct Usher {
    pub running: Running,
}

pub async fn usher(cluster: &Cluster) -> Usher {
    usher_with(cluster, Arc::new(Settings::default())).await
}

pub async fn usher_with(cluster: &Cluster, settings: Arc<Settings>) -> Usher {
    let (certificates, authority) = files(cluster);
    let running = replica(&Options { settings, certificates, ..Options::new(cluster) }).await;
    install::webhooks(cluster, running.admission, Some(&authority));
    Usher { running }
}

impl Usher {
    pub async fn stop(self, cluster: &Cluster) {
        install::no_webhooks(cluster);
        self.running.stop().await;
    }
}

const PAST: &str = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: past, namespace: shop}
spec:
  comment: " "
  expiresAt: "2020-01-01T00:00:00Z"
  matchers: [{name: alertname, value: Down}]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_shows_every_cause_with_code_and_hint() {
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    let mut shown = String::new();
    eventually("webhooks in force", || {
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(PAST));
        shown = errors;
        !ok
    })
    .await;
    assert!(shown.contains("spec.expiresAt") && shown.contains("USHS004"), "{shown}");
    assert!(shown.contains("spec.comment") && shown.contains("USHS001"), "{shown}");
    assert!(shown.contains("move spec.expiresAt into the future"), "{shown}");
    usher.stop(cluster).await;
}

const GOOD: &str = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: recorded, namespace: shop}
spec:
  comment: maintenance
  duration: 2h
  matchers: [{name: alertname, value: Down}]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_requester_is_recorded_and_a_dry_run_stores_nothing() {
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    eventually("webhooks in force", || {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(PAST)).0
    })
    .await;
    let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(GOOD));
    assert!(ok && errors.contains("USHS101"), "{errors}");
    assert!(
        !cluster.kubectl(&["get", "-n", "shop", "silence", "recorded"], None).0,
        "a dry run stored the object"
    );
    assert!(cluster.kubectl(&["apply", "-f", "-"], Some(GOOD)).0);
    let path = "jsonpath={.metadata.annotations.usher\\.dev/created-by}";
    let (_, by, _) = cluster.kubectl(&["get", "-n", "shop", "silence", "recorded", "-o", path], None);
    assert_eq!(by, "admin");
    assert!(cluster.kubectl(&["delete", "-n", "shop", "silence", "recorded"], None).0);
    usher.stop(cluster).await;
}

/// An object that became invalid can still be labelled, finalized and deleted; it cannot be made worse.
#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_object_that_is_stored_is_never_stuck() {
    let (cluster, _turn) = cluster().await;
    let stored = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: stuck, namespace: shop, finalizers: [usher.test/hold]}
spec:
  comment: " "
  duration: 2h
  matchers: [{name: a, value: one}, {name: a, value: two}]
"#;
    // Stored while no webhook is there; the API server forgets the last test's webhooks after a moment.
    let mut said = String::new();
    eventually("stored without webhooks", || {
        let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(stored));
        if !ok && errors != said {
            println!("{errors}");
            said = errors;
        }
        ok
    })
    .await;
    let usher = usher(cluster).await;
    eventually("webhooks in force", || {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(PAST)).0
    })
    .await;
    let patch = |text: &str| {
        cluster.kubectl(&["patch", "-n", "shop", "silence", "stuck", "--type=merge", "-p", text], None)
    };
    let (ok, _, errors) = patch(r#"{"metadata":{"labels":{"a":"b"}}}"#);
    assert!(ok && errors.contains("USHS009"), "{errors}");
    let (ok, _, errors) = patch(r#"{"spec":{"comment":"better"}}"#);
    assert!(ok && errors.contains("USHS009"), "{errors}");
    let (ok, _, errors) = patch(r#"{"spec":{"duration":"0s"}}"#);
    assert!(!ok && errors.contains("USHS006"), "{errors}");
    assert!(cluster.kubectl(&["delete", "-n", "shop", "silence", "stuck", "--wait=false"], None).0);
    let (ok, _, errors) = patch(r#"{"metadata":{"finalizers":null}}"#);
    assert!(ok, "a finalizer could not be removed: {errors}");
    assert!(!cluster.kubectl(&["get", "-n", "shop", "silence", "stuck"], None).0);
    usher.stop(cluster).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_in_use_is_not_deleted_unless_forced() {
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    let objects = r#"
apiVersion: uptimerobot.com/v1alpha1
kind: Account
metadata: {name: used}
spec: {apiKeySecretRef: {name: key, key: apiKey}}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Monitor
metadata: {name: user, namespace: shop}
spec:
  account: {name: used}
  monitor: {name: Shop, url: "https://shop.example.com/"}
"#;
    assert!(cluster.kubectl(&["apply", "-f", "-"], Some(objects)).0);
    let delete = || cluster.kubectl(&["delete", "account", "used", "--dry-run=server"], None);
    eventually("the Monitor seen", || !delete().0).await;
    let (_, _, errors) = delete();
    assert!(errors.contains("USHA006") && errors.contains("Monitor shop/user"), "{errors}");
    assert!(cluster.kubectl(&["annotate", "account", "used", "uptimerobot.com/force-delete=true"], None).0);
    let (ok, _, errors) = cluster.kubectl(&["delete", "account", "used", "--wait=false"], None);
    assert!(ok, "{errors}");
    // Forced means admitted: its finalizer keeps it for as long as the Monitor needs the key.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert!(cluster.kubectl(&["get", "account", "used"], None).0, "gone while a Monitor uses it");
    assert!(cluster.kubectl(&["delete", "-n", "shop", "monitor", "user"], None).0);
    eventually("the Account gone", || !cluster.kubectl(&["get", "account", "used"], None).0).await;
    usher.stop(cluster).await;
}
