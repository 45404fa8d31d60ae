//! MaintenanceWindow: times in which UptimeRobot does not alert. Schema and CEL only; its rules come with the
//! UptimeRobot system.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Cel, KindInfo};
use crate::gates::System;
use crate::model::cel::{has, items, text};
use crate::rule::{Home, Rule, Severity};

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "MaintenanceWindow",
    plural: "maintenancewindows",
    namespaced: true,
    slug: "maintenance-window",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::MaintenanceWindow::crd,
    cel: &[
        Cel {
            at: &["spec"],
            expression: "!(self.interval in ['weekly', 'monthly']) || \
                         (has(self.days) && size(self.days) > 0)",
            rule: &DAYS_MISSING,
            holds: weekly_and_monthly_windows_have_days,
        },
        Cel {
            at: &["spec"],
            expression: "self.interval in ['weekly', 'monthly'] || !has(self.days)",
            rule: &DAYS_UNUSED,
            holds: other_windows_have_no_days,
        },
        Cel {
            at: &["spec"],
            expression: "self.interval != 'weekly' || !has(self.days) || \
                         self.days.all(day, day >= 0 && day <= 7)",
            rule: &WEEKDAY,
            holds: days_of_a_week_are_weekdays,
        },
        Cel {
            at: &["spec"],
            expression: "self.interval != 'monthly' || !has(self.days) || \
                         self.days.all(day, day == -1 || (day >= 1 && day <= 31))",
            rule: &DAY_OF_MONTH,
            holds: days_of_a_month_are_in_it,
        },
        Cel {
            at: &["spec"],
            expression: "(self.interval == 'once') == has(self.startDate)",
            rule: &START_DATE,
            holds: only_a_single_window_has_a_date,
        },
    ],
    admission: None,
    reconciler: None,
};

/// A weekly or monthly window needs days.
pub static DAYS_MISSING: Rule = Rule {
    code: "USHW901",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a weekly or monthly window has no days",
    why: "Without days the window never opens, and alerts go out during the maintenance.",
    fix: "list the days in spec.days",
};

/// A window that is neither weekly nor monthly has no days.
pub static DAYS_UNUSED: Rule = Rule {
    code: "USHW902",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "days are given for a window that is neither weekly nor monthly",
    why: "UptimeRobot has no use for days here, so the window would open at other times than the list says.",
    fix: "remove spec.days, or choose interval weekly or monthly",
};

/// Days of a weekly window are weekdays.
pub static WEEKDAY: Rule = Rule {
    code: "USHW903",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a day of a weekly window is not a weekday",
    why: "UptimeRobot silently ignores days that it does not know, so the window would not open on that day.",
    fix: "use 0 (Sunday) to 6 (Saturday) in spec.days; 7 also means Sunday",
};

/// Days of a monthly window are days of a month.
pub static DAY_OF_MONTH: Rule = Rule {
    code: "USHW904",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "a day of a monthly window is not a day of the month",
    why: "UptimeRobot silently ignores days that it does not know, so the window would not open on that day.",
    fix: "use 1 to 31 in spec.days, or -1 for the last day of the month",
};

/// A window that opens once has a date, every other one has none.
pub static START_DATE: Rule = Rule {
    code: "USHW905",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "startDate is missing from a window that opens once, or given for one that repeats",
    why: "UptimeRobot needs the date of a single window and refuses a date for any other.",
    fix: "set spec.startDate with interval once, and only then",
};

fn has_days_by_interval(spec: &Value) -> bool {
    matches!(text(spec, "interval"), "weekly" | "monthly")
}

fn weekly_and_monthly_windows_have_days(spec: &Value) -> bool {
    !has_days_by_interval(spec) || !items(spec, "days").is_empty()
}

fn other_windows_have_no_days(spec: &Value) -> bool {
    has_days_by_interval(spec) || !has(spec, "days")
}

fn days_of_a_week_are_weekdays(spec: &Value) -> bool {
    text(spec, "interval") != "weekly" || all_days(spec, |day| (0..=7).contains(&day))
}

fn days_of_a_month_are_in_it(spec: &Value) -> bool {
    text(spec, "interval") != "monthly" || all_days(spec, |day| day == -1 || (1..=31).contains(&day))
}

/// A whole number written as a fraction (`3.0`) passes the schema, but CEL fails on it and so refuses.
fn all_days(spec: &Value, fits: impl Fn(i64) -> bool) -> bool {
    items(spec, "days").iter().all(|day| day.as_i64().is_some_and(&fits))
}

fn only_a_single_window_has_a_date(spec: &Value) -> bool {
    (text(spec, "interval") == "once") == has(spec, "startDate")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The codes that refuse a spec.
    fn refused_by(spec: &Value) -> Vec<&'static str> {
        KIND.cel.iter().filter(|cel| !(cel.holds)(spec)).map(|cel| cel.rule.code).collect()
    }

    #[test]
    fn accepts_each_interval_as_it_should_be() {
        for spec in [
            json!({"interval": "once", "startDate": "2026-12-24"}),
            json!({"interval": "daily"}),
            json!({"interval": "weekly", "days": [0, 6, 7]}),
            json!({"interval": "monthly", "days": [1, 31, -1]}),
        ] {
            assert!(refused_by(&spec).is_empty(), "{spec}");
        }
    }

    #[test]
    fn refuses_days_and_dates_that_do_not_fit_the_interval() {
        for (spec, codes) in [
            (json!({"interval": "weekly"}), vec!["USHW901"]),
            (json!({"interval": "monthly", "days": []}), vec!["USHW901"]),
            (json!({"interval": "daily", "days": []}), vec!["USHW902"]),
            (json!({"interval": "once", "startDate": "2026-12-24", "days": [1]}), vec!["USHW902"]),
            (json!({"interval": "weekly", "days": [1, 8]}), vec!["USHW903"]),
            (json!({"interval": "weekly", "days": [-1]}), vec!["USHW903"]),
            (json!({"interval": "monthly", "days": [0]}), vec!["USHW904"]),
            (json!({"interval": "monthly", "days": [3.0]}), vec!["USHW904"]),
            (json!({"interval": "weekly", "days": [1], "startDate": "2026-12-24"}), vec!["USHW905"]),
            (json!({"interval": "once"}), vec!["USHW905"]),
        ] {
            assert_eq!(refused_by(&spec), codes, "{spec}");
        }
    }
}
