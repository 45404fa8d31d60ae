//! For pull requests: workflow commands that put each finding beside its line.

use std::io::{Result, Write};

use super::{counted, plain};
use crate::check::run::Report;

pub(super) fn write(report: &Report, out: &mut impl Write) -> Result<()> {
    for located in &report.located {
        let file = &report.files[located.file];
        let (line, column) = file.line_and_column(located.span.start);
        let finding = &located.finding;
        let path = match finding.path.to_string() {
            path if path.is_empty() => String::new(),
            path => format!("{path}: "),
        };
        writeln!(
            out,
            "::{} file={},line={line},col={column},title={}::{}",
            finding.severity.as_str(),
            property(&file.name),
            property(finding.rule.code),
            data(&format!("{path}{}\n{}", finding.message, finding.help))
        )?;
    }
    writeln!(out, "{}, {}", counted(report.errors(), "error"), counted(report.warnings(), "warning"))
}

/// The message of a command: line breaks and per cent signs are escaped, other control characters made visible.
fn data(text: &str) -> String {
    plain::line(text.trim_end()).replace('%', "%25").replace('\n', "%0A")
}

/// A property of a command: also its separators.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
