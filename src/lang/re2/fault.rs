//! What is wrong with a pattern, in words, and what to write instead.

use std::ops::Range;

use super::unicode::{self, Names, POSIX_NAMES};
use crate::lang::Fault;

/// The kinds of error that Go tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    InvalidCharRange,
    InvalidEscape,
    InvalidNamedCapture,
    InvalidPerlOp,
    InvalidRepeatOp,
    InvalidRepeatSize,
    InvalidUtf8,
    MissingBracket,
    MissingParen,
    MissingRepeatArgument,
    TrailingBackslash,
    UnexpectedParen,
    NestingDepth,
    Large,
}

/// An error and where it is.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) code: Code,
    pub(super) span: Range<usize>,
}

impl Trouble {
    pub(super) fn new(code: Code, span: Range<usize>) -> Self {
        Self { code, span }
    }

    /// The fault in words. `text` is what was parsed; `before` bytes of it were put in front of what the user wrote, which
    /// is `length` long.
    pub(super) fn describe(self, text: &[u8], names: Names, before: usize, length: usize) -> Fault {
        let Self { code, span } = self;
        let found = String::from_utf8_lossy(text.get(span.clone()).unwrap_or_default()).into_owned();
        let shift = |at: usize| at.saturating_sub(before).min(length);
        let inside = shift(span.start)..shift(span.end);
        let (message, hint) = match code {
            Code::InvalidCharRange => char_range(&found, names),
            Code::InvalidEscape => escape(&found),
            Code::InvalidNamedCapture => named_capture(&found),
            Code::InvalidPerlOp => perl_op(&found),
            Code::InvalidRepeatOp => repeat_op(&found),
            Code::InvalidRepeatSize => repeat_size(&found),
            Code::InvalidUtf8 => {
                ("the pattern is not valid utf-8".into(), Some(r"write a character as `\x{e9}`; single bytes cannot be matched".into()))
            }
            Code::MissingBracket => (
                "this `[` has no closing `]`".into(),
                Some(r"close the class with `]`, or write `\[` for a bracket; a `]` right after `[` or `[^` is a member".into()),
            ),
            Code::MissingParen => missing_paren(text, before, length),
            Code::MissingRepeatArgument => (
                format!("there is nothing before `{found}` to repeat"),
                Some(match found.as_bytes().first() {
                    Some(b'*') => r"write `.*` for any text, or `\*` for an asterisk".into(),
                    Some(b'+') => r"write `.+` for any text that is not empty, or `\+` for a plus sign".into(),
                    Some(b'?') => r"write `\?` for a question mark".into(),
                    _ => r"write `\{` for a brace".into(),
                }),
            ),
            Code::TrailingBackslash => {
                ("the pattern ends in a lone backslash".into(), Some(r"write `\\` for a backslash".into()))
            }
            Code::UnexpectedParen => (
                "this `)` closes nothing".into(),
                Some(r"remove it, or write `\)` for a parenthesis".into()),
            ),
            Code::NestingDepth => (
                "the pattern nests more than 1000 levels deep".into(),
                Some("remove groups around single pieces; a group `(?:..)` that captures nothing adds no level".into()),
            ),
            Code::Large => (
                "the pattern is too large once its counts are multiplied out".into(),
                Some("lower the counts in `{..}`, or use `*` or `+` where the exact number does not matter".into()),
            ),
        };
        Fault { span: inside, message, hint }
    }
}

type Words = (String, Option<String>);

fn char_range(found: &str, names: Names) -> Words {
    if let Some(name) = found.strip_prefix("[:").and_then(|rest| rest.strip_suffix(":]")) {
        return (format!("there is no class `[:{name}:]`"), Some(format!("the names are {POSIX_NAMES}")));
    }
    let property = found.strip_prefix(r"\p").or_else(|| found.strip_prefix(r"\P"));
    let Some(property) = property else {
        let hint = r"write the smaller character first; a hyphen as a member stands first, last or as `\-`";
        return (format!("the range `{found}` runs backwards"), Some(hint.into()));
    };
    let Some(inner) = property.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) else {
        let message = if property.starts_with('{') {
            format!("`{found}` has no closing `}}`")
        } else {
            format!("`{found}` names no group of characters")
        };
        return (message, Some(r"write a category such as `\pL` or a script such as `\p{Greek}`".into()));
    };
    let name = inner.strip_prefix('^').unwrap_or(inner);
    let other = if names == Names::Classic { Names::Current } else { Names::Classic };
    let hint = match name.to_ascii_lowercase().as_str() {
        "alphabetic" | "alpha" => r"write `\pL` for letters".into(),
        "alnum" => r"write `[\pL\p{Nd}]`".into(),
        "uppercase" | "upper" => r"write `\p{Lu}` for capital letters".into(),
        "lowercase" | "lower" => r"write `\p{Ll}` for small letters".into(),
        "digit" => r"write `\p{Nd}`".into(),
        "white_space" | "space" => r"write `[\s\pZ]`".into(),
        _ if name.contains('=') => r"write the value alone, such as `\p{Greek}` or `\p{Lu}`".into(),
        _ if unicode::group(name.as_bytes(), other).is_some() => match names {
            Names::Classic => {
                r"this program knows exact names of categories and scripts only, such as `\p{Lu}` or `\p{Greek}`".into()
            }
            Names::Current => r"go 1.25 and later do not find names that hold `_`; list ranges such as `[\x{10300}-\x{1032F}]`".into(),
        },
        _ => r"write a category such as `\p{Lu}` or a script such as `\p{Greek}`".into(),
    };
    (format!("`{found}` names no group of characters"), Some(hint))
}

fn escape(found: &str) -> Words {
    let message = format!("`{found}` is no escape that this syntax knows");
    let hint = match found.chars().nth(1) {
        Some('1'..='9' | 'k' | 'g') => "back-references cannot be matched; write the alternatives out".into(),
        Some('u' | 'U') => r"write a code point as `\x{20ac}`".into(),
        Some('x') => r"write two digits as in `\x41`, or braces as in `\x{20ac}`, up to `\x{10FFFF}`".into(),
        Some('Z' | 'G') => r"write `\z` for the end of the text and `\A` for its beginning".into(),
        Some('e') => r"write `\x1b`".into(),
        Some('c') => r"write control characters as `\x01` to `\x1a`".into(),
        Some('b') => r"inside `[..]` write `\x08` for a backspace".into(),
        Some('h') => r"write `[ \t]`".into(),
        Some('H') => r"write `[^ \t]`".into(),
        Some('R') => r"write `(?:\r\n|\n|\r)`".into(),
        Some('N') => r"write `[^\n]`".into(),
        Some('C' | 'X') => r"write `(?s:.)` for any character".into(),
        Some('K') => "the match cannot be cut; put what you need into a group `(..)`".into(),
        Some('E') => r"`\E` closes a `\Q` only".into(),
        Some('A' | 'z' | 'B' | 'Q') => r"this has no meaning inside `[..]`".into(),
        Some(letter) if letter.is_ascii_alphanumeric() => {
            format!("write `{letter}` for the character, or `\\\\{letter}` for a backslash before it")
        }
        Some(other) => format!("write `{other}` without the backslash"),
        None => return (message, None),
    };
    (message, Some(hint))
}

const NO_LOOK_AROUND: &str = "look-around is not supported";
const INSTEAD_OF_LOOK_AROUND: &str =
    "match what is wanted; to leave something out, add a second matcher with `!~` or `!=`";

fn named_capture(found: &str) -> Words {
    if found.starts_with("(?<=") || found.starts_with("(?<!") {
        return (NO_LOOK_AROUND.into(), Some(INSTEAD_OF_LOOK_AROUND.into()));
    }
    let message = if found.ends_with('>') {
        format!("`{found}` has no proper group name")
    } else {
        "the name of this group has no closing `>`".into()
    };
    (message, Some("write `(?P<name>..)`; names consist of the letters a to z, digits and `_`".into()))
}

fn perl_op(found: &str) -> Words {
    let rest = found.strip_prefix("(?").unwrap_or_default();
    let (message, hint) = match rest.chars().next() {
        Some('=' | '!') => (NO_LOOK_AROUND, INSTEAD_OF_LOOK_AROUND),
        Some('>') => ("atomic groups are not supported", "write `(?:..)`: matching never runs away here"),
        Some('#') => ("comments are not supported", "remove the comment"),
        Some('\'') => ("this way to name a group is not supported", "write `(?P<name>..)`"),
        Some('P') => match rest.chars().nth(1) {
            Some('=' | '>') => {
                ("back-references and calls of groups are not supported", "write the alternatives out")
            }
            _ => ("this group is not complete", "write `(?P<name>..)`"),
        },
        Some('&' | 'R' | '0'..='9' | '+') => {
            ("calls of groups are not supported", "write the piece out again")
        }
        Some('|') => ("groups that reset their numbers are not supported", "write `(?:..|..)`"),
        Some('(') => ("conditions are not supported", "write both cases as alternatives `(?:..|..)`"),
        None => ("this group is not complete", r"write `(?:..)`, or `\(` and `\?` for the characters"),
        _ => {
            return perl_flag(found, rest);
        }
    };
    (message.into(), Some(hint.into()))
}

fn perl_flag(found: &str, rest: &str) -> Words {
    let bad = rest.chars().last().unwrap_or_default();
    let hint = match bad {
        'x' => "write the pattern without the blanks and comments".into(),
        'u' => r"the syntax knows Unicode without a mode: `\pL`, `\x{20ac}`".into(),
        '-' | ':' | ')' => "name the modes to switch off after the hyphen, as in `(?-i)`".into(),
        '<' | '\'' => "write `(?P<name>..)`; modes go into a group of their own".into(),
        _ => "the modes are i (ignore case), m (`^` and `$` at lines), s (`.` takes newlines) and U (lazy repetition)".into(),
    };
    if matches!(bad, 'i' | 'm' | 's' | 'U') {
        return (format!("`{found}` is not complete"), Some("close the modes with `)` or `:`".into()));
    }
    (format!("`{found}` is no group that this syntax knows"), Some(hint))
}

fn repeat_op(found: &str) -> Words {
    let message = format!("`{found}` repeats a repetition");
    let hint = if found.ends_with('+') && found.len() == 2 {
        "possessive repetition is not supported; leave the last `+` out: matching never runs away here"
    } else {
        "keep one of them, or put the inner one into a group, as in `(?:a{2}){3}`"
    };
    (message, Some(hint.into()))
}

fn repeat_size(found: &str) -> Words {
    let counts = found.trim_start_matches('{').trim_end_matches(['}', '?']);
    let backwards = counts
        .split_once(',')
        .and_then(|(min, max)| Some((min.parse::<u32>().ok()?, max.parse::<u32>().ok()?)))
        .is_some_and(|(min, max)| min > max);
    if backwards {
        let hint = "write the smaller number first".to_owned();
        return (format!("the counts `{found}` run backwards"), Some(hint));
    }
    (
        format!("`{found}` asks for too many copies"),
        Some("at most 1000 copies are possible, counts inside each other multiplied; `{n,}` has no upper limit".into()),
    )
}

fn missing_paren(text: &[u8], before: usize, length: usize) -> Words {
    let raw = text.get(before..before + length).unwrap_or_default();
    // Only if the text was wrapped: the quotation swallows the closing parenthesis.
    let wrapped = before > 0;
    let quotation = raw.windows(2).rposition(|two| two == br"\Q");
    if wrapped && quotation.is_some_and(|at| !raw[at..].windows(2).any(|two| two == br"\E")) {
        return (
            r"the quotation `\Q` is never closed, so the pattern breaks where the program wraps it into a group".into(),
            Some(r"close it with `\E`".into()),
        );
    }
    ("this `(` has no closing `)`".into(), Some(r"close the group, or write `\(` for a parenthesis".into()))
}
