//! The procedure of one claim, as a machine without I/O: it says what to call, is told the reply, and ends with an
//! outcome. [`super::take`] drives it against the API server, the simulation in `tests/claims.rs` against every schedule
//! that it can think of.

use jiff::{SignedDuration, Timestamp};

use super::Seen;
use super::fate::{Claim, Fate, Origin, Phase};

/// How often a lost compare-and-swap is tried again.
const ROUNDS: u32 = 3;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// List the kind's objects, live: no cache, no `resourceVersion=0`.
    List,
    /// Read the Lease, live.
    ReadLease,
    /// Read one object of the kind, live.
    ReadHolder(String),
    /// Create the Lease.
    Create(Claim),
    /// Replace the Lease, if it still has this version.
    Replace(Claim, String),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The objects.
    Listed(Vec<Seen>),
    /// The Lease and its version, or none.
    Lease(Option<(Claim, String)>),
    /// The object, or none.
    Holder(Option<Seen>),
    /// The Lease is written.
    Written,
    /// Somebody else was faster: it exists already, or has another version, or is gone.
    Conflict,
}

/// How the procedure ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The claim is taken (a dry run: could be taken).
    Granted,
    /// Another object stands in the way.
    Held(String),
    /// Another object was admitted and may still be stored.
    Open {
        /// Its name; the claimant's own when it has claimed in vain for too long.
        by: String,
        /// Seconds until it is worth trying again.
        retry_after: u32,
    },
    /// Too many at once.
    Busy,
}

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Call this, and tell what came of it.
    Call(Call),
    /// Done.
    Done(Outcome),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Start,
    Listing,
    ReadingLease,
    ReadingHolder(Claim, String),
    Creating,
    Replacing,
    ListingAgain,
}

/// One request's way to its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The name of the Lease.
    pub lease: String,
    /// The name of the object that claims.
    pub name: String,
    uid: String,
    origin: Origin,
    dry_run: bool,
    /// Do only some objects exclude one another? Then a holder that does not may have hidden one that does.
    partial: bool,
    rounds: u32,
    state: State,
}

impl Attempt {
    /// The attempt of an object to be stored.
    pub fn new(
        lease: String,
        name: String,
        uid: String,
        origin: Origin,
        dry_run: bool,
        partial: bool,
    ) -> Self {
        Self { lease, name, uid, origin, dry_run, partial, rounds: 0, state: State::Start }
    }

    /// The first call.
    pub fn begin(&mut self) -> Step {
        self.go(State::Listing, Call::List)
    }

    /// Takes a reply and says what is next. A reply that does not belong to the last call is a bug of the driver, and
    /// ends as [`Outcome::Busy`], which grants nothing.
    pub fn reply(&mut self, reply: Reply, now: Timestamp, grace: SignedDuration) -> Step {
        match (std::mem::replace(&mut self.state, State::Start), reply) {
            (State::Listing, Reply::Listed(all)) => match rival(all) {
                Some(name) => Step::Done(Outcome::Held(name)),
                None => self.go(State::ReadingLease, Call::ReadLease),
            },
            // A Lease that is not there remembers nothing: look once more after making it.
            (State::ReadingLease, Reply::Lease(None)) => {
                if self.dry_run {
                    return self.go(State::ListingAgain, Call::List);
                }
                let claim = self.fresh(now);
                self.go(State::Creating, Call::Create(claim))
            }
            (State::ReadingLease, Reply::Lease(Some((claim, version)))) => {
                let holder = claim.holder.clone();
                self.go(State::ReadingHolder(claim, version), Call::ReadHolder(holder))
            }
            (State::ReadingHolder(claim, version), Reply::Holder(holder)) => {
                match self.successor(&claim, holder.as_ref(), now, grace) {
                    Err(outcome) => Step::Done(outcome),
                    Ok(_) if self.dry_run => self.taken(),
                    Ok(next) => self.go(State::Replacing, Call::Replace(next, version)),
                }
            }
            (State::Creating, Reply::Written) => self.go(State::ListingAgain, Call::List),
            (State::Replacing, Reply::Written) => self.taken(),
            (State::Creating | State::Replacing, Reply::Conflict) => {
                self.rounds += 1;
                if self.rounds >= ROUNDS {
                    return Step::Done(Outcome::Busy);
                }
                self.go(State::ReadingLease, Call::ReadLease)
            }
            // A claim that turns out to be in vain is left to expire.
            (State::ListingAgain, Reply::Listed(all)) => {
                Step::Done(rival(all).map_or(Outcome::Granted, Outcome::Held))
            }
            _ => Step::Done(Outcome::Busy),
        }
    }

    fn go(&mut self, state: State, call: Call) -> Step {
        self.state = state;
        Step::Call(call)
    }

    /// The Lease is ours. Where only some objects exclude one another, one that does may have landed and its claim been
    /// taken over by one that does not, both after our first look.
    fn taken(&mut self) -> Step {
        if self.partial { self.go(State::ListingAgain, Call::List) } else { Step::Done(Outcome::Granted) }
    }

    fn fresh(&self, now: Timestamp) -> Claim {
        Claim {
            holder: self.name.clone(),
            uid: self.uid.clone(),
            origin: self.origin.clone(),
            phase: Phase::Pending,
            overlap: false,
            acquired: now,
            renewed: now,
        }
    }

    /// The claim that replaces the one found, or why there is none.
    fn successor(
        &self,
        found: &Claim,
        holder: Option<&Seen>,
        now: Timestamp,
        grace: SignedDuration,
    ) -> Result<Claim, Outcome> {
        let mut next = self.fresh(now);
        if found.holder != self.name {
            return match found.fate(holder, |holder| holder.rivals, now, grace) {
                Fate::Held => Err(Outcome::Held(found.holder.clone())),
                Fate::Open => {
                    Err(Outcome::Open { by: found.holder.clone(), retry_after: found.left(now, grace) })
                }
                Fate::Settled | Fate::Expired => Ok(next),
            };
        }
        let fate = found.fate(holder, |holder| holder.is_live, now, grace);
        // Others get their chance after one grace, the name that hogged it after two.
        if matches!(fate, Fate::Open | Fate::Expired) && found.is_hogged(grace) && found.age(now) <= grace * 2
        {
            return Err(Outcome::Open { by: self.name.clone(), retry_after: found.left(now, grace * 2) });
        }
        if matches!(fate, Fate::Held | Fate::Open) {
            let same = found.uid == self.uid && found.origin == self.origin;
            next.overlap = found.overlap || !same;
        }
        if fate == Fate::Open {
            next.acquired = found.acquired;
        }
        Ok(next)
    }
}

fn rival(all: Vec<Seen>) -> Option<String> {
    all.into_iter().find(|seen| seen.rivals).map(|seen| seen.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::GRACE;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn attempt(name: &str, uid: &str, dry_run: bool) -> Attempt {
        Attempt::new("l".into(), name.into(), uid.into(), Origin::Create, dry_run, false)
    }

    fn open(holder: &str, uid: &str, acquired: i64, renewed: i64) -> Claim {
        Claim {
            holder: holder.into(),
            uid: uid.into(),
            origin: Origin::Create,
            phase: Phase::Pending,
            overlap: false,
            acquired: at(acquired),
            renewed: at(renewed),
        }
    }

    /// Runs until the Lease is written or the attempt ends.
    fn meets(mut attempt: Attempt, found: Claim, holder: Option<Seen>, now: i64) -> Step {
        assert_eq!(attempt.begin(), Step::Call(Call::List));
        let step = attempt.reply(Reply::Listed(Vec::new()), at(now), GRACE);
        assert_eq!(step, Step::Call(Call::ReadLease));
        let name = found.holder.clone();
        let step = attempt.reply(Reply::Lease(Some((found, "7".into()))), at(now), GRACE);
        assert_eq!(step, Step::Call(Call::ReadHolder(name)));
        attempt.reply(Reply::Holder(holder), at(now), GRACE)
    }

    #[test]
    fn an_open_claim_of_another_is_told_with_what_is_left_of_it() {
        let step = meets(attempt("b", "u2", false), open("a", "u1", 0, 0), None, 10);
        assert_eq!(step, Step::Done(Outcome::Open { by: "a".into(), retry_after: 80 }));
        let step = meets(attempt("b", "u2", false), open("a", "u1", 0, 0), None, 91);
        assert!(matches!(step, Step::Call(Call::Replace(next, _)) if next.holder == "b" && !next.overlap));
    }

    #[test]
    fn the_same_name_may_retry_at_once_and_its_claims_overlap() {
        let step = meets(attempt("a", "u2", false), open("a", "u1", 0, 0), None, 10);
        let Step::Call(Call::Replace(next, version)) = step else { panic!("{step:?}") };
        assert_eq!((version.as_str(), next.overlap, next.acquired, next.renewed), ("7", true, at(0), at(10)));
        // The same request asked twice is one admission.
        let step = meets(attempt("a", "u1", false), open("a", "u1", 0, 0), None, 10);
        assert!(matches!(step, Step::Call(Call::Replace(next, _)) if !next.overlap));
    }

    #[test]
    fn a_name_that_never_lands_makes_room_for_others() {
        let hogged = || open("a", "u1", 0, 270);
        let step = meets(attempt("a", "u2", false), hogged(), None, 275);
        assert_eq!(step, Step::Done(Outcome::Open { by: "a".into(), retry_after: 175 }));
        let step = meets(attempt("a", "u2", false), hogged(), None, 400);
        assert!(matches!(step, Step::Done(Outcome::Open { .. })), "the name itself waits two graces");
        let step = meets(attempt("b", "u2", false), hogged(), None, 361);
        assert!(matches!(step, Step::Call(Call::Replace(..))), "others wait one");
        let step = meets(attempt("a", "u2", false), hogged(), None, 451);
        assert!(matches!(step, Step::Call(Call::Replace(next, _)) if next.acquired == at(451)));
    }

    #[test]
    fn a_dry_run_reads_the_same_and_writes_nothing() {
        let mut dry = attempt("b", "u2", true);
        dry.begin();
        dry.reply(Reply::Listed(Vec::new()), at(0), GRACE);
        assert_eq!(dry.reply(Reply::Lease(None), at(0), GRACE), Step::Call(Call::List));
        assert_eq!(dry.reply(Reply::Listed(Vec::new()), at(0), GRACE), Step::Done(Outcome::Granted));
        let step = meets(attempt("b", "u2", true), open("a", "u1", 0, 0), None, 91);
        assert_eq!(step, Step::Done(Outcome::Granted));
        let step = meets(attempt("b", "u2", true), open("a", "u1", 0, 0), None, 10);
        assert!(matches!(step, Step::Done(Outcome::Open { .. })));
    }

    #[test]
    fn a_lease_that_was_absent_remembers_nothing_so_the_list_is_read_again() {
        let mut attempt = attempt("b", "u2", false);
        attempt.begin();
        attempt.reply(Reply::Listed(Vec::new()), at(0), GRACE);
        assert!(matches!(attempt.reply(Reply::Lease(None), at(0), GRACE), Step::Call(Call::Create(_))));
        assert_eq!(attempt.reply(Reply::Written, at(0), GRACE), Step::Call(Call::List));
        let (uid, resource_version) = ("u1".to_owned(), "3".to_owned());
        let landed = Seen { name: "a".into(), uid, resource_version, is_live: true, rivals: true };
        let step = attempt.reply(Reply::Listed(vec![landed]), at(0), GRACE);
        assert_eq!(step, Step::Done(Outcome::Held("a".into())));
    }

    /// Case 54: a claims every 20 s and never lands, b tries every 20 s as well.
    #[test]
    fn a_name_that_claims_for_ever_does_not_keep_others_out_for_ever() {
        let mut lease: Option<(Claim, u64)> = None;
        let mut claim = |name: &str, now: i64| -> bool {
            let mut attempt = attempt(name, &format!("{name}-{now}"), false);
            let mut step = attempt.begin();
            loop {
                let reply = match step {
                    Step::Done(outcome) => return outcome == Outcome::Granted,
                    Step::Call(Call::List) => Reply::Listed(Vec::new()),
                    Step::Call(Call::ReadHolder(_)) => Reply::Holder(None),
                    Step::Call(Call::ReadLease) => {
                        Reply::Lease(lease.clone().map(|(claim, version)| (claim, version.to_string())))
                    }
                    Step::Call(Call::Create(claim) | Call::Replace(claim, _)) => {
                        let version = lease.as_ref().map_or(1, |(_, version)| version + 1);
                        lease = Some((claim, version));
                        Reply::Written
                    }
                };
                step = attempt.reply(reply, at(now), GRACE);
            }
        };
        let admitted = (0..).step_by(20).find(|now| {
            claim("a", *now);
            claim("b", now + 10)
        });
        let admitted = admitted.unwrap();
        assert!(admitted <= 5 * GRACE.as_secs(), "b was admitted only after {admitted} s");
        assert!(admitted > 3 * GRACE.as_secs(), "an open claim was not respected");
    }

    #[test]
    fn lost_swaps_are_tried_again_a_few_times() {
        let mut attempt = attempt("b", "u2", false);
        attempt.begin();
        attempt.reply(Reply::Listed(Vec::new()), at(0), GRACE);
        for round in 1..=3 {
            assert!(matches!(attempt.reply(Reply::Lease(None), at(0), GRACE), Step::Call(Call::Create(_))));
            let step = attempt.reply(Reply::Conflict, at(0), GRACE);
            if round < 3 {
                assert_eq!(step, Step::Call(Call::ReadLease));
            } else {
                assert_eq!(step, Step::Done(Outcome::Busy));
            }
        }
    }
}
