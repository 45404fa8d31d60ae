//! LogQL against Loki's own parser and pipeline builder.

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::Value;
use usher::lang::logql::{self, Query};

use crate::logql_grammar::Generator;
use crate::logql_pools::{POOLS, PRODUCTIONS};
use crate::oracle::{Oracle, question, smallest};

fn oracle() -> Oracle {
    let folder = crate::oracle::folder();
    Oracle::start(&PathBuf::from(folder).join("oracle-loki"))
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Whether Loki takes it. Inside of `variants` it takes what it cannot print: it refuses with an error, never with a panic.
fn ok(verdict: &Value) -> bool {
    verdict["ok"] == true || verdict["panic"] == true
}

/// What two judges say differently about a text, if anything.
fn disagreement(loki: &mut Oracle, text: &str) -> Option<String> {
    let verdicts = loki.ask(&[question("logql", text), question("stages", text)]);
    compare(loki, text, &verdicts[0], &verdicts[1])
}

fn compare(loki: &mut Oracle, text: &str, parsed: &Value, staged: &Value) -> Option<String> {
    let ours = logql::parse(text);
    let query = match (&ours, ok(parsed)) {
        (Err(_), false) => return None,
        (Ok(query), true) => query,
        (Ok(query), false) => {
            return Some(format!("L1: usher takes it as {query}, loki: {}", parsed["error"]));
        }
        (Err(fault), true) => {
            return Some(format!("L1: loki takes it as {}, usher: {fault:?}", parsed["string"]));
        }
    };
    if parsed["panic"] == true {
        return None;
    }
    if query.is_metric() != (parsed["metric"] == true) {
        return Some(format!("metric: usher {}, loki {}", query.is_metric(), parsed["metric"]));
    }
    if let Some(difference) = compare_stages(query, text, staged) {
        return Some(difference);
    }
    let printed = query.to_string();
    match logql::parse(&printed) {
        Err(fault) => return Some(format!("printed as {printed}, which usher refuses: {fault:?}")),
        Ok(again) if again != *query => {
            return Some(format!("printed as {printed}, which is another tree: {again}"));
        }
        Ok(again) if again.to_string() != printed => {
            return Some(format!("printed as {printed}, then as {again}"));
        }
        Ok(_) => {}
    }
    let verdict = &loki.ask(&[question("logql", &printed)])[0];
    if !ok(verdict) {
        return Some(format!("printed as {printed}, which loki refuses: {}", verdict["error"]));
    }
    if verdict["string"] != parsed["string"] {
        return Some(format!(
            "printed as {printed}, which means for loki {} instead of {}",
            verdict["string"], parsed["string"]
        ));
    }
    None
}

/// Stage faults. Usher sees more than Loki in two places: addresses in joined filters, and everything in `variants`.
fn compare_stages(query: &Query, text: &str, staged: &Value) -> Option<String> {
    let mut faults = query.stage_faults();
    faults.retain(|fault| !fault.message.contains("silently never match"));
    let stricter = text.to_lowercase().contains("variants");
    match (faults.first(), ok(staged)) {
        (Some(fault), true) if !stricter => Some(format!("L2: loki builds it, usher: {fault:?}")),
        (None, false) => Some(format!("L2: usher sees nothing, loki: {}", staged["error"])),
        _ => None,
    }
}

/// Judges texts in groups and stops at the first disagreement, made small.
fn judge(loki: &mut Oracle, texts: &[String]) -> usize {
    let mut valid = 0;
    for group in texts.chunks(32) {
        let questions: Vec<Value> =
            group.iter().flat_map(|text| [question("logql", text), question("stages", text)]).collect();
        let verdicts = loki.ask(&questions);
        for (text, verdict) in group.iter().zip(verdicts.chunks(2)) {
            valid += usize::from(ok(&verdict[0]));
            if compare(loki, text, &verdict[0], &verdict[1]).is_some() {
                let small = smallest(text, |candidate| disagreement(loki, candidate).is_some());
                panic!("{small:?}\n{}\nfrom {text:?}", disagreement(loki, &small).unwrap_or_default());
            }
        }
    }
    valid
}

#[test]
fn examples_of_the_specification() {
    let mut loki = oracle();
    let examples: Vec<(&str, String)> = include_str!("logql_examples.txt")
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(verdict, text)| (verdict, text.to_owned()))
        .collect();
    assert!(examples.len() >= 260, "{}", examples.len());
    judge(&mut loki, &examples.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>());
    for (verdict, text) in &examples {
        let query = logql::parse(text);
        // The verdicts of the table are those of a newer Loki; two rows are taken by 3.7.8, with a note.
        let noted = query.as_ref().is_ok_and(|query| !query.notes().is_empty());
        match *verdict {
            "bad" => assert!(query.is_err() || noted, "{text}"),
            "L2" => assert!(!query.unwrap().stage_faults().is_empty(), "{text}"),
            _ => {
                let query = query.unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
                assert!(query.stage_faults().is_empty(), "{text}: {:?}", query.stage_faults());
                let lints = query.lints(&logql::LintContext::default());
                assert!(*verdict == "ok" || !lints.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn derived_and_mutated_texts() {
    let mut loki = oracle();
    let cases = number("CASES", 60_000);
    let mut generator = Generator::new(number("SEED", 1) as u64);
    let (mut valid, mut done) = (0, 0);
    while done < cases {
        let mut texts = Vec::new();
        while texts.len() < 512 && done + texts.len() < cases {
            let text = if texts.len() % 2 == 0 { generator.query() } else { generator.focused() };
            let text = if generator.dice.one_in(4) { generator.mutated(&text) } else { text };
            texts.push(text);
        }
        valid += judge(&mut loki, &texts);
        done += texts.len();
    }
    let share = valid * 100 / cases;
    crate::oracle::agreed("LogQL, derived and spoilt", "Loki 3.7.8", cases, valid);
    let pooled = POOLS.iter().flat_map(|pool| {
        pool.good.iter().chain(pool.odd).map(|text| format!("{}: {text}", pool.name)).collect::<Vec<_>>()
    });
    let mut rare = Vec::new();
    for what in PRODUCTIONS.iter().map(|what| (*what).to_owned()).chain(pooled) {
        let count = generator.counts.get(&what).copied().unwrap_or(0);
        println!("{count:7} {what}");
        if count < 100 {
            rare.push((what, count));
        }
    }
    assert!((20..=80).contains(&share), "{share}% valid");
    assert!(cases < 60_000 || rare.is_empty(), "too rare: {rare:?}");
}

/// Every string literal of a Go file and every code block of a page, as candidates.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(start) = rest.find(['`', '"']) {
        let quote = rest.as_bytes()[start];
        let inside = &rest[start + 1..];
        let mut end = None;
        let mut escaped = false;
        for (at, byte) in inside.bytes().enumerate() {
            if escaped {
                escaped = false;
            } else if byte == b'\\' && quote == b'"' {
                escaped = true;
            } else if byte == quote || (byte == b'\n' && quote == b'"') {
                end = Some(at);
                break;
            }
        }
        let Some(end) = end else { break };
        let text = &inside[..end];
        if quote == b'"' {
            found.push(
                text.replace("\\\"", "\"").replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\"),
            );
        }
        found.push(text.to_owned());
        rest = &inside[end + 1..];
    }
    found
}

#[test]
fn texts_from_lokis_sources() {
    let folder = crate::oracle::folder().join("corpus/loki");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|extension| extension == "md") {
            for block in source.split("```").skip(1).step_by(2) {
                let code = block.split_once('\n').map_or("", |(_, code)| code);
                texts.push(code.to_owned());
                texts.extend(code.lines().map(str::to_owned));
            }
            texts.extend(source.split('`').map(str::to_owned));
        } else {
            texts.extend(literals(&source));
        }
    }
    texts.sort_unstable();
    texts.dedup();
    let mut loki = oracle();
    let valid = judge(&mut loki, &texts);
    crate::oracle::agreed("LogQL, from Loki's tests and pages", "Loki 3.7.8", texts.len(), valid);
    assert!(texts.len() > 2_000 && valid > 800, "{} texts, {valid} valid", texts.len());
    // The same texts with small mistakes.
    let mut generator = Generator::new(number("SEED", 1) as u64);
    let likely: Vec<&String> =
        texts.iter().filter(|text| text.len() > 5 && logql::parse(text).is_ok()).collect();
    let mutated: Vec<String> = (0..number("CASES", 20_000) / 4)
        .map(|_| {
            let at = generator.dice.below(likely.len());
            generator.mutated(likely[at])
        })
        .collect();
    judge(&mut loki, &mutated);
}

/// Brackets within brackets, up to the longest text; a closing one is missing here and there.
#[test]
fn nesting_like_loki() {
    let shapes = [
        ("(", "1", ")"),
        ("(1+", "vector(1)", ")"),
        ("sum(", "rate({a=\"b\"}[5m])", ")"),
        ("sum by (a) (2 > ", "rate({a=\"b\"}[5m])", ")"),
        ("label_replace(", "vector(1)", ",\"a\",\"b\",\"c\",\"d\")"),
        ("rate(", "{a=\"b\"}[5m]", ")"),
        ("-(", "1", ")"),
    ];
    let inside = [
        ("rate((", "(", "{a=\"b\"}[5m]", ")", "))"),
        ("rate((", "(", "{a=\"b\"} |= \"c\"", ")", ")[5m])"),
        ("{a=\"b\"} | (", "(", "a=\"b\"", ")", ")"),
        ("{a=\"b\"} | (", "(x > 1 or ", "a=\"b\"", ")", ")"),
        ("sum_over_time({a=\"b\"} | unwrap c | (", "(a=\"b\" and ", "a=\"b\"", ")", ") [5m])"),
    ];
    let shapes = shapes.iter().map(|(before, inner, after)| ("", *before, *inner, *after, ""));
    let mut texts = Vec::new();
    for (head, before, inner, after, tail) in shapes.chain(inside) {
        let most =
            (logql::MAX_LENGTH - 1 - head.len() - inner.len() - tail.len()) / (before.len() + after.len());
        for depth in [2, 255, 256, 257, 1_000, 5_000, most] {
            for missing in [0, 1] {
                let (open, close) = (before.repeat(depth.min(most)), after.repeat(depth.min(most) - missing));
                texts.push(format!("{head}{open}{inner}{close}{tail}"));
            }
        }
    }
    // One at a time: two of this size would fill both pipes. Nor are the longest ones made smaller.
    let mut loki = oracle();
    let mut valid = 0;
    for text in &texts {
        let verdict = &loki.ask(&[question("logql", text)])[0];
        valid += usize::from(ok(verdict));
        let (head, length) = (text.chars().take(40).collect::<String>(), text.len());
        assert_eq!(handle(text).is_some(), ok(verdict), "{head:?}, {length} bytes");
    }
    crate::oracle::agreed("LogQL, brackets nested up to the longest text", "Loki 3.7.8", texts.len(), valid);
}

/// Parses, copies, compares, prints and drops.
fn handle(text: &str) -> Option<usize> {
    let query = logql::parse(text).ok()?;
    let copy = query.clone();
    assert!(copy == query);
    let printed = query.to_string();
    assert!(printed.len() >= logql::MAX_LENGTH || logql::parse(&printed).unwrap() == query);
    let _ =
        (query.lints(&logql::LintContext::default()), query.notes(), query.stage_faults(), query.selectors());
    Some(printed.len())
}

#[test]
fn hostile_texts() {
    let fill = |unit: &str, before: &str, after: &str| {
        let times = (logql::MAX_LENGTH - 1 - before.len() - after.len()) / unit.len();
        format!("{before}{}{after}", unit.repeat(times))
    };
    let nested = |before: &str, inner: &str, after: &str| {
        let times = (logql::MAX_LENGTH - 1 - inner.len()) / (before.len() + after.len());
        format!("{}{inner}{}", before.repeat(times), after.repeat(times))
    };
    let selector = "{a=\"b\"}";
    let texts = [
        fill("+1", "1", ""),
        fill("^1", "1", ""),
        fill("*1+1^1", "1", ""),
        fill(" or vector(1)", "vector(1)", ""),
        fill("(", "", ""),
        fill("sum(", "", ""),
        fill("((a=\"b\") or ", "{a=\"b\"} | ", "a=\"b\""),
        fill("|=\"\"", selector, ""),
        fill(" or \"\"", "{a=\"b\"} |= \"\"", ""),
        fill("|json", selector, ""),
        fill(" or a>1", "{a=\"b\"} | a>1", ""),
        fill(" a>1", "{a=\"b\"} | a>1", ""),
        fill(",a>1 or b>1", "{a=\"b\"} | a>1", ""),
        fill("|a=\"\"", selector, ""),
        fill(",a=\"\"", "{a=\"b\"", "}"),
        fill(",a=~\"x\"", "{a=\"b\"", "}"),
        fill(",a", "{a=\"b\"} | json a", ""),
        fill(",a=b", "{a=\"b\"} | label_format a=b", ""),
        fill(",a", "sum by (a", ") (vector(1))"),
        fill("rate ", "{", "=\"b\"}"),
        fill("sum b", "", ""),
        fill("\\x00", "{a=\"", "\"}"),
        fill("<a", "{a=\"b\"} | pattern \"<b>", "\""),
        fill("<", "{a=\"b\"} | pattern \"<b>", "\""),
        fill("# c\n", selector, ""),
        fill("//c\n", selector, ""),
        fill("/**/", selector, ""),
        fill("9", "1", ""),
        fill("1h", "rate({a=\"b\"}[5m] offset 1h", ")"),
        fill("-", "1", ""),
        fill("variants(", "", ""),
        fill(",1", "variants(1", ") of ({a=\"b\"}[5m])"),
        fill("{a=\"b\"}+", "", "1"),
        nested("(1+", "1", ")"),
        nested("sum by (a) (", "vector(1)", ")"),
        nested("label_replace(", "vector(1)", ",\"a\",\"b\",\"c\",\"d\")"),
    ];
    let debug = cfg!(debug_assertions);
    for text in &texts {
        let started = std::time::Instant::now();
        let printed = handle(text);
        let spent = started.elapsed();
        println!("{spent:>12.2?} {printed:?} {:?}", text.chars().take(30).collect::<String>());
        let limit = if debug { 2_000 } else { 250 };
        assert!(spent.as_millis() < limit, "{spent:?} for {:?}", text.chars().take(40).collect::<String>());
    }
    assert!(handle(&texts[0]).is_some(), "a long sum is a query");
    assert!(handle(&texts[1]).is_some(), "a long power is a query");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_decided(text in "\\PC{0,60}") {
        let _ = handle(&text);
    }

    #[test]
    fn any_mutation_is_decided(seed in any::<u64>()) {
        let mut generator = Generator::new(seed);
        let text = generator.query();
        let text = generator.mutated(&text);
        let _ = handle(&text);
    }
}
