//! What a user did wrong, as data. A finding is never an [`std::error::Error`]: those are ours.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};

use super::path::FieldPath;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The object is admitted, and the user hears of it.
    Warning,
    /// The object is refused.
    Error,
}

impl Severity {
    /// The word used in every output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rule of the rulebook: what it is called, and what to tell somebody who meets it.
///
/// The code is stable and never reused. `verdict` is what the rule does by default; a rule may be softened by a
/// setting, by missing knowledge, or by the ratchet, so the finding carries the severity that held.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// `USH` + letter + three digits.
    pub code: &'static str,
    /// What the rule does unless something softens it.
    pub verdict: Severity,
    /// Where the rule lives: `webhook`, `schema` or `CEL`.
    pub home: Home,
    /// One clause: what is wrong when the rule fires.
    pub title: &'static str,
    /// Why that matters.
    pub why: &'static str,
    /// What to write instead; also the help line of its findings.
    pub fix: &'static str,
}

/// Who enforces a rule inside a cluster. Offline, `usher check` judges all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Only usher's webhook (and the guard).
    Webhook,
    /// The CRD's schema, so it also holds while the webhook is down.
    Schema,
    /// A CEL rule in the CRD, with a twin in Rust.
    Cel,
}

impl Home {
    /// The word used in the documentation.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Schema => "schema",
            Self::Cel => "CEL",
        }
    }
}

/// One thing that is wrong with one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The weight in this case.
    pub severity: Severity,
    /// The rule that found it.
    pub rule: &'static Rule,
    /// Where.
    pub path: FieldPath,
    /// What is wrong, lower case, with the offending value quoted and cut.
    pub message: String,
    /// What to write instead.
    pub help: String,
    /// The offending value, as far as it identifies the finding from one version of the object to the next.
    pub value: Option<String>,
    /// How much is too much, where that is what is wrong: an update may lessen it.
    pub amount: usize,
    /// The part of the value that is meant, in bytes of the decoded string.
    pub span: Option<std::ops::Range<usize>>,
}

impl Finding {
    /// Replaces the rule's general advice by one that fits this case.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = help.into();
        self
    }

    /// Names the offending value, by which an update is recognised to have inherited the finding.
    pub fn value(&mut self, value: impl Into<String>) -> &mut Self {
        self.value = Some(value.into());
        self
    }

    /// Names an offending value that must not be kept: only its hash identifies the finding.
    pub fn secret_value(&mut self, value: impl Hash) -> &mut Self {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.value(format!("{:016x}", hasher.finish()))
    }

    /// Names how much is too much. An update that does not add to it has inherited the finding.
    pub fn amount(&mut self, amount: usize) -> &mut Self {
        self.amount = amount;
        self
    }

    /// Names the part of the value that is meant, in bytes of the decoded string; `usher check` puts the caret there.
    pub fn part(&mut self, part: std::ops::Range<usize>) -> &mut Self {
        self.span = Some(part);
        self
    }

    /// Message, code and help in one line: what `kubectl` shows.
    pub fn line(&self) -> String {
        let Self { message, rule, help, .. } = self;
        if help.is_empty() {
            format!("{message} ({})", rule.code)
        } else {
            format!("{message} ({}); {help}", rule.code)
        }
    }

    /// What an older version of the object had already is recognised by: rule, value and place, wherever in its list.
    fn identity(&self) -> (&'static str, Option<String>, FieldPath) {
        (self.rule.code, self.value.clone(), self.path.without_indexes())
    }
}

/// Everything that was found in one object. Rules push and never stop at the first.
#[derive(Debug, Clone, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Pushes a finding that refuses the object.
    pub fn deny(&mut self, rule: &'static Rule, path: FieldPath, message: impl Into<String>) -> &mut Finding {
        self.push(Severity::Error, rule, path, message.into())
    }

    /// Pushes a finding that only tells.
    pub fn warn(&mut self, rule: &'static Rule, path: FieldPath, message: impl Into<String>) -> &mut Finding {
        self.push(Severity::Warning, rule, path, message.into())
    }

    /// Pushes a finding of a weight that the caller worked out.
    pub fn push(
        &mut self,
        severity: Severity,
        rule: &'static Rule,
        path: FieldPath,
        message: String,
    ) -> &mut Finding {
        let help = rule.fix.to_owned();
        self.0.push(Finding { severity, rule, path, message, help, value: None, amount: 0, span: None });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }

    /// Pushes what a language found in a text, with line and column; the weight is the rule's own.
    pub fn fault(
        &mut self,
        rule: &'static Rule,
        path: FieldPath,
        text: &str,
        fault: &crate::lang::Fault,
    ) -> &mut Finding {
        let (line, column) = crate::lang::position(text, fault.span.start);
        let message = format!("line {line}, column {column}: {}", fault.message);
        let finding = self.push(rule.verdict, rule, path, message);
        finding.value(text).part(fault.span.clone());
        if let Some(hint) = &fault.hint {
            finding.help(hint.as_str());
        }
        finding
    }

    /// Would the object be refused?
    pub fn denies(&self) -> bool {
        self.0.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// All findings, in the order of the rules.
    pub fn iter(&self) -> std::slice::Iter<'_, Finding> {
        self.0.iter()
    }

    /// The findings that refuse.
    pub fn errors(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Error)
    }

    /// The findings that only tell.
    pub fn warnings(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter().filter(|finding| finding.severity == Severity::Warning)
    }

    /// Nothing at all was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Turns every refusal into a warning: the update did not touch what the rules judge.
    pub fn soften_all(&mut self) {
        for finding in &mut self.0 {
            finding.severity = Severity::Warning;
        }
    }

    /// Turns refusals into warnings where the old object had them already (the ratchet). Each finding of the old object is
    /// inherited once: a second one of the same kind is a new one.
    pub fn soften_inherited(&mut self, old: &Self) {
        // Looked up, not compared one by one: an object can have thousands of each.
        let mut known: HashMap<_, Vec<usize>> = HashMap::new();
        for finding in &old.0 {
            known.entry(finding.identity()).or_default().push(finding.amount);
        }
        for finding in &mut self.0 {
            let Some(amounts) = known.get_mut(&finding.identity()) else { continue };
            if let Some(at) = amounts.iter().rposition(|amount| *amount >= finding.amount) {
                amounts.swap_remove(at);
                finding.severity = Severity::Warning;
            }
        }
    }

    /// Adds the findings of another judge.
    pub fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Findings {
    type Item = Finding;
    type IntoIter = std::vec::IntoIter<Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Quotes a user's value for a message, cut so that a message stays readable whatever was written.
pub fn quoted(value: &str) -> String {
    const LONGEST: usize = 64;
    if value.chars().count() <= LONGEST {
        return format!("{value:?}");
    }
    let head: String = value.chars().take(LONGEST).collect();
    format!("{head:?}…")
}

/// Declares the rules of a kind and `ALL`, the list of them: `NAME = "CODE" Verdict "title", "why", "fix";`.
macro_rules! rules {
    ($($name:ident = $code:literal $verdict:ident $title:literal, $why:literal, $fix:literal;)*) => {
        $(#[allow(missing_docs)]
        pub static $name: $crate::rule::Rule = $crate::rule::Rule {
            code: $code,
            verdict: $crate::rule::Severity::$verdict,
            home: $crate::rule::Home::Webhook,
            title: $title,
            why: $why,
            fix: $fix,
        };)*

        /// The rules that the doors run; the CEL rules stand in the kind's table.
        pub static ALL: &[&$crate::rule::Rule] = &[$(&$name),*];
    };
}

/// Declares rules whose home is the CRD's CEL.
macro_rules! cel_rules {
    ($($name:ident = $code:literal $title:literal, $why:literal, $fix:literal;)*) => {
        $(#[allow(missing_docs)]
        pub static $name: $crate::rule::Rule = $crate::rule::Rule {
            code: $code,
            verdict: $crate::rule::Severity::Error,
            home: $crate::rule::Home::Cel,
            title: $title,
            why: $why,
            fix: $fix,
        };)*
    };
}

pub(crate) use {cel_rules, rules};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::codes::METADATA as BAD;

    fn found(values: &[(&str, usize)]) -> Findings {
        let mut out = Findings::default();
        for (index, (value, amount)) in values.iter().enumerate() {
            let path = FieldPath::spec("list").index(index);
            out.deny(&BAD, path, "bad").value(*value).amount(*amount);
        }
        out
    }

    #[test]
    fn a_finding_is_inherited_once_and_never_with_more() {
        let refused = |new: &[(&str, usize)], old: &[(&str, usize)]| {
            let mut new = found(new);
            new.soften_inherited(&found(old));
            new.errors().count()
        };
        assert_eq!(refused(&[("a", 0)], &[("b", 0), ("a", 0)]), 0, "elsewhere in the list");
        assert_eq!(refused(&[("c", 0)], &[("a", 0)]), 1, "another value");
        assert_eq!(refused(&[("a", 0), ("a", 0)], &[("a", 0)]), 1, "a second one");
        assert_eq!(refused(&[("a", 7)], &[("a", 7)]), 0, "as much");
        assert_eq!(refused(&[("a", 6)], &[("a", 7)]), 0, "less");
        assert_eq!(refused(&[("a", 8)], &[("a", 7)]), 1, "more");
    }

    #[test]
    fn a_secret_value_is_not_kept() {
        let mut out = Findings::default();
        out.deny(&BAD, FieldPath::spec("password"), "bad").secret_value("hunter2");
        assert!(!format!("{out:?}").contains("hunter2"));
    }
}
