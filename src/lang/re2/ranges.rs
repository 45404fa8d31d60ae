//! Sets of characters as lists of ranges, and the folding of case, with the members that Go gives them.
//!
//! A list under construction lies at the end of a longer vector, from an index on, so that classes share one allocation.

use super::tables::{FOLDS, FoldRun};

/// From the first to the last member, both included.
pub(super) type Range = (u32, u32);

/// The last code point.
pub(super) const MAX_RUNE: u32 = 0x10_FFFF;
/// A list is put in order whenever it has grown by this many ranges, so that repeated members cost no memory.
const COMPACT_EVERY: usize = 4096;
/// So many ranges are put into an ordered list one by one.
const FEW: usize = 8;

/// Adds a range to the list that starts at `from`; grows one of the last two ranges if it touches the new one.
pub(super) fn append(list: &mut Vec<Range>, from: usize, lo: u32, hi: u32) {
    let tail = list.len().saturating_sub(2).max(from);
    if let Some(recent) = list.get_mut(tail..) {
        for range in recent.iter_mut().rev() {
            if lo <= range.1 + 1 && range.0 <= hi + 1 {
                range.0 = range.0.min(lo);
                range.1 = range.1.max(hi);
                return;
            }
        }
    }
    list.push((lo, hi));
}

/// Adds many ranges.
pub(super) fn append_all(list: &mut Vec<Range>, from: usize, ranges: &[Range]) {
    let before = list.len() - from;
    if before == 0 {
        list.extend_from_slice(ranges);
        return;
    }
    for &(lo, hi) in ranges {
        append(list, from, lo, hi);
    }
    compact(list, from, before);
}

/// Adds everything outside the ordered `ranges`.
pub(super) fn append_negated(list: &mut Vec<Range>, from: usize, ranges: &[Range]) {
    let before = list.len() - from;
    let mut next = 0;
    for &(lo, hi) in ranges {
        if next < lo {
            append(list, from, next, lo - 1);
        }
        next = hi + 1;
    }
    if next <= MAX_RUNE {
        append(list, from, next, MAX_RUNE);
    }
    compact(list, from, before);
}

/// Adds a range and everything that equals a member when case is ignored.
pub(super) fn append_folded(list: &mut Vec<Range>, from: usize, lo: u32, hi: u32) {
    let before = list.len() - from;
    append(list, from, lo, hi);
    // Most of what a wide range folds to is in it.
    for run in runs_in((lo, hi)).iter().filter(|run| run.least < lo || hi < run.greatest) {
        append_run(list, from, run, (lo, hi));
    }
    compact(list, from, before);
}

/// Adds to an ordered list everything that equals a member when case is ignored.
pub(super) fn fold(list: &mut Vec<Range>) {
    let members = list.len();
    for at in 0..members {
        let (lo, hi) = list[at];
        for run in runs_in((lo, hi)).iter().filter(|run| run.least < lo || hi < run.greatest) {
            append_run(list, members, run, (lo, hi));
        }
    }
    if list.len() > members {
        clean(list, 0);
    }
}

/// The folds of those members of one run that are in `range`, unless they are in it themselves.
fn append_run(list: &mut Vec<Range>, from: usize, run: &FoldRun, range: Range) {
    let (lo, hi) = (range.0.max(run.first), range.1.min(run.last));
    let mut add = |lo: u32, hi: u32| {
        if lo < range.0 || range.1 < hi {
            append(list, from, lo, hi);
        }
    };
    if run.delta == 0 {
        let (before, after) = ((lo - run.first) & 1, 1 - ((hi - run.first) & 1));
        add(lo - before, hi + after);
    } else if run.pairs && run.step == 1 {
        add(lo.saturating_add_signed(run.delta), hi.saturating_add_signed(run.delta));
    } else if (lo, hi) == (run.first, run.last) {
        run.others.iter().for_each(|&(lo, hi)| add(lo, hi));
    } else {
        let mut member = lo + (run.step - (lo - run.first) % run.step) % run.step;
        while member <= hi {
            let mut other = simple_fold(member);
            while other != member {
                add(other, other);
                other = simple_fold(other);
            }
            member += run.step;
        }
    }
}

/// Puts a list in order each time it has grown by some thousand ranges; its members stay the same.
pub(super) fn compact(list: &mut Vec<Range>, from: usize, length_before: usize) {
    if (list.len() - from) / COMPACT_EVERY > length_before / COMPACT_EVERY {
        clean(list, from);
    }
}

/// Orders the ranges and joins those that touch.
pub(super) fn clean(list: &mut Vec<Range>, from: usize) {
    let ordered = list.get(from..).map_or(0, ordered_part);
    let rest = list.len() - from - ordered;
    if rest <= FEW && ordered > FEW {
        // A large table and a few more characters: put them in one by one.
        let mut few = [(0, 0); FEW];
        for (kept, range) in few.iter_mut().zip(list.drain(from + ordered..)) {
            *kept = range;
        }
        for &(lo, hi) in few.iter().take(rest) {
            insert(list, from, lo, hi);
        }
        return;
    }
    let kept = list.get_mut(from..).map_or(0, clean_slice);
    list.truncate(from + kept);
}

/// How many ranges at the beginning are in order and apart.
fn ordered_part(list: &[Range]) -> usize {
    let apart = list.windows(2).take_while(|pair| pair[0].1 + 1 < pair[1].0).count();
    if list.is_empty() { 0 } else { apart + 1 }
}

/// Adds a range to an ordered list, which stays ordered.
fn insert(list: &mut Vec<Range>, from: usize, lo: u32, hi: u32) {
    let Some(ordered) = list.get(from..) else { return };
    let start = from + ordered.partition_point(|range| range.1 + 1 < lo);
    let end = (from + ordered.partition_point(|range| range.0 <= hi + 1)).max(start);
    let joined = list.get(start..end).unwrap_or_default();
    let lo = joined.first().map_or(lo, |range| range.0.min(lo));
    let hi = joined.last().map_or(hi, |range| range.1.max(hi));
    list.splice(start..end, [(lo, hi)]);
}

/// Orders the ranges and joins those that touch, in place; says how many are left.
pub(super) fn clean_slice(list: &mut [Range]) -> usize {
    // The stable sort is linear on what is mostly in order already, as tables of Unicode are.
    list.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut kept = 0;
    for at in 0..list.len() {
        let (lo, hi) = list[at];
        if kept > 0 && lo <= list[kept - 1].1 + 1 {
            list[kept - 1].1 = list[kept - 1].1.max(hi);
        } else {
            list[kept] = (lo, hi);
            kept += 1;
        }
    }
    kept
}

/// Replaces an ordered list by everything outside it.
pub(super) fn negate(list: &mut Vec<Range>, from: usize) {
    let mut next = 0;
    let mut kept = from;
    for at in from..list.len() {
        let (lo, hi) = list[at];
        if next < lo {
            list[kept] = (next, lo - 1);
            kept += 1;
        }
        next = hi + 1;
    }
    list.truncate(kept);
    if next <= MAX_RUNE {
        list.push((next, MAX_RUNE));
    }
}

/// Whether an ordered list has that member.
pub(super) fn contains(list: &[Range], rune: u32) -> bool {
    let at = list.partition_point(|range| range.1 < rune);
    list.get(at).is_some_and(|range| range.0 <= rune)
}

/// Whether every member of an ordered `part` is in the ordered list.
pub(super) fn covers(list: &[Range], part: &[Range]) -> bool {
    let mut rest = list;
    part.iter().all(|&(lo, hi)| {
        // Few to find: search. Many: walk along both.
        let skip = if part.len() > FEW {
            rest.iter().take_while(|range| range.1 < lo).count()
        } else {
            rest.partition_point(|range| range.1 < lo)
        };
        rest = rest.get(skip..).unwrap_or_default();
        rest.first().is_some_and(|range| range.0 <= lo && hi <= range.1)
    })
}

/// Whether whatever equals a member of an ordered list when case is ignored is a member too.
pub(super) fn is_closed(list: &[Range]) -> bool {
    let work: usize = list.iter().map(|&range| runs_in(range).len()).sum();
    if work * 2 <= FOLDS.len() {
        return holds_folds(list);
    }
    // What is outside is closed if what is inside is, and less work here.
    let mut outside = list.to_vec();
    negate(&mut outside, 0);
    holds_folds(&outside)
}

/// The runs that have characters in a range.
fn runs_in(range: Range) -> &'static [FoldRun] {
    let from = FOLDS.partition_point(|run| run.last < range.0);
    let to = FOLDS.partition_point(|run| run.first <= range.1);
    FOLDS.get(from..to).unwrap_or_default()
}

fn holds_folds(list: &[Range]) -> bool {
    let mut others = Vec::new();
    list.iter().all(|&(lo, hi)| {
        runs_in((lo, hi)).iter().filter(|run| run.least < lo || hi < run.greatest).all(|run| {
            others.clear();
            append_run(&mut others, 0, run, (lo, hi));
            others.iter().all(|&other| covers(list, &[other]))
        })
    })
}

/// The next character in the ring of those that are equal when case is ignored; the character itself if it is alone.
pub(super) fn simple_fold(rune: u32) -> u32 {
    let at = FOLDS.partition_point(|run| run.last < rune);
    match FOLDS.get(at) {
        Some(run) if run.first <= rune && (rune - run.first).is_multiple_of(run.step) => {
            if run.delta == 0 {
                if (rune - run.first) & 1 == 0 { rune + 1 } else { rune - 1 }
            } else {
                rune.saturating_add_signed(run.delta)
            }
        }
        _ => rune,
    }
}

/// The smallest character of the ring.
pub(super) fn min_fold(rune: u32) -> u32 {
    let mut least = rune;
    let mut other = simple_fold(rune);
    while other != rune {
        least = least.min(other);
        other = simple_fold(other);
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(lo: char, hi: char) -> Vec<Range> {
        let mut list = Vec::new();
        append_folded(&mut list, 0, lo.into(), hi.into());
        clean(&mut list, 0);
        list
    }

    #[test]
    fn folding_adds_the_whole_ring() {
        assert_eq!(folded('k', 'k'), [(0x4B, 0x4B), (0x6B, 0x6B), (0x212A, 0x212A)]);
        assert_eq!(folded('ſ', 'ſ'), [(0x53, 0x53), (0x73, 0x73), (0x17F, 0x17F)]);
        assert_eq!(folded('a', 'c'), [(0x41, 0x43), (0x61, 0x63)]);
        assert_eq!(folded('ā', 'ă'), [(0x100, 0x103)]);
        assert_eq!(folded('İ', 'İ'), [(0x130, 0x130)], "the dotted capital has no simple fold");
        assert_eq!(min_fold(0x3C2), 0x3A3, "final sigma and its capital");
    }

    #[test]
    fn every_ring_closes() {
        for rune in 0..=MAX_RUNE {
            let (mut other, mut steps) = (simple_fold(rune), 1);
            while other != rune {
                other = simple_fold(other);
                steps += 1;
                assert!(steps <= 4, "{rune:x}");
            }
        }
    }
}
