//! Which workloads offer a class, and what their Prometheus can do.

use std::sync::Arc;

use super::spec::ScrapeClassSpec;
use crate::model::object::{Meta, Object};
use crate::model::selector::LabelSelector;
use crate::rule::Facts;
use crate::view::records::WorkloadSpec;

/// A Prometheus version, as far as rules compare it.
pub(in crate::kinds) type Version = (u64, u64);

/// What prometheus-operator 0.93 runs when a workload names no version.
pub(in crate::kinds) const DEFAULT_VERSION: Version = (3, 13);

/// A Prometheus or PrometheusAgent.
#[derive(Debug, Clone)]
pub(super) struct Workload {
    pub(super) name: String,
    pub(super) version: Version,
    /// Could the version be read, or is the default one assumed?
    pub(super) readable: bool,
    pub(super) spec: Arc<dyn AsWorkload>,
}

/// The part that both kinds share.
pub(super) trait AsWorkload: std::fmt::Debug + Send + Sync {
    fn spec(&self) -> &WorkloadSpec;
    fn metadata(&self) -> &Meta;
}

macro_rules! as_workload {
    ($($record:ident),*) => {$(
        impl AsWorkload for crate::view::records::$record {
            fn spec(&self) -> &WorkloadSpec {
                &self.0.spec
            }

            fn metadata(&self) -> &Meta {
                &self.0.metadata
            }
        }
    )*};
}
as_workload!(Prometheus, PrometheusAgent);

impl Workload {
    /// Does its Prometheus accept only classic label names?
    pub(super) fn is_legacy(&self) -> bool {
        self.version < (3, 0) || self.spec.spec().name_validation_scheme == "Legacy"
    }
}

/// The workloads that select a class; `None` while they are not known.
pub(super) fn selected(class: &ScrapeClassSpec, facts: &Facts<'_>) -> Option<Vec<Workload>> {
    let (servers, agents) = (facts.view.prometheuses.all(), facts.view.prometheus_agents.all());
    if servers.is_none() && agents.is_none() {
        return None;
    }
    let servers = servers.into_iter().flatten().map(|server| server as Arc<dyn AsWorkload>);
    let all = servers.chain(agents.into_iter().flatten().map(|agent| agent as Arc<dyn AsWorkload>));
    let mut selected = Vec::new();
    for spec in all {
        let metadata = spec.metadata();
        if metadata.is_terminating() || !offers(class, metadata, facts)? {
            continue;
        }
        let name = format!("{}/{}", metadata.namespace, metadata.name);
        let written = spec.spec().version.as_str();
        let version = version(written);
        let readable = written.is_empty() || version.is_some();
        selected.push(Workload { name, version: version.unwrap_or(DEFAULT_VERSION), readable, spec });
    }
    Some(selected)
}

fn offers(class: &ScrapeClassSpec, workload: &Meta, facts: &Facts<'_>) -> Option<bool> {
    let selects = |selector: &Option<LabelSelector>, labels| match selector {
        Some(selector) if !selector.is_empty() => selector.selects(labels).ok(),
        _ => Some(true),
    };
    if !selects(&class.workload_selector, workload.labels.as_ref())? {
        return Some(false);
    }
    match &class.workload_namespace_selector {
        Some(selector) if !selector.is_empty() => {
            let namespace = facts.view.namespaces.get("", &workload.namespace)??;
            selector.selects(namespace.metadata.labels.as_ref()).ok()
        }
        _ => Some(true),
    }
}

/// Reads `v3.13.1`; nothing for what cannot be read or has a major version that cannot be rendered.
pub(in crate::kinds) fn version(text: &str) -> Option<Version> {
    let mut parts = text.trim_start_matches('v').split('.').map(|part| part.parse::<u64>().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major @ (2 | 3)), Some(minor)) => Some((major, minor)),
        _ => None,
    }
}

/// What a class selects, in one spelling: `{}` is absent; keys, expressions and values are sorted.
pub(super) fn query(class: &ScrapeClassSpec) -> (LabelSelector, LabelSelector) {
    let canonical = |selector: &Option<LabelSelector>| {
        selector.as_ref().map(LabelSelector::canonical).unwrap_or_default()
    };
    (canonical(&class.workload_selector), canonical(&class.workload_namespace_selector))
}

/// Do two default classes cover the same workloads?
///
/// They do when their selectors are the same query, or when some existing workload offers both.
pub(super) fn overlap(
    one: &Object<ScrapeClassSpec>,
    other: &Object<ScrapeClassSpec>,
    facts: &Facts<'_>,
) -> bool {
    if query(&one.spec) == query(&other.spec) {
        return true;
    }
    let (Some(ours), Some(theirs)) = (selected(&one.spec, facts), selected(&other.spec, facts)) else {
        return false;
    };
    ours.iter().any(|workload| theirs.iter().any(|other| other.name == workload.name))
}
