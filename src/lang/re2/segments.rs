//! Large classes. Unicode is cut into segments such that each group that `\p{..}` names consists of whole ones: to unite,
//! negate, count and compare groups is then work on some words of bits, however many ranges they have.
//!
//! What fills no segment, such as some ideographs, stands in a list of pieces beside the set. A set and its pieces have one form
//! only: no piece fills a segment or lies in one that the set has, pieces are in order and none spans two segments.

use std::sync::{LazyLock, OnceLock};

use super::ranges::{self, MAX_RUNE, Range};
use super::tables::{CATEGORIES, FOLDS, SCRIPTS, SEGMENTS};

/// A class of more ranges than this is kept as segments, any other one as a list of ranges.
pub(super) const LARGE_CLASS: usize = 64;

const WORDS: usize = SEGMENTS.len().div_ceil(64);

/// A set of segments: one bit for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    words: [u64; WORDS],
}

/// The segment of a character.
fn segment(rune: u32) -> usize {
    SEGMENTS.partition_point(|&start| start <= rune).saturating_sub(1)
}

fn first_of(segment: usize) -> u32 {
    SEGMENTS.get(segment).copied().unwrap_or(MAX_RUNE + 1)
}

fn last_of(segment: usize) -> u32 {
    first_of(segment + 1) - 1
}

impl Set {
    pub(super) const EMPTY: Set = Set { words: [0; WORDS] };

    /// The members of a table, counted through categories and scripts, with what folding adds or without.
    pub(super) fn of_table(table: usize, folded: bool) -> Option<&'static Set> {
        static SETS: LazyLock<Vec<OnceLock<Box<Set>>>> =
            LazyLock::new(|| (0..2 * (CATEGORIES.len() + SCRIPTS.len())).map(|_| OnceLock::new()).collect());
        let set = SETS.get(2 * table + usize::from(folded))?.get_or_init(|| {
            let mut set = Box::new(Set::EMPTY);
            if let Some(table) = CATEGORIES.iter().chain(SCRIPTS).nth(table) {
                let more = if folded { table.folded } else { &[] };
                for &(lo, hi) in table.members.iter().chain(more) {
                    set.insert_between(segment(lo), segment(hi) + 1);
                }
            }
            set
        });
        Some(set)
    }

    fn has(&self, segment: usize) -> bool {
        self.words.get(segment / 64).is_some_and(|word| word >> (segment % 64) & 1 == 1)
    }

    /// Adds the segments from `from` up to but not including `to`.
    fn insert_between(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (first, last) = (from / 64, (to - 1) / 64);
        for (at, word) in self.words.iter_mut().enumerate().take(last + 1).skip(first) {
            let low = if at == first { u64::MAX << (from % 64) } else { u64::MAX };
            let high = if at == last { u64::MAX >> (63 - (to - 1) % 64) } else { u64::MAX };
            *word |= low & high;
        }
    }

    /// Adds another set.
    pub(super) fn unite(&mut self, other: &Set) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// Adds everything outside another set.
    pub(super) fn unite_outside(&mut self, other: &Set) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= !other;
        }
        self.end();
    }

    /// Replaces the set by everything outside it.
    fn invert(&mut self) {
        for word in &mut self.words {
            *word = !*word;
        }
        self.end();
    }

    /// Clears the bits behind the last segment.
    fn end(&mut self) {
        if let Some(last) = self.words.last_mut() {
            *last &= u64::MAX >> (WORDS * 64 - SEGMENTS.len());
        }
    }

    /// Replaces the set and its pieces by everything outside them.
    fn negate(&mut self, pieces: &mut Vec<Range>) {
        self.invert();
        let mut outside = Vec::with_capacity(pieces.len() + 1);
        let mut rest = pieces.as_slice();
        while let Some(&(lo, _)) = rest.first() {
            let at = segment(lo);
            let (mut next, last) = (first_of(at), last_of(at));
            if let Some(word) = self.words.get_mut(at / 64) {
                *word &= !(1 << (at % 64));
            }
            while let Some((&(lo, hi), behind)) = rest.split_first().filter(|(piece, _)| piece.0 <= last) {
                if next < lo {
                    outside.push((next, lo - 1));
                }
                (next, rest) = (hi + 1, behind);
            }
            if next <= last {
                outside.push((next, last));
            }
        }
        *pieces = outside;
    }

    /// Takes in a list of ranges in order; the pieces of segments remain in it.
    fn take_in(&mut self, list: &mut Vec<Range>) {
        let mut pieces = Vec::new();
        for &(lo, hi) in &*list {
            let (mut first, mut end) = (segment(lo), segment(hi) + 1);
            let mut tail = None;
            if hi != last_of(end - 1) {
                end -= 1;
                tail = Some((first_of(end).max(lo), hi)).filter(|_| !self.has(end));
            }
            if first < end && lo != first_of(first) {
                if !self.has(first) {
                    pieces.push((lo, last_of(first)));
                }
                first += 1;
            }
            self.insert_between(first, end);
            pieces.extend(tail);
        }
        *list = pieces;
    }

    /// Of how many ranges set and pieces consist.
    fn count(&self, pieces: &[Range]) -> usize {
        let (mut count, mut carry) = (0, 0);
        for word in &self.words {
            count += (word & !(word << 1 | carry)).count_ones() as usize;
            carry = word >> 63;
        }
        let mut next = None;
        for &(lo, hi) in pieces {
            let at = segment(lo);
            let joined_before = next == Some(lo) || lo == first_of(at) && at > 0 && self.has(at - 1);
            let joined_behind = hi == last_of(at) && self.has(at + 1);
            count = count + 1 - usize::from(joined_before) - usize::from(joined_behind);
            next = Some(hi + 1);
        }
        count
    }

    /// The ranges of set and pieces.
    pub(super) fn ranges(&self, pieces: &[Range]) -> Vec<Range> {
        let mut list: Vec<Range> = Vec::with_capacity(pieces.len() + WORDS);
        let mut pieces = pieces.iter().copied().peekable();
        let mut add = |lo: u32, hi: u32| match list.last_mut() {
            Some(before) if before.1 + 1 == lo => before.1 = hi,
            _ => list.push((lo, hi)),
        };
        for (at, &word) in self.words.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let first = left.trailing_zeros();
                let length = (!(left >> first)).trailing_zeros();
                left &= (u64::MAX << first << (length - 1)) << 1;
                let first = at * 64 + first as usize;
                let lo = first_of(first);
                while let Some((lo, hi)) = pieces.next_if(|piece| piece.0 < lo) {
                    add(lo, hi);
                }
                add(lo, last_of(first + length as usize - 1));
            }
        }
        for (lo, hi) in pieces {
            add(lo, hi);
        }
        list
    }

    /// Whether the segment of a character is in the set.
    pub(super) fn contains(&self, rune: u32) -> bool {
        self.has(segment(rune))
    }

    /// Whether whatever equals a member when case is ignored is a member too. Pieces do not matter: what folds is a segment.
    pub(super) fn is_closed(&self) -> bool {
        LINKS.couples.iter().all(|&(from, length)| {
            let word = self.some(from, length);
            (word ^ word >> 1) & 0x5555_5555_5555_5555 == 0
        }) && LINKS.ways.iter().all(|&(from, to, length)| self.some(from, length) == self.some(to, length))
    }

    /// At most 64 bits from a segment on.
    fn some(&self, from: usize, length: usize) -> u64 {
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let low = word(from / 64) >> (from % 64);
        let high = if from.is_multiple_of(64) { 0 } else { word(from / 64 + 1) << (64 - from % 64) };
        (low | high) & (u64::MAX >> (64 - length))
    }
}

/// Which segments are equal when case is ignored.
struct Links {
    /// Where couples of neighbours begin, and how many segments they are together, at most 64.
    couples: Vec<(usize, usize)>,
    /// From where to where, and of how many neighbours that holds, at most 64.
    ways: Vec<(usize, usize, usize)>,
}

static LINKS: LazyLock<Links> = LazyLock::new(|| {
    let mut links = Links { couples: Vec::new(), ways: Vec::new() };
    for run in FOLDS {
        for rune in (run.first..=run.last).step_by(run.step as usize) {
            let other = ranges::simple_fold(rune);
            let (from, to) = (segment(rune), segment(other));
            if other == rune + 1 {
                match links.couples.last_mut() {
                    Some((start, length)) if *start + *length == from && *length < 64 => *length += 2,
                    _ => links.couples.push((from, 2)),
                }
            } else if other > rune {
                // The way back need not be looked at.
                match links.ways.last_mut() {
                    Some((start, end, length))
                        if (*start + *length, *end + *length) == (from, to) && *length < 64 =>
                    {
                        *length += 1;
                    }
                    _ => links.ways.push((from, to, 1)),
                }
            }
        }
    }
    links
});

/// Brings a class into its only form. The list is in order. If the class turns out large, its number of ranges is said and what
/// the set lacks remains in the list; otherwise all of it is in the list and the set has no meaning any more.
pub(super) fn settle(set: &mut Set, list: &mut Vec<Range>, negated: bool) -> Option<usize> {
    set.take_in(list);
    if negated {
        set.negate(list);
    }
    let count = set.count(list);
    if count > LARGE_CLASS {
        return Some(count);
    }
    *list = set.ranges(list);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> impl Iterator<Item = (usize, &'static [Range], &'static [Range])> {
        CATEGORIES.iter().chain(SCRIPTS).enumerate().map(|(at, table)| (at, table.members, table.folded))
    }

    #[test]
    fn groups_consist_of_whole_segments() {
        for (at, members, folded) in tables() {
            let set = Set::of_table(at, false).expect("every table has a set");
            assert_eq!(set.ranges(&[]), members);
            assert_eq!(set.count(&[]), members.len());
            let mut both = [members, folded].concat();
            ranges::clean(&mut both, 0);
            assert_eq!(Set::of_table(at, true).map(|set| set.ranges(&[])), Some(both));
        }
    }

    #[test]
    fn what_folds_is_found_in_sets_and_in_lists() {
        // Cased letters are no closed set even if case is ignored: Go has no table of what folding adds to them.
        for (at, members, folded) in tables() {
            let mut both = [members, folded].concat();
            ranges::clean(&mut both, 0);
            for (list, set) in
                [(members, false), (&both, true)].map(|(list, set)| (list, Set::of_table(at, set)))
            {
                let mut all = list.to_vec();
                ranges::fold(&mut all);
                assert_eq!(set.map(Set::is_closed), Some(all == list), "{list:x?}");
                assert_eq!(ranges::is_closed(list), all == list, "{list:x?}");
                assert!(ranges::is_closed(&all), "{list:x?}");
            }
        }
    }

    #[test]
    fn a_class_has_one_form() {
        let mut seed = 1_u64;
        let mut below = |bound: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(seed >> 33).unwrap_or(0) % bound
        };
        for round in 0..2000 {
            let (table, members, _) = tables().nth(round % tables().count()).expect("a table");
            let mut list: Vec<Range> = (0..below(200))
                .map(|_| {
                    let lo = below([0x300, 0x3000, MAX_RUNE - 0x3000][round % 3]);
                    (lo, lo + below([1, 40, 0x3000][round % 3]))
                })
                .collect();
            let mut expected = [members, &list].concat();
            ranges::clean(&mut expected, 0);
            ranges::clean(&mut list, 0);
            let negated = round % 2 == 1;
            if negated {
                ranges::negate(&mut expected, 0);
            }
            let mut set = Set::of_table(table, false).expect("a set").clone();
            let large = settle(&mut set, &mut list, negated);
            assert_eq!(large, Some(expected.len()).filter(|count| *count > LARGE_CLASS));
            if large.is_some() {
                // From other beginnings, the same end.
                let (mut other, mut pieces) = (Set::EMPTY, expected.clone());
                settle(&mut other, &mut pieces, false);
                assert!(set == other && list == pieces, "{expected:x?}");
                assert_eq!(set.ranges(&list), expected);
            } else {
                assert_eq!(list, expected);
            }
        }
    }
}
