//! One instance of an Alertmanager: its client, what it says of itself, and its circuit. An instance that failed three
//! times in a row is only asked for its status from then on, and rarely.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::failure_of;
use super::snapshot::{Failure, Instance, Snapshot};
use super::target::Place;
use crate::kinds::alertmanager::version::{keeps_annotations, release};
use crate::upstream::alertmanager::{Alertmanager as Api, ClusterStatus, Silence, Status};
use crate::upstream::http::Timeouts;
use crate::upstream::{Cause, Client, Error};

/// So many failures in a row open the circuit.
const FAILURES: u32 = 3;
/// How often an instance with an open circuit is asked for its status.
pub(super) const PROBE: Duration = Duration::from_secs(15);
/// What an instance says about itself changes rarely; while it settles it is asked more often.
const STATUS_TTL: Duration = Duration::from_mins(2);
const SETTLING_TTL: Duration = Duration::from_secs(5);

/// One instance.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) place: Place,
    pub(super) api: Result<Api, Error>,
    pub(super) status: Option<(Instant, Status)>,
    /// Failures in a row.
    failures: u32,
    /// When it was last tried.
    tried: Option<Instant>,
    /// Why the last call failed, until one succeeds.
    last: Option<Error>,
}

impl Member {
    /// An instance that was not spoken to yet.
    pub(super) fn new(place: Place, timeouts: Timeouts) -> Self {
        let api = Client::new(place.endpoint.clone(), timeouts).map(Api::new);
        Self { place, api, status: None, failures: 0, tried: None, last: None }
    }

    /// Was it called since?
    pub(super) fn was_tried(&self, since: Instant) -> bool {
        self.tried.is_some_and(|tried| tried >= since)
    }

    /// The release that it says it is.
    pub(super) fn release(&self) -> Option<(u32, u32)> {
        self.status.as_ref().and_then(|(_, status)| release(status.version.as_deref()?))
    }

    /// The same at a place of which more is known now.
    pub(super) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }
}

/// What an instance answered.
pub(super) enum Answer {
    Listed(Vec<Silence>),
    Unlistable(Error),
    Failed(Error),
}

impl Answer {
    /// Why there is no list.
    pub(super) fn error(&self) -> Option<&Error> {
        match self {
            Self::Listed(_) => None,
            Self::Unlistable(error) | Self::Failed(error) => Some(error),
        }
    }
}

/// Asks an instance for all its silences, and now and then for what it says of itself.
pub(super) async fn ask(mut member: Member) -> (Member, Answer) {
    let api = match &member.api {
        Ok(api) => api.clone(),
        Err(error) => {
            let error = error.clone();
            return (member, Answer::Failed(error));
        }
    };
    let is_open = member.failures >= FAILURES;
    // Until it is time to try again, what it last said holds: a reason that changes with every look would tell nobody
    // anything.
    let is_left = is_open && member.tried.is_some_and(|tried| tried.elapsed() < PROBE);
    if let Some(error) = member.last.as_ref().filter(|_| is_left).cloned() {
        return (member, Answer::Failed(error));
    }
    member.tried = Some(Instant::now());
    let ttl = match &member.status {
        Some((_, status)) if status.cluster_status == ClusterStatus::Settling => SETTLING_TTL,
        _ => STATUS_TTL,
    };
    if is_open || member.status.as_ref().is_none_or(|(at, _)| at.elapsed() > ttl) {
        match api.status().await {
            Ok(status) => member.status = Some((Instant::now(), status)),
            Err(error) => return failed(member, error),
        }
    }
    match api.list().await {
        Ok(silences) => {
            (member.failures, member.last) = (0, None);
            (member, Answer::Listed(silences))
        }
        Err(error) if matches!(error.cause(), Cause::Unlistable(_)) => {
            (member.failures, member.last) = (0, None);
            (member, Answer::Unlistable(error))
        }
        Err(error) => failed(member, error),
    }
}

fn failed(mut member: Member, error: Error) -> (Member, Answer) {
    member.failures += 1;
    member.last = Some(error.clone());
    // It may come back as another version, or with nothing.
    member.status = None;
    (member, Answer::Failed(error))
}

/// One picture of what all of them answered; `missing` are those that should be there and are not. The last part is what
/// went wrong, for people.
pub(super) fn put_together(
    asked: Vec<(Member, Answer)>,
    missing: usize,
) -> (Snapshot, Vec<Member>, Option<String>) {
    let now = Timestamp::now();
    let known = asked.iter().map(|(member, _)| instance(member, now));
    let absent = (0..missing).map(|_| Instance::new(false));
    let mut snapshot = Snapshot::new(known.chain(absent).collect());
    let (mut members, mut trouble, cut_off) =
        (Vec::with_capacity(asked.len()), None, cut_off(&asked, missing));
    for (position, (member, answer)) in asked.into_iter().enumerate() {
        match answer {
            Answer::Listed(silences) => snapshot.listed(position, silences),
            Answer::Unlistable(error) => {
                trouble = Some(error.to_string());
                snapshot.read(position, Vec::new(), Failure::Unavailable);
            }
            Answer::Failed(error) => {
                trouble.get_or_insert_with(|| error.to_string());
                snapshot.failed(position, failure_of(error.cause()));
                // A pod says whether it takes requests; a URL that nobody answers at does not.
                let is_silent = matches!(error.cause(), Cause::Unavailable(outage) if !outage.is_an_answer());
                if member.place.since.is_none() && is_silent {
                    snapshot.not_ready(position);
                }
            }
        }
        members.push(member);
    }
    for position in members.len()..members.len() + missing {
        snapshot.failed(position, Failure::Unavailable);
    }
    (snapshot, members, trouble.or(cut_off))
}

/// An instance that sees fewer members than there should be is cut off from gossip, or others are.
fn cut_off(asked: &[(Member, Answer)], missing: usize) -> Option<String> {
    let total = asked.len() + missing;
    asked.iter().find_map(|(member, _)| {
        let (_, status) = member.status.as_ref()?;
        let is_cut = status.cluster_status != ClusterStatus::Disabled && status.peers < total;
        is_cut.then(|| format!("{} sees {} of {total} members in gossip", member.place.name, status.peers))
    })
}

fn instance(member: &Member, now: Timestamp) -> Instance {
    let status = member.status.as_ref().map(|(_, status)| status);
    let started = member.place.since.or_else(|| status.and_then(|status| status.started));
    Instance {
        settling: status.is_some_and(|status| status.cluster_status == ClusterStatus::Settling),
        age: started.and_then(|started| Duration::try_from(now.duration_since(started)).ok()),
        keeps_annotations: status.and_then(|status| status.version.as_deref()).and_then(keeps_annotations),
        ..Instance::new(member.place.ready)
    }
}
