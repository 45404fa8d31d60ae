//! The alerts that Alertmanagers last said they have, for what rules say about a silence beforehand.
//!
//! Filled in the background by every replica; a review never calls an Alertmanager. What is older than two minutes says
//! nothing any more.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::Key;

/// How long a snapshot is worth something.
const FRESH: SignedDuration = SignedDuration::from_secs(120);

/// The same for lists: a replica that leads no longer lists nothing.
const KEPT: Duration = Duration::from_mins(10);

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

/// What an Alertmanager showed when this replica last listed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed {
    /// How many silences it holds, ended ones too.
    pub silences: usize,
    /// The oldest release among its instances, as far as they told.
    pub oldest: Option<(u32, u32)>,
}

/// The lists of all Alertmanagers.
#[derive(Debug, Default)]
pub struct Lists(RwLock<HashMap<Key, (Instant, Listed)>>);

impl Lists {
    /// What an Alertmanager showed.
    pub fn of(&self, namespace: &str, name: &str) -> Option<Listed> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (at, listed) = all.get(&(namespace.to_owned(), name.to_owned()))?;
        (at.elapsed() <= KEPT).then_some(*listed)
    }

    /// Takes what a list showed. Where not every instance told its release, one of them is still as old as it was.
    pub fn set(&self, key: Key, listed: Listed, is_whole: bool) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = all.get(&key).filter(|_| !is_whole).and_then(|(_, before)| before.oldest);
        let oldest = listed.oldest.into_iter().chain(before).min();
        all.insert(key, (Instant::now(), Listed { oldest, ..listed }));
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
