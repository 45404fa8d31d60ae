//! Which Prometheus select a PrometheusRule, and what they understand.

use super::features;
use crate::kinds::scrape_class::workloads::{DEFAULT_VERSION, Version, version};
use crate::lang::promql::Options;
use crate::model::object::Meta;
use crate::model::selector::LabelSelector;
use crate::rule::{Facts, Severity};
use crate::view::records::Prometheus;

/// What the selecting Prometheus understand. The most capable decides what is refused; the others warn.
#[derive(Debug, Clone)]
pub(super) struct Dialects {
    /// What every one of them understands, and what at least one does.
    pub all: Options,
    pub any: Options,
    some_are_legacy: bool,
    all_are_legacy: bool,
}

impl Dialects {
    /// The dialects of those that select the object; of the newest Prometheus when none is known to.
    pub(super) fn of(metadata: &Meta, facts: &Facts<'_>) -> Self {
        let known = facts.view.prometheuses.all().unwrap_or_default();
        let selecting: Vec<_> = known
            .iter()
            .filter(|server| !server.metadata.is_terminating() && selects(server, metadata, facts))
            .collect();
        if selecting.is_empty() {
            let options = facts.settings.prometheus.options;
            return Self { all: options, any: options, some_are_legacy: false, all_are_legacy: false };
        }
        let options: Vec<Options> = selecting.iter().map(|server| options(server)).collect();
        let fold = |pick: fn(&Options) -> bool, all: bool| {
            if all { options.iter().all(pick) } else { options.iter().any(pick) }
        };
        let make = |all: bool| Options {
            experimental_functions: fold(|options| options.experimental_functions, all),
            duration_expressions: fold(|options| options.duration_expressions, all),
            extended_ranges: fold(|options| options.extended_ranges, all),
            fill_modifiers: fold(|options| options.fill_modifiers, all),
        };
        let legacy = |server: &&std::sync::Arc<Prometheus>| is_legacy(server);
        Self {
            all: make(true),
            any: make(false),
            some_are_legacy: selecting.iter().copied().any(|server| legacy(&server)),
            all_are_legacy: selecting.iter().copied().all(|server| legacy(&server)),
        }
    }

    /// The weight of a name that is not classic, or nothing when all take it.
    pub(super) fn judges(&self, is_classic: bool) -> Option<Severity> {
        match (is_classic, self.some_are_legacy, self.all_are_legacy) {
            (true, ..) | (false, false, _) => None,
            (false, true, true) => Some(Severity::Error),
            (false, true, false) => Some(Severity::Warning),
        }
    }
}

fn options(server: &Prometheus) -> Options {
    features::options(|feature| server.spec.enable_features.iter().any(|enabled| enabled == feature))
}

fn is_legacy(server: &Prometheus) -> bool {
    const FIRST_UTF8: Version = (3, 0);
    version(&server.spec.version).unwrap_or(DEFAULT_VERSION) < FIRST_UTF8
        || server.spec.name_validation_scheme == "Legacy"
}

/// An absent selector selects nothing; an absent namespace selector the server's own namespace.
fn selects(server: &Prometheus, object: &Meta, facts: &Facts<'_>) -> bool {
    let fits = |selector: &LabelSelector, metadata: &Meta| {
        selector.selects(metadata.labels.as_ref()).unwrap_or(false)
    };
    let Some(selector) = &server.spec.rule_selector else { return false };
    if !fits(selector, object) {
        return false;
    }
    match &server.spec.rule_namespace_selector {
        None => server.metadata.namespace == object.namespace,
        Some(selector) if selector.is_empty() => true,
        Some(selector) => {
            let namespace = facts.view.namespaces.get("", &object.namespace).flatten();
            namespace.is_some_and(|namespace| fits(selector, &namespace.metadata))
        }
    }
}
