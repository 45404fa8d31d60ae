//! `usher serve`: puts the parts together, tells where it listens, and ends in order.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::admission::{self, Shared};
use super::limits::Limits;
use super::tls::{Current, Files, Loaded};
use super::{certificate, diagnostics, listener, objects, tls};
use crate::observe::metrics::Metrics;
use crate::review::door::Door;
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
    #[error("finding the cluster: {0}")]
    Cluster(String),
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
    Cluster {
        /// A kubeconfig; otherwise the pod's account, otherwise the usual kubeconfig.
        kubeconfig: Option<PathBuf>,
        /// A context in it.
        context: Option<String>,
    },
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
    /// The certificate; `None` only in standalone mode.
    pub files: Option<Files>,
    /// How often the certificate files are looked at, besides being watched.
    pub poll: Duration,
    /// Requests at once.
    pub max_in_flight: usize,
    /// The settings of the rules.
    pub settings: Arc<Settings>,
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
    stopping: Arc<AtomicBool>,
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
    let (loaded, authority) = load_certificate(config, admission)?;
    metrics.certificate_not_after.set(tls::to_f64(loaded.not_after));
    let certificate: Current = Arc::new(ArcSwap::from_pointee(loaded));
    let troubles = Arc::new(diagnostics::Troubles::default());

    let mut tasks = Vec::new();
    if let Some(files) = config.files.clone() {
        let watching = tls::watch(
            files,
            Arc::clone(&certificate),
            Arc::clone(&metrics),
            Arc::clone(&troubles),
            config.poll,
        );
        tasks.push(tokio::spawn(watching));
    }
    match &config.mode {
        Mode::Standalone { objects } => {
            objects::load(&view, objects)?;
            if !objects.is_empty() {
                tasks.push(tokio::spawn(objects::watch(
                    Arc::clone(&view),
                    objects.clone(),
                    Arc::clone(&troubles),
                )));
            }
        }
        Mode::Cluster { kubeconfig, context } => {
            let client = client(kubeconfig.as_deref(), context.as_deref()).await?;
            crate::view::cluster::start(&view, &client, &config.settings.uptime.cluster_resource_namespace);
        }
    }

    let door = Arc::new(ArcSwap::from_pointee(Door::new(Arc::clone(&config.settings), Arc::clone(&view))));
    // Last of what can fail, so that a start that fails leaves no file behind.
    let authority_file = authority.map(|pem| write_authority(&pem, admission)).transpose()?;
    let (stop, stopped) = watch::channel(false);
    let (stop_diagnostics, diagnostics_stopped) = watch::channel(false);
    let stopping = Arc::new(AtomicBool::new(false));
    let shared = Shared {
        door: Arc::clone(&door),
        limits: Limits::new(config.max_in_flight),
        metrics: Arc::clone(&metrics),
    };
    let state = diagnostics::State {
        metrics: Arc::clone(&metrics),
        view: Arc::clone(&view),
        standalone: matches!(config.mode, Mode::Standalone { .. }),
        certificate: Arc::clone(&certificate),
        troubles,
        stopping: Arc::clone(&stopping),
        started: Timestamp::now(),
    };
    let routes = admission::router(shared);
    let serving = listener::serve_tls(admission_listener, routes, certificate, Arc::clone(&metrics), stopped);
    let admission_task = tokio::spawn(serving);
    let plain =
        listener::serve_plain(diagnostics_listener, diagnostics::router(state.clone()), diagnostics_stopped);
    let diagnostics_task = tokio::spawn(plain);
    tasks.insert(0, diagnostics_task);
    tasks.insert(0, admission_task);
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
        stopping,
        tasks,
    })
}

impl Running {
    /// Becomes unready, answers what is open and ends.
    pub async fn stop(mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        let _ = self.stop.send(true);
        let admission = self.tasks.remove(0);
        let _ = admission.await;
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
        _ = terminate.recv() => tracing::info!("SIGTERM: draining"),
        _ = tokio::signal::ctrl_c() => tracing::info!("interrupted: draining"),
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

/// The certificate to serve and, when it was made here, the CA that clients must trust.
fn load_certificate(config: &Config, listening: SocketAddr) -> Result<(Loaded, Option<String>), Error> {
    if let Some(files) = &config.files {
        return Ok((files.load()?, None));
    }
    let names =
        vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), listening.ip().to_string()];
    let made = certificate::make(&names)?;
    let loaded = tls::build(made.certificate.as_bytes(), made.key.as_bytes(), None, "the made certificate")?;
    Ok((loaded, Some(made.authority)))
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

async fn client(kubeconfig: Option<&std::path::Path>, context: Option<&str>) -> Result<kube::Client, Error> {
    let options =
        kube::config::KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
    let fail = |error: &dyn std::fmt::Display| Error::Cluster(error.to_string());
    let config = match (kubeconfig, context) {
        (Some(path), _) => {
            let file = kube::config::Kubeconfig::read_from(path).map_err(|error| fail(&error))?;
            kube::Config::from_custom_kubeconfig(file, &options).await.map_err(|error| fail(&error))?
        }
        (None, Some(_)) => kube::Config::from_kubeconfig(&options).await.map_err(|error| fail(&error))?,
        (None, None) => match kube::Config::incluster() {
            Ok(config) => config,
            Err(_) => kube::Config::from_kubeconfig(&options).await.map_err(|error| fail(&error))?,
        },
    };
    kube::Client::try_from(config).map_err(|error| fail(&error))
}
