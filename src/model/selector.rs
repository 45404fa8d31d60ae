//! Label selectors, as Kubernetes defines them: parsed from objects or from the text form, and matched.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A label query over objects. All parts must hold; the empty selector selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub struct LabelSelector {
    /// Labels that must have exactly these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub match_labels: Option<BTreeMap<String, String>>,
    /// Requirements on labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub match_expressions: Option<Vec<Requirement>>,
}

/// A requirement on one label.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Requirement {
    /// The label's name.
    pub key: String,
    /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
    pub operator: String,
    /// The values of `In` and `NotIn`; empty for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub values: Option<Vec<String>>,
}

/// Labels of an object; an object without labels has the empty set.
pub type Labels = BTreeMap<String, String>;

/// Why a selector cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The operator is none of the four.
    #[error("operator {0:?} is not one of In, NotIn, Exists, DoesNotExist")]
    Operator(String),
    /// `In` and `NotIn` need values, the others must not have any.
    #[error("operator {operator} on {key:?} {problem}")]
    Values {
        /// The label.
        key: String,
        /// The operator.
        operator: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// The text form does not parse.
    #[error("{0:?} is not a label selector")]
    Text(String),
}

impl LabelSelector {
    /// Does the selector select an object with these labels?
    ///
    /// # Errors
    /// When a requirement is malformed: such a selector selects neither everything nor nothing.
    pub fn selects(&self, labels: Option<&Labels>) -> Result<bool, Error> {
        let empty = Labels::new();
        let labels = labels.unwrap_or(&empty);
        let mut selected =
            self.match_labels.iter().flatten().all(|(name, value)| labels.get(name) == Some(value));
        for requirement in self.match_expressions.iter().flatten() {
            selected &= requirement.holds(labels)?;
        }
        Ok(selected)
    }

    /// Is this the empty selector, which selects everything?
    pub fn is_empty(&self) -> bool {
        self.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
            && self.match_expressions.as_ref().is_none_or(Vec::is_empty)
    }

    /// The same selector with its parts in a fixed order, so that equal queries compare equal.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let expressions: BTreeSet<Requirement> = self
            .match_expressions
            .iter()
            .flatten()
            .map(|requirement| {
                let values: BTreeSet<String> = requirement.values.iter().flatten().cloned().collect();
                let values = (!values.is_empty()).then(|| values.into_iter().collect());
                Requirement { values, ..requirement.clone() }
            })
            .collect();
        Self {
            match_labels: self.match_labels.clone().filter(|labels| !labels.is_empty()),
            match_expressions: (!expressions.is_empty()).then(|| expressions.into_iter().collect()),
        }
    }

    /// Reads the text form: `*` for everything, else comma-separated `a=b`, `a!=b`, `a in (b,c)`, `a notin (b)`,
    /// `a`, `!a`, as `kubectl -l` takes it.
    ///
    /// # Errors
    /// When the text is empty or not of that form.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        if text == "*" {
            return Ok(Self::default());
        }
        let mut expressions = Vec::new();
        for part in split_outside_parentheses(text) {
            expressions.push(Requirement::parse(part.trim()).ok_or_else(|| Error::Text(text.to_owned()))?);
        }
        Ok(Self { match_labels: None, match_expressions: Some(expressions) })
    }
}

impl Requirement {
    fn holds(&self, labels: &Labels) -> Result<bool, Error> {
        let values = self.values.as_deref().unwrap_or_default();
        let problem = match (self.operator.as_str(), values.is_empty()) {
            ("In" | "NotIn", true) => Some("needs values"),
            ("Exists" | "DoesNotExist", false) => Some("must not have values"),
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(Error::Values { key: self.key.clone(), operator: self.operator.clone(), problem });
        }
        let value = labels.get(&self.key);
        match self.operator.as_str() {
            "In" => Ok(value.is_some_and(|value| values.contains(value))),
            "NotIn" => Ok(value.is_none_or(|value| !values.contains(value))),
            "Exists" => Ok(value.is_some()),
            "DoesNotExist" => Ok(value.is_none()),
            other => Err(Error::Operator(other.to_owned())),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (negated, text) = match text.strip_prefix('!') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text),
        };
        let end =
            text.find(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c))).unwrap_or(text.len());
        let (key, rest) = (&text[..end], text[end..].trim());
        let one = |value: &str| is_value(value.trim()).then(|| vec![value.trim().to_owned()]);
        let several = |list: &str| -> Option<Vec<String>> {
            let inner = list.trim().strip_prefix('(')?.strip_suffix(')')?;
            inner.split(',').map(str::trim).map(|value| is_value(value).then(|| value.to_owned())).collect()
        };
        let (operator, values) = match (negated, rest) {
            (true, "") => ("DoesNotExist", None),
            (true, _) => return None,
            (false, "") => ("Exists", None),
            (false, rest) => {
                if let Some(value) = rest.strip_prefix("!=") {
                    ("NotIn", Some(one(value)?))
                } else if let Some(value) = rest.strip_prefix("==").or_else(|| rest.strip_prefix('=')) {
                    ("In", Some(one(value)?))
                } else if let Some(list) = rest.strip_prefix("notin") {
                    ("NotIn", Some(several(list)?))
                } else {
                    ("In", Some(several(rest.strip_prefix("in")?)?))
                }
            }
        };
        (!key.is_empty()).then(|| Self { key: key.to_owned(), operator: operator.to_owned(), values })
    }
}

/// A label's value: empty, or letters, digits, `-`, `_` and `.` with a letter or digit at both ends.
fn is_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_alphanumeric);
    text.len() <= 63
        && edge(bytes.first())
        && edge(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn selects_as_kubernetes_does() {
        let web = labels(&[("team", "web"), ("tier", "front")]);
        let cases = [
            ("*", true),
            ("team=web", true),
            ("team==web,tier", true),
            ("team!=web", false),
            ("team in (web, db)", true),
            ("team in(web,db)", true),
            ("team = web", true),
            ("team=", false),
            ("team notin (web,db),tier", false),
            ("!owner", true),
            ("owner notin (x)", true),
            ("owner", false),
        ];
        for (text, expected) in cases {
            assert_eq!(LabelSelector::parse(text).unwrap().selects(Some(&web)), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_selector() {
        for text in
            ["", "a b", "=x", "a in b", "team=web,", "team=web shop", "!a=b", "a inx (b)", "team=-web"]
        {
            assert!(LabelSelector::parse(text).is_err(), "{text:?}");
        }
        let selector = LabelSelector {
            match_labels: None,
            match_expressions: Some(vec![Requirement {
                key: "a".into(),
                operator: "In".into(),
                values: None,
            }]),
        };
        assert!(selector.selects(None).is_err());
    }

    #[test]
    fn equal_queries_have_one_canonical_form() {
        let one = LabelSelector::parse("a in (y,x),b").unwrap();
        let other = LabelSelector::parse("b,a in (x,y)").unwrap();
        assert_ne!(one, other);
        assert_eq!(one.canonical(), other.canonical());
        assert_eq!(
            LabelSelector { match_labels: Some(Labels::new()), match_expressions: None }.canonical(),
            LabelSelector::default()
        );
    }
}
