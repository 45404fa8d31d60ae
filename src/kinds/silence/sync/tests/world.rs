//! Simulated Alertmanagers: ids, updates in place, expiry, retention and gossip as the real ones have them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::upstream::alertmanager::{Draft, Matcher, Silence, State};

/// How long an ended silence is kept.
pub(super) const RETENTION: SignedDuration = SignedDuration::from_hours(120);

/// What a version does with annotations, and whether it says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 0.34.
    New,
    /// 0.34 behind a proxy that hides the version.
    Hidden,
    /// 0.31.
    Old,
}

/// One instance.
#[derive(Debug, Clone)]
pub(super) struct Sim {
    pub(super) version: Version,
    pub(super) up: bool,
    pub(super) ready: bool,
    /// Cut off from the gossip.
    pub(super) cut: bool,
    /// Its list fails, single silences can be read.
    pub(super) unlistable: bool,
    /// The most it takes, ended ones included.
    pub(super) limit: usize,
    pub(super) started_at: Timestamp,
    pub(super) silences: BTreeMap<String, Silence>,
}

/// All instances, and the clock they share.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) sims: Vec<Sim>,
    pub(super) now: Timestamp,
    serial: u64,
    /// Ids that usher made, and what hands made of them.
    pub(super) ours: BTreeSet<String>,
    /// What hands made.
    pub(super) foreign: BTreeMap<String, Silence>,
}

pub(super) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(super) fn matcher(name: &str, value: &str) -> Matcher {
    Matcher { name: name.to_owned(), value: value.to_owned(), is_regex: false, is_equal: true }
}

fn state(silence: &Silence, now: Timestamp) -> State {
    if silence.ends_at <= now {
        State::Expired
    } else if silence.starts_at > now {
        State::Pending
    } else {
        State::Active
    }
}

impl World {
    pub(super) fn new(versions: &[Version]) -> Self {
        let now = at("2026-01-10T10:00:00Z");
        let started_at = at("2026-01-01T00:00:00Z");
        let sim = |version: &Version| Sim {
            version: *version,
            up: true,
            ready: true,
            cut: false,
            unlistable: false,
            limit: usize::MAX,
            started_at,
            silences: BTreeMap::new(),
        };
        let sims = versions.iter().map(sim).collect();
        Self { sims, now, serial: 0, ours: BTreeSet::new(), foreign: BTreeMap::new() }
    }

    pub(super) fn advance(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        for sim in &mut self.sims {
            sim.silences.retain(|_, silence| silence.ends_at + RETENTION > self.now);
        }
    }

    /// No two writes happen at the same instant.
    fn tick(&mut self) -> Timestamp {
        self.now += SignedDuration::from_millis(1);
        self.now
    }

    pub(super) fn list(&self, sim: usize) -> Vec<Silence> {
        let listed = self.sims[sim].silences.values().cloned();
        listed.map(|silence| Silence { state: state(&silence, self.now), ..silence }).collect()
    }

    /// The ids that an instance holds and that have not ended.
    pub(super) fn live(&self, sim: usize) -> Vec<Silence> {
        self.list(sim).into_iter().filter(|silence| silence.state != State::Expired).collect()
    }

    /// `POST /silences`: the id, or the status code.
    pub(super) fn post(&mut self, sim: usize, draft: &Draft) -> Result<String, u16> {
        let now = self.tick();
        if draft.starts_at >= draft.ends_at || draft.ends_at < now || draft.matchers.is_empty() {
            return Err(400);
        }
        let old = draft.id.as_ref().map(|id| self.sims[sim].silences.get(id).cloned().ok_or(404_u16));
        let old = old.transpose()?;
        let in_place = old.as_ref().is_some_and(|old| {
            old.matchers == draft.matchers
                && match state(old, now) {
                    State::Active => old.starts_at.as_second() == draft.starts_at.as_second(),
                    State::Pending => draft.starts_at >= now,
                    State::Expired => false,
                }
        });
        if !in_place && self.sims[sim].silences.len() >= self.sims[sim].limit {
            return Err(400);
        }
        let (id, starts_at) = match old {
            Some(old) if in_place => (old.id, draft.starts_at),
            old => {
                if let Some(old) = old {
                    self.expire_at(sim, &old.id, now);
                }
                self.serial += 1;
                // Neither in the order of creation nor in the reverse.
                (
                    format!("{:016x}", self.serial.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
                    draft.starts_at.max(now),
                )
            }
        };
        let keeps = self.sims[sim].version != Version::Old;
        let silence = Silence {
            id: id.clone(),
            matchers: draft.matchers.clone(),
            starts_at,
            ends_at: draft.ends_at,
            updated_at: now,
            created_by: draft.created_by.clone(),
            comment: draft.comment.clone(),
            annotations: if keeps { draft.annotations.clone() } else { BTreeMap::new() },
            state: State::Active,
        };
        self.sims[sim].silences.insert(id.clone(), silence);
        Ok(id)
    }

    /// `DELETE /silence/{id}`.
    pub(super) fn expire(&mut self, sim: usize, id: &str) -> Result<(), u16> {
        let now = self.tick();
        if !self.sims[sim].silences.contains_key(id) {
            return Err(404);
        }
        self.expire_at(sim, id, now);
        Ok(())
    }

    fn expire_at(&mut self, sim: usize, id: &str, now: Timestamp) {
        let silence = self.sims[sim].silences.get_mut(id).unwrap();
        if state(silence, now) != State::Expired {
            silence.starts_at = silence.starts_at.min(now);
            silence.ends_at = now;
            silence.updated_at = now;
        }
    }

    /// The instances that are not cut off exchange all they have; the newest of each id wins.
    pub(super) fn gossip(&mut self) {
        let mut newest: BTreeMap<String, Silence> = BTreeMap::new();
        for sim in self.sims.iter().filter(|sim| !sim.cut) {
            for (id, silence) in &sim.silences {
                let best = newest.entry(id.clone()).or_insert_with(|| silence.clone());
                if silence.updated_at > best.updated_at {
                    *best = silence.clone();
                }
            }
        }
        for sim in self.sims.iter_mut().filter(|sim| !sim.cut) {
            for (id, silence) in &newest {
                if sim.silences.get(id).is_none_or(|held| held.updated_at < silence.updated_at) {
                    let mut silence = silence.clone();
                    if sim.version == Version::Old {
                        silence.annotations.clear();
                    }
                    sim.silences.insert(id.clone(), silence);
                }
            }
        }
    }

    /// A hand edits a silence as the UI does, and keeps what it does not change.
    pub(super) fn edit(&mut self, sim: usize, id: &str, change: impl FnOnce(&mut Draft)) -> String {
        let held = self.sims[sim].silences[id].clone();
        let mut draft = Draft {
            id: Some(held.id),
            matchers: held.matchers,
            starts_at: held.starts_at,
            ends_at: held.ends_at,
            created_by: held.created_by,
            comment: held.comment,
            annotations: held.annotations,
        };
        change(&mut draft);
        let made = self.post(sim, &draft).unwrap();
        self.ours.insert(made.clone());
        made
    }

    /// A hand makes a silence of its own.
    pub(super) fn make(&mut self, sim: usize, draft: &Draft) -> String {
        let id = self.post(sim, draft).unwrap();
        self.foreign.insert(id.clone(), self.sims[sim].silences[&id].clone());
        id
    }

    /// The instance starts again with nothing.
    pub(super) fn restart(&mut self, sim: usize) {
        self.sims[sim].silences.clear();
        self.sims[sim].started_at = self.now;
    }
}
