//! Runs a claim's procedure against the API server, within its budget and without retries: a write whose outcome is not
//! known must not be repeated as if it had not happened.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use kube::Client;
use serde_json::Value;

use super::attempt::{Call, Outcome, Reply, Step};
use super::{Pending, Seen, lease};
use crate::cluster::send;
use crate::kinds::KindInfo;

/// The whole step. The API server waits 10 s for kinds with a claim.
const BUDGET: Duration = Duration::from_secs(5);

/// Why a claim could be neither taken nor refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The API server did not answer in time.
    #[error("the API server did not answer within {} s", BUDGET.as_secs())]
    Slow,
    /// A right is missing.
    #[error("usher may not {verb} {resource} in the group {group:?}")]
    Forbidden {
        /// The verb.
        verb: &'static str,
        /// The resource.
        resource: String,
        /// Its group.
        group: String,
    },
    /// usher's own namespace is missing.
    #[error("there is no namespace {0:?}, where usher keeps its claims")]
    NoNamespace(String),
    /// A call failed; whether a write took place is not known.
    #[error("the API server failed: {0}")]
    Failed(String),
}

impl Error {
    /// Is it worth trying again soon?
    pub fn is_transient(&self) -> bool {
        !matches!(self, Self::Forbidden { .. } | Self::NoNamespace(_))
    }

    /// A word for metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Forbidden { .. } => "forbidden",
            Self::NoNamespace(_) => "no_namespace",
            Self::Failed(_) => "failed",
        }
    }
}

/// Where claims are kept and how long they last.
#[derive(Clone)]
pub struct Claims {
    client: Client,
    namespace: String,
    grace: SignedDuration,
}

impl std::fmt::Debug for Claims {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Claims").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

/// The parts of a request to the API server.
struct Ask {
    verb: &'static str,
    method: &'static str,
    group: String,
    resource: String,
    path: String,
    body: Option<Value>,
}

impl Claims {
    /// Claims kept in a namespace. The client must not retry.
    pub fn new(client: Client, namespace: String, grace: SignedDuration) -> Self {
        Self { client, namespace, grace }
    }

    /// Takes a claim.
    ///
    /// # Errors
    /// When the API server fails or does not answer; then nothing may be admitted.
    pub async fn take(&self, pending: &Pending) -> Result<Outcome, Error> {
        tokio::time::timeout(BUDGET, self.run(pending)).await.map_err(|_| Error::Slow)?
    }

    async fn run(&self, pending: &Pending) -> Result<Outcome, Error> {
        let mut attempt = pending.attempt.clone();
        let mut step = attempt.begin();
        loop {
            let call = match step {
                Step::Done(outcome) => return Ok(outcome),
                Step::Call(call) => call,
            };
            let reply = self.call(call, pending.kind, &pending.attempt.lease, &*pending.look).await?;
            step = attempt.reply(reply, Timestamp::now(), self.grace);
        }
    }

    /// Makes one call of a procedure.
    pub(super) async fn call(
        &self,
        call: Call,
        kind: &KindInfo,
        lease: &str,
        look: &(dyn Fn(&Value) -> Seen + Send + Sync),
    ) -> Result<Reply, Error> {
        Ok(match call {
            Call::List => {
                let list = self.ask(object(kind, "list", "")).await?;
                let items = list.as_ref().and_then(|list| list["items"].as_array());
                // No list at all (the kind is not installed) cannot be: the object under review is of the kind.
                let items = items.ok_or_else(|| Error::Failed("the list has no items".to_owned()))?;
                Reply::Listed(items.iter().map(look).collect())
            }
            // A Lease without a holder has nobody to look at.
            Call::ReadHolder(name) if name.is_empty() => Reply::Holder(None),
            Call::ReadHolder(name) => {
                let found = self.ask(object(kind, "get", &name)).await?;
                Reply::Holder(found.as_ref().map(look))
            }
            Call::ReadLease => Reply::Lease(self.read(lease).await?),
            Call::Create(claim) => {
                let body = lease::write(&self.namespace, lease, &claim, None);
                self.write(self.lease("create", "", Some(body))).await?
            }
            Call::Replace(claim, version) => {
                let body = lease::write(&self.namespace, lease, &claim, Some(&version));
                self.write(self.lease("update", lease, Some(body))).await?
            }
        })
    }

    /// A claim and its version.
    async fn read(&self, name: &str) -> Result<Option<(super::fate::Claim, String)>, Error> {
        let found = self.ask(self.lease("get", name, None)).await?;
        Ok(found.map(|found| {
            let version = found["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
            (lease::read(&found), version)
        }))
    }

    fn lease(&self, verb: &'static str, name: &str, body: Option<Value>) -> Ask {
        let base = format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", self.namespace);
        Ask {
            verb,
            method: match verb {
                "create" => "POST",
                "update" => "PUT",
                _ => "GET",
            },
            group: "coordination.k8s.io".to_owned(),
            resource: "leases".to_owned(),
            path: if name.is_empty() { base } else { format!("{base}/{name}") },
            body,
        }
    }

    async fn write(&self, ask: Ask) -> Result<Reply, Error> {
        match self.send(&ask).await {
            Ok(_) => Ok(Reply::Written),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(Reply::Conflict),
            // Gone meanwhile. Of a creation it means that there is no such namespace, which trying again does not help.
            Err(kube::Error::Api(status)) if status.code == 404 && ask.verb == "update" => {
                Ok(Reply::Conflict)
            }
            Err(kube::Error::Api(status)) if status.code == 404 => {
                Err(Error::NoNamespace(self.namespace.clone()))
            }
            Err(error) => Err(failure(&ask, error)),
        }
    }

    async fn ask(&self, ask: Ask) -> Result<Option<Value>, Error> {
        match self.send(&ask).await {
            Ok(value) => Ok(Some(value)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(failure(&ask, error)),
        }
    }

    async fn send(&self, ask: &Ask) -> Result<Value, kube::Error> {
        send(&self.client, ask.method, &ask.path, ask.body.as_ref()).await
    }
}

/// A read of the kind's objects, all or one.
fn object(kind: &KindInfo, verb: &'static str, name: &str) -> Ask {
    let base = format!("/apis/{}/{}/{}", kind.group, kind.storage_version(), kind.plural);
    Ask {
        verb,
        method: "GET",
        group: kind.group.to_owned(),
        resource: kind.plural.to_owned(),
        path: if name.is_empty() { base } else { format!("{base}/{name}") },
        body: None,
    }
}

fn failure(ask: &Ask, error: kube::Error) -> Error {
    match error {
        kube::Error::Api(status) if status.code == 403 => {
            Error::Forbidden { verb: ask.verb, resource: ask.resource.clone(), group: ask.group.clone() }
        }
        kube::Error::Api(status) => {
            Error::Failed(format!("{} {}: status {}", ask.verb, ask.resource, status.code))
        }
        // The text of a transport error names addresses, which are no business of the requester's.
        _ => Error::Failed(format!("{} {} got no answer", ask.verb, ask.resource)),
    }
}
