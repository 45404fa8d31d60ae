//! When windows start by the local calendar: days and times of day, before any zone is asked.
//!
//! Local times are counted in seconds as if the place were at UTC; days are counted from 1970-01-01.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;

use super::super::spec::Day;
use crate::model::cron::Cron;

/// Seconds of a day on a clock that is never changed.
pub(super) const DAY: i64 = 86_400;

/// Months to search for a day: the rarest one is a 29th of February on a given weekday, up to 40 years away
/// (2088 to 2128, as 2100 has none).
const HORIZON: usize = 41 * 12;

/// When windows start by the local calendar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Recurrence {
    /// The same times on some days.
    Cron { cron: Cron, times: Vec<u16> },
    /// Times by weekday, Sunday first, each in order and once.
    Weekly([Vec<u16>; 7]),
}

impl Recurrence {
    pub(super) fn cron(cron: Cron) -> Self {
        let times = cron.times();
        Self::Cron { cron, times }
    }

    /// From weekdays and minutes since midnight.
    pub(super) fn weekly(starts: impl IntoIterator<Item = (Day, u16)>) -> Self {
        let mut week: [Vec<u16>; 7] = Default::default();
        for (day, minute) in starts {
            if let Some(times) = week.get_mut(after_sunday(day)) {
                times.push(minute);
            }
        }
        for times in &mut week {
            times.sort_unstable();
            times.dedup();
        }
        Self::Weekly(week)
    }

    /// Is there any day with a start?
    pub(super) fn occurs(&self) -> bool {
        match self {
            Self::Cron { cron, .. } => cron.occurs(),
            Self::Weekly(week) => week.iter().any(|times| !times.is_empty()),
        }
    }

    /// The same days, each with only those times that matter for distances: the first, the last, and the two
    /// that are nearest to each other.
    pub(super) fn thinned(&self) -> Self {
        match self {
            Self::Cron { cron, times } => Self::Cron { cron: cron.clone(), times: thin(times) },
            Self::Weekly(week) => Self::Weekly(week.each_ref().map(|times| thin(times))),
        }
    }

    /// The local times at or after one of them, in order.
    pub(super) fn local_times(&self, earliest: i64) -> LocalTimes<'_> {
        LocalTimes { recurrence: self, earliest, day: earliest.div_euclid(DAY) - 1, times: [].iter() }
    }

    /// The first day at or after one of them that has starts, and its times.
    fn day_from(&self, day: i64) -> Option<(i64, &[u16])> {
        match self {
            Self::Weekly(week) => (day..day + 7).find_map(|day| {
                // 1970-01-01 was a Thursday.
                let weekday = usize::try_from((day + 4).rem_euclid(7)).ok()?;
                week.get(weekday).filter(|times| !times.is_empty()).map(|times| (day, times.as_slice()))
            }),
            Self::Cron { cron, times } => {
                let mut day = day;
                for _ in 0..HORIZON {
                    let date = date(day)?;
                    let ahead = cron.days_in(date) >> date.day();
                    if ahead != 0 {
                        return Some((day + i64::from(ahead.trailing_zeros()), times));
                    }
                    day += i64::from(date.days_in_month() - date.day()) + 1;
                }
                None
            }
        }
    }
}

fn thin(times: &[u16]) -> Vec<u16> {
    let pairs = times.iter().zip(times.iter().skip(1));
    let nearest = pairs.min_by_key(|(earlier, later)| **later - **earlier);
    let nearest = nearest.into_iter().flat_map(|(earlier, later)| [earlier, later]);
    let mut kept: Vec<u16> = times.first().into_iter().chain(nearest).chain(times.last()).copied().collect();
    kept.dedup();
    kept
}

/// Days after Sunday.
fn after_sunday(day: Day) -> usize {
    match day {
        Day::Sun => 0,
        Day::Mon => 1,
        Day::Tue => 2,
        Day::Wed => 3,
        Day::Thu => 4,
        Day::Fri => 5,
        Day::Sat => 6,
    }
}

fn date(day: i64) -> Option<Date> {
    let midnight = Timestamp::from_second(day.checked_mul(DAY)?).ok()?;
    Some(Offset::UTC.to_datetime(midnight).date())
}

/// Local times of starts, strictly increasing.
#[derive(Debug, Clone)]
pub(super) struct LocalTimes<'a> {
    recurrence: &'a Recurrence,
    earliest: i64,
    day: i64,
    times: std::slice::Iter<'a, u16>,
}

impl Iterator for LocalTimes<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        loop {
            if let Some(minute) = self.times.next() {
                let local = self.day * DAY + i64::from(*minute) * 60;
                if local >= self.earliest {
                    return Some(local);
                }
            } else {
                let (day, times) = self.recurrence.day_from(self.day + 1)?;
                (self.day, self.times) = (day, times.iter());
            }
        }
    }
}
