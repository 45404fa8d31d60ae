//! What the doors ask of groups and rules (specification sections 4.1, 4.3 and 4.4).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Flavour, Group, Rule, Rules, codes, expression, file, group_path, openshift, rule_path, targets, tenancy,
};
use crate::lang::{duration, names, template};
use crate::rule::{Facts, FieldPath, Findings, quoted};

/// Judges an object of either kind.
pub(in crate::kinds) fn check(rules: &Rules<'_>, facts: &Facts<'_>, out: &mut Findings) {
    check_tenant(rules.tenant, out);
    file::check(rules, out);
    let mut queries = Vec::with_capacity(rules.groups.len());
    let mut names = BTreeSet::new();
    for (index, group) in rules.groups.iter().enumerate() {
        check_group(rules.flavour, index, group, !names.insert(group.name), out);
        let parsed = group.rules.iter().enumerate().map(|(position, rule)| {
            let path = || rule_path(index, position);
            check_rule(rules.flavour, rule, &path, out);
            expression::check(rules.flavour, group, rule, &path, facts, out)
        });
        queries.push(parsed.collect::<Vec<_>>());
    }
    targets::check(rules, facts, out);
    openshift::check(rules, &queries, facts, out);
    tenancy::check(rules, &queries, facts, out);
}

fn check_tenant(tenant: &str, out: &mut Findings) {
    let problem = if tenant.is_empty() {
        "it is empty".to_owned()
    } else if let Err(problem) = names::tenant(tenant) {
        problem.to_string()
    } else if tenant.contains("___") {
        "three underscores separate tenant and file on delivery".to_owned()
    } else if tenant.starts_with('.') {
        "a folder that begins with a dot is not read".to_owned()
    } else {
        return;
    };
    let message = format!("{} is no tenant ID: {problem}", quoted(tenant));
    let finding = out.deny(&codes::TENANT_ID, FieldPath::spec("tenantID"), message).value(tenant);
    if tenant.contains('|') {
        finding.help("a rule reads the logs of one tenant; make one object for each");
    }
}

fn check_group(flavour: Flavour, index: usize, group: &Group<'_>, is_repeated: bool, out: &mut Findings) {
    let name = group.name;
    let path = || group_path(index).field("name");
    if name.is_empty() {
        out.deny(&codes::NO_GROUP_NAME, path(), codes::NO_GROUP_NAME.title);
    } else if is_repeated {
        let message = format!("the group {} is there already", quoted(name));
        out.deny(&codes::REPEATED_GROUP, path(), message).value(name);
    } else if name.contains('/') || name == "." || name == ".." {
        let message = format!("the ruler's API cannot address the group {}", quoted(name));
        out.warn(&codes::GROUP_ADDRESS, path(), message).value(name);
    }
    if let Some(interval) = group.interval {
        let path = || group_path(index).field("interval");
        match duration::prometheus(interval) {
            Err(error) => {
                let message = format!("{} is not a duration: {error}", quoted(interval));
                out.deny(&codes::INTERVAL, path(), message).value(interval);
            }
            Ok(0) => {
                out.warn(&codes::ZERO_INTERVAL, path(), codes::ZERO_INTERVAL.title).value(interval);
            }
            Ok(_) => {}
        }
    }
    if let Some(limit) = group.limit.filter(|limit| *limit < 0) {
        let message = format!("the limit {limit} is negative");
        out.deny(&codes::LIMIT, group_path(index).field("limit"), message).value(limit.to_string());
    }
    let mut known = BTreeSet::new();
    for (position, rule) in group.rules.iter().enumerate() {
        if let Some(name) = rule.name
            && !known.insert((name, rule.labels.unwrap_or(&EMPTY)))
        {
            let message = format!("{} is there already with the same labels", quoted(name));
            let path = rule_path(index, position).field(flavour.name_field());
            out.warn(&codes::REPEATED_RULE, path, message).value(name);
        }
    }
}

static EMPTY: BTreeMap<String, String> = BTreeMap::new();

fn check_rule(flavour: Flavour, rule: &Rule<'_>, path: &dyn Fn() -> FieldPath, out: &mut Findings) {
    let field = flavour.name_field();
    match (flavour, rule.name.unwrap_or_default()) {
        (_, "") => {
            out.deny(&codes::NO_NAME, path().field(field), format!("the rule has no {field}"))
                .value(rule.expr);
        }
        (Flavour::Recording, record) if !names::is_metric(record) => {
            let message = format!("{} is not a metric name", quoted(record));
            out.deny(&codes::RECORD_NAME, path().field(field), message).value(record);
        }
        _ => {}
    }
    // An empty text means absent, as it does for the door that fills it in.
    if let Some(text) = rule.r#for.filter(|text| !text.is_empty())
        && let Err(error) = duration::prometheus(text)
    {
        let message = format!("{} is not a duration: {error}", quoted(text));
        out.deny(&codes::FOR, path().field("for"), message).value(text);
    }
    for (name, value) in rule.labels.into_iter().flatten() {
        let path = || path().field("labels").key(name);
        if !names::is_label(name) || name == "__name__" {
            let message = format!("{} is not a label name that a rule can have", quoted(name));
            out.deny(&codes::LABEL_NAME, path(), message).value(name);
        } else if name == "tenantId" {
            out.warn(&codes::TENANT_LABEL, path(), codes::TENANT_LABEL.title).value(name);
        }
        check_template(flavour, rule, value, &path, out);
    }
    for (name, value) in rule.annotations.into_iter().flatten() {
        let path = || path().field("annotations").key(name);
        if !names::is_label(name) {
            let message = format!("{} is not an annotation name", quoted(name));
            let finding = out.deny(&codes::ANNOTATION_NAME, path(), message).value(name);
            let mended: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            if names::is_label(&mended) {
                finding.help(format!("use {mended}"));
            }
        }
        check_template(flavour, rule, value, &path, out);
    }
}

/// Loki's loader reads the labels and annotations of alerts as templates, those of records not.
fn check_template(
    flavour: Flavour,
    rule: &Rule<'_>,
    text: &str,
    path: &dyn Fn() -> FieldPath,
    out: &mut Findings,
) {
    let alert = rule.name.unwrap_or_default();
    if flavour == Flavour::Alerting
        && let Err(fault) = template::check_named(text.as_bytes(), &template::LOKI_ALERT, alert)
    {
        out.fault(&codes::TEMPLATE, path(), text, &fault);
    }
}
