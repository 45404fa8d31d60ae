//! Everything that a rule may be told from outside, typed and validated once at start.
//!
//! Flags, `USHER_*` variables and the `--config` file give the same values ([`crate::cli::options`] merges them).

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;

use crate::gates::Gates;
use crate::lang::re2::{self, Names};
use crate::model::duration::Span;
use crate::model::selector::LabelSelector;
use crate::upstream::endpoint::Endpoint;
use crate::view::records::Alertmanager;

/// The settings that rules read.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Silence rules.
    pub silence: SilenceSettings,
    /// What brings Silences to Alertmanagers.
    pub alertmanager: AlertmanagerSettings,
    /// ScrapeClass rules.
    pub scrape_class: ScrapeClassSettings,
    /// PrometheusRule rules.
    pub prometheus: PrometheusSettings,
    /// AlertingRule and RecordingRule rules.
    pub loki: LokiSettings,
    /// Account and Contact rules.
    pub uptime: UptimeSettings,
    /// Which systems are on.
    pub gates: Gates,
}

/// Settings of the Silence rules.
#[derive(Debug, Clone)]
pub struct SilenceSettings {
    /// What a CREATE with an end in the past gets.
    pub past_end: PastEnd,
    /// Filled in when a Silence has no end at all; zero is off.
    pub default_duration: Span,
    /// The longest window; zero is off.
    pub max_duration: Span,
    /// The fewest matchers that a user must write; zero is off.
    pub min_matchers: usize,
    /// Labels that need a `=` or `=~` matcher.
    pub required_labels: Vec<String>,
    /// What every comment must match, a policy of the operator's.
    pub comment_pattern: Option<GoPattern>,
    /// Broad silences need no permission.
    pub allow_broad: bool,
    /// Where the enforced namespace matcher is shown.
    pub namespace_injection: NamespaceInjection,
    /// The label that carries an alert's namespace.
    pub namespace_label: String,
    /// Used for Alertmanagers that say nothing themselves.
    pub selector: Option<LabelSelector>,
    /// As the selector, for namespaces.
    pub namespace_selector: Option<LabelSelector>,
    /// Alertmanagers that no operator runs.
    pub targets: Vec<Arc<StaticTarget>>,
}

impl Default for SilenceSettings {
    fn default() -> Self {
        Self {
            past_end: PastEnd::Deny,
            default_duration: Span::default(),
            max_duration: Span::default(),
            min_matchers: 0,
            required_labels: Vec::new(),
            comment_pattern: None,
            allow_broad: false,
            namespace_injection: NamespaceInjection::Effective,
            namespace_label: "namespace".to_owned(),
            selector: None,
            namespace_selector: None,
            targets: Vec::new(),
        }
    }
}

/// An Alertmanager that no operator runs: rules and reconciler treat it as they treat an Alertmanager object.
#[derive(Debug, Clone)]
pub struct StaticTarget {
    /// As if it were an object.
    pub alertmanager: Arc<Alertmanager>,
    /// One URL for each instance.
    pub urls: Vec<Endpoint>,
    /// Who usher is there.
    pub authentication: FileAuthentication,
    /// Whom usher trusts there.
    pub ca_file: Option<PathBuf>,
    /// The tenant, for Mimir.
    pub tenant: Option<String>,
}

/// Who usher is for a static target; files are read on each use, so that they can be renewed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FileAuthentication {
    /// Nobody.
    #[default]
    None,
    /// A bearer token.
    Token(PathBuf),
    /// Name and password.
    Basic {
        /// The name.
        username_file: PathBuf,
        /// The password.
        password_file: PathBuf,
    },
    /// A certificate.
    Certificate {
        /// The chain.
        certificate: PathBuf,
        /// Its key.
        key: PathBuf,
    },
}

/// How usher reaches Alertmanagers and keeps Silences there.
#[derive(Debug, Clone)]
pub struct AlertmanagerSettings {
    /// How often everything is compared although nothing has changed.
    pub resync: Duration,
    /// How long a deleted Silence waits for Alertmanagers that cannot be reached.
    pub cleanup_timeout: Duration,
    /// How often silences without a Silence are looked for.
    pub sweep_interval: Duration,
    /// The share of usher's silences in one Alertmanager, in percent, that a sweep may take at once.
    pub sweep_limit: u8,
    /// How long ended Silences are kept; zero is for ever.
    pub ttl_after_expiry: Duration,
    /// Read firing alerts in the background, to warn of what a Silence mutes.
    pub alert_preview: bool,
    /// Metrics with the names of Silences.
    pub object_metrics: bool,
    /// For a whole request.
    pub timeout: Duration,
    /// For opening a connection.
    pub connect_timeout: Duration,
    /// Whom usher trusts.
    pub ca_file: Option<PathBuf>,
    /// usher's own certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// usher's own token.
    pub token_file: PathBuf,
    /// The Alertmanagers that may see it: `namespace/name` or `namespace/*`.
    pub token_for: Vec<String>,
    /// Hosts that an Alertmanager's annotation may name, besides Services of its own namespace.
    pub url_allow: Vec<String>,
    /// Tells usher's silences from those of another cluster that shares an Alertmanager; empty until it is known.
    pub cluster_id: Option<String>,
}

impl Default for AlertmanagerSettings {
    fn default() -> Self {
        Self {
            resync: Duration::from_mins(2),
            cleanup_timeout: Duration::from_mins(15),
            sweep_interval: Duration::from_mins(10),
            sweep_limit: 50,
            ttl_after_expiry: Duration::ZERO,
            alert_preview: true,
            object_metrics: false,
            timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(2),
            ca_file: None,
            certificate: None,
            token_file: "/var/run/secrets/kubernetes.io/serviceaccount/token".into(),
            token_for: Vec::new(),
            url_allow: Vec::new(),
            cluster_id: None,
        }
    }
}

/// A regular expression in Go's syntax, which is searched for; compiled once.
#[derive(Debug, Clone)]
pub struct GoPattern {
    written: String,
    compiled: Regex,
}

impl GoPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When Go refuses it, with the reason; or when it cannot be tried here.
    pub fn parse(text: &str) -> Result<Self, String> {
        let pattern = re2::parse(text.as_bytes(), Names::Current).map_err(|fault| {
            let (_, column) = crate::lang::position(text, fault.span.start);
            format!("character {column}: {}", fault.message)
        })?;
        let translated = pattern.to_rust().map_err(|error| error.reason.to_owned())?;
        let compiled = Regex::new(&translated).map_err(|error| error.to_string())?;
        Ok(Self { written: text.to_owned(), compiled })
    }

    /// Is it found in the text?
    pub fn is_match(&self, text: &str) -> bool {
        self.compiled.is_match(text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

/// What a CREATE with an end in the past gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PastEnd {
    /// A refusal.
    #[default]
    Deny,
    /// A warning, for repositories that keep ended silences and are applied afresh.
    Warn,
}

/// Where the enforced namespace matcher is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NamespaceInjection {
    /// In an annotation; the spec stays as written, so GitOps tools see no drift.
    #[default]
    Effective,
    /// In `spec.matchers`, when every selecting Alertmanager enforces it.
    Spec,
}

/// Settings of the ScrapeClass rules.
#[derive(Debug, Clone, Default)]
pub struct ScrapeClassSettings {
    /// Refuse `insecureSkipVerify: true` instead of warning.
    pub deny_insecure: bool,
}

/// Settings of the PrometheusRule rules.
#[derive(Debug, Clone, Default)]
pub struct PrometheusSettings {
    /// What PromQL may use when no selecting Prometheus is known.
    pub options: crate::lang::promql::Options,
}

/// Settings of the rules about Loki's rules.
#[derive(Debug, Clone, Default)]
pub struct LokiSettings {
    /// What an expression gets that parses but fails at every evaluation.
    pub stage_checks: StageChecks,
    /// Which profile of tenants holds.
    pub rules_tenancy: RulesTenancy,
    /// How rules are kept to the logs of their own namespace.
    pub tenancy_mode: TenancyMode,
    /// The log label that carries the namespace; empty when the mode is off.
    pub tenancy_label: String,
    /// The Lokis that no LokiStack describes.
    pub targets: Vec<LokiTarget>,
}

/// A Loki that no LokiStack describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LokiTarget {
    /// Its name; a RulerConfig of the same name and namespace belongs to it.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// How rules reach it.
    pub delivery: RuleDelivery,
    /// Which rules it evaluates; absent selects nothing.
    pub selector: Option<LabelSelector>,
    /// Of which namespaces; its own one is always among them.
    pub namespace_selector: Option<LabelSelector>,
    /// Its tenants; empty means any.
    pub tenants: Vec<String>,
}

/// How rules reach a Loki.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleDelivery {
    /// As files in ConfigMaps.
    ConfigMap {
        /// How the files are laid out.
        layout: RuleLayout,
        /// Where the ruler finds the files of its configuration.
        config_mount: String,
    },
    /// Through the ruler's own API.
    RulerApi {
        /// Where it is.
        url: String,
        /// The Secret in the target's namespace that opens it.
        auth_secret: Option<String>,
    },
}

/// How rule files are laid out in ConfigMaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RuleLayout {
    /// One family of ConfigMaps, whose items a volume lists.
    #[default]
    Items,
    /// A family for each tenant.
    PerTenant,
}

/// What an expression gets that parses but fails at every evaluation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StageChecks {
    /// A refusal.
    #[default]
    Deny,
    /// A warning.
    Warn,
    /// Nothing.
    Off,
}

/// Which profile of tenants holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RulesTenancy {
    /// None.
    #[default]
    Off,
    /// OpenShift's: tenants by namespace, and what every alert must carry.
    Openshift,
}

/// How rules are kept to the logs of their own namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TenancyMode {
    /// Not at all.
    #[default]
    Off,
    /// Each selector must name it.
    Require,
    /// usher adds it to each selector.
    Inject,
}

/// Settings of the Account and Contact rules.
#[derive(Debug, Clone)]
pub struct UptimeSettings {
    /// Where the Secrets of Accounts live.
    pub cluster_resource_namespace: String,
    /// Refuse references that do not resolve instead of warning.
    pub strict_references: bool,
    /// What "the default Contact" is unique in.
    pub default_contact_scope: ContactScope,
    /// What the deletion of an Account in use gets.
    pub account_delete_policy: DeletePolicy,
}

impl Default for UptimeSettings {
    fn default() -> Self {
        Self {
            cluster_resource_namespace: "usher-system".to_owned(),
            strict_references: false,
            default_contact_scope: ContactScope::Cluster,
            account_delete_policy: DeletePolicy::Deny,
        }
    }
}

/// What "the default Contact" is unique in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContactScope {
    /// One in the cluster.
    #[default]
    Cluster,
    /// One for each Account.
    Account,
}

/// What the deletion of an object in use gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum, serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
#[value(rename_all = "PascalCase")]
pub enum DeletePolicy {
    /// A refusal that lists the users.
    #[default]
    Deny,
    /// A warning; the finalizer keeps the object until its users are gone.
    Finalize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_read_as_go_reads_it() {
        let matches = |pattern: &str, text: &str| GoPattern::parse(pattern).unwrap().is_match(text);
        // It is searched for; \d is ASCII, unlike in Rust; \Q quotes.
        assert!(matches("[A-Z]+-[0-9]+", "see OPS-12") && !matches("^[A-Z]+-[0-9]+$", "see OPS-12"));
        assert!(matches(r"\d", "7") && !matches(r"\d", "٧"));
        assert!(matches(r"\Qa.b\E", "a.b") && !matches(r"\Qa.b\E", "axb"));
        assert_eq!(GoPattern::parse("a|b").unwrap().as_str(), "a|b");
        for pattern in ["(", "a**", r"\u0041", "(?x)a b", "[a&&b", "x{1001}"] {
            assert!(GoPattern::parse(pattern).unwrap_err().contains("character "), "{pattern}");
        }
    }
}
