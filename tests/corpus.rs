//! Every case of the corpus through the webhook door and the offline door, in process; the doors must agree.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use support::corpus::{Case, Expected, Verdict, cases};
use usher::check::run::{Request, run};
use usher::kinds::TABLE;
use usher::review::door::{Clock, Door, Phase};
use usher::rule::{Findings, Home, Uniqueness};
use usher::view::View;
use usher::view::files::{fill, mark_as_existing};

fn door(case: &Case) -> Door {
    let view = View::default();
    fill(&view, case.context.iter().map(mark_as_existing).collect(), "default");
    Door {
        settings: case.settings(),
        view: Arc::new(view),
        clock: Clock::Fixed(case.now),
        uniqueness: Uniqueness::ByView,
        permitted: false,
    }
}

fn review(case: &Case, object: &Value) -> Value {
    let kind = case.kind();
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let (object, old) = match case.operation.as_str() {
        "DELETE" => (Value::Null, object.clone()),
        "UPDATE" => {
            (object.clone(), case.old.clone().unwrap_or_else(|| panic!("{}: no old object", case.name())))
        }
        _ => (object.clone(), Value::Null),
    };
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": {"group": kind.group, "version": kind.versions[0], "kind": kind.kind},
            "operation": case.operation, "name": text("name"),
            "namespace": if kind.namespaced && text("namespace").is_empty() { "default".to_owned() } else { text("namespace") },
            "userInfo": {"username": case.user.clone().unwrap_or_default()},
            "object": object, "oldObject": old
        }
    })
}

fn ask(case: &Case, phase: Phase, object: &Value) -> (Value, Option<Findings>) {
    let kind = case.kind();
    let admission = kind.admission.as_ref().unwrap_or_else(|| panic!("{}: no rules", case.name()));
    let body = serde_json::to_vec(&review(case, object)).unwrap();
    let answer = (admission.answer)(&door(case), phase, kind, &body).unwrap();
    let response: Value = serde_json::from_slice(&answer.body).unwrap();
    (response["response"].clone(), answer.verdict.findings().cloned())
}

fn listed(findings: &Findings) -> Vec<Expected> {
    let mut list: Vec<Expected> = findings
        .iter()
        .map(|finding| Expected {
            code: finding.rule.code.to_owned(),
            path: finding.path.to_string(),
            severity: finding.severity.as_str().to_owned(),
        })
        .collect();
    list.sort();
    list
}

/// As the API server: schema defaults, mutation, creation time and uid, then validation.
fn through_the_webhook(case: &Case) -> (bool, Vec<Expected>) {
    let kind = case.kind();
    let mut object = case.object.clone();
    if case.is_create() {
        usher::schema::of(kind).apply_defaults(&mut object);
    }
    if kind.admission.as_ref().is_some_and(|admission| admission.mutate.is_some())
        && case.operation != "DELETE"
    {
        let (response, _) = ask(case, Phase::Mutate, &object);
        assert_eq!(response["allowed"], json!(true), "{}", case.name());
        apply(&response, &mut object);
    }
    if case.is_create() && object["metadata"].is_object() {
        object["metadata"]["creationTimestamp"] = json!(case.now.to_string());
        object["metadata"]["uid"] = json!("11111111-2222-3333-4444-555555555555");
    }
    let (response, findings) = ask(case, Phase::Validate, &object);
    let allowed = response["allowed"].as_bool().unwrap();
    (allowed, listed(&findings.unwrap_or_default()))
}

fn apply(response: &Value, object: &mut Value) {
    use base64::Engine as _;
    if let Some(patch) = response["patch"].as_str() {
        let bytes = base64::engine::general_purpose::STANDARD.decode(patch).unwrap();
        let patch: json_patch::Patch = serde_json::from_slice(&bytes).unwrap();
        json_patch::patch(object, &patch).unwrap();
    }
}

fn through_the_files(case: &Case) -> (bool, Vec<Expected>) {
    let directory = tempfile::tempdir().unwrap();
    let (own, context) = (directory.path().join("own.yaml"), directory.path().join("context.yaml"));
    std::fs::write(&own, usher::yaml::write(&case.object)).unwrap();
    let existing: String =
        case.context.iter().map(|object| format!("---\n{}", usher::yaml::write(object))).collect();
    std::fs::write(&context, existing).unwrap();
    let report = run(&Request {
        paths: vec![own],
        context: vec![context],
        namespace: "default".to_owned(),
        settings: case.settings(),
        now: case.now,
    });
    let mut list: Vec<Expected> = report
        .located
        .iter()
        .map(|located| Expected {
            code: located.finding.rule.code.to_owned(),
            path: located.finding.path.to_string(),
            severity: located.finding.severity.as_str().to_owned(),
        })
        .collect();
    list.sort();
    (report.errors() == 0, list)
}

#[test]
fn every_case_gets_its_findings_at_both_doors() {
    let homes: BTreeMap<&str, Home> =
        TABLE.iter().flat_map(|kind| kind.rules()).map(|rule| (rule.code, rule.home)).collect();
    let is_rule = |code: &str| homes.get(code) == Some(&Home::Webhook);
    let (mut both, mut webhook_only, mut failures) = (0, 0, Vec::new());
    for case in cases().iter().filter(|case| case.verdict != Verdict::Mutate) {
        let mut expected = case.findings.clone();
        expected.sort();
        let allowed = case.verdict == Verdict::Accept;
        let has_rules = case.kind().admission.is_some();
        let mut fail = |door: &str, got: (bool, Vec<Expected>)| {
            failures.push(format!("{} at the {door} door: allowed {} with {:#?}", case.name(), got.0, got.1));
        };
        if case.is_create() {
            both += 1;
            let got = through_the_files(case);
            if got != (allowed, expected.clone()) {
                fail("offline", got);
            }
            // Schema and CEL are the API server's: the webhook is not asked about what they refuse.
            let by_rules = expected.iter().all(|finding| is_rule(&finding.code));
            if has_rules && by_rules {
                let got = through_the_webhook(case);
                if got != (allowed, expected) {
                    fail("webhook", got);
                }
            }
        } else {
            webhook_only += 1;
            let got = through_the_webhook(case);
            if got != (allowed, expected) {
                fail("webhook", got);
            }
        }
    }
    println!(
        "corpus: {both} cases through both doors, {webhook_only} (UPDATE, DELETE) through the webhook only"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(both > 0 && webhook_only > 0);
}

#[test]
fn every_mutation_is_exact_and_happens_once() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case.verdict == Verdict::Mutate) {
        count += 1;
        let (response, _) = ask(case, Phase::Mutate, &case.object);
        let mut object = case.object.clone();
        apply(&response, &mut object);
        let got = response["patch"].as_str().map_or(json!([]), |patch| {
            use base64::Engine as _;
            serde_json::from_slice(&base64::engine::general_purpose::STANDARD.decode(patch).unwrap()).unwrap()
        });
        assert_eq!(Some(&got), case.patch.as_ref(), "{}", case.name());
        let (again, _) = ask(case, Phase::Mutate, &object);
        assert!(again.get("patch").is_none(), "{} is changed again: {again}", case.name());
    }
    assert!(count > 0);
}

/// Objects of the accept and reject cases, too: whatever was defaulted once is not changed again.
#[test]
fn defaulting_twice_equals_defaulting_once() {
    for case in cases().iter().filter(|case| case.operation != "DELETE") {
        let Some(admission) = &case.kind().admission else { continue };
        if admission.mutate.is_none() {
            continue;
        }
        let mut object = case.object.clone();
        let (response, _) = ask(case, Phase::Mutate, &object);
        apply(&response, &mut object);
        let (again, _) = ask(case, Phase::Mutate, &object);
        assert!(again.get("patch").is_none(), "{}: {again}", case.name());
    }
}

#[test]
fn every_rule_has_a_case_for_both_verdicts() {
    let cases = cases();
    let found: BTreeSet<&str> =
        cases.iter().flat_map(|case| &case.findings).map(|finding| finding.code.as_str()).collect();
    let passed: BTreeSet<&str> = cases.iter().flat_map(|case| &case.passes).map(String::as_str).collect();
    for case in &cases {
        let own: BTreeSet<&str> = case.findings.iter().map(|finding| finding.code.as_str()).collect();
        for code in &case.passes {
            assert!(!own.contains(code.as_str()), "{} claims to pass {code} and finds it", case.name());
        }
    }
    let mut missing = Vec::new();
    // These rest on what Alertmanagers say, which no file holds: tests/cluster/silence/admission.rs shows them.
    let elsewhere = ["USHS112", "USHS122", "USHS123", "USHS124"];
    for rule in TABLE.iter().flat_map(|kind| kind.rules()).filter(|rule| !elsewhere.contains(&rule.code)) {
        if !found.contains(rule.code) {
            missing.push(format!("{} is found by no case", rule.code));
        }
        if !passed.contains(rule.code) {
            missing.push(format!("{} is passed by no case", rule.code));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
