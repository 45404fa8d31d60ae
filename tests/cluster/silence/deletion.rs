//! Silences go: with their object, their namespace, their selection; and nothing waits for ever.

use serde_json::json;

use super::*;
use crate::support::alertmanager_fake::{Answer, Call, Fault, Setup};
use crate::support::alertmanagers::{Options as Members, Release};
use crate::support::cluster::free_port;

/// Cases 37 and 44: two Alertmanagers, each with its own matchers and id; one goes down and is told apart; one no
/// longer selects; the object goes, and both silences with it.
#[tokio::test(flavor = "multi_thread")]
async fn case_37_44_each_alertmanager_has_a_binding_of_its_own() {
    let (cluster, _turn) = stage().await;
    let (one, two) = tokio::join!(
        Alertmanagers::start(Release::New, 1, Members::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
    );
    bind(cluster, "main", &one, json!({"silenceSelector": {"matchLabels": {"team": "web"}}}));
    let none = json!({"alertmanagerConfigMatcherStrategy": {"type": "None"}});
    bind(cluster, "second", &two, none);
    let running = usher(cluster, settings()).await;
    let mut object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    object["metadata"]["labels"] = json!({"team": "web"});
    apply(cluster, &object);
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    let (first, second) = (binding(&object, "main"), binding(&object, "second"));
    assert_ne!(first["silenceID"], second["silenceID"]);
    assert_eq!(first["effectiveMatchers"], json!(["service=\"api\"", "namespace=\"frontend\""]));
    assert_eq!(second["effectiveMatchers"], json!(["service=\"api\""]));
    assert_eq!(first["silenceID"], one.live(0).await[0]["id"]);
    assert_eq!(matchers(&two.live(0).await[0]), ["service=api"]);

    // One is down: its binding says so, the other's does not.
    two.stop(0).await;
    let object = told(cluster, "frontend", "api", "False/AlertmanagerUnavailable").await;
    let state = |name: &str| {
        let ready = &binding(&object, name)["conditions"][0];
        format!("{}/{}", ready["status"].as_str().unwrap(), ready["reason"].as_str().unwrap())
    };
    assert_eq!(state("main"), "True/SilenceApplied");
    assert_eq!(state("second"), "False/AlertmanagerUnavailable");
    assert_eq!(object["status"]["phase"], "Error");
    two.start_again(0).await;
    told(cluster, "frontend", "api", "True/SilenceApplied").await;

    // Case 37: deselected.
    let (ok, _, errors) = cluster.kubectl(&["label", "silence", "-n", "frontend", "api", "team-"], None);
    assert!(ok, "{errors}");
    until(20, "ended on main", || async { one.live(0).await.is_empty() }).await;
    until(20, "the binding gone", || async {
        binding(&stored(cluster, "frontend", "api"), "main").is_null()
    })
    .await;
    let object = stored(cluster, "frontend", "api");
    assert!(object["metadata"]["finalizers"].to_string().contains("silence-cleanup"));
    assert_eq!(two.live(0).await.len(), 1);

    // Selected again, then gone.
    assert!(cluster.kubectl(&["label", "silence", "-n", "frontend", "api", "team=web"], None).0);
    until(20, "on main again", || async { one.live(0).await.len() == 1 }).await;
    delete(cluster, "frontend", "api");
    assert!(one.live(0).await.is_empty() && two.live(0).await.is_empty());
    clean(cluster);
    running.stop().await;
}

/// Case 28: what an Alertmanager does not know any more is as good as ended; one that is away is waited for, not for
/// ever; and what is left there is swept when it is back. `force-delete` does not wait at all.
#[tokio::test(flavor = "multi_thread")]
async fn case_28_a_deleted_object_waits_for_its_alertmanager_but_not_for_ever() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    let make =
        |name: &str| apply(cluster, &silence("frontend", name, json!([{"name": "service", "value": name}])));

    // It lost everything a moment ago.
    make("lost");
    told(cluster, "frontend", "lost", "True/SilenceApplied").await;
    members.start_empty(0).await;
    delete(cluster, "frontend", "lost");
    until(20, "gone", || async { members.live(0).await.is_empty() }).await;

    // Away.
    for name in ["patient", "forced"] {
        make(name);
        told(cluster, "frontend", name, "True/SilenceApplied").await;
    }
    let sent =
        binding(&stored(cluster, "frontend", "patient"), "main")["silenceID"].as_str().unwrap().to_owned();
    members.stop(0).await;
    let since = Instant::now();
    for name in ["patient", "forced"] {
        assert!(cluster.kubectl(&["delete", "silence", "-n", "frontend", name, "--wait=false"], None).0);
    }
    annotate(cluster, "silence", "frontend", "forced", "usher.dev/force-delete=true");
    until(6, "the forced one gone", || async { !exists(cluster, "frontend", "forced") }).await;
    assert!(exists(cluster, "frontend", "patient"), "not even {:?}", since.elapsed());
    until(20, "given up", || async { !exists(cluster, "frontend", "patient") }).await;
    let waited = since.elapsed();
    println!("case 28: given up after {waited:?}");
    assert!(waited >= Duration::from_secs(7), "{waited:?}");
    let (_, text, _) =
        cluster.kubectl(&["get", "events.events.k8s.io", "-n", "frontend", "-o", "json"], None);
    let all: Value = serde_json::from_str(&text).unwrap();
    let abandoned: Vec<&Value> = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["reason"] == "CleanupAbandoned" && event["regarding"]["name"] == "patient")
        .collect();
    let note = abandoned[0]["note"].as_str().unwrap();
    assert!(note.contains(&sent) && note.contains("ends at 20"), "{note}");

    members.start_again(0).await;
    assert_eq!(members.live(0).await.len(), 2, "they were on its disk");
    until(30, "swept", || async { members.live(0).await.is_empty() }).await;
    clean(cluster);
    running.stop().await;
}

/// Case 28, its beginning: an Alertmanager that lists a silence and answers 404 when it is to end it has lost it in
/// between, which no real one can be made to do.
#[tokio::test(flavor = "multi_thread")]
async fn case_28_what_cannot_be_found_when_it_is_to_end_has_ended() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    fake.once(Call::Delete, Fault::Answer(Answer::empty(404)));
    delete(cluster, "frontend", "api");
    assert!(fake.count(Call::Delete) >= 1);
    // It is there after all, as somebody else's would be: the sweep sees to that.
    until(20, "swept", || async { fake.live().is_empty() }).await;
    clean(cluster);
    running.stop().await;
}

/// Case 46: usher is down and its webhooks fail closed: deleting works, and so does freeing by hand.
#[tokio::test(flavor = "multi_thread")]
async fn case_46_with_usher_down_a_silence_can_be_deleted_and_freed() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    running.stop().await;
    let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
    install::webhooks(cluster, ([127, 0, 0, 1], free_port()).into(), Some(&made.authority));
    let new = silence("frontend", "new", json!([{"name": "service", "value": "api"}]));
    until(15, "fails closed", || async {
        let (ok, _, told) = asked(cluster, &["create", "--dry-run=server"], &new);
        !ok && told.contains("failed calling webhook")
    })
    .await;
    let (ok, _, told) = asked(cluster, &["create"], &new);
    assert!(!ok && told.contains("failed calling webhook"), "{told}");
    assert!(!exists(cluster, "frontend", "new"));
    assert!(cluster.kubectl(&["delete", "silence", "-n", "frontend", "api", "--wait=false"], None).0);
    assert!(exists(cluster, "frontend", "api"), "the finalizer holds it");
    let free = r#"{"metadata":{"finalizers":null}}"#;
    let arguments = ["patch", "silence", "-n", "frontend", "api", "--type=merge", "-p", free];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
    assert!(!exists(cluster, "frontend", "api"));
    install::no_webhooks(cluster);
    // Nobody cleaned up: the sweep does, when usher is back.
    let running = usher(cluster, settings()).await;
    until(20, "swept", || async { members.live(0).await.is_empty() }).await;
    clean(cluster);
    running.stop().await;
}

/// Case 47: a namespace with 20 Silences is deleted: it goes without a manual step, and so do they in Alertmanager.
#[tokio::test(flavor = "multi_thread")]
async fn case_47_a_namespace_goes_with_its_silences() {
    let (cluster, _turn) = stage().await;
    let manager = cluster.run_controller_manager();
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    install::namespace(cluster, "doomed");
    let objects: Vec<Value> = (0..20)
        .map(|number| {
            silence("doomed", &format!("s{number}"), json!([{"name": "n", "value": format!("{number}")}]))
        })
        .collect();
    install::apply(cluster, &objects);
    until(40, "all there", || async { members.live(0).await.len() == 20 }).await;
    let (ok, _, errors) = cluster.kubectl(&["delete", "namespace", "doomed", "--timeout=60s"], None);
    assert!(ok, "{errors}");
    until(20, "all ended", || async { members.live(0).await.is_empty() }).await;

    // With its Alertmanager away usher gives up, and its word about that is refused there: that stops nothing.
    install::namespace(cluster, "doomed");
    install::apply(cluster, &objects[..1]);
    told(cluster, "doomed", "s0", "True/SilenceApplied").await;
    members.stop(0).await;
    let mark = audit::mark(cluster);
    let (ok, _, errors) = cluster.kubectl(&["delete", "namespace", "doomed", "--timeout=60s"], None);
    assert!(ok, "{errors}");
    let seen = audit::ushers(cluster, mark);
    assert!(seen.iter().any(|entry| entry.resource == "events" && entry.code == 403), "nothing was refused");
    drop(manager);
    clean(cluster);
    running.stop().await;
}
