//! What has become of a claim: a pure function of the Lease, of its holder as seen after reading it, and of the clock.

use jiff::{SignedDuration, Timestamp};

use super::Seen;

/// What an admitted request starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A creation: stored as soon as the name is free, however old its admission is.
    Create,
    /// An update: stored only while the object still has this version.
    Update(String),
}

/// How far a claim is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Admitted; perhaps stored.
    Pending,
    /// The leader has seen what came of it.
    Confirmed,
}

/// A claim, as its Lease says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The name of the object.
    pub holder: String,
    /// Its uid when it was admitted.
    pub uid: String,
    /// What the admitted request starts from.
    pub origin: Origin,
    /// How far it is.
    pub phase: Phase,
    /// Other admissions of the holder may still land too, so that seeing one says nothing about the rest.
    pub overlap: bool,
    /// Since when the holder has it without having landed.
    pub acquired: Timestamp,
    /// When it was last claimed.
    pub renewed: Timestamp,
}

/// What has become of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The holder is there and stands in the way.
    Held,
    /// Nothing can be stored by it any more: it landed, or it never can.
    Settled,
    /// Nothing can be stored by it any more: too long ago.
    Expired,
    /// Admitted, and may still land.
    Open,
}

impl Claim {
    /// How old it is; a clock behind the writer's counts as no age at all.
    pub fn age(&self, now: Timestamp) -> SignedDuration {
        now.duration_since(self.renewed).max(SignedDuration::ZERO)
    }

    /// What has become of it. `holder` must have been read after the claim, and `stands` says whether it is in the way of
    /// whoever asks.
    pub fn fate(
        &self,
        holder: Option<&Seen>,
        stands: impl Fn(&Seen) -> bool,
        now: Timestamp,
        grace: SignedDuration,
    ) -> Fate {
        if holder.is_some_and(stands) {
            Fate::Held
        } else if !self.overlap && (self.phase == Phase::Confirmed || self.is_decided(holder)) {
            Fate::Settled
        } else if self.age(now) > grace {
            Fate::Expired
        } else {
            Fate::Open
        }
    }

    /// Does the holder show that this one admission has landed, or never can?
    fn is_decided(&self, holder: Option<&Seen>) -> bool {
        match &self.origin {
            Origin::Create => holder.is_some_and(|holder| holder.uid == self.uid),
            Origin::Update(version) => {
                holder.is_none_or(|holder| holder.uid != self.uid || holder.resource_version != *version)
            }
        }
    }

    /// May the leader write `confirmed`? Only for the very object that was admitted, and for an update only when it has
    /// moved on from the version that the update starts from.
    pub fn can_be_confirmed(&self, holder: Option<&Seen>) -> bool {
        let Some(holder) = holder else { return false };
        let moved = match &self.origin {
            Origin::Create => true,
            Origin::Update(version) => holder.resource_version != *version,
        };
        self.phase == Phase::Pending && !self.overlap && holder.uid == self.uid && moved
    }

    /// How long until it counts as expired, in whole seconds, at least one.
    pub fn left(&self, now: Timestamp, grace: SignedDuration) -> u32 {
        let left = grace - self.age(now);
        u32::try_from(left.as_secs() + i64::from(left.subsec_nanos() > 0)).unwrap_or(0).max(1)
    }

    /// Has its holder claimed again and again for so long without landing that others must get a chance?
    pub fn is_hogged(&self, grace: SignedDuration) -> bool {
        self.renewed.duration_since(self.acquired) >= grace * 3
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::GRACE;

    fn claim(origin: Origin, phase: Phase, overlap: bool) -> Claim {
        let at = Timestamp::from_second(1_000).unwrap();
        Claim { holder: "a".into(), uid: "u1".into(), origin, phase, overlap, acquired: at, renewed: at }
    }

    fn seen(uid: &str, version: &str, is_live: bool) -> Seen {
        let (uid, resource_version) = (uid.to_owned(), version.to_owned());
        Seen { name: "a".into(), uid, resource_version, is_live, rivals: is_live }
    }

    type Row = (&'static str, Origin, Phase, bool, Option<Seen>, i64, Fate);

    #[test]
    fn fates() {
        use Fate::{Expired, Held, Open, Settled};
        use Phase::{Confirmed, Pending};
        let create = || Origin::Create;
        let update = || Origin::Update("5".to_owned());
        let live = |uid, version| Some(seen(uid, version, true));
        let off = |uid, version| Some(seen(uid, version, false));
        let rows: [Row; 22] = [
            ("a live holder holds", create(), Pending, false, live("u1", "7"), 10, Held),
            ("a live holder of another uid holds", create(), Pending, false, live("u0", "7"), 10, Held),
            (
                "a live holder holds however old the claim",
                create(),
                Pending,
                true,
                live("u1", "7"),
                500,
                Held,
            ),
            ("a live holder holds when confirmed", create(), Confirmed, false, live("u1", "7"), 10, Held),
            ("created, not there yet", create(), Pending, false, None, 10, Open),
            ("created, at the grace", create(), Pending, false, None, 90, Open),
            ("created, never there", create(), Pending, false, None, 91, Expired),
            ("a clock behind counts as no age", create(), Pending, false, None, -60, Open),
            ("created, landed and turned off", create(), Pending, false, off("u1", "8"), 10, Settled),
            ("another uid of the name is there", create(), Pending, false, off("u0", "8"), 10, Open),
            ("created, confirmed and gone", create(), Confirmed, false, None, 10, Settled),
            ("confirmed means nothing with overlap", create(), Confirmed, true, None, 10, Open),
            ("landed means nothing with overlap", create(), Pending, true, off("u1", "8"), 10, Open),
            ("overlap ends with the grace", create(), Pending, true, off("u1", "8"), 91, Expired),
            ("updated, not stored yet", update(), Pending, false, off("u1", "5"), 10, Open),
            ("updated, stored and turned off", update(), Pending, false, off("u1", "7"), 10, Settled),
            ("updated, the object is gone", update(), Pending, false, None, 10, Settled),
            ("updated, the object is another one", update(), Pending, false, off("u2", "5"), 10, Settled),
            ("updated, gone, with overlap", update(), Pending, true, None, 10, Open),
            ("updated, never stored", update(), Pending, false, off("u1", "5"), 91, Expired),
            ("updated, confirmed", update(), Confirmed, false, off("u1", "5"), 10, Settled),
            ("updated and live at the old version", update(), Pending, false, live("u1", "5"), 10, Held),
        ];
        for (about, origin, phase, overlap, holder, age, expected) in rows {
            let claim = claim(origin, phase, overlap);
            let now = claim.renewed + SignedDuration::from_secs(age);
            let fate = claim.fate(holder.as_ref(), |holder| holder.rivals, now, GRACE);
            assert_eq!(fate, expected, "{about}");
        }
    }

    #[test]
    fn only_what_was_admitted_is_confirmed() {
        let create = claim(Origin::Create, Phase::Pending, false);
        assert!(create.can_be_confirmed(Some(&seen("u1", "1", true))));
        assert!(!create.can_be_confirmed(Some(&seen("u0", "1", true))), "an older object of the name");
        assert!(!create.can_be_confirmed(None));
        assert!(!claim(Origin::Create, Phase::Pending, true).can_be_confirmed(Some(&seen("u1", "1", true))));
        let update = claim(Origin::Update("5".into()), Phase::Pending, false);
        assert!(!update.can_be_confirmed(Some(&seen("u1", "5", true))), "not stored yet");
        assert!(update.can_be_confirmed(Some(&seen("u1", "6", true))));
    }

    #[test]
    fn what_is_left_is_told_in_whole_seconds() {
        let claim = claim(Origin::Create, Phase::Pending, false);
        assert_eq!(claim.left(claim.renewed + SignedDuration::from_secs(10), GRACE), 80);
        assert_eq!(claim.left(claim.renewed + SignedDuration::from_millis(89_500), GRACE), 1);
        assert_eq!(claim.left(claim.renewed - SignedDuration::from_secs(10), GRACE), 90);
    }
}
