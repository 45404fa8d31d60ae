//! What the View keeps of each kind: only what some rule reads.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Record, Resource, Term};
use crate::kinds::account::spec::{AccountSpec, AlertContact};
use crate::kinds::alertmanager::spec::AlertmanagerSpec;
use crate::kinds::contact::spec::ContactSpec;
use crate::kinds::loki_stack::spec::LokiStackSpec;
use crate::kinds::scrape_class::spec::ScrapeClassSpec;
use crate::kinds::silence::spec::SilenceSpec;
use crate::kinds::silence::tenancy::likeness;
use crate::model::object::{Meta, Object};
use crate::model::selector::LabelSelector;

/// An object of which spec and status are kept in their own types.
pub type Kept<S, T = serde::de::IgnoredAny> = Object<S, T>;

fn kept<S: DeserializeOwned, T: DeserializeOwned>(object: &Value) -> Result<Kept<S, T>, serde_json::Error> {
    let mut kept = Object::deserialize(&without_nulls(object))?;
    let Object { metadata, .. } = &mut kept;
    // No rule reads these of another object, and they change with every write.
    metadata.resource_version = String::new();
    metadata.finalizers = None;
    Ok(kept)
}

/// The API server drops nulls that have no meaning; in files they are still there.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

macro_rules! records {
    ($($(#[$doc:meta])* $name:ident = $inner:ty, $group:literal, $version:literal, $plural:literal, $namespaced:literal, $terms:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, PartialEq)]
        pub struct $name(pub $inner);

        impl std::ops::Deref for $name {
            type Target = $inner;
            fn deref(&self) -> &$inner {
                &self.0
            }
        }

        impl Record for $name {
            const RESOURCE: Resource = Resource {
                group: $group,
                version: $version,
                kind: stringify!($name),
                plural: $plural,
                namespaced: $namespaced,
                labels: "",
            };

            fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
                kept(object).map(Self)
            }

            fn terms(&self) -> Vec<Term> {
                let terms: fn(&$inner) -> Vec<Term> = $terms;
                terms(&self.0)
            }
        }
    )*};
}

/// The term of the object with a uid.
pub fn by_uid(uid: &str) -> Term {
    Term::new("uid", &[uid])
}

/// The term of objects that say they are the default.
pub fn is_default() -> Term {
    Term::new("default", &[])
}

/// The term of objects that name an Account; empty for those that rely on the default one.
pub fn uses_account(name: &str) -> Term {
    Term::new("account", &[name])
}

/// The term of Monitors that name a Contact; empty for those that rely on the default one.
pub fn uses_contact(name: &str) -> Term {
    Term::new("contact", &[name])
}

/// The term of objects that were made in an Account.
pub fn made_in(uid: &str) -> Term {
    Term::new("account-uid", &[uid])
}

/// The term of objects with a remote id.
pub fn has_id(id: &str) -> Term {
    Term::new("id", &[id])
}

/// The term of Contacts that are found by their remote name.
pub fn has_name(name: &str) -> Term {
    Term::new("name", &[name])
}

/// The term of rule objects that have a group of this name for this tenant.
pub fn has_group(tenant: &str, group: &str) -> Term {
    Term::new("group", &[tenant, group])
}

fn group_terms(spec: &RuleNames) -> Vec<Term> {
    spec.groups.iter().map(|group| has_group(&spec.tenant_id, &group.name)).collect()
}

fn account_terms(account: &Reference, status: Option<&AccountUse>) -> Vec<Term> {
    let made = status.and_then(|status| status.account.as_ref()).map(|account| made_in(&account.uid));
    let id = status.and_then(|status| status.id.as_deref()).map(has_id);
    [Some(uses_account(&account.name)), made, id].into_iter().flatten().collect()
}

fn default_term(says_so: Option<bool>) -> Vec<Term> {
    if says_so == Some(true) { vec![is_default()] } else { Vec::new() }
}

records! {
    /// A Silence, looked up by its matchers to find duplicates.
    Silence = Kept<SilenceSpec>, "monitoring.coreos.com", "v1alpha1", "silences", true,
        |silence| vec![
            likeness(&silence.spec.matchers, &silence.metadata.namespace),
            by_uid(&silence.metadata.uid),
        ];
    /// A ScrapeClass.
    ScrapeClass = Kept<ScrapeClassSpec>, "monitoring.coreos.com", "v1alpha1", "scrapeclasses", false,
        |class| default_term(class.spec.default);
    /// An Account with what usher learned from the vendor.
    Account = Kept<AccountSpec, AccountKnown>, "uptimerobot.com", "v1alpha1", "accounts", false,
        |account| default_term(account.spec.is_default);
    /// A Contact with the id it resolved to.
    Contact = Kept<ContactSpec, ContactKnown>, "uptimerobot.com", "v1alpha1", "contacts", false,
        |contact| {
            let mut terms = default_term(contact.spec.is_default);
            terms.push(uses_account(contact.spec.account_name()));
            let resolved = contact.status.as_ref().and_then(|status| status.id.as_deref());
            terms.extend(contact.spec.contact.id.as_deref().into_iter().chain(resolved).map(has_id));
            terms.extend(contact.spec.contact.name.as_deref().map(has_name));
            terms
        };
    /// A Monitor: which Account and which Contacts it uses.
    Monitor = Kept<MonitorUse, AccountUse>, "uptimerobot.com", "v1alpha1", "monitors", true,
        |monitor| {
            let mut terms = account_terms(&monitor.spec.account, monitor.status.as_ref());
            terms.extend(monitor.spec.contact_names().map(uses_contact));
            terms
        };
    /// A MaintenanceWindow: which Account it uses.
    MaintenanceWindow = Kept<AccountRef, AccountUse>, "uptimerobot.com", "v1alpha1", "maintenancewindows", true,
        |window| account_terms(&window.spec.account, window.status.as_ref());
    /// A MonitorGroup: which Account it uses.
    MonitorGroup = Kept<AccountRef, AccountUse>, "uptimerobot.com", "v1alpha1", "monitorgroups", true,
        |group| account_terms(&group.spec.account, group.status.as_ref());
    /// A SlackIntegration: which Account it uses and which id it has there.
    SlackIntegration = Kept<AccountRef, AccountUse>, "uptimerobot.com", "v1alpha1", "slackintegrations", true,
        |slack| account_terms(&slack.spec.account, slack.status.as_ref());
    /// An AlertingRule: which groups it has.
    AlertingRule = Kept<RuleNames>, "loki.grafana.com", "v1", "alertingrules", true, |rule| group_terms(&rule.spec);
    /// A RecordingRule: which groups it has.
    RecordingRule = Kept<RuleNames>, "loki.grafana.com", "v1", "recordingrules", true, |rule| group_terms(&rule.spec);
    /// A LokiStack: which rules it selects, and for which tenants.
    LokiStack = Kept<LokiStackSpec>, "loki.grafana.com", "v1", "lokistacks", true, |_| Vec::new();
    /// An Alertmanager: whom it selects, what it enforces, what it understands.
    Alertmanager = Kept<AlertmanagerSpec>, "monitoring.coreos.com", "v1", "alertmanagers", true, |_| Vec::new();
    /// A Prometheus server.
    Prometheus = Kept<WorkloadSpec>, "monitoring.coreos.com", "v1", "prometheuses", true, |_| Vec::new();
    /// A Prometheus agent.
    PrometheusAgent = Kept<WorkloadSpec>, "monitoring.coreos.com", "v1alpha1", "prometheusagents", true, |_| Vec::new();
}

/// What rules read of an Account's status; the rest of it changes too often to be kept.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AccountKnown {
    /// The key works.
    pub ready: Option<bool>,
    /// The account's alert contacts.
    pub alert_contacts: Option<Vec<AlertContact>>,
}

/// What rules read of a Contact's status.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ContactKnown {
    /// The id that it resolved to.
    pub id: Option<String>,
}

/// A reference to an Account, by name; empty means the default one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Reference {
    /// The name.
    pub name: String,
}

/// The spec of anything that uses an Account.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AccountRef {
    /// The Account.
    pub account: Reference,
}

/// The part of a Monitor's spec that refers to other objects.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct MonitorUse {
    /// The Account.
    pub account: Reference,
    /// The Contacts; the schema's default is one entry with an empty name.
    pub contacts: Option<Vec<Reference>>,
}

impl MonitorUse {
    /// Names of the Contacts; empty means the default one.
    pub fn contact_names(&self) -> impl Iterator<Item = &str> {
        let implied = if self.contacts.is_none() { Some("") } else { None };
        self.contacts.iter().flatten().map(|contact| contact.name.as_str()).chain(implied)
    }
}

/// The part of a dependent's status that says which Account it was made in.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AccountUse {
    /// The remote id.
    pub id: Option<String>,
    /// The Account that holds it.
    pub account: Option<AccountIdentity>,
}

/// An Account by uid.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AccountIdentity {
    /// The uid.
    pub uid: String,
}

/// What decides which classes and rules a Prometheus or PrometheusAgent can use, and how.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadSpec {
    /// `v3.13.1`.
    pub version: String,
    /// `Legacy` or `UTF8`.
    pub name_validation_scheme: String,
    /// `promql-experimental-functions`, …
    pub enable_features: Vec<String>,
    /// Absent selects no PrometheusRule.
    pub rule_selector: Option<LabelSelector>,
    /// Absent selects the workload's own namespace.
    pub rule_namespace_selector: Option<LabelSelector>,
    /// The inline classes, of which a name shadows a standalone class.
    pub scrape_classes: Vec<InlineClass>,
    /// Mounts of the prometheus container.
    pub volume_mounts: Vec<Mount>,
    /// Further containers, or patches of the generated ones.
    pub containers: Vec<Container>,
    /// Mounted below `/etc/prometheus/secrets`.
    pub secrets: Vec<String>,
    /// Mounted below `/etc/prometheus/configmaps`.
    pub config_maps: Vec<String>,
}

/// An inline class: only its name matters to standalone ones.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct InlineClass {
    /// The name.
    pub name: String,
}

/// A mount of a container.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mount {
    /// Where.
    pub mount_path: String,
}

/// A container of the pod.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its mounts.
    pub volume_mounts: Vec<Mount>,
}

/// The names in an AlertingRule or a RecordingRule.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RuleNames {
    /// Whose rules they are.
    #[serde(rename = "tenantID")]
    pub tenant_id: String,
    /// The groups.
    pub groups: Vec<GroupName>,
}

/// A group, by its name.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct GroupName {
    /// The name.
    pub name: String,
}

/// A pod of an Alertmanager: an instance, and where it is.
#[derive(Debug, PartialEq)]
pub struct Pod {
    /// Its metadata; its creation is the instance's age.
    pub metadata: Meta,
    /// Nothing until it has one.
    pub address: Option<std::net::IpAddr>,
    /// The container ports by name.
    pub ports: std::collections::BTreeMap<String, u16>,
    /// Does it take requests?
    pub ready: bool,
}

impl Record for Pod {
    const RESOURCE: Resource = Resource {
        group: "",
        version: "v1",
        kind: "Pod",
        plural: "pods",
        namespaced: true,
        labels: "app.kubernetes.io/name=alertmanager",
    };

    fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
        let mut metadata = Meta::deserialize(&object["metadata"])?;
        metadata.resource_version = String::new();
        metadata.annotations = None;
        metadata.finalizers = None;
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let containers = list(&object["spec"]["containers"]);
        let ports = containers.iter().flat_map(|container| list(&container["ports"]));
        let ports = ports.filter_map(|port| {
            let number = port["containerPort"].as_u64().and_then(|number| u16::try_from(number).ok())?;
            Some((port["name"].as_str().unwrap_or_default().to_owned(), number))
        });
        let conditions = list(&object["status"]["conditions"]);
        let ready = conditions.iter().any(|known| known["type"] == "Ready" && known["status"] == "True");
        let address = object["status"]["podIP"].as_str().and_then(|text| text.parse().ok());
        Ok(Self { metadata, address, ports: ports.collect(), ready })
    }

    fn terms(&self) -> Vec<Term> {
        let label = self.metadata.labels.as_ref().and_then(|labels| labels.get("alertmanager"));
        label.map(|name| member_of(&self.metadata.namespace, name)).into_iter().collect()
    }
}

/// The term of pods that belong to an Alertmanager.
pub fn member_of(namespace: &str, name: &str) -> Term {
    Term::new("member", &[namespace, name])
}

/// A namespace and its labels.
#[derive(Debug, PartialEq)]
pub struct Namespace {
    /// Its metadata; `labels` always holds the name's own label.
    pub metadata: Meta,
}

impl Record for Namespace {
    const RESOURCE: Resource = Resource {
        group: "",
        version: "v1",
        kind: "Namespace",
        plural: "namespaces",
        namespaced: false,
        labels: "",
    };

    fn from_object(object: &Value) -> Result<Self, serde_json::Error> {
        let mut metadata = Meta::deserialize(&object["metadata"])?;
        // The API server sets this label on every namespace; files usually leave it out.
        let labels = metadata.labels.get_or_insert_default();
        labels.insert("kubernetes.io/metadata.name".to_owned(), metadata.name.clone());
        Ok(Self { metadata })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_namespace_always_has_its_own_label() {
        let namespace = Namespace::from_object(&json!({"metadata": {"name": "shop"}})).unwrap();
        assert_eq!(namespace.metadata.labels.unwrap()["kubernetes.io/metadata.name"], "shop");
    }
}
