//! `make demo`: usher at work on a real API server. Builds nothing itself; `.ci/demo.sh` has built what it needs.
//!
//! A kube-apiserver with usher installed as people install it: two replicas behind a Service, with certificates of their
//! own. Good manifests are stored, bad ones refused with the message that a user sees; a second default is refused; a
//! replica is stopped under load; silences arrive in two Alertmanagers and are kept there; something that slipped in while
//! the webhooks were off is found. `KEEP=1` leaves everything running.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

#[path = "../../tests/support/mod.rs"]
mod support;

mod silences;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use support::alertmanagers::{Alertmanagers, Release};
use support::cluster::Cluster;
use support::install;
use support::load::Load;
use support::proxy::Spread;
use support::replica::{Process, eventually_for};

fn say(text: &str) {
    let (bold, plain) = if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    println!("\n{bold}== {text}{plain}");
}

/// The usher binary beside this program: `target/debug/examples/demo` and `target/debug/usher`.
fn usher() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("usher")
}

fn printed(arguments: &[&str]) -> String {
    let output = Command::new(usher()).arg("manifests").args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn start(cluster: &Cluster, kubeconfig: &Path, alertmanagers: &Alertmanagers) -> Process {
    let urls = format!("--alertmanager={},{}", alertmanagers.url(0), alertmanagers.url(1));
    let arguments = ["--cert-mode=self", "--shutdown-delay=3s", "--silence-resync=3s", &urls];
    Process::start(cluster, &usher(), kubeconfig, &arguments)
}

async fn until(what: &str, done: impl FnMut() -> bool) {
    eventually_for(Duration::from_secs(40), what, done).await;
}

fn manifests(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(support::root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

fn short(path: &Path) -> String {
    path.strip_prefix(support::root()).unwrap_or(path).display().to_string()
}

/// What happened, for the table at the end.
#[derive(Default)]
struct Story(Vec<(&'static str, String)>);

impl Story {
    fn tell(&mut self, result: &'static str, what: impl Into<String>) {
        self.0.push((result, what.into()));
    }
}

#[tokio::main]
async fn main() {
    let started = Instant::now();
    let mut story = Story::default();

    say("a real kube-apiserver on loopback");
    let cluster = Cluster::start().await;
    println!("up after {:.1} s", started.elapsed().as_secs_f64());

    say("two real Alertmanagers in gossip");
    let alertmanagers = Alertmanagers::start(Release::New, 2, Default::default()).await;
    println!("{} and {}", alertmanagers.url(0), alertmanagers.url(1));

    say("the install: usher manifests all | kubectl apply --server-side -f -");
    let (ok, out, errors) = cluster.kubectl(&["apply", "--server-side", "-f", "-"], Some(&printed(&["all"])));
    assert!(ok, "{errors}");
    println!("{} objects: CRDs, rights, Service, Deployment, webhooks", out.lines().count());
    install::namespace(&cluster, "shop");
    // prometheus-operator would have brought it.
    install::judged_guests(&cluster);
    let published = support::cluster::peers("operator-crds").join("monitoring.coreos.com_alertmanagers.yaml");
    let arguments = ["apply", "--server-side", "-f", &published.display().to_string()];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
    install::namespace(&cluster, "monitoring");

    say("two replicas, as usher's own account, with certificates that they make themselves");
    let kubeconfig = install::account(&cluster);
    let mut replicas =
        vec![start(&cluster, &kubeconfig, &alertmanagers), start(&cluster, &kubeconfig, &alertmanagers)];
    for replica in &replicas {
        until("a replica ready", || replica.is_ready()).await;
        println!("ready: admission on {}", replica.admission);
    }
    let addresses =
        |replicas: &[Process]| replicas.iter().map(|replica| replica.admission).collect::<Vec<_>>();
    let spread = Spread::start(addresses(&replicas)).await;
    // There is no kube-proxy here: the Service leads to a small one on loopback instead.
    assert!(cluster.kubectl(&["delete", "service", "-n", "usher-system", "usher"], None).0);
    install::webhooks_through(&cluster, spread.address.port());
    let past = support::root().join("examples/bad/silence-past-end.yaml").display().to_string();
    until("webhooks in force", || {
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", &past], None);
        !ok && errors.contains("USHS")
    })
    .await;
    println!("webhooks in force; their CA was put there by usher");

    say("good manifests are applied");
    for file in manifests("examples") {
        let (ok, out, errors) = cluster.kubectl(&["apply", "-f", &file.display().to_string()], None);
        print!("{out}{errors}");
        assert!(ok, "{} was refused", short(&file));
        story.tell("stored", short(&file));
    }

    say("bad manifests are refused, with what to write instead");
    for file in &manifests("examples/bad") {
        println!("\n$ kubectl apply --dry-run=server -f {}", short(file));
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", &short(file)], None);
        print!("{errors}");
        assert!(!ok, "{} was admitted", short(file));
        let refusal: String = errors.lines().filter(|line| !line.starts_with("Warning")).collect();
        let code =
            refusal.split("USH").nth(1).map_or("schema".to_owned(), |rest| format!("USH{}", &rest[..4]));
        story.tell("refused", format!("{} ({code})", short(file)));
    }

    say("a second default, for real this time: the claim decides, whichever replica is asked");
    let second = support::root().join("examples/bad/account-second-default.yaml").display().to_string();
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", &second], None);
    print!("{errors}");
    assert!(!ok && errors.contains("USHA002"), "a second default was admitted");
    let (_, lease, _) = cluster.kubectl(
        &[
            "get",
            "lease",
            "-n",
            "usher-system",
            "uptime-default-account",
            "-o",
            "jsonpath={.spec.holderIdentity}",
        ],
        None,
    );
    println!("the Lease uptime-default-account is held by Account {lease:?}");
    story.tell("refused", "a second default Account (USHA002), by a claim");

    silences::show(&cluster, &alertmanagers, &mut story).await;

    say("one replica is stopped (SIGTERM) under load");
    let load = Load::start(&cluster, 3).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let old = replicas.remove(0);
    old.signal_term();
    until("unready", || old.get("/readyz").is_none_or(|(status, _)| status == 503)).await;
    println!("unready at once; it still answers while the Service forgets it");
    spread.set(addresses(&replicas));
    assert!(old.terminate().success());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let reviews = load.end().await;
    println!("gone; {reviews} applies and reviews during that time, none failed");
    story.tell("unharmed", format!("{reviews} applies and reviews while a replica was stopped"));

    say("something slips in while the webhooks are off");
    install::no_webhooks(&cluster);
    let contradiction = support::root().join("examples/bad/silence-contradiction.yaml").display().to_string();
    until("it is stored", || cluster.kubectl(&["apply", "-f", &contradiction], None).0).await;
    println!("$ kubectl apply -f examples/bad/silence-contradiction.yaml\nstored");
    install::webhooks_through(&cluster, spread.address.port());
    let mut told = String::new();
    until("Accepted=False", || {
        let path = "jsonpath={range .status.conditions[?(@.type==\"Accepted\")]}{.status} {.reason}: {.message}{end}";
        let (_, text, _) =
            cluster.kubectl(&["get", "silence", "-n", "shop", "never-matches", "-o", path], None);
        told = text;
        told.starts_with("False")
    })
    .await;
    println!("Accepted={told}");
    story.tell(
        "found",
        format!("Silence shop/never-matches: Accepted={}", told.chars().take(40).collect::<String>()),
    );

    say("what happened");
    println!("result         what");
    for (result, what) in &story.0 {
        println!("{result:<14} {what}");
    }
    println!("\nthe whole demo took {:.0} s", started.elapsed().as_secs_f64());
    if std::env::var_os("KEEP").is_some_and(|keep| keep == "1") {
        println!("\nkept running until Ctrl-C:");
        println!("  export KUBECONFIG={}", cluster.kubeconfig.display());
        println!("  Alertmanagers {} {}", alertmanagers.url(0), alertmanagers.url(1));
        println!("  export PATH={}:$PATH", cluster.assets.display());
        for replica in &replicas {
            println!("  diagnostics {}", replica.diagnostics);
        }
        let _ = tokio::signal::ctrl_c().await;
    }
}
