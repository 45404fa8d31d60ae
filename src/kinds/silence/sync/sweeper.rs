//! Runs the reconciler of Silences and, beside it, the sweep for silences that usher left behind (specification 4.7).

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::runtime::events::EventType;

use super::registry::{Known, Write, list_ttl};
use super::{Liveness, Sweep, cluster_id, is, orphans};
use crate::kinds::silence::tenancy::{Source, is_static, opts_in, select, silence_selector, unusable};
use crate::kinds::silence::{KIND, Silence};
use crate::names;
use crate::observe::metrics::SubsystemLabels;
use crate::observe::silence_metrics::{OrphanLabel, SourceLabel};
use crate::reconcile::backoff::around;
use crate::reconcile::guard::facts;
use crate::reconcile::{Context, driver};
use crate::rule::User;
use crate::settings::Settings;
use crate::view::records::{Alertmanager, by_uid};
use crate::view::{Feed as _, Standing, View};

/// Changes come in flocks.
const SETTLE: Duration = Duration::from_secs(1);

/// Runs until the future is dropped, or until Silences cannot be watched any more.
pub fn run(context: Arc<Context>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let _gauges = Gauges(Arc::clone(&context));
        let (sweeping, counting) = (sweep_for_ever(Arc::clone(&context)), sources(Arc::clone(&context)));
        tokio::select! {
            () = driver::run::<Silence>(context) => {}
            () = sweeping => {}
            () = counting => {}
        }
    })
}

/// Only the leader counts: who leads no longer must not go on telling what it last knew.
struct Gauges(Arc<Context>);

impl Drop for Gauges {
    fn drop(&mut self) {
        self.0.silences.tally.retain(|_| false, &self.0.metrics);
        self.0.silences.resign();
        tell_missing(&self.0, false);
        tell_orphans(&self.0, 0, 0);
    }
}

fn tell_orphans(context: &Context, unproven: usize, suspended: usize) {
    for (state, number) in [("unproven", unproven), ("suspended", suspended)] {
        context.metrics.silence.orphans.get_or_create(&OrphanLabel { state }).set(count(number));
    }
}

/// Without their CRD only Alertmanagers of the settings are known.
fn tell_missing(context: &Context, is_missing: bool) {
    let labels = SubsystemLabels { subsystem: KIND.slug, reason: "AlertmanagerCRDMissing" };
    context.metrics.subsystems.get_or_create(&labels).set(i64::from(is_missing));
}

async fn sweep_for_ever(context: Arc<Context>) {
    loop {
        tokio::time::sleep(around(context.settings.alertmanager.sweep_interval)).await;
        if !may_sweep(context.view.silences.standing()) || !context.leadership.is_held() {
            continue;
        }
        let Some(cluster) = cluster_id(&context) else { continue };
        let all = alertmanagers(&context.settings, &context.view);
        context.silences.retain(|key| all.iter().any(|alertmanager| is(alertmanager, key)));
        context.silences.tally.retain(|uid| exists(uid, &context), &context.metrics);
        let (mut unproven, mut suspended) = (0, 0);
        for alertmanager in all {
            // One that has not opted in is not spoken to, unless something is to be taken back from it.
            let metadata = &alertmanager.metadata;
            let is_known = context.silences.knows(&metadata.namespace, &metadata.name);
            if !is_known && !opts_in(&alertmanager, &context.settings.silence) {
                continue;
            }
            let found = sweep(&alertmanager, &cluster, &context).await;
            unproven += found.unproven;
            suspended += found.suspended.map_or(0, |(would, _)| would);
        }
        tell_orphans(&context, unproven, suspended);
    }
}

/// A cache that is not complete would make orphans of everything.
fn may_sweep(silences: Standing) -> bool {
    silences == Standing::Synced
}

/// Keeps the count of where Alertmanagers say what they select. One that says nothing selects nothing, which surprises
/// people whose CRD drops the fields: told once.
async fn sources(context: Arc<Context>) {
    let mut changes = context.view.alertmanagers.changes();
    let (mut silent, mut unclear): (Vec<String>, HashMap<String, String>) = Default::default();
    loop {
        changes.mark_unchanged();
        tell_missing(&context, context.view.alertmanagers.standing() == Standing::Absent);
        let mut counts = [
            (Source::Spec, "spec", 0),
            (Source::Annotation, "annotation", 0),
            (Source::Setting, "setting", 0),
            (Source::None, "none", 0),
        ];
        for alertmanager in alertmanagers(&context.settings, &context.view) {
            let metadata = &alertmanager.metadata;
            let (source, _) = silence_selector(&alertmanager, &context.settings.silence);
            let name = format!("{}/{}", metadata.namespace, metadata.name);
            // Told once for each mistake, and again after it was mended.
            let problem = unusable(&alertmanager, &context.settings.silence).map(|error| error.to_string());
            if problem.as_ref() != unclear.get(&name) {
                if let Some(problem) = &problem {
                    let note = format!("nobody can tell which Silences it selects: {problem}");
                    tell(&alertmanager, &context, EventType::Warning, "InvalidSelector", &note).await;
                }
                match problem {
                    Some(problem) => drop(unclear.insert(name.clone(), problem)),
                    None => drop(unclear.remove(&name)),
                }
            }
            if source == Source::None && !silent.contains(&name) {
                let annotation = names::SILENCE_SELECTOR;
                tracing::info!(alertmanager = name, annotation, "selects no Silence: it has no selector");
                silent.push(name);
            }
            for (known, _, count) in &mut counts {
                *count += i64::from(*known == source);
            }
        }
        for (_, source, number) in counts {
            context.metrics.silence.selector_sources.get_or_create(&SourceLabel { source }).set(number);
        }
        if changes.changed().await.is_err() {
            return std::future::pending().await;
        }
        tokio::time::sleep(SETTLE).await;
    }
}

/// All Alertmanagers that are known: static ones and those of the cluster.
pub(super) fn alertmanagers(settings: &Settings, view: &View) -> Vec<Arc<Alertmanager>> {
    let targets = settings.silence.targets.iter().map(|target| Arc::clone(&target.alertmanager));
    let objects = view.alertmanagers.all().into_iter().flatten();
    targets.chain(objects.filter(|object| !is_static(&object.metadata, &settings.silence))).collect()
}

/// Ends what nobody wants any more on one Alertmanager, and says what was found there.
async fn sweep(alertmanager: &Arc<Alertmanager>, cluster: &str, context: &Context) -> Sweep {
    let metadata = &alertmanager.metadata;
    let known = context.silences.get(&metadata.namespace, &metadata.name);
    known.refresh(alertmanager, context, list_ttl(&context.settings.alertmanager)).await;
    let (user, now) = (User::default(), Timestamp::now());
    known.state().retain(|uid| exists(uid, context), now);
    let live = |uid: Option<&str>, created_by: &str| {
        // Of what was sent a moment ago the View may not have heard yet.
        let is_new = uid.is_some_and(|uid| known.state().records.contains_key(uid));
        if is_new { Liveness::Wanted } else { liveness(uid, created_by, alertmanager, context, &user) }
    };
    let recorded =
        |id: &str| known.state().records.values().any(|(record, _)| record.silence_id.as_deref() == Some(id));
    let limit = context.settings.alertmanager.sweep_limit;
    let mut found = {
        let snapshot = known.state().snapshot.clone();
        orphans(&snapshot, cluster, live, recorded, limit, now)
    };
    context.silences.suspend(&metadata.namespace, &metadata.name, found.suspended);
    if let Some((would, of)) = found.suspended {
        let note = format!(
            "{would} of {of} silences have no Silence; that many at once look like a mistake, and none is ended \
             (--silence-sweep-limit 100 lifts the brake)"
        );
        tell(alertmanager, context, EventType::Warning, "SweepSuspended", &note).await;
        return found;
    }
    let mut ended = Vec::new();
    for (instance, id) in std::mem::take(&mut found.expire) {
        let created_by = known.state().snapshot.newest(&id).map(|(_, silence)| silence.created_by.clone());
        if !may_sweep(context.view.silences.standing())
            || is_there_after_all(created_by.as_deref(), context).await
        {
            continue;
        }
        match expire(&known, instance, &id, context).await {
            Ok(()) => ended.push(id),
            Err(why) => tracing::debug!(id, why, "an orphan was not ended"),
        }
    }
    ended.sort_unstable();
    ended.dedup();
    if !ended.is_empty() {
        context.metrics.silence.orphans_ended.inc_by(ended.len() as u64);
        let note = format!("ended silences without a Silence: {}", ended.join(", "));
        tell(alertmanager, context, EventType::Normal, "OrphansRemoved", &note).await;
    }
    found
}

/// Is there an object that the View has not heard of? A watch may hang without a word; what is ended wrongly unmutes alerts.
async fn is_there_after_all(created_by: Option<&str>, context: &Context) -> bool {
    // Listed anew meanwhile: the next sweep looks again.
    let Some(created_by) = created_by else { return true };
    let Some((namespace, name)) = created_by.split_once('/') else { return false };
    if context.view.silences.get(namespace, name).flatten().is_some() {
        return false;
    }
    let api = driver::api::<Silence>(context, namespace);
    !matches!(api.get_opt(name).await, Ok(None))
}

fn exists(uid: &str, context: &Context) -> bool {
    context.view.silences.find(by_uid(uid), |known| known.metadata.uid == uid).is_some()
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

async fn expire(known: &Known, instance: usize, id: &str, context: &Context) -> Result<(), String> {
    let Some((api, _)) = known.state().api(instance) else { return Err("no client".to_owned()) };
    let sent = context.leadership.write(async { Ok(api.expire(id).await) }).await;
    let found = sent.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let write = if found {
        Write::Expired(instance, id.to_owned(), Timestamp::now())
    } else {
        Write::Gone(instance, id.to_owned())
    };
    known.state().fold(write);
    Ok(())
}

/// Is there an object for a silence, and does this Alertmanager select it?
fn liveness(
    uid: Option<&str>,
    created_by: &str,
    alertmanager: &Alertmanager,
    context: &Context,
    user: &User,
) -> Liveness {
    let named = created_by.split_once('/');
    let by_name = named.and_then(|(namespace, name)| context.view.silences.get(namespace, name).flatten());
    let found = by_name
        .or_else(|| context.view.silences.find(by_uid(uid?), |known| Some(&*known.metadata.uid) == uid));
    let Some(silence) = found else { return Liveness::Gone };
    let facts = facts(context, user, Timestamp::now());
    let selection = select(&silence.metadata, &facts);
    let key = (alertmanager.metadata.namespace.clone(), alertmanager.metadata.name.clone());
    let selects = selection.selecting.iter().any(|selecting| is(&selecting.alertmanager, &key));
    let is_uncertain = !selection.certain || selection.uncertain.iter().any(|other| is(other, &key));
    if selects || is_uncertain { Liveness::Wanted } else { Liveness::Unselected }
}

/// Tells something about an Alertmanager, as an event on it; a static target has none.
pub(super) async fn tell(
    alertmanager: &Alertmanager,
    context: &Context,
    kind: EventType,
    reason: &str,
    note: &str,
) {
    let metadata = &alertmanager.metadata;
    let about = ObjectReference {
        api_version: Some("monitoring.coreos.com/v1".to_owned()),
        kind: Some("Alertmanager".to_owned()),
        name: Some(metadata.name.clone()),
        namespace: Some(metadata.namespace.clone()),
        uid: Some(metadata.uid.clone()).filter(|uid| !uid.is_empty()),
        ..ObjectReference::default()
    };
    tracing::info!(alertmanager = %metadata.name, reason, note, "told");
    let _ = context.events.tell_as_leader(&context.leadership, &about, kind, reason, note).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_is_not_complete_is_no_reason_to_end_anything() {
        assert!(may_sweep(Standing::Synced));
        assert!(!may_sweep(Standing::Waiting) && !may_sweep(Standing::Absent));
    }
}
