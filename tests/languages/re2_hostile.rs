//! Go's regular expressions: patterns that want to exhaust the clock or the memory.

use std::time::{Duration, Instant};

use usher::lang::re2::{self, Names, Wrap};

/// As long as a LogQL query may be, and what that may cost. `make test` is not built for speed: it takes an eighth of the text
/// and waits longer; `cargo test --release --test languages hostile` holds the real promise.
const LENGTH: usize = if cfg!(debug_assertions) { 16 * 1024 } else { 128 * 1024 };
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 50 });

/// How long this thread has run; other programs on the machine do not count where the system tells.
fn spent(started: Instant) -> Duration {
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let first = statistics.and_then(|text| text.split(' ').next()?.parse().ok());
    first.map_or_else(|| started.elapsed(), Duration::from_nanos)
}

/// The least of three measurements.
fn quickly<T>(name: &str, what: &str, mut work: impl FnMut() -> T) -> T {
    let started = Instant::now();
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let before = spent(started);
        let done = work();
        least = least.min(spent(started).saturating_sub(before));
        if least < PATIENCE {
            return done;
        }
    }
    panic!("{what} of {name} takes {least:?}");
}

/// Reads a pattern in all ways, and does everything else that walks its tree. Some are too large for Go, which is no less work.
fn judge(name: &str, text: &str) {
    let text = text.as_bytes();
    quickly(name, "the matcher", || re2::matcher(text).is_ok());
    quickly(name, "the line filter", || re2::line_filter(text).is_ok());
    for wrap in [Wrap::Group, Wrap::DotAll] {
        quickly(name, "the wrapped reading", || re2::parse_wrapped(text, Names::Current, wrap).is_ok());
    }
    let Ok(pattern) = quickly(name, "the reading", || re2::parse(text, Names::Current)) else {
        return;
    };
    let value = "kſ日😀aé".repeat(21);
    quickly(name, "the translation", || pattern.to_rust().is_ok());
    quickly(name, "the empty text", || (pattern.matches_empty(), pattern.as_literal()));
    quickly(name, "a match", || pattern.is_match(&value));
}

/// Units one after another, the number of each one given, until the pattern is long enough.
fn fill(before: &str, after: &str, unit: impl Fn(usize) -> String) -> String {
    let mut text = before.to_owned();
    for number in 0.. {
        let unit = unit(number);
        if text.len() + unit.len() + after.len() > LENGTH {
            break;
        }
        text.push_str(&unit);
    }
    text + after
}

/// A character that changes from unit to unit.
fn varied(from: u32, number: usize) -> char {
    char::from_u32(from + number as u32).unwrap_or('x')
}

#[test]
fn many_classes_are_decided_at_once() {
    const GROUPS: &[&str] = &[
        r"\pL",
        r"\pM",
        r"\pN",
        r"\pS",
        r"\PL",
        r"\pC",
        r"\p{Lu}",
        r"\p{Ll}",
        r"\p{Mn}",
        r"\p{So}",
        r"\p{Greek}",
        r"\p{Latin}",
        r"\P{Han}",
        r"\p{Common}",
        r"\p{Zs}",
    ];
    // All choices of some groups, one after another.
    let chosen = |number: usize, most: usize| -> String {
        (0..most).map(|place| GROUPS[number / GROUPS.len().pow(place as u32) % GROUPS.len()]).collect()
    };
    for folding in ["", "(?i)", "(?i:k)"] {
        for between in ["", "|", "*|", "a|"] {
            let judge = |what: &str, unit: &dyn Fn(usize) -> String| {
                let text = fill(folding, "x", |number| unit(number) + between);
                judge(&format!("{what} {folding} {between}"), &text);
            };
            judge("the same groups", &|_| r"[\pL\pM]".into());
            judge("groups in turn", &|number| format!(r"[\pL\p{}]", ["M", "N"][number % 2]));
            judge("two groups", &|number| format!("[{}]", chosen(number, 2)));
            judge("four groups", &|number| format!("[{}]", chosen(number, 4)));
            judge("no group of three", &|number| format!("[^{}]", chosen(number, 3)));
            judge("a group and more", &|number| format!(r"[\pC{}]", varied(0x3001, number)));
            judge("more and groups", &|number| format!(r"[{}\pC\pM]", varied(0x100, number)));
            judge("no group and no more", &|number| format!(r"[^\pL{}]", varied(0x3001, number)));
            judge("groups without brackets", &|number| chosen(number, 2));
            judge("wide ranges", &|number| {
                format!("[{}-{}]", varied(0x1C0, number % 97), varied(0x1380, number % 127))
            });
            judge("all but wide ranges", &|number| format!("[^!-{}]", varied(0x200, number)));
            judge("no words", &|_| r"\W".into());
            judge("letters", &|number| varied(0xC0, number % 0x480).into());
        }
    }
}

#[test]
fn one_long_class_is_decided_at_once() {
    for folding in ["", "(?i)"] {
        for begin in ["[", "[^"] {
            let judge = |what: &str, unit: &dyn Fn(usize) -> String| {
                let text = fill(&format!("{folding}{begin}"), "]", unit);
                judge(&format!("{what} {folding} {begin}"), &text);
            };
            judge("everything", &|_| "\u{1}-\u{10ffff}".into());
            judge("growing ranges", &|number| format!("A-{}", varied(0x10000, number)));
            judge("ranges", &|number| {
                format!("{}-{}", varied(0xC0, number * 7 % 0x300), varied(0x3C0, number * 11 % 0x180))
            });
            judge("every second", &|number| varied(0x10000, 2 * number).into());
            judge("every second downwards", &|number| varied(0x40000 - 2 * number as u32, 0).into());
            judge("k and s", &|number| ["k", "s"][number % 2].into());
            judge("names", &|_| r"\W\d[:punct:]\p{Zs}\pL".into());
        }
    }
}

#[test]
fn deep_and_branching_patterns_are_decided_at_once() {
    let nested = |before: &str, inner: &str, after: &str, depth: usize| {
        format!("{}{inner}{}", before.repeat(depth), after.repeat(depth))
    };
    for folding in ["", "(?i)"] {
        for (name, text) in [
            ("bars", fill(folding, "", |_| "|".into())),
            ("empty groups", fill(folding, "", |_| "()".into())),
            ("groups with names", fill(folding, "", |number| format!("(?P<n{number}>k)"))),
            ("quotations", fill(folding, "", |_| r"\Qk\E|".into())),
            ("words with a long beginning", fill(folding, "", |n| "p".repeat(300 - n % 300) + "q|")),
            ("classes with a long beginning", fill(folding, "", |_| r"\pL".repeat(30) + "k*|")),
            ("literals that contain", fill(folding, ".*x.*", |number| format!(".*{number}.*|"))),
            ("classes of alternatives", fill(folding, "", |_| r"(?:\pL|\pM|k)y|".into())),
            ("modes in turn", fill(folding, "", |_| r"(?i)k(?-i)k".into())),
            ("many counts", fill(folding, "", |_| r"\pL{30}".into())),
            ("alternatives in a nest", fill(folding, "", |_| nested("(?:x*|", r"\pL", ")", 900))),
            ("classes in a nest", nested(r"(?:[\pLz]|", "k*", r"|\pM)", 900)),
            ("a nest too deep", nested("(", "k", ")", LENGTH / 2)),
            ("open groups", fill(folding, "", |_| "(".into())),
            ("open classes", fill(folding, "", |_| "[[:".into())),
        ] {
            judge(&format!("{name} {folding}"), &text);
        }
    }
}
