//! Behind the door: what the leader tells about objects that slipped in, what it keeps and lets go, and what it does when
//! its kinds come and go.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use usher::manifests::crd::crd;
use usher::settings::Settings;
use usher::view::Standing;

use crate::cluster;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::replica::{Options, eventually, eventually_for, replica};

fn apply(cluster: &Cluster, text: &str) {
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(text));
    assert!(ok, "{errors}");
}

fn get(cluster: &Cluster, what: &[&str]) -> Value {
    let mut arguments = vec!["get", "-o", "json"];
    arguments.extend(what);
    let (_, text, _) = cluster.kubectl(&arguments, None);
    serde_json::from_str(&text).unwrap_or_default()
}

/// A condition as `Status/Reason: message`; empty when there is none.
fn condition(object: &Value, kind: &str) -> String {
    let all = object["status"]["conditions"].as_array();
    let found = all.into_iter().flatten().find(|condition| condition["type"] == kind);
    let text = |condition: &Value, field: &str| condition[field].as_str().unwrap_or_default().to_owned();
    found.map_or(String::new(), |found| {
        format!("{}/{}: {}", text(found, "status"), text(found, "reason"), text(found, "message"))
    })
}

fn events(cluster: &Cluster, name: &str) -> Vec<(String, String)> {
    let all = get(cluster, &["events.events.k8s.io", "-A"]);
    let ours =
        all["items"].as_array().into_iter().flatten().filter(|event| event["regarding"]["name"] == name);
    let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
    ours.map(|event| (text(event, "reason"), text(event, "note"))).collect()
}

const SLIPPED: &str = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: slipped, namespace: shop}
spec:
  comment: "maintenance"
  duration: 2h
  matchers: [{name: a, value: one}, {name: a, value: two}]
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: fine, namespace: shop}
spec:
  comment: "maintenance"
  duration: 2h
  matchers: [{name: a, value: one}]
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: ended, namespace: shop}
spec:
  comment: "over long ago"
  expiresAt: "2020-01-01T00:00:00Z"
  matchers: [{name: a, value: one}]
---
apiVersion: monitoring.coreos.com/v1alpha1
kind: ScrapeClass
metadata: {name: slipped}
spec:
  tlsConfig: {certFile: /a}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Account
metadata: {name: slipped}
spec:
  apiKeySecretRef: {name: key, key: ""}
---
apiVersion: uptimerobot.com/v1alpha1
kind: Contact
metadata: {name: slipped}
spec:
  contact: {id: "0123"}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_slipped_in_is_told_and_never_synced() {
    let (cluster, _turn) = cluster().await;
    apply(cluster, SLIPPED);
    let running = replica(&Options::new(cluster)).await;
    let silence = |name: &str| get(cluster, &["silence", "-n", "shop", name]);
    eventually("Accepted=False", || condition(&silence("slipped"), "Accepted").starts_with("False/Refused"))
        .await;
    let slipped = silence("slipped");
    let told = condition(&slipped, "Accepted");
    assert!(told.contains("USHS009 at spec.matchers[1]"), "{told}");
    assert_eq!(slipped["status"]["observedGeneration"], slipped["metadata"]["generation"]);
    let managed = get(cluster, &["--show-managed-fields", "silence", "-n", "shop", "slipped"]);
    let ours = managed["metadata"]["managedFields"].as_array().unwrap();
    let ours = ours.iter().find(|entry| entry["manager"] == "usher").expect("written by usher");
    assert!(ours["operation"] == "Apply" && ours["subresource"] == "status", "{ours}");
    eventually("the event", || {
        events(cluster, "slipped")
            .iter()
            .any(|(reason, note)| reason == "Refused" && note.contains("USHS009"))
    })
    .await;
    // Good objects are good, and one that has ended is not refused for it.
    eventually("Accepted=True", || {
        ["fine", "ended"]
            .iter()
            .all(|name| condition(&silence(name), "Accepted").starts_with("True/Accepted"))
    })
    .await;
    eventually("the others", || {
        condition(&get(cluster, &["scrapeclass", "slipped"]), "Accepted").contains("USHC")
            && condition(&get(cluster, &["contact", "slipped"]), "Accepted").contains("USHN")
            && condition(&get(cluster, &["account", "slipped"]), "Accepted").contains("USHA001")
    })
    .await;
    // What a sync of Accounts does is to put a finalizer on them: a refused one gets none.
    let account = || get(cluster, &["account", "slipped"])["metadata"]["finalizers"].to_string();
    assert_eq!(account(), "null", "a refused object was synced");
    let patch = r#"{"spec":{"apiKeySecretRef":{"key":"apiKey"}}}"#;
    assert!(cluster.kubectl(&["patch", "account", "slipped", "--type=merge", "-p", patch], None).0);
    eventually("synced once it is admitted", || account().contains("account-in-use")).await;

    // Mended: told again, once.
    let transition = || {
        let object = silence("slipped");
        let all = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
        all.first().map(|condition| condition["lastTransitionTime"].clone()).unwrap_or_default()
    };
    let before = transition();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let patch = r#"{"spec":{"matchers":[{"name":"a","value":"one"}]}}"#;
    let (ok, _, errors) =
        cluster.kubectl(&["patch", "silence", "-n", "shop", "slipped", "--type=merge", "-p", patch], None);
    assert!(ok, "{errors}");
    eventually("Accepted=True", || condition(&silence("slipped"), "Accepted").starts_with("True/")).await;
    assert_ne!(transition(), before);
    eventually("the event", || events(cluster, "slipped").iter().any(|(reason, _)| reason == "Accepted"))
        .await;
    assert_eq!(running.state.unready(), Vec::<String>::new());
    for what in
        [["silence", "--all"], ["scrapeclass", "slipped"], ["contact", "slipped"], ["account", "slipped"]]
    {
        assert!(cluster.kubectl(&["delete", "-n", "shop", what[0], what[1], "--timeout=20s"], None).0);
    }
    running.stop().await;
}

fn default_account(name: &str) -> String {
    format!(
        "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {{name: {name}}}\nspec: {{isDefault: true, apiKeySecretRef: {{name: key, key: apiKey}}}}\n"
    )
}

/// Acceptance case 6 of the UptimeRobot kinds: two defaults forced in while no webhook is there.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_defaults_the_younger_is_told_and_stays_usable() {
    let (cluster, _turn) = cluster().await;
    apply(cluster, &default_account("zz-old"));
    // Creation times have whole seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    apply(cluster, &default_account("aa-young"));
    let running = replica(&Options::new(cluster)).await;
    let account = |name: &str| get(cluster, &["account", name]);
    eventually("DefaultConflict", || condition(&account("aa-young"), "DefaultConflict").starts_with("True/"))
        .await;
    let told = condition(&account("aa-young"), "DefaultConflict");
    assert!(told.contains("zz-old") && told.contains("USHA002"), "{told}");
    assert!(condition(&account("aa-young"), "Accepted").starts_with("True/"), "it stays usable by name");
    eventually("the old one accepted", || condition(&account("zz-old"), "Accepted").starts_with("True/"))
        .await;
    assert_eq!(condition(&account("zz-old"), "DefaultConflict"), "");
    eventually("the event", || {
        events(cluster, "aa-young")
            .iter()
            .any(|(reason, note)| reason == "DefaultConflict" && note.contains("zz-old"))
    })
    .await;
    // Both came past the door: the leader puts the finalizer on them.
    eventually("finalizers", || {
        ["zz-old", "aa-young"]
            .iter()
            .all(|name| account(name)["metadata"]["finalizers"].to_string().contains("account-in-use"))
    })
    .await;
    // The old one goes: the young one is the default.
    assert!(cluster.kubectl(&["delete", "account", "zz-old", "--timeout=20s"], None).0);
    eventually("no conflict any more", || condition(&account("aa-young"), "DefaultConflict").is_empty())
        .await;
    assert!(cluster.kubectl(&["delete", "account", "aa-young", "--timeout=20s"], None).0);
    running.stop().await;
}

/// Acceptance case 19, and `skip-cleanup`.
#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_account_stays_until_nothing_uses_it() {
    let (cluster, _turn) = cluster().await;
    let running = replica(&Options::new(cluster)).await;
    let monitor = |name: &str, account: &str| {
        format!(
            "apiVersion: uptimerobot.com/v1alpha1\nkind: Monitor\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{account: {{name: {account}}}, monitor: {{name: Shop, url: 'https://shop.example.com/'}}}}\n"
        )
    };
    for name in ["kept", "skipped"] {
        apply(cluster, &default_account(name).replace("isDefault: true, ", ""));
        apply(cluster, &monitor(&format!("{name}-one"), name));
    }
    apply(cluster, &monitor("kept-two", "kept"));
    let there = |name: &str| cluster.kubectl(&["get", "account", name], None).0;
    eventually("finalizers", || {
        ["kept", "skipped"].iter().all(|name| {
            get(cluster, &["account", name])["metadata"]["finalizers"].to_string().contains("account-in-use")
        })
    })
    .await;
    for name in ["kept", "skipped"] {
        assert!(cluster.kubectl(&["delete", "account", name, "--wait=false"], None).0);
    }
    assert!(cluster.kubectl(&["delete", "monitor", "-n", "shop", "kept-one"], None).0);
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert!(there("kept"), "gone while a Monitor uses it");
    assert!(
        cluster.kubectl(&["annotate", "account", "skipped", "uptimerobot.com/skip-cleanup=true"], None).0
    );
    eventually("skipped gone", || !there("skipped")).await;
    assert!(there("kept"));
    assert!(cluster.kubectl(&["delete", "monitor", "-n", "shop", "kept-two", "skipped-one"], None).0);
    eventually("kept gone", || !there("kept")).await;
    running.stop().await;
}

fn reconciler(running: &usher::serve::run::Running, kind: &str) -> (String, String) {
    let (_, systems) = running.state.behind.as_ref().unwrap();
    let all = systems.told();
    let found = all.into_iter().find(|entry| entry["kind"] == kind).unwrap_or_default();
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    (text("state"), text("reason"))
}

/// CRDs of usher's own go, come back, and come back as somebody else's.
#[tokio::test(flavor = "multi_thread")]
async fn kinds_come_and_go_without_a_restart() {
    let (cluster, _turn) = cluster().await;
    let running = replica(&Options::new(cluster)).await;
    let is =
        |state: &str, reason: &str| reconciler(&running, "Silence") == (state.to_owned(), reason.to_owned());
    eventually("on", || is("on", "")).await;
    let delete = || assert!(cluster.kubectl(&["delete", "crd", "silences.monitoring.coreos.com"], None).0);
    delete();
    eventually("off", || is("off", "CRDMissing")).await;
    assert_eq!(running.state.unready(), Vec::<String>::new(), "readiness stays");
    assert!(reconciler(&running, "Account").0 == "on", "only this one is off");

    // Another schema under the same name is left alone.
    let mut other = crd(&usher::kinds::silence::KIND);
    let version = &mut other["spec"]["versions"][0];
    version["additionalPrinterColumns"] = json!([]);
    version["schema"]["openAPIV3Schema"] = json!({
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"matchers": {"type": "string"}}}}
    });
    install::apply(cluster, &[other.clone()]);
    eventually("incompatible", || is("off", "IncompatibleCRD")).await;
    let stored = get(cluster, &["crd", "silences.monitoring.coreos.com"]);
    assert_eq!(
        stored["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["matchers"]
            ["type"],
        "string",
        "it was changed"
    );
    let metrics = running.metrics.render();
    assert!(
        metrics.contains("usher_subsystem_enabled{subsystem=\"silence\",reason=\"IncompatibleCRD\"} 1"),
        "{metrics}"
    );
    delete();
    install::apply(cluster, &[crd(&usher::kinds::silence::KIND)]);
    eventually_for(Duration::from_secs(30), "on again", || is("on", "")).await;
    let fine = SLIPPED.split("---").nth(1).unwrap();
    eventually("stored again", || cluster.kubectl(&["apply", "-f", "-"], Some(fine)).0).await;
    eventually("reconciled again", || {
        condition(&get(cluster, &["silence", "-n", "shop", "fine"]), "Accepted").starts_with("True/")
    })
    .await;
    assert!(cluster.kubectl(&["delete", "silence", "-n", "shop", "fine"], None).0);
    running.stop().await;
}

/// Somebody else's CRD goes and comes back: what reads it sees none, then some, and nothing else changes.
#[tokio::test(flavor = "multi_thread")]
async fn guests_come_and_go_without_a_restart() {
    let (cluster, _turn) = cluster().await;
    let running = replica(&Options::new(cluster)).await;
    let feed = || running.view.feed("monitoring.coreos.com/v1", "Alertmanager").unwrap();
    assert_eq!(feed().standing(), Standing::Synced);
    assert!(cluster.kubectl(&["delete", "crd", "alertmanagers.monitoring.coreos.com"], None).0);
    eventually_for(Duration::from_secs(30), "absent", || feed().standing() == Standing::Absent).await;
    assert_eq!(running.state.unready(), Vec::<String>::new(), "readiness stays");
    let guests = crate::support::root().join("tests/support/guests.yaml").display().to_string();
    assert!(cluster.kubectl(&["apply", "--server-side", "-f", &guests], None).0);
    eventually_for(Duration::from_secs(40), "synced", || feed().standing() == Standing::Synced).await;
    running.stop().await;
}

/// A gate that is off: the door lets everything pass unmodified, nothing is reconciled, the rest goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_system_that_is_switched_off_minds_nothing() {
    let (cluster, _turn) = cluster().await;
    let settings = Settings { gates: "Silence=false".parse().unwrap(), ..Settings::default() };
    let options = Options { settings: Arc::new(settings), ..Options::new(cluster) };
    let running = replica(&options).await;
    install::webhooks(cluster, running.admission, None);
    let bad_class = SLIPPED.split("---").nth(3).unwrap();
    eventually("the other systems' webhooks in force", || {
        !cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(bad_class)).0
    })
    .await;
    let (ok, text, errors) =
        cluster.kubectl(&["apply", "-o", "json", "-f", "-"], Some(SLIPPED.split("---").next().unwrap()));
    assert!(ok, "{errors}");
    assert!(!text.contains("created-by"), "{text}");
    eventually("off", || reconciler(&running, "Silence") == ("off".to_owned(), "GateDisabled".to_owned()))
        .await;
    eventually("the rest on", || reconciler(&running, "Account").0 == "on").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let stored = get(cluster, &["silence", "-n", "shop", "slipped"]);
    assert_eq!(condition(&stored, "Accepted"), "");
    assert!(cluster.kubectl(&["delete", "silence", "-n", "shop", "slipped"], None).0);
    install::no_webhooks(cluster);
    running.stop().await;
}
