//! When a silence begins and ends. Computed from the creation time, never from the time of looking, so that applying
//! the same manifest again never extends a silence.

use jiff::{SignedDuration, Timestamp};

use super::schedule::Plan;
use super::spec::SilenceSpec;
use crate::model::duration::Span;
use crate::model::object::Object;

/// A resolved window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its first instant.
    pub start: Timestamp,
    /// The first instant after it.
    pub end: Timestamp,
}

/// The windows of a silence, as seen at some instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Windows {
    /// One.
    One(Window),
    /// Those of a schedule.
    Recurring {
        /// The current one, else the next one; none after the last.
        window: Option<Window>,
        /// The one after that.
        after: Option<Window>,
    },
    /// None at all.
    Never,
}

impl Windows {
    /// The window that the status shows, and the one after it.
    pub fn shown(&self) -> (Option<Window>, Option<Window>) {
        match self {
            Self::One(window) => (Some(*window), None),
            Self::Recurring { window, after } => (*window, *after),
            Self::Never => (None, None),
        }
    }

    /// Is there nothing left to mute?
    pub fn is_over(&self, now: Timestamp) -> bool {
        match self {
            Self::One(window) => window.end <= now,
            Self::Recurring { window, .. } => window.is_none(),
            Self::Never => true,
        }
    }
}

/// The windows of a silence.
pub fn windows(silence: &Object<SilenceSpec>, now: Timestamp) -> Windows {
    match &silence.spec.schedule {
        Some(schedule) => Plan::read(schedule).map_or(Windows::Never, |plan| {
            let outlook = plan.outlook(now);
            Windows::Recurring { window: outlook.window, after: outlook.after }
        }),
        None => resolve(silence, now).map_or(Windows::Never, Windows::One),
    }
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
