//! What Alertmanager's API v2 says and is told, as types.
//!
//! Fields that are not named here are ignored, optional ones may be missing: versions differ. A silence in a state that
//! is not known is an error, since nobody could say whether it mutes.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::de::{DeserializeSeed, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A matcher as Alertmanager's API v2 has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matcher {
    /// The label's name.
    pub name: String,
    /// The value, or the pattern.
    pub value: String,
    /// Is it a pattern?
    pub is_regex: bool,
    /// Absent means true (Alertmanagers before 0.22 do not know it).
    #[serde(default = "yes")]
    pub is_equal: bool,
}

fn yes() -> bool {
    true
}

/// The state that an Alertmanager sees a silence in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It mutes.
    Active,
    /// It will.
    Pending,
    /// It did.
    Expired,
}

/// A silence as an Alertmanager lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Listed")]
pub struct Silence {
    /// Given by the Alertmanager.
    pub id: String,
    /// All of them must match.
    pub matchers: Vec<Matcher>,
    /// From when on it mutes.
    pub starts_at: Timestamp,
    /// Until when.
    pub ends_at: Timestamp,
    /// The last change; the newest wins among members.
    pub updated_at: Timestamp,
    /// Whatever its author wrote.
    pub created_by: String,
    /// Whatever its author wrote.
    pub comment: String,
    /// Empty when there are none, or the Alertmanager (before 0.32) does not keep them.
    pub annotations: BTreeMap<String, String>,
    /// As seen by the Alertmanager, with its clock.
    pub state: State,
}

/// A silence to be posted; with an id it replaces or updates that one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// The one to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// All of them must match; their order decides whether the id is kept.
    pub matchers: Vec<Matcher>,
    /// From when on it mutes.
    #[serde(serialize_with = "milliseconds")]
    pub starts_at: Timestamp,
    /// Until when.
    #[serde(serialize_with = "milliseconds")]
    pub ends_at: Timestamp,
    /// Whose it is.
    pub created_by: String,
    /// Why it is.
    pub comment: String,
    /// Those that are not sent are erased.
    pub annotations: BTreeMap<String, String>,
}

/// In UTC with three digits, which is what Alertmanager itself writes.
fn milliseconds<S: Serializer>(time: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&format_args!("{time:.3}"))
}

/// A silence as it is written.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    matchers: Vec<Matcher>,
    #[serde(deserialize_with = "instant")]
    starts_at: Timestamp,
    #[serde(deserialize_with = "instant")]
    ends_at: Timestamp,
    updated_at: Timestamp,
    created_by: Option<String>,
    comment: Option<String>,
    annotations: Option<BTreeMap<String, String>>,
    status: ListedStatus,
}

/// People who mean "for ever" write 9999-12-31, which is a day more than a timestamp here can hold; the offset may even
/// make it the year 10000. That is the last instant there is: one such silence must not hide all the others.
fn instant<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(from)?;
    text.parse().or_else(|error| {
        let year = text.split('-').next().unwrap_or_default();
        let is_far = year.len() < 10 && year.parse::<u32>().is_ok_and(|year| year >= 9999);
        if is_far && text.contains('T') { Ok(Timestamp::MAX) } else { Err(serde::de::Error::custom(error)) }
    })
}

#[derive(Deserialize)]
struct ListedStatus {
    state: State,
}

impl From<Listed> for Silence {
    fn from(listed: Listed) -> Self {
        Self {
            id: listed.id,
            matchers: listed.matchers,
            starts_at: listed.starts_at,
            ends_at: listed.ends_at,
            updated_at: listed.updated_at,
            created_by: listed.created_by.unwrap_or_default(),
            comment: listed.comment.unwrap_or_default(),
            annotations: listed.annotations.unwrap_or_default(),
            state: listed.status.state,
        }
    }
}

/// How members of an Alertmanager stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterStatus {
    /// They gossip.
    Ready,
    /// They are about to.
    Settling,
    /// There is one only.
    Disabled,
    /// It does not say, or says something new.
    Unknown,
}

/// What one member says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// Its version, where it was built with one.
    pub version: Option<String>,
    /// Whether it gossips.
    pub cluster_status: ClusterStatus,
    /// How many members it sees, itself included; none where it does not gossip.
    pub peers: usize,
    /// When it started.
    pub started: Option<Timestamp>,
}

impl Status {
    /// Reads what is there; `None` where it is not an Alertmanager that speaks.
    pub(super) fn read(value: &Value) -> Option<Self> {
        let (cluster, version) = (value.get("cluster"), value.get("versionInfo"));
        if !cluster.or(version)?.is_object() {
            return None;
        }
        let text = |of: Option<&Value>, name: &str| Some(of?.get(name)?.as_str()?.to_owned());
        let peers = cluster.and_then(|cluster| cluster.get("peers")?.as_array());
        Some(Self {
            version: text(version, "version").filter(|version| !version.is_empty()),
            cluster_status: match text(cluster, "status").as_deref() {
                Some("ready") => ClusterStatus::Ready,
                Some("settling") => ClusterStatus::Settling,
                Some("disabled") => ClusterStatus::Disabled,
                _ => ClusterStatus::Unknown,
            },
            peers: peers.map_or(0, Vec::len),
            started: text(Some(value), "uptime").and_then(|started| started.parse().ok()),
        })
    }
}

/// What an Alertmanager does with an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AlertState {
    /// It notifies.
    Active,
    /// It is silenced or inhibited.
    Suppressed,
    /// Not looked at yet.
    Unprocessed,
    /// Something new.
    #[serde(other)]
    Unknown,
}

/// An alert as an Alertmanager lists it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "ListedAlert")]
pub struct Alert {
    /// What silences match on.
    pub labels: BTreeMap<String, String>,
    /// The ids of the silences that mute it.
    pub silenced_by: Vec<String>,
    /// What becomes of it.
    pub state: AlertState,
}

#[derive(Deserialize)]
struct ListedAlert {
    labels: BTreeMap<String, String>,
    status: ListedAlertStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedAlertStatus {
    silenced_by: Option<Vec<String>>,
    state: AlertState,
}

impl From<ListedAlert> for Alert {
    fn from(listed: ListedAlert) -> Self {
        let ListedAlertStatus { silenced_by, state } = listed.status;
        Self { labels: listed.labels, silenced_by: silenced_by.unwrap_or_default(), state }
    }
}

/// The first alerts of a list, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Alerts {
    /// As many as were asked for.
    pub first: Vec<Alert>,
    /// All of them.
    pub total: usize,
}

/// Reads a list of alerts and keeps this many.
pub(super) struct Most(pub(super) usize);

impl<'de> DeserializeSeed<'de> for Most {
    type Value = Alerts;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Alerts, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Most {
    type Value = Alerts;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of alerts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Alerts, A::Error> {
        let mut alerts = Alerts::default();
        while alerts.first.len() < self.0 {
            let Some(alert) = list.next_element()? else { break };
            alerts.first.push(alert);
        }
        alerts.total = alerts.first.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            alerts.total += 1;
        }
        Ok(alerts)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn listed() -> Value {
        json!({
            "id": "f3b1c9a0-0000-4000-8000-000000000001",
            "matchers": [{"name": "a", "value": "b", "isRegex": false}],
            "startsAt": "2026-11-18T10:00:00.250Z", "endsAt": "2026-11-18T14:00:00.000+02:00",
            "updatedAt": "2026-11-18T09:59:59.123456789Z",
            "createdBy": "frontend/quiet", "comment": "",
            "status": {"state": "active", "new": 1}, "novelty": [],
        })
    }

    #[test]
    fn a_silence_is_read_with_what_is_missing_and_what_is_new() {
        let silence: Silence = serde_json::from_value(listed()).unwrap();
        assert!(silence.matchers.first().unwrap().is_equal);
        assert_eq!(silence.ends_at, "2026-11-18T12:00:00Z".parse().unwrap());
        assert_eq!((silence.state, silence.annotations.len()), (State::Active, 0));
        let mut null = listed();
        null["annotations"] = Value::Null;
        assert_eq!(serde_json::from_value::<Silence>(null).unwrap(), silence);
    }

    #[test]
    fn an_end_that_means_for_ever_hides_no_other_silence() {
        for end in ["9999-12-31T23:59:59.999Z", "10000-01-01T11:59:59.000Z"] {
            let mut far = listed();
            far["endsAt"] = json!(end);
            assert_eq!(serde_json::from_value::<Silence>(far).unwrap().ends_at, Timestamp::MAX, "{end}");
        }
    }

    #[test]
    fn a_silence_that_nobody_could_judge_is_refused() {
        for (field, value) in [
            ("status", json!({"state": "paused"})),
            ("status", json!({})),
            ("endsAt", json!("tomorrow")),
            ("endsAt", json!("2026-13-01T00:00:00Z")),
            ("endsAt", json!("9999")),
            ("matchers", Value::Null),
            ("id", json!(7)),
        ] {
            let mut bad = listed();
            bad[field] = value;
            assert!(serde_json::from_value::<Silence>(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_sent_in_utc_with_milliseconds() {
        let draft = Draft {
            id: None,
            matchers: Vec::new(),
            starts_at: "2026-11-18T10:00:00.987654321+02:00".parse().unwrap(),
            ends_at: "2026-11-18T14:00:00Z".parse().unwrap(),
            created_by: String::new(),
            comment: String::new(),
            annotations: BTreeMap::new(),
        };
        let sent = serde_json::to_value(&draft).unwrap();
        assert_eq!(sent["startsAt"], "2026-11-18T08:00:00.987Z");
        assert_eq!(sent["endsAt"], "2026-11-18T14:00:00.000Z");
        assert!(sent.get("id").is_none());
    }

    #[test]
    fn a_status_is_read_from_what_there_is() {
        let status = Status::read(&json!({"cluster": {"status": "ready", "peers": [{}, {}]},
            "versionInfo": {"version": "0.34.2"}, "uptime": "2026-11-18T10:00:00.000Z"}));
        let status = status.unwrap();
        assert_eq!((status.version.as_deref(), status.peers), (Some("0.34.2"), 2));
        assert_eq!(status.cluster_status, ClusterStatus::Ready);
        assert!(status.started.is_some());
        let bare = Status::read(&json!({"cluster": {"status": "new"}, "versionInfo": {"version": ""}}));
        let bare = bare.unwrap();
        assert_eq!((bare.version, bare.peers, bare.started), (None, 0, None));
        assert_eq!(bare.cluster_status, ClusterStatus::Unknown);
        for other in [json!({}), json!([]), json!("ok"), json!({"status": "ok"}), json!({"cluster": "a"})] {
            assert!(Status::read(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn the_first_alerts_are_kept_and_all_are_counted() {
        let alert =
            json!({"labels": {"alertname": "A"}, "status": {"state": "suppressed", "silencedBy": ["x"]}});
        let new = json!({"labels": {}, "status": {"state": "odd"}});
        let text = json!([alert, new, alert, "not even looked at"]).to_string();
        let read = |most| Most(most).deserialize(&mut serde_json::Deserializer::from_str(&text));
        let alerts = read(2).unwrap();
        assert_eq!((alerts.first.len(), alerts.total), (2, 4));
        assert_eq!(alerts.first.first().unwrap().silenced_by, ["x"]);
        assert_eq!(alerts.first.last().unwrap().state, AlertState::Unknown);
        assert_eq!(read(0).unwrap().total, 4);
        assert!(read(4).is_err());
    }
}
