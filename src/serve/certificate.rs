//! A certificate made on the fly, for `--standalone`: a CA of its own and a leaf for the loopback names.

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};

/// A CA and a leaf, as PEM.
#[derive(Clone)]
pub struct Made {
    /// What clients trust.
    pub authority: String,
    /// What the server shows.
    pub certificate: String,
    /// Its key; never written to disk or log.
    pub key: String,
}

/// Makes a CA and a leaf for these names and addresses.
///
/// # Errors
/// When a name is no DNS name or address, or the key generator fails.
pub fn make(names: &[String]) -> Result<Made, rcgen::Error> {
    let authority_key = KeyPair::generate()?;
    let mut authority = CertificateParams::new(Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.distinguished_name.push(DnType::CommonName, "usher standalone CA");
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let authority_certificate = authority.self_signed(&authority_key)?;

    let key = KeyPair::generate()?;
    let mut leaf = CertificateParams::new(names.to_vec())?;
    leaf.distinguished_name.push(DnType::CommonName, "usher");
    leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let issuer = Issuer::new(authority, authority_key);
    let certificate = leaf.signed_by(&key, &issuer)?;
    Ok(Made {
        authority: authority_certificate.pem(),
        certificate: certificate.pem(),
        key: key.serialize_pem(),
    })
}
