//! The Secret that holds the certificates: an ordinary `kubernetes.io/tls` Secret with two more keys during a rotation.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::api::ObjectMeta;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::material::{Pair, is_signed_by};
use super::stage::Material;
use crate::model::secret_text::SecretText;
use crate::names;

const TRUSTED: &str = "ca.crt";
const CERTIFICATE: &str = "tls.crt";
const KEY: &str = "tls.key";
const NEXT_CERTIFICATE: &str = "next-tls.crt";
const NEXT_KEY: &str = "next-tls.key";

/// Reads the material; nothing when the Secret cannot be used. What is wrong with it is not told: it could be a key.
pub fn read(secret: &Secret) -> Option<Material> {
    let data = secret.data.as_ref()?;
    let text = |key: &str| String::from_utf8(data.get(key)?.0.clone()).ok().filter(|text| !text.is_empty());
    let pair = |certificate, key| {
        let pair = Pair { certificate: text(certificate)?, key: SecretText::from(text(key)?) };
        is_usable(&pair).then_some(pair)
    };
    let trusted = split(&text(TRUSTED)?);
    // Half of a next pair, or one that cannot be used, must not look like a rotation that is over.
    let staged = [NEXT_CERTIFICATE, NEXT_KEY].iter().any(|key| data.contains_key(*key));
    let next = if staged { Some(pair(NEXT_CERTIFICATE, NEXT_KEY)?) } else { None };
    let rotate = secret.metadata.annotations.as_ref().is_some_and(|all| all.contains_key(names::ROTATE));
    let material = Material { trusted, serving: pair(CERTIFICATE, KEY)?, next, rotate };
    let is_trusted =
        |pair: &Pair| material.trusted.iter().any(|authority| is_signed_by(&pair.certificate, authority));
    (is_trusted(&material.serving) && material.next.as_ref().is_none_or(is_trusted)).then_some(material)
}

/// Does the key belong to the certificate?
fn is_usable(pair: &Pair) -> bool {
    crate::serve::tls::build(pair.certificate.as_bytes(), pair.key.expose().as_bytes(), None, "the Secret")
        .is_ok()
}

/// The certificates of a PEM text, each with its frame.
fn split(bundle: &str) -> Vec<String> {
    const END: &str = "-----END CERTIFICATE-----";
    let whole = CertificateDer::pem_slice_iter(bundle.as_bytes()).all(|certificate| certificate.is_ok());
    let parts = bundle.split_inclusive(END).filter(|part| part.contains(END));
    if whole { parts.map(|part| format!("{}\n", part.trim())).collect() } else { Vec::new() }
}

/// The Secret of a material; with a version it replaces just that one.
pub fn write(namespace: &str, material: &Material, version: Option<&str>) -> Secret {
    let bytes = |text: &str| ByteString(text.as_bytes().to_vec());
    let mut data = BTreeMap::from([
        (TRUSTED.to_owned(), bytes(&material.bundle())),
        (CERTIFICATE.to_owned(), bytes(&material.serving.certificate)),
        (KEY.to_owned(), bytes(material.serving.key.expose())),
    ]);
    if let Some(next) = &material.next {
        data.insert(NEXT_CERTIFICATE.to_owned(), bytes(&next.certificate));
        data.insert(NEXT_KEY.to_owned(), bytes(next.key.expose()));
    }
    let annotations =
        material.rotate.then(|| BTreeMap::from([(names::ROTATE.to_owned(), "true".to_owned())]));
    Secret {
        metadata: ObjectMeta {
            name: Some(names::CERTIFICATE_SECRET.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(BTreeMap::from([("app.kubernetes.io/name".to_owned(), names::USHER.to_owned())])),
            annotations,
            resource_version: version.map(str::to_owned),
            ..ObjectMeta::default()
        },
        type_: Some("kubernetes.io/tls".to_owned()),
        data: Some(data),
        ..Secret::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::material::make;
    use super::*;

    #[test]
    fn material_survives_its_secret() {
        let made = || make(&["localhost".to_owned()]).unwrap();
        let one = Material::first(made());
        for material in [one.clone(), one.staged(made()), one.staged(made()).switched()] {
            assert_eq!(read(&write("usher-system", &material, None)), Some(material));
        }
        let asked = Material { rotate: true, ..one };
        assert!(read(&write("usher-system", &asked, None)).unwrap().rotate);
    }

    /// Replicas of two versions share the Secret during an upgrade.
    #[test]
    fn the_form_of_the_secret_is_stable() {
        let staged = Material::first(make(&["localhost".to_owned()]).unwrap())
            .staged(make(&["localhost".to_owned()]).unwrap());
        let secret = write("usher-system", &staged, None);
        let keys: Vec<&str> = secret.data.as_ref().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["ca.crt", "next-tls.crt", "next-tls.key", "tls.crt", "tls.key"]);
        assert_eq!(secret.type_.as_deref(), Some("kubernetes.io/tls"));
        assert_eq!(secret.metadata.name.as_deref(), Some("usher-certificate"));
    }

    #[test]
    fn half_a_rotation_is_not_read() {
        let made = || make(&["localhost".to_owned()]).unwrap();
        let staged = write("usher-system", &Material::first(made()).staged(made()), None);
        assert!(read(&staged).is_some());
        let mut half = staged.clone();
        half.data.as_mut().unwrap().remove("next-tls.key");
        assert_eq!(read(&half), None);
        let mut broken = staged.clone();
        broken.data.as_mut().unwrap().insert("next-tls.key".to_owned(), ByteString(b"x".to_vec()));
        assert_eq!(read(&broken), None);
        // A CA that signed nothing of it.
        let mut foreign = staged;
        foreign.data.as_mut().unwrap().insert("ca.crt".to_owned(), ByteString(made().authority.into_bytes()));
        assert_eq!(read(&foreign), None);
    }

    #[test]
    fn what_cannot_be_served_is_not_read() {
        let made = || make(&["localhost".to_owned()]).unwrap();
        let mut mixed = Material::first(made());
        mixed.serving.key = made().pair.key;
        assert_eq!(read(&write("usher-system", &mixed, None)), None);
        assert_eq!(read(&Secret::default()), None);
        let mut cut = write("usher-system", &Material::first(made()), None);
        cut.data
            .as_mut()
            .unwrap()
            .insert("ca.crt".to_owned(), ByteString(b"-----BEGIN CERTIFICATE-----\nx".to_vec()));
        assert_eq!(read(&cut), None);
    }
}
