//! Texts that Prometheus brings along: its tests, its documentation and its own rules.

use std::collections::BTreeSet;
use std::path::PathBuf;

/// Everything in the folder of the corpus that may be a query.
pub fn collect() -> BTreeSet<String> {
    let folder = crate::oracle::folder().join("corpus");
    let folder = PathBuf::from(folder).join("prometheus");
    let mut texts = BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("go") => go_strings(&text, &mut texts),
            Some("test") => evaluations(&text, &mut texts),
            Some("libsonnet") => {
                texts.extend(text.split("|||").map(str::to_owned));
                quoted_parts(&text, &mut texts);
            }
            _ => quoted_parts(&text, &mut texts),
        }
    }
    texts
}

/// The string literals of a Go file; escapes are left as they are where they are the same in PromQL.
fn go_strings(text: &str, texts: &mut BTreeSet<String>) {
    let chars: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => {
                while at < chars.len() && chars[at] != '\n' {
                    at += 1;
                }
            }
            '\'' => at += if chars.get(at + 1) == Some(&'\\') { 4 } else { 3 },
            '`' => {
                let end = (at + 1..chars.len()).find(|end| chars[*end] == '`').unwrap_or(chars.len());
                texts.insert(chars[at + 1..end].iter().collect());
                at = end + 1;
            }
            '"' => {
                let mut literal = String::new();
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    if chars[at] == '\\' && at + 1 < chars.len() {
                        at += 1;
                        match chars[at] {
                            'n' => literal.push('\n'),
                            't' => literal.push('\t'),
                            'r' => literal.push('\r'),
                            '"' => literal.push('"'),
                            '\\' => literal.push('\\'),
                            other => literal.extend(['\\', other]),
                        }
                    } else {
                        literal.push(chars[at]);
                    }
                    at += 1;
                }
                texts.insert(literal);
                at += 1;
            }
            _ => at += 1,
        }
    }
    // Scripts for the test engine inside of literals.
    let scripts: Vec<String> = texts.iter().filter(|text| text.contains("eval")).cloned().collect();
    for script in scripts {
        evaluations(&script, texts);
    }
}

/// The queries of a test script: what follows the times of an `eval` line.
fn evaluations(text: &str, texts: &mut BTreeSet<String>) {
    for line in text.lines() {
        let line = line.trim();
        texts.insert(line.to_owned());
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.first().is_some_and(|word| word.starts_with("eval")) {
            continue;
        }
        for time in ["at", "step"] {
            let Some(place) = words.iter().position(|word| *word == time) else { continue };
            if let Some(value) = words.get(place + 1) {
                let marker = format!("{time} {value}");
                if let Some((_, query)) = line.split_once(&marker) {
                    texts.insert(query.trim().to_owned());
                }
            }
        }
    }
}

/// Lines, and whatever stands between backquotes or simple quotes.
fn quoted_parts(text: &str, texts: &mut BTreeSet<String>) {
    for line in text.lines() {
        texts.insert(line.trim().to_owned());
        texts.extend(line.split('`').map(str::to_owned));
        texts.extend(line.split('\'').map(str::to_owned));
    }
}
