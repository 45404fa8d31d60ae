//! Whole objects beside the rule loaders: what prometheus-operator makes of a PrometheusRule, read by Prometheus, and the
//! file that the Loki operator makes of an AlertingRule or RecordingRule, read by Loki's ruler.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use usher::kinds::{KindInfo, alerting_rule, prometheus_rule, recording_rule};
use usher::review::door::Door;
use usher::rule::{Operation, Severity, Uniqueness, User};
use usher::settings::Settings;
use usher::view::{View, files};

use crate::oracle::{Dice, Oracle, agreed, folder, question};

fn cases() -> usize {
    std::env::var("CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(3_000)
}

fn seed() -> u64 {
    std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(11)
}

/// Good and bad values.
type Pool = (&'static [&'static str], &'static [&'static str]);

/// Objects of one kind: the pools that its texts come from, most of them good.
struct Maker {
    dice: Dice,
    /// One value in so many is taken from the bad ones.
    rarity: usize,
    exprs: Pool,
    names: Pool,
}

const DURATIONS: Pool = (
    &["5m", "1h30m", "0s", "0", "1d", "30s", "100ms"],
    &["", "5", "1h1h", "m", "-5m", "1.5h", "5m ", "9223372036855s"],
);
const METRICS: Pool = (&["job:up:sum", "a", "_x", ":y", "É"], &["a{b}", "{", "a b", "1a", "a-b", "a\u{7f}"]);
const NAMES: Pool = (&["severity", "team", "_", "a.b", "é", "a b"], &["__name__", "", "a\u{80}", "\u{fffe}"]);
/// Loki's ruler takes classic names only.
const CLASSIC: Pool = (&["severity", "team", "_"], &["__name__", "", "a.b", "é", "a b", "1a"]);
const TEXTS: Pool = (
    &[
        "page",
        "",
        "{{ $value }}",
        "{{ $labels.job | title }}",
        "a\nb\n",
        "  x: y  ",
        "\u{85}",
        "\u{1}\t",
        "✓ \"quoted\" 'it'",
    ],
    &["{{ $valu }}", "{{ .Foo", "{{ nofunc }}", "{{ if }}", "x\u{7f}", "\u{9f}", "\u{ffff}y"],
);
const PROMQL: Pool = (
    &[
        "up",
        "sum by (job) (rate(x[5m])) > 1",
        "1",
        "vector(1)",
        "up == 0 or absent(up)",
        "a\n  + b # why",
        "\"x\" > bool 1 == 1",
        "{job=~\"a.*\"}",
    ],
    &[
        "",
        "up{",
        "rate(x)",
        "sum(",
        "foo bar",
        "\"x\" == \"y\"",
        "{}",
        "up{job=~\"a**\"}",
        "x[5m]",
        "up\u{7f}",
        "max_over_time(up)",
    ],
);
const LOGQL: Pool = (
    &[
        "sum(rate({app=\"a\"}[5m])) > 1",
        "count_over_time({app=\"a\"} |= \"x\" [1m])",
        "sum by (l) (rate({a=~\"b.+\"} | json [5m]))",
        "vector(1)",
    ],
    &[
        "",
        "{app=\"a\"",
        "rate({app=\"a\"})",
        "sum(",
        "{app=~\"a**\"}",
        "rate({}[5m])",
        "sum(rate({app=~\".*\"}[5m]))",
        "up",
    ],
);

impl Maker {
    fn pick(&mut self, (good, bad): Pool) -> &'static str {
        let pool = if self.dice.one_in(self.rarity) { bad } else { good };
        self.dice.pick(pool)
    }

    fn often(&mut self, one_in: usize) -> bool {
        self.dice.one_in(one_in)
    }

    fn texts(&mut self) -> Value {
        let count = self.dice.below(3);
        let mut map = Map::new();
        for _ in 0..count {
            let (name, text) = (self.pick(self.names), self.pick(TEXTS));
            map.insert(name.to_owned(), json!(text));
        }
        Value::Object(map)
    }

    fn prometheus(&mut self) -> Value {
        let groups: Vec<Value> = (0..self.dice.below(3)).map(|_| self.prometheus_group()).collect();
        json!({"groups": groups})
    }

    fn prometheus_group(&mut self) -> Value {
        let mut group = json!({"name": self.pick((&["a", "b", "c", "d", "e f", "é"], &["", "a\u{7f}"]))});
        if self.often(3) {
            group["interval"] = json!(self.pick(DURATIONS));
        }
        if self.often(8) {
            group["query_offset"] = json!(self.pick(DURATIONS));
        }
        if self.often(8) {
            group["labels"] = self.texts();
        }
        if self.often(8) {
            group["limit"] = json!(self.dice.below(5));
        }
        if self.often(8) {
            group["partial_response_strategy"] = json!(self.pick((&["", "warn", "abort"], &["x"])));
        }
        let rules: Vec<Value> = (0..self.dice.below(4)).map(|_| self.prometheus_rule()).collect();
        group["rules"] = json!(rules);
        group
    }

    fn prometheus_rule(&mut self) -> Value {
        let mut rule = json!({"expr": self.pick(self.exprs)});
        if self.often(20) {
            rule["expr"] = json!([0, 5, -1, i64::from(i32::MAX), 3_000_000_000_i64][self.dice.below(5)]);
        }
        match self.dice.below(20) {
            0 => {}
            1 => {
                rule["record"] = json!(self.pick(METRICS));
                rule["alert"] = json!("Both");
            }
            2..=9 => rule["record"] = json!(self.pick(METRICS)),
            _ => rule["alert"] = json!(self.pick((&["Down", "is it?", "é"], &["", "x\u{80}"]))),
        }
        let is_record = !rule["record"].is_null();
        for field in ["for", "keep_firing_for"] {
            if self.often(if is_record { 20 } else { 3 }) {
                rule[field] = json!(self.pick(DURATIONS));
            }
        }
        if self.often(2) {
            rule["labels"] = self.texts();
        }
        if self.often(if is_record { 20 } else { 2 }) {
            rule["annotations"] = self.texts();
        }
        rule
    }

    /// Groups of rules for Loki; `name` is `alert` or `record`.
    fn loki(&mut self, name: &str) -> Value {
        let groups: Vec<Value> = (0..1 + self.dice.below(2))
            .map(|number| {
                let rules: Vec<Value> = (0..1 + self.dice.below(3))
                    .map(|_| {
                        let mut rule = json!({"expr": self.pick(self.exprs)});
                        rule[name] = if name == "alert" {
                            json!(self.pick((&["Down", "is it?"], &[""])))
                        } else {
                            json!(self.pick(METRICS))
                        };
                        if self.often(2) {
                            rule["labels"] = self.texts();
                        }
                        if name == "alert" && self.often(2) {
                            rule["annotations"] = self.texts();
                        }
                        if name == "alert" && self.often(2) {
                            rule["for"] = json!(self.pick(DURATIONS));
                        }
                        rule
                    })
                    .collect();
                json!({"name": format!("g{number}"), "interval": self.pick(DURATIONS), "rules": rules})
            })
            .collect();
        json!({"tenantID": "application", "groups": groups})
    }
}

fn object(kind: &KindInfo, spec: &Value) -> Value {
    let api_version = format!("{}/{}", kind.group, kind.versions[0]);
    json!({"apiVersion": api_version, "kind": kind.kind, "metadata": {"name": "a", "namespace": "b"}, "spec": spec})
}

/// The codes with which usher refuses an object.
fn refusals(kind: &'static KindInfo, spec: &Value, door: &Door) -> Vec<String> {
    let user = User::default();
    let facts = door.facts(Operation::Create, &user, "2026-01-10T10:00:00Z".parse().unwrap());
    match (kind.admission.as_ref().unwrap().judge)(&object(kind, spec), &facts) {
        Err(undecodable) => vec![undecodable.message],
        Ok(findings) => {
            let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
            errors
                .map(|finding| format!("{} {}: {}", finding.rule.code, finding.path, finding.message))
                .collect()
        }
    }
}

/// What prometheus-operator leaves out before it writes the rules.
fn as_the_operator_writes(spec: &Value) -> Value {
    let mut spec = spec.clone();
    let drop_empty = |object: &mut Value, field: &str| {
        if object[field] == "" {
            object.as_object_mut().unwrap().remove(field);
        }
    };
    for group in spec["groups"].as_array_mut().unwrap() {
        group.as_object_mut().unwrap().remove("partial_response_strategy");
        drop_empty(group, "interval");
        for rule in group["rules"].as_array_mut().unwrap() {
            drop_empty(rule, "for");
            drop_empty(rule, "record");
            drop_empty(rule, "alert");
        }
    }
    spec
}

fn has_a_large_number(spec: &Value) -> bool {
    let groups = spec["groups"].as_array().unwrap();
    let mut rules = groups.iter().flat_map(|group| group["rules"].as_array().unwrap());
    rules.any(|rule| rule["expr"].as_i64().is_some_and(|number| i32::try_from(number).is_err()))
}

/// Texts with everything that YAML minds.
fn odd_text(dice: &mut Dice) -> String {
    const PIECES: &[&str] = &[
        "word",
        " ",
        "  ",
        "\n",
        ": ",
        " #",
        ":",
        "#",
        "-",
        "- ",
        "'",
        "\"",
        "\\",
        "a longer piece of prose that is folded ",
        "é",
        "日",
        "😀",
        "\u{a0}",
        "\t",
        "\u{1}",
        "{",
        "}",
        "[",
        ",",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "?",
        "0",
        "1.5",
        "true",
        "2026-01-10",
        "T15:04:05Z",
        " 15:04:05",
        "12:30",
        "~",
        "null",
        "=",
        "<<",
        ".",
        "...",
        "---",
        "\u{feff}",
        "/",
    ];
    (0..dice.below(9)).map(|_| *dice.pick(&PIECES.iter().collect::<Vec<_>>())).collect()
}

/// What prometheus-operator measures is what usher measures: every text, as a value and as a key, at several depths.
#[test]
fn yaml_like_gos() {
    let mut judge = Oracle::start(&folder().join("oracle-prometheus"));
    let mut dice = Dice::new(seed());
    let values: Vec<Value> = (0..4 * cases())
        .map(|number| {
            let (key, text) = (odd_text(&mut dice), odd_text(&mut dice));
            match number % 4 {
                0 => json!({"k": text}),
                1 => json!({key: "v"}),
                2 => json!({"deeper": {"still": [{"a": text}, {"b": [text, 5, true]}]}}),
                _ => json!({"list": [{key: text}]}),
            }
        })
        .collect();
    let asked: Vec<Value> = values.iter().map(|value| question("yaml", &value.to_string())).collect();
    let mut compared = 0;
    for (value, told) in values.iter().zip(judge.ask(&asked)) {
        // Its reader refuses some characters; PrometheusRule says so itself.
        let Some(theirs) = told["string"].as_str() else { continue };
        assert_eq!(usher::yaml::write_as_go(value), theirs, "{value}");
        compared += 1;
    }
    assert!(compared > 3 * cases(), "{compared}");
    agreed("YAML as prometheus-operator writes it", "Go's yaml.v2", compared, compared);
}

/// A Prometheus that selects everything, with this scheme of names.
fn selecting(scheme: &str) -> Door {
    let view = View::default();
    let spec = json!({"ruleSelector": {}, "ruleNamespaceSelector": {}, "version": "v3.15.0",
        "nameValidationScheme": if scheme == "legacy" { "Legacy" } else { "UTF8" }});
    let server = json!({"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus",
        "metadata": {"name": "main", "namespace": "b"}, "spec": spec});
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "b"}});
    files::fill(&view, vec![server, namespace], "b");
    Door::new(Arc::new(Settings::default()), Arc::new(view), Uniqueness::ByView)
}

/// A PrometheusRule is refused exactly when prometheus-operator cannot write it or Prometheus does not load what it wrote.
#[test]
fn prometheus_rules_like_operator_and_loader() {
    let mut judge = Oracle::start(&folder().join("oracle-prometheus"));
    for scheme in ["utf8", "legacy"] {
        let mut maker = Maker { dice: Dice::new(seed()), rarity: 25, exprs: PROMQL, names: NAMES };
        let specs: Vec<Value> = (0..cases()).map(|_| maker.prometheus()).collect();
        let door = selecting(scheme);
        let asked: Vec<Value> =
            specs.iter().map(|spec| question("yaml", &as_the_operator_writes(spec).to_string())).collect();
        let written = judge.ask(&asked);
        let files: Vec<Value> = written
            .iter()
            .map(|told| {
                let mut asked = question("rules", told["string"].as_str().unwrap_or("{}"));
                asked["scheme"] = json!(scheme);
                asked
            })
            .collect();
        let loaded = judge.ask(&files);
        let mut accepted = 0;
        for ((spec, written), loaded) in specs.iter().zip(&written).zip(&loaded) {
            let theirs = written["ok"] == true && loaded["ok"] == true && !has_a_large_number(spec);
            let ours = refusals(&prometheus_rule::KIND, spec, &door);
            assert_eq!(ours.is_empty(), theirs, "{scheme}: {spec:#}\nusher {ours:#?}\n{written} {loaded}");
            accepted += usize::from(theirs);
        }
        let share = 100 * accepted / specs.len();
        assert!((20..=80).contains(&share), "{share}% are accepted");
        let original = format!("prometheus-operator's YAML, Prometheus' rule loader, {scheme} names");
        agreed("PrometheusRule", &original, specs.len(), accepted);
    }
}

/// An empty `for` is none, which is rendered as `0s`.
fn as_it_is_rendered(spec: &Value) -> Value {
    let mut groups = spec["groups"].clone();
    for group in groups.as_array_mut().unwrap() {
        for rule in group["rules"].as_array_mut().unwrap() {
            if rule["for"] == "" {
                rule["for"] = json!("0s");
            }
        }
    }
    json!({"groups": groups})
}

/// The Loki operator writes YAML itself, with an escape for what may not stand in it.
fn escaped(text: &str) -> String {
    let is_allowed = |c: &char| !matches!(c, '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}');
    text.chars()
        .map(|c| if is_allowed(&c) { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) })
        .collect()
}

/// An AlertingRule or RecordingRule is admitted exactly when Loki's ruler loads the file that becomes of it. (Where the
/// Loki operator's webhook refuses more, the corpus says so.)
#[test]
fn rules_for_loki_like_its_ruler() {
    let mut judge = Oracle::start(&folder().join("oracle-loki"));
    let door = Door::new(Arc::new(Settings::default()), Arc::new(View::default()), Uniqueness::ByView);
    for (kind, name) in [(&alerting_rule::KIND, "alert"), (&recording_rule::KIND, "record")] {
        let mut maker = Maker { dice: Dice::new(seed()), rarity: 40, exprs: LOGQL, names: CLASSIC };
        let specs: Vec<Value> = (0..cases()).map(|_| maker.loki(name)).collect();
        let files: Vec<Value> = specs
            .iter()
            .map(|spec| question("rules", &escaped(&as_it_is_rendered(spec).to_string())))
            .collect();
        let mut admitted = 0;
        for (spec, verdict) in specs.iter().zip(judge.ask(&files)) {
            let ours = refusals(kind, spec, &door);
            assert_eq!(ours.is_empty(), verdict["ok"] == true, "{spec:#}\nusher {ours:#?}\n{verdict}");
            admitted += usize::from(ours.is_empty());
        }
        let share = 100 * admitted / specs.len();
        assert!((20..=80).contains(&share), "{share}% are admitted");
        agreed(kind.kind, "Loki's rule loader", specs.len(), admitted);
    }
}
