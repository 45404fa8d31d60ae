//! `usher silence` beside a running usher: silences made by hand in real Alertmanagers are imported and taken over, a
//! preview of real alerts comes true, and finalizers are taken off.

use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::silence::{apply, bind, clean, matchers, ready, settings, silence, stage, stored, until, usher};
use crate::support::alertmanagers::{Alertmanagers, Options as Members, Release};
use crate::support::cluster::Cluster;

/// Runs the command away from the runtime's threads.
async fn command(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_usher"));
    command.arg("silence").args(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn by_hand(matchers: Value, hours: i64) -> Value {
    let now = jiff::Timestamp::now();
    json!({
        "matchers": matchers, "createdBy": "jane", "comment": "disk swap",
        "startsAt": now, "endsAt": now + jiff::SignedDuration::from_hours(hours),
    })
}

fn matcher(name: &str, value: &str) -> Value {
    json!({"name": name, "value": value, "isRegex": false, "isEqual": true})
}

fn urls(members: &Alertmanagers) -> String {
    (0..members.len()).map(|index| members.url(index)).collect::<Vec<_>>().join(",")
}

fn name_of(id: &str) -> String {
    format!("imported-{}", &id[..8])
}

async fn one(members: &Alertmanagers, index: usize, id: &str) -> Value {
    members.live(index).await.into_iter().find(|silence| silence["id"] == id).unwrap_or_default()
}

/// Made by hand on either member of a pair, imported, applied: the same ids, kept by usher, and no others.
#[tokio::test(flavor = "multi_thread")]
async fn silences_made_by_hand_are_imported_and_taken_over_in_place() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "ours", json!([{"name": "service", "value": "ours"}])));
    let own = [matcher("namespace", "frontend"), matcher("service", "api")];
    let first = members.post(0, by_hand(json!(own), 2)).await;
    let pattern = json!([{"name": "pod", "value": "web-.*", "isRegex": true, "isEqual": false}, matcher("namespace", "backend")]);
    let second = members.post(1, by_hand(pattern, 3)).await;
    // Nobody's namespace, no end to speak of, and one that usher would never send: each is told, none hides the others.
    let homeless = members.post(0, by_hand(json!([matcher("service", "any")]), 2)).await;
    let mut endless = by_hand(json!(own), 2);
    endless["endsAt"] = json!("9999-12-31T23:59:59Z");
    let endless = members.post(0, endless).await;
    let mut poison = by_hand(
        json!([matcher("namespace", "backend"), {"name": "pod", "value": r"\Qx", "isRegex": true}]),
        2,
    );
    poison["startsAt"] = json!(jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1));
    let poison = members.post(0, poison).await;
    let ended = members.post(0, by_hand(json!([matcher("namespace", "frontend")]), 2)).await;
    members.expire(0, &ended).await;
    until(20, "all on both", || async {
        members.live(0).await.len() == 6 && members.live(1).await.len() == 6
    })
    .await;

    let output = command(&["import", "--alertmanager", &urls(&members)]).await;
    let (manifests, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert_eq!(manifests.matches("kind: Silence").count(), 2, "{manifests}{errors}");
    assert!(errors.contains("2 printed, 3 skipped; left out: 1 ended, 1 kept by usher already"), "{errors}");
    for (id, part) in [(&homeless, "-n"), (&endless, "give it an end"), (&poison, "USHS016")] {
        let line = errors
            .lines()
            .find(|line| line.contains(id.as_str()))
            .unwrap_or_else(|| panic!("{id}: {errors}"));
        assert!(line.contains(part), "{line}");
    }

    let (ok, _, said) = cluster.kubectl(&["apply", "-f", "-"], Some(&manifests));
    assert!(ok, "{said}");
    for (namespace, id) in [("frontend", &first), ("backend", &second)] {
        let name = name_of(id);
        until(30, "taken over on both", || async {
            let copies = [one(&members, 0, id).await, one(&members, 1, id).await];
            copies.iter().all(|copy| {
                copy["createdBy"] == format!("{namespace}/{name}")
                    && copy["annotations"]["usher.dev/managed-by"] == "usher"
            })
        })
        .await;
        until(30, "told", || async { ready(&stored(cluster, namespace, &name)) == "True/SilenceApplied" })
            .await;
        let object = stored(cluster, namespace, &name);
        let binding = &object["status"]["bindings"][0];
        assert_eq!(binding["silenceID"], id.as_str(), "{object}");
        assert_eq!(binding["syncedInstances"], 2, "{object}");
    }
    let taken = one(&members, 1, &second).await;
    assert_eq!(matchers(&taken), ["pod!~web-.*", "namespace=backend"]);
    assert_eq!(taken["comment"], "disk swap");
    // Some passes later there is still no other, and nothing foreign was touched.
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    for index in 0..2 {
        let live = members.live(index).await;
        assert_eq!(live.len(), 6, "{live:?}");
        for id in [&homeless, &endless, &poison] {
            assert_eq!(one(&members, index, id).await["createdBy"], "jane", "{id}");
        }
    }
    let output = command(&["import", "--alertmanager", &urls(&members)]).await;
    assert_eq!(
        (output.status.code(), text(&output.stdout).as_str()),
        (Some(0), ""),
        "{}",
        text(&output.stderr)
    );
    assert!(text(&output.stderr).contains("3 kept by usher already"), "{}", text(&output.stderr));

    // What was taken over is ended with its object.
    clean(cluster);
    until(20, "gone", || async { members.live(0).await.len() == 3 && members.live(1).await.len() == 3 })
        .await;
    running.stop().await;
}

/// What a preview says of firing alerts is what Alertmanager does once the Silence is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_preview_of_firing_alerts_comes_true() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    for (name, namespace, pod, severity) in [
        ("Down", "frontend", "web-1", "critical"),
        ("Slow", "frontend", "web-2", "warning"),
        ("Down", "backend", "web-1", "critical"),
        ("Down", "frontend", "api-1", "critical"),
    ] {
        let labels = json!({"alertname": name, "namespace": namespace, "pod": pod, "severity": severity});
        for index in 0..2 {
            members.fire(index, labels.clone()).await;
        }
    }
    members.fire(0, json!({"alertname": "NoPod", "namespace": "frontend"})).await;
    let muted_by_hand = json!([matcher("namespace", "frontend"), matcher("pod", "web-2")]);
    members.post(0, by_hand(muted_by_hand, 1)).await;
    until(20, "muted by hand", || async { members.suppressed(0).await.len() == 1 }).await;

    let object =
        silence("frontend", "web", json!([{"name": "pod", "value": "web-[0-9]+", "matchType": "=~"}]));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("silence.json");
    std::fs::write(&file, object.to_string()).unwrap();
    let file = file.display().to_string();
    let output = command(&["preview", "-f", &file, "--alertmanager", &urls(&members)]).await;
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(said.contains("mutes     2 of 5 firing alerts (1 critical, 1 muted already)"), "{said}");
    assert!(
        said.contains(r#"{alertname="Down", namespace="frontend", pod="web-1", severity="critical"}"#),
        "{said}"
    );

    apply(cluster, &object);
    until(20, "muted", || async { members.suppressed(0).await.len() == 2 }).await;
    let mut shown: Vec<Value> =
        members.suppressed(0).await.into_iter().map(|labels| labels["pod"].clone()).collect();
    shown.sort_by_key(Value::to_string);
    assert_eq!(shown, ["web-1", "web-2"]);
    clean(cluster);
    running.stop().await;
}

/// With usher gone its finalizer is taken off Silences, and off nothing else; what is in Alertmanagers stays.
#[tokio::test(flavor = "multi_thread")]
async fn release_takes_the_finalizer_off_silences_only() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    for name in ["one", "two"] {
        apply(cluster, &silence("frontend", name, json!([{"name": "service", "value": name}])));
    }
    let account = json!({
        "apiVersion": "uptimerobot.com/v1alpha1", "kind": "Account", "metadata": {"name": "kept"},
        "spec": {"isDefault": false, "apiKeySecretRef": {"name": "s", "key": "k"}},
    });
    apply(cluster, &account);
    until(20, "kept", || async {
        members.live(0).await.len() == 2
            && finalizers(cluster, &["account", "kept"]).contains("account-in-use")
    })
    .await;
    running.stop().await;
    let kubeconfig = cluster.kubeconfig.display().to_string();
    let output = command(&["release", "--kubeconfig", &kubeconfig]).await;
    let said = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in ["Silence frontend/one released", "Silence frontend/two released", "2 objects released"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(finalizers(cluster, &["account", "kept"]).contains("account-in-use"));
    let (ok, _, errors) =
        cluster.kubectl(&["delete", "silences", "--all", "-n", "frontend", "--timeout=10s"], None);
    assert!(ok, "{errors}");
    assert_eq!(members.live(0).await.len(), 2, "they end by themselves");
    let output = command(&["release", "--kubeconfig", &kubeconfig]).await;
    assert!(text(&output.stdout).contains("0 objects released"));
    let unhold = ["patch", "account", "kept", "--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#];
    cluster.kubectl(&unhold, None);
    cluster.kubectl(&["delete", "account", "kept"], None);
    clean(cluster);
}

fn finalizers(cluster: &Cluster, of: &[&str]) -> String {
    let (_, text, _) =
        cluster.kubectl(&[&["get"], of, &["-o", "jsonpath={.metadata.finalizers}"]].concat(), None);
    text
}
