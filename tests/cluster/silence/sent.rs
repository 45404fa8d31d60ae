//! What is written, what the doors say about it, and what real Alertmanagers are sent.

use serde_json::json;

use super::admission::door;
use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

fn strategy(name: &str) -> Value {
    json!({"alertmanagerConfigMatcherStrategy": {"type": name}})
}

/// The matchers of an object's silence, once it is there.
async fn sent(members: &Alertmanagers, created_by: &str) -> Vec<String> {
    let started = Instant::now();
    loop {
        let mut live = members.live(0).await;
        live.retain(|silence| silence["createdBy"] == created_by);
        assert!(live.len() < 2, "{live:#?}");
        if let Some(silence) = live.first() {
            return matchers(silence);
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{created_by} was not sent");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Cases 1, 2, 4, 6 and 17: the user's matchers in their order, then the namespace's, once; the object stays as it was
/// written; a generated name is the one that Alertmanager is told.
#[tokio::test(flavor = "multi_thread")]
async fn case_01_02_04_06_17_the_namespace_is_added_once_on_the_way() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let running = door(cluster, &members, "OnNamespace").await;
    let service = json!({"name": "service", "value": "api", "matchType": "="});
    let own = json!({"name": "namespace", "value": "frontend", "matchType": "="});
    let any = json!({"name": "namespace", "value": ".*", "matchType": "=~"});

    // Case 1.
    let object = silence("frontend", "one", json!([service]));
    let (ok, warnings, told) = asked(cluster, &["apply"], &object);
    assert!(
        ok && warnings.iter().any(|line| line.contains("monitoring/main gets this silence with")),
        "{told}"
    );
    assert_eq!(sent(&members, "frontend/one").await, ["service=api", "namespace=frontend"]);
    let spec = stored(cluster, "frontend", "one")["spec"].clone();
    for field in ["matchers", "comment", "duration"] {
        assert_eq!(spec[field], object["spec"][field], "the spec is as it was written");
    }

    // Case 2.
    let (ok, _, told) = asked(cluster, &["apply"], &silence("frontend", "two", json!([service, own])));
    assert!(ok, "{told}");
    assert_eq!(sent(&members, "frontend/two").await, ["service=api", "namespace=frontend"]);

    // Case 4: Alertmanager would refuse the user's list by itself.
    let mut bare = by_hand("somebody", "namespace", ".*");
    bare["matchers"][0]["isRegex"] = json!(true);
    let (status, text) = members.call(0, "POST", "/api/v2/silences", Some(&bare)).await;
    assert!(status == 400 && text.contains("must not match the empty string"), "{status} {text}");
    let (ok, _, told) = asked(cluster, &["apply"], &silence("frontend", "four", json!([any])));
    assert!(ok && told.contains("USHS011") && told.contains("every alert of namespace frontend"), "{told}");
    assert_eq!(sent(&members, "frontend/four").await, ["namespace=~.*", "namespace=frontend"]);

    // Case 17.
    let mut object = silence("frontend", "", json!([service]));
    object["metadata"] = json!({"generateName": "m-", "namespace": "frontend"});
    let (ok, out, errors) =
        cluster.kubectl(&["create", "-o", "jsonpath={.metadata.name}", "-f", "-"], Some(&object.to_string()));
    assert!(ok && out.starts_with("m-") && out.len() > 2, "{out}{errors}");
    assert_eq!(sent(&members, &format!("frontend/{out}")).await, ["service=api", "namespace=frontend"]);

    // Case 6: the Alertmanager's own namespace is let alone.
    bind(cluster, "main", &members, strategy("OnNamespaceExceptForAlertmanagerNamespace"));
    apply(cluster, &silence("monitoring", "six", json!([service])));
    assert_eq!(sent(&members, "monitoring/six").await, ["service=api"]);
    apply(cluster, &silence("frontend", "six", json!([service])));
    assert_eq!(sent(&members, "frontend/six").await, ["service=api", "namespace=frontend"]);
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Case 3, its second half: one Alertmanager enforces and another does not. The silence is let in with a warning; the
/// first mutes nothing with it, the second what the user wrote.
#[tokio::test(flavor = "multi_thread")]
async fn case_03_each_alertmanager_gets_its_own_matchers() {
    let (cluster, _turn) = stage().await;
    let (main, second) = tokio::join!(
        Alertmanagers::start(Release::New, 1, Members::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
    );
    for members in [&main, &second] {
        members.fire(0, json!({"alertname": "Down", "service": "api", "namespace": "backend"})).await;
    }
    bind(cluster, "second", &second, strategy("None"));
    let running = door(cluster, &main, "OnNamespace").await;
    let aimed = json!([{"name": "namespace", "value": "backend"}, {"name": "service", "value": "api"}]);
    let (ok, warnings, told) = asked(cluster, &["apply"], &silence("frontend", "aimed", aimed));
    assert!(ok && warnings.iter().any(|line| line.contains("USHS010")), "{told}");
    assert_eq!(
        sent(&main, "frontend/aimed").await,
        ["namespace=backend", "service=api", "namespace=frontend"]
    );
    assert_eq!(sent(&second, "frontend/aimed").await, ["namespace=backend", "service=api"]);
    until(10, "muted where nobody enforces", || async { second.suppressed(0).await.len() == 1 }).await;
    assert!(main.suppressed(0).await.is_empty());
    assert_eq!(main.alerts(0).await[0]["status"]["state"], "active");
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Case 12, its second half: an end that is moved into the past is let in with a warning and ends the silence; nothing
/// is sent for it. Case 14: what the schema asks for holds with the webhook down, too.
#[tokio::test(flavor = "multi_thread")]
async fn case_12_14_an_end_in_the_past_ends_it_and_no_end_is_never_let_in() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    let running = door(cluster, &members, "OnNamespace").await;
    let mut object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    object["spec"].as_object_mut().unwrap().remove("duration");
    let mut ending = |seconds: i64| {
        object["spec"]["expiresAt"] = json!(
            (jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds))
                .round(jiff::Unit::Second)
                .unwrap()
        );
        object.clone()
    };
    apply(cluster, &ending(7200));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    let id = id(&members.live(0).await[0]).to_owned();
    let before = calls(&members);
    let (ok, warnings, said) = asked(cluster, &["apply"], &ending(-60));
    assert!(ok && warnings.iter().any(|line| line.contains("in the past")), "{said}");
    let object = told(cluster, "frontend", "api", "True/SilenceExpired").await;
    assert_eq!(object["status"]["phase"], "Expired");
    some_passes().await;
    let after = calls(&members);
    assert_eq!((after["post"], after["delete"]), (before["post"], before.get("delete").unwrap_or(&0) + 1));
    let all = members.silences(0).await;
    assert_eq!((all.len(), all[0]["id"].as_str()), (1, Some(id.as_str())));
    assert_eq!(all[0]["status"]["state"], "expired");

    // Case 14.
    install::no_webhooks(cluster);
    let made = |spec: Value| {
        let mut object = silence("frontend", "ends", json!([{"name": "service", "value": "api"}]));
        object["spec"].as_object_mut().unwrap().remove("duration");
        object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        asked(cluster, &["create", "--dry-run=server"], &object)
    };
    for (spec, expected) in [
        (json!({}), false),
        (json!({"duration": "2h", "expiresAt": "2126-01-01T00:00:00Z"}), false),
        (json!({"duration": "1h1d"}), false),
        (json!({"duration": "1d1h"}), true),
    ] {
        let (ok, _, said) = made(spec.clone());
        assert_eq!(ok, expected, "{spec}: {said}");
        assert!(ok || said.contains("is invalid"), "{said}");
    }
    clean(cluster);
    running.stop().await;
}

/// Case 18: what nobody selects is let in with a warning, is unbound, and nobody is called for it. No selector selects
/// nothing, an empty one everything; without one for namespaces only the Alertmanager's own is meant.
#[tokio::test(flavor = "multi_thread")]
async fn case_18_what_nobody_selects_is_unbound_and_nobody_is_called() {
    let (cluster, _turn) = stage().await;
    let (out, everything, own) = tokio::join!(
        Fake::start(Default::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
    );
    place_fake(cluster, "out", &out, json!({"silenceSelector": null}));
    let running = usher(cluster, settings()).await;
    install::webhooks(cluster, running.admission, None);
    let object = |namespace: &str| silence(namespace, "api", json!([{"name": "service", "value": "api"}]));
    until(20, "the webhook warns", || async {
        let (ok, warnings, _) = asked(cluster, &["apply", "--dry-run=server"], &object("frontend"));
        ok && warnings.iter().any(|line| line.contains("USHS101") || line.contains("no Alertmanager selects"))
    })
    .await;
    for namespace in ["frontend", "monitoring"] {
        apply(cluster, &object(namespace));
        let object = told(cluster, namespace, "api", "False/NoMatchingAlertmanager").await;
        assert_eq!(object["status"]["phase"], "Unbound");
        assert!(!object["metadata"].to_string().contains("silence-cleanup"), "never sent, never held");
    }
    some_passes().await;
    assert_eq!(out.connections(), 0);

    bind(cluster, "own", &own, json!({"silenceNamespaceSelector": null}));
    told(cluster, "monitoring", "api", "True/SilenceApplied").await;
    told(cluster, "frontend", "api", "False/NoMatchingAlertmanager").await;
    assert_eq!(own.live(0).await.len(), 1);
    bind(cluster, "everything", &everything, json!({}));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    until(20, "both there", || async { everything.live(0).await.len() == 2 }).await;
    assert_eq!((own.live(0).await.len(), out.connections()), (1, 0));
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}

/// Case 20: with `--silence-namespace-injection=spec` the matcher stands in the object. When nobody enforces any more it
/// is not sent, though it still stands there; the next update takes it away.
#[tokio::test(flavor = "multi_thread")]
async fn case_20_an_injected_matcher_goes_with_the_enforcement() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, strategy("OnNamespace"));
    let mut spec = settings();
    spec.silence.namespace_injection = usher::settings::NamespaceInjection::Spec;
    let running = usher(cluster, spec).await;
    install::webhooks(cluster, running.admission, None);
    let object = silence("frontend", "api", json!([{"name": "service", "value": "api"}]));
    let written = |object: &Value| -> Vec<String> {
        let matchers = object["spec"]["matchers"].as_array().unwrap().iter();
        matchers.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    until(20, "injected", || async {
        let arguments = ["apply", "--dry-run=server", "-o", "json", "-f", "-"];
        let (ok, out, _) = cluster.kubectl(&arguments, Some(&object.to_string()));
        ok && written(&serde_json::from_str(&out).unwrap()).len() == 2
    })
    .await;
    apply(cluster, &object);
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(written(&object), ["service", "namespace"]);
    assert!(!object["metadata"]["annotations"]["usher.dev/injected-matchers"].is_null());
    assert_eq!(sent(&members, "frontend/api").await, ["service=api", "namespace=frontend"]);

    bind(cluster, "main", &members, strategy("None"));
    until(20, "no longer sent", || async { sent(&members, "frontend/api").await == ["service=api"] }).await;
    assert_eq!(
        written(&stored(cluster, "frontend", "api")),
        ["service", "namespace"],
        "nobody has updated it"
    );
    let (ok, _, errors) = cluster.kubectl(&["label", "silence", "-n", "frontend", "api", "touched=1"], None);
    assert!(ok, "{errors}");
    let object = stored(cluster, "frontend", "api");
    assert_eq!(written(&object), ["service"]);
    assert!(object["metadata"]["annotations"]["usher.dev/injected-matchers"].is_null());
    some_passes().await;
    assert_eq!(sent(&members, "frontend/api").await, ["service=api"]);
    install::no_webhooks(cluster);
    clean(cluster);
    running.stop().await;
}
