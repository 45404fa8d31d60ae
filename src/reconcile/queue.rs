//! Which objects are reconciled when: one that changed at once; all of them when they are first listed, when something
//! that their rules read changes, and with every resync.
//!
//! "All" comes in portions, the next one when the last one is worked off. Handed over at once they would need a place
//! each in kube's scheduler, which keeps the room for ever: as much as the objects themselves.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt as _};
use kube::Api;
use kube::runtime::reflector::{ObjectRef, Store};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt as _, reflector, watcher as watch};
use tokio::sync::{mpsc, watch as signal};

use super::backoff::around;
use super::stored::Watched;
use super::{Context, Synced};
use crate::view::cluster::PAGE;

/// Changes of other objects come in flocks; one new judgement for all of them is enough.
const SETTLE: Duration = Duration::from_millis(500);
/// Objects of a portion.
const PORTION: usize = 64;
/// A portion that takes longer is not waited for: others may wait for nothing but a slow upstream.
const PATIENCE: Duration = Duration::from_millis(250);

/// An object to be reconciled, or why nothing more can be heard of them.
type Due<K> = Result<ObjectRef<Watched<K>>, watcher::Error>;

/// The objects of a kind, and which of them are due.
pub(super) fn of<K: Synced>(
    context: &Context,
    reconciled: &Reconciled,
) -> (Store<Watched<K>>, BoxStream<'static, Due<K>>) {
    let all: Api<Watched<K>> = Api::all(context.client.0.clone());
    let (reader, writer) = reflector::store();
    let (first, listed) = mpsc::unbounded_channel();
    let events = reflector(writer, watch(all, watcher::Config::default().page_size(PAGE))).default_backoff();
    let changed = events.filter_map(move |event| {
        let due = match event {
            Ok(Event::Apply(object)) => Some(Ok(ObjectRef::from_obj(&object))),
            Ok(Event::InitDone) => {
                // Nobody listens any more only when all this ends.
                let _ = first.send(());
                None
            }
            Ok(Event::Init | Event::InitApply(_) | Event::Delete(_)) => None,
            Err(error) => Some(Err(error)),
        };
        std::future::ready(due)
    });
    let listed = stream::unfold(listed, |mut listed| async move { Some((listed.recv().await?, listed)) });
    let occasions = stream::select(listed.boxed(), occasions::<K>(context));
    let everything = in_portions(occasions.boxed(), reader.clone(), reconciled.clone());
    (reader, stream::select(changed, everything.map(Ok)).boxed())
}

/// Counts reconciles, so that portions know when they are worked off.
#[derive(Debug, Clone)]
pub(super) struct Reconciled(Arc<signal::Sender<usize>>);

impl Reconciled {
    pub(super) fn new() -> Self {
        Self(Arc::new(signal::Sender::new(0)))
    }

    /// One more.
    pub(super) fn count(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// Waits until a portion more than before is done, or long enough.
    async fn portion(&self, before: usize) -> usize {
        let mut done = self.0.subscribe();
        let is_done = |count: &usize| count.wrapping_sub(before) >= PORTION;
        let _ = tokio::time::timeout(PATIENCE, done.wait_for(is_done)).await;
        *self.0.borrow()
    }
}

fn in_portions<K: Synced>(
    occasions: BoxStream<'static, ()>,
    objects: Store<Watched<K>>,
    reconciled: Reconciled,
) -> impl Stream<Item = ObjectRef<Watched<K>>> {
    occasions.flat_map(move |()| {
        let portions = (objects.state().into_iter(), reconciled.clone(), None, 0_usize);
        stream::unfold(portions, |(mut objects, reconciled, mut before, position)| async move {
            if position.is_multiple_of(PORTION) {
                before = Some(match before {
                    Some(before) => reconciled.portion(before).await,
                    None => *reconciled.0.borrow(),
                });
            }
            let due = ObjectRef::from_obj(objects.next()?.as_ref());
            Some((due, (objects, reconciled, before, position + 1)))
        })
    })
}

/// One signal for every flock of changes in what the kind's rules read, and for every resync.
fn occasions<K: Synced>(context: &Context) -> BoxStream<'static, ()> {
    let feeds = context.view.feeds();
    let streams = feeds.iter().filter(|feed| reads::<K>().contains(&feed.resource().plural)).map(|feed| {
        let mut receiver = feed.changes();
        receiver.mark_unchanged();
        stream::unfold(receiver, |mut receiver| async move {
            receiver.changed().await.ok()?;
            tokio::time::sleep(SETTLE).await;
            receiver.mark_unchanged();
            Some(((), receiver))
        })
        .boxed()
    });
    let every = K::resync(&context.settings);
    let usual = stream::unfold((), move |()| async move {
        tokio::time::sleep(around(every)).await;
        Some(((), ()))
    });
    stream::select_all(streams.chain([usual.boxed()]).collect::<Vec<_>>()).boxed()
}

/// The resources that the kind's rules read.
pub(super) fn reads<K: Synced>() -> &'static [&'static str] {
    K::INFO.reconciler.as_ref().map(|reconciler| reconciler.reads).unwrap_or_default()
}
