//! The Loki that a RulerConfig belongs to: the one of its own name and namespace.

use super::codes;
use crate::kinds::loki::Target;
use crate::model::object::Meta;
use crate::rule::{Facts, FieldPath, Findings};

pub(super) fn check(metadata: &Meta, facts: &Facts<'_>, out: &mut Findings) {
    // A name that is still to be made belongs to nobody yet.
    if metadata.name.is_empty() {
        return;
    }
    let Some(targets) = Target::all(facts) else { return };
    let beside: Vec<_> = targets.iter().filter(|target| target.namespace() == metadata.namespace).collect();
    let name = format!("{}/{}", metadata.namespace, metadata.name);
    let message = match beside.iter().find(|target| target.name() == metadata.name) {
        Some(target) if target.has_rules() => return,
        Some(_) => format!("the LokiStack {name} has its rules not enabled"),
        None => format!("there is no Loki {name}"),
    };
    let finding = out.warn(&codes::NO_TARGET, FieldPath::of(&["metadata", "name"]), message).value(name);
    if let [only] = beside.as_slice()
        && only.name() != metadata.name
    {
        finding.help(format!("call it {}, like the Loki of this namespace", only.name()));
    }
}
