//! One silence, several Alertmanagers: it arrives, follows its object, is restored, and goes.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Alertmanagers, Options as Members, Release};

/// Cases 1, 24, 25 and 28: it arrives with the namespace matcher, follows its object under the same id, is made again
/// when somebody ends it, and goes with its object.
#[tokio::test(flavor = "multi_thread")]
async fn case_01_24_25_28_a_silence_lives_with_its_object() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    members.wait_ready().await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    until(20, "on both", || async { members.live(0).await.len() == 1 && members.live(1).await.len() == 1 })
        .await;
    let sent = members.live(1).await.remove(0);
    assert_eq!(matchers(&sent), ["service=api", "namespace=frontend"]);
    assert_eq!(
        (sent["createdBy"].as_str(), sent["comment"].as_str()),
        (Some("frontend/api"), Some("maintenance"))
    );
    until(20, "told", || async { ready(&stored(cluster, "frontend", "api")) == "True/SilenceApplied" }).await;
    let object = stored(cluster, "frontend", "api");
    let binding = &object["status"]["bindings"][0];
    assert_eq!((binding["syncedInstances"].as_i64(), binding["totalInstances"].as_i64()), (Some(2), Some(2)));
    assert_eq!(binding["silenceID"], sent["id"]);
    assert_eq!(object["status"]["phase"], "Active");
    assert_eq!(object["spec"]["matchers"].as_array().unwrap().len(), 1, "the spec is as written");
    assert!(object["metadata"]["finalizers"].to_string().contains("silence-cleanup"));

    // Longer, and for another reason: the same id.
    patch(cluster, "frontend", "api", json!({"spec": {"duration": "3h", "comment": "longer"}}));
    until(20, "followed", || async {
        let live = members.live(0).await;
        live.len() == 1 && live[0]["comment"] == "longer" && live[0]["id"] == sent["id"]
    })
    .await;

    // Ended by hand: made again.
    members.expire(0, sent["id"].as_str().unwrap()).await;
    until(30, "made again", || async {
        let (one, two) = (members.live(0).await, members.live(1).await);
        one.len() == 1 && two.len() == 1 && one[0]["id"] != sent["id"]
    })
    .await;
    until(20, "the event", || async { events(cluster, "api").contains(&"DriftRepaired".to_owned()) }).await;

    let (ok, _, errors) =
        cluster.kubectl(&["delete", "silence", "-n", "frontend", "api", "--timeout=30s"], None);
    assert!(ok, "{errors}");
    until(20, "gone", || async { members.live(0).await.is_empty() && members.live(1).await.is_empty() })
        .await;
    clean(cluster);
    running.stop().await;
}
