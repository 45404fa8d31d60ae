//! Keeps Silences in Alertmanagers (specification section 4).
//!
//! [`target`] finds an Alertmanager's instances, [`registry`] keeps what they hold, [`plan`] and its neighbours decide one
//! step at a time without any call, and a [`pass`] performs them. Each step is derived from what the instances hold, never
//! from what an earlier step intended, so that a crash between any two of them costs nothing but time. [`binding`] tells
//! what came of it.

pub mod alerts;
pub mod binding;
pub mod content;
mod member;
pub mod outcome;
pub mod ownership;
pub mod pass;
pub mod plan;
mod present;
pub mod registry;
mod sender;
pub mod snapshot;
pub mod sweep;
pub mod sweeper;
pub mod tally;
pub mod target;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, OnceCell};

use super::selection::refusal_for;
use super::spec::{Binding, SilenceSpec, SilenceState};
use super::tenancy::{Selecting, Selection, effective, select, unusable, written};
use super::window::{Windows, windows};
use super::{KIND, Silence};
use crate::kinds::KindInfo;
use crate::model::object::Object;
use crate::names;
use crate::reconcile::backoff::Pace;
use crate::reconcile::guard::facts;
use crate::reconcile::stored::Stored;
use crate::reconcile::{Admitted, Context, Error, Next, Outcome as Reconciled, Synced, status};
use crate::rule::User;
use crate::settings::Settings;
use crate::upstream::Cause;
use crate::upstream::alertmanager::Matcher;
use crate::upstream::error::TlsFault;
use crate::view::Key;
use crate::view::records::Alertmanager;

use binding::{Report, report};
pub use content::{Wanted, shown};
pub use outcome::{Outcome, Reason};
pub use ownership::{Adoption, Claim, Identity, Record, adoption};
use pass::{Announce, Came, Job};
pub use plan::{Absence, Blocked, Bounds, Desired, Step, WhyExpire, WhyPost, next};
use sender::Sender;
pub use snapshot::{Failure, Instance, Reach, Snapshot, state_at};
pub use sweep::{Liveness, Sweep, orphans};

/// A pending silence is made this long before its window.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);
/// How long to wait for what must be known first.
const SOON: Duration = Duration::from_secs(2);

impl Synced for Silence {
    const INFO: &'static KindInfo = &KIND;
    type Status = SilenceState;

    fn resync(settings: &Settings) -> Duration {
        settings.alertmanager.resync
    }

    async fn sync(
        object: Admitted<'_, Self>,
        stored: &Stored<Self>,
        context: &Context,
    ) -> Result<Reconciled<Self>, Error> {
        keep(stored, Some(object.object()), context).await
    }

    /// What was sent before the rules refused it is taken back.
    async fn refused(stored: &Stored<Self>, context: &Context) -> Result<Reconciled<Self>, Error> {
        keep(stored, None, context).await
    }

    async fn release(stored: &Stored<Self>, context: &Context) -> Result<Next, Error> {
        let metadata = stored.metadata();
        context.silences.forget(&metadata.uid, &context.metrics);
        if !metadata.finalizers.iter().flatten().any(|held| held == names::SILENCE_CLEANUP) {
            return Ok(None);
        }
        let sender = Sender { stored, context, announced: Mutex::default() };
        let Some(identity) = identity(stored, context) else {
            // Whose silences these are cannot be told, in whichever way; the object does not wait for that for ever.
            if !is_given_up(stored, context) {
                return Ok(Some(SOON));
            }
            sender.abandon().await?;
            sender.unfinalize().await?;
            return Ok(None);
        };
        // Alertmanagers that are not known yet are not gone: they may hold it.
        if !context.view.alertmanagers.is_known() && !is_given_up(stored, context) {
            return Ok(Some(SOON));
        }
        let mut alertmanagers = bound(stored, context);
        if let Ok(object) = &stored.object {
            let (user, now) = (User::default(), Timestamp::now());
            for selecting in select(&object.metadata, &facts(context, &user, now)).selecting {
                let metadata = &selecting.alertmanager.metadata;
                alertmanagers
                    .entry((metadata.namespace.clone(), metadata.name.clone()))
                    .or_insert(selecting.alertmanager);
            }
        }
        let finalizer = OnceCell::new_with(Some(()));
        let jobs = alertmanagers.values().map(|alertmanager| {
            let desired = Desired::Absent(Absence::Deleted, matchers_for(stored, None, context));
            job(stored, context, &identity, alertmanager, desired, &finalizer, &sender).run()
        });
        let came = futures::future::join_all(jobs).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        let left: Vec<&Came> = came.iter().filter(|came| came.outcome.reason != Reason::Removed).collect();
        if !left.is_empty() && !is_given_up(stored, context) {
            let key = ("Silence", metadata.namespace.clone(), metadata.name.clone());
            let wait = context.backoffs.failed(key, Pace::Usual);
            return Ok(Some(patience(stored, context).map_or(wait, |left| wait.min(left))));
        }
        if !left.is_empty() {
            sender.abandon().await?;
        }
        sender.unfinalize().await?;
        for alertmanager in alertmanagers.values() {
            let metadata = &alertmanager.metadata;
            let known = context.silences.get(&metadata.namespace, &metadata.name);
            known.state().forget(&identity.uid);
        }
        Ok(None)
    }
}

/// Has a deleted object waited long enough?
fn is_given_up(stored: &Stored<Silence>, context: &Context) -> bool {
    stored.metadata().annotation(names::SILENCE_FORCE_DELETE) == Some("true")
        || patience(stored, context).is_some_and(|left| left.is_zero())
}

/// How long a deleted object still waits for its Alertmanagers.
fn patience(stored: &Stored<Silence>, context: &Context) -> Option<Duration> {
    let waited = Timestamp::now().duration_since(stored.metadata().deletion_timestamp?);
    let waited = Duration::try_from(waited).unwrap_or_default();
    Some(context.settings.alertmanager.cleanup_timeout.saturating_sub(waited))
}

/// Brings an object to every Alertmanager that selects it, and takes it back from those that no longer do. Without an
/// object the rules refuse it.
async fn keep(
    stored: &Stored<Silence>,
    object: Option<&Object<SilenceSpec>>,
    context: &Context,
) -> Result<Reconciled<Silence>, Error> {
    let now = Timestamp::now();
    let Some(identity) = identity(stored, context) else {
        return Ok(Reconciled { next: Some(SOON), hold: true, ..Reconciled::default() });
    };
    let user = User::default();
    let facts = facts(context, &user, now);
    let selection = object.map(|object| select(&object.metadata, &facts)).unwrap_or_default();
    let windows = object.map_or(Windows::Never, |object| windows(object, now));
    let sender = Sender { stored, context, announced: Mutex::default() };
    let has_finalizer =
        stored.metadata().finalizers.iter().flatten().any(|held| held == names::SILENCE_CLEANUP);
    let finalizer = OnceCell::new_with(has_finalizer.then_some(()));

    let mut wanted: Vec<(Arc<Alertmanager>, Desired, Option<String>)> = Vec::new();
    for selecting in &selection.selecting {
        let Some(object) = object else { break };
        let refusal = refusal_for(object, selecting, &context.settings.silence, &context.view);
        let desired = desired(object, selecting, refusal.is_some(), &windows, context, now);
        wanted.push((Arc::clone(&selecting.alertmanager), desired, refusal));
    }
    // Those that hold it and should not: no longer selecting, or the object is refused altogether.
    let certain = object.is_none() || selection.certain;
    for (key, alertmanager) in bound(stored, context) {
        let is_known = |other: &Arc<Alertmanager>| is(other, &key);
        let stays = selection.uncertain.iter().any(is_known);
        if !stays && certain && !wanted.iter().any(|(other, ..)| is_known(other)) {
            let absence = if object.is_none() { Absence::Refused } else { Absence::Deselected };
            let desired = Desired::Absent(absence, matchers_for(stored, None, context));
            wanted.push((alertmanager, desired, None));
        }
    }
    let jobs = wanted.iter().map(|(alertmanager, desired, _)| {
        job(stored, context, &identity, alertmanager, desired.clone(), &finalizer, &sender).run()
    });
    let came = futures::future::join_all(jobs).await.into_iter().collect::<Result<Vec<_>, _>>()?;
    let kept = stored.status.bindings.iter().flatten().filter(|binding| {
        let key = (binding.namespace.clone(), binding.name.clone());
        let is_done = wanted.iter().any(|(alertmanager, ..)| is(alertmanager, &key));
        // An Alertmanager that is gone takes its binding with it; one that nobody can tell about does not.
        let exists = !certain || selection.uncertain.iter().any(|other| is(other, &key));
        !is_done && exists
    });
    let kept: Vec<Binding> = kept.cloned().collect();
    let done =
        wanted.into_iter().zip(came).map(|((alertmanager, _, refusal), came)| (alertmanager, refusal, came));
    let report = report(Report {
        stored,
        is_refused: object.is_none(),
        is_suspended: object.is_some_and(|object| object.spec.suspend == Some(true)),
        windows,
        done: done.collect(),
        kept,
        unclear: unclear(&selection, context),
        context,
        now,
    });
    let is_named = context.settings.alertmanager.object_metrics;
    context.silences.tally.put(&identity, &report.status, is_named, &context.metrics);
    if let Some(ttl) = ended_for_good(stored, &report.status, context, now) {
        sender.delete(ttl).await?;
    }
    Ok(report)
}

/// The Alertmanagers of which nobody can tell for their selectors' sake.
fn unclear(selection: &Selection, context: &Context) -> Vec<String> {
    let is_unusable = |other: &&Arc<Alertmanager>| unusable(other, &context.settings.silence).is_some();
    let named = selection.uncertain.iter().filter(is_unusable);
    named.map(|other| format!("{}/{}", other.metadata.namespace, other.metadata.name)).collect()
}

fn is(alertmanager: &Alertmanager, key: &Key) -> bool {
    (&alertmanager.metadata.namespace, &alertmanager.metadata.name) == (&key.0, &key.1)
}

/// What an Alertmanager should hold.
fn desired(
    object: &Object<SilenceSpec>,
    selecting: &Selecting,
    is_refused: bool,
    windows: &Windows,
    context: &Context,
    now: Timestamp,
) -> Desired {
    let matchers = matchers_of(object, selecting.enforces, context);
    let window = match windows {
        _ if object.spec.suspend == Some(true) => return Desired::Absent(Absence::Suspended, matchers),
        _ if is_refused => return Desired::Absent(Absence::Refused, matchers),
        Windows::One(window) => *window,
        Windows::Recurring { window: Some(window), .. } => {
            if window.start.duration_since(now) > AHEAD {
                return Desired::Absent(Absence::Scheduled, matchers);
            }
            *window
        }
        Windows::Recurring { .. } | Windows::Never => return Desired::Absent(Absence::Expired, matchers),
    };
    if window.end <= now {
        return Desired::Absent(Absence::Expired, matchers);
    }
    let comment = object.spec.comment.trim().to_owned();
    Desired::Present(Wanted { matchers, comment, starts_at: window.start, ends_at: window.end })
}

fn matchers_of(object: &Object<SilenceSpec>, enforces: bool, context: &Context) -> Vec<Matcher> {
    let label = &context.settings.silence.namespace_label;
    let matchers = effective(written(object, label), enforces, label, &object.metadata.namespace);
    matchers.iter().map(sent).collect()
}

/// The matchers that help to recognise what was sent; none when the object does not decode.
fn matchers_for(stored: &Stored<Silence>, enforces: Option<bool>, context: &Context) -> Vec<Matcher> {
    let object = stored.object.as_ref();
    object.map(|object| matchers_of(object, enforces.unwrap_or(true), context)).unwrap_or_default()
}

fn sent(matcher: &super::spec::Matcher) -> Matcher {
    use super::spec::MatchType::{Equal, NotEqual, NotRegex, Regex};
    let (is_equal, is_regex) = match matcher.kind() {
        Equal => (true, false),
        NotEqual => (false, false),
        Regex => (true, true),
        NotRegex => (false, true),
    };
    Matcher { name: matcher.name.clone(), value: matcher.value.clone(), is_regex, is_equal }
}

/// The Alertmanagers that the status says hold the silence, as far as they still exist.
fn bound(stored: &Stored<Silence>, context: &Context) -> BTreeMap<Key, Arc<Alertmanager>> {
    let targets = &context.settings.silence.targets;
    let find = |binding: &Binding| {
        let key = (binding.namespace.clone(), binding.name.clone());
        let target = targets.iter().map(|target| &target.alertmanager).find(|other| is(other, &key));
        let found = target.cloned();
        let found = found.or_else(|| context.view.alertmanagers.get(&key.0, &key.1).flatten())?;
        Some((key, found))
    };
    stored.status.bindings.iter().flatten().filter_map(find).collect()
}

fn identity(stored: &Stored<Silence>, context: &Context) -> Option<Identity> {
    let metadata = stored.metadata();
    let cluster = cluster_id(context)?;
    Some(Identity {
        namespace: metadata.namespace.clone(),
        name: metadata.name.clone(),
        uid: metadata.uid.clone(),
        cluster,
        adopt: metadata.annotation(names::ADOPT).map(str::to_owned),
    })
}

/// The setting, else the uid of `kube-system`; nothing until the namespaces are known.
fn cluster_id(context: &Context) -> Option<String> {
    if let Some(id) = &context.settings.alertmanager.cluster_id {
        return Some(id.clone());
    }
    let system = context.view.namespaces.get("", "kube-system").flatten()?;
    Some(system.metadata.uid.clone()).filter(|uid| !uid.is_empty())
}

fn job<'a>(
    stored: &Stored<Silence>,
    context: &'a Context,
    identity: &'a Identity,
    alertmanager: &Arc<Alertmanager>,
    desired: Desired,
    finalizer: &'a OnceCell<()>,
    announce: &'a (dyn Announce + Sync),
) -> Job<'a> {
    let metadata = &alertmanager.metadata;
    let key = (metadata.namespace.clone(), metadata.name.clone());
    let binding = stored.status.bindings.iter().flatten().find(|known| known.key() == key);
    let observed = stored.conditions.iter().find(|known| known.r#type == status::READY);
    let record = binding.map_or_else(Record::default, |binding| Record {
        silence_id: binding.silence_id.clone(),
        matchers: binding.effective_matchers.clone().unwrap_or_default(),
        ends_at: stored.status.expires_at,
        written_at: binding.last_sync_time,
        current: observed.and_then(|ready| ready.observed_generation) == stored.generation(),
    });
    let alertmanager = Arc::clone(alertmanager);
    let generation = stored.generation();
    Job {
        context,
        identity,
        alertmanager,
        desired,
        record,
        generation,
        finalizer,
        announce,
        lost: Vec::new(),
    }
}

/// When an ended object is to be deleted: the setting, unless somebody else manages it.
fn ended_for_good(
    stored: &Stored<Silence>,
    state: &SilenceState,
    context: &Context,
    now: Timestamp,
) -> Option<SignedDuration> {
    let ttl = SignedDuration::try_from(context.settings.alertmanager.ttl_after_expiry).ok()?;
    let is_over = state.phase == Some(super::spec::Phase::Expired);
    let end = state.expires_at.filter(|_| is_over && !ttl.is_zero())?;
    let labels = stored.metadata().labels.as_ref();
    let is_tracked = labels.into_iter().flatten().any(|(name, _)| TRACKED.contains(&name.as_str()));
    (!is_tracked && now.duration_since(end) >= ttl).then_some(ttl)
}

/// Labels of tools that would only bring a deleted object back.
const TRACKED: [&str; 4] = [
    "argocd.argoproj.io/instance",
    "app.kubernetes.io/instance",
    "kustomize.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/name",
];

/// Why an instance could not be asked, in the plan's words.
pub(super) fn failure_of(cause: &Cause) -> Failure {
    match cause {
        Cause::Unauthorized => Failure::AuthenticationFailed,
        Cause::Forbidden => Failure::PermissionDenied,
        Cause::Tls(TlsFault::ClientCertificate) => Failure::ClientCertificateRequired,
        Cause::Tls(_) => Failure::TlsError,
        Cause::Credentials(_) => Failure::CredentialsUnavailable,
        Cause::Unavailable(_) | Cause::Unlistable(_) => Failure::Unavailable,
        _ => Failure::UnexpectedResponse,
    }
}
