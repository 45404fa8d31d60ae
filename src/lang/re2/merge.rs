//! Merging of single characters and classes that are alternatives of each other.

use super::builder::{Builder, index};
use super::ranges;
use super::tree::{Flags, Id, Op};

/// From this many ranges on it pays to look whether a class is already contained before it is added.
const LARGE_CLASS: usize = 64;

impl Builder {
    /// Adds the members of `simple` to `complex`.
    pub(super) fn merge_class(&mut self, complex: Id, simple: Id) {
        match self.tree.node(complex).op {
            Op::AnyNotNewline if self.tree.matches_rune(simple, u32::from('\n')) => {
                self.tree.node_mut(complex).op = Op::Any;
            }
            Op::Class => {
                if self.tree.node(simple).op == Op::Literal {
                    self.own_class(complex);
                    let (rune, folds) = self.folding_rune(simple);
                    self.add_rune(complex, rune, folds);
                } else {
                    self.add_class(complex, simple);
                }
            }
            Op::Literal => {
                let same = self.tree.literal(complex) == self.tree.literal(simple);
                if !(same && self.tree.node(complex).flags == self.tree.node(simple).flags) {
                    self.join_literals_in_class(complex, simple);
                }
            }
            _ => {}
        }
    }

    /// Orders the ranges of a class that is complete; a class of everything, or of everything but the newline, becomes a dot.
    pub(super) fn clean_class(&mut self, id: Id) {
        if self.tree.node(id).op != Op::Class {
            return;
        }
        self.order_class(id);
        let newline = u32::from('\n');
        let op = match *self.tree.class(id) {
            [(0, ranges::MAX_RUNE)] => Op::Any,
            [(0, before), (after, ranges::MAX_RUNE)] if before + 1 == newline && after == newline + 1 => {
                Op::AnyNotNewline
            }
            _ => return,
        };
        let node = self.tree.node_mut(id);
        (node.op, node.length) = (op, 0);
    }

    fn order_class(&mut self, id: Id) {
        let node = self.tree.node(id);
        if node.clean {
            return;
        }
        let (start, end) = (node.start as usize, (node.start + node.length) as usize);
        let kept = self.tree.ranges.get_mut(start..end).map_or(0, ranges::clean_slice);
        if end == self.tree.ranges.len() {
            self.tree.ranges.truncate(start + kept);
        }
        let node = self.tree.node_mut(id);
        (node.length, node.clean) = (index(kept), true);
    }

    /// Moves the ranges of a class to the end of all ranges, where they can grow.
    fn own_class(&mut self, id: Id) {
        let node = self.tree.node(id);
        let (start, end) = (node.start as usize, (node.start + node.length) as usize);
        if !node.owned || end != self.tree.ranges.len() {
            let moved = self.tree.ranges.len();
            self.tree.ranges.extend_from_within(start..end);
            let node = self.tree.node_mut(id);
            (node.start, node.owned) = (index(moved), true);
        }
    }

    /// Turns a literal into the class of its character and that of another literal.
    fn join_literals_in_class(&mut self, id: Id, other: Id) {
        let members = [self.folding_rune(id), self.folding_rune(other)];
        // The characters live in the ranges from now on; both literals may have been the last ones.
        for literal in [other, id] {
            let node = self.tree.node_mut(literal);
            let start = node.start as usize;
            node.length = 0;
            if start + 1 == self.tree.runes.len() {
                self.tree.runes.truncate(start);
            }
        }
        let start = index(self.tree.ranges.len());
        let node = self.tree.node_mut(id);
        (node.op, node.start, node.owned) = (Op::Class, start, true);
        for (rune, folds) in members {
            self.add_rune(id, rune, folds);
        }
    }

    /// The character of a literal, and whether case is ignored.
    fn folding_rune(&self, literal: Id) -> (u32, bool) {
        let rune = self.tree.literal(literal).first().copied().unwrap_or_default();
        (rune, self.tree.node(literal).flags.has(Flags::FOLD))
    }

    fn add_rune(&mut self, class: Id, rune: u32, folds: bool) {
        let start = self.tree.node(class).start as usize;
        if folds {
            ranges::append_folded(&mut self.tree.ranges, start, rune, rune);
        } else {
            ranges::append_all(&mut self.tree.ranges, start, &[(rune, rune)]);
        }
        self.set_length(class);
    }

    fn add_class(&mut self, class: Id, other: Id) {
        let (ours, theirs) = (self.tree.node(class), self.tree.node(other));
        if (ours.start, ours.length) == (theirs.start, theirs.length) {
            // The same group of Unicode.
            return;
        }
        if theirs.length as usize > LARGE_CLASS {
            self.order_class(class);
        }
        if self.tree.node(class).clean && ranges::covers(self.tree.class(class), self.tree.class(other)) {
            return;
        }
        let mut moving = std::mem::take(&mut self.scratch);
        moving.clear();
        moving.extend_from_slice(self.tree.class(other));
        let from = self.tree.node(other);
        let (start, end) = (from.start as usize, (from.start + from.length) as usize);
        if from.owned && end == self.tree.ranges.len() {
            // Makes room, so that the class before it grows in place.
            self.tree.ranges.truncate(start);
            self.tree.node_mut(other).length = 0;
        }
        self.own_class(class);
        let start = self.tree.node(class).start as usize;
        ranges::append_all(&mut self.tree.ranges, start, &moving);
        self.set_length(class);
        self.scratch = moving;
    }

    fn set_length(&mut self, class: Id) {
        let start = self.tree.node(class).start as usize;
        let length = self.tree.ranges.len() - start;
        let node = self.tree.node_mut(class);
        (node.length, node.clean) = (index(length), false);
    }
}
