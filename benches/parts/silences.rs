//! 5,000 Silences from a cold start into two Alertmanagers in gossip, beside a program that makes the same writes, one
//! after the other on a fresh cluster each; then usher at rest.
//!
//! What was called and how long it took comes from the servers: the API server's audit log and Alertmanager's own
//! metrics.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use jiff::Timestamp;
use kube::api::{Api, DynamicObject, PostParams};
use serde_json::json;
use usher::kinds::silence::KIND;

use super::process::Watched;
use super::silence_peer::{self, CONCURRENCY};
use crate::support::alertmanagers::{Alertmanagers, Options, Release};
use crate::support::audit::{self, Entry};
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Process, get};

const MANY: usize = 5_000;
const FEW: usize = 500;
const NAMESPACES: usize = 10;
const MEMBERS: usize = 2;
const PUSH_PULL: &str = "2s";
const AIM: f64 = 1.3;
/// How long usher is watched at rest, and how often it compares everything meanwhile.
const REST: Duration = Duration::from_secs(30);
const RESYNC: &str = "2s";

/// Two rounds, the better one of each: other programs may disturb one.
fn rounds() -> usize {
    std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

/// A cluster with Silences that nobody has touched, and empty Alertmanagers.
struct Stage {
    cluster: Cluster,
    alertmanagers: Alertmanagers,
    kubeconfig: PathBuf,
    count: usize,
}

/// Calls that the Alertmanagers have answered, and the seconds that it took them.
#[derive(Default, Clone, Copy)]
struct Calls {
    posts: f64,
    post_seconds: f64,
    deletes: f64,
    lists: f64,
    list_seconds: f64,
    others: f64,
}

/// What one program did until everything was synced.
struct Course {
    took: f64,
    calls: Calls,
    finalizers: Writes,
    statuses: Writes,
    other_writes: usize,
    /// From the start to the first and to the last finalizer.
    first: f64,
    last: f64,
    /// From the finalizer of a Silence to its status, on average.
    between: f64,
    cpu: Option<Duration>,
}

#[derive(Default)]
struct Writes {
    count: usize,
    seconds: f64,
}

impl Stage {
    async fn set(count: usize) -> Self {
        let cluster = Cluster::start().await;
        install::everything(&cluster);
        for number in 0..NAMESPACES {
            install::namespace(&cluster, &namespace(number));
        }
        let client = cluster.client().await;
        let create = |number: usize| {
            let namespace = namespace(number % NAMESPACES);
            let api: Api<DynamicObject> =
                Api::namespaced_with(client.clone(), &namespace, &KIND.api_resource());
            async move { api.create(&PostParams::default(), &silence(&namespace, number)).await.unwrap() }
        };
        futures::stream::iter((0..count).map(create)).buffer_unordered(16).for_each(|_| async {}).await;
        // Gossip sends one packet at a time, about ten silences in a second; the rest comes by push/pull. Were that every
        // minute, as by default, nothing else would be measured.
        let options = Options { push_pull: PUSH_PULL.to_owned(), ..Options::default() };
        let alertmanagers = Alertmanagers::start(Release::New, MEMBERS, options).await;
        let kubeconfig = install::account(&cluster);
        Self { cluster, alertmanagers, kubeconfig, count }
    }

    fn urls(&self) -> Vec<String> {
        (0..MEMBERS).map(|index| self.alertmanagers.url(index)).collect()
    }

    fn metrics(&self) -> String {
        let pages =
            (0..MEMBERS).map(|index| get(&format!("http://{}/metrics", self.alertmanagers.addr(index))));
        pages.map(|page| page.unwrap().1).collect()
    }

    fn calls(&self) -> Calls {
        let mut calls = Calls::default();
        for line in self.metrics().lines() {
            let Some(rest) = line.strip_prefix("alertmanager_http_request_duration_seconds_") else {
                continue;
            };
            if !rest.contains("/api/v2/") {
                continue;
            }
            let value: f64 = rest.rsplit(' ').next().unwrap().parse().unwrap();
            let has = |text: &str| rest.contains(text);
            let is_list = has("handler=\"/api/v2/silences\"") && has("method=\"get\"");
            match (rest.starts_with("count"), rest.starts_with("sum")) {
                (true, _) if is_list => calls.lists += value,
                (true, _) if has("method=\"post\"") => calls.posts += value,
                (true, _) if has("method=\"delete\"") => calls.deletes += value,
                (true, _) => calls.others += value,
                (_, true) if is_list => calls.list_seconds += value,
                (_, true) if has("method=\"post\"") => calls.post_seconds += value,
                _ => {}
            }
        }
        calls
    }

    fn usher(&self, more: &[&str]) -> Process {
        let urls = format!("--alertmanager={}", self.urls().join(","));
        let arguments: Vec<&str> = [urls.as_str()].into_iter().chain(more.iter().copied()).collect();
        let binary = Path::new(env!("CARGO_BIN_EXE_usher"));
        Process::start(&self.cluster, binary, &self.kubeconfig, &arguments)
    }

    /// Starts usher and waits until every status says that the silence is on every instance.
    async fn usher_syncs(&self) -> Course {
        let mark = audit::mark(&self.cluster);
        let started = Timestamp::now();
        let process = self.usher(&[]);
        let clock = Instant::now();
        // Cheap to ask; the objects themselves are read when it may be over.
        while status_writes(&process) < self.count || self.unsynced().await > 0 {
            assert!(clock.elapsed() < Duration::from_secs(300), "{} are not synced", self.unsynced().await);
            tokio::time::sleep(Duration::from_millis(250)).await;
        }
        let cpu = Watched::new(process.pid()).cpu();
        let mut course = self.course(mark, started, None);
        course.cpu = Some(cpu);
        self.check().await;
        course
    }

    async fn peer_syncs(&self) -> Course {
        let config = kube::config::Kubeconfig::read_from(&self.kubeconfig).unwrap();
        let config = kube::Config::from_custom_kubeconfig(config, &Default::default()).await.unwrap();
        let client = kube::Client::try_from(config).unwrap();
        let mark = audit::mark(&self.cluster);
        let (started, clock) = (Timestamp::now(), Instant::now());
        silence_peer::run(client, &self.urls()).await;
        let course = self.course(mark, started, Some(clock.elapsed().as_secs_f64()));
        self.check().await;
        course
    }

    /// What the servers say about it; without a time it was over with the last status.
    fn course(&self, mark: u64, started: Timestamp, took: Option<f64>) -> Course {
        let calls = self.calls();
        let entries = audit::ushers(&self.cluster, mark);
        let since = |time: Timestamp| time.duration_since(started).as_secs_f64();
        let of = |resource: &str| -> Vec<&Entry> {
            entries.iter().filter(|entry| entry.verb == "patch" && entry.resource == resource).collect()
        };
        let (finalizers, statuses) = (of("silences"), of("silences/status"));
        let sum = |writes: &[&Entry]| Writes {
            count: writes.len(),
            seconds: writes.iter().map(|entry| since(entry.ended) - since(entry.began)).sum(),
        };
        let written: HashMap<&str, f64> =
            statuses.iter().map(|entry| (entry.name.as_str(), since(entry.began))).collect();
        let between: f64 = finalizers
            .iter()
            .filter_map(|entry| Some(written.get(entry.name.as_str())? - since(entry.ended)))
            .sum();
        let ended = |writes: &[&Entry]| writes.iter().map(|entry| since(entry.ended)).fold(0.0, f64::max);
        Course {
            took: took.unwrap_or_else(|| ended(&statuses)),
            calls,
            other_writes: entries.iter().filter(|entry| entry.is_write()).count()
                - finalizers.len()
                - statuses.len(),
            first: finalizers.iter().map(|entry| since(entry.began)).fold(f64::MAX, f64::min),
            last: ended(&finalizers),
            between: between / finalizers.len().max(1) as f64,
            finalizers: sum(&finalizers),
            statuses: sum(&statuses),
            cpu: None,
        }
    }

    /// How many Silences do not say that they are on every instance?
    async fn unsynced(&self) -> usize {
        let all: Api<DynamicObject> = Api::all_with(self.cluster.client().await, &KIND.api_resource());
        let list = all.list(&Default::default()).await.unwrap();
        assert_eq!(list.items.len(), self.count);
        let is_synced = |object: &&DynamicObject| {
            object.data["status"]["bindings"][0]["syncedInstances"] == MEMBERS
                && object.metadata.finalizers.iter().flatten().count() == 1
        };
        self.count - list.items.iter().filter(is_synced).count()
    }

    /// Is everything there, once?
    async fn check(&self) {
        for index in 0..MEMBERS {
            assert_eq!(self.alertmanagers.live(index).await.len(), self.count, "on instance {index}");
        }
        assert_eq!(self.unsynced().await, 0);
    }

    /// A row about usher on a cluster where everything is synced: nothing changes for a while.
    async fn rests(&self) -> (String, f64) {
        let process = self.usher(&["--silence-resync", RESYNC]);
        while !process.is_leader() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // Watches begin, and everything is looked at for the first time.
        tokio::time::sleep(Duration::from_secs(10)).await;
        let (mark, before, reconciled) = (audit::mark(&self.cluster), self.calls(), reconciles(&process));
        let watched = Watched::new(process.pid());
        let cpu = watched.cpu();
        tokio::time::sleep(REST).await;
        let (after, reconciled) = (self.calls(), reconciles(&process) - reconciled);
        let cpu = (watched.cpu() - cpu).as_secs_f64() / REST.as_secs_f64() * 100.0;
        let entries = audit::ushers(&self.cluster, mark);
        let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.resource != "leases").collect();
        let writes = entries.iter().filter(|entry| entry.is_write()).count();
        let sent = after.posts + after.deletes - before.posts - before.deletes;
        let per_minute = |count: f64| count * 60.0 / REST.as_secs_f64();
        let lists = per_minute(after.lists - before.lists);
        assert_eq!((writes, sent), (0, 0.0), "nothing has changed: {entries:?}");
        let row = format!(
            "| {} | {} | {writes} | {sent} | {} | {lists:.0} | {:.0} | {cpu:.1}% | {:.0} MiB |\n",
            self.count,
            reconciled,
            entries.len() - writes,
            per_minute(after.others - before.others),
            watched.resident(),
        );
        (row, lists)
    }
}

fn namespace(number: usize) -> String {
    format!("team-{number}")
}

fn silence(namespace: &str, number: usize) -> DynamicObject {
    let object = json!({
        "apiVersion": KIND.api_version(), "kind": KIND.kind,
        "metadata": {"name": format!("silence-{number}"), "namespace": namespace},
        "spec": {
            "comment": format!("OPS-{number}: planned work on the database, replication lag is expected"),
            "duration": "2h",
            "matchers": [
                {"name": "alertname", "value": "ReplicationLag", "matchType": "="},
                {"name": "service", "value": format!("database-{number}"), "matchType": "="},
            ],
        },
    });
    serde_json::from_value(object).unwrap()
}

fn status_writes(process: &Process) -> usize {
    metric(process, "usher_status_writes_total{kind=\"Silence\"}")
}

fn reconciles(process: &Process) -> usize {
    metric(process, "usher_reconciles_total{kind=\"Silence\"")
}

/// The sum of the lines that begin so.
fn metric(process: &Process, prefix: &str) -> usize {
    let (_, page) = process.get("/metrics").unwrap_or_default();
    let lines = page.lines().filter(|line| line.starts_with(prefix));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum()
}

pub fn table(runtime: &tokio::runtime::Runtime) -> String {
    runtime.block_on(measure())
}

async fn measure() -> String {
    let (mut best, mut rest): ([Option<Course>; 2], _) = ([None, None], None);
    for round in 1..=rounds() {
        for (who, best) in best.iter_mut().enumerate() {
            let name = ["usher", "peer"][who];
            let stage = Stage::set(MANY).await;
            let course = if who == 0 { stage.usher_syncs().await } else { stage.peer_syncs().await };
            eprintln!("bench: {MANY} Silences, round {round}, {name}: {:.2} s", course.took);
            if best.as_ref().is_none_or(|best| course.took < best.took) {
                *best = Some(course);
            }
            if who == 0 && rest.is_none() {
                rest = Some(stage.rests().await);
            }
        }
    }
    let (few, few_lists) = {
        let stage = Stage::set(FEW).await;
        stage.usher_syncs().await;
        stage.rests().await
    };
    let [Some(usher), Some(peer)] = best else { panic!("no rounds") };
    let (many, many_lists) = rest.unwrap();
    // The times between two lists are jittered; a list for each Silence would be hundreds.
    assert!(many_lists <= few_lists * 2.0, "{few_lists} lists per minute of {FEW}, {many_lists} of {MANY}");
    side_by_side(&usher, &peer)
        + &format!(
            "\nAt rest, everything compared again every {RESYNC}, for {} s; Leases of the leader aside.\n\n",
            REST.as_secs()
        )
        + "| Silences | compared | API-server writes | Alertmanager writes | API-server reads | lists per minute, both instances | other reads per minute | CPU | RSS |\n|---|---|---|---|---|---|---|---|---|\n"
        + &few
        + &many
}

fn side_by_side(usher: &Course, peer: &Course) -> String {
    let mut table = format!(
        "{MANY} Silences in {NAMESPACES} namespaces, {MEMBERS} Alertmanagers 0.34 in gossip (push/pull every {PUSH_PULL}), empty at the start; until\n\
         every status says that both have it, and both list all. The peer lists once and makes the same two writes and the POST for each, {CONCURRENCY} at a time, as usher\n\
         does, and thinks nothing. The best of {} rounds each, in turns. Times of calls are the servers' own.\n\n",
        rounds()
    );
    table += "| what | usher | peer |\n|---|---|---|\n";
    let mut row = |what: &str, show: &dyn Fn(&Course) -> String| {
        table += &format!("| {what} | {} | {} |\n", show(usher), show(peer));
    };
    let each = |count: f64| format!("{:.3}", count / MANY as f64);
    let share = |seconds: f64| format!("{:.2} s", seconds / CONCURRENCY as f64);
    let api = |course: &Course| course.finalizers.seconds + course.statuses.seconds;
    row("all synced after", &|course| format!("{:.2} s", course.took));
    row("of it API-server writes", &|course| share(api(course)));
    row("of it POSTs", &|course| share(course.calls.post_seconds));
    row("of it replication, lists and everything else", &|course| {
        format!("{:.2} s", course.took - (api(course) + course.calls.post_seconds) / CONCURRENCY as f64)
    });
    row("the first write after", &|course| format!("{:.2} s", course.first));
    row("from the last finalizer to the end", &|course| format!("{:.2} s", course.took - course.last));
    row("from finalizer to status, on average", &|course| format!("{:.2} s", course.between));
    row("finalizer writes per Silence", &|course| each(course.finalizers.count as f64));
    row("status writes per Silence", &|course| each(course.statuses.count as f64));
    row("POSTs per Silence", &|course| each(course.calls.posts));
    row("lists, all in all", &|course| {
        format!("{:.0} ({:.2} s)", course.calls.lists, course.calls.list_seconds)
    });
    row("other API-server writes, all in all", &|course| course.other_writes.to_string());
    row("CPU of the program", &|course| {
        course.cpu.map_or("not measured".to_owned(), |cpu| format!("{:.2} s", cpu.as_secs_f64()))
    });
    table + &format!("\nusher to the peer: {:.2}, aim at most {AIM}.\n", usher.took / peer.took)
}
