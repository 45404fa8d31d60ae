//! The leader confirms claims: what it has seen stored needs no grace any more. It only spares users the wait after a
//! create and a delete; nothing depends on it.
//!
//! The Lease is read first, then the object, both live: a cached "is the default" could be older than the claim, and would
//! confirm one that is still open. As the procedure of a claim, this is a machine that a simulation drives as well.

use serde_json::Value;

use super::Seen;
use super::attempt::{Call, Reply};
use super::fate::{Claim, Phase};
use super::take::{Claims, Error};
use crate::kinds::KindInfo;
use crate::model::object::Meta;

/// The confirmation of one object's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// Whose claim; anybody's when empty.
    holder: String,
    found: Option<(Claim, String)>,
}

impl Confirmation {
    /// Confirms the claim of a holder.
    pub fn new(holder: &str) -> Self {
        Self { holder: holder.to_owned(), found: None }
    }

    /// The first call.
    pub fn begin(&self) -> Call {
        Call::ReadLease
    }

    /// What to call next; nothing when there is nothing to confirm, or when it is done.
    pub fn reply(&mut self, reply: Reply) -> Option<Call> {
        match (self.found.take(), reply) {
            (None, Reply::Lease(Some((claim, version)))) => {
                let ours = self.holder.is_empty() || claim.holder == self.holder;
                let open = claim.phase == Phase::Pending && !claim.overlap;
                let call = Call::ReadHolder(claim.holder.clone());
                self.found = Some((claim, version));
                (ours && open).then_some(call)
            }
            (Some((mut claim, version)), Reply::Holder(holder)) => {
                let can = claim.can_be_confirmed(holder.as_ref());
                claim.phase = Phase::Confirmed;
                can.then_some(Call::Replace(claim, version))
            }
            _ => None,
        }
    }
}

impl Claims {
    /// Confirms the claim of an object, if it can be; says whether it is confirmed now.
    ///
    /// # Errors
    /// When the API server fails.
    pub async fn confirm(&self, kind: &KindInfo, lease: &str, name: &str) -> Result<bool, Error> {
        let mut confirmation = Confirmation::new(name);
        let mut call = confirmation.begin();
        loop {
            let reply = self.call(call, kind, lease, &identity).await?;
            let written = reply == Reply::Written;
            match confirmation.reply(reply) {
                Some(next) => call = next,
                None => return Ok(written),
            }
        }
    }
}

/// Only who it is and in which version matters here.
fn identity(object: &Value) -> Seen {
    use serde::Deserialize as _;
    let Meta { name, uid, resource_version, .. } = Meta::deserialize(&object["metadata"]).unwrap_or_default();
    Seen { name, uid, resource_version, is_live: false, rivals: false }
}
