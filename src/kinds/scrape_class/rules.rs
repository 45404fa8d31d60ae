//! What the doors ask of a standalone ScrapeClass (specification sections 2.1, 2.2 and 2.5).
//!
//! C2 and C3 are about inline classes, C24 and C25 about Secrets of the workloads' namespaces, C19 and R3 about regular
//! expressions: they come with the issues that bring those.

use super::spec::{RelabelConfig, ScrapeClassSpec, TlsConfig};
use super::workloads::{DEFAULT_VERSION, Workload, overlap, selected};
use super::{codes, relabel, tls};
use crate::model::object::Object;
use crate::rule::{Facts, FieldPath, Findings, quoted};
use crate::view::records::{self, is_default};

type Class = Object<ScrapeClassSpec>;

pub(super) fn check(class: &Class, facts: &Facts<'_>, out: &mut Findings) {
    if class.metadata.shown_name().trim().is_empty() {
        out.deny(&codes::BLANK_NAME, FieldPath::of(&["metadata", "name"]), codes::BLANK_NAME.title);
    }
    // Unknown workloads: rules about them are silent, rules about versions use the default one.
    let workloads = selected(&class.spec, facts).unwrap_or_default();
    check_single_default(class, facts, out);
    tls::check(&class.spec, &workloads, facts, out);
    check_relabelings(&class.spec, &workloads, out);
    check_versions(&class.spec, &workloads, out);
    // `none` is the way out of a default class, so there it is the other way round.
    match (class.metadata.name == "none", is_empty(&class.spec)) {
        (false, true) => out.warn(&codes::NO_EFFECT, FieldPath::of(&["spec"]), codes::NO_EFFECT.title),
        (true, false) => {
            let message = "the class called none is the way out of a default, but it sets something";
            out.warn(&codes::NO_EFFECT, FieldPath::of(&["spec"]), message)
                .help("give this class another name")
        }
        _ => return,
    };
}

/// C4 on the View.
fn check_single_default(class: &Class, facts: &Facts<'_>, out: &mut Findings) {
    if class.spec.default != Some(true) {
        return;
    }
    let before = |other: &records::ScrapeClass| {
        facts.stands_before(&other.metadata, &class.metadata) && overlap(class, other, facts)
    };
    if let Some(incumbent) = facts.view.scrape_classes.find(is_default(), before) {
        let message = format!("{} is the default for the same workloads", quoted(&incumbent.metadata.name));
        out.deny(&codes::SECOND_DEFAULT, FieldPath::spec("default"), message)
            .value(incumbent.metadata.name.as_str());
    }
}

fn check_relabelings(class: &ScrapeClassSpec, workloads: &[Workload], out: &mut Findings) {
    let dialect = relabel::Dialect::of(workloads);
    let lists: [(&str, &Option<Vec<RelabelConfig>>); 2] =
        [("relabelings", &class.relabelings), ("metricRelabelings", &class.metric_relabelings)];
    for (name, list) in lists {
        for (index, rule) in list.iter().flatten().enumerate() {
            let path = FieldPath::spec(name).index(index);
            relabel::check(rule, &path, &dialect, out);
            for (position, label) in rule.source_labels.iter().flatten().enumerate() {
                if name == "metricRelabelings" && label.starts_with("__meta_") {
                    let message = format!("{} is gone when samples are relabeled", quoted(label));
                    out.warn(&codes::META_LABEL, path.field("sourceLabels").index(position), message);
                }
            }
            let target = rule.target_label.as_deref().unwrap_or_default();
            let action = rule.action.as_deref().unwrap_or("replace").to_lowercase();
            let writes = ["replace", "hashmod", "lowercase", "uppercase"].contains(&action.as_str());
            let redirects = ["__address__", "__scheme__", "__metrics_path__", "job", "__tmp_hash"]
                .contains(&target)
                || target.starts_with("__param_");
            if writes && redirects {
                let message = format!("the class rewrites {}", quoted(target));
                out.warn(&codes::REDIRECTS_TARGET, path.field("targetLabel"), message);
            }
        }
    }
}

/// C22: fields that a workload's Prometheus ignores.
fn check_versions(class: &ScrapeClassSpec, workloads: &[Workload], out: &mut Findings) {
    for workload in workloads.iter().filter(|workload| !workload.readable).take(3) {
        let version = quoted(&workload.spec.spec().version);
        let (major, minor) = DEFAULT_VERSION;
        let message = format!("{} has version {version}, which is judged as {major}.{minor}", workload.name);
        out.warn(&codes::OLD_WORKLOAD, FieldPath::of(&["spec"]), message);
    }
    let tls = class.tls_config.as_ref();
    let fields = [
        ("fallbackScrapeProtocol", class.fallback_scrape_protocol.is_some(), (3, 0)),
        ("tlsConfig.minVersion", tls.is_some_and(|tls| tls.min_version.is_some()), (2, 35)),
        ("tlsConfig.maxVersion", tls.is_some_and(|tls| tls.max_version.is_some()), (2, 41)),
        ("attachMetadata", class.attach_metadata.is_some(), (2, 37)),
        ("authorization", class.authorization.is_some(), (2, 26)),
    ];
    for (field, set, needed) in fields {
        let old: Vec<&str> = workloads
            .iter()
            .filter(|workload| set && workload.version < needed)
            .map(|workload| workload.name.as_str())
            .take(3)
            .collect();
        if !old.is_empty() {
            let path = field.split('.').fold(FieldPath::of(&["spec"]), |path, part| path.field(part));
            let message =
                format!("needs Prometheus {}.{}; ignored by {}", needed.0, needed.1, old.join(", "));
            out.warn(&codes::OLD_WORKLOAD, path, message);
        }
    }
}

/// Does the class set nothing that a scrape would use?
fn is_empty(class: &ScrapeClassSpec) -> bool {
    class.tls_config.as_ref().is_none_or(|tls| *tls == TlsConfig::default())
        && class.authorization.is_none()
        && class.relabelings.as_ref().is_none_or(Vec::is_empty)
        && class.metric_relabelings.as_ref().is_none_or(Vec::is_empty)
        && class.attach_metadata.is_none()
        && class.fallback_scrape_protocol.is_none()
}
