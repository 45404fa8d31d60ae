//! What people are told: alerts that are muted, metrics, and whether a silence made by hand was taken over.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

/// A silence made by hand is taken over under its id when it says the same, else it stays and that is told; the alerts
/// that it mutes are counted; metrics with names come and go with the objects.
#[tokio::test(flavor = "multi_thread")]
async fn a_silence_made_by_hand_is_adopted_and_its_alerts_are_counted() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let mut fitting = by_hand("dora", "service", "api");
    let own = json!({"name": "namespace", "value": "frontend", "isRegex": false, "isEqual": true});
    fitting["matchers"].as_array_mut().unwrap().push(own);
    let fitting = members.post(0, fitting).await;
    let other = members.post(0, by_hand("dora", "service", "web")).await;
    members.fire(0, json!({"alertname": "Down", "service": "api", "namespace": "frontend"})).await;
    until(10, "muted", || async { members.suppressed(0).await.len() == 1 }).await;

    let mut named = settings();
    named.alertmanager.object_metrics = true;
    let running = usher(cluster, named).await;
    for (name, service, adopted) in [("api", "api", &fitting), ("web", "web", &other)] {
        let mut object = silence("frontend", name, json!([{"name": "service", "value": service}]));
        object["metadata"]["annotations"] = json!({"usher.dev/adopt": adopted});
        apply(cluster, &object);
    }
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    let bound = binding(&object, "main");
    assert_eq!(bound["silenceID"], fitting, "in place");
    let object = told(cluster, "frontend", "web", "True/SilenceApplied").await;
    assert_ne!(binding(&object, "main")["silenceID"], other, "it has other matchers");
    until(10, "the event", || async { events(cluster, "web").contains(&"NotAdopted".to_owned()) }).await;
    let live = members.live(0).await;
    assert_eq!(live.len(), 3);
    let by = |id: &str| live.iter().find(|silence| silence["id"] == id).unwrap()["createdBy"].clone();
    assert_eq!((by(&fitting), by(&other)), (json!("frontend/api"), json!("dora")));

    until(20, "the alert is counted", || async {
        binding(&stored(cluster, "frontend", "api"), "main")["silencedAlerts"] == 1
    })
    .await;
    let metrics = running.metrics.render();
    for line in [
        "usher_silences{phase=\"Active\"} 2",
        "usher_silence_selector_source{source=\"spec\"} 1",
        "usher_silence_info{namespace=\"frontend\",name=\"api\",phase=\"Active\"} 1",
        "usher_silence_silenced_alerts{namespace=\"frontend\",name=\"api\"} 1",
        "usher_silence_synced_instances{namespace=\"frontend\",name=\"web\"} 1",
        "usher_silence_sync_duration_seconds_count 2",
    ] {
        assert!(metrics.contains(line), "{line} is missing: {metrics}");
    }
    delete(cluster, "frontend", "api");
    delete(cluster, "frontend", "web");
    let left: Vec<String> = members.live(0).await.iter().map(|silence| id(silence).to_owned()).collect();
    assert_eq!(left, [other], "what was adopted goes with its object");
    let metrics = running.metrics.render();
    assert!(!metrics.contains("name=\"api\""), "{metrics}");
    clean(cluster);
    running.stop().await;
}
