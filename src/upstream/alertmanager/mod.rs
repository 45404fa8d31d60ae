//! Alertmanager's API v2, one instance of it: silences listed, read, posted and expired; its status; its alerts.
//!
//! Versions differ in what they answer, callers do not see it: what an old one says with another status or text comes
//! back as the same value. A list that cannot be read is an error and never an empty one. Texts of errors are taken from
//! the two forms that Alertmanager itself writes, a JSON string or `{code, message}`; whatever a proxy says stays away.

mod types;

use http::{Method, StatusCode};
use serde::Deserialize;
use serde_json::Value;

pub use types::{Alert, AlertState, Alerts, ClusterStatus, Draft, Matcher, Silence, State, Status};

use super::answer::Answer;
use super::error::{Cause, Error, Surprise};
use super::http::{Client, Request};

/// 5,000 silences are several megabytes, 10,000 alerts with their annotations as well.
const LIST_LIMIT: usize = 64 << 20;
/// Its configuration is in it, which comes from a Secret of at most 1 MiB; JSON writes some characters with six.
const STATUS_LIMIT: usize = 8 << 20;
/// Ids are UUIDs today.
const LONGEST_ID: usize = 128;
/// What it says when a limit of its own is reached; the only texts of refusals that anything depends on.
const LIMITS: [&str; 2] = ["exceeded maximum number of silences", "silence exceeded maximum size"];

/// One instance of Alertmanager.
#[derive(Debug, Clone)]
pub struct Alertmanager {
    client: Client,
}

/// The two forms of its errors.
#[derive(Deserialize)]
#[serde(untagged)]
enum Complaint {
    Text(String),
    Coded {
        #[serde(rename = "code")]
        _code: i64,
        message: String,
    },
}

#[derive(Deserialize)]
struct Posted {
    #[serde(rename = "silenceID")]
    id: String,
}

impl Alertmanager {
    /// The instance behind this client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// All silences, expired ones too.
    ///
    /// # Errors
    /// When they cannot be had; [`Cause::Unlistable`] when a single one is in the way of all, which can then be asked for
    /// [by id](Self::get).
    pub async fn list(&self) -> Result<Vec<Silence>, Error> {
        let path = "/api/v2/silences?active=true&pending=true&expired=true";
        let request = Request::new("listing silences", Method::GET, path).up_to(LIST_LIMIT);
        let answer = self.client.send(request).await?;
        if answer.status() == StatusCode::OK {
            return answer.json();
        }
        match complaint(&answer) {
            // Of a list without a filter nothing but a stored silence can be the matter: one of several sets of
            // matchers (since 0.32 the store has them, API v2 has not), or of an unknown type.
            Some(text)
                if answer.status() == StatusCode::INTERNAL_SERVER_ERROR && text.contains("matcher") =>
            {
                Err(answer.error(Cause::Unlistable(answer.quote(&text))))
            }
            text => Err(answer.failure(text.as_deref())),
        }
    }

    /// One silence; `None` when this instance does not know it.
    ///
    /// # Errors
    /// When it cannot be had.
    pub async fn get(&self, id: &str) -> Result<Option<Silence>, Error> {
        let answer = self.single("reading a silence", Method::GET, id).await?;
        match answer.status() {
            StatusCode::OK => answer.json().map(Some),
            _ if is_unknown(&answer) => Ok(None),
            _ => Err(failure(&answer)),
        }
    }

    /// Creates a silence, or changes the one that the draft names; gives the id, which may be another one than that.
    ///
    /// # Errors
    /// When it is refused; [`Cause::NotFound`] when this instance does not know the named one.
    pub async fn post(&self, draft: &Draft) -> Result<String, Error> {
        let body = serde_json::to_vec(draft).unwrap_or_default();
        let request = Request::new("posting a silence", Method::POST, "/api/v2/silences")
            .with_body("application/json", body);
        if draft.id.as_deref().is_some_and(|id| !is_id(id)) {
            return Err(self.client.refuse(&request, Cause::BadId));
        }
        let answer = self.client.send(request).await?;
        if answer.status() == StatusCode::OK {
            let Posted { id } = answer.json()?;
            if is_id(&id) {
                return Ok(id);
            }
            return Err(unexpected(&answer, "the id of a silence is none"));
        }
        let text = complaint(&answer);
        if draft.id.is_some() && is_unknown(&answer) {
            return Err(answer.error(Cause::NotFound));
        }
        let text = text.unwrap_or_default();
        if answer.status() == StatusCode::BAD_REQUEST && LIMITS.iter().any(|limit| text.contains(limit)) {
            return Err(answer.error(Cause::LimitExceeded(answer.quote(&text))));
        }
        Err(answer.failure(Some(&text)))
    }

    /// Ends a silence now. True when it is ended, also when it was before; false when this instance does not know it.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub async fn expire(&self, id: &str) -> Result<bool, Error> {
        let answer = self.single("expiring a silence", Method::DELETE, id).await?;
        if answer.status() == StatusCode::OK {
            return Ok(true);
        }
        if is_unknown(&answer) {
            return Ok(false);
        }
        if answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
            let text = complaint(&answer).unwrap_or_default();
            // Before 0.26.
            if text.contains("silence not found") {
                return Ok(false);
            }
            // Before 0.24.
            if text.contains("already expired") {
                return Ok(true);
            }
        }
        Err(failure(&answer))
    }

    /// What the instance says about itself.
    ///
    /// # Errors
    /// When it does not, or is no Alertmanager.
    pub async fn status(&self) -> Result<Status, Error> {
        let request = Request::new("reading the status", Method::GET, "/api/v2/status").up_to(STATUS_LIMIT);
        let answer = self.client.send(request).await?;
        if answer.status() != StatusCode::OK {
            return Err(failure(&answer));
        }
        let value: Value = answer.json()?;
        Status::read(&value).ok_or_else(|| unexpected(&answer, "it is not the status of an Alertmanager"))
    }

    /// The first alerts, and how many there are; muted ones too.
    ///
    /// # Errors
    /// When they cannot be had.
    pub async fn alerts(&self, most: usize) -> Result<Alerts, Error> {
        let path = "/api/v2/alerts?active=true&silenced=true&inhibited=true&unprocessed=true";
        let request = Request::new("listing alerts", Method::GET, path).up_to(LIST_LIMIT);
        let answer = self.client.send(request).await?;
        if answer.status() != StatusCode::OK {
            return Err(failure(&answer));
        }
        answer.json_with(types::Most(most))
    }

    async fn single(&self, what: &'static str, method: Method, id: &str) -> Result<Answer, Error> {
        let request = Request::new(what, method, format!("/api/v2/silence/{id}"));
        if !is_id(id) {
            return Err(self.client.refuse(&request, Cause::BadId));
        }
        self.client.send(request).await
    }
}

/// Nothing in it needs to be escaped in a path or can lead out of it.
fn is_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !text.is_empty() && text.len() <= LONGEST_ID && text.bytes().all(plain)
}

/// What Alertmanager itself says about a failure.
fn complaint(answer: &Answer) -> Option<String> {
    match answer.maybe_json()? {
        Complaint::Text(text) | Complaint::Coded { message: text, .. } => Some(text),
    }
}

/// Does Alertmanager say that it does not know this silence? It says so with no body (to a POST with a string), while a
/// router that does not know the path sends words, and so do proxies.
fn is_unknown(answer: &Answer) -> bool {
    answer.status() == StatusCode::NOT_FOUND
        && (answer.body().trim_ascii().is_empty() || matches!(answer.maybe_json(), Some(Complaint::Text(_))))
}

fn failure(answer: &Answer) -> Error {
    answer.failure(complaint(answer).as_deref())
}

fn unexpected(answer: &Answer, what: &str) -> Error {
    answer.error(Cause::Unexpected(Surprise::Json(answer.quote(what))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_lead_to_another_path() {
        assert!(is_id("f3b1c9a0-4d5e-4f60-8a7b-9c0d1e2f3a4b"));
        for bad in ["", "../status", "a/b", "a b", "a%2e", "ä", "a\n", "a?x", &"a".repeat(129)] {
            assert!(!is_id(bad), "{bad:?}");
        }
    }
}
