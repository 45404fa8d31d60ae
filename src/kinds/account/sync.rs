//! What the leader does for Accounts: keeps the finalizer `account-in-use` on them, and takes it off a deleted one when
//! nothing is left that needs its API key to be cleaned up.

use std::time::Duration;

use kube::api::{DynamicObject, ListParams};
use kube::{Api, ResourceExt as _};

use super::{Account, KIND};
use crate::kinds::KindInfo;
use crate::names;
use crate::reconcile::release::{add_finalizer, drop_finalizer};
use crate::reconcile::stored::Stored;
use crate::reconcile::{Admitted, ConditionsOnly, Context, Error, Next, Outcome, Synced};
use crate::view::records::{made_in, uses_account};

/// How often a deleted Account that is still in use is looked at.
const WAITING: Duration = Duration::from_secs(5);

/// The kinds that use an Account.
static DEPENDENTS: [&KindInfo; 5] = [
    &crate::kinds::contact::KIND,
    &crate::kinds::monitor::KIND,
    &crate::kinds::maintenance_window::KIND,
    &crate::kinds::monitor_group::KIND,
    &crate::kinds::slack_integration::KIND,
];

impl Synced for Account {
    const INFO: &'static KindInfo = &KIND;
    type Status = ConditionsOnly;

    /// An Account that came past the door has no finalizer yet.
    async fn sync(
        object: Admitted<'_, Self>,
        stored: &Stored<Self>,
        context: &Context,
    ) -> Result<Outcome<Self>, Error> {
        let held =
            object.object().metadata.finalizers.iter().flatten().any(|held| held == names::ACCOUNT_IN_USE);
        if !held && let Some(live) = live(stored, context).await? {
            let add = add_finalizer(&context.client.0, &KIND, &live, names::ACCOUNT_IN_USE);
            context.leadership.write(async { add.await.map_err(Error::api("adding the finalizer")) }).await?;
        }
        Ok(Outcome::default())
    }

    async fn release(stored: &Stored<Self>, context: &Context) -> Result<Next, Error> {
        let Some(live) = live(stored, context).await? else { return Ok(None) };
        let skips = live.annotations().get(names::SKIP_CLEANUP).is_some_and(|value| value == "true");
        if !skips && (is_used_in_view(stored, context) || is_used(&live, context).await?) {
            return Ok(Some(WAITING));
        }
        let drop = drop_finalizer(&context.client.0, &KIND, &live, names::ACCOUNT_IN_USE);
        context.leadership.write(async { drop.await.map_err(Error::api("dropping the finalizer")) }).await?;
        Ok(None)
    }
}

/// The very object that was seen, live.
async fn live(stored: &Stored<Account>, context: &Context) -> Result<Option<DynamicObject>, Error> {
    let metadata = stored.metadata();
    let api: Api<DynamicObject> = Api::all_with(context.client.0.clone(), &KIND.api_resource());
    let found = api.get_opt(&metadata.name).await.map_err(Error::api("reading an Account"))?;
    Ok(found.filter(|found| found.uid().as_deref() == Some(&metadata.uid)))
}

/// A cheap look first: what the View shows needs no list. Objects that are being deleted count: their cleanup needs the
/// key.
fn is_used_in_view(stored: &Stored<Account>, context: &Context) -> bool {
    let (metadata, view) = (stored.metadata(), &context.view);
    [uses_account(&metadata.name), made_in(&metadata.uid)].into_iter().any(|term| {
        view.contacts.find(term, |_| true).is_some()
            || view.monitors.find(term, |_| true).is_some()
            || view.maintenance_windows.find(term, |_| true).is_some()
            || view.monitor_groups.find(term, |_| true).is_some()
            || view.slack_integrations.find(term, |_| true).is_some()
    })
}

/// The look that decides: live lists. An object uses the Account when it names it, when it was made in it, or when it names
/// none, was made nowhere yet, and this is the default that it would get.
async fn is_used(account: &DynamicObject, context: &Context) -> Result<bool, Error> {
    let (name, uid) = (account.name_any(), account.uid().unwrap_or_default());
    let is_default = |account: &DynamicObject| account.data["spec"]["isDefault"] == true;
    let replaced = list(&KIND, context).await?.iter().any(|other| {
        is_default(other) && other.name_any() != name && other.metadata.deletion_timestamp.is_none()
    });
    let counts_implicit = is_default(account) && !replaced;
    for kind in DEPENDENTS {
        let uses = |item: &DynamicObject| {
            let named = item.data["spec"]["account"]["name"].as_str().unwrap_or_default();
            // Contacts remember the name of their Account, all others its uid.
            let made_in = &item.data["status"]["account"];
            match made_in["uid"].as_str().or(made_in.as_str()) {
                Some(made_in) => made_in == uid || made_in == name || named == name,
                None => named == name || named.is_empty() && counts_implicit,
            }
        };
        if list(kind, context).await?.iter().any(uses) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// All objects of a kind, live; a kind that is not installed has none.
async fn list(kind: &KindInfo, context: &Context) -> Result<Vec<DynamicObject>, Error> {
    let api: Api<DynamicObject> = Api::all_with(context.client.0.clone(), &kind.api_resource());
    match api.list(&ListParams::default()).await {
        Ok(list) => Ok(list.items),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(Error::api("listing what uses an Account")(error)),
    }
}
