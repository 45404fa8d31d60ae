//! Fills a View from a cluster: one watch per shelf, begun again whenever it ends.
//!
//! A kind that is not installed counts as known and empty, and is tried again, so that it is used without a restart as
//! soon as it appears. A kind that usher may not list stays unknown.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use kube::api::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client};
use serde_json::Value;
use tokio::task::JoinHandle;

use super::{Feed, Standing, View, key_of};

/// How often a missing or forbidden kind is tried again.
const RETRY: Duration = Duration::from_secs(15);
/// Objects of one answer to a list: whole objects are several times as large as what is kept of them.
pub(crate) const PAGE: u32 = 100;
/// So many refusals in a row mean that a right is gone.
const DENIALS: u32 = 3;
/// How long a failed watch waits; jitter is not needed for one client.
const PAUSE: Duration = Duration::from_secs(2);

/// Starts the watches of all shelves; they run until they are aborted.
pub fn start(view: &Arc<View>, client: &Client, secrets_namespace: &str) -> Vec<JoinHandle<()>> {
    let watch = |position: usize| {
        let (view, client, namespace) = (Arc::clone(view), client.clone(), secrets_namespace.to_owned());
        async move {
            let mut denials = 0;
            loop {
                let feeds = view.feeds();
                let Some(feed) = feeds.get(position) else { return };
                let pause = watch_once(*feed, &client, &namespace, &mut denials).await;
                tokio::time::sleep(pause).await;
            }
        }
    };
    (0..view.feeds().len()).map(|position| tokio::spawn(watch(position))).collect()
}

/// Watches until something goes wrong; says how long to wait before the next try.
async fn watch_once(
    feed: &dyn Feed,
    client: &Client,
    secrets_namespace: &str,
    denials: &mut u32,
) -> Duration {
    let resource = feed.resource();
    let api_resource = ApiResource {
        group: resource.group.to_owned(),
        version: resource.version.to_owned(),
        api_version: resource.api_version(),
        kind: resource.kind.to_owned(),
        plural: resource.plural.to_owned(),
    };
    // Secrets are read where Accounts keep them, never in the whole cluster.
    let api: Api<DynamicObject> = if resource.kind == "Secret" {
        Api::namespaced_with(client.clone(), secrets_namespace, &api_resource)
    } else {
        Api::all_with(client.clone(), &api_resource)
    };
    let mut config = watcher::Config::default().page_size(PAGE);
    if !resource.labels.is_empty() {
        config = config.labels(resource.labels);
    }
    let mut events = watcher::watcher(api, config).boxed();
    let mut listed = feed.fresh();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed = feed.fresh(),
            Ok(Event::InitApply(object)) => {
                if let Some(value) = to_value(object) {
                    listed.add(&value);
                }
            }
            Ok(Event::InitDone) => {
                listed.done(Standing::Synced);
                listed = feed.fresh();
            }
            Ok(Event::Apply(object)) => {
                *denials = 0;
                if let Some(value) = to_value(object)
                    && feed.put(&value).is_err()
                {
                    // An object that no longer decodes must not be judged by its old form. The decoder's text may
                    // quote what a user wrote, so only the name is logged.
                    let key = key_of(&value);
                    feed.remove(&key);
                    tracing::warn!(
                        kind = resource.kind,
                        namespace = key.0,
                        name = key.1,
                        "left out: does not decode"
                    );
                }
            }
            Ok(Event::Delete(object)) => {
                let name = object.metadata.name.unwrap_or_default();
                feed.remove(&(object.metadata.namespace.unwrap_or_default(), name));
            }
            Err(error) => match after_failure(feed, &error, denials) {
                Some(pause) => return pause,
                // The watcher goes on from where it was as soon as it is asked again: no new list.
                None => tokio::time::sleep(PAUSE).await,
            },
        }
    }
    PAUSE
}

/// How long to wait before beginning again; nothing when the watch can go on.
fn after_failure(feed: &dyn Feed, error: &watcher::Error, denials: &mut u32) -> Option<Duration> {
    let kind = feed.resource().kind;
    match status_of(error) {
        Some(404) => {
            if feed.standing() != Standing::Absent {
                tracing::info!(kind, "not installed; rules that read it see none");
            }
            feed.fresh().done(Standing::Absent);
            Some(RETRY)
        }
        // An API server that has just started refuses until it has read its roles: what was known stays for a while.
        Some(403) if feed.standing() == Standing::Synced && *denials < DENIALS => {
            *denials += 1;
            Some(PAUSE)
        }
        Some(403) => {
            if feed.standing() != Standing::Denied {
                tracing::warn!(kind, "not allowed to list; rules treat it as unknown");
            }
            feed.fresh().done(Standing::Denied);
            Some(RETRY)
        }
        // The stored objects stay.
        _ => {
            tracing::debug!(kind, %error, "watch interrupted");
            None
        }
    }
}

pub(crate) fn status_of(error: &watcher::Error) -> Option<u16> {
    let (watcher::Error::InitialListFailed(source)
    | watcher::Error::WatchStartFailed(source)
    | watcher::Error::WatchFailed(source)) = error
    else {
        return None;
    };
    match source {
        kube::Error::Api(status) => Some(status.code),
        _ => None,
    }
}

fn to_value(mut object: DynamicObject) -> Option<Value> {
    object.metadata.managed_fields = None;
    serde_json::to_value(object).ok()
}
