//! Whether a short text matches, without compiling anything: the tree is walked with sets of places in the text.
//!
//! Rules try a matcher on a few made-up values. A node takes the set of places where it may begin to the set where it may
//! end, so nothing is ever tried twice and no pattern is slow.

use std::collections::HashMap;

use super::ranges;
use super::tree::{Flags, Id, Op, Tree};

/// A set of places: bit `n` is the place before character `n`.
type Places = u128;

/// The longest text, in characters.
const LONGEST: usize = 126;
/// Nodes that are looked at before giving up; a typical pattern needs some dozens.
const MOST_STEPS: usize = 200_000;
/// From so many places on, every place where a character or a class fits is sought at once and remembered.
const MANY: u32 = 4;

/// A text and what was found out about it.
struct Text {
    runes: Vec<u32>,
    /// Each character once, in order, with the places where it stands; sought on demand.
    letters: Vec<(u32, Places)>,
}

impl Text {
    fn new(runes: Vec<u32>) -> Self {
        Self { runes, letters: Vec::new() }
    }

    fn letters(&mut self) -> &[(u32, Places)] {
        if self.letters.is_empty() {
            self.letters = self.runes.iter().enumerate().map(|(at, &rune)| (rune, 1 << at)).collect();
            self.letters.sort_unstable();
            self.letters.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                kept.1 |= if same { later.1 } else { 0 };
                same
            });
        }
        &self.letters
    }

    /// Where a character stands.
    fn places(&mut self, rune: u32) -> Places {
        let letters = self.letters();
        let found = letters.binary_search_by_key(&rune, |&(letter, _)| letter).ok();
        found.and_then(|at| letters.get(at)).map_or(0, |&(_, places)| places)
    }

    /// One character further, where it is one of those.
    fn step(&self, starts: Places, is_one: impl Fn(u32) -> bool) -> Places {
        let (mut left, mut ends) = (starts, 0);
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            if self.runes.get(place as usize).is_some_and(|&rune| is_one(rune)) {
                ends |= 1 << (place + 1);
            }
        }
        ends
    }

    /// Where a literal may end; nothing if that cannot be told.
    fn ends(&mut self, literal: &[u32], starts: Places) -> Option<Places> {
        let mut places = starts;
        let mut known = None;
        for &rune in literal {
            // Go matches an encoded surrogate in ways of its own.
            if (0xD800..0xE000).contains(&rune) {
                return None;
            }
            if places.count_ones() < MANY {
                places = self.step(places, |c| c == rune);
            } else {
                let fits = match known {
                    Some((last, fits)) if last == rune => fits,
                    _ => self.places(rune),
                };
                known = Some((rune, fits));
                places = (places & fits) << 1;
            }
            if places == 0 {
                break;
            }
        }
        Some(places)
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    text: Text,
    /// The same with each character the smallest of those that are equal when case is ignored; made on demand.
    folded: Option<Text>,
    /// Where characters of a class stand.
    classes: HashMap<Id, Places>,
    /// Places with certain neighbours, by the operation that asks for them.
    neighbours: [Option<Places>; 5],
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
    let mut walk = Walk {
        tree,
        text: Text::new(text),
        folded: None,
        classes: HashMap::new(),
        neighbours: [None; 5],
        steps: 0,
    };
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
            // The characters of a literal that ignores case are the smallest of their rings, too.
            Op::Literal if node.flags.has(Flags::FOLD) => {
                let text = &self.text.runes;
                let folded = self.folded.get_or_insert_with(|| {
                    Text::new(text.iter().map(|&rune| ranges::min_fold(rune)).collect())
                });
                folded.ends(tree.literal(id), starts)?
            }
            Op::Literal => self.text.ends(tree.literal(id), starts)?,
            Op::Class => self.class(id, starts),
            Op::AnyNotNewline => {
                (starts & self.at(4, |_, after| after.is_some_and(|c| c != u32::from('\n')))) << 1
            }
            Op::Any => (starts << 1) & ((1 << (self.text.runes.len() + 1)) - 1),
            Op::BeginText => starts & 1,
            Op::EndText => starts & (1 << self.text.runes.len()),
            Op::BeginLine => starts & self.at(0, |before, _| before.is_none_or(|c| c == u32::from('\n'))),
            Op::EndLine => starts & self.at(1, |_, after| after.is_none_or(|c| c == u32::from('\n'))),
            Op::WordBoundary => starts & self.at(2, |before, after| is_word(before) != is_word(after)),
            Op::NotWordBoundary => starts & self.at(3, |before, after| is_word(before) == is_word(after)),
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

    /// Where a class may end.
    fn class(&mut self, id: Id, starts: Places) -> Places {
        let tree = self.tree;
        if starts.count_ones() < MANY {
            return self.text.step(starts, |c| tree.matches_rune(id, c));
        }
        let text = &mut self.text;
        let fits = self.classes.entry(id).or_insert_with(|| {
            let members = text.letters().iter().filter(|letter| tree.matches_rune(id, letter.0));
            members.fold(0, |places, letter| places | letter.1)
        });
        (starts & *fits) << 1
    }

    /// The places that have such neighbours, sought once.
    fn at(&mut self, which: usize, holds: impl Fn(Option<u32>, Option<u32>) -> bool) -> Places {
        if let Some(&Some(known)) = self.neighbours.get(which) {
            return known;
        }
        let text = &self.text.runes;
        let before = |at: usize| at.checked_sub(1).and_then(|at| text.get(at)).copied();
        let fits = (0..=text.len()).filter(|at| holds(before(*at), text.get(*at).copied()));
        let places = fits.fold(0, |places, at| places | 1 << at);
        if let Some(place) = self.neighbours.get_mut(which) {
            *place = Some(places);
        }
        places
    }
}

fn is_word(c: Option<u32>) -> bool {
    c.and_then(char::from_u32).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
}
