//! Go's regular expressions, as Prometheus, Loki and Alertmanager read them: accepted or refused exactly as Go does it.
//!
//! Nothing is compiled to decide. The parser builds the same simplified tree as Go, because Go's limits are about that tree.
//! For matching on our side, [`Pattern::to_rust`] writes an equivalent pattern for the `regex` crate.

mod builder;
mod class;
mod expanded;
mod factor;
mod fault;
mod group;
mod limits;
mod matching;
mod members;
mod merge;
mod parser;
mod ranges;
mod reread;
mod segments;
mod tables;
mod translate;
mod tree;
mod unicode;

pub use parser::NewerGo;
pub use translate::Unverifiable;
pub use unicode::Names;

use parser::Parsed;
use tree::{Flags, Op, Tree};

use super::Fault;

/// What a program writes around a pattern before it compiles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing.
    AsWritten,
    /// `^(?:..)$`
    Group,
    /// `^(?s:..)$`
    DotAll,
}

impl Wrap {
    fn around(self) -> (&'static str, &'static str) {
        match self {
            Wrap::AsWritten => ("", ""),
            Wrap::Group => ("^(?:", ")$"),
            Wrap::DotAll => ("^(?s:", ")$"),
        }
    }
}

/// A pattern that Go takes.
#[derive(Debug, Clone)]
pub struct Pattern {
    body: Body,
    names: Vec<Box<str>>,
    newer: Option<NewerGo>,
}

#[derive(Debug, Clone)]
enum Body {
    /// Parsed; true: the whole text must match although the pattern does not say so.
    Tree(Tree, bool),
    /// Literals between bars, which a label matcher compares without parsing. They may hold any bytes.
    Plain(Box<[u8]>),
}

/// Go's modes for a pattern as it stands.
const PERL: Flags = Flags::ONE_LINE;

/// Reads a pattern as written.
pub fn parse(pattern: &[u8], names: Names) -> Result<Pattern, Fault> {
    parse_wrapped(pattern, names, Wrap::AsWritten)
}

/// Reads a pattern as Go does after the program has wrapped it. A fault's span is one of the pattern itself.
pub fn parse_wrapped(pattern: &[u8], names: Names, wrap: Wrap) -> Result<Pattern, Fault> {
    let (before, after) = wrap.around();
    let text;
    let text = if wrap == Wrap::AsWritten {
        pattern
    } else {
        text = [before.as_bytes(), pattern, after.as_bytes()].concat();
        &text
    };
    match parser::parse(text, names, PERL) {
        Ok(Parsed { tree, names, mut newer, .. }) => {
            if let Some(newer) = &mut newer {
                newer.span.start -= before.len();
                newer.span.end -= before.len();
            }
            Ok(Pattern { body: Body::Tree(tree, false), names, newer })
        }
        Err(trouble) => Err(trouble.describe(text, names, before.len(), pattern.len())),
    }
}

/// Reads the pattern of a label matcher of Prometheus or Loki: classic names, `.` takes newlines, and the pattern must be taken
/// once more after Go has printed it and wrapped it. Plain literals between bars are taken whatever bytes they hold.
pub fn matcher(pattern: &[u8]) -> Result<Pattern, Fault> {
    if !pattern.iter().any(|byte| br"\.+*?()[]{}^$".contains(byte)) {
        return Ok(Pattern { body: Body::Plain(pattern.into()), names: Vec::new(), newer: None });
    }
    let flags = PERL.with(Flags::DOT_NEWLINE);
    let refused = |trouble: fault::Trouble| trouble.describe(pattern, Names::Classic, 0, pattern.len());
    let parsed = parser::parse(pattern, Names::Classic, flags).map_err(refused)?;
    if reread::may_fail(&parsed) {
        reread::check(&parsed.tree).map_err(|code| refused(fault::Trouble::new(code, 0..pattern.len())))?;
    }
    Ok(Pattern { body: Body::Tree(parsed.tree, true), names: parsed.names, newer: parsed.newer })
}

/// Reads the pattern of a line filter of Loki: classic names, as written; Loki writes counts out and reads the result again.
pub fn line_filter(pattern: &[u8]) -> Result<Pattern, Fault> {
    let read = parse(pattern, Names::Classic)?;
    match &read.body {
        Body::Tree(tree, _) if !expanded::is_readable(tree) => {
            let trouble = fault::Trouble::new(fault::Code::NestingDepth, 0..pattern.len());
            Err(trouble.describe(pattern, Names::Classic, 0, pattern.len()))
        }
        _ => Ok(read),
    }
}

/// Whether a character belongs to a general category, such as `L`, by Go's own tables.
pub(super) fn is_in_category(category: &str, c: char) -> bool {
    let found = unicode::group(category.as_bytes(), Names::Classic);
    found.is_some_and(|group| ranges::contains(group.members, u32::from(c)))
}

/// Why a pattern that Go takes as written is refused once it is wrapped as `^(?:..)$`. Alertmanager accepts such a silence and
/// then fails every query that reaches it.
pub fn is_poison(pattern: &[u8], names: Names) -> Option<Fault> {
    parse(pattern, names).ok()?;
    parse_wrapped(pattern, names, Wrap::Group).err()
}

impl Pattern {
    /// Whether the empty text matches.
    pub fn matches_empty(&self) -> bool {
        match &self.body {
            Body::Tree(tree, _) => tree.matches_empty(),
            Body::Plain(text) => text.split(|&byte| byte == b'|').any(<[u8]>::is_empty),
        }
    }

    /// Whether a text of at most 126 characters matches, without compiling anything; nothing when that cannot be told here.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        match &self.body {
            Body::Tree(tree, whole) => matching::is_match(tree, *whole, text),
            Body::Plain(plain) => Some(plain.split(|&byte| byte == b'|').any(|one| one == text.as_bytes())),
        }
    }

    /// The names of the groups, in order; a name may occur twice.
    pub fn capture_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// What in the pattern only a newer Go takes, if anything.
    pub fn needs_newer_go(&self) -> Option<&NewerGo> {
        self.newer.as_ref()
    }

    /// The only text that matches as a whole, if the pattern is one literal, `^` before it and `$` after it aside.
    pub fn as_literal(&self) -> Option<String> {
        let tree = match &self.body {
            Body::Plain(text) => {
                return (!text.contains(&b'|')).then(|| String::from_utf8(text.to_vec()).ok()).flatten();
            }
            Body::Tree(tree, _) => tree,
        };
        let mut pieces: Vec<_> = match tree.node(tree.root).op {
            Op::Concat => tree.children(tree.root).take(4).collect(),
            _ => vec![tree.root],
        };
        if pieces.first().is_some_and(|&id| tree.node(id).op == Op::BeginText) {
            pieces.remove(0);
        }
        if pieces.last().is_some_and(|&id| tree.node(id).op == Op::EndText) {
            pieces.pop();
        }
        match pieces[..] {
            [] => Some(String::new()),
            [only] => match tree.node(only).op {
                Op::Empty => Some(String::new()),
                Op::Literal => {
                    let folds = tree.node(only).flags.has(Flags::FOLD);
                    let alone = |&rune: &u32| !folds || ranges::simple_fold(rune) == rune;
                    let runes = tree.literal(only).iter();
                    runes.map(|rune| Some(*rune).filter(alone).and_then(char::from_u32)).collect()
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// An equivalent pattern for the `regex` crate, to search with: it is anchored if Go's is. Groups do not capture.
    pub fn to_rust(&self) -> Result<String, Unverifiable> {
        match &self.body {
            Body::Tree(tree, false) => translate::write(tree),
            Body::Tree(tree, true) => Ok(format!(r"\A(?:{})\z", translate::write(tree)?)),
            Body::Plain(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(format!(r"\A(?:{text})\z")),
                Err(_) => Err(Unverifiable { reason: "it holds bytes that are no utf-8" }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_say_what_to_write_instead() {
        for (pattern, at, message, hint) in [
            ("a(?!b)", 1, "look-around", "`!~`"),
            ("(?<=a)b", 0, "look-around", "`!~`"),
            (r"(a)\1", 3, r"`\1`", "back-references"),
            ("a*+", 1, "repeats a repetition", "possessive"),
            ("a**", 1, "repeats a repetition", "group"),
            ("(?x) a", 0, "`(?x`", "blanks"),
            (r"\u0041", 0, r"`\u`", r"\x{20ac}"),
            (r"a\Z", 1, r"`\Z`", r"\z"),
            ("*.log", 0, "nothing before `*`", "`.*`"),
            ("x{2,1}", 1, "backwards", "smaller"),
            ("x{1001}", 1, "too many", "1000"),
            ("[z-a]", 1, "backwards", "smaller"),
            ("[a", 0, "no closing `]`", r"\["),
            ("(a", 0, "no closing `)`", r"\("),
            ("a)", 1, "closes nothing", r"\)"),
            ("[[:foo:]]", 1, "[:foo:]", "alnum"),
            (r"\p{Alphabetic}", 0, "names no group", r"\pL"),
            (r"\p{Old_Italic}", 0, "names no group", "1.25"),
            ("(?P<a-b>x)", 0, "group name", "letters"),
            (r"a\", 1, "lone backslash", r"\\"),
        ] {
            let fault = parse(pattern.as_bytes(), Names::Current).expect_err(pattern);
            assert_eq!(fault.span.start, at, "{pattern}: {fault:?}");
            assert!(fault.message.contains(message), "{pattern}: {fault:?}");
            assert!(fault.hint.as_ref().is_some_and(|text| text.contains(hint)), "{pattern}: {fault:?}");
        }
        let poison = is_poison(br"\Qabc", Names::Current).expect("swallows the wrapping");
        assert!(poison.hint.is_some_and(|hint| hint.contains(r"\E")));
    }

    #[test]
    fn large_classes_take_little_room() {
        // Some thousand different classes of some hundred ranges each.
        let names = ["L", "M", "N", "P", "S", "C"];
        let class = |number: usize| {
            let chosen = names.iter().enumerate().filter(|(at, _)| number >> at & 1 == 1);
            let groups: String = chosen.flat_map(|(_, name)| [r"\p", name]).collect();
            let more = char::from_u32(0x3400 + u32::try_from(number).unwrap_or(0)).unwrap_or('x');
            format!("[{groups}{more}]*|")
        };
        let text: String = (0..8000).map(class).collect();
        for text in [text.clone(), format!("(?i){text}"), text.replace('[', "[^")] {
            let read = parse(text.as_bytes(), Names::Current).expect("it is valid");
            let Body::Tree(tree, _) = read.body else { panic!("it was parsed") };
            assert!(tree.ranges.len() < 64_000, "{}", tree.ranges.len());
            assert!((7000..=8000).contains(&tree.sets.len()), "{}", tree.sets.len());
        }
    }

    #[test]
    fn patterns_tell_about_themselves() {
        let read = |pattern: &str| parse(pattern.as_bytes(), Names::Current).expect(pattern);
        for (pattern, literal) in [
            ("abc", Some("abc")),
            ("^abc$", Some("abc")),
            (r"a\.b", Some("a.b")),
            ("", Some("")),
            ("(?i)12", Some("12")),
            ("(?i)ab", None),
            ("a|b", None),
        ] {
            assert_eq!(read(pattern).as_literal().as_deref(), literal, "{pattern}");
        }
        for (pattern, empty) in [
            ("", true),
            ("a*", true),
            ("^$", true),
            (r"\b", false),
            (r"\B", true),
            ("a|", true),
            ("(a|b*)+", true),
            ("a{0}", true),
        ] {
            assert_eq!(read(pattern).matches_empty(), empty, "{pattern}");
        }
        let newer =
            |pattern: &str| read(pattern).needs_newer_go().map(|newer| (newer.release, newer.span.clone()));
        assert_eq!(newer(r"(?P<a>\p{Greek})"), None);
        assert_eq!(newer("x(?<a>b)"), Some(("1.22", 1..6)));
        assert_eq!(newer(r"(?<a>\p{greek})"), Some(("1.25", 5..14)));
        assert_eq!(read("(?P<b>x)(y)(?P<a>z)(?P<b>)").capture_names().collect::<Vec<_>>(), ["b", "a", "b"]);
        assert!(matcher(b"\xff|b").is_ok_and(|pattern| pattern.to_rust().is_err()));
        assert!(matcher(b"\xff.").is_err());
    }
}
