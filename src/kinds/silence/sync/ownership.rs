//! Which silences in an Alertmanager are an object's own. Everything else is foreign: never updated, never expired.
//!
//! `createdBy` alone proves little: people type it freely, and it is the same in every cluster that shares an
//! Alertmanager. Annotations prove it; where there are none the id in the status, the matchers, or the trace of an
//! edit that replaced the id must speak as well.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::content::{Wanted, are_shown, same_matchers, shown};
use super::plan::WhyPost;
use super::snapshot::{Snapshot, state_at};
use crate::names;
use crate::upstream::alertmanager::{Draft, Matcher, Silence, State};

/// An edit that replaces an id expires the old one and makes the new one in one call, on one clock. A longer trace would
/// take in what somebody else made at about the time at which usher itself replaced or ended a silence.
const TRACE: SignedDuration = SignedDuration::from_millis(200);
/// What was expired by a call ends when it was last updated; what ran out does not.
const ACT: SignedDuration = SignedDuration::from_secs(1);

/// The object whose silence it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The cluster it lives in.
    pub cluster: String,
    /// The id of a silence made by hand that the object asks to take over.
    pub adopt: Option<String>,
}

impl Identity {
    /// `namespace/name`.
    pub fn created_by(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// What a silence of this object carries.
    pub fn annotations(&self, wanted: &Wanted) -> BTreeMap<String, String> {
        let pairs = [
            (names::MANAGED_BY, names::USHER.to_owned()),
            (names::CLUSTER, self.cluster.clone()),
            (names::SILENCE_UID, self.uid.clone()),
            (names::SPEC_HASH, wanted.hash()),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// What the status holds of the silence in one Alertmanager.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The id.
    pub silence_id: Option<String>,
    /// The matchers as sent, as [`super::shown`] writes them.
    pub matchers: Vec<String>,
    /// The end of the window that the id was made for: another one is no drift.
    pub ends_at: Option<Timestamp>,
    /// When usher last wrote there or found it changed.
    pub written_at: Option<Timestamp>,
    /// Was all this written for the present generation of the object?
    pub current: bool,
}

impl Record {
    /// A draft is about to be sent to an instance that may not keep annotations. To be written before it is.
    pub fn announce(&mut self, draft: &Draft) {
        self.matchers = draft.matchers.iter().map(shown).collect();
        if draft.id.is_some() {
            self.silence_id.clone_from(&draft.id);
        }
    }

    /// A draft was taken.
    pub fn posted(&mut self, id: &str, draft: &Draft, why: WhyPost, now: Timestamp) {
        self.written_at = Some(now);
        if why.is_recorded() {
            self.silence_id = Some(id.to_owned());
            self.matchers = draft.matchers.iter().map(shown).collect();
            self.ends_at = Some(draft.ends_at);
        }
    }
}

/// What an object can say for itself when a silence asks whose it is.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    identity: &'a Identity,
    record: &'a Record,
    created_by: String,
    /// The matchers that the object has, or would have.
    matchers: &'a [Matcher],
    /// May it take over what it asks for?
    adopting: bool,
    /// When the recorded id was expired by a call, if it was.
    replaced_at: Option<Timestamp>,
}

impl<'a> Claim<'a> {
    /// The claim of an object. Only one that is to be present may adopt: a silence that was never taken over is not
    /// expired with the object.
    pub fn new(
        identity: &'a Identity,
        record: &'a Record,
        matchers: &'a [Matcher],
        adopting: bool,
        snapshot: &Snapshot,
    ) -> Self {
        let recorded = record.silence_id.as_deref().and_then(|id| snapshot.newest(id));
        let replaced_at =
            recorded.filter(|(_, recorded)| was_ended(recorded)).map(|(_, recorded)| recorded.updated_at);
        Self { identity, record, created_by: identity.created_by(), matchers, adopting, replaced_at }
    }

    /// The ids that it may own.
    pub fn candidates<'b>(&self, snapshot: &'b Snapshot) -> BTreeSet<&'b str>
    where
        'a: 'b,
    {
        let named = [self.record.silence_id.as_deref(), self.identity.adopt.as_deref()];
        snapshot.candidates(&self.created_by, &self.identity.uid, named.into_iter().flatten())
    }

    /// Is this silence the object's own?
    pub fn owns(&self, silence: &Silence) -> bool {
        let created = silence.created_by == self.created_by;
        if is_managed(silence) {
            return has(silence, names::CLUSTER, &self.identity.cluster)
                && (created || has(silence, names::SILENCE_UID, &self.identity.uid));
        }
        silence.annotations.is_empty() && created && self.is_familiar(silence) || self.adopts(silence)
    }

    /// What `createdBy` needs beside it where there are no annotations.
    fn is_familiar(&self, silence: &Silence) -> bool {
        let traced = |at: Timestamp| silence.updated_at.duration_since(at).abs() <= TRACE;
        self.record.silence_id.as_ref() == Some(&silence.id)
            || same_matchers(&silence.matchers, self.matchers)
            || are_shown(&silence.matchers, &self.record.matchers)
            || self.replaced_at.is_some_and(traced)
    }

    fn adopts(&self, silence: &Silence) -> bool {
        self.adopting
            && self.identity.adopt.as_ref() == Some(&silence.id)
            && same_matchers(&silence.matchers, self.matchers)
    }
}

/// Why the silence that an object asks to take over stays what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adoption {
    /// No instance knows the id.
    Unknown,
    /// It has ended.
    Expired,
    /// It has other matchers.
    OtherMatchers,
    /// usher keeps it for another object, or another cluster's usher does.
    Managed,
}

/// Looks at the silence that an object asks to take over, before anything was sent; `None` when nothing is in the way.
pub fn adoption(
    identity: &Identity,
    matchers: &[Matcher],
    snapshot: &Snapshot,
    now: Timestamp,
) -> Option<Adoption> {
    let id = identity.adopt.as_deref()?;
    let Some((_, silence)) = snapshot.newest(id) else { return Some(Adoption::Unknown) };
    let nothing = Record::default();
    if Claim::new(identity, &nothing, matchers, true, snapshot).owns(silence) {
        return (state_at(silence, now) == State::Expired).then_some(Adoption::Expired);
    }
    Some(if is_managed(silence) { Adoption::Managed } else { Adoption::OtherMatchers })
}

/// Was an expired silence ended by a call? What ran out was last updated long before.
pub(super) fn was_ended(silence: &Silence) -> bool {
    silence.ends_at.duration_since(silence.updated_at) <= ACT
}

/// Does a silence say that some usher keeps it?
pub(super) fn is_managed(silence: &Silence) -> bool {
    has(silence, names::MANAGED_BY, names::USHER)
}

/// Does a silence carry an annotation with this value?
pub(super) fn has(silence: &Silence, key: &str, value: &str) -> bool {
    silence.annotations.get(key).is_some_and(|found| found == value)
}
