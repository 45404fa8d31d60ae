//! The system as a whole: switched off, without its CRD, without its rights, without Alertmanagers.

use serde_json::json;
use usher::manifests::{Install, crd::crd, rbac};

use super::*;
use crate::support::alertmanager_fake::{Call, Setup};
use crate::support::alertmanagers::{Options as Members, Release};
use crate::support::audit;

fn reconciler(running: &Running) -> String {
    let (_, systems) = running.state.behind.as_ref().unwrap();
    let all = systems.told();
    let found = all.into_iter().find(|entry| entry["kind"] == "Silence").unwrap_or_default();
    format!(
        "{}/{}",
        found["state"].as_str().unwrap_or_default(),
        found["reason"].as_str().unwrap_or_default()
    )
}

async fn is(running: &Running, expected: &str) {
    until(40, expected, || async { reconciler(running) == expected }).await;
}

fn enabled(running: &Running, reason: &str) -> bool {
    let line = format!("usher_subsystem_enabled{{subsystem=\"silence\",reason=\"{reason}\"}} 1");
    running.metrics.render().contains(&line)
}

/// Case 39: without the CRD usher is ready and says so; it is used as soon as it is there; another one of that name is
/// left alone. Without the right to list, only this system stops.
#[tokio::test(flavor = "multi_thread")]
async fn case_39_a_system_without_its_crd_or_its_rights_waits_for_them() {
    let (cluster, _turn) = stage().await;
    altering(cluster, true);
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let own = crd(&usher::kinds::silence::KIND);
    assert!(cluster.kubectl(&["delete", "crd", "silences.monitoring.coreos.com"], None).0);
    let running = usher(cluster, settings()).await;
    is(&running, "off/CRDMissing").await;
    assert!(enabled(&running, "CRDMissing"));
    assert_eq!(running.state.unready(), Vec::<String>::new());

    // silence-operator's: the same name, another schema.
    let mut other = own.clone();
    let version = &mut other["spec"]["versions"][0];
    version["additionalPrinterColumns"] = json!([]);
    version["schema"]["openAPIV3Schema"] = json!({"type": "object", "properties": {"spec": {
        "type": "object",
        "properties": {"matchers": {"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "value": {"type": "string"}, "isRegex": {"type": "boolean"}}}}},
    }}});
    install::apply(cluster, &[other]);
    is(&running, "off/IncompatibleCRD").await;
    assert!(enabled(&running, "IncompatibleCRD"));
    assert!(cluster.kubectl(&["delete", "crd", "silences.monitoring.coreos.com"], None).0);
    install::apply(cluster, &[own]);
    is(&running, "on/").await;
    let object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    until(20, "stored", || async { cluster.kubectl(&["apply", "-f", "-"], Some(&object.to_string())).0 })
        .await;
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(members.live(0).await.len(), 1);

    // Without the right to list; watches that run are cut with the API server.
    let mut without = rbac::documents(&Install::default());
    for rules in without.iter_mut().filter_map(|document| document.get_mut("rules")?.as_array_mut()) {
        for resources in rules.iter_mut().filter_map(|rule| rule.get_mut("resources")?.as_array_mut()) {
            resources.retain(|resource| resource != "silences");
        }
        rules.retain(|rule| rule["resources"].as_array().is_none_or(|resources| !resources.is_empty()));
    }
    install::apply(cluster, &without);
    cluster.stop_api_server();
    cluster.start_api_server().await;
    is(&running, "off/RBACDenied").await;
    let (_, systems) = running.state.behind.as_ref().unwrap();
    let account = systems.told().into_iter().find(|entry| entry["kind"] == "Account").unwrap();
    assert_eq!(account["state"], "on", "the rest runs");
    assert!(enabled(&running, "RBACDenied"));
    assert_eq!(running.state.unready(), Vec::<String>::new());
    install::webhooks(cluster, running.admission, None);
    let bad = silence("frontend", "bad", json!([{"name": "a", "value": "x"}, {"name": "a", "value": "y"}]));
    until(20, "reviews are answered", || async {
        let (ok, _, told) = asked(cluster, &["create", "--dry-run=server"], &bad);
        !ok && told.contains("USHS009")
    })
    .await;
    install::no_webhooks(cluster);
    assert_eq!(members.live(0).await.len(), 1, "nothing is taken back");
    install::apply(cluster, &rbac::documents(&Install::default()));
    is(&running, "on/").await;
    delete(cluster, "frontend", "api");
    assert!(members.live(0).await.is_empty());
    altering(cluster, false);
    forgive_refusals(cluster);
    clean(cluster);
    running.stop().await;
}

/// Case 48: with the gate off any Silence is let in unchanged and no Alertmanager is called, though `usher check` still
/// judges. Without the Alertmanager CRD a Silence is unbound and can be deleted; with it, it is bound without a restart.
#[tokio::test(flavor = "multi_thread")]
async fn case_48_a_gate_that_is_off_and_a_crd_that_is_missing() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let mut off = settings();
    off.gates = "Silence=false".parse().unwrap();
    let running = usher(cluster, off).await;
    install::webhooks(cluster, running.admission, None);
    let mut bad =
        silence("frontend", "bad", json!([{"name": "service", "value": "a)(b", "matchType": "=~"}]));
    bad["spec"]["comment"] = json!("  ");
    until(20, "let in", || async { cluster.kubectl(&["apply", "-f", "-"], Some(&bad.to_string())).0 }).await;
    let object = stored(cluster, "frontend", "bad");
    assert_eq!(object["spec"]["comment"], "  ");
    assert!(!object["metadata"]["annotations"].to_string().contains("usher.dev"), "{object:#}");
    is(&running, "off/GateDisabled").await;
    some_passes().await;
    assert_eq!(fake.connections(), 0);
    let file = cluster.directory.join("bad.json");
    std::fs::write(&file, bad.to_string()).unwrap();
    let checked =
        std::process::Command::new(env!("CARGO_BIN_EXE_usher")).arg("check").arg(&file).output().unwrap();
    assert!(!checked.status.success(), "{checked:?}");
    assert!(String::from_utf8_lossy(&checked.stdout).contains("USHS"), "{checked:?}");
    install::no_webhooks(cluster);
    running.stop().await;
    delete(cluster, "frontend", "bad");

    // Without the Alertmanager CRD.
    altering(cluster, true);
    assert!(cluster.kubectl(&["delete", "crd", "alertmanagers.monitoring.coreos.com"], None).0);
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "False/NoMatchingAlertmanager").await;
    assert_eq!(object["status"]["phase"], "Unbound");
    assert!(enabled(&running, "AlertmanagerCRDMissing"));
    apply(cluster, &silence("frontend", "gone", json!([{"name": "service", "value": "gone"}])));
    delete(cluster, "frontend", "gone");
    let guests = crate::support::root().join("tests/support/guests.yaml").display().to_string();
    assert!(cluster.kubectl(&["apply", "--server-side", "-f", &guests], None).0);
    until(20, "established", || async {
        let object = alertmanager(
            "monitoring",
            "main",
            1,
            json!({"silenceSelector": {}, "silenceNamespaceSelector": {}}),
        );
        cluster.kubectl(&["apply", "--server-side", "-f", "-"], Some(&object.to_string())).0
    })
    .await;
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(fake.count(Call::Post), 1);
    altering(cluster, false);
    clean(cluster);
    running.stop().await;
}

/// Case 57: what the tests before do with Silences needs no more than the printed roles: `clean` looks for refusals in
/// the audit log. Here the whole way of one object, seen from the API server.
#[tokio::test(flavor = "multi_thread")]
async fn case_57_the_printed_roles_are_enough() {
    let (cluster, _turn) = stage().await;
    let fake = Fake::start(Setup::default()).await;
    place_fake(cluster, "main", &fake, json!({}));
    let mark = audit::mark(cluster);
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    patch(cluster, "frontend", "api", json!({"spec": {"suspend": true}}));
    told(cluster, "frontend", "api", "True/Suspended").await;
    delete(cluster, "frontend", "api");
    let seen = audit::ushers(cluster, mark);
    let refused: Vec<_> = seen.iter().filter(|entry| entry.code == 403).collect();
    assert!(refused.is_empty(), "{refused:?}");
    let wrote =
        |resource: &str| seen.iter().filter(|entry| entry.is_write() && entry.resource == resource).count();
    println!("case 57: {} requests, {} of them status writes", seen.len(), wrote("silences/status"));
    assert!(wrote("silences") == 2 && wrote("silences/status") >= 2, "{seen:?}");
    clean(cluster);
    running.stop().await;
}
