//! The floor: hyper and rustls, answering with what they were sent.

use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio_rustls::TlsAcceptor;

async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Ok(Response::new(Full::new(body)))
}

pub fn run() {
    crate::support::cluster::install_crypto();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
        let loaded = usher::serve::tls::build(
            made.pair.certificate.as_bytes(),
            made.pair.key.expose().as_bytes(),
            None,
            "echo",
        )
        .unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let file = std::env::temp_dir().join(format!("usher-echo-{}.pem", std::process::id()));
        std::fs::write(&file, made.authority).unwrap();
        println!("admission https://{}", listener.local_addr().unwrap());
        println!("ca {}", file.display());
        let acceptor = TlsAcceptor::from(Arc::clone(&loaded.config));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                let io = TokioIo::new(stream);
                if is_http2 {
                    let _ = http2::Builder::new(TokioExecutor::new())
                        .serve_connection(io, service_fn(echo))
                        .await;
                } else {
                    let _ = http1::Builder::new().serve_connection(io, service_fn(echo)).await;
                }
            });
        }
    });
}
