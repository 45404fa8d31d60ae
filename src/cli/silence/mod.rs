//! `usher silence`: what people do with silences from a terminal.
//!
//! `import` and `preview` ask Alertmanagers themselves; credentials come from files only and are never shown.

mod ask;
mod import;
mod manifest;
mod preview;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use super::Error;
use super::release::{self, Release};
use crate::kinds::silence::KIND;

/// Work with silences.
#[derive(Debug, Subcommand)]
pub enum Silence {
    /// Print Silence manifests for silences that were made by hand
    ///
    /// Takes what has not ended and is not kept by usher. Each manifest names the silence that it stands for in the
    /// annotation usher.dev/adopt, so that usher takes that one over, under its id, instead of making a second one.
    /// Manifests go to standard output, what was left out and why to standard error.
    ///
    /// Exit status: 0, also when there is nothing to print; 2 when an Alertmanager cannot be asked, or wrong usage.
    #[command(after_help = IMPORT_EXAMPLES)]
    Import(import::Import),
    /// Show when a Silence is active, what Alertmanagers are sent, and which firing alerts it would mute
    ///
    /// Nothing is changed anywhere. Alerts are shown only with --alertmanager.
    ///
    /// Exit status: 0, 1 when a Silence would be refused, 2 when a file cannot be read, an Alertmanager cannot be asked,
    /// or wrong usage.
    #[command(after_help = PREVIEW_EXAMPLES)]
    Preview(Box<preview::Preview>),
    /// Take usher's finalizer off all Silences, before usher is taken away or its part for Silences is switched off
    ///
    /// Stop usher first, or it puts the finalizer back. Silences in Alertmanagers stay until they end.
    Release(Release),
}

const IMPORT_EXAMPLES: &str = "Examples:
  usher silence import --alertmanager http://localhost:9093 > silences.yaml
  usher silence import --alertmanager http://am-0:9093,http://am-1:9093 -n monitoring | kubectl apply -f -";

const PREVIEW_EXAMPLES: &str = "Examples:
  usher silence preview -f silence.yaml
  usher silence preview -f silence.yaml --alertmanager http://localhost:9093
  usher silence import --alertmanager http://localhost:9093 | usher silence preview -f -";

/// Runs one of them.
pub(super) fn run(what: Silence) -> Result<ExitCode, Error> {
    match what {
        Silence::Import(import) => import::run(import),
        Silence::Preview(preview) => preview::run(*preview),
        Silence::Release(command) => release::run(&command, &[&KIND]),
    }
}
