//! One leader among the replicas, by a Lease.
//!
//! # Guarantees
//! A replica writes as leader only until two thirds of the Lease's duration after it *began* the last renewal that
//! succeeded; others take the Lease over only when they have seen it unchanged for its whole duration. So one third of the
//! duration lies between the last write of one leader and the first of the next, whatever their clocks say: only elapsed
//! time is compared, never instants of two machines.
//!
//! A Lease that is deleted by hand is made anew only after it has been missing for its duration, unless nobody else has led
//! since this replica started.
//!
//! # Caveats
//! A write that the API server holds back for longer than that third can still land late.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::Error;
use crate::cluster::{micro_time, send};
use crate::names;
use crate::observe::metrics::Metrics;
use crate::serve::diagnostics::{Troubles, note};

/// The least that can be configured: below it the scheduling of processes begins to matter.
pub const LEAST_DURATION: Duration = Duration::from_secs(1);

/// The right to write, shared by everything that writes as leader.
#[derive(Debug, Clone)]
pub struct Leadership {
    /// Until when this replica may write; nothing when it may not.
    until: Arc<Mutex<Option<Instant>>>,
    changes: Arc<watch::Sender<bool>>,
    /// How many writes are under way.
    writing: Arc<AtomicUsize>,
    /// This replica, as the Lease names it.
    pub identity: Arc<str>,
}

impl Leadership {
    /// Nobody yet.
    pub fn new(identity: String) -> Self {
        Self {
            until: Arc::default(),
            changes: Arc::new(watch::Sender::new(false)),
            writing: Arc::default(),
            identity: identity.into(),
        }
    }

    /// May this replica write now?
    pub fn is_held(&self) -> bool {
        self.deadline().is_some()
    }

    /// Tells whether this replica is the leader, and every change of it.
    pub fn changes(&self) -> watch::Receiver<bool> {
        self.changes.subscribe()
    }

    fn deadline(&self) -> Option<Instant> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        until.filter(|until| Instant::now() < *until)
    }

    /// Does something only the leader may do, and gives it up at the instant at which this replica is, or may be, the leader
    /// no longer.
    ///
    /// # Errors
    /// When this replica is not the leader, or ceases to be while waiting.
    pub async fn write<T>(&self, doing: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let _writing = Writing::new(&self.writing);
        let mut changes = self.changes.subscribe();
        self.deadline().ok_or(Error::NotLeader)?;
        // It is put off whenever the leader says again that it is.
        let ended = async {
            while let Some(deadline) = self.deadline() {
                tokio::time::sleep_until(deadline.into()).await;
            }
        };
        tokio::select! {
            biased;
            () = super::supervisor::told_to_be(&mut changes, false) => Err(Error::NotLeader),
            () = ended => Err(Error::NotLeader),
            done = doing => done,
        }
    }

    /// Waits until no write is under way; they are being given up.
    async fn idle(&self) {
        while self.writing.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn set(&self, until: Option<Instant>) {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        self.changes.send_if_modified(|held| {
            let changed = *held != until.is_some();
            *held = until.is_some();
            changed
        });
    }
}

/// Counts a write for as long as it is under way.
struct Writing<'a>(&'a AtomicUsize);

impl<'a> Writing<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The part that elects.
pub struct Election {
    client: Client,
    namespace: String,
    duration: Duration,
    leadership: Leadership,
    metrics: Arc<Metrics>,
    troubles: Arc<Troubles>,
    /// The Lease's version as last seen, and since when it has been that; an empty version: there is none.
    observed: Option<(String, Instant)>,
    /// Somebody else has been the leader: without a Lease he may not have noticed yet that it is gone.
    seen_another: bool,
}

impl std::fmt::Debug for Election {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Election").field("leadership", &self.leadership).finish_non_exhaustive()
    }
}

impl Election {
    /// Takes part in the election of usher's leader.
    pub fn new(
        client: Client,
        namespace: String,
        duration: Duration,
        leadership: Leadership,
        metrics: Arc<Metrics>,
        troubles: Arc<Troubles>,
    ) -> Self {
        Self {
            client,
            namespace,
            duration,
            leadership,
            metrics,
            troubles,
            observed: None,
            seen_another: false,
        }
    }

    /// Runs until told to stop; then lets go of the Lease, so that another replica need not wait.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let pause = self.duration.mul_f64(2.0 / 15.0);
        let mut silent_since: Option<Instant> = None;
        loop {
            let began = Instant::now();
            let tried = tokio::time::timeout(self.duration.mul_f64(1.0 / 3.0), self.try_once()).await;
            match tried {
                Ok(Ok(held)) => {
                    silent_since = None;
                    note(&self.troubles.api, String::new());
                    let until = held.then(|| began + self.duration.mul_f64(2.0 / 3.0));
                    self.become_leader(until);
                }
                failed => {
                    if silent_since.is_none() {
                        tracing::warn!(why = told(&failed), "the leader's Lease cannot be read or written");
                    }
                    let since = *silent_since.get_or_insert(began);
                    let seconds = since.elapsed().as_secs();
                    let text = match &failed {
                        Ok(Err(kube::Error::Api(_))) => {
                            format!(
                                "the API server has refused the leader's Lease for {seconds} s: {}",
                                told(&failed)
                            )
                        }
                        _ => format!("the API server has not answered for {seconds} s: {}", told(&failed)),
                    };
                    note(&self.troubles.api, text);
                    if !self.leadership.is_held() {
                        self.become_leader(None);
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = super::supervisor::told_to(&mut stop) => break,
            }
        }
        let held = self.leadership.is_held();
        self.become_leader(None);
        if held {
            // Nobody else may begin while something of ours is still on its way.
            let ending = async {
                self.leadership.idle().await;
                self.release().await
            };
            let _ = tokio::time::timeout(Duration::from_secs(2), ending).await;
        }
    }

    fn become_leader(&self, until: Option<Instant>) {
        let was = *self.leadership.changes().borrow();
        if was != until.is_some() {
            tracing::info!(leader = until.is_some(), identity = &*self.leadership.identity, "election");
        }
        self.metrics.leader.set(i64::from(until.is_some()));
        self.leadership.set(until);
    }

    fn path(&self, name: &str) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases{name}", self.namespace)
    }

    /// One look at the Lease, and a write when it is ours or free. Says whether it is ours now.
    async fn try_once(&mut self) -> Result<bool, kube::Error> {
        let own = format!("/{}", names::LEADER_LEASE);
        let lease = match self.send("GET", self.path(&own), None).await {
            Ok(lease) => lease,
            Err(kube::Error::Api(status)) if status.code == 404 => {
                // Somebody else may lead and not have noticed yet; who leads himself knows better.
                let may_be_led = !self.leadership.is_held() && (self.seen_another || self.was_there());
                if may_be_led && self.observe("") <= self.duration {
                    return Ok(false);
                }
                let lease = self.lease(Timestamp::now(), 0, None);
                return self.won(self.send("POST", self.path(""), Some(lease)).await);
            }
            Err(error) => return Err(error),
        };
        let version = lease["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let quiet = self.observe(&version);
        let spec = &lease["spec"];
        let holder = spec["holderIdentity"].as_str().unwrap_or_default();
        let transitions = spec["leaseTransitions"].as_i64().unwrap_or(0);
        let now = Timestamp::now();
        let next = if *holder == *self.leadership.identity {
            let acquired = spec["acquireTime"].as_str().and_then(|text| text.parse().ok()).unwrap_or(now);
            self.lease(acquired, transitions, Some(&version))
        } else {
            let lasts = spec["leaseDurationSeconds"].as_u64().map_or(self.duration, Duration::from_secs);
            self.seen_another |= !holder.is_empty();
            if !holder.is_empty() && quiet <= lasts.max(self.duration) {
                return Ok(false);
            }
            self.lease(now, transitions + 1, Some(&version))
        };
        self.won(self.send("PUT", self.path(&own), Some(next)).await)
    }

    /// Has there been a Lease, or has one been missing since?
    fn was_there(&self) -> bool {
        self.observed.is_some()
    }

    /// Notes the Lease's version, and says how long it has been that.
    fn observe(&mut self, version: &str) -> Duration {
        match &self.observed {
            Some((known, since)) if known == version => since.elapsed(),
            _ => {
                self.observed = Some((version.to_owned(), Instant::now()));
                Duration::ZERO
            }
        }
    }

    /// A lost race is no failure. That there is nothing to create the Lease in is one.
    fn won(&mut self, written: Result<Value, kube::Error>) -> Result<bool, kube::Error> {
        match written {
            Ok(lease) => {
                self.observe(lease["metadata"]["resourceVersion"].as_str().unwrap_or_default());
                Ok(true)
            }
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn release(&self) -> Result<(), kube::Error> {
        let own = format!("/{}", names::LEADER_LEASE);
        let mut lease = self.send("GET", self.path(&own), None).await?;
        if lease["spec"]["holderIdentity"] == *self.leadership.identity {
            lease["spec"]["holderIdentity"] = json!("");
            self.send("PUT", self.path(&own), Some(lease)).await?;
        }
        Ok(())
    }

    fn lease(&self, acquired: Timestamp, transitions: i64, version: Option<&str>) -> Value {
        let mut lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": names::LEADER_LEASE, "namespace": self.namespace},
            "spec": {
                "holderIdentity": &*self.leadership.identity,
                // Whole seconds, never less than what this replica counts with.
                "leaseDurationSeconds": self.duration.as_secs() + u64::from(self.duration.subsec_nanos() > 0),
                "acquireTime": micro_time(acquired),
                "renewTime": micro_time(Timestamp::now()),
                "leaseTransitions": transitions,
            }
        });
        if let Some(version) = version {
            lease["metadata"]["resourceVersion"] = json!(version);
        }
        lease
    }

    async fn send(&self, method: &str, path: String, body: Option<Value>) -> Result<Value, kube::Error> {
        send(&self.client, method, &path, body.as_ref()).await
    }
}

fn told(failed: &Result<Result<bool, kube::Error>, tokio::time::error::Elapsed>) -> String {
    match failed {
        Ok(Err(error)) => error.to_string(),
        _ => "no answer in time".to_owned(),
    }
}

/// A name for this replica that no other has had or will have.
pub fn identity() -> String {
    use std::hash::{BuildHasher as _, Hasher as _};
    let host = std::env::var("HOSTNAME").ok().filter(|name| !name.is_empty());
    let host = host.or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").ok());
    let host = host.unwrap_or_default();
    let random = std::hash::RandomState::new().build_hasher().finish();
    format!("{}_{}_{random:016x}", host.trim(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_leader_writes_and_only_while_it_is() {
        let leadership = Leadership::new("me".to_owned());
        assert!(matches!(leadership.write(async { Ok(1) }).await, Err(Error::NotLeader)));
        leadership.set(Some(Instant::now() + Duration::from_secs(5)));
        assert_eq!(leadership.write(async { Ok(1) }).await.unwrap(), 1);
        leadership.set(Some(Instant::now() + Duration::from_millis(50)));
        let slow = async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(1)
        };
        let began = Instant::now();
        assert!(matches!(leadership.write(slow).await, Err(Error::NotLeader)));
        assert!(began.elapsed() < Duration::from_secs(1), "given up when the right ends");
        assert!(!leadership.is_held());

        leadership.set(Some(Instant::now() + Duration::from_millis(100)));
        let renewer = leadership.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            renewer.set(Some(Instant::now() + Duration::from_secs(5)));
        });
        let long = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok(1)
        };
        assert_eq!(
            leadership.write(long).await.unwrap(),
            1,
            "longer than the first right, not than its renewal"
        );

        leadership.set(Some(Instant::now() + Duration::from_secs(5)));
        let giver = leadership.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(50)).await;
            giver.set(None);
        });
        let slow = async {
            tokio::time::sleep(Duration::from_secs(4)).await;
            Ok(1)
        };
        let began = Instant::now();
        assert!(matches!(leadership.write(slow).await, Err(Error::NotLeader)));
        assert!(began.elapsed() < Duration::from_secs(1), "given up when the leadership is given up");
        leadership.idle().await;
    }
}
