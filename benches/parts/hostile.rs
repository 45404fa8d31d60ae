//! Texts that want to exhaust the clock: as long as a field may be, deep, branching, or full of classes. Each is decided on
//! one thread, whose own CPU time counts.

use std::time::{Duration, Instant};

use usher::lang::re2::{self, Names, Wrap};
use usher::lang::{logql, promql, template};

/// The longest that LogQL is read at all.
const LENGTH: usize = logql::MAX_LENGTH - 1;
const MOST: Duration = Duration::from_millis(50);

type Decide = fn(&str) -> bool;
type Texts = Vec<(&'static str, String)>;

pub fn table() -> String {
    let mut table = format!(
        "Texts of {} KiB. Least of three; the slowest text of each language is named.\n\n\
         | language | texts | slowest | CPU | most |\n|---|---|---|---|---|\n",
        LENGTH.div_ceil(1024)
    );
    let languages: [(&str, Decide, Texts); 7] = [
        ("LogQL with its stages and lints", read_and_look, logql_texts()),
        ("PromQL", |text| promql::parse(text, promql::Options::default()).is_ok(), promql_texts()),
        ("Go's RE2, as written", |text| re2::parse(text.as_bytes(), Names::Current).is_ok(), patterns()),
        (
            "Go's RE2, wrapped",
            |text| re2::parse_wrapped(text.as_bytes(), Names::Current, Wrap::Group).is_ok(),
            patterns(),
        ),
        ("Go's RE2, of a matcher", |text| re2::matcher(text.as_bytes()).is_ok(), patterns()),
        ("Go's RE2, of a line filter", |text| re2::line_filter(text.as_bytes()).is_ok(), patterns()),
        (
            "templates",
            |text| template::check_named(text.as_bytes(), &template::PROMETHEUS_ALERT, "a").is_ok(),
            templates(),
        ),
    ];
    for (language, decide, texts) in languages {
        let timed = texts.iter().map(|(name, text)| (spent_on(text, decide), *name));
        let (spent, name) = timed.max().expect("there are texts");
        assert!(spent < MOST, "{language}: {name} takes {spent:?}");
        table += &format!(
            "| {language} | {} | {name} | {:.1} ms | {} ms |\n",
            texts.len(),
            spent.as_secs_f64() * 1e3,
            MOST.as_millis()
        );
    }
    table
}

/// Microseconds for a pattern as people write them, on average.
pub fn typical_pattern() -> f64 {
    const PATTERNS: [&str; 8] = [
        "api-.*",
        "prod-(eu|us)-[0-9]+",
        "5..",
        ".+",
        "(?i)kube.*|etcd",
        r"\d{1,3}(\.\d{1,3}){3}:\d+",
        "node-[a-z]{2,8}|gpu-node-[0-9a-f]+",
        "^/api/v[12]/(users|orders)/[^/]+$",
    ];
    const ROUNDS: u32 = 50_000;
    let started = Instant::now();
    for _ in 0..ROUNDS {
        for pattern in PATTERNS {
            std::hint::black_box(re2::parse_wrapped(
                std::hint::black_box(pattern.as_bytes()),
                Names::Current,
                Wrap::Group,
            ))
            .expect("they are valid");
        }
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS) / PATTERNS.len() as f64
}

fn read_and_look(text: &str) -> bool {
    let Ok(query) = logql::parse(text) else { return false };
    std::hint::black_box((query.stage_faults(), query.lints(&logql::LintContext::default())));
    true
}

fn spent_on(text: &str, decide: Decide) -> Duration {
    let once = || {
        let before = cpu();
        std::hint::black_box(decide(std::hint::black_box(text)));
        cpu() - before
    };
    (0..3).map(|_| once()).min().expect("three")
}

/// How long this thread has run.
fn cpu() -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let first = statistics.split(' ').next().and_then(|number| number.parse().ok());
    Duration::from_nanos(first.expect("nanoseconds"))
}

/// A unit again and again between two ends.
fn fill(unit: &str, before: &str, after: &str) -> String {
    let count = (LENGTH - before.len() - after.len()) / unit.len();
    format!("{before}{}{after}", unit.repeat(count))
}

fn nested(before: &str, inner: &str, after: &str) -> String {
    let depth = (LENGTH - inner.len()) / (before.len() + after.len());
    format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
}

fn logql_texts() -> Texts {
    vec![
        ("a long sum", fill("+1", "1", "")),
        ("a long power", fill("^1", "1", "")),
        ("line filters", fill("|=\"a\"", "{a=\"b\"}", "")),
        ("line filters with expressions", fill("|~\"a.*b|c+\"", "{a=\"b\"}", "")),
        ("label filters", fill("|b>1", "{a=\"b\"}", "")),
        ("alternatives of label filters", fill(" or b>1", "{a=\"b\"}|b>1", "")),
        ("matchers", fill(",a=~\"b.+\"", "{a=\"b\"", "}")),
        ("parsers", fill("|json", "{a=\"b\"}", "")),
        ("one pattern", fill("<a> ", "{a=\"b\"} | pattern \"<b> ", "\"")),
        ("one expression", fill("a|", "{a=\"b\"} |~ \"", "x\"")),
        ("labels of by", fill(",a", "sum by (a", ") (vector(1))")),
        ("escapes", fill("\\x41", "{a=\"", "\"}")),
        ("open brackets", "(".repeat(LENGTH)),
        ("nested sums", nested("sum(", "vector(1)", ")")),
        ("nested brackets", nested("(1+", "1", ")")),
        ("comments", fill("# c\n", "{a=\"b\"}", "")),
        ("a template of a line", fill("{{.a}}", "{a=\"b\"} | line_format `", "`")),
    ]
}

fn promql_texts() -> Texts {
    vec![
        ("a long sum", fill("+1", "1", "")),
        ("a long power", fill("^1", "1", "")),
        ("mixed strengths", fill("*b^c+a", "a", "")),
        ("signs", fill("-", "", "1")),
        ("matchers", fill(",a=~\"b.+\"", "x{a=\"b\"", "}")),
        ("one expression", fill("a|", "x{a=~\"", "x\"}")),
        ("arguments", fill(",'b'", "label_join(a", ")")),
        ("nested brackets", nested("(", "1", ")")),
        ("nested calls", nested("abs(", "a", ")")),
        ("nested sums", nested("sum by (b) (", "a", ")")),
        ("open brackets", "(".repeat(LENGTH)),
        ("open braces", "{".repeat(LENGTH)),
        ("words", fill("a ", "", "")),
        ("a long number", fill("1", "", "")),
        ("comments", fill("#\n", "", "1")),
    ]
}

fn patterns() -> Texts {
    let classes = |unit: &dyn Fn(u32) -> String, after: &str| {
        let mut text = String::new();
        for number in 0.. {
            let unit = unit(number);
            if text.len() + unit.len() + after.len() > LENGTH {
                break;
            }
            text.push_str(&unit);
        }
        text + after
    };
    let letter = |number: u32| char::from_u32(0x3001 + number % 0x9000).unwrap_or('x');
    vec![
        ("letters and marks", fill(r"[\pL\pM]", "", "")),
        ("letters and marks, folded", fill(r"[\pL\pM]|", "(?i)", "x")),
        ("many different classes", classes(&|number| format!(r"[\pC{}]", letter(number)), "x")),
        ("many different classes, negated", classes(&|number| format!(r"[^\pL{}]", letter(number)), "x")),
        ("one long class", format!("[{}]", classes(&|number| letter(2 * number).to_string(), ""))),
        ("no words", fill(r"\W|", "", "x")),
        ("alternatives", fill("a|", "", "x")),
        ("bars", "|".repeat(LENGTH)),
        ("groups", fill("()", "", "")),
        ("named groups", classes(&|number| format!("(?P<n{number}>k)"), "")),
        ("counts", fill(r"\pL{30}", "", "")),
        ("open groups", "(".repeat(LENGTH)),
        ("nested groups", nested("(?:", "a", ")")),
        ("literals", fill("é", "(?i)", "")),
        ("quotations", fill(r"\Qk\E|", "", "x")),
    ]
}

fn templates() -> Texts {
    vec![
        ("fields", fill("{{ .Labels.job }}", "", "")),
        ("pipelines", fill(" | title", "{{ $value", " }}")),
        ("conditions", nested("{{ if true }}", "a", "{{ end }}")),
        ("else if", fill("{{ else if true }}", "{{ if true }}", "{{ end }}")),
        ("brackets", format!("{{{{ {} }}}}", nested("(", "1", ")"))),
        ("open actions", fill("{{ ", "", "")),
        ("variables", fill("{{ $a := 1 }}", "", "")),
        ("definitions", fill("{{ define \"a\" }}{{ end }}", "", "")),
        ("comments", fill("{{/* a */}}", "", "")),
        ("text", fill("é", "", "")),
        ("a long string", fill("\\x41", "{{ \"", "\" }}")),
        ("a long number", fill("1", "{{ ", " }}")),
    ]
}
