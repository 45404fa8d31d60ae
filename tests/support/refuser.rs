//! A second validating webhook, which refuses what it is told to: somebody else's webhook that comes after usher's claim.

use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::cluster::Cluster;
use super::install;

/// Refuses Accounts whose names begin with `refused`.
pub struct Refuser {
    task: tokio::task::JoinHandle<()>,
}

impl Refuser {
    pub async fn start(cluster: &Cluster) -> Self {
        let made = usher::certs::material::make(&["127.0.0.1".to_owned()]).unwrap();
        let (certificate, key) = (made.pair.certificate.as_bytes(), made.pair.key.expose().as_bytes());
        let loaded = usher::serve::tls::build(certificate, key, None, "refuser").unwrap();
        let acceptor = TlsAcceptor::from(Arc::clone(&loaded.config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let task = tokio::spawn(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let acceptor = acceptor.clone();
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let io = TokioIo::new(stream);
                    if is_http2 {
                        let builder =
                            hyper::server::conn::http2::Builder::new(hyper_util::rt::TokioExecutor::new());
                        let _ = builder.serve_connection(io, service_fn(answer)).await;
                    } else {
                        let builder = hyper::server::conn::http1::Builder::new();
                        let _ = builder.serve_connection(io, service_fn(answer)).await;
                    }
                });
            }
        });
        install::apply(cluster, &[configuration(address, &made.authority)]);
        Self { task }
    }

    pub fn stop(self, cluster: &Cluster) {
        self.task.abort();
        let (ok, _, errors) = cluster.kubectl(&["delete", "validatingwebhookconfiguration", "refuser"], None);
        assert!(ok, "{errors}");
    }
}

fn configuration(address: SocketAddr, authority: &str) -> Value {
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "refuser"},
        "webhooks": [{
            "name": "refuser.usher.test",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": format!("https://{address}/"), "caBundle": bundle},
            "failurePolicy": "Ignore",
            "sideEffects": "None",
            "rules": [{
                "apiGroups": ["uptimerobot.com"], "apiVersions": ["*"],
                "operations": ["CREATE", "UPDATE"], "resources": ["accounts"]
            }]
        }]
    })
}

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let object = &review["request"]["object"];
    let refused = object["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("refused"))
        && object["spec"]["isDefault"] == true;
    // usher's claim comes first.
    if refused {
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    let answer = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": !refused}
    });
    Ok(Response::new(Full::new(Bytes::from(answer.to_string()))))
}
