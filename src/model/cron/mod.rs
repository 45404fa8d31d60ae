//! Cron expressions of five fields, parsed once into bit sets.
//!
//! `*`, lists, ranges, steps, names of months and weekdays in any case, 0 and 7 for Sunday. Anything that
//! other programs add (seconds, years, `@daily`, `?`, `L`, `W`, `#`) is refused with the part that is meant
//! and with what to write instead. What an expression says about clocks and zones is not decided here.

use std::ops::Range;

use jiff::civil::Date;

mod read;

/// A cron expression; bit `n` of a set stands for the value `n`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    /// Sunday is 0.
    weekdays: u64,
    day: DayField,
    weekday: DayField,
}

/// What is remembered of a day field besides its values.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DayField {
    /// It does not begin with `*`.
    is_restricted: bool,
    span: Range<usize>,
}

const ALL_DAYS: u64 = 0xffff_fffe;

impl Cron {
    /// The times of day, in minutes since midnight, in order.
    pub fn times(&self) -> Vec<u16> {
        let hours = (0..24).filter(|hour| self.hours >> hour & 1 == 1);
        hours
            .flat_map(|hour| {
                (0..60).filter(|minute| self.minutes >> minute & 1 == 1).map(move |minute| hour * 60 + minute)
            })
            .collect()
    }

    /// The days of a month on which the expression fires, bit 1 for the first; any day names the month.
    ///
    /// As Vixie cron does it: when both day fields are restricted, a day of either fires. A field that begins
    /// with `*` is not restricted, also when a step follows, and then a day must be in both: `*/2` for the
    /// day of month beside `MON` means the Mondays with an odd date, not every other day and all Mondays.
    pub fn days_in(&self, month: Date) -> u32 {
        if self.months >> month.month() & 1 == 0 {
            return 0;
        }
        // The week turned so that bit 0 is the weekday of the first, then laid out over the month.
        let first = month.first_of_month().weekday().to_sunday_zero_offset();
        let turned = (self.weekdays >> first | self.weekdays << (7 - first)) & 0x7f;
        let by_weekday = (turned | turned << 7 | turned << 14 | turned << 21 | turned << 28) << 1;
        let matching =
            if self.restricts_both_days() { self.days | by_weekday } else { self.days & by_weekday };
        let existing = (2_u64 << month.days_in_month()) - 2;
        u32::try_from(matching & existing).unwrap_or_default()
    }

    /// Is there any date on which the expression fires?
    ///
    /// Exact: every date of the calendar, the 29th of February too, falls on every weekday at some time, so
    /// only days of month that no named month has are never reached.
    pub fn occurs(&self) -> bool {
        self.restricts_both_days()
            || (1..=12).any(|month| self.days & days_up_to(longest(month)) & self.in_month(month) != 0)
    }

    /// Are both day fields restricted, so that a day of either fires?
    pub fn restricts_both_days(&self) -> bool {
        self.day.is_restricted && self.weekday.is_restricted
    }

    /// Is a day of month named that some named month does not have, or not every year?
    pub fn skips_short_months(&self) -> bool {
        let late = self.days & !days_up_to(28);
        let is_named = self.day.is_restricted && self.days != ALL_DAYS;
        is_named && (1..=12).any(|month| late & !days_up_to(shortest(month)) & self.in_month(month) != 0)
    }

    /// Where the day of month stands in the text.
    pub fn day_part(&self) -> Range<usize> {
        self.day.span.clone()
    }

    /// Where the day of week stands in the text.
    pub fn weekday_part(&self) -> Range<usize> {
        self.weekday.span.clone()
    }

    /// All days if the month is named, else none.
    fn in_month(&self, month: u32) -> u64 {
        if self.months >> month & 1 == 1 { ALL_DAYS } else { 0 }
    }
}

fn days_up_to(last: u32) -> u64 {
    (2_u64 << last) - 2
}

fn longest(month: u32) -> u32 {
    match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn shortest(month: u32) -> u32 {
    if month == 2 { 28 } else { longest(month) }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn cron(text: &str) -> Cron {
        text.parse().unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
    }

    /// The days of a month as a list.
    fn days(text: &str, year: i16, month: i8) -> Vec<u32> {
        let set = cron(text).days_in(date(year, month, 1));
        (0..32).filter(|day| set >> day & 1 == 1).collect()
    }

    #[test]
    fn reads_times_of_day() {
        for (text, times) in [
            ("0 2 * * *", vec![120]),
            ("*/20 1,3 * * *", vec![60, 80, 100, 180, 200, 220]),
            ("10-20/5 23 * * *", vec![1390, 1395, 1400]),
            ("  0\t0 *  * *\n", vec![0]),
            ("*/60 */24 * * *", vec![0]),
        ] {
            assert_eq!(cron(text).times(), times, "{text}");
        }
        assert_eq!(cron("* * * * *").times(), (0..1440).collect::<Vec<u16>>());
    }

    #[test]
    fn a_day_of_either_field_fires_when_both_are_restricted() {
        // January 2026 begins on a Thursday; its Mondays are 5, 12, 19, 26.
        for (text, expected) in [
            ("0 0 * * *", (1..=31).collect()),
            ("0 0 * * MON", vec![5, 12, 19, 26]),
            ("0 0 13 * *", vec![13]),
            ("0 0 13 * MON", vec![5, 12, 13, 19, 26]),
            ("0 0 */2 * MON", vec![5, 19]),
            ("0 0 13 * */7", vec![]),
            ("0 0 11 * */7", vec![11]),
            ("0 0 1-3 JAN,mar *", vec![1, 2, 3]),
            ("0 0 1 FEB *", vec![]),
            ("0 0 * * sat-SUN", vec![3, 4, 10, 11, 17, 18, 24, 25, 31]),
            ("0 0 * * 0", vec![4, 11, 18, 25]),
            ("0 0 * * 7", vec![4, 11, 18, 25]),
            ("0 0 * * 5-7", vec![2, 3, 4, 9, 10, 11, 16, 17, 18, 23, 24, 25, 30, 31]),
            ("0 0 * * Mon-Sun", (1..=31).collect()),
        ] {
            assert_eq!(days(text, 2026, 1), expected, "{text}");
        }
        assert_eq!(days("0 0 28-31 * *", 2026, 2), [28]);
        assert_eq!(days("0 0 28-31 * *", 2028, 2), [28, 29]);
    }

    #[test]
    fn knows_what_never_occurs() {
        for text in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31 APR */2", "0 0 30,31 FEB *"] {
            assert!(!cron(text).occurs(), "{text}");
        }
        for text in ["0 0 29 2 *", "0 0 29 2 */7", "0 0 31 2,3 *", "0 0 30 2 MON", "0 0 */30 2 *"] {
            assert!(cron(text).occurs(), "{text}");
        }
    }

    #[test]
    fn knows_what_short_months_skip() {
        for text in ["0 0 31 * *", "0 0 28-31 * *", "0 0 29 2 *", "0 0 30 1,2 *", "0 0 1-30 * *"] {
            assert!(cron(text).skips_short_months(), "{text}");
        }
        for text in ["0 0 28 * *", "0 0 */2 * *", "0 0 1-31 * *", "0 0 31 1,3 *", "0 0 30 4 *"] {
            assert!(!cron(text).skips_short_months(), "{text}");
        }
        assert!(cron("0 0 1 * MON").restricts_both_days());
        assert!(!cron("0 0 */2 * MON").restricts_both_days());
    }

    proptest! {
        /// What is said about a month agrees with asking for each day by itself.
        #[test]
        fn the_days_of_a_month_are_those_that_match(
            day in prop::sample::select(vec!["*", "*/3", "1", "13,29", "28-31"]),
            month in prop::sample::select(vec!["*", "2", "*/5", "APR-JUN"]),
            weekday in prop::sample::select(vec!["*", "*/2", "MON", "5-7", "0,3"]),
            year in 1970_i16..2200,
            asked in 1_i8..=12,
        ) {
            let whole = cron(&format!("0 0 {day} {month} {weekday}"));
            let by_day = cron(&format!("0 0 {day} {month} *"));
            let by_weekday = cron(&format!("0 0 * {month} {weekday}"));
            let first = date(year, asked, 1);
            let (one, other) = (by_day.days_in(first), by_weekday.days_in(first));
            let both = !day.starts_with('*') && !weekday.starts_with('*');
            prop_assert_eq!(whole.days_in(first), if both { one | other } else { one & other });
            for number in 1..=first.days_in_month() {
                let at = date(year, asked, number);
                let on = whole.weekdays >> at.weekday().to_sunday_zero_offset() & 1 == 1
                    && whole.months >> asked & 1 == 1;
                prop_assert_eq!(other >> number & 1 == 1, on);
            }
        }
    }
}
