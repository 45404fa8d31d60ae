//! What the doors ask of a PrometheusRule: what Prometheus' own rule loader and prometheus-operator ask, with places.

use std::collections::{BTreeMap, BTreeSet};

use super::codes;
use super::selection::Dialects;
use super::spec::{Expression, PrometheusRuleSpec, Rule, RuleGroup, Text};
use crate::lang::{duration, names, promql, template};
use crate::model::object::Object;
use crate::rule::{Facts, FieldPath, Findings, Rule as Code, Severity, quoted};
use crate::yaml;

/// What prometheus-operator puts into a ConfigMap at most.
const LARGEST: usize = 524_288;

pub(super) fn check(object: &Object<PrometheusRuleSpec>, facts: &Facts<'_>, out: &mut Findings) {
    let dialects = Dialects::of(&object.metadata, facts);
    let groups = object.spec.groups.as_deref().unwrap_or_default();
    let mut known = BTreeSet::new();
    for (index, group) in groups.iter().enumerate() {
        let path = || FieldPath::spec("groups").index(index);
        if group.name.is_empty() {
            out.deny(&codes::NO_GROUP_NAME, path().field("name"), codes::NO_GROUP_NAME.title);
        } else if !known.insert(group.name.as_str()) {
            let message = format!("the group {} is there already", quoted(&group.name));
            out.deny(&codes::REPEATED_GROUP, path().field("name"), message).value(group.name.as_str());
        }
        // prometheus-operator judges the object without an empty interval, and with an empty query_offset.
        let interval = group.interval.as_deref().filter(|text| !text.is_empty());
        check_given(group.interval.as_deref(), || path().field("interval"), out);
        check_duration(interval, || path().field("interval"), out);
        check_duration(group.query_offset.as_deref(), || path().field("query_offset"), out);
        check_labels(group.labels.as_ref(), None, &|| path().field("labels"), &dialects, out);
        let texts = [
            ("name", Some(&group.name)),
            ("interval", group.interval.as_ref()),
            ("query_offset", group.query_offset.as_ref()),
        ];
        for (field, text) in texts.into_iter().filter_map(|(field, text)| Some((field, text?))) {
            check_readable(text, || path().field(field), out);
        }
        for (position, rule) in group.rules.iter().flatten().enumerate() {
            check_rule(rule, &|| path().field("rules").index(position), &dialects, out);
        }
    }
    check_size(&object.spec, groups, out);
}

fn check_rule(rule: &Rule, path: &dyn Fn() -> FieldPath, dialects: &Dialects, out: &mut Findings) {
    let record = rule.record.as_deref().unwrap_or_default();
    let alert = rule.alert.as_deref().unwrap_or_default();
    match (record, alert) {
        ("", "") => {
            let expr = match &rule.expr {
                Expression::Text(text) => text.clone(),
                Expression::Number(number) => number.to_string(),
            };
            out.deny(&codes::NO_NAME, path(), "neither alert nor record is set").value(expr);
        }
        ("", _) | (_, "") => {}
        _ => {
            out.deny(&codes::TWO_NAMES, path().field("record"), codes::TWO_NAMES.title).value(record);
        }
    }
    check_expression(&rule.expr, || path().field("expr"), dialects, out);
    let expr = if let Expression::Text(text) = &rule.expr { Some(text) } else { None };
    let texts = [
        ("record", rule.record.as_ref()),
        ("alert", rule.alert.as_ref()),
        ("expr", expr),
        ("for", rule.r#for.as_ref()),
        ("keep_firing_for", rule.keep_firing_for.as_ref()),
    ];
    for (field, text) in texts.into_iter().filter_map(|(field, text)| Some((field, text?))) {
        check_readable(text, || path().field(field), out);
    }
    // prometheus-operator judges the object without an empty `for`.
    check_given(rule.r#for.as_deref(), || path().field("for"), out);
    let pending = rule.r#for.as_deref().filter(|text| !text.is_empty());
    let pending = check_duration(pending, || path().field("for"), out);
    let keep = check_duration(rule.keep_firing_for.as_deref(), || path().field("keep_firing_for"), out);
    if !record.is_empty() {
        check_record(record, &|| path().field("record"), dialects, out);
        let mut stray = |field: &'static str, value: &dyn std::fmt::Debug| {
            let message = format!("a recording rule has no {field}");
            out.deny(&codes::RECORDING_FIELD, path().field(field), message).value(format!("{value:?}"));
        };
        if pending != 0 {
            stray("for", &rule.r#for);
        }
        if keep != 0 {
            stray("keep_firing_for", &rule.keep_firing_for);
        }
        if rule.annotations.as_ref().is_some_and(|annotations| !annotations.is_empty()) {
            stray("annotations", &rule.annotations);
        }
    }
    // Templates of an alert; a rule without that name has none.
    let alert = Some(alert).filter(|alert| !alert.is_empty());
    check_labels(rule.labels.as_ref(), alert, &|| path().field("labels"), dialects, out);
    for (name, text) in rule.annotations.iter().flatten() {
        let path = || path().field("annotations").key(name);
        let classic = names::is_label(name);
        check_name(name, classic, &codes::ANNOTATION_NAME, "an annotation name", &path, dialects, out);
        check_readable(name, path, out);
        check_text(text, alert, &path, out);
    }
}

fn check_expression(
    expr: &Expression,
    path: impl Fn() -> FieldPath,
    dialects: &Dialects,
    out: &mut Findings,
) {
    let text = match expr {
        Expression::Text(text) => text,
        // A number is PromQL, as far as prometheus-operator can read it.
        Expression::Number(number) => {
            if i32::try_from(*number).is_err() {
                let message = format!("{number} does not fit into 32 bits");
                out.deny(&codes::NUMBER, path(), message).value(number.to_string());
            }
            return;
        }
    };
    match promql::parse(text, dialects.any) {
        Err(fault) => {
            out.fault(&codes::PROMQL, path(), text, &fault);
        }
        Ok(_) if dialects.all != dialects.any => {
            if let Err(fault) = promql::parse(text, dialects.all) {
                out.fault(&codes::EXPERIMENTAL, path(), text, &fault);
            }
        }
        Ok(_) => {}
    }
}

fn check_record(record: &str, path: &dyn Fn() -> FieldPath, dialects: &Dialects, out: &mut Findings) {
    if record.contains(['{', '}']) {
        let message = format!("{} has braces, which belong into expr", quoted(record));
        out.deny(&codes::RECORD_NAME, path(), message).value(record);
    } else {
        let classic = names::is_metric(record);
        check_name(record, classic, &codes::RECORD_NAME, "a metric name", path, dialects, out);
    }
}

fn check_labels(
    labels: Option<&BTreeMap<String, Text>>,
    alert: Option<&str>,
    path: &dyn Fn() -> FieldPath,
    dialects: &Dialects,
    out: &mut Findings,
) {
    for (name, text) in labels.into_iter().flatten() {
        let path = || path().key(name);
        if name == "__name__" {
            out.deny(&codes::LABEL_NAME, path(), "a rule cannot set __name__").value(name.as_str());
        } else {
            let classic = names::is_label(name);
            check_name(name, classic, &codes::LABEL_NAME, "a label name", &path, dialects, out);
        }
        check_readable(name, path, out);
        check_text(text, alert, &path, out);
    }
}

/// A name that is empty is refused by all, one that is not classic by those of the legacy scheme.
fn check_name(
    name: &str,
    is_classic: bool,
    code: &'static Code,
    what: &str,
    path: &dyn Fn() -> FieldPath,
    dialects: &Dialects,
    out: &mut Findings,
) {
    let severity = if name.is_empty() { Some(Severity::Error) } else { dialects.judges(is_classic) };
    let code = if severity == Some(Severity::Warning) { &codes::OLD_NAME } else { code };
    if let Some(severity) = severity {
        let message = format!("{} is not {what}", quoted(name));
        out.push(severity, code, path(), message).value(name);
    }
}

fn check_text(text: &Text, alert: Option<&str>, path: &dyn Fn() -> FieldPath, out: &mut Findings) {
    let Some(value) = text.as_str() else {
        let message = format!("{} is not a string", text.0);
        out.deny(&codes::NOT_TEXT, path(), message).value(text.0.to_string());
        return;
    };
    check_readable(value, path, out);
    if let Some(alert) = alert
        && let Err(fault) = template::check_named(value.as_bytes(), &template::PROMETHEUS_ALERT, alert)
    {
        out.fault(&codes::TEMPLATE, path(), value, &fault);
    }
}

/// prometheus-operator writes the object as JSON and reads that as YAML, in which a few characters may not stand. Those
/// below U+0020 are escapes in JSON.
fn check_readable(text: &str, path: impl Fn() -> FieldPath, out: &mut Findings) {
    // All others are ASCII, and the first of these is its last.
    if text.bytes().all(|byte| byte < 0x7f) {
        return;
    }
    let is_forbidden =
        |c: char| matches!(c, '\u{7f}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    if let Some((at, found)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) {
        let message = format!("U+{:04X} cannot be read by prometheus-operator", u32::from(found));
        out.deny(&codes::UNREADABLE, path(), message).value(text).part(at..at + found.len_utf8());
    }
}

/// What prometheus-operator's webhook takes for absent it delivers all the same.
fn check_given(text: Option<&str>, path: impl Fn() -> FieldPath, out: &mut Findings) {
    if text == Some("") {
        out.warn(&codes::EMPTY_DURATION, path(), codes::EMPTY_DURATION.title);
    }
}

/// The duration in nanoseconds; 0 when it is absent or wrong.
fn check_duration(text: Option<&str>, path: impl Fn() -> FieldPath, out: &mut Findings) -> i64 {
    let Some(text) = text else { return 0 };
    duration::prometheus(text).unwrap_or_else(|error| {
        let message = format!("{} is not a duration: {error}", quoted(text));
        out.deny(&codes::DURATION, path(), message).value(text);
        0
    })
}

/// What prometheus-operator makes YAML of: without what is empty, and without what is Thanos' alone.
fn written(spec: &PrometheusRuleSpec) -> serde_json::Value {
    use serde_json::Value;
    let mut value = serde_json::to_value(spec).unwrap_or_default();
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        other => other.is_null(),
    };
    let trim = |object: &mut Value, texts: &[&str]| {
        if let Value::Object(map) = object {
            map.retain(|name, value| {
                let is_left_out = texts.contains(&name.as_str()) && *value == "";
                !(is_left_out || is_empty(value))
            });
        }
    };
    for group in value["groups"].as_array_mut().into_iter().flatten() {
        if let Value::Object(map) = group {
            map.remove("partial_response_strategy");
        }
        for rule in group["rules"].as_array_mut().into_iter().flatten() {
            trim(rule, &["record", "alert", "for"]);
        }
        trim(group, &["interval"]);
    }
    trim(&mut value, &[]);
    value
}

/// Writing costs; hardly any object comes near the limit, and what is written is at most so much longer than its texts.
fn check_size(spec: &PrometheusRuleSpec, groups: &[RuleGroup], out: &mut Findings) {
    /// What the names of a rule's or group's fields, signs and indentation take at most.
    const FRAME: usize = 256;
    const ENTRY: usize = 32;
    // Escaped no character is more than two and a half times as long, folding included; but a line break takes an
    // indentation, and a control character four bytes for its one.
    let most = |text: &str| text.len() * 5 / 2 + 12 * text.bytes().filter(|byte| *byte < 0x20).count();
    let texts = |map: &Option<BTreeMap<String, Text>>| -> usize {
        let entries = map.iter().flatten();
        entries.map(|(name, text)| most(name) + text.as_str().map_or(ENTRY, most) + ENTRY).sum()
    };
    let rule_size = |rule: &Rule| {
        let expr = if let Expression::Text(text) = &rule.expr { most(text) } else { ENTRY };
        let names = [&rule.alert, &rule.record, &rule.r#for, &rule.keep_firing_for];
        let names: usize = names.into_iter().flatten().map(|text| most(text)).sum();
        expr + names + texts(&rule.labels) + texts(&rule.annotations) + FRAME
    };
    let bound: usize = groups
        .iter()
        .map(|group| {
            let texts = most(&group.name) + texts(&group.labels) + FRAME;
            texts + group.rules.iter().flatten().map(rule_size).sum::<usize>()
        })
        .sum();
    if bound <= LARGEST {
        return;
    }
    let size = yaml::write_as_go(&written(spec)).len();
    if size > LARGEST {
        let message = format!("the rules take {size} of at most {LARGEST} bytes");
        out.deny(&codes::TOO_LARGE, FieldPath::spec("groups"), message).amount(size);
    }
}
