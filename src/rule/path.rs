//! Where in an object something is: `spec.matchers[2].value`.
//!
//! Paths are built only when a finding is made, so the happy road pays nothing for them. They have two forms: the
//! dotted one that Kubernetes uses in `details.causes`, and the JSON pointer that patches and source maps use.

use std::borrow::Cow;
use std::fmt;

use crate::model::selector::Place;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// A named field.
    Field(Cow<'static, str>),
    /// An item of a list.
    Index(usize),
}

/// The place of a value inside an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of nested fields below the object: `FieldPath::of(&["spec", "comment"])`.
    pub fn of(fields: &[&'static str]) -> Self {
        Self(fields.iter().map(|field| Segment::Field(Cow::Borrowed(field))).collect())
    }

    /// The path of a field below `spec`, the most common start.
    pub fn spec(field: &'static str) -> Self {
        Self::of(&["spec", field])
    }

    /// The path of one annotation.
    pub fn annotation(key: &str) -> Self {
        Self::of(&["metadata", "annotations"]).key(key)
    }

    /// This path, one field deeper.
    #[must_use]
    pub fn field(&self, name: &'static str) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Field(Cow::Borrowed(name)));
        path
    }

    /// This path, one field deeper, by a name that the object brought along.
    #[must_use]
    pub fn key(&self, name: &str) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Field(Cow::Owned(name.to_owned())));
        path
    }

    /// This path, one list item deeper.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }

    /// A place in the label selector that is here.
    #[must_use]
    pub fn in_selector(&self, place: &Place) -> Self {
        match place {
            Place::Label(key) => self.field("matchLabels").key(key),
            Place::Expression(index, field) => self.field("matchExpressions").index(*index).field(field),
        }
    }

    /// The path of what holds this value, or nothing at the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, holder) = self.0.split_last()?;
        Some(Self(holder.to_vec()))
    }

    /// The steps from the object to the value.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The same place in any list item: what stays equal when an item moves in its list.
    #[must_use]
    pub fn without_indexes(&self) -> Self {
        Self(self.0.iter().filter(|segment| matches!(segment, Segment::Field(_))).cloned().collect())
    }

    /// RFC 6901 form, `/spec/matchers/2/value`.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Field(name) => push_escaped(&mut pointer, name),
                Segment::Index(index) => pointer.push_str(&index.to_string()),
            }
        }
        pointer
    }
}

/// Appends a key to a JSON pointer: `~` and `/` have escapes of their own there.
fn push_escaped(pointer: &mut String, key: &str) {
    for character in key.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// Dotted form as Kubernetes writes it; keys that are not plain names stand in brackets.
impl fmt::Display for FieldPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(out, "[{index}]")?,
                Segment::Field(name) if is_plain(name) => {
                    if position > 0 {
                        out.write_str(".")?;
                    }
                    out.write_str(name)?;
                }
                Segment::Field(name) => write!(out, "[{name}]")?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn prints_as_kubernetes_does() {
        let path = FieldPath::spec("matchers").index(2).field("value");
        assert_eq!(path.to_string(), "spec.matchers[2].value");
        assert_eq!(path.pointer(), "/spec/matchers/2/value");
        assert_eq!(
            FieldPath::annotation("usher.dev/adopt").to_string(),
            "metadata.annotations[usher.dev/adopt]"
        );
        assert_eq!(path.without_indexes().to_string(), "spec.matchers.value");
        assert_eq!(FieldPath::root().to_string(), "");
    }

    proptest! {
        /// Whatever the keys hold, the pointer leads to the value.
        #[test]
        fn the_pointer_finds_the_value(keys in proptest::collection::vec(".{0,8}", 1..6), index in 0_usize..3) {
            let mut path = FieldPath::root();
            let mut value = json!("found");
            for key in keys.iter().rev() {
                value = json!({ key.as_str(): value });
            }
            let mut items = vec![Value::Null; index];
            items.push(value);
            path = path.field("items").index(index);
            for key in &keys {
                path = path.key(key);
            }
            let object = json!({ "items": items });
            prop_assert_eq!(object.pointer(&path.pointer()), Some(&json!("found")));
        }
    }
}
