//! Claims: a uniqueness rule across objects, closed against races.
//!
//! Admission does not serialise: two replicas can look at the same instant, see nobody, and admit both. So a request that
//! turns a default on takes a claim after all rules have passed: one Lease per invariant, changed by compare-and-swap.
//! [`fate`] says what has become of a claim, [`attempt`] is the procedure as a machine without I/O, [`take`] runs it
//! against the API server, [`confirm`] spares users a wait. What a kind claims is data: [`Single`].
//!
//! Only requests that turn a default on come here; everything else never touches a Lease. Claims are taken in the
//! validating phase. A dry run reads the same and writes nothing.

pub mod attempt;
pub mod confirm;
pub mod fate;
pub mod lease;
pub mod take;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize as _;
use serde_json::Value;

use crate::kinds::{Kind, KindInfo};
use crate::model::object::{Meta, Object};
use crate::review::door::Door;
use crate::rule::{Facts, FieldPath, Rule};
use attempt::Attempt;
use fate::Origin;

/// How long a claim that may still land keeps others out.
///
/// 34 s is the longest that the API server works on a request (a constant there), etcd may hold a proposal for some
/// seconds more, and the clocks of two replicas may differ by 45 s.
pub const GRACE: SignedDuration = SignedDuration::from_secs(90);
/// The least that may be configured: 34 s, etcd's seconds, and 20 s of skew.
pub const LEAST_GRACE: SignedDuration = SignedDuration::from_secs(60);

/// What there may be only one of: a kind declares it, the door takes the claim.
#[derive(Debug)]
pub struct Single<S: 'static> {
    /// The rule that is reported.
    pub rule: &'static Rule,
    /// The field of the spec that turns it on.
    pub field: &'static str,
    /// The Lease.
    pub lease: &'static str,
    /// Is it on?
    pub is_on: fn(&S) -> bool,
    /// In what it is unique; empty for the whole cluster. Each scope has a Lease of its own.
    pub scope: fn(&S, &Facts<'_>) -> String,
    /// Do two objects that have it on exclude one another? `None`: all of one scope do.
    pub excludes: Option<Excludes<S>>,
    /// Does an update of an object that has it on have to claim again?
    pub claims_again: fn(&S, &S, &Facts<'_>) -> bool,
}

/// Do two objects exclude one another?
pub type Excludes<S> = fn(&Object<S>, &Object<S>, &Facts<'_>) -> bool;

/// What a live read tells of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its version.
    pub resource_version: String,
    /// It has the default on and is not being deleted.
    pub is_live: bool,
    /// It is live, and excludes the claimant.
    pub rivals: bool,
}

/// Reads an object for one claimant.
pub type Look = Arc<dyn Fn(&Value) -> Seen + Send + Sync>;

/// A claim that a review needs before it can be answered.
#[derive(Clone)]
pub struct Pending {
    /// The kind that is claimed for.
    pub kind: &'static KindInfo,
    /// The rule that is reported.
    pub rule: &'static Rule,
    /// Where.
    pub path: FieldPath,
    /// The procedure.
    pub attempt: Attempt,
    /// How the kind's objects are read.
    pub look: Look,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Pending").field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

/// The claim that an admitted request needs; nothing for nearly all of them. An old object that is not known had nothing
/// on.
pub fn needed<K: Kind>(
    kind: &'static KindInfo,
    object: &Object<K::Spec>,
    old: Option<&Object<K::Spec>>,
    origin: Origin,
    dry_run: bool,
    door: &Door,
    facts: &Facts<'_>,
) -> Option<Pending> {
    let single = K::SINGLE.as_ref()?;
    let turns_on = (single.is_on)(&object.spec)
        && old.is_none_or(|old| {
            !(single.is_on)(&old.spec) || (single.claims_again)(&old.spec, &object.spec, facts)
        });
    if !turns_on || object.metadata.is_terminating() {
        return None;
    }
    let scope = (single.scope)(&object.spec, facts);
    let attempt = Attempt::new(
        lease_name(single.lease, &scope),
        object.metadata.name.clone(),
        object.metadata.uid.clone(),
        origin,
        dry_run,
        single.excludes.is_some(),
    );
    let (claimant, door) = (object.clone(), door.clone());
    let look = move |value: &Value| look::<K>(value, &claimant, &scope, single, &door);
    Some(Pending {
        kind,
        rule: single.rule,
        path: FieldPath::spec(single.field),
        attempt,
        look: Arc::new(look),
    })
}

fn look<K: Kind>(
    value: &Value,
    claimant: &Object<K::Spec>,
    scope: &str,
    single: &Single<K::Spec>,
    door: &Door,
) -> Seen {
    let metadata = Meta::deserialize(&value["metadata"]).unwrap_or_default();
    let user = crate::rule::User::default();
    let facts = door.facts(crate::rule::Operation::Update, &user, Timestamp::UNIX_EPOCH);
    // A stored object that does not decode is nobody's default.
    let other = Object::<K::Spec>::deserialize(value).ok();
    let live = other.filter(|other| (single.is_on)(&other.spec) && !metadata.is_terminating());
    let rivals = live.as_ref().is_some_and(|other| {
        metadata.name != claimant.metadata.name
            && match single.excludes {
                Some(excludes) => excludes(claimant, other, &facts),
                None => (single.scope)(&other.spec, &facts) == scope,
            }
    });
    Seen {
        name: metadata.name,
        uid: metadata.uid,
        resource_version: metadata.resource_version,
        is_live: live.is_some(),
        rivals,
    }
}

/// The Lease of a scope: the scope itself may be no name.
fn lease_name(base: &str, scope: &str) -> String {
    if scope.is_empty() { base.to_owned() } else { format!("{base}-{:08x}", fnv(scope)) }
}

/// FNV-1a: the same in every replica and every version, which Rust's own hasher does not promise.
fn fnv(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// The Lease that an object's default would be claimed with; the leader confirms by it.
pub fn lease_of<K: Kind>(object: &Object<K::Spec>, facts: &Facts<'_>) -> Option<String> {
    let single = K::SINGLE.as_ref()?;
    (single.is_on)(&object.spec).then(|| lease_name(single.lease, &(single.scope)(&object.spec, facts)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_has_a_lease_of_its_own() {
        assert_eq!(lease_name("uptime-default-contact", ""), "uptime-default-contact");
        assert_eq!(lease_name("uptime-default-contact", "prod"), "uptime-default-contact-ed3e3174");
        assert_ne!(lease_name("x", "prod"), lease_name("x", "Prod"));
    }
}
