//! What the mutating door changes, recorded as it is decided.
//!
//! There is no before and after to compare: `defaults` says what it sets and where, and the JSON patch is exactly
//! those edits against the raw object, so unknown fields, number spellings and key order survive.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::model::object::Meta;
use crate::rule::FieldPath;

/// One change of the object.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    op: &'static str,
    path: FieldPath,
    value: Option<Value>,
}

/// The changes of one object, in the order in which they apply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edits {
    list: Vec<Edit>,
    made_annotations: bool,
}

impl Edits {
    /// Sets a field that is absent, or appends to a list when the path ends in its length.
    pub fn add(&mut self, path: FieldPath, value: impl Into<Value>) {
        self.list.push(Edit { op: "add", path, value: Some(value.into()) });
    }

    /// Gives a present field another value.
    pub fn replace(&mut self, path: FieldPath, value: impl Into<Value>) {
        self.list.push(Edit { op: "replace", path, value: Some(value.into()) });
    }

    /// Takes a present field or list item away.
    pub fn remove(&mut self, path: FieldPath) {
        self.list.push(Edit { op: "remove", path, value: None });
    }

    /// Makes an annotation have this value, or be absent. Records nothing when it already is so.
    pub fn annotate(&mut self, metadata: &Meta, key: &str, value: Option<Cow<'_, str>>) {
        let path = FieldPath::annotation(key);
        match (metadata.annotation(key), value) {
            (None, None) => {}
            (Some(old), Some(new)) if old == new => {}
            (Some(_), Some(new)) => self.replace(path, new.into_owned()),
            (Some(_), None) => self.remove(path),
            (None, Some(new)) => {
                if metadata.annotations.is_none() && !self.made_annotations {
                    self.made_annotations = true;
                    self.add(FieldPath::of(&["metadata", "annotations"]), json!({}));
                }
                self.add(path, new.into_owned());
            }
        }
    }

    /// Nothing changes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The RFC 6902 document.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96 * self.list.len() + 2);
        out.push(b'[');
        for (position, Edit { op, path, value }) in self.list.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"op\":\"");
            out.extend_from_slice(op.as_bytes());
            out.extend_from_slice(b"\",\"path\":");
            write_json(&mut out, &path.pointer());
            if let Some(value) = value {
                out.extend_from_slice(b",\"value\":");
                write_json(&mut out, value);
            }
            out.push(b'}');
        }
        out.push(b']');
        out
    }

    /// Applies the edits to a decoded object: what `check` and `diff` do.
    ///
    /// # Errors
    /// When the object does not have the shape that the edits were made for.
    pub fn apply(&self, object: &mut Value) -> Result<(), json_patch::PatchError> {
        let patch: json_patch::Patch = serde_json::from_slice(&self.to_json())
            .expect("edits are written as RFC 6902; a test parses them");
        json_patch::patch(object, &patch)
    }
}

/// Writes a value that cannot fail to serialise (strings and JSON values) into memory.
pub(crate) fn write_json(out: &mut Vec<u8>, value: &(impl serde::Serialize + ?Sized)) {
    serde_json::to_writer(out, value).expect("strings and JSON values always serialise into memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_numbers_and_order_survive() {
        let mut object = json!({"z": 1.50, "a": {"unknown": 12_345_678_901_234_567_890_u64}});
        let mut edits = Edits::default();
        edits.annotate(&Meta::default(), "usher.dev/a~b", Some("x\"y".into()));
        assert!(edits.apply(&mut object).is_err(), "there is no metadata to annotate");
        object["metadata"] = json!({});
        edits.apply(&mut object).unwrap();
        assert_eq!(object["metadata"]["annotations"]["usher.dev/a~b"], json!("x\"y"));
        assert_eq!(object["a"]["unknown"].to_string(), "12345678901234567890");
    }

    #[test]
    fn an_annotation_that_is_right_already_is_no_edit() {
        let metadata = Meta {
            annotations: Some([("usher.dev/x".to_owned(), "1".to_owned())].into()),
            ..Meta::default()
        };
        let mut edits = Edits::default();
        edits.annotate(&metadata, "usher.dev/x", Some("1".into()));
        edits.annotate(&metadata, "usher.dev/y", None);
        assert!(edits.is_empty());
        assert_eq!(edits.to_json(), b"[]");
        edits.annotate(&metadata, "usher.dev/x", None);
        assert_eq!(edits.to_json(), br#"[{"op":"remove","path":"/metadata/annotations/usher.dev~1x"}]"#);
    }
}
