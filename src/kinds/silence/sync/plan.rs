//! The next step towards what an Alertmanager should hold for one object.
//!
//! Guarantees: nothing is created before every ready instance was listed; a failed list is never taken for "no
//! silences"; only what is proven to be the object's own is touched; each step, once folded into the snapshot, makes
//! the next answer another one, so that asking again and again comes to an end.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::content::Wanted;
use super::outcome::{Outcome, Reason};
use super::ownership::{Claim, Identity, Record};
use super::present::Present;
use super::snapshot::{Failure, Instance, Reach, Snapshot, state_at};
use crate::upstream::alertmanager::{Draft, Matcher, Silence, State};

/// What an Alertmanager should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Desired {
    /// This silence; with a schedule the current window's, else the next one's.
    Present(Wanted),
    /// No silence, and why. The matchers are those that the object has (none where they cannot be told): they help to
    /// recognise what was sent.
    Absent(Absence, Vec<Matcher>),
}

/// Why there should be no silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Its end has come.
    Expired,
    /// The next window of its schedule is too far away.
    Scheduled,
    /// The object is suspended.
    Suspended,
    /// The guard refuses the object, for this Alertmanager or altogether.
    Refused,
    /// The Alertmanager no longer selects it.
    Deselected,
    /// The object is being deleted.
    Deleted,
}

/// How long replication may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The interval in which instances exchange all they have.
    pub push_pull: Duration,
}

impl Bounds {
    /// From here on an instance without the silence is taken for cut off. Normally a few seconds are enough.
    pub(super) fn replication(self) -> SignedDuration {
        SignedDuration::try_from(self.push_pull.saturating_mul(2)).unwrap_or(SignedDuration::MAX)
    }
}

/// What to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// Nothing is left to do.
    Nothing(Outcome),
    /// Send a draft to an instance.
    Post {
        /// The instance.
        instance: usize,
        /// What to send.
        draft: Draft,
        /// Why.
        why: WhyPost,
        /// The instance may not keep annotations: before the draft is sent the status must announce it
        /// ([`Record::announce`]), or nothing would prove after a crash and an edit whose silence this is.
        record_first: bool,
    },
    /// Expire a silence on an instance; 404 is as good.
    Expire {
        /// The instance.
        instance: usize,
        /// The silence.
        id: String,
        /// Why.
        why: WhyExpire,
    },
    /// Nothing may be done until more is known.
    Wait {
        /// What stands in the way.
        why: Blocked,
        /// How things are, as far as known.
        outcome: Outcome,
    },
}

/// Why something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyPost {
    /// There was none.
    Create,
    /// The object says something else than before; the id stays.
    Update,
    /// The same, and Alertmanager makes a new id of it.
    Replace,
    /// Somebody changed or ended the silence in Alertmanager.
    Repair,
    /// No instance knows the recorded silence any more.
    Recreate,
    /// The instance is cut off from the others, or lost what it had.
    Heal,
    /// A duplicate whose only proof is the record, before the record changes.
    Align,
}

impl WhyPost {
    /// Is the silence that comes back the one for the status? Of the others the status knows nothing.
    pub fn is_recorded(self) -> bool {
        !matches!(self, Self::Heal | Self::Align)
    }

    /// A word for metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Repair => "repair",
            Self::Recreate => "recreate",
            Self::Heal => "heal",
            Self::Align => "align",
        }
    }

    /// The event that tells it, where there is something to tell.
    pub fn event(self) -> Option<&'static str> {
        match self {
            Self::Repair => Some("DriftRepaired"),
            Self::Recreate => Some("SilenceRecreated"),
            Self::Heal => Some("ReplicationDegraded"),
            Self::Create | Self::Update | Self::Replace | Self::Align => None,
        }
    }
}

/// Why something is expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyExpire {
    /// Another silence of the object is on every instance.
    Duplicate,
    /// It was expired or replaced elsewhere, and this instance did not hear of it.
    Replaced,
    /// It mutes already, and should not yet.
    Premature,
    /// The object should have none.
    Absent(Absence),
}

impl WhyExpire {
    /// A word for metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Duplicate => "duplicate",
            Self::Replaced => "replaced",
            Self::Premature => "premature",
            Self::Absent(Absence::Expired) => "expired",
            Self::Absent(Absence::Scheduled) => "scheduled",
            Self::Absent(Absence::Suspended) => "suspended",
            Self::Absent(Absence::Refused) => "refused",
            Self::Absent(Absence::Deselected) => "deselected",
            Self::Absent(Absence::Deleted) => "deleted",
        }
    }
}

/// What stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocked {
    /// A ready instance has not been listed: list it and ask again.
    NotListed,
    /// Instances could not be listed, and without their lists nothing may be concluded.
    ListFailed(Failure),
    /// No instance is ready.
    NotReady,
    /// The instances that could take the write did not: list again later.
    WriteFailed,
}

/// Says what to do next.
///
/// # Expected Flow
/// Perform the step, fold its answer into the snapshot ([`Snapshot::fold_post`] and its neighbours) and into the record
/// ([`Record::posted`]), and ask again until the answer is [`Step::Nothing`] or [`Step::Wait`], or a draft is rejected.
pub fn next(
    desired: &Desired,
    identity: &Identity,
    record: &Record,
    snapshot: &Snapshot,
    now: Timestamp,
    bounds: Bounds,
) -> Step {
    let (wanted, absence, matchers) = match desired {
        // Alertmanager takes nothing that ends in the past.
        Desired::Present(wanted) if wanted.ends_at <= now => (None, Absence::Expired, &wanted.matchers),
        Desired::Present(wanted) => (Some(wanted), Absence::Expired, &wanted.matchers),
        Desired::Absent(absence, matchers) => (None, *absence, matchers),
    };
    let claim = Claim::new(identity, record, matchers, wanted.is_some(), snapshot);
    let pass = Pass { identity, record, snapshot, now, bounds, owned: owned(&claim, snapshot, now) };
    match wanted {
        Some(wanted) => Present::new(&pass, wanted).step(),
        None => pass.absent(absence),
    }
}

/// A silence of the object.
#[derive(Debug)]
pub(super) struct Owned<'a> {
    pub(super) id: &'a str,
    /// The instance that holds the newest copy.
    pub(super) home: usize,
    pub(super) newest: &'a Silence,
    /// Does the newest copy say that it has not ended? Others may not have heard yet.
    pub(super) live: bool,
}

/// One question.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) identity: &'a Identity,
    pub(super) record: &'a Record,
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: Timestamp,
    pub(super) bounds: Bounds,
    pub(super) owned: Vec<Owned<'a>>,
}

fn owned<'a>(claim: &Claim<'a>, snapshot: &'a Snapshot, now: Timestamp) -> Vec<Owned<'a>> {
    let ids = claim.candidates(snapshot).into_iter();
    ids.filter_map(|id| {
        let (home, newest) = snapshot.newest(id)?;
        let live = state_at(newest, now) != State::Expired;
        claim.owns(newest).then_some(Owned { id, home, newest, live })
    })
    .collect()
}

impl<'a> Pass<'a> {
    /// The positions of the instances that answered.
    pub(super) fn reachable(&self) -> impl Iterator<Item = usize> {
        let instances = self.snapshot.instances().iter().enumerate();
        instances.filter(|(_, instance)| instance.is_reachable()).map(|(position, _)| position)
    }

    /// The object's silences that an instance holds and takes for not ended.
    pub(super) fn held(&self, instance: usize) -> impl Iterator<Item = (&Owned<'a>, &'a Silence)> {
        self.owned.iter().filter_map(move |owned| {
            let copy = self.snapshot.copy(instance, owned.id)?;
            (state_at(copy, self.now) != State::Expired).then_some((owned, copy.as_ref()))
        })
    }

    /// May something be sent there? Not where a write failed; and nowhere when one was refused for who asks.
    pub(super) fn takes_writes(&self, instance: usize) -> bool {
        let instances = self.snapshot.instances();
        let takes = instances.get(instance).is_some_and(|one| one.is_reachable() && one.refused.is_none());
        takes && !instances.iter().filter_map(|one| one.refused).any(Failure::is_about_the_asker)
    }

    /// What forbids any conclusion at all.
    pub(super) fn blocked(&self) -> Option<Blocked> {
        let instances = self.snapshot.instances();
        if instances.iter().any(|one| one.ready && one.reach == Reach::NotAsked) {
            return Some(Blocked::NotListed);
        }
        if instances.iter().any(Instance::is_reachable) {
            return None;
        }
        Some(self.failure().map_or(Blocked::NotReady, Blocked::ListFailed))
    }

    /// The worst that an instance answered, to a list or to a write.
    fn failure(&self) -> Option<Failure> {
        let instances = self.snapshot.instances().iter();
        instances.flat_map(|one| one.failure().into_iter().chain(one.refused)).max()
    }

    /// The reason of a binding about which nothing better can be said.
    pub(super) fn failing(&self) -> Reason {
        self.failure().map_or(Reason::AlertmanagerUnavailable, Reason::from)
    }

    /// Every silence of the object goes, on every instance that holds it: one that is cut off must not be left out,
    /// and one that already heard does not mind.
    fn absent(&self, absence: Absence) -> Step {
        if let Some(why) = self.blocked() {
            return Step::Wait { why, outcome: self.emptied(absence, true) };
        }
        let held =
            || self.reachable().flat_map(|instance| self.held(instance).map(move |held| (instance, held)));
        if let Some((instance, (owned, _))) = held().find(|(instance, _)| self.takes_writes(*instance)) {
            return Step::Expire { instance, id: owned.id.to_owned(), why: WhyExpire::Absent(absence) };
        }
        if held().next().is_some() {
            return Step::Wait { why: Blocked::WriteFailed, outcome: self.emptied(absence, true) };
        }
        let unlisted = self.snapshot.instances().iter().find_map(|instance| match instance.reach {
            Reach::Partial(failure) => Some(failure),
            _ => None,
        });
        match unlisted {
            Some(failure) => {
                Step::Wait { why: Blocked::ListFailed(failure), outcome: self.emptied(absence, true) }
            }
            None => Step::Nothing(self.emptied(absence, false)),
        }
    }

    fn emptied(&self, absence: Absence, waiting: bool) -> Outcome {
        let instances = self.snapshot.instances();
        let synced = self.reachable().filter(|position| {
            let listed = instances.get(*position).is_some_and(|one| one.reach == Reach::Listed);
            listed && self.held(*position).next().is_none()
        });
        // What has run out needs no call, and so no instance that answers it.
        let ran_out = absence == Absence::Expired && self.record.ends_at.is_none_or(|end| end <= self.now);
        // After its retention an Alertmanager forgets the id.
        let all_listed = instances.iter().all(|instance| instance.reach == Reach::Listed);
        let known = |id: &&String| !all_listed || self.snapshot.copies(id).next().is_some();
        Outcome {
            silence_id: self.record.silence_id.as_ref().filter(known).cloned(),
            synced_instances: synced.count(),
            total_instances: instances.len(),
            reason: if waiting && !ran_out { self.failing() } else { absence.into() },
            duplicates: 0,
            next_look: None,
        }
    }
}
