//! Performs the steps against the simulated Alertmanagers as the reconciler will, and fails where it is told to.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::super::{
    Absence, Blocked, Bounds, Desired, Failure, Identity, Instance, Outcome, Reach, Record, Snapshot, Step,
    Wanted, WhyExpire, WhyPost, next, shown,
};
use super::world::{Version, World, at, matcher};
use crate::upstream::alertmanager::{Matcher, Silence};

/// A snapshot is used again for this long.
const TTL: SignedDuration = SignedDuration::from_secs(10);
/// More steps than any pass may need.
const MANY: usize = 60;

pub(super) const BOUNDS: Bounds = Bounds { push_pull: Duration::from_mins(1) };

/// The object, as its user wrote it.
#[derive(Debug, Clone)]
pub(super) struct Spec {
    pub(super) matchers: Vec<Matcher>,
    pub(super) comment: String,
    pub(super) starts_at: Timestamp,
    pub(super) ends_at: Timestamp,
    pub(super) absence: Option<Absence>,
}

/// Where a pass fails, counted in calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Faults {
    /// The process dies after this call, before anything of it is written down.
    pub(super) crash: Option<usize>,
    /// This call is performed, and its answer gets lost.
    pub(super) lost: Option<usize>,
    /// This call finds no connection.
    pub(super) refused: Option<usize>,
}

/// What a pass did.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) posts: Vec<(usize, WhyPost)>,
    pub(super) expires: Vec<(usize, WhyExpire)>,
    pub(super) outcome: Option<Outcome>,
    pub(super) blocked: Option<Blocked>,
    pub(super) rejected: Option<u16>,
}

impl Report {
    pub(super) fn is_quiet(&self) -> bool {
        self.posts.is_empty() && self.expires.is_empty() && self.blocked.is_none() && self.rejected.is_none()
    }

    pub(super) fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().unwrap()
    }

    /// The only thing sent, and why.
    pub(super) fn only_post(&self) -> WhyPost {
        assert_eq!((self.posts.len(), self.expires.len()), (1, 0), "{self:?}");
        self.posts[0].1
    }
}

/// The reconciler of one object.
#[derive(Debug, Clone)]
pub(super) struct Driver {
    pub(super) identity: Identity,
    pub(super) spec: Spec,
    pub(super) generation: i64,
    /// What the status holds, and of which generation.
    pub(super) stored: Record,
    pub(super) observed: i64,
    /// How far usher's clock is ahead of the Alertmanagers'.
    pub(super) skew: SignedDuration,
    /// The shared snapshot, and when it was taken.
    snapshot: Option<(Timestamp, Snapshot)>,
}

impl Driver {
    pub(super) fn new() -> Self {
        let identity = Identity {
            namespace: "frontend".to_owned(),
            name: "api".to_owned(),
            uid: "uid-1".to_owned(),
            cluster: "cluster-1".to_owned(),
            adopt: None,
        };
        let spec = Spec {
            matchers: vec![matcher("service", "api"), matcher("namespace", "frontend")],
            comment: "upgrade".to_owned(),
            starts_at: at("2026-01-10T10:00:00Z"),
            ends_at: at("2026-01-10T12:00:00Z"),
            absence: None,
        };
        Self {
            identity,
            spec,
            generation: 1,
            stored: Record::default(),
            observed: 0,
            skew: SignedDuration::ZERO,
            snapshot: None,
        }
    }

    pub(super) fn wanted(&self) -> Wanted {
        let Spec { matchers, comment, starts_at, ends_at, .. } = self.spec.clone();
        Wanted { matchers, comment, starts_at, ends_at }
    }

    pub(super) fn desired(&self) -> Desired {
        match self.spec.absence {
            Some(absence) => Desired::Absent(absence, self.spec.matchers.clone()),
            None => Desired::Present(self.wanted()),
        }
    }

    /// The user changes the object.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Spec)) {
        change(&mut self.spec);
        self.generation += 1;
    }

    /// The process starts again: nothing is known but the status.
    pub(super) fn forget(&mut self) {
        self.snapshot = None;
    }

    /// What usher's clock says.
    pub(super) fn now(&self, world: &World) -> Timestamp {
        world.now + self.skew
    }

    pub(super) fn list(&self, world: &World) -> Snapshot {
        let instances = world.sims.iter().map(|sim| Instance {
            age: Duration::try_from(world.now.duration_since(sim.started_at)).ok(),
            keeps_annotations: match sim.version {
                Version::New => Some(true),
                Version::Hidden => None,
                Version::Old => Some(false),
            },
            ..Instance::new(sim.ready)
        });
        let mut snapshot = Snapshot::new(instances.collect());
        for sim in 0..world.sims.len() {
            self.list_one(&mut snapshot, world, sim);
        }
        snapshot
    }

    /// A pass without faults on fresh lists.
    pub(super) fn pass(&mut self, world: &mut World) -> Report {
        self.forget();
        self.run(world, Faults::default())
    }

    /// A pass.
    pub(super) fn run(&mut self, world: &mut World, faults: Faults) -> Report {
        let fresh = self.snapshot.as_ref().is_none_or(|(taken, _)| world.now.duration_since(*taken) >= TTL);
        let (taken, mut snapshot) = match self.snapshot.take() {
            Some(kept) if !fresh => kept,
            _ => (world.now, self.list(world)),
        };
        let mut record = Record { current: self.observed == self.generation, ..self.stored.clone() };
        let desired = self.desired();
        let mut report = Report::default();
        let mut calls = 0;
        for _ in 0..MANY {
            let step = next(&desired, &self.identity, &record, &snapshot, self.now(world), BOUNDS);
            if !matches!(step, Step::Nothing(_) | Step::Wait { .. }) {
                calls += 1;
                if faults.refused == Some(calls) {
                    let (Step::Post { instance, .. } | Step::Expire { instance, .. }) = &step else {
                        continue;
                    };
                    snapshot.fold_refused(*instance, Failure::Unavailable);
                    continue;
                }
            }
            let touched = match step {
                Step::Nothing(outcome) => {
                    record.silence_id.clone_from(&outcome.silence_id);
                    if let Desired::Present(wanted) = &desired {
                        record.matchers = wanted.matchers.iter().map(shown).collect();
                        record.ends_at = Some(wanted.ends_at);
                    }
                    report.outcome = Some(outcome);
                    self.store(record, taken, snapshot);
                    return report;
                }
                Step::Wait { why: Blocked::NotListed, .. } => {
                    for sim in 0..world.sims.len() {
                        if snapshot.instances()[sim].reach == Reach::NotAsked {
                            self.list_one(&mut snapshot, world, sim);
                        }
                    }
                    continue;
                }
                Step::Wait { why, outcome } => {
                    report.blocked = Some(why);
                    report.outcome = Some(outcome);
                    self.store(record, taken, snapshot);
                    return report;
                }
                Step::Post { instance, draft, why, record_first } => {
                    if record_first {
                        record.announce(&draft);
                        self.stored.announce(&draft);
                    }
                    report.posts.push((instance, why));
                    match world.post(instance, &draft) {
                        Ok(id) => {
                            world.ours.insert(id.clone());
                            if faults.lost != Some(calls) {
                                snapshot.fold_post(instance, &id, &draft, self.now(world));
                                record.posted(&id, &draft, why, self.now(world));
                            }
                        }
                        Err(404) => snapshot.fold_unknown(instance),
                        Err(code) => {
                            report.rejected = Some(code);
                            return report;
                        }
                    }
                    instance
                }
                Step::Expire { instance, id, why } => {
                    report.expires.push((instance, why));
                    let muted = self.muted_after_gossip(world);
                    match world.expire(instance, &id) {
                        Ok(()) if faults.lost == Some(calls) => {}
                        Ok(()) => snapshot.fold_expire(instance, &id, self.now(world)),
                        Err(_) => snapshot.fold_gone(instance, &id),
                    }
                    assert!(!world.foreign.contains_key(&id), "expired a foreign silence");
                    let unmuting = matches!(why, WhyExpire::Duplicate | WhyExpire::Replaced);
                    // What happened where nobody looked cannot be known.
                    if unmuting && fresh && world.sims.iter().all(|sim| sim.up) {
                        let left = self.muted_after_gossip(world);
                        assert!(muted.iter().all(|sim| left.contains(sim)), "unmuted: {muted:?} {left:?}");
                    }
                    instance
                }
            };
            if faults.crash == Some(calls) {
                return report;
            }
            if faults.lost == Some(calls) {
                snapshot.fold_lost(touched, Failure::Unavailable);
            }
        }
        panic!("no end of steps: {report:?}");
    }

    fn store(&mut self, record: Record, taken: Timestamp, snapshot: Snapshot) {
        (self.stored, self.observed) = (record, self.generation);
        self.snapshot = Some((taken, snapshot));
    }

    /// The same when everybody has heard of everything.
    fn muted_after_gossip(&self, world: &World) -> Vec<usize> {
        let mut later = world.clone();
        later.gossip();
        self.muted(&later)
    }

    /// The instances in reach on which a silence of ours with the wanted matchers mutes, or will.
    fn muted(&self, world: &World) -> Vec<usize> {
        let mutes = |sim: &usize| {
            world.live(*sim).iter().any(|silence| {
                let mut matchers = (silence.matchers.clone(), self.spec.matchers.clone());
                matchers.0.sort();
                matchers.1.sort();
                world.ours.contains(&silence.id) && matchers.0 == matchers.1
            })
        };
        (0..world.sims.len()).filter(|sim| world.sims[*sim].up).filter(mutes).collect()
    }

    fn list_one(&self, snapshot: &mut Snapshot, world: &World, position: usize) {
        let sim = &world.sims[position];
        if !sim.up {
            snapshot.failed(position, Failure::Unavailable);
        } else if sim.unlistable {
            // What the status names is read one by one.
            let known = |one: &Silence| self.stored.silence_id.as_ref() == Some(&one.id);
            let found = world.list(position).into_iter().filter(known).collect();
            snapshot.read(position, found, Failure::Unavailable);
        } else {
            snapshot.listed(position, world.list(position));
        }
    }
}
