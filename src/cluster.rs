//! How usher reaches its cluster: one place that finds the configuration and makes clients for their purposes.

use std::path::Path;
use std::time::Duration;

use http::header::{CONTENT_TYPE, USER_AGENT};
use jiff::Timestamp;
use kube::{Client, Config};
use serde_json::Value;

use crate::names;

/// Longer than the API server keeps a quiet watch (kube asks for 290 s): a connection that says nothing for so long is
/// dead, whatever TCP believes.
const READ_TIMEOUT: Duration = Duration::from_mins(5);
/// Opening a connection. Calls themselves are bounded by whoever makes them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The cluster cannot be found with what is configured.
#[derive(Debug, thiserror::Error)]
#[error("finding the cluster: {0}")]
pub struct Error(String);

/// Where the cluster is, who usher is there, and in which namespace it lives.
#[derive(Debug, Clone)]
pub struct Cluster {
    config: Config,
    /// usher's own namespace: Leases, the certificate Secret.
    pub namespace: String,
}

impl Cluster {
    /// Finds the cluster: the kubeconfig if one is named, else the pod's account, else the usual kubeconfig. The namespace
    /// is the named one, else the pod's, else the usual one.
    ///
    /// # Errors
    /// When there is no usable configuration. Nothing is called.
    pub async fn find(
        kubeconfig: Option<&Path>,
        context: Option<&str>,
        namespace: Option<&str>,
    ) -> Result<Self, Error> {
        let options =
            kube::config::KubeConfigOptions { context: context.map(str::to_owned), ..Default::default() };
        let fail = |error: &dyn std::fmt::Display| Error(error.to_string());
        let mut own = None;
        let mut config = match (kubeconfig, context) {
            (Some(path), _) => {
                let file = kube::config::Kubeconfig::read_from(path).map_err(|error| fail(&error))?;
                Config::from_custom_kubeconfig(file, &options).await.map_err(|error| fail(&error))?
            }
            (None, Some(_)) => Config::from_kubeconfig(&options).await.map_err(|error| fail(&error))?,
            (None, None) => match Config::incluster() {
                Ok(config) => {
                    own = Some(config.default_namespace.clone());
                    config
                }
                Err(_) => Config::from_kubeconfig(&options).await.map_err(|error| fail(&error))?,
            },
        };
        config.read_timeout = Some(READ_TIMEOUT);
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        let namespace = namespace.map(str::to_owned).or(own).unwrap_or_else(|| names::NAMESPACE.to_owned());
        Ok(Self { config, namespace })
    }

    /// A client that says which part of usher calls, and that does not repeat calls by itself: whoever uses it knows
    /// better what is safe to repeat.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub fn client(&self, part: &str) -> Result<Client, Error> {
        let mut config = self.config.clone();
        config.default_retry = false;
        let agent = format!("usher/{} ({part})", env!("CARGO_PKG_VERSION"));
        let agent = agent.parse().map_err(|_| Error(format!("{part:?} cannot be sent as a user agent")))?;
        config.headers.push((USER_AGENT, agent));
        Client::try_from(config).map_err(|error| Error(error.to_string()))
    }
}

/// Sends JSON to the API server as it is, for objects that are written by compare-and-swap.
///
/// # Errors
/// What the API server refuses, and what does not reach it.
pub async fn send(
    client: &Client,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, kube::Error> {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, "application/json")
        .body(body)
        .map_err(kube::Error::HttpError)?;
    client.request(request).await
}

/// A time as Leases have it: the API server wants exactly six digits.
pub fn micro_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}
