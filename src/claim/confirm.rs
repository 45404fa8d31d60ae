//! The leader confirms claims: what it has seen stored needs no grace any more. It only spares users the wait after a
//! create and a delete; nothing depends on it.

use super::Seen;
use super::fate::Phase;
use super::take::{Claims, Error, object};
use crate::kinds::KindInfo;
use crate::model::object::Meta;

impl Claims {
    /// Confirms the claim of an object, if it can be: the Lease is read first, then the object, both live. A cached "is
    /// the default" could be older than the claim, and would confirm one that is still open.
    ///
    /// # Errors
    /// When the API server fails.
    pub async fn confirm(&self, kind: &KindInfo, lease: &str, name: &str) -> Result<bool, Error> {
        use serde::Deserialize as _;
        let Some((mut claim, version)) = self.read(lease).await? else { return Ok(false) };
        if claim.holder != name || claim.phase == Phase::Confirmed || claim.overlap {
            return Ok(false);
        }
        let found = self.ask(object(kind, "get", name)).await?;
        let holder = found.map(|found| {
            let Meta { name, uid, resource_version, .. } =
                Meta::deserialize(&found["metadata"]).unwrap_or_default();
            Seen { name, uid, resource_version, is_live: true, rivals: false }
        });
        if !claim.can_be_confirmed(holder.as_ref()) {
            return Ok(false);
        }
        claim.phase = Phase::Confirmed;
        self.replace(lease, &claim, &version).await
    }
}
