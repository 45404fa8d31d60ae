//! Translated patterns match what Go's match. Each pattern comes with texts that are in its language, or one edit away.

use serde_json::{Value, json};
use usher::lang::re2::{self, Names, Wrap};

use super::super::oracle::{Dice, smallest};
use super::{number, oracle};

/// A pattern that knows its members.
enum Piece {
    /// Its text, a member, and others that may be none.
    Leaf(&'static str, &'static [&'static str]),
    Class(String, Vec<char>),
    Sequence(Vec<Piece>),
    Choice(Vec<Piece>),
    Repeat(Box<Piece>, &'static str, usize, usize),
    Group(&'static str, Box<Piece>),
}

const LEAVES: &[(&str, &[&str])] = &[
    ("a", &["a"]),
    ("b", &["b"]),
    ("abc", &["abc"]),
    ("k", &["k"]),
    ("K", &["K"]),
    ("ks", &["ks"]),
    ("s", &["s"]),
    ("ſ", &["ſ"]),
    ("\u{212a}", &["\u{212a}"]),
    ("İ", &["İ"]),
    ("ı", &["ı"]),
    ("i", &["i"]),
    ("σ", &["σ"]),
    ("Σ", &["Σ"]),
    ("ς", &["ς"]),
    ("é", &["é"]),
    ("ß", &["ß"]),
    ("ẞ", &["ẞ"]),
    ("Ā", &["Ā"]),
    ("日本", &["日本"]),
    ("😀", &["😀"]),
    ("\u{fffd}", &["\u{fffd}"]),
    ("ǅ", &["ǅ"]),
    ("µ", &["µ"]),
    ("Ω", &["Ω"]),
    ("\u{1c89}", &["\u{1c89}"]),
    ("ა", &["ა"]),
    ("Ა", &["Ა"]),
    ("ꭰ", &["ꭰ"]),
    ("Ꭰ", &["Ꭰ"]),
    (".", &["a", "é", "😀", "\n", "\r", "."]),
    (r"\d", &["0", "9", "٣"]),
    (r"\D", &["x", "٣", "\n"]),
    (r"\w", &["a", "_", "7", "é", "ſ", "\u{212a}"]),
    (r"\W", &["-", "é", "日", "ſ", "\u{212a}"]),
    (r"\s", &[" ", "\t", "\n", "\u{b}", "\u{a0}", "\u{85}"]),
    (r"\S", &["a", "\u{b}", "\u{a0}"]),
    (r"\pL", &["a", "é", "日", "\u{1c89}", "\u{10d4a}"]),
    (r"\PL", &["1", " ", "\u{1c89}", "٣"]),
    (r"\p{Lu}", &["A", "É", "Σ", "İ", "a", "ǅ"]),
    (r"\p{Ll}", &["a", "é", "σ", "ſ", "A"]),
    (r"\p{^Lu}", &["a", "1", "A"]),
    (r"\p{Greek}", &["α", "Ω", "µ", "a"]),
    (r"\P{Latin}", &["1", "Ж", "a", "\u{212a}"]),
    (r"\p{Nd}", &["1", "٣", "a"]),
    (r"\p{Zl}", &["\u{2028}", "\u{2029}"]),
    (r"\p{Any}", &["\0", "\u{10ffff}"]),
    (r"\p{ascii}", &["a", "\u{7f}", "é", "ſ"]),
    (r"\p{Assigned}", &["a", "\u{378}"]),
    (r"\p{Cn}", &["\u{378}", "a"]),
    (r"\p{letter}", &["a", "1"]),
    (r"\p{Sm}", &["+", "∑", "-"]),
    (r"\n", &["\n"]),
    (r"\t", &["\t"]),
    (r"\x41", &["A"]),
    (r"\x{1F600}", &["😀"]),
    (r"\101", &["A"]),
    (r"\0", &["\0"]),
    (r"\v", &["\u{b}"]),
    (r"\.", &["."]),
    (r"\\", &["\\"]),
    (r"\<", &["<"]),
    (r"\/", &["/"]),
    (r"\-", &["-"]),
    (r"\_", &["_"]),
    (r"\#", &["#"]),
    (r"\&", &["&"]),
    ("#", &["#"]),
    (" ", &[" "]),
    ("&&", &["&&"]),
    ("-", &["-"]),
    ("~", &["~"]),
    ("{", &["{"]),
    ("}", &["}"]),
    ("]", &["]"]),
    ("{,5}", &["{,5}"]),
    ("a{01}", &["a{01}"]),
    ("x{a}", &["x{a}"]),
    (r"\Qa.b*\E", &["a.b*", "axb*"]),
    (r"\Q[\E", &["["]),
    (r"\Q\E", &[""]),
    ("(?:)", &[""]),
    ("()", &[""]),
    ("^", &[""]),
    ("$", &[""]),
    (r"\A", &[""]),
    (r"\z", &[""]),
    (r"\b", &[""]),
    (r"\B", &[""]),
    ("(?m:^)", &["", "\n"]),
    ("(?m:$)", &["", "\n"]),
    ("[a-c]", &["a", "c", "d"]),
    ("[^a-c]", &["d", "\n", "a"]),
    (r"[^\n]", &["x", "\n"]),
    ("[]]", &["]"]),
    ("[^]]", &["x", "]"]),
    ("[[]", &["["]),
    ("[a&&b]", &["a", "&", "b"]),
    ("[a~~b]", &["~", "b"]),
    ("[a[b]", &["[", "a"]),
    (r"[\d-z]", &["5", "-", "z", "y"]),
    (r"[\w.]", &["a", ".", "é"]),
    ("[[:alpha:]_]", &["a", "_", "é", "1"]),
    ("[[:^alpha:]]", &["1", "é", "a"]),
    ("[[:space:]]", &["\u{b}", " ", "\u{a0}"]),
    ("[k-s]", &["k", "s", "ſ", "\u{212a}"]),
    ("[^k]", &["k", "K", "\u{212a}", "x"]),
    (r"[\pL\d]", &["é", "7", "-"]),
    (r"[^\pL]", &["1", "é"]),
    (r"[^\s\S]", &["a"]),
    (r"[\s\S]", &["a", "\n"]),
    (r"[^\x{0}-\x{10FFFF}]", &["a"]),
    (r"[\x{D000}-\x{E000}]", &["\u{d000}", "\u{e000}", "a"]),
    (r"[\x{D800}-\x{DFFF}]", &["\u{fffd}", "a"]),
    ("[é-ü]", &["é", "ü", "É", "z"]),
    ("(?i)", &[""]),
    ("(?s)", &[""]),
    ("(?m)", &[""]),
    ("(?U)", &[""]),
    ("(?-i)", &[""]),
    ("(?-sm)", &[""]),
    ("(?)", &[""]),
    ("(?:ab|ac|ad)", &["ab", "ac", "ad", "a"]),
    ("(?:abc|abd|a)", &["abc", "abd", "a"]),
    ("(?:a||b)", &["a", "", "b"]),
    ("(?:(?i:a)x|ay)", &["Ax", "Ay", "ay"]),
    (r"(?:\d{2}a|\d{2}b)", &["12a", "12b"]),
    ("(?:a|A|ſ)", &["a", "A", "ſ", "s"]),
    ("(?:.|\n)", &["\n", "x"]),
    ("(?:k|K)", &["k", "K", "\u{212a}"]),
];

/// Texts that are derived from a pattern.
const DERIVED: usize = 8;

const REPEATS: &[(&str, usize, usize)] = &[
    ("*", 0, 3),
    ("+", 1, 3),
    ("?", 0, 1),
    ("*?", 0, 2),
    ("+?", 1, 2),
    ("??", 0, 1),
    ("{2}", 2, 2),
    ("{0}", 0, 0),
    ("{1,3}", 1, 3),
    ("{2,}", 2, 4),
    ("{0,2}?", 0, 2),
];

const GROUPS: &[&str] =
    &["(", "(?:", "(?i:", "(?i:", "(?s:", "(?m:", "(?U:", "(?is:", "(?-i:", "(?P<n>", "(?<n>", "(?P<1>"];

fn piece(dice: &mut Dice, depth: usize) -> Piece {
    let inner = match dice.below(if depth == 0 { 5 } else { 9 }) {
        0 => {
            let pool = [
                'a', 'b', 'k', 'S', 'ſ', 'Σ', 'é', '1', '-', '\n', '日', '!', 'z', '\u{1c89}', '^', ']', '\\',
            ];
            let members: Vec<char> = (0..=dice.below(3)).map(|_| pool[dice.below(pool.len())]).collect();
            let written: String = members.iter().map(|c| format!("\\x{{{:x}}}", *c as u32)).collect();
            Piece::Class(format!("[{written}]"), members)
        }
        1..=4 => {
            let (text, members) = LEAVES[dice.below(LEAVES.len())];
            Piece::Leaf(text, members)
        }
        5 => Piece::Choice((0..2 + dice.below(3)).map(|_| piece(dice, depth - 1)).collect()),
        6 => Piece::Sequence((0..2 + dice.below(3)).map(|_| piece(dice, depth - 1)).collect()),
        _ => Piece::Group(GROUPS[dice.below(GROUPS.len())], Box::new(piece(dice, depth - 1))),
    };
    if dice.one_in(5)
        && !matches!(&inner, Piece::Leaf(text, _) if text.starts_with("(?") && text.ends_with(')') || *text == r"\Q\E")
    {
        let (text, min, max) = REPEATS[dice.below(REPEATS.len())];
        return Piece::Repeat(Box::new(inner), text, min, max);
    }
    inner
}

impl Piece {
    fn write(&self, out: &mut String) {
        match self {
            Piece::Leaf(text, _) => out.push_str(text),
            Piece::Class(text, _) => out.push_str(text),
            Piece::Sequence(pieces) => pieces.iter().for_each(|piece| piece.write(out)),
            Piece::Choice(pieces) => {
                out.push_str("(?:");
                for (at, piece) in pieces.iter().enumerate() {
                    if at > 0 {
                        out.push('|');
                    }
                    piece.write(out);
                }
                out.push(')');
            }
            Piece::Repeat(piece, text, ..) => {
                out.push_str("(?:");
                piece.write(out);
                out.push(')');
                out.push_str(text);
            }
            Piece::Group(open, piece) => {
                out.push_str(open);
                piece.write(out);
                out.push(')');
            }
        }
    }

    /// A member; or, while `slips` is set, one edit away from one: then the slip is made, and no other.
    fn member(&self, dice: &mut Dice, folds: bool, slips: &mut bool, out: &mut String) {
        match self {
            Piece::Leaf(_, members) => {
                let other = if *slips && dice.one_in(3) { dice.below(members.len()) } else { 0 };
                *slips &= other == 0;
                for c in members[other].chars() {
                    out.push(if folds { fold(dice, c, slips) } else { c });
                }
            }
            Piece::Class(_, members) => {
                let member = members[dice.below(members.len())];
                out.push(if folds { fold(dice, member, slips) } else { member });
            }
            Piece::Sequence(pieces) => pieces.iter().for_each(|piece| piece.member(dice, folds, slips, out)),
            Piece::Choice(pieces) => pieces[dice.below(pieces.len())].member(dice, folds, slips, out),
            Piece::Repeat(piece, _, min, max) => {
                for _ in 0..min + dice.below(max - min + 1) {
                    piece.member(dice, folds, slips, out);
                }
            }
            Piece::Group(open, piece) => {
                piece.member(dice, open.contains('i') || folds && !open.contains("-i"), slips, out)
            }
        }
    }
}

/// The same character in another case; or, while that slip may be made, another one that looks as if it were.
fn fold(dice: &mut Dice, character: char, slips: &mut bool) -> char {
    const FALSE_FRIENDS: &str = "İı\u{1c89}\u{1c8a}";
    const RINGS: &[&str] = &[
        "kK\u{212a}",
        "sSſ",
        "σςΣ",
        "iIİı",
        "ßẞ",
        "éÉ",
        "aA",
        "bB",
        "cC",
        "µμΜ",
        "Ωω\u{2126}",
        "ǅǆǄ",
        "აᲐ",
        "Ꭰꭰ",
        "zZ",
        "\u{1c89}\u{1c8a}",
    ];
    let Some(ring) = RINGS.iter().find(|ring| ring.contains(character)) else { return character };
    let other = ring.chars().nth(dice.below(ring.chars().count())).unwrap();
    let is_slip = other != character && (FALSE_FRIENDS.contains(other) || FALSE_FRIENDS.contains(character));
    if is_slip && !*slips {
        return character;
    }
    *slips &= !is_slip;
    other
}

/// One character more, less or different.
fn edit(dice: &mut Dice, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let new = ['a', 'b', 'k', 'K', 'é', '\n', ' ', '1', '_', 'ſ', '日'][dice.below(11)];
    let at = dice.below(chars.len() + 1);
    match dice.below(3) {
        0 if at < chars.len() => drop(chars.remove(at)),
        1 if at < chars.len() => chars[at] = new,
        _ => chars.insert(at, new),
    }
    chars.into_iter().collect()
}

fn question(pattern: &str, texts: &[String], wrap: Wrap) -> Value {
    let wrap = match wrap {
        Wrap::AsWritten => "",
        Wrap::Group => "group",
        Wrap::DotAll => "dotall",
    };
    json!({"op": "re2-match", "text": pattern, "pattern": pattern, "texts": texts, "wrap": wrap})
}

/// What the translated pattern matches; nothing if it cannot be verified.
fn ours(pattern: &str, texts: &[String], wrap: Wrap) -> Option<Vec<bool>> {
    let parsed = re2::parse_wrapped(pattern.as_bytes(), Names::Current, wrap).ok()?;
    let rust = parsed.to_rust().ok()?;
    let regex = regex::RegexBuilder::new(&rust).size_limit(1 << 28).nest_limit(2000).build();
    let regex = regex.unwrap_or_else(|error| panic!("{pattern:?} became {rust:?}: {error}"));
    for text in texts.iter().filter(|text| text.is_empty()) {
        assert_eq!(parsed.matches_empty(), regex.is_match(text), "{pattern:?} and the empty text");
    }
    // The walk without an engine, which rules use, says the same where it says anything.
    for text in texts {
        let walked = parsed.is_match(text);
        assert!(
            walked.is_none_or(|walked| walked == regex.is_match(text)),
            "{pattern:?} on {text:?}: {walked:?}"
        );
    }
    Some(texts.iter().map(|text| regex.is_match(text)).collect())
}

#[test]
fn translations_match_what_go_matches() {
    let (count, seed) = (number("PAIRS", 20_000), number("SEED", 1));
    let mut dice = Dice::new(seed as u64 + 77);
    let mut oracle = oracle();
    let (mut pairs, mut matching, mut unverifiable) = (0, 0, 0);
    while pairs < count {
        let mut cases = Vec::new();
        for _ in 0..64 {
            let depth = 1 + dice.below(3);
            let tree = Piece::Sequence((0..1 + dice.below(4)).map(|_| piece(&mut dice, depth)).collect());
            let mut pattern = String::new();
            tree.write(&mut pattern);
            // Derived from the pattern, but for the last one.
            let mut texts = Vec::with_capacity(DERIVED + 1);
            for _ in 0..DERIVED {
                let (mut text, edits) = (String::new(), dice.one_in(4));
                let folds = pattern.contains("(?i)");
                tree.member(&mut dice, folds, &mut !edits, &mut text);
                if edits {
                    text = edit(&mut dice, &text);
                }
                texts.push(text);
            }
            texts.push(String::new());
            let wrap = [Wrap::AsWritten, Wrap::Group, Wrap::DotAll][dice.below(3)];
            cases.push((pattern, texts, wrap));
        }
        let questions: Vec<_> =
            cases.iter().map(|(pattern, texts, wrap)| question(pattern, texts, *wrap)).collect();
        for ((pattern, texts, wrap), verdict) in
            cases.iter().zip(questions.chunks(8).flat_map(|some| oracle.ask(some)).collect::<Vec<_>>())
        {
            let theirs: Option<Vec<bool>> = serde_json::from_value(verdict["matches"].clone()).unwrap();
            let ours = ours(pattern, texts, *wrap);
            assert_eq!(
                theirs.is_some(),
                re2::parse_wrapped(pattern.as_bytes(), Names::Current, *wrap).is_ok(),
                "{pattern:?}"
            );
            let (Some(theirs), Some(ours)) = (theirs, ours) else {
                unverifiable += 1;
                continue;
            };
            pairs += DERIVED;
            matching += theirs.iter().take(DERIVED).filter(|&&yes| yes).count();
            if let Some(at) = (0..texts.len()).find(|&at| ours[at] != theirs[at]) {
                let least = smallest(pattern, |pattern| {
                    let theirs = &oracle.ask(&[question(pattern, &texts[at..=at], *wrap)])[0]["matches"][0];
                    self::ours(pattern, &texts[at..=at], *wrap)
                        .is_some_and(|ours| *theirs != json!(null) && *theirs != json!(ours[0]))
                });
                panic!(
                    "{least:?} {wrap:?} on {:?}: go says {}, from {pattern:?}",
                    texts[at],
                    !self::ours(&least, &texts[at..=at], *wrap).unwrap()[0]
                );
            }
        }
    }
    let share = 100 * matching / pairs;
    println!("{pairs} derived pairs, {share}% match, {unverifiable} patterns not compared");
    crate::oracle::agreed("RE2, pattern and text: what matches", "Go 1.26", pairs, matching);
    assert!((30..=70).contains(&share), "{share}% match");
}
