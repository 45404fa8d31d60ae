//! PromQL: texts that want to exhaust the stack or the clock, and texts without any sense.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use usher::lang::promql::{Options, parse};

use super::promql_generator::Maker;

const EVERYTHING: Options = Options {
    experimental_functions: true,
    duration_expressions: true,
    extended_ranges: true,
    fill_modifiers: true,
};

/// Far beyond what 128 KB may cost in a release build, because tests are not built for speed.
const PATIENCE: Duration = Duration::from_millis(500);

/// Parses, and does everything else that walks the tree. Says whether the text was accepted.
fn judge(name: &str, text: &str) -> bool {
    let started = Instant::now();
    let found = parse(text, EVERYTHING);
    let spent = started.elapsed();
    assert!(spent < PATIENCE, "{name}: {spent:?} for {} bytes", text.len());
    let Ok(query) = &found else {
        let fault = found.unwrap_err();
        assert!(fault.span.start <= fault.span.end && fault.span.end <= text.len(), "{name}: {fault:?}");
        assert!(text.is_char_boundary(fault.span.start) && text.is_char_boundary(fault.span.end), "{name}");
        let advice = fault.hint.as_deref().unwrap_or_default();
        assert!(
            fault.message.len() < 300 && advice.len() < 300,
            "{name}: {:.99} {advice:.99}",
            fault.message
        );
        return false;
    };
    let copy = query.clone();
    assert!(copy == *query, "{name}");
    let written = query.to_string();
    assert!(parse(&written, EVERYTHING).as_ref() == Ok(query), "{name}");
    for selector in query.selectors() {
        assert!(text.get(selector.span()).is_some(), "{name}");
        assert!(selector.matchers().all(|matcher| text.get(matcher.span).is_some()), "{name}");
    }
    true
}

#[test]
fn long_chains_are_flat() {
    const LONG: usize = 65_000;
    let chain = |term: &str, operator: &str, count: usize| vec![term; count].join(operator);
    let nested = |before: &str, inner: &str, after: &str, depth: usize| {
        format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
    };
    for (name, text, accepted) in [
        ("sum of numbers", chain("1", "+", LONG), true),
        ("powers", chain("1", "^", LONG), true),
        ("union", chain("a", " or ", LONG / 2), true),
        ("mixed strengths", chain("a", "*b^c+", LONG / 3), true),
        ("minus signs", format!("{}1", "-".repeat(LONG)), true),
        ("minus signs of a series", format!("{}a", "-".repeat(LONG)), true),
        ("signs and powers", chain("1", "^-", LONG), true),
        ("arguments", format!("label_join(a, {})", chain("'b'", ",", LONG / 2)), true),
        ("labels", format!("sum by ({}) (a)", chain("b", ",", LONG)), true),
        (
            "labels of on",
            format!("a + on ({}) group_left ({}) b", chain("x", ",", LONG / 2), chain("y", ",", LONG / 2)),
            true,
        ),
        ("conditions", format!("a{{{}}}", chain("b='c'", ",", LONG / 3)), true),
        ("duration sum", format!("a[{}]", chain("1", "+", LONG)), true),
        ("duration powers", format!("a[{}]", chain("1", "^", LONG)), true),
        ("duration signs", format!("a[{}(5m)]", "-".repeat(LONG)), true),
        ("offset signs", format!("a offset {}5m", "-".repeat(LONG)), true),
        ("zero offsets", format!("a{}", " offset 0".repeat(LONG / 5)), true),
        ("subqueries", format!("a{}", "[5m:]".repeat(LONG / 4)), false),
        ("extensions", format!("a{}", " anchored".repeat(LONG / 6)), true),
        ("comments", format!("{}1", "#\n".repeat(LONG)), true),
        ("blanks behind fill", format!("fill{}", " ".repeat(2 * LONG)), true),
        ("many fills", chain("fill", " + ", LONG / 4), true),
        ("brackets", nested("(", "1", ")", LONG), true),
        ("brackets and operators", nested("1 - (2 * ", "a", ")", LONG / 4), true),
        ("brackets with signs", nested("-(", "1", ")", LONG / 2), true),
        ("calls", nested("abs(", "a", ")", LONG / 2), true),
        ("calls of two", nested("clamp_max(", "a", ", 1)", LONG / 8), true),
        ("aggregations", nested("sum by (b) (", "a", ")", LONG / 4), true),
        ("aggregations with a parameter", nested("topk(2, ", "a", ")", LONG / 4), true),
        ("subqueries in functions", nested("rate(", "a", "[5m:])", LONG / 8), true),
        ("duration brackets", format!("a[{}]", nested("(", "1", ")", LONG)), true),
        ("duration brackets and operators", format!("a[{}]", nested("(1 + ", "1", ") * 2", LONG / 8)), true),
        ("max_of", format!("a offset {}", nested("max_of(1,", "1", ")", LONG / 8)), true),
        ("min_of to the left", format!("a[{}]", nested("min_of(", "1", ",2)", LONG / 8)), true),
        ("one bracket too many", format!("{})", nested("(", "1", ")", LONG)), false),
        ("one bracket too few", format!("({}", nested("(", "1", ")", LONG)), false),
        ("open brackets", "(".repeat(2 * LONG), false),
        ("open braces", "{".repeat(2 * LONG), false),
        ("open ranges", "a[".repeat(LONG), false),
        ("closing brackets", ")".repeat(2 * LONG), false),
        ("open string", format!("\"{}", "a".repeat(2 * LONG)), false),
        ("escapes", format!("\"{}\"", "\\x41".repeat(LONG / 2)), true),
        ("long number", "1".repeat(2 * LONG), false),
        ("long fraction", format!("0.{}", "1".repeat(2 * LONG)), true),
        ("long underscores", format!("1{}", "_1".repeat(LONG)), false),
        ("long name", "a".repeat(2 * LONG), true),
        ("long unknown function", format!("{}(1)", "a".repeat(2 * LONG)), false),
        ("long duration", format!("1{}", "h1".repeat(LONG)), false),
        ("long regex", format!("a{{b=~\"{}\"}}", chain("x.y", "|", LONG / 4)), true),
        ("many regexes", format!("a{{{}}}", chain("b=~'c.*'", ",", LONG / 5)), true),
        ("words", chain("a", " ", LONG), false),
        ("damaged label", format!("a{{{}-b='c'}}", "b".repeat(2 * LONG)), false),
    ] {
        assert_eq!(judge(name, &text), accepted, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_decided(text in "\\PC{0,60}") {
        judge("any text", &text);
    }

    #[test]
    fn any_signs_are_decided(text in "[a-c0-9(){}\\[\\]\"'`\\\\,:=!~<>+*/%^@#. \n_mshxeE-]{0,40}") {
        judge("any signs", &text);
    }

    #[test]
    fn any_spoilt_query_is_decided(seed: u64, times in 0_usize..12) {
        let mut maker = Maker::new(seed);
        let mut text = maker.text();
        for _ in 0..times {
            text = maker.mutate(&text);
        }
        judge("spoilt", &text);
    }
}
