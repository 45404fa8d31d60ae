//! Alternation: what alternatives begin with in common is taken out, as Go does it. `abc|abd` becomes `ab[cd]`.
//!
//! Works off nested alternations with a stack of its own. Neighbours that were compared once and have nothing in common
//! go into segments, so that a deep nest of alternations is not compared again on every level.

use super::builder::{Builder, Limit};
use super::tree::{Flags, Id, NONE, Node, Op, index};

/// Deeper than this the tree is too high in any case: every level adds at least one to its height.
const MAX_LEVELS: usize = 1000;

/// What is looked for among neighbours. The order is Go's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The same characters at the beginning.
    Prefixes,
    /// The same class, or the same number of a class, at the beginning.
    Pieces,
}

/// One alternation that is being factored.
struct Frame {
    /// The node of the alternation.
    owner: Id,
    round: Round,
    /// What goes in.
    items: Vec<Id>,
    /// What has come out.
    done: Vec<Id>,
    /// The next item to look at.
    at: usize,
    /// The first item of the current run of neighbours that begin alike.
    start: usize,
    /// How many characters of the first item's literal the run has in common.
    common: usize,
    /// What was taken out of a run whose rest is being factored.
    prefix: Id,
}

impl Builder {
    /// One alternation of two or more pieces; alternations among them are taken in.
    pub(super) fn collapse_alternate(&mut self, pieces: &[Id]) -> Result<Id, Limit> {
        let mut frames = vec![self.open(pieces)];
        loop {
            let Some(frame) = frames.last_mut() else { return Ok(NONE) };
            if let Some((from, to)) = self.advance(frame)? {
                let inner = self.open(&frame.items[from..to]);
                if frames.len() > MAX_LEVELS {
                    return Err(Limit::Deep);
                }
                frames.push(inner);
            } else if let Some(frame) = frames.pop() {
                let rest = self.close(frame);
                let Some(outer) = frames.last_mut() else { return Ok(rest) };
                let factored = self.make(Op::Concat, Flags::default());
                self.tree.append_child(factored, outer.prefix);
                self.tree.append_child(factored, rest);
                self.tree.node_mut(factored).fresh = true;
                outer.done.push(factored);
            }
        }
    }

    fn open(&mut self, pieces: &[Id]) -> Frame {
        let owner = self.make(Op::Alternate, Flags::default());
        let mut items = Vec::with_capacity(pieces.len());
        for &piece in pieces {
            if self.tree.node(piece).op == Op::Alternate {
                items.extend(self.tree.children(piece));
                self.release(piece);
            } else {
                items.push(piece);
            }
        }
        let done = Vec::with_capacity(items.len());
        Frame { owner, round: Round::Prefixes, items, done, at: 0, start: 0, common: 0, prefix: NONE }
    }

    /// Goes on until a run was found whose rest is to be factored first, or until both rounds are over.
    fn advance(&mut self, frame: &mut Frame) -> Result<Option<(usize, usize)>, Limit> {
        loop {
            while frame.at <= frame.items.len() {
                let at = frame.at;
                frame.at += 1;
                if at < frame.items.len() && at > frame.start && self.begins_alike(frame, at) {
                    continue;
                }
                let start = std::mem::replace(&mut frame.start, at);
                let common = frame.common;
                frame.common = frame.items.get(at).map_or(0, |&item| {
                    self.leading_literal(item).map_or(0, |id| self.tree.node(id).length as usize)
                });
                match at - start {
                    0 => {}
                    1 => frame.done.push(frame.items[start]),
                    _ => {
                        self.take_prefix(frame, start, at, common)?;
                        return Ok(Some((start, at)));
                    }
                }
            }
            if frame.round == Round::Pieces {
                return Ok(None);
            }
            frame.round = Round::Pieces;
            std::mem::swap(&mut frame.items, &mut frame.done);
            frame.done.clear();
            (frame.at, frame.start) = (0, 0);
        }
    }

    /// Whether the item at `at` belongs to the current run.
    fn begins_alike(&self, frame: &mut Frame, at: usize) -> bool {
        let (first, item) = (frame.items[frame.start], frame.items[at]);
        match frame.round {
            Round::Prefixes => {
                let (Some(ours), Some(theirs)) = (self.leading_literal(first), self.leading_literal(item))
                else {
                    return false;
                };
                if self.tree.node(ours).flags.has(Flags::FOLD)
                    != self.tree.node(theirs).flags.has(Flags::FOLD)
                {
                    return false;
                }
                let known = self.tree.literal(ours).iter().take(frame.common);
                let same = known.zip(self.tree.literal(theirs)).take_while(|(a, b)| a == b).count();
                if same > 0 {
                    frame.common = same;
                }
                same > 0
            }
            Round::Pieces => {
                let (first, item) = (self.leading_piece(first), self.leading_piece(item));
                first != NONE && item != NONE && self.is_simple_piece(first) && self.same_piece(first, item)
            }
        }
    }

    /// Takes the common beginning out of the items of a run.
    fn take_prefix(
        &mut self,
        frame: &mut Frame,
        start: usize,
        end: usize,
        common: usize,
    ) -> Result<(), Limit> {
        let first = frame.items[start];
        if frame.round == Round::Prefixes {
            let literal = self.leading_literal(first).unwrap_or(first);
            let (flags, from) = (self.tree.node(literal).flags, self.tree.node(literal).start as usize);
            let flags = if flags.has(Flags::FOLD) { Flags::FOLD } else { Flags::default() };
            frame.prefix = self.make(Op::Literal, flags);
            let moved = self.tree.runes.len();
            self.tree.runes.extend_from_within(from..from + common);
            let node = self.tree.node_mut(frame.prefix);
            (node.start, node.length) = (index(moved), index(common));
        } else {
            frame.prefix = self.leading_piece(first);
        }
        for at in start..end {
            let item = frame.items[at];
            frame.items[at] = if frame.round == Round::Prefixes {
                self.remove_leading_literal(item, common)
            } else {
                self.remove_leading_piece(item, at != start)
            };
            self.check_limits(frame.items[at])?;
        }
        Ok(())
    }

    /// The literal that an item begins with.
    fn leading_literal(&self, item: Id) -> Option<Id> {
        let node = self.tree.node(item);
        let leading = if node.op == Op::Concat { node.first } else { item };
        (self.tree.node(leading).op == Op::Literal).then_some(leading)
    }

    fn remove_leading_literal(&mut self, item: Id, count: usize) -> Id {
        let Some(literal) = self.leading_literal(item) else { return item };
        let node = self.tree.node_mut(literal);
        node.start += index(count);
        node.length -= index(count);
        if node.length == 0 {
            node.op = Op::Empty;
        }
        if literal == item {
            return item;
        }
        // Go does not count a child again, so that the size of a shortened literal's parent stays as it was.
        if node.length > 0 {
            return item;
        }
        let (next, size) = (node.next, node.size);
        self.release(literal);
        self.drop_first(item, next, size)
    }

    /// The piece that an item begins with; none for what is empty.
    fn leading_piece(&self, item: Id) -> Id {
        let node = self.tree.node(item);
        let leading = if node.op == Op::Concat { node.first } else { item };
        if matches!(self.tree.node(leading).op, Op::Empty | Op::Segment) { NONE } else { leading }
    }

    fn remove_leading_piece(&mut self, item: Id, release: bool) -> Id {
        if self.tree.node(item).op == Op::Concat {
            let first = self.tree.node(item).first;
            let (next, height, size) =
                (self.tree.node(first).next, self.tree.node(first).height, self.tree.node(first).size);
            if release {
                self.release(first);
            }
            let left = self.drop_first(item, next, size);
            if left == item && height > 1 {
                // A repetition is gone: the others may be lower. The search ends at the next one.
                let target = self.tree.node(item).height - 1;
                if !self.tree.children(item).any(|child| self.tree.node(child).height >= target) {
                    let highest = self.tree.children(item).map(|child| self.tree.node(child).height).max();
                    self.tree.node_mut(item).height = 1 + highest.unwrap_or(0);
                }
            }
            return left;
        }
        if release {
            self.release(item);
        }
        self.make(Op::Empty, Flags::default())
    }

    /// Takes the first child, of that size, away from a concatenation; a single one that is left takes its place.
    fn drop_first(&mut self, concat: Id, next: Id, size: i64) -> Id {
        let node = self.tree.node_mut(concat);
        node.children -= 1;
        node.first = next;
        node.sum = if node.size != 0 && !node.stale && size != 0 { node.size - size } else { 0 };
        node.stale = true;
        if node.children == 1 {
            self.release(concat);
            self.tree.node_mut(next).next = NONE;
            return next;
        }
        concat
    }

    /// Only a class, or a fixed number of a class, may be taken out of a run.
    fn is_simple_piece(&self, piece: Id) -> bool {
        let node = self.tree.node(piece);
        self.tree.is_single(piece)
            || node.op == Op::Repeat && node.max == Some(node.min) && self.tree.is_single(node.first)
    }

    /// Whether two simple pieces are equal.
    fn same_piece(&self, a: Id, b: Id) -> bool {
        let (one, other) = (self.tree.node(a), self.tree.node(b));
        let same = |flag| one.flags.has(flag) == other.flags.has(flag);
        one.op == other.op
            && match one.op {
                Op::Literal => same(Flags::FOLD) && self.tree.literal(a) == self.tree.literal(b),
                Op::Class => same(Flags::FOLD) && self.tree.is_same_class(a, b),
                Op::Repeat => {
                    same(Flags::NON_GREEDY)
                        && (one.min, one.max) == (other.min, other.max)
                        && self.same_piece(one.first, other.first)
                }
                _ => true,
            }
    }

    /// Merges neighbours that match a single character, then neighbours that are empty, and makes the node.
    fn close(&mut self, frame: Frame) -> Id {
        let mut items = self.merge_singles(frame.done);
        let before = items.len();
        for at in 1..before {
            if self.tree.node(items[at]).op == Op::Empty && self.tree.node(items[at - 1]).op == Op::Empty {
                self.tree.node_mut(items[at]).fresh = true;
                items[at - 1] = NONE;
            }
        }
        items.retain(|&item| item != NONE);
        if let [only] = items[..] {
            self.tree.node_mut(only).fresh = false;
            self.release(frame.owner);
            return only;
        }
        self.link_alternatives(frame.owner, &items);
        frame.owner
    }

    fn merge_singles(&mut self, mut items: Vec<Id>) -> Vec<Id> {
        let mut merged = Vec::with_capacity(items.len());
        let mut start = 0;
        for at in 0..=items.len() {
            if items.get(at).is_some_and(|&item| self.tree.is_single(item)) {
                continue;
            }
            if at - start > 1 {
                let weight = |id: &Id| {
                    let node = self.tree.node(*id);
                    (node.op, if node.op == Op::Class { node.count } else { node.length })
                };
                let mut most = start;
                for other in start + 1..at {
                    if weight(&items[most]) < weight(&items[other]) {
                        most = other;
                    }
                }
                items.swap(start, most);
                for other in start + 1..at {
                    self.merge_class(items[start], items[other]);
                    self.release(items[other]);
                }
                self.clean_class(items[start]);
                self.tree.node_mut(items[start]).fresh = true;
            }
            if at > start {
                merged.push(items[start]);
            }
            merged.extend(items.get(at));
            start = at + 1;
        }
        merged
    }

    /// Makes the list of alternatives. The inner ones of those that nothing was done to need not be looked at again.
    fn link_alternatives(&mut self, owner: Id, items: &[Id]) {
        let mut start = 0;
        while start < items.len() {
            let fresh = |id: &Id| self.tree.node(*id).fresh;
            let untouched = items[start..].iter().take_while(|id| !fresh(id)).count();
            let block = &items[start..start + untouched];
            let mut inner = NONE;
            for (at, &item) in block.iter().enumerate() {
                let is_segment = self.tree.node(item).op == Op::Segment;
                let beside_fresh =
                    (at == 0 && start > 0) || (at + 1 == untouched && start + untouched < items.len());
                if untouched >= 4 && at > 0 && at + 1 < untouched {
                    if inner == NONE {
                        inner = self.tree.add(Node::new(Op::Segment, Flags::default()));
                        self.tree.node_mut(inner).height = 0;
                    }
                    self.add_to_segment(inner, item);
                    continue;
                }
                if inner != NONE {
                    self.tree.append_child(owner, inner);
                    inner = NONE;
                }
                if is_segment && beside_fresh {
                    self.append_opened(owner, item);
                } else {
                    self.tree.append_child(owner, item);
                }
            }
            start += untouched;
            if let Some(&item) = items.get(start) {
                self.tree.node_mut(item).fresh = false;
                self.tree.append_child(owner, item);
                start += 1;
            }
        }
    }

    fn add_to_segment(&mut self, segment: Id, item: Id) {
        let height = self.tree.node(item).height.max(self.tree.node(segment).height);
        if self.tree.node(item).op == Op::Segment {
            self.tree.append_children_of(segment, item);
        } else {
            self.tree.append_child(segment, item);
        }
        self.tree.node_mut(segment).height = height;
    }

    /// Appends a segment whose first and last members have a new neighbour and must be compared again.
    fn append_opened(&mut self, owner: Id, segment: Id) {
        let node = self.tree.node(segment);
        let (first, last, members) = (node.first, node.last, node.children);
        if members <= 2 {
            self.tree.append_child(owner, first);
            if members == 2 {
                self.tree.append_child(owner, last);
            }
            return;
        }
        let (second, before_last) = (self.tree.node(first).next, self.tree.node(last).previous);
        self.tree.append_child(owner, first);
        let node = self.tree.node_mut(segment);
        (node.first, node.last, node.children) = (second, before_last, members - 2);
        // The height is that of the highest member and stays: what was taken out hangs beside it.
        (node.size, node.stale) = (0, true);
        self.tree.node_mut(before_last).next = NONE;
        self.tree.append_child(owner, segment);
        self.tree.append_child(owner, last);
    }
}
