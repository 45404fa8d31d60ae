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
    // What is missing has no value of its own: the rule is known by what it does to which labels.
    let subject = format!("{action:?} {:?}", config.source_labels);
    let mut deny = |field: &'static str, message: &str, value: &str| {
        out.deny(&codes::RELABEL, path.field(field), message).value(value);
    };
    let has_target = config.target_label.as_deref().is_some_and(|label| !label.is_empty());
    if matches!(action, Replace | HashMod) && !has_target {
        deny("targetLabel", "replace and hashmod need a targetLabel", &subject);
    }
    if action == HashMod && config.modulus.unwrap_or(0) <= 0 {
        deny("modulus", "hashmod needs a modulus above 0", &format!("{subject} {:?}", config.modulus));
    }
    if action == LabelMap && config.replacement.as_deref() == Some("") {
        deny("replacement", "labelmap needs a replacement", &subject);
    }
    if matches!(action, LabelDrop | LabelKeep) {
        let differs =
            |value: &Option<String>, default: &str| value.as_deref().is_some_and(|value| value != default);
        let stray = [
            ("sourceLabels", !config.source_labels.is_empty(), format!("{:?}", config.source_labels)),
            ("targetLabel", has_target, format!("{:?}", config.target_label)),
            ("modulus", config.modulus.unwrap_or(0) != 0, format!("{:?}", config.modulus)),
            ("separator", differs(&config.separator, ";"), format!("{:?}", config.separator)),
            ("replacement", differs(&config.replacement, "$1"), format!("{:?}", config.replacement)),
        ];
        for (field, _, value) in stray.iter().filter(|(_, is_set, _)| *is_set) {
            deny(field, "labeldrop and labelkeep take a regex only", value);
        }
    }
    if let Some(regex) = &config.regex
        && let Err(fault) = re2::parse_wrapped(regex.as_bytes(), Names::Current, Wrap::DotAll)
    {
        out.fault(&codes::RELABEL, path.field("regex"), regex, &fault);
    }
}
