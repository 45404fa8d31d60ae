//! Whom a client believes, as rustls wants it, and what rustls says when it does not.
//!
//! A pinned certificate is compared byte for byte: names and issuers do not matter then, its dates do. Whatever is
//! trusted, the server must hold the key of the certificate that it shows.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

use super::endpoint::{Endpoint, Trust};
use super::error::{Cause, TlsFault};
use super::peer_text::PeerText;

/// Builds the configuration for a server.
pub(super) fn configure(endpoint: &Endpoint) -> Result<ClientConfig, Cause> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match &endpoint.trust {
        Trust::System => {
            let mut roots = RootCertStore::empty();
            // One broken file among a machine's hundred authorities is no reason to trust none.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            web_pki(roots, &provider)?
        }
        Trust::Authorities(pem) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(pem).map_err(unusable)? {
                roots.add(certificate).map_err(unusable)?;
            }
            web_pki(roots, &provider)?
        }
        Trust::Pinned(pem) => {
            let known = certificates(pem).map_err(unusable)?;
            if known.is_empty() {
                return Err(unusable("no certificate is pinned"));
            }
            Arc::new(Lenient { known: Some(known), provider: Arc::clone(&provider) })
        }
        Trust::Insecure => Arc::new(Lenient { known: None, provider: Arc::clone(&provider) }),
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match &endpoint.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let wrong = |what: &str| Cause::Credentials(format!("the client certificate: {what}"));
            let chain = certificates(&identity.certificate).map_err(|_| wrong("it is not PEM"))?;
            let key = PrivateKeyDer::from_pem_slice(identity.key.expose().as_bytes())
                .map_err(|_| wrong("its key is not PEM"))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|_| wrong("certificate and key are no usable pair"))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, rustls::pki_types::pem::Error> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).collect()
}

fn unusable(why: impl ToString) -> Cause {
    Cause::Tls(TlsFault::Trust(PeerText::new(&why.to_string(), &[]).to_string()))
}

fn web_pki(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, Cause> {
    let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    Ok(builder.build().map_err(unusable)?)
}

/// Believes these certificates, or any.
#[derive(Debug)]
struct Lenient {
    known: Option<Vec<CertificateDer<'static>>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(known) = &self.known else { return Ok(ServerCertVerified::assertion()) };
        if !known.contains(shown) {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        let (_, leaf) =
            x509_parser::parse_x509_certificate(shown).map_err(|_| CertificateError::BadEncoding)?;
        let now = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
        if now > leaf.validity().not_after.timestamp() {
            return Err(CertificateError::Expired.into());
        }
        if now < leaf.validity().not_before.timestamp() {
            return Err(CertificateError::NotValidYet.into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// What rustls found.
pub(super) fn fault(error: &rustls::Error) -> TlsFault {
    let text = PeerText::new(&error.to_string(), &[]);
    match error {
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::ApplicationVerificationFailure => {
                TlsFault::Untrusted(PeerText::new("it is not the pinned one", &[]))
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsFault::WrongName(text)
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => TlsFault::OutOfDate(text),
            _ => TlsFault::Untrusted(text),
        },
        // A server complains of a certificate only where it wanted one of ours.
        rustls::Error::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => TlsFault::ClientCertificate,
        rustls::Error::InvalidMessage(_) => TlsFault::NotTls,
        _ => TlsFault::Handshake(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret_text::SecretText;
    use crate::upstream::endpoint::{Identity, Scheme};

    #[test]
    fn trust_that_cannot_be_used_is_said_before_anything_is_sent() {
        let mut endpoint = Endpoint::new(Scheme::Https, "am", 443);
        for trust in ["", "no PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
            endpoint.trust = Trust::Authorities(trust.to_owned());
            let error = configure(&endpoint).unwrap_err();
            assert!(matches!(error, Cause::Tls(TlsFault::Trust(_))), "{error}");
        }
        endpoint.trust = Trust::Pinned(String::new());
        assert!(matches!(configure(&endpoint), Err(Cause::Tls(TlsFault::Trust(_)))));
    }

    #[test]
    fn a_client_pair_that_cannot_be_used_is_unreadable_credentials() {
        let mut endpoint = Endpoint::new(Scheme::Https, "am", 443);
        endpoint.trust = Trust::Insecure;
        endpoint.identity =
            Some(Identity { certificate: "x".to_owned(), key: SecretText::from("hunter2".to_owned()) });
        let error = configure(&endpoint).unwrap_err();
        assert!(matches!(&error, Cause::Credentials(_)), "{error}");
        assert!(!error.to_string().contains("hunter2"));
    }

    #[test]
    fn complaints_of_rustls_are_told_apart() {
        let certificate = |why: CertificateError| fault(&rustls::Error::InvalidCertificate(why));
        assert!(matches!(certificate(CertificateError::UnknownIssuer), TlsFault::Untrusted(_)));
        assert!(matches!(certificate(CertificateError::NotValidForName), TlsFault::WrongName(_)));
        assert!(matches!(certificate(CertificateError::Expired), TlsFault::OutOfDate(_)));
        let alert = |what| fault(&rustls::Error::AlertReceived(what));
        assert_eq!(alert(AlertDescription::CertificateRequired), TlsFault::ClientCertificate);
        assert!(matches!(alert(AlertDescription::HandshakeFailure), TlsFault::Handshake(_)));
    }
}
