//! The OpenShift profile (specification section 4.2): tenants by namespace, and what every alert must carry.
//!
//! Every selector is looked at, not only the left-most one: the ruler reads past the gateway, so the other legs of an
//! expression would read what the namespace must not see.

use super::{DISABLE_TENANT_VALIDATION, Flavour, Rules, codes, rule_path};
use crate::lang::logql::{MatchOp, Query};
use crate::rule::{Facts, FieldPath, Findings, quoted};
use crate::settings::RulesTenancy;

const NAMESPACE_LABELS: [&str; 2] = ["kubernetes_namespace_name", "k8s_namespace_name"];
const SEVERITIES: [&str; 3] = ["critical", "warning", "info"];

pub(super) fn check(
    rules: &Rules<'_>,
    queries: &[Vec<Option<Query>>],
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    if facts.settings.loki.rules_tenancy != RulesTenancy::Openshift {
        return;
    }
    let annotation = rules.metadata.annotation(DISABLE_TENANT_VALIDATION);
    let Some(disabled) = annotation.map_or(Some(false), go_bool) else {
        let value = annotation.unwrap_or_default();
        let message = format!("{} is not a boolean", quoted(value));
        out.deny(&codes::DISABLE_ANNOTATION, FieldPath::annotation(DISABLE_TENANT_VALIDATION), message)
            .value(value);
        return;
    };
    if !disabled {
        check_tenant(rules, out);
        for (group, queries) in queries.iter().enumerate() {
            for (rule, query) in queries.iter().enumerate() {
                // An expression that does not parse was told already.
                if let Some(query) = query {
                    let text = rules.groups[group].rules[rule].expr;
                    check_selectors(rules, query, text, &|| rule_path(group, rule).field("expr"), out);
                }
            }
        }
    }
    if rules.flavour == Flavour::Alerting {
        check_alerts(rules, out);
    }
}

/// Go's `strconv.ParseBool`.
fn go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn allowed_tenants(namespace: &str) -> &'static [&'static str] {
    match namespace {
        "openshift-logging" => &["audit", "infrastructure"],
        "default" => &["infrastructure"],
        _ if namespace.starts_with("openshift") || namespace.starts_with("kube-") => &["infrastructure"],
        _ => &["application"],
    }
}

fn check_tenant(rules: &Rules<'_>, out: &mut Findings) {
    let allowed = allowed_tenants(&rules.metadata.namespace);
    if !allowed.contains(&rules.tenant) {
        let message = format!(
            "namespace {} may not have rules of the tenant {}",
            rules.metadata.namespace,
            quoted(rules.tenant)
        );
        out.deny(&codes::TENANT_NOT_ALLOWED, FieldPath::spec("tenantID"), message)
            .value(rules.tenant)
            .help(format!("use {}", allowed.join(" or ")));
    }
}

fn check_selectors(
    rules: &Rules<'_>,
    query: &Query,
    text: &str,
    path: &dyn Fn() -> FieldPath,
    out: &mut Findings,
) {
    let selectors = query.selectors();
    if selectors.is_empty() {
        out.deny(&codes::NO_SELECTOR, path(), codes::NO_SELECTOR.title).value(text);
    }
    if rules.tenant != "application" {
        return;
    }
    let namespace = rules.metadata.namespace.as_str();
    for selector in selectors {
        let pins = |label: &str| {
            selector.matchers.iter().any(|matcher| matcher.op == MatchOp::Equal && matcher.name == label)
        };
        let pins_own = selector.matchers.iter().any(|matcher| {
            matcher.op == MatchOp::Equal
                && NAMESPACE_LABELS.contains(&matcher.name)
                && matcher.value == namespace.as_bytes()
        });
        if NAMESPACE_LABELS.iter().all(|label| pins(label)) {
            out.deny(&codes::BOTH_LABELS, path(), codes::BOTH_LABELS.title)
                .value(text)
                .part(selector.span.clone());
        } else if !pins_own {
            let help = format!("add {}=\"{namespace}\" to the selector", NAMESPACE_LABELS[0]);
            out.deny(&codes::NAMESPACE_MATCHER, path(), codes::NAMESPACE_MATCHER.title)
                .value(text)
                .part(selector.span.clone())
                .help(help);
        }
    }
}

fn check_alerts(rules: &Rules<'_>, out: &mut Findings) {
    for (group_index, group) in rules.groups.iter().enumerate() {
        for (rule_index, rule) in group.rules.iter().enumerate() {
            let path = || rule_path(group_index, rule_index);
            let severity = rule.labels.and_then(|labels| labels.get("severity"));
            if !severity.is_some_and(|severity| SEVERITIES.contains(&severity.as_str())) {
                let message = severity.map_or_else(
                    || "the label severity is missing".to_owned(),
                    |severity| format!("the severity {} is unknown", quoted(severity)),
                );
                out.deny(&codes::SEVERITY, path().field("labels"), message)
                    .value(severity.cloned().unwrap_or_default());
            }
            for name in ["summary", "description"] {
                let text = rule.annotations.and_then(|annotations| annotations.get(name));
                if text.is_none_or(String::is_empty) {
                    let message = format!("the annotation {name} is missing");
                    out.deny(&codes::SUMMARY, path().field("annotations"), message).value(name);
                }
            }
        }
    }
}
