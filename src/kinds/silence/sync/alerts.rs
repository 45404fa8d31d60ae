//! Reads the alerts of Alertmanagers in the background, for what rules and statuses say about them (specification 5.5).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt as _};
use jiff::Timestamp;
use kube::Client as Kube;

use super::sweeper::alertmanagers;
use super::target::Finder;
use crate::gates::System;
use crate::kinds::silence::tenancy::opts_in;
use crate::settings::Settings;
use crate::upstream::alertmanager::Alertmanager as Api;
use crate::upstream::http::Timeouts;
use crate::upstream::{Client, Endpoint};
use crate::view::alerts::{Alert, Snapshot};
use crate::view::records::Alertmanager;
use crate::view::{Key, View};

/// How often they are read.
const EVERY: Duration = Duration::from_mins(1);
/// The first time, when the watches have had a moment.
const FIRST: Duration = Duration::from_secs(2);
/// How long one of them may take, and how many are read at once: an answer can be large.
const PATIENCE: Duration = Duration::from_secs(20);
const AT_ONCE: usize = 8;
/// More than these say too much to be looked through for every review.
const MOST: usize = 10_000;

/// Reads for ever.
pub async fn watch(view: Arc<View>, settings: Arc<Settings>, client: Kube) {
    if !settings.alertmanager.alert_preview || !settings.gates.is_on(System::Silence) {
        return;
    }
    let mut clients: HashMap<Key, (Endpoint, Api)> = HashMap::new();
    tokio::time::sleep(FIRST).await;
    loop {
        let mut all = alertmanagers(&settings, &view);
        all.retain(|alertmanager| opts_in(alertmanager, &settings.silence));
        let exists = |key: &Key| all.iter().any(|alertmanager| super::is(alertmanager, key));
        view.alerts.retain(exists);
        let finder = &Finder { settings: &settings, view: &view, client: Some(&client) };
        // One that hangs must not make what the others said too old, nor what was said wait to be heard.
        let read = all.iter().map(|alertmanager| {
            let metadata = &alertmanager.metadata;
            let key = (metadata.namespace.clone(), metadata.name.clone());
            let (known, view) = (clients.get(&key).cloned(), &view);
            async move {
                let read = tokio::time::timeout(PATIENCE, read(alertmanager, known, finder)).await;
                let (snapshot, client) = read.ok().flatten().unzip();
                view.alerts.set(key.clone(), snapshot.flatten());
                client.map(|client| (key, client))
            }
        });
        let answered = stream::iter(read.collect::<Vec<_>>()).buffer_unordered(AT_ONCE);
        clients = answered.filter_map(std::future::ready).collect().await;
        tokio::time::sleep(EVERY).await;
    }
}

/// What an instance says, and the client that it was asked with; nothing when none answers.
async fn read(
    alertmanager: &Alertmanager,
    known: Option<(Endpoint, Api)>,
    finder: &Finder<'_>,
) -> Option<(Option<Snapshot>, (Endpoint, Api))> {
    let target = finder.find(alertmanager).await.ok()?;
    let settings = &finder.settings.alertmanager;
    let timeouts = Timeouts { connect: settings.connect_timeout, request: settings.timeout };
    for place in target.places.into_iter().filter(|place| place.ready) {
        let api = match &known {
            Some((endpoint, api)) if *endpoint == place.endpoint => api.clone(),
            _ => match Client::new(place.endpoint.clone(), timeouts) {
                Ok(client) => Api::new(client),
                Err(_) => continue,
            },
        };
        match api.alerts(MOST).await {
            Ok(read) => {
                let alerts = read.first.into_iter();
                let alerts =
                    alerts.map(|alert| Alert { labels: alert.labels, silenced_by: alert.silenced_by });
                let snapshot = Snapshot { at: Timestamp::now(), alerts: alerts.collect() };
                return Some(((read.total <= MOST).then_some(snapshot), (place.endpoint, api)));
            }
            Err(error) => tracing::debug!(%error, "alerts were not read"),
        }
    }
    None
}
