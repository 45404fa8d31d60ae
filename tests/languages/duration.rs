//! Durations, byte sizes and names against the originals.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::{Value, json};
use usher::lang::{duration, names, size};

use crate::oracle::{Dice, Oracle, smallest};

fn oracle() -> Oracle {
    let folder = crate::oracle::folder();
    Oracle::start(&PathBuf::from(folder).join("oracle-loki"))
}

fn cases() -> usize {
    std::env::var("CASES").ok().and_then(|value| value.parse().ok()).unwrap_or(30_000)
}

fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// A question and our own answer to it: nothing for a refusal, else the value.
type Judge = (Value, fn(&str) -> Option<String>);

fn judges(kind: &str) -> Vec<Judge> {
    fn told<T: ToString, E>(result: Result<T, E>) -> Option<String> {
        result.ok().map(|value| value.to_string())
    }
    fn yes(valid: bool) -> Option<String> {
        valid.then(String::new)
    }
    match kind {
        "duration" => vec![
            (json!({"op": "duration", "dialect": "prometheus"}), |text| told(duration::prometheus(text))),
            (json!({"op": "duration", "dialect": "go"}), |text| told(duration::go(text))),
            (json!({"op": "duration", "dialect": "logql"}), |text| told(duration::logql(text))),
        ],
        "bytes" => vec![(json!({"op": "bytes"}), |text| told(size::parse(text)))],
        _ => vec![
            (json!({"op": "name", "dialect": "metric"}), |text| yes(names::is_metric(text))),
            (json!({"op": "name", "dialect": "label"}), |text| yes(names::is_label(text))),
            (json!({"op": "name", "dialect": "metric-utf8"}), |text| yes(names::is_metric_utf8(text))),
            (json!({"op": "name", "dialect": "label-utf8"}), |text| yes(names::is_label_utf8(text))),
            (json!({"op": "name", "dialect": "tenant"}), |text| yes(names::tenant(text).is_ok())),
        ],
    }
}

fn theirs(verdict: &Value) -> Option<String> {
    let value =
        verdict.get("ns").or_else(|| verdict.get("value")).and_then(Value::as_str).unwrap_or_default();
    (verdict["ok"] == true).then(|| value.to_owned())
}

/// Asks both about every text, in every dialect.
fn agree(kind: &str, texts: &[String]) {
    let mut loki = oracle();
    for (question, ours) in judges(kind) {
        let with = |text: &str| {
            let mut question = question.clone();
            question["text"] = text.into();
            question
        };
        let verdicts = loki.ask(&texts.iter().map(|text| with(text)).collect::<Vec<_>>());
        let valid = verdicts.iter().filter(|verdict| verdict["ok"] == true).count();
        for (text, verdict) in texts.iter().zip(&verdicts) {
            if theirs(verdict) != ours(text) {
                let small = smallest(text, |text| theirs(&loki.ask(&[with(text)])[0]) != ours(text));
                let verdict = &loki.ask(&[with(&small)])[0];
                panic!("{question} {small:?}: original {verdict}, usher {:?}", ours(&small));
            }
        }
        let dialect = question["dialect"].as_str().map(|dialect| format!(", {dialect}")).unwrap_or_default();
        crate::oracle::agreed(&format!("{kind}{dialect}"), "Go 1.26 and its libraries", texts.len(), valid);
        let share = 100 * valid / texts.len();
        assert!(kind != "duration" || (20..=80).contains(&share), "{kind}{dialect}: {share}% are valid");
    }
}

fn number(dice: &mut Dice) -> String {
    const EDGES: [&str; 14] = [
        "0",
        "1",
        "5",
        "30",
        "90",
        "1000",
        "292",
        "293",
        "106751",
        "9223372036854775807",
        "9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "00",
    ];
    let mut text = match dice.below(6) {
        0 => EDGES[dice.below(EDGES.len())].to_owned(),
        1 => (dice.next() >> (20 + dice.below(44))).to_string(),
        _ => dice.below(100).to_string(),
    };
    if dice.one_in(4) {
        text.push('.');
        if !dice.one_in(4) {
            text.push_str(&(dice.next() >> dice.below(64)).to_string());
        }
        if dice.one_in(6) {
            text = text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
        }
    }
    text
}

/// One to four numbers with units, sometimes in order, sometimes with a slip.
fn quantity(dice: &mut Dice, units: &[&'static str], odd: &[&'static str]) -> String {
    let mut text = if dice.one_in(6) { dice.pick(&["-", "+", "--", " "]).to_owned() } else { String::new() };
    let mut place = 0;
    for _ in 0..1 + dice.below(3) {
        text.push_str(&number(dice));
        if dice.one_in(25) {
            text.push_str(dice.pick(odd));
        } else {
            place = if dice.one_in(5) {
                dice.below(units.len())
            } else {
                (place + dice.below(3)).min(units.len() - 1)
            };
            text.push_str(units[place]);
            place += 1;
            if place >= units.len() {
                break;
            }
        }
    }
    text
}

#[test]
fn durations_like_the_originals() {
    let mut dice = Dice::new(seed() + 7);
    let units = ["y", "w", "d", "h", "m", "s", "ms", "us", "ns"];
    let odd = ["", "µs", "μs", "M", "S", "x", " ", "mm", "é", "hm", ".", "e", "\0"];
    let texts: Vec<String> =
        ["", "0", "-0", "+0", "-", ".", "1", "-.s", ".s", "0s", "00", "-9223372036854775808ns", "1h1h"]
            .map(str::to_owned)
            .into_iter()
            .chain((0..cases()).map(|_| {
                // Go has no units above the hour.
                let units = if dice.one_in(2) { &units[..] } else { &units[3..] };
                quantity(&mut dice, units, &odd)
            }))
            .collect();
    agree("duration", &texts);
}

#[test]
fn sizes_like_the_original() {
    let mut dice = Dice::new(seed() + 8);
    let units = ["", "B", "kB", "KB", "k", "KiB", "Mi", "MB", "gib", "TB", "Pi", "EB", "EiB"];
    let odd = ["b", "kk", "iB", " ", " KB ", ",", "Z", "\u{212A}B", "K\u{130}B", "é", "٣", "\u{A0}MB"];
    let texts: Vec<String> = (0..cases())
        .map(|_| {
            let unit = if dice.one_in(5) { dice.pick(&odd) } else { dice.pick(&units) };
            let comma = if dice.one_in(10) { dice.pick(&[",", ",000", ".", "-"]) } else { "" };
            format!("{}{comma}{unit}", number(&mut dice))
        })
        .collect();
    agree("bytes", &texts);
}

#[test]
fn names_like_the_originals() {
    let mut dice = Dice::new(seed() + 9);
    let texts: Vec<String> = (0..cases() / 2)
        .map(|_| {
            let length = if dice.one_in(20) { 145 + dice.below(10) } else { dice.below(6) };
            let odd = dice.one_in(2);
            let mut piece = || {
                if odd && dice.one_in(3) {
                    dice.pick(&[":", ".", "-", "/", " ", "é", "!", "*", "'", "(", "\0", "|", "9", "~"])
                } else {
                    dice.pick(&["a", "B", "_", "0", "z"])
                }
            };
            (0..length).map(|_| piece()).collect::<String>()
        })
        .collect();
    agree("name", &texts);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    /// Any text is decided, and what is accepted means something: a name is as long as it is written.
    #[test]
    fn any_text_is_decided(text in "\\PC{0,40}|[0-9.+-]{0,12}[a-zµμ]{0,3}[0-9]{0,4}[a-z]{0,2}") {
        for decide in [duration::prometheus, duration::go, duration::logql] {
            let _ = decide(&text);
        }
        let _ = size::parse(&text);
        prop_assert!(!names::is_label(&text) || names::is_metric(&text), "a classic label name is a metric name");
        prop_assert!(!names::is_metric(&text) || names::is_metric_utf8(&text));
        prop_assert!(!names::is_label(&text) || names::is_label_utf8(&text));
        let _ = names::tenant(&text);
    }
}
