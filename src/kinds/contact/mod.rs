//! Contact: somebody whom UptimeRobot alerts.

use kube::CustomResourceExt;

use super::{Admission, Cel, FailurePolicy, Kind, KindInfo};
use crate::claim::Single;
use crate::gates::System;
use crate::model::cel::has_text;
use crate::model::object::Object;
use crate::reconcile::{ConditionsOnly, Reconciler, Synced, driver};
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};
use crate::settings::ContactScope;

pub mod codes;
mod rules;
pub mod spec;

use spec::ContactSpec;

/// The line of the table.
pub static KIND: KindInfo = KindInfo {
    group: "uptimerobot.com",
    versions: &["v1alpha1"],
    kind: "Contact",
    plural: "contacts",
    namespaced: false,
    slug: "contact",
    system: System::UptimeRobot,
    is_guest: false,
    crd: spec::Contact::crd,
    cel: &[Cel {
        at: &["spec", "contact"],
        expression: "(has(self.id) && size(self.id) > 0) != (has(self.name) && size(self.name) > 0)",
        rule: &codes::ONE_IDENTITY,
        holds: |contact| has_text(contact, "id") != has_text(contact, "name"),
    }],
    admission: Some(Admission {
        rules: codes::ALL,
        answer: door::answer::<Contact>,
        judge: admit::judge_tree::<Contact>,
        mutate: None,
        mutate_failure: FailurePolicy::Ignore,
        sees_delete: true,
        timeout_seconds: 10,
        claims: true,
    }),
    reconciler: Some(Reconciler {
        run: driver::run::<Contact>,
        reads: &["contacts", "accounts"],
        needs: &[],
        finalizer: None,
    }),
};

/// The kind, for the doors.
#[derive(Debug, Clone, Copy)]
pub struct Contact;

impl Kind for Contact {
    type Spec = ContactSpec;

    const SINGLE: Option<Single<ContactSpec>> = Some(Single {
        rule: &codes::SECOND_DEFAULT,
        field: "isDefault",
        lease: "uptime-default-contact",
        is_on: |spec| spec.is_default == Some(true),
        scope: rules::scope,
        excludes: None,
        // Moved to another Account: it is the default there only if nobody else is.
        claims_again: |old, new, facts| {
            facts.settings.uptime.default_contact_scope == ContactScope::Account
                && old.account_name() != new.account_name()
        },
    });

    fn check(
        object: &Object<ContactSpec>,
        old: Option<&Object<ContactSpec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    ) {
        rules::check(object, old, facts, out);
    }

    /// Labels and annotations decide nothing here.
    fn is_untouched(object: &Object<ContactSpec>, old: &Object<ContactSpec>) -> bool {
        object.spec == old.spec
    }

    fn check_delete(old: &Object<ContactSpec>, facts: &Facts<'_>, out: &mut Findings) {
        rules::check_delete(old, facts, out);
    }
}

impl Synced for Contact {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;
}
