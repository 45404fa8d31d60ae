//! Secrets that stand in files: an excerpt shows the line, not what must not be read on a screen or in a log.
//!
//! Places are masked, not findings: the line beside the one that is meant may hold a secret too.

use std::ops::Range;

use crate::files::File;
use crate::yaml::{Node, NodeValue};

/// Keys whose texts are secrets, wherever they stand. A mapping there is a reference to one.
const KEYS: [&str; 7] =
    ["password", "credentials", "token", "bearerToken", "apiKey", "heartbeatURL", "webhookURL"];

/// Mappings whose texts are secrets, and the keys in them that are not: so a misspelt key is hidden too.
const HOLDERS: [(&str, &[&str]); 4] = [
    ("basicAuth", &["username"]),
    ("headerAuth", &["type", "credentialsFile"]),
    ("customHttpHeaders", &[]),
    ("additionalHeaders", &[]),
];

/// The same in a Secret.
const OF_SECRETS: [(&str, &[&str]); 2] = [("data", &[]), ("stringData", &[])];

/// The file's text with every secret masked; every byte that is left stays where it is.
pub(super) fn masked(file: &File) -> String {
    let mut spans = Vec::new();
    for object in &file.objects {
        let is_secret = object.text("kind") == "Secret";
        find(&object.node, "", &file.text, is_secret, &mut spans);
    }
    // What does not parse has no keys, only lines.
    if !file.syntax.is_empty() {
        find_in_lines(&file.text, &mut spans);
    }
    let mut bytes = file.text.clone().into_bytes();
    for span in spans {
        for byte in bytes.get_mut(span).into_iter().flatten().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
            *byte = b'*';
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Finds the secrets below a node; `around` is the key of the mapping that it is in.
fn find(node: &Node, around: &str, text: &str, is_secret: bool, spans: &mut Vec<Range<usize>>) {
    match &node.value {
        NodeValue::Scalar(value) => {
            if value.as_str().is_some_and(|value| password_in(value).is_some())
                && let Some(written) = text.get(node.span.clone())
            {
                let inside = password_in(written).unwrap_or(0..written.len());
                spans.push(node.span.start + inside.start..node.span.start + inside.end);
            }
        }
        NodeValue::List(items) => {
            for item in items {
                find(item, around, text, is_secret, spans);
            }
        }
        NodeValue::Map(entries) => {
            let of_secrets = if is_secret { &OF_SECRETS[..] } else { &[] };
            let holder = HOLDERS.iter().chain(of_secrets).find(|(key, _)| *key == around);
            for entry in entries {
                let key = entry.key.as_str();
                let is_hidden = KEYS.contains(&key) || holder.is_some_and(|(_, plain)| !plain.contains(&key));
                match &entry.value.value {
                    NodeValue::Scalar(value) if is_hidden && !value.is_null() => {
                        spans.push(entry.value.span.clone());
                    }
                    _ => find(&entry.value, key, text, is_secret, spans),
                }
            }
        }
    }
}

/// Where a URL holds a password.
fn password_in(text: &str) -> Option<Range<usize>> {
    let authority = text.find("://")? + 3;
    let end = text[authority..].find(['/', '?', '#']).map_or(text.len(), |end| authority + end);
    let at = authority + text[authority..end].rfind('@')?;
    let colon = authority + text[authority..at].find(':')?;
    Some(colon + 1..at)
}

/// What stands behind such a key, up to the end of its line.
fn find_in_lines(text: &str, spans: &mut Vec<Range<usize>>) {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        for key in KEYS {
            let Some(at) = line.find(key) else { continue };
            let behind = line[at + key.len()..].trim_start_matches(['"', '\'', ' ']);
            if behind.starts_with(':') {
                let value = line.len() - behind.len() + 1;
                spans.push(start + value..start + line.trim_end().len().max(value));
            }
        }
        if let Some(inside) = password_in(line) {
            spans.push(start + inside.start..start + inside.end);
        }
        start += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let file = crate::files::parse("f.yaml".to_owned(), text.as_bytes().to_vec());
        let masked = masked(&file);
        assert_eq!(masked.len(), text.len());
        masked
    }

    #[test]
    fn secrets_are_masked_in_every_style() {
        for text in [
            "basicAuth: {username: bob, password: hunter2}\n",
            "basicAuth:\n  username: bob\n  pasword: \"hunter2\"\n",
            "headerAuth:\n  type: bob\n  credentials: |\n    hunter2\n    hunter2\n",
            "password: &p hunter2\nother: {credentials: *p}\n# bob\n",
            "customHttpHeaders: {bob: hunter2, X: hunter2}\n",
            "bob: http://bob:hunter2@host/\n",
            "kind: Secret\nstringData: {bob: hunter2}\n",
            "{\"basicAuth\": {\"username\": \"bob\", \"password\": \"hunter2\"}}\n",
            "bob: 'a\npassword: hunter2\nurl: http://x:hunter2@y\n",
        ] {
            let shown = shown(text);
            assert!(!shown.contains("hunter2") && shown.contains("bob"), "{shown}");
        }
    }

    #[test]
    fn everything_else_stays() {
        let text = "kind: ConfigMap\ndata: {a: b}\npassword: null\nurl: http://host:80/a:b@c\ncredentialsFile: /run/x\nbasicAuth: {password: {name: a, key: b}}\n";
        assert_eq!(shown(text), text);
    }
}
