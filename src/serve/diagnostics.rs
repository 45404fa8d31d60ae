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
use crate::kinds::TABLE;
use crate::observe::metrics::Metrics;
use crate::view::{Standing, View};

/// What went wrong last and still holds, in words; empty when all is well.
#[derive(Debug, Default)]
pub struct Troubles {
    /// Why the certificate on disk is not served.
    pub certificate: Mutex<String>,
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
    /// Is the View filled by files (then nothing is waited for)?
    pub standalone: bool,
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
        if !self.standalone {
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
                    Standing::Waiting if self.standalone => ("off", "no object of the kind is given"),
                    Standing::Waiting => ("degraded", "not synced yet; rules treat it as unknown"),
                };
                json!({"kind": feed.resource().kind, "state": state, "why": why, "objects": feed.len()})
            })
            .collect();
        let kinds: Vec<Value> = TABLE
            .iter()
            .map(|kind| {
                let rules = if kind.admission.is_some() { "on" } else { "schema and CEL only" };
                json!({"kind": kind.kind, "group": kind.group, "rules": rules})
            })
            .collect();
        let certificate = self.certificate.load();
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "inFlight": self.metrics.in_flight.get(),
            "shed": self.metrics.shed.get(),
            "started": self.started.to_string(),
            "ready": self.unready().is_empty(),
            "unready": self.unready(),
            "objectsProblem": told(&self.troubles.objects),
            "certificate": {
                "state": if told(&self.troubles.certificate).is_empty() { "on" } else { "degraded" },
                "why": told(&self.troubles.certificate),
                "serial": certificate.serial,
                "notAfter": Timestamp::from_second(certificate.not_after).map(|at| at.to_string()).unwrap_or_default(),
                "refusedReloads": self.metrics.certificate_reload_failures.get(),
            },
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
