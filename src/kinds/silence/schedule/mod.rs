//! Recurring windows: what `spec.schedule` means on a clock.
//!
//! A [`Plan`] is a pure function of the spec: when an object was created and when it is looked at change
//! nothing. A start is a local time in the zone and an end is elapsed time later. Starts are strictly
//! increasing; windows of a schedule without [`Problem`]s never overlap.

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub mod judge;
mod recurrence;
pub(super) mod rules;
mod starts;
mod zone;

pub use judge::{Advice, Judgement, Problem, judge};
use recurrence::Recurrence;
use starts::Starts;

use super::window::Window;

/// The windows of a schedule.
#[derive(Debug, Clone)]
pub struct Plan {
    recurrence: Recurrence,
    zone: TimeZone,
    /// In seconds.
    length: i64,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

/// What there is to see of a plan at some instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// The current window, else the next one; none after the last.
    pub window: Option<Window>,
    /// The one after that.
    pub after: Option<Window>,
}

impl Plan {
    /// The windows that are not over at an instant, in order: first the one that contains it, if any.
    pub fn windows_from(&self, instant: Timestamp) -> Windows<'_> {
        // A window that began a whole length ago is just over.
        let earliest = floor(instant).saturating_sub(self.length).saturating_add(1);
        Windows { plan: self, starts: self.starts_from(earliest), after: instant }
    }

    /// The window that contains an instant.
    pub fn current(&self, now: Timestamp) -> Option<Window> {
        self.windows_from(now).next().filter(|window| window.start <= now)
    }

    /// The first window that starts after an instant.
    pub fn next(&self, now: Timestamp) -> Option<Window> {
        self.windows_from(now).find(|window| window.start > now)
    }

    /// The current window, else the next one, and the one after that.
    pub fn outlook(&self, now: Timestamp) -> Outlook {
        let mut windows = self.windows_from(now);
        Outlook { window: windows.next(), after: windows.next() }
    }

    /// The zone of the starts.
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Starts at or after a second, from `from` on.
    fn starts_from(&self, second: i64) -> Starts<'_> {
        let second = self.from.map_or(second, |from| ceiling(from).max(second));
        Starts::new(&self.recurrence, &self.zone, second)
    }

    fn is_before_until(&self, start: i64) -> bool {
        self.until.is_none_or(|until| start < ceiling(until))
    }
}

/// The windows of a plan, in order.
#[derive(Debug)]
pub struct Windows<'a> {
    plan: &'a Plan,
    starts: Starts<'a>,
    /// What is over by then is left out: `until` may end a window before its length does.
    after: Timestamp,
}

impl Iterator for Windows<'_> {
    type Item = Window;

    fn next(&mut self) -> Option<Window> {
        loop {
            let start = self.starts.next().filter(|start| self.plan.is_before_until(*start))?;
            let end = Timestamp::from_second(start.checked_add(self.plan.length)?).ok()?;
            let end = self.plan.until.map_or(end, |until| until.min(end));
            if end > self.after {
                return Some(Window { start: Timestamp::from_second(start).ok()?, end });
            }
        }
    }
}

/// The last whole second that is not after an instant.
fn floor(instant: Timestamp) -> i64 {
    instant.as_second() - i64::from(instant.subsec_nanosecond() < 0)
}

/// The first whole second that is not before an instant.
fn ceiling(instant: Timestamp) -> i64 {
    instant.as_second() + i64::from(instant.subsec_nanosecond() > 0)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod walk;
