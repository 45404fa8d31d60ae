//! The client of one server: HTTP/1.1, connections kept for the next request, every call bounded in time and size.
//!
//! A [`Request`] goes out with the server's credentials and comes back as an [`Answer`] of whatever status, or as an
//! [`Error`] that knows whether the server may have heard of it. Redirects are answers like any other: who follows one
//! sends credentials to somebody else. Nothing is sent twice, except where the connection was closed before the request
//! was written.

use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{self, Client as Pool};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::io::AsyncReadExt as _;

use super::answer::Answer;
use super::connect::{Connector, Fault, Mark, rustls_error};
use super::endpoint::{Auth, Endpoint};
use super::error::{Cause, Error, Outage, Surprise, TlsFault};
use super::peer_text::PeerText;
use super::trust;
use crate::model::secret_text::SecretText;

/// What every request says about its sender.
pub const AGENT: &str = concat!("usher/", env!("CARGO_PKG_VERSION"));
/// Connections kept for later; one reconciler rarely has more calls to one server under way.
const MOST_IDLE: usize = 8;
/// How long they are kept: less than the minute after which proxies begin to close them from their side.
const IDLE: Duration = Duration::from_secs(30);
/// An answer that is not a list.
const USUAL_LIMIT: usize = 1 << 20;
/// A token in a file; those of Kubernetes have about 1 KiB.
const TOKEN_LIMIT: u64 = 64 << 10;

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is there, TLS included.
    pub connect: Duration,
    /// Until the last byte of the answer, connecting included.
    pub request: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(2), request: Duration::from_secs(10) }
    }
}

/// What is asked of a server.
#[derive(Debug, Clone)]
pub struct Request {
    what: &'static str,
    method: Method,
    path: String,
    body: Option<(&'static str, Bytes)>,
    accept: &'static str,
    limit: usize,
}

impl Request {
    /// A request without a body; `what` names it in errors ("listing silences"), the path begins with a slash.
    pub fn new(what: &'static str, method: Method, path: impl Into<String>) -> Self {
        let path = path.into();
        Self { what, method, path, body: None, accept: "application/json", limit: USUAL_LIMIT }
    }

    /// The same with a body.
    #[must_use]
    pub fn with_body(mut self, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        self.body = Some((content_type, body.into()));
        self
    }

    /// The same for another answer than JSON.
    #[must_use]
    pub fn accepting(mut self, content_type: &'static str) -> Self {
        self.accept = content_type;
        self
    }

    /// The same for an answer of up to this many bytes.
    #[must_use]
    pub fn up_to(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }
}

/// The client of one server. Clones share its connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    endpoint: Endpoint,
    base: String,
    server: Arc<str>,
    timeouts: Timeouts,
    pool: Pool<Connector, Full<Bytes>>,
}

/// Credentials as they are sent, and what of them must not be shown.
struct Credentials {
    header: Option<HeaderValue>,
    secrets: Vec<SecretText>,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").field("server", &self.0.server).finish_non_exhaustive()
    }
}

impl Client {
    /// A client; nothing is sent yet.
    ///
    /// # Errors
    /// When the address, the trust or the client certificate cannot be used, or a token would go to an unproven server.
    pub fn new(endpoint: Endpoint, timeouts: Timeouts) -> Result<Self, Error> {
        let server: Arc<str> = endpoint.to_string().into();
        let fail = |cause| Error::unsent("preparing calls", Arc::clone(&server), cause);
        let base = endpoint.base().map_err(|bad| fail(bad.into()))?;
        if matches!(endpoint.auth, Auth::BearerFile { verified_only: true, .. }) && !endpoint.is_verified() {
            return Err(fail(Cause::Tls(TlsFault::Unverified)));
        }
        let connector = Connector::new(&endpoint, timeouts.connect).map_err(fail)?;
        let pool = Pool::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(MOST_IDLE)
            .build(connector);
        Ok(Self(Arc::new(Inner { endpoint, base, server, timeouts, pool })))
    }

    /// The server that it is for.
    pub fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    /// The error of a request that is not sent at all.
    pub(super) fn refuse(&self, request: &Request, cause: Cause) -> Error {
        Error::unsent(request.what, Arc::clone(&self.0.server), cause)
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// When there is none in time, or it is too long. An answer of any status is an [`Answer`].
    pub async fn send(&self, request: Request) -> Result<Answer, Error> {
        let Request { what, limit, .. } = request;
        let Inner { server, timeouts, pool, .. } = &*self.0;
        let unsent = |cause| Error::unsent(what, Arc::clone(server), cause);
        let maybe = |cause| Error::maybe_sent(what, Arc::clone(server), cause);

        let mut wire = None;
        let exchange = async {
            let credentials = self.credentials().await.map_err(|why| unsent(Cause::Credentials(why)))?;
            let mut request = self.compose(request, credentials.header).map_err(unsent)?;
            let seen = &*wire.insert(capture_connection(&mut request));
            let response = pool.request(request).await.map_err(|error| {
                let (cause, arrived) = no_answer(&error, seen);
                if arrived { maybe(cause) } else { unsent(cause) }
            })?;
            if let Some(connected) = &*seen.connection_metadata() {
                Mark::of(connected).answer();
            }
            let (head, body) = response.into_parts();
            let body = read(&head.headers, body, limit).await.map_err(maybe)?;
            Ok(Answer::new(what, Arc::clone(server), head.status, head.headers, body, credentials.secrets))
        };
        let answer = tokio::time::timeout(timeouts.request, exchange).await;
        answer.unwrap_or_else(|_| {
            let cause = Cause::Unavailable(Outage::Slow(timeouts.request));
            // Without a connection there was nothing to send the request over.
            let connected = wire.is_some_and(|wire| wire.connection_metadata().is_some());
            Err(if connected { maybe(cause) } else { unsent(cause) })
        })
    }

    fn compose(
        &self,
        asked: Request,
        auth: Option<HeaderValue>,
    ) -> Result<http::Request<Full<Bytes>>, Cause> {
        let Inner { endpoint, base, .. } = &*self.0;
        let (content_type, body) = asked.body.unzip();
        let mut request = http::Request::builder()
            .method(asked.method)
            .uri(format!("{base}{}", asked.path))
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|_| Cause::Address("a path that no URL can have"))?;
        let headers = request.headers_mut();
        headers.extend(endpoint.headers.iter().cloned());
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        headers.insert(ACCEPT, HeaderValue::from_static(asked.accept));
        if let Some(content_type) = content_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if let Some(auth) = auth {
            headers.insert(AUTHORIZATION, auth);
        }
        Ok(request)
    }

    async fn credentials(&self) -> Result<Credentials, String> {
        match &self.0.endpoint.auth {
            Auth::None => Ok(Credentials { header: None, secrets: Vec::new() }),
            Auth::Bearer(token) => bearer(token.expose(), "the token"),
            Auth::BearerFile { path, .. } => {
                let name = path.display();
                let unreadable = |error: io::Error| format!("reading {name}: {error}");
                let mut text = String::new();
                let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
                file.take(TOKEN_LIMIT).read_to_string(&mut text).await.map_err(unreadable)?;
                bearer(&text, &format!("the token in {name}"))
            }
            Auth::Basic { username, password } => {
                if username.contains(':') {
                    return Err("the user name has a colon in it".to_owned());
                }
                let encoded = STANDARD.encode(format!("{username}:{}", password.expose()));
                let header = sensitive(&format!("Basic {encoded}")).ok();
                Ok(Credentials { header, secrets: vec![password.clone(), SecretText::from(encoded)] })
            }
        }
    }
}

/// Secrets are often written with a line end behind them.
fn bearer(token: &str, name: &str) -> Result<Credentials, String> {
    let token = token.trim();
    if token.is_empty() {
        return Err(format!("{name} is empty"));
    }
    let header = sensitive(&format!("Bearer {token}"))
        .map_err(|()| format!("{name} has characters that no header can have"))?;
    Ok(Credentials { header: Some(header), secrets: vec![SecretText::from(token.to_owned())] })
}

fn sensitive(text: &str) -> Result<HeaderValue, ()> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ())?;
    value.set_sensitive(true);
    Ok(value)
}

/// Why no answer began, and whether the request may have been heard.
fn no_answer(error: &legacy::Error, seen: &CaptureConnection) -> (Cause, bool) {
    let mut text = error.to_string();
    let mut unsent = error.is_connect();
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(Fault(cause)) = source.downcast_ref() {
            return (cause.clone(), false);
        }
        if let Some(error) = source.downcast_ref::<io::Error>().and_then(rustls_error) {
            let fault = trust::fault(error);
            // A server that refuses the certificate reads no request.
            let arrived = !unsent && fault != TlsFault::ClientCertificate;
            return (Cause::Tls(fault), arrived);
        }
        // Cancelled is what hyper calls a request that it could not begin to write.
        unsent |= source.downcast_ref().is_some_and(hyper::Error::is_canceled);
        text = source.to_string();
        next = source.source();
    }
    let metadata = seen.connection_metadata();
    if metadata.as_ref().is_some_and(|connected| Mark::of(connected).wants_certificate()) {
        // An inference: a server that merely offers to look at a certificate may break too, having read the request.
        return (Cause::Tls(TlsFault::ClientCertificate), !unsent);
    }
    (Cause::Unavailable(Outage::Broken(PeerText::new(&text, &[]))), !unsent)
}

async fn read(headers: &HeaderMap, mut body: Incoming, limit: usize) -> Result<Vec<u8>, Cause> {
    let too_long = || Cause::Unexpected(Surprise::TooLong(limit));
    let announced = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(too_long());
    }
    // What is announced is not yet sent: room for more is made when it comes.
    let mut bytes = Vec::with_capacity(announced.unwrap_or_default().min(USUAL_LIMIT));
    while let Some(frame) = body.frame().await {
        let broken =
            |error: hyper::Error| Cause::Unavailable(Outage::Broken(PeerText::new(&error.to_string(), &[])));
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(too_long());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}
