//! LogQL and PromQL parses per second beside the original parsers, on the same texts, one after the other, one core each.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use usher::lang::{logql, promql};

/// What people write, from short to long.
const LOGQL: [&str; 6] = [
    r#"sum(rate({app="foo"} |= "error" [5m])) > 10"#,
    r#"sum by (cluster, namespace) (count_over_time({app="ingress", namespace=~"prod-.+"} | json | status >= 500 [1m]))"#,
    r#"quantile_over_time(0.99, {job="api"} | logfmt | unwrap duration(latency) | __error__="" [5m]) by (route) > 0.5"#,
    r#"sum(rate({app="a"} |~ "timeout|refused" [5m])) / sum(rate({app="a"}[5m])) > 0.05"#,
    r#"topk(10, sum by (path) (rate({job="nginx"} | pattern "<_> - <_> <_> \"<method> <path> <_>\" <status>" | status =~ "5.." [10m])))"#,
    r#"absent_over_time({job="heartbeat", level!="debug"} |= "alive" [15m]) == 1"#,
];
const PROMQL: [&str; 6] = [
    "up == 0",
    r#"sum by (job) (rate(http_requests_total{code=~"5.."}[5m])) / sum by (job) (rate(http_requests_total[5m])) > 0.05"#,
    r#"histogram_quantile(0.99, sum by (le, route) (rate(http_request_duration_seconds_bucket{job="api"}[5m]))) > 1"#,
    r#"kube_pod_container_status_waiting_reason{reason="CrashLoopBackOff", namespace=~"prod-.+"} >= 1 unless on (pod) kube_pod_deletion_timestamp"#,
    r#"predict_linear(node_filesystem_avail_bytes{fstype!~"tmpfs|ramfs"}[6h], 24 * 3600) < 0 and node_filesystem_readonly == 0"#,
    r#"label_replace(sum by (instance) (increase(errors_total[1h] offset 5m)), "host", "$1", "instance", "(.*):.*")"#,
];

/// Microseconds to decide a pattern as people write them.
const PATTERN_MOST: f64 = 5.0;

pub fn table() -> String {
    let oracles = crate::support::cluster::peers("oracle");
    let mut table = String::from(
        "| language | usher, parses/s | original, parses/s | ratio | aim |\n|---|---|---|---|---|\n",
    );
    let logql = per_second(&LOGQL, |text| logql::parse(text).is_ok());
    let promql = per_second(&PROMQL, |text| promql::parse(text, promql::Options::default()).is_ok());
    for (name, own, program, texts, aim) in [
        ("LogQL (Loki 3.7.8)", logql, "oracle-loki", LOGQL, "100"),
        ("PromQL (Prometheus 3.15)", promql, "oracle-prometheus", PROMQL, ""),
    ] {
        let theirs = original(&oracles.join(program), &texts);
        eprintln!("bench: {name}: {own:.0} against {theirs:.0} parses per second");
        table += &format!("| {name} | {own:.0} | {theirs:.0} | {:.0} | {aim} |\n", own / theirs);
    }
    let pattern = super::hostile::typical_pattern();
    eprintln!("bench: a typical pattern of Go's RE2 is decided in {pattern:.2} µs");
    assert!(pattern <= PATTERN_MOST, "{pattern:.2} µs for a typical pattern");
    table += &format!(
        "\nA typical pattern of Go's RE2 is decided in {pattern:.2} µs, of at most {PATTERN_MOST}.\n"
    );
    table
}

fn per_second(texts: &[&str], parses: impl Fn(&str) -> bool) -> f64 {
    for text in texts {
        assert!(parses(text), "{text}");
    }
    let (started, mut count) = (Instant::now(), 0_u32);
    while started.elapsed() < Duration::from_secs(2) {
        for text in texts {
            std::hint::black_box(parses(std::hint::black_box(text)));
        }
        count += texts.len() as u32;
    }
    f64::from(count) / started.elapsed().as_secs_f64()
}

/// The original's own loop, in its own process: no pipe is in the way.
fn original(program: &std::path::Path, texts: &[&str]) -> f64 {
    let mut child =
        Command::new(program).arg("bench").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(serde_json::to_string(texts).unwrap().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["perSecond"].as_f64().unwrap_or_else(|| panic!("{answer}"))
}
