//! A claim as a Lease, and back. What is missing or cannot be read counts as the most careful value: pending, a
//! creation, with overlap, as old as the Lease itself.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::fate::{Claim, Origin, Phase};
use crate::cluster::micro_time;
use crate::names;

/// Reads the claim of a Lease.
pub fn read(lease: &Value) -> Claim {
    let annotation = |key: &str| lease["metadata"]["annotations"][key].as_str();
    let time = |value: &Value| value.as_str().and_then(|text| text.parse::<Timestamp>().ok());
    let renewed = time(&lease["spec"]["renewTime"])
        .or_else(|| time(&lease["metadata"]["creationTimestamp"]))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    Claim {
        holder: lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned(),
        uid: annotation(names::CLAIM_UID).unwrap_or_default().to_owned(),
        origin: match annotation(names::CLAIM_FROM) {
            None | Some("") => Origin::Create,
            Some(version) => Origin::Update(version.to_owned()),
        },
        phase: match annotation(names::CLAIM_PHASE) {
            Some("confirmed") => Phase::Confirmed,
            _ => Phase::Pending,
        },
        overlap: annotation(names::CLAIM_OVERLAP) != Some("false"),
        acquired: time(&lease["spec"]["acquireTime"]).unwrap_or(renewed),
        renewed,
    }
}

/// The Lease of a claim; with a version it replaces just that one.
pub fn write(namespace: &str, name: &str, claim: &Claim, version: Option<&str>) -> Value {
    let from = match &claim.origin {
        Origin::Create => "",
        Origin::Update(version) => version,
    };
    let phase = match claim.phase {
        Phase::Pending => "pending",
        Phase::Confirmed => "confirmed",
    };
    let mut lease = json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {names::CLAIM: "true"},
            "annotations": {
                names::CLAIM_UID: claim.uid,
                names::CLAIM_FROM: from,
                names::CLAIM_PHASE: phase,
                names::CLAIM_OVERLAP: if claim.overlap { "true" } else { "false" },
            }
        },
        "spec": {
            "holderIdentity": claim.holder,
            "acquireTime": micro_time(claim.acquired),
            "renewTime": micro_time(claim.renewed),
        }
    });
    if let Some(version) = version {
        lease["metadata"]["resourceVersion"] = json!(version);
    }
    lease
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_survives_its_lease() {
        let at = "2026-01-10T10:00:00.000123Z".parse::<Timestamp>().unwrap();
        for (origin, phase, overlap) in
            [(Origin::Create, Phase::Pending, true), (Origin::Update("17".into()), Phase::Confirmed, false)]
        {
            let holder = "a".to_owned();
            let claim = Claim { holder, uid: "u".into(), origin, phase, overlap, acquired: at, renewed: at };
            let lease = write("usher-system", "l", &claim, Some("5"));
            assert_eq!(read(&lease), claim);
            assert_eq!(lease["spec"]["renewTime"], "2026-01-10T10:00:00.000123Z");
        }
    }

    /// Replicas of two versions work side by side during an upgrade: what one writes the other must read.
    #[test]
    fn the_form_of_a_claim_is_stable() {
        let written = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": "uptime-default-account",
                "namespace": "usher-system",
                "labels": {"usher.dev/claim": "true"},
                "annotations": {
                    "usher.dev/claim-uid": "u1",
                    "usher.dev/claim-from": "17",
                    "usher.dev/claim-phase": "confirmed",
                    "usher.dev/claim-overlap": "false"
                }
            },
            "spec": {
                "holderIdentity": "main",
                "acquireTime": "2026-01-10T10:00:00.000000Z",
                "renewTime": "2026-01-10T10:00:01.500000Z"
            }
        });
        let claim = Claim {
            holder: "main".into(),
            uid: "u1".into(),
            origin: Origin::Update("17".into()),
            phase: Phase::Confirmed,
            overlap: false,
            acquired: "2026-01-10T10:00:00Z".parse().unwrap(),
            renewed: "2026-01-10T10:00:01.5Z".parse().unwrap(),
        };
        assert_eq!(read(&written), claim);
        assert_eq!(write("usher-system", "uptime-default-account", &claim, None), written);
    }

    #[test]
    fn what_cannot_be_read_is_taken_as_the_most_careful_value() {
        let claim = read(
            &json!({"metadata": {"creationTimestamp": "2026-01-10T10:00:00Z"}, "spec": {"renewTime": 7}}),
        );
        assert_eq!((claim.origin, claim.phase, claim.overlap), (Origin::Create, Phase::Pending, true));
        assert_eq!(claim.renewed.to_string(), "2026-01-10T10:00:00Z");
    }
}
