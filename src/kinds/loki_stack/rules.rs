//! What the doors ask of a LokiStack (specification section 4.6): selectors that select what they say.

use super::codes;
use super::spec::StackRules;
use crate::model::selector::LabelSelector;
use crate::rule::{FieldPath, Findings};

pub(super) fn check(rules: &StackRules, out: &mut Findings) {
    let path = FieldPath::spec("rules");
    for (field, selector) in [("selector", &rules.selector), ("namespaceSelector", &rules.namespace_selector)]
    {
        if let Some(selector) = selector {
            check_selector(selector, &path.field(field), out);
        }
    }
    if rules.enabled && rules.selector.is_none() {
        out.warn(&codes::NO_SELECTOR, path.field("selector"), codes::NO_SELECTOR.title);
    }
}

fn check_selector(selector: &LabelSelector, path: &FieldPath, out: &mut Findings) {
    for problem in selector.problems() {
        out.deny(&codes::SELECTOR, path.in_selector(&problem.place), problem.message).value(problem.value);
    }
}
