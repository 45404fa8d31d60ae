//! The command line. Flags, `USHER_*` variables and the `--config` file give the same settings, in that order.

mod alertmanagers;
mod commands;
pub mod explain;
mod manifests;
pub mod options;
mod release;
mod serve;
mod silence;
mod targets;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

pub use commands::{Cli, Command};

/// Wrong usage, or something that could not be read or started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings are wrong.
    #[error(transparent)]
    Options(#[from] options::Error),

    /// The server cannot run.
    #[error(transparent)]
    Serve(#[from] crate::serve::run::Error),
    /// Something cannot be read.
    #[error("reading {path}: {source}")]
    Read {
        /// What.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Output cannot be written.
    #[error("writing the output: {0}")]
    Write(#[from] std::io::Error),
    /// Finalizers cannot be taken away.
    #[error("releasing objects: {0}")]
    Release(#[from] crate::reconcile::release::Error),
    /// Wrong usage that clap cannot see.
    #[error("{0}")]
    Usage(String),
}

/// Reads the command line and runs the command.
///
/// # Errors
/// When the command cannot be run; findings are no errors.
pub fn run() -> Result<ExitCode, Error> {
    let command = command();
    let known = options::variables(&command);
    let matches = command.get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    options::warn_of_unknown_variables(&known);
    match commands::run(cli) {
        // Whoever reads the output has seen enough.
        Err(Error::Write(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

/// The command line with its environment variables: each flag `--a-b` of the commands that judge can be given as
/// `USHER_A_B`.
pub fn command() -> clap::Command {
    with_variables(Cli::command())
}

fn with_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|argument| match argument.get_long() {
        Some(long) if !matches!(long, "help" | "version") => {
            let name = format!("USHER_{}", long.to_uppercase().replace('-', "_"));
            argument.env(name)
        }
        _ => argument,
    });
    command.mut_subcommands(|command| match command.get_name() {
        // What is printed must not depend on the environment.
        "manifests" | "explain" | "completions" => command,
        _ => with_variables(command),
    })
}
