//! `usher silence import`: manifests for silences that were made by hand.

use std::collections::BTreeSet;
use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use clap::Args;
use jiff::Timestamp;

use super::ask::{self, Silences};
use super::manifest::{Maker, Skipped, origin};
use crate::cli::Error;
use crate::cli::alertmanagers::{Access, HEADING};
use crate::cli::commands::check_namespace;
use crate::cli::options::{self, RuleOptions};
use crate::yaml;

/// Print Silence manifests for silences that were made by hand.
#[derive(Debug, Args)]
pub struct Import {
    /// URLs of the instances of one Alertmanager, comma-separated
    #[arg(long, value_name = "URLS", value_delimiter = ',', required = true, help_heading = HEADING)]
    pub alertmanager: Vec<String>,
    /// The namespace of the Silences [default: the value of the = matcher on the namespace label]
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
    /// The label that carries an alert's namespace [default: namespace]
    #[arg(long, value_name = "LABEL")]
    pub silence_namespace_label: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub access: Access,
}

/// Prints the manifests, and says what has none.
pub(super) fn run(command: Import) -> Result<ExitCode, Error> {
    if let Some(namespace) = &command.namespace {
        check_namespace(namespace)?;
    }
    let rules =
        RuleOptions { silence_namespace_label: command.silence_namespace_label, ..RuleOptions::default() };
    let settings = options::settings(rules, None)?;
    let answer = ask::silences(command.alertmanager, command.access)?;
    let Silences { all, may_lack_annotations } = answer.found;
    let mut maker = Maker {
        namespace: command.namespace.as_deref(),
        settings: &settings,
        may_lack_annotations,
        now: Timestamp::now(),
        taken: BTreeSet::new(),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut count = Count::default();
    for silence in &all {
        let who = origin(silence);
        match maker.make(silence) {
            Ok(made) => {
                count.printed += 1;
                write!(out, "---\n# {who}\n{}", yaml::write(&made.object))?;
                for note in made.notes {
                    eprintln!("usher: note: {who}: {note}");
                }
            }
            Err(Skipped::Expired) => count.expired += 1,
            Err(Skipped::Managed) => count.managed += 1,
            Err(why) => {
                count.skipped += 1;
                eprintln!("usher: skipped {who}: {why}");
            }
        }
    }
    out.flush()?;
    eprintln!("usher: {count}");
    if answer.complete {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("usher: not every instance answered: there may be more");
    Ok(ExitCode::from(2))
}

/// What became of all silences.
#[derive(Debug, Default)]
struct Count {
    printed: usize,
    skipped: usize,
    expired: usize,
    managed: usize,
}

impl std::fmt::Display for Count {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { printed, skipped, expired, managed } = self;
        write!(
            out,
            "{printed} printed, {skipped} skipped; left out: {expired} ended, {managed} kept by usher already"
        )
    }
}
