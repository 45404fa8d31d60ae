//! From a decoded object to findings or edits: the one place where rules are run.
//!
//! Both the webhook and `usher check` come through here, so that they cannot disagree. What is never blocked is
//! decided here too: objects being deleted, updates that leave the watched parts alone, and findings that the stored
//! object already had.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::edits::Edits;
use crate::kinds::Kind;
use crate::model::object::Object;
use crate::rule::path::FieldPath;
use crate::rule::{Facts, Findings};

/// The object is not of its kind's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    /// Where.
    pub path: FieldPath,
    /// What serde says.
    pub message: String,
}

/// Judges the creation of an object that comes from a file.
pub type JudgeTree = fn(&Value, &Facts<'_>) -> Result<Findings, Undecodable>;
/// Records what the mutating door changes in an object that comes from a file.
pub type MutateTree = fn(&Value, &Facts<'_>) -> Result<Edits, Undecodable>;

/// Judges a CREATE or an UPDATE.
pub fn validate<K: Kind>(
    object: &Object<K::Spec>,
    old: Option<&Object<K::Spec>>,
    facts: &Facts<'_>,
) -> Findings {
    let mut findings = Findings::default();
    if object.metadata.is_terminating() || old.is_some_and(|old| K::is_untouched(object, old)) {
        return findings;
    }
    K::check(object, old, facts, &mut findings);
    if let Some(old) = old
        && findings.denies()
    {
        if K::rests_on_the_same(object, old) {
            findings.soften_all();
        } else {
            let mut before = Findings::default();
            K::check(old, None, facts, &mut before);
            findings.soften_inherited(&before);
        }
    }
    findings
}

/// Records what the mutating door changes.
pub fn mutate<K: Kind>(object: &Object<K::Spec>, old: Option<&Object<K::Spec>>, facts: &Facts<'_>) -> Edits {
    let mut edits = Edits::default();
    if !object.metadata.is_terminating() {
        K::defaults(object, old, facts, &mut edits);
    }
    edits
}

/// Judges a removal.
pub fn delete<K: Kind>(object: &Object<K::Spec>, facts: &Facts<'_>) -> Findings {
    let mut findings = Findings::default();
    if !object.metadata.is_terminating() {
        K::check_delete(object, facts, &mut findings);
    }
    findings
}

/// Judges the creation of an object that comes from a file.
///
/// # Errors
/// When the object does not decode.
pub fn judge_tree<K: Kind>(object: &Value, facts: &Facts<'_>) -> Result<Findings, Undecodable> {
    decode_tree(object).map(|object| validate::<K>(&object, None, facts))
}

/// Records what the mutating door changes in an object that comes from a file.
///
/// # Errors
/// When the object does not decode; the schema validation that follows says why.
pub fn mutate_tree<K: Kind>(object: &Value, facts: &Facts<'_>) -> Result<Edits, Undecodable> {
    match decode_tree(object) {
        Ok(object) => Ok(mutate::<K>(&object, None, facts)),
        Err(undecodable) => {
            let mut edits = Edits::default();
            K::mend(object, &mut edits);
            if edits.is_empty() { Err(undecodable) } else { Ok(edits) }
        }
    }
}

fn decode_tree<T: DeserializeOwned>(object: &Value) -> Result<T, Undecodable> {
    serde_path_to_error::deserialize(object).map_err(Undecodable::from)
}

/// Decodes raw JSON, and on failure says where it failed.
///
/// # Errors
/// When the text does not decode.
pub fn decode_raw<T: DeserializeOwned>(object: &RawValue) -> Result<T, Undecodable> {
    serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(object.get()))
        .map_err(Undecodable::from)
}

impl From<serde_path_to_error::Error<serde_json::Error>> for Undecodable {
    fn from(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        use serde_path_to_error::Segment;
        let mut path = FieldPath::root();
        for segment in error.path() {
            path = match segment {
                Segment::Seq { index } => path.index(*index),
                Segment::Map { key } => path.key(key),
                Segment::Enum { variant } => path.key(variant),
                Segment::Unknown => path,
            };
        }
        // serde_json adds the place in the bytes of the review, which nobody sees.
        let message = error.into_inner().to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(text, _)| text).to_owned();
        Self { path, message }
    }
}
