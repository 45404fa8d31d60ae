//! Whether a short text matches, without compiling anything: the tree is walked with sets of places in the text.
//!
//! Rules try a matcher on a few made-up values. A node takes the set of places where it may begin to the set where it may
//! end, so nothing is ever tried twice and no pattern is slow.

use super::ranges;
use super::tree::{Flags, Id, Op, Tree};

/// A set of places: bit `n` is the place before character `n`.
type Places = u128;

/// The longest text, in characters.
const LONGEST: usize = 126;
/// Nodes that are looked at before giving up; a typical pattern needs some dozens.
const MOST_STEPS: usize = 200_000;

struct Walk<'a> {
    tree: &'a Tree,
    text: Vec<u32>,
    steps: usize,
}

/// Whether the text, or if it need not match as a whole a part of it, matches; nothing when that cannot be told here.
pub(super) fn is_match(tree: &Tree, whole: bool, text: &str) -> Option<bool> {
    let text: Vec<u32> = text.chars().map(u32::from).collect();
    if text.len() > LONGEST {
        return None;
    }
    let end = 1 << text.len();
    let all = (end << 1) - 1;
    let mut walk = Walk { tree, text, steps: 0 };
    let ends = walk.ends(tree.root, if whole { 1 } else { all })?;
    Some(if whole { ends & end != 0 } else { ends != 0 })
}

impl Walk<'_> {
    /// Where a node may end when it begins at one of these places. As deep as the tree, which Go limits to 1,000.
    fn ends(&mut self, id: Id, starts: Places) -> Option<Places> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        if starts == 0 {
            return Some(0);
        }
        let tree = self.tree;
        let node = tree.node(id);
        let ends = match node.op {
            Op::Empty => starts,
            Op::Literal => {
                let folds = node.flags.has(Flags::FOLD);
                let mut places = starts;
                for &rune in tree.literal(id) {
                    // Go matches an encoded surrogate in ways of its own.
                    if (0xD800..0xE000).contains(&rune) {
                        return None;
                    }
                    places = self.step(places, |c| c == rune || folds && same_letter(c, rune));
                    if places == 0 {
                        break;
                    }
                }
                places
            }
            Op::Class => {
                let class = tree.class(id);
                self.step(starts, |c| class.iter().any(|&(first, last)| first <= c && c <= last))
            }
            Op::AnyNotNewline => self.step(starts, |c| c != u32::from('\n')),
            Op::Any => self.step(starts, |_| true),
            Op::BeginText => starts & 1,
            Op::EndText => starts & (1 << self.text.len()),
            Op::BeginLine => self.at(starts, |before, _| before.is_none_or(|c| c == u32::from('\n'))),
            Op::EndLine => self.at(starts, |_, after| after.is_none_or(|c| c == u32::from('\n'))),
            Op::WordBoundary => self.at(starts, |before, after| is_word(before) != is_word(after)),
            Op::NotWordBoundary => self.at(starts, |before, after| is_word(before) == is_word(after)),
            Op::Capture => self.ends(node.first, starts)?,
            Op::Quest => starts | self.ends(node.first, starts)?,
            Op::Star => self.again(node.first, starts, None)?,
            Op::Plus => {
                let once = self.ends(node.first, starts)?;
                self.again(node.first, once, None)?
            }
            Op::Repeat => {
                let mut places = starts;
                for _ in 0..node.min {
                    let next = self.ends(node.first, places)?;
                    if next == places {
                        break;
                    }
                    places = next;
                }
                self.again(node.first, places, node.max.map(|max| max.saturating_sub(node.min)))?
            }
            Op::Concat => {
                let mut places = starts;
                for child in tree.children(id) {
                    places = self.ends(child, places)?;
                }
                places
            }
            Op::Alternate => {
                let mut places = 0;
                for child in tree.children(id) {
                    places |= self.ends(child, starts)?;
                }
                places
            }
            Op::Segment | Op::LeftParen | Op::VerticalBar => return None,
        };
        Some(ends)
    }

    /// Where the node may end when it is taken any number of times, or that many at most.
    fn again(&mut self, id: Id, starts: Places, most: Option<u16>) -> Option<Places> {
        let mut places = starts;
        for _ in 0..most.unwrap_or(u16::MAX) {
            let more = places | self.ends(id, places)?;
            if more == places {
                break;
            }
            places = more;
        }
        Some(places)
    }

    /// One character further, where it is one of those.
    fn step(&self, starts: Places, is_one: impl Fn(u32) -> bool) -> Places {
        let taken = self.text.iter().enumerate().filter(|(at, c)| starts & (1 << at) != 0 && is_one(**c));
        taken.fold(0, |places, (at, _)| places | 1 << (at + 1))
    }

    /// The places that have such neighbours.
    fn at(&self, starts: Places, holds: impl Fn(Option<u32>, Option<u32>) -> bool) -> Places {
        let before = |at: usize| at.checked_sub(1).and_then(|at| self.text.get(at)).copied();
        let fits = (0..=self.text.len()).filter(|at| holds(before(*at), self.text.get(*at).copied()));
        starts & fits.fold(0, |places, at| places | 1 << at)
    }
}

fn is_word(c: Option<u32>) -> bool {
    c.and_then(char::from_u32).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Are two characters the same but for their case? The orbits of folding are short.
fn same_letter(one: u32, other: u32) -> bool {
    let mut next = ranges::simple_fold(one);
    while next != one {
        if next == other {
            return true;
        }
        next = ranges::simple_fold(next);
    }
    false
}
