//! Writes a pattern for Rust's `regex` crate that matches exactly what Go matches.
//!
//! Nothing is left to the other side's tables or defaults: classes are written as ranges, case as classes, modes as groups.

use std::fmt::Write as _;

use super::ranges::{self, Range};
use super::tree::{Flags, Id, Op, Tree};

/// Why a pattern cannot be matched locally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unverifiable {
    /// The reason, one lower-case clause.
    pub reason: &'static str,
}

/// No longer pattern is written: to compile it would cost more than it is worth.
const MAX_LENGTH: usize = 4 << 20;

/// What remains to be written.
enum Task {
    /// A node; true: as the operand of a repetition.
    Node(Id, bool),
    /// Text after a node.
    Text(&'static str),
    /// The counts of a repetition.
    Suffix(Id),
    /// The remaining alternatives, from this one on.
    Alternatives(Id),
    /// The remaining pieces, from this one on.
    Pieces(Id),
}

/// The pattern for the whole tree.
pub(super) fn write(tree: &Tree) -> Result<String, Unverifiable> {
    let mut out = String::new();
    let mut tasks = vec![Task::Node(tree.root, false)];
    while let Some(task) = tasks.pop() {
        if out.len() > MAX_LENGTH {
            return Err(Unverifiable { reason: "it is too long once its classes are written out" });
        }
        match task {
            Task::Text(text) => out.push_str(text),
            Task::Suffix(id) => write_suffix(tree, id, &mut out),
            Task::Node(id, operand) => write_node(tree, id, operand, &mut tasks, &mut out)?,
            Task::Alternatives(id) => {
                let next = tree.node(id).next;
                if next != super::tree::NONE {
                    tasks.push(Task::Alternatives(next));
                    tasks.push(Task::Text("|"));
                }
                tasks.push(Task::Node(id, false));
            }
            Task::Pieces(id) => {
                let next = tree.node(id).next;
                if next != super::tree::NONE {
                    tasks.push(Task::Pieces(next));
                }
                if tree.node(id).op == Op::Alternate {
                    tasks.push(Task::Text(")"));
                    tasks.push(Task::Node(id, false));
                    tasks.push(Task::Text("(?:"));
                } else {
                    tasks.push(Task::Node(id, false));
                }
            }
        }
    }
    Ok(out)
}

fn write_node(
    tree: &Tree,
    id: Id,
    operand: bool,
    tasks: &mut Vec<Task>,
    out: &mut String,
) -> Result<(), Unverifiable> {
    let node = tree.node(id);
    // Everything but a single character needs a group to be repeated.
    if operand && !tree.is_single(id) && node.op != Op::Capture {
        out.push_str("(?:");
        tasks.push(Task::Text(")"));
    }
    match node.op {
        Op::Literal => {
            for &rune in tree.literal(id) {
                write_rune(rune, node.flags.has(Flags::FOLD), out)?;
            }
        }
        Op::Class => write_class(&tree.class(id), out),
        Op::Any => out.push_str("(?s:.)"),
        Op::AnyNotNewline => out.push_str(r"[^\n]"),
        Op::BeginLine => out.push_str("(?m:^)"),
        Op::EndLine => out.push_str("(?m:$)"),
        Op::BeginText => out.push_str(r"\A"),
        Op::EndText => out.push_str(r"\z"),
        Op::WordBoundary => out.push_str(r"(?-u:\b)"),
        Op::NotWordBoundary => out.push_str(r"(?-u:\B)"),
        Op::Capture => {
            out.push_str("(?:");
            tasks.push(Task::Text(")"));
            tasks.push(Task::Node(node.first, false));
        }
        Op::Star | Op::Plus | Op::Quest | Op::Repeat => {
            tasks.push(Task::Suffix(id));
            tasks.push(Task::Node(node.first, true));
        }
        Op::Concat => tasks.push(Task::Pieces(node.first)),
        Op::Alternate => tasks.push(Task::Alternatives(node.first)),
        // An empty alternative is written as a group, so that a list of alternatives never ends in a bare bar.
        Op::Empty | Op::Segment | Op::LeftParen | Op::VerticalBar => out.push_str("(?:)"),
    }
    Ok(())
}

fn write_suffix(tree: &Tree, id: Id, out: &mut String) {
    let node = tree.node(id);
    match node.op {
        Op::Star => out.push('*'),
        Op::Plus => out.push('+'),
        Op::Quest => out.push('?'),
        _ => {
            let counts = match node.max {
                Some(max) if max == node.min => format!("{{{max}}}"),
                Some(max) => format!("{{{},{max}}}", node.min),
                None => format!("{{{},}}", node.min),
            };
            out.push_str(&counts);
        }
    }
    if node.flags.has(Flags::NON_GREEDY) {
        out.push('?');
    }
}

fn write_rune(rune: u32, folds: bool, out: &mut String) -> Result<(), Unverifiable> {
    if folds && ranges::simple_fold(rune) != rune {
        let mut ring = Vec::new();
        ranges::append_folded(&mut ring, 0, rune, rune);
        ranges::clean(&mut ring, 0);
        write_class(&ring, out);
        return Ok(());
    }
    let Some(character) = char::from_u32(rune) else {
        return Err(Unverifiable { reason: "it names a surrogate, which no text holds" });
    };
    if character.is_alphanumeric()
        || matches!(character, '_' | ' ' | '/' | ':' | '"' | '\'' | ',' | ';' | '=' | '@' | '%')
    {
        out.push(character);
    } else {
        write_code(rune, out);
    }
    Ok(())
}

fn write_code(rune: u32, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\x{{{rune:X}}}");
}

/// A class without the surrogates, which no text holds and Rust does not name.
fn write_class(class: &[Range], out: &mut String) {
    let before = out.len();
    out.push('[');
    let mut any = false;
    let mut part = |lo: u32, hi: u32, out: &mut String| {
        if lo <= hi {
            any = true;
            write_code(lo, out);
            if lo != hi {
                out.push('-');
                write_code(hi, out);
            }
        }
    };
    for &(lo, hi) in class {
        if hi < 0xD800 || lo > 0xDFFF {
            part(lo, hi, out);
        } else {
            part(lo, 0xD7FF, out);
            part(0xE000, hi, out);
        }
    }
    out.push(']');
    if !any {
        out.truncate(before);
        out.push_str(r"[^\x{0}-\x{10FFFF}]");
    }
}
