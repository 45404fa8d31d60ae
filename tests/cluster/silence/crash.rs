//! usher dies between any two steps: what it sent is recognised, not sent again.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

/// Starts usher, lets it send a silence, and kills it before the status tells. One member is cut off: until it has
/// heard, which it never will, the status waits.
async fn killed_after_the_post(cluster: &Cluster, members: &Alertmanagers) -> String {
    members.cut(1).await;
    let mut sent = Vec::new();
    for attempt in 0..5 {
        let process = process(cluster, &[]).await;
        apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
        let started = Instant::now();
        while sent.is_empty() {
            assert!(started.elapsed() < Duration::from_secs(40), "nothing was sent");
            tokio::time::sleep(Duration::from_millis(10)).await;
            sent = members.live(0).await;
        }
        drop(process);
        let object = stored(cluster, "frontend", "api");
        if binding(&object, "main")["silenceID"].is_null() {
            return id(&sent[0]).to_owned();
        }
        println!("attempt {attempt}: the status was quicker");
        strip(cluster, "frontend", "api");
        members.expire(0, id(&sent.remove(0))).await;
    }
    panic!("the status was always quicker");
}

/// Cases 21 and 55: POST, crash before the status says so, restart: one silence, and its id in the status; with
/// annotations and, on an old Alertmanager, without. There a silence without an object is only reported.
#[tokio::test(flavor = "multi_thread")]
async fn case_21_55_what_was_sent_before_a_crash_is_found_again() {
    for release in [Release::New, Release::Old] {
        let (cluster, _turn) = stage().await;
        let members = Alertmanagers::start(release, 2, Members::default()).await;
        bind(cluster, "main", &members, json!({"version": format!("v{}", release.version())}));
        let sent = killed_after_the_post(cluster, &members).await;
        let orphan = members.post(0, by_hand("frontend/long-gone", "job", "node")).await;
        members.heal(1).await;
        let running = usher(cluster, settings()).await;
        let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
        assert_eq!(binding(&object, "main")["silenceID"], sent, "{release:?}");
        until(20, "the report", || async {
            running.metrics.render().contains("usher_silence_orphans{state=\"unproven\"} 1")
        })
        .await;
        for member in 0..2 {
            let mut live: Vec<String> =
                members.live(member).await.iter().map(|silence| id(silence).to_owned()).collect();
            live.sort();
            let mut expected = vec![sent.clone(), orphan.clone()];
            expected.sort();
            assert_eq!(live, expected, "{release:?}, member {member}");
        }
        delete(cluster, "frontend", "api");
        until(20, "ended", || async { members.live(0).await.len() == 1 && members.live(1).await.len() == 1 })
            .await;
        clean(cluster);
        running.stop().await;
    }
}

/// Case 55 again, with an edit between the crash and the restart: an old Alertmanager keeps no annotations, so the
/// matchers were written down before they were sent, and still tell whose silence it is.
#[tokio::test(flavor = "multi_thread")]
async fn case_55_what_was_sent_before_a_crash_and_an_edit_is_replaced() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::Old, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({"version": "v0.31.1"}));
    let sent = killed_after_the_post(cluster, &members).await;
    patch(cluster, "frontend", "api", json!({"spec": {"matchers": [{"name": "service", "value": "web"}]}}));
    members.heal(1).await;
    let running = usher(cluster, settings()).await;
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    for member in 0..2 {
        let live = members.live(member).await;
        assert_eq!(live.len(), 1, "{live:#?}");
        assert_eq!(matchers(&live[0]), ["service=web", "namespace=frontend"]);
        assert_ne!(id(&live[0]), sent);
    }
    clean(cluster);
    running.stop().await;
}

/// Case 49: while usher is down the object is replaced by another one of the same name; that one takes over.
#[tokio::test(flavor = "multi_thread")]
async fn case_49_an_object_that_was_replaced_under_its_name_takes_over() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    let object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    apply(cluster, &object);
    let before = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    running.stop().await;
    strip(cluster, "frontend", "api");
    apply(cluster, &object);
    let running = usher(cluster, settings()).await;
    let after = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_ne!(before["metadata"]["uid"], after["metadata"]["uid"]);
    some_passes().await;
    let live = members.live(0).await;
    assert_eq!(live.len(), 1, "{live:#?}");
    assert_eq!(live[0]["id"], binding(&before, "main")["silenceID"], "in place");
    assert_eq!(live[0]["annotations"]["usher.dev/uid"], after["metadata"]["uid"]);
    clean(cluster);
    running.stop().await;
}
