//! The one reconciler, for every kind: judge, tell, sync.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::DynamicObject;
use kube::runtime::controller::{self, Action, Config, applier};
use kube::runtime::events::EventType;
use kube::{Api, ResourceExt as _};
use tokio::task::{JoinError, JoinHandle};

use super::backoff::{Key, Pace, latest};
use super::guard::{facts, judge_stored};
use super::queue::{self, Reconciled, reads};
use super::status::{self, ACCEPTED, DEFAULT_CONFLICT, READY};
use super::stored::{Stored, Watched};
use super::{Context, Error, News, Outcome, Synced};
use crate::claim;
use crate::model::condition::{Condition, ConditionStatus};
use crate::observe::metrics::{KindLabel, ReconcileLabels};
use crate::rule::User;
use crate::view::Standing;
use crate::view::cluster::status_of;

/// How often all objects are judged again although nothing has changed: verdicts may depend on the clock. One timer for
/// all of them: a timer each would cost as much memory as the object.
pub(super) const USUAL: Duration = Duration::from_mins(10);
/// How long a reconcile may take; what hangs is given up and tried again.
const PATIENCE: Duration = Duration::from_mins(1);
/// Objects of one kind at once.
const CONCURRENCY: u16 = 8;

/// Runs until the future is dropped, or until the kind cannot be watched any more.
pub fn run<K: Synced>(context: Arc<Context>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let reconciled = Reconciled::new();
        let (objects, due) = queue::of::<K>(&context, &reconciled);
        // Each on a task of its own, so that all cores work.
        let work = move |watched, context| {
            let (task, reconciled) =
                (Task(tokio::spawn(reconcile::<K>(watched, context))), reconciled.clone());
            async move {
                let done = task.await;
                reconciled.count();
                done
            }
            .boxed()
        };
        let config = Config::default().concurrency(CONCURRENCY);
        let mut results = applier(work, after_error::<K>, context, objects, due, config).boxed();
        while let Some(result) = results.next().await {
            match result {
                Err(controller::Error::QueueError(error)) if matches!(status_of(&error), Some(403 | 404)) => {
                    tracing::warn!(kind = K::INFO.kind, %error, "cannot be watched any more");
                    return;
                }
                Err(controller::Error::QueueError(error)) => {
                    tracing::debug!(kind = K::INFO.kind, %error, "watch interrupted");
                }
                _ => {}
            }
        }
    })
}

/// A task that ends with whoever waits for it.
struct Task<T>(JoinHandle<T>);

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<T> {
        let Poll::Ready(done) = self.0.poll_unpin(context) else { return Poll::Pending };
        match done.map_err(JoinError::try_into_panic) {
            Ok(done) => Poll::Ready(done),
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // The runtime is ending, and with it whoever waits.
            Err(Err(_)) => Poll::Pending,
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn reconcile<K: Synced>(watched: Arc<Watched<K>>, context: Arc<Context>) -> Result<Action, Error> {
    let stored = watched.decode();
    let done = tokio::time::timeout(PATIENCE, reconcile_once(&stored, &context)).await;
    let done = done.unwrap_or(Err(Error::Slow));
    let outcome = done.as_ref().err().map_or("ok", Error::label);
    context.metrics.reconciles.get_or_create(&ReconcileLabels { kind: K::INFO.kind, outcome }).inc();
    let next = done?;
    context.backoffs.succeeded(&key(&watched));
    // All are looked at again with every resync: only what cannot wait for the next one needs a timer of its own.
    let sooner = next.filter(|next| *next < latest(K::resync(&context.settings)));
    Ok(sooner.map_or_else(Action::await_change, Action::requeue))
}

async fn reconcile_once<K: Synced>(stored: &Stored<K>, context: &Context) -> Result<super::Next, Error> {
    if !context.leadership.is_held() {
        return Err(Error::NotLeader);
    }
    let (user, now) = (User::default(), Timestamp::now());
    let facts = facts(context, &user, now);
    let lease = stored.object.as_ref().ok().and_then(|object| claim::lease_of::<K>(object, &facts));
    if let Some(lease) = &lease {
        let confirming = context.claims.confirm(K::INFO, lease, &stored.metadata().name);
        match context.leadership.write(async { confirming.await.map_err(Error::Claim) }).await {
            Err(Error::NotLeader) => return Err(Error::NotLeader),
            // It only spares users a wait.
            Err(error) => tracing::debug!(kind = K::INFO.kind, %error, "not confirmed"),
            Ok(_) => {}
        }
    }
    if stored.metadata().is_terminating() {
        return K::release(stored, context).await;
    }
    // What is not known yet finds nothing, and "nothing found" must not be told or synced. All are judged as soon as it is.
    if !is_view_ready::<K>(context) {
        return Ok(None);
    }
    let mut judgement = judge_stored(stored, &facts);
    let came = match judgement.admitted.take() {
        Some(admitted) => K::sync(admitted, stored, context).await,
        None => K::refused(stored, context).await,
    };
    // What could not be told is told as it was; the verdict is told in any case.
    let (outcome, failure) = match came {
        Ok(outcome) => (outcome, None),
        Err(Error::NotLeader) => return Err(Error::NotLeader),
        Err(error) => (Outcome { status: stored.status.clone(), ..Outcome::default() }, Some(error)),
    };
    let mut wanted = status::conditions(stored, &judgement, outcome.ready.as_ref(), now);
    if failure.is_some() {
        wanted.extend(stored.conditions.iter().find(|known| known.r#type == READY).cloned());
    }
    if !outcome.hold
        && !status::is_stored(stored, &wanted, &outcome.status)
        && status::apply(stored, &wanted, &outcome.status, context).await?
    {
        tell(stored, &wanted, context).await?;
    }
    for News { warns, reason, note } in &outcome.news {
        tell_one(stored, context, *warns, reason, note).await?;
    }
    failure.map_or(Ok(outcome.next), Err)
}

/// Is everything there that the kind's rules read? A kind that usher may not read never will be.
fn is_view_ready<K: Synced>(context: &Context) -> bool {
    let feeds = context.view.feeds();
    let mut read = feeds.iter().filter(|feed| reads::<K>().contains(&feed.resource().plural));
    read.all(|feed| feed.standing() != Standing::Waiting)
}

/// Tells what changed: a refusal, its end, a conflict.
async fn tell<K: Synced>(stored: &Stored<K>, wanted: &[Condition], context: &Context) -> Result<(), Error> {
    let about = reference(stored);
    for condition in wanted {
        let before = stored.conditions.iter().find(|known| known.r#type == condition.r#type);
        let same = before
            .is_some_and(|before| before.status == condition.status && before.message == condition.message);
        let (kind, reason) = match (condition.r#type.as_str(), condition.status, before) {
            _ if same => continue,
            (ACCEPTED, ConditionStatus::False, _) => (EventType::Warning, "Refused"),
            (ACCEPTED, _, Some(before)) if before.status == ConditionStatus::False => {
                (EventType::Normal, "Accepted")
            }
            (DEFAULT_CONFLICT, ..) => (EventType::Warning, "DefaultConflict"),
            _ => continue,
        };
        context.events.tell_as_leader(&context.leadership, &about, kind, reason, &condition.message).await?;
    }
    Ok(())
}

/// Tells one thing about an object.
pub(crate) async fn tell_one<K: Synced>(
    stored: &Stored<K>,
    context: &Context,
    warns: bool,
    reason: &str,
    note: &str,
) -> Result<(), Error> {
    let kind = if warns { EventType::Warning } else { EventType::Normal };
    context.events.tell_as_leader(&context.leadership, &reference(stored), kind, reason, note).await
}

fn after_error<K: Synced>(watched: Arc<Watched<K>>, error: &Error, context: Arc<Context>) -> Action {
    let wait = context.backoffs.failed(key(&watched), Pace::Usual);
    if error.is_transient() {
        tracing::debug!(kind = K::INFO.kind, %error, ?wait, "not reconciled");
    } else if !matches!(error, Error::NotLeader) {
        tracing::warn!(kind = K::INFO.kind, %error, ?wait, "not reconciled");
    }
    Action::requeue(wait)
}

fn key<K: Synced>(watched: &Watched<K>) -> Key {
    (K::INFO.kind, watched.namespace().unwrap_or_default(), watched.name_any())
}

fn reference<K: Synced>(stored: &Stored<K>) -> ObjectReference {
    let metadata = stored.metadata();
    ObjectReference {
        api_version: Some(K::INFO.api_version()),
        kind: Some(K::INFO.kind.to_owned()),
        name: Some(metadata.name.clone()),
        namespace: (!metadata.namespace.is_empty()).then(|| metadata.namespace.clone()),
        uid: Some(metadata.uid.clone()),
        resource_version: Some(metadata.resource_version.clone()),
        ..ObjectReference::default()
    }
}

/// The kind's objects, for writing.
pub(crate) fn api<K: Synced>(context: &Context, namespace: &str) -> Api<DynamicObject> {
    let resource = K::INFO.api_resource();
    match namespace {
        "" => Api::all_with(context.client.0.clone(), &resource),
        namespace => Api::namespaced_with(context.client.0.clone(), namespace, &resource),
    }
}

/// The kind, as a metric's label.
pub(super) fn label<K: Synced>() -> KindLabel {
    KindLabel { kind: K::INFO.kind }
}
