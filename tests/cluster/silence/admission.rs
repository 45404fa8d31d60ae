//! What the doors say about Silences when real Alertmanagers select them: the cases of admission that need an API server,
//! somebody who asks, or alerts that fire. The others are in the corpus.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Alertmanagers, Options as Members, Release};

/// kubectl as somebody.
fn as_user(cluster: &Cluster, user: &str, arguments: &[&str], input: Option<&Value>) -> (bool, String) {
    let mut all = vec!["--as", user];
    all.extend(arguments);
    let text = input.map(ToString::to_string);
    let (ok, out, errors) = cluster.kubectl(&all, text.as_deref());
    (ok, format!("{out}{errors}"))
}

fn grant(cluster: &Cluster, name: &str, role: &str, user: &str) {
    let arguments =
        ["create", "clusterrolebinding", name, &format!("--clusterrole={role}"), &format!("--user={user}")];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
}

/// Webhooks in force, and an Alertmanager of this strategy that knows its alerts.
pub async fn door(cluster: &Cluster, members: &Alertmanagers, strategy: &str) -> Running {
    bind(cluster, "main", members, json!({"alertmanagerConfigMatcherStrategy": {"type": strategy}}));
    let running = usher(cluster, settings()).await;
    install::webhooks(cluster, running.admission, None);
    let bad = silence("frontend", "probe", json!([{"name": "a", "value": "x"}, {"name": "a", "value": "y"}]));
    until(20, "webhooks in force", || async {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(&bad.to_string())).0
    })
    .await;
    running
}

/// How many reviews of Silences a replica has answered.
fn asked_at(running: &Running) -> u64 {
    let page = running.metrics.render();
    let lines = page.lines().filter(|line| {
        line.starts_with("usher_admission_reviews_total") && line.to_lowercase().contains("silence")
    });
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
}

/// Cases 5, 50, 51 and 54: a broad silence needs the permission in all namespaces; it is recorded, the record cannot be
/// forged, and the guard honours it after a restart.
#[tokio::test(flavor = "multi_thread")]
async fn case_05_50_51_54_broad_silences_need_the_permission() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let running = door(cluster, &members, "None").await;
    grant(cluster, "case-50-edit-t", "usher-silence-edit", "tenant");
    grant(cluster, "case-50-edit-h", "usher-silence-edit", "holder");
    grant(cluster, "case-50-all", "usher-silence-all", "holder");
    // Everything on the own namespace is not enough.
    let role = json!([
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
         "metadata": {"name": "case-50", "namespace": "frontend"},
         "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
         "metadata": {"name": "case-50", "namespace": "frontend"},
         "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "case-50"},
         "subjects": [{"kind": "User", "name": "tenant", "apiGroup": "rbac.authorization.k8s.io"}]},
    ]);
    install::apply(cluster, role.as_array().unwrap());

    let broad = silence("frontend", "broad", json!([{"name": "team", "matchType": "=~", "value": ".+"}]));
    let mut verdicts = Vec::new();
    let refused = |verdicts: &mut Vec<String>| {
        for arguments in [&["apply", "-f", "-"][..], &["apply", "--dry-run=server", "-f", "-"]] {
            let (ok, told) = as_user(cluster, "tenant", arguments, Some(&broad));
            assert!(!ok && told.contains("USHS011"), "{told}");
            verdicts.push(told);
        }
    };
    refused(&mut verdicts);
    // Another replica says the same.
    let other = usher(cluster, settings()).await;
    install::webhooks(cluster, other.admission, None);
    let try_it = || as_user(cluster, "tenant", &["apply", "--dry-run=server", "-f", "-"], Some(&broad));
    until(20, "the other is asked", || async {
        try_it();
        asked_at(&other) > 0
    })
    .await;
    refused(&mut verdicts);
    verdicts.dedup();
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    install::webhooks(cluster, running.admission, None);
    let before = asked_at(&running);
    until(20, "the first is asked again", || async {
        try_it();
        asked_at(&running) > before
    })
    .await;
    other.stop().await;
    let mut forged = silence("frontend", "forged", json!([{"name": "alertname", "value": "Down"}]));
    forged["metadata"]["annotations"] = json!({"usher.dev/broad-allowed": "x"});
    let (ok, told) = as_user(cluster, "tenant", &["apply", "-f", "-"], Some(&forged));
    assert!(!ok && told.contains("USHS024"), "{told}");

    until(20, "the holder is known", || async {
        cluster
            .kubectl(
                &["auth", "can-i", "silence-all", "silences.monitoring.coreos.com", "--as", "holder", "-A"],
                None,
            )
            .0
    })
    .await;
    let (ok, told) = as_user(cluster, "holder", &["apply", "-f", "-"], Some(&broad));
    assert!(ok && told.contains("USHS011"), "admitted with a warning: {told}");
    let object = stored(cluster, "frontend", "broad");
    let annotations = &object["metadata"]["annotations"];
    assert_eq!(annotations["usher.dev/broad-allowed"].as_str().map(str::len), Some(64), "{annotations}");
    assert_eq!(annotations["usher.dev/created-by"], "holder");
    until(20, "sent", || async { members.live(0).await.len() == 1 }).await;

    // Somebody else changes the comment: that is recorded, and the permission stays.
    let patch = r#"{"spec":{"comment":"longer"},"metadata":{"annotations":{"usher.dev/created-by":"me"}}}"#;
    let change = ["patch", "silence", "-n", "frontend", "broad", "--type=merge", "-p", patch];
    let (ok, told) = as_user(cluster, "tenant", &change, None);
    assert!(ok, "{told}");
    let annotations = stored(cluster, "frontend", "broad")["metadata"]["annotations"].clone();
    assert_eq!(annotations["usher.dev/created-by"], "holder", "written by hand and put right");
    assert_eq!(annotations["usher.dev/modified-by"], "tenant");
    // Other matchers need the permission again.
    let patch = r#"{"spec":{"matchers":[{"name":"job","matchType":"=~","value":".+"}]}}"#;
    let (ok, told) = as_user(
        cluster,
        "tenant",
        &["patch", "silence", "-n", "frontend", "broad", "--type=merge", "-p", patch],
        None,
    );
    assert!(!ok && told.contains("USHS011"), "{told}");

    // After a restart there is nobody to ask, and the record counts.
    running.stop().await;
    install::no_webhooks(cluster);
    members.start_empty(0).await;
    let running = usher(cluster, settings()).await;
    until(30, "sent again", || async { members.live(0).await.len() == 1 }).await;
    // Without a record it is not sent, and the binding says why.
    let mut bypassed = broad.clone();
    bypassed["metadata"]["name"] = json!("bypassed");
    apply(cluster, &bypassed);
    until(20, "told", || async { ready(&stored(cluster, "frontend", "bypassed")) == "False/InvalidSpec" })
        .await;
    assert_eq!(members.live(0).await.len(), 1);
    for name in ["case-50-edit-t", "case-50-edit-h", "case-50-all"] {
        cluster.kubectl(&["delete", "clusterrolebinding", name], None);
    }
    clean(cluster);
    running.stop().await;
}

/// Case 50, its first half: a broad silence that was admitted under enforcement is taken back when the enforcement ends.
#[tokio::test(flavor = "multi_thread")]
async fn case_50_an_alertmanager_that_stops_enforcing_never_widens_a_silence() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let running = door(cluster, &members, "OnNamespace").await;
    apply(
        cluster,
        &silence("frontend", "wide", json!([{"name": "severity", "matchType": "!=", "value": "none"}])),
    );
    until(20, "sent", || async { members.live(0).await.len() == 1 }).await;
    assert_eq!(matchers(&members.live(0).await[0]), ["severity!=none", "namespace=frontend"]);
    let none = json!({"alertmanagerConfigMatcherStrategy": {"type": "None"}});
    bind(cluster, "main", &members, none.clone());
    until(20, "taken back", || async { members.live(0).await.is_empty() }).await;
    told(cluster, "frontend", "wide", "False/InvalidSpec").await;

    // A broad one that nobody selects gets a label with which somebody does: the label is let in, and nothing is sent.
    let mut labelled = none;
    labelled["silenceSelector"] = json!({"matchLabels": {"team": "web"}});
    bind(cluster, "main", &members, labelled);
    until(20, "unselected", || async {
        let object =
            silence("frontend", "other", json!([{"name": "severity", "matchType": "!=", "value": "info"}]));
        asked(cluster, &["apply"], &object).0
    })
    .await;
    told(cluster, "frontend", "other", "False/NoMatchingAlertmanager").await;
    let (ok, _, errors) = cluster.kubectl(&["label", "silence", "-n", "frontend", "other", "team=web"], None);
    assert!(ok, "{errors}");
    told(cluster, "frontend", "other", "False/InvalidSpec").await;
    some_passes().await;
    assert!(members.live(0).await.is_empty());
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Cases 3, 16 and 45, and what a preview says: the warnings of a server dry run are those of the real thing.
#[tokio::test(flavor = "multi_thread")]
async fn case_03_16_45_a_dry_run_tells_what_would_be_muted() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    for (namespace, severity) in [("frontend", "critical"), ("frontend", "warning"), ("backend", "critical")]
    {
        let labels = json!({"alertname": "Down", "namespace": namespace, "severity": severity});
        members.fire(0, labels).await;
    }
    // namespaceInjection enforces although the strategy does not.
    let running = door(cluster, &members, "None").await;
    let spec = json!({"alertmanagerConfigMatcherStrategy": {"type": "None"}, "namespaceInjection": true});
    bind(cluster, "main", &members, spec);
    let down = silence("frontend", "down", json!([{"name": "alertname", "value": "Down"}]));
    let dry = |object: &Value| {
        cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(&object.to_string()))
    };
    until(20, "the alerts are known", || async { dry(&down).2.contains("USHS122") }).await;
    let (ok, _, told) = dry(&down);
    assert!(ok && told.contains("mutes 2 firing alerts of monitoring/main, 1 of them critical"), "{told}");
    assert!(told.contains("USHS118"), "the enforced matcher is told: {told}");
    let (_, _, told) = dry(&silence("frontend", "none", json!([{"name": "alertname", "value": "Up"}])));
    assert!(told.contains("USHS123"), "{told}");
    let foreign = silence(
        "frontend",
        "foreign",
        json!([{"name": "alertname", "value": "Down"}, {"name": "namespace", "value": "backend"}]),
    );
    let (ok, _, told) = dry(&foreign);
    assert!(!ok && told.contains("USHS010"), "{told}");
    let (_, beforehand, _) = asked(cluster, &["apply", "--dry-run=server"], &down);
    some_passes().await;
    assert!(members.silences(0).await.is_empty(), "nothing is sent for a dry run");
    assert!(stored(cluster, "frontend", "down").is_null(), "nothing is stored");
    assert_eq!(events(cluster, "down"), Vec::<String>::new(), "nothing is told");

    // The real thing: the same words, and what is muted is what was told.
    let (ok, warnings, told) = asked(cluster, &["apply"], &down);
    assert!(ok && told.contains("mutes 2 firing alerts"), "{told}");
    assert_eq!(warnings, beforehand);
    until(20, "muted", || async { members.suppressed(0).await.len() == 2 }).await;
    assert!(members.suppressed(0).await.iter().all(|labels| labels["namespace"] == "frontend"));
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Section 5.5: an Alertmanager that is nearly full is told of, before it refuses.
#[tokio::test(flavor = "multi_thread")]
async fn an_alertmanager_that_is_nearly_full_is_told_of() {
    let (cluster, _turn) = stage().await;
    let options = Members { max_silences: Some(2), ..Members::default() };
    let members = Alertmanagers::start(Release::New, 1, options).await;
    let running = door(cluster, &members, "OnNamespace").await;
    bind(cluster, "main", &members, json!({"limits": {"maxSilences": 2}}));
    for name in ["one", "two"] {
        apply(cluster, &silence("frontend", name, json!([{"name": "alertname", "value": name}])));
    }
    until(20, "two are there", || async { members.live(0).await.len() == 2 }).await;
    let third = silence("frontend", "three", json!([{"name": "alertname", "value": "three"}])).to_string();
    until(20, "told", || async {
        let (ok, _, told) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(&third));
        ok && told.contains("USHS112")
    })
    .await;
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Section 5.3.8: what the door says about the size is what Alertmanager measures.
#[tokio::test(flavor = "multi_thread")]
async fn the_size_that_the_door_estimates_is_the_one_that_alertmanager_measures() {
    let (cluster, _turn) = stage().await;
    let options = Members { max_silence_size_bytes: Some(100), ..Members::default() };
    let members = Alertmanagers::start(Release::New, 1, options).await;
    let running = door(cluster, &members, "OnNamespace").await;
    let limits = json!({"additionalArgs": [{"name": "silences.max-silence-size-bytes", "value": "100"}]});
    bind(cluster, "main", &members, limits);
    let number = |text: &str, before: &str| -> i64 {
        let rest = text.split_once(before).unwrap_or_else(|| panic!("{text}")).1;
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let many: Vec<Value> = (0..20)
        .map(|number| json!({"name": format!("label_{number}"), "value": "x".repeat(number)}))
        .collect();
    let mut objects = [
        silence("frontend", "short", json!([{"name": "service", "value": "api"}])),
        silence("frontend", "many", json!(many)),
    ];
    objects[1]["spec"]["comment"] = json!("a long story. ".repeat(60));
    let mut estimates = Vec::new();
    for object in &objects {
        until(20, "the limit is known", || async {
            !asked(cluster, &["apply", "--dry-run=server"], object).0
        })
        .await;
        let (_, _, said) = asked(cluster, &["apply", "--dry-run=server"], object);
        estimates.push(number(&said, "about "));
    }
    install::no_webhooks(cluster);
    for (object, estimate) in objects.iter().zip(estimates) {
        apply(cluster, object);
        let name = object["metadata"]["name"].as_str().unwrap();
        let object = told(cluster, "frontend", name, "False/LimitExceeded").await;
        let message = binding(&object, "main")["conditions"][0]["message"].as_str().unwrap();
        let measured = number(message, "exceeded maximum size: ");
        println!("size of {name}: {estimate} estimated, {measured} measured");
        assert!((estimate - measured).abs() * 20 <= measured, "{name}: {estimate}, {message}");
    }
    clean(cluster);
    running.stop().await;
}
