//! Asks the instances of an Alertmanager that a person named. One that cannot be asked is told on standard error and
//! hides nothing of the others; what they hold is put together, because they are one gossip set.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::future::Future;

use crate::cli::Error;
use crate::cli::alertmanagers::{Access, named};
use crate::kinds::alertmanager::version::keeps_annotations;
use crate::kinds::silence::sync::target::Finder;
use crate::settings::{Settings, SilenceSettings};
use crate::upstream::alertmanager::{Alert, Alertmanager, Silence};
use crate::upstream::http::{Client, Timeouts};
use crate::view::View;

/// What was found, and whether everybody answered.
#[derive(Debug)]
pub(super) struct Answer<T> {
    pub(super) found: T,
    pub(super) complete: bool,
}

/// All silences, the newest copy of each.
#[derive(Debug, Default)]
pub(super) struct Silences {
    pub(super) all: Vec<Silence>,
    /// May usher's own have lost what tells them from others on the way?
    pub(super) may_lack_annotations: bool,
}

/// Asks for all silences.
pub(super) fn silences(urls: Vec<String>, access: Access) -> Result<Answer<Silences>, Error> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let instances = instances(urls, access).await?;
        let Answer { found, complete } = each(&instances, |instance| async move {
            let silences = instance.list().await?;
            let version = instance.status().await.ok().and_then(|status| status.version);
            // Who does not tell its version proves it with an annotation.
            let keeps = version.as_deref().and_then(keeps_annotations);
            let proven = || silences.iter().any(|silence| !silence.annotations.is_empty());
            let keeps = keeps.unwrap_or_else(proven);
            Ok((silences, keeps))
        })
        .await;
        let may_lack_annotations = found.iter().any(|(_, keeps)| !keeps);
        let all = newest(found.into_iter().flat_map(|(silences, _)| silences));
        Ok(Answer { found: Silences { all, may_lack_annotations }, complete })
    })
}

/// Asks for all alerts.
pub(super) fn alerts(urls: Vec<String>, access: Access) -> Result<Answer<Vec<Alert>>, Error> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let instances = instances(urls, access).await?;
        let Answer { found, complete } = each(&instances, |instance| instance.alerts(usize::MAX)).await;
        let found = together(found.into_iter().flat_map(|alerts| alerts.first));
        Ok(Answer { found, complete })
    })
}

async fn instances(urls: Vec<String>, access: Access) -> Result<Vec<Alertmanager>, Error> {
    let target = named(urls, access)?;
    let alertmanager = std::sync::Arc::clone(&target.alertmanager);
    let silence = SilenceSettings { targets: vec![target], ..SilenceSettings::default() };
    let settings = Settings { silence, ..Settings::default() };
    let view = View::default();
    let finder = Finder { settings: &settings, view: &view, client: None };
    let found = finder.find(&alertmanager).await.map_err(|why| Error::Usage(why.message))?;
    let client = |endpoint| Client::new(endpoint, Timeouts::default()).map(Alertmanager::new);
    let clients = found.places.into_iter().map(|place| client(place.endpoint)).collect::<Result<_, _>>();
    clients.map_err(|error| Error::Usage(error.to_string()))
}

/// The answers of all that answer.
async fn each<'a, T, F>(instances: &'a [Alertmanager], ask: impl Fn(&'a Alertmanager) -> F) -> Answer<Vec<T>>
where
    F: Future<Output = Result<T, crate::upstream::Error>>,
{
    let mut answer = Answer { found: Vec::new(), complete: true };
    for said in futures::future::join_all(instances.iter().map(ask)).await {
        match said {
            Ok(found) => answer.found.push(found),
            Err(error) => {
                eprintln!("usher: {error}");
                answer.complete = false;
            }
        }
    }
    answer
}

/// Of copies of one silence the newest wins, as among the members themselves; in the order of their ids.
fn newest(copies: impl Iterator<Item = Silence>) -> Vec<Silence> {
    let mut all: BTreeMap<String, Silence> = BTreeMap::new();
    for copy in copies {
        match all.entry(copy.id.clone()) {
            Entry::Vacant(entry) => _ = entry.insert(copy),
            // Of equally new ones the most telling: on the way through an older instance annotations get lost.
            Entry::Occupied(mut entry) => {
                let telling = |silence: &Silence| (silence.updated_at, !silence.annotations.is_empty());
                if telling(&copy) > telling(entry.get()) {
                    entry.insert(copy);
                }
            }
        }
    }
    all.into_values().collect()
}

/// An alert is sent to every member; it is muted when one of them says so, because silences gossip.
fn together(alerts: impl Iterator<Item = Alert>) -> Vec<Alert> {
    let mut all: BTreeMap<BTreeMap<String, String>, Alert> = BTreeMap::new();
    for alert in alerts {
        match all.entry(alert.labels.clone()) {
            Entry::Vacant(entry) => _ = entry.insert(alert),
            Entry::Occupied(mut entry) => {
                if entry.get().silenced_by.is_empty() {
                    entry.insert(alert);
                }
            }
        }
    }
    all.into_values().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn silence(id: &str, comment: &str, updated: &str, annotated: bool) -> Silence {
        let annotations = if annotated { json!({"usher.dev/managed-by": "usher"}) } else { json!({}) };
        serde_json::from_value(json!({
            "id": id, "matchers": [], "startsAt": "2026-01-10T10:00:00Z", "endsAt": "2026-01-10T12:00:00Z",
            "updatedAt": updated, "createdBy": "", "comment": comment, "annotations": annotations,
            "status": {"state": "active"},
        }))
        .unwrap()
    }

    #[test]
    fn of_several_copies_the_newest_and_most_telling_counts() {
        let (old, new) = ("2026-01-10T10:00:00Z", "2026-01-10T10:30:00Z");
        let all = newest(
            [
                silence("b", "old", old, true),
                silence("a", "only", old, false),
                silence("b", "new", new, false),
                silence("b", "new and telling", new, true),
                silence("b", "older", old, true),
            ]
            .into_iter(),
        );
        let comments: Vec<&str> = all.iter().map(|silence| silence.comment.as_str()).collect();
        assert_eq!(comments, ["only", "new and telling"]);
    }

    #[test]
    fn an_alert_that_several_members_have_is_one() {
        let alert = |name: &str, by: &[&str]| {
            let status = json!({"state": "active", "silencedBy": by});
            serde_json::from_value::<Alert>(json!({"labels": {"alertname": name}, "status": status})).unwrap()
        };
        let all =
            together([alert("A", &[]), alert("B", &[]), alert("A", &["x"]), alert("A", &[])].into_iter());
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].silenced_by, ["x"]);
    }
}
