//! Install manifests, generated from the table. `crds/`, `webhooks/` and `certs/` in the repository are their output.

pub mod certs;
pub mod crd;
pub mod deploy;
pub mod rbac;
pub mod webhook;

use serde_json::{Value, json};

use crate::kinds::owned;
use crate::names;
use webhook::Target;

/// What an installation is told.
#[derive(Debug, Clone)]
pub struct Install {
    /// usher's namespace.
    pub namespace: String,
    /// Where the Secrets of Accounts are.
    pub cluster_resource_namespace: String,
    /// Who makes the certificates.
    pub certificates: Certificates,
    /// The container image.
    pub image: String,
    /// How many replicas.
    pub replicas: u32,
}

/// Who makes the certificates of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Certificates {
    /// usher itself
    #[value(name = "self")]
    Own,
    /// cert-manager
    CertManager,
}

impl Default for Install {
    fn default() -> Self {
        Self {
            namespace: names::NAMESPACE.to_owned(),
            cluster_resource_namespace: names::NAMESPACE.to_owned(),
            certificates: Certificates::Own,
            image: concat!("usher:", env!("CARGO_PKG_VERSION")).to_owned(),
            replicas: 2,
        }
    }
}

impl Install {
    /// Everything, in an order in which it can be applied in one call to an empty cluster.
    pub fn all(&self) -> Vec<Value> {
        let target = Target::Service { namespace: self.namespace.clone() };
        let mut documents = vec![self.namespace_object()];
        documents.extend(owned().map(crd::crd));
        documents.extend(rbac::documents(self));
        if self.certificates == Certificates::CertManager {
            documents.extend(certs::documents(&self.namespace));
        }
        documents.extend(deploy::documents(self));
        documents.extend(webhook::configurations(&target, None, self.certificates));
        documents
    }

    fn namespace_object(&self) -> Value {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace, "labels": labels()}})
    }
}

/// The labels of everything that is installed.
fn labels() -> Value {
    json!({"app.kubernetes.io/name": names::USHER})
}
