//! `usher serve`: puts the parts together, tells where it listens, and ends in order.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::admission::{self, Shared};
use super::in_cluster::{self, Common, OwnCertificates, Part};
use super::limits::Limits;
use super::tls::{Current, Files};
use super::{diagnostics, listener, objects, tls};
use crate::certs::material;
use crate::observe::metrics::Metrics;
use crate::review::door::Door;
use crate::rule::Uniqueness;
use crate::settings::Settings;
use crate::view::View;

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An address cannot be had.
    #[error("listening on {address}: {source}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The certificate cannot be served.
    #[error(transparent)]
    Tls(#[from] tls::Error),
    /// The certificate cannot be made.
    #[error("making a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The CA file cannot be written.
    #[error("writing the CA file: {0}")]
    AuthorityFile(std::io::Error),
    /// The objects cannot be read.
    #[error(transparent)]
    Objects(#[from] crate::files::Error),
    /// No cluster can be reached with what is configured.
    #[error(transparent)]
    Cluster(#[from] crate::cluster::Error),
    /// Signals cannot be waited for.
    #[error("waiting for signals: {0}")]
    Signals(std::io::Error),
}

/// Where the other objects come from.
#[derive(Debug, Clone)]
pub enum Mode {
    /// From directories; the certificate is made on the fly unless files are given.
    Standalone {
        /// The directories.
        objects: Vec<PathBuf>,
    },
    /// From a cluster.
    Cluster(Box<Part>),
}

/// Where the certificate comes from.
#[derive(Debug, Clone)]
pub enum Certificates {
    /// From files that somebody else renews.
    Files(Files),
    /// Made by usher and kept in a Secret; in a cluster only.
    Own(OwnCertificates),
    /// Made at the start, for this process only.
    Throwaway,
}

/// What `usher serve` is told.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the other objects come from.
    pub mode: Mode,
    /// Where reviews are answered.
    pub listen: SocketAddr,
    /// Where metrics and health are.
    pub diagnostics_listen: SocketAddr,
    /// Where the certificate comes from.
    pub certificates: Certificates,
    /// How often the certificate files are looked at, besides being watched.
    pub poll: Duration,
    /// Requests at once.
    pub max_in_flight: usize,
    /// The settings of the rules.
    pub settings: Arc<Settings>,
    /// How long reviews are still taken after the word to stop, while the Service forgets this replica.
    pub shutdown_delay: Duration,
}

/// A server that runs; tests hold one, `usher serve` waits for a signal.
#[derive(Debug)]
pub struct Running {
    /// Where reviews are answered.
    pub admission: SocketAddr,
    /// Where metrics and health are.
    pub diagnostics: SocketAddr,
    /// The CA file that was written, in standalone mode.
    pub authority_file: Option<PathBuf>,
    /// The judge; can be exchanged while serving.
    pub door: Arc<ArcSwap<Door>>,
    /// The other objects.
    pub view: Arc<View>,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// What `/readyz` looks at.
    pub state: diagnostics::State,
    stop: watch::Sender<bool>,
    stop_diagnostics: watch::Sender<bool>,
    stop_leading: watch::Sender<bool>,
    stopping: Arc<AtomicBool>,
    shutdown_delay: Duration,
    serving: tokio::task::JoinHandle<()>,
    election: Option<tokio::task::JoinHandle<()>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

/// Starts the server.
///
/// # Errors
/// When an address, the certificate, the objects or the cluster cannot be had.
pub async fn start(config: &Config) -> Result<Running, Error> {
    let view = Arc::new(View::default());
    let metrics = Arc::new(Metrics::default());
    let (admission_listener, admission) = bind(config.listen).await?;
    let (diagnostics_listener, diagnostics) = bind(config.diagnostics_listen).await?;
    let certificate: Current = Arc::new(ArcSwapOption::empty());
    let troubles = Arc::new(diagnostics::Troubles::default());
    let common = Common {
        view: Arc::clone(&view),
        settings: Arc::clone(&config.settings),
        metrics: Arc::clone(&metrics),
        troubles: Arc::clone(&troubles),
        certificate: Arc::clone(&certificate),
    };
    let mut tasks = Vec::new();
    let (own, authority) = start_certificates(config, admission, &common, &mut tasks)?;

    let (stop_leading, leading_stopped) = watch::channel(false);
    let mut joined = None;
    match &config.mode {
        Mode::Standalone { objects } => {
            objects::load(&view, objects)?;
            if !objects.is_empty() {
                let watching = objects::watch(Arc::clone(&view), objects.clone(), Arc::clone(&troubles));
                tasks.push(tokio::spawn(watching));
            }
        }
        Mode::Cluster(part) => joined = Some(in_cluster::join(part, own, &common, leading_stopped)?),
    }

    let uniqueness = if joined.is_some() { Uniqueness::ByClaim } else { Uniqueness::ByView };
    let door = Door::new(Arc::clone(&config.settings), Arc::clone(&view), uniqueness);
    let door = Arc::new(ArcSwap::from_pointee(door));
    // Last of what can fail, so that a start that fails leaves no file behind.
    let authority_file = authority.map(|pem| write_authority(&pem, admission)).transpose()?;
    let (stop, stopped) = watch::channel(false);
    let (stop_diagnostics, diagnostics_stopped) = watch::channel(false);
    let stopping = Arc::new(AtomicBool::new(false));
    let shared = Shared {
        door: Arc::clone(&door),
        claims: joined.as_ref().map(|joined| joined.claims.clone()),
        permissions: joined.as_ref().map(|joined| joined.permissions.clone()),
        limits: Limits::new(config.max_in_flight),
        metrics: Arc::clone(&metrics),
        stopping: Arc::clone(&stopping),
    };
    let state = diagnostics::State {
        metrics: Arc::clone(&metrics),
        view: Arc::clone(&view),
        behind: joined.as_ref().map(|joined| (joined.leadership.clone(), Arc::clone(&joined.systems))),
        gates: config.settings.gates.clone(),
        certificate: Arc::clone(&certificate),
        troubles,
        stopping: Arc::clone(&stopping),
        started: Timestamp::now(),
    };
    let routes = admission::router(shared);
    let serving = listener::serve_tls(admission_listener, routes, certificate, Arc::clone(&metrics), stopped);
    let serving = tokio::spawn(serving);
    let plain =
        listener::serve_plain(diagnostics_listener, diagnostics::router(state.clone()), diagnostics_stopped);
    tasks.push(tokio::spawn(plain));
    let election = joined.map(|joined| {
        tasks.extend(joined.tasks);
        joined.election
    });
    Ok(Running {
        admission,
        diagnostics,
        authority_file,
        door,
        view,
        metrics,
        state,
        stop,
        stop_diagnostics,
        stop_leading,
        stopping,
        shutdown_delay: config.shutdown_delay,
        serving,
        election,
        tasks,
    })
}

/// Loads, or has somebody load, the certificate. Gives back what usher keeps itself in a cluster, and the CA that
/// clients must trust when it was made just for this process.
fn start_certificates<'a>(
    config: &'a Config,
    listening: SocketAddr,
    common: &Common,
    tasks: &mut Vec<tokio::task::JoinHandle<()>>,
) -> Result<(Option<&'a OwnCertificates>, Option<String>), Error> {
    match &config.certificates {
        Certificates::Own(own) => Ok((Some(own), None)),
        Certificates::Files(files) => {
            tls::exchange(&common.certificate, files.load()?, &common.metrics);
            let watching = tls::watch(
                files.clone(),
                Arc::clone(&common.certificate),
                Arc::clone(&common.metrics),
                Arc::clone(&common.troubles),
                config.poll,
            );
            tasks.push(tokio::spawn(watching));
            Ok((None, None))
        }
        Certificates::Throwaway => {
            let mut names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
            names.push(listening.ip().to_string());
            let made = material::make(&names)?;
            let (certificate, key) = (made.pair.certificate.as_bytes(), made.pair.key.expose().as_bytes());
            let loaded = tls::build(certificate, key, None, "the made certificate")?;
            tls::exchange(&common.certificate, loaded, &common.metrics);
            Ok((None, Some(made.authority)))
        }
    }
}

impl Running {
    /// Becomes unready and lets go of the leadership at once, takes reviews until the Service has forgotten this
    /// replica, answers what is open and ends.
    pub async fn stop(mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        let _ = self.stop_leading.send(true);
        let released = async {
            if let Some(election) = self.election.take() {
                let _ = election.await;
            }
        };
        tokio::join!(released, tokio::time::sleep(self.shutdown_delay));
        let _ = self.stop.send(true);
        let _ = self.serving.await;
        // Until here `/readyz` says that it is stopping.
        let _ = self.stop_diagnostics.send(true);
        for task in self.tasks.drain(..) {
            task.abort();
        }
        if let Some(file) = &self.authority_file {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// Runs until SIGTERM or Ctrl-C.
///
/// # Errors
/// When the server cannot start.
pub async fn run(config: Config) -> Result<(), Error> {
    let running = start(&config).await?;
    announce(&running);
    let mut terminate =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).map_err(Error::Signals)?;
    tokio::select! {
        _ = terminate.recv() => tracing::info!(delay = ?config.shutdown_delay, "SIGTERM: unready, then draining"),
        _ = tokio::signal::ctrl_c() => tracing::info!(delay = ?config.shutdown_delay, "interrupted: unready, then draining"),
    }
    running.stop().await;
    Ok(())
}

/// The first two lines are for scripts; the rest is for people who try it.
fn announce(running: &Running) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "admission https://{}", running.admission);
    let _ = writeln!(out, "diagnostics http://{}", running.diagnostics);
    if let Some(file) = &running.authority_file {
        let review = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":{"group":"monitoring.coreos.com","version":"v1alpha1","kind":"Silence"},"operation":"CREATE","name":"try","namespace":"default","userInfo":{"username":"me"},"object":{"apiVersion":"monitoring.coreos.com/v1alpha1","kind":"Silence","metadata":{"name":"try","namespace":"default"},"spec":{"comment":" ","duration":"2h","matchers":[{"name":"alertname","value":"Down"}]}}}}"#;
        let _ = writeln!(out, "ca {}", file.display());
        let _ = writeln!(
            out,
            "try: curl --cacert '{}' -H 'content-type: application/json' https://{}/admit/validate/monitoring.coreos.com/silence -d '{review}'",
            file.display(),
            running.admission
        );
    }
    let _ = out.flush();
}

async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Error> {
    let fail = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let address = listener.local_addr().map_err(fail)?;
    Ok((listener, address))
}

/// Writes the CA where only this user can change it; a file of that name, or a link, is never followed.
fn write_authority(pem: &str, listening: SocketAddr) -> Result<PathBuf, Error> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let name = format!("usher-ca-{}-{}.pem", std::process::id(), listening.port());
    let path = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&path);
    let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    file.and_then(|mut file| file.write_all(pem.as_bytes())).map_err(Error::AuthorityFile)?;
    Ok(path)
}
