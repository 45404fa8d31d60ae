//! For programs: one object per line and nothing else; the last line is the summary.

use std::io::{Result, Write};

use serde::Serialize;

use crate::check::run::Report;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<usize>,
    #[serde(skip_serializing_if = "str::is_empty")]
    api_version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'a str,
    severity: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    path: String,
    line: usize,
    column: usize,
    message: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    help: &'a str,
}

#[derive(Serialize)]
struct Summary {
    summary: Counts,
}

#[derive(Serialize)]
struct Counts {
    files: usize,
    documents: usize,
    errors: usize,
    warnings: usize,
}

pub(super) fn write(report: &Report, out: &mut impl Write) -> Result<()> {
    for located in &report.located {
        let file = &report.files[located.file];
        let (line, column) = file.line_and_column(located.span.start);
        let finding = &located.finding;
        let object = Record {
            file: &file.name,
            document: located.document,
            api_version: &located.api_version,
            kind: &located.kind,
            namespace: &located.namespace,
            name: &located.name,
            severity: finding.severity.as_str(),
            code: finding.rule.code,
            path: finding.path.to_string(),
            line,
            column,
            message: &finding.message,
            help: &finding.help,
        };
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)?;
    }
    let summary = Summary {
        summary: Counts {
            files: report.files.len(),
            documents: report.documents,
            errors: report.errors(),
            warnings: report.warnings(),
        },
    };
    serde_json::to_writer(&mut *out, &summary)?;
    writeln!(out)
}
