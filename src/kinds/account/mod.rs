//! Account: an UptimeRobot account, known by its API key.

use kube::CustomResourceExt;

use super::{Admission, Kind, KindInfo};
use crate::model::object::Object;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

pub mod codes;
pub mod dependents;
mod rules;
pub mod spec;

use spec::AccountSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "Account",
    plural: "accounts",
    namespaced: false,
    slug: "account",
    crd: spec::Account::crd,
    cel: &[],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<Account>,
        judge: admit::judge_tree::<Account>,
        mutate: None,
        sees_delete: true,
        timeout_seconds: 10,
    }),
};

/// The kind, for the doors.
#[derive(Debug)]
pub struct Account;

impl Kind for Account {
    type Spec = AccountSpec;

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
