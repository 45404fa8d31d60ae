//! When something is down: usher, the API server, or the way between them.

use std::time::Duration;

use serde_json::Value;

use crate::claims::in_force;
use crate::cluster;
use crate::support::cluster::{Cluster, free_port};
use crate::support::install;
use crate::support::proxy::Fault;
use crate::support::replica::{Options, Process, eventually_for, replica};

const OBJECTS: &str = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: NAME, namespace: SPACE, finalizers: [usher.test/hold]}
spec: {comment: maintenance, duration: 2h, matchers: [{name: a, value: b}]}
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeClass
metadata: {name: NAME, finalizers: [usher.test/hold]}
spec: {fallbackScrapeProtocol: PrometheusText1.0.0}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Account
metadata: {name: NAME, finalizers: [usher.test/hold]}
spec: {apiKeySecretRef: {name: key, key: apiKey}}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Contact
metadata: {name: NAME, finalizers: [usher.test/hold]}
spec: {contact: {id: "123"}}
"#;

fn kinds() -> Vec<(&'static str, String)> {
    let names = ["silence", "scrapeclass", "account", "contact"];
    names.into_iter().zip(OBJECTS.split("---").map(str::to_owned)).collect()
}

/// As the manifests promise: with usher down nothing of its kinds with rules is created or changed, and everything can be
/// deleted, finalizers and whole namespaces included; nobody else is concerned.
#[tokio::test(flavor = "multi_thread")]
async fn with_usher_down_everything_can_still_be_deleted() {
    let (cluster, _turn) = cluster().await;
    // Deletes namespaces with what is in them.
    let manager = cluster.run_controller_manager();

    install::namespace(cluster, "doomed");
    for (kind, text) in kinds() {
        let text = text.replace("NAME", "stored").replace("SPACE", "shop");
        let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&text));
        assert!(ok, "{kind}: {errors}");
    }
    let silence = OBJECTS.split("---").next().unwrap();
    let silence = silence
        .replace("NAME", "stored")
        .replace("SPACE", "doomed")
        .replace(", finalizers: [usher.test/hold]", "");
    assert!(cluster.kubectl(&["apply", "-f", "-"], Some(&silence)).0);
    // Nobody listens there.
    let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
    install::webhooks(cluster, ([127, 0, 0, 1], free_port()).into(), Some(&made.authority));
    let probe = kinds()[0].1.replace("NAME", "probe").replace("SPACE", "shop");
    eventually_for(Duration::from_secs(15), "webhooks in force", || {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(&probe)).0
    })
    .await;

    for (kind, text) in kinds() {
        // CREATE and UPDATE fail closed.
        let new = text.replace("NAME", "new").replace("SPACE", "shop");
        let (ok, _, errors) = cluster.kubectl(&["create", "-f", "-"], Some(&new));
        assert!(!ok && errors.contains("failed calling webhook"), "{kind} was created: {errors}");
        let (ok, _, errors) = cluster.kubectl(&["label", "-n", "shop", kind, "stored", "a=b"], None);
        assert!(!ok && errors.contains("failed calling webhook"), "{kind} was changed: {errors}");
        // Status is not reviewed.
        let status = r#"{"status":{"observedGeneration":1}}"#;
        let (ok, _, errors) = cluster.kubectl(
            &["patch", "-n", "shop", kind, "stored", "--subresource=status", "--type=merge", "-p", status],
            None,
        );
        assert!(ok, "{kind}: {errors}");
        // DELETE, then the finalizer, then gone.
        let (ok, _, errors) =
            cluster.kubectl(&["delete", "-n", "shop", kind, "stored", "--wait=false"], None);
        assert!(ok, "{kind} was not deleted: {errors}");
        let free = r#"{"metadata":{"finalizers":null}}"#;
        let (ok, _, errors) =
            cluster.kubectl(&["patch", "-n", "shop", kind, "stored", "--type=merge", "-p", free], None);
        assert!(ok, "{kind}: the finalizer stays: {errors}");
        assert!(!cluster.kubectl(&["get", "-n", "shop", kind, "stored"], None).0, "{kind} is still there");
    }
    // What usher does not judge goes on.
    let others = r#"
apiVersion: v1
kind: ConfigMap
metadata: {name: others, namespace: shop}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Monitor
metadata: {name: others, namespace: shop}
spec: {monitor: {name: Shop, url: "https://shop.example.com/"}}
"#;
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(others));
    assert!(ok, "{errors}");
    assert!(cluster.kubectl(&["delete", "-n", "shop", "configmap/others", "monitor/others"], None).0);
    // A whole namespace.
    let (ok, _, errors) = cluster.kubectl(&["delete", "namespace", "doomed", "--timeout=60s"], None);
    assert!(ok, "a dead usher holds up a namespace: {errors}");
    drop(manager);
    install::no_webhooks(cluster);
}

fn start(cluster: &Cluster, kubeconfig: &std::path::Path) -> Process {
    let more = ["--cert-mode=self", "--tls-names=127.0.0.1", "--leader-lease-duration=3s"];
    Process::start(cluster, env!("CARGO_BIN_EXE_usher").as_ref(), kubeconfig, &more)
}

fn accepted(cluster: &Cluster, name: &str) -> bool {
    let (_, text, _) = cluster.kubectl(&["get", "-n", "shop", "silence", name, "-o", "json"], None);
    let object: Value = serde_json::from_str(&text).unwrap_or_default();
    object["status"]["conditions"][0]["status"] == "True"
}

fn create(cluster: &Cluster, name: &str) -> (bool, String) {
    let text = kinds()[0]
        .1
        .replace("NAME", name)
        .replace("SPACE", "shop")
        .replace(", finalizers: [usher.test/hold]", "");
    let (ok, _, errors) = cluster.kubectl(&["create", "-f", "-"], Some(&text));
    (ok, errors)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_refusing_or_restarted_api_server_is_survived() {
    let silent: u64 =
        std::env::var("SILENT_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(60);
    let (cluster, _turn) = cluster().await;
    let fault = Fault::start(cluster.address).await;
    let kubeconfig = install::account_at(cluster, fault.address.port());
    let process = start(cluster, &kubeconfig);
    eventually_for(Duration::from_secs(30), "leading", || process.is_ready() && process.is_leader()).await;
    install::webhooks(cluster, process.admission, None);
    in_force(cluster).await;
    assert!(create(cluster, "before").0);
    eventually_for(Duration::from_secs(15), "reconciled", || accepted(cluster, "before")).await;

    // Slow: reviews are answered as ever, for they ask nobody.
    fault.delay(Duration::from_millis(400));
    let (ok, errors) = create(cluster, "slow");
    assert!(ok, "{errors}");
    eventually_for(Duration::from_secs(40), "reconciled though slow", || accepted(cluster, "slow")).await;

    // Refused for a minute: it stays up, says so, admits, and leads no more.
    fault.refuse();
    eventually_for(Duration::from_secs(20), "it says so", || {
        process.statusz()["apiServer"]["state"] == "degraded"
    })
    .await;
    eventually_for(Duration::from_secs(10), "leads no more", || !process.is_leader()).await;
    let (ok, errors) = create(cluster, "refused");
    assert!(ok, "reviews need no API server: {errors}");
    tokio::time::sleep(Duration::from_secs(silent)).await;
    let why = process.statusz()["apiServer"]["why"].as_str().unwrap_or_default().to_owned();
    assert!(why.contains("has not answered for"), "{why}");
    assert_eq!(process.get("/livez").unwrap().0, 200);
    assert!(process.is_ready(), "what it knows is good enough to judge");
    assert!(!accepted(cluster, "refused"));
    fault.heal();
    eventually_for(Duration::from_secs(30), "it recovers", || {
        process.statusz()["apiServer"]["state"] == "on" && process.is_leader() && accepted(cluster, "refused")
    })
    .await;

    // Restarted.
    cluster.stop_api_server();
    eventually_for(Duration::from_secs(20), "it says so", || {
        process.statusz()["apiServer"]["state"] == "degraded"
    })
    .await;
    cluster.start_api_server().await;
    eventually_for(Duration::from_secs(60), "it recovers", || {
        process.statusz()["apiServer"]["state"] == "on" && process.is_leader()
    })
    .await;
    let mut said = String::new();
    eventually_for(Duration::from_secs(30), "an object after the restart", || {
        let (ok, errors) = create(cluster, "after");
        said = errors;
        ok || said.contains("AlreadyExists")
    })
    .await;
    eventually_for(Duration::from_secs(30), "reconciled after the restart", || accepted(cluster, "after"))
        .await;
    println!("outage: slow, refused for {silent} s and restarted; one process throughout");
    for name in ["before", "slow", "refused", "after"] {
        assert!(cluster.kubectl(&["delete", "-n", "shop", "silence", name], None).0);
    }
    install::no_webhooks(cluster);
    assert!(process.terminate().success());
}

/// Started while the API server is away: up, not ready, and ready by itself as soon as it is back.
#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_an_api_server_waits_for_it() {
    let (cluster, _turn) = cluster().await;
    let fault = Fault::start(cluster.address).await;
    fault.refuse();
    let options =
        Options { kubeconfig: install::account_at(cluster, fault.address.port()), ..Options::new(cluster) };
    let running = crate::support::replica::begin(&options).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let reasons = running.state.unready();
    assert!(reasons.contains(&"no certificate yet".to_owned()), "{reasons:?}");
    assert!(reasons.contains(&"silences not synced".to_owned()), "{reasons:?}");
    fault.heal();
    crate::support::replica::ready(&running).await;
    running.stop().await;
    // Kept honest: the same with everything there is ready at once.
    replica(&Options::new(cluster)).await.stop().await;
}
