//! The snapshot, the proof of ownership and the sweep, each by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::super::{Claim, Identity, Instance, Liveness, Reach, Record, Snapshot, Sweep, orphans, state_at};
use super::driver::Driver;
use super::world::{at, matcher};
use crate::names;
use crate::upstream::alertmanager::{Draft, Silence, State};

const NOW: &str = "2026-01-10T10:00:00Z";

fn silence(id: &str, created_by: &str) -> Silence {
    Silence {
        id: id.to_owned(),
        matchers: vec![matcher("a", "b")],
        starts_at: at("2026-01-10T09:00:00Z"),
        ends_at: at("2026-01-10T12:00:00Z"),
        updated_at: at("2026-01-10T09:00:00Z"),
        created_by: created_by.to_owned(),
        comment: "c".to_owned(),
        annotations: BTreeMap::new(),
        state: State::Active,
    }
}

fn annotated(silence: Silence, cluster: &str, uid: &str) -> Silence {
    let pairs = [(names::MANAGED_BY, "usher"), (names::CLUSTER, cluster), (names::SILENCE_UID, uid)];
    let annotations = pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Silence { annotations, ..silence }
}

fn snapshot(lists: Vec<Vec<Silence>>) -> Snapshot {
    let mut snapshot = Snapshot::new(vec![Instance::new(true); lists.len()]);
    for (instance, list) in lists.into_iter().enumerate() {
        snapshot.listed(instance, list);
    }
    snapshot
}

fn draft(id: Option<&str>, starts_at: Timestamp) -> Draft {
    Draft {
        id: id.map(str::to_owned),
        matchers: vec![matcher("a", "b")],
        starts_at,
        ends_at: at("2026-01-10T12:00:00Z"),
        created_by: "frontend/api".to_owned(),
        comment: "c".to_owned(),
        annotations: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
    }
}

#[test]
fn equal_copies_are_one_and_what_may_be_an_objects_own_is_found_without_a_search() {
    let list: Vec<Silence> = (0..5000)
        .map(|number| {
            annotated(silence(&format!("id-{number}"), &format!("ns/{number}")), "c", &format!("u-{number}"))
        })
        .collect();
    let snapshot = snapshot(vec![list.clone(), list.clone(), list]);
    for number in [0, 77, 4999] {
        let copies: Vec<_> = snapshot.copies(&format!("id-{number}")).collect();
        assert!(copies.len() == 3 && copies.iter().all(|(_, copy)| Arc::ptr_eq(copy, copies[0].1)));
        let found = snapshot.candidates(&format!("ns/{number}"), "u-3", ["other"]);
        assert_eq!(found, [&*format!("id-{number}"), "id-3", "other"].into_iter().collect());
    }
}

#[test]
fn our_own_writes_are_seen_at_once() {
    let now = at(NOW);
    let mut snapshot = snapshot(vec![vec![silence("a", "frontend/api")], vec![silence("a", "frontend/api")]]);
    // A new one begins now at the earliest, and replaces the one it names.
    snapshot.fold_post(0, "b", &draft(Some("a"), at("2026-01-10T08:00:00Z")), now);
    let made = snapshot.copy(0, "b").unwrap();
    assert_eq!((made.starts_at, made.state), (now, State::Active));
    assert_eq!(snapshot.copy(0, "a").unwrap().state, State::Expired);
    assert_eq!(snapshot.copy(1, "a").unwrap().state, State::Active);
    assert_eq!(snapshot.newest("a").unwrap().1.state, State::Expired);
    // In place it keeps its beginning.
    snapshot.fold_post(0, "b", &draft(Some("b"), at("2026-01-10T08:00:00Z")), now);
    assert_eq!(snapshot.copy(0, "b").unwrap().starts_at, at("2026-01-10T08:00:00Z"));
    assert!(snapshot.candidates("frontend/api", "", []).contains("b"));
    // A pending one ends before it began.
    let later = at("2026-01-10T11:00:00Z");
    snapshot.fold_post(1, "p", &draft(None, later), now);
    assert_eq!(snapshot.copy(1, "p").unwrap().state, State::Pending);
    snapshot.fold_expire(1, "p", now);
    let ended = snapshot.copy(1, "p").unwrap();
    assert_eq!((ended.starts_at, ended.ends_at, ended.state), (now, now, State::Expired));
    snapshot.fold_gone(1, "p");
    assert!(snapshot.copy(1, "p").is_none());
}

#[test]
fn our_write_is_the_newest_even_if_the_instances_clock_is_ahead() {
    let ahead = Silence { updated_at: at("2026-01-10T10:00:30Z"), ..silence("a", "frontend/api") };
    let mut snapshot = snapshot(vec![vec![ahead.clone()], vec![ahead]]);
    snapshot.fold_expire(1, "a", at(NOW));
    assert_eq!(snapshot.newest("a").unwrap().0, 1);
}

#[test]
fn of_equally_new_copies_the_one_with_annotations_speaks() {
    let bare = silence("a", "frontend/api");
    let mut snapshot =
        Snapshot::new(vec![Instance { keeps_annotations: Some(true), ..Instance::new(true) }; 2]);
    snapshot.listed(0, vec![bare.clone()]);
    snapshot.listed(1, vec![annotated(bare, "c", "u")]);
    assert_eq!(snapshot.newest("a").unwrap().0, 1);
}

#[test]
fn an_id_that_its_holder_does_not_know_makes_every_list_stale() {
    let mut snapshot = snapshot(vec![vec![silence("a", "x")], vec![silence("a", "x"), silence("b", "x")]]);
    snapshot.fold_unknown(0);
    assert_eq!(snapshot.ids().count(), 0);
    assert!(snapshot.instances().iter().all(|instance| instance.reach == Reach::NotAsked));
    assert_eq!([0, 1].map(|instance: usize| snapshot.instances()[instance].refused.is_some()), [true, false]);
}

#[test]
fn annotations_that_we_sent_do_not_prove_that_they_are_kept() {
    let mut snapshot = Snapshot::new(vec![Instance::new(true)]);
    snapshot.listed(0, vec![]);
    snapshot.fold_post(0, "a", &draft(None, at(NOW)), at(NOW));
    assert!(snapshot.copy(0, "a").unwrap().annotations.is_empty());
    assert_eq!(snapshot.instances()[0].keeps_annotations, None);
    snapshot.listed(0, vec![annotated(silence("a", "x"), "c", "u")]);
    assert_eq!(snapshot.instances()[0].keeps_annotations, Some(true));
}

#[test]
fn a_state_only_moves_forward_from_the_one_that_was_listed() {
    let (before, start, end) =
        (at("2026-01-10T08:00:00Z"), at("2026-01-10T09:00:00Z"), at("2026-01-10T12:00:00Z"));
    let states =
        |state: State| [before, start, end].map(|now| state_at(&Silence { state, ..silence("a", "x") }, now));
    assert_eq!(states(State::Pending), [State::Pending, State::Active, State::Expired]);
    assert_eq!(states(State::Active), [State::Active, State::Active, State::Expired]);
    assert_eq!(states(State::Expired), [State::Expired; 3]);
}

fn identity() -> Identity {
    Driver::new().identity
}

#[test]
fn annotations_prove_ownership_and_those_of_others_disprove_it() {
    let (identity, record, snapshot) = (identity(), Record::default(), Snapshot::default());
    let claim = Claim::new(&identity, &record, &[], true, &snapshot);
    let own = "frontend/api";
    let table = [
        ("all of them", annotated(silence("a", own), "cluster-1", "uid-1"), true),
        ("the object was made anew", annotated(silence("a", own), "cluster-1", "uid-9"), true),
        ("createdBy was edited", annotated(silence("a", "me"), "cluster-1", "uid-1"), true),
        ("another object", annotated(silence("a", "frontend/web"), "cluster-1", "uid-9"), false),
        ("another cluster", annotated(silence("a", own), "cluster-2", "uid-1"), false),
        ("nothing but createdBy", silence("a", own), false),
    ];
    for (name, silence, owned) in table {
        assert_eq!(claim.owns(&silence), owned, "{name}");
    }
    let mut other = annotated(silence("a", own), "cluster-1", "uid-1");
    other.annotations.insert(names::MANAGED_BY.to_owned(), "karma".to_owned());
    assert!(!claim.owns(&other));
}

#[test]
fn without_annotations_created_by_needs_the_id_the_matchers_or_the_trace() {
    let own = |id: &str| silence(id, "frontend/api");
    let identity = identity();
    let owns = |record: &Record, matchers: &[_], lists: &Snapshot, silence: &Silence| {
        Claim::new(&identity, record, matchers, false, lists).owns(silence)
    };
    let (none, empty) = (Record::default(), Snapshot::default());
    let by_id = Record { silence_id: Some("a".to_owned()), ..Record::default() };
    assert!(owns(&by_id, &[], &empty, &own("a")) && !owns(&by_id, &[], &empty, &own("b")));
    assert!(!owns(&by_id, &[], &empty, &silence("a", "somebody")));
    assert!(owns(&none, &[matcher("a", "b")], &empty, &own("x")));
    assert!(!owns(&none, &[matcher("a", "c")], &empty, &own("x")));
    let sent = Record { matchers: vec!["a=\"b\"".to_owned()], ..Record::default() };
    assert!(owns(&sent, &[], &empty, &own("x")));
    // The recorded id was expired by a call at the instant that made this one.
    let expired = |ends_at: Timestamp, updated_at: Timestamp| {
        snapshot(vec![vec![Silence { ends_at, updated_at, state: State::Expired, ..own("a") }]])
    };
    let edit = at("2026-01-10T09:30:00Z");
    let edited =
        |seconds: i64| Silence { updated_at: edit + SignedDuration::from_secs(seconds), ..own("new") };
    let replaced = expired(edit, edit);
    let traced = [0, 1, -1].map(|seconds| owns(&by_id, &[], &replaced, &edited(seconds)));
    assert_eq!(traced, [true, false, false]);
    assert!(!owns(&by_id, &[], &replaced, &Silence { created_by: "me".to_owned(), ..edited(0) }));
    let ran_out = expired(edit, at("2026-01-10T08:00:00Z"));
    assert!(!owns(&by_id, &[], &ran_out, &edited(0)), "it ended by itself: no edit did it");
}

#[test]
fn an_update_in_place_is_not_the_trace_of_a_replaced_id() {
    let identity = identity();
    let record = Record { silence_id: Some("a".to_owned()), ..Record::default() };
    let lists = snapshot(vec![vec![silence("a", "frontend/api")]]);
    let claim = Claim::new(&identity, &record, &[], false, &lists);
    assert!(!claim.owns(&silence("b", "frontend/api")));
}

fn sweep(silences: Vec<Silence>, limit: u8) -> Sweep {
    let live = |uid: Option<&str>, created_by: &str| match (uid, created_by) {
        (Some("alive"), _) | (_, "ns/alive") => Liveness::Wanted,
        (Some("unselected"), _) | (_, "ns/unselected") => Liveness::Unselected,
        _ => Liveness::Gone,
    };
    let many = silences.clone();
    orphans(&snapshot(vec![silences, many]), "c", live, |id| id == "recorded", limit, at(NOW))
}

#[test]
fn the_sweep_takes_what_is_proven_and_unwanted_on_every_instance() {
    let found = sweep(
        vec![
            annotated(silence("a", "ns/alive"), "c", "old"),
            annotated(silence("b", "me"), "c", "alive"),
            annotated(silence("d", "ns/gone"), "c", "gone"),
            annotated(silence("e", "ns/unselected"), "c", "unselected"),
            annotated(silence("f", "ns/gone"), "other", "gone"),
            annotated(Silence { state: State::Expired, ..silence("g", "ns/gone") }, "c", "gone"),
            silence("h", "ns/gone"),
            silence("i", "somebody"),
            silence("j", "a/b/c"),
            silence("k", "ns/alive"),
            silence("recorded", "ns/unselected"),
        ],
        50,
    );
    let ids: Vec<(usize, &str)> =
        found.expire.iter().map(|(instance, id)| (*instance, id.as_str())).collect();
    assert_eq!(ids, [(0, "d"), (1, "d"), (0, "e"), (1, "e"), (0, "recorded"), (1, "recorded")]);
    assert_eq!((found.suspended, found.unproven), (None, 1));
}

#[test]
fn case_42_the_sweep_stops_itself_when_too_much_would_go() {
    let many = |gone: usize, alive: usize| -> Vec<Silence> {
        let gone = (0..gone).map(|number| annotated(silence(&format!("g{number}"), "ns/gone"), "c", "gone"));
        let alive =
            (0..alive).map(|number| annotated(silence(&format!("a{number}"), "ns/alive"), "c", "alive"));
        gone.chain(alive).collect()
    };
    let found = sweep(many(6, 4), 50);
    assert_eq!((found.suspended, found.expire.len()), (Some((6, 10)), 0));
    let found = sweep(many(6, 4), 100);
    assert_eq!((found.suspended, found.expire.len()), (None, 12));
    // Half is not more than half, and four are few.
    assert_eq!(sweep(many(5, 5), 50).suspended, None);
    assert_eq!(sweep(many(4, 0), 50).expire.len(), 8);
    assert_eq!(sweep(many(5, 0), 100).suspended, None);
}
