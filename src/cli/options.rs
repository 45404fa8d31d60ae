//! Settings from flags, variables and the file, merged and validated once.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::alertmanagers::{self, AlertmanagerOptions, SilenceFile};
use super::targets::LokiOptions;
use crate::gates::Gates;
use crate::kinds::prometheus_rule::features;
use crate::model::duration::{Span, parse_setting};
use crate::model::selector::LabelSelector;
use crate::names;
use crate::observe::logs::LogFormat;
use crate::rule::nearest::nearest;
use crate::settings::{
    AlertmanagerSettings, ContactScope, DeletePolicy, GoPattern, LokiSettings, NamespaceInjection, PastEnd,
    PrometheusSettings, RulesTenancy, ScrapeClassSettings, Settings, SilenceSettings, StageChecks,
    TenancyMode, UptimeSettings,
};

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("reading {path}: {source}")]
    Read {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a mapping of settings.
    #[error("{path}: {message}")]
    File {
        /// Which.
        path: String,
        /// Why.
        message: String,
    },
    /// A value is wrong.
    #[error("{name}: {message}")]
    Value {
        /// The setting.
        name: &'static str,
        /// Why.
        message: String,
    },
}

/// Declares options that are flags, variables and file keys at once.
macro_rules! group {
    ($(#[$doc:meta])* $name:ident { $($(#[$attribute:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, Args, Deserialize)]
        #[serde(rename_all = "kebab-case", default)]
        pub struct $name {
            $($(#[$attribute])* pub $field: Option<$kind>,)*
        }

        impl $name {
            /// The keys of the file.
            pub(super) fn keys() -> Vec<String> {
                vec![$(stringify!($field).replace('_', "-")),*]
            }

            /// What is not given here is taken from the file.
            pub(super) fn or(self, file: Self) -> Self {
                Self { $($field: self.$field.or(file.$field)),* }
            }
        }
    };
}

pub(super) use group;

group! {
    /// What the rules are told.
    RuleOptions {
        /// Systems to switch, like Silence=false,KMSHealth=false; `check` and `diff` judge always [default: all on]
        #[arg(long, value_name = "GATES")]
        feature_gates: Gates,
        /// What a new Silence with an end in the past gets [default: deny]
        #[arg(long, value_name = "VERDICT", help_heading = "Silence rules")]
        silence_past_end: PastEnd,
        /// Duration for Silences without an end; 0 is off [default: 0]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence rules")]
        silence_default_duration: Span,
        /// The longest window of a Silence; 0 is off [default: 0]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence rules")]
        silence_max_duration: Span,
        /// The fewest matchers of a Silence; 0 is off [default: 0]
        #[arg(long, value_name = "NUMBER", help_heading = "Silence rules")]
        silence_min_matchers: usize,
        /// Labels that need a = or =~ matcher, comma-separated
        #[arg(long, value_name = "LABELS", value_delimiter = ',', help_heading = "Silence rules")]
        silence_required_labels: Vec<String>,
        /// What every comment must match, in the syntax of Go's regexp (RE2), unanchored
        #[arg(long, value_name = "REGEX", help_heading = "Silence rules")]
        silence_comment_pattern: String,
        /// Silences that mute everything need no permission [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Silence rules")]
        silence_allow_broad: bool,
        /// Where the enforced namespace matcher is shown [default: effective]
        #[arg(long, value_name = "MODE", help_heading = "Silence rules")]
        silence_namespace_injection: NamespaceInjection,
        /// The label that carries an alert's namespace [default: namespace]
        #[arg(long, value_name = "LABEL", help_heading = "Silence rules")]
        silence_namespace_label: String,
        /// Silences that Alertmanagers select which say nothing themselves (selector text, * is all)
        #[arg(long, value_name = "SELECTOR", help_heading = "Silence rules")]
        silence_selector: String,
        /// Namespaces that Alertmanagers select which say nothing themselves
        #[arg(long, value_name = "SELECTOR", help_heading = "Silence rules")]
        silence_namespace_selector: String,
        /// URLs of the instances of one Alertmanager that no operator runs, comma-separated; it gets every Silence
        #[arg(long, value_name = "URLS", value_delimiter = ',', help_heading = "Silence rules")]
        alertmanager: Vec<String>,
        /// In the file only: `alertmanagers`, a list of Alertmanagers that no operator runs
        #[arg(skip)]
        silence: SilenceFile,
        /// Refuse insecureSkipVerify in scrape classes [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "ScrapeClass rules")]
        deny_insecure_scrape_classes: bool,
        /// Features of PromQL when no Prometheus that selects a rule is known, comma-separated [default: none]
        #[arg(long, value_name = "FEATURES", value_delimiter = ',', help_heading = "PrometheusRule rules")]
        promql_features: Vec<String>,
        /// What LogQL gets that parses but fails at every evaluation [default: deny]
        #[arg(long, value_name = "VERDICT", help_heading = "Loki rules")]
        logql_stage_checks: StageChecks,
        /// Which profile of tenants holds [default: off]
        #[arg(long, value_name = "PROFILE", help_heading = "Loki rules")]
        rules_tenancy: RulesTenancy,
        /// How rules are kept to the logs of their own namespace; needs --tenancy-label [default: off]
        #[arg(long, value_name = "MODE", help_heading = "Loki rules")]
        tenancy_mode: TenancyMode,
        /// The log label that carries the namespace
        #[arg(long, value_name = "LABEL", help_heading = "Loki rules")]
        tenancy_label: String,
        /// What is said of Loki beyond flags; in the file only.
        #[arg(skip)]
        loki: LokiOptions,
        /// The namespace of the Secrets that Accounts refer to [default: usher-system]
        #[arg(long, value_name = "NAMESPACE", help_heading = "UptimeRobot rules")]
        cluster_resource_namespace: String,
        /// Refuse references that do not resolve instead of warning [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "UptimeRobot rules")]
        strict_references: bool,
        /// What the default Contact is unique in [default: cluster]
        #[arg(long, value_name = "SCOPE", help_heading = "UptimeRobot rules")]
        default_contact_scope: ContactScope,
        /// What the deletion of an Account in use gets [default: Deny]
        #[arg(long, value_name = "POLICY", help_heading = "UptimeRobot rules")]
        account_delete_policy: DeletePolicy,
    }
}

/// Who makes the serving certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertMode {
    /// usher: CA and certificate in a Secret, the CA in its own webhook configurations
    #[value(name = "self")]
    #[serde(rename = "self")]
    Own,
    /// Anybody, into files
    Files,
    /// cert-manager, into a mounted Secret
    CertManager,
}

group! {
    /// What the server is told.
    ServeOptions {
        /// Where reviews are answered; port 0 is any free one [default: 0.0.0.0:8443, standalone 127.0.0.1:8443]
        #[arg(long, value_name = "ADDRESS")]
        listen: SocketAddr,
        /// Where metrics and health are [default: 0.0.0.0:8081, standalone 127.0.0.1:8081]
        #[arg(long, value_name = "ADDRESS")]
        diagnostics_listen: SocketAddr,
        /// Who makes the certificate [default: files when --tls-cert-file is given, else self]
        #[arg(long, value_name = "MODE")]
        cert_mode: CertMode,
        /// The serving certificate chain (PEM) [default with cert-manager: /etc/usher/tls/tls.crt]
        #[arg(long, value_name = "FILE")]
        tls_cert_file: PathBuf,
        /// Its key (PEM) [default with cert-manager: /etc/usher/tls/tls.key]
        #[arg(long, value_name = "FILE")]
        tls_key_file: PathBuf,
        /// Only clients with a certificate of this CA may call (PEM)
        #[arg(long, value_name = "FILE")]
        client_ca_file: PathBuf,
        /// How often certificate files are read, besides being watched [default: 10s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting)]
        tls_reload_interval: Span,
        /// With --cert-mode self: more names or addresses of the certificate than the Service's, comma-separated
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        tls_names: Vec<String>,
        /// With --cert-mode self: how long both CAs are trusted before and after a new certificate is served; at least 30s [default: 5m]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting)]
        tls_overlap: Span,
        /// How long reviews are taken after SIGTERM, while the Service forgets this replica [default: 5s, standalone 0s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting)]
        shutdown_delay: Span,
        /// usher's own namespace: Leases, its certificate [default: the pod's, else usher-system]
        #[arg(long, value_name = "NAMESPACE")]
        own_namespace: String,
        /// How long a default that was admitted but is not stored keeps others out; at least 1m [default: 90s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting)]
        claim_grace: Span,
        /// How long a leader that says nothing stays leader; at least 1s [default: 15s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting)]
        leader_lease_duration: Span,
        /// Requests at once; more get 429 [default: 512]
        #[arg(long, value_name = "NUMBER")]
        max_in_flight: usize,
        /// The kubeconfig [default: the pod's account, else the usual kubeconfig]
        #[arg(long, value_name = "FILE")]
        kubeconfig: PathBuf,
        /// The context in the kubeconfig
        #[arg(long, value_name = "NAME")]
        context: String,
        /// Log filter, like info or usher=debug [default: info]
        #[arg(long, value_name = "FILTER")]
        log: String,
        /// The form of log lines [default: text]
        #[arg(long, value_name = "FORMAT")]
        log_format: LogFormat,
    }
}

/// Reads the `--config` file: a mapping from flag names to values. A key that no command has is an error.
fn read_file(path: &Path) -> Result<(RuleOptions, ServeOptions, AlertmanagerOptions), Error> {
    let shown = path.display().to_string();
    let fail = |message: String| Error::File { path: shown.clone(), message };
    let text = std::fs::read_to_string(path).map_err(|source| Error::Read { path: shown.clone(), source })?;
    let file = crate::files::parse(shown.clone(), text.into_bytes());
    if let Some(error) = file.syntax.first() {
        let (line, column) = file.line_and_column(error.span.start);
        return Err(fail(format!("line {line}, column {column}: {}", error.message)));
    }
    if file.objects.len() > 1 {
        return Err(fail("expected one document".to_owned()));
    }
    if let Some((key, _)) =
        file.objects.first().and_then(|object| crate::files::repeated_keys(&object.node).pop())
    {
        return Err(fail(format!("the setting {key} is there twice")));
    }
    let value = file.objects.first().map_or(Value::Object(Map::new()), |object| object.value.clone());
    let Value::Object(map) = &value else { return Err(fail("expected a mapping of settings".to_owned())) };
    let known: Vec<String> =
        [RuleOptions::keys(), ServeOptions::keys(), AlertmanagerOptions::keys()].concat();
    for key in map.keys() {
        if !known.contains(key) {
            let hint = nearest(key, known.iter().map(String::as_str))
                .map(|near| format!("; did you mean {near:?}?"));
            return Err(fail(format!("unknown setting {key:?}{}", hint.unwrap_or_default())));
        }
    }
    let typed = |error: serde_path_to_error::Error<serde_json::Error>| {
        fail(format!("{}: {}", error.path(), error.inner()))
    };
    let rules = serde_path_to_error::deserialize(&value).map_err(typed)?;
    let serve = serde_path_to_error::deserialize(&value).map_err(typed)?;
    let alertmanager = serde_path_to_error::deserialize(&value).map_err(typed)?;
    Ok((rules, serve, alertmanager))
}

/// Flags and variables (clap has merged them) over the file, made into settings.
///
/// # Errors
/// When the file or a value is wrong.
pub fn settings(rules: RuleOptions, file: Option<&Path>) -> Result<Arc<Settings>, Error> {
    settings_in(rules, AlertmanagerOptions::default(), file, names::NAMESPACE)
}

/// The same for an usher that lives in a namespace: the Secrets of Accounts and the static Alertmanagers are there unless
/// told otherwise.
///
/// # Errors
/// When the file or a value is wrong.
pub fn settings_in(
    rules: RuleOptions,
    alertmanager: AlertmanagerOptions,
    file: Option<&Path>,
    own_namespace: &str,
) -> Result<Arc<Settings>, Error> {
    let (from_file, _, alertmanager_file) = file.map(read_file).transpose()?.unwrap_or_default();
    let mut options = rules.or(from_file);
    options.cluster_resource_namespace.get_or_insert_with(|| own_namespace.to_owned());
    let mut settings = validate(options, own_namespace)?;
    settings.alertmanager = alertmanagers::settings(alertmanager.or(alertmanager_file))?;
    Ok(Arc::new(settings))
}

/// The server's options, the file's included.
///
/// # Errors
/// When the file is wrong.
pub fn serve(serve: ServeOptions, file: Option<&Path>) -> Result<ServeOptions, Error> {
    let from_file = file.map(read_file).transpose()?.map(|(_, serve, _)| serve).unwrap_or_default();
    Ok(serve.or(from_file))
}

/// The settings of a mapping with the file's keys; the corpus uses it.
///
/// # Errors
/// When a key or a value is wrong.
pub fn settings_from(value: &Value) -> Result<Settings, Error> {
    let fail = |message: String| Error::Value { name: "settings", message };
    let known = RuleOptions::keys();
    if let Some(key) =
        value.as_object().into_iter().flatten().map(|(key, _)| key).find(|key| !known.contains(key))
    {
        return Err(fail(format!("unknown setting {key:?}")));
    }
    let options = RuleOptions::deserialize(value).map_err(|error| fail(error.to_string()))?;
    validate(options, names::NAMESPACE)
}

fn validate(options: RuleOptions, own_namespace: &str) -> Result<Settings, Error> {
    let selector = |name: &'static str, text: Option<String>| -> Result<Option<LabelSelector>, Error> {
        let parsed = text.map(|text| LabelSelector::parse(&text)).transpose();
        parsed.map_err(|error| Error::Value { name, message: error.to_string() })
    };
    let pattern = options.silence_comment_pattern.as_deref().map(GoPattern::parse).transpose();
    let comment_pattern =
        pattern.map_err(|message| Error::Value { name: "silence-comment-pattern", message })?;
    let wrong = |name: &'static str, value: &str, what: &str| Error::Value {
        name,
        message: format!("{value:?} is not {what}"),
    };
    if let Some(label) = options.silence_namespace_label.as_deref().filter(|label| label.trim().is_empty()) {
        return Err(wrong("silence-namespace-label", label, "the name of a label"));
    }
    if let Some(label) = options
        .silence_required_labels
        .iter()
        .flatten()
        .find(|label| label.trim() != **label || label.is_empty())
    {
        return Err(wrong("silence-required-labels", label, "the name of a label"));
    }
    let namespace = options.cluster_resource_namespace.as_deref();
    if let Some(namespace) = namespace.filter(|namespace| !crate::model::naming::is_label(namespace)) {
        return Err(wrong("cluster-resource-namespace", namespace, "the name of a namespace"));
    }
    let fallback = SilenceSettings::default();
    let silence = SilenceSettings {
        past_end: options.silence_past_end.unwrap_or_default(),
        default_duration: options.silence_default_duration.unwrap_or_default(),
        max_duration: options.silence_max_duration.unwrap_or_default(),
        min_matchers: options.silence_min_matchers.unwrap_or_default(),
        required_labels: options.silence_required_labels.unwrap_or_default(),
        comment_pattern,
        allow_broad: options.silence_allow_broad.unwrap_or_default(),
        namespace_injection: options.silence_namespace_injection.unwrap_or_default(),
        namespace_label: options.silence_namespace_label.unwrap_or(fallback.namespace_label),
        selector: selector("silence-selector", options.silence_selector)?,
        namespace_selector: selector("silence-namespace-selector", options.silence_namespace_selector)?,
        targets: alertmanagers::targets(options.alertmanager, options.silence, own_namespace)?,
    };
    let fallback = UptimeSettings::default();
    let uptime = UptimeSettings {
        cluster_resource_namespace: options
            .cluster_resource_namespace
            .unwrap_or(fallback.cluster_resource_namespace),
        strict_references: options.strict_references.unwrap_or_default(),
        default_contact_scope: options.default_contact_scope.unwrap_or_default(),
        account_delete_policy: options.account_delete_policy.unwrap_or_default(),
    };
    let loki = LokiSettings {
        stage_checks: options.logql_stage_checks.unwrap_or_default(),
        rules_tenancy: options.rules_tenancy.unwrap_or_default(),
        tenancy_mode: options.tenancy_mode.unwrap_or_default(),
        tenancy_label: options.tenancy_label.unwrap_or_default(),
        targets: options.loki.unwrap_or_default().validate()?,
    };
    validate_tenancy(&loki)?;
    let features = options.promql_features.unwrap_or_default();
    let known = |feature: &&String| !features::ALL.contains(&feature.as_str());
    if let Some(feature) = features.iter().find(known) {
        let hint = nearest(feature, features::ALL.into_iter()).map(|near| format!("; did you mean {near}?"));
        let message = format!("{feature:?} is not a feature of PromQL{}", hint.unwrap_or_default());
        return Err(Error::Value { name: "promql-features", message });
    }
    let prometheus = PrometheusSettings {
        options: features::options(|feature| features.iter().any(|enabled| enabled == feature)),
    };
    let scrape_class =
        ScrapeClassSettings { deny_insecure: options.deny_insecure_scrape_classes.unwrap_or_default() };
    Ok(Settings {
        silence,
        alertmanager: AlertmanagerSettings::default(),
        scrape_class,
        prometheus,
        loki,
        uptime,
        gates: options.feature_gates.unwrap_or_default(),
    })
}

fn validate_tenancy(loki: &LokiSettings) -> Result<(), Error> {
    let fail = |name: &'static str, message: &str| Err(Error::Value { name, message: message.to_owned() });
    let label = loki.tenancy_label.as_str();
    if loki.tenancy_mode == TenancyMode::Off {
        if !label.is_empty() {
            return fail("tenancy-label", "has no effect without tenancy-mode require or inject");
        }
        return Ok(());
    }
    if loki.rules_tenancy != RulesTenancy::Off {
        return fail(
            "tenancy-mode",
            "cannot be used together with rules-tenancy, which has rules of its own",
        );
    }
    // The label is written into expressions, where reserved words are no names.
    // __name__ is a label name, and on no log stream.
    if crate::lang::logql::parse(&format!("{{{label}=\"x\"}}")).is_err()
        || !crate::lang::names::is_label(label)
        || label == "__name__"
    {
        return fail("tenancy-label", "needs the name of a log label, for example kubernetes_namespace_name");
    }
    Ok(())
}

/// The variables that some command reads.
pub fn variables(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str().map(str::to_owned));
    own.chain(command.get_subcommands().flat_map(variables)).collect()
}

/// A Service named `usher` makes Kubernetes inject `USHER_*` variables into pods, so unknown ones only warn.
pub fn warn_of_unknown_variables(known: &BTreeSet<String>) {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("USHER_")) else { continue };
        if !known.contains(name) {
            eprintln!("usher: the variable {name} is none of usher's and has no effect");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flags_win_over_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("usher.yaml");
        std::fs::write(&file, "silence-max-duration: 1d\nsilence-min-matchers: 2\nlog: debug\n").unwrap();
        let flags = RuleOptions { silence_min_matchers: Some(3), ..RuleOptions::default() };
        let settings = settings(flags, Some(&file)).unwrap();
        assert_eq!(settings.silence.max_duration, Span::seconds(86_400));
        assert_eq!(settings.silence.min_matchers, 3);
        assert_eq!(serve(ServeOptions::default(), Some(&file)).unwrap().log.as_deref(), Some("debug"));
    }

    #[test]
    fn an_unknown_key_of_the_file_is_named_with_the_one_that_was_meant() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("usher.yaml");
        std::fs::write(&file, "silence-max-durations: 1d\n").unwrap();
        let error = settings(RuleOptions::default(), Some(&file)).unwrap_err().to_string();
        assert!(error.contains("silence-max-duration\""), "{error}");
    }

    #[test]
    fn wrong_values_name_their_setting() {
        let error = settings_from(&json!({"silence-comment-pattern": "("})).unwrap_err().to_string();
        assert!(error.starts_with("silence-comment-pattern"), "{error}");
        assert!(settings_from(&json!({"silence-selector": "a b"})).is_err());
        assert!(settings_from(&json!({"silence-max-duration": "1x"})).is_err());
        assert!(settings_from(&json!({"nonsense": 1})).is_err());
        assert!(settings_from(&json!({"silence-namespace-label": ""})).is_err());
        assert!(settings_from(&json!({"cluster-resource-namespace": "A B"})).is_err());
        assert!(settings_from(&json!({"silence-required-labels": [" "]})).is_err());
        assert!(settings_from(&json!({"tenancy-mode": "require"})).is_err());
        assert!(settings_from(&json!({"tenancy-mode": "require", "tenancy-label": "json"})).is_err());
        for label in ["__name__", "a-b", "1a", "a b", "é", "by"] {
            let settings = json!({"tenancy-mode": "inject", "tenancy-label": label});
            let error = settings_from(&settings).unwrap_err().to_string();
            assert!(error.starts_with("tenancy-label"), "{label}: {error}");
        }
        assert!(settings_from(&json!({"tenancy-label": "namespace"})).is_err());
        let both = json!({"tenancy-mode": "inject", "tenancy-label": "ns", "rules-tenancy": "openshift"});
        assert!(settings_from(&both).is_err());
        assert!(settings_from(&json!({"tenancy-mode": "inject", "tenancy-label": "ns"})).is_ok());
    }
}
