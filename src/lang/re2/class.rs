//! Classes and escapes: `[..]`, `\p{..}`, `\d`, `[:alpha:]`, `\x{..}` and the like.

use super::builder::Limit;
use super::fault::{Code, Trouble};
use super::members::Members;
use super::parser::Parser;
use super::ranges::{self, MAX_RUNE};
use super::segments::{self, LARGE_CLASS, Set};
use super::tree::{Flags, Op};
use super::unicode::{self, Group};

impl Parser<'_> {
    /// A class in brackets, which is pushed. The outer result is about the text, the inner one about limits.
    pub(super) fn bracket_class(&mut self) -> Result<Result<(), Limit>, Trouble> {
        let start = self.at;
        self.at += 1;
        let id = self.builder.make(Op::Class, self.builder.flags);
        let negated = self.peek(0) == Some(b'^');
        if negated {
            self.at += 1;
        }
        self.class.clear();
        self.named.clear();
        self.class_set = None;
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
            ranges::append_all(&mut self.class, 0, &[(lo, hi)]);
        }
        self.at += 1;
        if self.builder.flags.has(Flags::FOLD) {
            // Once for all: many ranges may say the same.
            ranges::clean(&mut self.class, 0);
            ranges::fold(&mut self.class);
        }
        ranges::append_all(&mut self.class, 0, &self.named);
        ranges::clean(&mut self.class, 0);
        let Some(count) = self.settle_class(negated) else {
            let from = self.builder.tree.ranges.len();
            self.builder.tree.ranges.append(&mut self.class);
            return Ok(self.builder.push_listed(id, from));
        };
        let members = self.store_large_class(count);
        Ok(self.builder.push_class(id, members, false))
    }

    /// Brings the class that was read, in order, into its only form. If it is large, says of how many ranges it consists.
    fn settle_class(&mut self, negated: bool) -> Option<usize> {
        if self.class_set.is_none() && self.class.len() <= LARGE_CLASS {
            if negated {
                ranges::negate(&mut self.class, 0);
            }
            if self.class.len() <= LARGE_CLASS {
                return None;
            }
            return segments::settle(self.class_set.insert(Set::EMPTY), &mut self.class, false);
        }
        segments::settle(self.class_set.get_or_insert(Set::EMPTY), &mut self.class, negated)
    }

    /// Puts a large class into the tree, unless the last one was the same.
    fn store_large_class(&mut self, count: usize) -> Members {
        let tree = &mut self.builder.tree;
        if let Some(known) = self.large_class {
            let listed = known.start as usize..(known.start + known.length) as usize;
            if tree.sets.get(known.set as usize) == self.class_set.as_ref()
                && tree.ranges.get(listed) == Some(&self.class[..])
            {
                return known;
            }
        }
        let set = self.class_set.take().unwrap_or(Set::EMPTY);
        let members = tree.add_large(set, &self.class, count);
        self.large_class = Some(members);
        members
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
        let Some(members) = unicode::posix(name, self.builder.flags.has(Flags::FOLD)) else {
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
        let folds = self.builder.flags.has(Flags::FOLD);
        let Some(members) = unicode::perl(letter.to_ascii_lowercase(), folds) else { return false };
        self.add_members(members, letter.is_ascii_uppercase());
        self.at += 2;
        true
    }

    fn add_members(&mut self, members: &[ranges::Range], negated: bool) {
        if negated {
            ranges::append_negated(&mut self.named, 0, members);
        } else {
            ranges::append_all(&mut self.named, 0, members);
        }
    }

    fn unicode_class_in_brackets(&mut self) -> Result<bool, Trouble> {
        let Some((group, negated)) = self.unicode_class()? else { return Ok(false) };
        let folds = self.builder.flags.has(Flags::FOLD);
        if let Some(set) = group.set(folds) {
            let class = self.class_set.get_or_insert(Set::EMPTY);
            if negated { class.unite_outside(set) } else { class.unite(set) }
        } else {
            self.add_members(&group.list(folds), negated);
        }
        Ok(true)
    }

    /// `\p{Greek}`, `\pL`, `\P{^Lu}`: a group, and whether everything else is meant.
    pub(super) fn unicode_class(&mut self) -> Result<Option<(Group, bool)>, Trouble> {
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
        let negated = negated != group.inverted;
        Ok(Some((group, negated)))
    }

    /// The members of a group outside brackets, put into the tree once.
    pub(super) fn group_members(&mut self, group: &Group, negated: bool) -> Members {
        let folds = self.builder.flags.has(Flags::FOLD);
        let key = (group.key, negated, folds);
        let found = self.groups.binary_search_by_key(&key, |&(key, _)| key);
        if let Ok(at) = found {
            return self.groups[at].1;
        }
        self.class.clear();
        self.class_set = None;
        if let Some(set) = group.set(folds) {
            self.class_set = Some(set.clone());
        } else {
            self.class.extend_from_slice(&group.list(folds));
        }
        let members = if let Some(count) = self.settle_class(negated) {
            self.store_large_class(count)
        } else {
            let tree = &mut self.builder.tree;
            let start = tree.ranges.len();
            tree.ranges.append(&mut self.class);
            tree.listed_from(start)
        };
        let at = found.unwrap_or_else(|at| at);
        self.groups.insert(at, (key, members));
        members
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
