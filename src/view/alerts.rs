//! The alerts that Alertmanagers last said they have, for what rules say about a silence beforehand.
//!
//! Filled in the background by every replica; a review never calls an Alertmanager. What is older than two minutes says
//! nothing any more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::{SignedDuration, Timestamp};

use super::Key;

/// How long a snapshot is worth something.
const FRESH: SignedDuration = SignedDuration::from_secs(120);

/// An alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// The ids of the silences that mute it.
    pub silenced_by: Vec<String>,
}

/// The alerts of one Alertmanager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// When they were read.
    pub at: Timestamp,
    /// All of them.
    pub alerts: Vec<Alert>,
}

/// The alerts of all Alertmanagers.
#[derive(Debug, Default)]
pub struct Alerts(RwLock<HashMap<Key, Arc<Snapshot>>>);

/// How many silences Alertmanagers hold, ended ones too, as far as this replica has listed them.
#[derive(Debug, Default)]
pub struct SilenceCounts(RwLock<HashMap<Key, usize>>);

impl SilenceCounts {
    /// How many an Alertmanager holds.
    pub fn of(&self, namespace: &str, name: &str) -> Option<usize> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&(namespace.to_owned(), name.to_owned())).copied()
    }

    /// Takes what a list showed.
    pub fn set(&self, key: Key, count: usize) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, count);
    }
}

impl Alerts {
    /// What an Alertmanager said, if that is not too long ago.
    pub fn of(&self, namespace: &str, name: &str, now: Timestamp) -> Option<Arc<Snapshot>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = all.get(&(namespace.to_owned(), name.to_owned()))?;
        (now.duration_since(found.at) <= FRESH).then(|| Arc::clone(found))
    }

    /// Takes what an Alertmanager said; nothing when it could not be told.
    pub fn set(&self, key: Key, snapshot: Option<Snapshot>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        match snapshot {
            Some(snapshot) => drop(all.insert(key, Arc::new(snapshot))),
            None => drop(all.remove(&key)),
        }
    }

    /// Forgets Alertmanagers that are gone.
    pub fn retain(&self, exists: impl Fn(&Key) -> bool) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).retain(|key, _| exists(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_old_says_nothing() {
        let alerts = Alerts::default();
        let at: Timestamp = "2026-01-10T10:00:00Z".parse().unwrap();
        alerts.set(("m".to_owned(), "main".to_owned()), Some(Snapshot { at, alerts: Vec::new() }));
        let later = |seconds| at + SignedDuration::from_secs(seconds);
        assert!(alerts.of("m", "main", later(120)).is_some());
        assert!(alerts.of("m", "main", later(121)).is_none());
        alerts.retain(|_| false);
        assert!(alerts.of("m", "main", at).is_none());
    }
}
