//! Walks the table of kinds and names what a kind lacks; fails when generated files are stale.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used)]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use usher::kinds::{KindInfo, TABLE, owned};
use usher::manifests::crd::crd;
use usher::manifests::webhook::{Target, configurations};
use usher::manifests::{Certificates, Install, certs, deploy, rbac};
use usher::yaml;

fn root() -> PathBuf {
    support::root()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

#[test]
fn every_kind_has_its_example_corpus_and_page() {
    let mut lacking = Vec::new();
    for kind in TABLE {
        let mut needs = |path: String| {
            if !root().join(&path).exists() {
                lacking.push(format!("{} lacks {path}", kind.kind));
            }
        };
        needs(format!("examples/{}.yaml", kind.slug));
        needs(format!("docs/kinds/{}.md", kind.slug));
        if !kind.is_guest {
            needs(format!("crds/{}.yaml", kind.plural));
        }
        needs(format!("tests/corpus/{}/accept", kind.slug));
        needs(format!("tests/corpus/{}/reject", kind.slug));
        if kind.admission.as_ref().is_some_and(|admission| admission.mutate.is_some()) {
            needs(format!("tests/corpus/{}/mutate", kind.slug));
        }
        let page = read(&format!("docs/kinds/{}.md", kind.slug));
        for rule in kind.rules().filter(|rule| !page.contains(&format!("| {} |", rule.code))) {
            lacking.push(format!("docs/kinds/{}.md lacks a row for {}", kind.slug, rule.code));
        }
    }
    let page = read("docs/files-and-schema.md");
    for rule in usher::schema::codes::ALL.iter().filter(|rule| !page.contains(&format!("| {} |", rule.code)))
    {
        lacking.push(format!("docs/files-and-schema.md lacks a row for {}", rule.code));
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn generated_files_are_fresh() {
    for kind in owned() {
        let path = format!("crds/{}.yaml", kind.plural);
        assert!(read(&path) == yaml::write(&crd(kind)), "{path} is stale: run `make manifests`");
    }
    let known: BTreeSet<String> = owned().map(|kind| format!("{}.yaml", kind.plural)).collect();
    for entry in std::fs::read_dir(root().join("crds")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "crds/{name} belongs to no kind");
    }
    let target = Target::Service { namespace: "usher-system".to_owned() };
    let install = Install::default();
    let generated = [
        ("webhooks/webhooks.yaml", configurations(&target, None, Certificates::Own)),
        ("webhooks/rbac.yaml", rbac::documents(&install)),
        ("webhooks/deploy.yaml", deploy::documents(&install)),
        ("certs/cert-manager.yaml", certs::documents("usher-system")),
    ];
    for (path, documents) in generated {
        let text: String =
            documents.iter().map(|document| format!("---\n{}", yaml::write(document))).collect();
        assert!(read(path) == text, "{path} is stale: run `make manifests`");
    }
    let index = usher::cli::explain::explain("all").unwrap();
    assert!(read("docs/codes.md") == index, "docs/codes.md is stale: run `make manifests`");
}

/// Each CEL rule of the generated CRDs stands in the table, and so has a twin with a code.
#[test]
fn every_cel_rule_has_a_twin() {
    fn walk<'a>(schema: &'a Value, at: &mut Vec<String>, found: &mut Vec<(Vec<String>, &'a str)>) {
        for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
            found.push((at.clone(), rule["rule"].as_str().unwrap()));
        }
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            at.push(name.clone());
            walk(property, at, found);
            at.pop();
        }
        for word in ["items", "additionalProperties"] {
            if schema[word].is_object() {
                at.push("[]".to_owned());
                walk(&schema[word], at, found);
                at.pop();
            }
        }
    }
    let mut count = 0;
    for kind in TABLE {
        let crd = crd(kind);
        for version in crd["spec"]["versions"].as_array().unwrap() {
            let schema = &version["schema"]["openAPIV3Schema"];
            let mut found = Vec::new();
            walk(schema, &mut Vec::new(), &mut found);
            count += found.len();
            for (at, expression) in &found {
                let twin =
                    kind.cel.iter().find(|cel| cel.expression == *expression && cel.at == at.as_slice());
                assert!(twin.is_some(), "{}: no twin for {expression} at {}", kind.kind, at.join("."));
            }
            assert_eq!(found.len(), kind.cel.len(), "{}: a twin without its CEL rule", kind.kind);
        }
    }
    assert!(count >= 15, "only {count} CEL rules were walked");
}

/// Rules do no I/O: nothing in a kind's folder, nor in the rulebook, may reach for files, sockets or clocks.
#[test]
fn rules_do_no_io() {
    fn walk(directory: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { walk(&path, files) } else { files.push(path) }
        }
    }
    let mut files = Vec::new();
    for folder in ["src/kinds", "src/rule", "src/model"] {
        walk(&root().join(folder), &mut files);
    }
    assert!(files.len() > 30);
    for file in files {
        // What reaches for other systems stands apart.
        let is_sync = |name: &std::ffi::OsStr| name == "sync.rs" || name == "sync";
        if file.iter().any(is_sync) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for word in [
            "std::fs",
            "std::net",
            "std::env",
            "std::process",
            "tokio",
            "Timestamp::now",
            "SystemTime",
            "Instant::now",
            "crate::serve",
            "async fn",
        ] {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

/// The webhook rules cover exactly the kinds with rules, and never a subresource.
#[test]
fn webhook_rules_follow_the_table() {
    let with_rules: BTreeSet<&str> =
        TABLE.iter().filter(|kind| kind.admission.is_some()).map(|kind: &&KindInfo| kind.plural).collect();
    let target = Target::Service { namespace: "usher-system".to_owned() };
    let documents = configurations(&target, None, Certificates::Own);
    let mut covered = BTreeSet::new();
    for entry in documents.iter().flat_map(|document| document["webhooks"].as_array().unwrap()) {
        let rule = &entry["rules"][0];
        let resource = rule["resources"][0].as_str().unwrap();
        assert!(!resource.contains('/'), "{resource} is a subresource");
        covered.insert(resource.to_owned());
        let deletes = rule["operations"].as_array().unwrap().contains(&Value::from("DELETE"));
        assert!(entry["failurePolicy"] == "Ignore" || !deletes, "{entry}");
        assert_eq!(entry.get("matchConditions").is_none(), deletes, "{entry}");
    }
    assert_eq!(covered.iter().map(String::as_str).collect::<BTreeSet<_>>(), with_rules);
}
