//! `usher serve`: from options to a configuration that can be run.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;

use super::Error;
use super::alertmanagers::AlertmanagerOptions;
use super::options::{self, CertMode, RuleOptions, ServeOptions};
use crate::claim::{GRACE, LEAST_GRACE};
use crate::cluster::Cluster;
use crate::model::duration::Span;
use crate::reconcile::leader::LEAST_DURATION;
use crate::serve::in_cluster::{OwnCertificates, Part};
use crate::serve::limits::MOST_IN_FLIGHT;
use crate::serve::run::{Certificates, Config, Mode};
use crate::serve::tls::Files;

/// A replica reads the Secret three times in it, and a call may take 10 s.
const LEAST_OVERLAP: Duration = Duration::from_secs(30);
/// Where cert-manager's Secret is mounted.
const CERT_MANAGER_DIRECTORY: &str = "/etc/usher/tls";

/// Answer admission reviews over TLS and reconcile what was admitted.
#[derive(Debug, Args)]
pub struct Serve {
    /// No cluster: the certificate is made on the fly, other objects come from --objects
    #[arg(long)]
    pub standalone: bool,
    /// With --standalone: directories of objects that exist, read again when they change
    #[arg(long, value_name = "DIR", requires = "standalone")]
    pub objects: Vec<PathBuf>,
    /// A YAML file with settings, flag names as keys
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub server: ServeOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub rules: RuleOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub alertmanagers: AlertmanagerOptions,
}

/// Runs the server until a signal.
pub(super) fn run(command: Serve) -> Result<ExitCode, Error> {
    let serve = options::serve(command.server, command.config.as_deref())?;
    crate::observe::logs::start(serve.log.as_deref().unwrap_or("info"), serve.log_format.unwrap_or_default())
        .map_err(|message| Error::Usage(format!("--log: {message}")))?;
    let certificates = certificates(&serve, command.standalone)?;
    let max_in_flight = serve.max_in_flight.unwrap_or(MOST_IN_FLIGHT);
    if !(1..=1_000_000).contains(&max_in_flight) {
        return Err(Error::Usage("--max-in-flight must be between 1 and 1000000".to_owned()));
    }
    let claim_grace = SignedDuration::from_secs(serve.claim_grace.map_or(GRACE.as_secs(), Span::as_seconds));
    if claim_grace < LEAST_GRACE {
        return Err(Error::Usage(format!("--claim-grace must be at least {} s", LEAST_GRACE.as_secs())));
    }
    let lease_duration = duration(serve.leader_lease_duration, 15);
    if lease_duration < LEAST_DURATION {
        return Err(Error::Usage("--leader-lease-duration must be at least 1s".to_owned()));
    }
    let ip = if command.standalone { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let (mode, settings) = if command.standalone {
            let settings = options::settings(command.rules, command.config.as_deref())?;
            (Mode::Standalone { objects: command.objects }, settings)
        } else {
            let (kubeconfig, context) = (serve.kubeconfig.as_deref(), serve.context.as_deref());
            let cluster = Cluster::find(kubeconfig, context, serve.own_namespace.as_deref()).await;
            let cluster = cluster.map_err(crate::serve::run::Error::from)?;
            let file = command.config.as_deref();
            let settings =
                options::settings_in(command.rules, command.alertmanagers, file, &cluster.namespace)?;
            (Mode::Cluster(Box::new(Part { cluster, claim_grace, lease_duration })), settings)
        };
        let config = Config {
            mode,
            listen: serve.listen.unwrap_or_else(|| SocketAddr::from((ip, 8443))),
            diagnostics_listen: serve.diagnostics_listen.unwrap_or_else(|| SocketAddr::from((ip, 8081))),
            certificates,
            poll: duration(serve.tls_reload_interval, 10).max(Duration::from_secs(1)),
            max_in_flight,
            settings,
            shutdown_delay: duration(serve.shutdown_delay, if command.standalone { 0 } else { 5 }),
        };
        crate::serve::run::run(config).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Where the certificate comes from, or what does not fit together.
fn certificates(serve: &ServeOptions, standalone: bool) -> Result<Certificates, Error> {
    let usage = |message: &str| Err(Error::Usage(message.to_owned()));
    let given = serve.tls_cert_file.is_some() || serve.tls_key_file.is_some();
    let client_ca = serve.client_ca_file.clone();
    let mode = serve.cert_mode.or(given.then_some(CertMode::Files));
    match mode {
        Some(CertMode::Own) if given => {
            usage("--tls-cert-file and --tls-key-file do not go with --cert-mode self")
        }
        Some(CertMode::Own) if standalone => usage("--cert-mode self needs a cluster"),
        None if standalone && client_ca.is_some() => {
            usage("--client-ca-file needs --tls-cert-file and --tls-key-file with --standalone")
        }
        None if standalone => Ok(Certificates::Throwaway),
        None | Some(CertMode::Own) => {
            let names = serve.tls_names.clone().unwrap_or_default();
            // Made once here so that a name that cannot be used is told at the start.
            let sample = crate::certs::material::make(&names)
                .map_err(|error| Error::Usage(format!("--tls-names: {error}")))?;
            let usable = |name: &&String| {
                rustls::pki_types::ServerName::try_from(name.as_str()).is_ok()
                    && crate::certs::material::covers(&sample.pair.certificate, std::slice::from_ref(name))
            };
            if let Some(wrong) = names.iter().find(|name| !usable(name)) {
                return Err(Error::Usage(format!(
                    "--tls-names: {wrong:?} is neither a DNS name nor an address"
                )));
            }
            Ok(Certificates::Own(OwnCertificates { names, overlap: overlap(serve.tls_overlap)?, client_ca }))
        }
        Some(CertMode::Files) => match (&serve.tls_cert_file, &serve.tls_key_file) {
            (Some(certificate), Some(key)) => Ok(Certificates::Files(Files {
                certificate: certificate.clone(),
                key: key.clone(),
                client_ca,
            })),
            (None, None) => usage("--cert-mode files needs --tls-cert-file and --tls-key-file"),
            _ => usage("--tls-cert-file and --tls-key-file belong together"),
        },
        Some(CertMode::CertManager) => {
            let directory = PathBuf::from(CERT_MANAGER_DIRECTORY);
            let file =
                |given: &Option<PathBuf>, name: &str| given.clone().unwrap_or_else(|| directory.join(name));
            Ok(Certificates::Files(Files {
                certificate: file(&serve.tls_cert_file, "tls.crt"),
                key: file(&serve.tls_key_file, "tls.key"),
                client_ca,
            }))
        }
    }
}

/// Long enough for every API server and every replica to see what has changed.
fn overlap(given: Option<Span>) -> Result<Duration, Error> {
    let overlap = duration(given, 300);
    if overlap < LEAST_OVERLAP {
        return Err(Error::Usage(format!("--tls-overlap must be at least {} s", LEAST_OVERLAP.as_secs())));
    }
    Ok(overlap)
}

fn duration(given: Option<Span>, otherwise: u64) -> Duration {
    given.map_or(Duration::from_secs(otherwise), |span| Duration::from_secs(span.as_seconds().unsigned_abs()))
}
