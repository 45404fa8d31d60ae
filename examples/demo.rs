//! `make demo`: usher at work on a real API server. Builds nothing itself; `.ci/demo.sh` has built what it needs.
//!
//! A kube-apiserver with usher's CRDs and webhooks: good manifests are applied, bad ones refused with the message that a
//! user sees. `KEEP=1` leaves everything running.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::{BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::cluster::Cluster;

fn say(text: &str) {
    let (bold, plain) = if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    println!("\n{bold}== {text}{plain}");
}

fn root() -> PathBuf {
    support::root()
}

/// The usher binary beside this program: `target/debug/examples/demo` and `target/debug/usher`.
fn usher() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.parent().and_then(Path::parent).unwrap().join("usher")
}

/// `usher serve` against the cluster; ended with this process, however that ends.
struct Serving {
    child: Child,
    admission: String,
    diagnostics: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn serve(cluster: &Cluster) -> (Serving, PathBuf) {
    let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str, text: &str| {
        let path = cluster.directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let authority = file("usher-ca.pem", &made.authority);
    let mut child = Command::new(root().join("tests/peers/while-parent-lives.sh"))
        .arg(cluster.directory.join("usher"))
        .arg(usher())
        .args(["serve", "--listen", "127.0.0.1:0", "--diagnostics-listen", "127.0.0.1:0", "--log", "warn"])
        .arg("--kubeconfig")
        .arg(&cluster.kubeconfig)
        .arg("--tls-cert-file")
        .arg(file("usher.pem", &made.pair.certificate))
        .arg("--tls-key-file")
        .arg(file("usher.key", made.pair.key.expose()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(cluster.directory.join("usher.log")).unwrap())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = |prefix: &str| {
        let line = lines.next().expect("usher says where it listens").unwrap();
        line.strip_prefix(prefix).expect("usher says where it listens").to_owned()
    };
    let (admission, diagnostics) = (line("admission "), line("diagnostics "));
    (Serving { child, admission, diagnostics }, authority)
}

fn get(url: &str) -> Option<(u16, String)> {
    use std::io::Read as _;
    let address = url.strip_prefix("http://")?;
    let (host, path) = address.split_once('/')?;
    let mut stream = std::net::TcpStream::connect(host).ok()?;
    write!(stream, "GET /{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split_whitespace().nth(1)?.parse().ok()?;
    Some((status, text.split_once("\r\n\r\n")?.1.to_owned()))
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn manifests(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    files
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[tokio::main]
async fn main() {
    let started = Instant::now();

    say("a real kube-apiserver on loopback");
    let cluster = Cluster::start().await;
    println!("up after {:.1} s", started.elapsed().as_secs_f64());

    say("usher's CRDs and webhooks");
    support::install::everything(&cluster);
    let (serving, authority) = serve(&cluster);
    wait_until("usher ready", || {
        get(&format!("{}/readyz", serving.diagnostics)).is_some_and(|(status, _)| status == 200)
    });
    let webhooks = Command::new(usher())
        .args(["manifests", "webhooks", "--url", &serving.admission, "--ca-file"])
        .arg(&authority)
        .output()
        .unwrap();
    let (ok, out, errors) = cluster
        .kubectl(&["apply", "--server-side", "-f", "-"], Some(&String::from_utf8(webhooks.stdout).unwrap()));
    assert!(ok, "{errors}");
    print!("{out}");
    let bad = manifests("examples/bad");
    let past = root().join("examples/bad/silence-past-end.yaml").display().to_string();
    wait_until("webhooks in force", || !cluster.kubectl(&["apply", "--dry-run=server", "-f", &past], None).0);

    say("good manifests are applied");
    let mut applied = 0;
    for file in manifests("examples") {
        let (ok, out, errors) = cluster.kubectl(&["apply", "-f", &file.display().to_string()], None);
        print!("{out}{errors}");
        assert!(ok, "{} was refused", short(&file));
        applied += 1;
    }

    say("bad manifests are refused, with what to write instead");
    let mut refused = Vec::new();
    // usher's watch sees a stored object a moment after kubectl does.
    let second = root().join("examples/bad/account-second-default.yaml").display().to_string();
    wait_until("the stored default seen", || {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", &second], None).0
    });
    for file in &bad {
        println!("\n$ kubectl apply --dry-run=server -f {}", short(file));
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", &short(file)], None);
        print!("{errors}");
        assert!(!ok, "{} was admitted", short(file));
        let refusal: String = errors.lines().filter(|line| !line.starts_with("Warning")).collect();
        let code =
            refusal.split("USH").nth(1).map_or("schema".to_owned(), |rest| format!("USH{}", &rest[..4]));
        refused.push((short(file), code));
    }

    say("what happened");
    let (_, stored, _) = cluster.kubectl(
        &["get", "-A", "--no-headers", "-o", "custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name",
          "silences,scrapeclasses,alertingrules,recordingrules,rulerconfigs,accounts,contacts,monitors,maintenancewindows,monitorgroups,slackintegrations,kmshealths"],
        None,
    );
    println!("result         object");
    for line in stored.lines() {
        println!("{:<14} {line}", "stored");
    }
    for (file, code) in &refused {
        println!("{:<14} {file} ({code})", "refused");
    }
    assert_eq!(stored.lines().count(), applied, "every good example is stored, and nothing else");
    let (_, metrics) = get(&format!("{}/metrics", serving.diagnostics)).unwrap();
    let counted = |verdict: &str| -> f64 {
        let of = format!("verdict=\"{verdict}\"");
        let rows = metrics
            .lines()
            .filter(|line| line.starts_with("usher_admission_reviews_total") && line.contains(&of));
        rows.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    println!(
        "\nusher answered {} reviews: {} allowed, {} patched, {} denied; the whole demo took {:.0} s",
        counted("allowed") + counted("patched") + counted("denied"),
        counted("allowed"),
        counted("patched"),
        counted("denied"),
        started.elapsed().as_secs_f64()
    );
    if std::env::var_os("KEEP").is_some_and(|keep| keep == "1") {
        println!("\nkept running until Ctrl-C:");
        println!("  export KUBECONFIG={}", cluster.kubeconfig.display());
        println!("  export PATH={}:$PATH", cluster.assets.display());
        println!("  diagnostics {}", serving.diagnostics);
        let _ = tokio::signal::ctrl_c().await;
    }
}
