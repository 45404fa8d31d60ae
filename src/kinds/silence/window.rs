//! When a silence begins and ends. Computed from the creation time, never from the time of looking, so that applying
//! the same manifest again never extends a silence.

use jiff::{SignedDuration, Timestamp};

use super::spec::SilenceSpec;
use crate::model::duration::Span;
use crate::model::object::Object;

/// A resolved window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: Timestamp,
    pub(super) end: Timestamp,
}

/// Why there is no window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// The object has no end of its own: a schedule, or nothing at all.
    NoEnd,
    /// The duration is no duration, or of no length.
    Empty,
    /// The end lies beyond the year 9999.
    TooFar,
}

/// Resolves the window of a silence; `now` stands in for a creation time that is not set yet.
pub(super) fn resolve(silence: &Object<SilenceSpec>, now: Timestamp) -> Result<Window, Problem> {
    let spec = &silence.spec;
    let start = spec.starts_at.or(silence.metadata.creation_timestamp).unwrap_or(now);
    if let Some(end) = spec.expires_at {
        return Ok(Window { start, end });
    }
    let duration = spec.duration.as_deref().ok_or(Problem::NoEnd)?;
    let seconds = match duration.parse::<Span>() {
        Ok(span) => span.as_seconds(),
        Err(crate::model::duration::Error::Overflow) => return Err(Problem::TooFar),
        Err(crate::model::duration::Error::Syntax) => return Err(Problem::Empty),
    };
    if seconds == 0 {
        return Err(Problem::Empty);
    }
    // jiff's timestamps end with the year 9999, as Alertmanager's do.
    let end = start.checked_add(SignedDuration::from_secs(seconds)).map_err(|_| Problem::TooFar)?;
    Ok(Window { start, end })
}

impl Window {
    pub(super) fn length(self) -> SignedDuration {
        self.end.duration_since(self.start)
    }

    pub(super) fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}
