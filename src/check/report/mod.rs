//! How a check is shown: for people, for programs, for code review.

mod github;
mod json;
mod plain;
mod sarif;
mod secrets;
mod text;

use std::io::Write;

use super::run::Report;

/// The form of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Source excerpts with carets.
    #[default]
    Text,
    /// One JSON object per line, a summary last.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Workflow commands that annotate a pull request.
    Github,
}

/// Writes a report.
///
/// # Errors
/// When the output cannot be written.
pub fn write(report: &Report, format: Format, colour: bool, out: &mut impl Write) -> std::io::Result<()> {
    match format {
        Format::Text => text::write(report, colour, out),
        Format::Json => json::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, out),
    }
}

/// `3 errors, 1 warning`.
fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
