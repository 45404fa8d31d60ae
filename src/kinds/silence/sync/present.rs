//! The steps towards one silence on every instance, in their order: end what mutes too early, create what is missing,
//! correct the one that stays, heal instances that are cut off, and only then remove what is too much: at no moment is
//! an instance that had the silence without one.

use std::cmp::Reverse;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::content::{Content, Wanted, are_shown, same_matchers, same_second};
use super::outcome::{Outcome, Reason};
use super::ownership::was_ended;
use super::plan::{Blocked, Owned, Pass, Step, WhyExpire, WhyPost};
use super::snapshot::{Instance, Reach, state_at};
use crate::upstream::alertmanager::{Draft, Silence, State};

/// While replication is awaited: the time since the last write up to which a wait applies, and the wait. Together
/// these look after 1, 2, 5 and 10 seconds, each counted from the look before.
const LOOKS: [(SignedDuration, Duration); 4] = [
    (SignedDuration::from_secs(1), Duration::from_secs(1)),
    (SignedDuration::from_secs(3), Duration::from_secs(2)),
    (SignedDuration::from_secs(8), Duration::from_secs(5)),
    (SignedDuration::from_secs(18), Duration::from_secs(10)),
];
/// And from then on.
const LATER: Duration = Duration::from_secs(30);
/// At its end an Alertmanager may take a moment to say that a silence is over.
const AFTER_END: SignedDuration = SignedDuration::from_secs(1);

/// A pass for a silence that should be there.
pub(super) struct Present<'a> {
    pass: &'a Pass<'a>,
    content: Content<'a>,
}

impl<'a> Present<'a> {
    pub(super) fn new(pass: &'a Pass<'a>, wanted: &'a Wanted) -> Self {
        let created_by = pass.identity.created_by();
        let annotations = pass.identity.annotations(wanted);
        Self { pass, content: Content { wanted, created_by, annotations } }
    }

    pub(super) fn step(&self) -> Step {
        if let Some(why) = self.pass.blocked() {
            return self.wait(why);
        }
        if let Some(step) = self.premature() {
            return step;
        }
        let Some(canonical) = self.canonical() else { return self.create() };
        self.correct(canonical)
            .or_else(|| self.heal(canonical))
            .or_else(|| self.replaced())
            .or_else(|| self.duplicate(canonical))
            .unwrap_or_else(|| Step::Nothing(self.outcome(Some(canonical))))
    }

    fn wanted(&self) -> &'a Wanted {
        self.content.wanted
    }

    fn instance(&self, position: usize) -> Option<&'a Instance> {
        self.pass.snapshot.instances().get(position)
    }

    fn wait(&self, why: Blocked) -> Step {
        let outcome =
            Outcome { reason: self.pass.failing(), next_look: None, ..self.outcome(self.canonical()) };
        Step::Wait { why, outcome }
    }

    /// The silences that the newest word of them says have not ended.
    fn live(&self) -> impl Iterator<Item = &'a Owned<'a>> {
        self.pass.owned.iter().filter(|owned| owned.live)
    }

    /// The one that stays: the recorded one, else one that is as it should be, else the oldest.
    fn canonical(&self) -> Option<&'a Owned<'a>> {
        self.live().min_by_key(|owned| {
            let recorded = self.pass.record.silence_id.as_deref() == Some(owned.id);
            (!recorded, !self.fits(owned.home, owned.newest), owned.newest.starts_at, owned.id)
        })
    }

    /// Is a copy on an instance as it should be?
    fn fits(&self, instance: usize, copy: &Silence) -> bool {
        let keeps = self.instance(instance).is_some_and(|one| one.keeps_annotations == Some(true));
        self.content.is_in(copy, state_at(copy, self.pass.now), keeps) && !self.is_premature(copy)
    }

    /// Does it mute although the time has not come? One that began when it should, or later, only shows that the
    /// instance's clock is ahead of ours.
    fn is_premature(&self, copy: &Silence) -> bool {
        let start = self.wanted().starts_at;
        start > self.pass.now
            && copy.starts_at.as_second() < start.as_second()
            && state_at(copy, self.pass.now) == State::Active
    }

    /// Ends what mutes too early, wherever it does: a beginning cannot be moved.
    fn premature(&self) -> Option<Step> {
        let mut found = false;
        for position in self.pass.reachable() {
            for (owned, _) in self.pass.held(position).filter(|(_, copy)| self.is_premature(copy)) {
                found = true;
                if self.pass.takes_writes(position) {
                    return Some(expire(position, owned, WhyExpire::Premature));
                }
            }
        }
        found.then(|| self.wait(Blocked::WriteFailed))
    }

    /// There is none: creates it, if that is certain.
    fn create(&self) -> Step {
        // An instance whose clock is ahead of ours has ended it on time, and would take no other.
        let ran_out = |owned: &Owned<'_>| same_second(owned.newest.ends_at, self.wanted().ends_at);
        if self.pass.owned.iter().any(ran_out) {
            let reason = Reason::SilenceExpired;
            let silence_id = self.pass.record.silence_id.clone();
            return Step::Nothing(Outcome { silence_id, reason, ..self.outcome(None) });
        }
        let instances = self.pass.snapshot.instances();
        // The copy of one that is not ready merges later and is then a duplicate; one that is ready must be asked.
        let ready = instances.iter().filter(|one| one.ready && one.reach != Reach::Listed);
        if let Some(failure) = ready.filter_map(Instance::failure).max() {
            return self.wait(Blocked::ListFailed(failure));
        }
        // When one refuses the next is tried, once.
        let refused = instances.iter().filter_map(|one| one.refused).count();
        let writers = (0..).zip(instances).filter(|(_, one)| one.ready && one.reach == Reach::Listed);
        let writer = writers.map(|(position, _)| position).find(|position| self.pass.takes_writes(*position));
        match writer {
            Some(writer) if refused < 2 => self.post(writer, None, self.why_create()),
            _ if refused > 0 => self.wait(Blocked::WriteFailed),
            _ => self.wait(Blocked::NotReady),
        }
    }

    fn why_create(&self) -> WhyPost {
        let recorded = self.pass.record.silence_id.as_deref().filter(|_| self.is_unchanged());
        match recorded.map(|id| self.pass.snapshot.newest(id)) {
            Some(None) => WhyPost::Recreate,
            Some(Some((_, ended))) if self.is_of_an_earlier_window(ended) => WhyPost::Create,
            Some(Some((_, ended))) if ended.ends_at < self.wanted().ends_at => WhyPost::Repair,
            _ => WhyPost::Create,
        }
    }

    /// Did it run out, by itself, before this one begins? Then it was a schedule's last window.
    fn is_of_an_earlier_window(&self, ended: &Silence) -> bool {
        ended.ends_at <= self.wanted().starts_at && !was_ended(ended)
    }

    /// Does the object want what it wanted when the record was written? Then whatever differs was changed by others.
    fn is_unchanged(&self) -> bool {
        let (record, wanted) = (self.pass.record, self.wanted());
        record.current
            && record.silence_id.is_some()
            && record.ends_at.is_none_or(|end| same_second(end, wanted.ends_at))
            && are_shown(&wanted.matchers, &record.matchers)
    }

    /// Makes the one that stays what it should be.
    fn correct(&self, canonical: &'a Owned<'a>) -> Option<Step> {
        if self.fits(canonical.home, canonical.newest) {
            return None;
        }
        let moves = |one: &Silence| !same_matchers(&one.matchers, &self.wanted().matchers);
        // Without annotations a duplicate is known by the recorded matchers only. They are about to change: it must
        // change before them, or nothing would tell whose it is.
        let mut others = self.live().filter(|owned| moves(canonical.newest) && owned.id != canonical.id);
        let unproven = others.find(|owned| owned.newest.annotations.is_empty() && moves(owned.newest));
        let holder = self.holder(unproven.unwrap_or(canonical));
        let Some((holder, copy)) = holder else { return Some(self.wait(Blocked::WriteFailed)) };
        let too_late =
            state_at(copy, self.pass.now) == State::Pending && self.wanted().starts_at < self.pass.now;
        let why = if unproven.is_some() {
            WhyPost::Align
        } else if self.is_unchanged() {
            WhyPost::Repair
        } else if moves(copy) || too_late {
            WhyPost::Replace
        } else {
            WhyPost::Update
        };
        Some(self.post(holder, Some(copy), why))
    }

    /// The instance to send a change of a silence to: others than its holders do not know the id.
    fn holder(&self, owned: &'a Owned<'a>) -> Option<(usize, &'a Silence)> {
        let copies = self.pass.snapshot.copies(owned.id);
        let live = copies.filter(|(position, copy)| {
            self.pass.takes_writes(*position) && state_at(copy, self.pass.now) != State::Expired
        });
        live.max_by_key(|(position, copy)| {
            let ready = self.instance(*position).is_some_and(|one| one.ready);
            (ready, copy.updated_at, *position == owned.home, Reverse(*position))
        })
        .map(|(position, copy)| (position, copy.as_ref()))
    }

    /// Gives the silence to an instance that should long have heard of it.
    fn heal(&self, canonical: &'a Owned<'a>) -> Option<Step> {
        let since = self.since_write(canonical);
        let position = self.unsynced().find(|position| {
            self.pass.takes_writes(*position)
                && self.instance(*position).is_some_and(|one| self.is_overdue(one, since))
        })?;
        // What it has of ours is brought up to date: another one beside it would only have to be removed again. What
        // has ended elsewhere is left to end here.
        let held = self.pass.held(position).filter(|(owned, _)| owned.live);
        let own = held.min_by_key(|(owned, copy)| (owned.id != canonical.id, copy.starts_at, owned.id));
        Some(self.post(position, own.map(|(_, copy)| copy), WhyPost::Heal))
    }

    /// The instances that answered and do not hold what they should.
    fn unsynced(&self) -> impl Iterator<Item = usize> {
        self.pass.reachable().filter(|position| !self.is_synced(*position))
    }

    fn is_synced(&self, position: usize) -> bool {
        self.pass.held(position).any(|(owned, copy)| owned.live && self.fits(position, copy))
    }

    fn since_write(&self, canonical: &Owned<'_>) -> SignedDuration {
        let last = self.pass.record.written_at.unwrap_or(Timestamp::MIN).max(canonical.newest.updated_at);
        self.pass.now.duration_since(last)
    }

    /// Is it certain that an instance without the silence will not hear of it? What it did not list it may have; and
    /// one that just started is still being told.
    fn is_overdue(&self, instance: &Instance, since: SignedDuration) -> bool {
        let bound = self.pass.bounds.replication();
        let young = |age: Duration| SignedDuration::try_from(age).is_ok_and(|age| age < bound);
        since > bound
            && instance.ready
            && instance.reach == Reach::Listed
            && !instance.settling
            && !instance.age.is_some_and(young)
    }

    /// Ends what has ended elsewhere, on an instance that did not hear of it and has the right one.
    fn replaced(&self) -> Option<Step> {
        let synced = self.pass.reachable().filter(|position| self.is_synced(*position));
        synced.filter(|position| self.pass.takes_writes(*position)).find_map(|position| {
            let (owned, _) = self.pass.held(position).find(|(owned, _)| !owned.live)?;
            Some(expire(position, owned, WhyExpire::Replaced))
        })
    }

    /// Ends what is too much, once every instance that answered has the one that stays.
    fn duplicate(&self, canonical: &'a Owned<'a>) -> Option<Step> {
        // It mutes without its annotations too, which instances before 0.32 lose on the way.
        let is_there = |(owned, copy): (&Owned<'_>, &Silence)| {
            owned.id == canonical.id && self.content.is_in(copy, state_at(copy, self.pass.now), false)
        };
        let everywhere = self.pass.reachable().all(|position| self.pass.held(position).any(is_there));
        let mut others = self.live().filter(|owned| everywhere && owned.id != canonical.id);
        others.find_map(|owned| {
            let (holder, _) = self.holder(owned)?;
            Some(expire(holder, owned, WhyExpire::Duplicate))
        })
    }

    /// A draft for an instance, made from the copy that it holds, if any.
    fn post(&self, instance: usize, copy: Option<&Silence>, why: WhyPost) -> Step {
        let wanted = self.wanted();
        let mut annotations = copy.map(|copy| copy.annotations.clone()).unwrap_or_default();
        annotations.extend(self.content.annotations.clone());
        // The id stays only if the order of the matchers does.
        let stored = copy.filter(|copy| same_matchers(&copy.matchers, &wanted.matchers));
        // And only if the beginning of what has begun does.
        let begun = copy.filter(|copy| {
            state_at(copy, self.pass.now) == State::Active || same_second(copy.starts_at, wanted.starts_at)
        });
        let draft = Draft {
            id: copy.map(|copy| copy.id.clone()),
            matchers: stored.map_or(&wanted.matchers, |copy| &copy.matchers).clone(),
            starts_at: begun.map_or(wanted.starts_at, |copy| copy.starts_at),
            ends_at: wanted.ends_at,
            created_by: self.content.created_by.clone(),
            comment: wanted.comment.clone(),
            annotations,
        };
        let keeps = self.instance(instance).is_some_and(|one| one.keeps_annotations == Some(true));
        let record_first =
            !keeps && why.is_recorded() && !are_shown(&draft.matchers, &self.pass.record.matchers);
        Step::Post { instance, draft, why, record_first }
    }

    fn outcome(&self, canonical: Option<&Owned<'_>>) -> Outcome {
        let total = self.pass.snapshot.instances().len();
        let unsynced: Vec<usize> = self.unsynced().collect();
        Outcome {
            silence_id: canonical.map(|canonical| canonical.id.to_owned()),
            synced_instances: self.pass.reachable().count() - unsynced.len(),
            total_instances: total,
            reason: self.reason(canonical, &unsynced),
            duplicates: self.live().count().saturating_sub(1),
            next_look: self.next_look(canonical, unsynced.is_empty()),
        }
    }

    fn reason(&self, canonical: Option<&Owned<'_>>, unsynced: &[usize]) -> Reason {
        let Some(canonical) = canonical else { return self.pass.failing() };
        let since = self.since_write(canonical);
        let lacking = || unsynced.iter().filter_map(|position| self.instance(*position));
        // Of what was not listed nothing is known, and what is not ready gets nothing.
        let away = self.pass.snapshot.instances().iter().any(|one| !one.is_reachable())
            || lacking().any(|one| !one.ready || one.reach != Reach::Listed);
        match state_at(canonical.newest, self.pass.now) {
            _ if away => Reason::PartiallySynced,
            _ if lacking().any(|one| self.is_overdue(one, since)) => Reason::ReplicationDegraded,
            State::Pending => Reason::SilencePending,
            State::Active | State::Expired => Reason::SilenceApplied,
        }
    }

    fn next_look(&self, canonical: Option<&Owned<'_>>, all_synced: bool) -> Option<Duration> {
        let (wanted, now) = (self.wanted(), self.pass.now);
        let until = |at: Timestamp| Duration::try_from(at.duration_since(now)).ok();
        let start = Some(wanted.starts_at).filter(|start| *start > now).and_then(until);
        let end = wanted.ends_at.checked_add(AFTER_END).ok().and_then(until);
        let unsettled = canonical.filter(|_| !all_synced || self.live().count() > 1);
        let replication = unsettled.map(|canonical| {
            let since = self.since_write(canonical);
            LOOKS.iter().find(|(until, _)| since < *until).map_or(LATER, |(_, wait)| *wait)
        });
        [start, end, replication].into_iter().flatten().min()
    }
}

fn expire(instance: usize, owned: &Owned<'_>, why: WhyExpire) -> Step {
    Step::Expire { instance, id: owned.id.to_owned(), why }
}
