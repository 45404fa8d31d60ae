//! KMSHealth: what the KMS plugins of a cluster's API servers report. Schema and CEL only; its rules come
//! with the KMS system.

use kube::CustomResourceExt;
use serde_json::Value;

use super::{Cel, KindInfo};
use crate::gates::System;
use crate::model::cel::{has, text};
use crate::rule::{Home, Rule, Severity};

pub mod spec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "usher.dev",
    versions: &["v1alpha1"],
    kind: "KMSHealth",
    plural: "kmshealths",
    namespaced: false,
    slug: "kms-health",
    system: System::KmsHealth,
    is_guest: false,
    crd: spec::KMSHealth::crd,
    cel: &[
        Cel {
            at: &["spec", "reporterSource"],
            expression: "(self.type == 'Nodes' || !has(self.nodes)) && \
                         (self.type == 'Pods' || !has(self.pods)) && \
                         (self.type == 'Static' || !has(self.static))",
            rule: &FOREIGN_SOURCE,
            holds: has_no_other_source,
        },
        Cel {
            at: &["spec", "reporterSource"],
            expression: "(self.type != 'Pods' || has(self.pods)) && \
                         (self.type != 'Static' || has(self.static))",
            rule: &SOURCE_MISSING,
            holds: has_its_source,
        },
    ],
    admission: None,
    reconciler: None,
};

/// A source has no block of another type.
pub static FOREIGN_SOURCE: Rule = Rule {
    code: "USHK901",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "reporterSource has a block that its type does not name",
    why: "Reporters are expected from one source. A second block would be ignored, its reporters not missed.",
    fix: "keep only the block that type names: nodes, pods or static, and none with Observed",
};

/// A source has the block that its type names.
pub static SOURCE_MISSING: Rule = Rule {
    code: "USHK902",
    verdict: Severity::Error,
    home: Home::Cel,
    title: "reporterSource lacks the block that its type names",
    why: "Without it nobody knows which reporters to expect. Only Nodes has a default: the control plane.",
    fix: "add pods with type Pods, or static with type Static",
};

fn has_no_other_source(source: &Value) -> bool {
    let named = text(source, "type");
    [("Nodes", "nodes"), ("Pods", "pods"), ("Static", "static")]
        .iter()
        .all(|(kind, block)| named == *kind || !has(source, block))
}

fn has_its_source(source: &Value) -> bool {
    match text(source, "type") {
        "Pods" => has(source, "pods"),
        "Static" => has(source, "static"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_has_the_block_that_its_type_names_and_no_other() {
        for source in [
            json!({"type": "Nodes"}),
            json!({"type": "Nodes", "nodes": {}}),
            json!({"type": "Pods", "pods": {}}),
            json!({"type": "Static", "static": {"ids": []}}),
            json!({"type": "Observed"}),
        ] {
            assert!(has_no_other_source(&source) && has_its_source(&source), "{source}");
        }
        for source in [
            json!({"type": "Nodes", "pods": {}}),
            json!({"type": "Static", "static": {}, "nodes": {}}),
            json!({"type": "Observed", "static": {}}),
        ] {
            assert!(!has_no_other_source(&source), "{source}");
        }
        for source in [json!({"type": "Pods"}), json!({"type": "Static", "static": null})] {
            assert!(!has_its_source(&source), "{source}");
        }
    }
}
