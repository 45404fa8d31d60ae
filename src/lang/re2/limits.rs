//! Go's limits: the height of the tree, the size of the program and the length of all classes.

use super::builder::{Builder, Limit};
use super::tree::{Id, NONE, Op};

/// The highest tree.
pub(super) const MAX_HEIGHT: u32 = 1000;
/// The most instructions: 128 MiB of 40 bytes each.
pub(super) const MAX_SIZE: i64 = (128 << 20) / 40;
/// The most characters and range ends: 128 MiB of 4 bytes each.
const MAX_RUNES: usize = (128 << 20) / 4;
/// The most copies of anything that nested counts may make.
pub(super) const MAX_COPIES: u32 = 1000;

impl Builder {
    /// Checks every limit for a piece that was just made.
    pub(super) fn check_limits(&mut self, id: Id) -> Result<(), Limit> {
        if self.rune_count > MAX_RUNES {
            return Err(Limit::Large);
        }
        self.check_size(id)?;
        if self.tree.node(id).height > MAX_HEIGHT { Err(Limit::Deep) } else { Ok(()) }
    }

    /// Sizes are counted only once an estimate says that they may matter; the estimate is part of the verdict.
    fn check_size(&mut self, id: Id) -> Result<(), Limit> {
        if !self.counting {
            let node = self.tree.node(id);
            if node.op == Op::Repeat {
                let copies = i64::from(node.max.unwrap_or(node.min)).max(1);
                self.repeats =
                    if copies > MAX_SIZE / self.repeats { MAX_SIZE } else { self.repeats * copies };
            }
            if i64::try_from(self.allocated).unwrap_or(i64::MAX) < MAX_SIZE / self.repeats {
                return Ok(());
            }
            self.counting = true;
            for at in 0..self.stack.len() {
                if self.count(self.stack[at]) > MAX_SIZE {
                    return Err(Limit::Large);
                }
            }
        }
        if self.count(id) > MAX_SIZE { Err(Limit::Large) } else { Ok(()) }
    }

    /// Counts a node anew. Below it only nodes that were never counted are: sizes that became wrong meanwhile stay, as in Go.
    fn count(&mut self, id: Id) -> i64 {
        self.pending.clear();
        self.pending.push(id);
        while let Some(&current) = self.pending.last() {
            let node = self.tree.node(current);
            if !node.stale && node.size != 0 && node.op != Op::Literal {
                self.pending.pop();
                continue;
            }
            let before = self.pending.len();
            if node.sum == 0 {
                let mut child = node.first;
                while child != NONE {
                    let below = self.tree.node(child);
                    if below.size == 0 {
                        self.pending.push(child);
                    }
                    child = below.next;
                }
            }
            if self.pending.len() == before {
                let size = self.size_from_children(current);
                let node = self.tree.node_mut(current);
                (node.size, node.stale) = (size, false);
                self.pending.pop();
            }
        }
        self.tree.node(id).size
    }

    /// The size of a node whose children have been counted.
    fn size_from_children(&self, id: Id) -> i64 {
        let node = self.tree.node(id);
        let only = || if node.first == NONE { 0 } else { self.tree.node(node.first).size };
        let sum = || {
            if node.sum != 0 {
                node.sum
            } else {
                self.tree.children(id).map(|child| self.tree.node(child).size).sum()
            }
        };
        let size = match node.op {
            Op::Literal => i64::from(node.length),
            Op::Capture | Op::Star => 2 + only(),
            Op::Plus | Op::Quest => 1 + only(),
            Op::Concat | Op::Segment => sum(),
            Op::Alternate => sum() + i64::from(node.children) - 1,
            Op::Repeat => match (i64::from(node.min), node.max.map(i64::from)) {
                (0, None) => 2 + only(),
                (min, None) => 1 + min * only(),
                (min, Some(max)) => max * only() + (max - min),
            },
            _ => 1,
        };
        size.max(1)
    }
}
