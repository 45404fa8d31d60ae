//! What people do to silences in Alertmanager: theirs are never touched, the objects' own are restored.

use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

/// Waits until each member holds one silence besides those of others, and that is as it should be.
async fn restored(members: &Alertmanagers, what: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    let mut found = Value::Null;
    let started = Instant::now();
    'again: loop {
        assert!(started.elapsed() < Duration::from_secs(30), "{what}: not restored, last seen {found:#}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        for member in 0..members.len() {
            let mut live = members.live(member).await;
            live.retain(|silence| silence["comment"] != "made by hand");
            found = json!(live);
            if live.len() != 1 || !is_right(&live[0]) {
                continue 'again;
            }
        }
        return found[0].take();
    }
}

/// Cases 22, 23, 24, 25 and 59: an edit in the UI is undone under the same id where Alertmanager keeps it, else one
/// silence remains; what is only written in another way is no drift; what people made themselves stays.
#[tokio::test(flavor = "multi_thread")]
async fn case_22_23_24_25_59_what_people_change_is_restored_and_what_they_make_is_left() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    // Somebody's own, which looks like usher's.
    let foreign = members.post(0, by_hand("frontend/api", "job", "node")).await;
    let theirs = members.post(0, by_hand("frontend/api-maintenance", "job", "etcd")).await;

    // Case 59: written with a newline and a repetition, sent without.
    let service = json!({"name": "service", "value": "api"});
    let mut object = silence("frontend", "api", json!([service, service, {"name": "team", "value": "web"}]));
    object["spec"]["comment"] = json!("maintenance\n");
    apply(cluster, &object);
    let object = told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(object["spec"]["comment"], "maintenance\n");
    assert_eq!(object["spec"]["matchers"].as_array().unwrap().len(), 3);
    let is_fine = |silence: &Value| {
        let mut matchers = matchers(silence);
        matchers.sort();
        silence["comment"] == "maintenance"
            && silence["createdBy"] == "frontend/api"
            && matchers == ["namespace=frontend", "service=api", "team=web"]
    };
    let first = restored(&members, "sent", is_fine).await;
    assert_eq!(matchers(&first), ["service=api", "team=web", "namespace=frontend"]);
    assert_eq!(binding(&object, "main")["silenceID"], first["id"]);

    // Case 24: another order says the same.
    let other_order = json!([{"name": "team", "value": "web"}, service]);
    patch(cluster, "frontend", "api", json!({"spec": {"matchers": other_order}}));
    some_passes().await;
    let still = restored(&members, "still there", is_fine).await;
    assert_eq!((&still["id"], &still["updatedAt"]), (&first["id"], &first["updatedAt"]), "sent again");
    patch(cluster, "frontend", "api", json!({"spec": {"duration": "3h"}}));
    let longer = restored(&members, "longer", |silence| silence["endsAt"] != first["endsAt"]).await;
    assert_eq!((&longer["id"], &longer["startsAt"]), (&first["id"], &first["startsAt"]));

    // Case 22: comment and end; case 59: the creator. Each in place.
    let end = longer["endsAt"].clone();
    let edits: [(&str, Value); 3] = [
        ("comment", json!("mine now")),
        ("endsAt", json!(jiff::Timestamp::now() + jiff::SignedDuration::from_hours(9))),
        ("createdBy", json!("somebody")),
    ];
    for (field, value) in edits {
        members.post(1, edited(&longer, |silence| silence[field] = value.clone())).await;
        let back = restored(&members, field, |silence| is_fine(silence) && silence["endsAt"] == end).await;
        assert_eq!(back["id"], first["id"], "{field}");
    }
    heard(cluster, "api", "DriftRepaired").await;

    // Matchers: Alertmanager makes another id of it, with the annotations (as its UI posts) or without.
    for keeps_annotations in [true, false] {
        let now = restored(&members, "before the edit", is_fine).await;
        let other = edited(&now, |silence| {
            silence["matchers"][0]["value"] = json!("everything");
            if !keeps_annotations {
                silence.as_object_mut().unwrap().remove("annotations");
            }
        });
        let other = members.post(0, other).await;
        assert_ne!(other, id(&now));
        restored(&members, "matchers", is_fine).await;
    }

    // Case 25: ended by hand.
    let now = restored(&members, "before the end", is_fine).await;
    members.expire(0, id(&now)).await;
    let again = restored(&members, "made again", is_fine).await;
    assert_ne!(again["id"], now["id"]);

    // Case 23: nothing of this, the sweep or the deletion concerned the others.
    delete(cluster, "frontend", "api");
    some_passes().await;
    let mut left: Vec<String> = members.live(0).await.iter().map(|silence| id(silence).to_owned()).collect();
    left.sort();
    let mut expected = vec![foreign, theirs];
    expected.sort();
    assert_eq!(left, expected);
    clean(cluster);
    running.stop().await;
}

/// Case 58: while nothing changes nothing is written, neither to the API server nor to Alertmanager, and what is read does
/// not grow with the number of Silences.
#[tokio::test(flavor = "multi_thread")]
async fn case_58_nothing_is_written_while_nothing_changes() {
    use crate::support::audit;
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    let mut read = Vec::new();
    for (first, last) in [(0, 1), (1, 20)] {
        let objects: Vec<Value> = (first..last)
            .map(|number| {
                let name = format!("s{number}");
                silence("frontend", &name, json!([{"name": "service", "value": name}]))
            })
            .collect();
        install::apply(cluster, &objects);
        for number in first..last {
            told(cluster, "frontend", &format!("s{number}"), "True/SilenceApplied").await;
        }
        // A number that is told for the first time is a change.
        until(70, "its alerts are counted", || async {
            let counted = |object: &Value| binding(object, "main")["silencedAlerts"].is_number();
            (first..last).all(|number| counted(&stored(cluster, "frontend", &format!("s{number}"))))
        })
        .await;
        let (mark, before) = (audit::mark(cluster), calls(&members));
        tokio::time::sleep(Duration::from_secs(15)).await;
        let after = calls(&members);
        let count = |call: &str| after.get(call).unwrap_or(&0) - before.get(call).unwrap_or(&0);
        assert_eq!((count("post"), count("delete")), (0, 0), "{before:?} {after:?}");
        let seen = audit::ushers(cluster, mark);
        let seen: Vec<_> = seen.iter().filter(|entry| entry.resource != "leases").collect();
        let written: Vec<_> = seen.iter().filter(|entry| entry.is_write()).collect();
        assert!(written.is_empty(), "{written:?}");
        let reads: Vec<_> = seen.iter().filter(|entry| entry.verb != "watch").collect();
        let asked = ["list", "get", "status", "alerts", "other"].map(count);
        println!(
            "case 58: in 15 s with {last} Silences: {asked:?} of both, {} of the API server",
            reads.len()
        );
        read.push((asked.iter().sum::<u64>(), reads.len() as u64));
    }
    let (few, many) = (read[0], read[1]);
    assert!(many.0 <= few.0 + 6, "Alertmanager: {read:?}");
    assert!(many.1 <= few.1 + 6, "API server: {read:?}");
    clean(cluster);
    running.stop().await;
}
