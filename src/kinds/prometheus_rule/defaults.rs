//! What the mutating door writes on a PrometheusRule: numbers and booleans where strings belong become strings, and an
//! object that passes carries prometheus-operator's mark.
//!
//! prometheus-operator's own webhook does both too, with a patch that breaks on quotes, slashes and large numbers, and
//! with the mark set before anything was judged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use super::rules;
use super::spec::{PrometheusRuleSpec, Text};
use crate::model::object::Object;
use crate::review::edits::Edits;
use crate::rule::{Facts, FieldPath, Findings};

/// prometheus-operator's mark.
const VALIDATED: &str = "prometheus-operator-validated";

pub(super) fn defaults(object: &Object<PrometheusRuleSpec>, facts: &Facts<'_>, edits: &mut Edits) {
    let mut mended: Option<Object<PrometheusRuleSpec>> = None;
    for (group_index, group) in object.spec.groups.iter().flatten().enumerate() {
        let path = FieldPath::spec("groups").index(group_index);
        let mut changed = coerce(group.labels.as_ref(), || path.field("labels"), edits);
        for (rule_index, rule) in group.rules.iter().flatten().enumerate() {
            let path = || path.field("rules").index(rule_index);
            changed |= coerce(rule.labels.as_ref(), || path().field("labels"), edits);
            changed |= coerce(rule.annotations.as_ref(), || path().field("annotations"), edits);
        }
        if changed {
            mended.get_or_insert_with(|| object.clone());
        }
    }
    if let Some(mended) = &mut mended {
        for group in mended.spec.groups.iter_mut().flatten() {
            let rules = group.rules.iter_mut().flatten();
            let maps = rules.flat_map(|rule| [&mut rule.labels, &mut rule.annotations]);
            for value in maps.chain([&mut group.labels]).flatten().flat_map(BTreeMap::values_mut) {
                if let Some(text) = as_text(&value.0) {
                    *value = Text(Value::String(text));
                }
            }
        }
    }
    let mut findings = Findings::default();
    rules::check(mended.as_ref().unwrap_or(object), facts, &mut findings);
    let mark = (!findings.denies()).then_some(Cow::Borrowed("true"));
    edits.annotate(&object.metadata, VALIDATED, mark);
}

/// Makes strings of what a person meant as one; nothing else.
fn coerce(values: Option<&BTreeMap<String, Text>>, path: impl Fn() -> FieldPath, edits: &mut Edits) -> bool {
    let mut changed = false;
    for (name, value) in values.into_iter().flatten() {
        if let Some(text) = as_text(&value.0) {
            edits.replace(path().key(name), text);
            changed = true;
        }
    }
    changed
}

/// The same for an object whose other fields have the wrong types: what is wrong with those the schema says.
pub(super) fn mend(object: &Value, edits: &mut Edits) {
    let mut coerce = |owner: &Value, field: &'static str, path: FieldPath| {
        for (name, value) in owner[field].as_object().into_iter().flatten() {
            if let Some(text) = as_text(value) {
                edits.replace(path.field(field).key(name), text);
            }
        }
    };
    for (group_index, group) in object["spec"]["groups"].as_array().into_iter().flatten().enumerate() {
        let path = FieldPath::spec("groups").index(group_index);
        coerce(group, "labels", path.clone());
        for (rule_index, rule) in group["rules"].as_array().into_iter().flatten().enumerate() {
            let path = path.field("rules").index(rule_index);
            coerce(rule, "labels", path.clone());
            coerce(rule, "annotations", path);
        }
    }
}

/// A number as the API server writes it: what is no whole number of 64 bits is a float there, and never an exponent here.
fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            let whole = number.as_i64().map(|whole| whole.to_string());
            whole.or_else(|| number.as_f64().map(|float| float.to_string()))
        }
        Value::Bool(boolean) => Some(boolean.to_string()),
        _ => None,
    }
}
