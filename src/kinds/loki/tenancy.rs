//! Rules that read the logs of their own namespace only (`--tenancy-mode`, specification section 4.2).

use super::{Rules, codes, rule_path};
use crate::lang::logql::{self, MatchOp, Matcher, Query, Selector};
use crate::review::edits::Edits;
use crate::rule::{Facts, Findings, quoted};
use crate::settings::TenancyMode;

pub(super) fn check(
    rules: &Rules<'_>,
    queries: &[Vec<Option<Query>>],
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let settings = &facts.settings.loki;
    if settings.tenancy_mode == TenancyMode::Off {
        return;
    }
    let (label, namespace) = (settings.tenancy_label.as_str(), rules.metadata.namespace.as_str());
    for (group, queries) in queries.iter().enumerate() {
        for (rule, query) in queries.iter().enumerate() {
            let Some(query) = query else { continue };
            let text = rules.groups[group].rules[rule].expr;
            let path = || rule_path(group, rule).field("expr");
            for selector in query.selectors() {
                if let Some(other) = pinned(&selector, label).find(|value| *value != namespace.as_bytes()) {
                    let other = quoted(&String::from_utf8_lossy(other));
                    let message = format!("the selector reads the logs of {other}, not of {namespace}");
                    out.deny(&codes::FOREIGN_NAMESPACE, path(), message)
                        .value(text)
                        .part(selector.span.clone());
                } else if pinned(&selector, label).next().is_none() {
                    // With inject too: the door that adds it may have been out of reach.
                    let message = format!("the selector has no matcher {label}=\"{namespace}\"");
                    out.deny(&codes::NO_NAMESPACE, path(), message)
                        .value(text)
                        .part(selector.span.clone())
                        .help(format!("add {label}=\"{namespace}\" to the selector"));
                }
            }
        }
    }
}

/// The values that `=` matchers on the label ask for.
fn pinned<'s>(selector: &'s Selector<'_>, label: &'s str) -> impl Iterator<Item = &'s [u8]> {
    let on_label = move |matcher: &&Matcher<'_>| matcher.op == MatchOp::Equal && matcher.name == label;
    selector.matchers.iter().filter(on_label).map(|matcher| matcher.value)
}

/// `inject`: each selector without an `=` matcher on the label gets one for the own namespace.
pub(in crate::kinds) fn inject(rules: &Rules<'_>, facts: &Facts<'_>, edits: &mut Edits) {
    let settings = &facts.settings.loki;
    if settings.tenancy_mode != TenancyMode::Inject {
        return;
    }
    let (label, namespace) = (settings.tenancy_label.as_str(), rules.metadata.namespace.as_str());
    for (group, rules) in rules.groups.iter().enumerate() {
        for (rule, written) in rules.rules.iter().enumerate() {
            // What does not parse is refused by the other door, in the user's own words.
            let Ok(query) = logql::parse(written.expr) else { continue };
            let mut places: Vec<usize> = query
                .selectors()
                .iter()
                .filter(|selector| pinned(selector, label).next().is_none())
                .map(|selector| selector.inside)
                .collect();
            if places.is_empty() {
                continue;
            }
            places.sort_unstable();
            let mut text = String::with_capacity(written.expr.len() + 64 * places.len());
            let mut copied = 0;
            for place in places {
                text.push_str(&written.expr[copied..place]);
                text.push_str(label);
                text.push_str("=\"");
                text.push_str(namespace);
                text.push_str("\", ");
                copied = place;
            }
            text.push_str(&written.expr[copied..]);
            edits.replace(rule_path(group, rule).field("expr"), text);
        }
    }
}
