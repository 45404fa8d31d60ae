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
    let resource = usher::kinds::silence::KIND.api_resource();
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

/// Work that never ends: every change asks for a status write. How many changes there were.
async fn work(client: Client, stop: Arc<AtomicBool>) -> usize {
    const OBJECTS: usize = 40;
    for number in 0..OBJECTS {
        let object = silence(&format!("work-{number}"), true);
        silences(&client).create(&PostParams::default(), &object).await.unwrap();
    }
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

/// The leaders in the order in which they wrote, and their writes. Fails when two of them overlap.
fn reigns(entries: &[Entry]) -> (Vec<String>, Vec<&Entry>) {
    let is_leaders = |entry: &&Entry| entry.is_write() && identity(entry).is_some();
    let mut writes: Vec<&Entry> = entries.iter().filter(is_leaders).collect();
    writes.sort_by_key(|entry| entry.began);
    let mut reigns: Vec<String> = Vec::new();
    let mut last_end = None;
    for entry in &writes {
        let identity = identity(entry).unwrap();
        if reigns.last() != Some(&identity) {
            assert!(
                !reigns.contains(&identity),
                "{identity} wrote again after another leader had: {entry:?}"
            );
            assert!(last_end.is_none_or(|end| end < entry.began), "two leaders wrote at once: {entry:?}");
            reigns.push(identity);
        }
        last_end = last_end.max(Some(entry.ended));
    }
    (reigns, writes)
}

#[tokio::test(flavor = "multi_thread")]
async fn leaders_killed_in_the_middle_of_work_never_overlap() {
    let kills: usize = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(20);
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let kubeconfig = install::account(cluster);
    let mark = audit::mark(cluster);
    let more = ["--leader-lease-duration=2s"];
    let mut replicas: Vec<Process> = (0..3).map(|_| start(cluster, &kubeconfig, &more)).collect();
    let stop: Arc<AtomicBool> = Arc::default();
    let work = tokio::spawn(work(client.clone(), Arc::clone(&stop)));
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
    let (reigns, writes) = reigns(&entries);
    println!(
        "leader: {kills} killed, {} leaders wrote {} times for {changes} changes, never two at once",
        reigns.len(),
        writes.len()
    );
    assert!(reigns.len() >= kills.min(15), "only {} leaders ever wrote", reigns.len());
    let statuses = writes.iter().filter(|entry| entry.resource == "silences/status").count();
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

/// A leader that ends in order lets go of the Lease: the next one need not wait, and still they never write at once.
#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_ends_in_order_hands_over_at_once() {
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let kubeconfig = install::account(cluster);
    let more = ["--leader-lease-duration=30s", "--shutdown-delay=0s"];
    let lease = ["delete", "lease", "-n", "usher-system", "usher-leader", "--ignore-not-found"];
    assert!(cluster.kubectl(&lease, None).0);
    let mark = audit::mark(cluster);
    let mut leader = start(cluster, &kubeconfig, &more);
    eventually_for(Duration::from_secs(20), "a leader", || leader.is_leader()).await;
    let stop: Arc<AtomicBool> = Arc::default();
    let work = tokio::spawn(work(client.clone(), Arc::clone(&stop)));
    for _ in 0..5 {
        let next = start(cluster, &kubeconfig, &more);
        eventually_for(Duration::from_secs(20), "ready", || next.is_ready()).await;
        assert!(!next.is_leader());
        tokio::time::sleep(Duration::from_millis(500)).await;
        let started = Instant::now();
        assert!(leader.terminate().success());
        eventually_for(Duration::from_secs(20), "the next leader", || next.is_leader()).await;
        assert!(started.elapsed() < Duration::from_secs(12), "{:?} for a Lease of 30 s", started.elapsed());
        leader = next;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    stop.store(true, Ordering::Relaxed);
    let changes = work.await.unwrap();
    wait_settled(&client, Duration::from_secs(30)).await;
    let entries = audit::ushers(cluster, mark);
    let (reigns, writes) = reigns(&entries);
    let (reigns, writes) = (reigns.len(), writes.len());
    // Changes come by the watch: what is listed is what a new leader lists once.
    let lists = entries
        .iter()
        .filter(|entry| entry.verb == "list" && entry.resource == "silences" && identity(entry).is_some());
    let lists = lists.count();
    assert!(lists <= reigns + 2, "{lists} lists by {reigns} leaders");
    println!("leader: {} hand-overs, {writes} writes for {changes} changes, never two at once", reigns - 1);
    assert!(reigns >= 5, "only {reigns} leaders ever wrote");
    assert!(leader.terminate().success());
    delete_all(&client).await;
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
    let more = ["--leader-lease-duration=3s", "--shutdown-delay=0s"];
    let process = Process::start_with(
        cluster,
        env!("CARGO_BIN_EXE_usher").as_ref(),
        kubeconfig,
        &[&["--cert-mode=self", "--tls-names=127.0.0.1"][..], &more].concat(),
        // What is free is given back at once, so that what is resident is what is used.
        &[("MIMALLOC_PURGE_DELAY", "0")],
    );
    eventually_for(Duration::from_secs(60), "leading", || process.is_ready() && process.is_leader()).await;
    wait_settled(client, Duration::from_secs(120)).await;
    process
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_written_and_nothing_listed_while_nothing_changes() {
    const OBJECTS: usize = 1_000;
    // Far enough apart, and far enough from nothing, that what a start leaves lying about does not count.
    const MANY: usize = 4_000;
    const MORE: usize = 10_000;
    let quiet = Duration::from_secs(
        std::env::var("QUIET_SECONDS").ok().and_then(|seconds| seconds.parse().ok()).unwrap_or(60),
    );
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let kubeconfig = install::account(cluster);
    create_silences(&client, 0..OBJECTS).await;
    let account = "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {name: quiet}\nspec: {isDefault: true, apiKeySecretRef: {name: key, key: apiKey}}\n";
    assert!(cluster.kubectl(&["apply", "-f", "-"], Some(account)).0);
    assert!(settled(cluster, &client, &kubeconfig).await.terminate().success());

    // A fresh one, which finds everything as it should be.
    let process = settled(cluster, &client, &kubeconfig).await;
    let second = start(cluster, &kubeconfig, &["--leader-lease-duration=3s", "--shutdown-delay=0s"]);
    eventually_for(Duration::from_secs(30), "ready", || second.is_ready()).await;
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
    assert!(second.terminate().success());
    assert!(process.terminate().success());

    // What one more object costs: each is held twice, by the View and by the reconciler.
    let mut resident = Vec::new();
    for numbers in [OBJECTS..MANY, MANY..MORE] {
        create_silences(&client, numbers).await;
        assert!(settled(cluster, &client, &kubeconfig).await.terminate().success());
        let process = settled(cluster, &client, &kubeconfig).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        resident.push(process.resident());
        // Its finalizer needs a leader to go.
        let delete = ["delete", "account", "quiet", "--ignore-not-found", "--timeout=20s"];
        assert!(cluster.kubectl(&delete, None).0);
        assert!(process.terminate().success());
    }
    let (few, many) = (resident[0], resident[1]);
    let each = many.saturating_sub(few) as f64 / (MORE - MANY) as f64 / 1024.0;
    let mebibytes = |bytes: u64| bytes as f64 / 1024.0 / 1024.0;
    println!(
        "memory: {:.1} MiB with {MANY} objects, {:.1} MiB with {MORE}: {each:.2} KiB per watched object",
        mebibytes(few),
        mebibytes(many)
    );
    // The aim is 2; resident memory is too coarse a measure to fail on less than this.
    assert!(each <= 3.0, "{each:.2} KiB per object");
    delete_all(&client).await;
}
