//! A server that answers as a test says, and remembers who came.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use usher::upstream::endpoint::Scheme;
use usher::upstream::http::{Client, Timeouts};
use usher::upstream::{Endpoint, Error};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

type Answering = Arc<dyn Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync>;

/// A server on a loopback port of its own.
pub struct Server {
    pub address: SocketAddr,
    pub connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Gives the same answer to everybody.
    pub async fn saying(status: u16, body: &str) -> Self {
        let body = body.to_owned();
        Self::start(None, move |_| reply(status, &body)).await
    }

    pub async fn start(
        tls: Option<ServerConfig>,
        answering: impl Fn(&Seen) -> Response<Full<Bytes>> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let answering: Answering = Arc::new(answering);
        let acceptor = tls.map(|config| TlsAcceptor::from(Arc::new(config)));
        let (counted, noted) = (Arc::clone(&connections), Arc::clone(&seen));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                counted.fetch_add(1, Ordering::SeqCst);
                let (acceptor, answering, noted) =
                    (acceptor.clone(), Arc::clone(&answering), Arc::clone(&noted));
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream, answering, noted).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, answering, noted).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, connections, seen }
    }

    pub fn endpoint(&self) -> Endpoint {
        Endpoint::new(Scheme::Http, self.address.ip().to_string(), self.address.port())
    }

    pub fn client(&self) -> Client {
        client(self.endpoint())
    }

    /// Everything that came.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn last(&self) -> Seen {
        self.seen().pop().unwrap()
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    answering: Answering,
    noted: Arc<Mutex<Vec<Seen>>>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let (answering, noted) = (Arc::clone(&answering), Arc::clone(&noted));
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
            let seen = Seen { method: head.method, uri: head.uri, headers: head.headers, body };
            noted.lock().unwrap().push(seen.clone());
            let answer = answering(&seen);
            if answer.extensions().get::<HangUp>().is_some() {
                return Err(std::io::Error::other("hung up"));
            }
            Ok(answer)
        }
    });
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

pub fn reply(status: u16, body: &str) -> Response<Full<Bytes>> {
    Response::builder().status(status).body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

/// Marks an answer that is not given: the connection ends instead.
#[derive(Clone)]
struct HangUp;

pub fn hang_up() -> Response<Full<Bytes>> {
    let mut answer = reply(200, "");
    answer.extensions_mut().insert(HangUp);
    answer
}

/// Short enough for a test, long enough for a busy machine.
pub fn timeouts() -> Timeouts {
    use std::time::Duration;
    Timeouts { connect: Duration::from_millis(1500), request: Duration::from_secs(3) }
}

pub fn client(endpoint: Endpoint) -> Client {
    Client::new(endpoint, timeouts()).unwrap()
}

/// Fails unless the error is of this label; gives its text.
pub fn text_of<T: std::fmt::Debug>(result: Result<T, Error>, label: &str) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.label(), label, "{error}");
    error.to_string()
}
