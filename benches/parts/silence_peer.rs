//! The least that can be done for Silences: list them once, then for each the finalizer, the POST and the status, one after
//! the other, and in the end ask both instances until they list all. It plans nothing, watches nothing, and knows nobody
//! else's silences.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use kube::api::{Api, DynamicObject, ListParams, Patch, PatchParams};
use serde_json::{Value, json};
use usher::kinds::silence::KIND;
use usher::names;
use usher::upstream::Client;
use usher::upstream::alertmanager::{Alertmanager, Draft, Matcher};
use usher::upstream::endpoint::Endpoint;
use usher::upstream::http::Timeouts;

/// As many at once as usher's reconciler.
pub const CONCURRENCY: usize = 8;
const MANAGER: &str = "peer";

pub async fn run(client: kube::Client, urls: &[String]) {
    let instances: Vec<Alertmanager> = urls
        .iter()
        .map(|url| Client::new(Endpoint::parse(url).unwrap(), Timeouts::default()).map(Alertmanager::new))
        .map(Result::unwrap)
        .collect();
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &KIND.api_resource());
    let mut objects = Vec::new();
    let mut page = ListParams::default().limit(500);
    loop {
        let list = all.list(&page).await.unwrap();
        objects.extend(list.items);
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => break,
        }
    }
    futures::stream::iter(&objects)
        .for_each_concurrent(CONCURRENCY, |object| keep(object, client.clone(), &instances[0]))
        .await;
    for instance in &instances {
        while instance.list().await.unwrap().len() < objects.len() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn keep(object: &DynamicObject, client: kube::Client, instance: &Alertmanager) {
    let (name, uid) = (object.metadata.name.as_deref().unwrap(), object.metadata.uid.as_deref().unwrap());
    let namespace = object.metadata.namespace.as_deref().unwrap();
    let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &KIND.api_resource());
    let params = PatchParams::apply(MANAGER).force();
    let mut document = json!({
        "apiVersion": KIND.api_version(), "kind": KIND.kind,
        "metadata": {"name": name, "namespace": namespace, "uid": uid},
    });
    let mut finalizer = document.clone();
    finalizer["metadata"]["finalizers"] = json!([names::SILENCE_CLEANUP]);
    api.patch(name, &params, &Patch::Apply(finalizer)).await.unwrap();

    let now = Timestamp::now();
    let draft = draft(object, namespace, name, uid, now);
    let id = instance.post(&draft).await.unwrap();

    document["status"] = told(&id, &draft, object.metadata.generation, now);
    api.patch_status(name, &params, &Patch::Apply(document)).await.unwrap();
}

/// As usher writes it.
fn draft(object: &DynamicObject, namespace: &str, name: &str, uid: &str, now: Timestamp) -> Draft {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let equal = |name: String, value: String| Matcher { name, value, is_regex: false, is_equal: true };
    let spec = &object.data["spec"];
    let own = spec["matchers"].as_array().unwrap().iter();
    let own = own.map(|matcher| equal(text(&matcher["name"]), text(&matcher["value"])));
    let annotations = [
        (names::MANAGED_BY, MANAGER.to_owned()),
        (names::CLUSTER, uid.to_owned()),
        (names::SILENCE_UID, uid.to_owned()),
        (names::SPEC_HASH, uid.repeat(2)),
    ];
    Draft {
        id: None,
        matchers: own.chain([equal("namespace".to_owned(), namespace.to_owned())]).collect(),
        starts_at: now,
        ends_at: now + SignedDuration::from_hours(2),
        created_by: format!("{namespace}/{name}"),
        comment: text(&spec["comment"]),
        annotations: annotations
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect::<BTreeMap<_, _>>(),
    }
}

/// As much as usher tells.
fn told(id: &str, draft: &Draft, generation: Option<i64>, now: Timestamp) -> Value {
    let seconds = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let condition = |kind: &str, reason: &str, message: &str| {
        json!({
            "type": kind, "status": "True", "reason": reason, "message": message,
            "lastTransitionTime": seconds(now), "observedGeneration": generation,
        })
    };
    let message = "in force on 2 of 2 instances";
    let shown: Vec<String> =
        draft.matchers.iter().map(|matcher| format!("{}={:?}", matcher.name, matcher.value)).collect();
    json!({
        "phase": "Active",
        "startsAt": seconds(draft.starts_at),
        "expiresAt": seconds(draft.ends_at),
        "observedGeneration": generation,
        "conditions": [
            condition("Accepted", "Accepted", "the rules admit the object"),
            condition("Ready", "SilenceApplied", &format!("usher-system/default: {message}")),
        ],
        "bindings": [{
            "name": "default", "namespace": "usher-system", "silenceID": id, "lastSyncTime": seconds(now),
            "syncedInstances": 2, "totalInstances": 2, "effectiveMatchers": shown,
            "conditions": [condition("Ready", "SilenceApplied", message)],
        }],
    })
}
