//! TLS and authorization rules (C5 to C15, C20, C21).

use super::codes;
use super::spec::{Authorization, KeySelector, ScrapeClassSpec, SecretOrConfigMap, TlsConfig};
use super::workloads::Workload;
use crate::rule::{Facts, FieldPath, Findings, Severity, quoted};

pub(super) fn check(class: &ScrapeClassSpec, workloads: &[Workload], facts: &Facts<'_>, out: &mut Findings) {
    if let Some(tls) = &class.tls_config {
        check_tls(tls, facts, out);
    }
    if let Some(authorization) = &class.authorization {
        check_authorization(authorization, class.default == Some(true), out);
    }
    for (path, file) in files(class) {
        check_file(&path, file, workloads, out);
    }
}

/// Every file that the class names.
fn files(class: &ScrapeClassSpec) -> Vec<(FieldPath, &str)> {
    let tls = FieldPath::spec("tlsConfig");
    let mut files = Vec::new();
    if let Some(config) = &class.tls_config {
        for (name, file) in
            [("caFile", &config.ca_file), ("certFile", &config.cert_file), ("keyFile", &config.key_file)]
        {
            files.extend(given(file).map(|file| (tls.field(name), file)));
        }
    }
    if let Some(authorization) = &class.authorization {
        let path = FieldPath::spec("authorization").field("credentialsFile");
        files.extend(given(&authorization.credentials_file).map(|file| (path, file)));
    }
    files
}

/// An empty string counts as absent, as in prometheus-operator.
fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// An empty `{}` counts as absent, as in prometheus-operator.
fn is_given(source: &Option<SecretOrConfigMap>) -> bool {
    source.as_ref().is_some_and(|source| source.secret.is_some() || source.config_map.is_some())
}

fn check_tls(tls: &TlsConfig, facts: &Facts<'_>, out: &mut Findings) {
    let path = FieldPath::spec("tlsConfig");
    let has_ca = is_given(&tls.ca) || given(&tls.ca_file).is_some();
    let has_cert = is_given(&tls.cert) || given(&tls.cert_file).is_some();
    let has_key = tls.key_secret.is_some() || given(&tls.key_file).is_some();

    let twice = [
        ("ca", "caFile", is_given(&tls.ca), &tls.ca_file),
        ("cert", "certFile", is_given(&tls.cert), &tls.cert_file),
        ("keySecret", "keyFile", tls.key_secret.is_some(), &tls.key_file),
    ];
    for (reference, file, referred, written) in twice {
        if let Some(written) = given(written).filter(|_| referred) {
            let message = format!("{reference} and {file} are both set");
            out.deny(&codes::TWO_SOURCES, path.field(file), message).value(written);
        }
    }
    if has_cert != has_key {
        let (present, missing) = if has_cert { ("certificate", "key") } else { ("key", "certificate") };
        let message = format!("a client {present} without its {missing}");
        // The half that is there: an update that changes it is judged anew.
        let half = format!("{:?}", (&tls.cert, &tls.cert_file, &tls.key_secret, &tls.key_file));
        out.deny(&codes::HALF_PAIR, path.clone(), message).value(half);
    }
    for (name, source) in [("ca", &tls.ca), ("cert", &tls.cert)] {
        let Some(source) = source else { continue };
        if source.secret.is_some() && source.config_map.is_some() {
            out.deny(&codes::SECRET_AND_CONFIG_MAP, path.field(name), "both secret and configMap are set")
                .value(format!("{source:?}"));
        }
        for (kind, selector) in [("secret", &source.secret), ("configMap", &source.config_map)] {
            check_selector(selector.as_ref(), &path.field(name).field(kind), out);
        }
    }
    check_selector(tls.key_secret.as_ref(), &path.field("keySecret"), out);
    if let (Some(lowest), Some(highest)) = (tls.min_version, tls.max_version)
        && highest < lowest
    {
        out.deny(&codes::TLS_ORDER, path.field("maxVersion"), codes::TLS_ORDER.title)
            .value(format!("{lowest:?} {highest:?}"));
    }
    if tls.insecure_skip_verify == Some(true) {
        let path = path.field("insecureSkipVerify");
        let severity =
            if facts.settings.scrape_class.deny_insecure { Severity::Error } else { Severity::Warning };
        out.push(severity, &codes::INSECURE, path.clone(), codes::INSECURE.title.to_owned());
        if has_ca {
            out.warn(&codes::USELESS_CA, path, codes::USELESS_CA.title);
        }
    }
}

fn check_selector(selector: Option<&KeySelector>, path: &FieldPath, out: &mut Findings) {
    let Some(selector) = selector else { return };
    if selector.name.as_deref().unwrap_or_default().is_empty() {
        out.deny(&codes::EMPTY_REFERENCE, path.field("name"), "the reference names no object");
    }
    if selector.key.is_empty() {
        out.deny(&codes::EMPTY_REFERENCE, path.field("key"), "the reference names no key");
    }
}

fn check_authorization(authorization: &Authorization, is_default: bool, out: &mut Findings) {
    let path = FieldPath::spec("authorization");
    let (reference, file) = (&authorization.credentials, given(&authorization.credentials_file));
    if reference.is_some() && file.is_some() {
        out.deny(&codes::TWO_CREDENTIALS, path.field("credentialsFile"), codes::TWO_CREDENTIALS.title)
            .value(format!("{reference:?} {file:?}"));
    }
    let scheme = authorization.r#type.as_deref().unwrap_or_default();
    if scheme.trim().eq_ignore_ascii_case("basic") {
        out.deny(
            &codes::BASIC_AUTH,
            path.field("type"),
            format!("the type {} is not allowed", quoted(scheme)),
        )
        .value(scheme);
    }
    if reference.is_none() && file.is_none() {
        out.deny(&codes::NO_CREDENTIALS, path.clone(), codes::NO_CREDENTIALS.title);
    }
    check_selector(reference.as_ref(), &path.field("credentials"), out);
    if is_default {
        out.warn(&codes::DEFAULT_CREDENTIAL, path, codes::DEFAULT_CREDENTIAL.title);
    }
}

fn check_file(path: &FieldPath, file: &str, workloads: &[Workload], out: &mut Findings) {
    let dots = file.split('/').scan(0, |at, segment| {
        let start = *at;
        *at += segment.len() + 1;
        Some((start, segment))
    });
    let dots = dots
        .filter(|(_, segment)| *segment == "..")
        .map(|(start, _)| (start..start + 2, "a `..` segment"))
        .next();
    let breaks = file.find(['\0', '\n', '\r']).map(|at| (at..at + 1, "a NUL or a line break"));
    let substituted =
        file.find("$(").map(|at| (at..at + 2, "`$(`, which is substituted in the configuration"));
    if let Some((part, what)) = dots.or(breaks).or(substituted) {
        let message = format!("{} holds {what}", quoted(file));
        out.deny(&codes::UNSAFE_PATH, path.clone(), message).value(file).part(part);
        return;
    }
    if !file.starts_with('/') {
        out.warn(&codes::RELATIVE_PATH, path.clone(), format!("{} is relative", quoted(file)));
        return;
    }
    let lacking: Vec<&str> = workloads
        .iter()
        .filter(|workload| !mounts(workload).iter().any(|mount| is_below(file, mount)))
        .map(|workload| workload.name.as_str())
        .collect();
    if !lacking.is_empty() {
        let more = if lacking.len() > 3 { format!(" and {} more", lacking.len() - 3) } else { String::new() };
        let names = lacking.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        out.warn(
            &codes::NOT_MOUNTED,
            path.clone(),
            format!("{} is under no mount of {names}{more}", quoted(file)),
        );
    }
}

/// Where volumes of the prometheus container are mounted.
fn mounts(workload: &Workload) -> Vec<String> {
    let spec = workload.spec.spec();
    let patched = spec.containers.iter().filter(|container| container.name == "prometheus");
    let own = spec.volume_mounts.iter().chain(patched.flat_map(|container| &container.volume_mounts));
    let mut mounts: Vec<String> = own.map(|mount| mount.mount_path.clone()).collect();
    mounts.extend(spec.secrets.iter().map(|name| format!("/etc/prometheus/secrets/{name}")));
    mounts.extend(spec.config_maps.iter().map(|name| format!("/etc/prometheus/configmaps/{name}")));
    mounts.push("/etc/prometheus/certs".to_owned());
    mounts.push("/var/run/secrets/kubernetes.io/serviceaccount".to_owned());
    mounts
}

/// By whole segments: `/etc/tls2/x` is not below `/etc/tls`. A file can be mounted by itself.
fn is_below(file: &str, mount: &str) -> bool {
    let mount = mount.trim_end_matches('/');
    file.strip_prefix(mount).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
