//! A CA and one leaf of it. The CA's key is gone when this returns: nobody can sign anything else with it.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use time::{Duration, OffsetDateTime};

use crate::model::secret_text::SecretText;

/// How long a made certificate lasts; it is renewed when two thirds of that have passed.
pub const LIFETIME_DAYS: i64 = 90;
/// Clocks of API servers may be behind.
const BACKDATED_MINUTES: i64 = 60;

/// A CA and a leaf, as PEM.
#[derive(Debug, Clone)]
pub struct Made {
    /// What clients trust.
    pub authority: String,
    /// What the server shows, and its key.
    pub pair: Pair,
}

/// A certificate and its key, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The certificate chain.
    pub certificate: String,
    /// Its key; never written to log or status.
    pub key: SecretText,
}

/// The names that the API server may call usher by.
pub fn service_names(namespace: &str) -> Vec<String> {
    let usher = crate::names::USHER;
    let service = format!("{usher}.{namespace}.svc");
    vec![
        service.clone(),
        format!("{service}.cluster.local"),
        format!("{usher}.{namespace}"),
        "localhost".to_owned(),
    ]
}

/// Makes a CA and a leaf for these names and addresses.
///
/// # Errors
/// When a name is no DNS name or address, or the key generator fails.
pub fn make(names: &[String]) -> Result<Made, rcgen::Error> {
    let now = OffsetDateTime::now_utc();
    let (from, to) = (now - Duration::minutes(BACKDATED_MINUTES), now + Duration::days(LIFETIME_DAYS));
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    (authority.not_before, authority.not_after) = (from, to);
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    // Two CAs are trusted during a rotation; the name tells them apart for people and for verifiers that look by name.
    let name = format!("usher CA {}", now.unix_timestamp_nanos());
    authority.distinguished_name.push(DnType::CommonName, name);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_certificate = authority.self_signed(&authority_key)?;

    let key = KeyPair::generate()?;
    let mut leaf = CertificateParams::new(names.to_vec())?;
    (leaf.not_before, leaf.not_after) = (from, to);
    leaf.distinguished_name.push(DnType::CommonName, "usher");
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let issuer = Issuer::new(authority, authority_key);
    let certificate = leaf.signed_by(&key, &issuer)?;
    Ok(Made {
        authority: authority_certificate.pem(),
        pair: Pair { certificate: certificate.pem(), key: SecretText::from(key.serialize_pem()) },
    })
}

/// Is this certificate signed by this CA? The chain's first one is looked at.
pub fn is_signed_by(certificate: &str, authority: &str) -> bool {
    let read = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).ok();
    let (Some(leaf), Some(authority)) = (read(certificate), read(authority)) else { return false };
    let (Ok((_, leaf)), Ok((_, authority))) =
        (x509_parser::parse_x509_certificate(&leaf), x509_parser::parse_x509_certificate(&authority))
    else {
        return false;
    };
    leaf.verify_signature(Some(authority.public_key())).is_ok()
}

/// Is this certificate for all these names and addresses?
pub fn covers(certificate: &str, names: &[String]) -> bool {
    let Ok(leaf) = CertificateDer::from_pem_slice(certificate.as_bytes()) else { return false };
    let Ok(leaf) = ParsedCertificate::try_from(&leaf) else { return false };
    let is_for = |name: ServerName<'_>| rustls::client::verify_server_name(&leaf, &name).is_ok();
    // A name that nobody can ask for is never missed.
    names.iter().all(|name| ServerName::try_from(name.as_str()).map_or(true, is_for))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_of_its_own_ca_and_for_its_own_names() {
        let names = service_names("usher-system");
        let (made, other) = (make(&names).unwrap(), make(&["127.0.0.1".to_owned()]).unwrap());
        assert!(is_signed_by(&made.pair.certificate, &made.authority));
        assert!(!is_signed_by(&made.pair.certificate, &other.authority));
        assert!(!is_signed_by("", &made.authority) && !is_signed_by(&made.pair.certificate, "x"));
        assert!(covers(&made.pair.certificate, &names));
        assert!(!covers(&made.pair.certificate, &["127.0.0.1".to_owned()]));
        assert!(covers(&other.pair.certificate, &["127.0.0.1".to_owned(), "usher.123".to_owned()]));
    }
}
