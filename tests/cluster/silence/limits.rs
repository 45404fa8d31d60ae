//! Limits: of Alertmanager, of patience with one that is away, and of what a sweep may take at once.

use serde_json::json;

use super::*;
use crate::support::alertmanager_fake::{Call, Fault, Setup};
use crate::support::alertmanagers::{Options as Members, Release};

/// Case 30: an Alertmanager that takes no more says so in the condition, and what it has stays in force.
#[tokio::test(flavor = "multi_thread")]
async fn case_30_a_full_alertmanager_is_told_and_the_old_silence_stays() {
    let (cluster, _turn) = stage().await;
    let full = Members { max_silences: Some(1), ..Members::default() };
    let members = Alertmanagers::start(Release::New, 1, full).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "first", json!([{"name": "service", "value": "api"}])));
    told(cluster, "frontend", "first", "True/SilenceApplied").await;
    apply(cluster, &silence("frontend", "second", json!([{"name": "service", "value": "web"}])));
    let object = told(cluster, "frontend", "second", "False/LimitExceeded").await;
    let message = binding(&object, "main")["conditions"][0]["message"].as_str().unwrap();
    assert!(message.contains("exceeded maximum number of silences"), "{message}");
    assert_eq!(object["status"]["phase"], "Error");
    heard(cluster, "second", "LimitExceeded").await;

    // Other matchers need another id, and there is no place for it.
    let before = members.live(0).await.remove(0);
    patch(cluster, "frontend", "first", json!({"spec": {"matchers": [{"name": "service", "value": "db"}]}}));
    let object = told(cluster, "frontend", "first", "False/LimitExceeded").await;
    assert_eq!(binding(&object, "main")["silenceID"], before["id"]);
    some_passes().await;
    let live = members.live(0).await;
    assert_eq!(live.len(), 1);
    assert_eq!((&live[0]["id"], &live[0]["updatedAt"]), (&before["id"], &before["updatedAt"]));
    assert_eq!(matchers(&live[0]), ["service=api", "namespace=frontend"], "the old one is in force");
    // An end needs no place, and neither does the way out.
    patch(
        cluster,
        "frontend",
        "first",
        json!({"spec": {"matchers": [{"name": "service", "value": "api"}], "duration": "3h"}}),
    );
    told(cluster, "frontend", "first", "True/SilenceApplied").await;
    assert_eq!(members.live(0).await[0]["id"], before["id"]);
    delete(cluster, "frontend", "first");
    delete(cluster, "frontend", "second");
    assert!(members.live(0).await.is_empty());
    clean(cluster);
    running.stop().await;
}

/// What Alertmanager refuses by its content is told in its own words, once, and not sent again and again; when the object
/// changes it is.
#[tokio::test(flavor = "multi_thread")]
async fn what_alertmanager_refuses_is_told_in_its_words_and_not_sent_again() {
    let (cluster, _turn) = stage().await;
    // Its object does not say so, as with a flag that somebody set beside it.
    let classic =
        Members { arguments: vec!["--enable-feature=classic-mode".to_owned()], ..Members::default() };
    let members = Alertmanagers::start(Release::New, 1, classic).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "my.label", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "False/RejectedByAlertmanager").await;
    let message = binding(&object, "main")["conditions"][0]["message"].as_str().unwrap();
    assert!(message.contains("invalid label name"), "{message}");
    heard(cluster, "api", "RejectedByAlertmanager").await;
    let posts = calls(&members)["post"];
    some_passes().await;
    assert_eq!(calls(&members)["post"], posts, "sent again");
    patch(cluster, "frontend", "api", json!({"spec": {"matchers": [{"name": "label", "value": "api"}]}}));
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    clean(cluster);
    running.stop().await;
}

/// Cases 40 and 52: an Alertmanager that is away, or takes connections and never answers, is asked rarely however many
/// Silences it has, and holds up nobody else's.
#[tokio::test(flavor = "multi_thread")]
async fn case_40_52_an_alertmanager_that_never_answers_is_asked_rarely_and_holds_up_no_other() {
    let (cluster, _turn) = stage().await;
    let (fake, healthy) = tokio::join!(
        Fake::start(Setup::default()),
        Alertmanagers::start(Release::New, 1, Members::default()),
    );
    fake.always(Call::Any, Fault::Never);
    let labelled = |team: &str| json!({"silenceSelector": {"matchLabels": {"team": team}}});
    place_fake(cluster, "dead", &fake, labelled("dead"));
    bind(cluster, "main", &healthy, labelled("main"));
    let running = usher(cluster, settings()).await;
    let named = |team: &str, number: usize| {
        let name = format!("{team}-{number}");
        let mut object = silence("frontend", &name, json!([{"name": "service", "value": name}]));
        object["metadata"]["labels"] = json!({"team": team});
        object
    };
    let many: Vec<Value> = (0..500).map(|number| named("dead", number)).collect();
    install::apply(cluster, &many);
    let object = told(cluster, "frontend", "dead-0", "False/AlertmanagerUnavailable").await;
    let message = binding(&object, "dead")["conditions"][0]["message"].as_str().unwrap();
    assert!(message.contains("within 3s"), "the call ends at its timeout: {message}");
    apply(cluster, &named("main", 0));
    let since = Instant::now();
    told(cluster, "frontend", "main-0", "True/SilenceApplied").await;
    println!("case 52: the other one's was applied after {:?}", since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());

    // The circuit is open by now, or opens within seconds.
    tokio::time::sleep(Duration::from_secs(8)).await;
    fake.forget_seen();
    tokio::time::sleep(Duration::from_secs(20)).await;
    let seen = fake.seen();
    println!("case 40: {} requests in 20 s for 500 Silences", seen.len());
    assert!(seen.len() <= 2, "{seen:?}");
    assert!(seen.iter().all(|request| request.call == Call::Status), "{seen:?}");
    // It is back: all arrive.
    fake.heal();
    until(60, "all there", || async { fake.live().len() == 500 }).await;
    delete_all(cluster, "frontend").await;
    assert!(fake.live().is_empty());
    clean(cluster);
    running.stop().await;
}

/// Case 42: six of ten objects vanish without a cleanup: that looks like a mistake, and nothing goes until the brake is
/// lifted.
#[tokio::test(flavor = "multi_thread")]
async fn case_42_a_sweep_that_would_take_too_much_takes_nothing() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    let objects: Vec<Value> = (0..10)
        .map(|number| {
            silence("frontend", &format!("s{number}"), json!([{"name": "n", "value": format!("{number}")}]))
        })
        .collect();
    install::apply(cluster, &objects);
    for number in 0..10 {
        told(cluster, "frontend", &format!("s{number}"), "True/SilenceApplied").await;
    }
    running.stop().await;
    for number in 0..6 {
        strip(cluster, "frontend", &format!("s{number}"));
    }
    let running = usher(cluster, settings()).await;
    until(30, "the event", || async { events(cluster, "main").contains(&"SweepSuspended".to_owned()) }).await;
    let metrics = running.metrics.render();
    assert!(metrics.contains("usher_silence_orphans{state=\"suspended\"} 6"), "{metrics}");
    let (_, status) =
        crate::support::replica::get(&format!("http://{}/statusz", running.diagnostics)).unwrap();
    assert!(status.contains("SweepSuspended"), "{status}");
    some_passes().await;
    assert_eq!(members.live(0).await.len(), 10);
    running.stop().await;
    let mut lifted = settings();
    lifted.alertmanager.sweep_limit = 100;
    let running = usher(cluster, lifted).await;
    until(30, "swept", || async { members.live(0).await.len() == 4 }).await;
    let metrics = running.metrics.render();
    assert!(metrics.contains("usher_silence_orphans_removed_total 6"), "{metrics}");
    some_passes().await;
    let mut left: Vec<String> =
        members.live(0).await.iter().map(|one| one["createdBy"].as_str().unwrap().to_owned()).collect();
    left.sort();
    assert_eq!(left, ["frontend/s6", "frontend/s7", "frontend/s8", "frontend/s9"]);
    clean(cluster);
    running.stop().await;
}
