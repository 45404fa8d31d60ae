//! What the doors ask of a RulerConfig (specification section 4.5).

use super::codes;
use super::relabel;
use super::spec::{
    AlertManagerClient, AlertManagerSpec, RemoteWriteAuthorization, RemoteWriteClient, RemoteWriteQueue,
    RemoteWriteSpec, RulerConfigSpec,
};
use super::urls::{check_endpoint, check_url, rests_on};
use crate::lang::{duration, names};
use crate::model::loki::PrometheusDuration;
use crate::model::secret_text::SecretText;
use crate::rule::{FieldPath, Findings, quoted};

/// Headers that Loki sets itself; with one of them it does not start (and drops the first).
const RESERVED_HEADERS: [&str; 18] = [
    "x-scope-orgid",
    "authorization",
    "host",
    "content-encoding",
    "content-length",
    "content-type",
    "user-agent",
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "www-authenticate",
    "accept-encoding",
    "x-prometheus-remote-write-version",
    "x-prometheus-remote-read-version",
    "x-amz-date",
    "x-amz-security-token",
    "x-amz-content-sha256",
];

pub(super) fn check(spec: &RulerConfigSpec, out: &mut Findings) {
    check_durations(
        &FieldPath::of(&["spec"]),
        &[("evaluationInterval", &spec.evaluation_interval), ("pollInterval", &spec.poll_interval)],
        out,
    );
    if let Some(alertmanager) = &spec.alertmanager {
        check_alertmanager(alertmanager, &FieldPath::spec("alertmanager"), out);
    }
    if let Some(remote_write) = &spec.remote_write {
        check_remote_write(remote_write, &FieldPath::spec("remoteWrite"), out);
    }
    for (tenant, overrides) in spec.overrides.iter().flatten() {
        let path = FieldPath::spec("overrides").key(tenant);
        let problem = if tenant.is_empty() {
            Some("it is empty".to_owned())
        } else {
            names::tenant(tenant).err().map(|problem| problem.to_string())
        };
        if let Some(problem) = problem {
            let message = format!("{} is no tenant ID: {problem}", quoted(tenant));
            out.deny(&codes::TENANT_ID, path.clone(), message).value(tenant.as_str());
        }
        if let Some(alertmanager) = &overrides.alertmanager {
            let path = path.field("alertmanager");
            check_alertmanager(alertmanager, &path, out);
            check_override(alertmanager, &path, out);
        }
    }
}

/// Loki has no such keys for single tenants, and reads them strictly.
fn check_override(alertmanager: &AlertManagerSpec, path: &FieldPath, out: &mut Findings) {
    let message = |field: &str| format!("{field} cannot be set for a single tenant");
    if let Some(url) = &alertmanager.external_url {
        let path = path.field("externalUrl");
        rests_on(url, out.deny(&codes::OVERRIDE_FIELD, path, message("externalUrl")));
    }
    if let Some(labels) = &alertmanager.external_labels {
        let path = path.field("externalLabels");
        out.deny(&codes::OVERRIDE_FIELD, path, message("externalLabels")).value(format!("{labels:?}"));
    }
    let Some(queue) = &alertmanager.notification_queue else { return };
    // The schema fills in the defaults, which are never sent.
    for (field, text, default) in [
        ("forOutageTolerance", &queue.for_outage_tolerance, "1h"),
        ("forGracePeriod", &queue.for_grace_period, "10m"),
        ("resendDelay", &queue.resend_delay, "1m"),
    ] {
        if let Some(text) = text
            && duration::prometheus(&text.0) != duration::prometheus(default)
        {
            let path = path.field("notificationQueue").field(field);
            out.deny(&codes::OVERRIDE_FIELD, path, message(field)).value(text.0.as_str());
        }
    }
}

fn check_alertmanager(alertmanager: &AlertManagerSpec, path: &FieldPath, out: &mut Findings) {
    let discovery = alertmanager.discovery.as_ref();
    let by_service = discovery.and_then(|discovery| discovery.enable_srv).unwrap_or_default();
    if alertmanager.endpoints.is_empty() {
        out.deny(&codes::ENDPOINT, path.field("endpoints"), "there is no endpoint");
    }
    for (index, endpoint) in alertmanager.endpoints.iter().enumerate() {
        check_endpoint(endpoint, by_service, path.field("endpoints").index(index), out);
    }
    check_url(alertmanager.external_url.as_deref(), false, || path.field("externalUrl"), out);
    for name in alertmanager.external_labels.iter().flat_map(|labels| labels.keys()) {
        if !names::is_label(name) {
            let message = format!("{} is not a label name", quoted(name));
            out.deny(&codes::LABEL_NAME, path.field("externalLabels").key(name), message)
                .value(name.as_str());
        }
    }
    if let Some(discovery) = discovery {
        let path = path.field("discovery");
        check_durations(&path, &[("refreshInterval", &discovery.refresh_interval)], out);
    }
    if let Some(queue) = &alertmanager.notification_queue {
        let path = path.field("notificationQueue");
        check_positive(queue.capacity, || path.field("capacity"), out);
        check_durations(
            &path,
            &[
                ("timeout", &queue.timeout),
                ("forOutageTolerance", &queue.for_outage_tolerance),
                ("forGracePeriod", &queue.for_grace_period),
                ("resendDelay", &queue.resend_delay),
            ],
            out,
        );
    }
    relabel::check(alertmanager.relabel_configs.as_ref(), path, out);
    if let Some(client) = &alertmanager.client {
        check_client(client, &path.field("client"), out);
    }
    if alertmanager.enable_v2 == Some(false) {
        out.warn(&codes::OLD_API, path.field("enableV2"), codes::OLD_API.title);
    }
}

fn check_client(client: &AlertManagerClient, path: &FieldPath, out: &mut Findings) {
    if let Some(header) = &client.header_auth {
        let path = path.field("headerAuth");
        if let (Some(credentials), Some(file)) = (&header.credentials, &header.credentials_file) {
            for field in ["credentials", "credentialsFile"] {
                let message = "credentials and credentialsFile cannot be used at the same time";
                out.deny(&codes::TWO_CREDENTIALS, path.field(field), message)
                    .secret_value((credentials.expose(), file));
            }
        }
        if header.credentials.is_some() {
            out.warn(&codes::INLINE_SECRET, path.field("credentials"), codes::INLINE_SECRET.title);
        }
        if let Some(basic) = &client.basic_auth {
            let expose = |secret: &Option<SecretText>| secret.as_ref().map(|text| text.expose().to_owned());
            let header = (&header.r#type, expose(&header.credentials), &header.credentials_file);
            out.deny(&codes::TWO_AUTHS, path, codes::TWO_AUTHS.title).secret_value((
                header,
                &basic.username,
                expose(&basic.password),
            ));
        }
    }
    if client.basic_auth.as_ref().is_some_and(|basic| basic.password.is_some()) {
        let path = path.field("basicAuth").field("password");
        out.warn(&codes::INLINE_SECRET, path, codes::INLINE_SECRET.title);
    }
    if let Some(tls) = &client.tls {
        let is_set = |path: &Option<String>| path.as_deref().is_some_and(|path| !path.is_empty());
        let missing = match (is_set(&tls.cert_path), is_set(&tls.key_path)) {
            (true, false) => "keyPath",
            (false, true) => "certPath",
            _ => return,
        };
        out.deny(&codes::HALF_PAIR, path.field("tls").field(missing), format!("{missing} is missing"))
            .value(format!("{:?} {:?}", tls.cert_path, tls.key_path));
    }
}

fn check_remote_write(remote_write: &RemoteWriteSpec, path: &FieldPath, out: &mut Findings) {
    check_durations(path, &[("refreshPeriod", &remote_write.refresh_period)], out);
    match &remote_write.client {
        None if remote_write.enabled == Some(true) => {
            out.deny(&codes::NO_CLIENT, path.field("client"), codes::NO_CLIENT.title);
        }
        None => {}
        Some(client) => check_receiver(client, &path.field("client"), out),
    }
    if let Some(queue) = &remote_write.queue {
        check_queue(queue, &path.field("queue"), out);
    }
}

fn check_receiver(client: &RemoteWriteClient, path: &FieldPath, out: &mut Findings) {
    check_url(Some(&client.url), true, || path.field("url"), out);
    check_url(client.proxy_url.as_deref(), true, || path.field("proxyUrl"), out);
    check_durations(path, &[("timeout", &client.timeout)], out);
    relabel::check(client.relabel_configs.as_ref(), path, out);
    if client.authorization == RemoteWriteAuthorization::Header {
        out.warn(&codes::HEADER_WORD, path.field("authorization"), codes::HEADER_WORD.title);
    }
    for (name, value) in client.additional_headers.iter().flatten() {
        let problem = if name.is_empty() || !name.bytes().all(is_token) {
            "is not the name of a header"
        } else if RESERVED_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            "is a header that Loki sets itself"
        } else if value.contains(['\r', '\n']) {
            "has a line break in its value"
        } else {
            continue;
        };
        let message = format!("{} {problem}", quoted(name));
        let finding = out.deny(&codes::HEADER, path.field("additionalHeaders").key(name), message);
        // What a header says may be a secret.
        if value.contains(['\r', '\n']) {
            finding.secret_value(value)
        } else {
            finding.value(name.as_str())
        };
    }
}

/// The characters of RFC 9110's `token`.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn check_queue(queue: &RemoteWriteQueue, path: &FieldPath, out: &mut Findings) {
    check_durations(
        path,
        &[
            ("batchSendDeadline", &queue.batch_send_deadline),
            ("minBackOffPeriod", &queue.min_back_off_period),
            ("maxBackOffPeriod", &queue.max_back_off_period),
        ],
        out,
    );
    for (field, number) in [
        ("capacity", queue.capacity),
        ("maxShards", queue.max_shards),
        ("minShards", queue.min_shards),
        ("maxSamplesPerSend", queue.max_samples_per_send),
    ] {
        check_positive(number, || path.field(field), out);
    }
    // What is left out has the schema's default.
    let (least, most) = (queue.min_shards.unwrap_or(200), queue.max_shards.unwrap_or(200));
    if least > most {
        let message = format!("minShards {least} is above maxShards {most}");
        out.deny(&codes::QUEUE, path.field("minShards"), message).value(format!("{least} {most}"));
    }
    let read = |text: &Option<PrometheusDuration>, default: &str| {
        duration::prometheus(text.as_ref().map_or(default, |text| text.0.as_str())).ok()
    };
    let backoff = (read(&queue.min_back_off_period, "30ms"), read(&queue.max_back_off_period, "100ms"));
    if let (Some(least), Some(most)) = backoff
        && least > most
    {
        let message = "minBackOffPeriod is above maxBackOffPeriod";
        out.deny(&codes::QUEUE, path.field("minBackOffPeriod"), message).value(format!("{least} {most}"));
    }
}

fn check_positive(number: Option<i32>, path: impl Fn() -> FieldPath, out: &mut Findings) {
    if let Some(number) = number.filter(|number| *number <= 0) {
        out.deny(&codes::QUEUE, path(), format!("{number} is not above 0")).value(number.to_string());
    }
}

fn check_durations(
    path: &FieldPath,
    durations: &[(&'static str, &Option<PrometheusDuration>)],
    out: &mut Findings,
) {
    for (field, text) in durations {
        if let Some(text) = text
            && let Err(error) = duration::prometheus(&text.0)
        {
            let message = format!("{} is not a duration: {error}", quoted(&text.0));
            out.deny(&codes::DURATION, path.field(field), message).value(text.0.as_str());
        }
    }
}
