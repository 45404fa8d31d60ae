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
    let begin = FOLDS.partition_point(|run| run.last < lo);
    for run in FOLDS.get(begin..).unwrap_or_default().iter().take_while(|run| run.first <= hi) {
        append_run(list, from, run, lo.max(run.first), hi.min(run.last));
    }
    compact(list, from, before);
}

/// The folds of the members of one run between `lo` and `hi`.
fn append_run(list: &mut Vec<Range>, from: usize, run: &FoldRun, lo: u32, hi: u32) {
    if run.delta == 0 {
        let (before, after) = ((lo - run.first) & 1, 1 - ((hi - run.first) & 1));
        append(list, from, lo - before, hi + after);
    } else if run.pairs && run.step == 1 {
        append(list, from, lo.saturating_add_signed(run.delta), hi.saturating_add_signed(run.delta));
    } else {
        let mut member = lo + (run.step - (lo - run.first) % run.step) % run.step;
        while member <= hi {
            let mut other = simple_fold(member);
            while other != member {
                append(list, from, other, other);
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
    let kept = list.get_mut(from..).map_or(0, clean_slice);
    list.truncate(from + kept);
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

/// Whether every member of `part` is in the ordered list.
pub(super) fn covers(list: &[Range], part: &[Range]) -> bool {
    part.iter().all(|&(lo, hi)| {
        let at = list.partition_point(|range| range.1 < lo);
        list.get(at).is_some_and(|range| range.0 <= lo && hi <= range.1)
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
