//! Who uses an Account: by name, as the default one, or because it was made there.

use crate::model::object::Meta;
use crate::view::View;
use crate::view::records::{is_default, made_in, uses_account};

/// The objects that use an Account, as `Kind namespace/name`; `None` while some kind is not known.
pub fn of(account: &Meta, is_default: bool, view: &View) -> Option<Vec<String>> {
    let mut terms = vec![uses_account(&account.name)];
    if is_default {
        terms.push(uses_account(""));
    }
    // Made in this account, whatever the spec says now.
    if !account.uid.is_empty() {
        terms.push(made_in(&account.uid));
    }
    let mut found = Vec::new();
    let mut note = |kind: &str, metadata: &Meta| {
        let shown = match metadata.namespace.as_str() {
            "" => format!("{kind} {}", metadata.name),
            namespace => format!("{kind} {namespace}/{}", metadata.name),
        };
        if !metadata.is_terminating() && !found.contains(&shown) {
            found.push(shown);
        }
    };
    for term in terms {
        view.contacts.with_term(term)?.iter().for_each(|contact| note("Contact", &contact.metadata));
        view.monitors.with_term(term)?.iter().for_each(|monitor| note("Monitor", &monitor.metadata));
        view.maintenance_windows
            .with_term(term)?
            .iter()
            .for_each(|window| note("MaintenanceWindow", &window.metadata));
        view.monitor_groups.with_term(term)?.iter().for_each(|group| note("MonitorGroup", &group.metadata));
        view.slack_integrations
            .with_term(term)?
            .iter()
            .for_each(|slack| note("SlackIntegration", &slack.metadata));
    }
    Some(found)
}

/// The Account that is the default: of several that slipped in, the oldest, then the lowest name.
pub fn default_account(view: &View) -> Option<Option<String>> {
    let mut defaults = view.accounts.with_term(is_default())?;
    defaults.retain(|account| !account.metadata.is_terminating());
    let oldest = defaults
        .iter()
        .min_by_key(|account| (account.metadata.creation_timestamp, account.metadata.name.clone()));
    Some(oldest.map(|account| account.metadata.name.clone()))
}

/// At most five names and the number of the rest.
pub fn listed(names: &[String]) -> String {
    let head = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 5 { format!("{head} and {} more", names.len() - 5) } else { head }
}
