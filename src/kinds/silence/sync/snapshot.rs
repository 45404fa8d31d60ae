//! What is known of one Alertmanager: its instances in the order of their ordinals, and the silences each of them holds.
//!
//! One list per instance fills it; our own writes are folded in at once, so that no pass acts on a list that is older
//! than its last write. The silences that may belong to one object are found without looking at the others. Expired
//! ones are kept: they tell a silence that somebody ended from one that never was.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::names;
use crate::upstream::alertmanager::{Draft, Silence, State};

/// Why an instance could not be listed, or did not take a write, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// No connection, no answer in time, 5xx, 503, 429.
    Unavailable,
    /// An answer that is not Alertmanager's.
    UnexpectedResponse,
    /// 401.
    AuthenticationFailed,
    /// 403.
    PermissionDenied,
    /// The secret with the credentials is missing or unreadable.
    CredentialsUnavailable,
    /// The instance wants a client certificate and there is none.
    ClientCertificateRequired,
    /// The instance's certificate is not trusted.
    TlsError,
    /// The instance listens on loopback only.
    NotReachableListenLocal,
    /// The URL in the annotation is not allowed.
    UrlNotAllowed,
}

/// What an instance said when it was asked for its silences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// It was not asked, or what it said is no longer true.
    NotAsked,
    /// It listed all its silences.
    Listed,
    /// It cannot list, but single silences were read by their ids: what is absent here is not known to be absent.
    Partial(Failure),
    /// It did not answer.
    Failed(Failure),
}

/// One instance of an Alertmanager.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Is the pod ready? (A URL that answers is.)
    pub ready: bool,
    /// What it said.
    pub reach: Reach,
    /// Is it still joining the gossip?
    pub settling: bool,
    /// For how long it has been running, where known.
    pub age: Option<Duration>,
    /// Does it keep annotations (0.32 and later)? Unknown until its version is known or some come back.
    pub keeps_annotations: Option<bool>,
    /// Why it did not take a write; nothing is sent to it again on the strength of this snapshot.
    pub refused: Option<Failure>,
}

impl Failure {
    /// Is it about who asks? Then another instance would say the same.
    pub fn is_about_the_asker(self) -> bool {
        matches!(self, Self::AuthenticationFailed | Self::PermissionDenied)
    }
}

impl Instance {
    /// An instance that was not asked yet.
    pub fn new(ready: bool) -> Self {
        Self {
            ready,
            reach: Reach::NotAsked,
            settling: false,
            age: None,
            keeps_annotations: None,
            refused: None,
        }
    }

    /// Did it answer, be it in part?
    pub fn is_reachable(&self) -> bool {
        matches!(self.reach, Reach::Listed | Reach::Partial(_))
    }

    /// Why it did not answer, or not in full.
    pub fn failure(&self) -> Option<Failure> {
        match self.reach {
            Reach::Partial(failure) | Reach::Failed(failure) => Some(failure),
            Reach::Listed | Reach::NotAsked => None,
        }
    }
}

/// The ids under each word, sorted.
type Index = HashMap<String, BTreeSet<Arc<str>>>;

/// What is known of one Alertmanager.
///
/// Every member that it should have is an instance of it, also one whose pod is missing (not ready, failed).
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    instances: Vec<Instance>,
    /// For each id a place per instance. Equal copies are one allocation.
    silences: HashMap<Arc<str>, Vec<Option<Arc<Silence>>>>,
    /// Both indexes only grow: an entry says "may", the silence itself decides.
    by_creator: Index,
    by_uid: Index,
}

impl Snapshot {
    /// A snapshot of instances that are yet to be listed.
    pub fn new(instances: Vec<Instance>) -> Self {
        Self { instances, ..Self::default() }
    }

    /// The instances, in the order of their ordinals.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// An instance listed its silences.
    pub fn listed(&mut self, instance: usize, silences: Vec<Silence>) {
        self.forget(instance);
        let annotated = silences.iter().any(|silence| !silence.annotations.is_empty());
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.reach = Reach::Listed;
            if annotated && instance.keeps_annotations.is_none() {
                instance.keeps_annotations = Some(true);
            }
        }
        for silence in silences {
            self.insert(instance, silence);
        }
    }

    /// An instance that cannot list was asked for one more id, and knows it.
    pub fn found(&mut self, instance: usize, silence: Silence) {
        self.insert(instance, silence);
    }

    /// An instance cannot list, but answered about single ids; `found` are those that it knows.
    pub fn read(&mut self, instance: usize, found: Vec<Silence>, why: Failure) {
        self.listed(instance, found);
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.reach = Reach::Partial(why);
        }
    }

    /// An instance did not answer.
    pub fn failed(&mut self, instance: usize, why: Failure) {
        self.forget(instance);
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.reach = Reach::Failed(why);
        }
    }

    /// An instance took a draft and answered with an id.
    pub fn fold_post(&mut self, instance: usize, id: &str, draft: &Draft, now: Timestamp) {
        let replaced = draft.id.as_deref();
        if let Some(old) = replaced.filter(|old| *old != id) {
            self.fold_expire(instance, old, now);
        }
        // Alertmanager lets nothing begin in the past, but keeps the beginning of what it updates in place.
        let starts_at = if replaced == Some(id) { draft.starts_at } else { draft.starts_at.max(now) };
        let keeps = self.instances.get(instance).is_some_and(|known| known.keeps_annotations == Some(true));
        let silence = Silence {
            id: id.to_owned(),
            matchers: draft.matchers.clone(),
            starts_at,
            ends_at: draft.ends_at,
            updated_at: self.stamp(id, now),
            created_by: draft.created_by.clone(),
            comment: draft.comment.clone(),
            // Those of an instance that may not keep them must not pass for some that came back.
            annotations: if keeps { draft.annotations.clone() } else { BTreeMap::new() },
            state: if starts_at > now { State::Pending } else { State::Active },
        };
        self.insert(instance, silence);
    }

    /// An instance expired a silence.
    pub fn fold_expire(&mut self, instance: usize, id: &str, now: Timestamp) {
        let Some(held) = self.copy(instance, id).filter(|held| state_at(held, now) != State::Expired) else {
            return;
        };
        let mut silence = Silence::clone(held);
        silence.starts_at = silence.starts_at.min(now);
        silence.ends_at = now;
        silence.updated_at = self.stamp(id, now);
        silence.state = State::Expired;
        self.insert(instance, silence);
    }

    /// An instance does not know an id that it is said to hold, and took no draft for it (404): it lost what it had,
    /// and the lists are older than that. All must be listed again.
    pub fn fold_unknown(&mut self, instance: usize) {
        self.silences.clear();
        for known in &mut self.instances {
            known.reach = Reach::NotAsked;
        }
        // Should it list the id again and still not know it, asking would never end.
        self.fold_refused(instance, Failure::UnexpectedResponse);
    }

    /// An instance had nothing to expire under an id (404).
    pub fn fold_gone(&mut self, instance: usize, id: &str) {
        if let Some(slot) = self.silences.get_mut(id).and_then(|copies| copies.get_mut(instance)) {
            *slot = None;
        }
    }

    /// A write certainly did not reach an instance (no connection): what it holds is still known.
    pub fn fold_refused(&mut self, instance: usize, why: Failure) {
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.refused = Some(why);
        }
    }

    /// Whether an instance took a write is not known (no answer, 5xx): it must be listed again before anything else.
    pub fn fold_lost(&mut self, instance: usize, why: Failure) {
        self.forget(instance);
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.refused = Some(why);
            instance.reach = Reach::NotAsked;
        }
    }

    /// An instance does not take requests.
    pub fn not_ready(&mut self, instance: usize) {
        if let Some(instance) = self.instances.get_mut(instance) {
            instance.ready = false;
        }
    }

    /// The copy of a silence that an instance holds.
    pub fn copy(&self, instance: usize, id: &str) -> Option<&Arc<Silence>> {
        self.silences.get(id)?.get(instance)?.as_ref()
    }

    /// The copies of a silence, each with its instance.
    pub fn copies(&self, id: &str) -> impl Iterator<Item = (usize, &Arc<Silence>)> {
        let copies = self.silences.get(id).map(Vec::as_slice).unwrap_or_default();
        copies.iter().enumerate().filter_map(|(instance, copy)| Some((instance, copy.as_ref()?)))
    }

    /// The copy that wins when the instances next exchange what they hold. Of equally new ones the most telling: on
    /// the way through an older instance annotations get lost.
    pub fn newest(&self, id: &str) -> Option<(usize, &Arc<Silence>)> {
        self.copies(id).max_by_key(|(instance, copy)| {
            let keeps = self.instances.get(*instance).is_some_and(|one| one.keeps_annotations == Some(true));
            (copy.updated_at, !copy.annotations.is_empty(), keeps, Reverse(*instance))
        })
    }

    /// All ids.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.silences.keys().map(AsRef::as_ref)
    }

    /// The ids that may be of this creator or carry this uid, and those named, sorted.
    pub fn candidates<'a>(
        &'a self,
        created_by: &str,
        uid: &str,
        named: impl IntoIterator<Item = &'a str>,
    ) -> BTreeSet<&'a str> {
        let creator = self.by_creator.get(created_by).into_iter().flatten();
        let uid = self.by_uid.get(uid).into_iter().flatten();
        creator.chain(uid).map(AsRef::as_ref).chain(named).collect()
    }

    fn insert(&mut self, instance: usize, silence: Silence) {
        let places = self.instances.len();
        let known = self.silences.get_key_value(silence.id.as_str());
        let id: Arc<str> = known.map_or_else(|| silence.id.as_str().into(), |(id, _)| Arc::clone(id));
        let copies = self.silences.entry(Arc::clone(&id)).or_insert_with(|| vec![None; places]);
        let shared = copies.iter().flatten().find(|other| ***other == silence).cloned();
        let silence = shared.unwrap_or_else(|| Arc::new(silence));
        if let Some(uid) = silence.annotations.get(names::SILENCE_UID) {
            enter(&mut self.by_uid, uid, &id);
        }
        enter(&mut self.by_creator, &silence.created_by, &id);
        if let Some(place) = copies.get_mut(instance) {
            *place = Some(silence);
        }
    }

    fn forget(&mut self, instance: usize) {
        self.silences.retain(|_, copies| {
            if let Some(place) = copies.get_mut(instance) {
                *place = None;
            }
            copies.iter().any(Option::is_some)
        });
    }

    /// When a write of now happened, on the instances' clock: it is newer than all that is known of the id, even if
    /// their clock is ahead of ours.
    fn stamp(&self, id: &str, now: Timestamp) -> Timestamp {
        let tick = SignedDuration::from_millis(1);
        let newest = self.newest(id).and_then(|(_, copy)| copy.updated_at.checked_add(tick).ok());
        newest.map_or(now, |newest| newest.max(now))
    }
}

fn enter(index: &mut Index, word: &str, id: &Arc<str>) {
    match index.get_mut(word) {
        Some(ids) => _ = ids.insert(Arc::clone(id)),
        None => _ = index.insert(word.to_owned(), BTreeSet::from([Arc::clone(id)])),
    }
}

/// The state of a silence that was listed some time ago. It only moves forward from the one that Alertmanager named,
/// whose clock need not be ours.
pub fn state_at(silence: &Silence, now: Timestamp) -> State {
    match silence.state {
        State::Expired => State::Expired,
        _ if silence.ends_at <= now => State::Expired,
        State::Pending if silence.starts_at > now => State::Pending,
        State::Active | State::Pending => State::Active,
    }
}
