//! How CEL sees a JSON object: the words that the Rust twins of CEL rules are written with.
//!
//! The API server treats a null field as an absent one (`has` is false for it), and so do these. They read
//! values that the schema has already accepted; nothing here judges types.

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_is_absent_and_empty_is_present() {
        let object = json!({"none": null, "empty": "", "list": [], "word": "ß"});
        assert!(!has(&object, "none") && !has(&object, "missing"));
        assert!(has(&object, "empty") && has(&object, "list"));
        assert!(has_text(&object, "word") && !has_text(&object, "empty") && !has_text(&object, "none"));
        assert!(items(&object, "list").is_empty() && items(&object, "missing").is_empty());
    }
}
