//! One pass: brings one object to one Alertmanager, step by step.
//!
//! The plan says what is next, this performs it and folds the answer in. A write that may have arrived is looked for in a
//! new list before anything else is sent; one that is refused by its content is not sent again until something changes.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::runtime::events::EventType;
use tokio::sync::OnceCell;

use super::content::{are_shown, shown};
use super::outcome::{Outcome, Reason};
use super::plan::{Blocked, Desired, Step, WhyExpire, WhyPost, next};
use super::registry::{Known, Rejection, Write, list_ttl};
use super::snapshot::{Failure, Reach};
use super::{Adoption, Identity, Record, adoption, failure_of, sweeper};
use crate::observe::silence_metrics::WriteLabels;
use crate::reconcile::{Context, Error, News};
use crate::upstream::{Cause, Error as Upstream};
use crate::view::records::Alertmanager;

/// More steps than a pass ever needs: one per instance and duplicate.
const MOST_STEPS: usize = 64;
/// How old a list may be while somebody waits for a silence to appear everywhere.
const AWAITED: Duration = Duration::from_millis(1500);
/// Before this nobody else has heard of a write, and a list would not tell.
const UNHEARD: SignedDuration = SignedDuration::from_millis(500);
/// What an Alertmanager refused is sent again after so long at the latest.
const REFUSED_FOR: Duration = Duration::from_mins(30);

/// What is to be done.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub(super) context: &'a Context,
    pub(super) identity: &'a Identity,
    pub(super) alertmanager: Arc<Alertmanager>,
    pub(super) desired: Desired,
    pub(super) record: Record,
    /// The generation of the object.
    pub(super) generation: Option<i64>,
    /// Set once the finalizer is on the object.
    pub(super) finalizer: &'a OnceCell<()>,
    /// Writes the status before a silence is sent to an Alertmanager that keeps no annotations.
    pub(super) announce: &'a (dyn Announce + Sync),
    /// Instances that did not answer a write.
    pub(super) lost: Vec<(usize, Failure)>,
}

/// What must be on the object before something is sent.
pub(super) trait Announce: std::fmt::Debug {
    /// Puts the finalizer on it.
    fn finalize(&self) -> futures::future::BoxFuture<'_, Result<(), Error>>;
    /// Writes the record into its status.
    fn record<'a>(
        &'a self,
        alertmanager: &'a Alertmanager,
        record: &'a Record,
    ) -> futures::future::BoxFuture<'a, Result<(), Error>>;
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Came {
    pub(super) outcome: Outcome,
    pub(super) record: Record,
    /// What went wrong, for people.
    pub(super) trouble: Option<String>,
    pub(super) news: Vec<News>,
    /// Instances that have not heard of a write of a moment ago.
    pub(super) unsettled: bool,
    /// Nobody could be asked.
    pub(super) is_blocked: bool,
}

impl Job<'_> {
    pub(super) async fn run(mut self) -> Result<Came, Error> {
        let metadata = &self.alertmanager.metadata;
        let known = self.context.silences.get(&metadata.namespace, &metadata.name);
        let uid = self.identity.uid.clone();
        let usual = list_ttl(&self.context.settings.alertmanager);
        let is_awaited = self.recall(&known)
            && self.record.written_at.is_some_and(|at| Timestamp::now().duration_since(at) > UNHEARD);
        self.list(&known, if is_awaited { AWAITED } else { usual }).await;
        if known.state().is_outdated() {
            // New lists are under way; until they are there nothing is concluded, and nothing told.
            let came = self.came(self.nowhere(Reason::AlertmanagerUnavailable), None, Vec::new(), true);
            return Ok(Came { unsettled: true, ..came });
        }
        if self.seeks(&known) {
            self.list(&known, Duration::ZERO).await;
        }
        let (mut news, mut relisted) = (Vec::new(), 0);
        for _ in 0..MOST_STEPS {
            let now = Timestamp::now();
            let step = {
                let state = known.state();
                if let Some(unreachable) = &state.unreachable {
                    let reason = Reason::of(unreachable.reason);
                    let trouble = Some(unreachable.message.clone());
                    return Ok(self.came(self.nowhere(reason), trouble, news, true));
                }
                let Some(bounds) = state.bounds else {
                    return Ok(self.came(self.nowhere(Reason::AlertmanagerUnavailable), None, news, true));
                };
                next(&self.desired, self.identity, &self.record, &state.snapshot, now, bounds)
            };
            match step {
                Step::Nothing(outcome) => {
                    self.found(&outcome, now);
                    let state = known.state();
                    let mut instances = state.snapshot.instances().iter();
                    let is_trouble = outcome.reason >= Reason::PartiallySynced
                        || instances.any(|one| matches!(one.reach, Reach::Partial(_)));
                    let trouble = state.trouble.clone().filter(|_| is_trouble);
                    // What counts is when the lists were begun: later ones may tell more.
                    let listed =
                        SignedDuration::try_from(state.age()).ok().and_then(|age| now.checked_sub(age).ok());
                    let age = listed
                        .zip(self.record.written_at)
                        .map(|(at, since)| at.duration_since(since).as_secs());
                    let reachable =
                        state.snapshot.instances().iter().filter(|one| one.is_reachable()).count();
                    let unsettled = state.records.contains_key(&uid)
                        && outcome.synced_instances < reachable
                        && age.is_some_and(|age| age < SETTLES_WITHIN);
                    drop(state);
                    let mut came = self.came(outcome, trouble, news, false);
                    came.unsettled = unsettled;
                    return Ok(came);
                }
                Step::Wait { why: Blocked::NotListed, .. } if relisted < 3 => {
                    relisted += 1;
                    self.list(&known, Duration::ZERO).await;
                    // The new list tells what arrived. Whoever did not answer is not asked to write again.
                    for (instance, why) in &self.lost {
                        known.state().fold(Write::Refused(*instance, *why));
                    }
                }
                Step::Wait { why, outcome } => {
                    let trouble = known.state().trouble.clone();
                    let is_blocked = !matches!(why, Blocked::WriteFailed);
                    return Ok(self.came(outcome, trouble, news, is_blocked));
                }
                Step::Post { instance, draft, why, record_first } => {
                    let rejection = known.state().rejections.get(&uid).cloned();
                    let spec_hash = self.spec_hash();
                    if let Some(rejection) =
                        rejection.filter(|it| it.is_of(&draft, spec_hash) && it.at.elapsed() < REFUSED_FOR)
                    {
                        let outcome = Outcome { reason: rejection.reason, ..self.nowhere(rejection.reason) };
                        return Ok(self.came(outcome, Some(rejection.message), news, false));
                    }
                    if why == WhyPost::Create {
                        news.extend(self.not_adopted(&known, now));
                    }
                    self.finalizer.get_or_try_init(|| self.announce.finalize()).await?;
                    if record_first {
                        self.record.announce(&draft);
                        self.announce.record(&self.alertmanager, &self.record).await?;
                    }
                    let Some((api, place)) = known.state().api(instance) else {
                        known.state().fold(Write::Refused(instance, Failure::Unavailable));
                        continue;
                    };
                    let context = self.context;
                    let sending = known.sending(instance);
                    let sent = context.leadership.write(async { Ok(api.post(&draft).await) }).await?;
                    sending.answered();
                    count(context, "post", why.as_str(), sent.is_ok());
                    let now = Timestamp::now();
                    match sent {
                        Ok(id) => {
                            tracing::debug!(silence = self.identity.created_by(), place, id, ?why, "posted");
                            self.record.posted(&id, &draft, why, now);
                            self.record.current = true;
                            news.extend(told(why, &place, &id));
                            if matches!(why, WhyPost::Repair | WhyPost::Recreate) {
                                context.metrics.silence.drift.inc();
                            }
                            let mut state = known.state();
                            state.rejections.remove(&uid);
                            state.records.insert(uid.clone(), (self.record.clone(), self.generation));
                            state.fold(Write::Posted(instance, id, draft, now));
                        }
                        Err(error) => {
                            if let Some(reason) = refusal(error.cause()) {
                                let message = error.to_string();
                                let rejection = Rejection::new(&draft, spec_hash, reason, message.clone());
                                known.state().rejections.insert(uid.clone(), rejection);
                                return Ok(self.came(
                                    self.rejected(&known, reason),
                                    Some(message),
                                    news,
                                    false,
                                ));
                            }
                            self.failed(&known, instance, &error);
                        }
                    }
                }
                Step::Expire { instance, id, why } => {
                    let Some((api, place)) = known.state().api(instance) else {
                        known.state().fold(Write::Refused(instance, Failure::Unavailable));
                        continue;
                    };
                    let context = self.context;
                    let sending = known.sending(instance);
                    let sent = context.leadership.write(async { Ok(api.expire(&id).await) }).await?;
                    sending.answered();
                    count(context, "expire", why.as_str(), sent.is_ok());
                    let now = Timestamp::now();
                    match sent {
                        Ok(found) => {
                            tracing::debug!(silence = self.identity.created_by(), place, id, ?why, "expired");
                            self.record.written_at = Some(now);
                            if why == WhyExpire::Duplicate {
                                context.metrics.silence.duplicates.inc();
                            }
                            known.state().fold(if found {
                                Write::Expired(instance, id, now)
                            } else {
                                Write::Gone(instance, id)
                            });
                        }
                        Err(error) => self.failed(&known, instance, &error),
                    }
                }
            }
        }
        tracing::warn!(silence = self.identity.created_by(), "a pass that does not come to an end");
        Err(Error::Slow)
    }

    /// Everything is as it should be: the record says so, also when the process that sent it died before its status did.
    fn found(&mut self, outcome: &Outcome, now: Timestamp) {
        let Desired::Present(wanted) = &self.desired else { return };
        if outcome.silence_id.is_none() || outcome.reason == Reason::SilenceExpired {
            return;
        }
        if !are_shown(&wanted.matchers, &self.record.matchers) {
            self.record.matchers = wanted.matchers.iter().map(shown).collect();
        }
        self.record.ends_at = Some(wanted.ends_at);
        self.record.written_at.get_or_insert(now);
    }

    /// Takes what was written and is not in the status yet; says whether there is any.
    fn recall(&mut self, known: &Known) -> bool {
        let mut state = known.state();
        let Some((recent, generation)) = state.records.get(&self.identity.uid).cloned() else { return false };
        let is_told = self.record.current
            && (&self.record.silence_id, &self.record.matchers) == (&recent.silence_id, &recent.matchers);
        if is_told {
            state.records.remove(&self.identity.uid);
            return false;
        }
        self.record = Record { current: generation == self.generation, ..recent };
        true
    }

    /// Is there a silence to be taken over that the list does not have? It may be younger than the list: another one, made
    /// beside it, would be the one that stays.
    fn seeks(&self, known: &Known) -> bool {
        let untaken = self.identity.adopt.as_deref().filter(|_| self.record.silence_id.is_none());
        untaken.is_some_and(|id| known.state().snapshot.newest(id).is_none())
    }

    async fn list(&self, known: &Arc<Known>, oldest: Duration) {
        known.refresh(&self.alertmanager, self.context, oldest).await;
        for id in self.record.silence_id.iter().chain(&self.identity.adopt) {
            known.look_up(id).await;
        }
        let cautions = known.state().take_cautions();
        for caution in cautions {
            sweeper::tell(
                &self.alertmanager,
                self.context,
                EventType::Warning,
                caution.as_str(),
                &caution.note(),
            )
            .await;
        }
    }

    fn failed(&mut self, known: &Known, instance: usize, error: &Upstream) {
        tracing::debug!(silence = self.identity.created_by(), %error, "not written");
        self.context.metrics.silence.failed(error.label());
        let mut state = known.state();
        state.trouble = Some(error.to_string());
        let why = failure_of(error.cause());
        state.fold(match error.cause() {
            Cause::NotFound => Write::Unknown(instance),
            _ if error.may_have_arrived() => {
                self.lost.push((instance, why));
                Write::Lost(instance, why)
            }
            _ => Write::Refused(instance, why),
        });
    }

    /// Why the silence that the object asks to take over is not, when another one is made instead.
    fn not_adopted(&self, known: &Known, now: Timestamp) -> Option<News> {
        let id = self.identity.adopt.as_deref()?;
        let Desired::Present(wanted) = &self.desired else { return None };
        let why = match adoption(self.identity, &wanted.matchers, &known.state().snapshot, now)? {
            Adoption::Unknown => "no instance knows it",
            Adoption::Expired => "it has ended",
            Adoption::OtherMatchers => "it has other matchers than this object would send",
            Adoption::Managed => "usher keeps it for another object, or in another cluster",
        };
        let note = format!("silence {id} is not taken over: {why}; a new one is made");
        Some(News { warns: true, reason: "NotAdopted", note })
    }

    fn spec_hash(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        format!("{:?}", self.alertmanager.spec).hash(&mut hasher);
        hasher.finish()
    }

    /// What can be said of an Alertmanager that cannot be asked.
    fn nowhere(&self, reason: Reason) -> Outcome {
        Outcome {
            silence_id: self.record.silence_id.clone(),
            synced_instances: 0,
            total_instances: self.alertmanager.spec.instances(),
            reason,
            duplicates: 0,
            next_look: None,
        }
    }

    /// What can be said when the silence was refused: whatever was there before is still there.
    fn rejected(&self, known: &Known, reason: Reason) -> Outcome {
        let total_instances = known.state().snapshot.instances().len();
        Outcome { total_instances, ..self.nowhere(reason) }
    }

    fn came(&self, outcome: Outcome, trouble: Option<String>, news: Vec<News>, is_blocked: bool) -> Came {
        Came { outcome, record: self.record.clone(), trouble, news, unsettled: false, is_blocked }
    }
}

/// Gossip takes less than a second; until then a status would be written only to be written again. In seconds.
const SETTLES_WITHIN: i64 = 5;

fn told(why: WhyPost, place: &str, id: &str) -> Option<News> {
    let reason = why.event()?;
    let note = match why {
        WhyPost::Repair => format!("restored on {place}: it was changed or ended there; id {id}"),
        WhyPost::Recreate => format!("no instance knew it any more; made again on {place} with id {id}"),
        _ => format!("sent directly to {place}, which gossip did not reach; id {id}"),
    };
    Some(News { warns: why == WhyPost::Heal, reason, note })
}

/// Is it the silence that is refused, and not the call?
fn refusal(cause: &Cause) -> Option<Reason> {
    match cause {
        Cause::Rejected { .. } => Some(Reason::RejectedByAlertmanager),
        Cause::LimitExceeded(_) => Some(Reason::LimitExceeded),
        _ => None,
    }
}

fn count(context: &Context, call: &'static str, why: &'static str, is_ok: bool) {
    let outcome = if is_ok { "ok" } else { "failed" };
    context.metrics.silence.writes.get_or_create(&WriteLabels { call, why, outcome }).inc();
}
