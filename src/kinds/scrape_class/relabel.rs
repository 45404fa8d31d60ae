//! Relabel rules (R1 to R13).

use super::codes;
use super::spec::RelabelConfig;
use super::workloads::{DEFAULT_VERSION, Version, Workload};
use crate::lang::re2::{self, Names, Wrap};
use crate::rule::{FieldPath, Findings, Rule, Severity, quoted};

const ACTIONS: [&str; 11] = [
    "replace",
    "keep",
    "drop",
    "hashmod",
    "labelmap",
    "labeldrop",
    "labelkeep",
    "lowercase",
    "uppercase",
    "keepequal",
    "dropequal",
];

/// The newest selecting Prometheus decides what is refused; what only older ones refuse is a warning.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    newest: Version,
    newest_is_legacy: bool,
    oldest: Version,
    some_are_legacy: bool,
}

impl Dialect {
    pub(super) fn of(workloads: &[Workload]) -> Self {
        let versions = || workloads.iter().map(|workload| workload.version);
        let newest = versions().max().unwrap_or(DEFAULT_VERSION);
        let newest_ones = || workloads.iter().filter(|workload| workload.version == newest);
        Self {
            newest,
            newest_is_legacy: newest_ones().next().is_some() && newest_ones().all(Workload::is_legacy),
            oldest: versions().min().unwrap_or(DEFAULT_VERSION),
            some_are_legacy: workloads.iter().any(Workload::is_legacy),
        }
    }

    /// The weight of needing a version, or nothing when every workload has it.
    fn needs(&self, version: Version) -> Option<Severity> {
        if self.newest < version {
            Some(Severity::Error)
        } else {
            (self.oldest < version).then_some(Severity::Warning)
        }
    }

    /// The weight of a text that only UTF-8 Prometheus accepts, or nothing when it is fine for all.
    fn judges(&self, text: &str, is_classic: fn(&str) -> bool) -> Option<Severity> {
        if text.is_empty() || self.newest_is_legacy && !is_classic(text) {
            Some(Severity::Error)
        } else {
            (self.some_are_legacy && !is_classic(text)).then_some(Severity::Warning)
        }
    }
}

pub(super) fn check(rule: &RelabelConfig, path: &FieldPath, dialect: &Dialect, out: &mut Findings) {
    let written = rule.action.as_deref().unwrap_or("replace");
    let action = written.to_lowercase();
    let action = action.as_str();
    if !ACTIONS.contains(&action) {
        let message = format!("there is no action {}", quoted(written));
        out.deny(&codes::UNKNOWN_ACTION, path.field("action"), message).value(written);
        return;
    }
    let needed = match action {
        "lowercase" | "uppercase" => Some((2, 36)),
        "keepequal" | "dropequal" => Some((2, 41)),
        _ => None,
    };
    if let Some(version) = needed
        && let Some(severity) = dialect.needs(version)
    {
        let message = format!("{action} needs Prometheus {}.{}", version.0, version.1);
        out.push(severity, &codes::ACTION_VERSION, path.field("action"), message).value(action);
    }
    check_regex(rule, path, dialect, out);
    check_modulus(rule, action, path, out);
    check_target(rule, action, path, dialect, out);
    check_replacement(rule, action, path, dialect, out);
    match action {
        "keepequal" | "dropequal" => check_only(rule, &codes::ONLY_SOURCE, false, path, out),
        "labeldrop" | "labelkeep" => check_only(rule, &codes::ONLY_REGEX, true, path, out),
        _ => {}
    }
    for (index, label) in rule.source_labels.iter().flatten().enumerate() {
        if let Some(severity) = dialect.judges(label, is_classic_name) {
            let path = path.field("sourceLabels").index(index);
            let message = format!("{} is not a label name", quoted(label));
            out.push(severity, &codes::BAD_SOURCE, path, message).value(label.as_str());
        }
    }
}

/// Prometheus 2 wraps the expression in `^(?:…)$`, 3 in `^(?s:…)$`, and reads only that.
fn check_regex(rule: &RelabelConfig, path: &FieldPath, dialect: &Dialect, out: &mut Findings) {
    let Some(regex) = rule.regex.as_deref() else { return };
    let wrap = if dialect.newest < (3, 0) { Wrap::Group } else { Wrap::DotAll };
    match re2::parse_wrapped(regex.as_bytes(), Names::Current, wrap) {
        Err(fault) => {
            out.fault(&codes::BAD_REGEX, path.field("regex"), regex, &fault);
        }
        Ok(pattern) => {
            if let Some(newer) = pattern.needs_newer_go().filter(|newer| newer.release != "1.22") {
                let part = regex.get(newer.span.clone()).unwrap_or_default();
                let message = format!("{part} is read only by Prometheus built with Go {}", newer.release);
                out.warn(&codes::NEWER_GO, path.field("regex"), message)
                    .value(regex)
                    .part(newer.span.clone());
            }
        }
    }
}

fn check_modulus(rule: &RelabelConfig, action: &str, path: &FieldPath, out: &mut Findings) {
    let modulus = rule.modulus.unwrap_or(0);
    let path = path.field("modulus");
    if modulus < 0 {
        out.deny(&codes::STRAY_MODULUS, path, format!("the modulus {modulus} is negative"))
            .value(modulus.to_string());
    } else if action == "hashmod" && modulus == 0 {
        out.deny(&codes::NO_MODULUS, path, "hashmod without a modulus").value(subject(rule, action));
    } else if modulus != 0
        && !matches!(action, "hashmod" | "keepequal" | "dropequal" | "labeldrop" | "labelkeep")
    {
        out.warn(&codes::STRAY_MODULUS, path, format!("{action} does not use the modulus"));
    }
}

fn check_target(rule: &RelabelConfig, action: &str, path: &FieldPath, dialect: &Dialect, out: &mut Findings) {
    let needs_target =
        matches!(action, "replace" | "hashmod" | "lowercase" | "uppercase" | "keepequal" | "dropequal");
    if !needs_target {
        return;
    }
    let path = path.field("targetLabel");
    let target = rule.target_label.as_deref().unwrap_or_default();
    if target.is_empty() {
        out.deny(&codes::NO_TARGET, path, format!("{action} without a targetLabel"))
            .value(subject(rule, action));
        return;
    }
    let template = action == "replace" && target.contains('$');
    let classic = if template { is_classic_template } else { is_classic_name };
    let code: &'static Rule = if action == "replace" { &codes::BAD_TARGET } else { &codes::TEMPLATE_TARGET };
    if let Some(severity) = dialect.judges(target, classic) {
        let message = format!("{} is not a label name", quoted(target));
        out.push(severity, code, path, message).value(target);
    }
}

fn check_replacement(
    rule: &RelabelConfig,
    action: &str,
    path: &FieldPath,
    dialect: &Dialect,
    out: &mut Findings,
) {
    let Some(replacement) = rule.replacement.as_deref() else { return };
    let path = path.field("replacement");
    match action {
        "lowercase" | "uppercase" if replacement != "$1" => {
            out.deny(&codes::REPLACEMENT, path, format!("{action} takes no replacement")).value(replacement);
        }
        "labelmap" => {
            let classic: fn(&str) -> bool =
                if replacement.contains('$') { is_classic_template } else { is_classic_name };
            if let Some(severity) = dialect.judges(replacement, classic) {
                let message = format!("{} is no label name or template", quoted(replacement));
                out.push(severity, &codes::LABELMAP_REPLACEMENT, path, message).value(replacement);
            }
        }
        _ => {}
    }
}

/// Fields that the action must not have; their defaults are the same as leaving them out.
fn check_only(
    rule: &RelabelConfig,
    code: &'static Rule,
    takes_regex: bool,
    path: &FieldPath,
    out: &mut Findings,
) {
    let is_other =
        |value: &Option<String>, default: &str| value.as_deref().is_some_and(|value| value != default);
    let mut stray = Vec::new();
    if takes_regex {
        if rule.source_labels.as_ref().is_some_and(|labels| !labels.is_empty()) {
            stray.push(("sourceLabels", format!("{:?}", rule.source_labels)));
        }
        if rule.target_label.as_deref().is_some_and(|label| !label.is_empty()) {
            stray.push(("targetLabel", format!("{:?}", rule.target_label)));
        }
    } else if is_other(&rule.regex, "(.*)") && rule.regex.as_deref() != Some("") {
        stray.push(("regex", format!("{:?}", rule.regex)));
    }
    if rule.modulus.unwrap_or(0) > 0 {
        stray.push(("modulus", format!("{:?}", rule.modulus)));
    }
    if is_other(&rule.separator, ";") {
        stray.push(("separator", format!("{:?}", rule.separator)));
    }
    if is_other(&rule.replacement, "$1") {
        stray.push(("replacement", format!("{:?}", rule.replacement)));
    }
    for (field, value) in stray {
        out.deny(code, path.field(field), format!("{field} must not be set here")).value(value);
    }
}

/// What is missing has no value of its own: the rule is known by what it does to which labels.
fn subject(rule: &RelabelConfig, action: &str) -> String {
    format!("{action} {:?}", rule.source_labels)
}

/// `^[a-zA-Z_][a-zA-Z0-9_]*$`
fn is_classic_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `^(?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+$`: letters, digits not at the start, and `$name` or `${name}`.
fn is_classic_template(text: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (bytes, mut at) = (text.as_bytes(), 0);
    while at < bytes.len() {
        match bytes[at] {
            b'$' => {
                let braced = bytes.get(at + 1) == Some(&b'{');
                let start = at + 1 + usize::from(braced);
                let length = bytes[start.min(bytes.len())..].iter().take_while(|byte| is_word(byte)).count();
                if length == 0 || braced && bytes.get(start + length) != Some(&b'}') {
                    return false;
                }
                at = start + length + usize::from(braced);
            }
            byte if byte.is_ascii_digit() && at == 0 => return false,
            byte if is_word(&byte) => at += 1,
            _ => return false,
        }
    }
    !text.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read_as_prometheus_2_does() {
        for text in ["a", "_1", "${1}_x", "$1", "a$1b", "x${name}9", "$$1"] {
            assert_eq!(is_classic_template(text), text != "$$1", "{text}");
        }
        for text in ["", "1a", "a.b", "${", "${}", "$", "a-$1", "${1"] {
            assert!(!is_classic_template(text), "{text}");
        }
    }
}
