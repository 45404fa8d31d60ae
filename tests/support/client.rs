//! A TLS client of our own: every test decides about protocol, trust and certificates.

use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// What a client trusts and shows.
#[derive(Clone)]
pub struct Trust {
    config: Arc<ClientConfig>,
}

impl Trust {
    /// Trusts this CA; speaks HTTP/2 or HTTP/1.1.
    pub fn new(authority: &str, http2: bool, identity: Option<(&str, &str)>) -> Self {
        super::cluster::install_crypto();
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(authority.as_bytes()) {
            roots.add(certificate.unwrap()).unwrap();
        }
        let builder = ClientConfig::builder().with_root_certificates(roots);
        let mut config = match identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain =
                    CertificateDer::pem_slice_iter(certificate.as_bytes()).map(Result::unwrap).collect();
                builder
                    .with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap())
                    .unwrap()
            }
        };
        config.alpn_protocols = vec![if http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Self { config: Arc::new(config) }
    }

    /// A handshake.
    pub async fn connect(&self, address: SocketAddr) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let name = ServerName::try_from("127.0.0.1").unwrap();
        TlsConnector::from(Arc::clone(&self.config)).connect(name, stream).await
    }

    /// The serial number of the certificate that a fresh handshake shows, in hexadecimal.
    pub async fn serial(&self, address: SocketAddr) -> std::io::Result<String> {
        // Without resumption: a resumed session shows the old certificate.
        let mut config = (*self.config).clone();
        config.resumption = rustls::client::Resumption::disabled();
        let stream = Self { config: Arc::new(config) }.connect(address).await?;
        let chain = stream.get_ref().1.peer_certificates().unwrap();
        let (_, leaf) = x509_parser::parse_x509_certificate(&chain[0]).unwrap();
        Ok(leaf.raw_serial_as_string().replace(':', ""))
    }
}

/// An open connection that sends one request after the other (HTTP/2: several at once from clones).
pub enum Connection {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    pub async fn open(
        trust: &Trust,
        address: SocketAddr,
    ) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
        let stream = trust.connect(address).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let io = TokioIo::new(stream);
        if is_http2 {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await?;
            tokio::spawn(connection);
            Ok(Self::Http2(sender))
        } else {
            let (sender, connection) = http1::handshake(io).await?;
            tokio::spawn(connection);
            Ok(Self::Http1(sender))
        }
    }

    /// Another handle of an HTTP/2 connection.
    pub fn another(&self) -> Self {
        match self {
            Self::Http2(sender) => Self::Http2(sender.clone()),
            Self::Http1(_) => panic!("HTTP/1.1 has one request at a time"),
        }
    }

    /// Posts JSON; gives the status and the body.
    pub async fn post(
        &mut self,
        address: SocketAddr,
        path: &str,
        body: Bytes,
    ) -> Result<(u16, Bytes), Box<dyn std::error::Error + Send + Sync>> {
        let uri = match self {
            Self::Http1(_) => path.to_owned(),
            Self::Http2(_) => format!("https://{address}{path}"),
        };
        let request = hyper::Request::post(uri)
            .header("host", address.to_string())
            .header("content-type", "application/json")
            .body(Full::new(body))?;
        let response = match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(request).await?
            }
        };
        let status = response.status().as_u16();
        Ok((status, response.into_body().collect().await?.to_bytes()))
    }
}

/// A review of a good Silence, about 2 KB with its managedFields, as the API server sends it.
pub fn silence_review() -> Bytes {
    Bytes::from_static(include_bytes!("silence-review.json"))
}
