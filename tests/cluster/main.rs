//! Tests on real API servers, all in one process so that each is started once. Run by `make test`, or with
//! `cargo test --test cluster`.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod certificates;
mod claims;
mod corpus;
mod differential;
mod door;
mod guard;
mod leader;
mod lifecycle;
mod manifests;
mod outage;
mod silence;
mod silence_cli;

use tokio::sync::{Mutex, MutexGuard, OnceCell, Semaphore, SemaphorePermit};

use support::cluster::Cluster;

/// Most tests wait most of the time, so two clusters take half as long; more would ask for more cores.
const PLACES: usize = 2;

struct Place {
    cluster: OnceCell<Cluster>,
    turn: Mutex<()>,
}

/// A cluster of one's own, until this is dropped.
pub struct Turn {
    _turn: MutexGuard<'static, ()>,
    _permit: SemaphorePermit<'static>,
}

/// A cluster of this process, with every CRD installed, for one test at a time: tests change cluster-wide things.
/// It is ended by its supervisors when the process ends, however that happens.
pub async fn cluster() -> (&'static Cluster, Turn) {
    static POOL: [Place; PLACES] =
        [const { Place { cluster: OnceCell::const_new(), turn: Mutex::const_new(()) } }; PLACES];
    static FREE: Semaphore = Semaphore::const_new(PLACES);
    let permit = FREE.acquire().await.expect("it is never closed");
    let mut free = POOL.iter().filter_map(|place| Some((place, place.turn.try_lock().ok()?)));
    let (place, turn) = free.next().expect("a permit is a free place");
    let begin = || async {
        let cluster = Cluster::start().await;
        support::install::everything(&cluster);
        cluster
    };
    (place.cluster.get_or_init(begin).await, Turn { _turn: turn, _permit: permit })
}
