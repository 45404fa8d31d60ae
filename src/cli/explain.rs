//! `usher explain`: what a finding means, why it matters, how to fix it; or what usher asks of a kind.

use std::fmt::Write as _;

use crate::check::codes as schema_codes;
use crate::check::nearest::nearest;
use crate::kinds::{KindInfo, TABLE};
use crate::rule::{Rule, Severity};

/// Every rule, with the kind it belongs to; rules about files and schemas belong to none.
pub(super) fn all_rules() -> Vec<(Option<&'static KindInfo>, &'static Rule)> {
    let of_kinds = TABLE.iter().flat_map(|kind| kind.rules().map(move |rule| (Some(*kind), rule)));
    of_kinds.chain(schema_codes::ALL.iter().map(|rule| (None, *rule))).collect()
}

/// The explanation of a code or a kind, or what was probably meant.
pub(super) fn explain(subject: &str) -> Result<String, String> {
    let rules = all_rules();
    if let Some((kind, rule)) = rules.iter().find(|(_, rule)| rule.code.eq_ignore_ascii_case(subject)) {
        return Ok(explain_rule(*kind, rule));
    }
    if let Some(kind) = TABLE.iter().find(|kind| is_called(kind, subject)) {
        return Ok(explain_kind(kind));
    }
    let names = rules.iter().map(|(_, rule)| rule.code).chain(TABLE.iter().map(|kind| kind.kind));
    let hint = nearest(subject, names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(format!("{subject:?} is neither a code nor a kind{hint}"))
}

fn is_called(kind: &KindInfo, name: &str) -> bool {
    [kind.kind, kind.plural, kind.slug].iter().any(|known| known.eq_ignore_ascii_case(name))
}

fn verdict(rule: &Rule) -> &'static str {
    match rule.verdict {
        Severity::Error => "refused",
        Severity::Warning => "warned of",
    }
}

fn explain_rule(kind: Option<&KindInfo>, rule: &Rule) -> String {
    let of = kind.map_or_else(|| "any kind".to_owned(), |kind| format!("{} ({})", kind.kind, kind.group));
    let mut text = format!("{}: {}\n\n", rule.code, rule.title);
    let _ = writeln!(text, "applies to   {of}");
    let _ = writeln!(text, "verdict      {} unless a setting or the ratchet softens it", verdict(rule));
    let _ = writeln!(text, "enforced by  {}\n", rule.home.as_str());
    let _ = writeln!(text, "Why\n  {}\n", rule.why);
    let _ = writeln!(text, "Fix\n  {}", rule.fix);
    if let Some(example) = kind.and_then(example) {
        let _ = writeln!(
            text,
            "\nA {} that is accepted\n{}",
            kind.map_or("", |kind| kind.kind),
            indented(example)
        );
    }
    text
}

fn explain_kind(kind: &KindInfo) -> String {
    let mut text = format!("{} ({}/{})\n\n", kind.kind, kind.group, kind.storage_version());
    if kind.admission.is_none() {
        text.push_str("Judged by its schema and CEL only; usher has no further rules for it yet.\n\n");
    }
    for rule in kind.rules() {
        let _ =
            writeln!(text, "  {}  {:9} {:8} {}", rule.code, verdict(rule), rule.home.as_str(), rule.title);
    }
    if let Some(example) = example(kind) {
        let _ = writeln!(text, "\nExample\n{}", indented(example));
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

/// The repository's example of a kind, built into the binary.
fn example(kind: &KindInfo) -> Option<&'static str> {
    macro_rules! examples {
        ($($slug:literal),*) => {
            match kind.slug {
                $($slug => Some(include_str!(concat!("../../examples/", $slug, ".yaml"))),)*
                _ => None,
            }
        };
    }
    examples!(
        "silence",
        "scrape-class",
        "alerting-rule",
        "recording-rule",
        "ruler-config",
        "account",
        "contact",
        "monitor",
        "maintenance-window",
        "monitor-group",
        "slack-integration",
        "kms-health"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_kind_is_explained() {
        for (_, rule) in all_rules() {
            let text = explain(rule.code).unwrap();
            assert!(text.contains(rule.why) && text.contains(rule.fix), "{text}");
        }
        for kind in TABLE {
            assert!(explain(kind.kind).unwrap().contains("Example"), "{} has no example", kind.kind);
        }
        assert!(explain("USHS0004").unwrap_err().contains("USHS004"));
        assert!(explain("Silense").unwrap_err().contains("Silence"));
    }

    #[test]
    fn codes_are_unique_and_well_formed() {
        let mut seen = std::collections::HashSet::new();
        for (_, rule) in all_rules() {
            assert!(seen.insert(rule.code), "{} is used twice", rule.code);
            let (letters, digits) = rule.code.split_at(4);
            assert!(
                letters.starts_with("USH") && digits.len() == 3 && digits.parse::<u16>().is_ok(),
                "{}",
                rule.code
            );
        }
    }
}
