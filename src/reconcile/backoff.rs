//! How long an object that failed waits: doubled each time, with jitter, so that many that failed together do not come
//! back together.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How fast waits grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// What may be over in a moment: from a second to five minutes.
    Usual,
    /// What somebody must mend, credentials for example: from a minute to a quarter of an hour.
    Slow,
}

impl Pace {
    fn bounds(self) -> (Duration, Duration) {
        match self {
            Self::Usual => (Duration::from_secs(1), Duration::from_mins(5)),
            Self::Slow => (Duration::from_mins(1), Duration::from_mins(15)),
        }
    }

    fn ceiling(self, failures: u32) -> Duration {
        let (base, cap) = self.bounds();
        base.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(cap)
    }
}

/// Nobody waits longer than twice this.
const LONGEST: Duration = Duration::from_mins(15);
/// From here on those that failed long ago are forgotten.
const MANY: usize = 1024;

/// An object: kind, namespace and name.
pub type Key = (&'static str, String, String);

/// Objects that failed, and how often in a row.
#[derive(Debug, Default)]
pub struct Backoffs(Mutex<HashMap<Key, (u32, Instant)>>);

impl Backoffs {
    /// The wait after one more failure.
    pub fn failed(&self, key: Key, pace: Pace) -> Duration {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Objects that failed and are gone come no more.
        if failures.len() >= MANY {
            failures.retain(|_, (_, last)| last.elapsed() < LONGEST * 2);
        }
        let (count, last) = failures.entry(key).or_insert_with(|| (0, Instant::now()));
        (*count, *last) = (*count + 1, Instant::now());
        pace.ceiling(*count).mul_f64(random())
    }

    /// It worked.
    pub fn succeeded(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

/// A fifth more or less, so that replicas and kinds do not all work in the same moment.
pub fn around(interval: Duration) -> Duration {
    interval.mul_f64(0.8 + 0.4 * random())
}

/// The most that [`around`] makes of an interval.
pub fn latest(interval: Duration) -> Duration {
    interval.mul_f64(1.2)
}

/// From 0 up to 1.
#[allow(clippy::cast_precision_loss)]
fn random() -> f64 {
    let bits = std::hash::RandomState::new().build_hasher().finish() >> 40;
    bits as f64 / (1u64 << 24) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_cap_and_begin_anew_after_a_success() {
        assert_eq!([1, 2, 3, 40].map(|count| Pace::Usual.ceiling(count).as_secs()), [1, 2, 4, 300]);
        assert_eq!([1, 2, 40].map(|count| Pace::Slow.ceiling(count).as_secs()), [60, 120, 900]);
        let backoffs = Backoffs::default();
        let key = || ("Account", String::new(), "a".to_owned());
        for most in [1, 2, 4, 8] {
            assert!(backoffs.failed(key(), Pace::Usual) < Duration::from_secs(most));
        }
        backoffs.succeeded(&key());
        assert!(backoffs.failed(key(), Pace::Usual) < Duration::from_secs(1));
    }

    #[test]
    fn intervals_differ_by_a_fifth_at_most() {
        let second = Duration::from_secs(1);
        let waits: Vec<Duration> = (0..100).map(|_| around(second)).collect();
        assert!(waits.iter().all(|wait| *wait >= second * 4 / 5 && *wait <= latest(second)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait != waits[0]));
    }
}
