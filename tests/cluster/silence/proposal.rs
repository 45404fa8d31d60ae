//! The objects of the proposal that asked for Silences, as its author wrote them.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

/// Its first Silence; the end was in the future then.
fn first() -> Value {
    json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "Silence",
        "metadata": {
            "name": "maintenance-silence",
            "namespace": "monitoring",
            "labels": {"app": "my-app", "team": "platform"},
        },
        "spec": {
            "comment": "Database upgrade maintenance window - disabling alerts for API services",
            "expiresAt": (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(4))
                .round(jiff::Unit::Second)
                .unwrap(),
            "matchers": [
                {"name": "alertname", "value": "ServiceUnavailable", "matchType": "="},
                {"name": "service", "value": "api-.*", "matchType": "=~"},
                {"name": "severity", "value": "warning", "matchType": "!="},
            ],
        },
    })
}

/// Case 43: its first Silence and Alertmanager pass all three doors; what is sent and told is what it shows. Its second
/// Silence lacks what Alertmanager needs, and both are named.
#[tokio::test(flavor = "multi_thread")]
async fn case_43_the_objects_of_the_proposal() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 3, Members::default()).await;
    let (ok, _, errors) =
        cluster.kubectl(&["label", "namespace", "monitoring", "name=monitoring", "--overwrite"], None);
    assert!(ok, "{errors}");
    let selectors = json!({
        "silenceSelector": {"matchLabels": {"team": "platform"}},
        "silenceNamespaceSelector": {"matchLabels": {"name": "monitoring"}},
    });
    bind(cluster, "main-alertmanager", &members, selectors);
    let running = usher(cluster, settings()).await;
    install::webhooks(cluster, running.admission, None);

    // Its second Silence: first the schema asks for the comment, then its rules for the end; on the way in and offline.
    let mut second = json!({
        "apiVersion": "monitoring.coreos.com/v1alpha1",
        "kind": "Silence",
        "metadata": {"name": "api-maintenance", "namespace": "frontend"},
        "spec": {"matchers": [{"name": "service", "value": "api", "matchType": "="}]},
    });
    let check = |object: &Value| {
        let file = cluster.directory.join("proposal.json");
        std::fs::write(&file, object.to_string()).unwrap();
        let binary = env!("CARGO_BIN_EXE_usher");
        let done = std::process::Command::new(binary).arg("check").arg(&file).output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    for named in ["spec.comment", "expiresAt"] {
        let (ok, _, said) = asked(cluster, &["create"], &second);
        assert!(!ok && said.contains(named), "{said}");
        let (ok, said) = check(&second);
        assert!(!ok && said.contains(named), "{said}");
        second["spec"]["comment"] = json!("maintenance");
    }

    // The first.
    let (ok, said) = check(&first());
    assert!(ok, "{said}");
    until(20, "let in", || async { asked(cluster, &["apply"], &first()).0 }).await;
    // The webhook has seen it.
    until(20, "let in by the webhook", || async {
        asked(cluster, &["apply"], &first());
        let object = stored(cluster, "monitoring", "maintenance-silence");
        !object["metadata"]["annotations"]["usher.dev/enforced-matchers"].is_null()
    })
    .await;
    let object = told(cluster, "monitoring", "maintenance-silence", "True/SilenceApplied").await;
    let accepted = object["status"]["conditions"].as_array().unwrap().iter();
    let accepted: Vec<&Value> = accepted.filter(|condition| condition["type"] == "Accepted").collect();
    assert_eq!(accepted[0]["status"], "True", "the guard says the same");
    for member in 0..3 {
        let sent = members.live(member).await.remove(0);
        let expected =
            ["alertname=ServiceUnavailable", "service=~api-.*", "severity!=warning", "namespace=monitoring"];
        assert_eq!(matchers(&sent), expected);
        assert_eq!(sent["createdBy"], "monitoring/maintenance-silence");
    }
    let bound = binding(&object, "main-alertmanager");
    assert_eq!(counts(bound), "3/3");
    for field in
        ["name", "namespace", "silenceID", "lastSyncTime", "syncedInstances", "totalInstances", "conditions"]
    {
        assert!(!bound[field].is_null(), "{field}: {bound}");
    }
    let condition = &bound["conditions"][0];
    assert_eq!((&condition["type"], &condition["reason"]), (&json!("Ready"), &json!("SilenceApplied")));
    for field in ["status", "message", "lastTransitionTime", "observedGeneration"] {
        assert!(!condition[field].is_null(), "{field}: {condition}");
    }
    assert_eq!(object["status"]["observedGeneration"], object["metadata"]["generation"]);
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}
