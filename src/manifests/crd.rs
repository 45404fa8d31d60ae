//! The CRDs: what the API types declare, made exact.
//!
//! The derive marks every optional field as nullable; Kubernetes' own types are not, and a null that is kept is a third
//! state that no rule expects. CEL rules come from the table, where each stands beside its Rust twin.

use serde_json::{Map, Value, json};

use crate::kinds::{Cel, KindInfo};

/// The finished CRD of a kind.
pub fn crd(kind: &KindInfo) -> Value {
    let mut crd = serde_json::to_value((kind.crd)()).expect("a CRD is plain data");
    let spec = crd["spec"].as_object_mut().expect("a CRD has a spec");
    let mut version = spec["versions"][0].take();
    let schema = &mut version["schema"]["openAPIV3Schema"];
    clean(schema);
    if kind.is_guest {
        drop_defaults(schema);
    }
    for cel in kind.cel {
        insert_cel(schema, cel);
    }
    let versions = kind.versions.iter().enumerate().map(|(position, name)| {
        let mut version = version.clone();
        version["name"] = json!(name);
        version["served"] = json!(true);
        version["storage"] = json!(position == 0);
        version
    });
    spec.insert("versions".to_owned(), Value::Array(versions.collect()));
    if kind.versions.len() > 1 {
        spec.insert("conversion".to_owned(), json!({"strategy": "None"}));
    }
    crd["metadata"]["labels"] = json!({"app.kubernetes.io/name": "usher"});
    drop_empty_lists(&mut crd);
    crd
}

/// The schema of the stored version.
pub fn schema(kind: &KindInfo) -> Value {
    crd(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
}

/// Takes away what the derive adds and the API server would warn of or read differently.
fn clean(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("nullable").is_some_and(Value::is_boolean) {
                map.remove("nullable");
            }
            // Every optional enum has null among its values.
            if let Some(Value::Array(values)) = map.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            let known = |format: &str| {
                matches!(format, "int32" | "int64" | "float" | "double" | "date-time" | "byte")
            };
            if map.get("format").and_then(Value::as_str).is_some_and(|format| !known(format)) {
                map.remove("format");
            }
            for value in map.values_mut() {
                clean(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean),
        _ => {}
    }
}

/// What a field of a guest is when nobody wrote it is for its owner to say.
fn drop_defaults(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else { return };
    map.remove("default");
    for property in map.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        drop_defaults(property.1);
    }
    if let Some(items) = map.get_mut("items") {
        drop_defaults(items);
    }
}

fn insert_cel(schema: &mut Value, cel: &Cel) {
    let node = cel.at.iter().fold(schema, |node, step| match *step {
        "[]" => &mut node["items"],
        name => &mut node["properties"][name],
    });
    let node =
        node.as_object_mut().expect("a CEL rule stands at a place that the schema has; a test walks them");
    let rules = node.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    let message = format!("{} ({}); {}", cel.rule.title, cel.rule.code, cel.rule.fix);
    let rule = json!({"rule": cel.expression, "message": message});
    rules.as_array_mut().expect("validations are a list").push(rule);
}

/// `shortNames: []` and the like say nothing.
fn drop_empty_lists(crd: &mut Value) {
    let drop = |map: &mut Map<String, Value>| {
        map.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
    };
    if let Some(names) = crd["spec"]["names"].as_object_mut() {
        drop(names);
    }
    for version in crd["spec"]["versions"].as_array_mut().into_iter().flatten() {
        if let Some(version) = version.as_object_mut() {
            drop(version);
        }
    }
}
