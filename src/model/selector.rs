//! Label selectors, as Kubernetes defines them: parsed from objects or from the text form, and matched.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::naming::{is_name_part, is_qualified};

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
    /// A name or a value is none that a label can have.
    #[error("{0}")]
    Unusable(String),
    /// The text form does not parse.
    #[error("{0:?} is not a label selector")]
    Text(String),
}

/// What makes a selector unusable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the selector.
    pub place: Place,
    /// What it rests on, as one text.
    pub value: String,
    /// What is wrong, with the value quoted.
    pub message: String,
}

/// A place in a selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// An entry of `matchLabels`, by its key.
    Label(String),
    /// A field of an entry of `matchExpressions`.
    Expression(usize, &'static str),
}

impl LabelSelector {
    /// Everything for which Kubernetes would refuse to select with this selector.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (key, value) in self.match_labels.iter().flatten() {
            let message = if !is_qualified(key) {
                format!("{key:?} is not a label name")
            } else if !is_value(value) {
                format!("{value:?} is not a label value")
            } else {
                continue;
            };
            let value = format!("{key}={value}");
            problems.push(Problem { place: Place::Label(key.clone()), value, message });
        }
        for (index, requirement) in self.match_expressions.iter().flatten().enumerate() {
            problems.extend(requirement.problem().map(|(field, value, message)| Problem {
                place: Place::Expression(index, field),
                value,
                message,
            }));
        }
        problems
    }

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
    /// The first thing that is wrong with it: the field, what it rests on, a message.
    fn problem(&self) -> Option<(&'static str, String, String)> {
        let Self { key, operator, .. } = self;
        let values = self.values.as_deref().unwrap_or_default();
        if !is_qualified(key) {
            return Some(("key", key.clone(), format!("{key:?} is not a label name")));
        }
        let problem = match (operator.as_str(), values.is_empty()) {
            ("In" | "NotIn", true) => "needs values",
            ("Exists" | "DoesNotExist", false) => "must not have values",
            ("In" | "NotIn", false) => {
                let value = values.iter().find(|value| !is_value(value))?;
                return Some(("values", value.clone(), format!("{value:?} is not a label value")));
            }
            ("Exists" | "DoesNotExist", true) => return None,
            _ => {
                let error = Error::Operator(operator.clone());
                return Some(("operator", operator.clone(), error.to_string()));
            }
        };
        Some(("values", format!("{operator} {}", values.join(",")), format!("{operator} {problem}")))
    }

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

/// A label's value; the empty one is fine.
fn is_value(text: &str) -> bool {
    text.is_empty() || is_name_part(text)
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
    fn problems_are_those_that_kubernetes_has() {
        let requirement = |key: &str, operator: &str, values: &[&str]| Requirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            values: Some(values.iter().map(|value| (*value).to_owned()).collect()),
        };
        let selector = LabelSelector {
            match_labels: Some(labels(&[("app.example.com/team", "web"), ("a b", "x"), ("tier", "-")])),
            match_expressions: Some(vec![
                requirement("tier", "In", &["a", ""]),
                requirement("tier", "Exists", &[]),
                requirement("tier", "NotIn", &[]),
                requirement("tier", "DoesNotExist", &["a"]),
                requirement("tier", "in", &["a"]),
                requirement("/tier", "In", &["a"]),
                requirement("tier", "In", &["a", "b c"]),
            ]),
        };
        let places: Vec<Place> = selector.problems().into_iter().map(|problem| problem.place).collect();
        let label = |key: &str| Place::Label(key.to_owned());
        let expected = [
            label("a b"),
            label("tier"),
            Place::Expression(2, "values"),
            Place::Expression(3, "values"),
            Place::Expression(4, "operator"),
            Place::Expression(5, "key"),
            Place::Expression(6, "values"),
        ];
        assert_eq!(places, expected);
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
