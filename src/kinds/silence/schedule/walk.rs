//! The plain version, minute by minute, against the plans.

use std::collections::BTreeSet;

use jiff::civil::{DateTime, Weekday, date};
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, ToSpan as _};
use proptest::prelude::*;

use super::tests::{cron, plan};
use super::*;

/// The plain version: each local minute asked by itself, with what jiff says about it.
struct Plain {
    minutes: BTreeSet<i8>,
    hours: BTreeSet<i8>,
    days: Option<BTreeSet<i8>>,
    months: BTreeSet<i8>,
    weekdays: Option<BTreeSet<i8>>,
}

impl Plain {
    fn text(&self) -> String {
        fn list(set: &BTreeSet<i8>) -> String {
            set.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
        }
        let or_any = |set: &Option<BTreeSet<i8>>| set.as_ref().map_or("*".to_owned(), list);
        let (minutes, hours, months) = (list(&self.minutes), list(&self.hours), list(&self.months));
        format!("{minutes} {hours} {} {months} {}", or_any(&self.days), or_any(&self.weekdays))
    }

    fn fires(&self, local: DateTime) -> bool {
        let day = self.days.as_ref().map(|days| days.contains(&local.day()));
        let of_week = |weekday: Weekday| weekday.to_sunday_zero_offset();
        let weekday = self.weekdays.as_ref().map(|days| days.contains(&of_week(local.weekday())));
        let on_day = match (day, weekday) {
            (Some(day), Some(weekday)) => day || weekday,
            (Some(either), None) | (None, Some(either)) => either,
            (None, None) => true,
        };
        on_day
            && self.minutes.contains(&local.minute())
            && self.hours.contains(&local.hour())
            && self.months.contains(&local.month())
    }

    fn starts(&self, zone: &TimeZone, first: DateTime, days: i32) -> BTreeSet<Timestamp> {
        let minutes = first.series(1.minute()).take(usize::try_from(days * 1440).unwrap());
        minutes.filter(|local| self.fires(*local)).map(|local| instant(zone, local)).collect()
    }
}

fn instant(zone: &TimeZone, local: DateTime) -> Timestamp {
    let ambiguous = zone.to_ambiguous_timestamp(local);
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { .. } => ambiguous.unambiguous().unwrap(),
        AmbiguousOffset::Fold { .. } => ambiguous.earlier().unwrap(),
        AmbiguousOffset::Gap { after, .. } => {
            // Minute by minute to where the clocks have jumped.
            let mut instant = ambiguous.earlier().unwrap();
            while zone.to_offset(instant) != after {
                instant += SignedDuration::from_mins(1);
            }
            instant
        }
    }
}

fn some(range: std::ops::RangeInclusive<i8>, most: usize) -> impl Strategy<Value = BTreeSet<i8>> {
    prop::collection::btree_set(range, 1..=most)
}

/// Each case walks two months.
const CASES: u32 = 24;

const ZONES: [(&str, i16, i8); 9] = [
    ("UTC", 2026, 1),
    ("Europe/Berlin", 2026, 2),
    ("Europe/Berlin", 2026, 9),
    ("America/New_York", 2026, 2),
    ("Australia/Lord_Howe", 2026, 3),
    ("Australia/Lord_Howe", 2026, 9),
    ("Pacific/Apia", 2011, 12),
    ("Africa/Casablanca", 2026, 2),
    ("America/Godthab", 2026, 3),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn the_starts_are_those_of_a_walk_minute_by_minute(
        minutes in some(0..=59, 4),
        hours in some(0..=23, 6),
        days in prop::option::weighted(0.3, some(1..=31, 8)),
        months in some(1..=12, 12),
        weekdays in prop::option::weighted(0.4, some(0..=6, 4)),
        (zone, year, month) in prop::sample::select(ZONES.to_vec()),
        into in 0_i64..60 * 86_400,
    ) {
        let plain = Plain { minutes, hours, days, months, weekdays };
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
        let first = date(year, month, 1).at(0, 0, 0, 0);
        let expected = plain.starts(&zone, first, 62);
        let recurrence = Recurrence::cron(plain.text().parse().unwrap());
        // From anywhere in the time that was walked, and from each start and the second after it.
        let begin = instant(&zone, first).as_second();
        let end = begin + 60 * 86_400;
        let near = expected.iter().take(40).flat_map(|start| [start.as_second(), start.as_second() + 1]);
        for from in near.chain([begin, begin + into]).filter(|from| *from < end) {
            let got: Vec<i64> =
                Starts::new(&recurrence, &zone, from).take_while(|start| *start < end).collect();
            let seconds = expected.iter().map(|start| start.as_second());
            let wanted: Vec<i64> = seconds.filter(|start| (from..end).contains(start)).collect();
            prop_assert_eq!(got, wanted, "{} from {}", plain.text(), from);
        }
    }

    /// The short way to the closest starts finds what the long one does.
    #[test]
    fn the_closest_starts_are_those_of_all(
        minutes in some(0..=59, 6),
        hours in some(0..=23, 12),
        days in prop::option::weighted(0.4, some(1..=31, 8)),
        months in some(1..=12, 12),
        weekdays in prop::option::weighted(0.4, some(0..=6, 4)),
        (zone, year, month) in prop::sample::select(ZONES.to_vec()),
        into in 0_i64..400 * 86_400,
        until in prop::option::of(0_i64..500 * 86_400),
    ) {
        let text = Plain { minutes, hours, days, months, weekdays }.text();
        let first = date(year, month, 1).to_zoned(TimeZone::UTC).unwrap().timestamp();
        let begin = first + SignedDuration::from_secs(into);
        let mut schedule = cron(&text, zone, "1m");
        schedule.until = until.map(|seconds| begin + SignedDuration::from_secs(seconds));
        let plan = plan(&schedule);
        let end = begin.as_second() + until.unwrap_or(i64::MAX).min(400 * 86_400);
        let all = judge::closest(plan.starts_from(begin.as_second()), end);
        let distance = |pair: Option<(i64, i64)>| pair.map(|(first, second)| second - first);
        let short = plan.closest_starts(begin);
        prop_assert_eq!(distance(short), distance(all), "{} {:?} {:?}", text, short, all);
    }

    /// From any instant the same windows are seen.
    #[test]
    fn windows_do_not_depend_on_where_one_looks(
        zone in prop::sample::select(vec!["Europe/Berlin", "Australia/Lord_Howe", "America/New_York"]),
        expression in prop::sample::select(vec!["30 2 * * *", "*/30 1-3 * * *", "0 */4 * * 0", "9 2 31 * *"]),
        at in 1_767_225_600_i64..1_798_761_600,
    ) {
        let plan = plan(&cron(expression, zone, "20m"));
        let instant = Timestamp::from_second(at).unwrap();
        let all: Vec<Window> = plan
            .windows_from(instant - SignedDuration::from_hours(72 * 24))
            .skip_while(|window| window.end <= instant)
            .take(5)
            .collect();
        prop_assert_eq!(plan.windows_from(instant).take(5).collect::<Vec<_>>(), all);
    }
}
