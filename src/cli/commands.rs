//! The commands and what they do.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::manifests::{self, Manifests};
use super::options::{self, RuleOptions};
use super::release::{self, Release};
use super::serve::{self, Serve};
use super::silence::{self, Silence};
use super::{Error, explain};
use crate::check::report::{self, Format};
use crate::check::{diff, run as check_run};
use crate::kinds::TABLE;

/// usher stands at the Kubernetes API server's door for observability resources: one rulebook behind the webhook and the
/// offline checker.
#[derive(Debug, Parser)]
#[command(name = "usher", version, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer admission reviews over TLS and reconcile what was admitted
    Serve(Box<Serve>),
    /// Judge manifests as the API server with usher's webhooks would judge their creation
    ///
    /// Exit status: 0 no errors (with --strict: no warnings either), 1 errors, 2 unreadable path or wrong usage.
    Check(Box<Check>),
    /// Show what the mutating webhook would change
    Diff(Box<Diff>),
    /// Print install manifests
    Manifests {
        /// Which.
        #[command(subcommand)]
        what: Manifests,
    },
    /// Work with silences from a terminal
    Silence {
        /// What to do.
        #[command(subcommand)]
        what: Silence,
    },
    /// Take usher's finalizers off all objects, before usher is taken away
    ///
    /// Remove the webhook configurations and the Deployment first, or they put the finalizers back.
    Release(Release),
    /// Explain a finding's code, or what usher asks of a kind
    Explain {
        /// A code like USHS004, a kind like Silence, or all for an index
        #[arg(value_name = "CODE|KIND")]
        subject: String,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What `check` and `diff` share.
#[derive(Debug, Args)]
pub struct Input {
    /// Files or directories; - is standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub surroundings: Surroundings,
}

/// What files are judged with.
#[derive(Debug, Args)]
pub struct Surroundings {
    /// The namespace of objects that name none
    #[arg(short, long, value_name = "NAMESPACE", default_value = "default")]
    pub namespace: String,
    /// Directories or files of objects that exist already: seen by rules, not judged
    #[arg(long, value_name = "DIR")]
    pub objects: Vec<PathBuf>,
    /// Judge as at this instant (RFC 3339) instead of now
    #[arg(long, value_name = "TIME")]
    pub now: Option<Timestamp>,
    /// A YAML file with settings, flag names as keys
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub rules: RuleOptions,
}

/// Judge manifests.
#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub input: Input,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    pub output: Format,
    /// Warnings fail the check too
    #[arg(long)]
    pub strict: bool,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub color: Colour,
}

/// Show what the mutating webhook would change.
#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub input: Input,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    fn on_stdout(self) -> bool {
        match self {
            Self::Auto => std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            Self::Always => true,
            Self::Never => false,
        }
    }
}

/// Runs a command.
///
/// # Errors
/// When it cannot be run; findings are no errors.
pub(super) fn run(cli: Cli) -> Result<ExitCode, Error> {
    match cli.command {
        Command::Serve(serve) => serve::run(*serve),
        Command::Check(check) => run_check(*check),
        Command::Diff(diff) => run_diff(*diff),
        Command::Manifests { what } => manifests::run(what),
        Command::Silence { what } => silence::run(what),
        Command::Release(release) => release::run(&release, TABLE),
        Command::Explain { subject } => match explain::explain(&subject) {
            Ok(text) => {
                std::io::stdout().write_all(text.as_bytes())?;
                Ok(ExitCode::SUCCESS)
            }
            Err(message) => Err(Error::Usage(message)),
        },
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut super::command(), "usher", &mut script);
            std::io::stdout().write_all(&script)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

impl Surroundings {
    /// What is to be judged with them.
    pub(super) fn request(self, paths: Vec<PathBuf>) -> Result<check_run::Request, Error> {
        check_namespace(&self.namespace)?;
        let settings = options::settings(self.rules, self.config.as_deref())?;
        Ok(check_run::Request {
            paths,
            context: self.objects,
            namespace: self.namespace,
            settings,
            now: self.now.unwrap_or_else(Timestamp::now),
        })
    }
}

/// What `--namespace` may be.
pub(super) fn check_namespace(namespace: &str) -> Result<(), Error> {
    if crate::model::naming::is_label(namespace) {
        return Ok(());
    }
    Err(Error::Usage(format!("--namespace: {namespace:?} is not the name of a namespace")))
}

fn run_check(check: Check) -> Result<ExitCode, Error> {
    let report = check_run::run(&check.input.surroundings.request(check.input.paths)?);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written =
        report::write(&report, check.output, check.color.on_stdout(), &mut out).and_then(|()| out.flush());
    match written {
        // Whoever reads the output has seen enough; the verdict stays.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    let failed = report.errors() > 0 || check.strict && report.warnings() > 0;
    Ok(exit_code(&report.unreadable, failed))
}

/// 2 when something could not be read (and says what), 1 when something is wrong, else 0.
pub(super) fn exit_code(unreadable: &[crate::files::Error], failed: bool) -> ExitCode {
    for problem in unreadable {
        eprintln!("usher: {problem}");
    }
    match (unreadable.is_empty(), failed) {
        (false, _) => ExitCode::from(2),
        (true, true) => ExitCode::FAILURE,
        (true, false) => ExitCode::SUCCESS,
    }
}

fn run_diff(diff_args: Diff) -> Result<ExitCode, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let (unreadable, readable_yaml) =
        diff::run(&diff_args.input.surroundings.request(diff_args.input.paths)?, &mut out)?;
    out.flush()?;
    Ok(exit_code(&unreadable, !readable_yaml))
}
