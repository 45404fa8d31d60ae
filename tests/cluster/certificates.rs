//! Certificates in a cluster: usher's own, cert-manager's, and what happens when nobody renews them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use base64::Engine as _;
use futures::future::join_all;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DeleteParams, Patch};
use serde_json::json;
use usher::manifests::webhook::{Target, configurations};
use usher::manifests::{Certificates as Maker, Install, certs, rbac};
use usher::serve::in_cluster::OwnCertificates;
use usher::serve::run::{Certificates, Running};
use usher::serve::tls::Files;

use crate::claims::in_force;
use crate::cluster;
use crate::support::client::Trust;
use crate::support::cluster::{Cluster, peers};
use crate::support::install;
use crate::support::load::Load;
use crate::support::proxy::Spread;
use crate::support::replica::{Options, begin, eventually, own, ready, replica};

const SECRET: &str = "usher-certificate";

fn secrets(client: &kube::Client) -> Api<Secret> {
    Api::namespaced(client.clone(), "usher-system")
}

fn bundle(cluster: &Cluster, kind: &str) -> String {
    let path = "jsonpath={.webhooks[*].clientConfig.caBundle}";
    let (_, text, _) = cluster.kubectl(&["get", kind, "usher", "-o", path], None);
    let all: Vec<&str> = text.split_whitespace().collect();
    let one = all.first().copied().unwrap_or_default();
    if all.iter().any(|other| *other != one) {
        return String::new();
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(one).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

async fn stored(client: &kube::Client) -> Option<(String, bool)> {
    let secret = secrets(client).get_opt(SECRET).await.unwrap()?;
    let text = |key: &str| String::from_utf8(secret.data.as_ref()?.get(key)?.0.clone()).ok();
    Some((text("ca.crt").unwrap_or_default(), text("next-tls.crt").is_some()))
}

/// Is a rotation over: one CA, and both configurations carry it?
async fn settled(cluster: &Cluster, client: &kube::Client) -> Option<String> {
    let (trusted, staged) = stored(client).await?;
    let single = trusted.matches("BEGIN CERTIFICATE").count() == 1;
    let published = ["validatingwebhookconfiguration", "mutatingwebhookconfiguration"]
        .iter()
        .all(|kind| bundle(cluster, kind) == trusted);
    (single && !staged && published).then_some(trusted)
}

async fn wait_settled(cluster: &Cluster, client: &kube::Client, other_than: &str) -> String {
    let started = Instant::now();
    loop {
        if let Some(trusted) = settled(cluster, client).await
            && trusted != other_than
        {
            return trusted;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "the certificates do not settle");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_agree_and_rotate_under_load() {
    let rotations: usize = std::env::var("ROTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(50);
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let _ = secrets(&client).delete(SECRET, &DeleteParams::default()).await;
    let options = Options { certificates: own(Duration::from_millis(250)), ..Options::new(cluster) };
    let replicas: Vec<Running> = join_all((0..3).map(|_| begin(&options))).await;
    join_all(replicas.iter().map(ready)).await;
    let serials = |replicas: &[Running]| -> Vec<String> {
        replicas
            .iter()
            .map(|replica| replica.state.certificate.load().as_ref().unwrap().serial.clone())
            .collect()
    };
    let first = serials(&replicas);
    assert!(first.iter().all(|serial| *serial == first[0]), "the replicas serve {first:?}");

    // A configuration that is not usher's is left alone, whatever is in it.
    let target = Target::Service { namespace: "usher-system".to_owned() };
    let mut foreign = configurations(&target, None, Maker::Own).remove(0);
    foreign["metadata"]["name"] = json!("foreign");
    foreign["webhooks"] = json!([foreign["webhooks"][0]]);
    foreign["webhooks"][0]["failurePolicy"] = json!("Ignore");
    foreign["webhooks"][0]["rules"][0]["resources"] = json!(["nothing"]);
    install::apply(cluster, &[foreign]);

    let spread = Spread::start(replicas.iter().map(|replica| replica.admission).collect()).await;
    install::webhooks_through(cluster, spread.address.port());
    let mut trusted = wait_settled(cluster, &client, "").await;
    in_force(cluster).await;

    let load = Load::start(cluster, 3).await;
    let shakes = handshakes(&client, replicas.iter().map(|replica| replica.admission).collect());
    let started = Instant::now();
    for _ in 0..rotations {
        let ask = json!({"metadata": {"annotations": {"usher.dev/rotate": "true"}}});
        secrets(&client).patch(SECRET, &Default::default(), &Patch::Merge(ask)).await.unwrap();
        trusted = wait_settled(cluster, &client, &trusted).await;
    }
    let took = started.elapsed();

    // Deleted: put back, and then rotated, for who deletes a key wants another one.
    secrets(&client).delete(SECRET, &DeleteParams::default()).await.unwrap();
    trusted = wait_settled(cluster, &client, &trusted).await;
    // Broken: likewise.
    let broken = json!({"data": {"tls.key": "bm8ga2V5"}});
    secrets(&client).patch(SECRET, &Default::default(), &Patch::Merge(broken)).await.unwrap();
    trusted = wait_settled(cluster, &client, &trusted).await;
    // A staged pair taken away, which must not look like a rotation that is over; and a CA that signed nothing.
    let ask = json!({"metadata": {"annotations": {"usher.dev/rotate": "true"}}});
    secrets(&client).patch(SECRET, &Default::default(), &Patch::Merge(ask)).await.unwrap();
    let half = json!({"data": {"next-tls.key": null}});
    secrets(&client).patch(SECRET, &Default::default(), &Patch::Merge(half)).await.unwrap();
    trusted = wait_settled(cluster, &client, &trusted).await;
    let stranger = usher::certs::material::make(&["localhost".to_owned()]).unwrap().authority;
    let foreign = json!({"data": {"ca.crt": base64::engine::general_purpose::STANDARD.encode(stranger)}});
    secrets(&client).patch(SECRET, &Default::default(), &Patch::Merge(foreign)).await.unwrap();
    trusted = wait_settled(cluster, &client, &trusted).await;

    let shaken = shakes.end().await;
    let reviews = load.end().await;
    println!(
        "certificates: {rotations} rotations in {:.0} s under {reviews} reviews and {shaken} fresh handshakes, none failed",
        took.as_secs_f64()
    );
    assert!(reviews > 500 && shaken > 500, "hardly any load: {reviews} reviews, {shaken} handshakes");
    let failures: u64 = replicas.iter().map(|replica| replica.metrics.handshake_failures.get()).sum();
    assert_eq!(failures, 0, "handshakes failed");
    let last = serials(&replicas);
    assert!(
        last.iter().all(|serial| *serial == last[0]) && last[0] != first[0],
        "the replicas serve {last:?}"
    );

    // Applied anew without a CA: usher puts it there.
    install::no_webhooks(cluster);
    install::webhooks_through(cluster, spread.address.port());
    eventually("the caBundle put back", || {
        bundle(cluster, "validatingwebhookconfiguration") == trusted
            && bundle(cluster, "mutatingwebhookconfiguration") == trusted
    })
    .await;
    let (_, text, _) =
        cluster.kubectl(&["get", "validatingwebhookconfiguration", "foreign", "-o", "json"], None);
    assert!(!text.contains("caBundle"), "{text}");
    assert!(cluster.kubectl(&["delete", "validatingwebhookconfiguration", "foreign"], None).0);
    install::no_webhooks_through(cluster);
    join_all(replicas.into_iter().map(Running::stop)).await;
}

/// Fresh handshakes with what the configuration says is trusted, as the API server makes them.
struct Handshakes {
    stop: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<u64>,
}

fn handshakes(client: &kube::Client, replicas: Vec<std::net::SocketAddr>) -> Handshakes {
    let stop: Arc<AtomicBool> = Arc::default();
    let stopped = Arc::clone(&stop);
    let api = usher::certs::bundle::api(client, "ValidatingWebhookConfiguration");
    let task = tokio::spawn(async move {
        let mut count = 0;
        while !stopped.load(Ordering::Relaxed) {
            let found = api.get("usher").await.unwrap();
            let text = found.data["webhooks"][0]["clientConfig"]["caBundle"].as_str().unwrap().to_owned();
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
            let trust = Trust::new(&String::from_utf8(bytes).unwrap(), false, None);
            for replica in &replicas {
                trust.serial(*replica).await.unwrap_or_else(|error| panic!("handshake {count}: {error}"));
                count += 1;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        count
    });
    Handshakes { stop, task }
}

impl Handshakes {
    async fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}

/// Mirrors a Secret into a directory as the kubelet does: a new directory, then one symlink swapped.
fn mount(client: kube::Client, name: &'static str, directory: PathBuf) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let api: Api<Secret> = Api::namespaced(client, "usher-system");
        let mut last = String::new();
        let mut number = 0;
        loop {
            if let Ok(Some(secret)) = api.get_opt(name).await {
                let version = secret.metadata.resource_version.clone().unwrap_or_default();
                if version != last && secret.data.as_ref().is_some_and(|data| data.contains_key("tls.crt")) {
                    last = version;
                    number += 1;
                    let fresh = directory.join(format!("..version-{number}"));
                    std::fs::create_dir_all(&fresh).unwrap();
                    for (key, value) in secret.data.into_iter().flatten() {
                        std::fs::write(fresh.join(&key), value.0).unwrap();
                        let link = directory.join(&key);
                        if !link.exists() {
                            let _ = std::os::unix::fs::symlink(Path::new("..data").join(&key), &link);
                        }
                    }
                    let staged = directory.join("..data_tmp");
                    std::os::unix::fs::symlink(format!("..version-{number}"), &staged).unwrap();
                    std::fs::rename(&staged, directory.join("..data")).unwrap();
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
}

/// Issuer, Certificate, Secret on disk, usher serving it, CA injected, renewal under load: all by the real cert-manager.
#[tokio::test(flavor = "multi_thread")]
async fn cert_manager_issues_injects_and_renews_under_load() {
    let (cluster, _turn) = cluster().await;
    let client = cluster.client().await;
    let peer = peers("cert-manager");
    let crds = peer.join("crds").display().to_string();
    let (ok, _, errors) = cluster.kubectl(&["apply", "--server-side", "-f", &crds], None);
    assert!(ok, "{errors}");
    let wait = ["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"];
    assert!(cluster.kubectl(&wait, None).0);
    let arguments = ["-kubeconfig".to_owned(), cluster.kubeconfig.display().to_string()];
    let manager = cluster.run(&peer.join("cert-manager"), &arguments, "cert-manager.log");

    // The printed manifests; only the serving certificate's times are shortened, so that it renews while we look.
    let mut documents = certs::documents("usher-system");
    let serving = documents.last_mut().unwrap();
    serving["spec"]["duration"] = json!("1h");
    serving["spec"]["renewBefore"] = json!("59m50s");
    serving["spec"]["ipAddresses"] = json!(["127.0.0.1"]);
    let names = serving["spec"]["dnsNames"].as_array_mut().unwrap();
    assert!(names.contains(&json!("usher.usher-system.svc")));
    install::apply(cluster, &documents);

    let directory = cluster.directory.join("mounted");
    std::fs::create_dir_all(&directory).unwrap();
    let kubelet = mount(client.clone(), "usher-tls", directory.clone());
    let files =
        Files { certificate: directory.join("tls.crt"), key: directory.join("tls.key"), client_ca: None };
    eventually("the Secret mounted", || files.load().is_ok()).await;
    // The rights of this mode, which are fewer.
    let theirs = Install { certificates: Maker::CertManager, ..Install::default() };
    install::apply(cluster, &rbac::documents(&theirs));
    let options = Options { certificates: Certificates::Files(files), ..Options::new(cluster) };
    let running = replica(&options).await;
    let spread = Spread::start(vec![running.admission]).await;
    install::webhooks_through(cluster, spread.address.port());
    // What cainjector fills in is asked for by the printed annotation.
    let target = Target::Service { namespace: "usher-system".to_owned() };
    for document in configurations(&target, None, Maker::CertManager) {
        let kind = document["kind"].as_str().unwrap();
        let annotation =
            document["metadata"]["annotations"]["cert-manager.io/inject-ca-from"].as_str().unwrap();
        let annotation = format!("cert-manager.io/inject-ca-from={annotation}");
        let (ok, _, errors) = cluster.kubectl(&["annotate", kind, "usher", &annotation], None);
        assert!(ok, "{errors}");
    }
    eventually("the CA injected", || bundle(cluster, "validatingwebhookconfiguration").contains("BEGIN"))
        .await;
    in_force(cluster).await;

    let load = Load::start(cluster, 3).await;
    let shakes = handshakes(&client, vec![running.admission]);
    let serial = || running.state.certificate.load().as_ref().unwrap().serial.clone();
    let mut known = vec![serial()];
    let started = Instant::now();
    while known.len() < 3 {
        assert!(started.elapsed() < Duration::from_secs(60), "no renewal: {known:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
        if !known.contains(&serial()) {
            known.push(serial());
        }
    }
    let shaken = shakes.end().await;
    let reviews = load.end().await;
    println!(
        "cert-manager: two renewals served under {reviews} reviews and {shaken} fresh handshakes, none failed"
    );
    assert_eq!(running.metrics.handshake_failures.get(), 0);
    kubelet.abort();
    drop(manager);
    install::no_webhooks_through(cluster);
    running.stop().await;
    install::apply(cluster, &rbac::documents(&Install::default()));
    for document in documents.iter().rev() {
        let kind = format!("{}.cert-manager.io", document["kind"].as_str().unwrap());
        let name = document["metadata"]["name"].as_str().unwrap();
        assert!(cluster.kubectl(&["delete", "-n", "usher-system", &kind, name], None).0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_nobody_renews_is_told_long_before_it_ends() {
    let (cluster, _turn) = cluster().await;
    let directory = cluster.directory.join("ending");
    std::fs::create_dir_all(&directory).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let now = time::OffsetDateTime::now_utc();
    // Twelve weeks long, two weeks left.
    parameters.not_before = now - time::Duration::days(70);
    parameters.not_after = now + time::Duration::days(14);
    std::fs::write(directory.join("tls.crt"), parameters.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(directory.join("tls.key"), key.serialize_pem()).unwrap();
    let files =
        Files { certificate: directory.join("tls.crt"), key: directory.join("tls.key"), client_ca: None };
    let options = Options { certificates: Certificates::Files(files), ..Options::new(cluster) };
    let running = replica(&options).await;
    eventually("the event", || {
        let path = "jsonpath={.items[*].note}";
        let (_, text, _) = cluster.kubectl(
            &[
                "get",
                "events.events.k8s.io",
                "-n",
                "usher-system",
                "--field-selector=reason=CertificateEndsSoon",
                "-o",
                path,
            ],
            None,
        );
        text.contains("has not been renewed")
    })
    .await;
    let metrics = running.metrics.render();
    let line =
        metrics.lines().find(|line| line.starts_with("usher_tls_certificate_not_after_seconds ")).unwrap();
    let ends: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
    assert!((ends - (now.unix_timestamp() + 14 * 86_400) as f64).abs() < 5.0, "{line}");
    running.stop().await;
}

/// With a client CA only who shows a certificate of it gets through, in `self` mode too.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_ca_keeps_strangers_out() {
    let (cluster, _turn) = cluster().await;
    let authority = cluster.directory.join("ca.pem");
    let certificates = Certificates::Own(OwnCertificates {
        names: vec!["127.0.0.1".to_owned()],
        overlap: Duration::from_millis(250),
        client_ca: Some(authority),
    });
    let running = replica(&Options { certificates, ..Options::new(cluster) }).await;
    let client = cluster.client().await;
    let (trusted, _) = stored(&client).await.unwrap();
    let read = |name: &str| std::fs::read_to_string(cluster.directory.join(name)).unwrap();
    let review = crate::support::client::silence_review();
    let post = |trust: Trust| {
        let (address, review) = (running.admission, review.clone());
        async move {
            let mut connection = crate::support::client::Connection::open(&trust, address).await?;
            connection.post(address, "/admit/validate/monitoring.coreos.com/silence", review).await
        }
    };
    let known = Trust::new(&trusted, false, Some((&read("admin.pem"), &read("admin.key"))));
    assert_eq!(post(known).await.unwrap().0, 200);
    assert!(post(Trust::new(&trusted, false, None)).await.is_err(), "a stranger got an answer");
    running.stop().await;
}
