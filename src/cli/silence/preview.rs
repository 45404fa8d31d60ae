//! `usher silence preview`: what Silences in files would do.
//!
//! Files are judged first, as `usher check` judges them; what would be refused is shown and not looked at further.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::ask::{self, Answer};
use super::show;
use crate::check::judge::judge;
use crate::check::report::{self, Format};
use crate::check::run::{Loaded, Report, Request, judge_all};
use crate::cli::Error;
use crate::cli::alertmanagers::{Access, HEADING};
use crate::cli::commands::{Surroundings, exit_code};
use crate::kinds::silence::KIND;
use crate::kinds::silence::spec::SilenceSpec;
use crate::model::object::Object;
use crate::rule::{Facts, Severity, User};
use crate::upstream::alertmanager::Alert;

/// What `--alertmanager` is here; for `check` it is another Alertmanager to judge for.
const WHOM: &str = "URLs of the instances of one Alertmanager to ask for firing alerts, comma-separated";

/// Show what Silences would do.
#[derive(Debug, Args)]
#[command(mut_arg("alertmanager", |alertmanager| alertmanager.help(WHOM).help_heading(HEADING)))]
pub struct Preview {
    /// Files or directories with Silences; - is standard input
    #[arg(short = 'f', long = "filename", required = true, num_args = 1.., value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// How many alerts to show for each Silence; 0 is all
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub show: usize,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub access: Access,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub surroundings: Surroundings,
}

/// Shows what each Silence would do.
pub(super) fn run(mut command: Preview) -> Result<ExitCode, Error> {
    // Here it says whom to ask for alerts. Whether that one enforces namespaces the files say, if they know it.
    let urls = command.surroundings.rules.alertmanager.take().unwrap_or_default();
    let request = command.surroundings.request(command.paths)?;
    let Loaded { files, view, unreadable } = request.load();
    let nobody = User::default();
    let facts = request.facts(&view, &nobody);
    let mut report = judge_all(files, &request, &facts);
    report.unreadable = unreadable;
    let silences = silences(&report, &request, &facts);
    if silences.is_empty() && report.unreadable.is_empty() && report.errors() == 0 {
        return Err(Error::Usage("there is no Silence in these files".to_owned()));
    }
    let asked = if urls.is_empty() { None } else { Some(ask::alerts(urls, command.access)?) };
    let complete = asked.as_ref().is_none_or(|answer| answer.complete);

    let mut out = BufWriter::new(std::io::stdout().lock());
    let refused = write_refusals(&mut report, &mut out)?;
    for shown in &silences {
        let alerts = asked.as_ref().map(|Answer { found, .. }| found.as_slice());
        shown.write(alerts, command.show, &facts, &mut out)?;
    }
    out.flush()?;
    if !complete {
        eprintln!("usher: not every instance answered: there may be more alerts");
        exit_code(&report.unreadable, refused);
        return Ok(ExitCode::from(2));
    }
    Ok(exit_code(&report.unreadable, refused))
}

/// A Silence of a file.
struct Shown {
    file: String,
    name: String,
    /// Nothing when it would be refused.
    silence: Option<Object<SilenceSpec>>,
}

impl Shown {
    fn write(
        &self,
        alerts: Option<&[Alert]>,
        most: usize,
        facts: &Facts<'_>,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        writeln!(out, "Silence {} ({})", self.name, self.file)?;
        match &self.silence {
            Some(silence) => show::silence(silence, alerts, most, facts, out)?,
            None => writeln!(out, "  would be refused: see above")?,
        }
        Ok(())
    }
}

/// The Silences of the files, as they would be stored.
fn silences(report: &Report, request: &Request, facts: &Facts<'_>) -> Vec<Shown> {
    let mut silences = Vec::new();
    for file in &report.files {
        for object in &file.objects {
            if object.text("kind") != KIND.kind || object.text("apiVersion") != KIND.api_version() {
                continue;
            }
            let judgement = judge(&KIND, &object.value, &request.namespace, facts);
            let metadata = &judgement.stored["metadata"];
            let text = |field: &str| metadata[field].as_str().unwrap_or_default();
            let name = if text("name").is_empty() { text("generateName") } else { text("name") };
            let name = format!("{}/{name}", text("namespace"));
            // Keys that are there twice are no matter of the object but of its file.
            let refused =
                judgement.findings.denies() || !crate::files::repeated_keys(&object.node).is_empty();
            let silence = if refused { None } else { serde_json::from_value(judgement.stored).ok() };
            silences.push(Shown { file: file.name.clone(), name, silence });
        }
    }
    silences
}

/// What would be refused, as `usher check` shows it; other kinds are no matter here.
fn write_refusals(report: &mut Report, out: &mut impl Write) -> Result<bool, Error> {
    report.located.retain(|located| {
        located.finding.severity == Severity::Error && (located.kind == KIND.kind || located.kind.is_empty())
    });
    let refused = !report.located.is_empty();
    if refused {
        (report.schema_only, report.unknown) = (Vec::new(), 0);
        report::write(report, Format::Text, false, out)?;
        writeln!(out)?;
    }
    Ok(refused)
}
