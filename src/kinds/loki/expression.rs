//! The expression of a rule: LogQL as Loki reads it, and what it must be to be a rule.

use std::time::Duration;

use super::{Flavour, Group, Rule, codes};
use crate::lang::duration;
use crate::lang::logql::{self, LintContext, Query};
use crate::rule::{Facts, FieldPath, Findings, Severity};
use crate::settings::StageChecks;

/// Judges the expression; gives the query when it parses and can be a rule.
pub(super) fn check(
    flavour: Flavour,
    group: &Group<'_>,
    rule: &Rule<'_>,
    path: &dyn Fn() -> FieldPath,
    facts: &Facts<'_>,
    out: &mut Findings,
) -> Option<Query> {
    let path = || path().field("expr");
    let text = rule.expr;
    let query = match logql::parse(text) {
        Ok(query) => query,
        Err(fault) => {
            out.fault(&codes::LOGQL, path(), text, &fault);
            return None;
        }
    };
    if !query.is_metric() {
        out.deny(&codes::LOG_QUERY, path(), "the expression gives log lines, and a rule needs numbers")
            .value(text);
        return None;
    }
    for note in query.notes() {
        out.fault(&codes::VERSION, path(), text, &note);
    }
    let weight = match facts.settings.loki.stage_checks {
        StageChecks::Deny => Some(Severity::Error),
        StageChecks::Warn => Some(Severity::Warning),
        StageChecks::Off => None,
    };
    if let Some(severity) = weight {
        for fault in query.stage_faults() {
            out.fault(&codes::STAGE, path(), text, &fault).severity = severity;
        }
    }
    let interval = group.interval.and_then(|interval| duration::prometheus(interval).ok());
    let interval = interval.and_then(|nanoseconds| u64::try_from(nanoseconds).ok()).map(Duration::from_nanos);
    // A missing comparison has a code of its own below.
    let context = LintContext { interval, alert: false };
    for fault in query.lints(&context) {
        out.fault(&codes::LINT, path(), text, &fault);
    }
    if flavour == Flavour::Alerting && !query.has_comparison() {
        out.warn(&codes::NO_COMPARISON, path(), codes::NO_COMPARISON.title).value(text);
    }
    Some(query)
}
