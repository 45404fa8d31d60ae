//! The file that an object becomes: `<namespace>-<name>-<uid>.yaml` in a ConfigMap (specification section 6.2).

use super::{Flavour, Rules, codes};
use crate::rule::{FieldPath, Findings};
use crate::yaml;

/// The longest key of a ConfigMap.
const LONGEST_KEY: usize = 253;
/// `-`, `-`, a uid and `.yaml`.
const KEY_FRAME: usize = 1 + 1 + 36 + 5;
/// What one ConfigMap of rules may hold: 1 MiB less 50,000 bytes for its own metadata.
const LARGEST_FILE: usize = 1_048_576 - 50_000;

pub(super) fn check(rules: &Rules<'_>, out: &mut Findings) {
    let metadata = rules.metadata;
    let key = metadata.namespace.len() + metadata.shown_name().len() + KEY_FRAME;
    if key > LONGEST_KEY {
        let message = format!("the key of the rules has {key} of at most {LONGEST_KEY} characters");
        out.deny(&codes::LONG_NAME, FieldPath::of(&["metadata", "name"]), message)
            .value(metadata.shown_name());
    }
    let name = rules.tenant.len() + "___".len() + key;
    // Rendering costs; hardly any object comes near the limit. Written, no text is more than six times as long.
    if name + 6 * least_size(rules) <= LARGEST_FILE {
        return;
    }
    let size = name + render(rules).len();
    if size > LARGEST_FILE {
        let message = format!("the rules take {size} of at most {LARGEST_FILE} bytes");
        out.deny(&codes::TOO_LARGE, FieldPath::spec("groups"), message).amount(size);
    }
}

/// The texts of the object, with some room for the keys around each.
fn least_size(rules: &Rules<'_>) -> usize {
    let rule_size = |rule: &super::Rule<'_>| {
        let maps = rule.labels.into_iter().chain(rule.annotations).flatten();
        let texts: usize = maps.map(|(name, value)| name.len() + value.len() + 32).sum();
        let names = rule.name.map_or(0, str::len) + rule.r#for.map_or(0, str::len);
        names + rule.expr.len() + texts + rules.tenant.len() + 128
    };
    let groups = rules.groups.iter();
    let frame = |group: &super::Group<'_>| group.name.len() + group.interval.map_or(0, str::len) + 128;
    groups.map(|group| frame(group) + group.rules.iter().map(rule_size).sum::<usize>()).sum()
}

/// The rule file as the ruler reads it.
fn render(rules: &Rules<'_>) -> String {
    use serde_json::{Map, Value, json};
    let groups: Vec<Value> = rules
        .groups
        .iter()
        .map(|group| {
            let list: Vec<Value> = group
                .rules
                .iter()
                .map(|rule| {
                    let mut fields = Map::new();
                    fields.insert(rules.flavour.name_field().into(), json!(rule.name.unwrap_or_default()));
                    fields.insert("expr".into(), json!(rule.expr));
                    if rules.flavour == Flavour::Alerting {
                        fields.insert("for".into(), json!(rule.r#for.unwrap_or("0s")));
                    }
                    if let Some(annotations) = rule.annotations {
                        fields.insert("annotations".into(), json!(annotations));
                    }
                    let mut labels = rule.labels.cloned().unwrap_or_default();
                    labels.insert("tenantId".to_owned(), rules.tenant.to_owned());
                    fields.insert("labels".into(), json!(labels));
                    Value::Object(fields)
                })
                .collect();
            json!({
                "name": group.name, "interval": group.interval.unwrap_or("1m"),
                "limit": group.limit.unwrap_or_default(), "rules": list,
            })
        })
        .collect();
    yaml::write(&json!({"groups": groups}))
}
