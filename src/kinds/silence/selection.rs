//! Rules about the Alertmanagers that select a silence (specification sections 1.5, 5.3.3, 5.3.5, 5.3.8 and 5.4).
//!
//! Each Alertmanager is judged with the matchers that it would be sent. While the Alertmanagers are not known, or none
//! selects the silence, these rules only warn.

use std::fmt::Write as _;

use super::breadth::{Breadth, measure};
use super::codes;
use super::comparison::Compared;
use super::rules::Silence;
use super::spec::{MatchType, Matcher};
use super::tenancy::{
    Selecting, Selection, brief, effective, equal, fingerprint, namespace_matcher, select, shown, unusable,
    written,
};
use crate::kinds::alertmanager::version::{UTF8_NAMES, keeps_annotations, release};
use crate::names;
use crate::rule::{Facts, FieldPath, Findings, Severity, quoted};
use crate::settings::SilenceSettings;
use crate::view::View;
use crate::view::records::Alertmanager;

/// Who gets it, and what they get.
pub(super) fn check_selection(
    silence: &Silence,
    selection: &Selection,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    if selection.is_certain() && selection.selecting.is_empty() {
        out.warn(
            &codes::UNSELECTED,
            FieldPath::of(&["metadata", "labels"]),
            "no Alertmanager selects this silence",
        );
    }
    for alertmanager in &selection.uncertain {
        let Some(error) = unusable(alertmanager, &facts.settings.silence) else { continue };
        let metadata = &alertmanager.metadata;
        let message =
            format!("{}/{} may select this silence or not: {error}", metadata.namespace, metadata.name);
        out.warn(&codes::UNCERTAIN, FieldPath::of(&["metadata", "labels"]), message);
    }
    if selection.selecting.is_empty() {
        return;
    }
    let label = &facts.settings.silence.namespace_label;
    let own = namespace_matcher(label, &silence.metadata.namespace);
    let has_own = silence.spec.matchers.iter().position(|matcher| equal(matcher, &own));
    for selecting in &selection.selecting {
        let (name, spec) = (selecting.name(), &selecting.alertmanager.spec);
        if selecting.enforces && has_own.is_none() {
            let message = format!("{name} gets this silence with {} added", shown(&own));
            out.warn(&codes::ENFORCED, FieldPath::spec("matchers"), message);
        }
        let metadata = &selecting.alertmanager.metadata;
        let reachable = metadata.annotation(names::ALERTMANAGER_URL).is_some()
            || metadata.annotation(names::ALERTMANAGER_PORT).is_some();
        if spec.listen_local && !reachable {
            let message = format!("{name} listens on loopback only; the silence will not arrive");
            out.warn(&codes::UNREACHABLE, FieldPath::of(&["metadata", "labels"]), message);
        }
    }
    for selecting in &selection.selecting {
        check_room(selecting, facts, out);
    }
    if let Some(index) = has_own
        && selection.all_enforce()
        && silence.metadata.annotation(names::INJECTED_MATCHERS).is_none()
    {
        let path = FieldPath::spec("matchers").index(index);
        out.warn(&codes::OWN_NAMESPACE, path, "every selecting Alertmanager adds this matcher anyway");
    }
}

/// Nine tenths of what an Alertmanager may hold is worth a word.
fn check_room(selecting: &Selecting, facts: &Facts<'_>, out: &mut Findings) {
    let (metadata, spec) = (&selecting.alertmanager.metadata, &selecting.alertmanager.spec);
    let argument = spec.additional_args.iter().find(|argument| argument.name == "silences.max-silences");
    let limit = argument.and_then(|argument| argument.value.parse::<usize>().ok());
    let field = || spec.limits.as_ref()?.max_silences.and_then(|most| usize::try_from(most).ok());
    let Some(most) = limit.or_else(field).filter(|most| *most > 0) else { return };
    let listed = facts.view.lists.of(&metadata.namespace, &metadata.name);
    let Some(count) = listed.map(|listed| listed.silences) else { return };
    if count * 10 >= most * 9 {
        let message = format!("{} holds {count} of at most {most} silences", selecting.name());
        out.warn(&codes::NEARLY_FULL, FieldPath::of(&["spec"]), message);
    }
}

/// Section 1.5: only newer Alertmanagers take UTF-8 names.
pub(super) fn check_names(silence: &Silence, selection: &Selection, view: &View, out: &mut Findings) {
    for (index, matcher) in silence.spec.matchers.iter().enumerate() {
        let mut bytes = matcher.name.bytes();
        let classic = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if classic || matcher.name.is_empty() {
            continue;
        }
        let old: Vec<String> = selection
            .selecting
            .iter()
            .filter(|selecting| is_classic(&selecting.alertmanager, view))
            .map(Selecting::name)
            .collect();
        if old.is_empty() {
            continue;
        }
        let path = FieldPath::spec("matchers").index(index).field("name");
        let message = format!("{} is no label name for {}", quoted(&matcher.name), old.join(", "));
        let all = selection.decides() && old.len() == selection.selecting.len();
        let severity = if all { Severity::Error } else { Severity::Warning };
        out.push(severity, &codes::LABEL_NAME, path, message).value(matcher.name.as_str());
    }
}

/// Names were classic before 0.27, and are in classic mode. Of what the object says and what its instances said when they
/// were last listed the oldest counts; an unknown version is taken for a current one.
fn is_classic(alertmanager: &Alertmanager, view: &View) -> bool {
    let (metadata, spec) = (&alertmanager.metadata, &alertmanager.spec);
    let said = view.lists.of(&metadata.namespace, &metadata.name).and_then(|listed| listed.oldest);
    let oldest = release(spec.stated_version()).into_iter().chain(said).min();
    oldest.is_some_and(|release| release < UTF8_NAMES)
        || spec.enable_features.iter().any(|feature| feature == "classic-mode")
}

/// Alertmanager refuses a list in which every `=` and `=~` matches the empty string and nothing else stands; negative
/// matchers never count as matching it.
pub(super) fn check_matches_empty(
    matchers: &[Matcher],
    compared: &[Compared<'_>],
    selection: &Selection,
    out: &mut Findings,
) {
    let matches_empty = |compared: &Compared<'_>| {
        matches!(compared.matcher.kind(), MatchType::Equal | MatchType::Regex)
            && compared.matches("") == Some(true)
    };
    if matchers.is_empty() || !compared.iter().all(matches_empty) {
        return;
    }
    // The user's list matches empty, so it is saved only where the namespace matcher is added.
    let bare: Vec<String> =
        selection.selecting.iter().filter(|selecting| !selecting.enforces).map(Selecting::name).collect();
    if !bare.is_empty() {
        let message = format!("every matcher matches the empty string; {} refuses that", bare.join(", "));
        out.deny(&codes::MATCHES_EMPTY, FieldPath::spec("matchers"), message).value(fingerprint(matchers));
    } else if !selection.decides() {
        out.warn(&codes::MATCHES_EMPTY, FieldPath::spec("matchers"), codes::MATCHES_EMPTY.title);
    }
}

/// A tenant who aims at another namespace is told so, instead of being silently ignored.
pub(super) fn check_namespace(
    silence: &Silence,
    selection: &Selection,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let enforcing = selection.selecting.iter().filter(|selecting| selecting.enforces).count();
    // Nobody selects it, or nobody knows: enforcement is the default, so it is worth a word.
    if selection.decides() && enforcing == 0 {
        return;
    }
    let (label, own) = (&facts.settings.silence.namespace_label, &silence.metadata.namespace);
    for (index, matcher) in silence.spec.matchers.iter().enumerate() {
        if matcher.name != *label || Compared::new(matcher).may_match(own) {
            continue;
        }
        let path = FieldPath::spec("matchers").index(index).field("value");
        let message = format!("{} excludes the own namespace {}", brief(matcher), quoted(own));
        let all = selection.decides() && enforcing == selection.selecting.len();
        let severity = if all { Severity::Error } else { Severity::Warning };
        out.push(severity, &codes::FOREIGN_NAMESPACE, path, message).value(shown(matcher));
    }
}

pub(super) fn check_breadth(
    silence: &Silence,
    matchers: &[Matcher],
    compared: &[Compared<'_>],
    selection: &Selection,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let settings = &facts.settings.silence;
    let breadth = measure(compared);
    if breadth == Breadth::Narrow {
        return;
    }
    let path = FieldPath::spec("matchers");
    let allowed = settings.allow_broad || facts.user.permitted;
    if breadth == Breadth::SeverityOnly {
        out.warn(&codes::SEVERITY_ONLY, path, "nothing but the severity narrows the silence");
        return;
    }
    let bare: Vec<String> =
        selection.selecting.iter().filter(|selecting| !selecting.enforces).map(Selecting::name).collect();
    if selection.decides() && selection.all_enforce() {
        let message = format!("the silence mutes every alert of namespace {}", silence.metadata.namespace);
        out.warn(&codes::BROAD, path, message);
    } else if !bare.is_empty() && !allowed {
        let message =
            format!("no matcher pins a value, so {} would mute alerts of every kind", bare.join(", "));
        out.deny(&codes::BROAD, path, message).value(fingerprint(matchers));
    } else if !settings.allow_broad {
        out.warn(&codes::BROAD, path, "no matcher pins a value: the silence mutes alerts of every kind");
    }
}

/// Nobody but a holder of the permission writes its record; what the stored object has stays.
pub(super) fn check_record(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, out: &mut Findings) {
    let Some(record) = silence.metadata.annotation(names::BROAD_ALLOWED) else { return };
    if facts.user.permitted || !is_record_new(silence, old) {
        return;
    }
    let path = FieldPath::of(&["metadata", "annotations"]).key(names::BROAD_ALLOWED);
    out.deny(&codes::BROAD_RECORD, path, codes::BROAD_RECORD.title).value(record);
}

fn is_record_new(silence: &Silence, old: Option<&Silence>) -> bool {
    let before = old.and_then(|old| old.metadata.annotation(names::BROAD_ALLOWED));
    let record = silence.metadata.annotation(names::BROAD_ALLOWED);
    record.is_some() && record != before
}

/// Would the permission change anything? The silence is broad for an Alertmanager that does not enforce the namespace and
/// is new in that, or its record is.
pub(super) fn asks(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>) -> bool {
    if is_record_new(silence, old) {
        return true;
    }
    let is_same = old.is_some_and(|old| old.spec.matchers == silence.spec.matchers);
    !is_same && !facts.settings.silence.allow_broad && is_bare_and_broad(silence, facts)
}

/// Is it broad, and selected by an Alertmanager that does not enforce the namespace?
pub(super) fn is_bare_and_broad(silence: &Silence, facts: &Facts<'_>) -> bool {
    let selection = select(&silence.metadata, facts);
    let matchers = written(silence, &facts.settings.silence.namespace_label);
    selection.selecting.iter().any(|selecting| !selecting.enforces)
        && measure(&Compared::all(&matchers)) == Breadth::Broad
}

/// Why a silence must not be sent to an Alertmanager although the rules admit the object: what is judged for each of them,
/// again before anything is sent, because strategies, versions and labels change without any admission of the Silence.
pub(super) fn refusal_for(
    silence: &Silence,
    selecting: &Selecting,
    settings: &SilenceSettings,
    view: &View,
) -> Option<String> {
    let only = Selection { selecting: vec![selecting.clone()], certain: true, ..Selection::default() };
    let matchers = written(silence, &settings.namespace_label);
    let compared = Compared::all(&matchers);
    let mut found = Findings::default();
    check_names(silence, &only, view, &mut found);
    check_matches_empty(&matchers, &compared, &only, &mut found);
    let is_allowed = settings.allow_broad || is_broad_allowed(silence, &matchers);
    if !selecting.enforces && !is_allowed && measure(&compared) == Breadth::Broad {
        let message =
            format!("no matcher pins a value, so {} would mute alerts of every kind", selecting.name());
        found.deny(&codes::BROAD, FieldPath::spec("matchers"), message);
    }
    let mut refusals = found.into_iter().filter(|finding| finding.severity == Severity::Error);
    refusals.next().map(|finding| format!("{} at {}: {}", finding.rule.code, finding.path, finding.message))
}

/// Did somebody with the permission want exactly these matchers? The record is worth nothing for others.
pub(super) fn is_broad_allowed(silence: &Silence, matchers: &[Matcher]) -> bool {
    silence.metadata.annotation(names::BROAD_ALLOWED) == Some(&broad_hash(matchers))
}

/// What the record holds.
pub(super) fn broad_hash(matchers: &[Matcher]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, fingerprint(matchers).as_bytes());
    digest.as_ref().iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The size that Alertmanager measures, estimated: field headers, the id, three times and the texts. The tightest of the
/// selecting Alertmanagers decides.
pub(super) fn check_size(silence: &Silence, selection: &Selection, facts: &Facts<'_>, out: &mut Findings) {
    const FIXED: usize = 38 + 3 * 14 + 8;
    const PER_MATCHER: usize = 8;
    // Whose it is, with 6 bytes around each: managed-by, cluster and uid (36 each), spec-hash (64).
    const ANNOTATIONS: usize = (20 + 5) + (17 + 36) + (13 + 36) + (19 + 64) + 4 * 6;
    let limit_of = |selecting: &Selecting| {
        let arguments = &selecting.alertmanager.spec.additional_args;
        let limit = arguments.iter().find(|argument| argument.name == "silences.max-silence-size-bytes")?;
        limit.value.parse::<usize>().ok().filter(|limit| *limit > 0)
    };
    let limits = selection.selecting.iter().filter_map(|selecting| Some((limit_of(selecting)?, selecting)));
    let Some((limit, selecting)) = limits.min_by_key(|(limit, _)| *limit) else { return };
    let (label, metadata) = (&facts.settings.silence.namespace_label, &silence.metadata);
    let matchers = effective(written(silence, label), selecting.enforces, label, &metadata.namespace);
    let texts: usize =
        matchers.iter().map(|matcher| matcher.name.len() + matcher.value.len() + PER_MATCHER).sum();
    let created_by = metadata.namespace.len() + 1 + metadata.shown_name().len();
    let is_annotated = keeps_annotations(selecting.alertmanager.spec.stated_version()) != Some(false);
    let annotations = if is_annotated { ANNOTATIONS } else { 0 };
    let size = FIXED + texts + created_by + annotations + silence.spec.comment.trim().len();
    if size > limit {
        let message = format!("about {size} bytes, and {} takes {limit}", selecting.name());
        out.deny(&codes::TOO_LARGE, FieldPath::of(&["spec"]), message).value(size.to_string());
    }
}
