//! Starts and stops reconcilers: for each kind, while this replica is the leader and the kind is installed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Context;
use super::installed::{Installed, look};
use crate::kinds::silence::sync::registry::Registry;
use crate::kinds::{KindInfo, TABLE, silence};
use crate::observe::metrics::SubsystemLabels;

/// Rights are not watched, so they are looked at again from time to time.
const AGAIN: Duration = Duration::from_mins(5);
/// The same while a kind is off, or the API server did not answer.
const SOON: Duration = Duration::from_secs(15);

/// How long one look may take; without it, a kind would notice neither the end nor a change of the leader.
const PATIENCE: Duration = Duration::from_secs(10);

/// What `/statusz` shows of the reconcilers.
#[derive(Debug, Default)]
pub struct Systems {
    kinds: Mutex<BTreeMap<&'static str, (Installed, &'static str)>>,
    /// What the Silence system has to tell.
    silences: OnceLock<Arc<Registry>>,
}

impl Systems {
    fn set(&self, kind: &'static KindInfo, installed: Installed, running: bool) {
        let state = match &installed {
            Installed::Yes if kind.reconciler.is_none() => "no reconciler",
            Installed::Yes if running => "on",
            Installed::Yes => "standing by",
            Installed::Unknown(_) => "degraded",
            _ => "off",
        };
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.kind, (installed, state));
    }

    /// One entry per kind.
    pub fn told(&self) -> Vec<Value> {
        let all = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let troubles = |kind: &str| {
            let silences = self.silences.get().filter(|_| kind == silence::KIND.kind);
            silences.map(|silences| silences.troubles()).unwrap_or_default()
        };
        let entry = |(kind, (installed, state)): (&&str, &(Installed, &str))| json!({"kind": kind, "state": state, "reason": installed.reason(), "why": installed.why(), "troubles": troubles(kind)});
        all.iter().map(entry).collect()
    }
}

/// Supervises all kinds until told to stop.
pub async fn run(context: Arc<Context>, systems: Arc<Systems>, stop: watch::Receiver<bool>) {
    let _ = systems.silences.set(Arc::clone(&context.silences));
    let crds = watch::Sender::new(BTreeMap::new());
    let mut tasks = JoinSet::new();
    for kind in TABLE {
        let (context, systems) = (Arc::clone(&context), Arc::clone(&systems));
        tasks.spawn(supervise(kind, context, systems, crds.subscribe(), stop.clone()));
    }
    let watching = watch_crds(context, crds);
    let ended = async { while tasks.join_next().await.is_some() {} };
    tokio::select! {
        () = watching => {}
        () = ended => {}
    }
}

/// Keeps the versions of usher's own CRDs. Only metadata is watched: schemas of others can be large.
async fn watch_crds(context: Arc<Context>, crds: watch::Sender<BTreeMap<String, String>>) {
    let own: Vec<String> = TABLE.iter().map(|kind| format!("{}.{}", kind.plural, kind.group)).collect();
    let api: Api<PartialObjectMeta<CustomResourceDefinition>> = Api::all(context.client.0.clone());
    let mut events = watcher(api, watcher::Config::default()).default_backoff().boxed();
    while let Some(event) = events.next().await {
        let (name, version) = match event {
            Ok(watcher::Event::Apply(crd) | watcher::Event::InitApply(crd)) => {
                (crd.name_any(), crd.resource_version())
            }
            Ok(watcher::Event::Delete(crd)) => (crd.name_any(), None),
            _ => continue,
        };
        if own.contains(&name) {
            crds.send_if_modified(|known| {
                let before = known.get(&name).cloned();
                match &version {
                    Some(version) => known.insert(name, version.clone()),
                    None => known.remove(&name),
                };
                before != version
            });
        }
    }
}

async fn supervise(
    kind: &'static KindInfo,
    context: Arc<Context>,
    systems: Arc<Systems>,
    mut crds: watch::Receiver<BTreeMap<String, String>>,
    mut stop: watch::Receiver<bool>,
) {
    let crd = format!("{}.{}", kind.plural, kind.group);
    let mut leader = context.leadership.changes();
    let mut told = None;
    // Ended when it is dropped.
    let mut running: JoinSet<()> = JoinSet::new();
    loop {
        let version = crds.borrow_and_update().get(&crd).cloned();
        let leads = *leader.borrow_and_update();
        let looking = look(&context.client.0, kind, &context.settings.gates);
        let installed = tokio::time::timeout(PATIENCE, looking).await;
        let installed = installed.unwrap_or_else(|_| Installed::Unknown("no answer in time".to_owned()));
        let runs = !running.is_empty();
        // An API server that does not answer is no reason to stop: its watches go on by themselves.
        let works = installed == Installed::Yes || runs && matches!(installed, Installed::Unknown(_));
        if !leads || !works {
            running = JoinSet::new();
        } else if let Some(reconciler) = kind.reconciler.as_ref().filter(|_| !runs) {
            running.spawn((reconciler.run)(Arc::clone(&context)));
        }
        if told.as_ref() != Some(&installed) {
            tell(kind, &installed, &context).await;
            told = Some(installed.clone());
        }
        systems.set(kind, installed, leads && works);
        tokio::select! {
            () = changed(&mut crds, &crd, version.as_ref()) => {}
            _ = leader.changed() => {}
            // It could not be watched any more; why, the next look tells.
            Some(_) = running.join_next() => tokio::time::sleep(Duration::from_secs(1)).await,
            () = tokio::time::sleep(if works { AGAIN } else { SOON }) => {}
            () = told_to(&mut stop) => return,
        }
    }
}

/// Waits for the word, and lets go of the channel's lock.
pub(super) async fn told_to(stop: &mut watch::Receiver<bool>) {
    told_to_be(stop, true).await;
}

/// Waits until the channel says this. A channel that nobody writes to any more says it too.
pub(super) async fn told_to_be(channel: &mut watch::Receiver<bool>, wanted: bool) {
    let _ = channel.wait_for(|said| *said == wanted).await;
}

/// Waits until the CRD of a kind has another version.
async fn changed(crds: &mut watch::Receiver<BTreeMap<String, String>>, crd: &str, version: Option<&String>) {
    while crds.changed().await.is_ok() {
        if crds.borrow_and_update().get(crd) != version {
            // A CRD is written several times while it is being established.
            tokio::time::sleep(Duration::from_millis(200)).await;
            return;
        }
    }
    // Nobody watches any more: the timer asks.
    std::future::pending::<()>().await;
}

async fn tell(kind: &KindInfo, installed: &Installed, context: &Context) {
    let subsystem = kind.slug;
    for reason in Installed::REASONS {
        let labels = SubsystemLabels { subsystem, reason };
        let value = i64::from(reason == installed.reason());
        context.metrics.subsystems.get_or_create(&labels).set(value);
    }
    match installed {
        Installed::Yes => tracing::info!(kind = kind.kind, "installed"),
        off => tracing::warn!(kind = kind.kind, why = off.why(), "not worked on"),
    }
    let finalizer = kind.reconciler.as_ref().and_then(|reconciler| reconciler.finalizer);
    let Some(finalizer) = finalizer.filter(|_| *installed == Installed::GateDisabled) else { return };
    if let Ok(held) = super::release::holding(&context.client.0, kind, finalizer).await
        && !held.is_empty()
    {
        let command = if finalizer == crate::names::SILENCE_CLEANUP {
            "usher silence release"
        } else {
            "usher release"
        };
        tracing::warn!(
            kind = kind.kind,
            held = held.len(),
            command,
            "objects hold usher's finalizer and cannot be deleted while the gate is off; the command frees them"
        );
    }
}
