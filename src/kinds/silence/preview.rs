//! What a silence would mute now, from the alerts that were read in the background.

use super::codes;
use super::comparison::Compared;
use super::rules::Silence;
use super::spec::Matcher;
use super::tenancy::{Selecting, Selection, effective, select, written};
use super::window::windows;
use crate::rule::{Facts, FieldPath, Findings};
use crate::view::alerts::Alert;

/// Expressions are walked, so that many of them on many alerts would take long; such a silence gets no preview.
const MOST_WALKS: usize = 20_000;

/// Alerts that a list of matchers mutes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Muted {
    /// All.
    pub(super) alerts: usize,
    /// Those of severity critical.
    pub(super) critical: usize,
}

/// Tells for each selecting Alertmanager whose alerts are known.
pub(super) fn check_preview(
    silence: &Silence,
    matchers: &[Matcher],
    selection: &Selection,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    for selecting in &selection.selecting {
        let metadata = &selecting.alertmanager.metadata;
        let snapshot = facts.view.alerts.of(&metadata.namespace, &metadata.name, facts.now);
        let Some(muted) =
            snapshot.and_then(|snapshot| count(&sent(silence, matchers, selecting, facts), &snapshot.alerts))
        else {
            continue;
        };
        let (name, path) = (selecting.name(), FieldPath::spec("matchers"));
        if muted.alerts == 0 {
            out.warn(&codes::MUTES_NOTHING, path, format!("no alert that fires at {name} matches now"));
        } else {
            let message = format!(
                "mutes {} firing alerts of {name}, {} of them critical",
                muted.alerts, muted.critical
            );
            out.warn(&codes::MUTES_NOW, path, message);
        }
    }
}

/// A removal: what this silence alone keeps quiet, while it is in force, notifies again.
pub(super) fn check_delete(silence: &Silence, facts: &Facts<'_>, out: &mut Findings) {
    let (window, _) = windows(silence, facts.now).shown();
    let is_running = window.is_some_and(|window| window.start <= facts.now && facts.now < window.end);
    if !is_running || silence.spec.suspend == Some(true) {
        return;
    }
    let matchers = written(silence, &facts.settings.silence.namespace_label);
    for selecting in &select(&silence.metadata, facts).selecting {
        let metadata = &selecting.alertmanager.metadata;
        let Some(snapshot) = facts.view.alerts.of(&metadata.namespace, &metadata.name, facts.now) else {
            continue;
        };
        let alone = snapshot.alerts.iter().filter(|alert| alert.silenced_by.len() < 2);
        let muted = count(&sent(silence, &matchers, selecting, facts), alone);
        if let Some(muted) = muted.filter(|muted| muted.alerts > 0) {
            let message = format!(
                "{} firing alerts of {} will notify again, {} of them critical",
                muted.alerts,
                selecting.name(),
                muted.critical
            );
            out.warn(&codes::NOTIFIES_AGAIN, FieldPath::spec("matchers"), message);
        }
    }
}

fn sent(silence: &Silence, matchers: &[Matcher], selecting: &Selecting, facts: &Facts<'_>) -> Vec<Matcher> {
    let label = &facts.settings.silence.namespace_label;
    effective(matchers.to_vec(), selecting.enforces, label, &silence.metadata.namespace)
}

/// Counts what a list matches; nothing when it cannot be told, or not in time.
pub(super) fn count<'a>(matchers: &[Matcher], alerts: impl IntoIterator<Item = &'a Alert>) -> Option<Muted> {
    let mut compared = Compared::all(matchers);
    // The cheap ones first: most alerts fall at them.
    compared.sort_by_key(|compared| compared.matcher.is_regex());
    let (mut muted, mut walks) = (Muted::default(), 0);
    for alert in alerts {
        let mut is_muted = true;
        for compared in &compared {
            walks += usize::from(compared.matcher.is_regex());
            if walks > MOST_WALKS {
                return None;
            }
            let value = alert.labels.get(&compared.matcher.name).map_or("", String::as_str);
            if !compared.matches(value)? {
                is_muted = false;
                break;
            }
        }
        if is_muted {
            muted.alerts += 1;
            let severity = alert.labels.get("severity");
            muted.critical += usize::from(severity.is_some_and(|severity| severity == "critical"));
        }
    }
    Some(muted)
}

#[cfg(test)]
mod tests {
    use super::super::spec::MatchType;
    use super::*;

    #[test]
    fn counts_what_would_be_muted() {
        let alert = |labels: &[(&str, &str)]| Alert {
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            silenced_by: Vec::new(),
        };
        let alerts = [
            alert(&[("alertname", "Down"), ("severity", "critical")]),
            alert(&[("alertname", "Slow"), ("severity", "warning")]),
            alert(&[("alertname", "Downhill")]),
        ];
        let matcher = |kind, value: &str| {
            vec![Matcher { name: "alertname".to_owned(), value: value.to_owned(), match_type: Some(kind) }]
        };
        let muted = |alerts, critical| Some(Muted { alerts, critical });
        assert_eq!(count(&matcher(MatchType::Equal, "Down"), &alerts), muted(1, 1));
        assert_eq!(count(&matcher(MatchType::Regex, "Down.*"), &alerts), muted(2, 1));
        assert_eq!(count(&matcher(MatchType::NotEqual, "Down"), &alerts), muted(2, 0));
        assert_eq!(count(&matcher(MatchType::Equal, "None"), &alerts), muted(0, 0));
        let many = vec![alerts[1].clone(); MOST_WALKS + 1];
        assert_eq!(count(&matcher(MatchType::Regex, "Down.*"), &many), None, "too many to be walked");
    }
}
