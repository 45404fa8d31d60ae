//! The height of a pattern after counts are written out, as Loki does with the pattern of a line filter: `a{0,3}` becomes
//! `(?:a(?:aa?)?)?`, two levels for each count, and Go refuses to read that again when it is too high.

use super::limits::MAX_HEIGHT;
use super::tree::{Id, Op, Tree};

/// What a node is once it is written out and read again.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Empty,
    Literal,
    Concat,
    Alternate,
    Other,
}

/// A node that is written out: what it is, and how high.
#[derive(Clone, Copy)]
struct Written {
    kind: Kind,
    height: u32,
}

const LEAF: Written = Written { kind: Kind::Other, height: 1 };

/// Whether Go can read the pattern again.
pub(super) fn is_readable(tree: &Tree) -> bool {
    // Parents before children, with whether captures are dropped: they are as long as only lists and captures are above.
    let mut order: Vec<(Id, bool)> = Vec::new();
    let mut waiting = vec![(tree.root, true)];
    while let Some((id, bare)) = waiting.pop() {
        order.push((id, bare));
        let below = bare && matches!(tree.node(id).op, Op::Capture | Op::Concat | Op::Alternate);
        waiting.extend(tree.children(id).map(|child| (child, below)));
    }
    let mut written = vec![LEAF; tree.len()];
    for (id, bare) in order.into_iter().rev() {
        let result = write_out(tree, id, bare, &written);
        if result.height > MAX_HEIGHT {
            return false;
        }
        if let Some(place) = written.get_mut(id as usize) {
            *place = result;
        }
    }
    true
}

fn write_out(tree: &Tree, id: Id, bare: bool, written: &[Written]) -> Written {
    let node = tree.node(id);
    let of = |child: Id| written.get(child as usize).copied().unwrap_or(LEAF);
    let above = |child: Written| Written { kind: Kind::Other, height: child.height + 1 };
    match node.op {
        Op::Empty => Written { kind: Kind::Empty, height: 1 },
        Op::Literal => Written { kind: Kind::Literal, height: 1 },
        Op::Capture if bare => of(node.first),
        Op::Capture => above(of(node.first)),
        Op::Star | Op::Plus | Op::Quest => match of(node.first) {
            empty if empty.kind == Kind::Empty => empty,
            child => above(child),
        },
        Op::Concat => list(Kind::Concat, tree.children(id).map(of)),
        Op::Alternate => list(Kind::Alternate, tree.children(id).map(of)),
        Op::Repeat => repeat(node.min, node.max, of(node.first)),
        _ => LEAF,
    }
}

/// A list; one inside of its own kind is no level of its own, and literals beside each other become one.
fn list(kind: Kind, pieces: impl Iterator<Item = Written>) -> Written {
    let (mut height, mut literal) = (1, kind == Kind::Concat);
    for piece in pieces {
        let inner = if piece.kind == kind { piece.height } else { piece.height + 1 };
        height = height.max(inner);
        literal &= piece.kind == Kind::Literal;
    }
    if literal { Written { kind: Kind::Literal, height: 1 } } else { Written { kind, height } }
}

fn repeat(min: u16, max: Option<u16>, child: Written) -> Written {
    let above = |inner: Written| Written { kind: Kind::Other, height: inner.height + 1 };
    if max == Some(0) {
        return Written { kind: Kind::Empty, height: 1 };
    }
    if child.kind == Kind::Empty {
        return child;
    }
    let tail = match max {
        None => Some(above(child)),
        Some(max) if max > min => {
            let mut tail = above(child);
            for _ in 1..max - min {
                tail = above(list(Kind::Concat, [child, tail].into_iter()));
            }
            Some(tail)
        }
        Some(_) => None,
    };
    // `x{3,}` is `xxx+`: the last copy is in the tail.
    let copies = usize::from(if max.is_none() { min.saturating_sub(1) } else { min });
    match (copies, tail) {
        (0, Some(tail)) => tail,
        (1, None) => child,
        // More copies are as high as one.
        _ => list(Kind::Concat, std::iter::repeat_n(child, copies.min(1)).chain(tail)),
    }
}
