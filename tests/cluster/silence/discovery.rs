//! Where Alertmanagers are: pods, annotations, settings; and where usher must not go.

use serde_json::json;

use super::*;
use crate::support::alertmanager_fake::{Call, Setup};
use crate::support::alertmanager_objects::{patch_status, pod, pod_status};
use crate::support::alertmanagers::{Options as Members, Release};

/// Cases 34, 35 and 36: only the pods of the one that selects get requests; one that listens on its own loopback is not
/// knocked at; a path in front is kept.
#[tokio::test(flavor = "multi_thread")]
async fn case_34_35_36_instances_are_the_alertmanager_s_own_pods_below_its_path() {
    let (cluster, _turn) = stage().await;
    let below = Members { route_prefix: "/am/".to_owned(), ..Members::default() };
    let (prefixed, other, elsewhere, stray, local) = tokio::join!(
        Alertmanagers::start(Release::New, 1, below),
        Fake::start(Setup::default()),
        Fake::start(Setup::default()),
        Fake::start(Setup::default()),
        Fake::start(Setup::default()),
    );
    bind(cluster, "main", &prefixed, json!({"routePrefix": "/am/"}));
    // In the same namespace and behind the same governing Service, but it selects nothing.
    place_fake(cluster, "other", &other, json!({"silenceSelector": null}));
    let ports = json!([{"name": "web", "port": 9093, "targetPort": "web"}]);
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "alertmanager-operated", "namespace": "monitoring"},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": true, "ports": ports,
            "selector": {"app.kubernetes.io/name": "alertmanager"}}});
    // One of its name in another namespace, and a pod with its labels that is none of its own.
    let namesake = alertmanager("backend", "main", 1, json!({"version": "v0.34.2"}));
    let mut debug = pod("monitoring", "main", 0, stray.address);
    debug["metadata"]["name"] = json!("alertmanager-main-debug");
    install::apply(cluster, &[service, debug]);
    let status = pod_status(stray.address, true, jiff::Timestamp::now());
    patch_status(cluster, "monitoring", "alertmanager-main-debug", &status);
    place(cluster, &namesake, &[elsewhere.address]);
    place_fake(
        cluster,
        "local",
        &local,
        json!({"listenLocal": true, "silenceSelector": {"matchLabels": {"l": "1"}}}),
    );
    let mut allowing = settings();
    allowing.alertmanager.url_allow = vec!["127.0.0.1".to_owned()];
    let running = usher(cluster, allowing).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(prefixed.live(0).await.len(), 1);

    // Case 35.
    let mut object = silence("frontend", "local", json!([{"name": "service", "value": "local"}]));
    object["metadata"]["labels"] = json!({"l": "1"});
    apply(cluster, &object);
    told(cluster, "frontend", "local", "False/NotReachableListenLocal").await;
    some_passes().await;
    assert_eq!(local.connections(), 0, "it was knocked at");
    let warned =
        events(cluster, "local").iter().filter(|reason| *reason == "NotReachableListenLocal").count();
    assert_eq!(warned, 1);
    annotate(
        cluster,
        "alertmanager",
        "monitoring",
        "local",
        &format!("usher.dev/alertmanager-url={}", local.url()),
    );
    told(cluster, "frontend", "local", "True/SilenceApplied").await;
    assert_eq!(local.live().len(), 1);
    // Case 34.
    assert_eq!(other.connections(), 0, "one that selects nothing was knocked at");
    assert_eq!(elsewhere.connections(), 0, "one of the same name was knocked at");
    assert_eq!(stray.connections(), 0, "a pod that is no member was knocked at");
    cluster.kubectl(&["delete", "service", "-n", "monitoring", "alertmanager-operated"], None);
    clean(cluster);
    running.stop().await;
}

/// Case 56: two URLs in the annotation are two instances, and no pod is asked. A spec's selector goes before the
/// annotation's. Case 60: a foreign host is not called.
#[tokio::test(flavor = "multi_thread")]
async fn case_56_60_urls_replace_discovery_where_they_are_allowed() {
    let (cluster, _turn) = stage().await;
    let (pair, pod) = tokio::join!(
        Alertmanagers::start(Release::New, 2, Members::default()),
        Fake::start(Setup::default())
    );
    place_fake(
        cluster,
        "main",
        &pod,
        json!({"silenceSelector": {"matchLabels": {"team": "web"}}, "clusterPushpullInterval": "2s"}),
    );
    let urls = format!("usher.dev/alertmanager-url={},{}", pair.url(0), pair.url(1));
    annotate(cluster, "alertmanager", "monitoring", "main", &urls);
    annotate(cluster, "alertmanager", "monitoring", "main", "usher.dev/silence-selector=team=db");
    let mut object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    object["metadata"]["labels"] = json!({"team": "web"});
    apply(cluster, &object);
    let mut other = silence("frontend", "db", json!([{"name": "service", "value": "db"}]));
    other["metadata"]["labels"] = json!({"team": "db"});
    apply(cluster, &other);

    // Case 60: loopback is no Service of its namespace.
    let foreign = Fake::start(Setup::default()).await;
    let forbidden = format!("usher.dev/alertmanager-url={}", foreign.url());
    annotate(cluster, "alertmanager", "monitoring", "main", &forbidden);
    let running = usher(cluster, settings()).await;
    told(cluster, "frontend", "api", "False/URLNotAllowed").await;
    some_passes().await;
    running.stop().await;
    assert_eq!(foreign.connections(), 0);
    annotate(cluster, "alertmanager", "monitoring", "main", &urls);

    let mut allowing = settings();
    allowing.alertmanager.url_allow = vec!["127.0.0.1".to_owned()];
    let running = usher(cluster, allowing).await;
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(counts(binding(&object, "main")), "2/2");
    assert_eq!(pair.live(1).await.len(), 1);
    assert_eq!(pod.connections(), 0, "a pod was asked");
    let object = told(cluster, "frontend", "db", "False/NoMatchingAlertmanager").await;
    assert_eq!(object["status"]["phase"], "Unbound");

    // Without the spec's the annotation's holds.
    let gone = r#"[{"op":"remove","path":"/spec/silenceSelector"}]"#;
    let arguments = ["patch", "alertmanager", "-n", "monitoring", "main", "--type=json", "-p", gone];
    assert!(cluster.kubectl(&arguments, None).0);
    told(cluster, "frontend", "db", "True/SilenceApplied").await;
    told(cluster, "frontend", "api", "False/NoMatchingAlertmanager").await;
    until(10, "only the other", || async {
        let live = pair.live(0).await;
        live.len() == 1 && live[0]["createdBy"] == "frontend/db"
    })
    .await;
    clean(cluster);
    running.stop().await;
}

/// Case 60: a gossip pair that no operator runs, named on the command line: bound as `default`, the namespace enforced,
/// healed and cleaned up like any other.
#[tokio::test(flavor = "multi_thread")]
async fn case_60_alertmanagers_on_the_command_line_are_like_any_other() {
    let (cluster, _turn) = stage().await;
    let pair = Alertmanagers::start(Release::New, 2, Members::default()).await;
    let flag = format!("--alertmanager={},{}", pair.url(0), pair.url(1));
    let process = process(cluster, &[&flag]).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    let bound = binding(&object, "default");
    assert_eq!((counts(bound).as_str(), bound["namespace"].as_str()), ("2/2", Some("usher-system")));
    let sent = pair.live(1).await.remove(0);
    assert_eq!(matchers(&sent), ["service=api", "namespace=frontend"]);
    pair.expire(1, id(&sent)).await;
    until(30, "made again on both", || async {
        let (one, two) = (pair.live(0).await, pair.live(1).await);
        one.len() == 1 && two.len() == 1 && one[0]["id"] != sent["id"]
    })
    .await;
    // It left nothing behind that somebody else must clean up.
    strip(cluster, "frontend", "api");
    until(30, "swept", || async { pair.live(0).await.is_empty() && pair.live(1).await.is_empty() }).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    delete(cluster, "frontend", "api");
    assert!(pair.live(0).await.is_empty() && pair.live(1).await.is_empty());
    clean(cluster);
    drop(process);
}

/// Case 60: the same in the settings' file, which says how often its members exchange all they have: one that gossip does
/// not reach gets the silence directly, and the duplicate goes when it does.
#[tokio::test(flavor = "multi_thread")]
async fn case_60_alertmanagers_in_the_settings_are_healed() {
    let (cluster, _turn) = stage().await;
    let pair = Alertmanagers::start(Release::New, 2, Members::default()).await;
    let file = cluster.directory.join("targets.yaml");
    let target = json!({
        "name": "plain", "urls": [pair.url(0), pair.url(1)], "silenceSelector": {}, "namespaceSelector": {},
        "pushPullInterval": "2s",
    });
    std::fs::write(&file, json!({"silence": {"alertmanagers": [target]}}).to_string()).unwrap();
    let process = process(cluster, &["--config", &file.display().to_string()]).await;
    pair.cut(1).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    until(30, "given to it directly", || async {
        let (one, two) = (pair.live(0).await, pair.live(1).await);
        one.len() == 1 && two.len() == 1 && one[0]["id"] != two[0]["id"]
    })
    .await;
    pair.heal(1).await;
    until(30, "one and the same", || async {
        let (one, two) = (pair.live(0).await, pair.live(1).await);
        one.len() == 1 && two.len() == 1 && one[0]["id"] == two[0]["id"]
    })
    .await;
    // One that is away holds up nothing: a URL that does not answer is not ready.
    pair.stop(1).await;
    apply(cluster, &silence("frontend", "web", json!([{"name": "service", "value": "web"}])));
    let object = told(cluster, "frontend", "web", "True/PartiallySynced").await;
    assert_eq!(counts(binding(&object, "plain")), "1/2");
    pair.start_again(1).await;
    told(cluster, "frontend", "web", "True/SilenceApplied").await;
    delete(cluster, "frontend", "api");
    delete(cluster, "frontend", "web");
    assert!(pair.live(0).await.is_empty() && pair.live(1).await.is_empty());
    clean(cluster);
    drop(process);
}

/// Case 60: a repository that keeps ended silences is applied afresh: with `--silence-past-end=warn` that is no error,
/// and nothing is sent.
#[tokio::test(flavor = "multi_thread")]
async fn case_60_what_ended_before_it_was_applied_is_never_sent() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let mut lenient = settings();
    lenient.silence.past_end = usher::settings::PastEnd::Warn;
    let running = usher(cluster, lenient).await;
    install::webhooks(cluster, running.admission, None);
    let mut object = silence("frontend", "past", json!([{"name": "service", "value": "api"}]));
    object["spec"].as_object_mut().unwrap().remove("duration");
    object["spec"]["expiresAt"] = json!("2026-01-10T09:59:00Z");
    until(20, "the webhook warns", || async {
        let text = object.to_string();
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(&text));
        ok && errors.contains("Warning")
    })
    .await;
    apply(cluster, &object);
    let object = told(cluster, "frontend", "past", "True/SilenceExpired").await;
    assert_eq!(object["status"]["phase"], "Expired");
    assert_eq!(fake.count(Call::Post), 0);
    assert!(!object["metadata"].to_string().contains("silence-cleanup"));
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}
