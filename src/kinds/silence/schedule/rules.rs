//! What the doors ask of `spec.schedule` (specification section 1.7): problems as data become findings here.

use super::super::codes;
use super::super::rules::Silence;
use super::super::spec::Schedule;
use super::judge::{Advice, CLOSEST, Judgement, LONGEST, Problem, SHORTEST, judge};
use crate::model::duration::Span;
use crate::rule::{Facts, FieldPath, Findings, Operation, Severity, quoted};
use crate::settings::PastEnd;

/// Judges the recurring windows of a silence; a silence without them is judged elsewhere.
pub(in super::super) fn check_schedule(
    silence: &Silence,
    old: Option<&Silence>,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let Some(schedule) = &silence.spec.schedule else { return };
    let before = old.and_then(|old| old.spec.schedule.as_deref());
    let judgement = judge(schedule, facts.now);
    for problem in &judgement.problems {
        match problem {
            Problem::Ended => check_ended(schedule, before, facts, out),
            other => check_problem(schedule, other, out),
        }
    }
    check_days(schedule, &judgement, out);
    check_policy(schedule, before, facts, out);
}

fn place() -> FieldPath {
    FieldPath::spec("schedule")
}

/// Where the starts are written.
fn starts_place(schedule: &Schedule) -> FieldPath {
    place().field(if schedule.cron.is_some() { "cron" } else { "weekly" })
}

/// The starts in one line, by which an inherited finding is recognised.
fn starts_text(schedule: &Schedule) -> String {
    if let Some(cron) = &schedule.cron {
        return cron.clone();
    }
    let entries = schedule.weekly.iter().flatten();
    entries.map(|entry| format!("{:?} {}", entry.days, entry.at)).collect::<Vec<_>>().join(" ")
}

fn check_problem(schedule: &Schedule, problem: &Problem, out: &mut Findings) {
    match problem {
        Problem::NotOneRecurrence => {
            out.deny(&codes::ONE_RECURRENCE, place(), codes::ONE_RECURRENCE.title);
        }
        Problem::BadCron(fault) => {
            let text = schedule.cron.as_deref().unwrap_or_default();
            out.fault(&codes::BAD_START, place().field("cron"), text, fault);
        }
        Problem::BadTime { entry } => {
            let at = schedule.weekly.iter().flatten().nth(*entry).map_or("", |entry| entry.at.as_str());
            let path = place().field("weekly").index(*entry).field("at");
            out.deny(&codes::BAD_START, path, format!("{} is not of the form HH:MM", quoted(at)))
                .value(at)
                .help("write hours and minutes in two digits each, from 00:00 to 23:59");
        }
        Problem::Repeated { entry, day } => {
            let Some(written) = schedule.weekly.iter().flatten().nth(*entry) else { return };
            let Some(weekday) = written.days.get(*day) else { return };
            let start = format!("{weekday:?} {}", written.at);
            let path = place().field("weekly").index(*entry).field("days").index(*day);
            out.deny(&codes::REPEATED_START, path, format!("{start} is there twice")).value(start);
        }
        Problem::UnknownZone { nearest } => {
            let name = schedule.time_zone.as_deref().unwrap_or_default();
            let message = format!("there is no time zone {}", quoted(name));
            let finding = out.deny(&codes::UNKNOWN_ZONE, place().field("timeZone"), message).value(name);
            if let Some(nearest) = nearest {
                finding.help(format!("did you mean {nearest:?}?"));
            }
        }
        Problem::Length => {
            let text = &schedule.duration;
            let message = format!("the duration {} is not between {SHORTEST} and {LONGEST}", quoted(text));
            out.deny(&codes::WINDOW_LENGTH, place().field("duration"), message).value(text.as_str());
        }
        Problem::EmptyRange => {
            let bounds = format!("{:?} {:?}", schedule.from, schedule.until);
            out.deny(&codes::NEVER_OCCURS, place().field("until"), "until is not after from")
                .value(bounds)
                .help("move until behind from");
        }
        Problem::NeverOccurs => {
            let text = starts_text(schedule);
            let message = format!("no date of the calendar fits {}", quoted(&text));
            out.deny(&codes::NEVER_OCCURS, starts_place(schedule), message).value(text);
        }
        Problem::NoneInRange => {
            let text = format!("{} {:?} {:?}", starts_text(schedule), schedule.from, schedule.until);
            out.deny(&codes::NEVER_OCCURS, place(), "no window starts between from and until").value(text);
        }
        Problem::TooClose { first, second } => {
            let distance = Span::seconds(second.duration_since(first).as_secs());
            let message =
                format!("the starts {first} and {second} are {distance} apart, {CLOSEST} are needed");
            out.deny(&codes::STARTS_TOO_CLOSE, starts_place(schedule), message).value(starts_text(schedule));
        }
        Problem::Overlaps { first, second } => {
            let (length, distance) =
                (&schedule.duration, Span::seconds(second.duration_since(first).as_secs()));
            let message = format!(
                "a window of {length} that starts at {first} lasts beyond the next start, {distance} later"
            );
            out.deny(&codes::OVERLAPS_ITSELF, place().field("duration"), message)
                .value(format!("{length} {}", starts_text(schedule)))
                .help(format!("write at most {distance}, or let windows start less often"));
        }
        // Judged with the request.
        Problem::Ended => {}
    }
}

/// As for a single window: no sense on a new object, "end now" on a changed one, and the normal state of a
/// schedule whose last window is over.
fn check_ended(schedule: &Schedule, before: Option<&Schedule>, facts: &Facts<'_>, out: &mut Findings) {
    let path = place().field("until");
    let until = schedule.until.map(|until| until.to_string()).unwrap_or_default();
    if facts.operation == Operation::Create {
        let severity = match facts.settings.silence.past_end {
            PastEnd::Deny => Severity::Error,
            PastEnd::Warn => Severity::Warning,
        };
        let message = format!("no window is left before {until}");
        out.push(severity, &codes::PAST_END, path, message)
            .value(until)
            .help("move spec.schedule.until behind the next start");
    } else if before != Some(schedule) {
        out.warn(&codes::ENDS_NOW, path, format!("no window is left before {until}: the silence ends now"));
    }
}

/// Day fields that often mean something else than was thought.
fn check_days(schedule: &Schedule, judgement: &Judgement, out: &mut Findings) {
    let (Some(cron), Some(text)) = (&judgement.cron, &schedule.cron) else { return };
    for advice in &judgement.advice {
        let (rule, part) = match advice {
            Advice::ShortMonths => (&codes::SHORT_MONTHS, cron.day_part()),
            Advice::EitherDay => (&codes::EITHER_DAY, cron.day_part().start..cron.weekday_part().end),
        };
        let shown = quoted(text.get(part.clone()).unwrap_or_default());
        let message = match advice {
            Advice::ShortMonths => format!("months without day {shown} are skipped"),
            Advice::EitherDay => format!("{shown} means the days of either field"),
        };
        out.warn(rule, place().field("cron"), message).value(text.as_str()).part(part);
    }
}

/// The operator's limit; on UPDATE it holds for a changed duration.
fn check_policy(schedule: &Schedule, before: Option<&Schedule>, facts: &Facts<'_>, out: &mut Findings) {
    let longest = facts.settings.silence.max_duration;
    let length = |schedule: &Schedule| schedule.duration.parse::<Span>().ok();
    let Some(written) = length(schedule).filter(|written| !longest.is_zero() && *written > longest) else {
        return;
    };
    if before.and_then(length) != Some(written) {
        let message = format!("each window lasts {written}, and {longest} are allowed");
        out.deny(&codes::TOO_LONG, place().field("duration"), message).value(schedule.duration.as_str());
    }
}
