//! Tells long before the serving certificate ends that nobody has renewed it.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::EventType;

use super::tls::Current;
use crate::names;
use crate::reconcile::events::Events;

/// How often the certificate is looked at.
const LOOK: Duration = Duration::from_mins(1);
/// How often it is told.
const TELL: Duration = Duration::from_hours(24);

/// Looks for ever. The event is about usher's Service, so that it shows in usher's namespace.
pub async fn watch(certificate: Current, events: Events, namespace: String) {
    let about = ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Service".to_owned()),
        name: Some(names::USHER.to_owned()),
        namespace: Some(namespace),
        ..ObjectReference::default()
    };
    let mut told: Option<Instant> = None;
    loop {
        let ends = certificate
            .load()
            .as_ref()
            .filter(|loaded| loaded.ends_soon(Timestamp::now()))
            .and_then(|loaded| Timestamp::from_second(loaded.not_after).ok());
        match ends {
            Some(ends) if told.is_none_or(|told| told.elapsed() > TELL) => {
                let note = format!(
                    "the serving certificate ends at {ends} and has not been renewed; after that the API server cannot call usher"
                );
                tracing::warn!(%ends, "the serving certificate ends soon");
                events.tell(&about, EventType::Warning, "CertificateEndsSoon", &note).await;
                told = Some(Instant::now());
            }
            Some(_) => {}
            None => told = None,
        }
        // Quickly at first: the certificate may not be there yet.
        tokio::time::sleep(if certificate.load().is_some() { LOOK } else { Duration::from_secs(1) }).await;
    }
}
