//! `loki.targets` of the `--config` file: the Lokis that no LokiStack describes. A list of mappings, so it has no flag.

use serde::Deserialize;

use super::options::Error;
use crate::lang::{names, url};
use crate::model::naming::{is_label, is_subdomain};
use crate::model::selector::LabelSelector;
use crate::settings::{LokiTarget, RuleDelivery, RuleLayout};

/// What is said of Loki.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LokiOptions {
    targets: Vec<Entry>,
}

/// One Loki, as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    name: String,
    namespace: String,
    #[serde(default)]
    mode: Mode,
    selector: Option<LabelSelector>,
    namespace_selector: Option<LabelSelector>,
    #[serde(default)]
    tenants: Vec<String>,
    layout: Option<RuleLayout>,
    config_mount: Option<String>,
    url: Option<String>,
    auth_secret: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum Mode {
    #[default]
    #[serde(rename = "configMap")]
    ConfigMap,
    #[serde(rename = "rulerAPI")]
    RulerApi,
}

impl LokiOptions {
    /// The targets, each of them usable.
    pub(super) fn validate(self) -> Result<Vec<LokiTarget>, Error> {
        let mut targets: Vec<LokiTarget> = Vec::with_capacity(self.targets.len());
        for (index, entry) in self.targets.into_iter().enumerate() {
            let fail = |message: String| Error::Value {
                name: "loki.targets",
                message: format!("entry {}: {message}", index + 1),
            };
            let target = entry.validate().map_err(fail)?;
            if targets.iter().any(|known| known.name == target.name && known.namespace == target.namespace) {
                return Err(fail(format!("{}/{} is there already", target.namespace, target.name)));
            }
            targets.push(target);
        }
        Ok(targets)
    }
}

impl Entry {
    fn validate(self) -> Result<LokiTarget, String> {
        if !is_subdomain(&self.name) {
            return Err(format!("{:?} is not a name", self.name));
        }
        if !is_label(&self.namespace) {
            return Err(format!("{:?} is not a namespace", self.namespace));
        }
        let selectors = [("selector", &self.selector), ("namespaceSelector", &self.namespace_selector)];
        for (field, selector) in selectors {
            if let Some(problem) = selector.as_ref().and_then(|selector| selector.problems().pop()) {
                return Err(format!("{field}: {}", problem.message));
            }
        }
        for tenant in &self.tenants {
            if let Err(error) = names::tenant(tenant) {
                return Err(format!("{tenant:?} is no tenant ID: {error}"));
            }
            if tenant.is_empty() {
                return Err("a tenant has a name".to_owned());
            }
        }
        let delivery = match self.mode {
            Mode::ConfigMap if self.url.is_some() || self.auth_secret.is_some() => {
                return Err("url and authSecret belong to mode rulerAPI".to_owned());
            }
            Mode::ConfigMap => RuleDelivery::ConfigMap {
                layout: self.layout.unwrap_or_default(),
                config_mount: mount(self.config_mount)?,
            },
            Mode::RulerApi if self.layout.is_some() || self.config_mount.is_some() => {
                return Err("layout and configMount belong to mode configMap".to_owned());
            }
            Mode::RulerApi => {
                let url = self.url.ok_or("mode rulerAPI needs a url")?;
                RuleDelivery::RulerApi { url: address(url)?, auth_secret: secret(self.auth_secret)? }
            }
        };
        Ok(LokiTarget {
            name: self.name,
            namespace: self.namespace,
            delivery,
            selector: self.selector,
            namespace_selector: self.namespace_selector,
            tenants: self.tenants,
        })
    }
}

fn mount(path: Option<String>) -> Result<String, String> {
    let path = path.unwrap_or_else(|| "/etc/loki/ruler-config".to_owned());
    if path.starts_with('/') {
        Ok(path)
    } else {
        Err(format!("configMount: {path:?} is not an absolute path"))
    }
}

/// The text is not shown: it may hold a password.
fn address(text: String) -> Result<String, String> {
    let read = url::parse(&text).map_err(|fault| format!("url: {}", fault.message))?;
    if !read.is_absolute() || !matches!(read.scheme.as_str(), "http" | "https") {
        return Err("url: needs http or https and a host".to_owned());
    }
    if text.contains('@') {
        return Err("url: name and password belong into authSecret".to_owned());
    }
    Ok(text)
}

fn secret(name: Option<String>) -> Result<Option<String>, String> {
    match name {
        Some(name) if !is_subdomain(&name) => {
            Err(format!("authSecret: {name:?} is not the name of a Secret"))
        }
        name => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::options::settings_from;
    use super::*;

    fn read(target: &Value) -> Result<LokiTarget, String> {
        let settings = settings_from(&json!({"loki": {"targets": [target]}}));
        settings.map(|settings| settings.loki.targets[0].clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_target_is_read() {
        let target = read(&json!({"name": "loki", "namespace": "logs", "selector": {}})).unwrap();
        let mount = "/etc/loki/ruler-config".to_owned();
        assert_eq!(
            target.delivery,
            RuleDelivery::ConfigMap { layout: RuleLayout::Items, config_mount: mount }
        );
        let api = json!({
            "name": "loki", "namespace": "logs", "mode": "rulerAPI", "url": "http://loki:3100", "tenants": ["fake"],
        });
        let target = read(&api).unwrap();
        assert_eq!(target.tenants, ["fake"]);
        assert!(matches!(target.delivery, RuleDelivery::RulerApi { auth_secret: None, .. }));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let with = |field: &str, value: Value| {
            let mut target = json!({"name": "loki", "namespace": "logs"});
            target[field] = value;
            read(&target).unwrap_err()
        };
        for (field, value, said) in [
            ("name", json!("Loki"), "not a name"),
            ("namespace", json!("a.b"), "not a namespace"),
            (
                "selector",
                json!({"matchExpressions": [{"key": "a", "operator": "In"}]}),
                "selector: In needs values",
            ),
            ("tenants", json!(["a/b"]), "no tenant ID"),
            ("tenants", json!([""]), "has a name"),
            ("url", json!("http://loki"), "rulerAPI"),
            ("mode", json!("rulerAPI"), "needs a url"),
            ("mode", json!("api"), "rulerAPI"),
            ("layout", json!("flat"), "perTenant"),
            ("configMount", json!("etc"), "absolute path"),
            ("tenant", json!("a"), "unknown field"),
        ] {
            let error = with(field, value);
            assert!(error.contains(said), "{field}: {error}");
        }
        let api = |url: &str| {
            let target = json!({"name": "loki", "namespace": "logs", "mode": "rulerAPI", "url": url});
            read(&target).unwrap_err()
        };
        for url in ["loki:3100", "ftp://loki", "http://u:hunter2@loki", "http://u:hunter2@lo ki"] {
            let error = api(url);
            assert!(error.contains("url: ") && !error.contains("hunter2"), "{error}");
        }
        let twice = json!({"loki": {"targets": [
            {"name": "loki", "namespace": "logs"}, {"name": "loki", "namespace": "logs"},
        ]}});
        let error = settings_from(&twice).unwrap_err().to_string();
        assert!(error.contains("entry 2: logs/loki is there already"), "{error}");
    }
}
