//! How an Alertmanager says which Silences it wants where its CRD has no field for that.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};
use crate::support::cluster::peers;
use crate::support::root;

/// Applies a file with a CRD.
fn crd(cluster: &Cluster, file: std::path::PathBuf) {
    let file = file.display().to_string();
    let (ok, _, errors) =
        cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", &file], None);
    assert!(ok, "{errors}");
}

fn stored_selector(cluster: &Cluster) -> Value {
    let arguments = ["get", "alertmanager", "-n", "monitoring", "main", "-o", "json"];
    let object: Value = serde_json::from_str(&cluster.kubectl(&arguments, None).1).unwrap();
    object["spec"]["silenceSelector"].clone()
}

/// Case 19: prometheus-operator's own CRD drops the fields; annotations say it instead. Case 56, its end: the CRD gains
/// the fields, and nothing changes for an object that has not; then the field goes before the annotation.
#[tokio::test(flavor = "multi_thread")]
async fn case_19_56_annotations_select_where_the_crd_drops_the_fields() {
    let (cluster, _turn) = stage().await;
    altering(cluster, true);
    crd(cluster, peers("operator-crds").join("monitoring.coreos.com_alertmanagers.yaml"));
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let spec = json!({"version": "v0.34.2", "clusterPushpullInterval": "2s"});
    place(cluster, &alertmanager("monitoring", "main", 1, spec), &addresses(&members));
    let select = |labels: &str| {
        let patch = format!(r#"{{"spec":{{"silenceSelector":{{"matchLabels":{{"team":"{labels}"}}}}}}}}"#);
        let arguments = ["patch", "alertmanager", "-n", "monitoring", "main", "--type=merge", "-p", &patch];
        let (ok, _, errors) = cluster.kubectl(&arguments, None);
        assert!(ok, "{errors}");
    };
    until(20, "the field is dropped", || async {
        select("web");
        stored_selector(cluster).is_null()
    })
    .await;
    annotate(cluster, "alertmanager", "monitoring", "main", "usher.dev/silence-selector=team=web");
    annotate(cluster, "alertmanager", "monitoring", "main", "usher.dev/silence-namespace-selector=*");
    let running = usher(cluster, settings()).await;
    for team in ["web", "db"] {
        let mut object = silence("frontend", team, json!([{"name": "service", "value": team}]));
        object["metadata"]["labels"] = json!({"team": team});
        apply(cluster, &object);
    }
    let before = told(cluster, "frontend", "web", "True/SilenceApplied").await;
    told(cluster, "frontend", "db", "False/NoMatchingAlertmanager").await;
    assert_eq!(matchers(&members.live(0).await[0]), ["service=web", "namespace=frontend"]);
    let metrics = running.metrics.render();
    assert!(metrics.contains("usher_silence_selector_source{source=\"annotation\"} 1"), "{metrics}");

    // Case 56.
    crd(cluster, root().join("tests/support/guests.yaml"));
    some_passes().await;
    assert!(stored_selector(cluster).is_null());
    let after = stored(cluster, "frontend", "web");
    for field in ["silenceID", "effectiveMatchers", "lastSyncTime"] {
        assert_eq!(binding(&after, "main")[field], binding(&before, "main")[field], "{field}");
    }
    assert_eq!(members.silences(0).await.len(), 1);
    until(20, "the field is kept", || async {
        select("db");
        !stored_selector(cluster).is_null()
    })
    .await;
    told(cluster, "frontend", "db", "True/SilenceApplied").await;
    told(cluster, "frontend", "web", "False/NoMatchingAlertmanager").await;
    altering(cluster, false);
    clean(cluster);
    running.stop().await;
}
