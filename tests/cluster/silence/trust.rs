//! Whom usher believes, and what it tells whom: certificates, tokens, Secrets.

use serde_json::json;
use usher::certs::material::{Made, make};

use super::*;
use crate::support::alertmanager_fake::Setup;
use crate::support::alertmanagers::{Options as Members, Release};
use crate::support::client::Trust;

/// A certificate for the first pod of an Alertmanager, and for loopback.
fn certificate(alertmanager: &str) -> Made {
    let pod = format!("alertmanager-{alertmanager}-0.alertmanager-operated.monitoring.svc");
    make(&[pod, "127.0.0.1".to_owned()]).unwrap()
}

fn secret(name: &str, data: &Value) -> Value {
    let metadata = json!({"name": name, "namespace": "monitoring"});
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
}

/// As the documentation says: the right to read Secrets by name, where Alertmanagers need it.
fn grant(cluster: &Cluster) {
    let metadata = json!({"name": "usher-alertmanager-secrets", "namespace": "monitoring"});
    let group = "rbac.authorization.k8s.io";
    let api = format!("{group}/v1");
    let rules = json!([{"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get"]}]);
    let reference = json!({"apiGroup": group, "kind": "Role", "name": "usher-alertmanager-secrets"});
    let subjects = json!([{"kind": "ServiceAccount", "name": "usher", "namespace": "usher-system"}]);
    install::apply(
        cluster,
        &[
            json!({"apiVersion": api, "kind": "Role", "metadata": metadata, "rules": rules}),
            json!({"apiVersion": api, "kind": "RoleBinding", "metadata": metadata, "roleRef": reference, "subjects": subjects}),
        ],
    );
}

fn revoke(cluster: &Cluster) {
    for kind in ["role", "rolebinding"] {
        cluster.kubectl(&["delete", kind, "-n", "monitoring", "usher-alertmanager-secrets"], None);
    }
    cluster.kubectl(&["delete", "secrets", "--all", "-n", "monitoring"], None);
}

fn web(secret: &str) -> Value {
    let of = |key: &str| json!({"name": secret, "key": key});
    json!({"web": {"tlsConfig": {"cert": {"secret": of("tls.crt")}, "keySecret": of("tls.key")}}})
}

/// A real Alertmanager with this certificate; it asks for a client's if there is somebody whose clients it knows.
async fn serving(cluster: &Cluster, name: &str, made: &Made, clients: Option<&str>) -> Alertmanagers {
    let directory = cluster.directory.join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (chain, key) = (write("tls.crt", &made.pair.certificate), write("tls.key", made.pair.key.expose()));
    let mut configuration = format!("tls_server_config:\n  cert_file: {chain}\n  key_file: {key}\n");
    if let Some(authority) = clients {
        let file = write("clients.pem", authority);
        configuration +=
            &format!("  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: {file}\n");
    }
    let file = write("web.yml", &configuration).into();
    let (certificate, key) = admin(cluster);
    let identity = clients.map(|_| (certificate.as_str(), key.as_str()));
    let trust = Trust::new(&made.authority, false, identity);
    Alertmanagers::start(Release::New, 1, Members { web: Some((file, trust)), ..Members::default() }).await
}

/// A client certificate and its key.
fn admin(cluster: &Cluster) -> (String, String) {
    let read = |name: &str| std::fs::read_to_string(cluster.directory.join(name)).unwrap();
    (read("admin.pem"), read("admin.key"))
}

/// Case 36: a real Alertmanager with a certificate for its pod's name: believed with the CA in its Secret, not with
/// another one, and not under another name; and with anybody's only when its owner says so, which is told.
#[tokio::test(flavor = "multi_thread")]
async fn case_36_a_certificate_is_checked_against_the_pod_s_name() {
    let (cluster, _turn) = stage().await;
    let made = certificate("main");
    let members = serving(cluster, "am-tls", &made, None).await;
    bind(cluster, "main", &members, web("am-tls"));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    // Nobody gave usher the right to read it, and then it is not there.
    told(cluster, "frontend", "api", "False/CredentialsUnavailable").await;
    let stranger = certificate("main");
    let whole = |authority: &str| {
        let data = json!({"tls.crt": made.pair.certificate, "tls.key": "not usher's", "ca.crt": authority});
        secret("am-tls", &data)
    };
    install::apply(cluster, &[whole(&stranger.authority)]);
    grant(cluster);
    forgive_refusals(cluster);
    // Credentials are looked at again after a minute; a change of the Alertmanager asks at once.
    annotate(cluster, "alertmanager", "monitoring", "main", "look=again");
    told(cluster, "frontend", "api", "False/TLSError").await;
    assert!(members.silences(0).await.is_empty());
    install::apply(cluster, &[whole(&made.authority)]);
    annotate(cluster, "alertmanager", "monitoring", "main", "look=once-more");
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!(members.live(0).await.len(), 1);
    assert!(!events(cluster, "main").contains(&"InsecureTLS".to_owned()));

    // The right CA, and the name of another pod.
    let another = certificate("another");
    let misnamed = serving(cluster, "am-misnamed", &another, None).await;
    let data = json!({"tls.crt": another.pair.certificate, "ca.crt": another.authority});
    install::apply(cluster, &[secret("am-misnamed", &data)]);
    let mut spec = web("am-misnamed");
    spec["silenceSelector"] = json!({"matchLabels": {"team": "web"}});
    bind(cluster, "misnamed", &misnamed, spec);
    let (ok, _, errors) = cluster.kubectl(&["label", "silence", "-n", "frontend", "api", "team=web"], None);
    assert!(ok, "{errors}");
    let object = told(cluster, "frontend", "api", "False/TLSError").await;
    assert_eq!(binding(&object, "misnamed")["conditions"][0]["reason"], "TLSError");
    assert!(misnamed.silences(0).await.is_empty());
    cluster.kubectl(&["delete", "alertmanager", "-n", "monitoring", "misnamed"], None);
    told(cluster, "frontend", "api", "True/SilenceApplied").await;

    install::apply(cluster, &[whole(&stranger.authority)]);
    annotate(cluster, "alertmanager", "monitoring", "main", "usher.dev/alertmanager-tls-insecure=true");
    until(20, "the warning", || async { events(cluster, "main").contains(&"InsecureTLS".to_owned()) }).await;
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    delete(cluster, "frontend", "api");
    revoke(cluster);
    clean(cluster);
    running.stop().await;
}

/// Section 2.5: an Alertmanager that wants to see a client certificate, and says so in its object or only in the
/// handshake: told apart from everything else, and spoken to as soon as there is one.
#[tokio::test(flavor = "multi_thread")]
async fn an_alertmanager_that_asks_for_a_client_certificate_gets_the_one_of_its_secret() {
    let (cluster, _turn) = stage().await;
    grant(cluster);
    let clients = std::fs::read_to_string(cluster.directory.join("ca.pem")).unwrap();
    let (said, silent) = (certificate("said"), certificate("silent"));
    let (said_members, silent_members) = tokio::join!(
        serving(cluster, "am-said", &said, Some(&clients)),
        serving(cluster, "am-silent", &silent, Some(&clients)),
    );
    let (certificate, key) = admin(cluster);
    for (name, made) in [("said", &said), ("silent", &silent)] {
        let own = json!({"tls.crt": made.pair.certificate, "ca.crt": made.authority});
        let ours = json!({"tls.crt": certificate, "tls.key": key, "ca.crt": made.authority});
        install::apply(cluster, &[secret(name, &own), secret(&format!("{name}-client"), &ours)]);
    }
    let mut spec = web("said");
    spec["web"]["tlsConfig"]["clientAuthType"] = json!("RequireAndVerifyClientCert");
    bind(cluster, "said", &said_members, spec);
    bind(cluster, "silent", &silent_members, web("silent"));
    let running = usher(cluster, settings()).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "False/ClientCertificateRequired").await;
    for name in ["said", "silent"] {
        assert_eq!(binding(&object, name)["conditions"][0]["reason"], "ClientCertificateRequired", "{name}");
    }
    for name in ["said", "silent"] {
        let annotation = format!("usher.dev/alertmanager-tls-secret={name}-client");
        annotate(cluster, "alertmanager", "monitoring", name, &annotation);
    }
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    assert_eq!((said_members.live(0).await.len(), silent_members.live(0).await.len()), (1, 1));
    delete(cluster, "frontend", "api");
    revoke(cluster);
    clean(cluster);
    running.stop().await;
}

/// Case 53: usher's own token goes to the Alertmanager that the cluster's owner names, over verified TLS, and to no
/// other; a Secret's credentials go where they belong, with a warning over plain HTTP.
#[tokio::test(flavor = "multi_thread")]
async fn case_53_usher_s_token_goes_to_named_alertmanagers_over_tls_only() {
    let (cluster, _turn) = stage().await;
    let (main, other) = (certificate("main"), certificate("other"));
    let tls = |made: &Made| Setup {
        tls: Some((made.pair.certificate.clone(), made.pair.key.expose().to_owned())),
        ..Setup::default()
    };
    let (trusted, stranger, plain) =
        tokio::join!(Fake::start(tls(&main)), Fake::start(tls(&other)), Fake::start(Setup::default()));
    trusted.expect_token("usher-s-own");
    grant(cluster);
    install::apply(
        cluster,
        &[
            secret("main-tls", &json!({"tls.crt": main.pair.certificate, "ca.crt": main.authority})),
            secret("other-tls", &json!({"tls.crt": other.pair.certificate, "ca.crt": other.authority})),
            secret("plain-auth", &json!({"token": "a-secret-s"})),
        ],
    );
    place_fake(cluster, "main", &trusted, web("main-tls"));
    place_fake(cluster, "other", &stranger, web("other-tls"));
    place_fake(cluster, "plain", &plain, json!({}));
    let file = cluster.directory.join("token");
    std::fs::write(&file, "usher-s-own\n").unwrap();
    let mut named = settings();
    named.alertmanager.token_file = file;
    named.alertmanager.token_for = vec!["monitoring/main".to_owned(), "monitoring/plain".to_owned()];
    let running = usher(cluster, named).await;
    apply(cluster, &silence("frontend", "api", json!([{"name": "service", "value": "api"}])));
    let object = told(cluster, "frontend", "api", "False/TLSError").await;
    let reason = |name: &str| binding(&object, name)["conditions"][0]["reason"].clone();
    assert_eq!((reason("main"), reason("other")), (json!("SilenceApplied"), json!("SilenceApplied")));
    assert_eq!(reason("plain"), "TLSError");
    assert_eq!(trusted.live().len(), 1);
    let name = "alertmanager-main-0.alertmanager-operated.monitoring.svc";
    assert!(trusted.seen().iter().all(|seen| seen.server_name.as_deref() == Some(name)));
    assert!(stranger.count(crate::support::alertmanager_fake::Call::Any) > 0);
    assert!(stranger.seen().iter().all(|seen| !seen.is_authorized), "a stranger saw a token");
    assert_eq!(plain.count(crate::support::alertmanager_fake::Call::Any), 0, "asked in the clear");

    // A Secret's credentials.
    annotate(cluster, "alertmanager", "monitoring", "plain", "usher.dev/alertmanager-auth-secret=plain-auth");
    plain.expect_token("a-secret-s");
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    until(20, "the warning", || async {
        events(cluster, "plain").contains(&"CredentialsInTheClear".to_owned())
    })
    .await;
    annotate(cluster, "alertmanager", "monitoring", "plain", "usher.dev/alertmanager-auth-secret=missing");
    let object = told(cluster, "frontend", "api", "False/CredentialsUnavailable").await;
    assert_eq!(binding(&object, "main")["conditions"][0]["status"], "True", "that binding only");
    let whole = format!("{object}{:?}", events(cluster, "api"));
    assert!(!whole.contains("usher-s-own") && !whole.contains("a-secret-s"));
    annotate(cluster, "alertmanager", "monitoring", "plain", "usher.dev/alertmanager-auth-secret=plain-auth");
    told(cluster, "frontend", "api", "True/SilenceApplied").await;
    delete(cluster, "frontend", "api");
    revoke(cluster);
    clean(cluster);
    running.stop().await;
}
