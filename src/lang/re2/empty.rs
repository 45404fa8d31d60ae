//! Whether a pattern matches the empty text.

use super::tree::{Id, NONE, Op, Tree};

/// Every place of the empty text is its beginning and its end, and no word is near.
pub(super) fn matches_empty(tree: &Tree) -> bool {
    // For each node that is being decided: the child to look at next. What a child said goes to the node above.
    let mut path: Vec<(Id, Id)> = vec![(tree.root, tree.node(tree.root).first)];
    let mut said = None;
    loop {
        let Some(top) = path.last_mut() else { return said.unwrap_or(false) };
        let (id, next) = *top;
        let node = tree.node(id);
        let decided = match (node.op, said.take()) {
            (Op::Literal | Op::Class | Op::AnyNotNewline | Op::Any | Op::WordBoundary, _)
            | (Op::Concat, Some(false)) => Some(false),
            (Op::Star | Op::Quest, _) | (Op::Alternate, Some(true)) => Some(true),
            (Op::Repeat, _) if node.min == 0 => Some(true),
            (Op::Capture | Op::Plus | Op::Repeat, Some(child)) => Some(child),
            (Op::Concat, _) if next == NONE => Some(true),
            (Op::Alternate, _) if next == NONE => Some(false),
            (Op::Capture | Op::Plus | Op::Repeat | Op::Concat | Op::Alternate, _) => None,
            _ => Some(true),
        };
        if decided.is_some() {
            said = decided;
            path.pop();
        } else {
            top.1 = tree.node(next).next;
            path.push((next, tree.node(next).first));
        }
    }
}
