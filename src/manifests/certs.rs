//! cert-manager's part, for `--cert-mode cert-manager`: a CA of usher's own, and the serving certificate of it. The CA
//! reaches the webhook configurations by an annotation, which cert-manager's cainjector reads.

use serde_json::{Value, json};

use super::labels;
use crate::certs::material::service_names;
use crate::names;

/// The Secret that is mounted into the pods.
pub const SECRET: &str = "usher-tls";
const CA: &str = "usher-ca";

/// Issuers and Certificates.
pub fn documents(namespace: &str) -> Vec<Value> {
    let object = |kind: &str, name: &str, spec: Value| {
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": kind,
            "metadata": {"name": name, "namespace": namespace, "labels": labels()},
            "spec": spec
        })
    };
    let issued_by = |name: &str| json!({"kind": "Issuer", "name": name});
    let key = || json!({"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"});
    vec![
        object("Issuer", "usher-selfsigned", json!({"selfSigned": {}})),
        // Replacing a CA does not reissue what it signed, so it lasts much longer.
        object(
            "Certificate",
            CA,
            json!({
                "isCA": true,
                "commonName": "usher CA",
                "secretName": CA,
                "duration": "87600h",
                "privateKey": {"algorithm": "ECDSA", "size": 256},
                "issuerRef": issued_by("usher-selfsigned"),
            }),
        ),
        object("Issuer", CA, json!({"ca": {"secretName": CA}})),
        object(
            "Certificate",
            names::USHER,
            json!({
                "secretName": SECRET,
                "dnsNames": service_names(namespace),
                "duration": "2160h",
                "usages": ["digital signature", "server auth"],
                "privateKey": key(),
                "issuerRef": issued_by(CA),
            }),
        ),
    ]
}

/// The annotation by which cainjector finds the CA of a webhook configuration.
pub fn injection(namespace: &str) -> Value {
    json!({"cert-manager.io/inject-ca-from": format!("{namespace}/{}", names::USHER)})
}
