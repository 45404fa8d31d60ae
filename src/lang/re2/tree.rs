//! The parse tree: nodes in one vector, children as linked lists, so that joining lists, cloning and dropping are flat.

use super::ranges::Range;
use super::segments::Set;

/// The place of a node in its tree.
pub(super) type Id = u32;
/// No node.
pub(super) const NONE: Id = u32::MAX;

/// Positions in the tree's vectors fit: a pattern is far shorter than 4 GiB and classes are limited.
pub(super) fn index(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// What a node matches. The order from `Literal` to `Any` is from simple to complex, as Go merges them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Op {
    Empty,
    Literal,
    Class,
    AnyNotNewline,
    Any,
    BeginLine,
    EndLine,
    BeginText,
    EndText,
    WordBoundary,
    NotWordBoundary,
    Capture,
    Star,
    Plus,
    Quest,
    Repeat,
    Concat,
    Alternate,
    /// Several children of an `Alternate` that need no further look: they stand for themselves in its list.
    Segment,
    /// On the stack only: an open group.
    LeftParen,
    /// On the stack only: alternatives are being collected below it.
    VerticalBar,
}

impl Op {
    /// On the stack only.
    pub(super) fn is_marker(self) -> bool {
        matches!(self, Op::LeftParen | Op::VerticalBar)
    }
}

/// The modes in force when a node was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags(u8);

impl Flags {
    /// `(?i)`
    pub(super) const FOLD: Flags = Flags(1);
    /// `(?s)`
    pub(super) const DOT_NEWLINE: Flags = Flags(2);
    /// `(?-m)`
    pub(super) const ONE_LINE: Flags = Flags(4);
    /// `(?U)`, and on a repetition: as few as possible.
    pub(super) const NON_GREEDY: Flags = Flags(8);
    /// An end of text that was written `$`.
    pub(super) const DOLLAR: Flags = Flags(16);

    pub(super) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }

    #[must_use]
    pub(super) fn with(self, flag: Flags) -> Flags {
        Flags(self.0 | flag.0)
    }

    #[must_use]
    pub(super) fn without(self, flag: Flags) -> Flags {
        Flags(self.0 & !flag.0)
    }

    #[must_use]
    pub(super) fn toggled(self, flag: Flags) -> Flags {
        Flags(self.0 ^ flag.0)
    }
}

/// One node.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) flags: Flags,
    /// The first child.
    pub(super) first: Id,
    /// The last child.
    pub(super) last: Id,
    /// The next child of the same parent.
    pub(super) next: Id,
    /// The previous one, kept up within segments only.
    pub(super) previous: Id,
    /// How many children, those within segments included.
    pub(super) children: u32,
    /// 1 and the height of the highest child.
    pub(super) height: u32,
    /// The largest product of nested counts on any way down.
    pub(super) product: u32,
    /// Instructions as Go last counted them; 0: not yet.
    pub(super) size: i64,
    /// The sum of the children's sizes if it was known when the list was made; 0: it was not.
    pub(super) sum: i64,
    /// The list changed after `size` was counted.
    pub(super) stale: bool,
    /// Made by the factoring that is under way.
    pub(super) fresh: bool,
    /// The ranges of a class belong to this node alone.
    pub(super) owned: bool,
    /// The ranges of a class are in order.
    pub(super) clean: bool,
    /// Where the characters of a literal or the listed ranges of a class begin.
    pub(super) start: u32,
    /// How many they are.
    pub(super) length: u32,
    /// The set of a large class, which has the ranges that are not listed; none for other classes.
    pub(super) set: Id,
    /// How many ranges a class has, listed or not, once they are in order.
    pub(super) count: u32,
    /// The least count of a repetition.
    pub(super) min: u16,
    /// The greatest; none: no limit.
    pub(super) max: Option<u16>,
    /// The number of a capturing group from 1; 0: a group that does not capture.
    pub(super) capture: u32,
    /// The name of the group, as an index into the names from 1; 0: none.
    pub(super) name: u32,
    /// Where an open group begins in the text.
    pub(super) offset: u32,
}

impl Node {
    pub(super) fn new(op: Op, flags: Flags) -> Self {
        Self {
            op,
            flags,
            first: NONE,
            last: NONE,
            next: NONE,
            previous: NONE,
            children: 0,
            height: 1,
            product: 1,
            size: 0,
            sum: 0,
            stale: true,
            fresh: false,
            owned: false,
            clean: true,
            start: 0,
            length: 0,
            set: NONE,
            count: 0,
            min: 0,
            max: None,
            capture: 0,
            name: 0,
            offset: 0,
        }
    }
}

/// A parse tree, as Go has it after its own simplifications.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The characters of the literals.
    pub(super) runes: Vec<u32>,
    /// The ranges of the classes.
    pub(super) ranges: Vec<Range>,
    /// The sets of the large classes.
    pub(super) sets: Vec<Set>,
    /// The top.
    pub(super) root: Id,
}

impl Tree {
    /// Room for a pattern of that many characters.
    pub(super) fn with_capacity(characters: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(characters / 4 + 8),
            runes: Vec::with_capacity(characters),
            ranges: Vec::new(),
            sets: Vec::new(),
            root: NONE,
        }
    }

    /// The node at that place. Places come from `add` only, so they are never out of bounds.
    pub(super) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// The node at that place, to change it.
    pub(super) fn node_mut(&mut self, id: Id) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    /// A new node.
    pub(super) fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        Id::try_from(self.nodes.len() - 1).unwrap_or(NONE)
    }

    /// How many nodes there are, dead ones included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, dead ones included.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// The children from first to last; segments count as children.
    pub(super) fn children(&self, id: Id) -> Children<'_> {
        Children { tree: self, next: self.node(id).first }
    }

    /// The characters of a literal.
    pub(super) fn literal(&self, id: Id) -> &[u32] {
        let node = self.node(id);
        let start = node.start as usize;
        self.runes.get(start..start + node.length as usize).unwrap_or_default()
    }

    /// Appends a child to a parent's list.
    pub(super) fn append_child(&mut self, parent: Id, child: Id) {
        self.append_list(parent, child, child);
        let (child, parent) = (self.node(child), parent);
        let (children, height, product) =
            (if child.op == Op::Segment { child.children } else { 1 }, child.height, child.product);
        let node = self.node_mut(parent);
        node.children += children;
        // A segment is no level of its own: its height is that of its highest member.
        node.height = node.height.max(height + 1);
        node.product = node.product.max(product);
    }

    /// Appends all children of `other`, which loses them.
    pub(super) fn append_children_of(&mut self, parent: Id, other: Id) {
        let from = self.node(other);
        let (first, last, children, height, product) =
            (from.first, from.last, from.children, from.height, from.product);
        self.append_list(parent, first, last);
        let node = self.node_mut(parent);
        node.children += children;
        node.height = node.height.max(height);
        node.product = node.product.max(product);
    }

    fn append_list(&mut self, parent: Id, first: Id, last: Id) {
        let tail = self.node(parent).last;
        if tail == NONE {
            self.node_mut(parent).first = first;
        } else {
            self.node_mut(tail).next = first;
        }
        self.node_mut(first).previous = tail;
        self.node_mut(last).next = NONE;
        self.node_mut(parent).last = last;
    }

    /// Whether a single character is matched: one of a literal, a class or a dot.
    pub(super) fn is_single(&self, id: Id) -> bool {
        let node = self.node(id);
        match node.op {
            Op::Literal => node.length == 1,
            Op::Class | Op::AnyNotNewline | Op::Any => true,
            _ => false,
        }
    }

    /// Whether the empty text matches. Each of its places is its beginning and its end, and no word is near.
    pub(super) fn matches_empty(&self) -> bool {
        // For each node that is being decided: the child to look at next. What a child said goes to the node above.
        let mut path: Vec<(Id, Id)> = vec![(self.root, self.node(self.root).first)];
        let mut said = None;
        loop {
            let Some(top) = path.last_mut() else { return said.unwrap_or(false) };
            let (id, next) = *top;
            let node = self.node(id);
            let optional = matches!(node.op, Op::Star | Op::Quest) || node.op == Op::Repeat && node.min == 0;
            let decided = match (node.op, said.take()) {
                _ if optional => Some(true),
                (Op::Literal | Op::Class | Op::AnyNotNewline | Op::Any | Op::WordBoundary, _) => Some(false),
                (Op::Capture | Op::Plus | Op::Repeat, child) => child,
                (Op::Concat, child) if next == NONE || child == Some(false) => Some(child != Some(false)),
                (Op::Alternate, child) if next == NONE || child == Some(true) => Some(child == Some(true)),
                (Op::Concat | Op::Alternate, _) => None,
                _ => Some(true),
            };
            if decided.is_some() {
                said = decided;
                path.pop();
            } else {
                top.1 = self.node(next).next;
                path.push((next, self.node(next).first));
            }
        }
    }

    /// Takes the segments apart, so that only real nodes remain below each parent.
    pub(super) fn dissolve_segments(&mut self) {
        for index in 0..self.nodes.len() {
            let Ok(id) = Id::try_from(index) else { return };
            if self.node(id).op != Op::Alternate {
                continue;
            }
            let (mut child, mut tail) = (self.node(id).first, NONE);
            while child != NONE {
                let node = self.node(child);
                let next = node.next;
                let (first, last) =
                    if node.op == Op::Segment { (node.first, node.last) } else { (child, child) };
                if tail == NONE {
                    self.node_mut(id).first = first;
                } else {
                    self.node_mut(tail).next = first;
                }
                tail = last;
                child = next;
            }
            if tail != NONE {
                self.node_mut(tail).next = NONE;
                self.node_mut(id).last = tail;
            }
        }
    }
}

/// The children of one node.
pub(super) struct Children<'t> {
    tree: &'t Tree,
    next: Id,
}

impl Iterator for Children<'_> {
    type Item = Id;

    fn next(&mut self) -> Option<Id> {
        if self.next == NONE {
            return None;
        }
        let id = self.next;
        self.next = self.tree.node(id).next;
        Some(id)
    }
}
