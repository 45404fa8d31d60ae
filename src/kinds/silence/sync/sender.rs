//! What is written on a Silence itself: its finalizer, its record, its removal, and what people are told.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::SignedDuration;
use kube::api::{Patch, PatchParams};
use serde_json::json;
use tokio::sync::Mutex;

use super::pass::Announce;
use super::{Record, binding};
use crate::kinds::silence::spec::SilenceState;
use crate::kinds::silence::{KIND, Silence};
use crate::names;
use crate::reconcile::release::drop_finalizer;
use crate::reconcile::stored::Stored;
use crate::reconcile::{Context, Error, status};
use crate::view::records::Alertmanager;

/// Writes on the object itself.
#[derive(Debug)]
pub(super) struct Sender<'a> {
    pub(super) stored: &'a Stored<Silence>,
    pub(super) context: &'a Context,
    /// The status with what was announced: two Alertmanagers' announcements must not undo each other.
    pub(super) announced: Mutex<Option<SilenceState>>,
}

impl Sender<'_> {
    fn api(&self) -> kube::Api<kube::api::DynamicObject> {
        let client = self.context.client.0.clone();
        kube::Api::namespaced_with(client, &self.stored.metadata().namespace, &KIND.api_resource())
    }

    pub(super) async fn tell(&self, warns: bool, reason: &'static str, note: &str) -> Result<(), Error> {
        crate::reconcile::driver::tell_one(self.stored, self.context, warns, reason, note).await
    }

    /// Tells what is left behind.
    pub(super) async fn abandon(&self) -> Result<(), Error> {
        let end = self.stored.status.expires_at.map(|end| end.to_string()).unwrap_or_default();
        let bindings = self.stored.status.bindings.iter().flatten();
        let ids =
            bindings.filter_map(|binding| Some(format!("{} (ends at {end})", binding.silence_id.as_ref()?)));
        let note = format!("not ended where nobody answers: {}", ids.collect::<Vec<_>>().join(", "));
        self.tell(true, "CleanupAbandoned", &note).await
    }

    /// Takes the finalizer off, whoever put it there.
    pub(super) async fn unfinalize(&self) -> Result<(), Error> {
        let metadata = self.stored.metadata();
        let live = self.api().get_opt(&metadata.name).await.map_err(Error::api("reading a Silence"))?;
        let Some(live) = live.filter(|live| live.metadata.uid.as_deref() == Some(&metadata.uid)) else {
            return Ok(());
        };
        let drop = drop_finalizer(&self.context.client.0, &KIND, &live, names::SILENCE_CLEANUP);
        let write = async { drop.await.map_err(Error::api("dropping the finalizer")) };
        self.context.leadership.write(write).await.map(|_| ())
    }

    /// Deletes an object that has ended long ago, if nobody owns it.
    pub(super) async fn delete(&self, _ttl: SignedDuration) -> Result<(), Error> {
        let metadata = self.stored.metadata();
        let live = self.api().get_opt(&metadata.name).await.map_err(Error::api("reading a Silence"))?;
        let is_owned = live.as_ref().is_none_or(|live| live.metadata.owner_references.is_some());
        if is_owned {
            return Ok(());
        }
        let params = kube::api::DeleteParams {
            preconditions: Some(kube::api::Preconditions {
                uid: Some(metadata.uid.clone()),
                ..Default::default()
            }),
            ..Default::default()
        };
        let api = self.api();
        let write = async {
            match api.delete(&metadata.name, &params).await {
                Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
                other => other.map(|_| ()).map_err(Error::api("deleting an ended Silence")),
            }
        };
        self.context.leadership.write(write).await
    }
}

impl Announce for Sender<'_> {
    fn finalize(&self) -> BoxFuture<'_, Result<(), Error>> {
        async move {
            let metadata = self.stored.metadata();
            let document = json!({
                "apiVersion": KIND.api_version(),
                "kind": KIND.kind,
                "metadata": {
                    "name": metadata.name,
                    "namespace": metadata.namespace,
                    "uid": metadata.uid,
                    "finalizers": [names::SILENCE_CLEANUP],
                }
            });
            let params = PatchParams::apply(names::FIELD_MANAGER).force();
            let api = self.api();
            let write = async {
                let patched = api.patch(&metadata.name, &params, &Patch::Apply(document)).await;
                patched.map(|_| ()).map_err(Error::api("adding the finalizer"))
            };
            self.context.leadership.write(write).await
        }
        .boxed()
    }

    fn record<'a>(
        &'a self,
        alertmanager: &'a Alertmanager,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), Error>> {
        async move {
            let mut announced = self.announced.lock().await;
            let state = announced.get_or_insert_with(|| self.stored.status.clone());
            binding::announce(state, alertmanager, record);
            status::apply(self.stored, &self.stored.conditions, state, self.context).await.map(|_| ())
        }
        .boxed()
    }
}
