//! What the doors ask of a Silence (specification sections 1.5 and 5.3 to 5.6).

use jiff::SignedDuration;

use super::codes;
use super::comparison::Compared;
use super::preview::check_preview;
use super::schedule::rules::check_schedule;
use super::selection::{
    check_breadth, check_matches_empty, check_names, check_namespace, check_record, check_selection,
    check_size,
};
use super::spec::{MatchType, Matcher, SilenceSpec};
use super::tenancy::{Selection, brief, equal, fingerprint, injected, likeness, select, shown, written};
use super::window::{Problem, Window, resolve, windows};
use crate::lang::re2::{self, Names, Wrap};
use crate::model::duration::Span;
use crate::model::object::Object;
use crate::rule::{Facts, FieldPath, Findings, Operation, Severity, quoted};
use crate::settings::PastEnd;

pub(super) type Silence = Object<SilenceSpec>;

const FAR: SignedDuration = SignedDuration::from_hours(30 * 24);
const NEAR: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn check(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, out: &mut Findings) {
    check_shape(silence, out);
    check_comment(silence, old, facts, out);
    check_window(silence, old, facts, out);
    check_schedule(silence, old, facts, out);
    check_policy(silence, old, facts, out);
    for (index, matcher) in silence.spec.matchers.iter().enumerate() {
        check_matcher(matcher, || FieldPath::spec("matchers").index(index), out);
    }
    check_repetitions(silence, out);

    let selection = select(&silence.metadata, facts);
    check_selection(silence, &selection, facts, out);
    check_names(silence, &selection, facts.view, out);
    let matchers = written(silence, &facts.settings.silence.namespace_label);
    let compared = Compared::all(&matchers);
    check_matches_empty(&matchers, &compared, &selection, out);
    check_contradictions(silence, facts, out);
    check_namespace(silence, &selection, facts, out);
    check_breadth(silence, &matchers, &compared, &selection, facts, out);
    check_record(silence, old, facts, out);
    check_preview(silence, &matchers, &selection, facts, out);
    check_size(silence, &selection, facts, out);
    check_duplicates(silence, &selection, facts, out);
    if let Some(old) = old
        && fingerprint(&old.spec.matchers) != fingerprint(&silence.spec.matchers)
    {
        out.warn(&codes::NEW_ID, FieldPath::spec("matchers"), "Alertmanager will give the silence a new id");
    }
}

/// What the CRD says too, for objects that come past it.
fn check_shape(silence: &Silence, out: &mut Findings) {
    let spec = &silence.spec;
    if spec.matchers.is_empty() {
        out.deny(&codes::NO_MATCHERS, FieldPath::spec("matchers"), "at least one matcher is needed");
    }
    let ends = [spec.expires_at.is_some(), spec.duration.is_some(), spec.schedule.is_some()];
    if ends.iter().filter(|given| **given).count() != 1 {
        out.deny(&codes::ONE_END, FieldPath::of(&["spec"]), codes::ONE_END.title);
    }
    if let (Some(start), Some(end)) = (spec.starts_at, spec.expires_at)
        && start >= end
    {
        out.deny(&codes::START_BEFORE_END, FieldPath::spec("startsAt"), codes::START_BEFORE_END.title);
    }
    if spec.suspend == Some(true) {
        out.warn(&codes::SUSPENDED, FieldPath::spec("suspend"), "the silence is suspended and mutes nothing");
    }
}

fn check_comment(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, out: &mut Findings) {
    let comment = &silence.spec.comment;
    if comment.trim().is_empty() {
        out.deny(&codes::BLANK_COMMENT, FieldPath::spec("comment"), "the comment is blank")
            .value(comment.as_str());
    }
    let changed = old.is_none_or(|old| old.spec.comment != *comment);
    if let Some(pattern) = &facts.settings.silence.comment_pattern
        && changed
        && !pattern.is_match(comment)
    {
        let message = format!("the comment {} does not match {}", quoted(comment), quoted(pattern.as_str()));
        out.deny(&codes::COMMENT_POLICY, FieldPath::spec("comment"), message).value(comment.as_str());
    }
}

/// Where the end of the window is written.
fn end_path(spec: &SilenceSpec) -> FieldPath {
    FieldPath::spec(if spec.expires_at.is_some() { "expiresAt" } else { "duration" })
}

fn check_window(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, out: &mut Findings) {
    let path = end_path(&silence.spec);
    let window = match resolve(silence, facts.now) {
        Ok(window) => window,
        Err(Problem::NoEnd) => return,
        Err(problem) => {
            let written = silence.spec.duration.as_deref().unwrap_or_default();
            let message = match problem {
                Problem::TooFar => format!("duration {} ends beyond the year 9999", quoted(written)),
                _ => format!("duration {} is not longer than nothing", quoted(written)),
            };
            out.deny(&codes::BAD_DURATION, path, message).value(written);
            return;
        }
    };
    let before = old.and_then(|old| resolve(old, facts.now).ok());
    let touched = before != Some(window);
    let moved = before.map(|before| before.end) != Some(window.end);
    let left = window.end.duration_since(facts.now);
    if left <= SignedDuration::ZERO {
        check_past_end(window, moved, facts, path.clone(), out);
    } else if touched && left > FAR {
        let days = left.as_hours() / 24;
        out.warn(&codes::FAR_END, path.clone(), format!("the silence ends in {days} days"));
    } else if touched && left <= NEAR {
        out.warn(&codes::NEAR_END, path.clone(), format!("the silence ends in {} s", left.as_secs()));
    }
    let longest = facts.settings.silence.max_duration;
    if touched && !longest.is_zero() && window.length() > SignedDuration::from_secs(longest.as_seconds()) {
        let length = Span::seconds(window.length().as_secs());
        let message = format!("the silence lasts {length} or more, and {longest} are allowed");
        let length = usize::try_from(window.length().as_secs()).unwrap_or(usize::MAX);
        // A window that is moved is another one; shorter it may become.
        out.deny(&codes::TOO_LONG, path, message).value(window.start.to_string()).amount(length);
    }
}

/// An end in the past makes no sense on a new object, means "end now" on a changed one, and is the normal state of a
/// Silence that has ended.
fn check_past_end(window: Window, moved: bool, facts: &Facts<'_>, path: FieldPath, out: &mut Findings) {
    let end = window.end;
    if facts.operation == Operation::Create {
        let severity = match facts.settings.silence.past_end {
            PastEnd::Deny => Severity::Error,
            PastEnd::Warn => Severity::Warning,
        };
        let message = format!("the silence ended at {end}, before it is created");
        out.push(severity, &codes::PAST_END, path, message).value(end.to_string());
    } else if moved {
        out.warn(&codes::ENDS_NOW, path, format!("the end {end} is in the past: the silence ends now"));
    }
}

/// Limits that the operator of the cluster sets; on UPDATE they hold for what is changed.
fn check_policy(silence: &Silence, old: Option<&Silence>, facts: &Facts<'_>, out: &mut Findings) {
    let settings = &facts.settings.silence;
    let is_off = settings.min_matchers == 0 && settings.required_labels.is_empty();
    if is_off || old.is_some_and(|old| old.spec.matchers == silence.spec.matchers) {
        return;
    }
    let matchers = written(silence, &settings.namespace_label);
    if matchers.len() < settings.min_matchers {
        let message = format!("{} of at least {} matchers", matchers.len(), settings.min_matchers);
        out.deny(&codes::MIN_MATCHERS, FieldPath::spec("matchers"), message).value(fingerprint(&matchers));
    }
    for label in &settings.required_labels {
        let pins = |matcher: &Matcher| {
            matcher.name == *label && matches!(matcher.kind(), MatchType::Equal | MatchType::Regex)
        };
        if !matchers.iter().any(pins) {
            let message = format!("no = or =~ matcher on the required label {}", quoted(label));
            out.deny(&codes::REQUIRED_LABELS, FieldPath::spec("matchers"), message)
                .value(format!("{label}: {}", fingerprint(&matchers)));
        }
    }
}

/// Advice on one matcher.
fn check_matcher(matcher: &Matcher, path: impl Fn() -> FieldPath, out: &mut Findings) {
    const METACHARACTERS: &str = r"\.+*?()|[]{}^$";
    let value = &matcher.value;
    if matcher.name == "__name__" {
        out.warn(&codes::METRIC_NAME, path().field("name"), codes::METRIC_NAME.title);
    }
    if value.trim() != value {
        out.warn(
            &codes::BLANKS,
            path().field("value"),
            format!("{} begins or ends with blanks", quoted(value)),
        );
    }
    if matcher.kind() == MatchType::Equal
        && (value.contains(".*") || value.contains(".+") || value.contains('|'))
    {
        let message = format!("{} is compared literally with =", quoted(value));
        out.warn(&codes::LOOKS_LIKE_REGEX, path().field("value"), message);
    }
    if matcher.is_regex() {
        check_regex(value, &|| path().field("value"), out);
        let escaped_dollar = value
            .strip_suffix('$')
            .is_some_and(|head| head.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1);
        if value.starts_with('^') || value.ends_with('$') && !escaped_dollar {
            out.warn(&codes::ANCHORED, path().field("value"), codes::ANCHORED.title);
        }
        if !value.is_empty() && !value.contains(|c| METACHARACTERS.contains(c)) {
            let message = format!("{} has no metacharacters and matches only itself", quoted(value));
            out.warn(&codes::NO_METACHARACTERS, path().field("value"), message);
        }
    }
}

/// Alertmanager reads an expression as it is written when it takes the silence, and wrapped when it matches alerts.
fn check_regex(value: &str, path: &dyn Fn() -> FieldPath, out: &mut Findings) {
    let pattern = match re2::parse(value.as_bytes(), Names::Current) {
        Ok(pattern) => pattern,
        Err(fault) => {
            out.fault(&codes::BAD_REGEX, path(), value, &fault);
            return;
        }
    };
    if let Err(fault) = re2::parse_wrapped(value.as_bytes(), Names::Current, Wrap::Group) {
        out.fault(&codes::POISON, path(), value, &fault);
    }
    // Named groups as (?<n>…) are older than any Alertmanager that usher knows to be in use.
    if let Some(newer) = pattern.needs_newer_go().filter(|newer| newer.release != "1.22") {
        let part = value.get(newer.span.clone()).unwrap_or_default();
        let message = format!("{part} is read only by Alertmanagers built with Go {}", newer.release);
        out.warn(&codes::NEWER_GO, path(), message).value(value).part(newer.span.clone());
    }
}

fn check_repetitions(silence: &Silence, out: &mut Findings) {
    let matchers = &silence.spec.matchers;
    for (index, matcher) in matchers.iter().enumerate() {
        if matchers[..index].iter().any(|earlier| equal(earlier, matcher)) {
            let path = FieldPath::spec("matchers").index(index);
            out.warn(&codes::REPEATED_MATCHER, path, format!("{} is there twice", brief(matcher)));
        }
    }
}

fn check_contradictions(silence: &Silence, facts: &Facts<'_>, out: &mut Findings) {
    let matchers = &silence.spec.matchers;
    let injected = injected(silence, &facts.settings.silence.namespace_label);
    for (index, matcher) in matchers.iter().enumerate().filter(|(index, _)| injected != Some(*index)) {
        let excludes = |earlier: &&Matcher| earlier.name == matcher.name && exclude(earlier, matcher);
        if let Some(earlier) = matchers[..index].iter().find(excludes) {
            let path = FieldPath::spec("matchers").index(index);
            let message = format!("{} and {} never match together", brief(earlier), brief(matcher));
            let value = format!("{},{}", shown(earlier), shown(matcher));
            out.deny(&codes::CONTRADICTION, path, message).value(value);
        }
    }
}

/// Do two matchers on one label never match together? Only a `=` says which value to try.
fn exclude(one: &Matcher, other: &Matcher) -> bool {
    let (pinned, tried) = match (one.kind(), other.kind()) {
        (MatchType::Equal, _) => (one, other),
        (_, MatchType::Equal) => (other, one),
        _ => return false,
    };
    Compared::new(tried).matches(&pinned.value) == Some(false)
}

/// Another Silence that is sent alike, in a window that overlaps. Lists that differ only by the own-namespace matcher are
/// sent alike where every Alertmanager adds it.
fn check_duplicates(silence: &Silence, selection: &Selection, facts: &Facts<'_>, out: &mut Findings) {
    let shown = |silence: &Silence| windows(silence, facts.now).shown().0;
    let Some(window) = shown(silence) else { return };
    let (metadata, matchers) = (&silence.metadata, &silence.spec.matchers);
    let twin = facts.view.silences.find(likeness(matchers, &metadata.namespace), |other| {
        other.metadata.name != metadata.name
            && !other.metadata.is_terminating()
            && (selection.all_enforce() || fingerprint(&other.spec.matchers) == fingerprint(matchers))
            && shown(other).is_some_and(|theirs| theirs.overlaps(window))
    });
    if let Some(twin) = twin {
        let message =
            format!("Silence {} has the same matchers and an overlapping window", twin.metadata.name);
        out.warn(&codes::DUPLICATE, FieldPath::spec("matchers"), message);
    }
}
