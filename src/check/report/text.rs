//! For people: the line of the file with a caret under what is meant, the reason, the way out.

use std::io::{Result, Write};
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

use super::{counted, plain, secrets};
use crate::check::run::{Located, Report};
use crate::rule::Severity;

pub(super) fn write(report: &Report, colour: bool, out: &mut impl Write) -> Result<()> {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    // Findings come file by file.
    let mut masked: Option<(usize, String)> = None;
    for located in &report.located {
        if masked.as_ref().is_none_or(|(file, _)| *file != located.file) {
            masked = Some((located.file, secrets::masked(&report.files[located.file])));
        }
        let text = masked.as_ref().map_or("", |(_, text)| text);
        writeln!(out, "{}\n", excerpt(report, located, text, &renderer))?;
    }
    if !report.schema_only.is_empty() {
        let kinds = report.schema_only.join(", ");
        writeln!(
            out,
            "note: {kinds}: judged by schema and CEL only; usher has no further rules for them yet"
        )?;
    }
    if report.unknown > 0 {
        writeln!(out, "note: {} of kinds that usher does not know", counted(report.unknown, "object"))?;
    }
    writeln!(
        out,
        "{} in {}: {}, {}",
        counted(report.documents, "document"),
        counted(report.files.len(), "file"),
        counted(report.errors(), "error"),
        counted(report.warnings(), "warning")
    )
}

/// The finding with its lines of the file's text, in which secrets are masked.
fn excerpt(report: &Report, located: &Located, text: &str, renderer: &Renderer) -> String {
    let file = &report.files[located.file];
    let finding = &located.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (start, span) = window(text, &located.span);
    let (line, _) = file.line_and_column(start);
    let path = finding.path.to_string();
    let snippet = Snippet::source(plain::source(&text[start..end_of(text, start + span.end)]))
        .line_start(line)
        .path(plain::line(&file.name))
        .annotation(AnnotationKind::Primary.span(span).label(plain::line(&path)));
    let mut group = level.primary_title(plain::line(&finding.message)).id(finding.rule.code).element(snippet);
    if !finding.help.is_empty() {
        group = group.element(Level::HELP.message(plain::line(&finding.help)));
    }
    renderer.render(&[group])
}

/// The start of the line before the span, and the span counted from there: an excerpt, not the whole file.
fn window(text: &str, span: &Range<usize>) -> (usize, Range<usize>) {
    let floor = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (from, to) = (floor(span.start), floor(span.end).max(floor(span.start)));
    let line_start = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
    let start = text[..line_start.saturating_sub(1)].rfind('\n').map_or(0, |newline| newline + 1);
    let start = if line_start == 0 { 0 } else { start };
    // A caret needs something to stand under, and only the first line of a long value is shown.
    let line_end = text[from..].find('\n').map_or(text.len(), |newline| from + newline);
    let to = to.min(line_end).max(from);
    (start, from - start..to - start)
}

fn end_of(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}
