//! What is wrong with a schedule, as data; the rules make findings of it.
//!
//! Everything is said at once: a wrong zone does not hide a wrong cron expression. Only what needs all parts
//! (how far the starts are from each other) waits until the parts can be read.

use jiff::{Timestamp, Zoned};

use super::super::spec::{Day, Schedule, Weekly};
use super::recurrence::{DAY, Recurrence};
use super::starts::{self, Starts};
use super::{Plan, ceiling, zone};
use crate::lang::Fault;
use crate::model::cron::Cron;
use crate::model::duration::{Error, Span};

/// The shortest window.
pub const SHORTEST: Span = Span::seconds(60);
/// The longest window.
pub const LONGEST: Span = Span::seconds(7 * DAY);
/// Starts are at least this far from each other.
pub const CLOSEST: Span = Span::seconds(5 * 60);

/// How far ahead distances are looked at: a year with its clock changes, and a month to spare.
const HORIZON: i64 = 400 * DAY;

/// How far from a clock change a day is like others.
const AROUND: i64 = 2 * DAY;

/// What is wrong with a schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Both of cron and weekly, or none.
    NotOneRecurrence,
    /// The cron expression cannot be read.
    BadCron(Fault),
    /// The time of a weekly entry is not of the form HH:MM.
    BadTime {
        /// Which entry.
        entry: usize,
    },
    /// A weekly start that an earlier entry, or the same one, has already.
    Repeated {
        /// Which entry.
        entry: usize,
        /// Which of its days.
        day: usize,
    },
    /// No zone has the name.
    UnknownZone {
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// The duration is no duration, or not between [`SHORTEST`] and [`LONGEST`].
    Length,
    /// `from` is not before `until`.
    EmptyRange,
    /// No day of the calendar fits.
    NeverOccurs,
    /// No start lies between `from` and `until`.
    NoneInRange,
    /// Two starts are less than [`CLOSEST`] apart.
    TooClose {
        /// A start.
        first: Zoned,
        /// The next one.
        second: Zoned,
    },
    /// A window lasts longer than until the next start.
    Overlaps {
        /// A start.
        first: Zoned,
        /// The nearest one to follow any.
        second: Zoned,
    },
    /// The last window is over.
    Ended,
}

/// What is allowed and often not meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Months without the named day of month are skipped.
    ShortMonths,
    /// A day of either day field starts a window.
    EitherDay,
}

/// What is to say about a schedule at some instant.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The windows, when the parts can be read.
    pub plan: Option<Plan>,
    /// The expression, when it is one.
    pub cron: Option<Cron>,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What is allowed and often not meant.
    pub advice: Vec<Advice>,
}

impl Plan {
    /// The windows of a schedule, when its parts can be read; [`judge`] tells why not.
    pub fn read(schedule: &Schedule) -> Option<Self> {
        let unheard = &mut Vec::new();
        let (recurrence, _) = read_recurrence(schedule, unheard);
        let zone = read_zone(schedule, unheard);
        let length = read_length(&schedule.duration, unheard);
        let (from, until) = (schedule.from, schedule.until);
        Some(Self { recurrence: recurrence?, zone: zone?, length: length?, from, until })
    }

    /// Two neighbouring starts with the shortest distance among those of the next 400 days.
    ///
    /// Most days are alike, and a few starts stand for all of theirs; only around clock changes and at both
    /// ends every start is looked at. For `*/5 * * * *` there are 115,200, a millisecond on a busy machine.
    pub(super) fn closest_starts(&self, now: Timestamp) -> Option<(i64, i64)> {
        let earliest = ceiling(self.from.map_or(now, |from| from.max(now)));
        let horizon = earliest.saturating_add(HORIZON);
        let latest = self.until.map_or(horizon, |until| ceiling(until).min(horizon));
        let thinned = self.recurrence.thinned();
        let alike = closest(Starts::new(&thinned, &self.zone, earliest), latest);
        let changes = starts::changes(&self.zone, earliest - AROUND, latest.saturating_add(AROUND));
        let unlike = [earliest, latest].into_iter().chain(changes).filter_map(|second| {
            let first = earliest.max(second - AROUND);
            closest(Starts::new(&self.recurrence, &self.zone, first), latest.min(second + AROUND))
        });
        unlike.chain(alike).min_by_key(|(first, second)| (second - first, *first))
    }

    fn zoned(&self, second: i64) -> Zoned {
        Timestamp::from_second(second).unwrap_or_default().to_zoned(self.zone.clone())
    }

    /// What only the calendar, the clocks and the time of looking tell.
    fn check(&self, now: Timestamp, problems: &mut Vec<Problem>) {
        if let (Some(from), Some(until)) = (self.from, self.until)
            && from >= until
        {
            problems.push(Problem::EmptyRange);
            return;
        }
        if !self.recurrence.occurs() {
            problems.push(Problem::NeverOccurs);
            return;
        }
        // Without `from` there were starts before any `until`; then it is a matter of having ended.
        if let Some(from) = self.from
            && !self.starts_from(ceiling(from)).next().is_some_and(|start| self.is_before_until(start))
        {
            problems.push(Problem::NoneInRange);
            return;
        }
        if let Some((first, second)) = self.closest_starts(now) {
            let distance = second - first;
            let zoned = || (self.zoned(first), self.zoned(second));
            if distance < CLOSEST.as_seconds() {
                let (first, second) = zoned();
                problems.push(Problem::TooClose { first, second });
            } else if distance < self.length {
                let (first, second) = zoned();
                problems.push(Problem::Overlaps { first, second });
            }
        }
        if self.until.is_some() && self.windows_from(now).next().is_none() {
            problems.push(Problem::Ended);
        }
    }
}

/// The first two neighbours with the shortest distance, before a second.
pub(super) fn closest(starts: Starts<'_>, latest: i64) -> Option<(i64, i64)> {
    let mut starts = starts.take_while(|start| *start < latest);
    let mut last = starts.next()?;
    let pairs = starts.map(|start| (std::mem::replace(&mut last, start), start));
    pairs.min_by_key(|(first, second)| second - first)
}

/// Judges a schedule as it is at an instant.
pub fn judge(schedule: &Schedule, now: Timestamp) -> Judgement {
    let mut problems = Vec::new();
    let (recurrence, cron) = read_recurrence(schedule, &mut problems);
    let zone = read_zone(schedule, &mut problems);
    let length = read_length(&schedule.duration, &mut problems);
    let mut advice = Vec::new();
    if let Some(cron) = &cron {
        if cron.occurs() && cron.skips_short_months() {
            advice.push(Advice::ShortMonths);
        }
        if cron.restricts_both_days() {
            advice.push(Advice::EitherDay);
        }
    }
    let mut plan = None;
    if let (Some(recurrence), Some(zone)) = (recurrence, zone) {
        // The starts can be judged beside a wrong length: the shortest one overlaps nothing.
        let (from, until) = (schedule.from, schedule.until);
        let read = Plan { recurrence, zone, length: length.unwrap_or(SHORTEST.as_seconds()), from, until };
        read.check(now, &mut problems);
        plan = length.map(|_| read);
    }
    Judgement { plan, cron, problems, advice }
}

fn read_recurrence(schedule: &Schedule, problems: &mut Vec<Problem>) -> (Option<Recurrence>, Option<Cron>) {
    match (&schedule.cron, &schedule.weekly) {
        (Some(text), None) => match text.parse::<Cron>() {
            Ok(cron) => (Some(Recurrence::cron(cron.clone())), Some(cron)),
            Err(fault) => {
                problems.push(Problem::BadCron(fault));
                (None, None)
            }
        },
        (None, Some(weekly)) => (read_weekly(weekly, problems), None),
        _ => {
            problems.push(Problem::NotOneRecurrence);
            (None, None)
        }
    }
}

fn read_weekly(weekly: &[Weekly], problems: &mut Vec<Problem>) -> Option<Recurrence> {
    let mut starts: Vec<(Day, u16)> = Vec::new();
    let mut is_readable = true;
    for (entry, Weekly { days, at }) in weekly.iter().enumerate() {
        let Some(minute) = read_time(at) else {
            problems.push(Problem::BadTime { entry });
            is_readable = false;
            continue;
        };
        for (position, day) in days.iter().enumerate() {
            if starts.contains(&(*day, minute)) {
                problems.push(Problem::Repeated { entry, day: position });
            } else {
                starts.push((*day, minute));
            }
        }
    }
    is_readable.then(|| Recurrence::weekly(starts))
}

/// Minutes since midnight of `HH:MM`.
fn read_time(text: &str) -> Option<u16> {
    let [a, b, b':', c, d] = text.as_bytes() else { return None };
    let number = |tens: &u8, ones: &u8| {
        let are_digits = tens.is_ascii_digit() && ones.is_ascii_digit();
        are_digits.then(|| u16::from(tens - b'0') * 10 + u16::from(ones - b'0'))
    };
    let (hour, minute) = (number(a, b)?, number(c, d)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

fn read_zone(schedule: &Schedule, problems: &mut Vec<Problem>) -> Option<jiff::tz::TimeZone> {
    match zone::find(schedule.time_zone.as_deref().unwrap_or("UTC")) {
        Ok(zone) => Some(zone),
        Err(unknown) => {
            problems.push(Problem::UnknownZone { nearest: unknown.nearest });
            None
        }
    }
}

fn read_length(text: &str, problems: &mut Vec<Problem>) -> Option<i64> {
    let length = match text.parse::<Span>() {
        Ok(span) => (SHORTEST..=LONGEST).contains(&span).then(|| span.as_seconds()),
        Err(Error::Syntax | Error::Overflow) => None,
    };
    if length.is_none() {
        problems.push(Problem::Length);
    }
    length
}
