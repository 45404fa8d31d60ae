//! Replicas of usher against a cluster, with the printed roles: in this process, or as processes that can be killed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use usher::cluster::Cluster as Found;
use usher::serve::in_cluster::{OwnCertificates, Part};
use usher::serve::run::{Certificates, Config, Mode, Running, start};
use usher::serve::tls::Files;
use usher::settings::Settings;

use super::cluster::{Cluster, free_port};
use super::install;

/// What a replica is told; tests change what they need.
pub struct Options {
    pub kubeconfig: PathBuf,
    pub settings: Arc<Settings>,
    pub certificates: Certificates,
    pub claim_grace: SignedDuration,
    pub lease_duration: Duration,
    pub shutdown_delay: Duration,
}

impl Options {
    /// usher's account, its own certificates, short times.
    pub fn new(cluster: &Cluster) -> Self {
        Self {
            kubeconfig: install::account(cluster),
            settings: Arc::new(Settings::default()),
            certificates: own(Duration::from_millis(250)),
            claim_grace: usher::claim::GRACE,
            lease_duration: Duration::from_secs(3),
            shutdown_delay: Duration::ZERO,
        }
    }
}

/// Certificates that usher keeps itself, for loopback.
pub fn own(overlap: Duration) -> Certificates {
    Certificates::Own(OwnCertificates { names: vec!["127.0.0.1".to_owned()], overlap, client_ca: None })
}

/// A certificate in files, and its CA.
pub fn files(cluster: &Cluster) -> (Certificates, String) {
    let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
    let directory = cluster.directory.join(format!("tls-{}", free_port()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = Files {
        certificate: file("tls.crt", &made.pair.certificate),
        key: file("tls.key", made.pair.key.expose()),
        client_ca: None,
    };
    (Certificates::Files(files), made.authority)
}

/// Starts a replica in this process; it may not be ready yet.
pub async fn begin(options: &Options) -> Running {
    super::cluster::install_crypto();
    let found = Found::find(Some(&options.kubeconfig), None, None).await.unwrap();
    let config = Config {
        mode: Mode::Cluster(Box::new(Part {
            cluster: found,
            claim_grace: options.claim_grace,
            lease_duration: options.lease_duration,
        })),
        listen: "127.0.0.1:0".parse().unwrap(),
        diagnostics_listen: "127.0.0.1:0".parse().unwrap(),
        certificates: options.certificates.clone(),
        poll: Duration::from_secs(10),
        max_in_flight: 512,
        settings: Arc::clone(&options.settings),
        shutdown_delay: options.shutdown_delay,
    };
    start(&config).await.unwrap()
}

/// Waits until a replica is ready.
pub async fn ready(running: &Running) {
    let what = || running.state.unready();
    eventually_for(Duration::from_secs(30), "ready", || what().is_empty()).await;
}

/// Starts a replica in this process and waits until it is ready.
pub async fn replica(options: &Options) -> Running {
    let running = begin(options).await;
    ready(&running).await;
    running
}

/// Tries until it is so, for 15 s.
pub async fn eventually(what: &str, done: impl FnMut() -> bool) {
    eventually_for(Duration::from_secs(15), what, done).await;
}

/// Tries until it is so.
pub async fn eventually_for(most: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < most, "{what}: not within {} s", most.as_secs());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A process `usher serve`; killed when dropped.
pub struct Process {
    child: Child,
    pub admission: SocketAddr,
    pub diagnostics: String,
}

impl Process {
    /// Starts the binary with the usual arguments and some more.
    pub fn start(cluster: &Cluster, binary: &Path, kubeconfig: &Path, more: &[&str]) -> Self {
        Self::start_with(cluster, binary, kubeconfig, more, &[])
    }

    /// The same with variables.
    pub fn start_with(
        cluster: &Cluster,
        binary: &Path,
        kubeconfig: &Path,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let log = cluster.directory.join(format!("usher-{}.log", free_port()));
        let mut child = Command::new(binary)
            .args(["serve", "--listen=127.0.0.1:0", "--diagnostics-listen=127.0.0.1:0", "--log=info"])
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(more)
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut line = |prefix: &str| {
            let line = lines.next().unwrap_or_else(|| panic!("{}", std::fs::read_to_string(&log).unwrap()));
            line.unwrap().strip_prefix(prefix).expect("usher says where it listens").to_owned()
        };
        let (admission, diagnostics) = (line("admission https://"), line("diagnostics "));
        Self { child, admission: admission.parse().unwrap(), diagnostics }
    }

    /// The text of a diagnostics page, and its status.
    pub fn get(&self, path: &str) -> Option<(u16, String)> {
        get(&format!("{}{path}", self.diagnostics))
    }

    pub fn is_ready(&self) -> bool {
        self.get("/readyz").is_some_and(|(status, _)| status == 200)
    }

    pub fn statusz(&self) -> serde_json::Value {
        self.get("/statusz").and_then(|(_, text)| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub fn is_leader(&self) -> bool {
        self.statusz()["leader"]["held"] == true
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM; gives back the exit status when it has ended.
    pub fn terminate(mut self) -> std::process::ExitStatus {
        self.signal_term();
        self.child.wait().unwrap()
    }

    /// Sends SIGTERM and does not wait.
    pub fn signal_term(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.pid().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Resident memory of its own, in bytes: what is mapped from the binary does not depend on objects.
    pub fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SIGKILL: nothing is released, as when a node is lost.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// GET over plain HTTP: status and body.
pub fn get(url: &str) -> Option<(u16, String)> {
    let address = url.strip_prefix("http://")?;
    let (host, path) = address.split_once('/')?;
    let mut stream = std::net::TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET /{path} HTTP/1.0\r\nhost: {host}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let status = text.split_whitespace().nth(1)?.parse().ok()?;
    Some((status, text.split_once("\r\n\r\n")?.1.to_owned()))
}
