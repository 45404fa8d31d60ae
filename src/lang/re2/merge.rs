//! Merging of single characters and classes that are alternatives of each other.

use super::builder::Builder;
use super::ranges;
use super::segments::{self, LARGE_CLASS, Set};
use super::tree::{Flags, Id, NONE, Op, index};

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
        if self.tree.node(id).set != NONE {
            return;
        }
        let op = match *self.tree.listed(id) {
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
        (node.length, node.count, node.clean) = (index(kept), index(kept), true);
        if kept > LARGE_CLASS || node.set != NONE {
            self.settle_class(id);
        }
    }

    /// Brings a class whose listed ranges are in order into its only form.
    fn settle_class(&mut self, id: Id) {
        self.own_class(id);
        self.own_set(id);
        let node = self.tree.node(id);
        let (start, set) = (node.start as usize, node.set as usize);
        let mut list = self.tree.ranges.split_off(start);
        let count = self.tree.sets.get_mut(set).and_then(|set| segments::settle(set, &mut list, false));
        if count.is_none() && set + 1 == self.tree.sets.len() {
            self.tree.sets.truncate(set);
        }
        self.tree.ranges.append(&mut list);
        let members = self.tree.listed_from(start);
        let node = self.tree.node_mut(id);
        (node.length, node.count) = (members.length, count.map_or(members.count, index));
        if count.is_none() {
            node.set = NONE;
        }
    }

    /// Moves the ranges of a class to the end of all ranges, where they can grow.
    fn own_class(&mut self, id: Id) {
        let node = self.tree.node(id);
        let (start, end) = (node.start as usize, (node.start + node.length) as usize);
        if !node.owned && node.set != NONE {
            self.copy_set(id);
        }
        let node = self.tree.node(id);
        if !node.owned || end != self.tree.ranges.len() {
            let moved = self.tree.ranges.len();
            // Where nothing is listed, what lay before may be gone.
            if start < end {
                self.tree.ranges.extend_from_within(start..end);
            }
            let node = self.tree.node_mut(id);
            (node.start, node.owned) = (index(moved), true);
        }
    }

    /// Gives an owned class a set, unless it has one.
    fn own_set(&mut self, id: Id) {
        if self.tree.node(id).set == NONE {
            self.tree.node_mut(id).set = index(self.tree.sets.len());
            self.tree.sets.push(Set::EMPTY);
        }
    }

    fn copy_set(&mut self, id: Id) {
        let copy = self.tree.set(id).cloned();
        self.tree.node_mut(id).set = index(self.tree.sets.len());
        self.tree.sets.extend(copy);
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
        if ours.members() == theirs.members() {
            // The same group of Unicode.
            return;
        }
        if theirs.set != NONE {
            self.add_set(class, other);
        } else if ours.clean && ranges::covers(self.tree.listed(class), self.tree.listed(other)) {
            return;
        }
        if self.tree.node(other).length == 0 {
            return;
        }
        let mut moving = std::mem::take(&mut self.scratch);
        moving.clear();
        moving.extend_from_slice(self.tree.listed(other));
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

    fn add_set(&mut self, class: Id, other: Id) {
        self.own_class(class);
        self.own_set(class);
        let (ours, theirs) = (self.tree.node(class).set as usize, self.tree.node(other).set as usize);
        if let Ok([ours, theirs]) = self.tree.sets.get_disjoint_mut([ours, theirs]) {
            ours.unite(theirs);
        }
        self.tree.node_mut(class).clean = false;
    }

    fn set_length(&mut self, class: Id) {
        let start = self.tree.node(class).start as usize;
        let length = self.tree.ranges.len() - start;
        let node = self.tree.node_mut(class);
        (node.length, node.clean) = (index(length), false);
    }
}
