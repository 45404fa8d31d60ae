//! What AlertingRule and RecordingRule share: groups of LogQL rules for one tenant of a Loki ruler.
//!
//! The verdict is the union of the Loki operator's webhook and of the ruler's own loader: one file that the loader
//! refuses stops the rules of every tenant.

use std::collections::BTreeMap;

pub mod codes;
mod expression;
mod file;
mod groups;
mod openshift;
mod targets;
mod tenancy;

pub(super) use groups::check;
pub(super) use targets::Target;
pub(super) use tenancy::inject;

use crate::model::object::Meta;
use crate::rule::FieldPath;

/// The annotation that turns the tenant's part of the OpenShift profile off.
pub const DISABLE_TENANT_VALIDATION: &str = "loki.grafana.com/disable-tenant-validation";

/// Which of the two kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Alerting,
    Recording,
}

/// One object of either kind, as the rules read it.
#[derive(Debug)]
pub(super) struct Rules<'a> {
    pub flavour: Flavour,
    pub metadata: &'a Meta,
    pub tenant: &'a str,
    pub groups: Vec<Group<'a>>,
}

/// A group of rules.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub name: &'a str,
    pub interval: Option<&'a str>,
    pub limit: Option<i32>,
    pub rules: Vec<Rule<'a>>,
}

/// One rule of either kind.
#[derive(Debug)]
pub(super) struct Rule<'a> {
    /// `alert` or `record`.
    pub name: Option<&'a str>,
    pub expr: &'a str,
    pub r#for: Option<&'a str>,
    pub labels: Option<&'a BTreeMap<String, String>>,
    pub annotations: Option<&'a BTreeMap<String, String>>,
}

impl Flavour {
    /// The field that names a rule.
    fn name_field(self) -> &'static str {
        match self {
            Self::Alerting => "alert",
            Self::Recording => "record",
        }
    }
}

/// Do two versions of an object switch the tenant's part of the profile alike?
pub(super) fn same_switch(one: &Meta, other: &Meta) -> bool {
    one.annotation(DISABLE_TENANT_VALIDATION) == other.annotation(DISABLE_TENANT_VALIDATION)
}

/// The path of a group.
fn group_path(group: usize) -> FieldPath {
    FieldPath::spec("groups").index(group)
}

/// The path of a rule.
fn rule_path(group: usize, rule: usize) -> FieldPath {
    group_path(group).field("rules").index(rule)
}
