//! Whom the client believes, and how it tells one TLS failure from another and from a server that is away.

use std::sync::Arc;

use http::Method;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use usher::model::secret_text::SecretText;
use usher::upstream::endpoint::{Auth, Identity, Scheme, Trust};
use usher::upstream::error::{Cause, TlsFault};
use usher::upstream::http::Request;
use usher::upstream::{Answer, Endpoint, Error};

use crate::server::{Server, client, hang_up, reply};

const NAME: &str = "alertmanager-main-0.alertmanager-operated.monitoring.svc";

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(parameters, key) }
    }

    fn leaf(&self, name: &str, ended: bool) -> Identity {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        if ended {
            parameters.not_after = date_time_ymd(2020, 1, 1);
        }
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        Identity { certificate, key: SecretText::from(key.serialize_pem()) }
    }
}

fn roots(pem: &str) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    Arc::new(roots)
}

fn config(
    leaf: &Identity,
    clients: Option<&Authority>,
    versions: &[&'static SupportedProtocolVersion],
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_protocol_versions(versions).unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(roots(&authority.pem), provider).build().unwrap(),
        ),
    };
    let chain = vec![CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(leaf.key.expose().as_bytes()).unwrap();
    builder.with_single_cert(chain, key).unwrap()
}

async fn start(leaf: &Identity, clients: Option<&Authority>) -> Server {
    Server::start(Some(config(leaf, clients, rustls::ALL_VERSIONS)), |_| reply(200, "{}")).await
}

fn endpoint(server: &Server, trust: Trust) -> Endpoint {
    let mut endpoint = Endpoint::new(Scheme::Https, NAME, 9093);
    (endpoint.connect, endpoint.trust) = (Some(server.address), trust);
    endpoint
}

async fn ask(endpoint: Endpoint) -> Result<Answer, Error> {
    client(endpoint).send(Request::new("telling", Method::POST, "/thing")).await
}

async fn fault(endpoint: Endpoint) -> TlsFault {
    let error = ask(endpoint).await.unwrap_err();
    assert!(!error.is_transient() && !error.may_have_arrived(), "{error:?}");
    let Cause::Tls(fault) = error.cause() else { panic!("{error:?}") };
    fault.clone()
}

#[tokio::test]
async fn a_server_is_verified_by_its_name_wherever_it_is() {
    let authority = Authority::new();
    let server = start(&authority.leaf(NAME, false), None).await;
    ask(endpoint(&server, Trust::Authorities(authority.pem.clone()))).await.unwrap();
    assert_eq!(server.last().header("host"), Some(&*format!("{NAME}:9093")));

    let other = start(&authority.leaf("prometheus.monitoring.svc", false), None).await;
    let trust = Trust::Authorities(authority.pem.clone());
    assert!(matches!(fault(endpoint(&other, trust)).await, TlsFault::WrongName(_)));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn several_authorities_may_be_trusted_and_no_others_are() {
    let (authority, other) = (Authority::new(), Authority::new());
    let server = start(&authority.leaf(NAME, false), None).await;
    let both = format!("{}{}", other.pem, authority.pem);
    ask(endpoint(&server, Trust::Authorities(both))).await.unwrap();
    let trust = Trust::Authorities(other.pem);
    assert!(matches!(fault(endpoint(&server, trust)).await, TlsFault::Untrusted(_)));
    assert!(matches!(
        fault(endpoint(&server, Trust::System)).await,
        TlsFault::Untrusted(_) | TlsFault::Trust(_)
    ));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_certificate_that_has_ended_is_refused_pinned_or_not() {
    let authority = Authority::new();
    let leaf = authority.leaf(NAME, true);
    let server = start(&leaf, None).await;
    for trust in [Trust::Authorities(authority.pem), Trust::Pinned(leaf.certificate)] {
        assert!(matches!(fault(endpoint(&server, trust)).await, TlsFault::OutOfDate(_)));
    }
}

#[tokio::test]
async fn a_pinned_certificate_is_that_one_whatever_its_names() {
    let authority = Authority::new();
    let (leaf, other) = (authority.leaf("elsewhere", false), authority.leaf(NAME, false));
    let server = start(&leaf, None).await;
    ask(endpoint(&server, Trust::Pinned(leaf.certificate.clone()))).await.unwrap();
    let both = format!("{}{}", other.certificate, leaf.certificate);
    ask(endpoint(&server, Trust::Pinned(both))).await.unwrap();
    for wrong in [other.certificate, authority.pem] {
        assert!(matches!(fault(endpoint(&server, Trust::Pinned(wrong))).await, TlsFault::Untrusted(_)));
    }
}

#[tokio::test]
async fn a_pinned_certificate_without_its_key_is_worth_nothing() {
    let authority = Authority::new();
    let (leaf, thief) = (authority.leaf(NAME, false), KeyPair::generate().unwrap());
    // rustls would not serve such a pair, so the check of the pair is gone round.
    let provider = rustls::crypto::ring::default_provider();
    let key = PrivateKeyDer::from_pem_slice(thief.serialize_pem().as_bytes()).unwrap();
    let key = provider.key_provider.load_private_key(key).unwrap();
    let chain = vec![CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap()];
    let stolen = Arc::new(rustls::sign::CertifiedKey::new(chain, key));
    for version in rustls::ALL_VERSIONS {
        let config = ServerConfig::builder_with_provider(Arc::new(provider.clone()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(Arc::clone(&stolen))));
        let server = Server::start(Some(config), |_| reply(200, "{}")).await;
        for trust in [Trust::Pinned(leaf.certificate.clone()), Trust::Insecure] {
            fault(endpoint(&server, trust)).await;
        }
        assert!(server.seen().is_empty());
    }
}

#[tokio::test]
async fn anybody_is_believed_where_somebody_asked_for_that() {
    let server = start(&Authority::new().leaf("elsewhere", true), None).await;
    ask(endpoint(&server, Trust::Insecure)).await.unwrap();
}

#[tokio::test]
async fn a_missing_client_certificate_is_told_from_a_broken_connection() {
    let (authority, clients, strangers) = (Authority::new(), Authority::new(), Authority::new());
    let leaf = authority.leaf(NAME, false);
    for version in rustls::ALL_VERSIONS {
        let server =
            Server::start(Some(config(&leaf, Some(&clients), &[version])), |_| reply(200, "{}")).await;
        let mut endpoint = endpoint(&server, Trust::Authorities(authority.pem.clone()));
        // Often: in TLS 1.3 the refusal races with the request.
        for _ in 0..30 {
            let error = ask(endpoint.clone()).await.unwrap_err();
            assert_eq!(error.cause(), &Cause::Tls(TlsFault::ClientCertificate));
        }
        endpoint.identity = Some(clients.leaf("usher", false));
        ask(endpoint.clone()).await.unwrap();
        endpoint.identity = Some(strangers.leaf("usher", false));
        let error = ask(endpoint).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Tls(_) | Cause::Unavailable(_)), "{error:?}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_certificate_and_breaks_wants_one_until_it_has_answered() {
    let authority = Authority::new();
    let leaf = authority.leaf(NAME, false);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let asking = WebPkiClientVerifier::builder_with_provider(roots(&authority.pem), Arc::clone(&provider));
    let chain = vec![CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(leaf.key.expose().as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(asking.allow_unauthenticated().build().unwrap())
        .with_single_cert(chain, key)
        .unwrap();
    let server = Server::start(Some(config), |seen| match seen.uri.path() {
        "/break" => hang_up(),
        _ => reply(200, "{}"),
    })
    .await;
    let client = client(endpoint(&server, Trust::Authorities(authority.pem.clone())));
    let ask = |path: &str| client.send(Request::new("telling", Method::POST, path));
    let error = ask("/break").await.unwrap_err();
    assert_eq!(error.label(), "client_certificate", "{error}");
    assert!(error.may_have_arrived());
    ask("/thing").await.unwrap();
    let error = ask("/break").await.unwrap_err();
    assert_eq!(error.label(), "unavailable", "{error}");
    assert!(error.may_have_arrived());
}

#[tokio::test]
async fn a_server_without_tls_is_said_to_be_one() {
    let server = Server::saying(200, "{}").await;
    assert_eq!(fault(endpoint(&server, Trust::Insecure)).await, TlsFault::NotTls);
}

#[tokio::test]
async fn an_own_token_goes_to_a_verified_server() {
    let authority = Authority::new();
    let server = start(&authority.leaf(NAME, false), None).await;
    let token = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(token.path(), "own").unwrap();
    let mut endpoint = endpoint(&server, Trust::Authorities(authority.pem));
    endpoint.auth = Auth::BearerFile { path: token.path().to_owned(), verified_only: true };
    ask(endpoint).await.unwrap();
    assert_eq!(server.last().header("authorization"), Some("Bearer own"));
}
