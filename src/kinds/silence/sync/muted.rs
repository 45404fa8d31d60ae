//! How many alerts each silence mutes, as an Alertmanager tells it: asked of one instance now and then, and not at all when
//! there are too many alerts to keep. A number for people, on which nothing depends.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::upstream::alertmanager::Alertmanager as Api;

/// How often an Alertmanager is asked.
const EVERY: Duration = Duration::from_mins(1);
/// An older answer says nothing any more.
const STALE: Duration = Duration::from_mins(2);
/// More are not counted.
const MOST: usize = 10_000;
/// A changed number alone is no reason to write a status more often.
const TOLD_EVERY: Duration = Duration::from_mins(5);

/// The alerts that silences of one Alertmanager mute.
#[derive(Debug, Default)]
pub struct Muted {
    asked: Option<Instant>,
    /// By id of the silence.
    counts: Option<HashMap<String, i32>>,
    /// When a number was last told, by uid of the object.
    told: HashMap<String, Instant>,
}

impl Muted {
    /// Is it time to ask again?
    pub fn is_due(&self) -> bool {
        self.asked.is_none_or(|asked| asked.elapsed() >= EVERY)
    }

    /// What came of asking.
    pub fn answered(&mut self, counts: Option<HashMap<String, i32>>) {
        (self.asked, self.counts) = (Some(Instant::now()), counts);
    }

    /// How many alerts a silence mutes, where known.
    pub fn by(&self, id: &str) -> Option<i32> {
        let counts = self.counts.as_ref().filter(|_| self.asked.is_some_and(|asked| asked.elapsed() < STALE));
        counts.map(|counts| counts.get(id).copied().unwrap_or_default())
    }

    /// The number for the status of an object that says `before`.
    pub fn told(&mut self, uid: &str, id: Option<&str>, before: Option<i32>) -> Option<i32> {
        let now = id.map_or(before, |id| self.by(id).or(before));
        let is_early = self.told.get(uid).is_some_and(|at| at.elapsed() < TOLD_EVERY);
        if now == before || before.is_some() && is_early {
            return before;
        }
        self.told.insert(uid.to_owned(), Instant::now());
        now
    }

    /// Forgets an object that is gone.
    pub fn forget(&mut self, uid: &str) {
        self.told.remove(uid);
    }
}

/// Asks one instance.
pub async fn count(api: &Api) -> Option<HashMap<String, i32>> {
    let alerts = api.alerts(MOST).await.ok().filter(|alerts| alerts.total <= MOST)?;
    let mut counts = HashMap::new();
    for id in alerts.first.into_iter().flat_map(|alert| alert.silenced_by) {
        *counts.entry(id).or_default() += 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_at_once_and_then_rarely() {
        let mut muted = Muted::default();
        assert!(muted.is_due());
        assert_eq!(muted.told("u", Some("a"), None), None, "nothing is known");
        muted.answered(Some(HashMap::from([("a".to_owned(), 3)])));
        assert!(!muted.is_due());
        assert_eq!((muted.by("a"), muted.by("b")), (Some(3), Some(0)));
        assert_eq!(muted.told("u", Some("a"), None), Some(3));
        muted.answered(Some(HashMap::new()));
        assert_eq!(muted.told("u", Some("a"), Some(3)), Some(3), "too early");
        muted.forget("u");
        assert_eq!(muted.told("u", Some("a"), Some(3)), Some(0));
    }
}
