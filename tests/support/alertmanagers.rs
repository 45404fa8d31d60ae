//! Real Alertmanagers on loopback, alone or in gossip: each can be stopped, emptied, cut from its peers or frozen. They
//! end with this process, whatever way it ends. Their API is called here without usher's own client, so that a test
//! sees what Alertmanager says.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::client::Trust;
use super::cluster::peers;

/// Which Alertmanager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// 0.34.
    New,
    /// 0.31: silences have no annotations yet.
    Old,
}

impl Release {
    /// The version that `/status` tells.
    pub fn version(self) -> &'static str {
        match self {
            Self::New => "0.34.2",
            Self::Old => "0.31.1",
        }
    }

    fn program(self) -> PathBuf {
        peers("alertmanagers").join(match self {
            Self::New => "alertmanager-0.34",
            Self::Old => "alertmanager-0.31",
        })
    }
}

/// What Alertmanagers are told; tests change what they need. All durations are Go's.
pub struct Options {
    pub route_prefix: String,
    /// How long ended silences are kept.
    pub retention: String,
    /// How often they are looked through, and everything is written to disk.
    pub maintenance: String,
    pub push_pull: String,
    /// Settling takes forty of these, unless the time for it ends before.
    pub gossip: String,
    pub settle: String,
    pub max_silences: Option<u32>,
    pub max_silence_size_bytes: Option<u32>,
    /// `--web.config.file`, and what its certificate is checked with: it must be good for 127.0.0.1.
    pub web: Option<(PathBuf, Trust)>,
    pub arguments: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            route_prefix: "/".to_owned(),
            retention: "120h".to_owned(),
            maintenance: "15m".to_owned(),
            push_pull: "2s".to_owned(),
            gossip: "100ms".to_owned(),
            settle: "1s".to_owned(),
            max_silences: None,
            max_silence_size_bytes: None,
            web: None,
            arguments: Vec::new(),
        }
    }
}

/// Alertmanagers that live as long as this value.
pub struct Alertmanagers {
    directory: PathBuf,
    program: PathBuf,
    options: Options,
    members: Vec<Member>,
    /// Removes the directory should this process not come to it.
    keeper: Child,
}

struct Member {
    web: SocketAddr,
    mesh: SocketAddr,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    supervisor: Option<Child>,
    is_cut: bool,
    is_frozen: bool,
}

impl Alertmanagers {
    /// Builds what is missing, starts this many and waits until all are ready; more than one are in gossip.
    pub async fn start(release: Release, members: usize, options: Options) -> Self {
        let program = release.program();
        let name = format!("usher-alertmanagers-{}-{}", std::process::id(), steady_port());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).expect("making a scratch directory");
        fs::write(directory.join("alertmanager.yml"), CONFIGURATION).expect("writing the configuration");
        // Deaf to SIGTERM: its supervisor then waits 5 s before it removes what the members may still write to.
        let script = format!("{}; trap '' TERM; exec sleep infinity", note_pid(&directory, "keeper"));
        let keeper = supervise(&directory, &directory, "keeper", &script, &[]);
        let members = (0..members)
            .map(|_| Member {
                web: ([127, 0, 0, 1], steady_port()).into(),
                mesh: ([127, 0, 0, 1], steady_port()).into(),
                state: Mutex::default(),
            })
            .collect();
        let alertmanagers = Self { directory, program, options, members, keeper };
        for index in 0..alertmanagers.members.len() {
            alertmanagers.begin(index);
        }
        alertmanagers.wait_ready().await;
        alertmanagers
    }

    /// How many there are, running or not.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Where its API is served.
    pub fn addr(&self, index: usize) -> SocketAddr {
        self.members[index].web
    }

    /// What stands before `/api/v2`.
    pub fn url(&self, index: usize) -> String {
        let scheme = if self.options.web.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{}", self.addr(index), self.prefix())
    }

    fn prefix(&self) -> &str {
        self.options.route_prefix.trim_end_matches('/')
    }

    /// What a member has said so far.
    pub fn log(&self, index: usize) -> String {
        fs::read_to_string(self.directory.join(format!("member-{index}.log"))).unwrap_or_default()
    }

    /// Waits until every running member answers and, unless it is cut off, sees its peers. One that is gone may still
    /// be seen by others for some seconds.
    pub async fn wait_ready(&self) {
        let started = Instant::now();
        for index in 0..self.members.len() {
            while self.takes_part(index) && !self.is_ready(index).await {
                if started.elapsed() > Duration::from_secs(30) {
                    let log = self.log(index);
                    let tail: Vec<&str> = log.lines().rev().take(15).collect();
                    panic!(
                        "Alertmanager {index} is not ready after 30 s, newest first:\n{}",
                        tail.join("\n")
                    );
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    async fn is_ready(&self, index: usize) -> bool {
        let Ok((200, text)) = self.try_call(index, "GET", "/api/v2/status", None).await else { return false };
        let status: Value = serde_json::from_str(&text).unwrap_or_default();
        let seen: Vec<&Value> = status["cluster"]["peers"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|peer| &peer["address"])
            .collect();
        let expected = (0..self.len()).filter(|&other| {
            self.len() > 1 && !self.state(index).is_cut && self.takes_part(other) && !self.state(other).is_cut
        });
        let sees_all =
            expected.map(|other| json!(self.members[other].mesh)).all(|peer| seen.contains(&&peer));
        sees_all && status["cluster"]["status"] != "settling"
    }

    fn takes_part(&self, index: usize) -> bool {
        let state = self.state(index);
        state.supervisor.is_some() && !state.is_frozen
    }

    fn state(&self, index: usize) -> std::sync::MutexGuard<'_, State> {
        self.members[index].state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, index: usize) {
        let member = &self.members[index];
        let mut state = self.state(index);
        assert!(state.supervisor.is_none(), "Alertmanager {index} runs already");
        let options = &self.options;
        let mut arguments = vec![
            self.program.display().to_string(),
            format!("--config.file={}", self.directory.join("alertmanager.yml").display()),
            format!("--storage.path={}", self.data(index).display()),
            format!("--data.retention={}", options.retention),
            format!("--data.maintenance-interval={}", options.maintenance),
            format!("--web.listen-address={}", member.web),
            format!("--web.external-url=http://{}/", member.web),
            format!("--web.route-prefix={}", options.route_prefix),
        ];
        if self.members.len() == 1 {
            arguments.push("--cluster.listen-address=".to_owned());
        } else {
            // Another port: those that it was with knock in vain.
            let mesh = if state.is_cut { ([127, 0, 0, 1], steady_port()).into() } else { member.mesh };
            arguments.extend([
                format!("--cluster.listen-address={mesh}"),
                format!("--cluster.advertise-address={mesh}"),
                format!("--cluster.gossip-interval={}", options.gossip),
                format!("--cluster.pushpull-interval={}", options.push_pull),
                format!("--cluster.settle-timeout={}", options.settle),
                "--cluster.probe-interval=200ms".to_owned(),
                "--cluster.probe-timeout=100ms".to_owned(),
                "--cluster.reconnect-interval=500ms".to_owned(),
            ]);
            let others = self.members.iter().filter(|other| !state.is_cut && other.mesh != member.mesh);
            arguments.extend(others.map(|other| format!("--cluster.peer={}", other.mesh)));
        }
        let limits = [
            ("max-silences", options.max_silences),
            ("max-silence-size-bytes", options.max_silence_size_bytes),
        ];
        for (name, limit) in limits {
            arguments.extend(limit.map(|limit| format!("--silences.{name}={limit}")));
        }
        if let Some((file, _)) = &options.web {
            arguments.push(format!("--web.config.file={}", file.display()));
        }
        arguments.extend(options.arguments.iter().cloned());
        // The program's own process is the one that is frozen and killed.
        let name = format!("member-{index}");
        // Until the new process has noted its id there is none to send a signal to.
        let _ = fs::remove_file(self.directory.join(format!("{name}.pid")));
        let script = format!("{}; exec \"$@\"", note_pid(&self.directory, &name));
        let scratch = self.directory.join(format!("scratch-{index}"));
        state.supervisor = Some(supervise(&scratch, &self.directory, &name, &script, &arguments));
    }

    fn data(&self, index: usize) -> PathBuf {
        self.directory.join(format!("data-{index}"))
    }

    fn signal(&self, index: usize, signal: &str) {
        assert!(self.state(index).supervisor.is_some(), "Alertmanager {index} does not run");
        assert!(send(signal, &self.directory, &format!("member-{index}")), "kill {signal} of {index}");
    }

    /// Ends a member as a signal does; it writes its state to disk and says goodbye to its peers.
    pub async fn stop(&self, index: usize) {
        if self.state(index).is_frozen {
            self.resume(index);
        }
        let supervisor = self.state(index).supervisor.take();
        let Some(mut supervisor) = supervisor else { return };
        drop(supervisor.stdin.take());
        while supervisor.try_wait().expect("waiting for a supervisor").is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Ends a member as a crash does: what it had not written to disk is gone (see `Options::maintenance`).
    pub async fn kill(&self, index: usize) {
        self.signal(index, "-KILL");
        self.state(index).is_frozen = false;
        self.stop(index).await;
    }

    /// Starts a stopped member with its data.
    pub async fn start_again(&self, index: usize) {
        self.begin(index);
        self.wait_ready().await;
    }

    /// Starts a member (stopped before, should it run) without any data, as on an emptyDir.
    pub async fn start_empty(&self, index: usize) {
        self.stop(index).await;
        let _ = fs::remove_dir_all(self.data(index));
        self.start_again(index).await;
    }

    /// Starts a member anew, with its data, apart from its peers.
    pub async fn cut(&self, index: usize) {
        self.stop(index).await;
        self.state(index).is_cut = true;
        self.start_again(index).await;
    }

    /// Starts a member that was cut off anew, with its data, among its peers.
    pub async fn heal(&self, index: usize) {
        self.stop(index).await;
        self.state(index).is_cut = false;
        self.start_again(index).await;
    }

    /// Freezes a member: connections are still accepted, nothing is answered.
    pub fn pause(&self, index: usize) {
        self.signal(index, "-STOP");
        self.state(index).is_frozen = true;
    }

    /// Lets a frozen member go on.
    pub fn resume(&self, index: usize) {
        self.signal(index, "-CONT");
        self.state(index).is_frozen = false;
    }

    /// Calls the API of a member; the path begins after the route prefix.
    pub async fn try_call(
        &self,
        index: usize,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(u16, String), Trouble> {
        let trust = self.options.web.as_ref().map(|(_, trust)| trust);
        call(self.addr(index), trust, method, &format!("{}{path}", self.prefix()), body).await
    }

    /// The same, where an answer is certain.
    pub async fn call(&self, index: usize, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        let answer = self.try_call(index, method, path, body).await;
        answer.unwrap_or_else(|error| panic!("{method} {path} of Alertmanager {index}: {error}"))
    }

    async fn get(&self, index: usize, path: &str) -> Value {
        let (status, text) = self.call(index, "GET", path, None).await;
        assert_eq!(status, 200, "GET {path} of Alertmanager {index}: {text}");
        serde_json::from_str(&text).expect("JSON")
    }

    /// What `/api/v2/status` tells.
    pub async fn status(&self, index: usize) -> Value {
        self.get(index, "/api/v2/status").await
    }

    /// All silences, the expired too.
    pub async fn silences(&self, index: usize) -> Vec<Value> {
        list(self.get(index, "/api/v2/silences").await)
    }

    /// The silences that are active or pending.
    pub async fn live(&self, index: usize) -> Vec<Value> {
        let mut silences = self.silences(index).await;
        silences.retain(|silence| silence["status"]["state"] != "expired");
        silences
    }

    /// Posts a silence that Alertmanager takes; gives its id.
    pub async fn post(&self, index: usize, silence: Value) -> String {
        let (status, text) = self.call(index, "POST", "/api/v2/silences", Some(&silence)).await;
        assert_eq!(status, 200, "{silence}: {text}");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        answer["silenceID"].as_str().expect("an id").to_owned()
    }

    /// Ends a silence that the member knows.
    pub async fn expire(&self, index: usize, id: &str) {
        let (status, text) = self.call(index, "DELETE", &format!("/api/v2/silence/{id}"), None).await;
        assert_eq!(status, 200, "{id}: {text}");
    }

    /// Lets an alert fire for a day.
    pub async fn fire(&self, index: usize, labels: Value) {
        let end = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
        let alerts = json!([{"labels": labels, "endsAt": end}]);
        let (status, text) = self.call(index, "POST", "/api/v2/alerts", Some(&alerts)).await;
        assert_eq!(status, 200, "{alerts}: {text}");
    }

    /// All alerts, the silenced too.
    pub async fn alerts(&self, index: usize) -> Vec<Value> {
        list(self.get(index, "/api/v2/alerts").await)
    }

    /// The labels of the alerts that are silenced.
    pub async fn suppressed(&self, index: usize) -> Vec<Value> {
        let mut alerts = self.alerts(index).await;
        alerts.retain(|alert| alert["status"]["state"] == "suppressed");
        alerts.into_iter().map(|mut alert| alert["labels"].take()).collect()
    }
}

impl Drop for Alertmanagers {
    fn drop(&mut self) {
        // Killed: their data goes anyway, and those who say goodbye at the same time wait for each other.
        let mut supervisors = Vec::new();
        for index in 0..self.members.len() {
            if let Some(mut supervisor) = self.state(index).supervisor.take() {
                send("-KILL", &self.directory, &format!("member-{index}"));
                drop(supervisor.stdin.take());
                supervisors.push(supervisor);
            }
        }
        for mut supervisor in supervisors {
            let _ = supervisor.wait();
        }
        send("-KILL", &self.directory, "keeper");
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn list(value: Value) -> Vec<Value> {
    let Value::Array(items) = value else { panic!("no list: {value}") };
    items
}

/// One receiver that does nothing; notifications are not what is tested.
const CONFIGURATION: &str = "route:\n  receiver: nobody\nreceivers:\n- name: nobody\n";

/// Shell that notes its process id; what it becomes by `exec` keeps that.
fn note_pid(directory: &Path, name: &str) -> String {
    format!("echo $$ > '{}'", directory.join(format!("{name}.pid")).display())
}

/// Sends a signal to the process of this name, and to no other.
fn send(signal: &str, directory: &Path, name: &str) -> bool {
    let Ok(pid) = fs::read_to_string(directory.join(format!("{name}.pid"))) else { return false };
    let done = Command::new("kill").args([signal, pid.trim()]).stderr(Stdio::null()).status();
    done.is_ok_and(|status| status.success())
}

/// Runs a shell script for as long as this process lives; then the scratch directory goes.
fn supervise(scratch: &Path, directory: &Path, name: &str, script: &str, arguments: &[String]) -> Child {
    let log = directory.join(format!("{name}.log"));
    let log = File::options().create(true).append(true).open(log).expect("making a log file");
    let errors = log.try_clone().expect("the log file again");
    Command::new(super::root().join("tests/peers/while-parent-lives.sh"))
        .arg(scratch)
        .args(["sh", "-c", script, name])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(log)
        .stderr(errors)
        .spawn()
        .unwrap_or_else(|error| panic!("starting {name}: {error}"))
}

/// A port that nobody is given by chance while its owner is away: below those that the system hands out.
pub fn steady_port() -> u16 {
    const FIRST: u16 = 18_000;
    const COUNT: u16 = 14_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test processes at the same time begin at different places.
    let begin = std::process::id().wrapping_mul(97) % u32::from(COUNT);
    loop {
        let turn = u32::from(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + ((begin + turn) % u32::from(COUNT)) as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() && UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Why there is no answer.
pub type Trouble = Box<dyn std::error::Error + Send + Sync>;

/// One call on a connection of its own, plain or TLS, at most 10 s; gives the status and the body.
pub async fn call(
    address: SocketAddr,
    trust: Option<&Trust>,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<(u16, String), Trouble> {
    let mut request = hyper::Request::builder().method(method).uri(path).header("host", address.to_string());
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Full::new(Bytes::from(body.map(Value::to_string).unwrap_or_default())))?;
    let answer = async {
        match trust {
            None => exchange(TcpStream::connect(address).await?, request).await,
            Some(trust) => exchange(trust.connect(address).await?, request).await,
        }
    };
    tokio::time::timeout(Duration::from_secs(10), answer).await?
}

async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    request: hyper::Request<Full<Bytes>>,
) -> Result<(u16, String), Trouble> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes();
    connection.abort();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}
