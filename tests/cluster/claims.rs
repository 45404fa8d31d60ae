//! Claims on the real API server. The numbers are those of the acceptance cases in the specification of the UptimeRobot
//! kinds; what needs a virtual clock is in the unit tables of `src/claim`.

use std::time::{Duration, Instant};

use futures::future::join_all;
use jiff::SignedDuration;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};
use usher::manifests::Install;
use usher::serve::run::Running;

use crate::cluster;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::proxy::{Fault, Spread};
use crate::support::refuser::Refuser;
use crate::support::replica::{Options, Process, begin, eventually, eventually_for, ready, replica};

pub fn accounts(client: &Client) -> Api<DynamicObject> {
    Api::all_with(client.clone(), &usher::kinds::account::KIND.api_resource())
}

fn account(name: &str, is_default: bool) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "uptimerobot.com/v1alpha1",
        "kind": "Account",
        "metadata": {"name": name},
        "spec": {"isDefault": is_default, "apiKeySecretRef": {"name": "key", "key": "apiKey"}}
    }))
    .unwrap()
}

/// The status of a creation: 201, or the code of the refusal with its message and `retryAfterSeconds`.
async fn create(client: &Client, name: &str, is_default: bool) -> (u16, String, u64) {
    match accounts(client).create(&PostParams::default(), &account(name, is_default)).await {
        Ok(_) => (201, String::new(), 0),
        Err(kube::Error::Api(status)) => {
            let retry = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
            (status.code, status.message.clone(), u64::from(retry))
        }
        Err(other) => panic!("{other}"),
    }
}

async fn set_default(client: &Client, name: &str, is_default: bool) -> (u16, String) {
    let patch = json!({"spec": {"isDefault": is_default}});
    let patched = accounts(client).patch(name, &Default::default(), &kube::api::Patch::Merge(patch)).await;
    match patched {
        Ok(_) => (200, String::new()),
        Err(kube::Error::Api(status)) => (status.code, status.message.clone()),
        Err(other) => panic!("{other}"),
    }
}

async fn defaults(client: &Client) -> Vec<String> {
    let list = accounts(client).list(&ListParams::default()).await.unwrap();
    let live = list
        .items
        .into_iter()
        .filter(|item| item.data["spec"]["isDefault"] == true && item.metadata.deletion_timestamp.is_none());
    live.map(|item| item.name_any()).collect()
}

async fn delete_all(client: &Client) {
    let api = accounts(client);
    for item in api.list(&ListParams::default()).await.unwrap() {
        let _ = api.delete(&item.name_any(), &DeleteParams::default()).await;
    }
    let started = Instant::now();
    while !api.list(&ListParams::default()).await.unwrap().items.is_empty() {
        if started.elapsed() > Duration::from_secs(20) {
            panic!("Accounts do not go: {:?}", api.list(&ListParams::default()).await.unwrap().items);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn leases(client: &Client) -> Api<k8s_openapi::api::coordination::v1::Lease> {
    Api::namespaced(client.clone(), "usher-system")
}

const LEASE: &str = "uptime-default-account";

async fn lease(client: &Client) -> Option<(String, String)> {
    let found = leases(client).get_opt(LEASE).await.unwrap()?;
    let version = found.resource_version().unwrap();
    Some((found.spec?.holder_identity.unwrap_or_default(), version))
}

async fn no_lease(client: &Client) {
    let _ = leases(client).delete(LEASE, &DeleteParams::default()).await;
}

/// Waits until a refusal shows that the webhooks are in force.
pub async fn in_force(cluster: &Cluster) {
    let bad = "apiVersion: monitoring.coreos.com/v1alpha1\nkind: Silence\nmetadata: {name: probe, namespace: shop}\nspec: {comment: ' ', duration: 2h, matchers: [{name: a, value: b}]}\n";
    eventually("webhooks in force", || {
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(bad));
        !ok && errors.contains("USHS001")
    })
    .await;
}

/// usher with a short grace, behind a URL.
async fn stage(cluster: &Cluster, grace: i64) -> (Running, Client) {
    let options = Options { claim_grace: SignedDuration::from_secs(grace), ..Options::new(cluster) };
    let running = replica(&options).await;
    install::webhooks(cluster, running.admission, None);
    in_force(cluster).await;
    let client = cluster.client().await;
    delete_all(&client).await;
    no_lease(&client).await;
    (running, client)
}

async fn end(cluster: &Cluster, running: Running, client: &Client) {
    delete_all(client).await;
    no_lease(client).await;
    install::no_webhooks(cluster);
    running.stop().await;
}

fn reviews(running: &Running) -> u64 {
    let text = running.metrics.render();
    let rows = text.lines().filter(|line| {
        line.starts_with("usher_admission_reviews_total")
            && line.contains("phase=\"validate\"")
            && line.contains("kind=\"Account\"")
    });
    rows.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// Cases 1 and 2, and the issue's races.
#[tokio::test(flavor = "multi_thread")]
async fn races_for_the_default_have_one_winner_at_most() {
    const EACH: usize = 6;
    let races: usize = std::env::var("RACES").ok().and_then(|races| races.parse().ok()).unwrap_or(300);
    let (cluster, _turn) = cluster().await;
    let options = Options::new(cluster);
    // All at once, in a cluster that has no certificate yet.
    let replicas: Vec<Running> = join_all((0..3).map(|_| begin(&options))).await;
    join_all(replicas.iter().map(ready)).await;
    let spread = Spread::start(replicas.iter().map(|replica| replica.admission).collect()).await;
    install::webhooks_through(cluster, spread.address.port());
    in_force(cluster).await;
    // A 503 must be seen, not tried again in silence.
    let client = without_retries(cluster).await;
    delete_all(&client).await;
    no_lease(&client).await;

    // Case 2: twenty runs of fifty at once.
    for run in 0..20 {
        let names: Vec<String> = (0..50).map(|number| format!("run-{run}-{number}")).collect();
        let codes = join_all(names.iter().map(|name| async { create(&client, name, true).await.0 })).await;
        let winners = codes.iter().filter(|code| **code == 201).count();
        assert!(codes.iter().all(|code| [201, 409, 422].contains(code)), "run {run}: {codes:?}");
        assert_eq!((winners, defaults(&client).await.len()), (1, 1), "run {run}: {codes:?}");
        delete_all(&client).await;
    }

    let (mut won, mut held, mut open, mut slowest) = (0, 0, 0, Duration::ZERO);
    for race in 0..races {
        let names: Vec<String> = (0..EACH).map(|number| format!("race-{race}-{number}")).collect();
        let tries = names.iter().map(|name| async {
            let started = Instant::now();
            (create(&client, name, true).await, started.elapsed())
        });
        let mut winners = 0;
        for ((code, message, retry), took) in join_all(tries).await {
            slowest = slowest.max(took);
            match code {
                201 => winners += 1,
                422 => {
                    assert!(message.contains("USHA002"), "{message}");
                    held += 1;
                }
                409 => {
                    assert!(message.contains("USHA002") && retry > 0, "{message}");
                    open += 1;
                }
                other => panic!("race {race}: {other} {message}"),
            }
        }
        let live = defaults(&client).await;
        assert!(winners <= 1 && live.len() == winners, "race {race}: {winners} created, live: {live:?}");
        won += winners;
        // Gone, so that its claim is confirmed.
        delete_all(&client).await;
        if race % 5 == 4 {
            spread.cut();
            // The API server has to notice that its idle connections are gone.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    let counts: Vec<u64> = replicas.iter().map(reviews).collect();
    let all: u64 = counts.iter().sum();
    println!(
        "races: {races} of {EACH} requests each: {won} won, {held} refused with 422, {open} with 409; slowest request {slowest:.1?}"
    );
    println!("races: reviews per replica {counts:?}");
    assert_eq!(won, races, "some races had no winner");
    assert!(slowest < Duration::from_secs(11), "a request took {slowest:?}");
    for count in counts {
        assert!(count * 5 >= all, "a replica saw only {count} of {all} reviews");
    }
    // No lockout.
    eventually_for(Duration::from_secs(100), "a new default", || {
        let client = client.clone();
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current()
                .block_on(async { create(&client, "final", true).await.0 == 201 })
        })
    })
    .await;
    delete_all(&client).await;
    install::no_webhooks_through(cluster);
    join_all(replicas.into_iter().map(Running::stop)).await;
}

/// Cases 4, 5, 7, 55 and 56.
#[tokio::test(flavor = "multi_thread")]
async fn a_default_moves_on_as_soon_as_it_is_free() {
    let (cluster, _turn) = cluster().await;
    let (running, client) = stage(cluster, 60).await;
    assert_eq!(create(&client, "a", true).await.0, 201);
    let (code, message, _) = create(&client, "b", true).await;
    assert!(code == 422 && message.contains("\"a\"") && message.contains("USHA002"), "{code} {message}");

    // 7: what turns nothing on never touches the Lease.
    eventually("the claim confirmed", || {
        let text = cluster.kubectl(&["get", "lease", "-n", "usher-system", LEASE, "-o", "yaml"], None).1;
        text.contains("claim-phase: confirmed")
    })
    .await;
    let (_, before) = lease(&client).await.unwrap();
    assert!(cluster.kubectl(&["label", "account", "a", "x=y"], None).0);
    assert_eq!(create(&client, "plain", false).await.0, 201);
    assert_eq!(lease(&client).await.unwrap().1, before);

    // 4: off, then another one on at once.
    assert_eq!(set_default(&client, "a", false).await.0, 200);
    // 5: a dry run says so, and writes nothing.
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    accounts(&client).create(&dry, &account("b", true)).await.unwrap();
    assert_eq!(lease(&client).await.unwrap().1, before, "a dry run wrote the Lease");
    assert_eq!(create(&client, "b", true).await.0, 201);
    let refused = accounts(&client).create(&dry, &account("c", true)).await;
    assert!(matches!(refused, Err(kube::Error::Api(status)) if status.code == 422));
    assert_eq!(set_default(&client, "a", true).await.0, 422);

    // 55: one that is being deleted is no default.
    let hold = json!({"metadata": {"finalizers": ["usher.test/hold", "uptimerobot.com/account-in-use"]}});
    accounts(&client).patch("b", &Default::default(), &kube::api::Patch::Merge(hold)).await.unwrap();
    accounts(&client).delete("b", &DeleteParams::default()).await.unwrap();
    assert_eq!(create(&client, "d", true).await.0, 201);
    let free = json!({"metadata": {"finalizers": []}});
    accounts(&client).patch("b", &Default::default(), &kube::api::Patch::Merge(free)).await.unwrap();
    accounts(&client).delete("d", &DeleteParams::default()).await.unwrap();
    eventually("d gone", || !cluster.kubectl(&["get", "account", "d"], None).0).await;

    // 56: the holder is the name that is stored.
    let mut named = account("", true);
    named.metadata.name = None;
    named.metadata.generate_name = Some("made-".to_owned());
    let stored = accounts(&client).create(&PostParams::default(), &named).await.unwrap().name_any();
    assert!(stored.starts_with("made-") && stored.len() > 5);
    assert_eq!(lease(&client).await.unwrap().0, stored);
    end(cluster, running, &client).await;
}

/// Cases 49 and 51: admitted by usher, refused by somebody after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_never_lands_keeps_others_out_for_the_grace_only() {
    let (cluster, _turn) = cluster().await;
    let (running, client) = stage(cluster, 6).await;
    let refuser = Refuser::start(cluster).await;
    let mut refused = (0, String::new(), 0);
    for _ in 0..50 {
        refused = create(&client, "refused", true).await;
        if refused.0 != 201 {
            break;
        }
        // Not in force yet.
        delete_all(&client).await;
        no_lease(&client).await;
    }
    assert!(refused.0 != 201 && !refused.1.contains("USHA002"), "{refused:?}");
    // 49: the same name may try at once (and is refused by the other webhook alone), others wait.
    let again = create(&client, "refused", true).await;
    assert!(again.0 == 400 && again.1.contains("refuser.usher.test"), "{again:?}");
    let (code, message, retry) = create(&client, "other", true).await;
    assert!(
        code == 409 && message.contains("\"refused\"") && (1..=6).contains(&retry),
        "{code} {message} {retry}"
    );
    let kubectl = "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {name: other}\nspec: {isDefault: true, apiKeySecretRef: {name: key, key: apiKey}}\n";
    let (ok, _, errors) = cluster.kubectl(&["create", "-f", "-"], Some(kubectl));
    assert!(
        !ok && errors.contains("was admitted as the default a moment ago but is not stored yet"),
        "{errors}"
    );
    let started = Instant::now();
    while create(&client, "other", true).await.0 != 201 {
        assert!(started.elapsed() < Duration::from_secs(10), "the grace does not end");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert_eq!(set_default(&client, "other", false).await.0, 200);

    // 51: an update that is admitted and not stored; any other write of that object decides it.
    assert_eq!(create(&client, "refused-update", false).await.0, 201);
    assert_eq!(set_default(&client, "refused-update", true).await.0, 400);
    assert_eq!(create(&client, "third", true).await.0, 409);
    assert!(cluster.kubectl(&["label", "account", "refused-update", "x=y"], None).0);
    assert_eq!(create(&client, "third", true).await.0, 201);
    refuser.stop(cluster);
    end(cluster, running, &client).await;
}

/// Case 53.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_killed_between_claim_and_answer_locks_nobody_out() {
    let (cluster, _turn) = cluster().await;
    let (running, client) = stage(cluster, 60).await;
    // Its calls take so long that it can be killed between two of them.
    let fault = Fault::start(cluster.address).await;
    let kubeconfig = install::account_at(cluster, fault.address.port());
    let slow = Process::start(
        cluster,
        env!("CARGO_BIN_EXE_usher").as_ref(),
        &kubeconfig,
        &["--cert-mode=self", "--tls-names=127.0.0.1"],
    );
    eventually_for(Duration::from_secs(30), "ready", || slow.is_ready()).await;
    install::webhooks(cluster, slow.admission, None);
    in_force(cluster).await;
    fault.delay(Duration::from_millis(250));
    let request = tokio::spawn({
        let client = client.clone();
        async move { create(&client, "a", true).await }
    });
    let started = Instant::now();
    while lease(&client).await.is_none() {
        assert!(started.elapsed() < Duration::from_secs(10), "no claim");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(slow);
    let (code, message, _) = request.await.unwrap();
    assert!(code == 500 && message.contains("failed calling webhook"), "{code} {message}");
    assert_eq!(lease(&client).await.unwrap().0, "a");
    install::webhooks(cluster, running.admission, None);
    in_force(cluster).await;
    assert_eq!(create(&client, "b", true).await.0, 409, "it may still be stored, for all anybody knows");
    assert_eq!(create(&client, "a", true).await.0, 201, "the same name at once, through another replica");
    end(cluster, running, &client).await;
}

/// Case 57: without answers for the claim only turning a default on fails.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_lease_api_only_turning_a_default_on_fails() {
    let (cluster, _turn) = cluster().await;
    let fault = Fault::start(cluster.address).await;
    let options =
        Options { kubeconfig: install::account_at(cluster, fault.address.port()), ..Options::new(cluster) };
    let running = replica(&options).await;
    install::webhooks(cluster, running.admission, None);
    in_force(cluster).await;
    let client = cluster.client().await;
    delete_all(&client).await;
    fault.refuse();
    let started = Instant::now();
    // client-go repeats a 503 with retryAfterSeconds by itself; kube is told not to.
    let (code, message, retry) = create(&without_retries(cluster).await, "a", true).await;
    assert!(code == 503 && retry == 1, "{code} {message} {retry}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(create(&client, "plain", false).await.0, 201);
    accounts(&client).delete("plain", &DeleteParams::default()).await.unwrap();
    fault.heal();
    eventually_for(Duration::from_secs(30), "the Account gone", || {
        !cluster.kubectl(&["get", "account", "plain"], None).0
    })
    .await;

    // A missing right is named, and nobody is told to try again.
    let (ok, _, errors) = cluster.kubectl(
        &[
            "patch",
            "role",
            "-n",
            "usher-system",
            "usher",
            "--type=json",
            "-p",
            r#"[{"op":"remove","path":"/rules/0"}]"#,
        ],
        None,
    );
    assert!(ok, "{errors}");
    // The authorizer hears of it a moment later. An Account that slips in before would wait for a leader, which needs
    // that right too.
    let can_claim = ["auth", "can-i", "--as=system:serviceaccount:usher-system:usher", "-n", "usher-system"];
    eventually("the right gone", || {
        cluster.kubectl(&[&can_claim[..], &["update", "leases"]].concat(), None).1.trim() == "no"
    })
    .await;
    let answer = create(&without_retries(cluster).await, "a", true).await;
    assert!(answer.0 == 503 && answer.2 == 0, "{answer:?}");
    assert!(answer.1.contains("leases"), "{answer:?}");
    install::apply(cluster, &usher::manifests::rbac::documents(&Install::default()));
    end(cluster, running, &client).await;
}

async fn without_retries(cluster: &Cluster) -> Client {
    let file = kube::config::Kubeconfig::read_from(&cluster.kubeconfig).unwrap();
    let mut config = kube::Config::from_custom_kubeconfig(file, &Default::default()).await.unwrap();
    config.default_retry = false;
    Client::try_from(config).unwrap()
}

/// A class that selects other workloads is no rival, and takes the claim over; one that overlaps is.
#[tokio::test(flavor = "multi_thread")]
async fn default_classes_of_different_workloads_live_together() {
    let (cluster, _turn) = cluster().await;
    let (running, client) = stage(cluster, 60).await;
    let class = |name: &str, team: Option<&str>| {
        let selector = team.map_or(json!({}), |team| json!({"matchLabels": {"team": team}}));
        json!({
            "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "ScrapeClass",
            "metadata": {"name": name},
            "spec": {"default": true, "workloadSelector": selector, "fallbackScrapeProtocol": "PrometheusText1.0.0"}
        })
    };
    let apply =
        |document: Value| cluster.kubectl(&["apply", "-f", "-"], Some(&usher::yaml::write(&document)));
    let (ok, _, errors) = apply(class("red", Some("red")));
    assert!(ok, "{errors}");
    let (ok, _, errors) = apply(class("blue", Some("blue")));
    assert!(ok, "another selector, and no workload has both: {errors}");
    let (ok, _, errors) = apply(class("crimson", Some("red")));
    assert!(!ok && errors.contains("USHC004") && errors.contains("red"), "{errors}");
    // Moving a default claims again.
    let (ok, _, errors) = apply(class("blue", Some("red")));
    assert!(!ok && errors.contains("USHC004"), "{errors}");
    assert!(cluster.kubectl(&["delete", "scrapeclass", "red", "blue"], None).0);
    let _ = leases(&client).delete("scrape-class-default", &DeleteParams::default()).await;
    end(cluster, running, &client).await;
}
