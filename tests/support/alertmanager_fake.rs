//! An Alertmanager in this process, for what no real one can be made to do: a list that fails as a whole, a POST that is
//! applied and never answered, proxies that answer in its place, silences that come back. It follows the real one in
//! what it implements, and notes every request.

mod store;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use self::store::Store;
use super::alertmanagers::Release;

/// How the fake is set up.
pub struct Setup {
    pub release: Release,
    pub route_prefix: String,
    /// Certificate and key in PEM; without, the fake speaks plain HTTP.
    pub tls: Option<(String, String)>,
    /// With TLS: the CA, in PEM, of the certificates that clients must show.
    pub client_authority: Option<String>,
    /// 0 is no limit.
    pub max_silences: usize,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            release: Release::New,
            route_prefix: "/".to_owned(),
            tls: None,
            client_authority: None,
            max_silences: 0,
        }
    }
}

/// A call of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `GET /silences`.
    List,
    /// `GET /silence/{id}`.
    Get,
    /// `POST /silences`.
    Post,
    /// `DELETE /silence/{id}`.
    Delete,
    /// `GET /status`.
    Status,
    /// `GET /alerts`.
    Alerts,
    /// `POST /alerts`.
    Fire,
    /// Whatever Alertmanager does not have.
    Other,
    /// In faults and counts: all of them.
    Any,
}

/// What is done to a call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Something else is answered; nothing is applied.
    Answer(Answer),
    /// Nothing is applied and nothing is ever answered.
    Never,
    /// Applied, but never answered.
    AppliedThenNever,
    /// Applied, but the connection is closed instead of an answer.
    AppliedThenClosed,
    /// Applied and answered after this time.
    Late(Duration),
}

impl Fault {
    /// One silence with several sets of matchers among them makes the whole list fail.
    pub fn multiple_sets(id: &str) -> Self {
        let text =
            format!("silence '{id}' has multiple matcher sets which is not supported by this API version");
        Self::Answer(Answer::json(500, &json!(text)))
    }

    /// Too many GET requests at once.
    pub fn too_many() -> Self {
        Self::status(503, "Limit of concurrent GET requests reached (8), try again later.\n\n")
    }

    /// A proxy that sends people to its login.
    pub fn redirect(location: &str) -> Self {
        let Self::Answer(answer) = Self::status(302, "<a href=\"/login\">Found</a>.\n\n") else {
            unreachable!()
        };
        Self::Answer(Answer { location: Some(location.to_owned()), ..answer })
    }

    /// A proxy that shows its login at once.
    pub fn page() -> Self {
        let body = "<!doctype html><title>Sign in</title>".to_owned();
        Self::Answer(Answer { status: 200, content_type: Some("text/html"), location: None, body })
    }

    /// A status with a plain text, as proxies answer.
    pub fn status(status: u16, body: &str) -> Self {
        let content_type = Some("text/plain; charset=utf-8");
        Self::Answer(Answer { status, content_type, location: None, body: body.to_owned() })
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub content_type: Option<&'static str>,
    pub location: Option<String>,
    pub body: String,
}

impl Answer {
    /// With JSON and a newline, as Alertmanager writes it.
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, content_type: Some("application/json"), location: None, body: format!("{body}\n") }
    }

    /// Without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, content_type: None, location: None, body: String::new() }
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub call: Call,
    pub method: String,
    /// With the query.
    pub path: String,
    pub host: String,
    /// The name that the client asked for in its TLS handshake.
    pub server_name: Option<String>,
    /// Whether there were credentials.
    pub is_authorized: bool,
    /// `X-Scope-OrgID`.
    pub tenant: Option<String>,
    /// JSON, or null.
    pub body: Value,
}

/// The fake; it ends with this value.
pub struct Fake {
    pub address: SocketAddr,
    is_tls: bool,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    prefix: String,
    connections: AtomicUsize,
    inner: Mutex<Inner>,
}

struct Inner {
    store: Store,
    cluster: Value,
    started: jiff::Timestamp,
    authorization: Option<String>,
    /// The oldest first; with how often they are still to happen.
    faults: Vec<(Call, Fault, usize)>,
    seen: Vec<Seen>,
}

impl Fake {
    pub async fn start(setup: Setup) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let acceptor = setup.tls.as_ref().map(|(certificate, key)| {
            super::cluster::install_crypto();
            let authority = setup.client_authority.as_deref().map(str::as_bytes);
            let loaded = usher::serve::tls::build(certificate.as_bytes(), key.as_bytes(), authority, "fake");
            TlsAcceptor::from(loaded.unwrap().config)
        });
        let mut store = Store::new(setup.release);
        store.max_silences = setup.max_silences;
        let inner = Inner {
            store,
            cluster: json!({"status": "disabled", "peers": []}),
            started: jiff::Timestamp::now(),
            authorization: None,
            faults: Vec::new(),
            seen: Vec::new(),
        };
        let shared = Arc::new(Shared {
            prefix: setup.route_prefix.trim_end_matches('/').to_owned(),
            connections: AtomicUsize::new(0),
            inner: Mutex::new(inner),
        });
        let is_tls = acceptor.is_some();
        let known = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            // Connections end with the task.
            let mut connections = JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                known.connections.fetch_add(1, Ordering::Relaxed);
                while connections.try_join_next().is_some() {}
                let (acceptor, shared) = (acceptor.clone(), Arc::clone(&known));
                connections.spawn(async move {
                    let Some(acceptor) = acceptor else { return converse(stream, shared, None).await };
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let name = stream.get_ref().1.server_name().map(str::to_owned);
                    converse(stream, shared, name).await;
                });
            }
        });
        Self { address, is_tls, shared, task }
    }

    /// What stands before `/api/v2`.
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.address, self.shared.prefix)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.inner()
    }

    /// Does this to such calls from now on; the latest fault of a call counts.
    pub fn always(&self, call: Call, fault: Fault) {
        self.times(usize::MAX, call, fault);
    }

    /// Does this to the next such call only.
    pub fn once(&self, call: Call, fault: Fault) {
        self.times(1, call, fault);
    }

    /// Does this to so many of the next such calls.
    pub fn times(&self, count: usize, call: Call, fault: Fault) {
        self.inner().faults.push((call, fault, count));
    }

    /// Ends all faults; calls that hang stay without an answer.
    pub fn heal(&self) {
        self.inner().faults.clear();
    }

    /// From now on everything but this bearer token is answered with 401.
    pub fn expect_token(&self, token: &str) {
        self.inner().authorization = Some(format!("Bearer {token}"));
    }

    /// The `cluster` of `/status`.
    pub fn set_cluster(&self, cluster: Value) {
        self.inner().cluster = cluster;
    }

    /// All silences, the expired too.
    pub fn silences(&self) -> Vec<Value> {
        self.inner().store.list()
    }

    /// The silences that are active or pending.
    pub fn live(&self) -> Vec<Value> {
        let mut silences = self.silences();
        silences.retain(|silence| silence["status"]["state"] != "expired");
        silences
    }

    /// Puts a silence there as gossip or somebody else does, unchecked; gives its id, which may be given.
    pub fn insert(&self, silence: &Value) -> String {
        self.inner().store.insert(silence)
    }

    /// An expired silence comes back as it was before the call that ended it: a ghost.
    pub fn revive(&self, id: &str) {
        self.inner().store.revive(id);
    }

    /// Forgets one silence, as after its retention.
    pub fn forget(&self, id: &str) {
        self.inner().store.forget(Some(id));
    }

    /// Forgets all silences, as a restart without a volume does.
    pub fn forget_all(&self) {
        self.inner().store.forget(None);
    }

    /// Every request so far, those that were refused or not answered too.
    pub fn seen(&self) -> Vec<Seen> {
        self.inner().seen.clone()
    }

    /// How many such requests there were.
    pub fn count(&self, call: Call) -> usize {
        self.inner().seen.iter().filter(|seen| call == Call::Any || seen.call == call).count()
    }

    /// How many connections there were, also those without a request.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Begins the notes and counts anew.
    pub fn forget_seen(&self) {
        self.inner().seen.clear();
        self.shared.connections.store(0, Ordering::Relaxed);
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    shared: Arc<Shared>,
    name: Option<String>,
) {
    let service = service_fn(move |request| {
        let (shared, name) = (Arc::clone(&shared), name.clone());
        async move { serve(&shared, name, request).await.map(into_response) }
    });
    let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
}

fn into_response(answer: Answer) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(answer.status);
    if let Some(content_type) = answer.content_type {
        response = response.header("content-type", content_type);
    }
    if let Some(location) = answer.location {
        response = response.header("location", location);
    }
    response.body(Full::new(Bytes::from(answer.body))).unwrap()
}

/// An error closes the connection.
async fn serve(
    shared: &Shared,
    server_name: Option<String>,
    request: Request<Incoming>,
) -> std::io::Result<Answer> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
    let header = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (method, path) = (head.method.as_str(), head.uri.path());
    let route = path.strip_prefix(&shared.prefix).and_then(|path| path.strip_prefix("/api/v2/"));
    let (call, id) = route.map_or((Call::Other, ""), |route| recognise(method, route));
    let fault = {
        let mut inner = shared.inner();
        inner.seen.push(Seen {
            call,
            method: method.to_owned(),
            path: head.uri.path_and_query().map_or_else(String::new, ToString::to_string),
            host: header("host")
                .or_else(|| head.uri.authority().map(ToString::to_string))
                .unwrap_or_default(),
            server_name,
            is_authorized: head.headers.contains_key("authorization"),
            tenant: header("x-scope-orgid"),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        });
        inner.fault(call)
    };
    match &fault {
        Some(Fault::Answer(answer)) => return Ok(answer.clone()),
        Some(Fault::Never) => return never().await,
        _ => {}
    }
    let is_json = header("content-type").is_some_and(|told| told.starts_with("application/json"));
    let answer = {
        let mut inner = shared.inner();
        if inner.authorization.is_some() && inner.authorization != header("authorization") {
            return Ok(Answer { content_type: Some("text/plain"), ..Answer::empty(401) });
        }
        let query = parameters(head.uri.query().unwrap_or_default());
        match call {
            Call::Post | Call::Fire if !is_json && !body.is_empty() => {
                let told = header("content-type").unwrap_or_default();
                let message = format!("unsupported media type {told:?}, only [application/json] are allowed");
                Answer::json(415, &json!({"code": 415, "message": message}))
            }
            Call::List => inner.store.query(&query),
            Call::Get => inner.store.get(id),
            Call::Post => inner.store.post(&body),
            Call::Delete => inner.store.delete(id),
            Call::Status => inner.status(),
            Call::Alerts => inner.store.alerts(&query),
            Call::Fire => inner.store.fire(&body),
            Call::Other | Call::Any => {
                Answer::json(404, &json!({"code": 404, "message": format!("path {path} was not found")}))
            }
        }
    };
    match fault {
        Some(Fault::AppliedThenNever) => return never().await,
        Some(Fault::AppliedThenClosed) => return Err(std::io::Error::other("no answer")),
        Some(Fault::Late(time)) => tokio::time::sleep(time).await,
        _ => {}
    }
    Ok(answer)
}

async fn never<T>() -> T {
    match std::future::pending::<Infallible>().await {}
}

fn recognise<'a>(method: &str, route: &'a str) -> (Call, &'a str) {
    match (method, route, route.strip_prefix("silence/")) {
        ("GET", "silences", _) => (Call::List, ""),
        ("POST", "silences", _) => (Call::Post, ""),
        ("GET", "status", _) => (Call::Status, ""),
        ("GET", "alerts", _) => (Call::Alerts, ""),
        ("POST", "alerts", _) => (Call::Fire, ""),
        ("GET", _, Some(id)) => (Call::Get, id),
        ("DELETE", _, Some(id)) => (Call::Delete, id),
        _ => (Call::Other, ""),
    }
}

/// The parameters of a query, decoded.
fn parameters(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(k, v)| (decode(k), decode(v)))
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits: String = rest.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&digits, 16).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Shared {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn fault(&mut self, call: Call) -> Option<Fault> {
        let fits = |(of, _, left): &&mut (Call, Fault, usize)| (*of == Call::Any || *of == call) && *left > 0;
        let (_, fault, left) = self.faults.iter_mut().rev().find(fits)?;
        *left = if *left == usize::MAX { *left } else { *left - 1 };
        Some(fault.clone())
    }

    fn status(&self) -> Answer {
        let body = json!({
            "cluster": self.cluster,
            "config": {"original": ""},
            "uptime": store::time(self.started),
            "versionInfo": {
                "version": self.store.release.version(), "revision": "", "branch": "",
                "buildUser": "", "buildDate": "", "goVersion": "",
            },
        });
        Answer::json(200, &body)
    }
}
