//! A tenant tries to mute what is not its own: with no webhook in the way, where the reconciler alone must hold, and with
//! the webhooks in force.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

/// Fifty ways to write a Silence in `frontend` that would mute `backend`.
fn attempts() -> Vec<Value> {
    let eq = |name: &str, value: &str| json!({"name": name, "value": value});
    let typed =
        |name: &str, kind: &str, value: &str| json!({"name": name, "value": value, "matchType": kind});
    let lists: Vec<Value> = vec![
        // The other namespace, in so many words.
        json!([eq("namespace", "backend")]),
        json!([typed("namespace", "=~", "backend")]),
        json!([typed("namespace", "=~", "back.*")]),
        json!([typed("namespace", "=~", "frontend|backend")]),
        json!([typed("namespace", "=~", ".*")]),
        json!([typed("namespace", "=~", ".+")]),
        json!([typed("namespace", "=~", "(?i)BACKEND")]),
        json!([typed("namespace", "=~", "^backend$")]),
        json!([typed("namespace", "=~", "")]),
        json!([typed("namespace", "=~", "backend)|(?:.*")]),
        json!([typed("namespace", "=~", "\\Qbackend\\E")]),
        json!([typed("namespace", "=~", "\\Qbackend")]),
        json!([typed("namespace", "!=", "frontend")]),
        json!([typed("namespace", "!=", "")]),
        json!([typed("namespace", "!=", "nothing")]),
        json!([typed("namespace", "!~", "frontend")]),
        json!([typed("namespace", "!~", "front.*")]),
        json!([typed("namespace", "!~", "nothing")]),
        json!([eq("namespace", "")]),
        json!([eq("namespace", "backend"), eq("alertname", "Down")]),
        json!([eq("namespace", "frontend"), eq("namespace", "backend")]),
        json!([eq("namespace", "backend"), typed("namespace", "=~", ".*")]),
        // Everything.
        json!([typed("alertname", "=~", ".+")]),
        json!([typed("alertname", "=~", ".*")]),
        json!([typed("alertname", "!=", "")]),
        json!([typed("alertname", "!=", "nothing")]),
        json!([typed("alertname", "!~", "nothing")]),
        json!([eq("alertname", "Down")]),
        json!([eq("severity", "critical")]),
        json!([typed("severity", "!=", "none")]),
        json!([typed("severity", "=~", "critical|warning")]),
        json!([eq("nothing", ""), typed("alertname", "=~", "Down")]),
        json!([typed("nothing", "=~", ".*")]),
        json!([eq("nothing", "")]),
        json!([]),
        // Names that look like the one.
        json!([eq("n\u{430}mespace", "backend"), eq("alertname", "Down")]),
        json!([eq("namespace ", "frontend"), eq("alertname", "Down")]),
        json!([eq("Namespace", "frontend"), eq("alertname", "Down")]),
        json!([eq("namespace\u{200b}", ""), eq("alertname", "Down")]),
        json!([eq("\u{ff4e}amespace", ""), eq("alertname", "Down")]),
        json!([eq("namespace=\"frontend\"", ""), eq("alertname", "Down")]),
        json!([typed("exported_namespace", "!=", "frontend"), eq("alertname", "Down")]),
    ];
    let mut all: Vec<Value> = lists
        .into_iter()
        .enumerate()
        .map(|(number, list)| silence("frontend", &format!("a{number:02}"), list))
        .collect();
    // What a webhook would have written, written by hand.
    let everything = json!([typed("alertname", "=~", "Down|Slow")]);
    let own = "namespace=\"frontend\"";
    let hash = "0".repeat(64);
    let annotations = [
        json!({"usher.dev/enforced-matchers": "{}"}),
        json!({"usher.dev/injected-matchers": own}),
        json!({"usher.dev/injected-matchers": "alertname=~\"Down|Slow\""}),
        json!({"usher.dev/broad-allowed": hash, "usher.dev/created-by": "system:admin"}),
        json!({"usher.dev/managed-by": "usher", "usher.dev/cluster": "other", "usher.dev/uid": "1"}),
        json!({"usher.dev/namespace-injection": "false", "usher.dev/silence-selector": "*"}),
    ];
    for (number, annotations) in annotations.into_iter().enumerate() {
        let mut object = silence("frontend", &format!("b{number:02}"), everything.clone());
        object["metadata"]["annotations"] = annotations;
        all.push(object);
    }
    // As if usher had put the matcher there.
    let mut object =
        silence("frontend", "b06", json!([eq("alertname", "Down"), eq("namespace", "frontend")]));
    object["metadata"]["annotations"] = json!({"usher.dev/injected-matchers": own});
    all.push(object);
    let mut object = silence("frontend", "b07", everything.clone());
    object["metadata"]["labels"] = json!({"namespace": "backend", "kubernetes.io/metadata.name": "backend"});
    all.push(object);
    let mut object = silence("frontend", "b08", everything.clone());
    object["spec"].as_object_mut().unwrap().remove("duration");
    let at = jiff::Timestamp::now().strftime("%H:%M").to_string();
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    object["spec"]["schedule"] = json!({"weekly": [{"days": days, "at": at}], "duration": "2h"});
    all.push(object);
    let mut object = silence("frontend", "b09", json!([eq("namespace", "backend")]));
    object["metadata"]["annotations"] = json!({"usher.dev/injected-matchers": "namespace=\"backend\""});
    all.push(object);
    all
}

/// Fifty attempts to mute another namespace's alerts mute none of them, in either mode of injection; the tenant's own
/// are muted.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_attempts_to_mute_another_namespace_mute_nothing_there() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let mut alerts = Vec::new();
    for namespace in ["backend", "frontend", ""] {
        for (name, severity) in [("Down", "critical"), ("Slow", "warning"), ("Odd", "none")] {
            let mut labels = json!({"alertname": name, "severity": severity, "job": "x"});
            if !namespace.is_empty() {
                labels["namespace"] = json!(namespace);
            }
            alerts.push(labels);
        }
    }
    for labels in &alerts {
        for member in 0..2 {
            members.fire(member, labels.clone()).await;
        }
    }
    // A silence of backend's own people: nobody may take it over or end it.
    let theirs = members.post(0, by_hand("backend/theirs", "namespace", "backend-canary")).await;
    let mut all = attempts();
    let mut object = silence("frontend", "c00", json!([{"name": "namespace", "value": "backend-canary"}]));
    object["metadata"]["annotations"] = json!({"usher.dev/adopt": theirs});
    all.push(object);
    println!("tenancy: {} attempts", all.len());
    assert!(all.len() >= 50);

    let running = usher(cluster, settings()).await;
    let mut stored_ones = Vec::new();
    for object in &all {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let (ok, _, errors) = cluster.kubectl(&["create", "-f", "-"], Some(&object.to_string()));
        if ok {
            stored_ones.push(name);
        } else {
            println!("tenancy: {name} is refused by the API server: {}", errors.trim());
        }
    }
    assert!(stored_ones.len() >= 45, "hardly any attempt arrived");
    let check = |when: &'static str| {
        let (members, stored_ones, theirs) = (&members, &stored_ones, &theirs);
        async move {
            until(60, "all judged", || async {
                let (_, text, _) =
                    cluster.kubectl(&["get", "silences", "-n", "frontend", "-o", "json"], None);
                let list: Value = serde_json::from_str(&text).unwrap_or_default();
                let done = list["items"].as_array().unwrap().iter().filter(|one| !ready(one).is_empty());
                done.count() == stored_ones.len()
            })
            .await;
            for member in 0..2 {
                for silence in members.live(member).await {
                    if id(&silence) == theirs {
                        assert_eq!(silence["createdBy"], "backend/theirs", "{when}");
                        continue;
                    }
                    let own = matchers(&silence);
                    assert!(own.contains(&"namespace=frontend".to_owned()), "{when}: {own:?}");
                }
                let muted = members.suppressed(member).await;
                let foreign: Vec<&Value> =
                    muted.iter().filter(|alert| alert["namespace"] != "frontend").collect();
                assert!(foreign.is_empty(), "{when}: {foreign:?}");
                assert_eq!(muted.len(), 3, "{when}: its own are muted: {muted:?}");
            }
        }
    };
    check("effective").await;
    assert!(members.live(0).await.iter().any(|silence| id(silence) == theirs));
    let before = members.live(0).await.len();
    running.stop().await;
    let mut spec = settings();
    spec.silence.namespace_injection = usher::settings::NamespaceInjection::Spec;
    let running = usher(cluster, spec.clone()).await;
    judged_anew(&running, stored_ones.len()).await;
    check("spec").await;
    assert_eq!(members.live(0).await.len(), before);

    // Each of them alone mutes nothing foreign either: what is in force says so by its matchers, and none is poison.
    let sent = members.live(0).await;
    assert!(!sent.iter().any(|silence| matchers(silence).iter().any(|one| one.ends_with("\\Qbackend"))));
    clean(cluster);
    running.stop().await;

    // The same through the webhooks, which refuse some; in both modes.
    for (mode, settings) in [("effective", settings()), ("spec", spec)] {
        bind(cluster, "main", &members, json!({}));
        let running = usher(cluster, settings).await;
        install::webhooks(cluster, running.admission, None);
        let bad =
            silence("backend", "probe", json!([{"name": "a", "value": "x"}, {"name": "a", "value": "y"}]));
        until(20, "webhooks in force", || async { !asked(cluster, &["apply", "--dry-run=server"], &bad).0 })
            .await;
        let mut admitted = 0;
        for object in &all {
            let (ok, _, _) = asked(cluster, &["create"], object);
            admitted += usize::from(ok);
        }
        println!("tenancy: {admitted} of {} are admitted by the webhooks ({mode})", all.len());
        assert!(admitted >= 10 && admitted < stored_ones.len(), "{admitted}");
        until(60, "all judged", || async {
            let (_, text, _) = cluster.kubectl(&["get", "silences", "-n", "frontend", "-o", "json"], None);
            let list: Value = serde_json::from_str(&text).unwrap_or_default();
            let all = list["items"].as_array().unwrap();
            all.len() == admitted && all.iter().all(|one| !ready(one).is_empty())
        })
        .await;
        for member in 0..2 {
            until(20, "its own are muted", || async { !members.suppressed(member).await.is_empty() }).await;
            for silence in members.live(member).await.iter().filter(|silence| id(silence) != theirs) {
                assert!(matchers(silence).contains(&"namespace=frontend".to_owned()), "{mode}: {silence}");
            }
            let muted = members.suppressed(member).await;
            assert!(
                !muted.is_empty() && muted.iter().all(|alert| alert["namespace"] == "frontend"),
                "{muted:?}"
            );
        }
        install::no_webhooks(cluster);
        clean(cluster);
        running.stop().await;
    }
}

/// Waits until a replica has looked at this many Silences, twice.
async fn judged_anew(running: &Running, count: usize) {
    let looks = || {
        let page = running.metrics.render();
        let lines = page.lines().filter(|line| line.starts_with("usher_reconciles_total{kind=\"Silence\""));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok()).sum::<usize>()
    };
    until(60, "all looked at", || async { looks() >= 2 * count }).await;
}

/// Case 57: an editor of Silences in one namespace writes neither in another nor a status.
#[tokio::test(flavor = "multi_thread")]
async fn case_57_an_editor_writes_silences_of_its_own_namespace_and_no_status() {
    let (cluster, _turn) = stage().await;
    let bound = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "editor", "namespace": "frontend"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "usher-silence-edit"},
        "subjects": [{"kind": "User", "name": "erin", "apiGroup": "rbac.authorization.k8s.io"}],
    });
    install::apply(cluster, &[bound]);
    let (_, role, errors) = cluster.kubectl(&["get", "clusterrole", "usher-silence-edit"], None);
    assert!(!role.is_empty(), "{errors}");
    let object = |namespace: &str| {
        silence(namespace, "erins", json!([{"name": "service", "value": "api"}])).to_string()
    };
    let as_erin = |arguments: &[&str], input: Option<&str>| {
        let all: Vec<&str> = ["--as=erin"].iter().chain(arguments).copied().collect();
        cluster.kubectl(&all, input)
    };
    let (ok, _, errors) = as_erin(&["create", "-f", "-"], Some(&object("frontend")));
    assert!(ok, "{errors}");
    let (ok, _, errors) = as_erin(&["create", "-f", "-"], Some(&object("backend")));
    assert!(!ok && errors.contains("forbidden"), "{errors}");
    let forged = r#"{"status":{"phase":"Active"}}"#;
    let arguments =
        ["patch", "silence", "-n", "frontend", "erins", "--subresource=status", "--type=merge", "-p", forged];
    let (ok, _, errors) = as_erin(&arguments, None);
    assert!(!ok && errors.contains("forbidden"), "{errors}");
    let (ok, _, errors) = as_erin(&["delete", "silence", "-n", "frontend", "erins"], None);
    assert!(ok, "{errors}");
}
