//! Silences that usher left behind: their object is gone, or no longer selected, and nobody cleaned up.
//!
//! Only what carries our annotations and our cluster goes, and never much of it at once: a lost cache or a wrong
//! selector must not unmute everything.

use jiff::Timestamp;

use super::ownership::{has, is_managed};
use super::snapshot::{Snapshot, state_at};
use crate::names;
use crate::upstream::alertmanager::{Silence, State};

/// Fewer than this many go whatever their share is.
const FEW: usize = 5;

/// What is known of the object that a silence names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It exists, and this Alertmanager selects it, or that is not certain.
    Wanted,
    /// It exists, and this Alertmanager does not select it.
    Unselected,
    /// No object has this uid or this `createdBy`.
    Gone,
}

/// What a sweep found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sweep {
    /// What goes, on each instance that holds it, sorted by id.
    pub expire: Vec<(usize, String)>,
    /// Set when too many would go, and so none goes: how many would, of how many.
    pub suspended: Option<(usize, usize)>,
    /// Silences that look like usher's, of no object that exists, without a proof: reported, never touched.
    pub unproven: usize,
}

/// Finds the silences that should go. The caller answers for its cache being complete.
///
/// `live` is asked with the uid (absent where there are no annotations) and `createdBy`; one of them is enough for the
/// object to be alive. `recorded` says whether an id is in the status of some object.
pub fn orphans(
    snapshot: &Snapshot,
    cluster: &str,
    live: impl Fn(Option<&str>, &str) -> Liveness,
    recorded: impl Fn(&str) -> bool,
    limit_percent: u8,
    now: Timestamp,
) -> Sweep {
    let mut sweep = Sweep::default();
    let mut ids: Vec<&str> = snapshot.ids().collect();
    ids.sort_unstable();
    let (mut ours, mut going) = (0, 0);
    for id in ids {
        let Some((_, silence)) = snapshot.newest(id) else { continue };
        let holders = snapshot.copies(id).filter(|(_, copy)| state_at(copy, now) != State::Expired);
        let mut holders = holders.map(|(instance, _)| (instance, id.to_owned())).peekable();
        if holders.peek().is_none() {
            continue;
        }
        match judge(silence, cluster, &live, &recorded) {
            Verdict::Foreign => {}
            Verdict::Unproven => sweep.unproven += 1,
            Verdict::Kept => ours += 1,
            Verdict::Goes => {
                ours += 1;
                going += 1;
                sweep.expire.extend(holders);
            }
        }
    }
    if going >= FEW && going * 100 > ours * usize::from(limit_percent) {
        sweep.expire.clear();
        sweep.suspended = Some((going, ours));
    }
    sweep
}

enum Verdict {
    Foreign,
    Unproven,
    Kept,
    Goes,
}

fn judge(
    silence: &Silence,
    cluster: &str,
    live: &impl Fn(Option<&str>, &str) -> Liveness,
    recorded: &impl Fn(&str) -> bool,
) -> Verdict {
    if is_managed(silence) {
        if !has(silence, names::CLUSTER, cluster) {
            return Verdict::Foreign;
        }
        let uid = silence.annotations.get(names::SILENCE_UID).map(String::as_str);
        return match live(uid, &silence.created_by) {
            Liveness::Wanted => Verdict::Kept,
            Liveness::Unselected | Liveness::Gone => Verdict::Goes,
        };
    }
    if !silence.annotations.is_empty() || !names_an_object(&silence.created_by) {
        return Verdict::Foreign;
    }
    match live(None, &silence.created_by) {
        // Whether it is the object's own is for the object's pass to tell.
        Liveness::Wanted => Verdict::Foreign,
        Liveness::Unselected if recorded(&silence.id) => Verdict::Goes,
        Liveness::Unselected | Liveness::Gone => Verdict::Unproven,
    }
}

/// Does this read as `namespace/name`?
fn names_an_object(created_by: &str) -> bool {
    let is_name = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'))
    };
    created_by.split_once('/').is_some_and(|(namespace, name)| is_name(namespace) && is_name(name))
}
