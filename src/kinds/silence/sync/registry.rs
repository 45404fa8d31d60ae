//! The Alertmanagers that usher speaks to: for each one its instances, their clients, and what they were last seen to hold.
//!
//! One list per instance is shared by all Silences. It is taken anew when it is older than the reader wants; what usher
//! itself wrote since is folded in, also into a list that was under way meanwhile, so that nobody acts on a list older than
//! its own last write.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::Record;
use super::member::{Answer, Member, PROBE, ask, put_together};
use super::outcome::Reason;
use super::plan::Bounds;
use super::snapshot::{Failure, Reach, Snapshot};
use super::tally::Tally;
use super::target::{Caution, Finder, Target, Unreachable};
use crate::observe::metrics::Metrics;
use crate::reconcile::Context;
use crate::settings::AlertmanagerSettings;
use crate::upstream::alertmanager::{Alertmanager as Api, Draft, Matcher};
use crate::upstream::http::Timeouts;
use crate::view::Key;
use crate::view::alerts::Listed;
use crate::view::records::Alertmanager;

/// A list is good for so long, unless somebody waits for something to appear in it.
const LIST_TTL: Duration = Duration::from_secs(10);
/// The number of muted alerts is no reason to write more often.
const ALERTS_EVERY: Duration = Duration::from_mins(5);
/// Older lists are of no use, be it that an instance does not answer.
const OUTDATED: Duration = Duration::from_secs(30);
/// How long a pass waits for instances that did not answer the last time.
const BRIEFLY: Duration = Duration::from_secs(1);
/// A list of thousands takes its time: no more than this part of it is spent on listing while somebody waits.
const LISTING_SHARE: u32 = 8;
/// Two watches of the same objects are not further apart than this.
const HEARD_WITHIN: SignedDuration = SignedDuration::from_secs(15);

/// How long a list is good: no longer than until everything is compared again.
pub fn list_ttl(settings: &AlertmanagerSettings) -> Duration {
    LIST_TTL.min(settings.resync)
}

/// All Alertmanagers.
#[derive(Debug, Default)]
pub struct Registry {
    known: Mutex<HashMap<Key, Arc<Known>>>,
    /// The objects, counted.
    pub tally: Tally,
    /// The Alertmanagers whose sweep holds back: how many silences would go, of how many.
    suspended: Mutex<BTreeMap<Key, (usize, usize)>>,
    /// When the number of muted alerts was last told, by uid.
    alerts_told: Mutex<HashMap<String, Instant>>,
    /// The ends that were told beforehand, by uid.
    ends_told: Mutex<HashMap<String, Timestamp>>,
}

impl Registry {
    /// Whether the sweep of an Alertmanager holds back.
    pub fn suspend(&self, namespace: &str, name: &str, suspended: Option<(usize, usize)>) {
        let key = (namespace.to_owned(), name.to_owned());
        let mut all = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        match suspended {
            Some(counts) => _ = all.insert(key, counts),
            None => _ = all.remove(&key),
        }
    }

    /// What is not as it should be, for `/statusz`.
    pub fn troubles(&self) -> Vec<String> {
        let all = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |(key, counts): (&Key, &(usize, usize))| {
            let ((namespace, name), (would, of)) = (key, counts);
            format!("SweepSuspended: {would} of {of} silences of {namespace}/{name} have no Silence")
        };
        all.iter().map(told).collect()
    }

    /// Forgets an object that is gone.
    pub fn forget(&self, uid: &str, metrics: &Metrics) {
        self.tally.forget(uid, metrics);
        self.alerts_told.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
        self.ends_told.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }

    /// Was this end of an object not told yet?
    pub fn may_tell_end(&self, uid: &str, end: Timestamp) -> bool {
        let mut told = self.ends_told.lock().unwrap_or_else(PoisonError::into_inner);
        told.insert(uid.to_owned(), end) != Some(end)
    }

    /// May the status of an object change for the number of muted alerts alone?
    pub fn may_tell_alerts(&self, uid: &str) -> bool {
        let mut told = self.alerts_told.lock().unwrap_or_else(PoisonError::into_inner);
        let may = told.get(uid).is_none_or(|at| at.elapsed() >= ALERTS_EVERY);
        if may {
            told.insert(uid.to_owned(), Instant::now());
        }
        may
    }

    /// One of them.
    pub fn get(&self, namespace: &str, name: &str) -> Arc<Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry((namespace.to_owned(), name.to_owned())).or_default())
    }

    /// Was one of them spoken to?
    pub fn knows(&self, namespace: &str, name: &str) -> bool {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(&(namespace.to_owned(), name.to_owned()))
    }

    /// Forgets what Alertmanagers hold: another replica leads now, and what it writes is not told here. A list that is
    /// still under way ends in what nobody looks at any more.
    pub fn resign(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Forgets those that are gone.
    pub fn retain(&self, exists: impl Fn(&Key) -> bool) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| exists(key));
        self.suspended.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| exists(key));
    }
}

/// One Alertmanager.
#[derive(Debug, Default)]
pub struct Known {
    /// Held while lists are under way, so that one reader lists for all.
    listing: Arc<tokio::sync::Mutex<()>>,
    state: Mutex<State>,
}

/// What is known of it.
#[derive(Debug, Default)]
pub struct State {
    members: Vec<Member>,
    /// Why it cannot be spoken to at all.
    pub unreachable: Option<Unreachable>,
    /// What its instances hold.
    pub snapshot: Snapshot,
    /// When the lists were begun, and when they were over.
    listed: Option<Instant>,
    over: Option<Instant>,
    /// How long they took.
    took: Duration,
    /// Did an instance fail to answer? Then the next lists are not waited for.
    is_failing: bool,
    /// What was written since, to be folded into lists that were begun before.
    writes: Vec<(Instant, Write)>,
    /// What was written for objects whose status does not say so yet, and for which generation, by uid.
    pub records: HashMap<String, (Record, Option<i64>)>,
    /// How long replication may take.
    pub bounds: Option<Bounds>,
    /// How long ended silences are kept.
    pub retention: Duration,
    /// The last failures, for messages: an instance and what it said.
    pub trouble: Option<String>,
    /// What was refused by its content, by uid of the object.
    pub rejections: HashMap<String, Rejection>,
    /// What its owner was warned of.
    cautions: Vec<Caution>,
    /// What its owner is to be warned of.
    untold: Vec<Caution>,
}

/// A silence that an Alertmanager refused: it is not sent again until something changes.
#[derive(Debug, Clone)]
pub struct Rejection {
    matchers: Vec<Matcher>,
    comment: String,
    ends_at: Timestamp,
    spec_hash: u64,
    /// When.
    pub at: Instant,
    /// Why, in one word.
    pub reason: Reason,
    /// Why, for people.
    pub message: String,
}

impl Rejection {
    /// The refusal of a draft by an Alertmanager of this spec.
    pub fn new(draft: &Draft, spec_hash: u64, reason: Reason, message: String) -> Self {
        let Draft { matchers, comment, ends_at, .. } = draft.clone();
        Self { matchers, comment, ends_at, spec_hash, at: Instant::now(), reason, message }
    }

    /// Would this draft be the same again?
    pub fn is_of(&self, draft: &Draft, spec_hash: u64) -> bool {
        self.spec_hash == spec_hash
            && self.matchers == draft.matchers
            && self.comment == draft.comment
            && self.ends_at == draft.ends_at
    }
}

/// A write of usher's own.
#[derive(Debug, Clone)]
pub enum Write {
    /// A draft that was taken.
    Posted(usize, String, Draft, Timestamp),
    /// A silence that was ended.
    Expired(usize, String, Timestamp),
    /// A silence that was not there.
    Gone(usize, String),
    /// A write that certainly did not arrive, and why.
    Refused(usize, Failure),
    /// A write that may have arrived, and why that is not known.
    Lost(usize, Failure),
    /// The instance has lost what it held.
    Unknown(usize),
}

impl State {
    /// Forgets an object that is gone.
    pub fn forget(&mut self, uid: &str) {
        self.records.remove(uid);
        self.rejections.remove(uid);
    }

    /// Forgets the objects that went without a word: stripped of their finalizer, or while this replica did not lead.
    /// What was written a moment ago may be of an object that the asker has not heard of yet.
    pub fn retain(&mut self, exists: impl Fn(&str) -> bool, now: Timestamp) {
        let is_new =
            |record: &Record| record.written_at.is_some_and(|at| now.duration_since(at) < HEARD_WITHIN);
        self.records.retain(|uid, (record, _)| is_new(record) || exists(uid));
        self.rejections.retain(|uid, rejection| rejection.at.elapsed() < PROBE || exists(uid));
    }

    /// Folds a write in.
    pub fn fold(&mut self, write: Write) {
        apply(&mut self.snapshot, &write);
        self.writes.push((Instant::now(), write));
    }

    /// The client of an instance, and its name.
    pub fn api(&self, instance: usize) -> Option<(Api, String)> {
        let member = self.members.get(instance)?;
        Some((member.api.as_ref().ok()?.clone(), member.place.name.clone()))
    }

    /// What its owner is to be warned of; the caller does so.
    pub fn take_cautions(&mut self) -> Vec<Caution> {
        std::mem::take(&mut self.untold)
    }

    /// How old the lists are.
    pub fn age(&self) -> Duration {
        self.listed.map_or(Duration::MAX, |listed| listed.elapsed())
    }

    /// How long ago anybody was asked: who has waited for an answer that did not come need not do so again.
    fn idle(&self) -> Duration {
        let age = self.age();
        self.over.filter(|_| self.is_failing).map_or(age, |over| age.min(over.elapsed()))
    }

    /// Are the lists too old to conclude anything from them, although new ones are under way?
    pub fn is_outdated(&self) -> bool {
        self.is_failing && self.age() > OUTDATED
    }

    /// The names of the instances.
    pub fn names(&self) -> Vec<&str> {
        self.members.iter().map(|member| member.place.name.as_str()).collect()
    }
}

fn apply(snapshot: &mut Snapshot, write: &Write) {
    match write {
        Write::Posted(instance, id, draft, at) => snapshot.fold_post(*instance, id, draft, *at),
        Write::Expired(instance, id, at) => snapshot.fold_expire(*instance, id, *at),
        Write::Gone(instance, id) => snapshot.fold_gone(*instance, id),
        Write::Refused(instance, why) => snapshot.fold_refused(*instance, *why),
        Write::Lost(instance, why) => snapshot.fold_lost(*instance, *why),
        Write::Unknown(instance) => snapshot.fold_unknown(*instance),
    }
}

/// A write that is under way. Given up before its answer, it may have arrived, and is told so.
#[derive(Debug)]
pub struct Sending<'a> {
    known: &'a Known,
    instance: Option<usize>,
}

impl Sending<'_> {
    /// There is an answer, whatever it says.
    pub fn answered(mut self) {
        self.instance = None;
    }
}

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        if let Some(instance) = self.instance {
            self.known.state().fold(Write::Lost(instance, Failure::Unavailable));
        }
    }
}

impl Known {
    /// A write to an instance begins.
    pub fn sending(&self, instance: usize) -> Sending<'_> {
        Sending { known: self, instance: Some(instance) }
    }

    /// What is known now.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the instances that cannot list for one silence that they may hold: the answer is the same for everybody,
    /// so each object asks for its own.
    pub async fn look_up(&self, id: &str) {
        let unlisted: Vec<(usize, Api)> = {
            let state = self.state();
            let instances = state.snapshot.instances().iter().enumerate();
            let partial = instances.filter(|(_, one)| matches!(one.reach, Reach::Partial(_)));
            let unknown = partial.filter(|(position, _)| state.snapshot.copy(*position, id).is_none());
            unknown.filter_map(|(position, _)| Some((position, state.api(position)?.0))).collect()
        };
        for (position, api) in unlisted {
            if let Ok(Some(silence)) = api.get(id).await {
                let mut state = self.state();
                // Meanwhile it may have been listed, or its place be another's.
                let instance = state.snapshot.instances().get(position);
                if instance.is_some_and(|one| matches!(one.reach, Reach::Partial(_))) {
                    state.snapshot.found(position, silence);
                }
            }
        }
    }

    /// Lists the instances, unless somebody did so a short while ago. Who wants a list that is newer than usual, but not
    /// one of now, does not wait for another who lists. Nobody waits long for instances that did not answer the last time:
    /// the Silences of other Alertmanagers are next in the queue.
    pub async fn refresh(
        self: &Arc<Self>,
        alertmanager: &Arc<Alertmanager>,
        context: &Context,
        oldest: Duration,
    ) {
        let usual = list_ttl(&context.settings.alertmanager);
        let fresh = |state: &State| {
            let least = state.took.saturating_mul(LISTING_SHARE).min(LIST_TTL);
            state.idle() <= if oldest.is_zero() { oldest } else { oldest.max(least) }
        };
        if fresh(&self.state()) {
            return;
        }
        let is_failing = self.state().is_failing;
        let is_fair = |state: &State| state.is_failing || oldest < usual && state.age() <= usual;
        let listing = match Arc::clone(&self.listing).try_lock_owned() {
            Ok(listing) => listing,
            Err(_) if !oldest.is_zero() && is_fair(&self.state()) => return,
            Err(_) => Arc::clone(&self.listing).lock_owned().await,
        };
        if fresh(&self.state()) {
            return;
        }
        let (known, alertmanager) = (Arc::clone(self), Arc::clone(alertmanager));
        let (settings, view, client) =
            (Arc::clone(&context.settings), Arc::clone(&context.view), context.client.0.clone());
        let metrics = Arc::clone(&context.metrics);
        let listing = async move {
            let _listing = listing;
            let finder = Finder { settings: &settings, view: &view, client: Some(&client) };
            known.list(&alertmanager, &finder, &metrics).await;
        };
        if oldest.is_zero() || !is_failing {
            return listing.await;
        }
        let _ = tokio::time::timeout(BRIEFLY, tokio::spawn(listing)).await;
    }

    async fn list(&self, alertmanager: &Alertmanager, finder: &Finder<'_>, metrics: &Metrics) {
        let settings = &finder.settings.alertmanager;
        let began = Instant::now();
        let target = finder.find(alertmanager).await;
        let timeouts = Timeouts { connect: settings.connect_timeout, request: settings.timeout };
        let before = self.state().members.clone();
        let target = match target {
            Ok(target) => target,
            Err(unreachable) => {
                let mut state = self.state();
                state.unreachable = Some(unreachable);
                state.is_failing = false;
                state.snapshot = Snapshot::default();
                state.listed = Some(began);
                return;
            }
        };
        let members = target.places.iter().map(|place| {
            let known = before.iter().find(|member| member.place.endpoint == place.endpoint);
            if let Some(member) = known {
                return member.clone().at(place.clone());
            }
            Member::new(place.clone(), timeouts)
        });
        let members: Vec<Member> = members.collect();
        // Those that it should have and that are not there count, too.
        let missing = target.total.saturating_sub(members.len());
        let asked = futures::future::join_all(members.into_iter().map(ask)).await;
        for error in
            asked.iter().filter_map(|(member, answer)| answer.error().filter(|_| member.was_tried(began)))
        {
            metrics.silence.failed(error.label());
        }
        let is_failing = asked.iter().any(|(_, answer)| matches!(answer, Answer::Failed(_)));
        let (snapshot, members, trouble) = put_together(asked, missing);

        let metadata = &alertmanager.metadata;
        let key = (metadata.namespace.clone(), metadata.name.clone());
        let oldest = members.iter().filter_map(Member::release).min();
        let is_whole = members.iter().all(|member| member.release().is_some());
        finder.view.lists.set(key, Listed { silences: snapshot.ids().count(), oldest }, is_whole);
        let mut state = self.state();
        let news = target.cautions.iter().filter(|caution| !state.cautions.contains(caution));
        let news: Vec<Caution> = news.copied().collect();
        state.untold.extend(news);
        state.cautions.clone_from(&target.cautions);
        state.snapshot = snapshot;
        state.members = members;
        state.unreachable = None;
        state.trouble = trouble;
        state.listed = Some(began);
        state.over = Some(Instant::now());
        state.took = began.elapsed();
        state.is_failing = is_failing;
        state.settle(&target, began);
    }
}

impl State {
    /// What was written while the lists were under way holds; what was written before is in them.
    fn settle(&mut self, target: &Target, began: Instant) {
        self.bounds = Some(Bounds { push_pull: target.push_pull });
        self.retention = target.retention;
        self.writes.retain(|(at, write)| {
            // Whether an instance takes writes the list tells better; what may have arrived meanwhile it does not.
            *at >= began && !matches!(write, Write::Refused(..))
        });
        for (_, write) in &self.writes {
            apply(&mut self.snapshot, write);
        }
    }
}
