//! The serving certificate: loaded, watched, exchanged without dropping a connection.
//!
//! A mounted Secret changes by a symlink swap in its directory, so the directory is watched, and polled as well for file
//! systems without notification. Connections keep the configuration that they began with. A pair that does not fit
//! is refused loudly and the old one stays.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use notify::Watcher as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::sync::Notify;

use super::diagnostics::{Troubles, note};
use crate::observe::metrics::Metrics;

/// Why a certificate cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read or is not PEM.
    #[error("reading {what} {path}: {message}")]
    Read {
        /// Certificate, key or client CA.
        what: &'static str,
        /// Which file.
        path: String,
        /// Why; never the content.
        message: String,
    },
    /// No certificate in the file.
    #[error("{path} holds no certificate")]
    Empty {
        /// Which file.
        path: String,
    },
    /// Key and certificate are not a pair, or rustls takes one of them not.
    #[error("the certificate and the key cannot be used together: {0}")]
    Pair(#[source] rustls::Error),
    /// The client CA cannot be used.
    #[error("the client CA cannot be used: {0}")]
    ClientCa(String),
    /// The certificate cannot be looked into.
    #[error("the certificate cannot be parsed")]
    Parse,
}

/// Where the certificate comes from.
#[derive(Debug, Clone)]
pub struct Files {
    /// The chain, leaf first.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// Only clients with a certificate of this CA may call.
    pub client_ca: Option<PathBuf>,
}

/// A configuration and what it holds.
#[derive(Debug)]
pub struct Loaded {
    /// For rustls.
    pub config: Arc<ServerConfig>,
    /// The beginning of the leaf, in seconds since 1970.
    pub not_before: i64,
    /// The end of the leaf, in seconds since 1970.
    pub not_after: i64,
    /// The leaf's serial number, in hexadecimal.
    pub serial: String,
    fingerprint: Vec<Vec<u8>>,
}

/// The configuration that new connections get; nothing until there is a certificate.
pub type Current = Arc<ArcSwapOption<Loaded>>;

impl Loaded {
    /// Is this what it was built from?
    pub fn holds(&self, certificate: &[u8], key: &[u8], client_ca: Option<&[u8]>) -> bool {
        self.fingerprint == [certificate, key, client_ca.unwrap_or_default()]
    }

    /// Are two thirds of its life over?
    pub fn is_due(&self, now: Timestamp) -> bool {
        (now.as_second() - self.not_before) * 3 >= (self.not_after - self.not_before) * 2
    }

    /// Is less than a quarter of its life left? Whoever renews it should have done so by now: at two thirds usher and
    /// cert-manager do.
    pub fn ends_soon(&self, now: Timestamp) -> bool {
        (self.not_after - now.as_second()) * 4 < self.not_after - self.not_before
    }
}

/// Serves another configuration from the next connection on.
pub fn exchange(current: &Current, loaded: Loaded, metrics: &Metrics) {
    tracing::info!(serial = loaded.serial, not_after = loaded.not_after, "serving a certificate");
    metrics.certificate_not_after.set(to_f64(loaded.not_after));
    if current.swap(Some(Arc::new(loaded))).is_some() {
        metrics.certificate_reloads.inc();
    }
}

/// Reads a client CA.
///
/// # Errors
/// When the file cannot be read.
pub fn read_client_ca(path: &Path) -> Result<Vec<u8>, Error> {
    read("client CA", path)
}

impl Files {
    /// Loads the pair.
    ///
    /// # Errors
    /// When a file cannot be read or the pair does not fit.
    pub fn load(&self) -> Result<Loaded, Error> {
        let certificate = read("certificate", &self.certificate)?;
        let key = read("key", &self.key)?;
        let client_ca = self.client_ca.as_deref().map(read_client_ca).transpose()?;
        build(&certificate, &key, client_ca.as_deref(), &self.certificate.display().to_string())
    }
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |error: std::io::Error| Error::Read {
        what,
        path: path.display().to_string(),
        message: error.to_string(),
    };
    std::fs::read(path).map_err(fail)
}

/// Builds the configuration from PEM texts; `name` stands for the certificate in errors.
///
/// # Errors
/// When the texts are not PEM or do not fit together.
pub fn build(certificate: &[u8], key: &[u8], client_ca: Option<&[u8]>, name: &str) -> Result<Loaded, Error> {
    let pem = |what: &'static str, message: String| Error::Read { what, path: name.to_owned(), message };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(|error| pem("certificate", error.to_string()))?;
    let leaf = chain.first().ok_or_else(|| Error::Empty { path: name.to_owned() })?;
    let (not_before, not_after, serial) = look_into(leaf)?;
    let private = PrivateKeyDer::from_pem_slice(key).map_err(|error| pem("key", error.to_string()))?;
    let fingerprint = vec![certificate.to_vec(), key.to_vec(), client_ca.unwrap_or_default().to_vec()];

    let builder = ServerConfig::builder();
    let builder = match client_ca {
        Some(authority) => builder.with_client_cert_verifier(client_verifier(authority)?),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, private).map_err(Error::Pair)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Loaded { config: Arc::new(config), not_before, not_after, serial, fingerprint })
}

fn client_verifier(authority: &[u8]) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(authority) {
        let certificate = certificate.map_err(|error| Error::ClientCa(error.to_string()))?;
        roots.add(certificate).map_err(|error| Error::ClientCa(error.to_string()))?;
    }
    WebPkiClientVerifier::builder(Arc::new(roots)).build().map_err(|error| Error::ClientCa(error.to_string()))
}

fn look_into(leaf: &CertificateDer<'_>) -> Result<(i64, i64, String), Error> {
    let (_, parsed) = x509_parser::parse_x509_certificate(leaf).map_err(|_| Error::Parse)?;
    let validity = parsed.validity();
    let serial = parsed.raw_serial_as_string().replace(':', "");
    Ok((validity.not_before.timestamp(), validity.not_after.timestamp(), serial))
}

/// Watches the files for ever and exchanges the configuration when they hold another pair.
pub async fn watch(
    files: Files,
    current: Current,
    metrics: Arc<Metrics>,
    troubles: Arc<Troubles>,
    every: Duration,
) {
    let changed = Arc::new(Notify::new());
    let _watcher = watch_directories(&files, Arc::clone(&changed));
    let mut failing = false;
    loop {
        // Looked at before the first wait: the files may have changed between the first load and the watch.
        match load_settled(&files).await {
            Ok(loaded) => {
                failing = false;
                note(&troubles.certificate, String::new());
                if current.load().as_ref().is_none_or(|known| known.fingerprint != loaded.fingerprint) {
                    exchange(&current, loaded, &metrics);
                }
            }
            Err(error) => {
                metrics.certificate_reload_failures.inc();
                note(
                    &troubles.certificate,
                    format!("the pair on disk is refused, the old one is served: {error}"),
                );
                if !failing {
                    tracing::error!(%error, "refused a certificate; the old one stays");
                }
                failing = true;
            }
        }
        tokio::select! {
            () = changed.notified() => {}
            () = tokio::time::sleep(every) => {}
        }
    }
}

/// Certificate and key are two reads; a swap between them gives halves of two pairs, which the next look mends.
async fn load_settled(files: &Files) -> Result<Loaded, Error> {
    let mut last = files.load();
    for _ in 0..5 {
        if last.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        last = files.load();
    }
    last
}

/// Seconds since 1970 as a metric; exact until the year 285 million.
#[allow(clippy::cast_precision_loss)]
fn to_f64(seconds: i64) -> f64 {
    seconds as f64
}

fn watch_directories(files: &Files, changed: Arc<Notify>) -> Option<notify::RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        // Our own reading is an event too; only changes count.
        if event.is_ok_and(|event| !event.kind.is_access()) {
            changed.notify_one();
        }
    })
    .ok()?;
    let all = [Some(&files.certificate), Some(&files.key), files.client_ca.as_ref()];
    for directory in all.into_iter().flatten().filter_map(|path| path.parent()) {
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        if let Err(error) = watcher.watch(directory, notify::RecursiveMode::NonRecursive) {
            tracing::warn!(%error, "cannot watch the certificate's directory; polling only");
        }
    }
    Some(watcher)
}
