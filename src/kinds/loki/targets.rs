//! The Lokis that evaluate rules: LokiStacks, and those that the settings name. And the other rules beside an object.
//! All of it only warns.

use std::sync::Arc;

use super::{Flavour, Rules, codes, group_path};
use crate::model::object::Meta;
use crate::model::selector::LabelSelector;
use crate::rule::{Facts, FieldPath, Findings, quoted};
use crate::settings::LokiTarget;
use crate::view::records::{LokiStack, has_group};
use crate::view::{Feed as _, Standing};

/// A Loki that may evaluate rules.
#[derive(Debug)]
pub(in crate::kinds) enum Target<'a> {
    Stack(Arc<LokiStack>),
    Named(&'a LokiTarget),
}

impl Target<'_> {
    /// Every Loki that is known; nothing when nobody can say which there are.
    ///
    /// Where the settings name some, they are the answer even while LokiStacks are unknown.
    pub(in crate::kinds) fn all<'a>(facts: &Facts<'a>) -> Option<Vec<Target<'a>>> {
        let (shelf, named) = (&facts.view.loki_stacks, &facts.settings.loki.targets);
        let stacks = match shelf.all() {
            Some(stacks) if shelf.standing() != Standing::Absent || !named.is_empty() => stacks,
            None if !named.is_empty() => Vec::new(),
            _ => return None,
        };
        let stacks = stacks.into_iter().filter(|stack| !stack.metadata.is_terminating());
        Some(stacks.map(Target::Stack).chain(named.iter().map(Target::Named)).collect())
    }

    pub(in crate::kinds) fn namespace(&self) -> &str {
        match self {
            Self::Stack(stack) => &stack.metadata.namespace,
            Self::Named(target) => &target.namespace,
        }
    }

    pub(in crate::kinds) fn name(&self) -> &str {
        match self {
            Self::Stack(stack) => &stack.metadata.name,
            Self::Named(target) => &target.name,
        }
    }

    /// Does it evaluate rules at all?
    pub(in crate::kinds) fn has_rules(&self) -> bool {
        match self {
            Self::Stack(stack) => stack.spec.rules.as_ref().is_some_and(|rules| rules.enabled),
            Self::Named(_) => true,
        }
    }

    /// Its selectors, of objects and of namespaces.
    fn selectors(&self) -> (Option<&LabelSelector>, Option<&LabelSelector>) {
        match self {
            Self::Stack(stack) => {
                stack.spec.rules.as_ref().map_or((None, None), |rules| {
                    (rules.selector.as_ref(), rules.namespace_selector.as_ref())
                })
            }
            Self::Named(target) => (target.selector.as_ref(), target.namespace_selector.as_ref()),
        }
    }

    /// An absent selector selects nothing; the own namespace is always among the selected ones.
    fn selects(&self, object: &Meta, facts: &Facts<'_>) -> bool {
        let fits = |selector: &LabelSelector, metadata: &Meta| {
            selector.selects(metadata.labels.as_ref()).unwrap_or(false)
        };
        let (selector, namespaces) = self.selectors();
        if !self.has_rules() || !selector.is_some_and(|selector| fits(selector, object)) {
            return false;
        }
        let namespace = || facts.view.namespaces.get("", &object.namespace).flatten();
        self.namespace() == object.namespace
            || namespaces.is_some_and(|selector| {
                selector.is_empty() || namespace().is_some_and(|found| fits(selector, &found.metadata))
            })
    }

    /// Is the tenant one of its tenants?
    fn knows(&self, tenant: &str) -> bool {
        match self {
            Self::Named(target) => {
                target.tenants.is_empty() || target.tenants.iter().any(|known| known == tenant)
            }
            Self::Stack(stack) => {
                let Some(tenants) = &stack.spec.tenants else { return true };
                match tenants.mode.as_str() {
                    "openshift-logging" => matches!(tenant, "application" | "infrastructure" | "audit"),
                    "openshift-network" => tenant == "network",
                    _ => tenants.authentication.iter().flatten().any(|known| known.tenant_name == tenant),
                }
            }
        }
    }
}

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

/// A Loki that selects the rules and does not know the tenant leaves them out without a word.
fn check_tenant(rules: &Rules<'_>, facts: &Facts<'_>, out: &mut Findings) {
    let targets = Target::all(facts).unwrap_or_default();
    let selecting: Vec<_> = targets.iter().filter(|target| target.selects(rules.metadata, facts)).collect();
    if selecting.is_empty() || selecting.iter().any(|target| target.knows(rules.tenant)) {
        return;
    }
    let names: Vec<String> =
        selecting.iter().map(|target| format!("{}/{}", target.namespace(), target.name())).collect();
    let message = format!("{} has no tenant {}", names.join(", "), quoted(rules.tenant));
    out.warn(&codes::TENANT_UNKNOWN, FieldPath::spec("tenantID"), message).value(rules.tenant);
}
