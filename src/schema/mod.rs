//! The structural schemas of our CRDs, judged offline as the API server judges them.
//!
//! No general JSON Schema library gives the API server's verdicts (list-map keys, int32, Go's formats, pruning, null
//! handling), so this is one of our own, for exactly what our CRDs use; a test fails when a CRD uses more. It is
//! proven by comparing verdicts with the real API server on generated objects.

pub mod codes;
mod defaults;
mod formats;
pub mod metadata;
mod validate;

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde_json::Value;

use crate::kinds::{KindInfo, TABLE};
use crate::manifests::crd;

/// One node of a structural schema.
#[derive(Debug, Default)]
pub struct Schema {
    kind: Type,
    nullable: bool,
    preserve_unknown: bool,
    properties: BTreeMap<String, Schema>,
    additional: Option<Box<Schema>>,
    items: Option<Box<Schema>>,
    required: Vec<String>,
    values: Option<Vec<Value>>,
    pattern: Option<Regex>,
    length: Bounds<usize>,
    range: Bounds<f64>,
    count: Bounds<usize>,
    format: Option<Format>,
    default: Option<Value>,
    list: ListType,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Type {
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
}

impl Type {
    fn as_str(self) -> &'static str {
        match self {
            Self::Any => "anything",
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::IntOrString => "integer or string",
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Bounds<T> {
    least: Option<T>,
    most: Option<T>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Int32,
    Int64,
    DateTime,
    Byte,
}

#[derive(Debug, Default)]
enum ListType {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// What a schema says that this module does not understand. Our CRDs say nothing of the kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the schema says {0:?}, which is not understood")]
pub struct Unsupported(pub String);

/// The schema of a kind, compiled once.
pub fn of(kind: &'static KindInfo) -> &'static Schema {
    static SCHEMAS: LazyLock<HashMap<&'static str, OnceLock<Schema>>> =
        LazyLock::new(|| TABLE.iter().map(|kind| (kind.kind, OnceLock::new())).collect());
    SCHEMAS[kind.kind].get_or_init(|| {
        Schema::compile(&crd::schema(kind)).expect("a test compiles the schema of every kind")
    })
}

impl Schema {
    /// Reads an `openAPIV3Schema`.
    ///
    /// # Errors
    /// When it uses a word that is not judged here.
    pub fn compile(schema: &Value) -> Result<Self, Unsupported> {
        let mut compiled = Self::default();
        let unsupported = |word: &str, value: &Value| Unsupported(format!("{word}: {value}"));
        let bound = |value: &Value| value.as_u64().and_then(|bound| usize::try_from(bound).ok());
        for (word, value) in schema.as_object().ok_or_else(|| Unsupported(schema.to_string()))? {
            match word.as_str() {
                "type" => {
                    compiled.kind = match value.as_str() {
                        Some("object") => Type::Object,
                        Some("array") => Type::Array,
                        Some("string") => Type::String,
                        Some("integer") => Type::Integer,
                        Some("number") => Type::Number,
                        Some("boolean") => Type::Boolean,
                        _ => return Err(unsupported(word, value)),
                    }
                }
                "properties" => {
                    for (name, property) in value.as_object().into_iter().flatten() {
                        compiled.properties.insert(name.clone(), Self::compile(property)?);
                    }
                }
                "additionalProperties" => compiled.additional = Some(Box::new(Self::compile(value)?)),
                "items" => compiled.items = Some(Box::new(Self::compile(value)?)),
                "required" => {
                    let names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                    compiled.required = names.map(str::to_owned).collect();
                }
                "enum" => compiled.values = value.as_array().cloned(),
                "pattern" => {
                    let pattern = value.as_str().unwrap_or_default();
                    compiled.pattern = Some(Regex::new(pattern).map_err(|_| unsupported(word, value))?);
                }
                "minLength" => compiled.length.least = bound(value),
                "maxLength" => compiled.length.most = bound(value),
                "minItems" | "minProperties" => compiled.count.least = bound(value),
                "maxItems" | "maxProperties" => compiled.count.most = bound(value),
                "minimum" => compiled.range.least = value.as_f64(),
                "maximum" => compiled.range.most = value.as_f64(),
                "format" => {
                    compiled.format = Some(match value.as_str() {
                        Some("int32") => Format::Int32,
                        Some("int64") => Format::Int64,
                        Some("date-time") => Format::DateTime,
                        Some("byte") => Format::Byte,
                        _ => return Err(unsupported(word, value)),
                    });
                }
                "default" => compiled.default = Some(value.clone()),
                "nullable" => compiled.nullable = value.as_bool().unwrap_or(false),
                "x-kubernetes-preserve-unknown-fields" => {
                    compiled.preserve_unknown = value.as_bool().unwrap_or(false);
                }
                "x-kubernetes-int-or-string" => compiled.kind = Type::IntOrString,
                "x-kubernetes-list-type" => match value.as_str() {
                    Some("atomic") => {}
                    Some("set") => compiled.list = ListType::Set,
                    Some("map") => {
                        let keys = schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten();
                        compiled.list =
                            ListType::Map(keys.filter_map(Value::as_str).map(str::to_owned).collect());
                    }
                    _ => return Err(unsupported(word, value)),
                },
                "description"
                | "title"
                | "x-kubernetes-list-map-keys"
                | "x-kubernetes-map-type"
                | "x-kubernetes-validations" => {}
                _ => return Err(unsupported(word, value)),
            }
        }
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_understood() {
        for kind in TABLE {
            if let Err(unsupported) = Schema::compile(&crd::schema(kind)) {
                panic!("{}: {unsupported}", kind.kind);
            }
        }
    }

    /// Go's regexp and Rust's read these patterns alike: no Unicode-aware class, no look-around, no odd escape.
    #[test]
    fn patterns_are_read_alike_by_go_and_rust() {
        fn walk(schema: &Value, kind: &str) {
            if let Some(pattern) = schema["pattern"].as_str() {
                let plain = !["\\d", "\\w", "\\s", "\\b", "(?", "\\p", "[[", "&&", "~~", "--"]
                    .iter()
                    .any(|odd| pattern.replace("(?:", "(").contains(odd));
                assert!(plain, "{kind}: {pattern} may be read differently");
            }
            match schema {
                Value::Object(map) => map.values().for_each(|value| walk(value, kind)),
                Value::Array(items) => items.iter().for_each(|value| walk(value, kind)),
                _ => {}
            }
        }
        for kind in TABLE {
            walk(&crd::schema(kind), kind.kind);
        }
    }
}
