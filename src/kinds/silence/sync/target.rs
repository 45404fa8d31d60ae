//! Where the instances of an Alertmanager are, and how usher speaks to them (specification sections 2.4 and 2.5).
//!
//! A target is found anew with every list, so that pods, annotations and Secrets may change at any time. What keeps usher
//! from speaking to an Alertmanager at all is told in the words that users see as a reason.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client};

use crate::lang::duration;
use crate::model::object::Meta;
use crate::model::secret_text::SecretText;
use crate::names;
use crate::settings::{FileAuthentication, Settings, StaticTarget};
use crate::upstream::endpoint::{Auth, Endpoint, Identity, Scheme, Trust};
use crate::view::View;
use crate::view::records::{Alertmanager, Pod, member_of};

const WEB_PORT: u16 = 9093;
const PUSH_PULL: Duration = Duration::from_mins(1);
const RETENTION: Duration = Duration::from_hours(120);
const TENANT: HeaderName = HeaderName::from_static("x-scope-orgid");

/// An Alertmanager that can be spoken to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its instances in their order.
    pub places: Vec<Place>,
    /// How many there should be.
    pub total: usize,
    /// How often its members exchange everything.
    pub push_pull: Duration,
    /// How long it keeps ended silences.
    pub retention: Duration,
    /// What its owner chose and should know of.
    pub cautions: Vec<Caution>,
}

/// Something that an Alertmanager's owner may choose, and is warned of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caution {
    /// Anybody's certificate is believed.
    InsecureTls,
    /// A Secret's credentials are sent over plain HTTP.
    CredentialsInTheClear,
}

impl Caution {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InsecureTls => "InsecureTLS",
            Self::CredentialsInTheClear => "CredentialsInTheClear",
        }
    }

    /// For people.
    pub fn note(self) -> String {
        match self {
            Self::InsecureTls => format!(
                "{} is set: whoever answers at its address is believed, and gets its credentials",
                names::ALERTMANAGER_TLS_INSECURE
            ),
            Self::CredentialsInTheClear => {
                format!("the credentials of {} are sent over plain HTTP", names::ALERTMANAGER_AUTH_SECRET)
            }
        }
    }

    /// What is to be said of these places.
    fn of(places: &[Place]) -> Vec<Self> {
        let is_insecure =
            |place: &Place| place.endpoint.scheme == Scheme::Https && place.endpoint.trust == Trust::Insecure;
        let is_clear = |place: &Place| {
            let credentials = matches!(place.endpoint.auth, Auth::Bearer(_) | Auth::Basic { .. });
            place.endpoint.scheme == Scheme::Http && credentials
        };
        let insecure = places.iter().any(is_insecure).then_some(Self::InsecureTls);
        let clear = places.iter().any(is_clear).then_some(Self::CredentialsInTheClear);
        insecure.into_iter().chain(clear).collect()
    }
}

/// One instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// For messages.
    pub name: String,
    /// How to speak to it.
    pub endpoint: Endpoint,
    /// Does it say that it takes requests? What is not a pod does until it fails to answer.
    pub ready: bool,
    /// When its pod was made; what is not a pod tells its age itself.
    pub since: Option<Timestamp>,
}

/// Why an Alertmanager cannot be spoken to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreachable {
    /// In one word.
    pub reason: &'static str,
    /// For people.
    pub message: String,
}

fn unreachable(reason: &'static str, message: impl Into<String>) -> Unreachable {
    Unreachable { reason, message: message.into() }
}

/// What finding needs.
#[derive(Clone, Copy)]
pub struct Finder<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The pods.
    pub view: &'a View,
    /// For Secrets and ConfigMaps, by name.
    pub client: Option<&'a Client>,
}

impl Finder<'_> {
    /// Finds the instances of an Alertmanager.
    ///
    /// # Errors
    /// Why it cannot be spoken to.
    pub async fn find(&self, alertmanager: &Alertmanager) -> Result<Target, Unreachable> {
        let metadata = &alertmanager.metadata;
        let is_this = |target: &&Arc<StaticTarget>| {
            let other = &target.alertmanager.metadata;
            (&other.namespace, &other.name) == (&metadata.namespace, &metadata.name)
        };
        let places = match self.settings.silence.targets.iter().find(is_this) {
            Some(target) => self.named(target).await?,
            None => self.places(alertmanager).await?,
        };
        let spec = &alertmanager.spec;
        let total = if metadata.annotation(names::ALERTMANAGER_URL).is_some() {
            places.len()
        } else {
            spec.instances()
        };
        let read = |text: &Option<String>, otherwise: Duration| {
            let nanos = text.as_deref().and_then(|text| duration::go(text).ok());
            nanos.and_then(|nanos| u64::try_from(nanos).ok()).map_or(otherwise, Duration::from_nanos)
        };
        Ok(Target {
            cautions: Caution::of(&places),
            places,
            total,
            push_pull: read(&spec.cluster_pushpull_interval, PUSH_PULL),
            retention: read(&spec.retention, RETENTION),
        })
    }

    async fn places(&self, alertmanager: &Alertmanager) -> Result<Vec<Place>, Unreachable> {
        let metadata = &alertmanager.metadata;
        let mut bare = match metadata.annotation(names::ALERTMANAGER_URL) {
            Some(urls) => self.annotated(urls, &metadata.namespace)?,
            None => self.members(alertmanager)?,
        };
        if bare.iter().any(|place| place.endpoint.scheme == Scheme::Https) {
            let trust = self.trust(alertmanager).await?;
            let identity = self.identity(alertmanager).await?;
            for place in &mut bare {
                place.endpoint.trust = trust.clone();
                place.endpoint.identity.clone_from(&identity);
            }
        }
        let auth = self.auth(alertmanager).await?;
        let tenant = metadata.annotation(names::ALERTMANAGER_TENANT);
        bare.into_iter()
            .map(|mut place| {
                place.endpoint.auth.clone_from(&auth);
                with_tenant(place, tenant)
            })
            .collect()
    }

    /// The URLs that the Alertmanager's owner wrote, as far as the owner may send usher there.
    fn annotated(&self, urls: &str, namespace: &str) -> Result<Vec<Place>, Unreachable> {
        let place = |text: &str| {
            let endpoint = Endpoint::parse(text.trim())
                .map_err(|error| unreachable("URLNotAllowed", format!("the URL annotation: {error}")))?;
            if !self.may_be_called(&endpoint.host, namespace) {
                let message = format!(
                    "{:?} is neither a Service of namespace {namespace} nor in --alertmanager-url-allow",
                    endpoint.host
                );
                return Err(unreachable("URLNotAllowed", message));
            }
            let name = format!("{}:{}", endpoint.host, endpoint.port);
            Ok(Place { name, endpoint, ready: true, since: None })
        };
        urls.split(',').filter(|text| !text.trim().is_empty()).map(place).collect()
    }

    fn may_be_called(&self, host: &str, namespace: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let mut labels = host.trim_end_matches('.').split('.');
        let (service, of, svc) = (labels.next(), labels.next(), labels.next());
        let own = service.is_some_and(|service| !service.is_empty())
            && of == Some(namespace)
            && svc == Some("svc")
            && matches!(labels.collect::<Vec<_>>().as_slice(), [] | ["cluster", "local"]);
        let allowed = |pattern: &String| {
            let pattern = pattern.trim().to_ascii_lowercase();
            match pattern.strip_prefix('*') {
                Some("") => true,
                Some(suffix) => suffix.starts_with('.') && host.ends_with(suffix),
                None => host == pattern,
            }
        };
        own || self.settings.alertmanager.url_allow.iter().any(allowed)
    }

    /// The pods of the Alertmanager. The governing Service is of no use: it has every Alertmanager of the namespace.
    fn members(&self, alertmanager: &Alertmanager) -> Result<Vec<Place>, Unreachable> {
        let (metadata, spec) = (&alertmanager.metadata, &alertmanager.spec);
        let port_annotation = metadata.annotation(names::ALERTMANAGER_PORT);
        if spec.listen_local && port_annotation.is_none() {
            let message = format!(
                "it listens on its own loopback only; annotate it with {} or {}",
                names::ALERTMANAGER_URL,
                names::ALERTMANAGER_PORT
            );
            return Err(unreachable("NotReachableListenLocal", message));
        }
        let https = spec.web.as_ref().is_some_and(|web| web.tls_config.is_some());
        let scheme = match metadata.annotation(names::ALERTMANAGER_SCHEME) {
            Some("https") => Scheme::Https,
            Some("http") => Scheme::Http,
            _ if https || port_annotation.is_some() => Scheme::Https,
            _ => Scheme::Http,
        };
        let port_name = port_annotation.or(spec.port_name.as_deref()).unwrap_or("web");
        let service = spec.service_name.as_deref().unwrap_or("alertmanager-operated");
        let term = member_of(&metadata.namespace, &metadata.name);
        let replicas = spec.instances();
        let ordinal = |pod: &Pod| {
            let number = pod.metadata.name.strip_prefix(&format!("alertmanager-{}-", metadata.name))?;
            number.parse::<usize>().ok().filter(|number| *number < replicas)
        };
        let pods = self.view.pods.with_term(term).unwrap_or_default();
        let mut members: Vec<(usize, Place)> = pods
            .iter()
            .filter(|pod| !pod.metadata.is_terminating())
            .filter_map(|pod| {
                let port = pod.ports.get(port_name).copied().unwrap_or(WEB_PORT);
                let name = pod.metadata.name.clone();
                let host = format!("{name}.{service}.{}.svc", metadata.namespace);
                let mut endpoint =
                    Endpoint::new(scheme, host, port).at(spec.route_prefix.as_deref().unwrap_or_default());
                endpoint.connect = Some(SocketAddr::new(pod.address?, port));
                let since = pod.metadata.creation_timestamp;
                Some((ordinal(pod)?, Place { name, endpoint, ready: pod.ready, since }))
            })
            .collect();
        members.sort_by_key(|(ordinal, _)| *ordinal);
        Ok(members.into_iter().map(|(_, place)| place).collect())
    }

    async fn trust(&self, alertmanager: &Alertmanager) -> Result<Trust, Unreachable> {
        let metadata = &alertmanager.metadata;
        if metadata.annotation(names::ALERTMANAGER_TLS_INSECURE) == Some("true") {
            return Ok(Trust::Insecure);
        }
        if let Some(file) = &self.settings.alertmanager.ca_file {
            return read(file).await.map(Trust::Authorities);
        }
        if let Some(secret) = metadata.annotation(names::ALERTMANAGER_TLS_SECRET) {
            let secret = self.secret(&metadata.namespace, secret).await?;
            if let Some(authority) = text_of(&secret, "ca.crt") {
                return Ok(Trust::Authorities(authority));
            }
        }
        let tls = alertmanager.spec.web.as_ref().and_then(|web| web.tls_config.as_ref());
        let Some(certificate) = tls.and_then(|tls| tls.cert.as_ref()) else { return Ok(Trust::System) };
        if let Some(key_of) = &certificate.secret {
            let secret = self.secret(&metadata.namespace, &key_of.name).await?;
            if let Some(authority) = text_of(&secret, "ca.crt") {
                return Ok(Trust::Authorities(authority));
            }
            if let Some(leaf) = text_of(&secret, &key_of.key) {
                return Ok(Trust::Pinned(leaf));
            }
        }
        if let Some(key_of) = &certificate.config_map {
            let api: Api<ConfigMap> = Api::namespaced(self.client()?, &metadata.namespace);
            let map = api.get(&key_of.name).await.map_err(|error| unreadable(&key_of.name, &error))?;
            let data = map.data.unwrap_or_default();
            if let Some(authority) = data.get("ca.crt") {
                return Ok(Trust::Authorities(authority.clone()));
            }
            if let Some(leaf) = data.get(&key_of.key) {
                return Ok(Trust::Pinned(leaf.clone()));
            }
        }
        Ok(Trust::System)
    }

    async fn identity(&self, alertmanager: &Alertmanager) -> Result<Option<Identity>, Unreachable> {
        let metadata = &alertmanager.metadata;
        if let Some(name) = metadata.annotation(names::ALERTMANAGER_TLS_SECRET) {
            let secret = self.secret(&metadata.namespace, name).await?;
            if let (Some(certificate), Some(key)) = (text_of(&secret, "tls.crt"), text_of(&secret, "tls.key"))
            {
                return Ok(Some(Identity { certificate, key: SecretText::from(key) }));
            }
        }
        if let Some(own) = self.own_certificate().await? {
            return Ok(Some(own));
        }
        let tls = alertmanager.spec.web.as_ref().and_then(|web| web.tls_config.as_ref());
        match tls.and_then(|tls| tls.client_auth_type.as_deref()) {
            Some("RequireAndVerifyClientCert" | "RequireAnyClientCert") => {
                let message = format!(
                    "it asks for a client certificate; annotate it with {}",
                    names::ALERTMANAGER_TLS_SECRET
                );
                Err(unreachable("ClientCertificateRequired", message))
            }
            _ => Ok(None),
        }
    }

    async fn auth(&self, alertmanager: &Alertmanager) -> Result<Auth, Unreachable> {
        let metadata = &alertmanager.metadata;
        if let Some(name) = metadata.annotation(names::ALERTMANAGER_AUTH_SECRET) {
            let secret = self.secret(&metadata.namespace, name).await?;
            if let Some(token) = text_of(&secret, "token") {
                return Ok(Auth::Bearer(SecretText::from(token.trim().to_owned())));
            }
            let (username, password) = (text_of(&secret, "username"), text_of(&secret, "password"));
            if let (Some(username), Some(password)) = (username, password) {
                return Ok(Auth::Basic { username, password: SecretText::from(password) });
            }
            let message = format!("Secret {name:?} has neither token nor username and password");
            return Err(unreachable("CredentialsUnavailable", message));
        }
        Ok(self.own_token(metadata, true))
    }

    /// usher's own identity, for those that the cluster's owner names; never to a server that has not proven its own.
    fn own_token(&self, metadata: &Meta, by_namespace: bool) -> Auth {
        let settings = &self.settings.alertmanager;
        let may_see = |name: &String| {
            name.split_once('/').is_some_and(|(namespace, name)| {
                namespace == metadata.namespace && (by_namespace && name == "*" || name == metadata.name)
            })
        };
        if settings.token_for.iter().any(may_see) {
            return Auth::BearerFile { path: settings.token_file.clone(), verified_only: true };
        }
        Auth::None
    }

    /// The client certificate of usher's settings.
    async fn own_certificate(&self) -> Result<Option<Identity>, Unreachable> {
        let Some((certificate, key)) = &self.settings.alertmanager.certificate else { return Ok(None) };
        let (certificate, key) = (read(certificate).await?, read(key).await?);
        Ok(Some(Identity { certificate, key: SecretText::from(key) }))
    }

    /// The URLs of a target in the settings. What it does not say itself the settings for all say.
    async fn named(&self, target: &StaticTarget) -> Result<Vec<Place>, Unreachable> {
        let ca_file = target.ca_file.as_ref().or(self.settings.alertmanager.ca_file.as_ref());
        let trust = match ca_file {
            Some(file) => Trust::Authorities(read(file).await?),
            None => Trust::System,
        };
        let (mut auth, mut identity) = (Auth::None, None);
        match &target.authentication {
            FileAuthentication::None => {
                // By its name only: whoever lets usher's token into a namespace does not mean a host elsewhere.
                auth = self.own_token(&target.alertmanager.metadata, false);
                if target.urls.iter().any(|url| url.scheme == Scheme::Https) {
                    identity = self.own_certificate().await?;
                }
            }
            FileAuthentication::Token(path) => {
                auth = Auth::BearerFile { path: path.clone(), verified_only: false };
            }
            FileAuthentication::Basic { username_file, password_file } => {
                let username = read(username_file).await?.trim().to_owned();
                let password = SecretText::from(read(password_file).await?.trim_end_matches('\n').to_owned());
                auth = Auth::Basic { username, password };
            }
            FileAuthentication::Certificate { certificate, key } => {
                let key = SecretText::from(read(key).await?);
                identity = Some(Identity { certificate: read(certificate).await?, key });
            }
        }
        let place = |endpoint: &Endpoint| {
            let (auth, identity, trust) = (auth.clone(), identity.clone(), trust.clone());
            let name = format!("{}:{}", endpoint.host, endpoint.port);
            let endpoint = Endpoint { trust, identity, auth, ..endpoint.clone() };
            with_tenant(Place { name, endpoint, ready: true, since: None }, target.tenant.as_deref())
        };
        target.urls.iter().map(place).collect()
    }

    fn client(&self) -> Result<Client, Unreachable> {
        let none = || unreachable("CredentialsUnavailable", "there is no cluster to read Secrets from");
        self.client.cloned().ok_or_else(none)
    }

    async fn secret(&self, namespace: &str, name: &str) -> Result<Secret, Unreachable> {
        let api: Api<Secret> = Api::namespaced(self.client()?, namespace);
        api.get(name).await.map_err(|error| unreadable(name, &error))
    }
}

fn with_tenant(mut place: Place, tenant: Option<&str>) -> Result<Place, Unreachable> {
    if let Some(tenant) = tenant {
        let headed = place.endpoint.with_header(TENANT, tenant);
        place.endpoint = headed.map_err(|error| unreachable("CredentialsUnavailable", error.to_string()))?;
    }
    Ok(place)
}

async fn read(file: &Path) -> Result<String, Unreachable> {
    let text = tokio::fs::read_to_string(file).await;
    text.map_err(|error| {
        unreachable("CredentialsUnavailable", format!("reading {}: {error}", file.display()))
    })
}

fn text_of(secret: &Secret, key: &str) -> Option<String> {
    let ByteString(bytes) = secret.data.as_ref()?.get(key)?;
    String::from_utf8(bytes.clone()).ok()
}

fn unreadable(name: &str, error: &kube::Error) -> Unreachable {
    let why = match error {
        kube::Error::Api(status) => format!("{} {}", status.code, status.reason),
        _ => "the API server did not answer".to_owned(),
    };
    unreachable("CredentialsUnavailable", format!("reading {name:?} of its namespace: {why}"))
}
