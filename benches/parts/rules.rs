//! Reviews of rules over TLS: PrometheusRule beside prometheus-operator's own webhook, AlertingRule alone.

use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Server, measure_with, support, usher};

const CONNECTIONS: usize = 8;

pub fn table(runtime: &tokio::runtime::Runtime) -> (String, Vec<(String, f64, String)>) {
    let mut table = format!(
        "{CONNECTIONS} connections, HTTP/1.1, the same review; prometheus-operator's webhook is 0.93.0 as it is released.\n\n"
    );
    table += "Of RSS the part in brackets is memory of its own; the rest is the program's file.\n\n";
    table += "| review | server | req/s | CPU per review | RSS |\n|---|---|---|---|---|\n";
    let mut checks = Vec::new();
    for count in [1, 10, 100] {
        // Fresh processes: memory is that of this load.
        let (ours, theirs) = (usher(), operator());
        let body = review("monitoring.coreos.com", "v1", "PrometheusRule", &prometheus_rule(count));
        let own = runtime.block_on(measure_with(
            &format!("PrometheusRule of {count}"),
            &ours,
            "/admit/validate/monitoring.coreos.com/prometheusrule",
            &body,
            false,
            CONNECTIONS,
        ));
        let peer = runtime.block_on(measure_with(
            &format!("PrometheusRule of {count}, prometheus-operator"),
            &theirs,
            "/admission-prometheusrules/validate",
            &body,
            false,
            CONNECTIONS,
        ));
        for (name, row) in [("usher", &own), ("prometheus-operator", &peer)] {
            table += &format!(
                "| PrometheusRule, {count} rules | {name} | {:.0} | {:.1} µs | {:.1} MiB ({:.1}) |\n",
                row.measured.per_second, row.cpu, row.rss, row.own
            );
        }
        let (cpu_aim, memory_aim) = match count {
            100 => ("at least 20", "at most 0.25"),
            1 => ("", "at most 0.5"),
            _ => ("", ""),
        };
        checks.push((
            format!("PrometheusRule of {count}: CPU of the peer to usher's"),
            peer.cpu / own.cpu,
            cpu_aim.to_owned(),
        ));
        checks.push((
            format!("PrometheusRule of {count}: memory to the peer's"),
            own.rss / peer.rss,
            memory_aim.to_owned(),
        ));
    }
    let ours = usher();
    let body = review("loki.grafana.com", "v1", "AlertingRule", &alerting_rule(100));
    let path = "/admit/validate/loki.grafana.com/alertingrule";
    let row = runtime.block_on(measure_with("AlertingRule of 100", &ours, path, &body, false, CONNECTIONS));
    table += &format!(
        "| AlertingRule, 100 rules | usher | {:.0} | {:.1} µs | {:.1} MiB ({:.1}) |\n",
        row.measured.per_second, row.cpu, row.rss, row.own
    );
    (table, checks)
}

/// prometheus-operator's admission webhook on loopback, with a certificate made for the occasion.
fn operator() -> Server {
    let directory = support::cluster::peers("prometheus-operator");
    let key = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let place = std::env::temp_dir().join(format!("usher-bench-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let (certificate, secret) = (place.join("tls.crt"), place.join("tls.key"));
    std::fs::write(&certificate, key.cert.pem()).unwrap();
    std::fs::write(&secret, key.signing_key.serialize_pem()).unwrap();
    let address: SocketAddr = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let started = Instant::now();
    let child = Command::new(directory.join("admission-webhook"))
        .arg(format!("--web.listen-address={address}"))
        .arg(format!("--web.cert-file={}", certificate.display()))
        .arg(format!("--web.key-file={}", secret.display()))
        .args(["--web.client-ca-file=", "--log-level=error"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while std::net::TcpStream::connect(address).is_err() {
        assert!(started.elapsed() < Duration::from_secs(20), "prometheus-operator's webhook does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    Server { child, address, authority: key.cert.pem(), started_in: started.elapsed() }
}

fn review(group: &str, version: &str, kind: &str, object: &Value) -> Vec<u8> {
    let plural = format!("{}s", kind.to_lowercase());
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "7a1c1b0e-0000-4000-8000-000000000001", "operation": "CREATE", "name": "rules", "namespace": "shop",
            "kind": {"group": group, "version": version, "kind": kind},
            "resource": {"group": group, "version": version, "resource": plural},
            "userInfo": {"username": "somebody"}, "object": object, "oldObject": null, "dryRun": false
        }
    })
    .to_string()
    .into_bytes()
}

fn prometheus_rule(count: usize) -> Value {
    let rules: Vec<Value> = (0..count)
        .map(|index| {
            json!({
                "alert": format!("TooManyErrors{index}"),
                "expr": format!(
                    "sum by (job, namespace) (rate(http_requests_total{{code=~\"5..\", service=~\"shop-{index}|pay-.+\"}}[5m])) / sum by (job, namespace) (rate(http_requests_total{{service=~\"shop-{index}|pay-.+\"}}[5m])) > 0.05"
                ),
                "for": "10m",
                "labels": {"severity": "critical", "team": "shop"},
                "annotations": {
                    "summary": "{{ $labels.job }} fails {{ $value | humanizePercentage }} of its requests",
                    "description": "More than 5% of the requests to {{ $labels.job }} in {{ $labels.namespace }} have failed for 10 minutes.",
                    "runbook_url": "https://runbooks.example.com/errors"
                }
            })
        })
        .collect();
    json!({
        "apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
        "metadata": {"name": "rules", "namespace": "shop", "labels": {"team": "shop"}},
        "spec": {"groups": [{"name": "errors", "interval": "1m", "rules": rules}]}
    })
}

fn alerting_rule(count: usize) -> Value {
    let rules: Vec<Value> = (0..count)
        .map(|index| {
            json!({
                "alert": format!("TooManyErrors{index}"),
                "expr": format!(
                    "sum by (app) (rate({{app=\"shop-{index}\", namespace=~\"prod-.+\"}} |= \"error\" | json | status >= 500 [5m])) > 10"
                ),
                "for": "10m",
                "labels": {"severity": "critical"},
                "annotations": {"summary": "{{ $labels.app }} logs {{ $value }} errors per second"}
            })
        })
        .collect();
    json!({
        "apiVersion": "loki.grafana.com/v1", "kind": "AlertingRule",
        "metadata": {"name": "rules", "namespace": "shop"},
        "spec": {"tenantID": "shop", "groups": [{"name": "errors", "interval": "1m", "rules": rules}]}
    })
}
