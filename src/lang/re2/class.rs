//! Classes and escapes: `[..]`, `\p{..}`, `\d`, `[:alpha:]`, `\x{..}` and the like.

use super::builder::Limit;
use super::fault::{Code, Trouble};
use super::parser::Parser;
use super::ranges::{self, MAX_RUNE};
use super::tree::{Flags, Op};
use super::unicode;

/// A class of more ranges than this is not stored again if the last such class was the same.
const LARGE_CLASS: usize = 64;

impl Parser<'_> {
    /// A class in brackets, which is pushed. The outer result is about the text, the inner one about limits.
    pub(super) fn bracket_class(&mut self) -> Result<Result<(), Limit>, Trouble> {
        let start = self.at;
        self.at += 1;
        let id = self.builder.make(Op::Class, self.builder.flags);
        let folds = self.builder.flags.has(Flags::FOLD);
        let negated = self.peek(0) == Some(b'^');
        if negated {
            self.at += 1;
        }
        self.class.clear();
        self.in_class.clear();
        let mut first = true;
        while first || self.peek(0) != Some(b']') {
            first = false;
            if self.named_class()? || self.unicode_class_in_brackets()? || self.perl_class() {
                continue;
            }
            let range_start = self.at;
            let lo = self.class_rune(start)?;
            let mut hi = lo;
            if self.peek(0) == Some(b'-') && self.peek(1).is_some_and(|byte| byte != b']') {
                self.at += 1;
                hi = self.class_rune(start)?;
                if hi < lo {
                    return Err(Trouble::new(Code::InvalidCharRange, range_start..self.at));
                }
            }
            if folds {
                ranges::append_folded(&mut self.class, 0, lo, hi);
            } else {
                ranges::append_all(&mut self.class, 0, &[(lo, hi)]);
            }
        }
        self.at += 1;
        ranges::clean(&mut self.class, 0);
        if negated {
            ranges::negate(&mut self.class, 0);
        }
        let known = self.large_class;
        if self.class.len() > LARGE_CLASS
            && self.builder.tree.ranges.get(known.0..known.1) == Some(&self.class[..])
        {
            return Ok(self.builder.push_class(id, known.0, known.1, false));
        }
        let from = self.builder.tree.ranges.len();
        self.builder.tree.ranges.append(&mut self.class);
        let to = self.builder.tree.ranges.len();
        let large = to - from > LARGE_CLASS;
        if large {
            self.large_class = (from, to);
        }
        Ok(self.builder.push_class(id, from, to, !large))
    }

    /// One character of a class.
    fn class_rune(&mut self, class_start: usize) -> Result<u32, Trouble> {
        match self.peek(0) {
            Some(b'\\') => self.escape(),
            Some(_) => Ok(self.next_rune()?.unwrap_or(0)),
            None => Err(Trouble::new(Code::MissingBracket, class_start..self.text.len())),
        }
    }

    /// `[:alpha:]` within brackets.
    fn named_class(&mut self) -> Result<bool, Trouble> {
        if self.peek(0) != Some(b'[') || self.peek(1) != Some(b':') || self.peek(2).is_none() {
            return Ok(false);
        }
        if self.at >= self.no_named_class_from {
            return Ok(false);
        }
        let rest = self.from(self.at + 2);
        let Some(length) = rest.windows(2).position(|two| two == b":]") else {
            self.no_named_class_from = self.at;
            return Ok(false);
        };
        let name = &rest[..length];
        let (negated, name) = name.strip_prefix(b"^").map_or((false, name), |name| (true, name));
        let Some(members) = unicode::posix(name) else {
            return Err(Trouble::new(Code::InvalidCharRange, self.at..self.at + length + 4));
        };
        self.add_members(members, negated);
        self.at += length + 4;
        Ok(true)
    }

    /// `\d`, `\s`, `\w` and their opposites.
    pub(super) fn perl_class(&mut self) -> bool {
        if self.peek(0) != Some(b'\\') {
            return false;
        }
        let Some(letter) = self.peek(1) else { return false };
        let Some(members) = unicode::perl(letter.to_ascii_lowercase()) else { return false };
        self.add_members(members, letter.is_ascii_uppercase());
        self.at += 2;
        true
    }

    fn add_members(&mut self, members: &[ranges::Range], negated: bool) {
        let folds = self.builder.flags.has(Flags::FOLD);
        let mut all = Vec::new();
        let members = if folds {
            for &(lo, hi) in members {
                ranges::append_folded(&mut all, 0, lo, hi);
            }
            ranges::clean(&mut all, 0);
            &all
        } else {
            members
        };
        if negated {
            ranges::append_negated(&mut self.class, 0, members);
        } else {
            ranges::append_all(&mut self.class, 0, members);
        }
    }

    fn unicode_class_in_brackets(&mut self) -> Result<bool, Trouble> {
        let Some((from, to)) = self.unicode_class()? else { return Ok(false) };
        // Named twice in one class, it adds nothing but work.
        if !self.in_class.contains(&(from, to)) {
            self.in_class.push((from, to));
            let members = self.builder.tree.ranges.get(from..to).unwrap_or_default();
            ranges::append_all(&mut self.class, 0, members);
        }
        Ok(true)
    }

    /// `\p{Greek}`, `\pL`, `\P{^Lu}`: where its members lie among the tree's ranges.
    pub(super) fn unicode_class(&mut self) -> Result<Option<(usize, usize)>, Trouble> {
        let start = self.at;
        let mut negated = match (self.peek(0), self.peek(1)) {
            (Some(b'\\'), Some(b'p')) => false,
            (Some(b'\\'), Some(b'P')) => true,
            _ => return Ok(None),
        };
        self.at += 2;
        let name_start = self.at;
        let brace = u32::from('{');
        let (name_start, name_end, end) = if self.next_rune()? == Some(brace) {
            let Some(length) = self.from(self.at).iter().position(|&byte| byte == b'}') else {
                self.check_utf8(start, self.text.len())?;
                return Err(Trouble::new(Code::InvalidCharRange, start..self.text.len()));
            };
            let end = self.at + length;
            self.check_utf8(self.at, end)?;
            (self.at, end, end + 1)
        } else {
            (name_start, self.at, self.at)
        };
        self.at = end;
        let name = self.text.get(name_start..name_end).unwrap_or_default();
        let name = name.strip_prefix(b"^").map_or(name, |name| {
            negated = !negated;
            name
        });
        let Some(group) = unicode::group(name, self.names) else {
            return Err(Trouble::new(Code::InvalidCharRange, start..end));
        };
        if group.newer {
            self.note_newer("1.25", start..end);
        }
        Ok(Some(self.group_ranges(&group, negated != group.inverted)))
    }

    /// The ranges of a group, put among the tree's ranges once.
    fn group_ranges(&mut self, group: &unicode::Group, negated: bool) -> (usize, usize) {
        let folds = self.builder.flags.has(Flags::FOLD) && !group.folded.is_empty();
        let key = (group.key, negated, folds);
        let found = self.groups.binary_search_by_key(&key, |&(key, _)| key);
        if let Ok(at) = found {
            return self.groups[at].1;
        }
        let list = &mut self.builder.tree.ranges;
        let from = list.len();
        if negated && !folds {
            ranges::append_negated(list, from, group.members);
        } else {
            list.extend_from_slice(group.members);
        }
        if folds {
            list.extend_from_slice(group.folded);
            ranges::clean(list, from);
            if negated {
                ranges::negate(list, from);
            }
        }
        let place = (from, list.len());
        let at = found.unwrap_or_else(|at| at);
        self.groups.insert(at, (key, place));
        place
    }

    /// An escape that means one character.
    pub(super) fn escape(&mut self) -> Result<u32, Trouble> {
        let start = self.at;
        self.at += 1;
        let Some(rune) = self.next_rune()? else {
            return Err(Trouble::new(Code::TrailingBackslash, start..start + 1));
        };
        let octal = |byte: Option<u8>| {
            byte.filter(|byte| (b'0'..=b'7').contains(byte)).map(|byte| u32::from(byte - b'0'))
        };
        let value = match char::from_u32(rune) {
            Some('1'..='7') if octal(self.peek(0)).is_none() => None,
            Some(digit @ '0'..='7') => {
                let mut value = digit.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    if let Some(digit) = octal(self.peek(0)) {
                        value = value * 8 + digit;
                        self.at += 1;
                    } else {
                        break;
                    }
                }
                Some(value)
            }
            Some('x') => self.hexadecimal()?,
            Some('a') => Some(0x07),
            Some('f') => Some(0x0C),
            Some('n') => Some(0x0A),
            Some('r') => Some(0x0D),
            Some('t') => Some(0x09),
            Some('v') => Some(0x0B),
            Some(other) if other.is_ascii() && !other.is_ascii_alphanumeric() => Some(rune),
            _ => None,
        };
        value.ok_or_else(|| Trouble::new(Code::InvalidEscape, start..self.at))
    }

    /// What follows `\x`.
    fn hexadecimal(&mut self) -> Result<Option<u32>, Trouble> {
        let digit = |rune: Option<u32>| rune.and_then(char::from_u32).and_then(|rune| rune.to_digit(16));
        let first = self.next_rune()?;
        if first != Some(u32::from('{')) {
            if first.is_none() {
                return Ok(None);
            }
            let second = self.next_rune()?;
            return Ok(digit(first).zip(digit(second)).map(|(high, low)| high * 16 + low));
        }
        let (mut value, mut digits) = (0, 0_usize);
        loop {
            let rune = self.next_rune()?;
            if rune == Some(u32::from('}')) {
                return Ok((digits > 0).then_some(value));
            }
            let Some(low) = digit(rune) else { return Ok(None) };
            value = value * 16 + low;
            if value > MAX_RUNE {
                return Ok(None);
            }
            digits += 1;
        }
    }
}
