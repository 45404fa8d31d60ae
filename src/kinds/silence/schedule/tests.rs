//! Tables of clock changes, bounds and problems.

use super::super::spec::{Day, Schedule, Weekly};
use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

pub(super) fn cron(expression: &str, zone: &str, duration: &str) -> Schedule {
    Schedule {
        cron: Some(expression.to_owned()),
        weekly: None,
        time_zone: Some(zone.to_owned()),
        duration: duration.to_owned(),
        from: None,
        until: None,
    }
}

fn weekly(entries: &[(&[Day], &str)], zone: &str, duration: &str) -> Schedule {
    let entries = entries.iter().map(|(days, at)| Weekly { days: days.to_vec(), at: (*at).to_owned() });
    Schedule { cron: None, weekly: Some(entries.collect()), ..cron("", zone, duration) }
}

pub(super) fn plan(schedule: &Schedule) -> Plan {
    Plan::read(schedule).unwrap_or_else(|| panic!("{schedule:?}"))
}

fn windows(schedule: &Schedule, instant: &str, count: usize) -> Vec<String> {
    let plan = plan(schedule);
    plan.windows_from(at(instant))
        .take(count)
        .map(|window| format!("{}/{}", window.start, window.end))
        .collect()
}

fn problems(schedule: &Schedule) -> Vec<Problem> {
    judge(schedule, at("2026-01-10T10:00:00Z")).problems
}

/// Case 61: over both changes of the clocks.
#[test]
fn case_61_a_skipped_start_is_after_the_gap_and_a_repeated_one_is_the_first() {
    let table: &[(&str, &str, &str, &[&str])] = &[
        // Clocks go from 02:00 to 03:00 on 2026-03-29, and from 03:00 to 02:00 on 2026-10-25.
        (
            "0 2 * * SUN",
            "Europe/Berlin",
            "2026-03-22T12:00:00Z",
            &["2026-03-29T01:00:00Z/2026-03-29T03:00:00Z", "2026-04-05T00:00:00Z/2026-04-05T02:00:00Z"],
        ),
        (
            "0 2 * * SUN",
            "Europe/Berlin",
            "2026-10-18T12:00:00Z",
            &["2026-10-25T00:00:00Z/2026-10-25T02:00:00Z", "2026-11-01T01:00:00Z/2026-11-01T03:00:00Z"],
        ),
        (
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T12:00:00Z",
            &["2026-03-29T01:00:00Z/2026-03-29T03:00:00Z"],
        ),
        // All starts of a gap are one, and the one at its end is the same.
        (
            "0,15,45 2,3 * * *",
            "Europe/Berlin",
            "2026-03-29T00:30:00Z",
            &["2026-03-29T01:00:00Z/2026-03-29T03:00:00Z", "2026-03-29T01:15:00Z/2026-03-29T03:15:00Z"],
        ),
        // Not again when the hour comes back.
        (
            "*/30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T23:59:00Z",
            &[
                "2026-10-25T00:00:00Z/2026-10-25T02:00:00Z",
                "2026-10-25T00:30:00Z/2026-10-25T02:30:00Z",
                "2026-10-26T01:00:00Z/2026-10-26T03:00:00Z",
            ],
        ),
        (
            "30 2 * * *",
            "America/New_York",
            "2026-03-08T00:00:00Z",
            &["2026-03-08T07:00:00Z/2026-03-08T09:00:00Z"],
        ),
        (
            "30 1 * * *",
            "America/New_York",
            "2026-10-31T12:00:00Z",
            &["2026-11-01T05:30:00Z/2026-11-01T07:30:00Z", "2026-11-02T06:30:00Z/2026-11-02T08:30:00Z"],
        ),
        // Half an hour: 02:00 to 02:30 on 2026-10-04, 02:00 to 01:30 on 2026-04-05.
        (
            "15 2 * * *",
            "Australia/Lord_Howe",
            "2026-10-03T00:00:00Z",
            &["2026-10-03T15:30:00Z/2026-10-03T17:30:00Z", "2026-10-04T15:15:00Z/2026-10-04T17:15:00Z"],
        ),
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            "2026-04-04T00:00:00Z",
            &["2026-04-04T14:45:00Z/2026-04-04T16:45:00Z", "2026-04-05T15:15:00Z/2026-04-05T17:15:00Z"],
        ),
        // 2011-12-30 did not happen: its noon is reached with the midnight that follows.
        (
            "0 12 * * *",
            "Pacific/Apia",
            "2011-12-29T00:00:00Z",
            &[
                "2011-12-29T22:00:00Z/2011-12-30T00:00:00Z",
                "2011-12-30T10:00:00Z/2011-12-30T12:00:00Z",
                "2011-12-30T22:00:00Z/2011-12-31T00:00:00Z",
            ],
        ),
        (
            "0 12 * * FRI",
            "Pacific/Apia",
            "2011-12-29T00:00:00Z",
            &["2011-12-30T10:00:00Z/2011-12-30T12:00:00Z", "2012-01-05T22:00:00Z/2012-01-06T00:00:00Z"],
        ),
        // Clocks go back for Ramadan on 2026-02-15 at 03:00 and forth on 2026-03-22 at 02:00.
        (
            "30 2 * * SUN",
            "Africa/Casablanca",
            "2026-02-14T00:00:00Z",
            &["2026-02-15T01:30:00Z/2026-02-15T03:30:00Z", "2026-02-22T02:30:00Z/2026-02-22T04:30:00Z"],
        ),
        (
            "30 2 * * SUN",
            "Africa/Casablanca",
            "2026-03-21T00:00:00Z",
            &["2026-03-22T02:00:00Z/2026-03-22T04:00:00Z", "2026-03-29T01:30:00Z/2026-03-29T03:30:00Z"],
        ),
    ];
    for (expression, zone, instant, expected) in table {
        let schedule = cron(expression, zone, "2h");
        assert_eq!(windows(&schedule, instant, expected.len()), *expected, "{expression} {zone} {instant}");
    }
}

#[test]
fn weekly_entries_are_starts_too() {
    let schedule = weekly(&[(&[Day::Sun, Day::Wed], "02:00"), (&[Day::Wed], "00:30")], "Europe/Berlin", "1h");
    assert_eq!(
        windows(&schedule, "2026-01-10T10:00:00Z", 4),
        [
            "2026-01-11T01:00:00Z/2026-01-11T02:00:00Z",
            "2026-01-13T23:30:00Z/2026-01-14T00:30:00Z",
            "2026-01-14T01:00:00Z/2026-01-14T02:00:00Z",
            "2026-01-18T01:00:00Z/2026-01-18T02:00:00Z",
        ]
    );
}

#[test]
fn the_window_that_contains_the_instant_comes_first() {
    let schedule = cron("0 2 * * *", "UTC", "2h");
    let first = |instant: &str| windows(&schedule, instant, 1).join("");
    let (today, tomorrow) =
        ("2026-01-10T02:00:00Z/2026-01-10T04:00:00Z", "2026-01-11T02:00:00Z/2026-01-11T04:00:00Z");
    for instant in ["2026-01-10T01:59:59.5Z", "2026-01-10T02:00:00Z", "2026-01-10T03:59:59.999Z"] {
        assert_eq!(first(instant), today, "{instant}");
    }
    for instant in ["2026-01-10T04:00:00Z", "2026-01-10T04:00:00.5Z"] {
        assert_eq!(first(instant), tomorrow, "{instant}");
    }
    let plan = plan(&schedule);
    let start = |window: Option<Window>| window.map(|window| window.start.to_string());
    let inside = at("2026-01-10T03:00:00Z");
    assert_eq!(start(plan.current(inside)).as_deref(), Some("2026-01-10T02:00:00Z"));
    assert_eq!(start(plan.next(inside)).as_deref(), Some("2026-01-11T02:00:00Z"));
    let outside = at("2026-01-10T05:00:00Z");
    assert_eq!(plan.current(outside), None);
    assert_eq!(start(plan.next(outside)).as_deref(), Some("2026-01-11T02:00:00Z"));
    assert_eq!(start(plan.outlook(outside).window).as_deref(), Some("2026-01-11T02:00:00Z"));
    assert_eq!(start(plan.outlook(outside).after).as_deref(), Some("2026-01-12T02:00:00Z"));
    assert_eq!(start(plan.outlook(inside).window).as_deref(), Some("2026-01-10T02:00:00Z"));
    assert_eq!(start(plan.outlook(inside).after).as_deref(), Some("2026-01-11T02:00:00Z"));
    // At the start of a window it is the current one, and not the next.
    assert_eq!(start(plan.next(at("2026-01-10T02:00:00Z"))).as_deref(), Some("2026-01-11T02:00:00Z"));
}

#[test]
fn from_and_until_bound_the_starts_and_until_cuts_the_last_window() {
    let mut schedule = cron("0 */6 * * *", "UTC", "2h");
    schedule.from = Some(at("2026-01-10T06:00:00Z"));
    schedule.until = Some(at("2026-01-10T18:30:00.25Z"));
    assert_eq!(
        windows(&schedule, "2026-01-01T00:00:00Z", 9),
        [
            "2026-01-10T06:00:00Z/2026-01-10T08:00:00Z",
            "2026-01-10T12:00:00Z/2026-01-10T14:00:00Z",
            "2026-01-10T18:00:00Z/2026-01-10T18:30:00.25Z",
        ]
    );
    // Cut, the last one is over before its length is.
    assert_eq!(windows(&schedule, "2026-01-10T18:30:00Z", 9).len(), 1);
    assert_eq!(windows(&schedule, "2026-01-10T18:30:00.25Z", 9), Vec::<String>::new());
    schedule.from = Some(at("2026-01-10T06:00:00.000000001Z"));
    schedule.until = Some(at("2026-01-10T18:00:00Z"));
    assert_eq!(windows(&schedule, "2026-01-01T00:00:00Z", 9), ["2026-01-10T12:00:00Z/2026-01-10T14:00:00Z"]);
    assert_eq!(windows(&schedule, "2026-01-10T14:00:00Z", 9), Vec::<String>::new());
    assert_eq!(plan(&schedule).outlook(at("2026-01-10T14:00:00Z")), Outlook { window: None, after: None });
}

#[test]
fn rare_days_are_found_and_the_end_of_time_is_an_end() {
    let leap = cron("0 0 29 2 *", "UTC", "1h");
    assert_eq!(windows(&leap, "2026-01-01T00:00:00Z", 1), ["2028-02-29T00:00:00Z/2028-02-29T01:00:00Z"]);
    assert_eq!(windows(&leap, "2096-03-01T00:00:00Z", 1), ["2104-02-29T00:00:00Z/2104-02-29T01:00:00Z"]);
    let sunday = cron("0 0 29 2 */7", "Europe/Berlin", "1h");
    assert_eq!(windows(&sunday, "2088-03-01T00:00:00Z", 1), ["2128-02-28T23:00:00Z/2128-02-29T00:00:00Z"]);
    assert!(windows(&cron("0 0 30 2 *", "UTC", "1h"), "2026-01-01T00:00:00Z", 1).is_empty());
    assert!(windows(&cron("0 0 * * *", "UTC", "1h"), "9999-12-01T00:00:00Z", 99).len() < 31);
}

#[test]
fn case_62_says_what_is_wrong() {
    let zoned = |text: &str| text.parse::<jiff::Zoned>().unwrap();
    let fault = |text: &str| Problem::BadCron(text.parse::<crate::model::cron::Cron>().expect_err(text));
    let mut both = cron("0 2 * * SUN", "UTC", "2h");
    both.weekly = weekly(&[(&[Day::Sun], "02:00")], "UTC", "2h").weekly;
    let mut neither = cron("", "UTC", "2h");
    neither.cron = None;
    let bounded = |from: Option<&str>, until: Option<&str>| Schedule {
        from: from.map(at),
        until: until.map(at),
        ..cron("0 2 * * SUN", "UTC", "2h")
    };
    let unknown = |nearest: Option<&str>| Problem::UnknownZone { nearest: nearest.map(str::to_owned) };
    let table: Vec<(Schedule, Vec<Problem>)> = vec![
        (cron("0 2 * * SUN", "Europe/Berlin", "2h"), vec![]),
        (cron("0 0 30 2 *", "UTC", "2h"), vec![Problem::NeverOccurs]),
        (
            cron("*/2 * * * *", "UTC", "1m"),
            vec![Problem::TooClose {
                first: zoned("2026-01-10T10:00:00+00:00[UTC]"),
                second: zoned("2026-01-10T10:02:00+00:00[UTC]"),
            }],
        ),
        (cron("*/5 * * * *", "Europe/Berlin", "5m"), vec![]),
        (cron("0 0 * * * *", "UTC", "2h"), vec![fault("0 0 * * * *")]),
        (cron("@daily", "UTC", "2h"), vec![fault("@daily")]),
        (cron("0 2 * * *", "Europe/Berln", "2h"), vec![unknown(Some("Europe/Berlin"))]),
        (cron("0 2 * * *", "Mars", "2h"), vec![unknown(None)]),
        (
            cron("@daily", "Europe/Berln", "1s"),
            vec![fault("@daily"), unknown(Some("Europe/Berlin")), Problem::Length],
        ),
        (both, vec![Problem::NotOneRecurrence]),
        (neither, vec![Problem::NotOneRecurrence]),
        (cron("0 0 * * *", "UTC", "24h"), vec![]),
        (
            cron("0 0 * * *", "UTC", "25h"),
            vec![Problem::Overlaps {
                first: zoned("2026-01-11T00:00:00+00:00[UTC]"),
                second: zoned("2026-01-12T00:00:00+00:00[UTC]"),
            }],
        ),
        // The day of the clock change has 23 hours.
        (
            cron("0 0 * * *", "Europe/Berlin", "24h"),
            vec![Problem::Overlaps {
                first: zoned("2026-03-29T00:00:00+01:00[Europe/Berlin]"),
                second: zoned("2026-03-30T00:00:00+02:00[Europe/Berlin]"),
            }],
        ),
        (cron("0 0 * * *", "Europe/Berlin", "23h"), vec![]),
        // 02:30 is reached with 03:00 that day, three minutes after 01:57.
        (
            weekly(&[(&[Day::Sun], "01:57"), (&[Day::Sun], "02:30")], "Europe/Berlin", "30m"),
            vec![Problem::TooClose {
                first: zoned("2026-03-29T01:57:00+01:00[Europe/Berlin]"),
                second: zoned("2026-03-29T03:00:00+02:00[Europe/Berlin]"),
            }],
        ),
        (cron("0 0 * * 0", "UTC", "7d"), vec![]),
        (cron("0 0 1 * *", "UTC", "1w1s"), vec![Problem::Length]),
        (cron("0 0 1 * *", "UTC", "59s"), vec![Problem::Length]),
        (cron("0 0 1 * *", "UTC", "99999999999999999w"), vec![Problem::Length]),
        (cron("0 0 1 * *", "UTC", "1m"), vec![]),
        (
            weekly(&[(&[Day::Mon], "24:00"), (&[Day::Mon], "2:00")], "UTC", "1h"),
            vec![Problem::BadTime { entry: 0 }, Problem::BadTime { entry: 1 }],
        ),
        (
            weekly(&[(&[Day::Mon, Day::Tue], "02:00"), (&[Day::Sun, Day::Tue], "02:00")], "UTC", "1h"),
            vec![Problem::Repeated { entry: 1, day: 1 }],
        ),
        (weekly(&[], "UTC", "1h"), vec![Problem::NeverOccurs]),
        (bounded(Some("2026-02-01T00:00:00Z"), Some("2026-02-01T00:00:00Z")), vec![Problem::EmptyRange]),
        // 2026-02-02 is a Monday.
        (bounded(Some("2026-02-02T00:00:00Z"), Some("2026-02-08T02:00:00Z")), vec![Problem::NoneInRange]),
        (bounded(Some("2026-02-02T00:00:00Z"), Some("2026-02-08T02:00:01Z")), vec![]),
        (bounded(None, Some("2026-01-10T10:00:00Z")), vec![Problem::Ended]),
        // The last one was on the 4th, the next would be on the 11th.
        (bounded(None, Some("2026-01-10T20:00:00Z")), vec![Problem::Ended]),
        (bounded(Some("2025-01-01T00:00:00Z"), Some("2026-01-10T20:00:00Z")), vec![Problem::Ended]),
        (bounded(None, Some("2026-01-11T20:00:00Z")), vec![]),
    ];
    for (schedule, expected) in table {
        assert_eq!(problems(&schedule), expected, "{schedule:?}");
    }
}

#[test]
fn gives_advice_on_days() {
    let advice = |expression: &str| judge(&cron(expression, "UTC", "1h"), at("2026-01-10T10:00:00Z")).advice;
    assert_eq!(advice("0 0 31 * *"), [Advice::ShortMonths]);
    assert_eq!(advice("0 0 1 * MON"), [Advice::EitherDay]);
    assert_eq!(advice("0 0 29-31 * MON"), [Advice::ShortMonths, Advice::EitherDay]);
    assert_eq!(advice("0 0 */2 * MON"), []);
}
