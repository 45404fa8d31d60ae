//! Go's regular expressions: the same verdict as Go, and after translation the same matches.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use usher::lang::re2::{self, Names, Pattern, Wrap};

use super::oracle::{Dice, Oracle, smallest};

#[path = "re2_matches.rs"]
mod matches;
#[path = "re2_patterns.rs"]
mod patterns;

pub fn oracle() -> Oracle {
    let folder = crate::oracle::folder();
    Oracle::start(&folder.join("oracle-loki"))
}

pub fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The ways in which programs read a pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reading {
    Matcher,
    Go(Names, Wrap),
}

const READINGS: [Reading; 7] = [
    Reading::Matcher,
    Reading::Go(Names::Current, Wrap::AsWritten),
    Reading::Go(Names::Current, Wrap::Group),
    Reading::Go(Names::Current, Wrap::DotAll),
    Reading::Go(Names::Classic, Wrap::AsWritten),
    Reading::Go(Names::Classic, Wrap::Group),
    Reading::Go(Names::Classic, Wrap::DotAll),
];

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().fold(0_u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let index = (word >> (18 - 6 * at)) & 63;
            out.push(if at <= chunk.len() { char::from(ALPHABET[index as usize]) } else { '=' });
        }
    }
    out
}

impl Reading {
    fn question(self, text: &[u8]) -> Value {
        let mut question = match self {
            Reading::Matcher => json!({"op": "matcher"}),
            Reading::Go(names, wrap) => {
                let names = if names == Names::Current { "std" } else { "fork" };
                let wrap = match wrap {
                    Wrap::AsWritten => "",
                    Wrap::Group => "group",
                    Wrap::DotAll => "dotall",
                };
                json!({"op": "re2", "names": names, "wrap": wrap})
            }
        };
        match std::str::from_utf8(text) {
            Ok(text) => question["text"] = json!(text),
            Err(_) => question["text64"] = json!(base64(text)),
        }
        question
    }

    fn judge(self, text: &[u8]) -> Result<Pattern, usher::lang::Fault> {
        match self {
            Reading::Matcher => re2::matcher(text),
            Reading::Go(names, wrap) => re2::parse_wrapped(text, names, wrap),
        }
    }

    /// What is compared.
    fn ours(self, text: &[u8]) -> Value {
        match (self, self.judge(text)) {
            (_, Err(fault)) => {
                assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len(), "{fault:?}");
                json!({"ok": false})
            }
            (Reading::Matcher, Ok(pattern)) => json!({"ok": true, "empty": pattern.matches_empty()}),
            (_, Ok(pattern)) => json!({"ok": true, "captures": pattern.capture_names().collect::<Vec<_>>()}),
        }
    }

    fn theirs(self, verdict: &Value) -> Value {
        if verdict["ok"] == json!(false) {
            return json!({"ok": false});
        }
        if self == Reading::Matcher {
            return json!({"ok": true, "empty": verdict["empty"]});
        }
        let named = verdict["captures"].as_array().into_iter().flatten().filter(|name| *name != "");
        json!({"ok": true, "captures": named.collect::<Vec<_>>()})
    }
}

/// Bytes as characters and back, so that any text can be made smaller.
fn as_chars(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn as_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| character as u8).collect()
}

#[derive(Default)]
struct Tally {
    valid: usize,
    total: usize,
    codes: BTreeMap<String, usize>,
}

/// Long questions go alone: their answers repeat them, and both pipes would fill up.
fn ask(oracle: &mut Oracle, cases: &[(Reading, Vec<u8>)]) -> Vec<Value> {
    let long = |text: &[u8]| text.len() > 200;
    let groups = cases.chunk_by(|(_, a), (_, b)| !long(a) && !long(b));
    groups
        .flat_map(|group| {
            oracle.ask(&group.iter().map(|(reading, text)| reading.question(text)).collect::<Vec<_>>())
        })
        .collect()
}

fn compare(oracle: &mut Oracle, cases: &[(Reading, Vec<u8>)], tally: &mut Tally) {
    let verdicts = ask(oracle, cases);
    for ((reading, text), verdict) in cases.iter().zip(&verdicts) {
        tally.total += 1;
        tally.valid += usize::from(verdict["ok"] == json!(true));
        // The matcher's answer has no code, its message has.
        let code = verdict["code"].as_str().or_else(|| verdict["error"].as_str()?.split(": ").nth(1));
        if let Some(code) = code {
            *tally.codes.entry(code.to_owned()).or_default() += 1;
        }
        if reading.ours(text) != reading.theirs(verdict) {
            let least = smallest(&as_chars(text), |text| {
                let text = as_bytes(text);
                let verdict = &oracle.ask(&[reading.question(&text)])[0];
                reading.ours(&text) != reading.theirs(verdict)
            });
            let least = as_bytes(&least);
            let verdict = &oracle.ask(&[reading.question(&least)])[0];
            let shown = String::from_utf8_lossy(&least);
            panic!(
                "{reading:?} {shown:?}\nours {:?}\ntheirs {verdict}",
                reading.judge(&least).map(|_| reading.ours(&least))
            );
        }
    }
}

#[test]
fn verdicts_equal_go() {
    let (count, seed) = (number("CASES", 50_000), number("SEED", 1));
    let mut dice = Dice::new(seed as u64);
    let mut oracle = oracle();
    let mut tally = Tally::default();
    let mut cases = Vec::new();
    for number in 0..count {
        let text = match number % 250 {
            // Hundreds of expensive failures, all different.
            0 => patterns::large(&mut dice, 14_000),
            1 => {
                let levels = 1100 + dice.below(900);
                patterns::nest(&mut dice, levels)
            }
            _ => patterns::pattern(&mut dice),
        };
        let (first, second) = (1 + dice.below(3), 4 + dice.below(3));
        cases.extend([READINGS[0], READINGS[first], READINGS[second]].map(|reading| (reading, text.clone())));
        if cases.len() >= 3000 || number + 1 == count {
            compare(&mut oracle, &cases, &mut tally);
            cases.clear();
        }
    }
    let share = 100 * tally.valid / tally.total;
    crate::oracle::agreed(
        "RE2, derived and spoilt, in three readings each",
        "Go 1.26, grafana/regexp, Prometheus",
        tally.total,
        tally.valid,
    );
    println!("{count} patterns: {:#?}", tally.codes);
    assert!((20..=80).contains(&share), "{share}% valid");
    for code in [
        "invalid character class range",
        "invalid escape sequence",
        "invalid named capture",
        "invalid or unsupported Perl syntax",
        "invalid nested repetition operator",
        "invalid repeat count",
        "invalid UTF-8",
        "missing closing ]",
        "missing closing )",
        "missing argument to repetition operator",
        "trailing backslash at end of expression",
        "unexpected )",
        "expression nests too deeply",
        "expression too large",
    ] {
        let seen = tally.codes.get(code).copied().unwrap_or(0);
        assert!(seen * 50_000 >= 100 * count.min(50_000), "{code}: {seen}");
    }
}

/// Every row of the tables of what differs between Go and other engines.
const ROWS: &[&str] = &[
    r"\Qa.b\E",
    r"\Qabc",
    r"\0",
    r"\12",
    r"\123",
    r"\1",
    r"\7",
    r"\u0041",
    r"\U00000041",
    r"\u{41}",
    "a{",
    "{{x}}",
    "a{b}",
    "a{,5}",
    "{x}",
    "a{01}",
    "a{1001}",
    "(a{1000}){2}",
    "(?:a{500}){3}",
    "a**",
    "a*+",
    "a+*",
    "a???",
    "a+?+",
    "a{2}{3}",
    "(?x)",
    "(?u)",
    "(?R)",
    "(?)",
    "(?ii)",
    "(?P<1n>a)",
    "(?P<n.x>a)",
    "(?P<n[x>a)",
    "(?P<n>a)(?P<n>b)",
    "(?<n>a)",
    "[[]",
    "[^[]",
    "[a[b]",
    "[[:foo:]]",
    "[a[bc]]",
    "[a&&b]",
    "[a~~b]",
    "[a--b]",
    "[+--]",
    r"[\d-z]",
    r"\<",
    r"\>",
    r"\b{start}",
    r"\p{^Greek}",
    r"\p{Greek}",
    r"\pL",
    r"\p{Alphabetic}",
    r"\p{sc=Greek}",
    r"\p{age=6.0}",
    r"\p{Old_Italic}",
    r"\p{SignWriting}",
    r"\p{greek}",
    r"\p{Letter}",
    r"\p{Any}",
    r"\p{ASCII}",
    r"\p{Assigned}",
    r"\x{D800}",
    r"\d",
    r"\w",
    r"\s",
    r"\b",
    r"\w{1000}",
    "(?=a)",
    "(?!a)",
    "(?<=a)",
    r"\Z",
    r"\C",
    r"\h",
    r"\R",
    r"\X",
    r"\e",
    r"\cA",
    "x{2,1}",
    "*a",
    "[z-a]",
    r"\x4",
    r"\A",
    r"\z",
    r"\x{7F}",
    r"\_",
    r"\-",
    r"\/",
    "a||b",
    "^*",
    "]",
    "}",
    r"\é",
    "a)(b",
];

/// Each row a hundred times, alone and among other pieces, in every reading.
#[test]
fn every_row_of_the_tables_in_a_hundred_contexts() {
    const TIMES: usize = 100;
    let mut dice = Dice::new(number("SEED", 1) as u64 + 5);
    let (mut oracle, mut total, mut valid) = (oracle(), 0, 0);
    for row in ROWS {
        let mut tally = Tally::default();
        let mut cases = Vec::new();
        for time in 0..TIMES {
            let mut text = Vec::new();
            if time > 0 {
                let mut piece = || {
                    let piece = patterns::pattern(&mut dice);
                    if piece.len() > 20 { b"x".to_vec() } else { piece }
                };
                let (before, after) = (piece(), piece());
                text.extend(before);
                text.extend(row.as_bytes());
                text.extend(after);
            } else {
                text.extend(row.as_bytes());
            }
            cases.extend(READINGS.map(|reading| (reading, text.clone())));
        }
        compare(&mut oracle, &cases, &mut tally);
        println!("{TIMES:7} {row} ({} of {} readings take it)", tally.valid, tally.total);
        (total, valid) = (total + tally.total, valid + tally.valid);
    }
    let original = "Go 1.26, grafana/regexp, Prometheus";
    crate::oracle::agreed(
        "RE2, rows of the tables among other pieces, in every reading",
        original,
        total,
        valid,
    );
}

/// The patterns of Go's own tests: every text in quotes, in every reading.
#[test]
fn texts_from_gos_own_tests() {
    let folder = crate::oracle::folder().join("corpus/go-regexp");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let source = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for quote in ['`', '"'] {
            texts.extend(
                source.split(quote).skip(1).step_by(2).filter(|text| text.len() < 400).map(str::to_owned),
            );
        }
    }
    texts.sort_unstable();
    texts.dedup();
    assert!(texts.len() > 1_000, "{} texts", texts.len());
    let (mut oracle, mut tally) = (oracle(), Tally::default());
    let cases: Vec<(Reading, Vec<u8>)> =
        texts.iter().flat_map(|text| READINGS.map(|reading| (reading, text.clone().into_bytes()))).collect();
    compare(&mut oracle, &cases, &mut tally);
    crate::oracle::agreed(
        "RE2, from Go's tests, in every reading",
        "Go 1.26, grafana/regexp, Prometheus",
        tally.total,
        tally.valid,
    );
}

/// The largest number for which the reading takes the pattern, if there is one below the bound.
fn threshold(reading: Reading, bound: usize, pattern: impl Fn(usize) -> Vec<u8>) -> Option<usize> {
    let takes = |size: usize| reading.judge(&pattern(size)).is_ok();
    if !takes(1) || takes(bound) {
        return None;
    }
    let (mut low, mut high) = (1, bound);
    while high - low > 1 {
        let middle = low.midpoint(high);
        if takes(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

#[test]
fn limits_equal_go() {
    let (count, seed) = (number("LIMIT_CASES", 600), number("SEED", 1));
    let mut dice = Dice::new(seed as u64 + 1000);
    let mut oracle = oracle();
    let mut tally = Tally::default();
    let (mut nests, mut words, mut sizes) = (0, 0, 0);
    for number in 0..count {
        let choice = dice.clone();
        dice.next();
        let reading = READINGS[dice.below(READINGS.len())];
        let (bound, make): (_, fn(&mut Dice, usize) -> Vec<u8>) = match number % 40 {
            0 => (8000, patterns::large),
            1..=6 => (560, patterns::words),
            _ => (1100, patterns::nest),
        };
        let pattern = |size| make(&mut choice.clone(), size);
        if let Some(limit) = threshold(reading, bound, pattern) {
            *match number % 40 {
                0 => &mut sizes,
                1..=6 => &mut words,
                _ => &mut nests,
            } += 1;
            // Just below the largest size Go needs a second and a gigabyte for each verdict.
            let near =
                if number % 40 == 0 { limit..limit + 2 } else { limit.saturating_sub(2).max(1)..limit + 4 };
            let cases: Vec<_> = near.map(|size| (reading, pattern(size))).collect();
            compare(&mut oracle, &cases, &mut tally);
        }
    }
    println!(
        "{nests} nests, {words} lists, {sizes} sizes at their limits, {} verdicts: {:?}",
        tally.total, tally.codes
    );
    assert!(nests >= count / 4 && words >= count / 20 && sizes >= count / 100);
}

#[test]
fn classes_have_a_limit() {
    let mut oracle = oracle();
    for unit in [r"\pL", r"[\pL]", r"(?:\pL)", r"\PL", r"(?i:\p{Lu})", r"(\pL)", r"\pL|1*|"] {
        let reading = READINGS[1];
        if let Some(limit) = threshold(reading, 60_000, |count| unit.repeat(count).into_bytes()) {
            let cases: Vec<_> =
                (limit..limit + 2).map(|count| (reading, unit.repeat(count).into_bytes())).collect();
            compare(&mut oracle, &cases, &mut Tally::default());
            println!("{unit}: {limit}");
        } else {
            println!("{unit}: no limit");
        }
    }
}

#[test]
fn poison_is_found() {
    for (pattern, poison) in
        [(r"\Qabc", true), ("a)(b", false), ("abc", false), (r"\Qabc\E", false), ("(a", false)]
    {
        assert_eq!(re2::is_poison(pattern.as_bytes(), Names::Current).is_some(), poison, "{pattern}");
    }
    let nest = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert!(re2::is_poison(nest(998).as_bytes(), Names::Current).is_none());
    assert!(re2::is_poison(nest(999).as_bytes(), Names::Current).is_some());
    assert!(re2::parse(nest(1000).as_bytes(), Names::Current).is_err());
}

fn survives(text: &[u8]) {
    for reading in READINGS {
        match reading.judge(text) {
            Ok(pattern) => {
                let _ = (
                    pattern.matches_empty(),
                    pattern.as_literal(),
                    pattern.to_rust(),
                    pattern.needs_newer_go(),
                );
            }
            Err(fault) => {
                assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len(), "{fault:?}")
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_are_decided(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..60)) {
        survives(&text);
    }

    #[test]
    fn any_syntax_is_decided(text in r"([\\\[\](){}|*+?^$.:<>PpQExi\-0-9a-c&é]|\(\?|\\p\{|\[:){0,60}") {
        survives(text.as_bytes());
    }
}
