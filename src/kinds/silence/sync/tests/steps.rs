//! Single steps, each from a snapshot made for it.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::super::{
    Blocked, Desired, Failure, Identity, Instance, Outcome, Reach, Reason, Record, Snapshot, Step, Wanted,
    WhyExpire, WhyPost, next, shown,
};
use super::driver::{BOUNDS, Driver};
use super::world::{at, matcher};
use crate::upstream::alertmanager::{Draft, Silence, State};

const NOW: &str = "2026-01-10T10:00:00Z";

fn wanted() -> Wanted {
    Driver::new().wanted()
}

fn identity() -> Identity {
    Driver::new().identity
}

fn ready() -> Instance {
    Instance { keeps_annotations: Some(true), ..Instance::new(true) }
}

/// The silence as it should be, made ten minutes ago.
fn held(id: &str) -> Silence {
    let since = at("2026-01-10T09:50:00.123Z");
    Silence {
        id: id.to_owned(),
        matchers: wanted().matchers,
        starts_at: since,
        ends_at: wanted().ends_at,
        updated_at: since,
        created_by: "frontend/api".to_owned(),
        comment: wanted().comment,
        annotations: identity().annotations(&wanted()),
        state: State::Active,
    }
}

fn record(id: &str) -> Record {
    Record {
        silence_id: Some(id.to_owned()),
        matchers: wanted().matchers.iter().map(shown).collect(),
        ends_at: Some(wanted().ends_at),
        written_at: Some(at("2026-01-10T09:50:00Z")),
        current: true,
    }
}

fn snapshot(lists: Vec<Vec<Silence>>) -> Snapshot {
    let mut snapshot = Snapshot::new(vec![ready(); lists.len()]);
    for (instance, list) in lists.into_iter().enumerate() {
        snapshot.listed(instance, list);
    }
    snapshot
}

fn ask(snapshot: &Snapshot, record: &Record) -> Step {
    next(&Desired::Present(wanted()), &identity(), record, snapshot, at(NOW), BOUNDS)
}

fn draft(step: Step) -> (usize, Draft, WhyPost) {
    let Step::Post { instance, draft, why, .. } = step else { panic!("{step:?}") };
    (instance, draft, why)
}

fn outcome(step: Step) -> Outcome {
    let (Step::Nothing(outcome) | Step::Wait { outcome, .. }) = step else { panic!("{step:?}") };
    outcome
}

#[test]
fn a_new_silence_is_sent_as_it_is_to_the_first_instance_that_is_ready() {
    let mut lists = Snapshot::new(vec![Instance::new(false), ready(), ready()]);
    lists.listed(0, vec![]);
    lists.listed(1, vec![]);
    lists.listed(2, vec![]);
    let (instance, sent, why) = draft(ask(&lists, &Record::default()));
    assert_eq!((instance, why), (1, WhyPost::Create));
    let expected = Draft {
        id: None,
        matchers: wanted().matchers,
        starts_at: wanted().starts_at,
        ends_at: wanted().ends_at,
        created_by: "frontend/api".to_owned(),
        comment: "upgrade".to_owned(),
        annotations: identity().annotations(&wanted()),
    };
    assert_eq!(sent, expected);
}

#[test]
fn nothing_is_created_before_every_ready_instance_was_listed() {
    let step_with = |reach: Reach, ready_too: bool| {
        let mut lists = Snapshot::new(vec![ready(), Instance { reach, ..Instance::new(ready_too) }]);
        lists.listed(0, vec![]);
        ask(&lists, &Record::default())
    };
    let why = |step: Step| if let Step::Wait { why, .. } = step { Some(why) } else { None };
    let failed = Failure::TlsError;
    assert_eq!(why(step_with(Reach::NotAsked, true)), Some(Blocked::NotListed));
    assert_eq!(why(step_with(Reach::Failed(failed), true)), Some(Blocked::ListFailed(failed)));
    assert_eq!(why(step_with(Reach::Partial(failed), true)), Some(Blocked::ListFailed(failed)));
    for reach in [Reach::NotAsked, Reach::Failed(failed)] {
        assert_eq!(draft(step_with(reach, false)).2, WhyPost::Create);
    }
    assert_eq!(outcome(step_with(Reach::Failed(failed), true)).reason, Reason::TlsError);
}

#[test]
fn nothing_is_done_when_nobody_answers_or_nobody_is_ready() {
    let mut lists = Snapshot::new(vec![ready(), ready()]);
    lists.failed(0, Failure::Unavailable);
    lists.failed(1, Failure::AuthenticationFailed);
    let step = ask(&lists, &record("a"));
    assert!(matches!(&step, Step::Wait { why: Blocked::ListFailed(Failure::AuthenticationFailed), .. }));
    let told = outcome(step);
    assert_eq!((told.reason, told.synced_instances), (Reason::AuthenticationFailed, 0));
    assert!(!told.reason.is_ready());
    let mut lists = Snapshot::new(vec![Instance::new(false)]);
    lists.listed(0, vec![]);
    assert!(matches!(ask(&lists, &record("a")), Step::Wait { why: Blocked::NotReady, .. }));
    assert!(matches!(ask(&Snapshot::new(vec![]), &record("a")), Step::Wait { why: Blocked::NotReady, .. }));
}

#[test]
fn two_writers_that_refuse_are_enough() {
    let mut lists = snapshot(vec![vec![], vec![], vec![]]);
    lists.fold_refused(0, Failure::Unavailable);
    assert_eq!(draft(ask(&lists, &Record::default())).0, 1);
    lists.fold_refused(1, Failure::Unavailable);
    assert!(matches!(ask(&lists, &Record::default()), Step::Wait { why: Blocked::WriteFailed, .. }));
}

#[test]
fn who_may_not_write_is_told_so_and_asks_nobody_else() {
    for (failure, reason) in [
        (Failure::PermissionDenied, Reason::PermissionDenied),
        (Failure::AuthenticationFailed, Reason::AuthenticationFailed),
    ] {
        let mut lists = snapshot(vec![vec![], vec![]]);
        lists.fold_refused(0, failure);
        let step = ask(&lists, &Record::default());
        assert!(matches!(&step, Step::Wait { why: Blocked::WriteFailed, .. }), "{step:?}");
        assert_eq!(outcome(step).reason, reason);
    }
}

#[test]
fn a_change_goes_to_a_holder_with_the_stored_order_and_beginning() {
    let mut other = held("a");
    other.matchers.reverse();
    other.comment = "other".to_owned();
    other.annotations.insert("ticket".to_owned(), "T-1".to_owned());
    let (instance, sent, why) = draft(ask(&snapshot(vec![vec![], vec![other.clone()]]), &record("a")));
    assert_eq!((instance, why, sent.id.as_deref()), (1, WhyPost::Repair, Some("a")));
    assert_eq!((&sent.matchers, sent.starts_at), (&other.matchers, other.starts_at));
    assert_eq!(sent.annotations["ticket"], "T-1", "what others put there stays");
    let stale = Record { current: false, ..record("a") };
    assert_eq!(draft(ask(&snapshot(vec![vec![other.clone()]]), &stale)).2, WhyPost::Update);
    other.matchers.pop();
    let (_, sent, why) = draft(ask(&snapshot(vec![vec![other]]), &stale));
    assert_eq!((why, sent.matchers), (WhyPost::Replace, wanted().matchers));
}

#[test]
fn what_only_looks_different_is_left_alone() {
    let mut same = held("a");
    same.matchers.reverse();
    same.ends_at += SignedDuration::from_millis(999);
    same.annotations.insert("ticket".to_owned(), "T-1".to_owned());
    let told = outcome(ask(&snapshot(vec![vec![same]]), &record("a")));
    assert_eq!((told.synced_instances, told.reason), (1, Reason::SilenceApplied));
    assert_eq!(told.next_look, Some(Duration::from_secs(7201)));
}

#[test]
fn annotations_count_only_where_they_are_kept() {
    let bare = Silence { annotations: BTreeMap::new(), ..held("a") };
    for (keeps, repaired) in [(Some(true), true), (Some(false), false), (None, false)] {
        let mut lists = Snapshot::new(vec![Instance { keeps_annotations: keeps, ..Instance::new(true) }]);
        lists.listed(0, vec![bare.clone()]);
        assert_eq!(matches!(ask(&lists, &record("a")), Step::Post { .. }), repaired, "{keeps:?}");
    }
    // One that came back proves that they are kept.
    let mut lists = Snapshot::new(vec![Instance::new(true)]);
    let foreign = Silence {
        created_by: "x".to_owned(),
        annotations: BTreeMap::from([("k".into(), "v".into())]),
        ..held("b")
    };
    lists.listed(0, vec![bare, foreign]);
    assert_eq!(draft(ask(&lists, &record("a"))).2, WhyPost::Repair);
}

#[test]
fn the_status_comes_first_where_annotations_may_be_lost() {
    let first = |keeps: Option<bool>, record: &Record| {
        let mut lists = Snapshot::new(vec![Instance { keeps_annotations: keeps, ..Instance::new(true) }]);
        lists.listed(0, vec![]);
        matches!(ask(&lists, record), Step::Post { record_first: true, .. })
    };
    let nothing = Record::default();
    let all = [Some(true), Some(false), None].map(|keeps| first(keeps, &nothing));
    assert_eq!(all, [false, true, true]);
    assert!(!first(Some(false), &record("gone")), "it holds these matchers already");
}

#[test]
fn without_annotations_a_duplicate_follows_new_matchers_before_the_record_does() {
    let bare = |id: &str| Silence {
        annotations: BTreeMap::new(),
        matchers: vec![matcher("service", "old")],
        ..held(id)
    };
    let old = Record { matchers: vec!["service=\"old\"".to_owned()], current: false, ..record("a") };
    let mut lists = Snapshot::new(vec![Instance { keeps_annotations: Some(false), ..Instance::new(true) }]);
    lists.listed(0, vec![bare("a"), bare("b")]);
    let (_, sent, why) = draft(ask(&lists, &old));
    assert_eq!((sent.id.as_deref(), why), (Some("b"), WhyPost::Align));
    lists.fold_post(0, "c", &sent, at(NOW));
    let mut record = old;
    record.posted("c", &sent, why, at(NOW));
    assert_eq!(record.silence_id.as_deref(), Some("a"));
    let Step::Post { draft: sent, why, record_first: true, .. } = ask(&lists, &record) else { panic!() };
    assert_eq!((sent.id.as_deref(), why), (Some("a"), WhyPost::Replace));
    record.announce(&sent);
    lists.fold_post(0, "d", &sent, at(NOW));
    record.posted("d", &sent, why, at(NOW));
    let step = ask(&lists, &record);
    assert_eq!(step, Step::Expire { instance: 0, id: "c".to_owned(), why: WhyExpire::Duplicate });
}

#[test]
fn the_recorded_one_stays_else_the_right_one_else_the_oldest() {
    let wrong = |id: &str| Silence { comment: "x".to_owned(), ..held(id) };
    let older = |id: &str| Silence { starts_at: at("2026-01-10T08:00:00Z"), ..wrong(id) };
    let of =
        |list: Vec<Silence>, record: Record| outcome(last(snapshot(vec![list]), record)).silence_id.unwrap();
    assert_eq!(of(vec![wrong("a"), held("b"), held("c")], record("c")), "c");
    assert_eq!(of(vec![wrong("a"), held("b"), held("c")], Record::default()), "b");
    assert_eq!(of(vec![wrong("a"), wrong("b"), older("c")], Record::default()), "c");
}

/// Performs the steps on the snapshot alone.
fn last(mut snapshot: Snapshot, mut record: Record) -> Step {
    for _ in 0..20 {
        match ask(&snapshot, &record) {
            Step::Post { instance, draft, why, .. } => {
                let id = draft.id.clone().unwrap_or_else(|| "new".to_owned());
                snapshot.fold_post(instance, &id, &draft, at(NOW));
                record.posted(&id, &draft, why, at(NOW));
            }
            Step::Expire { instance, id, .. } => snapshot.fold_expire(instance, &id, at(NOW)),
            step => return step,
        }
    }
    panic!("no end");
}

#[test]
fn duplicates_go_last_and_only_when_every_instance_that_answers_has_the_one_that_stays() {
    let lists = |second: Vec<Silence>| snapshot(vec![vec![held("a"), held("b")], second]);
    let told = outcome(ask(&lists(vec![held("b")]), &record("a")));
    assert_eq!((told.synced_instances, told.duplicates), (2, 1));
    assert_eq!(told.next_look, Some(Duration::from_secs(30)));
    let step = ask(&lists(vec![held("a")]), &record("a"));
    assert_eq!(step, Step::Expire { instance: 0, id: "b".to_owned(), why: WhyExpire::Duplicate });
    // An instance that does not answer is not waited for.
    let mut without = lists(vec![held("b")]);
    without.failed(1, Failure::Unavailable);
    assert!(matches!(ask(&without, &record("a")), Step::Expire { why: WhyExpire::Duplicate, .. }));
    // One with an older copy of it is.
    let older = Silence { comment: "x".to_owned(), updated_at: at("2026-01-10T09:40:00Z"), ..held("a") };
    assert!(!matches!(ask(&lists(vec![older, held("b")]), &record("a")), Step::Expire { .. }));
}

#[test]
fn an_instance_is_healed_only_when_it_certainly_will_not_hear() {
    let minutes = |many: u64| Some(Duration::from_secs(60 * many));
    let written = |text: &str| Some(at(text));
    let table = [
        ("long enough", ready(), None, true),
        ("just written", ready(), written("2026-01-10T09:58:30Z"), false),
        ("settling", Instance { settling: true, ..ready() }, None, false),
        ("young", Instance { age: minutes(1), ..ready() }, None, false),
        ("old", Instance { age: minutes(3), ..ready() }, None, true),
        ("not ready", Instance { ready: false, ..ready() }, None, false),
        ("refused", Instance { refused: Some(Failure::Unavailable), ..ready() }, None, false),
    ];
    for (name, second, written_at, heals) in table {
        let mut lists = Snapshot::new(vec![ready(), second]);
        lists.listed(0, vec![held("a")]);
        lists.listed(1, vec![]);
        let record = Record { written_at: written_at.or(record("a").written_at), ..record("a") };
        let step = ask(&lists, &record);
        let healed =
            matches!(&step, Step::Post { instance: 1, why: WhyPost::Heal, draft, .. } if draft.id.is_none());
        assert_eq!(healed, heals, "{name}: {step:?}");
    }
}

#[test]
fn healing_brings_up_to_date_what_the_instance_has_of_ours() {
    let older = Silence { comment: "x".to_owned(), updated_at: at("2026-01-10T09:40:00Z"), ..held("a") };
    let (instance, sent, why) = draft(ask(&snapshot(vec![vec![held("a")], vec![older]]), &record("a")));
    assert_eq!((instance, why, sent.id.as_deref()), (1, WhyPost::Heal, Some("a")));
    let own = Silence { comment: "x".to_owned(), ..held("b") };
    let (_, sent, _) = draft(ask(&snapshot(vec![vec![held("a")], vec![own.clone()]]), &record("a")));
    assert_eq!(sent.id.as_deref(), Some("b"));
    // What has ended elsewhere ends here too, once there is another.
    let ended = Silence {
        state: State::Expired,
        ends_at: at("2026-01-10T09:55:00Z"),
        updated_at: at("2026-01-10T09:55:00Z"),
        ..own.clone()
    };
    let mut lists = snapshot(vec![vec![held("a"), ended], vec![own]]);
    let (_, sent, why) = draft(ask(&lists, &record("a")));
    assert_eq!((sent.id.as_deref(), why), (None, WhyPost::Heal));
    lists.fold_post(1, "c", &sent, at(NOW));
    let step = ask(&lists, &record("a"));
    assert_eq!(step, Step::Expire { instance: 1, id: "b".to_owned(), why: WhyExpire::Replaced });
}

#[test]
fn the_reason_tells_who_is_missing() {
    let told = |second: Instance, reach: Reach| {
        let mut lists =
            Snapshot::new(vec![ready(), Instance { refused: Some(Failure::Unavailable), ..second }]);
        lists.listed(0, vec![held("a")]);
        match reach {
            Reach::Failed(failure) => lists.failed(1, failure),
            _ => lists.listed(1, vec![]),
        }
        let told = outcome(ask(&lists, &record("a")));
        assert_eq!((told.synced_instances, told.total_instances), (1, 2));
        assert!(told.reason.is_ready());
        told.reason
    };
    assert_eq!(told(ready(), Reach::Failed(Failure::Unavailable)), Reason::PartiallySynced);
    assert_eq!(told(Instance::new(false), Reach::Listed), Reason::PartiallySynced);
    assert_eq!(told(ready(), Reach::Listed), Reason::ReplicationDegraded);
    assert_eq!(told(Instance { settling: true, ..ready() }, Reach::Listed), Reason::SilenceApplied);
}

#[test]
fn while_replication_is_awaited_the_looks_become_rarer() {
    let mut lists = snapshot(vec![vec![held("a")], vec![]]);
    lists.listed(1, vec![]);
    let look = |seconds: i64| {
        let written_at: Timestamp = at(NOW) - SignedDuration::from_secs(seconds);
        outcome(ask(&lists, &Record { written_at: Some(written_at), ..record("a") }))
            .next_look
            .unwrap()
            .as_secs()
    };
    assert_eq!([0, 1, 3, 8, 18, 100].map(look), [1, 2, 5, 10, 30, 30]);
}

#[test]
fn clocks_that_disagree_by_seconds_cause_nothing() {
    // The instance's clock is ahead: it says active, or ended, when ours says not yet.
    let mut begun = Wanted { starts_at: at("2026-01-10T10:00:02Z"), ..wanted() };
    let silence = Silence { starts_at: begun.starts_at, ..held("a") };
    let mut lists = snapshot(vec![vec![silence]]);
    let ask = |wanted: &Wanted, lists: &Snapshot| {
        next(&Desired::Present(wanted.clone()), &identity(), &record("a"), lists, at(NOW), BOUNDS)
    };
    assert_eq!(outcome(ask(&begun, &lists)).reason, Reason::SilenceApplied);
    begun.starts_at = at("2026-01-10T10:00:01Z");
    assert_eq!(outcome(ask(&begun, &lists)).reason, Reason::SilenceApplied);
    let ending = Wanted { ends_at: at("2026-01-10T10:00:02Z"), ..wanted() };
    lists.listed(0, vec![Silence { ends_at: ending.ends_at, state: State::Expired, ..held("a") }]);
    let told = outcome(ask(&ending, &lists));
    assert_eq!((told.reason, told.next_look), (Reason::SilenceExpired, Some(Duration::from_secs(3))));
}
