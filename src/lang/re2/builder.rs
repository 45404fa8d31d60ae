//! Builds the tree step by step with a stack, simplifying on the way exactly as Go does: whether a pattern is too large or
//! too deep depends on the simplified tree, and even on which nodes Go had given back for use again.

use super::members::Members;
use super::ranges;
use super::tree::{Flags, Id, NONE, Node, Op, Tree, index};

/// A limit of Go that was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Too many instructions, or too many ranges in classes.
    Large,
    /// The tree is higher than 1000.
    Deep,
}

/// The tree under construction.
pub(super) struct Builder {
    pub(super) tree: Tree,
    /// Finished pieces, and markers for open groups and alternations.
    pub(super) stack: Vec<Id>,
    /// The modes in force.
    pub(super) flags: Flags,
    /// Nodes given back, the last one first to be used again.
    free: Vec<Id>,
    /// How many nodes were ever made, not counting those used again.
    pub(super) allocated: usize,
    /// Characters and range ends in all nodes pushed so far.
    pub(super) rune_count: usize,
    /// The product of all counts pushed so far, as Go estimates it.
    pub(super) repeats: i64,
    /// Sizes are counted from now on.
    pub(super) counting: bool,
    /// Nodes whose size is being counted.
    pub(super) pending: Vec<Id>,
    /// Ranges on their way from one class to another.
    pub(super) scratch: Vec<ranges::Range>,
}

impl Builder {
    pub(super) fn new(flags: Flags, text_length: usize) -> Self {
        Self {
            tree: Tree::with_capacity(text_length.min(256)),
            stack: Vec::with_capacity(16),
            flags,
            free: Vec::new(),
            allocated: 0,
            rune_count: 0,
            repeats: 1,
            counting: false,
            pending: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// A node, new or used again. Like Go, a node used again keeps its old size until it is counted anew.
    pub(super) fn make(&mut self, op: Op, flags: Flags) -> Id {
        let mut node = Node::new(op, flags);
        if let Some(id) = self.free.pop() {
            node.size = self.tree.node(id).size;
            *self.tree.node_mut(id) = node;
            id
        } else {
            self.allocated += 1;
            self.tree.add(node)
        }
    }

    /// Gives a node back, and its characters if they are the last ones.
    pub(super) fn release(&mut self, id: Id) {
        let node = self.tree.node(id);
        let (start, end) = (node.start as usize, (node.start + node.length) as usize);
        match node.op {
            Op::Literal if end == self.tree.runes.len() => self.tree.runes.truncate(start),
            Op::Class if node.owned => {
                let set = node.set as usize;
                if end == self.tree.ranges.len() {
                    self.tree.ranges.truncate(start);
                }
                if set + 1 == self.tree.sets.len() {
                    self.tree.sets.truncate(set);
                }
            }
            _ => {}
        }
        let node = self.tree.node_mut(id);
        (node.op, node.first, node.last, node.length) = (Op::Empty, NONE, NONE, 0);
        self.free.push(id);
    }

    /// Pushes a node without children.
    pub(super) fn push_op(&mut self, op: Op) -> Result<Id, Limit> {
        let id = self.make(op, self.flags);
        self.push(id)?;
        Ok(id)
    }

    /// Pushes one character.
    pub(super) fn push_literal(&mut self, rune: u32) -> Result<(), Limit> {
        let id = self.make(Op::Literal, self.flags);
        let rune = if self.flags.has(Flags::FOLD) { ranges::min_fold(rune) } else { rune };
        self.set_rune(id, rune);
        self.push(id)
    }

    fn set_rune(&mut self, id: Id, rune: u32) {
        let start = index(self.tree.runes.len());
        self.tree.runes.push(rune);
        let node = self.tree.node_mut(id);
        (node.start, node.length) = (start, 1);
    }

    /// Pushes a class.
    pub(super) fn push_class(&mut self, id: Id, members: Members, owned: bool) -> Result<(), Limit> {
        let node = self.tree.node_mut(id);
        (node.start, node.length, node.owned) = (members.start, members.length, owned);
        (node.set, node.count) = (members.set, members.count);
        self.push(id)
    }

    /// Pushes a class whose ranges, in order and not many, are the last of the tree's, from `start` on.
    pub(super) fn push_listed(&mut self, id: Id, start: usize) -> Result<(), Limit> {
        let members = self.tree.listed_from(start);
        self.push_class(id, members, true)
    }

    /// Pushes a node. A class of one character, or of one in both cases, becomes a literal.
    pub(super) fn push(&mut self, id: Id) -> Result<(), Limit> {
        let node = self.tree.node(id);
        let single = match node.op {
            Op::Literal => {
                self.rune_count += node.length as usize;
                None
            }
            Op::Class => {
                self.rune_count += 2 * node.count as usize;
                single_rune(self.tree.listed(id)).filter(|_| node.set == NONE)
            }
            _ => None,
        };
        if let Some((rune, folds)) = single {
            let flags = if folds { self.flags.with(Flags::FOLD) } else { self.flags.without(Flags::FOLD) };
            if node.owned && (node.start + node.length) as usize == self.tree.ranges.len() {
                self.tree.ranges.truncate(node.start as usize);
            }
            if self.join_literals(Some((rune, flags))) {
                return Ok(());
            }
            let node = self.tree.node_mut(id);
            (node.op, node.flags) = (Op::Literal, flags);
            self.set_rune(id, rune);
        } else {
            self.join_literals(None);
        }
        self.stack.push(id);
        self.check_limits(id)
    }

    /// Joins the two literals on top of the stack, if there are two. With a new character, the upper node is used for it
    /// and the answer is true.
    fn join_literals(&mut self, new: Option<(u32, Flags)>) -> bool {
        let [.., lower, upper] = self.stack[..] else { return false };
        let (below, above) = (self.tree.node(lower), self.tree.node(upper));
        if below.op != Op::Literal
            || above.op != Op::Literal
            || below.flags.has(Flags::FOLD) != above.flags.has(Flags::FOLD)
        {
            return false;
        }
        let ends = (below.start + below.length) as usize;
        let (start, length) = (above.start as usize, above.length as usize);
        let joined = below.length + above.length;
        if ends != start {
            let (from, moved) = (below.start as usize, self.tree.runes.len());
            self.tree.runes.extend_from_within(from..ends);
            self.tree.runes.extend_from_within(start..start + length);
            self.tree.node_mut(lower).start = index(moved);
        }
        self.tree.node_mut(lower).length = joined;
        // Its characters belong to the lower one now.
        self.tree.node_mut(upper).length = 0;
        if let Some((rune, flags)) = new {
            self.set_rune(upper, rune);
            self.tree.node_mut(upper).flags = flags;
            return true;
        }
        self.tree.node_mut(upper).op = Op::Empty;
        self.stack.pop();
        self.release(upper);
        false
    }

    /// Puts a repetition on top of the topmost piece; false if there is none.
    pub(super) fn repeat(&mut self, op: Op, min: u16, max: Option<u16>, flags: Flags) -> Result<bool, Limit> {
        let Some(&sub) = self.stack.last() else { return Ok(false) };
        if self.tree.node(sub).op.is_marker() {
            return Ok(false);
        }
        let id = self.make(op, flags);
        self.tree.append_child(id, sub);
        let node = self.tree.node_mut(id);
        (node.min, node.max) = (min, max);
        if op == Op::Repeat {
            let copies = u32::from(max.unwrap_or(min)).max(1);
            node.product = if max == Some(0) { 1 } else { node.product.saturating_mul(copies) };
        }
        if let Some(top) = self.stack.last_mut() {
            *top = id;
        }
        self.check_limits(id)?;
        Ok(true)
    }

    /// The place on the stack above the topmost marker.
    fn above_marker(&self) -> usize {
        let above = self.stack.iter().rev().take_while(|&&id| !self.tree.node(id).op.is_marker()).count();
        self.stack.len() - above
    }

    /// Makes one piece of everything above the topmost marker.
    pub(super) fn concat(&mut self) -> Result<(), Limit> {
        self.join_literals(None);
        let from = self.above_marker();
        let id = match self.stack[from..] {
            [] => self.make(Op::Empty, Flags::default()),
            [only] => only,
            _ => self.collapse_concat(from),
        };
        self.stack.truncate(from);
        self.push(id)
    }

    /// One concatenation of the pieces from `from` on; concatenations among them are taken in.
    fn collapse_concat(&mut self, from: usize) -> Id {
        let id = self.make(Op::Concat, Flags::default());
        let mut sum = Some(0_i64);
        for at in from..self.stack.len() {
            let piece = self.stack[at];
            let node = self.tree.node(piece);
            let known = node.size != 0 && (node.op != Op::Concat || !node.stale);
            sum = sum.filter(|_| known).map(|total| total + node.size);
            if node.op == Op::Concat {
                self.tree.append_children_of(id, piece);
                self.release(piece);
            } else {
                self.tree.append_child(id, piece);
            }
        }
        self.tree.node_mut(id).sum = sum.filter(|_| self.counting).unwrap_or(0);
        id
    }

    /// Makes one alternation of everything above the topmost open group.
    pub(super) fn alternate(&mut self) -> Result<(), Limit> {
        let from = self.above_marker();
        let pieces = self.stack.split_off(from);
        let id = match pieces[..] {
            // Cannot be: a concatenation, even an empty one, was pushed before.
            [] => self.make(Op::Empty, Flags::default()),
            [only] => {
                self.clean_class(only);
                only
            }
            [.., last] => {
                self.clean_class(last);
                self.collapse_alternate(&pieces)?
            }
        };
        self.push(id)
    }

    /// `|`: what was read since the last one is complete.
    pub(super) fn vertical_bar(&mut self) -> Result<(), Limit> {
        self.concat()?;
        if !self.swap_vertical_bar() {
            self.push_op(Op::VerticalBar)?;
        }
        Ok(())
    }

    /// Moves the topmost piece below the bar that it stands on, or merges it with the piece there if both match a single character.
    fn swap_vertical_bar(&mut self) -> bool {
        let [.., bar, top] = self.stack[..] else { return false };
        if self.tree.node(bar).op != Op::VerticalBar {
            return false;
        }
        let depth = self.stack.len();
        if let [.., below, _, _] = self.stack[..] {
            if self.tree.is_single(top) && self.tree.is_single(below) {
                let (mut simple, mut complex) = (top, below);
                if self.tree.node(simple).op > self.tree.node(complex).op {
                    std::mem::swap(&mut simple, &mut complex);
                    self.stack[depth - 3] = complex;
                }
                self.merge_class(complex, simple);
                self.release(simple);
                self.stack.pop();
                return true;
            }
            self.clean_class(below);
        }
        self.stack.swap(depth - 2, depth - 1);
        true
    }

    /// The end of a group or of the pattern: everything since its beginning becomes one piece.
    pub(super) fn finish_group(&mut self) -> Result<(), Limit> {
        self.concat()?;
        if self.swap_vertical_bar() {
            self.stack.pop();
        }
        self.alternate()
    }

    /// `)`; false if no group is open.
    pub(super) fn right_paren(&mut self) -> Result<bool, Limit> {
        self.finish_group()?;
        let [.., paren, piece] = self.stack[..] else { return Ok(false) };
        let node = self.tree.node_mut(paren);
        if node.op != Op::LeftParen {
            return Ok(false);
        }
        self.flags = node.flags;
        let captures = node.capture != 0;
        self.stack.truncate(self.stack.len() - 2);
        if captures {
            self.tree.node_mut(paren).op = Op::Capture;
            self.tree.append_child(paren, piece);
            self.tree.node_mut(paren).stale = true;
            self.push(paren)?;
        } else {
            self.push(piece)?;
        }
        Ok(true)
    }
}

/// The character of a class that has only one, or only one in two cases (true), as Go recognizes them.
fn single_rune(class: &[ranges::Range]) -> Option<(u32, bool)> {
    let couple = |a, b| ranges::simple_fold(a) == b && ranges::simple_fold(b) == a;
    match *class {
        [(lo, hi)] if lo == hi => Some((lo, false)),
        [(lo, hi)] if lo + 1 == hi && couple(lo, hi) => Some((lo, true)),
        [(a, b), (c, d)] if a == b && c == d && couple(a, c) => Some((a, true)),
        _ => None,
    }
}
