//! `usher manifests`: prints what is to be installed.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use clap::{Args, Subcommand};
use serde_json::Value;

use super::Error;
use crate::kinds::owned;
use crate::manifests::webhook::{Target, configurations};
use crate::manifests::{Certificates, Install, certs, crd, deploy, rbac};
use crate::{names, yaml};

/// Install manifests.
#[derive(Debug, Subcommand)]
pub enum Manifests {
    /// The CRDs that usher owns
    Crds {
        /// Write one file per kind into this directory instead of printing
        #[arg(long, value_name = "DIR")]
        output_dir: Option<PathBuf>,
    },
    /// The webhook configurations
    Webhooks {
        /// Reach usher at this URL instead of its Service (demos and tests)
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// The CA that the API server trusts for usher (PEM); not needed with --cert-mode self or cert-manager
        #[arg(long, value_name = "FILE")]
        ca_file: Option<PathBuf>,
        #[command(flatten)]
        #[allow(missing_docs)]
        place: Place,
    },
    /// Service account, usher's roles and bindings, roles for users
    Rbac {
        /// The namespace of the Secrets that Accounts refer to [default: usher's own]
        #[arg(long, value_name = "NAMESPACE")]
        cluster_resource_namespace: Option<String>,
        #[command(flatten)]
        #[allow(missing_docs)]
        place: Place,
    },
    /// Issuer and Certificate for cert-manager
    Certs {
        /// usher's namespace
        #[arg(long, value_name = "NAMESPACE", default_value = names::NAMESPACE)]
        namespace: String,
    },
    /// Service, Deployment, disruption budget, network policy
    Deploy(Deploy),
    /// Everything, in an order to be applied in one call: usher manifests all | kubectl apply --server-side -f -
    All(Deploy),
}

/// Where usher lives, and who makes its certificates.
#[derive(Debug, Args)]
pub struct Place {
    /// usher's namespace
    #[arg(long, value_name = "NAMESPACE", default_value = names::NAMESPACE)]
    pub namespace: String,
    /// Who makes the certificates
    #[arg(long, value_name = "MODE", default_value = "self")]
    pub cert_mode: Certificates,
}

/// What runs.
#[derive(Debug, Args)]
pub struct Deploy {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub place: Place,
    /// The namespace of the Secrets that Accounts refer to [default: usher's own]
    #[arg(long, value_name = "NAMESPACE")]
    pub cluster_resource_namespace: Option<String>,
    /// The container image
    #[arg(long, value_name = "IMAGE", default_value = concat!("usher:", env!("CARGO_PKG_VERSION")))]
    pub image: String,
    /// How many replicas
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    pub replicas: u32,
}

impl Place {
    fn install(self, cluster_resource_namespace: Option<String>) -> Result<Install, Error> {
        let keys = cluster_resource_namespace.unwrap_or_else(|| self.namespace.clone());
        for namespace in [&self.namespace, &keys] {
            check_namespace(namespace)?;
        }
        Ok(Install {
            namespace: self.namespace,
            cluster_resource_namespace: keys,
            certificates: self.cert_mode,
            ..Install::default()
        })
    }
}

impl Deploy {
    fn install(self) -> Result<Install, Error> {
        let install = self.place.install(self.cluster_resource_namespace)?;
        Ok(Install { image: self.image, replicas: self.replicas, ..install })
    }
}

fn check_namespace(namespace: &str) -> Result<(), Error> {
    if crate::model::naming::is_label(namespace) {
        return Ok(());
    }
    Err(Error::Usage(format!("{namespace:?} is not the name of a namespace")))
}

/// Prints the manifests.
pub(super) fn run(what: Manifests) -> Result<ExitCode, Error> {
    let documents = match what {
        Manifests::Crds { output_dir: Some(directory) } => {
            write_crds(&directory)?;
            return Ok(ExitCode::SUCCESS);
        }
        Manifests::Crds { output_dir: None } => owned().map(crd::crd).collect(),
        Manifests::Webhooks { url, ca_file, place } => {
            let install = place.install(None)?;
            let bundle = ca_file.as_deref().map(read_bundle).transpose()?;
            let target = match url {
                Some(base) => Target::Url { base },
                None => Target::Service { namespace: install.namespace },
            };
            configurations(&target, bundle.as_deref(), install.certificates)
        }
        Manifests::Rbac { cluster_resource_namespace, place } => {
            rbac::documents(&place.install(cluster_resource_namespace)?)
        }
        Manifests::Certs { namespace } => {
            check_namespace(&namespace)?;
            certs::documents(&namespace)
        }
        Manifests::Deploy(deploy) => deploy::documents(&deploy.install()?),
        Manifests::All(deploy) => deploy.install()?.all(),
    };
    print(&documents)?;
    Ok(ExitCode::SUCCESS)
}

fn write_crds(directory: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(directory)?;
    for kind in owned() {
        std::fs::write(directory.join(format!("{}.yaml", kind.plural)), yaml::write(&crd::crd(kind)))?;
    }
    Ok(())
}

fn read_bundle(path: &Path) -> Result<String, Error> {
    let pem =
        std::fs::read(path).map_err(|source| Error::Read { path: path.display().to_string(), source })?;
    Ok(base64::engine::general_purpose::STANDARD.encode(pem))
}

fn print(documents: &[Value]) -> Result<(), Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for document in documents {
        write!(out, "---\n{}", yaml::write(document))?;
    }
    out.flush()?;
    Ok(())
}
