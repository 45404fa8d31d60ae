//! Silences: one arrives in both Alertmanagers, a hand edit is repaired, another namespace's alerts stay loud, and a
//! recurring window knows when it comes next.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::alertmanagers::Alertmanagers;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::{Story, say};

/// Tries until it is so.
async fn until<F: Future<Output = bool>>(what: &str, mut done: impl FnMut() -> F) {
    let started = Instant::now();
    while !done().await {
        assert!(started.elapsed() < Duration::from_secs(40), "{what}: not within 40 s");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn silence(namespace: &str, name: &str, spec: Value) -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "Silence",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    })
}

/// The silences of an instance that came from one object.
async fn of(alertmanagers: &Alertmanagers, instance: usize, created_by: &str) -> Vec<Value> {
    let live = alertmanagers.live(instance).await;
    live.into_iter().filter(|silence| silence["createdBy"] == created_by).collect()
}

fn shown(silence: &Value) -> String {
    let matchers = silence["matchers"].as_array().cloned().unwrap_or_default();
    let sign = |matcher: &Value| if matcher["isRegex"] == true { "=~" } else { "=" };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parts = matchers
        .iter()
        .map(|matcher| format!("{}{}{:?}", text(&matcher["name"]), sign(matcher), text(&matcher["value"])));
    format!(
        "{{{}}} by {}: {}",
        parts.collect::<Vec<_>>().join(", "),
        text(&silence["createdBy"]),
        text(&silence["comment"])
    )
}

pub async fn show(cluster: &Cluster, alertmanagers: &Alertmanagers, story: &mut Story) {
    install::namespace(cluster, "bank");
    for namespace in ["shop", "bank"] {
        let labels = json!({"alertname": "Down", "namespace": namespace, "severity": "critical"});
        // As Prometheus does it: alerts do not travel by gossip.
        for instance in [0, 1] {
            alertmanagers.fire(instance, labels.clone()).await;
        }
    }

    say("a silence arrives in both Alertmanagers, with the matcher that keeps it to its own namespace");
    let spec = json!({"comment": "database upgrade, TICKET-7", "duration": "2h",
        "matchers": [{"name": "alertname", "value": "Down"}]});
    let object = silence("shop", "upgrade", spec);
    let (ok, out, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    print!("{out}{errors}");
    assert!(ok, "the silence was refused");
    until("on both", || async {
        of(alertmanagers, 0, "shop/upgrade").await.len() == 1
            && of(alertmanagers, 1, "shop/upgrade").await.len() == 1
    })
    .await;
    for instance in [0, 1] {
        let found = of(alertmanagers, instance, "shop/upgrade").await;
        println!("{}: {}", alertmanagers.url(instance), shown(&found[0]));
    }
    until("the alert is muted", || async { alertmanagers.suppressed(0).await.len() == 1 }).await;
    println!("muted: {}", alertmanagers.suppressed(0).await[0]);
    story.tell("synced", "Silence shop/upgrade on 2 of 2 Alertmanagers; it mutes its own namespace only");

    say("somebody edits it by hand in an Alertmanager");
    let mut edited = of(alertmanagers, 1, "shop/upgrade").await.remove(0);
    let id = edited["id"].clone();
    edited["comment"] = json!("mine now");
    edited["createdBy"] = json!("somebody");
    alertmanagers.post(1, edited).await;
    println!("comment and creator changed");
    until("repaired", || async {
        let found = of(alertmanagers, 0, "shop/upgrade").await;
        found.len() == 1 && found[0]["comment"] == "database upgrade, TICKET-7" && found[0]["id"] == id
    })
    .await;
    println!("repaired: {}", shown(&of(alertmanagers, 0, "shop/upgrade").await[0]));
    story.tell("repaired", "a hand edit of that silence, under the same id");

    say("an attempt on another namespace's alerts");
    let aimed = json!({"comment": "quiet, please", "duration": "2h", "matchers":
        [{"name": "alertname", "value": "Down"}, {"name": "namespace", "value": "bank"}]});
    let object = silence("shop", "aimed", aimed);
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    print!("{errors}");
    assert!(!ok && errors.contains("USHS010"), "it was admitted");
    let everything = json!({"comment": "all namespaces?", "duration": "2h", "matchers":
        [{"name": "alertname", "value": "Down"}, {"name": "namespace", "value": ".*", "matchType": "=~"}]});
    let object = silence("shop", "everything", everything);
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    print!("{errors}");
    assert!(ok, "a regex that matches the own namespace is admitted, and kept to it");
    until("sent", || async { of(alertmanagers, 1, "shop/everything").await.len() == 1 }).await;
    println!("sent as {}", shown(&of(alertmanagers, 1, "shop/everything").await[0]));
    for instance in [0, 1] {
        let alerts = alertmanagers.alerts(instance).await;
        assert_eq!(alerts.len(), 2, "{alerts:?}");
        for alert in alerts {
            let (namespace, state) = (&alert["labels"]["namespace"], &alert["status"]["state"]);
            let expected = if namespace == "shop" { "suppressed" } else { "active" };
            assert_eq!(state, expected, "{alert}");
            println!("{}: the alert of namespace {namespace} is {state}", alertmanagers.url(instance));
        }
    }
    story.tell("unmuted", "alerts of namespace bank, whatever namespace shop writes");

    say("a recurring window");
    let nightly = json!({"comment": "nightly batch", "matchers": [{"name": "job", "value": "batch"}],
        "schedule": {"weekly": [{"days": ["Mon", "Wed", "Fri"], "at": "02:00"}], "timeZone": "Europe/Berlin",
            "duration": "90m"}});
    let object = silence("shop", "nightly", nightly);
    let (ok, out, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string()));
    print!("{out}{errors}");
    assert!(ok, "the schedule was refused");
    let row = || cluster.kubectl(&["get", "silence", "-n", "shop", "nightly", "-o", "wide"], None).1;
    until("its windows are told", || async { row().lines().nth(1).is_some_and(|line| line.contains("T0")) })
        .await;
    print!("{}", row());
    let path = "jsonpath={.status.startsAt}";
    let (_, next, _) = cluster.kubectl(&["get", "silence", "-n", "shop", "nightly", "-o", path], None);
    story.tell("scheduled", format!("Silence shop/nightly, next window {next}"));
}
