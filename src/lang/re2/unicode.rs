//! The names that `\p{..}` takes, which differ between the two dialects, and the fixed classes.

use std::borrow::Cow;

use super::ranges::{self, Range};
use super::segments::Set;
use super::tables::{ALIASES, CATEGORIES, SCRIPTS, Table};

/// Which names `\p{..}` takes. Nothing else differs between the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Exact names of categories and scripts, such as `\p{Lu}` and `\p{Old_Italic}`: `github.com/grafana/regexp`, Go before 1.25.
    Classic,
    /// Go 1.25 and later: case, `_`, `-` and blanks are ignored and long names are known, but names that hold `_` are not.
    Current,
}

/// A name that was found.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// The place among categories and scripts, or a number above those.
    pub(super) key: u16,
    /// The members.
    pub(super) members: &'static [Range],
    /// What folding adds.
    pub(super) folded: &'static [Range],
    /// The name means everything else.
    pub(super) inverted: bool,
    /// Only Go 1.25 and later take this name.
    pub(super) newer: bool,
}

static EVERYTHING: &[Range] = &[(0, ranges::MAX_RUNE)];
static ASCII: &[Range] = &[(0, 0x7F)];
/// The long s and the Kelvin sign.
static ASCII_FOLDED: &[Range] = &[(0x17F, 0x17F), (0x212A, 0x212A)];

/// A group of more ranges than this is added as a set.
const MANY: usize = 16;

impl Group {
    /// The members as a set, if they are many.
    pub(super) fn set(&self, folds: bool) -> Option<&'static Set> {
        let many = self.members.len().max(if folds { self.folded.len() } else { 0 }) > MANY;
        many.then(|| Set::of_table(self.key.into(), folds)).flatten()
    }

    /// The members in order.
    pub(super) fn list(&self, folds: bool) -> Cow<'static, [Range]> {
        if !folds || self.folded.is_empty() {
            return self.members.into();
        }
        let mut list = [self.members, self.folded].concat();
        ranges::clean(&mut list, 0);
        list.into()
    }
}

/// The group of that name.
pub(super) fn group(name: &[u8], names: Names) -> Option<Group> {
    let name = std::str::from_utf8(name).ok()?;
    match names {
        Names::Classic => exact(name),
        Names::Current => {
            let canonical = canonical(name);
            let special = |key, members, folded, inverted| Group {
                key,
                members,
                folded,
                inverted,
                newer: name != "Any",
            };
            let mut found = match canonical.as_str() {
                "Any" => return Some(special(ANY, EVERYTHING, EVERYTHING, false)),
                "Ascii" => return Some(special(ASCII_KEY, ASCII, ASCII_FOLDED, false)),
                "Assigned" => Group { inverted: true, ..exact("Cn")? },
                "Lc" => exact("LC")?,
                _ => exact(&canonical).or_else(|| {
                    let at = ALIASES.binary_search_by_key(&canonical.as_str(), |&(alias, _)| alias).ok()?;
                    exact(ALIASES.get(at)?.1)
                })?,
            };
            found.newer |= exact(name).is_none();
            Some(found)
        }
    }
}

const ANY: u16 = u16::MAX;
const ASCII_KEY: u16 = u16::MAX - 1;

/// The group whose name in Go's tables is exactly that.
fn exact(name: &str) -> Option<Group> {
    if name == "Any" {
        return Some(Group {
            key: ANY,
            members: EVERYTHING,
            folded: EVERYTHING,
            inverted: false,
            newer: false,
        });
    }
    let find = |tables: &'static [Table]| tables.binary_search_by(|table| table.name.cmp(name)).ok();
    let (at, offset, tables) = match find(CATEGORIES) {
        Some(at) => (at, 0, CATEGORIES),
        None => (find(SCRIPTS)?, CATEGORIES.len(), SCRIPTS),
    };
    let table = tables.get(at)?;
    Some(Group {
        key: u16::try_from(at + offset).ok()?,
        members: table.members,
        folded: table.folded,
        inverted: false,
        // Go's tables hold these two since 1.25.
        newer: matches!(name, "LC" | "Cn"),
    })
}

/// The spelling under which current Go looks a name up: first letter large, the others small, no separators.
fn canonical(name: &str) -> String {
    let mut spelling = String::with_capacity(name.len());
    for letter in name.chars().filter(|letter| !matches!(letter, '_' | '-' | ' ')) {
        spelling.push(if spelling.is_empty() {
            letter.to_ascii_uppercase()
        } else {
            letter.to_ascii_lowercase()
        });
    }
    spelling
}

/// The members of `\d`, `\s` and `\w`, by the letter, with what folding adds or without.
pub(super) fn perl(letter: u8, folds: bool) -> Option<&'static [Range]> {
    Some(match (letter, folds) {
        (b'd', _) => &[(0x30, 0x39)],
        (b's', _) => &[(0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)],
        (b'w', false) => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        (b'w', true) => WORD_FOLDED,
        _ => return None,
    })
}

static WORD_FOLDED: &[Range] =
    &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0x17F, 0x17F), (0x212A, 0x212A)];

/// The names that may stand in `[:name:]`.
pub(super) const POSIX_NAMES: &str =
    "alnum, alpha, ascii, blank, cntrl, digit, graph, lower, print, punct, space, upper, word, xdigit";

/// The members of `[:name:]`, with what folding adds or without.
pub(super) fn posix(name: &[u8], folds: bool) -> Option<&'static [Range]> {
    Some(match name {
        b"alnum" if folds => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0x17F, 0x17F), (0x212A, 0x212A)],
        b"alpha" | b"lower" | b"upper" if folds => {
            &[(0x41, 0x5A), (0x61, 0x7A), (0x17F, 0x17F), (0x212A, 0x212A)]
        }
        b"ascii" if folds => &[(0, 0x7F), (0x17F, 0x17F), (0x212A, 0x212A)],
        b"graph" if folds => &[(0x21, 0x7E), (0x17F, 0x17F), (0x212A, 0x212A)],
        b"print" if folds => &[(0x20, 0x7E), (0x17F, 0x17F), (0x212A, 0x212A)],
        b"word" if folds => WORD_FOLDED,
        b"alnum" => &[(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)],
        b"alpha" => &[(0x41, 0x5A), (0x61, 0x7A)],
        b"ascii" => &[(0, 0x7F)],
        b"blank" => &[(0x09, 0x09), (0x20, 0x20)],
        b"cntrl" => &[(0, 0x1F), (0x7F, 0x7F)],
        b"digit" => &[(0x30, 0x39)],
        b"graph" => &[(0x21, 0x7E)],
        b"lower" => &[(0x61, 0x7A)],
        b"print" => &[(0x20, 0x7E)],
        b"punct" => &[(0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)],
        b"space" => &[(0x09, 0x0D), (0x20, 0x20)],
        b"upper" => &[(0x41, 0x5A)],
        b"word" => &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
        b"xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_classes_know_what_folding_adds() {
        let perl_classes = b"dsw".iter().map(|&letter| [false, true].map(|folds| perl(letter, folds)));
        let names = POSIX_NAMES.split(", ");
        let posix_classes = names.map(|name| [false, true].map(|folds| posix(name.as_bytes(), folds)));
        for [members, folded] in perl_classes.chain(posix_classes) {
            let mut expected = Vec::new();
            for &(lo, hi) in members.expect("it has a name") {
                ranges::append_folded(&mut expected, 0, lo, hi);
            }
            ranges::clean(&mut expected, 0);
            assert_eq!(folded, Some(&expected[..]));
        }
    }

    #[test]
    fn dialects_differ_in_names() {
        for (name, classic, current) in [
            ("Greek", true, true),
            ("greek", false, true),
            ("Letter", false, true),
            ("uppercase letter", false, true),
            ("Old_Italic", true, false),
            ("Old Italic", false, false),
            ("SignWriting", true, false),
            ("Any", true, true),
            ("any", false, true),
            ("ASCII", false, true),
            ("LC", true, true),
            ("Alphabetic", false, false),
            ("", false, false),
        ] {
            assert_eq!(group(name.as_bytes(), Names::Classic).is_some(), classic, "{name}");
            assert_eq!(group(name.as_bytes(), Names::Current).is_some(), current, "{name}");
        }
    }
}
