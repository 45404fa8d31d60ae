//! Account: an UptimeRobot account, known by its API key.

use kube::CustomResourceExt;

use super::{Admission, FailurePolicy, Kind, KindInfo};
use crate::claim::Single;
use crate::gates::System;
use crate::model::object::Object;
use crate::names;
use crate::reconcile::{Reconciler, driver};
use crate::review::edits::Edits;
use crate::review::{admit, door};
use crate::rule::{Facts, FieldPath, Findings};

pub mod codes;
pub mod dependents;
mod rules;
pub mod spec;
mod sync;

use spec::AccountSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "Account",
    plural: "accounts",
    namespaced: false,
    slug: "account",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::Account::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<Account>,
        judge: admit::judge_tree::<Account>,
        mutate: Some(admit::mutate_tree::<Account>),
        mutate_failure: FailurePolicy::Fail,
        sees_delete: true,
        timeout_seconds: 10,
        claims: true,
    }),
    reconciler: Some(Reconciler {
        run: driver::run::<Account>,
        reads: &["accounts", "secrets"],
        needs: &[],
        finalizer: Some(names::ACCOUNT_IN_USE),
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct Account;

impl Kind for Account {
    type Spec = AccountSpec;

    const SINGLE: Option<Single<AccountSpec>> = Some(Single {
        rule: &codes::SECOND_DEFAULT,
        field: "isDefault",
        lease: "uptime-default-account",
        is_on: |spec| spec.is_default == Some(true),
        scope: |_, _| String::new(),
        excludes: None,
        claims_again: |_, _, _| false,
    });

    /// Every Account gets the finalizer that keeps it until nothing uses it; the leader takes it off.
    fn defaults(
        object: &Object<AccountSpec>,
        _old: Option<&Object<AccountSpec>>,
        _facts: &Facts<'_>,
        edits: &mut Edits,
    ) {
        let path = FieldPath::of(&["metadata", "finalizers"]);
        match &object.metadata.finalizers {
            None => edits.add(path, vec![names::ACCOUNT_IN_USE]),
            Some(held) if !held.iter().any(|held| held == names::ACCOUNT_IN_USE) => {
                edits.add(path.index(held.len()), names::ACCOUNT_IN_USE);
            }
            Some(_) => {}
        }
    }

    fn check(
        object: &Object<AccountSpec>,
        old: Option<&Object<AccountSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, old, facts, out);
    }

    /// Labels and annotations decide nothing here.
    fn is_untouched(object: &Object<AccountSpec>, old: &Object<AccountSpec>) -> bool {
        object.spec == old.spec
    }

    fn check_delete(old: &Object<AccountSpec>, facts: &Facts<'_>, out: &mut Findings) {
        rules::check_delete(old, facts, out);
    }
}
