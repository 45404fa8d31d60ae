//! Metrics of Silences and the Alertmanagers that hold them.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::metrics::ReasonLabel;

/// The phase of a Silence.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct PhaseLabel {
    /// The phase.
    pub phase: &'static str,
}

/// Silences in Alertmanagers that belong to no Silence.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct OrphanLabel {
    /// unproven, or suspended by the brake.
    pub state: &'static str,
}

/// A write to an Alertmanager.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct WriteLabels {
    /// post or expire.
    pub call: &'static str,
    /// Why.
    pub why: &'static str,
    /// ok or failed.
    pub outcome: &'static str,
}

/// A Silence, by name: only with `--silence-object-metrics`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ObjectLabels {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A Silence and its phase, by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct InfoLabels {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its phase.
    pub phase: &'static str,
}

/// Metrics of Silences.
#[derive(Debug)]
pub struct SilenceMetrics {
    /// By phase.
    pub phases: Family<PhaseLabel, Gauge>,
    /// Writes to Alertmanagers.
    pub writes: Family<WriteLabels, Counter>,
    /// Seconds from the creation of an object to its silence on every instance.
    pub sync: Histogram,
    /// Silences that others changed or ended, and that were restored.
    pub drift: Counter,
    /// Second silences of one object that were ended.
    pub duplicates: Counter,
    /// Silences without a Silence.
    pub orphans: Family<OrphanLabel, Gauge>,
    /// Those that were ended.
    pub orphans_ended: Counter,
    /// Calls to instances that failed, by reason.
    pub errors: Family<ReasonLabel, Counter>,
    /// Where the selectors of Alertmanagers come from.
    pub selector_sources: Family<SourceLabel, Gauge>,
    /// 1 for each Silence.
    pub info: Family<InfoLabels, Gauge>,
    /// When it ends.
    pub expires: Family<ObjectLabels, Gauge>,
    /// How many alerts it mutes.
    pub silenced_alerts: Family<ObjectLabels, Gauge>,
    /// On how many instances it is.
    pub synced_instances: Family<ObjectLabels, Gauge>,
}

/// Where a selector comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct SourceLabel {
    /// spec, annotation, setting or none.
    pub source: &'static str,
}

impl SilenceMetrics {
    /// A call to an instance failed.
    pub fn failed(&self, reason: &'static str) {
        self.errors.get_or_create(&ReasonLabel { reason }).inc();
    }

    /// Metrics that a registry knows.
    pub fn new(registry: &mut Registry) -> Self {
        let metrics = Self {
            phases: Family::default(),
            writes: Family::default(),
            sync: Histogram::new([0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0]),
            drift: Counter::default(),
            duplicates: Counter::default(),
            orphans: Family::default(),
            orphans_ended: Counter::default(),
            errors: Family::default(),
            selector_sources: Family::default(),
            info: Family::default(),
            expires: Family::default(),
            silenced_alerts: Family::default(),
            synced_instances: Family::default(),
        };
        registry.register("silences", "Silences by phase", metrics.phases.clone());
        registry.register("silence_writes", "Writes to Alertmanagers", metrics.writes.clone());
        registry.register(
            "silence_sync_duration_seconds",
            "From the creation of a Silence to its presence on every instance",
            metrics.sync.clone(),
        );
        registry.register("silence_drift_repaired", "Silences restored", metrics.drift.clone());
        registry.register(
            "silence_duplicates_removed",
            "Second silences of one object that were ended",
            metrics.duplicates.clone(),
        );
        registry.register(
            "silence_orphans",
            "Silences in Alertmanagers without a Silence",
            metrics.orphans.clone(),
        );
        registry.register("silence_orphans_removed", "Orphans ended", metrics.orphans_ended.clone());
        registry.register("alertmanager_errors", "Failed calls by reason", metrics.errors.clone());
        registry.register(
            "silence_selector_source",
            "Alertmanagers by where their selector comes from",
            metrics.selector_sources.clone(),
        );
        registry.register("silence_info", "1 for each Silence", metrics.info.clone());
        registry.register(
            "silence_expires_timestamp_seconds",
            "The end of a Silence, in seconds since 1970",
            metrics.expires.clone(),
        );
        registry.register(
            "silence_silenced_alerts",
            "Alerts that a Silence mutes",
            metrics.silenced_alerts.clone(),
        );
        registry.register(
            "silence_synced_instances",
            "Instances that hold a Silence",
            metrics.synced_instances.clone(),
        );
        metrics
    }
}
