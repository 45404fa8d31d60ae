//! Behind the door: what was admitted is brought to the systems that act on it, by one leader.
//!
//! [`leader`] elects it, [`installed`] says which kinds can be worked on, [`supervisor`] starts and stops a [`driver`] for
//! each of them. The driver asks the [`guard`], which runs the same rules as the doors, and only an [`Admitted`] object
//! reaches a kind's `sync`. [`status`] and [`events`] tell users what came of it.
//!
//! Every write of a reconciler goes through [`leader::Leadership::write`], so that a replica that is the leader no longer
//! writes nothing more.

pub mod backoff;
pub mod driver;
pub mod events;
pub mod guard;
pub mod installed;
pub mod leader;
mod queue;
pub mod release;
pub mod status;
pub mod stored;
pub mod supervisor;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::claim::take::{Claims, Error as ClaimError};
use crate::kinds::silence::sync::registry::Registry;
use crate::kinds::{Kind, KindInfo};
use crate::observe::metrics::Metrics;
use crate::settings::Settings;
use crate::view::View;
use backoff::Backoffs;
use events::Events;
pub use guard::Admitted;
use leader::Leadership;
use stored::Stored;

/// What every reconciler has at hand.
#[derive(Debug)]
pub struct Context {
    /// The cluster; its user agent carries the identity of this replica.
    pub client: Api,
    /// The other objects, the same that the webhook sees.
    pub view: Arc<View>,
    /// The settings, the same that the webhook has.
    pub settings: Arc<Settings>,
    /// The right to write.
    pub leadership: Leadership,
    /// What users are told.
    pub events: Events,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// Claims, to confirm them.
    pub claims: Claims,
    /// Objects that failed, and how often.
    pub backoffs: Backoffs,
    /// The Alertmanagers and what they hold.
    pub silences: Arc<Registry>,
}

/// A client that prints as nothing.
#[derive(Clone)]
pub struct Api(pub Client);

impl std::fmt::Debug for Api {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Api")
    }
}

/// Why an object could not be reconciled; it is tried again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This replica is the leader no longer.
    #[error("not the leader")]
    NotLeader,
    /// The API server refused or failed.
    #[error("{attempt}: {source}")]
    Api {
        /// What was tried.
        attempt: &'static str,
        /// Why it failed.
        source: Box<kube::Error>,
    },
    /// It took too long and was given up.
    #[error("took too long")]
    Slow,
    /// A claim could not be confirmed.
    #[error("confirming a claim: {0}")]
    Claim(#[from] ClaimError),
}

impl Error {
    /// Says what was tried.
    pub fn api(attempt: &'static str) -> impl Fn(kube::Error) -> Self {
        move |source| Self::Api { attempt, source: Box::new(source) }
    }

    /// Can it go away by itself? Everything is tried again; what cannot is worth a louder word.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NotLeader => false,
            Self::Slow => true,
            Self::Api { source, .. } => {
                !matches!(&**source, kube::Error::Api(status) if matches!(status.code, 400 | 403 | 422))
            }
            Self::Claim(error) => error.is_transient(),
        }
    }

    /// A word for metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::NotLeader => "not_leader",
            Self::Slow => "slow",
            Self::Api { .. } => "api_error",
            Self::Claim(_) => "claim_error",
        }
    }
}

/// When an object is looked at again although nothing has changed; `None`: with all the others.
pub type Next = Option<Duration>;

/// What came of an object behind the door: what its status tells from now on, and what users hear.
#[derive(Debug)]
pub struct Outcome<K: Synced> {
    /// When it is looked at again.
    pub next: Next,
    /// The condition `Ready`; nothing for a kind whose system is not built yet.
    pub ready: Option<Told>,
    /// The rest of the status.
    pub status: K::Status,
    /// What users hear.
    pub news: Vec<News>,
    /// The status would be another one in a moment: it is not written yet.
    pub hold: bool,
}

impl<K: Synced> Default for Outcome<K> {
    fn default() -> Self {
        Self { next: None, ready: None, status: K::Status::default(), news: Vec::new(), hold: false }
    }
}

/// A condition before it has a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Does it hold?
    pub holds: bool,
    /// Why, in one word.
    pub reason: &'static str,
    /// Why, for people.
    pub message: String,
}

/// Something that users hear as an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// Is it bad?
    pub warns: bool,
    /// In one word.
    pub reason: &'static str,
    /// For people.
    pub note: String,
}

/// The status of a kind that has conditions only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionsOnly {}

/// A kind with a reconciler.
pub trait Synced: Kind + Clone + std::fmt::Debug {
    /// Its line of the table.
    const INFO: &'static KindInfo;

    /// The status without its conditions and without the observed generation.
    type Status: Serialize + DeserializeOwned + Default + Clone + PartialEq + std::fmt::Debug + Send + Sync;

    /// How often all objects are looked at again although nothing has changed.
    fn resync(_settings: &Settings) -> Duration {
        driver::USUAL
    }

    /// Brings an admitted object behind the door.
    ///
    /// # Expected Flow
    /// Called by the driver after the guard, by the leader only. Whatever it writes goes through
    /// [`Leadership::write`].
    fn sync(
        _object: Admitted<'_, Self>,
        _stored: &Stored<Self>,
        _context: &Context,
    ) -> impl Future<Output = Result<Outcome<Self>, Error>> + Send {
        async { Ok(Outcome::default()) }
    }

    /// Takes back what is behind the door of an object that the rules refuse.
    fn refused(
        _stored: &Stored<Self>,
        _context: &Context,
    ) -> impl Future<Output = Result<Outcome<Self>, Error>> + Send {
        async { Ok(Outcome::default()) }
    }

    /// Lets go of an object that is being deleted. Not guarded: an invalid object must go as well.
    fn release(
        _stored: &Stored<Self>,
        _context: &Context,
    ) -> impl Future<Output = Result<Next, Error>> + Send {
        async { Ok(None) }
    }
}

/// The reconciler of a kind, erased to what the table needs.
#[derive(Debug)]
pub struct Reconciler {
    /// Runs until told to stop, or until the kind cannot be watched any more.
    pub run: RunReconciler,
    /// The resources whose changes ask for a new judgement of every object of the kind.
    pub reads: &'static [&'static str],
    /// The resources of others, each with its group, that must be readable for the kind to be worked on at all.
    pub needs: &'static [(&'static str, &'static str)],
    /// The finalizer that usher puts on objects of the kind.
    pub finalizer: Option<&'static str>,
}

/// Runs the reconciler of a kind.
pub type RunReconciler = fn(Arc<Context>) -> Pin<Box<dyn Future<Output = ()> + Send>>;
