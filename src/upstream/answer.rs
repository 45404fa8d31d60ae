//! What a server answered, and what an answer means where a call has no meaning of its own for it.
//!
//! The words of an answer leave through [`Answer::quote`] only, which knows the credentials that were sent.

use std::sync::Arc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use serde::de::{DeserializeOwned, DeserializeSeed};

use super::error::{Cause, Error, Outage, Surprise};
use super::peer_text::PeerText;
use crate::model::secret_text::SecretText;

/// Nobody is left alone for longer because a header says so.
const LONGEST_RETRY: Duration = Duration::from_hours(1);

/// An answer, of whatever status.
pub struct Answer {
    what: &'static str,
    server: Arc<str>,
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    secrets: Vec<SecretText>,
}

/// Neither headers nor body: both may hold anything.
impl std::fmt::Debug for Answer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.body.len();
        out.debug_struct("Answer")
            .field("status", &self.status)
            .field("length", &length)
            .finish_non_exhaustive()
    }
}

impl Answer {
    pub(super) fn new(
        what: &'static str,
        server: Arc<str>,
        status: StatusCode,
        headers: HeaderMap,
        body: Vec<u8>,
        secrets: Vec<SecretText>,
    ) -> Self {
        Self { what, server, status, headers, body, secrets }
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The whole body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Words of the server, fit to be shown.
    pub fn quote(&self, words: &str) -> PeerText {
        PeerText::new(words, &self.secrets)
    }

    /// An error about this answer. What was asked may have been done unless the server says that it was not.
    pub fn error(&self, cause: Cause) -> Error {
        let (what, server) = (self.what, Arc::clone(&self.server));
        if self.status.is_redirection() || self.status.is_client_error() {
            Error::unsent(what, server, cause)
        } else {
            Error::maybe_sent(what, server, cause)
        }
    }

    /// The error that a status stands for; `message` is what the system has to say about it, in its own form.
    pub fn failure(&self, message: Option<&str>) -> Error {
        let message = message.map(|message| self.quote(message)).unwrap_or_default();
        let status = self.status.as_u16();
        self.error(match status {
            401 => Cause::Unauthorized,
            403 => Cause::Forbidden,
            408 | 429 | 500.. => {
                Cause::Unavailable(Outage::Status { status, message, retry_after: self.retry_after() })
            }
            // Without a word in the system's own form it was not the system that refused.
            400 | 422 if !message.is_empty() => Cause::Rejected { status, message },
            _ => Cause::Unexpected(Surprise::Status { status, message }),
        })
    }

    /// The body as JSON.
    ///
    /// # Errors
    /// When it is not the JSON that is expected.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.json_with(std::marker::PhantomData)
    }

    /// The body as JSON, read by a seed.
    ///
    /// # Errors
    /// When it is not the JSON that is expected.
    pub fn json_with<'a, S: DeserializeSeed<'a>>(&'a self, seed: S) -> Result<S::Value, Error> {
        let mut from = serde_json::Deserializer::from_slice(&self.body);
        let read = seed.deserialize(&mut from).and_then(|value| from.end().map(|()| value));
        read.map_err(|error| {
            let page = self.body.trim_ascii_start().starts_with(b"<");
            self.error(Cause::Unexpected(if page {
                Surprise::Page(self.status.as_u16())
            } else {
                Surprise::Json(self.quote(&error.to_string()))
            }))
        })
    }

    /// The body as JSON, where it may be something else.
    pub fn maybe_json<'a, T: Deserialize<'a>>(&'a self) -> Option<T> {
        serde_json::from_slice(&self.body).ok()
    }

    /// Seconds only; dates are not worth their parser here.
    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds).min(LONGEST_RETRY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        let status = StatusCode::from_u16(status).unwrap();
        let secrets = vec![SecretText::from("hunter2".to_owned())];
        Answer::new("asking", "http://am:9093".into(), status, HeaderMap::new(), body.into(), secrets)
    }

    #[test]
    fn every_status_has_its_cause() {
        let label = |status, message: Option<&str>| answer(status, "").failure(message).label();
        assert_eq!(label(401, Some("x")), "unauthorized");
        assert_eq!(label(403, None), "forbidden");
        for status in [408, 429, 500, 502, 503, 504, 599] {
            assert_eq!(label(status, None), "unavailable", "{status}");
        }
        for status in [400, 422] {
            assert_eq!(label(status, Some("no")), "rejected");
            assert_eq!(label(status, None), "unexpected_response");
            assert_eq!(label(status, Some(" ")), "unexpected_response");
        }
        for status in [204, 301, 302, 307, 404, 405, 410, 415] {
            assert_eq!(label(status, Some("no")), "unexpected_response", "{status}");
        }
    }

    #[test]
    fn only_a_refusal_proves_that_nothing_was_done() {
        for (status, arrived) in
            [(200, true), (302, false), (400, false), (404, false), (429, false), (503, true)]
        {
            assert_eq!(answer(status, "").failure(None).may_have_arrived(), arrived, "{status}");
        }
    }

    #[test]
    fn a_body_of_another_kind_is_an_unexpected_response() {
        let texts = ["", "<html>", "[1", "[1] x", "{\"a\": 1}", "[\"hunter2\"]", "null"];
        for text in texts {
            let error = answer(200, text).json::<Vec<u8>>().unwrap_err();
            assert_eq!(error.label(), "unexpected_response", "{text}");
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
        assert!(answer(200, "<p>").json::<u8>().unwrap_err().to_string().contains("login page"));
        assert_eq!(answer(200, "[1]\n").json::<Vec<u8>>().unwrap(), [1]);
        assert!(!format!("{:?}", answer(200, "hunter2")).contains("hunter2"));
    }

    #[test]
    fn a_server_may_ask_to_be_left_alone_for_an_hour_at_most() {
        let mut asked = answer(429, "");
        for (text, wait) in [("7", Some(7)), ("999999", Some(3600)), ("Wed, 21 Oct 2026 07:28:00 GMT", None)]
        {
            asked.headers.insert(RETRY_AFTER, text.parse().unwrap());
            assert_eq!(asked.failure(None).retry_after(), wait.map(Duration::from_secs));
        }
    }
}
