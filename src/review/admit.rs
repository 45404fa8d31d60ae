//! From an object of a known kind to findings or edits: the one place where rules are run.
//!
//! Both the webhook and `usher check` come through here, so that they cannot disagree. What is never blocked is
//! decided here too: objects being deleted, updates that leave the watched parts alone, and findings that the stored
//! object already had.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::edits::Edits;
use crate::kinds::Kind;
use crate::model::object::Object;
use crate::rule::path::FieldPath;
use crate::rule::{Facts, Findings};

/// An object as the door has it.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Raw JSON, from a review.
    Text(&'a str),
    /// A tree, from a file.
    Tree(&'a Value),
}

/// The object that is judged, and the stored one.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The new object; on DELETE the stored one.
    pub object: Source<'a>,
    /// The stored object of an UPDATE.
    pub old: Option<Source<'a>>,
    /// The namespace of the request, for objects that do not carry it yet.
    pub namespace: &'a str,
}

/// The object is not of its kind's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecodable {
    /// Where.
    pub path: FieldPath,
    /// What serde says.
    pub message: String,
}

/// Judges a CREATE or an UPDATE.
pub type Validate = fn(&Subject<'_>, &Facts<'_>) -> Result<Findings, Undecodable>;
/// Records what the mutating door changes.
pub type Mutate = fn(&Subject<'_>, &Facts<'_>) -> Result<Edits, Undecodable>;
/// Judges a DELETE.
pub type Delete = fn(&Subject<'_>, &Facts<'_>) -> Result<Findings, Undecodable>;

/// Judges a CREATE or an UPDATE of a kind.
///
/// # Errors
/// When the new object does not decode. A stored object that does not decode is no obstacle to replacing it.
pub fn validate<K: Kind>(subject: &Subject<'_>, facts: &Facts<'_>) -> Result<Findings, Undecodable> {
    let object = subject.decode::<K>(subject.object)?;
    let mut findings = Findings::default();
    if object.metadata.is_terminating() {
        return Ok(findings);
    }
    let old = subject.old.and_then(|old| subject.decode::<K>(old).ok());
    if old.as_ref().is_some_and(|old| K::is_untouched(&object, old)) {
        return Ok(findings);
    }
    K::check(&object, old.as_ref(), facts, &mut findings);
    if let Some(old) = &old
        && findings.denies()
    {
        if old.spec == object.spec {
            findings.soften_all();
        } else {
            let mut before = Findings::default();
            K::check(old, None, facts, &mut before);
            findings.soften_inherited(&before);
        }
    }
    Ok(findings)
}

/// Records what the mutating door changes in an object of a kind.
///
/// # Errors
/// When the object does not decode; the schema validation that follows in the API server says why.
pub fn mutate<K: Kind>(subject: &Subject<'_>, facts: &Facts<'_>) -> Result<Edits, Undecodable> {
    let object = subject.decode::<K>(subject.object)?;
    let mut edits = Edits::default();
    if object.metadata.is_terminating() {
        return Ok(edits);
    }
    let old = subject.old.and_then(|old| subject.decode::<K>(old).ok());
    K::defaults(&object, old.as_ref(), facts, &mut edits);
    Ok(edits)
}

/// Judges the removal of an object of a kind.
///
/// # Errors
/// When the stored object does not decode; the door then lets it go.
pub fn delete<K: Kind>(subject: &Subject<'_>, facts: &Facts<'_>) -> Result<Findings, Undecodable> {
    let object = subject.decode::<K>(subject.object)?;
    let mut findings = Findings::default();
    if !object.metadata.is_terminating() {
        K::check_delete(&object, facts, &mut findings);
    }
    Ok(findings)
}

impl Subject<'_> {
    fn decode<K: Kind>(&self, source: Source<'_>) -> Result<Object<K::Spec>, Undecodable> {
        let mut object: Object<K::Spec> = source.decode()?;
        if object.metadata.namespace.is_empty() {
            object.metadata.namespace.push_str(self.namespace);
        }
        Ok(object)
    }
}

impl Source<'_> {
    /// Decodes, and on failure decodes again to learn where it failed: failures are rare and may cost more.
    fn decode<T: DeserializeOwned>(self) -> Result<T, Undecodable> {
        let decoded = match self {
            Self::Text(text) => serde_json::from_str(text),
            Self::Tree(value) => T::deserialize(value),
        };
        decoded.map_err(|_| self.locate::<T>())
    }

    fn locate<T: DeserializeOwned>(self) -> Undecodable {
        let result = match self {
            Self::Text(text) => {
                let deserializer = &mut serde_json::Deserializer::from_str(text);
                serde_path_to_error::deserialize::<_, T>(deserializer)
            }
            Self::Tree(value) => serde_path_to_error::deserialize::<_, T>(value),
        };
        let Err(error) = result else {
            // Text after the object: only the strict reading above minds it.
            return Undecodable { path: FieldPath::root(), message: "trailing characters".to_owned() };
        };
        let mut path = FieldPath::root();
        for segment in error.path() {
            use serde_path_to_error::Segment;
            path = match segment {
                Segment::Seq { index } => path.index(*index),
                Segment::Map { key } => path.field(key.as_str()),
                Segment::Enum { variant } => path.field(variant.as_str()),
                Segment::Unknown => path,
            };
        }
        Undecodable { path, message: error.inner().to_string() }
    }
}
