//! One object, judged as the API server with usher's webhooks would judge its creation.

use serde_json::{Value, json};

use crate::kinds::KindInfo;
use crate::review::door::denied;
use crate::rule::path::Segment;
use crate::rule::{Facts, FieldPath, Findings, Severity};
use crate::schema;
use crate::schema::codes;

/// What came out of a judgement.
#[derive(Debug)]
pub struct Judgement {
    /// Everything that was found.
    pub findings: Findings,
    /// The object as it would be stored, schema defaults and mutation applied.
    pub stored: Value,
    /// The object with schema defaults only: what the mutating door is shown.
    pub defaulted: Value,
}

/// Judges the creation of an object of a known kind.
pub fn judge(kind: &'static KindInfo, object: &Value, namespace: &str, facts: &Facts<'_>) -> Judgement {
    let schema = schema::of(kind);
    let mut findings = Findings::default();

    for path in schema.unknown_fields(object) {
        let name = path.to_string();
        let near = schema.nearest_name(&path);
        let finding = findings.deny(&codes::UNKNOWN_FIELD, path, format!("unknown field {name:?}"));
        if let Some(near) = near {
            finding.help(format!("did you mean {near:?}?"));
        }
    }

    let mut stored = object.clone();
    place(&mut stored, kind, namespace);
    schema.apply_defaults(&mut stored);
    // The status of a new object is dropped before validation.
    if let Some(map) = stored.as_object_mut() {
        map.remove("status");
    }
    let defaulted = stored.clone();
    mutate(kind, &mut stored, facts);
    schema.apply_defaults(&mut stored);

    let mut shape = Findings::default();
    schema.validate(&stored, &mut shape);
    schema::metadata::check(object, kind, &mut shape);
    let mut cel = Findings::default();
    check_cel(kind, &stored, &shape, &mut cel);
    shape.append(cel);
    let fits = !shape.denies();
    findings.append(shape);
    if let Some(admission) = kind.admission.as_ref().filter(|_| fits) {
        match (admission.judge)(&stored, facts) {
            Ok(rules) => findings.append(rules),
            Err(undecodable) => findings.append(denied(undecodable)),
        }
    }
    Judgement { findings, stored, defaulted }
}

/// Puts a namespaced object into the default namespace, and takes the namespace off others, as the API server does.
/// Nulls in metadata become what Go's decoder makes of them: nothing, or the empty string in a map of strings. What
/// only the server sets is dropped.
fn place(object: &mut Value, kind: &KindInfo, namespace: &str) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let set_by_server =
        ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "uid"];
    metadata.retain(|name, value| !value.is_null() && !set_by_server.contains(&name.as_str()));
    for map in ["labels", "annotations"] {
        for (_, value) in metadata.get_mut(map).and_then(Value::as_object_mut).into_iter().flatten() {
            if value.is_null() {
                *value = json!("");
            }
        }
    }
    if !kind.namespaced {
        metadata.remove("namespace");
    } else if metadata.get("namespace").is_none_or(|value| value.is_null() || value == "") {
        metadata.insert("namespace".to_owned(), json!(namespace));
    }
}

/// What the mutating door would do; an object that does not decode passes it unchanged.
fn mutate(kind: &KindInfo, object: &mut Value, facts: &Facts<'_>) {
    let Some(mutate) = kind.admission.as_ref().and_then(|admission| admission.mutate) else { return };
    let Ok(edits) = mutate(object, facts) else { return };
    let mut patched = object.clone();
    if edits.apply(&mut patched).is_ok() {
        *object = patched;
    }
}

/// The Rust twins of the CRD's CEL rules, at every value that a rule stands at.
///
/// A rule that reads a field which the schema refuses is left out: its finding would only be an echo.
fn check_cel(kind: &KindInfo, object: &Value, shape: &Findings, out: &mut Findings) {
    for cel in kind.cel {
        for (path, value) in places(cel.at, object) {
            let echoes = shape.errors().any(|error| reads(cel.expression, &path, &error.path));
            if !echoes && !value.is_null() && !(cel.holds)(value) {
                out.push(Severity::Error, cel.rule, path, cel.rule.title.to_owned());
            }
        }
    }
}

/// The values that a rule stands at: lists on the way are followed into each item.
fn places<'a>(at: &[&str], object: &'a Value) -> Vec<(FieldPath, &'a Value)> {
    let mut places = vec![(FieldPath::root(), object)];
    for step in at {
        places = places
            .into_iter()
            .flat_map(|(path, value)| match (*step, value) {
                ("[]", Value::Array(items)) => {
                    items.iter().enumerate().map(|(index, item)| (path.index(index), item)).collect()
                }
                (name, _) => {
                    value.get(name).map(|value| (path.key(name), value)).into_iter().collect::<Vec<_>>()
                }
            })
            .collect();
    }
    places
}

/// Does an expression that stands at `place` read what is wrong at `wrong`?
fn reads(expression: &str, place: &FieldPath, wrong: &FieldPath) -> bool {
    let (place, wrong) = (place.segments(), wrong.segments());
    match wrong.get(place.len()) {
        _ if !wrong.iter().zip(place).all(|(one, other)| one == other) => false,
        Some(Segment::Field(name)) => expression.contains(&format!("self.{name}")),
        Some(Segment::Index(_)) | None => true,
    }
}
