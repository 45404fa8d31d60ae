//! What users should see, as events. Only on a change, so each is an event of its own.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Client;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};

use super::Error;
use super::leader::Leadership;
use super::status::cut;

/// The API server takes 1024 bytes.
const LONGEST_NOTE: usize = 1000;

/// Tells users.
#[derive(Clone)]
pub struct Events {
    recorder: Recorder,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Events")
    }
}

impl Events {
    /// Events in the name of a replica.
    pub fn new(client: Client, identity: &str) -> Self {
        let reporter =
            Reporter { controller: crate::names::USHER.to_owned(), instance: Some(cut(identity, 128)) };
        Self { recorder: Recorder::new(client, reporter) }
    }

    /// Tells one thing about one object. An event that cannot be written is logged and forgotten.
    pub async fn tell(&self, about: &ObjectReference, kind: EventType, reason: &str, note: &str) {
        if let Err(error) = self.recorder.publish(&event(kind, reason, note), about).await {
            tracing::debug!(%error, reason, "an event was not written");
        }
    }

    /// The same, by the leader only.
    ///
    /// # Errors
    /// When this replica is not the leader.
    pub async fn tell_as_leader(
        &self,
        leadership: &Leadership,
        about: &ObjectReference,
        kind: EventType,
        reason: &str,
        note: &str,
    ) -> Result<(), Error> {
        leadership
            .write(async {
                self.tell(about, kind, reason, note).await;
                Ok(())
            })
            .await
    }
}

fn event(kind: EventType, reason: &str, note: &str) -> Event {
    Event {
        type_: kind,
        reason: reason.to_owned(),
        note: Some(cut(note, LONGEST_NOTE)),
        action: "Reconciling".to_owned(),
        secondary: None,
    }
}
