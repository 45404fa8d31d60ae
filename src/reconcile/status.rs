//! The conditions that every reconciled object has, written by server-side apply and only when something changed.

use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::guard::Judgement;
use super::stored::Stored;
use super::{Context, Error, Synced, Told};
use crate::model::condition::{Condition, ConditionStatus};
use crate::names;
use crate::rule::Finding;

/// Would the door admit the object now?
pub const ACCEPTED: &str = "Accepted";
/// Does another object stand before it where only one can be?
pub const DEFAULT_CONFLICT: &str = "DefaultConflict";
/// Is it behind the door as it should be?
pub const READY: &str = "Ready";
/// A condition holds 32 KiB; nobody reads more than this.
const LONGEST_MESSAGE: usize = 4096;

/// The conditions that follow from a judgement and from what came of it. What did not change keeps its time.
pub fn conditions<K: Synced>(
    stored: &Stored<K>,
    judgement: &Judgement<'_, K>,
    ready: Option<&Told>,
    now: Timestamp,
) -> Vec<Condition> {
    let make = |kind: &str, status, reason: &str, message: String| {
        let before = stored.conditions.iter().find(|known| known.r#type == kind);
        condition(before, kind, status, reason, message, stored.generation(), now)
    };
    let accepted = if judgement.refusals.is_empty() {
        make(ACCEPTED, ConditionStatus::True, "Accepted", "the rules admit the object".to_owned())
    } else {
        make(ACCEPTED, ConditionStatus::False, "Refused", listed(&judgement.refusals))
    };
    let conflict = judgement.conflict.as_ref().map(|finding| {
        let message = format!("{}, and older ({})", finding.message, finding.rule.code);
        make(DEFAULT_CONFLICT, ConditionStatus::True, "OlderDefault", message)
    });
    let ready = ready.map(|told| {
        let status = if told.holds { ConditionStatus::True } else { ConditionStatus::False };
        make(READY, status, told.reason, cut(&told.message, LONGEST_MESSAGE))
    });
    [Some(accepted), conflict, ready].into_iter().flatten().collect()
}

/// A condition that keeps the time of the one before while its status is the same.
pub fn condition(
    before: Option<&Condition>,
    kind: &str,
    status: ConditionStatus,
    reason: &str,
    message: String,
    generation: Option<i64>,
    now: Timestamp,
) -> Condition {
    let since = before.filter(|known| known.status == status).map(|known| known.last_transition_time);
    Condition {
        r#type: kind.to_owned(),
        status,
        reason: reason.to_owned(),
        message,
        // Conditions have whole seconds.
        last_transition_time: since.unwrap_or_else(|| whole_seconds(now)),
        observed_generation: generation,
    }
}

/// Conditions and times in a status have whole seconds.
pub fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}

/// `USHS009 at spec.matchers[1]: …`, one after the other.
fn listed(refusals: &[Finding]) -> String {
    let lines: Vec<String> = refusals
        .iter()
        .map(|finding| format!("{} at {}: {}", finding.rule.code, finding.path, finding.message))
        .collect();
    cut(&lines.join("; "), LONGEST_MESSAGE)
}

/// At most that many bytes, on a character's end.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most - '…'.len_utf8()).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}…", &text[..end])
}

/// Is this the status that is stored? Of the conditions only those that usher writes are compared.
pub fn is_stored<K: Synced>(stored: &Stored<K>, wanted: &[Condition], status: &K::Status) -> bool {
    let ours =
        |condition: &&Condition| [ACCEPTED, DEFAULT_CONFLICT, READY].contains(&condition.r#type.as_str());
    let known: Vec<&Condition> = stored.conditions.iter().filter(ours).collect();
    known.len() == wanted.len()
        && wanted.iter().all(|condition| known.contains(&condition))
        && stored.status == *status
}

/// Writes the status; false when the object is gone.
///
/// # Errors
/// When this replica is not the leader, or the API server refuses or fails.
pub async fn apply<K: Synced>(
    stored: &Stored<K>,
    conditions: &[Condition],
    status: &K::Status,
    context: &Context,
) -> Result<bool, Error> {
    let metadata = stored.metadata();
    let mut status = serde_json::to_value(status).unwrap_or_default();
    status["observedGeneration"] = json!(stored.generation());
    status["conditions"] = json!(conditions);
    let mut document = json!({
        "apiVersion": K::INFO.api_version(),
        "kind": K::INFO.kind,
        // With the uid, an object that was deleted and made again is left alone.
        "metadata": {"name": metadata.name, "uid": metadata.uid},
        "status": status
    });
    if !metadata.namespace.is_empty() {
        document["metadata"]["namespace"] = json!(metadata.namespace);
    }
    let params = PatchParams::apply(names::FIELD_MANAGER).force();
    let api = super::driver::api::<K>(context, &metadata.namespace);
    let written = context
        .leadership
        .write(async {
            api.patch_status(&metadata.name, &params, &Patch::<Value>::Apply(document))
                .await
                .map_err(Error::api("writing the status"))
        })
        .await;
    match written {
        Ok(_) => {
            context.metrics.status_writes.get_or_create(&super::driver::label::<K>()).inc();
            Ok(true)
        }
        // Gone, or another object of that name: nothing to tell anybody.
        Err(Error::Api { source, .. }) if matches!(&*source, kube::Error::Api(status) if matches!(status.code, 404 | 409)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::account::{Account, codes};
    use crate::reconcile::ConditionsOnly;
    use crate::rule::{FieldPath, Findings};

    fn stored(conditions: Value) -> Stored<Account> {
        let object = json!({
            "metadata": {"name": "a", "uid": "u", "generation": 3},
            "spec": {"apiKeySecretRef": {"name": "s", "key": "k"}},
            "status": {"conditions": conditions}
        });
        object.into()
    }

    fn judgement(refused: bool) -> Judgement<'static, Account> {
        let mut findings = Findings::default();
        if refused {
            findings.deny(&codes::EMPTY_REFERENCE, FieldPath::spec("apiKeySecretRef"), "names no Secret");
        }
        Judgement { admitted: None, refusals: findings.into_iter().collect(), conflict: None }
    }

    #[test]
    fn nothing_is_written_when_nothing_changed() {
        let now: Timestamp = "2026-01-10T10:00:00.5Z".parse().unwrap();
        let nothing = ConditionsOnly::default();
        let first = conditions(&stored(json!([])), &judgement(false), None, now);
        assert!(!is_stored(&stored(json!([])), &first, &nothing));
        let known = stored(serde_json::to_value(&first).unwrap());
        let later = now + jiff::SignedDuration::from_hours(1);
        assert!(is_stored(&known, &conditions(&known, &judgement(false), None, later), &nothing));
        let refused = conditions(&known, &judgement(true), None, later);
        assert!(!is_stored(&known, &refused, &nothing));
        assert_eq!(refused[0].last_transition_time.to_string(), "2026-01-10T11:00:00Z");
        assert!(refused[0].message.contains("USHA001 at spec.apiKeySecretRef"), "{}", refused[0].message);
    }

    #[test]
    fn texts_are_cut_on_a_character() {
        assert_eq!(cut("äää", 100), "äää");
        assert_eq!(cut(&"ä".repeat(10), 10), "äää…");
    }
}
