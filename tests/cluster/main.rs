//! Tests on a real API server, all in one process so that it is started once. Run by `make test`, or with
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

use tokio::sync::{Mutex, MutexGuard, OnceCell};

use support::cluster::Cluster;

/// The cluster of this process, with every CRD installed, for one test at a time: tests change cluster-wide things.
/// It is ended by its supervisors when the process ends, however that happens.
pub async fn cluster() -> (&'static Cluster, MutexGuard<'static, ()>) {
    static CLUSTER: OnceCell<Cluster> = OnceCell::const_new();
    static TURN: Mutex<()> = Mutex::const_new(());
    let turn = TURN.lock().await;
    let cluster = CLUSTER
        .get_or_init(|| async {
            let cluster = Cluster::start().await;
            support::install::everything(&cluster);
            cluster
        })
        .await;
    (cluster, turn)
}
