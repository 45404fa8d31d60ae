//! The commands and what they do.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use base64::Engine as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use jiff::Timestamp;

use super::options::{self, RuleOptions, ServeOptions};
use super::{Error, explain};
use crate::check::report::{self, Format};
use crate::check::{diff, run as check_run};
use crate::kinds::TABLE;
use crate::manifests::crd;
use crate::manifests::webhook::{Target, configurations};
use crate::serve::limits::MOST_IN_FLIGHT;
use crate::serve::run::{Config, Mode};
use crate::serve::tls::Files;
use crate::yaml;

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
    /// Answer admission reviews over TLS
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

/// Answer admission reviews over TLS.
#[derive(Debug, Args)]
pub struct Serve {
    /// No cluster: the certificate is made on the fly, other objects come from --objects
    #[arg(long)]
    pub standalone: bool,
    /// With --standalone: directories of objects that exist, read again when they change
    #[arg(long, value_name = "DIR", requires = "standalone")]
    pub objects: Vec<PathBuf>,
    /// A YAML file with settings, flag names as keys
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub server: ServeOptions,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub rules: RuleOptions,
}

/// What `check` and `diff` share.
#[derive(Debug, Args)]
pub struct Input {
    /// Files or directories; - is standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
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

/// Install manifests.
#[derive(Debug, Subcommand)]
pub enum Manifests {
    /// The CRDs that usher owns
    Crds {
        /// Write one file per kind into this directory instead of printing
        #[arg(long, value_name = "DIR")]
        output_dir: Option<PathBuf>,
    },
    /// The webhook configurations
    Webhooks {
        /// Reach usher at this URL instead of its Service (demos and tests)
        #[arg(long, value_name = "URL")]
        url: Option<String>,
        /// The CA that the API server trusts for usher (PEM)
        #[arg(long, value_name = "FILE")]
        ca_file: Option<PathBuf>,
        /// The namespace of usher's Service
        #[arg(long, value_name = "NAMESPACE", default_value = "usher-system")]
        namespace: String,
    },
}

/// Runs a command.
///
/// # Errors
/// When it cannot be run; findings are no errors.
pub(super) fn run(cli: Cli) -> Result<ExitCode, Error> {
    match cli.command {
        Command::Serve(serve) => run_serve(*serve),
        Command::Check(check) => run_check(*check),
        Command::Diff(diff) => run_diff(*diff),
        Command::Manifests { what } => run_manifests(&what),
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

fn request(input: Input) -> Result<check_run::Request, Error> {
    if !crate::schema::metadata::is_label(&input.namespace) {
        return Err(Error::Usage(format!(
            "--namespace: {:?} is not the name of a namespace",
            input.namespace
        )));
    }
    let settings = options::settings(input.rules, input.config.as_deref())?;
    Ok(check_run::Request {
        paths: input.paths,
        context: input.objects,
        namespace: input.namespace,
        settings,
        now: input.now.unwrap_or_else(Timestamp::now),
    })
}

fn run_check(check: Check) -> Result<ExitCode, Error> {
    let report = check_run::run(&request(check.input)?);
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
fn exit_code(unreadable: &[crate::files::Error], failed: bool) -> ExitCode {
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
    let (unreadable, readable_yaml) = diff::run(&request(diff_args.input)?, &mut out)?;
    out.flush()?;
    Ok(exit_code(&unreadable, !readable_yaml))
}

fn run_manifests(what: &Manifests) -> Result<ExitCode, Error> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let documents = match what {
        Manifests::Crds { output_dir: Some(directory) } => {
            std::fs::create_dir_all(directory)?;
            for kind in TABLE {
                std::fs::write(
                    directory.join(format!("{}.yaml", kind.plural)),
                    yaml::write(&crd::crd(kind)),
                )?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        Manifests::Crds { output_dir: None } => TABLE.iter().map(|kind| crd::crd(kind)).collect(),
        Manifests::Webhooks { url, ca_file, namespace } => {
            let bundle = ca_file
                .as_ref()
                .map(|path| {
                    std::fs::read(path)
                        .map(|pem| base64::engine::general_purpose::STANDARD.encode(pem))
                        .map_err(|source| Error::Read { path: path.display().to_string(), source })
                })
                .transpose()?;
            let target = match url {
                Some(url) => Target::Url { base: url.clone() },
                None => Target::Service { namespace: namespace.clone() },
            };
            configurations(&target, bundle.as_deref())
        }
    };
    for document in documents {
        write!(out, "---\n{}", yaml::write(&document))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn run_serve(command: Serve) -> Result<ExitCode, Error> {
    let serve = options::serve(command.server, command.config.as_deref())?;
    let settings = options::settings(command.rules, command.config.as_deref())?;
    crate::observe::logs::start(serve.log.as_deref().unwrap_or("info"), serve.log_format.unwrap_or_default())
        .map_err(|message| Error::Usage(format!("--log: {message}")))?;
    let files = match (serve.tls_cert_file, serve.tls_key_file) {
        (Some(certificate), Some(key)) => Some(Files { certificate, key, client_ca: serve.client_ca_file }),
        (None, None) if serve.client_ca_file.is_some() => {
            let message = "--client-ca-file needs --tls-cert-file and --tls-key-file";
            return Err(Error::Usage(message.to_owned()));
        }
        (None, None) if command.standalone => None,
        (None, None) => {
            let message =
                "give --tls-cert-file and --tls-key-file, or --standalone to have a certificate made";
            return Err(Error::Usage(message.to_owned()));
        }
        _ => return Err(Error::Usage("--tls-cert-file and --tls-key-file belong together".to_owned())),
    };
    let ip = if command.standalone { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED };
    let mode = if command.standalone {
        Mode::Standalone { objects: command.objects }
    } else {
        Mode::Cluster { kubeconfig: serve.kubeconfig, context: serve.context }
    };
    let max_in_flight = serve.max_in_flight.unwrap_or(MOST_IN_FLIGHT);
    if !(1..=1_000_000).contains(&max_in_flight) {
        return Err(Error::Usage("--max-in-flight must be between 1 and 1000000".to_owned()));
    }
    let poll = serve.tls_reload_interval.map_or(10, |interval| interval.as_seconds().max(1));
    let config = Config {
        mode,
        listen: serve.listen.unwrap_or_else(|| SocketAddr::from((ip, 8443))),
        diagnostics_listen: serve.diagnostics_listen.unwrap_or_else(|| SocketAddr::from((ip, 8081))),
        files,
        poll: Duration::from_secs(poll.unsigned_abs()),
        max_in_flight,
        settings,
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(crate::serve::run::run(config))?;
    Ok(ExitCode::SUCCESS)
}
