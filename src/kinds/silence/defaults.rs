//! What the mutating door writes on a Silence (specification section 5.2).
//!
//! The spec stays as written unless a setting says otherwise: a webhook that edits lists makes GitOps tools report
//! drift for ever. The annotations are usher's own and are overwritten on every admission.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use super::selection::{broad_hash, is_bare_and_broad};
use super::spec::SilenceSpec;
use super::tenancy::{Selection, effective, equal, injected, namespace_matcher, select, shown, written};
use crate::model::object::Object;
use crate::names;
use crate::review::edits::Edits;
use crate::rule::{Facts, FieldPath, Operation};
use crate::settings::NamespaceInjection;

type Silence = Object<SilenceSpec>;

/// What the schema takes: one more would be refused for what usher wrote.
const MOST_MATCHERS: usize = 64;
/// An object may have 256 KiB of annotations; this one is for people to read.
const LONGEST_SHOWN: usize = 16 * 1024;

pub(super) fn defaults(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, edits: &mut Edits) {
    let spec = &silence.spec;
    for (index, matcher) in spec.matchers.iter().enumerate() {
        if matcher.match_type.is_none() {
            edits.add(FieldPath::spec("matchers").index(index).field("matchType"), "=");
        }
    }
    let fallback = facts.settings.silence.default_duration;
    if !fallback.is_zero() && spec.expires_at.is_none() && spec.duration.is_none() && spec.schedule.is_none()
    {
        edits.add(FieldPath::spec("duration"), fallback.to_string());
    }
    record_users(silence, old, facts, edits);

    let selection = select(&silence.metadata, facts);
    let shown = enforced(silence, &selection, facts);
    edits.annotate(&silence.metadata, names::ENFORCED_MATCHERS, shown.map(Cow::Owned));
    inject(silence, &selection, facts, edits);
    // The guard has no requester to ask: it honours the record while it fits.
    let has_record = silence.metadata.annotation(names::BROAD_ALLOWED).is_some();
    if facts.user.permitted && (has_record || is_bare_and_broad(silence, facts)) {
        let hash = broad_hash(&written(silence, &facts.settings.silence.namespace_label));
        edits.annotate(&silence.metadata, names::BROAD_ALLOWED, Some(Cow::Owned(hash)));
    }
}

/// Who created and who changed it: the trail that Alertmanager's one field cannot hold.
fn record_users(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, edits: &mut Edits) {
    let metadata = &silence.metadata;
    let user = (!facts.user.name.is_empty()).then_some(facts.user.name.as_str());
    match (facts.operation, old) {
        (Operation::Create, _) if user.is_some() => {
            edits.annotate(metadata, names::CREATED_BY, user.map(Cow::Borrowed));
            edits.annotate(metadata, names::MODIFIED_BY, None);
        }
        (Operation::Update, Some(old)) => {
            let recorded = |key| old.metadata.annotation(key).map(Cow::Borrowed);
            edits.annotate(metadata, names::CREATED_BY, recorded(names::CREATED_BY));
            // What usher itself injects or takes away is no change of the user's.
            let label = &facts.settings.silence.namespace_label;
            let changed = user.is_some() && without_injected(old, label) != without_injected(silence, label);
            let modified = if changed { user.map(Cow::Borrowed) } else { recorded(names::MODIFIED_BY) };
            edits.annotate(metadata, names::MODIFIED_BY, modified);
        }
        _ => {}
    }
}

fn without_injected(silence: &Silence, label: &str) -> SilenceSpec {
    let mut spec = silence.spec.clone();
    if let Some(position) = injected(silence, label) {
        spec.matchers.remove(position);
    }
    spec
}

/// What each enforcing Alertmanager is sent, as JSON; nothing when none is known to enforce, and nothing when it would
/// be so long that it could push the object over the limit for annotations.
fn enforced(silence: &Silence, selection: &Selection, facts: &Facts<'_>) -> Option<String> {
    let label = &facts.settings.silence.namespace_label;
    let sent: BTreeMap<String, Vec<String>> = selection
        .selecting
        .iter()
        .filter(|selecting| selecting.enforces)
        .map(|selecting| {
            let matchers = effective(written(silence, label), true, label, &silence.metadata.namespace);
            (selecting.name(), matchers.iter().map(shown).collect())
        })
        .collect();
    (!sent.is_empty()).then(|| json!(sent).to_string()).filter(|text| text.len() <= LONGEST_SHOWN)
}

/// `spec` mode: the matcher stands in the spec while every selecting Alertmanager enforces it, and leaves it again.
fn inject(silence: &Silence, selection: &Selection, facts: &Facts<'_>, edits: &mut Edits) {
    let mode = facts.settings.silence.namespace_injection;
    let has_record = silence.metadata.annotation(names::INJECTED_MATCHERS).is_some();
    if mode == NamespaceInjection::Effective && !has_record {
        return;
    }
    let label = &facts.settings.silence.namespace_label;
    let own = namespace_matcher(label, &silence.metadata.namespace);
    let record = shown(&own);
    let recorded = injected(silence, label).is_some();
    let present = silence.spec.matchers.iter().position(|matcher| equal(matcher, &own));
    let wanted = mode == NamespaceInjection::Spec && selection.all_enforce();

    let keep_record = match (wanted, recorded, present) {
        (true, _, None) if silence.spec.matchers.len() < MOST_MATCHERS => {
            let end = FieldPath::spec("matchers").index(silence.spec.matchers.len());
            edits.add(end, json!({"name": own.name, "value": own.value, "matchType": "="}));
            true
        }
        (false, true, Some(index))
            if selection.is_certain() && !selection.selecting.iter().any(|am| am.enforces) =>
        {
            edits.remove(FieldPath::spec("matchers").index(index));
            false
        }
        // What usher injected stays recorded; the user's own matcher needs no record.
        (_, true, Some(_)) => true,
        _ => false,
    };
    edits.annotate(&silence.metadata, names::INJECTED_MATCHERS, keep_record.then_some(Cow::Owned(record)));
}
