//! Why a call to a server failed: what was tried, where, why, and whether the server may have heard of it.
//!
//! A [`Cause`] is what reconcilers branch on; its variants are the reasons that users see. No text in here holds a
//! credential or a header that was sent, nor more of a server's own words than a [`PeerText`] does.

use std::sync::Arc;
use std::time::Duration;

use super::peer_text::PeerText;

/// A call that failed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what} at {server}: {cause}")]
pub struct Error {
    what: &'static str,
    server: Arc<str>,
    cause: Cause,
    arrived: bool,
}

/// Why it failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// Nobody answered, or the server says that it cannot now.
    #[error(transparent)]
    Unavailable(Outage),
    /// An answer that this server would not give: a proxy in between, a wrong address, another program.
    #[error("unexpected response: {0}")]
    Unexpected(Surprise),
    /// Status 401.
    #[error("the credentials are not accepted (status 401)")]
    Unauthorized,
    /// Status 403.
    #[error("permission denied (status 403)")]
    Forbidden,
    /// No secure connection, or the server does not let it be one.
    #[error(transparent)]
    Tls(TlsFault),
    /// What is to be sent as credentials cannot be had.
    #[error("the credentials cannot be used: {0}")]
    Credentials(String),
    /// The server refuses what was sent.
    #[error("rejected (status {status}): {message}")]
    Rejected {
        /// 400 or 422.
        status: u16,
        /// What the server says about it.
        message: PeerText,
    },
    /// The server holds as much as it may.
    #[error("a limit is exceeded: {0}")]
    LimitExceeded(PeerText),
    /// The server does not know what was named.
    #[error("not found")]
    NotFound,
    /// A list cannot be given because of one thing in it; single ones can be asked for.
    #[error("the list cannot be given: {0}")]
    Unlistable(PeerText),
    /// Not sent: no id of this server's looks like this.
    #[error("not sent: the id has other characters than letters, digits and dashes")]
    BadId,
    /// Not sent: no request can be made for this address.
    #[error("the address cannot be used: {0}")]
    Address(&'static str),
}

/// How a server is away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Outage {
    /// The name has no address.
    #[error("the name cannot be resolved: {0}")]
    Resolve(PeerText),
    /// No connection.
    #[error("cannot connect: {0}")]
    Connect(PeerText),
    /// No connection in time.
    #[error("no connection within {0:?}")]
    SlowConnect(Duration),
    /// The connection was there, the whole answer was not in time.
    #[error("no complete answer within {0:?}")]
    Slow(Duration),
    /// The connection ended before the answer did.
    #[error("the connection broke: {0}")]
    Broken(PeerText),
    /// Statuses 408, 429 and 5xx.
    #[error("status {status}{}", after_colon(message))]
    Status {
        /// The status.
        status: u16,
        /// What the server says about it.
        message: PeerText,
        /// How long it asks to be left alone.
        retry_after: Option<Duration>,
    },
}

impl Outage {
    /// Did somebody answer, be it only to say that it cannot now?
    pub fn is_an_answer(&self) -> bool {
        matches!(self, Self::Status { .. })
    }
}

/// What is wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Surprise {
    /// A status that the call does not have; redirects are not followed.
    #[error("status {status}{}", after_colon(message))]
    Status {
        /// The status.
        status: u16,
        /// What the server says about it.
        message: PeerText,
    },
    /// A page: of a login, or of whatever else lives at this address.
    #[error("status {0} with a page instead of JSON (a login page, or a wrong path prefix?)")]
    Page(u16),
    /// Not the JSON that belongs here.
    #[error("the body is not the expected JSON: {0}")]
    Json(PeerText),
    /// More than anybody asked for.
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
}

/// Why there is no secure connection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsFault {
    /// The server's certificate is not of a trusted authority, or not the pinned one.
    #[error("the server's certificate is not trusted: {0}")]
    Untrusted(PeerText),
    /// The certificate is another server's.
    #[error("the server's certificate is for another name: {0}")]
    WrongName(PeerText),
    /// The certificate has ended or not begun.
    #[error("the server's certificate is out of date: {0}")]
    OutOfDate(PeerText),
    /// The server wants a client certificate, or another one.
    #[error("the server does not accept the connection without a client certificate that it trusts")]
    ClientCertificate,
    /// The server speaks no TLS.
    #[error("the server does not speak TLS on this port")]
    NotTls,
    /// Anything else between the two.
    #[error("TLS failed: {0}")]
    Handshake(PeerText),
    /// The authorities or the pinned certificate cannot be used.
    #[error("what is to be trusted cannot be used: {0}")]
    Trust(String),
    /// These credentials go to nobody whose identity is not proven.
    #[error("this token is sent over verified TLS only")]
    Unverified,
}

fn after_colon(message: &PeerText) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

impl Error {
    /// A failure that the server has heard nothing of.
    pub(super) fn unsent(what: &'static str, server: Arc<str>, cause: Cause) -> Self {
        Self { what, server, cause, arrived: false }
    }

    /// A failure after which the server may have done what was asked.
    pub(super) fn maybe_sent(what: &'static str, server: Arc<str>, cause: Cause) -> Self {
        Self { what, server, cause, arrived: true }
    }

    /// Why.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// May the server have done what was asked? Whoever sent a change must look before sending it again.
    pub fn may_have_arrived(&self) -> bool {
        self.arrived
    }

    /// Is it worth trying again soon?
    pub fn is_transient(&self) -> bool {
        matches!(self.cause, Cause::Unavailable(_))
    }

    /// How long the server asks to be left alone.
    pub fn retry_after(&self) -> Option<Duration> {
        match &self.cause {
            Cause::Unavailable(Outage::Status { retry_after, .. }) => *retry_after,
            _ => None,
        }
    }

    /// A word for metrics.
    pub fn label(&self) -> &'static str {
        match &self.cause {
            Cause::Unavailable(_) => "unavailable",
            Cause::Unexpected(_) => "unexpected_response",
            Cause::Unauthorized => "unauthorized",
            Cause::Forbidden => "forbidden",
            Cause::Tls(TlsFault::ClientCertificate) => "client_certificate",
            Cause::Tls(_) => "tls",
            Cause::Credentials(_) => "credentials",
            Cause::Rejected { .. } => "rejected",
            Cause::LimitExceeded(_) => "limit_exceeded",
            Cause::NotFound => "not_found",
            Cause::Unlistable(_) => "unlistable",
            Cause::BadId => "bad_id",
            Cause::Address(_) => "address",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_tried_where_and_why() {
        let cause =
            Cause::Rejected { status: 400, message: PeerText::new("end time can't be in the past", &[]) };
        let error = Error::unsent("posting a silence", "http://am:9093".into(), cause);
        assert_eq!(
            error.to_string(),
            "posting a silence at http://am:9093: rejected (status 400): end time can't be in the past"
        );
        assert!(!error.is_transient() && !error.may_have_arrived());
        assert_eq!(error.label(), "rejected");
    }

    #[test]
    fn only_an_outage_is_worth_another_try_soon() {
        let wait = Some(Duration::from_secs(3));
        let outage = Outage::Status { status: 503, message: PeerText::default(), retry_after: wait };
        let error =
            Error::maybe_sent("listing silences", "http://am:9093".into(), Cause::Unavailable(outage));
        assert!(error.is_transient() && error.may_have_arrived());
        assert_eq!(error.retry_after(), wait);
        assert_eq!(error.to_string(), "listing silences at http://am:9093: status 503");
        let other = Error::unsent("listing silences", "http://am:9093".into(), Cause::Unauthorized);
        assert!(!other.is_transient() && other.retry_after().is_none());
    }
}
