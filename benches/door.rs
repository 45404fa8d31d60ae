//! Side-by-side numbers in one run on one machine: a bare hyper + rustls echo, then usher's validate and mutate of the
//! same 2 KB review. Run by `make bench`, which writes `docs/benchmarks.md`.
//!
//! Requests per second depend on what else the machine does, so the ratios of server CPU per request are what counts.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

mod parts;

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use parts::process::Watched;
use parts::{echo, load, reviews};

const CONNECTIONS: usize = 32;
const HOSTILE: &str = "## Hostile texts";
const RULES: &str = "## Rules";
const SILENCES: &str = "## Silences in Alertmanagers";
const AT_REST: &str = "## At rest";

fn seconds() -> u64 {
    std::env::var("SECONDS_EACH").ok().and_then(|text| text.parse().ok()).unwrap_or(4)
}

/// A server in a process of its own, so that its CPU time is its own.
struct Server {
    child: Child,
    address: SocketAddr,
    authority: String,
    started_in: Duration,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a program that says `admission https://ADDR` first and `ca FILE` later.
fn start(mut command: Command) -> Server {
    let started = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut address = None;
    let mut started_in = Duration::ZERO;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if let Some(rest) = line.strip_prefix("admission https://") {
            address = Some(rest.parse().unwrap());
            started_in = started.elapsed();
        }
        if let Some(file) = line.strip_prefix("ca ") {
            let authority = std::fs::read_to_string(file).unwrap();
            return Server { child, address: address.unwrap(), authority, started_in };
        }
    }
    let _ = child.kill();
    let status = child.wait();
    panic!("the server said nothing: {status:?}")
}

fn usher() -> Server {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usher"));
    command.args(["serve", "--standalone", "--listen", "127.0.0.1:0", "--diagnostics-listen", "127.0.0.1:0"]);
    start(command)
}

fn echo_server() -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("--echo");
    start(command)
}

struct Row {
    name: String,
    protocol: &'static str,
    measured: load::Measured,
    cpu: f64,
    /// MiB in memory, and how many of them are no file's.
    rss: f64,
    own: f64,
}

async fn measure(name: &str, server: &Server, path: &str, body: &[u8], http2: bool) -> Row {
    measure_with(name, server, path, body, http2, CONNECTIONS).await
}

async fn measure_with(
    name: &str,
    server: &Server,
    path: &str,
    body: &[u8],
    http2: bool,
    connections: usize,
) -> Row {
    let trust = support::client::Trust::new(&server.authority, http2, None);
    let watched = Watched::new(server.child.id());
    load::run(&trust, server.address, path, body, connections, Duration::from_millis(500)).await;
    let before = watched.cpu();
    let time = Duration::from_secs(seconds());
    let measured = load::run(&trust, server.address, path, body, connections, time).await;
    let cpu = (watched.cpu() - before).as_secs_f64() / measured.requests as f64 * 1e6;
    let protocol = if http2 { "HTTP/2" } else { "HTTP/1.1" };
    eprintln!("bench: {name} {protocol}: {} requests, {cpu:.1} µs of server CPU each", measured.requests);
    Row { name: name.to_owned(), protocol, measured, cpu, rss: watched.resident(), own: watched.own() }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--echo") {
        return echo::run();
    }
    if let Some(at) = arguments.iter().position(|argument| argument == "--reviews") {
        return reviews::run(&arguments[at + 1], arguments[at + 2].parse().unwrap());
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    match std::env::var("PART").as_deref() {
        Ok("silences") => return replace(SILENCES, &parts::silences::table(&runtime)),
        Ok("hostile") => return replace(HOSTILE, &parts::hostile::table()),
        Ok("rules") => return replace(RULES, &parts::rules::table(&runtime).0),
        Ok(part) if !part.is_empty() => panic!("no part {part:?} can be measured alone"),
        _ => {}
    }
    let mut report = String::from(
        "# Benchmarks\n\nWritten by `make bench`; each section is from one run on one machine.\n",
    );
    report += &format!(
        "{} cores, {CONNECTIONS} keep-alive connections, {} s each, load generator on the same cores, review of {} bytes.\n",
        std::thread::available_parallelism().unwrap(),
        seconds(),
        support::client::silence_review().len()
    );
    report += "\n## Over TLS\n\nThe echo is hyper and rustls alone. CPU is the server's own user and system time.\n\n";
    report += "| server | protocol | req/s | CPU per request | ratio to echo | p50 | p99 | RSS |\n|---|---|---|---|---|---|---|---|\n";
    let (echo, usher) = (echo_server(), usher());
    let mut checks = Vec::new();
    let review = support::client::silence_review();
    for http2 in [false, true] {
        let path = |phase: &str| format!("/admit/{phase}/monitoring.coreos.com/silence");
        let rows = [
            runtime.block_on(measure("echo", &echo, "/", &review, http2)),
            runtime.block_on(measure("validate", &usher, &path("validate"), &review, http2)),
            runtime.block_on(measure("mutate", &usher, &path("mutate"), &review, http2)),
        ];
        let floor = rows[0].cpu;
        for row in &rows {
            let ratio = row.cpu / floor;
            report += &format!(
                "| {} | {} | {:.0} | {:.1} µs | {ratio:.2} | {:.0} µs | {:.0} µs | {:.1} MiB |\n",
                row.name,
                row.protocol,
                row.measured.per_second,
                row.cpu,
                row.measured.p50,
                row.measured.p99,
                row.rss
            );
            let (aim, most) = match row.name.as_str() {
                "validate" => (1.6, 2.0),
                "mutate" => (2.4, 3.0),
                _ => continue,
            };
            checks.push((format!("{} over {}", row.name, row.protocol), ratio, aim, most));
        }
    }
    drop((echo, usher));
    let (languages, hostile) = (parts::languages::table(), parts::hostile::table());
    let (rules, rule_checks) = parts::rules::table(&runtime);
    let silences = parts::silences::table(&runtime);

    report += "\n## Without a socket\n\nDecode, rules, encode; instructions counted by valgrind, so the same on every run.\n\n";
    report += &reviews::table();
    report += "\n## Languages\n\n";
    report += &languages;
    report += &format!("\n{HOSTILE}\n\n{hostile}");
    report += &format!("\n{RULES}\n\n{rules}");
    report += &format!("\n{SILENCES}\n\n{silences}");
    report += &format!("\n{AT_REST}\n\n");
    report += &at_rest();
    report += "\n## usher check\n\n";
    report += &parts::check::table(env!("CARGO_BIN_EXE_usher"));
    report += "\n## Aims\n\n| what | measured | aim | most |\n|---|---|---|---|\n";
    for (name, ratio, aim, most) in &checks {
        report += &format!("| {name}, ratio to echo | {ratio:.2} | {aim} | {most} |\n");
    }
    for (name, measured, aim) in &rule_checks {
        report += &format!("| {name} | {measured:.2} | {aim} | |\n");
    }
    println!("{report}");
    std::fs::write(support::root().join("docs/benchmarks.md"), &report).unwrap();
    for (name, ratio, _, most) in checks {
        assert!(ratio <= most, "{name} costs {ratio:.2} times the echo, more than {most}");
    }
}

/// Puts one section into the report of an earlier run; a new one before those about the processes.
fn replace(heading: &str, text: &str) {
    let file = support::root().join("docs/benchmarks.md");
    let before = std::fs::read_to_string(&file).unwrap();
    let at = before.find(&format!("{heading}\n")).or_else(|| before.find(AT_REST)).unwrap();
    let rest = if before[at..].starts_with(heading) { at + heading.len() } else { at };
    let end = before[rest..].find("## ").map_or(before.len(), |next| rest + next);
    let section = format!("{heading}\n\n{text}\n");
    println!("{section}");
    std::fs::write(file, format!("{}{section}{}", &before[..at], &before[end..])).unwrap();
}

/// Memory of an idle server, and the time until it says where it listens, the best of five.
fn at_rest() -> String {
    let mut fastest = Duration::MAX;
    let mut resident = 0.0_f64;
    for _ in 0..5 {
        let server = usher();
        fastest = fastest.min(server.started_in);
        std::thread::sleep(Duration::from_millis(300));
        resident = resident.max(Watched::new(server.child.id()).resident());
    }
    assert!(resident <= 20.0, "{resident:.1} MiB at rest, more than 20");
    assert!(fastest <= Duration::from_millis(150), "ready after {fastest:?}, later than 150 ms");
    format!(
        "| what | measured | most |\n|---|---|---|\n| RSS of `usher serve --standalone` | {resident:.1} MiB | 20 MiB |\n| start to ready | {} ms | 150 ms |\n",
        fastest.as_millis()
    )
}
