//! The other objects, as far as rules look at them.
//!
//! One [`View`] per door: filled by watches in a cluster ([`cluster`]), by a directory in `--standalone`, by the file
//! set in `usher check`. A shelf that is not filled yet is *unknown*, and each rule says what it does then. Shelves
//! hold trimmed records, never whole objects, and no secret value ever enters one.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::watch;

pub mod alerts;
pub mod cluster;
pub mod files;
pub mod records;
pub mod secrets;

use records::{
    Account, AlertingRule, Alertmanager, Contact, LokiStack, MaintenanceWindow, Monitor, MonitorGroup,
    Namespace, Pod, Prometheus, PrometheusAgent, RecordingRule, ScrapeClass, Silence, SlackIntegration,
};

use secrets::Secret;

/// Namespace and name; the namespace of cluster-scoped objects is empty.
pub type Key = (String, String);

/// Something that records are looked up by: a hash of a word and its parts. Two meanings could share a hash, so readers
/// that must be sure compare what they find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Term(u64);

impl Term {
    /// The term of a word and its parts.
    pub fn new(word: &str, parts: &[&str]) -> Self {
        let mut hasher = DefaultHasher::new();
        (word, parts).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// This term and another, in whatever order they come.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

/// A resource of the API, as a watch needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version that is read.
    pub version: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// The resource name.
    pub plural: &'static str,
    /// Does it live in a namespace?
    pub namespaced: bool,
    /// Only objects with these labels are watched; empty is all of them.
    pub labels: &'static str,
}

impl Resource {
    /// `group/version`, or `version` in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_owned()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// What is kept of one kind of object.
pub trait Record: Sized + PartialEq + Send + Sync + 'static {
    /// Where the objects come from.
    const RESOURCE: Resource;

    /// Takes what is kept out of an object.
    ///
    /// # Errors
    /// When the object does not have the shape of its kind.
    fn from_object(object: &Value) -> Result<Self, serde_json::Error>;

    /// What the record is looked up by, so that no rule walks the whole shelf.
    fn terms(&self) -> Vec<Term> {
        Vec::new()
    }
}

/// How much a shelf knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Nothing yet: rules treat the shelf as unknown.
    Waiting,
    /// Everything.
    Synced,
    /// Everything, because the kind does not exist here; filled when it appears.
    Absent,
    /// Nothing, and that will not change by waiting: usher may not read the kind.
    Denied,
}

impl Standing {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::Synced, Self::Absent, Self::Denied];

    /// A word for metrics.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Synced => "synced",
            Self::Absent => "absent",
            Self::Denied => "denied",
        }
    }
}

#[derive(Debug)]
struct State<R> {
    standing: Standing,
    /// Index and objects share the keys.
    objects: BTreeMap<Arc<Key>, Arc<R>>,
    index: HashMap<Term, Keys>,
}

/// The objects that have a term, in their order. Most terms belong to one object, and a set of one costs half a KiB.
#[derive(Debug)]
enum Keys {
    One(Arc<Key>),
    Many(BTreeSet<Arc<Key>>),
}

impl Keys {
    fn iter(&self) -> impl Iterator<Item = &Key> {
        let (one, many) = match self {
            Self::One(key) => (Some(key), None),
            Self::Many(keys) => (None, Some(keys)),
        };
        one.into_iter().chain(many.into_iter().flatten()).map(AsRef::as_ref)
    }

    fn insert(&mut self, key: Arc<Key>) {
        match self {
            Self::One(known) if *known == key => {}
            Self::One(known) => *self = Self::Many([Arc::clone(known), key].into()),
            Self::Many(keys) => drop(keys.insert(key)),
        }
    }

    /// Takes a key away; says whether none is left.
    fn remove(&mut self, key: &Key) -> bool {
        match self {
            Self::One(known) => **known == *key,
            Self::Many(keys) => {
                keys.remove(key);
                keys.is_empty()
            }
        }
    }
}

/// The records of one kind. Every reading method gives `None` while the shelf is unknown.
#[derive(Debug)]
pub struct Shelf<R> {
    state: RwLock<State<R>>,
    /// Counts changes of what is kept, for those who judge again when something changes.
    changes: watch::Sender<u64>,
}

impl<R> Default for Shelf<R> {
    fn default() -> Self {
        Self { state: RwLock::new(State::empty()), changes: watch::Sender::new(0) }
    }
}

impl<R: Record> Shelf<R> {
    fn bump(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn read<T>(&self, look: impl FnOnce(&State<R>) -> T) -> Option<T> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        matches!(state.standing, Standing::Synced | Standing::Absent).then(|| look(&state))
    }

    /// Is the shelf filled?
    pub fn is_known(&self) -> bool {
        self.read(|_| ()).is_some()
    }

    /// One record.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Option<Arc<R>>> {
        self.read(|state| state.objects.get(&(namespace.to_owned(), name.to_owned())).cloned())
    }

    /// The records that have a term, in the order of their keys.
    pub fn with_term(&self, term: Term) -> Option<Vec<Arc<R>>> {
        self.read(|state| {
            let keys = state.index.get(&term);
            keys.into_iter().flat_map(Keys::iter).filter_map(|key| state.objects.get(key).cloned()).collect()
        })
    }

    /// The first record with a term that fits; nothing else is copied.
    pub fn find(&self, term: Term, fits: impl Fn(&R) -> bool) -> Option<Arc<R>> {
        self.read(|state| {
            let keys = state.index.get(&term);
            keys.into_iter()
                .flat_map(Keys::iter)
                .filter_map(|key| state.objects.get(key))
                .find(|record| fits(record))
                .cloned()
        })
        .flatten()
    }

    /// All records, in the order of their keys.
    pub fn all(&self) -> Option<Vec<Arc<R>>> {
        self.read(|state| state.objects.values().cloned().collect())
    }
}

/// The filling side of a shelf, the same for every kind.
pub trait Feed: Send + Sync {
    /// What belongs on this shelf.
    fn resource(&self) -> &'static Resource;
    /// Puts or replaces an object.
    ///
    /// # Errors
    /// When the object does not have the shape of its kind; the shelf is unchanged.
    fn put(&self, object: &Value) -> Result<(), serde_json::Error>;
    /// Takes an object away.
    fn remove(&self, key: &Key);
    /// Empties the shelf and fills it, in one step for readers. Objects that do not decode are left out.
    fn replace(&self, objects: &mut dyn Iterator<Item = Value>, standing: Standing);
    /// A replacement that is filled object by object, so that a list need not be held whole.
    fn fresh(&self) -> Box<dyn Filling + '_>;

    /// How much the shelf knows.
    fn standing(&self) -> Standing;
    /// Is the object there?
    fn has(&self, key: &Key) -> bool;
    /// Counts changes of what is kept.
    fn changes(&self) -> watch::Receiver<u64>;
    /// The number of objects.
    fn len(&self) -> usize;
    /// Is there no object?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A shelf being filled anew; readers see the old content until it is done.
pub trait Filling: Send {
    /// Adds an object. One that does not decode is left out.
    fn add(&mut self, object: &Value);
    /// Readers see the new content from here on.
    fn done(self: Box<Self>, standing: Standing);
}

struct Fresh<'a, R> {
    shelf: &'a Shelf<R>,
    state: State<R>,
}

impl<R: Record> Filling for Fresh<'_, R> {
    fn add(&mut self, object: &Value) {
        let key = key_of(object);
        if let Ok(record) = R::from_object(object) {
            self.state.insert(key, record);
        } else {
            // The decoder's text may quote what a user wrote, so only the name is logged.
            let (namespace, name) = key;
            tracing::warn!(kind = R::RESOURCE.kind, namespace, name, "left out: does not decode");
        }
    }

    fn done(self: Box<Self>, standing: Standing) {
        let Self { shelf, state: fresh } = *self;
        let fresh = State { standing, ..fresh };
        let mut state = shelf.state.write().unwrap_or_else(PoisonError::into_inner);
        let changed = state.standing != fresh.standing || state.objects != fresh.objects;
        *state = fresh;
        drop(state);
        if changed {
            shelf.bump();
        }
    }
}

impl<R> State<R> {
    fn empty() -> Self {
        Self { standing: Standing::Waiting, objects: BTreeMap::new(), index: HashMap::new() }
    }
}

impl<R: Record> State<R> {
    fn insert(&mut self, key: Key, record: R) {
        self.take(&key);
        let key = Arc::new(key);
        for term in record.terms() {
            match self.index.entry(term) {
                Entry::Occupied(mut keys) => keys.get_mut().insert(Arc::clone(&key)),
                Entry::Vacant(place) => drop(place.insert(Keys::One(Arc::clone(&key)))),
            }
        }
        self.objects.insert(key, Arc::new(record));
    }

    fn take(&mut self, key: &Key) {
        let Some(old) = self.objects.remove(key) else { return };
        for term in old.terms() {
            if self.index.get_mut(&term).is_some_and(|keys| keys.remove(key)) {
                self.index.remove(&term);
            }
        }
    }
}

impl<R: Record> Feed for Shelf<R> {
    fn resource(&self) -> &'static Resource {
        const { &R::RESOURCE }
    }

    fn put(&self, object: &Value) -> Result<(), serde_json::Error> {
        let record = R::from_object(object)?;
        let key = key_of(object);
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if state.objects.get(&key).is_none_or(|known| **known != record) {
            state.insert(key, record);
            drop(state);
            self.bump();
        }
        Ok(())
    }

    fn remove(&self, key: &Key) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).take(key);
        self.bump();
    }

    fn replace(&self, objects: &mut dyn Iterator<Item = Value>, standing: Standing) {
        let mut filling = self.fresh();
        for object in objects {
            filling.add(&object);
        }
        filling.done(standing);
    }

    fn fresh(&self) -> Box<dyn Filling + '_> {
        Box::new(Fresh { shelf: self, state: State::empty() })
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn standing(&self) -> Standing {
        self.state.read().unwrap_or_else(PoisonError::into_inner).standing.clone()
    }

    fn has(&self, key: &Key) -> bool {
        self.state.read().unwrap_or_else(PoisonError::into_inner).objects.contains_key(key)
    }

    fn len(&self) -> usize {
        self.state.read().unwrap_or_else(PoisonError::into_inner).objects.len()
    }
}

/// Namespace and name of a raw object.
pub fn key_of(object: &Value) -> Key {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (text("namespace"), text("name"))
}

macro_rules! shelves {
    ($($(#[$doc:meta])* $field:ident: $record:ident,)*) => {
        /// All shelves of one door.
        #[derive(Debug, Default)]
        pub struct View {
            $($(#[$doc])* pub $field: Shelf<$record>,)*
            /// What Alertmanagers said they have.
            pub alerts: alerts::Alerts,
            /// What they showed when they were last listed.
            pub lists: alerts::Lists,
        }

        impl View {
            /// Every shelf, for whoever fills them.
            pub fn feeds(&self) -> Vec<&dyn Feed> {
                vec![$(&self.$field),*]
            }
        }
    };
}

shelves! {
    /// Owned.
    silences: Silence,
    /// Owned.
    scrape_classes: ScrapeClass,
    /// Owned.
    accounts: Account,
    /// Owned.
    contacts: Contact,
    /// Owned.
    monitors: Monitor,
    /// Owned.
    maintenance_windows: MaintenanceWindow,
    /// Owned.
    monitor_groups: MonitorGroup,
    /// Owned.
    slack_integrations: SlackIntegration,
    /// Owned.
    alerting_rules: AlertingRule,
    /// Owned.
    recording_rules: RecordingRule,
    /// Guests that evaluate rules.
    loki_stacks: LokiStack,
    /// Core; their labels decide who selects whom.
    namespaces: Namespace,
    /// Guests that select Silences.
    alertmanagers: Alertmanager,
    /// The pods of Alertmanagers: where their instances are.
    pods: Pod,
    /// Guests that use ScrapeClasses.
    prometheuses: Prometheus,
    /// As the Prometheuses.
    prometheus_agents: PrometheusAgent,
    /// Key names only, of the cluster-resource namespace.
    secrets: Secret,
}

impl View {
    /// The shelf of a kind, if the View has one.
    pub fn feed(&self, api_version: &str, kind: &str) -> Option<&dyn Feed> {
        self.feeds()
            .into_iter()
            .find(|feed| feed.resource().kind == kind && feed.resource().api_version() == api_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_term_come_and_go() {
        let key = |name: &str| Arc::new((String::new(), name.to_owned()));
        let mut keys = Keys::One(key("b"));
        keys.insert(key("b"));
        assert!(matches!(keys, Keys::One(_)));
        keys.insert(key("a"));
        let names: Vec<&str> = keys.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(!keys.remove(&key("c")) && !keys.remove(&key("a")));
        assert!(keys.remove(&key("b")));
        assert!(!Keys::One(key("a")).remove(&key("b")) && Keys::One(key("a")).remove(&key("a")));
    }
}
