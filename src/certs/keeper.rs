//! Keeps the certificates of one replica: serves what the Secret holds, makes it when it is missing, and takes part in
//! rotations. Runs for ever; whatever fails is tried again.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use futures::stream::BoxStream;
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::core::DynamicObject;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};

use super::bundle;
use super::material::{covers, make};
use super::secret::{read, write};
use super::stage::{Material, Plan, Sight};
use crate::names;
use crate::observe::metrics::Metrics;
use crate::serve::diagnostics::{Troubles, note};
use crate::serve::tls::{self, Current};

/// Looks that no event asks for: a timer ran out, a client CA changed, a write failed.
const TICK: Duration = Duration::from_secs(1);
/// How long one call may take: a keeper that hangs is blind.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a complaint of a watch holds; one that still fails complains again before.
const COMPLAINT: Duration = Duration::from_mins(1);
/// Somebody who writes another CA again and again is not outdone more often than this.
const BETWEEN_WRITES: Duration = Duration::from_secs(1);

/// What a keeper is told.
#[derive(Clone)]
pub struct Keeper {
    /// The cluster.
    pub client: Client,
    /// usher's namespace.
    pub namespace: String,
    /// The names and addresses that the certificate is for.
    pub names: Vec<String>,
    /// How long both CAs are trusted before and after the new leaf is served.
    pub overlap: Duration,
    /// Only clients with a certificate of this CA may call.
    pub client_ca: Option<PathBuf>,
    /// What new connections get.
    pub current: Current,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// What goes wrong.
    pub troubles: Arc<Troubles>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Keeper").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Why a step failed. The texts name the attempt, never a value.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("making a certificate: {0}")]
    Make(#[from] rcgen::Error),
    #[error("{0}: {1}")]
    Call(&'static str, String),
    #[error(transparent)]
    Serve(#[from] tls::Error),
    #[error("reading the certificate Secret: no answer yet")]
    NoAnswer,
    #[error("{0}")]
    Watch(String),
    #[error("there is no namespace {0:?}, where usher keeps its certificate")]
    NoNamespace(String),
    #[error(
        "the Secret {} cannot be changed (immutable, or of another type): delete it, usher makes it anew",
        names::CERTIFICATE_SECRET
    )]
    Stuck,
}

fn call(what: &'static str) -> impl Fn(kube::Error) -> Error {
    move |error| Error::Call(what, error.to_string())
}

/// A call that does not hang.
async fn soon<T>(calling: impl Future<Output = Result<T, kube::Error>>) -> Result<T, kube::Error> {
    let late = || kube::Error::Service("no answer in time".into());
    tokio::time::timeout(PATIENCE, calling).await.unwrap_or_else(|_| Err(late()))
}

/// The Secret as last seen.
enum Known {
    /// Not looked yet.
    Nothing,
    /// There is none.
    Absent,
    /// There is one, and it cannot be used.
    Unusable { version: String },
    /// There is one.
    Good { version: String, material: Box<Material>, since: Instant },
}

struct State {
    secret: Known,
    /// The last good material: what is put back when the Secret is deleted or broken.
    memory: Option<Material>,
    configurations: [Configuration; 2],
    /// Since when every configuration carries the bundle.
    published: Option<(String, Instant)>,
    /// When the Secret was last read or seen: a watch can be dead without anybody noticing.
    read_at: Instant,
    /// When each configuration was last written.
    written_at: [Option<Instant>; 2],
    /// What a watch last complained about, and when: a watch that works again says nothing while nothing changes.
    complaint: Option<(String, Instant)>,
    /// Made for an empty cluster, until somebody's is stored.
    made: Option<Material>,
}

/// One of the two webhook configurations as last seen.
enum Configuration {
    /// Not looked yet.
    Unknown,
    /// There is none.
    Absent,
    /// There is one.
    There(Box<DynamicObject>),
}

enum Event {
    Secret(Option<Secret>),
    Configuration(usize, Option<DynamicObject>),
    Complaint(String),
    Tick,
}

impl Keeper {
    /// Keeps the certificates.
    pub async fn run(self) {
        let mut state = State {
            secret: Known::Nothing,
            memory: None,
            configurations: [Configuration::Unknown, Configuration::Unknown],
            published: None,
            read_at: Instant::now(),
            written_at: [None, None],
            complaint: None,
            made: None,
        };
        let mut events = self.events();
        let mut failing = false;
        while let Some(event) = events.next().await {
            state.take(event);
            let acted = self.act(&mut state).await;
            let complaint = state.complaint.as_ref().filter(|(_, since)| since.elapsed() < COMPLAINT);
            let outcome = match (acted, complaint) {
                (Ok(()) | Err(Error::NoAnswer), Some((text, _))) => Err(Error::Watch(text.clone())),
                (acted, _) => acted,
            };
            match outcome {
                Ok(()) => {
                    failing = false;
                    note(&self.troubles.certificate, String::new());
                }
                Err(error) => {
                    note(&self.troubles.certificate, error.to_string());
                    if !failing {
                        tracing::error!(%error, "certificates");
                    }
                    failing = true;
                }
            }
        }
    }

    fn events(&self) -> BoxStream<'static, Event> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let secret = watcher::watch_object(secrets, names::CERTIFICATE_SECRET).default_backoff().map(
            |seen| match seen {
                Ok(seen) => Event::Secret(seen),
                Err(error) => Event::Complaint(format!("watching the certificate Secret: {error}")),
            },
        );
        let configuration = |index: usize| {
            let api = bundle::api(&self.client, bundle::KINDS[index]);
            watcher::watch_object(api, names::USHER).default_backoff().map(move |seen| match seen {
                Ok(seen) => Event::Configuration(index, seen),
                Err(error) => Event::Complaint(format!("watching the webhook configurations: {error}")),
            })
        };
        let every = TICK.min(self.overlap / 2).max(Duration::from_millis(50));
        let ticks = futures::stream::unfold((), move |()| async move {
            tokio::time::sleep(every).await;
            Some((Event::Tick, ()))
        });
        futures::stream::select_all([
            secret.boxed(),
            configuration(0).boxed(),
            configuration(1).boxed(),
            ticks.boxed(),
        ])
        .boxed()
    }

    async fn act(&self, state: &mut State) -> Result<(), Error> {
        let read = self.read_again(state).await;
        self.act_on(state).await.and(read)
    }

    /// Reads the Secret by itself from time to time, and at once as long as nothing is known.
    async fn read_again(&self, state: &mut State) -> Result<(), Error> {
        let often = (self.overlap / 3).max(TICK);
        let known = !matches!(state.secret, Known::Nothing);
        if state.read_at.elapsed() <= if known { often } else { TICK } {
            return Ok(());
        }
        state.read_at = Instant::now();
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let found = soon(api.get_opt(names::CERTIFICATE_SECRET)).await;
        state.take(Event::Secret(found.map_err(call("reading the certificate Secret"))?));
        Ok(())
    }

    async fn act_on(&self, state: &mut State) -> Result<(), Error> {
        match &state.secret {
            Known::Nothing => Err(Error::NoAnswer),
            Known::Absent => self.put(state, None).await,
            Known::Unusable { version } => {
                let version = version.clone();
                self.put(state, Some(version)).await
            }
            Known::Good { material, .. } => {
                self.serve(material)?;
                self.publish(state).await?;
                self.advance(state).await
            }
        }
    }

    /// Makes the Secret, or puts back what this replica still knows; then with a new CA, for who deletes a key wants
    /// another one.
    async fn put(&self, state: &mut State, version: Option<String>) -> Result<(), Error> {
        let material = match (&state.memory, &state.made) {
            (Some(known), _) => Material { rotate: true, ..known.clone() },
            (None, Some(made)) => made.clone(),
            (None, None) => {
                let made = Material::first(make(&self.names)?);
                state.made = Some(made.clone());
                made
            }
        };
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let secret = write(&self.namespace, &material, version.as_deref());
        let is_new = version.is_none();
        let written = match version {
            None => soon(api.create(&PostParams::default(), &secret)).await,
            Some(_) => soon(api.replace(names::CERTIFICATE_SECRET, &PostParams::default(), &secret)).await,
        };
        match written {
            // Seen at once, so that this replica does not have to wait for its own watch.
            Ok(stored) => {
                tracing::warn!(restored = state.memory.is_some(), "the certificate Secret was written");
                state.take(Event::Secret(Some(stored)));
            }
            // Another replica was faster; the watch brings its Secret.
            Err(kube::Error::Api(status)) if status.code == 409 => return Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 && is_new => {
                return Err(Error::NoNamespace(self.namespace.clone()));
            }
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
            Err(kube::Error::Api(status)) if status.code == 422 && !is_new => return Err(Error::Stuck),
            Err(error) => return Err(call("writing the certificate Secret")(error)),
        }
        if let Known::Good { material, .. } = &state.secret {
            self.serve(material)?;
        }
        Ok(())
    }

    fn serve(&self, material: &Material) -> Result<(), Error> {
        let client_ca = self.client_ca.as_deref().map(tls::read_client_ca).transpose()?;
        let (certificate, key) = (material.serving.certificate.as_bytes(), material.serving.key.expose());
        if self
            .current
            .load()
            .as_ref()
            .is_some_and(|current| current.holds(certificate, key.as_bytes(), client_ca.as_deref()))
        {
            return Ok(());
        }
        let loaded =
            tls::build(certificate, key.as_bytes(), client_ca.as_deref(), names::CERTIFICATE_SECRET)?;
        tls::exchange(&self.current, loaded, &self.metrics);
        Ok(())
    }

    /// Has every configuration carry what is trusted. The Secret is read once more before: a replica with an old sight
    /// must not take a new CA away.
    async fn publish(&self, state: &mut State) -> Result<(), Error> {
        let Known::Good { version, material, .. } = &state.secret else { return Ok(()) };
        let bundle = material.bundle();
        let mut complete = true;
        for (index, seen) in state.configurations.iter().enumerate() {
            let configuration = match seen {
                Configuration::Unknown => {
                    complete = false;
                    continue;
                }
                Configuration::Absent => continue,
                Configuration::There(configuration) => configuration,
            };
            if bundle::carries(configuration, &bundle) {
                continue;
            }
            complete = false;
            if state.written_at[index].is_some_and(|written| written.elapsed() < self.between_writes()) {
                continue;
            }
            if !self.is_newest(version).await? {
                return Ok(());
            }
            state.written_at[index] = Some(Instant::now());
            let api = bundle::api(&self.client, bundle::KINDS[index]);
            match soon(bundle::publish(&api, configuration, &bundle)).await {
                Ok(()) => tracing::info!(kind = bundle::KINDS[index], "caBundle written"),
                // It changed, or another replica has written it: the watch tells.
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
                Err(error) => return Err(call("writing the caBundle")(error)),
            }
        }
        if !complete {
            state.published = None;
        } else if state.published.as_ref().is_none_or(|(known, _)| *known != bundle) {
            state.published = Some((bundle, Instant::now()));
        }
        Ok(())
    }

    fn between_writes(&self) -> Duration {
        BETWEEN_WRITES.min(self.overlap / 2)
    }

    async fn is_newest(&self, version: &str) -> Result<bool, Error> {
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let found = soon(api.get_opt(names::CERTIFICATE_SECRET)).await;
        let found = found.map_err(call("reading the certificate Secret"))?;
        Ok(found.is_some_and(|found| found.metadata.resource_version.as_deref() == Some(version)))
    }

    async fn advance(&self, state: &mut State) -> Result<(), Error> {
        let Known::Good { version, material, since } = &state.secret else { return Ok(()) };
        let sight = Sight {
            unchanged_for: since.elapsed(),
            published_for: state.published.as_ref().map(|(_, since)| since.elapsed()),
            is_due: !covers(&material.serving.certificate, &self.names)
                || self.current.load().as_ref().is_some_and(|current| current.is_due(jiff::Timestamp::now())),
        };
        let next = match material.plan(sight, self.overlap) {
            Plan::Wait => return Ok(()),
            Plan::Stage => material.staged(make(&self.names)?),
            Plan::Switch => material.switched(),
            Plan::Retire => material.retired(),
        };
        tracing::info!(step = ?material.plan(sight, self.overlap), "certificate rotation");
        let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        let secret = write(&self.namespace, &next, Some(version));
        match soon(api.replace(names::CERTIFICATE_SECRET, &PostParams::default(), &secret)).await {
            Ok(stored) => {
                state.take(Event::Secret(Some(stored)));
                if let Known::Good { material, .. } = &state.secret {
                    self.serve(material)?;
                }
                self.publish(state).await
            }
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
            Err(error) => Err(call("writing the certificate Secret")(error)),
        }
    }
}

impl State {
    fn take(&mut self, event: Event) {
        match event {
            Event::Tick => {}
            Event::Complaint(text) => self.complaint = Some((text, Instant::now())),
            Event::Configuration(index, seen) => {
                let seen = seen.map(|seen| Configuration::There(Box::new(seen)));
                self.configurations[index] = seen.unwrap_or(Configuration::Absent);
            }
            Event::Secret(None) => {
                self.read_at = Instant::now();
                self.secret = Known::Absent;
            }
            Event::Secret(Some(secret)) => {
                self.read_at = Instant::now();
                let version = secret.metadata.resource_version.clone().unwrap_or_default();
                match read(&secret) {
                    None => self.secret = Known::Unusable { version },
                    Some(material) => {
                        self.memory = Some(material.clone());
                        self.made = None;
                        // Only a change of the content begins a new stage.
                        let since = match &self.secret {
                            Known::Good { material: known, since, .. } if **known == material => *since,
                            _ => Instant::now(),
                        };
                        self.secret = Known::Good { version, material: Box::new(material), since };
                    }
                }
            }
        }
    }
}
