//! Reads the alerts of Alertmanagers in the background, for what rules and statuses say about them (specification 5.5).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

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
        clients.retain(|key, _| exists(key));
        let finder = Finder { settings: &settings, view: &view, client: Some(&client) };
        for alertmanager in &all {
            let metadata = &alertmanager.metadata;
            let key = (metadata.namespace.clone(), metadata.name.clone());
            let snapshot = read(alertmanager, &key, &finder, &mut clients).await;
            view.alerts.set(key, snapshot);
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn read(
    alertmanager: &Alertmanager,
    key: &Key,
    finder: &Finder<'_>,
    clients: &mut HashMap<Key, (Endpoint, Api)>,
) -> Option<Snapshot> {
    let target = finder.find(alertmanager).await.ok()?;
    let settings = &finder.settings.alertmanager;
    let timeouts = Timeouts { connect: settings.connect_timeout, request: settings.timeout };
    for place in target.places.into_iter().filter(|place| place.ready) {
        let known = clients.get(key).filter(|(endpoint, _)| *endpoint == place.endpoint);
        let api = match known {
            Some((_, api)) => api.clone(),
            None => match Client::new(place.endpoint.clone(), timeouts) {
                Ok(client) => Api::new(client),
                Err(_) => continue,
            },
        };
        match api.alerts(MOST).await {
            Ok(read) => {
                clients.insert(key.clone(), (place.endpoint, api));
                if read.total > MOST {
                    return None;
                }
                let alerts = read.first.into_iter();
                let alerts =
                    alerts.map(|alert| Alert { labels: alert.labels, silenced_by: alert.silenced_by });
                return Some(Snapshot { at: Timestamp::now(), alerts: alerts.collect() });
            }
            Err(error) => tracing::debug!(%error, "alerts were not read"),
        }
    }
    None
}
