//! The admission routes: `POST /admit/{mutate|validate}/{group}/{kind}`.
//!
//! A denial is an answer, status 200. A body that is no review is a client error: the API server then reports a failed
//! webhook call, and the text says why. Too many requests get 429 and `Retry-After: 1`, which the API server heeds
//! within the webhook's timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, Version, header};
use axum::response::Response;
use axum::routing::any;
use http_body_util::BodyExt as _;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::histogram::Histogram;
use tokio::sync::OwnedSemaphorePermit;

use super::claiming;
use super::limits::{BODY_TIMEOUT, LARGEST_BODY, Limits};
use super::permission::Permissions;
use crate::claim::take::Claims;
use crate::kinds::{KindInfo, TABLE};
use crate::observe::metrics::{FindingLabels, Metrics, ReasonLabel, ReviewLabels, RouteLabels};
use crate::review::door::{Answer, AnswerReview, Door, Phase, path};
use crate::rule::Operation;

/// What all requests share. The door can be exchanged while serving (tests set clock and settings that way).
#[derive(Debug, Clone)]
pub struct Shared {
    /// The judge.
    pub door: Arc<ArcSwap<Door>>,
    /// Where claims are taken; nowhere without a cluster.
    pub claims: Option<Claims>,
    /// Who is asked what a requester may do; nobody without a cluster.
    pub permissions: Option<Permissions>,
    /// The limits.
    pub limits: Limits,
    /// The metrics.
    pub metrics: Arc<Metrics>,
    /// Set when the process is about to end.
    pub stopping: Arc<AtomicBool>,
}

/// One path, with its metrics at hand: looking them up by their labels would cost more than counting.
#[derive(Debug)]
struct Route {
    phase: Phase,
    kind: &'static KindInfo,
    answer: AnswerReview,
    latency: Histogram,
    reviews: Vec<(Operation, &'static str, bool, Counter)>,
}

impl Route {
    fn new(phase: Phase, kind: &'static KindInfo, answer: AnswerReview, metrics: &Metrics) -> Self {
        let (phase_name, kind_name) = (phase.as_str(), kind.kind);
        let latency =
            metrics.latency.get_or_create_owned(&RouteLabels { phase: phase_name, kind: kind_name });
        let mut reviews = Vec::new();
        for operation in [Operation::Create, Operation::Update, Operation::Delete] {
            for verdict in ["allowed", "denied", "patched", "deferred"] {
                for dry_run in [false, true] {
                    let labels = ReviewLabels {
                        phase: phase_name,
                        kind: kind_name,
                        operation: operation.as_str(),
                        verdict,
                        dry_run: if dry_run { "true" } else { "false" },
                    };
                    reviews.push((operation, verdict, dry_run, metrics.reviews.get_or_create_owned(&labels)));
                }
            }
        }
        Self { phase, kind, answer, latency, reviews }
    }

    fn count(&self, answer: &Answer, started: Instant) {
        self.latency.observe(started.elapsed().as_secs_f64());
        let verdict = answer.verdict.label();
        let counter = self.reviews.iter().find(|(operation, known, dry_run, _)| {
            *operation == answer.operation && *known == verdict && *dry_run == answer.dry_run
        });
        if let Some((.., counter)) = counter {
            counter.inc();
        }
    }
}

/// The routes of every kind that has rules.
pub fn router(shared: Shared) -> Router {
    let shared = Arc::new(shared);
    let mut router = Router::new();
    for kind in TABLE {
        let Some(admission) = &kind.admission else { continue };
        for phase in [Phase::Mutate, Phase::Validate] {
            if phase == Phase::Mutate && admission.mutate.is_none() {
                continue;
            }
            let route = Arc::new(Route::new(phase, kind, admission.answer, &shared.metrics));
            let shared = Arc::clone(&shared);
            let handler = move |request: Request| {
                let (shared, route) = (Arc::clone(&shared), Arc::clone(&route));
                async move { answer(&shared, &route, request).await }
            };
            router = router.route(&path(phase, kind), any(handler));
        }
    }
    router.fallback(move |request: Request| {
        let metrics = Arc::clone(&shared.metrics);
        async move { unknown_path(&metrics, request.uri().path()) }
    })
}

async fn answer(shared: &Shared, route: &Route, request: Request) -> Response {
    let metrics = &shared.metrics;
    let Some(_place) = shared.limits.enter() else {
        return Refusal::full("too many reviews in flight").into_response(metrics);
    };
    let _counted = InFlight::new(metrics);
    let is_http2 = request.version() == Version::HTTP_2;
    let mut response = match read_body(shared, request).await {
        Ok((body, _memory)) => judge(shared, route, &body).await,
        Err(refusal) => refusal.into_response(metrics),
    };
    // An idle HTTP/1.1 connection that is closed while its client sends is a failed review; one that the client is told
    // to close is not. HTTP/2 has a message of its own for that.
    if shared.stopping.load(Ordering::Relaxed) && !is_http2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Counts a request until it is answered, or until its client has gone.
struct InFlight<'a>(&'a Metrics);

impl<'a> InFlight<'a> {
    fn new(metrics: &'a Metrics) -> Self {
        metrics.in_flight.inc();
        Self(metrics)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.dec();
    }
}

async fn judge(shared: &Shared, route: &Route, body: &[u8]) -> Response {
    let started = Instant::now();
    let answer = (route.answer)(&shared.door.load(), route.phase, route.kind, body);
    match answer {
        Ok(mut answer) => {
            if let (Some(permission), Some(permissions)) = (answer.asks, &shared.permissions)
                && permissions.allow(route.kind, permission, body).await
                && let Ok(permitted) =
                    (route.answer)(&shared.door.load().permitting(), route.phase, route.kind, body)
            {
                answer = permitted;
            }
            if let (Some(claiming), Some(claims)) = (answer.claim.take(), &shared.claims) {
                claiming::settle(claims, &claiming, &mut answer, &shared.metrics).await;
            }
            count(&shared.metrics, route, &answer, started);
            let mut response = Response::new(Body::from(answer.body));
            response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Err(bad) => {
            Refusal { status: StatusCode::BAD_REQUEST, reason: bad.label(), message: bad.to_string() }
                .into_response(&shared.metrics)
        }
    }
}

fn count(metrics: &Metrics, route: &Route, answer: &Answer, started: Instant) {
    let (phase, kind) = (route.phase.as_str(), route.kind.kind);
    route.count(answer, started);
    if answer.undecodable {
        metrics.undecodable.get_or_create(&RouteLabels { phase, kind }).inc();
    }
    if answer.dry_run {
        return;
    }
    for finding in answer.verdict.findings().into_iter().flat_map(|findings| findings.iter()) {
        let labels = FindingLabels { kind, code: finding.rule.code, severity: finding.severity.as_str() };
        metrics.findings.get_or_create(&labels).inc();
    }
    let verdict = answer.verdict.label();
    if matches!(verdict, "denied" | "deferred") {
        tracing::info!(phase, kind, operation = answer.operation.as_str(), verdict);
    }
}

/// A request that gets no review.
struct Refusal {
    status: StatusCode,
    reason: &'static str,
    message: String,
}

impl Refusal {
    /// The server is full; the API server comes again after a second.
    fn full(message: &str) -> Self {
        Self { status: StatusCode::TOO_MANY_REQUESTS, reason: "full", message: message.to_owned() }
    }

    fn into_response(self, metrics: &Metrics) -> Response {
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            metrics.shed.inc();
            let mut response = text(self.status, self.message);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return response;
        }
        metrics.bad_reviews.get_or_create(&ReasonLabel { reason: self.reason }).inc();
        tracing::warn!(reason = self.reason, status = self.status.as_u16(), "refused a request");
        text(self.status, self.message)
    }
}

/// The body, within its size, its time and the memory that all bodies share.
async fn read_body(
    shared: &Shared,
    request: Request,
) -> Result<(Bytes, Option<OwnedSemaphorePermit>), Refusal> {
    let refuse = |status, reason, message: &str| Refusal { status, reason, message: message.to_owned() };
    if request.method() != Method::POST {
        return Err(refuse(StatusCode::METHOD_NOT_ALLOWED, "method", "reviews are sent with POST"));
    }
    let content_type = request.headers().get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if !content_type
        .trim_ascii_start()
        .get(..16)
        .is_some_and(|head| head.eq_ignore_ascii_case(b"application/json"))
    {
        return Err(refuse(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "media_type",
            "the content type must be application/json",
        ));
    }
    let too_large = || {
        let message = format!("the body is larger than {LARGEST_BODY} bytes");
        Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, reason: "too_large", message }
    };
    let full = || Refusal::full("too many large reviews at once");
    let broken = || refuse(StatusCode::BAD_REQUEST, "broken_body", "the body broke off");
    let announced = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok())
        .unwrap_or(0);
    if announced > LARGEST_BODY {
        return Err(too_large());
    }
    let mut body = request.into_body();
    let reading = async {
        let mut memory: Option<OwnedSemaphorePermit> = None;
        let mut first: Option<Bytes> = None;
        let mut all: Vec<u8> = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
            let permit = shared.limits.reserve(data.len()).ok_or_else(full)?;
            match &mut memory {
                Some(memory) => memory.merge(permit),
                None => memory = Some(permit),
            }
            // Nearly every review arrives in one piece, which is then used as it is.
            match first.take() {
                None if all.is_empty() => first = Some(data),
                None => all.extend_from_slice(&data),
                Some(piece) => {
                    // Grows with what has arrived, never with what was announced.
                    all.reserve(piece.len() + data.len());
                    all.extend_from_slice(&piece);
                    all.extend_from_slice(&data);
                }
            }
            if all.len().max(first.as_ref().map_or(0, Bytes::len)) > LARGEST_BODY {
                return Err(too_large());
            }
        }
        Ok((first.unwrap_or_else(|| Bytes::from(all)), memory))
    };
    let slow = || refuse(StatusCode::REQUEST_TIMEOUT, "slow_body", "the body took too long");
    tokio::time::timeout(BODY_TIMEOUT, reading).await.map_err(|_| slow())?
}

fn unknown_path(metrics: &Metrics, path: &str) -> Response {
    let known: Vec<String> = TABLE
        .iter()
        .filter(|kind| kind.admission.is_some())
        .map(|kind| format!("{}/{}", kind.group, kind.route()))
        .collect();
    let shown: String = path.chars().take(128).collect();
    let message = format!(
        "no review is answered at {shown:?}: the path is /admit/{{mutate|validate}}/{{group}}/{{kind}} with one of {}",
        known.join(", ")
    );
    Refusal { status: StatusCode::NOT_FOUND, reason: "unknown_kind", message }.into_response(metrics)
}

fn text(status: StatusCode, message: String) -> Response {
    let mut response = Response::new(Body::from(message + "\n"));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
