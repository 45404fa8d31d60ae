//! `/metrics`, `/livez`, `/readyz`, `/statusz`: plain HTTP, for probes and people.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::tls::Current;
use crate::gates::Gates;
use crate::kinds::TABLE;
use crate::observe::metrics::Metrics;
use crate::reconcile::leader::Leadership;
use crate::reconcile::supervisor::Systems;
use crate::view::{Standing, View};

/// What went wrong last and still holds, in words; empty when all is well.
#[derive(Debug, Default)]
pub struct Troubles {
    /// Why the certificate on disk is not served.
    pub certificate: Mutex<String>,
    /// Since when and why the API server does not answer.
    pub api: Mutex<String>,
    /// Why the objects on disk are not the ones in use.
    pub objects: Mutex<String>,
}

/// Notes a trouble, or with an empty text its end.
pub fn note(trouble: &Mutex<String>, text: String) {
    *trouble.lock().unwrap_or_else(PoisonError::into_inner) = text;
}

fn told(trouble: &Mutex<String>) -> String {
    trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// What the diagnostics look at.
#[derive(Debug, Clone)]
pub struct State {
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// The other objects.
    pub view: Arc<View>,
    /// What happens behind the door; nothing when the View is filled by files, and then nothing is waited for.
    pub behind: Option<(Leadership, Arc<Systems>)>,
    /// Which systems are on.
    pub gates: Gates,
    /// The certificate.
    pub certificate: Current,
    /// What went wrong last.
    pub troubles: Arc<Troubles>,
    /// Set at the end of the process.
    pub stopping: Arc<AtomicBool>,
    /// When the process started.
    pub started: Timestamp,
}

impl State {
    /// Why the process is not ready; nothing when it is.
    pub fn unready(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.stopping.load(Ordering::Relaxed) {
            reasons.push("stopping".to_owned());
        }
        if self.certificate.load().is_none() {
            reasons.push("no certificate yet".to_owned());
        }
        if self.behind.is_some() {
            for feed in self.view.feeds() {
                if feed.standing() == Standing::Waiting {
                    reasons.push(format!("{} not synced", feed.resource().plural));
                }
            }
        }
        reasons
    }

    fn status(&self) -> Value {
        let shelves: Vec<Value> = self
            .view
            .feeds()
            .iter()
            .map(|feed| {
                let (state, why) = match feed.standing() {
                    Standing::Synced => ("on", ""),
                    Standing::Absent => ("off", "the kind is not installed; it is used as soon as it is"),
                    Standing::Denied => ("degraded", "usher may not list it; rules treat it as unknown"),
                    Standing::Waiting if self.behind.is_none() => ("off", "no object of the kind is given"),
                    Standing::Waiting => ("degraded", "not synced yet; rules treat it as unknown"),
                };
                json!({"kind": feed.resource().kind, "state": state, "why": why, "objects": feed.len()})
            })
            .collect();
        let kinds: Vec<Value> = TABLE
            .iter()
            .map(|kind| {
                let rules = match &kind.admission {
                    None => "schema and CEL only",
                    Some(_) if !self.gates.is_on(kind.system) => "off",
                    Some(_) => "on",
                };
                json!({"kind": kind.kind, "group": kind.group, "rules": rules})
            })
            .collect();
        let certificate = self.certificate.load();
        let loaded = certificate.as_ref();
        let ends = loaded.and_then(|loaded| Timestamp::from_second(loaded.not_after).ok());
        let trouble = told(&self.troubles.certificate);
        let api = told(&self.troubles.api);
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "inFlight": self.metrics.in_flight.get(),
            "shed": self.metrics.shed.get(),
            "started": self.started.to_string(),
            "ready": self.unready().is_empty(),
            "unready": self.unready(),
            "objectsProblem": told(&self.troubles.objects),
            "certificate": {
                "state": if trouble.is_empty() { "on" } else { "degraded" },
                "why": trouble,
                "serial": loaded.map(|loaded| loaded.serial.as_str()),
                "notAfter": ends.map(|ends| ends.to_string()),
                "refusedReloads": self.metrics.certificate_reload_failures.get(),
            },
            "apiServer": {"state": if api.is_empty() { "on" } else { "degraded" }, "why": api},
            "leader": self.behind.as_ref().map(|(leadership, _)| json!({
                "identity": &*leadership.identity,
                "held": leadership.is_held(),
            })),
            "reconcilers": self.behind.as_ref().map(|(_, systems)| systems.told()),
            "kinds": kinds,
            "objects": shelves,
        })
    }
}

/// The routes.
pub fn router(state: State) -> Router {
    let (ready, status, metrics) = (state.clone(), state.clone(), state.metrics);
    Router::new()
        .route("/livez", get(|| async { "ok\n" }))
        .route(
            "/readyz",
            get(move || async move {
                let reasons = ready.unready();
                if reasons.is_empty() {
                    (StatusCode::OK, "ok\n".to_owned())
                } else {
                    (StatusCode::SERVICE_UNAVAILABLE, reasons.join("\n") + "\n")
                }
            }),
        )
        .route(
            "/statusz",
            get(move || async move {
                let text = serde_json::to_string_pretty(&status.status()).unwrap_or_default() + "\n";
                ([(header::CONTENT_TYPE, "application/json")], text)
            }),
        )
        .route(
            "/metrics",
            get(move || async move {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                ([(header::CONTENT_TYPE, kind)], metrics.render()).into_response()
            }),
        )
}
