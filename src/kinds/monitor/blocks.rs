//! The blocks of `spec.monitor` that belong to one type of check or another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::secret_text::SecretText;
use crate::model::uptime::Duration;

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PostBody {
    /// Whether the value is a flat JSON object of form fields (KeyValue) or the body itself (RawData).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "KeyValue"))]
    pub post_type: Option<PostType>,
    /// What the value is written in; UptimeRobot has no such field, it is only checked here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "text/html"))]
    pub content_type: Option<ContentType>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// How a body is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum PostType {
    KeyValue,
    RawData,
}

/// What a body is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum ContentType {
    #[serde(rename = "text/html")]
    Html,
    #[serde(rename = "application/json")]
    Json,
}

/// The text that a Keyword monitor looks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Keyword {
    /// Exists alerts when the text IS found, NotExists when it is missing.
    pub r#type: KeywordType,
    /// Tells capital letters from small ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub case_sensitive: Option<bool>,
    /// The text.
    #[schemars(length(min = 1, max = 500))]
    pub value: String,
}

/// When a Keyword monitor alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum KeywordType {
    Exists,
    NotExists,
}

/// The port that a Port monitor connects to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// The number of the TCP port.
    #[schemars(range(min = 1, max = 65535))]
    pub number: i32,
}

/// How a request proves who it is: from a Secret in the Monitor's namespace, or in clear text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Auth {
    /// The scheme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "Basic"))]
    pub r#type: Option<AuthType>,
    /// The name in clear text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub username: Option<String>,
    /// The password in clear text; secretName keeps it out of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub password: Option<SecretText>,
    /// The Secret with name and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub secret_name: Option<String>,
    /// The key of the name in the Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub username_key: Option<String>,
    /// The key of the password in the Secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub password_key: Option<String>,
}

/// A scheme of HTTP authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[allow(missing_docs)]
pub enum AuthType {
    Basic,
    Digest,
}

/// The records that a DNS monitor expects, by type.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DnsRecords {
    /// IPv4 addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub a: Option<Vec<String>>,
    /// IPv6 addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub aaaa: Option<Vec<String>>,
    /// CNAME records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub cname: Option<Vec<String>>,
    /// MX records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub mx: Option<Vec<String>>,
    /// NS records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub ns: Option<Vec<String>>,
    /// TXT records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub txt: Option<Vec<String>>,
    /// SRV records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub srv: Option<Vec<String>>,
    /// PTR records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub ptr: Option<Vec<String>>,
    /// SOA records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub soa: Option<Vec<String>>,
    /// SPF records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub spf: Option<Vec<String>>,
    /// Days before the expiry of a certificate at which to remind; no longer sent, UptimeRobot took it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(max = 10),
        inner(range(min = 0, max = 365)),
        extend("x-kubernetes-list-type" = "atomic")
    )]
    pub ssl_expiration_period_days: Option<Vec<i32>>,
}

/// Settings of a Heartbeat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Heartbeat {
    /// How often a sign of life is expected; counts when spec.monitor.interval is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Duration>,
}
