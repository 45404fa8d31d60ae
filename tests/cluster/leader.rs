//! One writer at any time, whatever becomes of the leaders; and nothing written when nothing changes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use crate::cluster;
use crate::support::audit::{self, Entry};
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Process, eventually_for};

fn silences(client: &Client) -> Api<DynamicObject> {
    let resource = usher::reconcile::release::resource(&usher::kinds::silence::KIND);
    Api::namespaced_with(client.clone(), "shop", &resource)
}

fn silence(name: &str, good: bool) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"comment": "work", "duration": "2h", "matchers": matchers(good)}
    }))
    .unwrap()
}

fn matchers(good: bool) -> Value {
    let second = json!({"name": "a", "value": if good { "one" } else { "two" }});
    json!([{"name": "a", "value": "one"}, second])
}

/// The objects whose status does not say what holds now.
async fn unsettled(client: &Client) -> Vec<String> {
    let all = silences(client).list(&ListParams::default()).await.unwrap();
    let wrong = all.items.iter().filter(|object| {
        let good = object.data["spec"]["matchers"][1]["value"] == "one";
        let conditions = object.data["status"]["conditions"].as_array();
        let accepted = conditions.into_iter().flatten().find(|condition| condition["type"] == "Accepted");
        let wanted = if good { "True" } else { "False" };
        !accepted.is_some_and(|accepted| {
            accepted["status"] == wanted
                && accepted["observedGeneration"].as_i64() == object.metadata.generation
        })
    });
    wrong.map(|object| object.name_any()).collect()
}

async fn wait_settled(client: &Client, most: Duration) {
    let started = Instant::now();
    loop {
        let wrong = unsettled(client).await;
        if wrong.is_empty() {
            return;
        }
        assert!(
            started.elapsed() < most,
            "not settled: {} objects, {:?} …",
            wrong.len(),
            &wrong[..wrong.len().min(5)]
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn delete_all(client: &Client) {
    silences(client).delete_collection(&DeleteParams::default(), &ListParams::default()).await.unwrap();
}

fn start(cluster: &Cluster, kubeconfig: &std::path::Path, more: &[&str]) -> Process {
    let mut arguments = vec!["--cert-mode=self", "--tls-names=127.0.0.1"];
    arguments.extend(more);
    Process::start(cluster, env!("CARGO_BIN_EXE_usher").as_ref(), kubeconfig, &arguments)
}

/// The identity in `usher/0.1.0 (leader ID)`.
fn identity(entry: &Entry) -> Option<String> {
    Some(entry.agent.split_once("(leader ")?.1.trim_end_matches(')').to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn leaders_killed_in_the_middle_of_work_never_overlap() {
    let kills: usize = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    const OBJECTS: usize = 40;
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let kubeconfig = install::account(cluster);
    let mark = audit::mark(cluster);
    let more = ["--leader-lease-duration=2s"];
    let mut replicas: Vec<Process> = (0..3).map(|_| start(cluster, &kubeconfig, &more)).collect();
    for number in 0..OBJECTS {
        let object = silence(&format!("work-{number}"), true);
        silences(&client).create(&PostParams::default(), &object).await.unwrap();
    }
    // Work that never ends: every change asks for a status write.
    let stop: Arc<AtomicBool> = Arc::default();
    let work = tokio::spawn({
        let (client, stop) = (client.clone(), Arc::clone(&stop));
        async move {
            let mut count = 0_usize;
            while !stop.load(Ordering::Relaxed) {
                let name = format!("work-{}", count % OBJECTS);
                let good = (count / OBJECTS) % 2 == 1;
                let patch = json!({"spec": {"matchers": matchers(good)}});
                silences(&client).patch(&name, &Default::default(), &Patch::Merge(patch)).await.unwrap();
                count += 1;
                tokio::time::sleep(Duration::from_millis(15)).await;
            }
            count
        }
    });
    for kill in 0..kills {
        let started = Instant::now();
        let leader = loop {
            if let Some(leader) = replicas.iter().position(Process::is_leader) {
                break leader;
            }
            assert!(started.elapsed() < Duration::from_secs(20), "no leader after kill {kill}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        // At different moments of its work.
        tokio::time::sleep(Duration::from_millis(300 + 37 * (kill as u64 % 20))).await;
        drop(replicas.remove(leader));
        replicas.push(start(cluster, &kubeconfig, &more));
    }
    stop.store(true, Ordering::Relaxed);
    let changes = work.await.unwrap();
    wait_settled(&client, Duration::from_secs(30)).await;

    let entries = audit::ushers(cluster, mark);
    let mut writes: Vec<(&Entry, String)> = entries
        .iter()
        .filter(|entry| entry.is_write() && entry.resource != "selfsubjectaccessreviews")
        .filter_map(|entry| Some((entry, identity(entry)?)))
        .collect();
    writes.sort_by_key(|(entry, _)| entry.began);
    let mut reigns: Vec<(String, usize)> = Vec::new();
    let mut last_end = None;
    for (entry, identity) in &writes {
        match reigns.last_mut() {
            Some((current, count)) if current == identity => *count += 1,
            _ => {
                assert!(
                    !reigns.iter().any(|(known, _)| known == identity),
                    "{identity} wrote again after another leader had written: {entry:?}"
                );
                assert!(last_end.is_none_or(|end| end < entry.began), "two leaders wrote at once: {entry:?}");
                reigns.push((identity.clone(), 1));
            }
        }
        last_end = last_end.max(Some(entry.ended));
    }
    println!(
        "leader: {kills} killed, {} leaders wrote {} times for {changes} changes, never two at once",
        reigns.len(),
        writes.len()
    );
    assert!(reigns.len() >= kills.min(15), "only {} leaders ever wrote", reigns.len());
    let statuses = writes.iter().filter(|(entry, _)| entry.resource == "silences/status").count();
    assert!(statuses > changes / 10, "{statuses} status writes for {changes} changes");
    // Whoever wrote without an identity wrote something else: Leases and the certificate.
    for entry in entries.iter().filter(|entry| entry.is_write() && identity(entry).is_none()) {
        let known = [
            "leases",
            "secrets",
            "validatingwebhookconfigurations",
            "mutatingwebhookconfigurations",
            "events",
        ];
        assert!(known.contains(&entry.resource.as_str()), "{entry:?}");
    }
    drop(replicas);
    delete_all(&client).await;
}

/// A leader that ends in order lets go of the Lease: the next one need not wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_ends_in_order_hands_over_at_once() {
    let (cluster, _turn) = cluster().await;
    let kubeconfig = install::account(cluster);
    let more = ["--leader-lease-duration=30s", "--shutdown-delay=0s"];
    let lease = ["delete", "lease", "-n", "usher-system", "usher-leader", "--ignore-not-found"];
    assert!(cluster.kubectl(&lease, None).0);
    let first = start(cluster, &kubeconfig, &more);
    eventually_for(Duration::from_secs(20), "a leader", || first.is_leader()).await;
    let second = start(cluster, &kubeconfig, &more);
    eventually_for(Duration::from_secs(20), "ready", || second.is_ready()).await;
    assert!(!second.is_leader());
    let started = Instant::now();
    assert!(first.terminate().success());
    eventually_for(Duration::from_secs(20), "the next leader", || second.is_leader()).await;
    assert!(started.elapsed() < Duration::from_secs(12), "{:?} for a Lease of 30 s", started.elapsed());
    assert!(second.terminate().success());
}

async fn create_silences(client: &Client, numbers: std::ops::Range<usize>) {
    let work = |worker: usize| {
        let (client, numbers) = (client.clone(), numbers.clone());
        async move {
            for number in numbers.skip(worker).step_by(8) {
                let object = silence(&format!("quiet-{number}"), number % 10 != 0);
                silences(&client).create(&PostParams::default(), &object).await.unwrap();
            }
        }
    };
    futures::future::join_all((0..8).map(work)).await;
}

/// A process that leads, with every status written.
async fn settled(cluster: &Cluster, client: &Client, kubeconfig: &std::path::Path) -> Process {
    let process = start(cluster, kubeconfig, &["--leader-lease-duration=3s", "--shutdown-delay=0s"]);
    eventually_for(Duration::from_secs(60), "leading", || process.is_ready() && process.is_leader()).await;
    wait_settled(client, Duration::from_secs(120)).await;
    process
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_and_nothing_listed_while_nothing_changes() {
    const OBJECTS: usize = 1_000;
    const MORE: usize = 6_000;
    let quiet = Duration::from_secs(
        std::env::var("QUIET_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(60),
    );
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let kubeconfig = install::account(cluster);
    create_silences(&client, 0..OBJECTS).await;
    assert!(settled(cluster, &client, &kubeconfig).await.terminate().success());

    // A fresh one, which finds everything as it should be.
    let process = settled(cluster, &client, &kubeconfig).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mark = audit::mark(cluster);
    tokio::time::sleep(quiet).await;
    let entries = audit::ushers(cluster, mark);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for entry in &entries {
        *counts.entry((entry.verb.clone(), entry.resource.clone())).or_default() += 1;
    }
    println!("steady: {OBJECTS} objects, {} s, requests {counts:?}", quiet.as_secs());
    for entry in &entries {
        assert!(!entry.is_write() || entry.resource == "leases", "written in a steady state: {entry:?}");
        assert!(entry.verb != "list", "listed in a steady state: {entry:?}");
    }
    assert!(
        entries.iter().any(|entry| entry.verb == "update" && entry.resource == "leases"),
        "not even a Lease renewed"
    );
    let few = process.resident();
    assert!(process.terminate().success());

    // What one more object costs: each is held twice, by the View and by the reconciler.
    create_silences(&client, OBJECTS..MORE).await;
    assert!(settled(cluster, &client, &kubeconfig).await.terminate().success());
    let process = settled(cluster, &client, &kubeconfig).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let many = process.resident();
    let each = many.saturating_sub(few) as f64 / (MORE - OBJECTS) as f64 / 1024.0;
    let mebibytes = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    println!(
        "memory: {:.1} MiB with {OBJECTS} objects, {:.1} MiB with {MORE}: {each:.2} KiB per watched object",
        mebibytes(few),
        mebibytes(many)
    );
    // The aim is 2; resident memory is too coarse a measure to fail on less than this.
    assert!(each <= 3.0, "{each:.2} KiB per object");
    assert!(process.terminate().success());
    delete_all(&client).await;
}
