//! The acceptance cases about beginnings, ends and recurring windows, by their numbers.

use super::super::{Absence, Reason, WhyExpire, WhyPost};
use super::cases::{live, settled, three};
use super::driver::Driver;
use super::world::{RETENTION, at};
use crate::upstream::alertmanager::State;

#[test]
fn case_38_at_its_end_nothing_is_sent_and_after_the_retention_the_id_is_cleared() {
    let (mut world, mut driver, id) = settled();
    world.advance(2 * 3600);
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    let outcome = report.outcome();
    assert_eq!((outcome.reason, outcome.silence_id.as_ref()), (Reason::SilenceExpired, Some(&id)));
    assert_eq!((outcome.synced_instances, outcome.reason.is_ready()), (3, true));
    world.advance(RETENTION.as_secs());
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    assert_eq!(report.outcome().silence_id, None);
    // Moving the end to the future makes a new one.
    driver.change(|spec| spec.ends_at = at("2026-02-01T00:00:00Z"));
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Create);
}

#[test]
fn case_38_a_pending_one_moves_with_its_id_and_gets_a_new_one_when_it_begins_at_once() {
    let (mut world, mut driver) = three();
    driver.spec.starts_at = at("2026-01-10T11:00:00Z");
    let report = driver.pass(&mut world);
    assert_eq!(report.outcome().reason, Reason::SilencePending);
    let id = driver.stored.silence_id.clone();
    driver.change(|spec| spec.starts_at = at("2026-01-10T11:30:00Z"));
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Update);
    assert_eq!((&driver.stored.silence_id, world.live(0)[0].state), (&id, State::Pending));
    driver.change(|spec| spec.starts_at = at("2026-01-10T09:00:00Z"));
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Replace);
    assert_ne!(driver.stored.silence_id, id);
    assert_eq!(world.live(0)[0].state, State::Active);
    // It mutes although it should not yet: ended, and a pending one made.
    driver.change(|spec| spec.starts_at = at("2026-01-10T11:30:00Z"));
    let report = driver.pass(&mut world);
    assert_eq!(report.expires, [(0, WhyExpire::Premature)]);
    assert_eq!(report.posts, [(0, WhyPost::Create)]);
    assert_eq!(world.live(0).iter().map(|one| one.state).collect::<Vec<_>>(), [State::Pending]);
}

#[test]
fn cases_63_and_64_a_schedule_keeps_the_window_or_the_next_one_and_never_two() {
    let (mut world, mut driver) = three();
    let window = |driver: &mut Driver, day: i8| {
        // Another window is no other generation.
        driver.spec.absence = None;
        driver.spec.starts_at = at(&format!("2026-01-{day}T02:00:00Z"));
        driver.spec.ends_at = at(&format!("2026-01-{day}T04:00:00Z"));
    };
    driver.spec.absence = Some(Absence::Scheduled);
    let report = driver.pass(&mut world);
    assert!(report.is_quiet());
    assert_eq!((report.outcome().reason, report.outcome().reason.is_ready()), (Reason::Scheduled, true));
    let mut last = None;
    for day in 11..15 {
        window(&mut driver, day);
        let report = driver.pass(&mut world);
        assert_eq!(report.only_post(), WhyPost::Create, "another window is no drift");
        assert_eq!(report.outcome().reason, Reason::SilencePending);
        assert!(report.outcome().next_look.is_some());
        world.gossip();
        // usher is away over the start.
        let start = driver.spec.starts_at;
        world.advance(start.duration_since(world.now).as_secs() + 60);
        assert_eq!(world.live(1)[0].state, State::Active);
        let report = driver.pass(&mut world);
        assert!(report.is_quiet());
        assert_eq!(report.outcome().reason, Reason::SilenceApplied);
        assert_ne!(driver.stored.silence_id, last);
        last = driver.stored.silence_id.clone();
        assert_eq!(live(&world).len(), 1);
        world.advance(2 * 3600);
        assert!(live(&world).is_empty());
    }
    driver.spec.absence = Some(Absence::Expired);
    assert!(driver.pass(&mut world).is_quiet());
}

#[test]
fn case_64_created_inside_a_window_it_mutes_at_once_until_the_windows_end() {
    let (mut world, mut driver) = three();
    (driver.spec.starts_at, driver.spec.ends_at) = (at("2026-01-10T09:00:00Z"), at("2026-01-10T10:30:00Z"));
    driver.pass(&mut world);
    let held = world.live(0).remove(0);
    assert_eq!((held.state, held.ends_at), (State::Active, driver.spec.ends_at));
}

#[test]
fn case_65_an_edited_schedule_replaces_the_pending_one_and_resuming_gives_the_rest() {
    let (mut world, mut driver) = three();
    (driver.spec.starts_at, driver.spec.ends_at) = (at("2026-01-10T20:00:00Z"), at("2026-01-10T22:00:00Z"));
    driver.pass(&mut world);
    world.gossip();
    driver.change(|spec| {
        (spec.starts_at, spec.ends_at) = (at("2026-01-10T10:30:00Z"), at("2026-01-10T12:30:00Z"));
    });
    driver.pass(&mut world);
    world.gossip();
    assert_eq!(live(&world).len(), 1);
    assert_eq!(world.live(2)[0].starts_at, driver.spec.starts_at);
    world.advance(3600);
    driver.change(|spec| spec.absence = Some(Absence::Suspended));
    let report = driver.pass(&mut world);
    assert_eq!((report.outcome().reason, report.outcome().synced_instances), (Reason::Suspended, 3));
    assert!(live(&world).is_empty());
    driver.change(|spec| spec.absence = None);
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Create);
    assert_eq!(world.live(0)[0].ends_at, driver.spec.ends_at);
}

#[test]
fn case_66_an_alertmanager_that_restarts_empty_during_a_window_gets_the_rest_of_it() {
    let (mut world, mut driver, _) = settled();
    for sim in 0..3 {
        world.restart(sim);
    }
    assert_eq!(driver.pass(&mut world).only_post(), WhyPost::Recreate);
    let held = world.live(0).remove(0);
    assert_eq!((held.starts_at, held.ends_at), (world.now, driver.spec.ends_at));
}
