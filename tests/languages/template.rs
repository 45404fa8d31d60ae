//! Go templates: usher's verdict against that of Loki and Prometheus, which parse with Go's own package.

use std::path::PathBuf;

use serde_json::{Value, json};
use usher::lang::template::{FunctionSet, LOKI_ALERT, LOKI_LABEL, LOKI_LINE, PROMETHEUS_ALERT, check_named};

use crate::oracle::{Dice, Oracle, question, smallest};
use crate::template_complaints::CLASSES;
use crate::template_defects::{DEFECTS, Where};
use crate::template_mutations::{mutate, number};
use crate::template_texts::{Counts, Writer};

pub const SETS: &[(&str, &FunctionSet)] = &[
    ("loki-line", &LOKI_LINE),
    ("loki-label", &LOKI_LABEL),
    ("loki-alert", &LOKI_ALERT),
    ("prometheus-alert", &PROMETHEUS_ALERT),
];

/// The smallest integer that rounds to infinity: 2^1024 - 2^970.
const HALFWAY: &str = "\
    1797693134862315807937289714053034150799341327100378269361737789804449682927647509466490179775872070\
    9633028641669288791094655554785194040263065748867150582068190890200070838367627385484581771153176447\
    5730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880177904\
    174497792\
    ";

/// The alert whose annotation the oracles take the text for.
const ALERT: &str = "a";

struct Judges {
    loki: Oracle,
    prometheus: Oracle,
}

impl Judges {
    fn start() -> Self {
        let folder = oracle_folder();
        Self {
            loki: Oracle::start(&folder.join("oracle-loki")),
            prometheus: Oracle::start(&folder.join("oracle-prometheus")),
        }
    }

    fn ask(&mut self, set: &str, texts: &[Vec<u8>]) -> Vec<Value> {
        let questions: Vec<Value> = texts.iter().map(|text| ask_about(set, text)).collect();
        if set.starts_with("loki") { self.loki.ask(&questions) } else { self.prometheus.ask(&questions) }
    }

    /// Every text gets the same verdict from both; otherwise says which smallest text does not.
    fn agree(&mut self, (name, set): (&str, &'static FunctionSet), texts: &[Vec<u8>]) -> Vec<Value> {
        let verdicts = self.ask(name, texts);
        for (text, verdict) in texts.iter().zip(&verdicts) {
            if ours(text, set) == (verdict["ok"] == true) {
                continue;
            }
            // One character for each byte, so that bytes that are no UTF-8 can be left out too.
            let spelled: String = text.iter().map(|&byte| char::from(byte)).collect();
            let least = smallest(&spelled, |candidate| {
                let bytes: Vec<u8> = candidate.chars().map(|character| character as u8).collect();
                ours(&bytes, set) != (self.ask(name, &[bytes])[0]["ok"] == true)
            });
            let bytes: Vec<u8> = least.chars().map(|character| character as u8).collect();
            panic!(
                "{name}: {:?}\n ours: {:?}\n theirs: {}",
                String::from_utf8_lossy(&bytes),
                check_named(&bytes, set, owner(set)),
                self.ask(name, std::slice::from_ref(&bytes))[0]
            );
        }
        verdicts
    }
}

fn oracle_folder() -> PathBuf {
    crate::oracle::folder().to_owned()
}

fn owner(set: &FunctionSet) -> &'static str {
    if set.variables().is_empty() { "" } else { ALERT }
}

fn ours(text: &[u8], set: &FunctionSet) -> bool {
    let verdict = check_named(text, set, owner(set));
    if let Err(fault) = &verdict {
        assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len(), "{fault:?}");
    }
    verdict.is_ok()
}

fn ask_about(set: &str, text: &[u8]) -> Value {
    let mut question = match std::str::from_utf8(text) {
        Ok(text) => question("template", text),
        Err(_) => json!({"op": "template", "text64": base64(text)}),
    };
    question["set"] = set.into();
    question
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for piece in bytes.chunks(3) {
        let bits =
            piece.iter().chain(&[0, 0]).take(3).fold(0_usize, |bits, &byte| bits << 8 | usize::from(byte));
        for digit in 0..4 {
            text.push(if digit <= piece.len() {
                char::from(DIGITS[bits >> (18 - 6 * digit) & 63])
            } else {
                '='
            });
        }
    }
    text
}

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

pub fn generate(dice: &mut Dice, set: &'static FunctionSet, counts: &mut Counts) -> Vec<u8> {
    let (text, joints) = Writer::new(dice, set, counts).template();
    let mut text = text.into_bytes();
    match dice.below(16) {
        0..=5 => {}
        6..=11 => {
            let (place, mistakes) = DEFECTS[dice.below(DEFECTS.len())];
            let at = match place {
                Where::Anywhere => joints[dice.below(joints.len())],
                Where::AtEnd => text.len(),
                Where::AtStart => 0,
            };
            drop(text.splice(at..at, dice.pick(mistakes).bytes()));
        }
        12 => {
            let at = joints[dice.below(joints.len())];
            drop(text.splice(at..at, format!("{{{{ {} }}}}", number(dice)).into_bytes()));
        }
        _ => mutate(&mut text, dice),
    }
    text
}

/// Everything that a template may be made of.
#[rustfmt::skip]
const PRODUCTIONS: &[&str] = &[
    "assignment", "blank definition", "block", "bool", "break", "character", "comment", "complex",
    "continue", "declaration", "declaration in block", "declaration in branch",
    "declaration in parentheses", "declaration in range", "declaration in template", "define", "dot",
    "else", "else if", "else with", "field", "field of a function", "field of parentheses", "float",
    "function", "if", "integer", "left trim", "nil", "parentheses", "pipe", "pipeline", "range",
    "range else", "range over an integer", "range with a comma and no sign", "range with two variables",
    "raw string", "right trim", "string", "template", "text", "trailing pipe", "variable", "with",
];

#[test]
fn verdicts_equal_those_of_the_originals() {
    let cases = environment("CASES", 24_000) as usize;
    let mut dice = Dice::new(environment("SEED", 1));
    let mut judges = Judges::start();
    let (mut productions, mut classes) = (Counts::new(), Counts::new());
    let (mut valid, mut asked) = (0, 0);
    while asked < cases {
        for &(name, set) in SETS {
            let texts: Vec<Vec<u8>> = (0..512).map(|_| generate(&mut dice, set, &mut productions)).collect();
            let verdicts = judges.agree((name, set), &texts);
            asked += verdicts.len();
            valid += verdicts.iter().filter(|verdict| verdict["ok"] == true).count();
            for error in verdicts.iter().filter_map(|verdict| verdict["error"].as_str()) {
                let known = CLASSES.iter().filter(|(_, parts)| parts.iter().any(|part| error.contains(part)));
                let mut unknown = true;
                for (class, _) in known {
                    *classes.entry(class).or_default() += 1;
                    unknown = false;
                }
                assert!(!unknown, "no class for {error:?}");
            }
        }
    }
    crate::oracle::agreed(
        "templates, derived and spoilt, four sets of functions",
        "Loki 3.7.8 and Prometheus 3.15",
        asked,
        valid,
    );
    println!("productions: {productions:#?}\ncomplaints: {classes:#?}");
    assert!((20..=80).contains(&(valid * 100 / asked)));
    for (class, _) in CLASSES {
        let count = classes.get(class).copied().unwrap_or_default();
        assert!(count >= 100 || cases < 24_000, "{class}: only {count}");
    }
    for production in PRODUCTIONS {
        let count = productions.get(production).copied().unwrap_or_default();
        assert!(count >= 100 || cases < 24_000, "{production}: only {count}");
    }
}

#[test]
fn every_function_and_variable_is_known_where_the_original_knows_it() {
    let mut judges = Judges::start();
    let mut names: Vec<String> = SETS
        .iter()
        .flat_map(|(_, set)| {
            set.functions().map(str::to_owned).chain(set.variables().iter().map(ToString::to_string))
        })
        .collect();
    // Functions of sprig, html/template and older versions that are not part of any set.
    names.extend(
        [
            "break",
            "continue",
            "tmpl",
            "trimall",
            "regexMatch",
            "toString",
            "int64",
            "ternary",
            "join",
            "env",
            "list",
        ]
        .map(str::to_owned),
    );
    names.extend(
        ["quote", "toJson", "sha256sum", "toTitle", "humanizeBytes", "$labels.x", "$"].map(str::to_owned),
    );
    let texts: Vec<Vec<u8>> = names
        .iter()
        .flat_map(|name| {
            [format!("{{{{{name}}}}}"), format!("{{{{define \"q\"}}}}{{{{ {name} . }}}}{{{{end}}}}")]
        })
        .map(String::into_bytes)
        .collect();
    for &set in SETS {
        let verdicts = judges.agree(set, &texts);
        let known = verdicts.iter().step_by(2).filter(|verdict| verdict["ok"] == true).count();
        println!("{}: {known} of {} names known", set.0, names.len());
    }
}

#[test]
fn depth_and_size_are_decided_as_the_original_does() {
    let mut judges = Judges::start();
    let parentheses = |depth: usize| format!("{{{{ {}.a{} }}}}", "(".repeat(depth), ")".repeat(depth));
    let numbers = [
        format!("{{{{ 0.{}1e100001 }}}}", "0".repeat(100_000)),
        format!("{{{{ 1{}e-600 }}}}", "0".repeat(1000)),
        format!("{{{{ 1{}e-400 }}}}", "0".repeat(1000)),
        format!("{{{{ 1{}.5e-20000 }}}}", "0".repeat(20_400)),
        format!("{{{{ 1{} }}}}", "0".repeat(400)),
        format!("{{{{ 0x1{}p-4000 }}}}", "0".repeat(1000)),
        format!("{{{{ 0x1{}p-2000 }}}}", "0".repeat(1000)),
        format!("{{{{ 0x1{}p-123456 }}}}", "0".repeat(25_300)),
        format!("{{{{ 17976931348623158{}1e-100 }}}}", "0".repeat(391)),
        // Halfway between the largest float and infinity, and the last number below.
        format!("{{{{ {HALFWAY}.0 }}}}"),
        format!("{{{{ {}1.9 }}}}", &HALFWAY[..308]),
        format!("{{{{ {HALFWAY}e0{} }}}}", "_0".repeat(600)),
        format!("{{{{ 0.{HALFWAY}{}1e309 }}}}", "0".repeat(600)),
        format!("{{{{ 0.{}19{}e309 }}}}", &HALFWAY[..308], "9".repeat(600)),
    ];
    let texts: Vec<Vec<u8>> = [
        parentheses(256),
        parentheses(9_999),
        parentheses(10_000),
        parentheses(10_001),
        parentheses(60_000),
        format!("{{{{ (1) {} }}}}", parentheses(10_000).trim_matches(['{', '}'])),
        format!("{}{}", "{{if .}}".repeat(20_000), "{{end}}".repeat(20_000)),
        format!("{}{}", "{{if .}}".repeat(20_000), "{{end}}".repeat(19_999)),
        format!("{{{{if .}}}}{}{{{{end}}}}", "{{else if .}}".repeat(20_000)),
        format!("{{{{with .}}}}{}{{{{end}}}}", "{{else with $x := .}}{{$x}}".repeat(10_000)),
        format!("{}{}", "{{range .}}".repeat(5_000), "{{else}}{{end}}".repeat(5_000)),
        (0..5_000).map(|name| format!("{{{{block \"{name}\" .}}}}")).collect::<String>()
            + &"{{end}}".repeat(5_000),
        format!("{{{{ .{} }}}}", ".a".repeat(65_000)),
        format!("{{{{ .a{} }}}}", " | len".repeat(20_000)),
        format!("{{{{ print{} }}}}", " .a".repeat(40_000)),
        format!("{{{{ .a{} }}}}", ".a".repeat(60_000)),
        (0..8_000).map(|name| format!("{{{{$x{name}:=1}}}}{{{{$x{}}}}}", name / 2)).collect(),
    ]
    .into_iter()
    .chain(numbers)
    .map(String::into_bytes)
    .collect();
    for &set in SETS {
        judges.agree(set, &texts);
    }
}

#[test]
fn template_names_are_compared_as_the_original_compares_them() {
    let mut judges = Judges::start();
    let names: &[&[u8]] = &[
        b"\"\xff\"",
        b"`\xff`",
        b"\"\\xff\"",
        b"\"\\377\"",
        b"\"\\ufffd\"",
        b"\"\xef\xbf\xbd\"",
        b"\"\xe2\x82\"",
        b"`a\rb`",
        b"\"ab\"",
        b"\"\\x61b\"",
        b"`ab`",
        b"\"a\\rb\"",
        b"\"\\u00e9\"",
        b"`\xc3\xa9`",
        b"\"\\xc3\\xa9\"",
        b"\"\"",
        b"``",
        b"`\r`",
        b"\"line\"",
        b"\"label\"",
        b"\"__alert_a\"",
        b"\"__alert_\"",
        b"\"\\U0001F600\"",
        b"\"\xf0\x9f\x98\x80\"",
    ];
    let bodies: &[&[u8]] =
        &[b"x", b" ", b"\xff", b"\xc2\xa0", b"\xe2\x80\x8b", b"{{/* x */}}", b"{{$x := 1}}", b""];
    let mut texts = Vec::new();
    for first in names {
        for second in names {
            texts.push([b"{{define ", *first, b"}}x{{end}}{{define ", second, b"}}y{{end}}"].concat());
        }
        for body in bodies {
            for rest in bodies {
                texts.push([b"{{define ", *first, b"}}", body, b"{{end}}", rest].concat());
            }
            texts.push(
                [b"{{define ", *first, b"}}", body, b"{{end}}{{block ", first, b".}}", body, b"{{end}}"]
                    .concat(),
            );
        }
    }
    for &set in SETS {
        let valid = judges.agree(set, &texts).iter().filter(|verdict| verdict["ok"] == true).count();
        println!("{}: {valid} of {} valid", set.0, texts.len());
    }
}

#[test]
fn names_are_made_of_the_same_letters() {
    let mut judges = Judges::start();
    // Where Rust's own idea of a letter changes, Go's is likely to change too.
    let all = std::env::var("LETTERS").is_ok_and(|letters| letters == "all");
    let mut dice = Dice::new(environment("SEED", 1));
    let texts: Vec<Vec<u8>> = ('\u{80}'..=char::MAX)
        .filter(|&letter| {
            let near =
                |other: Option<char>| other.is_some_and(|o| o.is_alphanumeric() != letter.is_alphanumeric());
            all || dice.one_in(2000)
                || near(char::from_u32(letter as u32 + 1))
                || near(char::from_u32(letter as u32 - 1))
        })
        .map(|letter| format!("{{{{.a{letter}}}}}").into_bytes())
        .collect();
    println!("{} letters", texts.len());
    judges.agree(SETS[0], &texts);
}

/// The string literals of Go sources, as far as they can be told without a Go parser.
fn literals(source: &str) -> Vec<String> {
    let pattern = regex::Regex::new(r#"(?s)`([^`]*)`|"((?:[^"\\\n]|\\.)*)""#).unwrap();
    pattern
        .captures_iter(source)
        .map(|found| match (found.get(1), found.get(2)) {
            (Some(raw), _) => raw.as_str().to_owned(),
            (_, Some(quoted)) => {
                serde_json::from_str(&format!("\"{}\"", quoted.as_str())).unwrap_or_default()
            }
            _ => String::new(),
        })
        .collect()
}

#[test]
fn texts_of_others_are_judged_alike() {
    let folder = oracle_folder().join("corpus");
    let files = std::fs::read_dir(folder.join("go-template")).unwrap();
    let mut judges = Judges::start();
    let (mut asked, mut accepted) = (0, 0);
    for file in files {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let texts: Vec<Vec<u8>> = literals(&source).into_iter().map(String::into_bytes).collect();
        for &set in SETS {
            let valid = judges.agree(set, &texts).iter().filter(|verdict| verdict["ok"] == true).count();
            (asked, accepted) = (asked + texts.len(), accepted + valid);
        }
    }
    assert!(asked > 2_000, "the corpus is nearly empty: {asked}");
    crate::oracle::agreed("templates, from Go's tests", "Loki 3.7.8 and Prometheus 3.15", asked, accepted);
}
