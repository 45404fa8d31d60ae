//! YAML as kubectl reads it, with the place of every value; and YAML as usher writes it.
//!
//! kubectl's reader is go-yaml 2: YAML 1.1, where `on` is true and `017` is fifteen. Scalars are therefore resolved
//! here (`resolve.rs`) instead of by a library of another mind. Only the text's events come from one.

mod go;
mod place;
mod places;
mod read;
mod resolve;
mod write;

use std::ops::Range;

use serde_json::{Map, Value};

pub use go::write as write_as_go;
pub use place::place;
pub use places::Places;
pub use read::{Document, Error, read, read_all};
pub use write::write;

/// A value and where it stands, in bytes of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Where it stands.
    pub span: Range<usize>,
}

/// What a node holds.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeValue {
    /// null, true, 1, "text": anything without parts.
    Scalar(Value),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file; repeated keys are all kept.
    Map(Vec<Entry>),
}

/// One line of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
    /// It came from a merge key, so the same key may stand beside it.
    pub merged: bool,
}

impl Node {
    /// The value as JSON; of repeated keys the last one counts, as for kubectl.
    pub fn to_json(&self) -> Value {
        match &self.value {
            NodeValue::Scalar(value) => value.clone(),
            NodeValue::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Map(entries) => {
                let mut map = Map::new();
                for entry in entries {
                    map.insert(entry.key.clone(), entry.value.to_json());
                }
                Value::Object(map)
            }
        }
    }

    /// The child of a key; of repeated keys the last.
    pub fn get(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            NodeValue::Map(entries) => entries.iter().rev().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// A short span for a composite value: its first key, or the value itself.
    fn first_line(&self) -> Range<usize> {
        match &self.value {
            NodeValue::Map(entries) => {
                entries.first().map_or(self.span.clone(), |entry| entry.key_span.clone())
            }
            NodeValue::List(items) => items.first().map_or(self.span.clone(), Self::first_line),
            NodeValue::Scalar(_) => self.span.clone(),
        }
    }
}
