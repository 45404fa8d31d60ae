//! The second reading of a label matcher's pattern.
//!
//! Prometheus parses a pattern, prints the tree, wraps what was printed as `^(?s:..)$` and parses that. The second tree can be too
//! high or too large although the first was not. Nothing is printed here: what would be printed goes to a builder directly.

use std::collections::HashMap;

use super::builder::{Builder, Limit};
use super::fault::Code;
use super::limits::MAX_SIZE;
use super::members::Members;
use super::parser::Parsed;
use super::ranges::{self, Range};
use super::segments::Set;
use super::tree::{Flags, Id, NONE, Node, Op, Tree};
use super::unicode::{self, Names};

/// Below this many nodes the second tree cannot become too high: each alternative adds at most two levels.
const FEW_NODES: usize = 400;

/// Modes to print before a node, and what to print after it.
mod print {
    pub(super) const I: u8 = 1;
    pub(super) const M: u8 = 2;
    pub(super) const S: u8 = 4;
    /// `)` after the node.
    pub(super) const OFF: u8 = 8;
    /// A group around the node because of precedence.
    pub(super) const GROUP: u8 = 16;
    /// `M` and `S` shifted by this are switched off.
    pub(super) const NEGATIVE: u8 = 5;
}

/// Whether the second reading can go wrong at all; small patterns are spared the work.
pub(super) fn may_fail(parsed: &Parsed) -> bool {
    let nodes = i64::try_from(parsed.allocated).unwrap_or(i64::MAX);
    parsed.allocated >= FEW_NODES || nodes.saturating_mul(8).saturating_add(64) >= MAX_SIZE / parsed.repeats
}

/// Reads what would be printed.
pub(super) fn check(tree: &Tree) -> Result<(), Code> {
    let rewritten = rewrite_contains(tree);
    let tree = rewritten.as_ref().unwrap_or(tree);
    Printer::new(tree).run().map_err(|limit| match limit {
        Limit::Large => Code::Large,
        Limit::Deep => Code::NestingDepth,
    })
}

/// `.*a.*|.*b.*` is printed as `.*(?:a|b).*`.
fn rewrite_contains(tree: &Tree) -> Option<Tree> {
    if tree.node(tree.root).op != Op::Alternate {
        return None;
    }
    let any = |id: Id| {
        let node = tree.node(id);
        node.op == Op::Star && tree.node(node.first).op == Op::Any
    };
    let mut literals = Vec::new();
    for piece in tree.children(tree.root) {
        let pieces: Vec<_> = tree.children(piece).take(4).collect();
        match pieces[..] {
            [left, literal, right]
                if tree.node(piece).op == Op::Concat
                    && any(left)
                    && any(right)
                    && tree.node(literal).op == Op::Literal
                    && !tree.node(literal).flags.has(Flags::FOLD) =>
            {
                literals.push(literal);
            }
            _ => return None,
        }
    }
    let mut tree = tree.clone();
    let flags = Flags::ONE_LINE.with(Flags::DOT_NEWLINE);
    let [root, choice] = [Op::Concat, Op::Alternate].map(|op| tree.add(Node::new(op, Flags::default())));
    for literal in literals {
        tree.append_child(choice, literal);
    }
    let [left, right] = [Op::Star; 2].map(|op| {
        let (star, dot) = (tree.add(Node::new(op, flags)), tree.add(Node::new(Op::Any, flags)));
        tree.append_child(star, dot);
        star
    });
    for piece in [left, choice, right] {
        tree.append_child(root, piece);
    }
    tree.root = root;
    Some(tree)
}

enum Task {
    /// A node with what to print around it.
    Node(Id, u8),
    /// The remaining alternatives, from this one on; true: it is the first of all.
    Alternatives(Id, bool),
    /// The remaining pieces, from this one on.
    Pieces(Id),
    /// The operator of a repetition.
    Suffix(Id),
    Close,
}

struct Printer<'t> {
    tree: &'t Tree,
    /// What to print around each node.
    around: Vec<u8>,
    /// Some literal ignores case, so that it matters which classes do not.
    folds: bool,
    /// What is known about lists of ranges.
    closed: HashMap<&'t [Range], bool>,
    out: Builder,
    /// Where the sets of the first tree are in the second.
    sets: Vec<Option<Members>>,
    tasks: Vec<Task>,
}

impl<'t> Printer<'t> {
    fn new(tree: &'t Tree) -> Self {
        let out = Builder::new(Flags::ONE_LINE, tree.runes.len());
        let folds = tree.nodes().any(|node| node.op == Op::Literal && node.flags.has(Flags::FOLD));
        let sets = vec![None; tree.sets.len()];
        Self {
            tree,
            around: vec![0; tree.len()],
            folds,
            closed: HashMap::new(),
            out,
            sets,
            tasks: Vec::new(),
        }
    }

    fn run(mut self) -> Result<(), Limit> {
        let (must, cannot) = self.modes();
        let mut top = must | ((cannot & !print::I) << print::NEGATIVE);
        if top != 0 {
            top |= print::OFF;
        }
        self.out.push_op(Op::BeginText)?;
        self.open(print::S, 0)?;
        self.tasks.push(Task::Close);
        self.tasks.push(Task::Node(self.tree.root, top));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Close => {
                    self.out.right_paren()?;
                }
                Task::Suffix(id) => self.repeat(id)?,
                Task::Node(id, around) => self.node(id, around)?,
                Task::Alternatives(id, first) => {
                    let next = self.tree.node(id).next;
                    if !first {
                        self.out.vertical_bar()?;
                    }
                    if next != NONE {
                        self.tasks.push(Task::Alternatives(next, false));
                    }
                    self.tasks.push(Task::Node(id, 0));
                }
                Task::Pieces(id) => {
                    let node = self.tree.node(id);
                    if node.next != NONE {
                        self.tasks.push(Task::Pieces(node.next));
                    }
                    self.tasks.push(Task::Node(id, if node.op == Op::Alternate { print::GROUP } else { 0 }));
                }
            }
        }
        self.out.push_op(Op::EndText)?;
        self.out.finish_group()
    }

    /// An opening parenthesis with modes.
    fn open(&mut self, modes: u8, capture: u32) -> Result<(), Limit> {
        let id = self.out.push_op(Op::LeftParen)?;
        self.out.tree.node_mut(id).capture = capture;
        let mut flags = self.out.flags;
        for (mode, flag) in [(print::I, Flags::FOLD), (print::S, Flags::DOT_NEWLINE)] {
            if modes & mode != 0 {
                flags = flags.with(flag);
            }
        }
        if modes & print::M != 0 {
            flags = flags.without(Flags::ONE_LINE);
        }
        if modes & (print::M << print::NEGATIVE) != 0 {
            flags = flags.with(Flags::ONE_LINE);
        }
        if modes & (print::S << print::NEGATIVE) != 0 {
            flags = flags.without(Flags::DOT_NEWLINE);
        }
        self.out.flags = flags;
        Ok(())
    }

    fn node(&mut self, id: Id, around: u8) -> Result<(), Limit> {
        let mut around = around | self.around.get(id as usize).copied().unwrap_or(0);
        let modes = around & !(print::OFF | print::GROUP);
        if around & print::GROUP != 0 && modes != 0 && around & print::OFF != 0 {
            around &= !print::GROUP;
        }
        if modes != 0 {
            self.open(modes, 0)?;
        }
        if around & print::OFF != 0 {
            self.tasks.push(Task::Close);
        }
        if around & print::GROUP != 0 {
            self.open(0, 0)?;
            self.tasks.push(Task::Close);
        }
        self.inside(id)
    }

    fn inside(&mut self, id: Id) -> Result<(), Limit> {
        let node = self.tree.node(id);
        match node.op {
            Op::Empty => {
                self.open(0, 0)?;
                self.tasks.push(Task::Close);
            }
            Op::Literal => {
                for &rune in self.tree.literal(id) {
                    if printed_with_backslash(rune) {
                        // The parser takes a node for a class first and gives it back.
                        let class = self.out.make(Op::Class, self.out.flags);
                        self.out.release(class);
                    }
                    self.out.push_literal(rune)?;
                }
            }
            Op::Class => {
                let class = self.out.make(Op::Class, self.out.flags);
                if node.set == NONE {
                    let from = self.out.tree.ranges.len();
                    self.out.tree.ranges.extend_from_slice(self.tree.listed(id));
                    self.out.push_listed(class, from)?;
                } else {
                    let members = self.copied(id);
                    self.out.push_class(class, members, false)?;
                }
            }
            Op::Any | Op::AnyNotNewline => {
                let all = self.out.flags.has(Flags::DOT_NEWLINE);
                self.out.push_op(if all { Op::Any } else { Op::AnyNotNewline })?;
            }
            Op::Capture => {
                self.open(0, 1)?;
                self.tasks.push(Task::Close);
                if self.tree.node(node.first).op != Op::Empty {
                    self.tasks.push(Task::Node(node.first, 0));
                }
            }
            Op::Star | Op::Plus | Op::Quest | Op::Repeat => {
                let below = self.tree.node(node.first);
                let group = below.op > Op::Capture || below.op == Op::Literal && below.length > 1;
                self.tasks.push(Task::Suffix(id));
                self.tasks.push(Task::Node(node.first, if group { print::GROUP } else { 0 }));
            }
            Op::Concat => self.tasks.push(Task::Pieces(node.first)),
            Op::Alternate => self.tasks.push(Task::Alternatives(node.first, true)),
            op => {
                self.out.push_op(op)?;
            }
        }
        Ok(())
    }

    /// A large class, put into the second tree once for all that share it.
    fn copied(&mut self, id: Id) -> Members {
        let node = self.tree.node(id);
        if let Some(&Some(known)) = self.sets.get(node.set as usize) {
            return known;
        }
        let set = self.tree.set(id).cloned().unwrap_or(Set::EMPTY);
        let members = self.out.tree.add_large(set, self.tree.listed(id), node.count as usize);
        if let Some(place) = self.sets.get_mut(node.set as usize) {
            *place = Some(members);
        }
        members
    }

    fn repeat(&mut self, id: Id) -> Result<(), Limit> {
        let node = self.tree.node(id);
        let lazy = node.flags.has(Flags::NON_GREEDY);
        let flags = if lazy { self.out.flags.toggled(Flags::NON_GREEDY) } else { self.out.flags };
        self.out.repeat(node.op, node.min, node.max, flags)?;
        Ok(())
    }

    /// Finds where modes must be switched on, and which modes the whole needs and cannot bear.
    fn modes(&mut self) -> (u8, u8) {
        let mut results: Vec<(u8, u8)> = Vec::new();
        let mut path = vec![(self.tree.root, false)];
        while let Some((id, visited)) = path.pop() {
            let node = self.tree.node(id);
            let nests = node.op >= Op::Capture;
            if nests && !visited {
                path.push((id, true));
                let from = path.len();
                path.extend(self.tree.children(id).map(|child| (child, false)));
                path[from..].reverse();
                continue;
            }
            let result = match node.op {
                Op::Concat | Op::Alternate => {
                    let below = results.split_off(results.len().saturating_sub(node.children as usize));
                    self.modes_of_list(id, &below)
                }
                Op::Capture | Op::Star | Op::Plus | Op::Quest | Op::Repeat => continue,
                _ => self.modes_of_leaf(id),
            };
            results.push(result);
        }
        results.pop().unwrap_or_default()
    }

    fn modes_of_leaf(&mut self, id: Id) -> (u8, u8) {
        let node = self.tree.node(id);
        match node.op {
            Op::Literal => {
                let sensitive = self.tree.literal(id).iter().any(|&rune| ranges::simple_fold(rune) != rune);
                match (sensitive, node.flags.has(Flags::FOLD)) {
                    (true, true) => (print::I, 0),
                    (true, false) => (0, print::I),
                    (false, _) => (0, 0),
                }
            }
            Op::Class if self.folds => (0, if self.is_closed(id) { 0 } else { print::I }),
            Op::AnyNotNewline => (0, print::S),
            Op::Any => (print::S, 0),
            Op::BeginLine | Op::EndLine => (print::M, 0),
            Op::EndText if node.flags.has(Flags::DOLLAR) => (0, print::M),
            _ => (0, 0),
        }
    }

    /// Whether a class has whatever equals a member when case is ignored.
    fn is_closed(&mut self, id: Id) -> bool {
        let listed = self.tree.listed(id);
        match self.tree.set(id) {
            Some(set) => set.is_closed(),
            None => *self.closed.entry(listed).or_insert_with(|| ranges::is_closed(listed)),
        }
    }

    fn modes_of_list(&mut self, id: Id, below: &[(u8, u8)]) -> (u8, u8) {
        let children: Vec<_> = self.tree.children(id).collect();
        let (mut must, mut cannot, mut all_cannot) = (0, 0, 0);
        let (mut start, mut last, mut conflict) = (0, 0, false);
        for (at, &(sub_must, sub_cannot)) in below.iter().enumerate() {
            if must & sub_cannot != 0 || sub_must & cannot != 0 {
                self.span(&children, start, last, must);
                (must, cannot, start, conflict) = (0, 0, at, true);
            }
            must |= sub_must;
            cannot |= sub_cannot;
            all_cannot |= sub_cannot;
            if sub_must != 0 {
                last = at;
            }
            if must == 0 && start == at {
                start += 1;
            }
        }
        if !conflict {
            return (must, cannot);
        }
        self.span(&children, start, last, must);
        (0, all_cannot)
    }

    fn span(&mut self, children: &[Id], start: usize, last: usize, modes: u8) {
        if modes == 0 {
            return;
        }
        if let (Some(&start), Some(&last)) = (children.get(start), children.get(last)) {
            self.around[start as usize] = modes;
            self.around[last as usize] |= print::OFF;
        }
    }
}

/// Whether Go prints a character of a literal with a backslash: syntax, and what is not printable.
fn printed_with_backslash(rune: u32) -> bool {
    if (0x20..0x7F).contains(&rune) {
        return u8::try_from(rune).is_ok_and(|byte| br"\.+*?()|[]{}^$".contains(&byte));
    }
    !["L", "M", "N", "P", "S"].iter().any(|name| {
        unicode::group(name.as_bytes(), Names::Classic)
            .is_some_and(|group| ranges::contains(group.members, rune))
    })
}
