//! What the mutating door would change, as a diff that people can read.

use std::io::{Result, Write};

use similar::TextDiff;

use super::judge::judge;
use super::run::{Loaded, Request};
use crate::files;
use crate::kinds;
use crate::rule::{Facts, User};
use crate::yaml;

/// Writes a unified diff for every object that the mutating door would change, and says how many there are. Gives the
/// paths that could not be read, and whether every document was YAML.
///
/// # Errors
/// When the output cannot be written.
pub fn run(request: &Request, out: &mut impl Write) -> Result<(Vec<files::Error>, bool)> {
    let Loaded { files, view, unreadable } = request.load();
    write_all(&files, request, &request.facts(&view, &User::default()), out)?;
    Ok((unreadable, files.iter().all(|file| file.syntax.is_empty())))
}

fn write_all(
    files: &[files::File],
    request: &Request,
    facts: &Facts<'_>,
    out: &mut impl Write,
) -> Result<()> {
    let (mut changed, mut unchanged) = (0_usize, 0_usize);
    for file in files {
        for error in &file.syntax {
            let (line, column) = file.line_and_column(error.span.start);
            writeln!(out, "{}:{line}:{column}: {}", file.name, error.message)?;
        }
        for object in &file.objects {
            let Some(kind) = kinds::find(object.text("apiVersion"), object.text("kind")) else { continue };
            let judgement = judge(kind, &object.value, &request.namespace, facts);
            let (before, after) = (yaml::write(&judgement.defaulted), yaml::write(&judgement.stored));
            if before == after {
                unchanged += 1;
                continue;
            }
            changed += 1;
            let name = format!("{} {}", object.text("kind"), object.metadata("name"));
            let diff = TextDiff::from_lines(&before, &after);
            let mut unified = diff.unified_diff();
            let headed = unified.context_radius(3).header(&format!("{} ({name})", file.name), "as admitted");
            writeln!(out, "{headed}")?;
        }
    }
    writeln!(out, "{changed} changed, {unchanged} unchanged by the mutating door")
}
