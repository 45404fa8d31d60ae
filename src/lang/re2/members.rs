//! The members of the tree's classes: a list of ranges, or for large classes a set of segments and the pieces beside it.

use std::borrow::Cow;

use super::ranges::{self, Range};
use super::segments::Set;
use super::tree::{Id, NONE, Node, Op, Tree, index};

/// Where the members of a class are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Members {
    /// Where the listed ranges begin.
    pub(super) start: u32,
    /// How many they are.
    pub(super) length: u32,
    /// The set of a large class.
    pub(super) set: Id,
    /// How many ranges there are, listed or not.
    pub(super) count: u32,
}

impl Node {
    /// Where the members of a class that is in order are.
    pub(super) fn members(&self) -> Members {
        Members { start: self.start, length: self.length, set: self.set, count: self.count }
    }
}

impl Tree {
    /// The listed ranges of a class.
    pub(super) fn listed(&self, id: Id) -> &[Range] {
        let node = self.node(id);
        let start = node.start as usize;
        self.ranges.get(start..start + node.length as usize).unwrap_or_default()
    }

    /// The members of a class that is not large: the last ranges, from `start` on.
    pub(super) fn listed_from(&self, start: usize) -> Members {
        let length = index(self.ranges.len() - start);
        Members { start: index(start), length, set: NONE, count: length }
    }

    /// Puts a large class of so many ranges into the tree: its set, and the pieces beside it.
    pub(super) fn add_large(&mut self, set: Set, pieces: &[Range], count: usize) -> Members {
        let start = self.ranges.len();
        self.ranges.extend_from_slice(pieces);
        self.sets.push(set);
        Members { set: index(self.sets.len() - 1), count: index(count), ..self.listed_from(start) }
    }

    /// The set of a large class.
    pub(super) fn set(&self, id: Id) -> Option<&Set> {
        self.sets.get(self.node(id).set as usize)
    }

    /// The ranges of a class that is in order.
    pub(super) fn class(&self, id: Id) -> Cow<'_, [Range]> {
        match self.set(id) {
            Some(set) => set.ranges(self.listed(id)).into(),
            None => self.listed(id).into(),
        }
    }

    /// Whether two classes that are in order have the same members.
    pub(super) fn is_same_class(&self, a: Id, b: Id) -> bool {
        let (one, other) = (self.node(a), self.node(b));
        one.count == other.count
            && (one.members() == other.members()
                || self.set(a) == self.set(b) && self.listed(a) == self.listed(b))
    }

    /// Whether a node that matches a single character matches that one, case aside.
    pub(super) fn matches_rune(&self, id: Id, rune: u32) -> bool {
        match self.node(id).op {
            Op::Literal => self.literal(id) == [rune],
            Op::Class => {
                let listed = self.listed(id);
                let is_listed = if self.node(id).clean {
                    ranges::contains(listed, rune)
                } else {
                    listed.iter().any(|&(lo, hi)| lo <= rune && rune <= hi)
                };
                is_listed || self.set(id).is_some_and(|set| set.contains(rune))
            }
            Op::AnyNotNewline => rune != u32::from('\n'),
            Op::Any => true,
            _ => false,
        }
    }
}
