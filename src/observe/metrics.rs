//! Metrics of the admission server. Labels are closed sets: kinds, operations, verdicts, codes; never names or texts.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::silence_metrics::SilenceMetrics;

/// What was asked and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ReviewLabels {
    /// `mutate` or `validate`.
    pub phase: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// CREATE, UPDATE or DELETE.
    pub operation: &'static str,
    /// allowed, denied or patched.
    pub verdict: &'static str,
    /// Was it a dry run?
    pub dry_run: &'static str,
}

/// A rule that spoke.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct FindingLabels {
    /// The kind.
    pub kind: &'static str,
    /// The code.
    pub code: &'static str,
    /// error or warning.
    pub severity: &'static str,
}

/// One word of a closed set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ReasonLabel {
    /// The word.
    pub reason: &'static str,
}

/// A kind and a phase.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct RouteLabels {
    /// `mutate` or `validate`.
    pub phase: &'static str,
    /// The kind.
    pub kind: &'static str,
}

/// A claim and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ClaimLabels {
    /// The kind.
    pub kind: &'static str,
    /// granted, held, open, busy; slow, forbidden, failed.
    pub outcome: &'static str,
}

/// A kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct KindLabel {
    /// The kind.
    pub kind: &'static str,
}

/// A reconcile and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ReconcileLabels {
    /// The kind.
    pub kind: &'static str,
    /// ok, or what failed.
    pub outcome: &'static str,
}

/// Whether a kind is worked on, and why not.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct SubsystemLabels {
    /// The kind.
    pub subsystem: &'static str,
    /// Empty when it is worked on.
    pub reason: &'static str,
}

/// A kind that the View watches, and how far that is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WatchLabels {
    /// The kind.
    pub kind: &'static str,
    /// waiting, synced, absent or denied.
    pub state: &'static str,
}

/// All metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    /// Reviews that were answered.
    pub reviews: Family<ReviewLabels, Counter>,
    /// Findings in them, dry runs apart.
    pub findings: Family<FindingLabels, Counter>,
    /// Seconds from the complete body to the answer.
    pub latency: Family<RouteLabels, Histogram, fn() -> Histogram>,
    /// 1 in the replica that reconciles.
    pub leader: Gauge,
    /// Reconciles by outcome.
    pub reconciles: Family<ReconcileLabels, Counter>,
    /// Status writes.
    pub status_writes: Family<KindLabel, Counter>,
    /// 1 for the state that holds.
    pub watches: Family<WatchLabels, Gauge>,
    /// 1 for the reason that holds.
    pub subsystems: Family<SubsystemLabels, Gauge>,
    /// Silences and Alertmanagers.
    pub silence: SilenceMetrics,
    /// Claims and how they ended.
    pub claims: Family<ClaimLabels, Counter>,
    /// Requests between their headers and their answer.
    pub in_flight: Gauge,
    /// Requests that were turned away because too many were in flight.
    pub shed: Counter,
    /// Requests that were no reviews.
    pub bad_reviews: Family<ReasonLabel, Counter>,
    /// Objects that did not decode.
    pub undecodable: Family<RouteLabels, Counter>,
    /// When the serving certificate ends, in seconds since 1970.
    pub certificate_not_after: Gauge<f64, AtomicU64>,
    /// Certificate pairs that were refused.
    pub certificate_reload_failures: Counter,
    /// Certificate pairs that were taken.
    pub certificate_reloads: Counter,
    /// Connections that did not get through the handshake.
    pub handshake_failures: Counter,
}

fn latency_buckets() -> Histogram {
    // From well below the 20 µs that a review costs to the API server's patience.
    Histogram::new([
        0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.005, 0.025, 0.1, 1.0, 5.0,
    ])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("usher");
        let latency = Family::new_with_constructor(latency_buckets as fn() -> Histogram);
        let mut metrics = Self {
            registry: Registry::default(),
            reviews: Family::default(),
            findings: Family::default(),
            latency,
            leader: Gauge::default(),
            reconciles: Family::default(),
            status_writes: Family::default(),
            subsystems: Family::default(),
            watches: Family::default(),
            silence: SilenceMetrics::new(&mut registry),
            claims: Family::default(),
            in_flight: Gauge::default(),
            shed: Counter::default(),
            bad_reviews: Family::default(),
            undecodable: Family::default(),
            certificate_not_after: Gauge::default(),
            certificate_reload_failures: Counter::default(),
            certificate_reloads: Counter::default(),
            handshake_failures: Counter::default(),
        };
        registry.register("admission_reviews", "Reviews answered", metrics.reviews.clone());
        registry.register(
            "admission_findings",
            "Findings in reviews, dry runs apart",
            metrics.findings.clone(),
        );
        registry.register("admission_duration_seconds", "Time from body to answer", metrics.latency.clone());
        registry.register("leader", "1 in the replica that reconciles", metrics.leader.clone());
        registry.register("reconciles", "Reconciles by outcome", metrics.reconciles.clone());
        registry.register("status_writes", "Status writes", metrics.status_writes.clone());
        registry.register(
            "subsystem_enabled",
            "1 for the reason that holds; the empty reason means enabled",
            metrics.subsystems.clone(),
        );
        registry.register("watches", "1 for the state of each watch", metrics.watches.clone());
        registry.register("claims", "Claims by outcome", metrics.claims.clone());
        registry.register("admission_in_flight", "Requests being answered", metrics.in_flight.clone());
        registry.register("admission_shed", "Requests turned away with 429", metrics.shed.clone());
        registry.register(
            "admission_bad_reviews",
            "Requests that were no reviews",
            metrics.bad_reviews.clone(),
        );
        registry.register("admission_undecodable", "Objects not of their kind", metrics.undecodable.clone());
        registry.register(
            "tls_certificate_not_after_seconds",
            "End of the serving certificate, in seconds since 1970",
            metrics.certificate_not_after.clone(),
        );
        registry.register(
            "tls_certificate_reloads",
            "Certificate pairs taken",
            metrics.certificate_reloads.clone(),
        );
        registry.register(
            "tls_certificate_reload_failures",
            "Certificate pairs refused",
            metrics.certificate_reload_failures.clone(),
        );
        registry.register("tls_handshake_failures", "Handshakes failed", metrics.handshake_failures.clone());
        metrics.registry = registry;
        metrics
    }
}

impl Metrics {
    /// The exposition format.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing into a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
