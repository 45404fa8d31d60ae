//! One server: where it is, how it proves who it is, and how usher does.
//!
//! Name and place are two things: a pod is reached at its address while the request and its certificate are for the
//! pod's DNS name. Nothing is sent from here; a [`Client`](super::Client) is made of it.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use http::{HeaderName, HeaderValue, Uri};

use crate::model::secret_text::SecretText;

/// With or without TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Without.
    Http,
    /// With.
    Https,
}

/// Whose certificates are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// The machine's authorities.
    System,
    /// These authorities and no others, as PEM.
    Authorities(String),
    /// One of these very certificates, as PEM, whatever names they are for.
    Pinned(String),
    /// Anybody's. Somebody must have asked for it by name.
    Insecure,
}

/// A client certificate, as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The chain, leaf first.
    pub certificate: String,
    /// Its key.
    pub key: SecretText,
}

/// How usher says who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// Not at all.
    None,
    /// With a token.
    Bearer(SecretText),
    /// With a token in a file, read again for every request: projected tokens last an hour.
    BearerFile {
        /// The file.
        path: PathBuf,
        /// Only over TLS with a verified server, as is due to a token that is usher's own identity.
        verified_only: bool,
    },
    /// With a name and a password.
    Basic {
        /// The name.
        username: String,
        /// The password.
        password: SecretText,
    },
}

/// One server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// With or without TLS.
    pub scheme: Scheme,
    /// Its name (or address, without brackets): in the Host header and in its certificate.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Where to connect, when not to what the name resolves to.
    pub connect: Option<SocketAddr>,
    /// What its paths begin with: empty, or with a slash in front and none behind.
    pub prefix: String,
    /// Whom to believe; of no meaning without TLS.
    pub trust: Trust,
    /// The certificate to show when the server asks for one.
    pub identity: Option<Identity>,
    /// How to say who we are.
    pub auth: Auth,
    /// Sent with every request; values are marked as sensitive.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

/// Why a text is no server's address. The text is not repeated: it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(pub(super) &'static str);

impl Endpoint {
    /// A server of this name: no credentials, the machine's authorities.
    pub fn new(scheme: Scheme, host: impl Into<String>, port: u16) -> Self {
        Self {
            scheme,
            host: host.into(),
            port,
            connect: None,
            prefix: String::new(),
            trust: Trust::System,
            identity: None,
            auth: Auth::None,
            headers: Vec::new(),
        }
    }

    /// Reads `https://host:port/prefix`.
    ///
    /// # Errors
    /// When it is no such URL, or has a user, a query or a fragment.
    pub fn parse(url: &str) -> Result<Self, BadAddress> {
        if url.contains(['?', '#']) {
            return Err(BadAddress("a URL with a query or a fragment"));
        }
        let uri: Uri = url.parse().map_err(|_| BadAddress("not a URL"))?;
        let (scheme, port) = match uri.scheme_str() {
            Some("http") => (Scheme::Http, 80),
            Some("https") => (Scheme::Https, 443),
            _ => return Err(BadAddress("neither http:// nor https://")),
        };
        let authority = uri.authority().ok_or(BadAddress("a URL without a host"))?;
        if authority.as_str().contains('@') {
            return Err(BadAddress("a URL with a user or password in it"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        let endpoint = Self::new(scheme, host, authority.port_u16().unwrap_or(port)).at(uri.path());
        endpoint.base()?;
        Ok(endpoint)
    }

    /// The same below a path; slashes behind it do not count.
    #[must_use]
    pub fn at(mut self, prefix: &str) -> Self {
        let trimmed = prefix.trim_matches('/');
        self.prefix = if trimmed.is_empty() { String::new() } else { format!("/{trimmed}") };
        self
    }

    /// The same with one more header.
    ///
    /// # Errors
    /// When no header can have this value.
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Result<Self, BadAddress> {
        let mut value =
            HeaderValue::from_str(value).map_err(|_| BadAddress("a header with characters none can have"))?;
        value.set_sensitive(true);
        self.headers.push((name, value));
        Ok(self)
    }

    /// Is the server's identity proven before anything is sent?
    pub fn is_verified(&self) -> bool {
        self.scheme == Scheme::Https && self.trust != Trust::Insecure
    }

    /// What a path is appended to, proven to make a URL.
    pub(super) fn base(&self) -> Result<String, BadAddress> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        if self.host.parse::<IpAddr>().is_err() && (self.host.is_empty() || !self.host.chars().all(plain)) {
            return Err(BadAddress("a host that is neither a name nor an address"));
        }
        if self.port == 0 {
            return Err(BadAddress("port 0"));
        }
        let base = self.to_string();
        // Also keeps a prefix from bringing a query of its own.
        if self.prefix.contains(['?', '#']) || base.parse::<Uri>().is_err() {
            return Err(BadAddress("a path that no URL can have"));
        }
        Ok(base)
    }
}

/// As a URL; nothing secret is in it.
impl fmt::Display for Endpoint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
        };
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        let Self { host, port, prefix, .. } = self;
        write!(out, "{scheme}://{open}{host}{close}:{port}{prefix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_server_and_a_prefix() {
        let cases = [
            ("http://am", "http://am:80"),
            ("https://am.monitoring.svc:9093/", "https://am.monitoring.svc:9093"),
            ("https://am/a/b//", "https://am:443/a/b"),
            ("http://[::1]:9093/am/", "http://[::1]:9093/am"),
        ];
        for (url, shown) in cases {
            assert_eq!(Endpoint::parse(url).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_no_address_is_not_repeated() {
        for url in [
            "",
            "am:9093",
            "/am",
            "ftp://am",
            "http://",
            "http://am/?x=1",
            "http://am/#x",
            "https://user:hunter2@am",
            "http://a b",
            "http://am:0",
            "http://a%41",
        ] {
            let error = Endpoint::parse(url).unwrap_err().to_string();
            assert!(!error.contains("hunter2") && !error.is_empty(), "{url}");
        }
    }

    #[test]
    fn nothing_secret_is_printed() {
        let mut endpoint = Endpoint::new(Scheme::Https, "am", 443);
        endpoint.auth =
            Auth::Basic { username: "u".to_owned(), password: SecretText::from("hunter2".to_owned()) };
        endpoint.identity =
            Some(Identity { certificate: String::new(), key: SecretText::from("hunter2".to_owned()) });
        let name = HeaderName::from_static("x-scope-orgid");
        let endpoint = endpoint.with_header(name.clone(), "hunter2").unwrap();
        assert!(!format!("{endpoint:?} {endpoint}").contains("hunter2"));
        assert!(endpoint.with_header(name, "a\nb").is_err());
    }

    #[test]
    fn a_server_is_verified_over_tls_only_and_not_when_anybody_is_believed() {
        assert!(!Endpoint::new(Scheme::Http, "am", 80).is_verified());
        let mut endpoint = Endpoint::new(Scheme::Https, "am", 443);
        assert!(endpoint.is_verified());
        endpoint.trust = Trust::Insecure;
        assert!(!endpoint.is_verified());
    }
}
