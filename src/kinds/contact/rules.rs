//! What the doors ask of a Contact (specification sections 2.3 to 2.6).

use std::sync::Arc;

use super::codes;
use super::spec::ContactSpec;
use crate::kinds::account::dependents::{default_account, listed};
use crate::model::object::Object;
use crate::rule::{Facts, FieldPath, Findings, Operation, Severity, quoted};
use crate::settings::{ContactScope, DeletePolicy};
use crate::view::records::{self, has_id, has_name, is_default, uses_contact};

type Contact = Object<ContactSpec>;

pub(super) fn check(contact: &Contact, old: Option<&Contact>, facts: &Facts<'_>, out: &mut Findings) {
    check_identity(contact, out);
    let account = check_account(contact, old, facts, out);
    check_known_id(contact, account.as_deref(), facts, out);
    check_same_id(contact, facts, out);
    check_single_default(contact, facts, out);
    check_changed_in_use(contact, old, facts, out);
}

fn check_identity(contact: &Contact, out: &mut Findings) {
    let identity = &contact.spec.contact;
    let (id, name) =
        (identity.id.as_deref().unwrap_or_default(), identity.name.as_deref().unwrap_or_default());
    if id.is_empty() == name.is_empty() {
        let path = FieldPath::spec("contact");
        out.deny(&codes::ONE_IDENTITY, path, codes::ONE_IDENTITY.title);
    }
    if !id.is_empty() && !is_id(id) {
        let message = format!("{} is not an id", quoted(id));
        out.deny(&codes::BAD_ID, FieldPath::spec("contact").field("id"), message).value(id);
    }
}

/// `^[1-9][0-9]{0,18}$`
fn is_id(text: &str) -> bool {
    !text.starts_with('0') && (1..=19).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The name of the Account that a Contact belongs to; `None` when it is not known or there is none.
fn account_name(contact: &ContactSpec, facts: &Facts<'_>) -> Option<String> {
    match contact.account_name() {
        "" => default_account(facts.view)?,
        name => Some(name.to_owned()),
    }
}

fn check_account(
    contact: &Contact,
    old: Option<&Contact>,
    facts: &Facts<'_>,
    out: &mut Findings,
) -> Option<Arc<records::Account>> {
    let path = FieldPath::spec("account").field("name");
    if !facts.view.accounts.is_known() {
        return None;
    }
    let written = contact.spec.account_name();
    let account =
        account_name(&contact.spec, facts).and_then(|name| facts.view.accounts.get("", &name).flatten());
    match &account {
        None => {
            let message = match written {
                "" => "there is no default Account".to_owned(),
                name => format!("there is no Account {}", quoted(name)),
            };
            let strict = facts.settings.uptime.strict_references;
            let severity = if strict { Severity::Error } else { Severity::Warning };
            out.push(severity, &codes::NO_ACCOUNT, path, message).value(written);
        }
        Some(account) => {
            let newly_made = facts.operation == Operation::Create
                || old.is_some_and(|old| old.spec.account_name() != written);
            if account.metadata.is_terminating() && newly_made {
                let message = format!("Account {} is being deleted", quoted(&account.metadata.name));
                out.deny(&codes::TERMINATING_ACCOUNT, path, message).value(account.metadata.name.as_str());
            }
        }
    }
    account
}

/// Only an Account that is ready has told its contacts.
fn check_known_id(
    contact: &Contact,
    account: Option<&records::Account>,
    facts: &Facts<'_>,
    out: &mut Findings,
) {
    let Some(id) = contact.spec.contact.id.as_deref().filter(|id| is_id(id)) else { return };
    let Some(status) = account.and_then(|account| account.status.as_ref()) else { return };
    let Some(integrations) = facts.view.slack_integrations.with_term(has_id(id)) else { return };
    let known = status.alert_contacts.iter().flatten().any(|known| known.id.as_deref() == Some(id))
        || integrations
            .iter()
            .any(|slack| slack.status.as_ref().is_some_and(|slack| slack.id.as_deref() == Some(id)));
    if status.ready == Some(true) && !known {
        let message = format!("the Account has no alert contact or integration {id}");
        out.warn(&codes::UNKNOWN_ID, FieldPath::spec("contact").field("id"), message);
    }
}

/// Another Contact that resolves to the same id: by the id itself, or by the same name in the same Account.
fn check_same_id(contact: &Contact, facts: &Facts<'_>, out: &mut Findings) {
    let identity = &contact.spec.contact;
    let (field, term) = match (identity.id.as_deref(), identity.name.as_deref()) {
        (Some(id), _) if is_id(id) => ("id", has_id(id)),
        (_, Some(name)) if !name.is_empty() => ("name", has_name(name)),
        _ => return,
    };
    let others = facts.view.contacts.with_term(term).unwrap_or_default();
    let twin = others.iter().find(|other| {
        other.metadata.name != contact.metadata.name
            && !other.metadata.is_terminating()
            && (field == "id" || account_name(&other.spec, facts) == account_name(&contact.spec, facts))
    });
    if let Some(twin) = twin {
        let message = format!("Contact {} has the same {field}", quoted(&twin.metadata.name));
        out.warn(&codes::SAME_ID, FieldPath::spec("contact").field(field), message);
    }
}

fn check_single_default(contact: &Contact, facts: &Facts<'_>, out: &mut Findings) {
    if contact.spec.is_default != Some(true) {
        return;
    }
    let before = |other: &records::Contact| {
        facts.stands_before(&other.metadata, &contact.metadata)
            && scope(&other.spec, facts) == scope(&contact.spec, facts)
    };
    if let Some(incumbent) = facts.view.contacts.find(is_default(), before) {
        let message = format!("Contact {} is the default", quoted(&incumbent.metadata.name));
        out.deny(&codes::SECOND_DEFAULT, FieldPath::spec("isDefault"), message)
            .value(incumbent.metadata.name.as_str());
    }
}

/// What "the default Contact" is unique in: everything, or the Account as resolved (unresolved: as written).
pub(super) fn scope(contact: &ContactSpec, facts: &Facts<'_>) -> String {
    match facts.settings.uptime.default_contact_scope {
        ContactScope::Cluster => String::new(),
        ContactScope::Account => account_name(contact, facts).unwrap_or_default(),
    }
}

/// Is it the Contact that Monitors without one get? Of several defaults that slipped in, the oldest is.
fn is_the_default(contact: &Contact, facts: &Facts<'_>) -> bool {
    let defaults = facts.view.contacts.with_term(is_default()).unwrap_or_default();
    let oldest = defaults
        .iter()
        .filter(|other| {
            !other.metadata.is_terminating() && scope(&other.spec, facts) == scope(&contact.spec, facts)
        })
        .min_by_key(|other| (other.metadata.creation_timestamp, other.metadata.name.clone()));
    contact.spec.is_default == Some(true)
        && oldest.is_none_or(|oldest| oldest.metadata.name == contact.metadata.name)
}

/// The Monitors that alert this Contact.
fn users(contact: &Contact, facts: &Facts<'_>) -> Vec<String> {
    let mut terms = vec![uses_contact(&contact.metadata.name)];
    if is_the_default(contact, facts) {
        terms.push(uses_contact(""));
    }
    let mut users = Vec::new();
    for term in terms {
        for monitor in facts.view.monitors.with_term(term).unwrap_or_default() {
            if !monitor.metadata.is_terminating() {
                users.push(format!("{}/{}", monitor.metadata.namespace, monitor.metadata.name));
            }
        }
    }
    users.sort();
    users.dedup();
    users
}

fn check_changed_in_use(contact: &Contact, old: Option<&Contact>, facts: &Facts<'_>, out: &mut Findings) {
    let Some(old) = old else { return };
    let same =
        old.spec.contact == contact.spec.contact && old.spec.account_name() == contact.spec.account_name();
    let users = users(old, facts);
    if !same && !users.is_empty() {
        let message = format!("{} Monitors alert somebody else from now on: {}", users.len(), listed(&users));
        out.warn(&codes::CHANGED_IN_USE, FieldPath::of(&["spec"]), message);
    }
}

pub(super) fn check_delete(contact: &Contact, facts: &Facts<'_>, out: &mut Findings) {
    let users = users(contact, facts);
    if users.is_empty() {
        return;
    }
    let relied_on = is_the_default(contact, facts)
        && facts
            .view
            .monitors
            .with_term(uses_contact(""))
            .is_some_and(|monitors| monitors.iter().any(|monitor| !monitor.metadata.is_terminating()));
    let denies = relied_on && facts.settings.uptime.account_delete_policy == DeletePolicy::Deny;
    let severity = if denies { Severity::Error } else { Severity::Warning };
    let message = format!("{} Monitors use this Contact: {}", users.len(), listed(&users));
    out.push(severity, &codes::IN_USE, FieldPath::of(&["metadata", "name"]), message);
}
