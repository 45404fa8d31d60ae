//! Whatever happened, once it stops happening there is exactly one silence everywhere, or none, and peace.

use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::test_runner::Config;

use super::super::{Absence, Claim, Reason, Record, Step, next};
use super::driver::{BOUNDS, Driver, Faults};
use super::world::{Version, World, matcher};
use crate::names;
use crate::upstream::alertmanager::{Draft, Silence, State};

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    Wait(i64),
    Gossip,
    Pass(Faults),
    /// The process starts again.
    Restart,
    Cut(usize, bool),
    Up(usize, bool),
    Ready(usize, bool),
    Unlistable(usize, bool),
    RestartEmpty(usize),
    Hand(usize, Hand),
    Foreign(usize, u8),
    User(User),
}

/// Somebody edits our silence in an Alertmanager.
#[derive(Debug, Clone, Copy)]
enum Hand {
    Comment,
    End,
    Start,
    Matchers,
    CreatedBy,
    DropAnnotations,
    Expire,
}

/// The user edits the object.
#[derive(Debug, Clone, Copy)]
enum User {
    Comment(u8),
    Matchers(u8),
    Reorder,
    /// Minutes from now.
    Start(i64),
    End(i64),
    Suspend(bool),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let call = || prop::option::weighted(0.3, 1..4_usize);
    let faults = (call(), call(), call()).prop_map(|(crash, lost, refused)| Faults { crash, lost, refused });
    let hand = prop::sample::select(vec![
        Hand::Comment,
        Hand::End,
        Hand::Start,
        Hand::Matchers,
        Hand::CreatedBy,
        Hand::DropAnnotations,
        Hand::Expire,
    ]);
    let user = prop_oneof![
        (0..3_u8).prop_map(User::Comment),
        (0..3_u8).prop_map(User::Matchers),
        Just(User::Reorder),
        (-30..90_i64).prop_map(User::Start),
        (-5..300_i64).prop_map(User::End),
        any::<bool>().prop_map(User::Suspend),
    ];
    let sim = || 0..3_usize;
    let event = prop_oneof![
        3 => prop::sample::select(vec![1, 7, 40, 200]).prop_map(Event::Wait),
        3 => Just(Event::Gossip),
        6 => faults.prop_map(Event::Pass),
        1 => Just(Event::Restart),
        2 => (sim(), any::<bool>()).prop_map(|(sim, cut)| Event::Cut(sim, cut)),
        1 => (sim(), any::<bool>()).prop_map(|(sim, up)| Event::Up(sim, up)),
        1 => (sim(), any::<bool>()).prop_map(|(sim, ready)| Event::Ready(sim, ready)),
        1 => (sim(), any::<bool>()).prop_map(|(sim, fails)| Event::Unlistable(sim, fails)),
        1 => sim().prop_map(Event::RestartEmpty),
        3 => (sim(), hand).prop_map(|(sim, hand)| Event::Hand(sim, hand)),
        1 => (sim(), 0..3_u8).prop_map(|(sim, kind)| Event::Foreign(sim, kind)),
        3 => user.prop_map(Event::User),
    ];
    prop::collection::vec(event, 1..50)
}

fn versions() -> impl Strategy<Value = Vec<Version>> {
    let all = |version| (1..=3_usize).prop_map(move |many| vec![version; many]);
    let any = prop::sample::select(vec![Version::New, Version::Hidden, Version::Old]);
    prop_oneof![
        4 => all(Version::New),
        1 => all(Version::Hidden),
        2 => all(Version::Old),
        1 => prop::collection::vec(any, 1..=3),
    ]
}

/// Everything together.
struct Play {
    world: World,
    driver: Driver,
    /// Nothing took the proof away: then each silence that usher made is known for ever.
    proven: bool,
}

impl Play {
    fn happen(&mut self, event: Event) {
        let many = self.world.sims.len();
        match event {
            Event::Wait(seconds) => self.world.advance(seconds),
            Event::Gossip => self.world.gossip(),
            Event::Pass(faults) => _ = self.driver.run(&mut self.world, faults),
            Event::Restart => self.driver.forget(),
            Event::Cut(sim, cut) => self.world.sims[sim % many].cut = cut,
            Event::Up(sim, up) => self.world.sims[sim % many].up = up,
            Event::Ready(sim, ready) => self.world.sims[sim % many].ready = ready,
            Event::Unlistable(sim, fails) => self.world.sims[sim % many].unlistable = fails,
            Event::RestartEmpty(sim) => self.world.restart(sim % many),
            Event::Hand(sim, hand) => self.hand(sim % many, hand),
            Event::Foreign(sim, kind) => self.foreign(sim % many, kind),
            Event::User(user) => self.user(user),
        }
    }

    fn hand(&mut self, sim: usize, hand: Hand) {
        let held = self.world.live(sim).into_iter().find(|held| self.world.ours.contains(&held.id));
        let Some(Silence { id, annotations, .. }) = held else { return };
        let later = self.world.now + SignedDuration::from_mins(50);
        let end = later + SignedDuration::from_hours(1);
        let world = &mut self.world;
        _ = match hand {
            Hand::Comment => world.edit(sim, &id, |draft| draft.comment.push_str(" (edited)")),
            Hand::End => world.edit(sim, &id, |draft| draft.ends_at = end),
            Hand::Start => world.edit(sim, &id, |draft| (draft.starts_at, draft.ends_at) = (later, end)),
            Hand::Matchers => world.edit(sim, &id, |draft| draft.matchers.push(matcher("hand", "made"))),
            // Without annotations it would be foreign from then on.
            Hand::CreatedBy if annotations.is_empty() => return,
            Hand::CreatedBy => world.edit(sim, &id, |draft| draft.created_by = "somebody".to_owned()),
            Hand::DropAnnotations => {
                self.proven = false;
                world.edit(sim, &id, |draft| draft.annotations.clear())
            }
            Hand::Expire => {
                world.expire(sim, &id).unwrap();
                id
            }
        };
    }

    fn foreign(&mut self, sim: usize, kind: u8) {
        let keeps = self.world.sims[sim].version != Version::Old;
        let mut draft = Draft {
            id: None,
            matchers: vec![matcher("made", "by hand")],
            starts_at: self.world.now,
            ends_at: self.world.now + SignedDuration::from_hours(90),
            created_by: self.driver.identity.created_by(),
            comment: self.driver.spec.comment.clone(),
            annotations: std::collections::BTreeMap::new(),
        };
        match kind {
            0 => {
                draft.matchers.clone_from(&self.driver.spec.matchers);
                draft.created_by = "frontend/api-maintenance".to_owned();
            }
            1 if keeps => {
                draft.annotations = self.driver.identity.annotations(&self.driver.wanted());
                draft.annotations.insert(names::CLUSTER.to_owned(), "cluster-2".to_owned());
            }
            _ => {}
        }
        // Away from all other writes: made at the instant of one it would look like an edit of ours.
        self.world.advance(11);
        self.world.make(sim, &draft);
        self.world.advance(11);
    }

    fn user(&mut self, user: User) {
        let now = self.world.now;
        self.driver.change(|spec| match user {
            User::Comment(number) => spec.comment = format!("upgrade {number}"),
            User::Matchers(number) => {
                spec.matchers =
                    vec![matcher("service", &format!("api-{number}")), matcher("namespace", "frontend")];
            }
            User::Reorder => spec.matchers.reverse(),
            User::Start(minutes) => {
                spec.starts_at = whole(now + SignedDuration::from_mins(minutes));
                spec.ends_at = spec.ends_at.max(spec.starts_at + SignedDuration::from_hours(1));
            }
            User::End(minutes) => {
                spec.ends_at = whole(now + SignedDuration::from_mins(minutes));
                spec.starts_at = spec.starts_at.min(spec.ends_at - SignedDuration::from_mins(30));
            }
            User::Suspend(suspend) => spec.absence = suspend.then_some(Absence::Suspended),
        });
    }

    /// All faults stop; two push/pull intervals later there is peace.
    fn calm(&mut self) {
        for sim in &mut self.world.sims {
            (sim.up, sim.ready, sim.cut, sim.unlistable) = (true, true, false, false);
        }
        for _ in 0..8 {
            self.round();
        }
        // Where the clocks disagree about a beginning or an end there is no right and wrong.
        let edges = [self.driver.spec.starts_at, self.driver.spec.ends_at];
        while edges
            .iter()
            .any(|edge| self.world.now.duration_since(*edge).abs() < SignedDuration::from_secs(50))
        {
            self.round();
        }
    }

    fn round(&mut self) {
        self.world.gossip();
        let report = self.driver.pass(&mut self.world);
        let late = self.driver.now(&self.world) < self.driver.spec.ends_at
            && self.world.now + SignedDuration::from_secs(5) > self.driver.spec.ends_at;
        assert!(report.rejected.is_none() || late, "rejected: {report:?}");
        self.world.advance(40);
    }

    fn is_right(&self, silence: &Silence, keeps: bool) -> bool {
        let wanted = self.driver.wanted();
        let mut matchers = (silence.matchers.clone(), wanted.matchers.clone());
        matchers.0.sort();
        matchers.1.sort();
        let annotations = self.driver.identity.annotations(&wanted);
        matchers.0 == matchers.1
            && silence.comment == wanted.comment
            && silence.created_by == self.driver.identity.created_by()
            && silence.ends_at.as_second() == wanted.ends_at.as_second()
            && (!keeps || silence.annotations == annotations)
            && match silence.state {
                State::Pending => silence.starts_at.as_second() == wanted.starts_at.as_second(),
                _ => wanted.starts_at <= self.world.now,
            }
    }

    fn check(&mut self) {
        self.world.gossip();
        let present = self.driver.spec.absence.is_none() && self.driver.spec.ends_at > self.world.now;
        let expected = usize::from(present);
        let snapshot = self.driver.list(&self.world);
        let record = Record { current: true, ..self.driver.stored.clone() };
        let claim =
            Claim::new(&self.driver.identity, &record, &self.driver.spec.matchers, present, &snapshot);
        for sim in 0..self.world.sims.len() {
            let live = self.world.live(sim);
            let owned: Vec<&Silence> = live.iter().filter(|one| claim.owns(one)).collect();
            assert_eq!(owned.len(), expected, "instance {sim} holds {owned:#?}");
            let keeps = self.world.sims[sim].version == Version::New;
            for silence in owned {
                assert!(self.is_right(silence, keeps), "instance {sim} holds {silence:#?}");
                assert_eq!(Some(&silence.id), record.silence_id.as_ref());
            }
            if self.proven {
                let made = live.iter().filter(|one| self.world.ours.contains(&one.id));
                assert_eq!(made.count(), expected, "instance {sim} holds {live:#?}");
            }
            for (id, made) in &self.world.foreign {
                let held = self.world.sims[sim].silences.get(id);
                let same = held
                    .is_none_or(|held| (held.updated_at, held.ends_at) == (made.updated_at, made.ends_at));
                assert!(same, "a foreign silence was touched: {held:#?}");
            }
        }
        let step =
            next(&self.driver.desired(), &self.driver.identity, &record, &snapshot, self.world.now, BOUNDS);
        let Step::Nothing(outcome) = step else { panic!("no peace: {step:?}") };
        assert_eq!(outcome.synced_instances, outcome.total_instances);
        assert_eq!(outcome.duplicates, 0);
        let reasons: &[Reason] = match self.driver.spec.absence {
            Some(_) => &[Reason::Suspended],
            None if present => &[Reason::SilenceApplied, Reason::SilencePending],
            None => &[Reason::SilenceExpired],
        };
        assert!(reasons.contains(&outcome.reason), "{outcome:?}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 600, failure_persistence: None, ..Config::default() })]

    #[test]
    fn after_the_last_fault_there_is_exactly_one_silence_everywhere_or_none(
        versions in versions(),
        events in events(),
        skew in prop_oneof![Just(0), -3..=3_i64],
        delete in any::<bool>(),
    ) {
        let proven = versions.iter().all(|version| *version != Version::Old);
        let mut driver = Driver::new();
        driver.skew = SignedDuration::from_secs(skew);
        let mut play = Play { world: World::new(&versions), driver, proven };
        for event in events {
            play.happen(event);
        }
        play.calm();
        play.check();
        // Peace lasts: nothing is sent for as long as nothing happens.
        let report = play.driver.pass(&mut play.world);
        prop_assert!(report.is_quiet(), "{:?}", report);
        if delete {
            play.driver.spec.absence = Some(Absence::Suspended);
            play.driver.generation += 1;
            play.driver.pass(&mut play.world);
            play.check();
        }
    }
}

fn whole(at: jiff::Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_second(at.as_second()).unwrap()
}
