//! What the doors ask of an Account (specification sections 2.3 to 2.6).

use super::codes;
use super::dependents::{default_account, listed, of as dependents_of};
use super::spec::AccountSpec;
use crate::model::object::Object;
use crate::names;
use crate::rule::{Facts, FieldPath, Findings, Severity, quoted};
use crate::settings::DeletePolicy;
use crate::view::records::{self, is_default};
use crate::view::secrets::ValueShape;

type Account = Object<AccountSpec>;

pub(super) fn check(account: &Account, old: Option<&Account>, facts: &Facts<'_>, out: &mut Findings) {
    check_reference(account, facts, out);
    check_single_default(account, facts, out);
    check_default_in_use(account, old, facts, out);
}

fn check_reference(account: &Account, facts: &Facts<'_>, out: &mut Findings) {
    let path = FieldPath::spec("apiKeySecretRef");
    let reference = &account.spec.api_key_secret_ref;
    let name = reference.name.as_deref().unwrap_or_default();
    if name.is_empty() {
        out.deny(&codes::EMPTY_REFERENCE, path.field("name"), "the reference names no Secret");
    }
    if reference.key.is_empty() {
        out.deny(&codes::EMPTY_REFERENCE, path.field("key"), "the reference names no key");
    }
    if name.is_empty() || reference.key.is_empty() {
        return;
    }
    let namespace = &facts.settings.uptime.cluster_resource_namespace;
    // Unknown (Secrets not readable, not in the file set): nothing to say.
    let Some(secret) = facts.view.secrets.get(namespace, name) else { return };
    let shape = secret.as_ref().and_then(|secret| secret.keys.get(&reference.key).copied());
    let severity = if facts.settings.uptime.strict_references { Severity::Error } else { Severity::Warning };
    let message = match (&secret, shape) {
        (_, None) if reference.optional == Some(true) => return,
        (None, _) => format!("there is no Secret {} in namespace {namespace}", quoted(name)),
        (Some(_), None) => format!("Secret {} has no key {}", quoted(name), quoted(&reference.key)),
        (Some(_), Some(shape)) => {
            check_shape(shape, path.field("key"), out);
            return;
        }
    };
    out.push(severity, &codes::SECRET_MISSING, path.field("name"), message)
        .value(format!("{name}/{}", reference.key));
}

fn check_shape(shape: ValueShape, path: FieldPath, out: &mut Findings) {
    let message = match shape {
        ValueShape::Plain => return,
        ValueShape::Empty => "the key in the Secret is empty",
        ValueShape::InnerWhitespace => "the key in the Secret has blanks inside",
        ValueShape::MonitorKey => "the key in the Secret looks like the key of one monitor",
        ValueShape::ReadOnlyKey => "the key in the Secret looks like a read-only key",
    };
    out.warn(&codes::SUSPICIOUS_KEY, path, message);
}

fn check_single_default(account: &Account, facts: &Facts<'_>, out: &mut Findings) {
    if account.spec.is_default != Some(true) {
        return;
    }
    let before = |other: &records::Account| facts.stands_before(&other.metadata, &account.metadata);
    if let Some(incumbent) = facts.view.accounts.find(is_default(), before) {
        let message = format!("Account {} is the default", quoted(&incumbent.metadata.name));
        out.deny(&codes::SECOND_DEFAULT, FieldPath::spec("isDefault"), message)
            .value(incumbent.metadata.name.as_str());
    }
}

fn check_default_in_use(account: &Account, old: Option<&Account>, facts: &Facts<'_>, out: &mut Findings) {
    let was_default = old.is_some_and(|old| is_the_default(old, facts));
    if !was_default || account.spec.is_default == Some(true) {
        return;
    }
    // By name they keep it; only those that rely on the default lose it.
    let nameless = crate::model::object::Meta::default();
    let relying = dependents_of(&nameless, true, facts.view).unwrap_or_default();
    if !relying.is_empty() {
        let message = format!("{} objects rely on the default Account", relying.len());
        out.warn(&codes::DEFAULT_IN_USE, FieldPath::spec("isDefault"), message);
    }
}

/// Is it the Account that objects without one of their own get? Of several defaults that slipped in, only one is.
fn is_the_default(account: &Account, facts: &Facts<'_>) -> bool {
    account.spec.is_default == Some(true)
        && default_account(facts.view).flatten().is_none_or(|name| name == account.metadata.name)
}

pub(super) fn check_delete(account: &Account, facts: &Facts<'_>, out: &mut Findings) {
    if account.metadata.annotation(names::FORCE_DELETE) == Some("true") {
        return;
    }
    let users =
        dependents_of(&account.metadata, is_the_default(account, facts), facts.view).unwrap_or_default();
    if users.is_empty() {
        return;
    }
    let severity = match facts.settings.uptime.account_delete_policy {
        DeletePolicy::Deny => Severity::Error,
        DeletePolicy::Finalize => Severity::Warning,
    };
    let message = format!("{} objects use this Account: {}", users.len(), listed(&users));
    out.push(severity, &codes::IN_USE, FieldPath::of(&["metadata", "name"]), message);
}
