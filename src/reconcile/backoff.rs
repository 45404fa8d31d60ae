//! How long an object that failed waits: doubled each time, with jitter, so that many that failed together do not come
//! back together.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The first wait.
const BASE: Duration = Duration::from_secs(1);
/// The longest wait.
const CAP: Duration = Duration::from_mins(5);

/// From here on those that failed long ago are forgotten.
const MANY: usize = 1024;

/// An object: kind, namespace and name.
pub type Key = (&'static str, String, String);

/// Objects that failed, and how often in a row.
#[derive(Debug, Default)]
pub struct Backoffs(Mutex<HashMap<Key, (u32, Instant)>>);

impl Backoffs {
    /// The wait after one more failure.
    pub fn failed(&self, key: Key) -> Duration {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Objects that failed and are gone come no more.
        if failures.len() >= MANY {
            failures.retain(|_, (_, last)| last.elapsed() < CAP * 2);
        }
        let (count, last) = failures.entry(key).or_insert_with(|| (0, Instant::now()));
        (*count, *last) = (*count + 1, Instant::now());
        jittered(ceiling(*count))
    }

    /// It worked.
    pub fn succeeded(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}

fn ceiling(failures: u32) -> Duration {
    BASE.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(CAP)
}

/// Between half of it and all of it.
pub fn jittered(whole: Duration) -> Duration {
    let random = std::hash::RandomState::new().build_hasher().finish() >> 40;
    #[allow(clippy::cast_precision_loss)]
    let share = random as f64 / (1u64 << 24) as f64;
    whole.mul_f64(0.5 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_cap_and_begin_anew_after_a_success() {
        assert_eq!([1, 2, 3].map(ceiling), [1, 2, 4].map(Duration::from_secs));
        assert_eq!(ceiling(40), CAP);
        let backoffs = Backoffs::default();
        let key = || ("Account", String::new(), "a".to_owned());
        for most in [1, 2, 4, 8] {
            let wait = backoffs.failed(key());
            assert!(wait <= Duration::from_secs(most) && wait >= Duration::from_secs(most) / 2, "{wait:?}");
        }
        backoffs.succeeded(&key());
        assert!(backoffs.failed(key()) <= BASE);
    }
}
