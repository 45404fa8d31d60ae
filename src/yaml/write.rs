//! Writes JSON values as YAML that every reader understands alike: what could be taken for something else is quoted.

use std::fmt::Write as _;

use serde_json::Value;

/// The value as a block of YAML, ending in a line break.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    block(&mut out, value, 0);
    out
}

fn block(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (position, (key, value)) in map.iter().enumerate() {
                if position > 0 {
                    pad(out, indent);
                }
                out.push_str(&text(key));
                out.push(':');
                nested(out, value, indent);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    pad(out, indent);
                }
                out.push_str("- ");
                block(out, item, indent + 2);
            }
        }
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
}

/// A value behind its key: on the same line, or below it. Lists stand at the indentation of their key.
fn nested(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            pad(out, indent + 2);
            block(out, value, indent + 2);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            pad(out, indent);
            block(out, value, indent);
        }
        scalar => {
            out.push(' ');
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(value) => text(value),
        other => other.to_string(),
    }
}

/// Plain where no reader can misread it; otherwise JSON's quotes, which YAML has too.
fn text(value: &str) -> String {
    let first = value.chars().next();
    let starts_plain = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '.' || c == '/' || c == '_');
    let is_plain = starts_plain
        && !value.ends_with([' ', ':'])
        && !value.contains(": ")
        && !value.contains(" #")
        && value.chars().all(|c| c.is_ascii_alphanumeric() || " ._-/:@(),'$^+*=<>?;~".contains(c))
        && matches!(super::resolve::plain(value), Ok(Value::String(_)));
    if is_plain { value.to_owned() } else { escaped(&Value::String(value.to_owned()).to_string()) }
}

/// JSON lets characters stand that YAML forbids, or takes for line breaks.
fn escaped(json: &str) -> String {
    let is_unsafe = |c: char| {
        matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    if !json.contains(is_unsafe) {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_unsafe(c) {
            _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_what_a_reader_could_misread() {
        let value = json!({
            "plain": "Silence mutes alerts.", "enum": ["=", "!=", "=~"], "on": "yes", "n": 1, "empty": {}, "none": [],
            "list": [{"a": 1, "b": [true]}, "x"]
        });
        let text = write(&value);
        assert!(text.contains("plain: Silence mutes alerts.\n"), "{text}");
        assert!(text.contains("enum:\n- \"=\"\n- \"!=\"\n"), "{text}");
        assert!(text.contains("\"on\": \"yes\"\n"), "{text}");
        assert_eq!(super::super::read(&text).unwrap()[0].root.to_json(), value);
    }

    #[test]
    fn characters_that_yaml_forbids_or_breaks_lines_at_are_escaped() {
        let value = json!("a\u{7f}b\u{85}c\u{2028}d\u{feff}e\u{1}\n");
        let text = write(&value);
        assert_eq!(text, "\"a\\u007fb\\u0085c\\u2028d\\ufeffe\\u0001\\n\"\n");
        assert_eq!(super::super::read(&text).unwrap()[0].root.to_json(), value);
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(keys in proptest::collection::vec("\\PC{0,12}", 1..5), text in "[\\PC\n]{0,40}") {
            let value = json!({"map": keys.iter().map(|key| (key.clone(), json!(text))).collect::<serde_json::Map<_, _>>(), "list": keys});
            prop_assert_eq!(super::super::read(&write(&value)).unwrap()[0].root.to_json(), value);
        }
    }
}
