//! From local times to instants.
//!
//! A start is the first instant at which the clocks of the zone have reached its local time. That is all
//! there is to clock changes: a time that is skipped is reached when the gap is jumped, one that happens
//! twice the first time.

use std::iter::Peekable;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::recurrence::{DAY, LocalTimes, Recurrence};

/// Clocks that are put back repeat less than this much.
const LONGEST_REPETITION: i64 = 2 * DAY;

/// Instants of starts in seconds, strictly increasing.
#[derive(Debug, Clone)]
pub(super) struct Starts<'a> {
    zone: &'a TimeZone,
    times: Peekable<LocalTimes<'a>>,
    stretch: Stretch,
    last: Option<i64>,
}

/// A time without a clock change, in seconds.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: i64,
    end: i64,
    offset: i64,
}

impl Stretch {
    /// The stretch from a second on, as far as it goes.
    fn from(zone: &TimeZone, start: i64) -> Self {
        let bounded = start.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
        let instant = Timestamp::from_second(bounded).unwrap_or(Timestamp::MIN);
        let end = zone.following(instant).next().map_or(i64::MAX, |change| change.timestamp().as_second());
        Self { start, end, offset: i64::from(zone.to_offset(instant).seconds()) }
    }

    /// The local time at which it ends.
    fn local_end(self) -> i64 {
        self.end.saturating_add(self.offset)
    }
}

/// The clock changes of a zone after a second and before another.
pub(super) fn changes(zone: &TimeZone, after: i64, before: i64) -> impl Iterator<Item = i64> {
    let first = Stretch::from(zone, after);
    let stretches = std::iter::successors(Some(first), |stretch| Some(Stretch::from(zone, stretch.end)));
    stretches.map(|stretch| stretch.end).take_while(move |end| *end < before)
}

impl<'a> Starts<'a> {
    /// The starts at or after a second.
    pub(super) fn new(recurrence: &'a Recurrence, zone: &'a TimeZone, earliest: i64) -> Self {
        // What the clocks showed at most before: local times up to there have started already.
        let mut stretch = Stretch::from(zone, earliest.saturating_sub(LONGEST_REPETITION));
        let mut reached = stretch.start.saturating_add(stretch.offset);
        while stretch.end <= earliest {
            reached = reached.max(stretch.local_end());
            stretch = Stretch::from(zone, stretch.end);
        }
        // At the very start of a stretch the times of the gap before it are still to come.
        if stretch.start < earliest {
            reached = reached.max(earliest.saturating_add(stretch.offset));
        }
        Self { zone, times: recurrence.local_times(reached).peekable(), stretch, last: None }
    }
}

impl Iterator for Starts<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        loop {
            let local = *self.times.peek()?;
            if local >= self.stretch.local_end() {
                self.stretch = Stretch::from(self.zone, self.stretch.end);
                continue;
            }
            self.times.next();
            let start = (local - self.stretch.offset).max(self.stretch.start);
            // All times of a gap are reached at once.
            if self.last != Some(start) {
                self.last = Some(start);
                return Some(start);
            }
        }
    }
}
