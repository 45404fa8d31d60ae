//! One Silence, for people: its windows, what is sent where, what that mutes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Result, Write};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::kinds::silence::schedule::Plan;
use crate::kinds::silence::spec::{Schedule, SilenceSpec};
use crate::kinds::silence::tenancy::shown;
use crate::kinds::silence::trial::{Sending, Trial, sendings};
use crate::kinds::silence::window::{Window, Windows, windows};
use crate::model::duration::Span;
use crate::model::object::Object;
use crate::rule::Facts;
use crate::upstream::alertmanager::Alert;

/// How many windows of a schedule are shown.
const WINDOWS: usize = 5;

/// Writes a Silence.
pub(super) fn silence(
    silence: &Object<SilenceSpec>,
    alerts: Option<&[Alert]>,
    most: usize,
    facts: &Facts<'_>,
    out: &mut impl Write,
) -> Result<()> {
    if silence.spec.suspend == Some(true) {
        writeln!(out, "  suspended: it mutes nothing until spec.suspend is false")?;
    }
    match &silence.spec.schedule {
        Some(schedule) => write_schedule(schedule, facts.now, out)?,
        None => write_window(silence, facts.now, out)?,
    }
    let sendings = sendings(silence, facts);
    for sending in &sendings.all {
        let matchers: Vec<String> = sending.matchers.iter().map(shown).collect();
        writeln!(out, "  sent as   {{{}}}", matchers.join(", "))?;
        match sending.to.as_slice() {
            [] if sendings.certain => writeln!(
                out,
                "            by nobody: no Alertmanager that is known selects it; enforcement of the namespace is assumed"
            )?,
            [] => writeln!(
                out,
                "            no Alertmanager is known to select it: enforcement of the namespace is assumed"
            )?,
            to => writeln!(out, "            to {}", to.join(", "))?,
        }
        if let Some(alerts) = alerts {
            write_muted(sending, alerts, most, out)?;
        }
    }
    if !sendings.uncertain.is_empty() {
        let names = sendings.uncertain.join(", ");
        writeln!(out, "  unknown   whether it is sent to {names}: a namespace or a selector is not known")?;
    }
    Ok(())
}

fn write_window(silence: &Object<SilenceSpec>, now: Timestamp, out: &mut impl Write) -> Result<()> {
    let Windows::One(window) = windows(silence, now) else { return writeln!(out, "  window    none") };
    let length = Span::seconds(window.end.duration_since(window.start).as_secs());
    let (start, end) = (seconds(window.start), seconds(window.end));
    let begins = if silence.spec.starts_at.is_none() { ", begins when the object is created" } else { "" };
    let over = if window.end <= now { ", over" } else { "" };
    writeln!(out, "  window    {start} to {end} ({length}{begins}{over})")
}

fn write_schedule(schedule: &Schedule, now: Timestamp, out: &mut impl Write) -> Result<()> {
    let Some(plan) = Plan::read(schedule) else { return writeln!(out, "  windows   none") };
    let zone = plan.zone();
    let name = zone.iana_name().unwrap_or("UTC");
    let next: Vec<Window> = plan.windows_from(now).take(WINDOWS).collect();
    if next.is_empty() {
        return writeln!(out, "  windows   none any more");
    }
    let is_utc = name == "UTC";
    let head = if is_utc { "UTC".to_owned() } else { format!("{name}, and UTC") };
    writeln!(out, "  windows   the next {}, {head}", next.len())?;
    for window in next {
        let current = if window.start <= now { "  (now)" } else { "" };
        let utc = if is_utc {
            String::new()
        } else {
            format!("  =  {} to {}", seconds(window.start), seconds(window.end))
        };
        writeln!(out, "    {} to {}{utc}{current}", local(window.start, zone), local(window.end, zone))?;
    }
    Ok(())
}

/// With the day and the offset: on a day when clocks change both are worth seeing.
fn local(instant: Timestamp, zone: &TimeZone) -> String {
    instant.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M:%S %:z").to_string()
}

fn seconds(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn write_muted(sending: &Sending, alerts: &[Alert], most: usize, out: &mut impl Write) -> Result<()> {
    let trial = Trial::new(&sending.matchers);
    let (mut muted, mut perhaps) = (Vec::new(), Vec::new());
    let mut undecided = BTreeSet::new();
    for alert in alerts {
        match trial.mutes(&alert.labels) {
            Ok(true) => muted.push(alert),
            Ok(false) => {}
            Err(matchers) => {
                undecided.extend(matchers);
                perhaps.push(alert);
            }
        }
    }
    let critical = muted.iter().filter(|alert| is_critical(alert)).count();
    let already = muted.iter().filter(|alert| is_muted(alert)).count();
    writeln!(
        out,
        "  mutes     {} of {} firing alerts ({critical} critical, {already} muted already)",
        muted.len(),
        alerts.len()
    )?;
    write_alerts(&muted, most, out)?;
    if !perhaps.is_empty() {
        let matchers: Vec<String> = undecided.into_iter().collect();
        writeln!(
            out,
            "  perhaps   {} more: only Alertmanager can tell whether {} matches",
            perhaps.len(),
            matchers.join(", ")
        )?;
        write_alerts(&perhaps, most, out)?;
    }
    Ok(())
}

fn write_alerts(alerts: &[&Alert], most: usize, out: &mut impl Write) -> Result<()> {
    let most = if most == 0 { usize::MAX } else { most };
    for alert in alerts.iter().take(most) {
        let already = if is_muted(alert) { "  (muted already)" } else { "" };
        writeln!(out, "    {}{already}", labels(&alert.labels))?;
    }
    let left = alerts.len().saturating_sub(most);
    if left > 0 {
        writeln!(out, "    and {left} more (--show 0 shows all)")?;
    }
    Ok(())
}

fn is_critical(alert: &Alert) -> bool {
    alert.labels.get("severity").is_some_and(|severity| severity == "critical")
}

fn is_muted(alert: &Alert) -> bool {
    !alert.silenced_by.is_empty()
}

/// As Alertmanager writes them, what is called first at the front.
fn labels(labels: &BTreeMap<String, String>) -> String {
    let (name, others): (Vec<_>, Vec<_>) = labels.iter().partition(|(name, _)| *name == "alertname");
    let pairs: Vec<String> =
        name.into_iter().chain(others).map(|(name, value)| format!("{name}={value:?}")).collect();
    format!("{{{}}}", pairs.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::rule::{Operation, Uniqueness, User};
    use crate::settings::Settings;
    use crate::view::View;
    use crate::view::files::fill;

    fn shown_with(objects: Vec<Value>, spec: Value, alerts: Option<&[Alert]>, most: usize) -> String {
        let view = View::default();
        fill(&view, objects, "shop");
        let (settings, user) = (Arc::new(Settings::default()), User::default());
        let facts = Facts {
            operation: Operation::Create,
            user: &user,
            now: "2026-03-20T10:00:00Z".parse().unwrap(),
            settings: &settings,
            view: &view,
            uniqueness: Uniqueness::ByView,
        };
        let object = json!({"metadata": {"name": "s", "namespace": "shop"}, "spec": spec});
        let mut out = Vec::new();
        silence(&serde_json::from_value(object).unwrap(), alerts, most, &facts, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn alert(labels: Value, silenced_by: &[&str]) -> Alert {
        let status = json!({"state": "active", "silencedBy": silenced_by});
        serde_json::from_value(json!({"labels": labels, "status": status})).unwrap()
    }

    fn spec() -> Value {
        json!({"comment": "c", "duration": "2h", "matchers": [{"name": "service", "value": "api"}]})
    }

    #[test]
    fn five_windows_in_the_zone_and_in_utc_also_across_a_clock_change() {
        let spec = json!({
            "comment": "c", "matchers": [{"name": "a", "value": "b"}],
            "schedule": {"cron": "0 2 * * SUN", "timeZone": "Europe/Berlin", "duration": "2h"},
        });
        let text = shown_with(Vec::new(), spec, None, 0);
        assert!(text.contains("the next 5, Europe/Berlin, and UTC"), "{text}");
        let change = "Sun 2026-03-29 03:00:00 +02:00 to Sun 2026-03-29 05:00:00 +02:00  =  \
                      2026-03-29T01:00:00Z to 2026-03-29T03:00:00Z";
        assert!(text.contains(change), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains(" = ")).count(), 5, "{text}");
    }

    #[test]
    fn the_current_window_is_marked_and_utc_is_not_said_twice() {
        let spec = json!({
            "comment": "c", "matchers": [{"name": "a", "value": "b"}],
            "schedule": {"cron": "30 9 * * *", "duration": "1h", "until": "2026-03-21T09:45:00Z"},
        });
        let text = shown_with(Vec::new(), spec, None, 0);
        let first = "    Fri 2026-03-20 09:30:00 +00:00 to Fri 2026-03-20 10:30:00 +00:00  (now)\n";
        let last = "    Sat 2026-03-21 09:30:00 +00:00 to Sat 2026-03-21 09:45:00 +00:00\n";
        assert!(text.contains(&format!("the next 2, UTC\n{first}{last}")), "{text}");
    }

    #[test]
    fn a_single_window_tells_when_it_begins() {
        let text = shown_with(Vec::new(), spec(), None, 0);
        let line =
            "window    2026-03-20T10:00:00Z to 2026-03-20T12:00:00Z (2h, begins when the object is created)";
        assert!(text.contains(line), "{text}");
        assert!(
            text.contains("no Alertmanager is known to select it: enforcement of the namespace is assumed")
        );
        assert!(text.contains(r#"sent as   {service="api", namespace="shop"}"#), "{text}");
    }

    #[test]
    fn each_alertmanager_is_shown_with_what_it_gets() {
        let alertmanager = |name: &str, strategy: &str| {
            json!({
                "apiVersion": "monitoring.coreos.com/v1", "kind": "Alertmanager",
                "metadata": {"name": name, "namespace": "monitoring"},
                "spec": {"silenceSelector": {}, "silenceNamespaceSelector": {},
                    "alertmanagerConfigMatcherStrategy": {"type": strategy}},
            })
        };
        let objects = vec![alertmanager("main", "OnNamespace"), alertmanager("platform", "None")];
        let alerts = [
            alert(
                json!({"alertname": "Down", "service": "api", "namespace": "shop", "severity": "critical"}),
                &[],
            ),
            alert(json!({"alertname": "Slow", "service": "api", "namespace": "bank"}), &["x"]),
            alert(json!({"alertname": "Full", "service": "disk", "namespace": "shop"}), &[]),
        ];
        let text = shown_with(objects, spec(), Some(&alerts), 0);
        let enforced =
            text.find("to monitoring/main\n  mutes     1 of 3 firing alerts (1 critical, 0 muted already)");
        let free = text
            .find("to monitoring/platform\n  mutes     2 of 3 firing alerts (1 critical, 1 muted already)");
        assert!(enforced.is_some() && free > enforced, "{text}");
        assert!(
            text.contains(r#"    {alertname="Slow", namespace="bank", service="api"}  (muted already)"#),
            "{text}"
        );
    }

    #[test]
    fn many_alerts_are_counted_and_cut() {
        let alerts: Vec<Alert> = (0..30)
            .map(|n| alert(json!({"service": "api", "namespace": "shop", "n": n.to_string()}), &[]))
            .collect();
        let text = shown_with(Vec::new(), spec(), Some(&alerts), 20);
        assert!(text.contains("30 of 30") && text.contains("and 10 more (--show 0 shows all)"), "{text}");
        assert_eq!(text.matches("    {").count(), 20, "{text}");
    }

    #[test]
    fn what_cannot_be_decided_here_is_said() {
        let mut spec = spec();
        spec["matchers"] = json!([{"name": "service", "value": "a\\x{D800}?", "matchType": "=~"}]);
        let alerts = [alert(json!({"service": "a", "namespace": "shop"}), &[])];
        let text = shown_with(Vec::new(), spec, Some(&alerts), 20);
        assert!(
            text.contains("mutes     0 of 1")
                && text.contains("perhaps   1 more: only Alertmanager can tell")
        );
    }
}
