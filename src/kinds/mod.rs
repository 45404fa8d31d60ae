//! THE TABLE: every kind that usher judges, once. Routes, webhook rules, CRDs, CLI dispatch, metrics labels, the
//! documentation index and the corpus runner are derived from it; a test names what a kind lacks.
//!
//! A kind is a folder here (`spec.rs` the API type, `rules.rs` and `defaults.rs` where it has any) and one line in
//! [`TABLE`]. Nothing in a kind's folder knows that doors exist.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ApiResource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::claim::Single;
use crate::gates::System;
use crate::model::object::Object;
use crate::reconcile::Reconciler;
use crate::review::admit::{JudgeTree, MutateTree};
use crate::review::door::AnswerReview;
use crate::review::edits::Edits;
use crate::rule::{Facts, Findings, Rule};

pub mod account;
pub mod alerting_rule;
pub mod alertmanager;
pub mod contact;
pub mod kms_health;
pub mod loki;
pub mod loki_stack;
pub mod maintenance_window;
pub mod monitor;
pub mod monitor_group;
pub mod prometheus_rule;
pub mod recording_rule;
pub mod ruler_config;
pub mod scrape_class;
pub mod silence;
pub mod slack_integration;

/// Every kind, in the order of the documentation.
pub static TABLE: &[&KindInfo] = &[
    &silence::KIND,
    &alertmanager::KIND,
    &scrape_class::KIND,
    &prometheus_rule::KIND,
    &alerting_rule::KIND,
    &recording_rule::KIND,
    &ruler_config::KIND,
    &loki_stack::KIND,
    &account::KIND,
    &contact::KIND,
    &monitor::KIND,
    &maintenance_window::KIND,
    &monitor_group::KIND,
    &slack_integration::KIND,
    &kms_health::KIND,
];

/// What usher knows of a kind: data only.
#[derive(Debug)]
pub struct KindInfo {
    /// The API group.
    pub group: &'static str,
    /// The served versions; the first one is stored.
    pub versions: &'static [&'static str],
    /// The kind, `Silence`.
    pub kind: &'static str,
    /// The resource, `silences`.
    pub plural: &'static str,
    /// Does it live in a namespace?
    pub namespaced: bool,
    /// The folder of its examples' and corpus' names: `scrape-class`.
    pub slug: &'static str,
    /// The system that it belongs to.
    pub system: System,
    /// Is the CRD somebody else's? Then usher judges the kind and never installs it.
    pub is_guest: bool,
    /// Makes the CRD as the API types declare it; `manifests::crd` finishes it.
    pub crd: fn() -> CustomResourceDefinition,
    /// The CEL rules of the CRD, each with its twin.
    pub cel: &'static [Cel],
    /// The rules at the doors; `None` for a kind that has its schema and CEL only.
    pub admission: Option<Admission>,
    /// What happens behind the doors; `None` while the kind is only stored.
    pub reconciler: Option<Reconciler>,
}

/// A kind's part at the doors, erased to what the doors need.
#[derive(Debug)]
pub struct Admission {
    /// The rules that live in the kind's folder.
    pub rules: &'static [&'static Rule],
    /// The webhook door.
    pub answer: AnswerReview,
    /// The offline door.
    pub judge: JudgeTree,
    /// The offline door's mutation; `None` when the kind is never changed and has no mutating webhook.
    pub mutate: Option<MutateTree>,
    /// What a mutating webhook that cannot be asked means for the object.
    pub mutate_failure: FailurePolicy,
    /// Does the kind ask to see removals?
    pub sees_delete: bool,
    /// Seconds that the API server waits for the webhook.
    pub timeout_seconds: i32,
    /// Does a review take a claim? Then it has a side effect, except on a dry run.
    pub claims: bool,
}

/// What a webhook that cannot be asked means for the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailurePolicy {
    /// It is refused.
    Fail,
    /// It passes.
    Ignore,
}

/// A CEL rule of a CRD and the Rust function that says the same offline.
#[derive(Debug)]
pub struct Cel {
    /// Where `self` is in the schema: property names, `[]` for the items of a list.
    pub at: &'static [&'static str],
    /// The expression.
    pub expression: &'static str,
    /// The code, the message (its title) and the explanation.
    pub rule: &'static Rule,
    /// Does the rule hold for this value of `self`?
    pub holds: fn(&Value) -> bool,
}

/// What a requester needs to do what some rules refuse: asked in all namespaces, for a right on one's own is none.
#[derive(Debug, Clone, Copy)]
pub struct Permission {
    /// The verb.
    pub verb: &'static str,
    /// The rules that it lifts.
    pub lifts: &'static [&'static Rule],
}

/// A kind with rules. `check` pushes findings and never stops at the first; both functions are pure.
pub trait Kind: Sized + Send + Sync + 'static {
    /// The API type of `spec`.
    type Spec: DeserializeOwned + PartialEq + Clone + std::fmt::Debug + Send + Sync;

    /// What there may be only one of.
    const SINGLE: Option<Single<Self::Spec>> = None;

    /// Rules that judge a request and not the stored object: the guard leaves their findings out.
    const DOOR_ONLY: &'static [&'static Rule] = &[];

    /// A verb on the kind's resource that lets a requester do what some rules refuse.
    const PERMISSION: Option<Permission> = None;

    /// Would the permission change what the mutating door sets? Then the API server is asked.
    fn asks(_object: &Object<Self::Spec>, _old: Option<&Object<Self::Spec>>, _facts: &Facts<'_>) -> bool {
        false
    }

    /// Records what the mutating door changes in an object that does not decode. What is wrong with it the schema says.
    fn mend(_object: &Value, _edits: &mut Edits) {}

    /// Records what the mutating door sets. Defaulting twice equals defaulting once.
    fn defaults(
        _object: &Object<Self::Spec>,
        _old: Option<&Object<Self::Spec>>,
        _facts: &Facts<'_>,
        _edits: &mut Edits,
    ) {
    }

    /// Judges an object that is created, or changed from `old`.
    fn check(
        object: &Object<Self::Spec>,
        old: Option<&Object<Self::Spec>>,
        facts: &Facts<'_>,
        out: &mut Findings,
    );

    /// Did an update leave alone everything that the rules watch? Then they are not asked at all.
    fn is_untouched(object: &Object<Self::Spec>, old: &Object<Self::Spec>) -> bool {
        object.spec == old.spec
            && object.metadata.labels == old.metadata.labels
            && object.metadata.annotations == old.metadata.annotations
    }

    /// Does an update leave alone everything that findings rest on? Then they are all inherited.
    fn rests_on_the_same(object: &Object<Self::Spec>, old: &Object<Self::Spec>) -> bool {
        object.spec == old.spec
    }

    /// Judges a removal.
    fn check_delete(_old: &Object<Self::Spec>, _facts: &Facts<'_>, _out: &mut Findings) {}
}

impl KindInfo {
    /// The stored version.
    pub fn storage_version(&self) -> &'static str {
        self.versions.first().copied().unwrap_or_default()
    }

    /// `group/version` of the stored version.
    pub fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.storage_version())
    }

    /// The kind, as kube names it.
    pub fn api_resource(&self) -> ApiResource {
        ApiResource {
            group: self.group.to_owned(),
            version: self.storage_version().to_owned(),
            api_version: self.api_version(),
            kind: self.kind.to_owned(),
            plural: self.plural.to_owned(),
        }
    }

    /// Kind in lower case: the last part of its routes, its metrics label.
    pub fn route(&self) -> String {
        self.kind.to_ascii_lowercase()
    }

    /// Every rule that a finding about this kind can carry, CEL rules included.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        let own = self.admission.as_ref().map(|admission| admission.rules).unwrap_or_default();
        own.iter().copied().chain(self.cel.iter().map(|cel| cel.rule))
    }
}

/// The kinds whose CRDs are usher's own.
pub fn owned() -> impl Iterator<Item = &'static KindInfo> {
    TABLE.iter().copied().filter(|kind| !kind.is_guest)
}

/// The kind that an object belongs to, by its `apiVersion` and `kind`.
pub fn find(api_version: &str, kind: &str) -> Option<&'static KindInfo> {
    let (group, version) = api_version.split_once('/')?;
    TABLE
        .iter()
        .copied()
        .find(|info| info.group == group && info.kind == kind && info.versions.contains(&version))
}
