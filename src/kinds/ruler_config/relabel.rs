//! Relabel rules of alerts and of remote write, as Loki's loader takes them.

use super::codes;
use super::spec::{RelabelAction, RelabelConfig};
use crate::lang::re2::{self, Names, Wrap};
use crate::rule::{FieldPath, Findings};

pub(super) fn check(configs: Option<&Vec<RelabelConfig>>, path: &FieldPath, out: &mut Findings) {
    for (index, config) in configs.into_iter().flatten().enumerate() {
        check_one(config, &path.field("relabelConfigs").index(index), out);
    }
}

fn check_one(config: &RelabelConfig, path: &FieldPath, out: &mut Findings) {
    use RelabelAction::{HashMod, LabelDrop, LabelKeep, LabelMap, Replace};
    let action = config.action.unwrap_or(Replace);
    let shown = format!("{config:?}");
    let mut deny = |field: &'static str, message: &str| {
        out.deny(&codes::RELABEL, path.field(field), message).value(shown.as_str());
    };
    let has_target = config.target_label.as_deref().is_some_and(|label| !label.is_empty());
    if matches!(action, Replace | HashMod) && !has_target {
        deny("targetLabel", "replace and hashmod need a targetLabel");
    }
    if action == HashMod && config.modulus.unwrap_or(0) <= 0 {
        deny("modulus", "hashmod needs a modulus above 0");
    }
    if action == LabelMap && config.replacement.as_deref() == Some("") {
        deny("replacement", "labelmap needs a replacement");
    }
    if matches!(action, LabelDrop | LabelKeep) {
        let differs =
            |value: &Option<String>, default: &str| value.as_deref().is_some_and(|value| value != default);
        let stray = [
            ("sourceLabels", !config.source_labels.is_empty()),
            ("targetLabel", has_target),
            ("modulus", config.modulus.unwrap_or(0) != 0),
            ("separator", differs(&config.separator, ";")),
            ("replacement", differs(&config.replacement, "$1")),
        ];
        for (field, _) in stray.into_iter().filter(|(_, is_set)| *is_set) {
            deny(field, "labeldrop and labelkeep take a regex only");
        }
    }
    if let Some(regex) = &config.regex
        && let Err(fault) = re2::parse_wrapped(regex.as_bytes(), Names::Current, Wrap::DotAll)
    {
        out.fault(&codes::RELABEL, path.field("regex"), regex, &fault);
    }
}
