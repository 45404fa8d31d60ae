//! The steps before validation: which fields the API server does not know, and what it fills in.

use serde_json::Value;

use super::Schema;
use crate::rule::FieldPath;

impl Schema {
    /// Paths of fields that the schema does not have; `apiVersion`, `kind` and `metadata` are judged elsewhere.
    pub fn unknown_fields(&self, object: &Value) -> Vec<FieldPath> {
        let mut unknown = Vec::new();
        for (name, value) in object.as_object().into_iter().flatten() {
            if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                continue;
            }
            let path = FieldPath::root().key(name.as_str());
            match self.properties.get(name) {
                Some(property) => property.find_unknown(value, &path, &mut unknown),
                None => unknown.push(path),
            }
        }
        unknown
    }

    fn find_unknown(&self, value: &Value, path: &FieldPath, unknown: &mut Vec<FieldPath>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let path = path.key(name.as_str());
                    match (self.properties.get(name), &self.additional) {
                        (Some(schema), _) => schema.find_unknown(value, &path, unknown),
                        (None, Some(schema)) => schema.find_unknown(value, &path, unknown),
                        (None, None) if self.preserve_unknown => {}
                        (None, None) => unknown.push(path),
                    }
                }
            }
            Value::Array(items) => {
                let nothing = Self::default();
                let schema = self.items.as_deref().unwrap_or(&nothing);
                for (index, item) in items.iter().enumerate() {
                    schema.find_unknown(item, &path.index(index), unknown);
                }
            }
            _ => {}
        }
    }

    /// The nearest known name of an unknown field, for the hint.
    pub fn nearest_name(&self, path: &FieldPath) -> Option<String> {
        use crate::rule::path::Segment;
        let (last, holders) = path.segments().split_last()?;
        let mut schema = self;
        for segment in holders {
            schema = match segment {
                Segment::Index(_) => schema.items.as_deref()?,
                Segment::Field(name) => {
                    schema.properties.get(name.as_ref()).or(schema.additional.as_deref())?
                }
            };
        }
        let Segment::Field(wrong) = last else { return None };
        crate::rule::nearest::nearest(wrong, schema.properties.keys().map(String::as_str)).map(str::to_owned)
    }

    /// Drops nulls that have no meaning and fills in defaults, top down, as the API server does on decoding.
    pub fn apply_defaults(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.retain(|name, value| {
                    let schema = self.properties.get(name).or(self.additional.as_deref());
                    let drops = schema.is_some_and(|schema| !schema.nullable && schema.default.is_none());
                    !(value.is_null() && drops)
                });
                for (name, schema) in &self.properties {
                    let Some(default) = &schema.default else { continue };
                    let missing = map.get(name).is_none_or(|value| value.is_null() && !schema.nullable);
                    if missing {
                        map.insert(name.clone(), default.clone());
                    }
                }
                for (name, value) in map.iter_mut() {
                    if let Some(schema) = self.properties.get(name).or(self.additional.as_deref()) {
                        schema.apply_defaults(value);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(schema) = &self.items {
                    for item in items {
                        schema.apply_defaults(item);
                    }
                }
            }
            _ => {}
        }
    }
}
