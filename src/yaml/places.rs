//! From the path of a finding to its place in the file.
//!
//! An object may have tens of thousands of findings in one mapping, so long mappings are looked up and not walked.

use std::collections::HashMap;
use std::ops::Range;

use super::{Entry, Node, NodeValue};
use crate::rule::path::{FieldPath, Segment};

/// Shorter mappings are walked: that is faster than making a table of them.
const LONG: usize = 16;

/// The places of one object.
#[derive(Debug)]
pub struct Places<'n> {
    root: &'n Node,
    /// Tables of the long mappings that were asked for, by the address of their node.
    tables: HashMap<*const Node, HashMap<&'n str, &'n Entry>>,
}

impl<'n> Places<'n> {
    /// The places of an object.
    pub fn new(root: &'n Node) -> Self {
        Self { root, tables: HashMap::new() }
    }

    /// The child of a key; of repeated keys the last.
    fn get(&mut self, node: &'n Node, key: &str) -> Option<&'n Entry> {
        let NodeValue::Map(entries) = &node.value else { return None };
        if entries.len() < LONG {
            return node.get(key);
        }
        let table = self.tables.entry(std::ptr::from_ref(node)).or_insert_with(|| {
            // Of repeated keys the last one stays.
            entries.iter().map(|entry| (entry.key.as_str(), entry)).collect()
        });
        table.get(key).copied()
    }

    /// The node that a path leads to.
    pub fn find(&mut self, path: &FieldPath) -> Option<&'n Node> {
        path.segments().iter().try_fold(self.root, |node, segment| match (segment, &node.value) {
            (Segment::Field(name), _) => self.get(node, name).map(|entry| &entry.value),
            (Segment::Index(index), NodeValue::List(items)) => items.get(*index),
            _ => None,
        })
    }

    /// Where a path leads. Where the path goes on into what the file does not hold (a missing or defaulted field),
    /// the key of the deepest part that is there.
    pub fn locate(&mut self, path: &FieldPath) -> Range<usize> {
        let mut node = self.root;
        let mut best = node.first_line();
        let last = path.segments().len();
        for (position, segment) in path.segments().iter().enumerate() {
            let next = match (segment, &node.value) {
                (Segment::Field(name), _) => {
                    self.get(node, name).map(|entry| (entry.key_span.clone(), &entry.value))
                }
                (Segment::Index(index), NodeValue::List(items)) => {
                    items.get(*index).map(|item| (item.first_line(), item))
                }
                _ => None,
            };
            let Some((key_span, value)) = next else { break };
            let is_leaf = matches!(value.value, NodeValue::Scalar(_)) && !value.span.is_empty();
            best = if position + 1 == last && is_leaf { value.span.clone() } else { key_span };
            node = value;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_short_mappings_lead_to_the_same_places() {
        for length in [3, LONG - 1, LONG, 200] {
            let lines: Vec<String> = (0..length).map(|number| format!("k{number}: v{number}\n")).collect();
            let text = format!("{}k1: again\n", lines.concat());
            let document = super::super::read(&text).unwrap().remove(0);
            let mut places = Places::new(&document.root);
            for number in 0..length {
                let path = FieldPath::root().key(&format!("k{number}"));
                let expected = if number == 1 { "again".to_owned() } else { format!("v{number}") };
                assert_eq!(&text[places.locate(&path)], expected);
                assert_eq!(places.find(&path).unwrap().to_json(), expected.as_str());
            }
            assert!(places.find(&FieldPath::root().key("other")).is_none());
        }
    }
}
