//! One connection to one server: found, opened, secured, all within the time that connecting may take.
//!
//! What fails in here fails before a request is sent; the error says how. A server that asks for a certificate when
//! there is none is remembered on the connection: TLS 1.3 tells the client of its refusal only afterwards, and the
//! request that is already on its way may break the connection before the refusal can be read.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::ServerName;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::endpoint::{BadAddress, Endpoint, Scheme};
use super::error::{Cause, Outage, TlsFault};
use super::peer_text::PeerText;
use super::trust;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Fault(pub(super) Cause);

/// Opens connections to one server, whatever the request's URL says.
#[derive(Clone)]
pub(super) struct Connector(Arc<Route>);

struct Route {
    host: String,
    port: u16,
    connect: Option<SocketAddr>,
    tls: Option<(ClientConfig, ServerName<'static>)>,
    patience: Duration,
}

/// What is known of a connection besides its bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Mark {
    /// The server asked for a certificate that there is none of.
    missed: Arc<AtomicBool>,
    /// A response has come over it.
    answered: Arc<AtomicBool>,
}

impl Mark {
    /// The mark of a connection that a request went over.
    pub(super) fn of(connected: &Connected) -> Self {
        let mut extras = http::Extensions::new();
        connected.get_extras(&mut extras);
        extras.remove::<Self>().unwrap_or_default()
    }

    /// Remembers that the server talks over it.
    pub(super) fn answer(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Did the server ask for a certificate in vain and say nothing since?
    pub(super) fn wants_certificate(&self) -> bool {
        self.missed.load(Ordering::Relaxed) && !self.answered.load(Ordering::Relaxed)
    }
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint, patience: Duration) -> Result<Self, Cause> {
        let tls = match endpoint.scheme {
            Scheme::Http => None,
            Scheme::Https => {
                let name = ServerName::try_from(endpoint.host.clone())
                    .map_err(|_| Cause::Address("a name that no certificate can have"))?;
                Some((trust::configure(endpoint)?, name))
            }
        };
        let (host, port, connect) = (endpoint.host.clone(), endpoint.port, endpoint.connect);
        Ok(Self(Arc::new(Route { host, port, connect, tls, patience })))
    }
}

impl From<BadAddress> for Cause {
    fn from(bad: BadAddress) -> Self {
        Self::Address(bad.0)
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<Wire>;
    type Error = Fault;
    type Future = BoxFuture<'static, Result<Self::Response, Fault>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let route = Arc::clone(&self.0);
        Box::pin(async move {
            let slow = Fault(Cause::Unavailable(Outage::SlowConnect(route.patience)));
            match tokio::time::timeout(route.patience, route.open()).await {
                Ok(opened) => opened.map(TokioIo::new).map_err(Fault),
                Err(_) => Err(slow),
            }
        })
    }
}

impl Route {
    async fn open(&self) -> Result<Wire, Cause> {
        let stream = self.reach().await?;
        // Requests are small and wait for their answer.
        let _ = stream.set_nodelay(true);
        let mark = Mark::default();
        let Some((config, name)) = &self.tls else { return Ok(Wire { stream: Box::new(stream), mark }) };
        let mut config = config.clone();
        if !config.client_auth_cert_resolver.has_certs() {
            config.client_auth_cert_resolver = Arc::new(Empty(Arc::clone(&mark.missed)));
        }
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name.clone(), stream)
            .await
            .map_err(|error| refused(&error, &mark))?;
        Ok(Wire { stream: Box::new(stream), mark })
    }

    /// Tries the addresses one after the other; each has its share of the time, so that a dead one does not take it all.
    async fn reach(&self) -> Result<TcpStream, Cause> {
        let unresolved = |why: &str| Cause::Unavailable(Outage::Resolve(PeerText::new(why, &[])));
        let addresses: Vec<SocketAddr> = match self.connect {
            Some(address) => vec![address],
            None => tokio::net::lookup_host((self.host.as_str(), self.port))
                .await
                .map_err(|error| unresolved(&error.to_string()))?
                .collect(),
        };
        let share = self.patience / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut last = unresolved("it has no address");
        for address in addresses {
            last = match tokio::time::timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => {
                    let text = format!("{address}: {error}");
                    Cause::Unavailable(Outage::Connect(PeerText::new(&text, &[])))
                }
                Err(_) => Cause::Unavailable(Outage::SlowConnect(share)),
            };
        }
        Err(last)
    }
}

/// A handshake that came to nothing.
fn refused(error: &io::Error, mark: &Mark) -> Cause {
    match rustls_error(error).map(trust::fault) {
        // What Go's TLS 1.2 says to a client without a certificate.
        Some(TlsFault::Handshake(_)) | None if mark.wants_certificate() => {
            Cause::Tls(TlsFault::ClientCertificate)
        }
        Some(fault) => Cause::Tls(fault),
        None => {
            let text = format!("the TLS handshake was broken off: {error}");
            Cause::Unavailable(Outage::Connect(PeerText::new(&text, &[])))
        }
    }
}

/// What rustls had to say, where it was rustls.
pub(super) fn rustls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Has no certificate, and remembers that one was asked for.
#[derive(Debug)]
struct Empty(Arc<AtomicBool>);

impl ResolvesClientCert for Empty {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.store(true, Ordering::Relaxed);
        None
    }

    fn has_certs(&self) -> bool {
        false
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An open connection, with or without TLS.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    mark: Mark,
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        Connected::new().extra(self.mark.clone())
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_failure_after_a_question_for_a_certificate_is_about_that() {
        let alert = rustls::Error::AlertReceived(rustls::AlertDescription::HandshakeFailure);
        let error = io::Error::new(io::ErrorKind::InvalidData, alert);
        let mark = Mark::default();
        assert!(matches!(refused(&error, &mark), Cause::Tls(TlsFault::Handshake(_))));
        let ended = io::Error::from(io::ErrorKind::UnexpectedEof);
        assert!(matches!(refused(&ended, &mark), Cause::Unavailable(Outage::Connect(_))));
        assert!(Empty(Arc::clone(&mark.missed)).resolve(&[], &[]).is_none());
        for error in [error, ended] {
            assert_eq!(refused(&error, &mark), Cause::Tls(TlsFault::ClientCertificate));
        }
    }
}
