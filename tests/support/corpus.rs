//! The corpus: cases as files, read once for every test that runs them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use usher::kinds::{self, KindInfo, TABLE};
use usher::settings::Settings;

/// What a case file says.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Case {
    /// What the case shows, one clause.
    pub about: String,
    /// CREATE unless said.
    #[serde(default = "create")]
    pub operation: String,
    /// The instant of the judgement.
    #[serde(default = "usual_now")]
    pub now: Timestamp,
    /// The requester.
    #[serde(default)]
    pub user: Option<String>,
    /// Settings by flag name.
    #[serde(default = "empty")]
    pub settings: Value,
    /// Objects that exist already.
    #[serde(default)]
    pub context: Vec<Value>,
    /// The object that is judged; on DELETE the stored one.
    pub object: Value,
    /// The stored object of an UPDATE.
    #[serde(default)]
    pub old: Option<Value>,
    /// Everything that is found, warnings too.
    #[serde(default)]
    pub findings: Vec<Expected>,
    /// Codes of which this case is the good side.
    #[serde(default)]
    pub passes: Vec<String>,
    /// In `mutate/`: the patch, exactly.
    #[serde(default)]
    pub patch: Option<Value>,
    #[serde(skip)]
    pub file: PathBuf,
    #[serde(skip)]
    pub verdict: Verdict,
}

#[derive(Debug, Clone, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub code: String,
    pub path: String,
    #[serde(default = "error")]
    pub severity: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Verdict {
    #[default]
    Accept,
    Reject,
    Mutate,
}

fn create() -> String {
    "CREATE".to_owned()
}

fn error() -> String {
    "error".to_owned()
}

fn usual_now() -> Timestamp {
    "2026-01-10T10:00:00Z".parse().unwrap()
}

fn empty() -> Value {
    json!({})
}

impl Case {
    pub fn kind(&self) -> &'static KindInfo {
        let text = |field: &str| self.object[field].as_str().unwrap_or_default();
        kinds::find(text("apiVersion"), text("kind"))
            .unwrap_or_else(|| panic!("{}: unknown kind", self.name()))
    }

    pub fn settings(&self) -> Arc<Settings> {
        let settings = usher::cli::options::settings_from(&self.settings);
        Arc::new(settings.unwrap_or_else(|error| panic!("{}: {error}", self.name())))
    }

    pub fn name(&self) -> String {
        let root = super::root().join("tests/corpus");
        self.file.strip_prefix(&root).unwrap_or(&self.file).display().to_string()
    }

    pub fn is_create(&self) -> bool {
        self.operation == "CREATE"
    }
}

/// Every case, in the order of their paths.
pub fn cases() -> Vec<Case> {
    let root = super::root().join("tests/corpus");
    let mut cases = Vec::new();
    for kind in TABLE {
        for (folder, verdict) in
            [("accept", Verdict::Accept), ("reject", Verdict::Reject), ("mutate", Verdict::Mutate)]
        {
            let directory = root.join(kind.slug).join(folder);
            let Ok(entries) = std::fs::read_dir(&directory) else { continue };
            let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
            files.sort();
            cases.extend(files.iter().map(|file| load(file, verdict)));
        }
    }
    cases
}

fn load(file: &Path, verdict: Verdict) -> Case {
    let text = std::fs::read_to_string(file).unwrap();
    let documents = usher::yaml::read(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert_eq!(documents.len(), 1, "{}: one document per case", file.display());
    let value = documents[0].root.to_json();
    let mut case: Case =
        serde_json::from_value(value).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    case.file = file.to_owned();
    case.verdict = verdict;
    case
}
