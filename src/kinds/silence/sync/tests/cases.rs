//! The acceptance cases of the silence system that a plan can answer, by their numbers.

use std::collections::BTreeMap;

use super::super::{Absence, Adoption, Blocked, Liveness, Reason, WhyExpire, WhyPost, adoption, orphans};
use super::driver::{Driver, Faults, Report};
use super::world::{Version, World, at, matcher};
use crate::names;
use crate::upstream::alertmanager::Draft;

pub(super) fn three() -> (World, Driver) {
    (World::new(&[Version::New; 3]), Driver::new())
}

/// Three instances, all of which hold the silence.
pub(super) fn settled() -> (World, Driver, String) {
    let (mut world, mut driver) = three();
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Create);
    world.gossip();
    world.advance(60);
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    let outcome = report.outcome();
    assert_eq!((outcome.synced_instances, outcome.reason), (3, Reason::SilenceApplied));
    let id = outcome.silence_id.clone().unwrap();
    (world, driver, id)
}

/// The ids that have not ended, on any instance.
pub(super) fn live(world: &World) -> Vec<String> {
    let all = (0..world.sims.len()).flat_map(|sim| world.live(sim));
    let mut ids: Vec<String> = all.map(|silence| silence.id).collect();
    ids.sort();
    ids.dedup();
    ids
}

fn by_hand(driver: &Driver, world: &World) -> Draft {
    Draft {
        id: None,
        matchers: driver.spec.matchers.clone(),
        starts_at: world.now,
        ends_at: at("2026-01-10T15:00:00Z"),
        created_by: "somebody".to_owned(),
        comment: "by hand".to_owned(),
        annotations: BTreeMap::new(),
    }
}

#[test]
fn case_21_a_crash_before_the_status_write_leaves_one_silence_and_the_status_gets_its_id() {
    let (mut world, mut driver) = three();
    driver.run(&mut world, Faults { crash: Some(1), ..Faults::default() });
    assert_eq!(driver.stored.silence_id, None);
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
    assert_eq!(report.outcome().silence_id, driver.stored.silence_id);
}

#[test]
fn case_22_a_comment_or_an_end_changed_by_hand_is_restored_in_place() {
    for change in [
        |draft: &mut Draft| draft.comment.clear(),
        |draft: &mut Draft| {
            draft.ends_at = at("2026-01-10T20:00:00Z");
        },
    ] {
        let (mut world, mut driver, id) = settled();
        world.edit(1, &id, change);
        world.gossip();
        assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Repair);
        assert_eq!(live(&world), [id]);
        world.gossip();
        assert!(driver.pass(&mut world).is_quiet());
    }
}

#[test]
fn case_22_matchers_changed_by_hand_are_restored_and_one_silence_remains() {
    for version in [Version::New, Version::Old] {
        let (mut world, mut driver) = (World::new(&[version; 3]), Driver::new());
        driver.pass(&mut world);
        world.gossip();
        driver.pass(&mut world);
        let id = driver.stored.silence_id.clone().unwrap();
        let edited = world.edit(0, &id, |draft| draft.matchers = vec![matcher("service", "other")]);
        assert_ne!(edited, id);
        world.gossip();
        world.advance(100);
        assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Repair);
        world.gossip();
        assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
        assert_eq!(world.live(2)[0].matchers, driver.spec.matchers);
        assert!(driver.pass(&mut world).is_quiet());
    }
}

#[test]
fn case_23_a_silence_of_a_human_is_never_touched_also_by_the_sweep() {
    let (mut world, mut driver, id) = settled();
    let mut draft = by_hand(&driver, &world);
    draft.created_by = "frontend/api-maintenance".to_owned();
    let other = world.make(0, &draft);
    // The very name of the object, but other matchers and no proof.
    world.advance(10);
    (draft.created_by, draft.matchers) = (driver.identity.created_by(), vec![matcher("team", "web")]);
    let lookalike = world.make(0, &draft);
    world.gossip();
    world.advance(10);
    assert!(driver.pass(&mut world).is_quiet());
    let snapshot = driver.list(&world);
    let sweep = orphans(&snapshot, "cluster-1", |_, _| Liveness::Gone, |_| false, 100, world.now);
    assert!(sweep.expire.iter().all(|(_, gone)| *gone == id));
    assert_eq!(sweep.unproven, 2);
    driver.change(|spec| spec.absence = Some(Absence::Deleted));
    driver.pass(&mut world);
    let mut left = [other, lookalike];
    left.sort();
    assert_eq!(live(&world), left);
}

#[test]
fn case_24_reordered_matchers_send_nothing_and_a_later_end_keeps_the_id() {
    let (mut world, mut driver, id) = settled();
    let started = world.live(0)[0].starts_at;
    driver.change(|spec| spec.matchers.reverse());
    assert!(driver.pass(&mut world).is_quiet());
    driver.change(|spec| spec.ends_at = at("2026-01-10T14:00:00Z"));
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Update);
    let held = world.live(0).remove(0);
    assert_eq!((held.id, held.starts_at, held.ends_at), (id, started, driver.spec.ends_at));
}

#[test]
fn case_25_a_silence_ended_by_hand_is_made_again_and_told_as_drift() {
    let (mut world, mut driver, id) = settled();
    world.expire(2, &id).unwrap();
    world.gossip();
    let why = driver.pass(&mut world).only_post();
    assert_eq!((why, why.event()), (WhyPost::Repair, Some("DriftRepaired")));
    assert_ne!(live(&world), [id]);
}

#[test]
fn case_26_an_instance_cut_off_is_given_its_own_and_both_become_one() {
    let (mut world, mut driver) = three();
    world.sims[2].cut = true;
    driver.pass(&mut world);
    world.gossip();
    world.advance(119);
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    let outcome = report.outcome();
    assert_eq!((outcome.synced_instances, outcome.reason), (2, Reason::SilenceApplied));
    world.advance(2);
    let report = driver.pass(&mut world);
    assert_eq!((report.posts.as_slice(), report.expires.len()), ([(2, WhyPost::Heal)].as_slice(), 0));
    assert_eq!((report.outcome().synced_instances, report.outcome().duplicates), (3, 1));
    assert_eq!(live(&world).len(), 2);
    world.advance(30);
    assert!(driver.pass(&mut world).is_quiet());
    // The driver asserts that each removal leaves every instance muted.
    world.sims[2].cut = false;
    world.gossip();
    let report = driver.pass(&mut world);
    assert!(report.posts.is_empty());
    assert!(report.expires.iter().any(|(_, why)| *why == WhyExpire::Duplicate));
    assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
    world.gossip();
    assert!((0..3).all(|sim| world.live(sim).len() == 1));
    assert!(driver.pass(&mut world).is_quiet());
}

#[test]
fn case_27_a_single_instance_that_restarts_empty_gets_it_again() {
    let (mut world, mut driver) = (World::new(&[Version::New]), Driver::new());
    driver.pass(&mut world);
    driver.pass(&mut world);
    world.restart(0);
    let why = driver.pass(&mut world).only_post();
    assert_eq!((why, why.event()), (WhyPost::Recreate, Some("SilenceRecreated")));
    assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
}

#[test]
fn case_28_a_deletion_ends_when_nobody_knows_it_and_waits_while_nobody_answers() {
    let (mut world, mut driver, _) = settled();
    driver.change(|spec| spec.absence = Some(Absence::Deleted));
    let mut gone = driver.clone();
    for sim in &mut world.sims {
        sim.up = false;
    }
    let report = driver.pass(&mut world);
    assert!(matches!(report.blocked, Some(Blocked::ListFailed(_))));
    assert_eq!(report.outcome().reason, Reason::AlertmanagerUnavailable);
    // One of them returns: it is enough, the sweep does the others.
    world.sims[1].up = true;
    let report = driver.pass(&mut world);
    assert_eq!(report.expires, [(1, WhyExpire::Absent(Absence::Deleted))]);
    assert_eq!((report.outcome().reason, report.outcome().synced_instances), (Reason::Removed, 1));
    // The lists are older than a restart: 404 is as good.
    world.sims[1].up = false;
    world.sims[2].up = true;
    gone.forget();
    let mut stale = world.clone();
    gone.run(&mut stale, Faults { refused: Some(1), ..Faults::default() });
    stale.restart(2);
    let report = gone.run(&mut stale, Faults::default());
    assert!(report.blocked.is_some(), "a refused instance is listed again first");
    assert!(gone.pass(&mut stale).is_quiet());
}

#[test]
fn case_29_a_ghost_that_comes_back_is_swept_again() {
    let (mut world, mut driver, id) = settled();
    world.sims[2].cut = true;
    driver.change(|spec| spec.absence = Some(Absence::Deleted));
    world.sims[2].up = false;
    driver.pass(&mut world);
    world.gossip();
    world.sims[0].silences.clear();
    world.sims[1].silences.clear();
    (world.sims[2].cut, world.sims[2].up) = (false, true);
    world.gossip();
    let live = |_: Option<&str>, _: &str| Liveness::Gone;
    let sweep = orphans(&driver.list(&world), "cluster-1", live, |_| false, 50, world.now);
    assert_eq!(sweep.expire, [(0, id.clone()), (1, id.clone()), (2, id)]);
}

#[test]
fn case_30_a_full_alertmanager_keeps_the_old_silence_active() {
    let (mut world, mut driver, id) = settled();
    for sim in &mut world.sims {
        sim.limit = 1;
    }
    driver.change(|spec| spec.matchers = vec![matcher("service", "other")]);
    let report = driver.pass(&mut world);
    assert_eq!((report.rejected, report.posts.len()), (Some(400), 1));
    assert_eq!(live(&world), [id]);
    let mut other = Driver::new();
    other.identity.name = "web".to_owned();
    other.identity.uid = "uid-2".to_owned();
    assert_eq!(other.pass(&mut world).rejected, Some(400));
}

#[test]
fn case_31_a_list_that_fails_creates_nothing_and_the_known_id_is_looked_at() {
    let (mut world, mut driver, id) = settled();
    for sim in &mut world.sims {
        sim.unlistable = true;
    }
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    assert_eq!((report.outcome().synced_instances, report.outcome().reason), (3, Reason::SilenceApplied));
    driver.change(|spec| spec.comment = "longer".to_owned());
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Update);
    assert_eq!(live(&world), [id]);
    // Another object, about which nothing is known: nothing is created.
    let mut other = Driver::new();
    other.identity.name = "web".to_owned();
    other.identity.uid = "uid-2".to_owned();
    for _ in 0..3 {
        let report = other.pass(&mut world);
        assert!(report.posts.is_empty() && matches!(report.blocked, Some(Blocked::ListFailed(_))));
    }
}

#[test]
fn case_32_an_instance_that_is_too_busy_to_list_only_delays() {
    let (mut world, mut driver) = three();
    world.sims[1].up = false;
    let report = driver.pass(&mut world);
    assert!(report.posts.is_empty() && matches!(report.blocked, Some(Blocked::ListFailed(_))));
    assert_eq!(report.outcome().reason, Reason::AlertmanagerUnavailable);
    world.sims[1].up = true;
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Create);
}

#[test]
fn case_33_a_post_whose_answer_is_lost_is_found_by_listing_again() {
    let (mut world, mut driver) = three();
    let report = driver.run(&mut world, Faults { lost: Some(1), ..Faults::default() });
    assert_eq!(report.only_post(), WhyPost::Create);
    assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
}

#[test]
fn case_34_only_the_instances_of_the_snapshot_get_anything() {
    let (mut world, mut driver) = (World::new(&[Version::New]), Driver::new());
    let other = World::new(&[Version::New]);
    driver.pass(&mut world);
    assert_eq!((live(&world).len(), live(&other).len()), (1, 0));
}

#[test]
fn case_37_an_alertmanager_that_no_longer_selects_loses_the_silence() {
    let (mut world, mut driver, _) = settled();
    driver.change(|spec| spec.absence = Some(Absence::Deselected));
    let report = driver.pass(&mut world);
    assert!(report.expires.iter().all(|(_, why)| *why == WhyExpire::Absent(Absence::Deselected)));
    assert_eq!((report.outcome().reason, report.outcome().synced_instances), (Reason::Removed, 3));
    assert!(live(&world).is_empty());
}

#[test]
fn case_41_two_clusters_with_the_same_object_keep_a_silence_each() {
    let (mut world, mut one, id) = settled();
    let mut two = Driver::new();
    two.identity.cluster = "cluster-2".to_owned();
    two.identity.uid = "uid-2".to_owned();
    assert_eq!(two.pass(&mut world).only_post(), WhyPost::Create);
    world.gossip();
    for _ in 0..3 {
        world.advance(100);
        assert!(one.pass(&mut world).is_quiet() && two.pass(&mut world).is_quiet());
    }
    assert_eq!(live(&world).len(), 2);
    two.change(|spec| spec.absence = Some(Absence::Deleted));
    two.pass(&mut world);
    assert_eq!(live(&world), [id]);
}

#[test]
fn case_49_an_object_of_the_same_name_adopts_and_the_sweep_leaves_it() {
    let (mut world, _, id) = settled();
    let mut again = Driver::new();
    again.identity.uid = "uid-2".to_owned();
    let live_now = |uid: Option<&str>, created_by: &str| match (uid, created_by) {
        (Some("uid-2"), _) | (_, "frontend/api") => Liveness::Wanted,
        _ => Liveness::Gone,
    };
    let sweep = orphans(&again.list(&world), "cluster-1", live_now, |_| false, 50, world.now);
    assert!(sweep.expire.is_empty());
    assert_eq!(again.pass(&mut world).only_post(), WhyPost::Update);
    assert_eq!(live(&world), std::slice::from_ref(&id));
    assert_eq!(world.live(0)[0].annotations[names::SILENCE_UID], "uid-2");
    assert_eq!(again.stored.silence_id, Some(id));
}

#[test]
fn case_55_without_annotations_a_crash_is_survived_by_created_by_and_equal_matchers() {
    let (mut world, mut driver) = (World::new(&[Version::Old; 2]), Driver::new());
    driver.run(&mut world, Faults { crash: Some(1), ..Faults::default() });
    // The matchers were written down before they were sent, so an edit after the crash leaves nothing behind.
    assert_eq!((driver.stored.matchers.len(), &driver.stored.silence_id), (2, &None));
    let mut edited = (world.clone(), driver.clone());
    assert!(driver.pass(&mut world).is_quiet());
    assert_eq!(live(&world), [driver.stored.silence_id.clone().unwrap()]);
    let (world, driver) = (&mut edited.0, &mut edited.1);
    driver.change(|spec| spec.matchers = vec![matcher("service", "other")]);
    assert_eq!(driver.pass(world).only_post(), WhyPost::Replace);
    assert_eq!(live(world), [driver.stored.silence_id.clone().unwrap()]);
    let gone = |_: Option<&str>, _: &str| Liveness::Gone;
    let sweep = orphans(&driver.list(world), "cluster-1", gone, |_| false, 100, world.now);
    assert_eq!((sweep.expire.len(), sweep.unproven), (0, 1));
}

#[test]
fn case_58_without_a_change_nothing_is_sent() {
    let (mut world, mut driver, _) = settled();
    let stored = driver.stored.clone();
    for _ in 0..30 {
        world.advance(10);
        world.gossip();
        assert!(driver.run(&mut world, Faults::default()).is_quiet());
    }
    assert_eq!(driver.stored, stored);
}

#[test]
fn case_59_created_by_changed_by_hand_is_restored_with_the_same_id() {
    let (mut world, mut driver, id) = settled();
    world.edit(0, &id, |draft| draft.created_by = "somebody".to_owned());
    world.gossip();
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Repair);
    assert_eq!((live(&world), world.live(0)[0].created_by.as_str()), (vec![id], "frontend/api"));
}

#[test]
fn a_silence_made_by_hand_is_taken_over_in_place_if_it_has_the_same_matchers() {
    let (mut world, mut driver) = three();
    let mut draft = by_hand(&driver, &world);
    draft.matchers.reverse();
    let id = world.post(1, &draft).unwrap();
    draft.matchers = vec![matcher("service", "other")];
    let other = world.make(1, &draft);
    world.gossip();
    let refusal =
        |driver: &Driver| adoption(&driver.identity, &driver.spec.matchers, &driver.list(&world), world.now);
    driver.identity.adopt = Some("nobody".to_owned());
    assert_eq!(refusal(&driver), Some(Adoption::Unknown));
    driver.identity.adopt = Some(other);
    assert_eq!(refusal(&driver), Some(Adoption::OtherMatchers));
    driver.identity.adopt = Some(id.clone());
    assert_eq!(refusal(&driver), None);
    // Deleted before it was taken over: it stays the hand's.
    let mut deleted = driver.clone();
    deleted.change(|spec| spec.absence = Some(Absence::Deleted));
    assert!(deleted.pass(&mut world).is_quiet());
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Update);
    let held = world.live(0).into_iter().find(|held| held.id == id).unwrap();
    assert_eq!((held.created_by.as_str(), held.comment.as_str()), ("frontend/api", "upgrade"));
    assert_eq!(held.annotations, driver.identity.annotations(&driver.wanted()));
    world.gossip();
    assert!(driver.pass(&mut world).is_quiet());
    // What usher keeps for one object is not given to another.
    let mut thief = Driver::new();
    (thief.identity.name, thief.identity.uid) = ("thief".to_owned(), "uid-2".to_owned());
    thief.identity.adopt = Some(id);
    let snapshot = thief.list(&world);
    let refused = adoption(&thief.identity, &thief.spec.matchers, &snapshot, world.now);
    assert_eq!(refused, Some(Adoption::Managed));
    assert_eq!(thief.pass(&mut world).only_post(), WhyPost::Create);
}

#[test]
fn a_writer_without_a_connection_is_passed_over_once() {
    let (mut world, mut driver) = three();
    let report: Report = driver.run(&mut world, Faults { refused: Some(1), ..Faults::default() });
    assert_eq!(report.posts, [(1, WhyPost::Create)]);
    assert_eq!(live(&world).len(), 1);
}
