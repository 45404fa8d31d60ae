//! Reads an AdmissionReview without copying it: the envelope borrows from the body, and the objects are decoded in the
//! same pass.

use std::borrow::Cow;

use serde::Deserialize;

use crate::kinds::KindInfo;
use crate::rule::{Operation, User};

/// Deeper than any object that the API server would store; serde_json stops at 128 as well, but only where it builds
/// values, and the objects here are skipped over first.
pub const DEEPEST: usize = 128;

/// A request to admit something. The objects are decoded while the envelope is read, or left raw.
#[derive(Debug)]
pub struct Request<'a, T> {
    /// Echoed in the answer.
    pub uid: Cow<'a, str>,
    /// What is being done.
    pub operation: Operation,
    /// Empty for the object itself; `status`, `scale`, …
    pub sub_resource: Cow<'a, str>,
    /// The namespace of the request; empty for cluster-scoped objects.
    pub namespace: Cow<'a, str>,
    /// The name of the object, for messages; empty with `generateName`.
    pub name: Cow<'a, str>,
    /// Nothing will be stored.
    pub dry_run: bool,
    /// Who asks.
    pub user: User,
    /// The new object.
    pub object: Option<T>,
    /// The stored object.
    pub old_object: Option<T>,
}

/// Why a body is no review that usher can answer. The API server reports these as failures of the webhook.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReview {
    /// The body is not JSON, or not of the shape.
    #[error("the body is not an AdmissionReview: {0}")]
    NotJson(String),
    /// Nested deeper than any object that can be stored.
    #[error("the body is nested deeper than {DEEPEST} levels")]
    TooDeep,
    /// Another version or kind.
    #[error("expected admission.k8s.io/v1 AdmissionReview, got {0}")]
    WrongVersion(String),
    /// No `request`.
    #[error("the review has no request")]
    NoRequest,
    /// No `request.uid`: the answer could not be matched.
    #[error("the request has no uid")]
    NoUid,
    /// CONNECT or something new.
    #[error("operation {0:?} is not one of CREATE, UPDATE, DELETE")]
    Operation(String),
    /// The review is about another kind than the path says.
    #[error("the path is for {expected}, but the review is about {got}")]
    WrongKind {
        /// By the path.
        expected: String,
        /// By the review.
        got: String,
    },
    /// The object that the operation needs is missing.
    #[error("{operation} without {field}")]
    NoObject {
        /// The operation.
        operation: &'static str,
        /// The missing field.
        field: &'static str,
    },
}

impl BadReview {
    /// A closed set of words for metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "not_json",
            Self::TooDeep => "too_deep",
            Self::WrongVersion(_) => "wrong_version",
            Self::NoRequest => "no_request",
            Self::NoUid => "no_uid",
            Self::Operation(_) => "operation",
            Self::WrongKind { .. } => "wrong_kind",
            Self::NoObject { .. } => "no_object",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawReview<'a, T> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, bound(deserialize = "T: Deserialize<'de>"))]
    request: Option<RawRequest<'a, T>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawRequest<'a, T> {
    #[serde(borrow, default)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    kind: Option<RawKind<'a>>,
    #[serde(borrow, default)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    sub_resource: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(default)]
    dry_run: Option<bool>,
    #[serde(default)]
    user_info: RawUser,
    #[serde(default = "nothing", bound(deserialize = "T: Deserialize<'de>"))]
    object: Option<T>,
    #[serde(default = "nothing", bound(deserialize = "T: Deserialize<'de>"))]
    old_object: Option<T>,
}

#[derive(Deserialize)]
struct RawKind<'a> {
    #[serde(borrow, default)]
    group: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
}

fn nothing<T>() -> Option<T> {
    None
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawUser {
    username: String,
}

/// Reads the body of a review about `expected`. With objects of their own type it is one pass over the body; an object
/// that is not of that type then makes the whole body unreadable, and reading it again with raw objects tells which.
///
/// # Errors
/// When the body is not such a review; the texts tell the caller what to send.
pub fn read<'a, T: Deserialize<'a>>(
    body: &'a [u8],
    expected: &KindInfo,
) -> Result<Request<'a, T>, BadReview> {
    if is_too_deep(body) {
        return Err(BadReview::TooDeep);
    }
    // UTF-8 is checked once for the whole body instead of once for every string in it.
    let text = std::str::from_utf8(body).map_err(|error| BadReview::NotJson(error.to_string()))?;
    let review: RawReview<'a, T> =
        serde_json::from_str(text).map_err(|error| BadReview::NotJson(error.to_string()))?;
    if review.api_version != "admission.k8s.io/v1" || review.kind != "AdmissionReview" {
        let got = format!("{:?} {:?}", cut(&review.api_version), cut(&review.kind));
        return Err(BadReview::WrongVersion(got));
    }
    let request = review.request.ok_or(BadReview::NoRequest)?;
    if request.uid.is_empty() {
        return Err(BadReview::NoUid);
    }
    let operation = Operation::parse(&request.operation)
        .ok_or_else(|| BadReview::Operation(cut(&request.operation).to_owned()))?;
    match &request.kind {
        Some(kind) if kind.group == expected.group && kind.kind == expected.kind => {}
        other => {
            let got = other.as_ref().map_or_else(
                || "no kind".to_owned(),
                |kind| format!("{}.{}", cut(&kind.kind), cut(&kind.group)),
            );
            return Err(BadReview::WrongKind {
                expected: format!("{}.{}", expected.kind, expected.group),
                got,
            });
        }
    }
    let (object, old_object) = (request.object, request.old_object);
    let missing = match operation {
        Operation::Create | Operation::Update if object.is_none() => Some("object"),
        Operation::Update | Operation::Delete if old_object.is_none() => Some("oldObject"),
        _ => None,
    };
    if let Some(field) = missing {
        return Err(BadReview::NoObject { operation: operation.as_str(), field });
    }
    Ok(Request {
        uid: request.uid,
        operation,
        sub_resource: request.sub_resource,
        namespace: request.namespace,
        name: request.name,
        dry_run: request.dry_run.unwrap_or(false),
        user: User { name: request.user_info.username, permitted: false },
        object,
        old_object,
    })
}

fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(64).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// Is the nesting deeper than [`DEEPEST`]? Few bodies have that many opening brackets at all, so nearly every review
/// is decided by counting them.
fn is_too_deep(body: &[u8]) -> bool {
    if memchr::memchr2_iter(b'{', b'[', body).nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use serde_json::value::RawValue;

    use super::*;
    use crate::kinds::silence;

    fn review(request: &str) -> String {
        format!(r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{request}}}"#)
    }

    const KIND: &str = r#""kind":{"group":"monitoring.coreos.com","version":"v1alpha1","kind":"Silence"}"#;

    #[test]
    fn each_fault_of_a_review_has_its_own_answer() {
        let deep = review(&format!(
            r#"{{"uid":"1",{KIND},"operation":"CREATE","object":{}1{}}}"#,
            "[".repeat(200),
            "]".repeat(200)
        ));
        let cases = [
            (String::new(), "not_json"),
            ("[]".to_owned(), "not_json"),
            (
                r#"{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}"#.to_owned(),
                "wrong_version",
            ),
            (review("null"), "no_request"),
            (review("{}"), "no_uid"),
            (review(r#"{"uid":"1","operation":"CONNECT"}"#), "operation"),
            (review(r#"{"uid":"1","operation":"CREATE","kind":{"group":"","kind":"Pod"}}"#), "wrong_kind"),
            (review(&format!(r#"{{"uid":"1","operation":"CREATE",{KIND}}}"#)), "no_object"),
            (review(&format!(r#"{{"uid":"1","operation":"UPDATE",{KIND},"object":{{}}}}"#)), "no_object"),
            (deep, "too_deep"),
        ];
        for (body, label) in cases {
            assert_eq!(
                read::<&RawValue>(body.as_bytes(), &silence::KIND).unwrap_err().label(),
                label,
                "{body}"
            );
        }
    }

    #[test]
    fn brackets_in_strings_are_not_nesting() {
        let body = review(&format!(
            r#"{{"uid":"1","operation":"CREATE",{KIND},"object":{{"a":"{}\"{}"}}}}"#,
            "[".repeat(300),
            "{".repeat(300)
        ));
        assert!(read::<&RawValue>(body.as_bytes(), &silence::KIND).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(body in proptest::collection::vec(any::<u8>(), 0..512)) {
            let _ = read::<&RawValue>(&body, &silence::KIND);
        }

        #[test]
        fn any_json_request_is_answered(uid in ".{0,8}", operation in "CREATE|UPDATE|DELETE|X", object in "null|\\{\\}|1|\"x\"") {
            let body = review(&format!(r#"{{"uid":{},"operation":"{operation}",{KIND},"object":{object}}}"#, serde_json::json!(uid)));
            let _ = read::<&RawValue>(body.as_bytes(), &silence::KIND);
        }
    }
}
