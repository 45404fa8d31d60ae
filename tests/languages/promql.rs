//! PromQL: the verdict of Prometheus' own parser, over derived, spoilt and collected texts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use usher::lang::Fault;
use usher::lang::promql::{Options, Query, parse};

use super::oracle::{Oracle, question, smallest};
use super::promql_corpus;
use super::promql_generator::Maker;
use super::promql_mistakes::ERROR_CLASSES;
use super::promql_words::{FUNCTIONS, SHORT_WORDS};

fn oracle() -> Oracle {
    let folder = crate::oracle::folder();
    Oracle::start(&PathBuf::from(folder).join("oracle-prometheus"))
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// All sixteen sets of options, by number.
fn options(number: usize) -> Options {
    Options {
        experimental_functions: number & 1 != 0,
        duration_expressions: number & 2 != 0,
        extended_ranges: number & 4 != 0,
        fill_modifiers: number & 8 != 0,
    }
}

const ALL: usize = 15;

fn asked(text: &str, options: Options) -> Value {
    let mut question = question("promql", text);
    question["experimental"] = options.experimental_functions.into();
    question["durations"] = options.duration_expressions.into();
    question["extended"] = options.extended_ranges.into();
    question["fill"] = options.fill_modifiers.into();
    question
}

/// Whether both say the same: about acceptance, and about the type of what is accepted.
fn agree(found: &Result<Query, Fault>, verdict: &Value) -> bool {
    match found {
        Ok(query) => verdict["ok"] == true && verdict["type"] == query.value_type().name(),
        Err(_) => verdict["ok"] == false,
    }
}

fn told(found: &Result<Query, Fault>) -> String {
    match found {
        Ok(query) => format!("accepted as {}: {query}", query.value_type()),
        Err(fault) => format!("refused: {fault:?}"),
    }
}

/// Asks about every text, and about the canonical form of every accepted one. The panic shows the first
/// disagreement of each kind, as small as it gets.
fn compare(texts: &[(String, Options)]) -> Vec<Value> {
    let mut oracle = oracle();
    let questions: Vec<Value> = texts.iter().map(|(text, options)| asked(text, *options)).collect();
    let verdicts = oracle.ask(&questions);
    let mut canonical = Vec::new();
    let mut wrong = Vec::new();
    for ((text, options), verdict) in texts.iter().zip(&verdicts) {
        let found = parse(text, *options);
        if !agree(&found, verdict) {
            wrong.push((text, *options));
        } else if let Ok(query) = found {
            canonical.push((query.to_string(), *options, query, verdict));
        }
    }
    if !wrong.is_empty() {
        let mut report = format!("{} of {} disagree\n", wrong.len(), texts.len());
        for (text, options) in wrong.iter().take(number("SHOWN", 3)) {
            let small = smallest(text, |text| {
                let verdict = &oracle.ask(&[asked(text, *options)])[0];
                !agree(&parse(text, *options), verdict)
            });
            let verdict = &oracle.ask(&[asked(&small, *options)])[0];
            report += &format!(
                "{small:?} {options:?}\n  ours: {}\n  theirs: {verdict}\n",
                told(&parse(&small, *options))
            );
        }
        panic!("{report}");
    }
    let questions: Vec<Value> = canonical.iter().map(|(text, options, ..)| asked(text, *options)).collect();
    for ((text, options, query, verdict), second) in canonical.iter().zip(oracle.ask(&questions)) {
        let again = parse(text, *options);
        assert!(again.as_ref() == Ok(query), "not the same again: {text:?} {}", told(&again));
        assert_eq!(second["ok"], true, "{text:?} {second}");
        assert_eq!(second["string"], verdict["string"], "{text:?} means something else");
    }
    verdicts
}

/// Brackets within brackets, far deeper than people write; a closing one is missing here and there.
#[test]
fn nesting_gets_the_verdict_of_prometheus() {
    let shapes = [
        ("", "(", "1", ")", ""),
        ("", "1 - (2 * ", "a", ")", ""),
        ("", "-(", "a", ")", ""),
        ("", "abs(", "a", ")", ""),
        ("", "clamp_max(", "a", ", 1)", ""),
        ("", "sum by (b) (", "a", ")", ""),
        ("", "topk(2, ", "a", ")", ""),
        ("", "rate(", "a", "[5m:])", ""),
        ("a[", "(", "1", ")", "]"),
        ("a[", "(1 + ", "1", ") * 2", "]"),
        ("a offset ", "max_of(1,", "1", ")", ""),
    ];
    let mut oracle = oracle();
    let (mut texts, mut accepted) = (0, 0);
    for (head, before, inner, after, tail) in shapes {
        for depth in [2, 256, 257, 1_000, 3_000] {
            for missing in [0, 1] {
                let (open, close) = (before.repeat(depth), after.repeat(depth - missing));
                let text = format!("{head}{open}{inner}{close}{tail}");
                for options in [options(0), options(15)] {
                    // One at a time: several of this size would fill both pipes. Nor are they made smaller.
                    let verdict = &oracle.ask(&[asked(&text, options)])[0];
                    let found = parse(&text, options);
                    assert!(
                        agree(&found, verdict),
                        "{before:?} {depth} times, {missing} missing: {options:?}"
                    );
                    texts += 1;
                    accepted += usize::from(found.is_ok());
                }
            }
        }
    }
    crate::oracle::agreed("PromQL, brackets nested 3,000 deep", "Prometheus 3.15", texts, accepted);
}

/// How often each name occurs.
fn count(counters: &mut BTreeMap<String, usize>, names: &[&str]) {
    for name in names {
        *counters.entry((*name).to_owned()).or_default() += 1;
    }
}

/// All productions and functions that a run must meet.
fn productions() -> Vec<&'static str> {
    let mut names = vec![
        "number",
        "string",
        "paren",
        "sign",
        "scalar comparison",
        "scalar arithmetic",
        "set operator",
        "comparison",
        "arithmetic",
        "bool",
        "on",
        "ignoring",
        "group_left",
        "group_right",
        "fill",
        "trailing comma of labels",
        "grouping before",
        "grouping behind",
        "braces only",
        "name and braces",
        "name",
        "regex matcher",
        "equality matcher",
        "trailing comma of conditions",
        "range",
        "extension before range",
        "extension",
        "subquery",
        "subquery step",
        "at",
        "offset",
        "offset expression",
        "offset in brackets",
        "offset with two signs",
        "duration expression",
        "comment",
        "sum",
        "avg",
        "count",
        "min",
        "max",
        "group",
        "stddev",
        "stdvar",
        "topk",
        "bottomk",
        "quantile",
        "count_values",
        "limitk",
        "limit_ratio",
    ];
    names.extend(FUNCTIONS.iter().map(|function| function.0));
    names
}

/// The counters as lines.
fn listed(counters: &BTreeMap<String, usize>) -> String {
    counters.iter().fold(String::new(), |mut text, (name, count)| {
        let _ = writeln!(text, "{count:7} {name}");
        text
    })
}

#[test]
fn derived_and_spoilt_texts_get_the_verdict_of_prometheus() {
    let cases = number("CASES", 100_000);
    let mut maker = Maker::new(number("SEED", 1) as u64);
    let mut texts = Vec::with_capacity(cases);
    let mut used = Vec::with_capacity(cases);
    for _ in 0..cases {
        let mut text = maker.text();
        let mut names = maker.used.clone();
        if maker.dice.one_in(4) {
            for _ in 0..=maker.dice.below(2) {
                text = maker.mutate(&text);
            }
            names.clear();
        }
        // Everything on more often than each other combination, so that experimental things are accepted as well.
        let options = options(if maker.dice.one_in(2) { ALL } else { maker.dice.below(16) });
        texts.push((text, options));
        used.push(names);
    }
    let verdicts = compare(&texts);
    let (mut accepted, mut refused) = (BTreeMap::new(), BTreeMap::new());
    let mut valid = 0;
    for (verdict, names) in verdicts.iter().zip(&used) {
        if verdict["ok"] == true {
            valid += 1;
            count(&mut accepted, names);
        } else {
            let message = verdict["error"].as_str().unwrap();
            let class = ERROR_CLASSES.iter().find(|class| message.contains(*class));
            count(&mut refused, &[class.unwrap_or_else(|| panic!("no class for {message}"))]);
        }
    }
    let share = valid as f64 / cases as f64;
    crate::oracle::agreed("PromQL, derived and spoilt", "Prometheus 3.15", cases, valid);
    println!("in accepted texts:\n{}refused because of:\n{}", listed(&accepted), listed(&refused));
    assert!((0.2..0.8).contains(&share));
    if cases >= 100_000 {
        let rare = |counters: &BTreeMap<String, usize>, names: &[&str]| -> Vec<String> {
            let few = |name: &&&str| counters.get(**name).copied().unwrap_or(0) < 100;
            names.iter().filter(few).map(|name| (*name).to_owned()).collect()
        };
        assert_eq!(rare(&accepted, &productions()), Vec::<String>::new());
        assert_eq!(rare(&refused, ERROR_CLASSES), Vec::<String>::new());
    }
}

#[test]
fn collected_texts_get_the_verdict_of_prometheus() {
    let collected = promql_corpus::collect();
    let mut texts = Vec::new();
    for text in &collected {
        texts.push((text.clone(), options(0)));
        texts.push((text.clone(), options(ALL)));
    }
    let verdicts = compare(&texts);
    let valid = verdicts.iter().filter(|verdict| verdict["ok"] == true).count();
    let what = "PromQL, from Prometheus' tests and pages, all features off and on";
    crate::oracle::agreed(what, "Prometheus 3.15", texts.len(), valid);
    assert!(collected.len() > 3000, "the corpus is nearly empty");
}

#[test]
fn every_short_sequence_of_words_gets_the_verdict_of_prometheus() {
    let mut texts = Vec::new();
    for first in SHORT_WORDS {
        for second in SHORT_WORDS {
            texts.push((format!("{first} {second}"), options(ALL)));
            for third in SHORT_WORDS {
                texts.push((format!("{first} {second} {third}"), options(ALL)));
                texts.push((format!("a {first}{second} {third}b"), options(0)));
                texts.push((format!("a offset {first} {second}{third}"), options(ALL)));
                texts.push((format!("a[{first} {second}{third}]"), options(ALL)));
            }
        }
    }
    let verdicts = compare(&texts);
    let valid = verdicts.iter().filter(|verdict| verdict["ok"] == true).count();
    crate::oracle::agreed("PromQL, all short sequences of words", "Prometheus 3.15", texts.len(), valid);
}
