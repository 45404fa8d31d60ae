//! What usher is told about Alertmanagers: those that no operator runs, and how all of them are reached.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use serde::Deserialize;

use super::options::{Error, group};
use crate::lang::duration;

use crate::kinds::alertmanager::spec::{AlertmanagerSpec, MatcherStrategy};
use crate::model::duration::{Span, parse_setting};
use crate::model::object::{Meta, Object};
use crate::model::selector::LabelSelector;
use crate::settings::{AlertmanagerSettings, FileAuthentication, StaticTarget};
use crate::upstream::endpoint::Endpoint;
use crate::view::records::Alertmanager;

/// The part of the file that no flag can say.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct SilenceFile {
    alertmanagers: Vec<Target>,
}

/// An Alertmanager that no operator runs, as the file describes it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Target {
    name: String,
    namespace: Option<String>,
    urls: Vec<String>,
    silence_selector: Option<LabelSelector>,
    namespace_selector: Option<LabelSelector>,
    matcher_strategy: Option<String>,
    push_pull_interval: Option<String>,
    auth: Authentication,
    ca_file: Option<PathBuf>,
    tenant: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[allow(clippy::struct_field_names)]
struct Authentication {
    token_file: Option<PathBuf>,
    username_file: Option<PathBuf>,
    password_file: Option<PathBuf>,
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
}

/// The name of the target that `--alertmanager` makes.
const DEFAULT: &str = "default";
const STRATEGIES: [&str; 3] = ["OnNamespace", "OnNamespaceExceptForAlertmanagerNamespace", "None"];
const SECTION: &str = "silence.alertmanagers";
/// Where the help shows how a person reaches an Alertmanager.
pub(super) const HEADING: &str = "Alertmanager";

/// The static targets: the short form first, then those of the file.
///
/// # Errors
/// When one of them is wrong, or two have one name.
pub(super) fn targets(
    urls: Option<Vec<String>>,
    file: Option<SilenceFile>,
    own_namespace: &str,
) -> Result<Vec<Arc<StaticTarget>>, Error> {
    let mut targets = Vec::new();
    if let Some(urls) = urls.filter(|urls| !urls.is_empty()) {
        let short = Target {
            name: DEFAULT.to_owned(),
            urls,
            silence_selector: Some(LabelSelector::default()),
            namespace_selector: Some(LabelSelector::default()),
            ..Target::default()
        };
        targets.push(target(short, own_namespace, "alertmanager")?);
    }
    for described in file.into_iter().flat_map(|file| file.alertmanagers) {
        let target = target(described, own_namespace, SECTION)?;
        let same = |known: &Arc<StaticTarget>| {
            let (one, other) = (&known.alertmanager.metadata, &target.alertmanager.metadata);
            (&one.namespace, &one.name) == (&other.namespace, &other.name)
        };
        if targets.iter().any(same) {
            let name = &target.alertmanager.metadata.name;
            return Err(Error::Value { name: SECTION, message: format!("two targets are named {name:?}") });
        }
        targets.push(target);
    }
    Ok(targets)
}

/// How a person reaches an Alertmanager: flags of the commands that ask one themselves.
#[derive(Debug, Clone, Default, Args)]
pub struct Access {
    /// A file with a bearer token
    #[arg(long, value_name = "FILE", help_heading = HEADING, conflicts_with_all = ["username_file", "cert_file"])]
    pub token_file: Option<PathBuf>,
    /// A file with a user name
    #[arg(long, value_name = "FILE", help_heading = HEADING, requires = "password_file", conflicts_with = "cert_file")]
    pub username_file: Option<PathBuf>,
    /// A file with the user's password
    #[arg(long, value_name = "FILE", help_heading = HEADING, requires = "username_file")]
    pub password_file: Option<PathBuf>,
    /// The CA of its certificate (PEM) [default: the machine's authorities]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub ca_file: Option<PathBuf>,
    /// A client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = HEADING, requires = "key_file")]
    pub cert_file: Option<PathBuf>,
    /// The key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = HEADING, requires = "cert_file")]
    pub key_file: Option<PathBuf>,
    /// The tenant, for Mimir (X-Scope-OrgID)
    #[arg(long, value_name = "TENANT", help_heading = HEADING)]
    pub tenant: Option<String>,
}

/// The Alertmanager that a person names.
///
/// # Errors
/// When a URL is none, or the flags do not fit together.
pub(super) fn named(urls: Vec<String>, access: Access) -> Result<Arc<StaticTarget>, Error> {
    let Access { token_file, username_file, password_file, ca_file, cert_file, key_file, tenant } = access;
    let auth = Authentication { token_file, username_file, password_file, cert_file, key_file };
    let described = Target { name: DEFAULT.to_owned(), urls, auth, ca_file, tenant, ..Target::default() };
    target(described, crate::names::NAMESPACE, "alertmanager")
}

fn target(described: Target, own_namespace: &str, setting: &'static str) -> Result<Arc<StaticTarget>, Error> {
    let fail = |message: String| Error::Value { name: setting, message };
    let name = described.name;
    if !crate::model::naming::is_label(&name) {
        return Err(fail(format!("a target needs a name of letters, digits and dashes, not {name:?}")));
    }
    if described.urls.is_empty() {
        return Err(fail(format!("{name}: at least one URL is needed")));
    }
    let url = |(index, text): (usize, &String)| {
        Endpoint::parse(text).map_err(|error| fail(format!("{name}: URL {}: {error}", index + 1)))
    };
    let urls = described.urls.iter().enumerate().map(url).collect::<Result<Vec<_>, Error>>()?;
    let namespace = described.namespace.unwrap_or_else(|| own_namespace.to_owned());
    if !crate::model::naming::is_label(&namespace) {
        return Err(fail(format!("{name}: {namespace:?} is not the name of a namespace")));
    }
    let strategy = described.matcher_strategy.unwrap_or_default();
    if !strategy.is_empty() && !STRATEGIES.contains(&strategy.as_str()) {
        return Err(fail(format!("{name}: matcherStrategy is one of {}", STRATEGIES.join(", "))));
    }
    if let Some(interval) = &described.push_pull_interval
        && duration::go(interval).is_err()
    {
        return Err(fail(format!("{name}: pushPullInterval {interval:?} is not a duration like 60s")));
    }
    for selector in [&described.silence_selector, &described.namespace_selector].into_iter().flatten() {
        if let Some(problem) = selector.problems().into_iter().next() {
            return Err(fail(format!("{name}: {}", problem.message)));
        }
    }
    let authentication = authentication(described.auth).map_err(|why| fail(format!("{name}: {why}")))?;
    let spec = AlertmanagerSpec {
        silence_selector: described.silence_selector,
        silence_namespace_selector: described.namespace_selector,
        alertmanager_config_matcher_strategy: MatcherStrategy { r#type: strategy },
        cluster_pushpull_interval: described.push_pull_interval,
        replicas: i32::try_from(urls.len()).ok(),
        ..AlertmanagerSpec::default()
    };
    let metadata = Meta { name, namespace, ..Meta::default() };
    let alertmanager = Arc::new(Alertmanager(Object { metadata, spec, status: None }));
    let (ca_file, tenant) = (described.ca_file, described.tenant);
    Ok(Arc::new(StaticTarget { alertmanager, urls, authentication, ca_file, tenant }))
}

fn authentication(described: Authentication) -> Result<FileAuthentication, &'static str> {
    let Authentication { token_file, username_file, password_file, cert_file, key_file } = described;
    match (token_file, (username_file, password_file), (cert_file, key_file)) {
        (None, (None, None), (None, None)) => Ok(FileAuthentication::None),
        (Some(token), (None, None), (None, None)) => Ok(FileAuthentication::Token(token)),
        (None, (Some(username_file), Some(password_file)), (None, None)) => {
            Ok(FileAuthentication::Basic { username_file, password_file })
        }
        (None, (None, None), (Some(certificate), Some(key))) => {
            Ok(FileAuthentication::Certificate { certificate, key })
        }
        _ => Err("auth is one of tokenFile, usernameFile with passwordFile, certFile with keyFile"),
    }
}

group! {
    /// How usher reaches Alertmanagers and keeps Silences there.
    AlertmanagerOptions {
        /// How often Silences are compared with Alertmanagers although nothing has changed [default: 2m]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        silence_resync: Span,
        /// How long a deleted Silence waits for Alertmanagers that cannot be reached [default: 15m]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        silence_cleanup_timeout: Span,
        /// How often silences without a Silence are looked for [default: 10m]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        silence_sweep_interval: Span,
        /// The share of usher's silences in an Alertmanager that a sweep may end at once, in percent [default: 50]
        #[arg(long, value_name = "PERCENT", help_heading = "Silence sync")]
        silence_sweep_limit: u8,
        /// Delete Silences this long after they have ended; 0 is never [default: 0]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        silence_ttl_after_expiry: Span,
        /// Read firing alerts in the background and warn of what a Silence would mute [default: true]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Silence sync")]
        silence_alert_preview: bool,
        /// Metrics with the names of Silences [default: false]
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", help_heading = "Silence sync")]
        silence_object_metrics: bool,
        /// For a whole request to an Alertmanager [default: 10s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        alertmanager_timeout: Span,
        /// For opening a connection to an Alertmanager [default: 2s]
        #[arg(long, value_name = "DURATION", value_parser = parse_setting, help_heading = "Silence sync")]
        alertmanager_connect_timeout: Span,
        /// The CA of Alertmanagers' certificates (PEM)
        #[arg(long, value_name = "FILE", help_heading = "Silence sync")]
        alertmanager_ca_file: PathBuf,
        /// usher's own certificate for Alertmanagers (PEM)
        #[arg(long, value_name = "FILE", help_heading = "Silence sync")]
        alertmanager_cert_file: PathBuf,
        /// Its key (PEM)
        #[arg(long, value_name = "FILE", help_heading = "Silence sync")]
        alertmanager_key_file: PathBuf,
        /// usher's own token, read on each use [default: the pod's]
        #[arg(long, value_name = "FILE", help_heading = "Silence sync")]
        alertmanager_token_file: PathBuf,
        /// The Alertmanagers that may see it: namespace/name or namespace/*, comma-separated
        #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Silence sync")]
        alertmanager_token_for: Vec<String>,
        /// Hosts that an Alertmanager's URL annotation may name, besides Services of its own namespace: names, or *.suffix
        #[arg(long, value_name = "HOSTS", value_delimiter = ',', help_heading = "Silence sync")]
        alertmanager_url_allow: Vec<String>,
        /// Tells usher's silences from those of another cluster on a shared Alertmanager [default: uid of kube-system]
        #[arg(long, value_name = "ID", help_heading = "Silence sync")]
        cluster_id: String,
    }
}

/// The settings that these options make.
///
/// # Errors
/// When a value is wrong.
pub(super) fn settings(options: AlertmanagerOptions) -> Result<AlertmanagerSettings, Error> {
    let fallback = AlertmanagerSettings::default();
    let at_least = |name: &'static str, given: Option<Span>, least: u64, otherwise: Duration| {
        let given = given.map_or(otherwise, |span| Duration::from_secs(span.as_seconds().unsigned_abs()));
        let enough = given >= Duration::from_secs(least);
        let wrong = || Error::Value { name, message: format!("must be at least {least}s") };
        if enough { Ok(given) } else { Err(wrong()) }
    };
    let sweep_limit = options.silence_sweep_limit.unwrap_or(fallback.sweep_limit);
    if sweep_limit > 100 {
        let message = "is a percentage: 0 to 100".to_owned();
        return Err(Error::Value { name: "silence-sweep-limit", message });
    }
    let certificate = match (options.alertmanager_cert_file, options.alertmanager_key_file) {
        (Some(certificate), Some(key)) => Some((certificate, key)),
        (None, None) => None,
        _ => {
            let message = "alertmanager-cert-file and alertmanager-key-file belong together".to_owned();
            return Err(Error::Value { name: "alertmanager-cert-file", message });
        }
    };
    let token_for = options.alertmanager_token_for.unwrap_or_default();
    if let Some(wrong) = token_for.iter().find(|name| name.split('/').count() != 2) {
        let message = format!("{wrong:?} is not namespace/name or namespace/*");
        return Err(Error::Value { name: "alertmanager-token-for", message });
    }
    Ok(AlertmanagerSettings {
        resync: at_least("silence-resync", options.silence_resync, 1, fallback.resync)?,
        cleanup_timeout: at_least(
            "silence-cleanup-timeout",
            options.silence_cleanup_timeout,
            0,
            fallback.cleanup_timeout,
        )?,
        sweep_interval: at_least(
            "silence-sweep-interval",
            options.silence_sweep_interval,
            1,
            fallback.sweep_interval,
        )?,
        sweep_limit,
        ttl_after_expiry: at_least(
            "silence-ttl-after-expiry",
            options.silence_ttl_after_expiry,
            0,
            fallback.ttl_after_expiry,
        )?,
        alert_preview: options.silence_alert_preview.unwrap_or(fallback.alert_preview),
        object_metrics: options.silence_object_metrics.unwrap_or(fallback.object_metrics),
        timeout: at_least("alertmanager-timeout", options.alertmanager_timeout, 1, fallback.timeout)?,
        connect_timeout: at_least(
            "alertmanager-connect-timeout",
            options.alertmanager_connect_timeout,
            1,
            fallback.connect_timeout,
        )?,
        ca_file: options.alertmanager_ca_file,
        certificate,
        token_file: options.alertmanager_token_file.unwrap_or(fallback.token_file),
        token_for,
        url_allow: options.alertmanager_url_allow.unwrap_or_default(),
        cluster_id: options.cluster_id.filter(|id| !id.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Arc<StaticTarget>>, String> {
        let file: SilenceFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        targets(None, Some(file), "usher-system").map_err(|error| error.to_string())
    }

    #[test]
    fn the_short_form_selects_everything_and_enforces_namespaces() {
        let urls = vec!["http://a:9093".to_owned(), "http://b:9093".to_owned()];
        let targets = targets(Some(urls), None, "usher-system").unwrap();
        let target = &targets[0];
        assert_eq!(target.alertmanager.metadata.name, "default");
        assert_eq!(target.alertmanager.metadata.namespace, "usher-system");
        assert_eq!(target.alertmanager.spec.replicas, Some(2));
        assert!(target.alertmanager.spec.silence_selector.as_ref().is_some_and(LabelSelector::is_empty));
    }

    #[test]
    fn the_file_says_more() {
        let targets = read(
            r#"{"alertmanagers": [{"name": "mimir", "urls": ["https://mimir/alertmanager"], "tenant": "a",
                "matcherStrategy": "None", "auth": {"tokenFile": "/t"}, "silenceSelector": {}}]}"#,
        )
        .unwrap();
        assert_eq!(targets[0].authentication, FileAuthentication::Token("/t".into()));
        assert_eq!((targets[0].urls[0].port, targets[0].urls[0].prefix.as_str()), (443, "/alertmanager"));
    }

    #[test]
    fn mistakes_are_named_and_secrets_are_not() {
        let mistakes = [
            (r#"{"alertmanagers": [{"name": "a"}]}"#, "at least one URL"),
            (r#"{"alertmanagers": [{"name": "a b", "urls": ["http://a"]}]}"#, "needs a name"),
            (r#"{"alertmanagers": [{"name": "a", "urls": ["http://me:hunter2@a"]}]}"#, "password in it"),
            (r#"{"alertmanagers": [{"name": "a", "urls": ["http://a"], "matcherStrategy": "X"}]}"#, "one of"),
            (
                r#"{"alertmanagers": [{"name": "a", "urls": ["http://a"], "auth": {"certFile": "x"}}]}"#,
                "auth",
            ),
            (r#"{"alertmanagers": [{"name": "a", "urls": ["http://a"], "pushPullInterval": "1"}]}"#, "60s"),
            (r#"{"alertmanagers": [{"name": "a", "urls": ["http://a"], "tennant": "x"}]}"#, "tennant"),
            (
                r#"{"alertmanagers": [{"name": "a", "urls": ["http://a"]}, {"name": "a", "urls": ["http://b"]}]}"#,
                "two targets",
            ),
        ];
        for (text, part) in mistakes {
            let error = read(text).unwrap_err();
            assert!(error.contains(part) && !error.contains("hunter2"), "{text}: {error}");
        }
    }
}
