//! What the mutating door would change, as a diff that people can read.

use std::io::{Result, Write};
use std::sync::Arc;

use similar::TextDiff;

use super::judge::judge;
use super::run::Request;
use crate::files;
use crate::kinds;
use crate::rule::{Facts, Operation, User};
use crate::view::View;
use crate::view::files::{fill, mark_as_existing};
use crate::yaml;

/// Writes a unified diff for every object that the mutating door would change, and says so when there is none.
///
/// # Errors
/// When a path cannot be read; the inner result is about the output.
pub fn run(request: &Request, out: &mut impl Write) -> std::result::Result<Result<()>, files::Error> {
    let load = |paths: &[std::path::PathBuf]| -> std::result::Result<Vec<files::File>, files::Error> {
        files::find(paths)?.iter().map(files::load).collect()
    };
    let (own, context) = (load(&request.paths)?, load(&request.context)?);
    let view = View::default();
    let existing =
        context.iter().flat_map(|file| &file.objects).map(|object| mark_as_existing(&object.value));
    let judged = own.iter().flat_map(|file| &file.objects).map(|object| object.value.clone());
    fill(&view, existing.chain(judged).collect(), &request.namespace);
    let nobody = User::default();
    let settings = Arc::clone(&request.settings);
    let facts = Facts {
        operation: Operation::Create,
        user: &nobody,
        now: request.now,
        settings: &settings,
        view: &view,
    };
    Ok(write_all(&own, request, &facts, out))
}

fn write_all(
    files: &[files::File],
    request: &Request,
    facts: &Facts<'_>,
    out: &mut impl Write,
) -> Result<()> {
    let (mut changed, mut unchanged) = (0_usize, 0_usize);
    for file in files {
        if let Some(error) = &file.syntax {
            writeln!(out, "{}: {}", file.name, error.message)?;
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
