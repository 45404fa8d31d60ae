//! What the status tells: a binding for each Alertmanager, the summary over them, the phase and the windows.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::outcome::{Outcome, Reason};
use super::pass::Came;
use super::{AHEAD, Record};
use crate::kinds::silence::Silence;
use crate::kinds::silence::spec::{Binding, Phase, SilenceState, Window as Shown};
use crate::kinds::silence::window::{Window, Windows};
use crate::model::condition::{Condition, ConditionStatus};
use crate::reconcile::backoff::Pace;
use crate::reconcile::status::{READY, condition, whole_seconds};
use crate::reconcile::stored::Stored;
use crate::reconcile::{Context, News, Outcome as Reconciled, Told};
use crate::view::Key;
use crate::view::records::Alertmanager;

/// A silence that was written a moment ago is looked for on the other instances this much later.
const SETTLES: Duration = Duration::from_secs(1);
/// What only the owner of the Alertmanager can change is looked at again; a change of the Alertmanager asks anyway.
const RARELY: Duration = Duration::from_mins(10);
const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// An end that is nearer is worth a word.
const SOON_OVER: SignedDuration = SignedDuration::from_hours(1);

/// What came of one object.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) stored: &'a Stored<Silence>,
    pub(super) is_refused: bool,
    pub(super) is_suspended: bool,
    pub(super) windows: Windows,
    /// Each Alertmanager, why it is not sent there, and what came of it.
    pub(super) done: Vec<(Arc<Alertmanager>, Option<String>, Came)>,
    /// Bindings that nobody can tell about now.
    pub(super) kept: Vec<Binding>,
    /// Alertmanagers whose selectors nobody can use.
    pub(super) unclear: Vec<String>,
    pub(super) context: &'a Context,
    pub(super) now: Timestamp,
}

impl Binding {
    /// Namespace and name of its Alertmanager.
    pub fn key(&self) -> Key {
        (self.namespace.clone(), self.name.clone())
    }

    fn ready(&self) -> Option<&Condition> {
        self.conditions.iter().flatten().find(|condition| condition.r#type == READY)
    }
}

/// Tells what came of an object.
pub(super) fn report(report: Report<'_>) -> Reconciled<Silence> {
    let Report { stored, is_refused, is_suspended, windows, mut done, kept, unclear, context, now } = report;
    // Of equally bad ones the first is told.
    done.sort_by_key(|(alertmanager, ..)| {
        (alertmanager.metadata.namespace.clone(), alertmanager.metadata.name.clone())
    });
    let (mut news, mut looks, mut hold) = (Vec::new(), Vec::new(), false);
    let mut worst: Option<(Reason, String)> = None;
    for ready in kept.iter().filter_map(Binding::ready) {
        let reason = Reason::of(&ready.reason);
        if worst.as_ref().is_none_or(|(known, _)| reason > *known) {
            worst = Some((reason, ready.message.clone()));
        }
    }
    let mut bindings = kept;
    for (alertmanager, refusal, came) in done {
        let metadata = &alertmanager.metadata;
        let key = (metadata.namespace.clone(), metadata.name.clone());
        let before = stored.status.bindings.iter().flatten().find(|known| known.key() == key);
        hold |= came.unsettled;
        looks.push(next_look(&came, &key, stored, context));
        news.extend(came.news.iter().cloned());
        if came.outcome.reason == Reason::Removed {
            continue;
        }
        let message = refusal.clone().unwrap_or_else(|| told(&came));
        let alerts = silenced_alerts(&key, &came, before, stored, context, now);
        let binding = binding(&key, &came, message.clone(), before, stored.generation(), alerts, now);
        if !came.unsettled {
            news.extend(transition(before, &binding, came.outcome.reason));
        }
        let named = format!("{}/{}: {message}", key.0, key.1);
        if worst.as_ref().is_none_or(|(reason, _)| came.outcome.reason > *reason) {
            worst = Some((came.outcome.reason, named));
        }
        bindings.push(binding);
    }
    bindings.sort_by_key(Binding::key);
    let (window, after) = windows.shown();
    let is_over = !is_refused && windows.is_over(now);
    let ready = summary(is_refused, is_suspended, is_over, worst, &unclear);
    let phase = phase(is_refused, is_suspended, is_over, bindings.is_empty(), &ready, &windows, now);
    looks.push(boundary(&windows, now));
    if phase == Phase::Active {
        news.extend(expires_soon(stored, &bindings, window, context, now));
    }
    let shown = |window: Window| Shown {
        starts_at: whole_seconds(window.start),
        expires_at: whole_seconds(window.end),
    };
    let status = SilenceState {
        phase: Some(phase),
        starts_at: window.map(|window| whole_seconds(window.start)),
        // After the last window of a schedule the end of that one stays: from then on the object is over.
        expires_at: window.map(|window| whole_seconds(window.end)).or_else(|| last_end(stored, now)),
        next_window: after.map(shown),
        bindings: (!bindings.is_empty()).then_some(bindings),
    };
    if hold {
        looks.push(Some(SETTLES));
    } else if ready.reason == Reason::SilenceApplied.as_str() {
        arrived(stored, context, now);
    }
    if let (true, Some(before)) = (
        ready.reason == NO_ALERTMANAGER,
        stored.conditions.iter().find(|known| known.r#type == READY && known.reason != NO_ALERTMANAGER),
    ) {
        let note = format!("no Alertmanager selects it any more (it was {})", before.reason);
        news.push(News { warns: false, reason: NO_ALERTMANAGER, note });
    }
    Reconciled { next: looks.into_iter().flatten().min(), ready: Some(ready), status, news, hold }
}

/// A new object's silence is on every instance for the first time: how long that took.
fn arrived(stored: &Stored<Silence>, context: &Context, now: Timestamp) {
    let is_new = stored.generation() == Some(1)
        && !stored
            .conditions
            .iter()
            .any(|known| known.r#type == READY && known.status == ConditionStatus::True);
    let since = stored.metadata().creation_timestamp.filter(|_| is_new);
    let took = since.and_then(|since| Duration::try_from(now.duration_since(since)).ok());
    if let Some(took) = took.filter(|_| context.silences.tally.arrives(&stored.metadata().uid)) {
        context.metrics.silence.sync.observe(took.as_secs_f64());
    }
}

/// When a schedule was over: with the last window that was told, or where it was cut.
fn last_end(stored: &Stored<Silence>, now: Timestamp) -> Option<Timestamp> {
    let until = || stored.object.as_ref().ok()?.spec.schedule.as_ref()?.until.map(whole_seconds);
    stored.status.expires_at.filter(|end| *end <= now).or_else(until).filter(|end| *end <= now)
}

const NO_ALERTMANAGER: &str = "NoMatchingAlertmanager";

/// Once in the last hour of a longer window, while the silence mutes alerts that fire.
fn expires_soon(
    stored: &Stored<Silence>,
    bindings: &[Binding],
    window: Option<Window>,
    context: &Context,
    now: Timestamp,
) -> Option<News> {
    let Window { start, end } = window?;
    let is_near = end.duration_since(now) <= SOON_OVER && end.duration_since(start) > SOON_OVER;
    let muted: i32 = bindings.iter().filter_map(|binding| binding.silenced_alerts).sum();
    let is_news = is_near && muted > 0 && context.silences.may_tell_end(&stored.metadata().uid, end);
    let end = whole_seconds(end);
    let note = format!("ends at {end} and still mutes {muted} firing alerts");
    is_news.then_some(News { warns: true, reason: "ExpiringSoon", note })
}

fn summary(
    is_refused: bool,
    is_suspended: bool,
    is_over: bool,
    worst: Option<(Reason, String)>,
    unclear: &[String],
) -> Told {
    let told = |holds, reason, message: &str| Told { holds, reason, message: message.to_owned() };
    match worst {
        _ if is_refused => {
            told(false, Reason::InvalidSpec.as_str(), "the rules refuse the object; Accepted says why")
        }
        Some((reason, message)) => Told { holds: reason.is_ready(), reason: reason.as_str(), message },
        None if is_suspended => told(true, Reason::Suspended.as_str(), "suspended; nothing is muted"),
        None if is_over => told(true, Reason::SilenceExpired.as_str(), "the silence is over"),
        None if !unclear.is_empty() => {
            let message = format!(
                "no Alertmanager selects this silence; of {} nobody can tell, for a selector cannot be used",
                unclear.join(", ")
            );
            told(false, NO_ALERTMANAGER, &message)
        }
        None => told(false, NO_ALERTMANAGER, "no Alertmanager selects this silence"),
    }
}

#[allow(clippy::fn_params_excessive_bools)]
fn phase(
    is_refused: bool,
    is_suspended: bool,
    is_over: bool,
    is_unbound: bool,
    ready: &Told,
    windows: &Windows,
    now: Timestamp,
) -> Phase {
    let starts = windows.shown().0.map(|window| window.start);
    match () {
        () if is_refused => Phase::Error,
        () if is_suspended => Phase::Suspended,
        () if is_over => Phase::Expired,
        () if is_unbound => Phase::Unbound,
        () if !ready.holds => Phase::Error,
        () if starts.is_some_and(|start| start > now) => match windows {
            Windows::Recurring { .. } => Phase::Scheduled,
            _ => Phase::Pending,
        },
        () => Phase::Active,
    }
}

fn binding(
    key: &Key,
    came: &Came,
    message: String,
    before: Option<&Binding>,
    generation: Option<i64>,
    silenced_alerts: Option<i32>,
    now: Timestamp,
) -> Binding {
    let Came { outcome, record, .. } = came;
    let holds = if outcome.reason.is_ready() { ConditionStatus::True } else { ConditionStatus::False };
    let ready = condition(
        before.and_then(Binding::ready),
        READY,
        holds,
        outcome.reason.as_str(),
        message,
        generation,
        now,
    );
    let count = |number: usize| Some(i32::try_from(number).unwrap_or(i32::MAX));
    let made = Binding {
        name: key.1.clone(),
        namespace: key.0.clone(),
        silence_id: outcome.silence_id.clone(),
        last_sync_time: record.written_at.map(whole_seconds),
        synced_instances: count(outcome.synced_instances),
        total_instances: count(outcome.total_instances),
        effective_matchers: (!record.matchers.is_empty()).then(|| record.matchers.clone()),
        silenced_alerts,
        conditions: Some(vec![ready]),
    };
    match before {
        // The time alone is no reason to write.
        Some(before) if made == (Binding { last_sync_time: made.last_sync_time, ..before.clone() }) => {
            before.clone()
        }
        _ => made,
    }
}

/// How many alerts the silence mutes, as far as that is known. On its own it is told at most every five minutes.
fn silenced_alerts(
    key: &Key,
    came: &Came,
    before: Option<&Binding>,
    stored: &Stored<Silence>,
    context: &Context,
    now: Timestamp,
) -> Option<i32> {
    let id = came.outcome.silence_id.as_ref()?;
    let told = before.and_then(|before| before.silenced_alerts);
    let Some(snapshot) = context.view.alerts.of(&key.0, &key.1, now) else { return told };
    let muted = snapshot.alerts.iter().filter(|alert| alert.silenced_by.contains(id)).count();
    let counted = Some(i32::try_from(muted).unwrap_or(i32::MAX));
    if told.is_some() && counted != told && !context.silences.may_tell_alerts(&stored.metadata().uid) {
        return told;
    }
    counted
}

/// Puts a record that is about to become true into a status.
pub(super) fn announce(state: &mut SilenceState, alertmanager: &Alertmanager, record: &Record) {
    let metadata = &alertmanager.metadata;
    let key = (metadata.namespace.clone(), metadata.name.clone());
    let bindings = state.bindings.get_or_insert_default();
    let position = bindings.iter().position(|known| known.key() == key).unwrap_or_else(|| {
        let (namespace, name) = key;
        bindings.push(Binding { name, namespace, ..Binding::default() });
        bindings.len() - 1
    });
    if let Some(binding) = bindings.get_mut(position) {
        binding.silence_id.clone_from(&record.silence_id);
        binding.effective_matchers = Some(record.matchers.clone());
    }
}

/// What a binding says, for people.
fn told(came: &Came) -> String {
    let Outcome { synced_instances: synced, total_instances: total, reason, .. } = came.outcome;
    let whole = match reason {
        Reason::SilenceApplied => format!("in force on {synced} of {total} instances"),
        Reason::SilencePending => format!("waits for its start on {synced} of {total} instances"),
        Reason::Scheduled => "the next window is more than 24 h away".to_owned(),
        // What was sent and has no id any more.
        Reason::SilenceExpired if came.outcome.silence_id.is_none() && !came.record.matchers.is_empty() => {
            "over; removed by Alertmanager after retention".to_owned()
        }
        Reason::SilenceExpired => "over".to_owned(),
        Reason::Suspended => "suspended; nothing is muted".to_owned(),
        Reason::PartiallySynced => format!("on {synced} of {total} instances; the others do not answer"),
        Reason::ReplicationDegraded => {
            format!("on {synced} of {total} instances; gossip does not reach the others")
        }
        _ => String::new(),
    };
    match (&came.trouble, whole.is_empty()) {
        (Some(trouble), true) => trouble.clone(),
        (Some(trouble), false) => format!("{whole}: {trouble}"),
        (None, true) => "no instance can be asked".to_owned(),
        (None, false) => whole,
    }
}

/// What users hear when a binding's reason changes.
fn transition(before: Option<&Binding>, after: &Binding, reason: Reason) -> Option<News> {
    let message = after.ready()?.message.as_str();
    let was = before.and_then(Binding::ready).map(|ready| ready.reason.as_str());
    let warns = reason >= Reason::PartiallySynced;
    // That a new silence arrived is told by its condition: an event for each would double what is written.
    if was == Some(reason.as_str()) || was.is_none() && !warns {
        return None;
    }
    let note = format!("{}/{}: {message}", after.namespace, after.name);
    Some(News { warns, reason: reason.as_str(), note })
}

fn next_look(came: &Came, key: &Key, stored: &Stored<Silence>, context: &Context) -> Option<Duration> {
    let metadata = stored.metadata();
    let backoff =
        ("Silence", format!("{}/{}", metadata.namespace, metadata.name), format!("{}/{}", key.0, key.1));
    let waiting = match came.outcome.reason {
        Reason::AlertmanagerUnavailable | Reason::UnexpectedResponse => {
            Some(context.backoffs.failed(backoff, Pace::Usual))
        }
        Reason::AuthenticationFailed
        | Reason::PermissionDenied
        | Reason::CredentialsUnavailable
        | Reason::ClientCertificateRequired
        | Reason::TlsError => Some(context.backoffs.failed(backoff, Pace::Slow)),
        Reason::NotReachableListenLocal | Reason::UrlNotAllowed => Some(RARELY),
        _ if came.is_blocked => Some(context.backoffs.failed(backoff, Pace::Usual)),
        _ => {
            context.backoffs.succeeded(&backoff);
            None
        }
    };
    [waiting, came.outcome.next_look].into_iter().flatten().min()
}

/// When the clock alone changes what should be there.
fn boundary(windows: &Windows, now: Timestamp) -> Option<Duration> {
    let (window, after) = windows.shown();
    let is_recurring = matches!(windows, Windows::Recurring { .. });
    let ahead = |window: Option<Window>| {
        window.filter(|_| is_recurring).and_then(|window| window.start.checked_sub(AHEAD).ok())
    };
    let end = window.and_then(|window| window.end.checked_add(SECOND).ok());
    let near = window.and_then(|window| window.end.checked_sub(SOON_OVER).ok());
    let instants = [ahead(window), ahead(after), window.map(|window| window.start), near, end];
    let until =
        |at: Timestamp| Duration::try_from(at.duration_since(now)).ok().filter(|wait| !wait.is_zero());
    instants.into_iter().flatten().filter_map(until).min()
}
