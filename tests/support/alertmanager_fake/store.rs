//! The silences and alerts of the fake: what Alertmanager checks, keeps, replaces and ends, with its own answers.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use usher::lang::re2::{self, Names, Wrap};

use super::super::alertmanagers::Release;
use super::Answer;

/// Everything that an instance knows.
pub(super) struct Store {
    pub(super) release: Release,
    /// Counts the ended silences too; 0 is no limit.
    pub(super) max_silences: usize,
    silences: BTreeMap<String, Kept>,
    alerts: Vec<(Value, Timestamp)>,
}

#[derive(Clone)]
struct Kept {
    matchers: Vec<Matcher>,
    starts: Timestamp,
    ends: Timestamp,
    updated: Timestamp,
    created_by: String,
    comment: String,
    annotations: Option<Value>,
    /// As it was before it was ended.
    before: Option<Box<Kept>>,
}

#[derive(Clone, PartialEq)]
struct Matcher {
    name: String,
    value: String,
    is_equal: bool,
    is_regex: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Posted {
    #[serde(default)]
    id: String,
    matchers: Option<Vec<PostedMatcher>>,
    starts_at: Option<Timestamp>,
    ends_at: Option<Timestamp>,
    created_by: Option<String>,
    comment: Option<String>,
    annotations: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostedMatcher {
    name: Option<String>,
    value: Option<String>,
    is_regex: Option<bool>,
    is_equal: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PostedAlert {
    labels: Value,
    ends_at: Option<Timestamp>,
}

impl Store {
    pub(super) fn new(release: Release) -> Self {
        Self { release, max_silences: 0, silences: BTreeMap::new(), alerts: Vec::new() }
    }

    /// All silences in Alertmanager's order: active by end, pending by start, expired from the last one on.
    pub(super) fn list(&self) -> Vec<Value> {
        let now = Timestamp::now();
        let mut all: Vec<_> = self.silences.iter().collect();
        all.sort_by_key(|(_, kept)| match kept.state(now) {
            "active" => (1, kept.ends.as_nanosecond()),
            "pending" => (2, kept.starts.as_nanosecond()),
            _ => (3, -kept.ends.as_nanosecond()),
        });
        all.into_iter().map(|(id, kept)| kept.show(id, now)).collect()
    }

    /// The list as asked for; filters are compared with matchers, not applied to labels.
    pub(super) fn query(&self, query: &[(String, String)]) -> Answer {
        let mut filters = Vec::new();
        for text in query.iter().filter(|(key, _)| key == "filter").map(|(_, value)| value) {
            match Matcher::read(text) {
                Some(matcher) => filters.push(matcher.show()),
                None => return Answer::json(400, &json!(format!("bad matcher format: {text}"))),
            }
        }
        let mut silences = self.list();
        silences.retain(|silence| {
            let state = silence["status"]["state"].as_str().unwrap_or_default();
            let has = |filter| silence["matchers"].as_array().is_some_and(|own| own.contains(filter));
            (self.release == Release::Old || is_wanted(query, state)) && filters.iter().all(has)
        });
        Answer::json(200, &json!(silences))
    }

    pub(super) fn get(&self, id: &str) -> Answer {
        if !is_uuid(id) {
            return no_uuid(id);
        }
        let found = self.silences.get(id).map(|kept| Answer::json(200, &kept.show(id, Timestamp::now())));
        found.unwrap_or_else(|| Answer::empty(404))
    }

    pub(super) fn delete(&mut self, id: &str) -> Answer {
        if !is_uuid(id) {
            return no_uuid(id);
        }
        Answer::empty(if self.expire(id) { 200 } else { 404 })
    }

    fn expire(&mut self, id: &str) -> bool {
        let now = Timestamp::now();
        let Some(kept) = self.silences.get_mut(id) else { return false };
        let state = kept.state(now);
        if state != "expired" {
            let before = Some(Box::new(kept.clone()));
            let starts = if state == "pending" { now } else { kept.starts };
            *kept = Kept { starts, ends: now, updated: now, before, ..kept.clone() };
        }
        true
    }

    pub(super) fn post(&mut self, body: &[u8]) -> Answer {
        match self.try_post(body) {
            Ok(id) => Answer::json(200, &json!({"silenceID": id})),
            Err(refusal) => refusal,
        }
    }

    fn try_post(&mut self, body: &[u8]) -> Result<String, Answer> {
        let unreadable = |why: &str| {
            let message = format!("parsing silence body from \"\" failed, because {why}");
            Answer::json(400, &json!({"code": 400, "message": message}))
        };
        if body.is_empty() {
            return Err(required("silence"));
        }
        let posted: Posted = serde_json::from_slice(body).map_err(|error| unreadable(&error.to_string()))?;
        let is_text_map =
            |value: &Value| value.as_object().is_some_and(|map| map.values().all(Value::is_string));
        if self.release == Release::New
            && posted.annotations.as_ref().is_some_and(|given| !is_text_map(given))
        {
            return Err(unreadable("annotations are no texts"));
        }
        let now = Timestamp::now();
        let (id, mut kept) = posted.into_kept(now, self.release)?;
        let refused = |text: &str| Answer::json(400, &json!(format!("Failed to create silence: {text}")));
        if kept.starts >= kept.ends {
            return Err(refused("start time must be before end time"));
        }
        if kept.ends < now {
            return Err(refused("end time can't be in the past"));
        }
        kept.check(self.release)
            .map_err(|text| Answer::json(400, &json!(format!("invalid silence: {text}"))))?;
        let previous = self.silences.get(&id);
        if !id.is_empty() && previous.is_none() {
            return Err(Answer::json(404, &json!("silence not found")));
        }
        if previous.is_some_and(|previous| previous.takes(&kept, now)) {
            self.silences.insert(id.clone(), kept);
            return Ok(id);
        }
        let count = self.silences.len();
        if self.max_silences > 0 && count + 1 > self.max_silences {
            let text = format!("exceeded maximum number of silences: {count} (limit: {})", self.max_silences);
            return Err(Answer::json(400, &json!(text)));
        }
        kept.starts = kept.starts.max(now);
        self.expire(&id);
        let new = new_id();
        self.silences.insert(new.clone(), kept);
        Ok(new)
    }

    /// Puts a silence there as gossip does: unchecked, with any times, under its own id if it has one.
    pub(super) fn insert(&mut self, silence: &Value) -> String {
        let posted: Posted = serde_json::from_value(silence.clone()).expect("a silence");
        let (id, kept) = posted.into_kept(Timestamp::now(), self.release).expect("a complete silence");
        let id = if id.is_empty() { new_id() } else { id };
        self.silences.insert(id.clone(), kept);
        id
    }

    /// Makes an ended silence what it was before, as gossip of a member that was away does.
    pub(super) fn revive(&mut self, id: &str) {
        let kept = self.silences.get_mut(id).expect("a known silence");
        *kept = *kept.before.take().expect("a silence that was ended by a call");
    }

    pub(super) fn forget(&mut self, id: Option<&str>) {
        self.silences.retain(|own, _| id.is_some_and(|id| id != own));
    }

    pub(super) fn fire(&mut self, body: &[u8]) -> Answer {
        let alerts: Vec<PostedAlert> = match serde_json::from_slice(body) {
            Ok(alerts) => alerts,
            Err(error) => return Answer::json(400, &json!({"code": 400, "message": error.to_string()})),
        };
        for PostedAlert { labels, ends_at } in alerts {
            self.alerts.retain(|(known, _)| *known != labels);
            let ends = ends_at.unwrap_or_else(|| Timestamp::now() + jiff::SignedDuration::from_mins(5));
            self.alerts.push((labels, ends));
        }
        Answer::empty(200)
    }

    pub(super) fn alerts(&self, query: &[(String, String)]) -> Answer {
        let now = Timestamp::now();
        let mut alerts = Vec::new();
        for (labels, ends) in self.alerts.iter().filter(|(_, ends)| *ends > now) {
            let muting = |kept: &Kept| {
                kept.state(now) == "active" && kept.matchers.iter().all(|matcher| matcher.takes(labels))
            };
            let by: Vec<&String> =
                self.silences.iter().filter(|(_, kept)| muting(kept)).map(|(id, _)| id).collect();
            let (state, parameter) =
                if by.is_empty() { ("active", "active") } else { ("suppressed", "silenced") };
            let filters = query.iter().filter(|(key, _)| key == "filter").map(|(_, text)| text);
            if !is_wanted(query, parameter)
                || !filters
                    .map(|text| Matcher::read(text))
                    .all(|filter| filter.is_some_and(|f| f.takes(labels)))
            {
                continue;
            }
            alerts.push(json!({
                "labels": labels, "annotations": {}, "fingerprint": fingerprint(labels),
                "receivers": [{"name": "nobody"}],
                "startsAt": time(now), "endsAt": time(*ends), "updatedAt": time(now),
                "status": {"state": state, "silencedBy": by, "inhibitedBy": [], "mutedBy": []},
            }));
        }
        alerts.sort_by_key(|alert| alert["fingerprint"].to_string());
        Answer::json(200, &json!(alerts))
    }
}

impl Posted {
    /// Only the first thing that is missing is told, in this order.
    fn into_kept(self, now: Timestamp, release: Release) -> Result<(String, Kept), Answer> {
        let missing = |field: &str| required(field);
        let comment = self.comment.ok_or_else(|| missing("comment"))?;
        let created_by = self.created_by.ok_or_else(|| missing("createdBy"))?;
        let ends = self.ends_at.ok_or_else(|| missing("endsAt"))?;
        let posted = self.matchers.ok_or_else(|| missing("matchers"))?;
        if posted.is_empty() {
            let message = "matchers in body should have at least 1 items";
            return Err(Answer::json(422, &json!({"code": 612, "message": message})));
        }
        let mut matchers = Vec::new();
        for (index, matcher) in posted.into_iter().enumerate() {
            let missing = |field: &str| required(&format!("matchers.{index}.{field}"));
            let is_regex = matcher.is_regex.ok_or_else(|| missing("isRegex"))?;
            let name = matcher.name.ok_or_else(|| missing("name"))?;
            let value = matcher.value.ok_or_else(|| missing("value"))?;
            matchers.push(Matcher { name, value, is_equal: matcher.is_equal.unwrap_or(true), is_regex });
        }
        let starts = self.starts_at.ok_or_else(|| missing("startsAt"))?;
        let is_told = |annotations: &Value| annotations.as_object().is_some_and(|map| !map.is_empty());
        let annotations = self.annotations.filter(|given| release == Release::New && is_told(given));
        let kept =
            Kept { matchers, starts, ends, updated: now, created_by, comment, annotations, before: None };
        Ok((self.id, kept))
    }
}

impl Kept {
    fn state(&self, now: Timestamp) -> &'static str {
        if now < self.starts {
            "pending"
        } else if now < self.ends {
            "active"
        } else {
            "expired"
        }
    }

    /// Whether it may become this one under its own id.
    fn takes(&self, new: &Self, now: Timestamp) -> bool {
        self.matchers == new.matchers
            && match self.state(now) {
                "active" => self.starts.as_second() == new.starts.as_second() && new.ends >= now,
                "pending" => new.starts >= now,
                _ => false,
            }
    }

    fn check(&self, release: Release) -> Result<(), String> {
        let (of_set, set) = match release {
            Release::New => (" in set 0", "matcher set 0: "),
            Release::Old => ("", ""),
        };
        let mut all_match_empty = true;
        for (index, Matcher { name, value, is_equal, is_regex }) in self.matchers.iter().enumerate() {
            let place = format!("invalid label matcher {index}{of_set}");
            if name.is_empty() {
                return Err(format!("{place}: invalid label name {name:?}"));
            }
            let matches_empty = if *is_regex {
                let pattern = re2::parse(value.as_bytes(), Names::Current).map_err(|fault| {
                    let why = fault.message;
                    format!("{place}: invalid regular expression {value:?}: error parsing regexp: {why}")
                })?;
                pattern.matches_empty()
            } else {
                value.is_empty()
            };
            all_match_empty &= *is_equal && matches_empty;
        }
        if all_match_empty {
            return Err(format!("{set}at least one matcher must not match the empty string"));
        }
        Ok(())
    }

    fn show(&self, id: &str, now: Timestamp) -> Value {
        let mut silence = json!({
            "id": id,
            "status": {"state": self.state(now)},
            "updatedAt": time(self.updated),
            "comment": self.comment,
            "createdBy": self.created_by,
            "startsAt": time(self.starts),
            "endsAt": time(self.ends),
            "matchers": self.matchers.iter().map(Matcher::show).collect::<Vec<_>>(),
        });
        if let Some(annotations) = &self.annotations {
            silence["annotations"] = annotations.clone();
        }
        silence
    }
}

impl Matcher {
    fn show(&self) -> Value {
        json!({"name": self.name, "value": self.value, "isRegex": self.is_regex, "isEqual": self.is_equal})
    }

    /// Reads `name="value"` with any of the four operators; quotes may be left out.
    fn read(text: &str) -> Option<Self> {
        let at = text.find(['=', '!'])?;
        let (name, rest) = text.split_at(at);
        let operators = [("=~", true, true), ("!~", false, true), ("!=", false, false), ("=", true, false)];
        let (value, is_equal, is_regex) = operators
            .into_iter()
            .find_map(|(operator, equal, regex)| Some((rest.strip_prefix(operator)?, equal, regex)))?;
        let value = value.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let name = name.trim().to_owned();
        let value = value.replace("\\\"", "\"").replace("\\n", "\n").replace("\\\\", "\\");
        (!name.is_empty()).then_some(Self { name, value, is_equal, is_regex })
    }

    fn takes(&self, labels: &Value) -> bool {
        let label = labels[&self.name].as_str().unwrap_or_default();
        let is_match = if self.is_regex {
            let pattern = re2::parse_wrapped(self.value.as_bytes(), Names::Current, Wrap::Group);
            let translated = pattern.ok().and_then(|pattern| pattern.to_rust().ok());
            translated.is_some_and(|text| regex::Regex::new(&text).is_ok_and(|regex| regex.is_match(label)))
        } else {
            self.value == label
        };
        is_match == self.is_equal
    }
}

/// Whether a query parameter of this name is absent or true.
fn is_wanted(query: &[(String, String)], name: &str) -> bool {
    !query.iter().any(|(key, value)| key == name && value == "false")
}

fn required(field: &str) -> Answer {
    Answer::json(422, &json!({"code": 602, "message": format!("{field} in body is required")}))
}

fn no_uuid(id: &str) -> Answer {
    let message = format!("silenceID in path must be of type uuid: {id:?}");
    Answer::json(422, &json!({"code": 601, "message": message}))
}

fn is_uuid(id: &str) -> bool {
    let parts: Vec<&str> = id.split('-').collect();
    parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
        && parts.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A random identifier.
fn new_id() -> String {
    let (high, low) = (RandomState::new().hash_one(1), RandomState::new().hash_one(2));
    let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
    format!(
        "{first:08x}-{second:04x}-4{third:03x}-8{:03x}-{:012x}",
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

/// FNV-1a over names and values, each ended by 0xff: alerts are listed in this order.
fn fingerprint(labels: &Value) -> String {
    let labels: BTreeMap<&String, &Value> = labels.as_object().into_iter().flatten().collect();
    let texts =
        labels.into_iter().flat_map(|(name, value)| [name.as_str(), value.as_str().unwrap_or_default()]);
    let bytes = texts.flat_map(|text| text.bytes().chain([0xff]));
    let step = |sum: u64, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, step))
}

/// UTC with milliseconds.
pub(super) fn time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
