//! `apiVersion`, `kind` and `metadata` as the API server judges them on CREATE (`ValidateObjectMeta`).

use serde_json::{Map, Value};

use crate::kinds::KindInfo;
use crate::model::naming::{is_label, is_name_part, is_qualified, is_subdomain};
use crate::rule::{FieldPath, Findings, quoted};
use crate::schema::codes;

/// Labels and annotations may have at most this many bytes of annotations together.
const MOST_ANNOTATIONS: usize = 256 * 1024;

/// A field's name, and the check that its decoding into Go's ObjectMeta amounts to.
type Field = (&'static str, fn(&Value) -> bool);

const FIELDS: &[Field] = &[
    ("name", Value::is_string),
    ("generateName", Value::is_string),
    ("namespace", Value::is_string),
    ("selfLink", Value::is_string),
    ("uid", Value::is_string),
    ("resourceVersion", Value::is_string),
    ("generation", is_int64),
    ("creationTimestamp", is_time),
    ("deletionTimestamp", is_time),
    ("deletionGracePeriodSeconds", is_int64),
    ("labels", is_text_map),
    ("annotations", is_text_map),
    ("ownerReferences", Value::is_array),
    ("finalizers", is_text_list),
    ("managedFields", Value::is_array),
];

const OWNER_FIELDS: &[Field] = &[
    ("apiVersion", Value::is_string),
    ("kind", Value::is_string),
    ("name", Value::is_string),
    ("uid", Value::is_string),
    ("controller", Value::is_boolean),
    ("blockOwnerDeletion", Value::is_boolean),
];

fn is_int64(value: &Value) -> bool {
    value.is_i64() || value.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() < 9.2e18)
}

fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| {
        // Go's RFC 3339: capital T and Z, and a zone.
        text.as_bytes().get(10) == Some(&b'T')
            && !text.ends_with('z')
            && text.parse::<jiff::Timestamp>().is_ok()
    })
}

fn is_text_map(value: &Value) -> bool {
    value.as_object().is_some_and(|map| map.values().all(|value| value.is_string() || value.is_null()))
}

fn is_text_list(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().all(|value| value.is_string() || value.is_null()))
}

/// Judges the metadata of an object that is created.
pub fn check(object: &Value, kind: &KindInfo, out: &mut Findings) {
    let path = FieldPath::of(&["metadata"]);
    let empty = Map::new();
    let metadata = match &object["metadata"] {
        Value::Object(map) => map,
        Value::Null => &empty,
        other => {
            out.deny(&codes::METADATA, path, format!("metadata must be an object, not {other}"));
            return;
        }
    };
    check_fields(metadata, FIELDS, &path, out);
    check_names(metadata, &path, kind, out);
    check_labels(metadata, &path, out);
    check_annotations(metadata, &path, out);
    check_finalizers(metadata, &path, out);
    check_owners(metadata, &path, out);
}

fn check_fields(map: &Map<String, Value>, fields: &[Field], path: &FieldPath, out: &mut Findings) {
    for (name, value) in map {
        match fields.iter().find(|(field, _)| field == name) {
            None => {
                let near = crate::rule::nearest::nearest(name, fields.iter().map(|(field, _)| *field));
                let finding = out.deny(
                    &codes::UNKNOWN_FIELD,
                    path.key(name.as_str()),
                    format!("unknown field {name:?}"),
                );
                if let Some(near) = near {
                    finding.help(format!("did you mean {near:?}?"));
                }
            }
            Some((_, fits)) if !value.is_null() && !fits(value) => {
                out.deny(&codes::TYPE, path.key(name.as_str()), format!("{name} has the wrong type"));
            }
            Some(_) => {}
        }
    }
}

fn text<'a>(map: &'a Map<String, Value>, name: &str) -> &'a str {
    map.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn check_names(metadata: &Map<String, Value>, path: &FieldPath, kind: &KindInfo, out: &mut Findings) {
    let (name, prefix) = (text(metadata, "name"), text(metadata, "generateName"));
    if name.is_empty() && prefix.is_empty() {
        out.deny(&codes::METADATA, path.field("name"), "name or generateName is required");
    }
    if !name.is_empty() && !is_subdomain(name) {
        let message = format!("{} is not a name: lower case letters, digits, '-' and '.' only", quoted(name));
        out.deny(&codes::METADATA, path.field("name"), message);
    }
    // A trailing dash is fine in a prefix: five characters follow.
    let masked = match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut head = rest.to_owned();
            head.pop();
            head + "a"
        }
        _ => prefix.to_owned(),
    };
    let generated = format!("{}bbbbb", &prefix[..prefix.len().min(58)]);
    if !prefix.is_empty() && !(is_subdomain(&masked) && (!name.is_empty() || is_subdomain(&generated))) {
        out.deny(
            &codes::METADATA,
            path.field("generateName"),
            format!("{} is not the start of a name", quoted(prefix)),
        );
    }
    let namespace = text(metadata, "namespace");
    if kind.namespaced && !namespace.is_empty() && !is_label(namespace) {
        out.deny(
            &codes::METADATA,
            path.field("namespace"),
            format!("{} is not a namespace", quoted(namespace)),
        );
    }
}

fn check_labels(metadata: &Map<String, Value>, path: &FieldPath, out: &mut Findings) {
    let path = path.field("labels");
    for (key, value) in metadata.get("labels").and_then(Value::as_object).into_iter().flatten() {
        if !is_qualified(key) {
            out.deny(
                &codes::METADATA,
                path.key(key.as_str()),
                format!("{} is not a label name", quoted(key)),
            );
        }
        let value = value.as_str().unwrap_or_default();
        if !(value.is_empty() || is_name_part(value)) {
            out.deny(
                &codes::METADATA,
                path.key(key.as_str()),
                format!("{} is not a label value", quoted(value)),
            );
        }
    }
}

fn check_annotations(metadata: &Map<String, Value>, path: &FieldPath, out: &mut Findings) {
    let path = path.field("annotations");
    let mut size = 0;
    for (key, value) in metadata.get("annotations").and_then(Value::as_object).into_iter().flatten() {
        size += key.len() + value.as_str().unwrap_or_default().len();
        if !is_qualified(&key.to_lowercase()) {
            out.deny(
                &codes::METADATA,
                path.key(key.as_str()),
                format!("{} is not an annotation name", quoted(key)),
            );
        }
    }
    if size > MOST_ANNOTATIONS {
        out.deny(
            &codes::METADATA,
            path,
            format!("{size} bytes of annotations, at most {MOST_ANNOTATIONS} are allowed"),
        );
    }
}

fn check_finalizers(metadata: &Map<String, Value>, path: &FieldPath, out: &mut Findings) {
    let path = path.field("finalizers");
    let list: Vec<&str> = metadata
        .get("finalizers")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|value| value.as_str().unwrap_or_default())
        .collect();
    for (index, finalizer) in list.iter().enumerate() {
        if !is_qualified(finalizer) {
            out.deny(
                &codes::METADATA,
                path.index(index),
                format!("{} is not a finalizer name", quoted(finalizer)),
            );
        }
    }
    if list.contains(&"orphan") && list.contains(&"foregroundDeletion") {
        out.deny(&codes::METADATA, path, "orphan and foregroundDeletion exclude each other");
    }
}

fn check_owners(metadata: &Map<String, Value>, path: &FieldPath, out: &mut Findings) {
    let path = path.field("ownerReferences");
    let mut controllers = 0;
    for (index, owner) in
        metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten().enumerate()
    {
        let path = path.index(index);
        let empty = Map::new();
        let owner = match owner {
            Value::Object(map) => map,
            Value::Null => &empty,
            _ => {
                out.deny(&codes::TYPE, path, "an owner reference must be an object");
                continue;
            }
        };
        check_fields(owner, OWNER_FIELDS, &path, out);
        for field in ["apiVersion", "kind", "name", "uid"] {
            if text(owner, field).is_empty() {
                out.deny(&codes::METADATA, path.field(field), format!("{field} must not be empty"));
            }
        }
        if text(owner, "apiVersion").matches('/').count() > 1 || text(owner, "apiVersion").ends_with('/') {
            out.deny(&codes::METADATA, path.field("apiVersion"), "the version is missing");
        }
        controllers += usize::from(owner.get("controller") == Some(&Value::Bool(true)));
    }
    if controllers > 1 {
        out.deny(&codes::METADATA, path, "only one owner can be the controller");
    }
}
