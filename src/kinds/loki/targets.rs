//! The other objects: rules that have the same groups, and stacks that evaluate them. All of it only warns.

use super::{Flavour, Rules, codes, group_path};
use crate::model::object::Meta;
use crate::model::selector::LabelSelector;
use crate::rule::{Facts, FieldPath, Findings, quoted};
use crate::view::records::{LokiStack, has_group};

pub(super) fn check(rules: &Rules<'_>, facts: &Facts<'_>, out: &mut Findings) {
    check_groups(rules, facts, out);
    check_tenant(rules, facts, out);
}

/// Legal, for each object is a file of its own; but people look for a group by its name.
fn check_groups(rules: &Rules<'_>, facts: &Facts<'_>, out: &mut Findings) {
    let is_other = |other: &Meta, flavour: Flavour| {
        !other.is_terminating()
            && (flavour != rules.flavour
                || other.namespace != rules.metadata.namespace
                || other.name != rules.metadata.name)
    };
    for (index, group) in rules.groups.iter().enumerate() {
        let term = || has_group(rules.tenant, group.name);
        let alerts = &facts.view.alerting_rules;
        let records = &facts.view.recording_rules;
        let found = alerts
            .find(term(), |other| is_other(&other.metadata, Flavour::Alerting))
            .map(|other| format!("AlertingRule {}/{}", other.metadata.namespace, other.metadata.name))
            .or_else(|| {
                let other = records.find(term(), |other| is_other(&other.metadata, Flavour::Recording))?;
                Some(format!("RecordingRule {}/{}", other.metadata.namespace, other.metadata.name))
            });
        if let Some(other) = found {
            let message = format!("{other} has a group {} too", quoted(group.name));
            out.warn(&codes::GROUP_ELSEWHERE, group_path(index).field("name"), message).value(group.name);
        }
    }
}

/// A stack that selects the rules and does not know the tenant leaves them out without a word.
fn check_tenant(rules: &Rules<'_>, facts: &Facts<'_>, out: &mut Findings) {
    let Some(stacks) = facts.view.loki_stacks.all() else { return };
    let selecting: Vec<_> = stacks.iter().filter(|stack| selects(stack, rules.metadata, facts)).collect();
    if selecting.is_empty() || selecting.iter().any(|stack| knows(stack, rules.tenant)) {
        return;
    }
    let names: Vec<String> = selecting
        .iter()
        .map(|stack| format!("{}/{}", stack.metadata.namespace, stack.metadata.name))
        .collect();
    let message = format!("{} has no tenant {}", names.join(", "), quoted(rules.tenant));
    out.warn(&codes::TENANT_UNKNOWN, FieldPath::spec("tenantID"), message).value(rules.tenant);
}

fn selects(stack: &LokiStack, object: &Meta, facts: &Facts<'_>) -> bool {
    let Some(rules) = stack.spec.rules.as_ref().filter(|rules| rules.enabled) else { return false };
    let fits = |labels, selector: &Option<LabelSelector>| {
        selector.as_ref().is_some_and(|selector| selector.selects(labels).unwrap_or(false))
    };
    if stack.metadata.is_terminating() || !fits(object.labels.as_ref(), &rules.selector) {
        return false;
    }
    let namespace = facts.view.namespaces.get("", &object.namespace).flatten();
    stack.metadata.namespace == object.namespace
        || rules.namespace_selector.as_ref().is_some_and(LabelSelector::is_empty)
        || namespace.is_some_and(|namespace| {
            let labels = namespace.metadata.labels.as_ref();
            rules
                .namespace_selector
                .as_ref()
                .is_some_and(|selector| selector.selects(labels).unwrap_or(false))
        })
}

fn knows(stack: &LokiStack, tenant: &str) -> bool {
    let Some(tenants) = &stack.spec.tenants else { return true };
    match tenants.mode.as_str() {
        "openshift-logging" => matches!(tenant, "application" | "infrastructure" | "audit"),
        "openshift-network" => tenant == "network",
        _ => tenants.authentication.iter().any(|known| known.tenant_name == tenant),
    }
}
