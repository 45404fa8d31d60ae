//! Contact: somebody whom UptimeRobot alerts.

use kube::CustomResourceExt;

use super::{Admission, Cel, Kind, KindInfo};
use crate::model::cel::has_text;
use crate::model::object::Object;
use crate::review::{admit, door};
use crate::rule::{Facts, Findings};

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
        sees_delete: true,
        timeout_seconds: 10,
    }),
};

/// The kind, for the doors.
#[derive(Debug)]
pub struct Contact;

impl Kind for Contact {
    type Spec = ContactSpec;

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
