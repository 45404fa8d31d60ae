//! Validation of a defaulted object against its schema. Everything is collected.

use std::collections::HashSet;

use serde_json::Value;

use super::{Format, ListType, Schema, Type, formats};
use crate::rule::{FieldPath, Findings, Rule, quoted};
use crate::schema::codes;

impl Schema {
    /// Judges a whole object; `apiVersion`, `kind` and `metadata` are judged elsewhere.
    pub fn validate(&self, object: &Value, out: &mut Findings) {
        let root = FieldPath::root();
        for name in &self.required {
            if object.get(name).is_none() {
                missing(&root, name, out);
            }
        }
        for (name, schema) in &self.properties {
            if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata")
                && let Some(value) = object.get(name)
            {
                schema.judge(value, &root.key(name.as_str()), out);
            }
        }
    }

    fn judge(&self, value: &Value, path: &FieldPath, out: &mut Findings) {
        if value.is_null() {
            if !self.nullable && self.kind != Type::Any || self.values.is_some() {
                self.wrong_type(value, path, out);
            }
            return;
        }
        if !self.has_type(value) {
            self.wrong_type(value, path, out);
            return;
        }
        if let Some(values) = &self.values
            && !values.contains(value)
        {
            let allowed: Vec<String> = values.iter().map(shown).collect();
            let message = format!("{} is none of {}", shown(value), allowed.join(", "));
            let finding = out.deny(&codes::ENUM, path.clone(), message);
            let names = values.iter().filter_map(Value::as_str);
            if let Some(near) = value.as_str().and_then(|text| crate::rule::nearest::nearest(text, names)) {
                finding.help(format!("did you mean {near:?}?"));
            }
        }
        match value {
            Value::String(text) => self.judge_text(text, path, out),
            Value::Number(number) => self.judge_number(number, path, out),
            Value::Array(items) => self.judge_list(items, path, out),
            Value::Object(map) => self.judge_object(map, path, out),
            _ => {}
        }
    }

    fn has_type(&self, value: &Value) -> bool {
        match (self.kind, value) {
            (Type::Any, _)
            | (Type::Object, Value::Object(_))
            | (Type::Array, Value::Array(_))
            | (Type::String | Type::IntOrString, Value::String(_))
            | (Type::Number, Value::Number(_))
            | (Type::Boolean, Value::Bool(_)) => true,
            (Type::Integer | Type::IntOrString, Value::Number(number)) => is_integer(number),
            _ => false,
        }
    }

    fn wrong_type(&self, value: &Value, path: &FieldPath, out: &mut Findings) {
        let message = format!("expected {}, got {}", self.kind.as_str(), type_of(value));
        out.deny(&codes::TYPE, path.clone(), message);
    }

    fn judge_text(&self, text: &str, path: &FieldPath, out: &mut Findings) {
        let length = text.chars().count();
        if let Some(most) = self.length.most.filter(|most| length > *most) {
            out.deny(
                &codes::LENGTH,
                path.clone(),
                format!("{length} characters, at most {most} are allowed"),
            );
        }
        if let Some(least) = self.length.least.filter(|least| length < *least) {
            out.deny(
                &codes::LENGTH,
                path.clone(),
                format!("{length} characters, at least {least} are needed"),
            );
        }
        if let Some(pattern) = self.pattern.as_ref().filter(|pattern| !pattern.is_match(text)) {
            let message = format!("{} does not match {}", quoted(text), pattern.as_str());
            out.deny(&codes::PATTERN, path.clone(), message);
        }
        let (holds, name) = match self.format {
            Some(Format::DateTime) => (formats::is_date_time(text), "an RFC 3339 time"),
            Some(Format::Byte) => (formats::is_base64(text), "base64"),
            _ => (true, ""),
        };
        if !holds {
            out.deny(&codes::FORMAT, path.clone(), format!("{} is not {name}", quoted(text)));
        }
    }

    fn judge_number(&self, number: &serde_json::Number, path: &FieldPath, out: &mut Findings) {
        let value = number.as_f64().unwrap_or(f64::NAN);
        if let Some(least) = self.range.least.filter(|least| value < *least) {
            out.deny(&codes::BOUND, path.clone(), format!("{number} is less than {least}"));
        }
        if let Some(most) = self.range.most.filter(|most| value > *most) {
            out.deny(&codes::BOUND, path.clone(), format!("{number} is more than {most}"));
        }
        let fits = self.format != Some(Format::Int32)
            || (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value);
        if !fits {
            out.deny(&codes::BOUND, path.clone(), format!("{number} does not fit into 32 bits"));
        }
    }

    fn judge_count(&self, count: usize, path: &FieldPath, out: &mut Findings) {
        if let Some(most) = self.count.most.filter(|most| count > *most) {
            out.deny(&codes::COUNT, path.clone(), format!("{count} entries, at most {most} are allowed"));
        }
        if let Some(least) = self.count.least.filter(|least| count < *least) {
            out.deny(&codes::COUNT, path.clone(), format!("{count} entries, at least {least} are needed"));
        }
    }

    fn judge_list(&self, items: &[Value], path: &FieldPath, out: &mut Findings) {
        self.judge_count(items.len(), path, out);
        if let Some(schema) = &self.items {
            for (index, item) in items.iter().enumerate() {
                schema.judge(item, &path.index(index), out);
            }
        }
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let identity = match &self.list {
                ListType::Atomic => return,
                ListType::Set => item.to_string(),
                ListType::Map(keys) => identity(item, keys),
            };
            if !seen.insert(identity.clone()) {
                let message = format!("{identity} is in the list already");
                out.deny(&codes::DUPLICATE_ITEM, path.index(index), message);
            }
        }
    }

    fn judge_object(&self, map: &serde_json::Map<String, Value>, path: &FieldPath, out: &mut Findings) {
        self.judge_count(map.len(), path, out);
        for name in &self.required {
            if !map.contains_key(name) {
                missing(path, name, out);
            }
        }
        for (name, value) in map {
            if let Some(schema) = self.properties.get(name).or(self.additional.as_deref()) {
                schema.judge(value, &path.key(name.as_str()), out);
            }
        }
    }
}

fn missing(path: &FieldPath, name: &str, out: &mut Findings) {
    let rule: &'static Rule = &codes::REQUIRED;
    out.deny(rule, path.key(name), format!("{name} is required"));
}

/// What a list-map entry is known by.
fn identity(item: &Value, keys: &[String]) -> String {
    let parts: Vec<String> =
        keys.iter().filter_map(|key| item.get(key).map(|value| format!("{key}={}", shown(value)))).collect();
    parts.join(", ")
}

/// Any 64-bit literal; of floats those that are whole and exact.
fn is_integer(number: &serde_json::Number) -> bool {
    const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;
    number.is_i64()
        || number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() <= LARGEST_EXACT)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_integer(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}
