//! The claim protocol under adversarial schedules: simulated API server, replicas, leader and clients, every step of each
//! interleaved at random from a seed. Answers get lost, processes end between steps, reads grow old before they are used,
//! clocks differ, objects are deleted and turned off, requests are repeated.
//!
//! The invariant: no two objects that exclude one another are ever the live default together. `SCHEDULES=` and `SEED=` set
//! how many and which; the same schedules without the claim step do break it.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used, clippy::large_enum_variant)]

use std::collections::BTreeMap;

use jiff::Timestamp;
use usher::claim::attempt::{Attempt, Call, Outcome, Reply, Step};
use usher::claim::confirm::Confirmation;
use usher::claim::fate::{Claim, Origin};
use usher::claim::{GRACE, Seen};

/// The longest that the API server works on a request, and what etcd may add: specification, section 2.2.
const HANDLER: i64 = 34_000;
const ETCD: i64 = 4_000;
/// The clocks of two replicas differ by no more than this.
const SKEW: i64 = 45_000;

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % sides
    }

    fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }
}

#[derive(Debug, Clone)]
struct Stored {
    uid: u64,
    version: u64,
    is_default: bool,
    terminating: bool,
    /// Which workloads it selects, as bits; two defaults exclude one another when they share one.
    mask: u8,
}

#[derive(Default)]
struct Server {
    objects: BTreeMap<u8, Stored>,
    lease: Option<(Claim, u64)>,
    version: u64,
    uid: u64,
}

impl Server {
    fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Two live defaults that exclude one another.
    fn broken(&self) -> Option<(u8, u8)> {
        let live: Vec<(&u8, &Stored)> =
            self.objects.iter().filter(|(_, stored)| stored.is_default && !stored.terminating).collect();
        for (index, (one, first)) in live.iter().enumerate() {
            for (other, second) in &live[index + 1..] {
                if first.mask & second.mask != 0 {
                    return Some((**one, **other));
                }
            }
        }
        None
    }

    fn see(&self, name: u8, mine: u8, mask: u8) -> Option<Seen> {
        let stored = self.objects.get(&name)?;
        let is_live = stored.is_default && !stored.terminating;
        Some(Seen {
            name: name.to_string(),
            uid: stored.uid.to_string(),
            resource_version: stored.version.to_string(),
            is_live,
            rivals: is_live && name != mine && stored.mask & mask != 0,
        })
    }

    fn execute(&mut self, call: &Call, mine: u8, mask: u8) -> Reply {
        match call {
            Call::List => {
                Reply::Listed(self.objects.keys().filter_map(|name| self.see(*name, mine, mask)).collect())
            }
            Call::ReadLease => {
                Reply::Lease(self.lease.clone().map(|(claim, version)| (claim, version.to_string())))
            }
            Call::ReadHolder(name) => {
                Reply::Holder(name.parse().ok().and_then(|name| self.see(name, mine, mask)))
            }
            Call::Create(claim) => match &self.lease {
                Some(_) => Reply::Conflict,
                None => {
                    let version = self.next_version();
                    self.lease = Some((claim.clone(), version));
                    Reply::Written
                }
            },
            Call::Replace(claim, version) => match &self.lease {
                Some((_, known)) if known.to_string() == *version => {
                    let version = self.next_version();
                    self.lease = Some((claim.clone(), version));
                    Reply::Written
                }
                _ => Reply::Conflict,
            },
        }
    }
}

/// Something in progress; each turn does one step of one of them.
enum Actor {
    /// A request of a client that turns a default on.
    Request(Request),
    /// The leader (or two of them) confirming.
    Leader(Confirming),
    Done,
}

struct Request {
    name: u8,
    mask: u8,
    origin: Origin,
    uid: u64,
    began: i64,
    skew: i64,
    attempt: Attempt,
    at: At,
}

enum At {
    /// The next call is to be made.
    Calling(Call),
    /// The reply is on its way, and grows old.
    Replied(Reply),
    /// Admitted: the API server may store it, until its time is over.
    Admitted,
}

/// The leader's confirmation: the call to make, or the reply that is on its way.
enum Confirming {
    Calling(Confirmation, Call),
    Replied(Confirmation, Reply),
}

struct World {
    server: Server,
    dice: Dice,
    now: i64,
    partial: bool,
    claims: bool,
    actors: Vec<Actor>,
    granted: u64,
    stored: u64,
    last_request: i64,
}

impl World {
    fn timestamp(&self, skew: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000_000 + self.now + skew).unwrap()
    }

    fn spawn_request(&mut self) {
        self.last_request = self.now;
        let name = self.dice.roll(3) as u8;
        let mask = if self.partial { 1 + self.dice.roll(7) as u8 } else { 1 };
        let (origin, uid) = match self.server.objects.get(&name) {
            // An update that turns it on, or (partial) that moves a default.
            Some(stored) if !stored.terminating && (!stored.is_default || self.partial) => {
                (Origin::Update(stored.version.to_string()), stored.uid)
            }
            // A creation of a name that may be taken, or be free by the time that it is stored.
            _ => {
                self.server.uid += 1;
                (Origin::Create, self.server.uid)
            }
        };
        let mut attempt =
            Attempt::new("l".into(), name.to_string(), uid.to_string(), origin.clone(), false, self.partial);
        let at = match (self.claims, attempt.begin()) {
            (false, _) => At::Calling(Call::List),
            (true, Step::Call(call)) => At::Calling(call),
            (true, step) => panic!("{step:?}"),
        };
        let skew = self.dice.roll(SKEW as u64 + 1) as i64;
        self.actors.push(Actor::Request(Request {
            name,
            mask,
            origin,
            uid,
            began: self.now,
            skew,
            attempt,
            at,
        }));
    }

    /// One step of one actor.
    fn turn(&mut self, index: usize) {
        let actor = std::mem::replace(&mut self.actors[index], Actor::Done);
        self.actors[index] = match actor {
            Actor::Done => Actor::Done,
            Actor::Leader(confirming) => self.confirm(confirming),
            Actor::Request(request) => self.advance(request),
        };
    }

    fn advance(&mut self, mut request: Request) -> Actor {
        // The handler's time is over; a proposal already at etcd may take a little longer.
        let patience = if matches!(request.at, At::Admitted) { HANDLER + ETCD } else { HANDLER };
        // The replica, or the API server that asked it, ends between two steps.
        if self.now - request.began > patience || self.dice.one_in(100) {
            return Actor::Done;
        }
        match request.at {
            At::Calling(call) => {
                let reply = self.server.execute(&call, request.name, request.mask);
                // The answer is lost: nobody knows whether a write took place, and the request is refused.
                if self.dice.one_in(60) {
                    return Actor::Done;
                }
                request.at = At::Replied(reply);
            }
            At::Replied(reply) => {
                let step = if self.claims {
                    request.attempt.reply(reply, self.timestamp(request.skew), GRACE)
                } else {
                    // What everybody does without claims: one look, and nobody there.
                    match reply {
                        Reply::Listed(all) if all.iter().any(|seen| seen.rivals) => {
                            Step::Done(Outcome::Held("x".into()))
                        }
                        _ => Step::Done(Outcome::Granted),
                    }
                };
                match step {
                    Step::Call(call) => request.at = At::Calling(call),
                    Step::Done(Outcome::Granted) => {
                        self.granted += 1;
                        request.at = At::Admitted;
                    }
                    Step::Done(_) => return Actor::Done,
                }
            }
            At::Admitted => {
                // Refused by somebody after us, or stored.
                if !self.dice.one_in(5) {
                    self.store(&request);
                }
                return Actor::Done;
            }
        }
        Actor::Request(request)
    }

    fn store(&mut self, request: &Request) {
        let known = self.server.objects.get(&request.name);
        let fits = match &request.origin {
            Origin::Create => known.is_none(),
            Origin::Update(version) => {
                known.is_some_and(|known| known.uid == request.uid && known.version.to_string() == *version)
            }
        };
        if fits {
            let version = self.server.next_version();
            let (uid, mask) = (request.uid, request.mask);
            let stored = Stored { uid, version, is_default: true, terminating: false, mask };
            self.server.objects.insert(request.name, stored);
            self.stored += 1;
        }
    }

    /// A write that turns no default on: never asks for a claim.
    fn disturb(&mut self) {
        let name = self.dice.roll(3) as u8;
        let version = self.server.next_version();
        let choice = self.dice.roll(5);
        if let Some(stored) = self.server.objects.get_mut(&name) {
            match choice {
                0 => drop(self.server.objects.remove(&name)),
                1 => (stored.is_default, stored.version) = (false, version),
                2 => (stored.terminating, stored.version) = (true, version),
                // A label; it only moves the version on.
                3 => stored.version = version,
                _ => {}
            }
        }
    }

    fn confirm(&mut self, confirming: Confirming) -> Actor {
        match confirming {
            Confirming::Calling(confirmation, call) => {
                let reply = self.server.execute(&call, u8::MAX, 0);
                Actor::Leader(Confirming::Replied(confirmation, reply))
            }
            Confirming::Replied(mut confirmation, reply) => match confirmation.reply(reply) {
                Some(call) => Actor::Leader(Confirming::Calling(confirmation, call)),
                None => Actor::Done,
            },
        }
    }

    /// Begins with a default that slipped in while there was no webhook, and so with no Lease.
    fn slip_in(&mut self) {
        let name = self.dice.roll(3) as u8;
        let version = self.server.next_version();
        self.server.uid += 1;
        let (uid, mask) = (self.server.uid, 1 + self.dice.roll(if self.partial { 7 } else { 1 }) as u8);
        let stored = Stored { uid, version, is_default: true, terminating: false, mask };
        self.server.objects.insert(name, stored);
    }

    /// Deleting a Lease by hand is safe after one grace without requests for the default.
    fn delete_lease(&mut self) {
        let quiet = GRACE.as_millis() as i64 + SKEW;
        if self.actors.is_empty() && self.now - self.last_request > quiet {
            self.server.lease = None;
        }
    }

    fn run(&mut self) -> Option<(u8, u8)> {
        if self.dice.one_in(4) {
            self.slip_in();
        }
        for _ in 0..200 {
            // Mostly one step right after the other; now and then about a handler's time, or about a grace.
            let pause = match self.dice.roll(60) {
                0 => 120_000,
                1 => 40_000,
                2 | 3 => 10_000,
                _ => 200,
            };
            self.now += self.dice.roll(pause) as i64;
            match self.dice.roll(24) {
                0 | 1 => self.spawn_request(),
                2 => self.disturb(),
                4 if self.dice.one_in(3) => self.delete_lease(),
                3 => self.actors.push(Actor::Leader(leader())),
                _ if self.actors.is_empty() => {}
                _ => {
                    let index = self.dice.roll(self.actors.len() as u64) as usize;
                    self.turn(index);
                }
            }
            self.actors.retain(|actor| !matches!(actor, Actor::Done));
            if let Some(broken) = self.server.broken() {
                return Some(broken);
            }
        }
        None
    }
}

fn leader() -> Confirming {
    let confirmation = Confirmation::new("");
    let call = confirmation.begin();
    Confirming::Calling(confirmation, call)
}

fn schedules(claims: bool, partial: bool, count: u64) -> (u64, u64, u64, Option<u64>) {
    let base: u64 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut broken, mut granted, mut stored, mut first) = (0, 0, 0, None);
    for number in 0..count {
        let seed =
            base.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95))
                | 1;
        let mut world = World {
            server: Server::default(),
            dice: Dice(seed),
            now: 0,
            partial,
            claims,
            actors: Vec::new(),
            granted: 0,
            stored: 0,
            last_request: 0,
        };
        if world.run().is_some() {
            broken += 1;
            first.get_or_insert(number);
        }
        granted += world.granted;
        stored += world.stored;
    }
    (broken, granted, stored, first)
}

#[test]
fn no_schedule_gives_two_live_defaults() {
    let count: u64 = std::env::var("SCHEDULES").ok().and_then(|count| count.parse().ok()).unwrap_or(60_000);
    for (about, partial) in [("all exclude one another", false), ("some exclude one another", true)] {
        let (broken, granted, stored, first) = schedules(true, partial, count);
        println!(
            "claims, {about}: {count} schedules, {granted} claims granted, {stored} defaults stored, {broken} broken"
        );
        assert_eq!(broken, 0, "schedule {first:?} of this seed");
        assert!(stored > count, "the schedules store next to nothing");

        let (broken, _, stored, _) = schedules(false, partial, count);
        println!("no claims, {about}: {count} schedules, {stored} defaults stored, {broken} broken");
        assert!(broken > count / 100, "the schedules would not notice a protocol that does nothing");
    }
}
