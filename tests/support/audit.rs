//! The API server's audit log: who did what, and when.

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};

use jiff::Timestamp;
use serde_json::Value;

use super::cluster::Cluster;

/// One request.
#[derive(Debug, Clone)]
pub struct Entry {
    pub verb: String,
    pub user: String,
    pub agent: String,
    /// `silences/status`
    pub resource: String,
    pub name: String,
    pub code: u64,
    pub began: Timestamp,
    pub ended: Timestamp,
}

impl Entry {
    /// Asking for one's own rights is a POST that stores nothing.
    pub fn is_write(&self) -> bool {
        !matches!(self.verb.as_str(), "get" | "list" | "watch") && self.resource != "selfsubjectaccessreviews"
    }
}

/// Where the log is now; what comes later can be read from here.
pub fn mark(cluster: &Cluster) -> u64 {
    std::fs::metadata(&cluster.audit_log).map_or(0, |metadata| metadata.len())
}

/// The requests since a mark that usher's account made.
pub fn ushers(cluster: &Cluster, since: u64) -> Vec<Entry> {
    let mut file = std::fs::File::open(&cluster.audit_log).unwrap();
    file.seek(SeekFrom::Start(since)).unwrap();
    let entries = BufReader::new(file).lines().filter_map(|line| {
        let value: Value = serde_json::from_str(&line.ok()?).ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let object = &value["objectRef"];
        let sub = text(&object["subresource"]);
        let slash = if sub.is_empty() { "" } else { "/" };
        let entry = Entry {
            verb: text(&value["verb"]),
            user: text(&value["user"]["username"]),
            agent: text(&value["userAgent"]),
            resource: format!("{}{slash}{sub}", text(&object["resource"])),
            name: text(&object["name"]),
            code: value["responseStatus"]["code"].as_u64().unwrap_or(0),
            began: value["requestReceivedTimestamp"].as_str()?.parse().ok()?,
            ended: value["stageTimestamp"].as_str()?.parse().ok()?,
        };
        (entry.user == "system:serviceaccount:usher-system:usher").then_some(entry)
    });
    entries.collect()
}
