//! The third door: an object may be older than the webhook, or have come while it was down. The same rules judge it
//! again, and what they refuse is never synced.

use crate::model::object::Object;
use crate::review::admit::{self, Undecodable};
use crate::review::door::denied;
use crate::rule::{Facts, Finding, Findings, Operation, Uniqueness, User};
use jiff::Timestamp;

use super::stored::Stored;
use super::{Context, Synced};
use crate::kinds::Kind;

/// Proof that the rules admit an object. Only the guard makes one, and a `sync` takes nothing else.
///
/// This is how one is had:
///
/// ```
/// use usher::kinds::account::Account;
/// use usher::model::object::Object;
/// use usher::reconcile::guard::{Admitted, judge};
/// use usher::rule::Facts;
///
/// fn admitted<'a>(
///     object: &'a Object<usher::kinds::account::spec::AccountSpec>,
///     facts: &Facts<'_>,
/// ) -> Option<Admitted<'a, Account>> {
///     judge::<Account>(Ok(object), facts).admitted
/// }
/// ```
///
/// and this is how not:
///
/// ```compile_fail,E0451
/// use usher::kinds::account::Account;
/// use usher::model::object::Object;
/// use usher::reconcile::guard::{Admitted, judge};
/// use usher::rule::Facts;
///
/// fn admitted<'a>(
///     object: &'a Object<usher::kinds::account::spec::AccountSpec>,
///     facts: &Facts<'_>,
/// ) -> Option<Admitted<'a, Account>> {
///     Some(Admitted { object })
/// }
/// ```
///
/// A `sync` takes what the guard admitted:
///
/// ```
/// use usher::kinds::account::Account;
/// use usher::reconcile::guard::Admitted;
/// use usher::reconcile::{Context, Synced, stored::Stored};
///
/// async fn sync(
///     object: Admitted<'_, Account>,
///     stored: &Stored<Account>,
///     context: &Context,
/// ) {
///     let _ = Account::sync(object, stored, context).await;
/// }
/// ```
///
/// and not the bare object:
///
/// ```compile_fail,E0308
/// use usher::kinds::account::Account;
/// use usher::model::object::Object;
/// use usher::reconcile::{Context, Synced, stored::Stored};
///
/// async fn sync(
///     object: &Object<usher::kinds::account::spec::AccountSpec>,
///     stored: &Stored<Account>,
///     context: &Context,
/// ) {
///     let _ = Account::sync(object, stored, context).await;
/// }
/// ```
#[derive(Debug)]
pub struct Admitted<'a, K: Kind> {
    object: &'a Object<K::Spec>,
}

impl<'a, K: Kind> Admitted<'a, K> {
    /// The object.
    pub fn object(&self) -> &'a Object<K::Spec> {
        self.object
    }
}

/// What the guard found.
#[derive(Debug)]
pub struct Judgement<'a, K: Kind> {
    /// The object, if the rules admit it.
    pub admitted: Option<Admitted<'a, K>>,
    /// What refuses it.
    pub refusals: Vec<Finding>,
    /// Another object stands before it where only one can be. That alone never refuses: it stays usable by name.
    pub conflict: Option<Finding>,
}

/// What the guard's judgements rest on: nobody asks, and everything is stored already.
pub fn facts<'a>(context: &'a Context, user: &'a User, now: Timestamp) -> Facts<'a> {
    Facts {
        operation: Operation::Update,
        user,
        now,
        settings: &context.settings,
        view: &context.view,
        uniqueness: Uniqueness::ByAge,
    }
}

/// Judges a stored object as the doors would judge it now.
pub fn judge<'a, K: Kind>(
    object: Result<&'a Object<K::Spec>, &Undecodable>,
    facts: &Facts<'_>,
) -> Judgement<'a, K> {
    let findings = match object {
        Ok(object) => admit::validate::<K>(object, None, facts),
        Err(undecodable) => denied(undecodable.clone()),
    };
    let is_conflict =
        |finding: &Finding| K::SINGLE.as_ref().is_some_and(|single| finding.rule == single.rule);
    let (conflicts, refusals): (Vec<Finding>, Vec<Finding>) =
        errors(findings).filter(|finding| !K::DOOR_ONLY.contains(&finding.rule)).partition(is_conflict);
    let admitted = match object {
        Ok(object) if refusals.is_empty() => Some(Admitted { object }),
        _ => None,
    };
    Judgement { admitted, refusals, conflict: conflicts.into_iter().next() }
}

/// Judges what a reconciler watches.
pub fn judge_stored<'a, K: Synced>(stored: &'a Stored<K>, facts: &Facts<'_>) -> Judgement<'a, K> {
    judge::<K>(stored.object.as_ref(), facts)
}

fn errors(findings: Findings) -> impl Iterator<Item = Finding> {
    findings.into_iter().filter(|finding| finding.severity == crate::rule::Severity::Error)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::account::Account;
    use crate::kinds::account::spec::AccountSpec;
    use crate::settings::Settings;
    use crate::view::View;
    use crate::view::files::fill;

    fn account(name: &str, second: u32, key: &str) -> serde_json::Value {
        json!({
            "apiVersion": "uptimerobot.com/v1alpha1",
            "kind": "Account",
            "metadata": {"name": name, "creationTimestamp": format!("2026-01-10T10:00:{second:02}Z")},
            "spec": {"isDefault": true, "apiKeySecretRef": {"name": "s", "key": key}}
        })
    }

    fn judged(view: &View, value: &serde_json::Value) -> (bool, Vec<&'static str>, Option<String>) {
        let (settings, user) = (Settings::default(), User::default());
        let facts = Facts {
            operation: Operation::Update,
            user: &user,
            now: Timestamp::UNIX_EPOCH,
            settings: &settings,
            view,
            uniqueness: Uniqueness::ByAge,
        };
        let object: Object<AccountSpec> = serde_json::from_value(value.clone()).unwrap();
        let judgement = judge::<Account>(Ok(&object), &facts);
        let codes = judgement.refusals.iter().map(|finding| finding.rule.code).collect();
        (judgement.admitted.is_some(), codes, judgement.conflict.and_then(|conflict| conflict.value))
    }

    #[test]
    fn the_oldest_default_stands_and_the_others_stay_admitted() {
        let (old, young) = (account("b", 1, "k"), account("a", 2, "k"));
        let same = account("c", 1, "k");
        let view = View::default();
        fill(&view, vec![old.clone(), young.clone(), same.clone()], "default");
        assert_eq!(judged(&view, &old), (true, vec![], None));
        assert_eq!(judged(&view, &young), (true, vec![], Some("b".to_owned())));
        assert_eq!(
            judged(&view, &same),
            (true, vec![], Some("b".to_owned())),
            "of the same age the lowest name"
        );
    }

    #[test]
    fn what_the_rules_refuse_is_not_admitted() {
        let bad = account("a", 1, "");
        let view = View::default();
        fill(&view, vec![bad.clone()], "default");
        assert_eq!(judged(&view, &bad), (false, vec!["USHA001"], None));
    }
}
