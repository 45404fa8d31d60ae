//! Near-valid objects of every kind, one thing changed in each: the real API server's verdict (schema, CEL and usher's
//! webhooks together) against `usher check`. Seeded, so that a disagreement can be repeated: `CASES=` and `SEED=`.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::{Map, Value, json};
use usher::check::run::{Request, run};
use usher::kinds::{KindInfo, owned};
use usher::manifests::crd;
use usher::settings::Settings;

use crate::cluster;
use crate::door::usher;
use crate::support::corpus;

/// xorshift64*: small, seeded, good enough to choose.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.roll(items.len())]
    }
}

/// A value of the object, by pointer, with its schema.
struct Place<'a> {
    pointer: String,
    schema: &'a Value,
    present: bool,
}

fn places<'a>(schema: &'a Value, value: Option<&Value>, pointer: String, out: &mut Vec<Place<'a>>) {
    if let Some(value) = value {
        match value {
            Value::Object(map) => {
                for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                    let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                    places(property, map.get(name), pointer, out);
                }
                if schema["additionalProperties"].is_object() {
                    for (name, value) in map {
                        let pointer = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
                        places(&schema["additionalProperties"], Some(value), pointer, out);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    places(&schema["items"], Some(item), format!("{pointer}/{index}"), out);
                }
            }
            _ => {}
        }
    }
    out.push(Place { pointer, schema, present: value.is_some() });
}

/// Something of the schema's shape, to be put where nothing is yet.
fn sample(schema: &Value, dice: &mut Dice) -> Value {
    if let Some(values) = schema["enum"].as_array() {
        return dice.pick(values).clone();
    }
    match schema["type"].as_str() {
        Some("string") if schema["format"] == "date-time" => json!("2026-12-24T18:00:00Z"),
        Some("string") => json!("1h"),
        Some("integer") => schema["minimum"].as_i64().map_or(json!(1), |least| json!(least.max(1))),
        Some("number") => json!(1.5),
        Some("boolean") => json!(true),
        Some("array") => json!([sample(&schema["items"], dice)]),
        Some("object") => {
            let mut map = Map::new();
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                map.insert(name.to_owned(), sample(&schema["properties"][name], dice));
            }
            if schema["additionalProperties"].is_object() {
                map.insert("key".to_owned(), sample(&schema["additionalProperties"], dice));
            }
            Value::Object(map)
        }
        _ => json!("x"),
    }
}

const CATEGORIES: [&str; 10] =
    ["type", "bound", "enum", "format", "duplicate", "unknown", "null", "missing", "metadata", "added"];

/// Changes one thing; gives the text that is sent and the category, or nothing when the category does not apply.
fn change(kind: &KindInfo, base: &Value, category: &str, dice: &mut Dice) -> Option<String> {
    let schema = crd::schema(kind);
    let mut all = Vec::new();
    let spec = &schema["properties"]["spec"];
    places(spec, base.get("spec"), "/spec".to_owned(), &mut all);
    let mut object = base.clone();
    let present: Vec<&Place<'_>> = all.iter().filter(|place| place.present).collect();
    match category {
        "type" => {
            let place = dice.pick(&present);
            let others = [
                json!("text"),
                json!(7),
                json!(1.5),
                json!(true),
                json!([]),
                json!({}),
                json!([1]),
                json!({"a": 1}),
            ];
            *object.pointer_mut(&place.pointer)? = dice.pick(&others).clone();
        }
        "bound" => {
            let bounded: Vec<_> = present
                .iter()
                .filter(|place| {
                    [
                        "minimum",
                        "maximum",
                        "minLength",
                        "maxLength",
                        "minItems",
                        "maxItems",
                        "maxProperties",
                        "pattern",
                    ]
                    .iter()
                    .any(|word| place.schema.get(word).is_some())
                        || place.schema["format"] == "int32"
                        || place.schema["format"] == "int64"
                })
                .collect();
            if bounded.is_empty() {
                return None;
            }
            let place = dice.pick(&bounded);
            let off = [-1_i64, 0, 1][dice.roll(3)];
            let value = object.pointer_mut(&place.pointer)?;
            let schema = place.schema;
            let text = |length: i64| json!("a".repeat(length.clamp(0, 100_000) as usize));
            *value = match schema["type"].as_str() {
                Some("integer") => match dice.roll(4) {
                    0 => json!(schema["minimum"].as_f64().unwrap_or(0.0) as i64 + off),
                    1 => json!(schema["maximum"].as_f64().unwrap_or(2_147_483_647.0) as i64 + off),
                    2 => json!(2_147_483_648_i64),
                    _ => json!(-2_147_483_649_i64),
                },
                Some("string") => match dice.roll(4) {
                    0 => text(schema["maxLength"].as_i64().unwrap_or(300) + off),
                    1 => text(schema["minLength"].as_i64().unwrap_or(0) + off),
                    2 => json!(format!("{}\n", value.as_str().unwrap_or_default())),
                    _ => json!(format!("ä{}", value.as_str().unwrap_or_default())),
                },
                Some("array") => {
                    let wanted = match dice.roll(2) {
                        0 => schema["maxItems"].as_i64().unwrap_or(3) + off,
                        _ => schema["minItems"].as_i64().unwrap_or(0) + off,
                    };
                    let items = value.as_array()?.clone();
                    let item = items.first().cloned().unwrap_or_else(|| sample(&schema["items"], dice));
                    Value::Array(vec![item; wanted.clamp(0, 2_000) as usize])
                }
                Some("object") => {
                    let wanted = schema["maxProperties"].as_i64().unwrap_or(3) + off;
                    let item = sample(&schema["additionalProperties"], dice);
                    Value::Object(
                        (0..wanted.clamp(0, 2_000)).map(|n| (format!("k{n}"), item.clone())).collect(),
                    )
                }
                _ => return None,
            };
        }
        "enum" => {
            let fixed: Vec<_> = present.iter().filter(|place| place.schema["enum"].is_array()).collect();
            if fixed.is_empty() {
                return None;
            }
            let place = dice.pick(&fixed);
            let values = place.schema["enum"].as_array()?;
            let value = dice.pick(values).clone();
            *object.pointer_mut(&place.pointer)? = match dice.roll(4) {
                0 => value,
                1 => json!(value.as_str().unwrap_or("x").to_uppercase()),
                2 => json!(""),
                _ => json!(format!("{}x", value.as_str().unwrap_or_default())),
            };
        }
        "format" => {
            let times: Vec<_> = all.iter().filter(|place| place.schema["format"] == "date-time").collect();
            if times.is_empty() {
                return None;
            }
            let place = dice.pick(&times);
            let texts = [
                "2026-12-24T18:00:00Z",
                "2026-12-24t18:00:00z",
                "2026-12-24T18:00:00",
                "2026-12-24 18:00:00Z",
                "2026-12-24",
                "2026-02-30T00:00:00Z",
                "2026-12-24T24:00:00Z",
                "2026-12-24T18:00:60Z",
                "2026-12-24T18:00:00+01:00",
                "2026-12-24T18:00:00+99:99",
                "2026-12-24T18:00:00.123456789Z",
                "2026-12-24T18:00:00,5Z",
                "tomorrow",
                "",
                "20261224T180000Z",
                "2026-12-24T18:00Z",
                "+2026-12-24T18:00:00Z",
                "2026-12-24T18:00:00Z[UTC]",
                "2026-12-24T18:00:00ZtX",
                "9999-12-31T23:59:59Z",
                "0001-01-01T00:00:00Z",
                "2026-12-24T18:00:00-00:00",
            ];
            put(&mut object, &place.pointer, json!(dice.pick(&texts)))?;
        }
        "duplicate" => {
            let lists: Vec<_> = present
                .iter()
                .filter(|place| {
                    object
                        .pointer(&place.pointer)
                        .is_some_and(|value| value.as_array().is_some_and(|list| !list.is_empty()))
                })
                .collect();
            if lists.is_empty() || dice.roll(2) == 0 {
                // The same key twice in one mapping.
                let text = serde_json::to_string(&object).ok()?;
                let keys: Vec<&str> =
                    present.iter().filter_map(|place| place.pointer.rsplit('/').next()).collect();
                let key = format!("\"{}\":", dice.pick(&keys));
                return text.contains(&key).then(|| text.replacen(&key, &format!("{key}null,{key}"), 1));
            }
            let place = dice.pick(&lists);
            let list = object.pointer_mut(&place.pointer)?.as_array_mut()?;
            let again = list[0].clone();
            list.push(again);
        }
        "unknown" => {
            let maps: Vec<_> = present
                .iter()
                .filter(|place| object.pointer(&place.pointer).is_some_and(Value::is_object))
                .map(|place| place.pointer.clone())
                .chain(["".to_owned(), "/metadata".to_owned()])
                .collect();
            let pointer = dice.pick(&maps).clone();
            let name = ["zzz", "Spec", "comments", "NAME", "a.b/c"][dice.roll(5)];
            let value =
                [json!(1), json!("x"), json!(null), json!({"a": 1}), json!([{}])][dice.roll(5)].clone();
            object.pointer_mut(&pointer)?.as_object_mut()?.insert(name.to_owned(), value);
        }
        "null" => {
            let place = dice.pick(&present);
            *object.pointer_mut(&place.pointer)? = Value::Null;
        }
        "missing" => {
            let place = dice.pick(&present);
            let (holder, name) = place.pointer.rsplit_once('/')?;
            match object.pointer_mut(holder)? {
                Value::Object(map) => drop(map.remove(&name.replace("~1", "/").replace("~0", "~"))),
                Value::Array(list) => drop(list.remove(name.parse().ok()?)),
                _ => return None,
            }
        }
        "metadata" => change_metadata(object["metadata"].as_object_mut()?, dice),
        // A field that is not there yet, with something of its shape or nearly so.
        _ => {
            let absent: Vec<_> = all.iter().filter(|place| !place.present).collect();
            if absent.is_empty() {
                return None;
            }
            let place = dice.pick(&absent);
            let value = if dice.roll(3) == 0 { json!("text") } else { sample(place.schema, dice) };
            put(&mut object, &place.pointer, value)?;
        }
    }
    Some(object.to_string())
}

fn put(object: &mut Value, pointer: &str, value: Value) -> Option<()> {
    let (holder, name) = pointer.rsplit_once('/')?;
    object.pointer_mut(holder)?.as_object_mut()?.insert(name.replace("~1", "/").replace("~0", "~"), value);
    Some(())
}

fn change_metadata(metadata: &mut Map<String, Value>, dice: &mut Dice) {
    let long = "a".repeat(254);
    let label = "a".repeat(64);
    let changes: Vec<(&str, Value)> = vec![
        ("name", json!("Upper")),
        ("name", json!("under_score")),
        ("name", json!("-dash")),
        ("name", json!("dots.are.fine")),
        ("name", json!(long)),
        ("name", json!("")),
        ("name", json!(5)),
        ("name", json!(null)),
        ("name", json!("a..b")),
        ("generateName", json!("prefix-")),
        ("generateName", json!("Bad-")),
        ("generateName", json!("a.-")),
        ("labels", json!({"a": "b", "example.com/c": "d"})),
        ("labels", json!({"a": 1})),
        ("labels", json!({"a": null})),
        ("labels", json!({"a b": "c"})),
        ("labels", json!({"a": "b c"})),
        ("labels", json!({label: "x"})),
        ("labels", json!({"/a": "x"})),
        ("labels", json!({"UPPER.example.com/a": "x"})),
        ("labels", json!([])),
        ("labels", json!({"a": "-b"})),
        ("annotations", json!({"a": "anything at all\n"})),
        ("annotations", json!({"UPPER.example.com/a": "x"})),
        ("annotations", json!({"a/b/c": "x"})),
        ("annotations", json!({"a": true})),
        ("annotations", json!({"a": "x".repeat(300_000)})),
        ("finalizers", json!(["example.com/hold"])),
        ("finalizers", json!(["plain"])),
        ("finalizers", json!(["not valid"])),
        ("finalizers", json!("text")),
        ("finalizers", json!([null])),
        ("finalizers", json!(["orphan", "foregroundDeletion"])),
        ("ownerReferences", json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u"}])),
        ("ownerReferences", json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}])),
        (
            "ownerReferences",
            json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", "zzz": 1}]),
        ),
        ("ownerReferences", json!([{"apiVersion": "a/b/c", "kind": "ConfigMap", "name": "a", "uid": "u"}])),
        (
            "ownerReferences",
            json!([
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "u", "controller": true},
                {"apiVersion": "v1", "kind": "ConfigMap", "name": "b", "uid": "v", "controller": true}
            ]),
        ),
        ("creationTimestamp", json!("2026-01-01T00:00:00Z")),
        ("creationTimestamp", json!("yesterday")),
        ("creationTimestamp", json!(null)),
        ("generation", json!(3)),
        ("generation", json!("3")),
        ("uid", json!("made-up")),
        ("deletionGracePeriodSeconds", json!(1.5)),
        ("managedFields", json!([])),
        ("clusterName", json!("c")),
    ];
    let (name, value) = dice.pick(&changes).clone();
    if name == "generateName" && dice.roll(2) == 0 {
        metadata.remove("name");
    }
    metadata.insert(name.to_owned(), value);
}

/// The offline verdict: allowed, and the codes.
fn offline(text: &str, directory: &std::path::Path, number: usize) -> (bool, Vec<String>) {
    let file = directory.join(format!("{number}.json"));
    std::fs::write(&file, text).unwrap();
    let report = run(&Request {
        paths: vec![file],
        context: Vec::new(),
        namespace: "shop".to_owned(),
        settings: Arc::new(Settings::default()),
        now: jiff::Timestamp::now(),
    });
    let found = |located: &usher::check::run::Located| {
        format!("{} {}", located.finding.rule.code, located.finding.path)
    };
    (report.errors() == 0, report.located.iter().map(found).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn usher_check_agrees_with_the_api_server_on_near_valid_objects() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
    let (wanted, seed) = (number("CASES", 2_400) as usize, number("SEED", 20_260_110));
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    let client = cluster.client().await;

    let mut bases: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    // A guest's schema is its owner's, so only owned kinds can be compared.
    for kind in owned() {
        let path = crate::support::root().join(format!("examples/{}.yaml", kind.slug));
        let example = usher::yaml::read(&std::fs::read_to_string(path).unwrap()).unwrap()[0].root.to_json();
        bases.entry(kind.kind).or_default().push(example);
    }
    for case in corpus::cases() {
        let plain = case.is_create() && case.verdict == corpus::Verdict::Accept && case.settings == json!({});
        if plain && case.context.is_empty() {
            bases.entry(case.kind().kind).or_default().push(case.object);
        }
    }
    let mut dice = Dice(seed);
    let mut texts = Vec::new();
    while texts.len() < wanted {
        for kind in owned() {
            let mut base = dice.pick(&bases[kind.kind]).clone();
            if kind.namespaced {
                base["metadata"]["namespace"] = json!("shop");
            }
            // Times of the corpus are of its own clock.
            for end in ["expiresAt", "startsAt"] {
                if base["spec"].get(end).is_some() {
                    base["spec"][end] = json!(if end == "startsAt" {
                        "2098-01-01T00:00:00Z"
                    } else {
                        "2099-01-01T00:00:00Z"
                    });
                }
            }
            let category = CATEGORIES[dice.roll(CATEGORIES.len())];
            if let Some(text) = change(kind, &base, category, &mut dice) {
                texts.push((kind, category, text));
            }
            // Few kinds have times in their spec; those get their share anyway.
            if let Some(text) = change(kind, &base, "format", &mut dice) {
                texts.push((kind, "format", text));
            }
        }
    }

    let directory = tempfile::tempdir().unwrap();
    let judged: Vec<_> = futures::stream::iter(texts.into_iter().enumerate())
        .map(|(number, (kind, category, text))| {
            let (client, directory) = (client.clone(), directory.path().to_owned());
            async move {
                let scope = if kind.namespaced { "namespaces/shop/" } else { "" };
                let api_version = if text.contains("/v1beta1\"") { "v1beta1" } else { kind.versions[0] };
                let path = format!(
                    "/apis/{}/{api_version}/{scope}{}?dryRun=All&fieldValidation=Strict",
                    kind.group, kind.plural
                );
                let request = http::Request::post(path)
                    .header("content-type", "application/json")
                    .body(text.clone().into_bytes())
                    .unwrap();
                let online = match client.request_text(request).await {
                    Ok(_) => Ok(()),
                    Err(kube::Error::Api(status)) => Err(format!("{} {}", status.code, status.message)),
                    Err(other) => panic!("{other}"),
                };
                let offline = offline(&text, &directory, number);
                (kind, category, text, online, offline)
            }
        })
        .buffered(8)
        .collect()
        .await;

    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut disagreements: Vec<String> = Vec::new();
    for (kind, category, text, online, (allowed, codes)) in &judged {
        let count = counts.entry(category).or_default();
        if online.is_ok() {
            count.0 += 1
        } else {
            count.1 += 1
        }
        *kinds.entry(kind.kind).or_default() += 1;
        if online.is_ok() != *allowed {
            let shown: String = text.chars().take(1_500).collect();
            disagreements.push(format!(
                "{} ({category}): API server {online:?}, usher check {}: {codes:?}\n  {shown}",
                kind.kind,
                if *allowed { "allows" } else { "refuses" }
            ));
        }
    }
    println!("differential: {} objects, seed {seed}, {} disagreements", judged.len(), disagreements.len());
    for (category, (allowed, refused)) in &counts {
        println!("  {category:10} {allowed:5} allowed {refused:5} refused");
    }
    usher.stop(cluster).await;
    disagreements.sort_by_key(String::len);
    assert!(
        disagreements.is_empty(),
        "{} disagreements:\n{}",
        disagreements.len(),
        disagreements[..disagreements.len().min(25)].join("\n")
    );
    assert!(kinds.len() == owned().count() && judged.len() >= wanted);
    let (allowed, refused) = counts.values().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    assert!(
        allowed * 10 > judged.len() && refused * 10 > judged.len(),
        "both verdicts must occur: {allowed}, {refused}"
    );
}
