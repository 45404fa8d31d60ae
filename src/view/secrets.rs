//! What the View keeps of Secrets: which keys they have and what the values look like, never a value.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::Value;

use super::{Record, Resource};

/// What a Secret's value looks like, so that the value itself need not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueShape {
    /// Nothing suspicious.
    Plain,
    /// Empty after trimming.
    Empty,
    /// Blanks or line breaks inside.
    InnerWhitespace,
    /// `m<digits>-…`: the key of one monitor.
    MonitorKey,
    /// `ur<digits>-…`: a key that may only read.
    ReadOnlyKey,
}

impl ValueShape {
    fn of(value: &str) -> Self {
        let value = value.trim();
        let has_prefix = |prefix: &str| {
            value
                .strip_prefix(prefix)
                .and_then(|rest| rest.split_once('-'))
                .is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
        };
        match value {
            "" => Self::Empty,
            _ if value.chars().any(char::is_whitespace) => Self::InnerWhitespace,
            _ if has_prefix("ur") => Self::ReadOnlyKey,
            _ if has_prefix("m") => Self::MonitorKey,
            _ => Self::Plain,
        }
    }
}

/// The keys of a Secret and the shapes of their values.
#[derive(Debug, PartialEq, Eq)]
pub struct Secret {
    /// Shapes by key.
    pub keys: BTreeMap<String, ValueShape>,
}

impl Record for Secret {
    const RESOURCE: Resource = Resource {
        group: "",
        version: "v1",
        kind: "Secret",
        plural: "secrets",
        namespaced: true,
        labels: "",
    };

    fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
        let mut keys = BTreeMap::new();
        for (key, value) in object["data"].as_object().into_iter().flatten() {
            let decoded =
                base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap_or_default());
            let shape = decoded
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .map_or(ValueShape::Plain, |text| ValueShape::of(&text));
            keys.insert(key.clone(), shape);
        }
        for (key, value) in object["stringData"].as_object().into_iter().flatten() {
            keys.insert(key.clone(), ValueShape::of(value.as_str().unwrap_or_default()));
        }
        Ok(Self { keys })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_secret_keeps_no_value() {
        let secret = Secret::from_object(&json!({
            "metadata": {"name": "s"},
            "data": {"a": "bTEyMy1hYmM=", "b": "dXI0Mi14"},
            "stringData": {"c": "top secret", "d": " u123-abc \n", "e": "  "}
        }))
        .unwrap();
        assert_eq!(
            secret.keys.into_values().collect::<Vec<_>>(),
            [
                ValueShape::MonitorKey,
                ValueShape::ReadOnlyKey,
                ValueShape::InnerWhitespace,
                ValueShape::Plain,
                ValueShape::Empty
            ]
        );
    }
}
