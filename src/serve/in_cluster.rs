//! What a server in a cluster has beside its listeners: watches, claims, certificates of its own, the election and the
//! reconcilers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::diagnostics::Troubles;
use super::expiry;
use super::permission::Permissions;
use super::tls::Current;
use crate::certs::keeper::Keeper;
use crate::certs::material::service_names;
use crate::claim::take::Claims;
use crate::cluster::{self, Cluster};
use crate::observe::metrics::{Metrics, WatchLabels};
use crate::reconcile::backoff::Backoffs;
use crate::reconcile::events::Events;
use crate::reconcile::leader::{Election, Leadership, identity};
use crate::reconcile::supervisor::{self, Systems};
use crate::reconcile::{Api, Context};
use crate::settings::Settings;
use crate::view::{Standing, View};

/// How a server takes part in its cluster.
#[derive(Debug, Clone)]
pub struct Part {
    /// The cluster.
    pub cluster: Cluster,
    /// How long an open claim keeps others out.
    pub claim_grace: SignedDuration,
    /// How long a leader that says nothing stays leader.
    pub lease_duration: Duration,
}

/// How usher's own certificates are kept.
#[derive(Debug, Clone)]
pub struct OwnCertificates {
    /// More names and addresses than those of the Service.
    pub names: Vec<String>,
    /// How long both CAs are trusted before and after a new leaf is served.
    pub overlap: Duration,
    /// Only clients with a certificate of this CA may call.
    pub client_ca: Option<PathBuf>,
}

/// What the rest of the server needs of it.
#[derive(Debug)]
pub struct Joined {
    /// Where claims are taken.
    pub claims: Claims,
    /// Who is asked what a requester may do.
    pub permissions: Permissions,
    /// Is this replica the leader?
    pub leadership: Leadership,
    /// What the reconcilers do.
    pub systems: Arc<Systems>,
    /// Ends by itself when it has let go of the Lease.
    pub election: JoinHandle<()>,
    /// Run until they are aborted.
    pub tasks: Vec<JoinHandle<()>>,
}

/// The parts that all servers have.
#[derive(Debug, Clone)]
pub struct Common {
    /// The other objects.
    pub view: Arc<View>,
    /// The settings.
    pub settings: Arc<Settings>,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// What goes wrong.
    pub troubles: Arc<Troubles>,
    /// The certificate.
    pub certificate: Current,
}

/// Starts everything. Nothing here waits for the API server: what cannot be had yet is tried again.
///
/// # Errors
/// When the configuration cannot be used for a client.
pub fn join(
    part: &Part,
    own: Option<&OwnCertificates>,
    common: &Common,
    stop: watch::Receiver<bool>,
) -> Result<Joined, cluster::Error> {
    let Common { view, settings, metrics, troubles, certificate } = common;
    let cluster = &part.cluster;
    let reader = cluster.client("watch")?;
    let mut tasks = crate::view::cluster::start(view, &reader, &settings.uptime.cluster_resource_namespace);
    tasks.push(tokio::spawn(count_watches(Arc::clone(view), Arc::clone(metrics))));
    let alerts = crate::kinds::silence::sync::alerts::watch(
        Arc::clone(view),
        Arc::clone(settings),
        cluster.client("alerts")?,
    );
    tasks.push(tokio::spawn(alerts));
    if let Some(own) = own {
        let names = service_names(&cluster.namespace).into_iter().chain(own.names.iter().cloned()).collect();
        let keeper = Keeper {
            client: cluster.client("certificates")?,
            namespace: cluster.namespace.clone(),
            names,
            overlap: own.overlap,
            client_ca: own.client_ca.clone(),
            current: Arc::clone(certificate),
            metrics: Arc::clone(metrics),
            troubles: Arc::clone(troubles),
        };
        tasks.push(tokio::spawn(keeper.run()));
    }

    let claims_of = |client| Claims::new(client, cluster.namespace.clone(), part.claim_grace);
    let leadership = Leadership::new(identity());
    let election = Election::new(
        cluster.client("election")?,
        cluster.namespace.clone(),
        part.lease_duration,
        leadership.clone(),
        Arc::clone(metrics),
        Arc::clone(troubles),
    );
    // What the leader writes can be told apart in the audit log.
    let writer = cluster.client(&format!("leader {}", leadership.identity))?;
    let context = Arc::new(Context {
        client: Api(writer.clone()),
        view: Arc::clone(view),
        settings: Arc::clone(settings),
        leadership: leadership.clone(),
        events: Events::new(writer.clone(), &leadership.identity),
        metrics: Arc::clone(metrics),
        claims: claims_of(writer),
        backoffs: Backoffs::default(),
        silences: Arc::default(),
    });
    let systems = Arc::new(Systems::default());
    tasks.push(tokio::spawn(supervisor::run(context, Arc::clone(&systems), stop.clone())));
    let events = Events::new(cluster.client("events")?, &leadership.identity);
    tasks.push(tokio::spawn(expiry::watch(Arc::clone(certificate), events, cluster.namespace.clone())));
    Ok(Joined {
        claims: claims_of(cluster.client("claims")?),
        permissions: Permissions::new(cluster.client("permissions")?),
        leadership,
        systems,
        election: tokio::spawn(election.run(stop)),
        tasks,
    })
}

/// Keeps the metric that says what is watched; a kind of somebody else's may come and go.
async fn count_watches(view: Arc<View>, metrics: Arc<Metrics>) {
    loop {
        for feed in view.feeds() {
            for state in Standing::ALL {
                let labels = WatchLabels { kind: feed.resource().kind, state: state.as_str() };
                metrics.watches.get_or_create(&labels).set(i64::from(feed.standing() == state));
            }
        }
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
}
