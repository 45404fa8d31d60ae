//! SARIF 2.1.0, as code scanning services take it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Result, Write};

use serde_json::{Value, json};

use crate::check::run::Report;
use crate::rule::{Rule, Severity};

pub(super) fn write(report: &Report, out: &mut impl Write) -> Result<()> {
    let rules: BTreeMap<&str, &Rule> =
        report.located.iter().map(|located| (located.finding.rule.code, located.finding.rule)).collect();
    let results: Vec<Value> = report
        .located
        .iter()
        .map(|located| {
            let file = &report.files[located.file];
            let finding = &located.finding;
            let (line, column) = file.line_and_column(located.span.start);
            let (end_line, end_column) = file.line_and_column(located.span.end);
            json!({
                "ruleId": finding.rule.code,
                "level": level(finding.severity),
                "message": {"text": format!("{}: {}\n{}", finding.path, finding.message, finding.help)},
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": {"uri": uri(&file.name)},
                        "region": {
                            "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column
                        }
                    },
                    "logicalLocations": [{"fullyQualifiedName": finding.path.to_string()}]
                }]
            })
        })
        .collect();
    let rules: Vec<Value> = rules
        .values()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": {"text": rule.title},
                "fullDescription": {"text": rule.why},
                "help": {"text": rule.fix},
                "defaultConfiguration": {"level": level(rule.verdict)}
            })
        })
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "usher", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results
        }]
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// A path as a URI reference: what is not a path character is written in hexadecimal.
fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

fn level(severity: Severity) -> &'static str {
    severity.as_str()
}
