//! How CEL sees a JSON object: the words that the Rust twins of CEL rules are written with.
//!
//! The API server treats a null field as an absent one (`has` is false for it), and so do these. They read
//! values that the schema has already accepted; nothing here judges types.

use jiff::Timestamp;
use serde_json::Value;

/// CEL's `has(object.field)`.
pub fn has(object: &Value, field: &str) -> bool {
    object.get(field).is_some_and(|value| !value.is_null())
}

/// A field that the schema requires or defaults to a string; empty when it is not there.
pub fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// CEL's `has(object.field) && size(object.field) > 0` for a string.
pub fn has_text(object: &Value, field: &str) -> bool {
    !text(object, field).is_empty()
}

/// The items of a list field; none when it is not there.
pub fn items<'a>(object: &'a Value, field: &str) -> &'a [Value] {
    object.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What CEL makes of a field with the format `date-time`: nothing when it is not there, an error when Go's parser of
/// RFC 3339 does not read it. The format itself is looser (`t` and `z` in lower case, any offset), and touching such a
/// field, even with `has`, then fails the rule.
pub fn time(object: &Value, field: &str) -> Option<Result<Timestamp, NotATime>> {
    let text = object.get(field)?.as_str()?;
    let (body, zone) = match text.strip_suffix('Z') {
        Some(body) => (body, None),
        None if text.len() > 6 && text.is_char_boundary(text.len() - 6) => {
            let (body, zone) = text.split_at(text.len() - 6);
            (body, Some(zone))
        }
        None => return Some(Err(NotATime)),
    };
    let part = |range: std::ops::Range<usize>| {
        zone.and_then(|zone| zone.get(range)).and_then(|part| part.parse::<u8>().ok())
    };
    let zone_fits = zone.is_none()
        || part(1..3).is_some_and(|hours| hours <= 24) && part(4..6).is_some_and(|minutes| minutes <= 60);
    let fraction_fits = body.get(19..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', ',']));
    let reads = zone_fits && fraction_fits && body.as_bytes().get(10) == Some(&b'T');
    Some(text.parse::<Timestamp>().ok().filter(|_| reads).ok_or(NotATime))
}

/// The text has the format `date-time` and is not a time for Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotATime;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_are_read_as_go_reads_them() {
        for (text, reads) in [
            ("2026-12-24T18:00:00Z", true),
            ("2026-12-24T18:00:00.5+01:00", true),
            ("2026-12-24t18:00:00Z", false),
            ("2026-12-24T18:00:00z", false),
            ("2026-12-24T18:00:00+99:99", false),
            ("2026-12-24T18:00:00x5Z", false),
        ] {
            assert_eq!(time(&json!({"at": text}), "at").unwrap().is_ok(), reads, "{text}");
        }
        assert_eq!(time(&json!({}), "at"), None);
    }

    #[test]
    fn null_is_absent_and_empty_is_present() {
        let object = json!({"none": null, "empty": "", "list": [], "word": "ß"});
        assert!(!has(&object, "none") && !has(&object, "missing"));
        assert!(has(&object, "empty") && has(&object, "list"));
        assert!(has_text(&object, "word") && !has_text(&object, "empty") && !has_text(&object, "none"));
        assert!(items(&object, "list").is_empty() && items(&object, "missing").is_empty());
    }
}
