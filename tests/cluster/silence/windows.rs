//! Windows on the clock: before, inside, after, and again.

use jiff::{SignedDuration, Timestamp, Unit};
use serde_json::json;

use super::*;
use crate::support::alertmanagers::{Options as Members, Release};

fn in_seconds(seconds: i64) -> Timestamp {
    (Timestamp::now() + SignedDuration::from_secs(seconds)).round(Unit::Second).unwrap()
}

/// Case 38: pending, active, over, forgotten; and what moving the start does.
#[tokio::test(flavor = "multi_thread")]
async fn case_38_a_silence_begins_ends_and_is_forgotten() {
    let (cluster, _turn) = stage().await;
    let forgetful =
        Members { retention: "15s".to_owned(), maintenance: "1s".to_owned(), ..Members::default() };
    let members = Alertmanagers::start(Release::New, 1, forgetful).await;
    bind(cluster, "main", &members, json!({"retention": "15s"}));
    let running = usher(cluster, settings()).await;
    let between = |name: &str, start: Timestamp, end: Timestamp| {
        let mut object = silence("frontend", name, json!([{"name": "service", "value": name}]));
        object["spec"].as_object_mut().unwrap().remove("duration");
        object["spec"]["startsAt"] = json!(start);
        object["spec"]["expiresAt"] = json!(end);
        object
    };
    let (start, end) = (in_seconds(3600), in_seconds(7200));
    apply(cluster, &between("later", start, end));
    let object = told(cluster, "frontend", "later", "True/SilencePending").await;
    assert_eq!(object["status"]["phase"], "Pending");
    let pending = members.live(0).await.remove(0);
    assert_eq!(pending["status"]["state"], "pending");
    // Later still: the id stays. Before now: another one, in force.
    let moved = in_seconds(5400);
    patch(cluster, "frontend", "later", json!({"spec": {"startsAt": moved}}));
    until(20, "moved", || async {
        let live = members.live(0).await;
        let starts = |silence: &Value| silence["startsAt"].as_str().unwrap().parse::<Timestamp>().unwrap();
        live.len() == 1 && live[0]["id"] == pending["id"] && starts(&live[0]) == moved
    })
    .await;
    patch(cluster, "frontend", "later", json!({"spec": {"startsAt": in_seconds(-60)}}));
    until(20, "in force", || async {
        let live = members.live(0).await;
        live.len() == 1 && live[0]["status"]["state"] == "active" && live[0]["id"] != pending["id"]
    })
    .await;
    let object = told(cluster, "frontend", "later", "True/SilenceApplied").await;
    assert_eq!(object["status"]["phase"], "Active");
    // Ahead again: what mutes too early is ended, and waits anew.
    patch(cluster, "frontend", "later", json!({"spec": {"startsAt": in_seconds(3600)}}));
    told(cluster, "frontend", "later", "True/SilencePending").await;
    assert_eq!(members.live(0).await.len(), 1);

    // It begins and ends by itself.
    apply(cluster, &between("short", in_seconds(12), in_seconds(24)));
    told(cluster, "frontend", "short", "True/SilencePending").await;
    told(cluster, "frontend", "short", "True/SilenceApplied").await;
    let object = told(cluster, "frontend", "short", "True/SilenceExpired").await;
    assert_eq!(object["status"]["phase"], "Expired");
    assert!(binding(&object, "main")["silenceID"].is_string());
    until(40, "forgotten", || async {
        let object = stored(cluster, "frontend", "short");
        binding(&object, "main")["silenceID"].is_null()
    })
    .await;
    let object = stored(cluster, "frontend", "short");
    assert!(
        binding(&object, "main")["conditions"][0]["message"].to_string().contains("after retention"),
        "{object:#}"
    );
    some_passes().await;
    assert_eq!(members.live(0).await.len(), 1, "nothing is made again");
    // A new end in the future: a new id.
    patch(cluster, "frontend", "short", json!({"spec": {"expiresAt": in_seconds(600)}}));
    told(cluster, "frontend", "short", "True/SilenceApplied").await;
    // An end in the past ends it.
    patch(
        cluster,
        "frontend",
        "short",
        json!({"spec": {"startsAt": in_seconds(-90), "expiresAt": in_seconds(-30)}}),
    );
    told(cluster, "frontend", "short", "True/SilenceExpired").await;
    assert_eq!(members.live(0).await.len(), 1);
    clean(cluster);
    running.stop().await;
}

/// `HH:MM` in UTC, and the minute's first instant.
fn minute(at: Timestamp) -> (String, Timestamp) {
    let start = Timestamp::from_second(at.as_second() / 60 * 60).unwrap();
    (start.strftime("%H:%M").to_string(), start)
}

fn recurring(name: &str, at: &str, duration: &str) -> Value {
    let mut object = silence("frontend", name, json!([{"name": "service", "value": name}]));
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    object["spec"].as_object_mut().unwrap().remove("duration");
    object["spec"]["schedule"] = json!({"weekly": [{"days": days, "at": at}], "duration": duration});
    object
}

/// The silences of an object that have not ended.
async fn own(members: &Alertmanagers, name: &str) -> Vec<Value> {
    let mut live = members.live(0).await;
    live.retain(|silence| silence["createdBy"] == format!("frontend/{name}"));
    live
}

fn starts(silence: &Value) -> Timestamp {
    silence["startsAt"].as_str().unwrap().parse().unwrap()
}

/// Cases 63, 65 and 66: nothing 30 h before a window, a pending one 23 h before; usher is away when one begins, and
/// Alertmanager mutes on time; at the end of one the next is pending; never two. Inside a window: suspended, resumed,
/// rescheduled, and made again for the rest of it.
#[tokio::test(flavor = "multi_thread")]
async fn case_63_65_66_recurring_windows_come_and_go_on_time() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 2, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    // Enough of this minute must be left.
    let running = usher(cluster, settings()).await;
    until(70, "a good moment", || async { Timestamp::now().as_second() % 60 < 10 }).await;
    let now = Timestamp::now();
    let (this, this_start) = minute(now);
    let (next, next_start) = minute(now + SignedDuration::from_secs(60));
    let (hours_23, start_23) = minute(now + SignedDuration::from_hours(23));
    let (hours_30, start_30) = minute(now + SignedDuration::from_hours(30));
    let day = |at: Timestamp| at.strftime("%a").to_string();
    let mut far = recurring("far", &hours_30, "1h");
    far["spec"]["schedule"]["weekly"][0]["days"] = json!([day(start_30)]);
    let mut near = recurring("near", &hours_23, "1h");
    near["spec"]["schedule"]["weekly"][0]["days"] = json!([day(start_23)]);
    let objects = [
        far,
        near,
        // Ends with this minute.
        recurring("ending", &this, "1m"),
        recurring("coming", &next, "1m"),
        recurring("inside", &this, "2h"),
    ];
    for object in &objects {
        apply(cluster, object);
    }
    members.fire(0, json!({"alertname": "A", "service": "coming", "namespace": "frontend"})).await;
    told(cluster, "frontend", "ending", "True/SilenceApplied").await;
    let object = told(cluster, "frontend", "coming", "True/SilencePending").await;
    assert_eq!(object["status"]["phase"], "Scheduled");
    told(cluster, "frontend", "inside", "True/SilenceApplied").await;
    let object = told(cluster, "frontend", "far", "True/Scheduled").await;
    assert_eq!(object["status"]["phase"], "Scheduled");
    assert!(own(&members, "far").await.is_empty());
    told(cluster, "frontend", "near", "True/SilencePending").await;
    assert_eq!(starts(&own(&members, "near").await[0]), start_23);
    let ending = own(&members, "ending").await.remove(0);
    assert_eq!(ending["endsAt"].as_str().unwrap().parse::<Timestamp>().unwrap(), next_start);
    assert!(members.suppressed(0).await.is_empty());

    // Away over the start.
    running.stop().await;
    until(70, "the window begins", || async {
        own(&members, "coming").await.iter().any(|silence| silence["status"]["state"] == "active")
    })
    .await;
    assert!(Timestamp::now() >= next_start);
    until(10, "muted on time", || async { members.suppressed(0).await.len() == 1 }).await;
    let running = usher(cluster, settings()).await;
    let object = told(cluster, "frontend", "coming", "True/SilenceApplied").await;
    assert_eq!(object["status"]["phase"], "Active");
    assert_eq!(own(&members, "coming").await.len(), 1);
    // The one that has ended is followed by the next.
    let object = told(cluster, "frontend", "ending", "True/SilencePending").await;
    let following = own(&members, "ending").await;
    assert_eq!(following.len(), 1);
    assert_eq!(starts(&following[0]), this_start + SignedDuration::from_hours(24));
    assert_ne!(following[0]["id"], ending["id"]);
    assert_eq!(binding(&object, "main")["silenceID"], following[0]["id"]);

    // Case 65: rescheduled while pending.
    let (other, other_start) = minute(now + SignedDuration::from_hours(22));
    let weekly = json!([{"days": [day(other_start)], "at": other}]);
    patch(cluster, "frontend", "near", json!({"spec": {"schedule": {"weekly": weekly}}}));
    until(20, "replaced", || async {
        let live = own(&members, "near").await;
        live.len() == 1 && starts(&live[0]) == other_start
    })
    .await;
    // Suspended during a window, resumed for the rest of it.
    let end = own(&members, "inside").await[0]["endsAt"].clone();
    patch(cluster, "frontend", "inside", json!({"spec": {"suspend": true}}));
    let object = told(cluster, "frontend", "inside", "True/Suspended").await;
    assert_eq!(object["status"]["phase"], "Suspended");
    assert!(own(&members, "inside").await.is_empty());
    patch(cluster, "frontend", "inside", json!({"spec": {"suspend": false}}));
    told(cluster, "frontend", "inside", "True/SilenceApplied").await;
    let resumed = own(&members, "inside").await.remove(0);
    assert_eq!(resumed["endsAt"], end);

    // Case 66: everything is lost.
    members.kill(0).await;
    members.start_empty(1).await;
    members.start_empty(0).await;
    until(30, "made again on both", || async {
        let again = own(&members, "inside").await;
        let on_other = members.live(1).await;
        again.len() == 1
            && again[0]["endsAt"] == end
            && on_other.iter().any(|one| one["id"] == again[0]["id"])
    })
    .await;
    let object = told(cluster, "frontend", "inside", "True/SilenceApplied").await;
    assert_eq!(counts(binding(&object, "main")), "2/2");
    clean(cluster);
    running.stop().await;
}

/// Case 64: made inside a window, and active at once, until `until` cuts it; after the last window it is over, and nothing
/// more is sent.
#[tokio::test(flavor = "multi_thread")]
async fn case_64_a_window_is_cut_at_the_end_of_its_schedule() {
    let (cluster, _turn) = stage().await;
    let members = Alertmanagers::start(Release::New, 1, Members::default()).await;
    bind(cluster, "main", &members, json!({}));
    let running = usher(cluster, settings()).await;
    let (this, _) = minute(Timestamp::now());
    let until_ = in_seconds(20);
    let mut object = recurring("last", &this, "2h");
    object["spec"]["schedule"]["until"] = json!(until_);
    apply(cluster, &object);
    let object = told(cluster, "frontend", "last", "True/SilenceApplied").await;
    assert_eq!(
        (&object["status"]["phase"], &object["status"]["nextWindow"]),
        (&json!("Active"), &Value::Null)
    );
    let sent = own(&members, "last").await.remove(0);
    assert_eq!(sent["endsAt"].as_str().unwrap().parse::<Timestamp>().unwrap(), until_);
    let posted = calls(&members)["post"];
    until(40, "over", || async { stored(cluster, "frontend", "last")["status"]["phase"] == "Expired" }).await;
    let object = told(cluster, "frontend", "last", "True/SilenceExpired").await;
    assert_eq!(
        object["status"]["expiresAt"],
        json!(until_.to_string()),
        "when it was over can still be seen"
    );
    some_passes().await;
    assert!(own(&members, "last").await.is_empty());
    assert_eq!(calls(&members)["post"], posted);
    clean(cluster);
    running.stop().await;
}
