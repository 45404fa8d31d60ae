//! Install, rights, replacing replicas under load, and taking usher away again.

use std::process::Command;
use std::time::{Duration, Instant};

use usher::manifests::Install;

use crate::claims::in_force;
use crate::cluster;
use crate::support::cluster::Cluster;
use crate::support::install;
use crate::support::load::Load;
use crate::support::proxy::Spread;
use crate::support::replica::{Process, eventually, eventually_for};

fn usher() -> &'static std::path::Path {
    env!("CARGO_BIN_EXE_usher").as_ref()
}

fn manifests(arguments: &[&str]) -> String {
    let output = Command::new(usher()).arg("manifests").args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn start(cluster: &Cluster, kubeconfig: &std::path::Path) -> Process {
    start_as(usher(), cluster, kubeconfig)
}

fn start_as(program: &std::path::Path, cluster: &Cluster, kubeconfig: &std::path::Path) -> Process {
    let more = ["--cert-mode=self", "--leader-lease-duration=3s", "--shutdown-delay=3s"];
    Process::start(cluster, program, kubeconfig, &more)
}

/// A cluster of its own, empty: one call installs, a second one changes nothing, and taking usher away leaves nothing that
/// blocks.
#[tokio::test(flavor = "multi_thread")]
async fn one_call_installs_and_taking_it_away_leaves_nothing() {
    // Two clusters are too much for two cores while another test makes load on the first one.
    let (_, _turn) = cluster().await;
    let cluster = Cluster::start().await;
    let manager = cluster.run_controller_manager();
    let all = manifests(&["all"]);
    for round in ["applied", "applied again"] {
        let (ok, _, errors) = cluster.kubectl(&["apply", "--server-side", "-f", "-"], Some(&all));
        assert!(ok && !errors.contains("Warning"), "{round}: {errors}");
    }
    // As its pod would: usher's account, usher's own certificates.
    let kubeconfig = install::account(&cluster);
    let process = start(&cluster, &kubeconfig);
    eventually_for(Duration::from_secs(30), "ready", || process.is_ready() && process.is_leader()).await;
    let spread = Spread::start(vec![process.admission]).await;
    // No kube-proxy here: the Service leads to loopback instead.
    assert!(cluster.kubectl(&["delete", "service", "-n", "usher-system", "usher"], None).0);
    install::namespace(&cluster, "shop");
    install::webhooks_through(&cluster, spread.address.port());
    in_force(&cluster).await;
    let account = "apiVersion: uptimerobot.com/v1alpha1\nkind: Account\nmetadata: {name: main}\nspec: {isDefault: true, apiKeySecretRef: {name: key, key: apiKey}}\n";
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(account));
    assert!(ok, "{errors}");
    let monitor = "apiVersion: uptimerobot.com/v1alpha1\nkind: Monitor\nmetadata: {name: site, namespace: shop}\nspec: {monitor: {name: Shop, url: 'https://shop.example.com/'}}\n";
    assert!(cluster.kubectl(&["apply", "-f", "-"], Some(monitor)).0);
    let (_, text, _) = cluster.kubectl(&["get", "account", "main", "-o", "yaml"], None);
    assert!(text.contains("account-in-use"), "{text}");

    // Away, in the documented order: webhooks, server, finalizers, the rest.
    let webhooks = manifests(&["webhooks"]);
    let (ok, _, errors) = cluster.kubectl(&["delete", "-f", "-"], Some(&webhooks));
    assert!(ok, "{errors}");
    assert!(process.terminate().success());
    let released =
        Command::new(usher()).args(["release", "--kubeconfig"]).arg(&cluster.kubeconfig).output().unwrap();
    let said = String::from_utf8_lossy(&released.stdout).into_owned();
    assert!(released.status.success() && said.contains("Account main released"), "{said}");
    let started = Instant::now();
    let (ok, _, errors) =
        cluster.kubectl(&["delete", "--ignore-not-found", "--wait=false", "-f", "-"], Some(&all));
    assert!(ok, "{errors}");
    // The API server takes its time for CRDs: it looks for what is left of a kind every five seconds.
    let kinds = "crd,namespace,clusterrole,clusterrolebinding,validatingwebhookconfiguration,mutatingwebhookconfiguration";
    let selected = ["get", kinds, "-l", "app.kubernetes.io/name=usher"];
    let mut nudged = Vec::new();
    loop {
        let (ok, left, errors) = cluster.kubectl(&[&selected[..], &["-o", "name"]].concat(), None);
        assert!(ok, "{errors}");
        if left.is_empty() {
            break;
        }
        if started.elapsed() > Duration::from_secs(90) {
            let (_, whole, _) = cluster.kubectl(&[&selected[..], &["-o", "yaml"]].concat(), None);
            panic!("left behind (nudged: {nudged:?}): {left}{whole}");
        }
        if started.elapsed() > Duration::from_secs(20) {
            nudge(&cluster, left.lines(), &mut nudged);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    if !nudged.is_empty() {
        println!("lifecycle: the API server had forgotten {}; a change reminded it", nudged.join(", "));
    }
    println!("lifecycle: everything taken away after {:.0} s", started.elapsed().as_secs_f64());
    drop(manager);
}

/// As operations.md says. kube-apiserver's controller that ends CRDs tries a failed one again at once, sees its own last
/// write as a conflict, and believes that the conflicting write will wake it; but writes of its own kind never do. Until
/// it looks through all CRDs (every five minutes) only another change does.
fn nudge<'a>(cluster: &Cluster, left: impl Iterator<Item = &'a str>, nudged: &mut Vec<String>) {
    for name in left.filter(|name| name.starts_with("customresourcedefinition")) {
        let reason = r#"jsonpath={.status.conditions[?(@.type=="Terminating")].reason}"#;
        let (_, reason, _) = cluster.kubectl(&["get", name, "-o", reason], None);
        if reason == "InstanceDeletionFailed" && !nudged.iter().any(|done| done == name) {
            cluster.kubectl(&["annotate", name, "usher.dev/look-again=1"], None);
            nudged.push(name.to_owned());
        }
    }
}

/// The certificates' part only with cert-manager, and then what it needs; nothing that only a custom resource would be.
#[test]
fn custom_resources_are_printed_for_cert_manager_only() {
    let own = manifests(&["all"]);
    assert!(!own.contains("cert-manager"), "cert-manager objects without that mode");
    for kind in usher::kinds::TABLE {
        assert!(
            !own.lines().any(|line| line == format!("kind: {}", kind.kind)),
            "a {} is installed",
            kind.kind
        );
    }
    let theirs = manifests(&["all", "--cert-mode", "cert-manager"]);
    for word in [
        "kind: Issuer",
        "kind: Certificate",
        "cert-manager.io/inject-ca-from: usher-system/usher",
        "secretName: usher-tls",
    ] {
        assert!(theirs.contains(word), "{word}");
    }
    assert!(!theirs.contains("usher-certificate"), "rights that this mode does not need");
}

/// The suite runs usher with the printed roles; what they do not grant is not granted.
#[tokio::test(flavor = "multi_thread")]
async fn no_more_is_granted_than_is_printed() {
    let (cluster, _turn) = cluster().await;
    install::apply(cluster, &usher::manifests::rbac::documents(&Install::default()));
    let can = |arguments: &[&str]| {
        let mut all = vec!["auth", "can-i", "--as=system:serviceaccount:usher-system:usher"];
        all.extend(arguments);
        cluster.kubectl(&all, None).1.trim() == "yes"
    };
    for granted in [
        &["watch", "silences.monitoring.coreos.com", "-A"][..],
        &["patch", "silences.monitoring.coreos.com", "-A"],
        &["patch", "silences.monitoring.coreos.com", "--subresource=status", "-A"],
        &["update", "leases.coordination.k8s.io", "-n", "usher-system"],
        &["update", "secrets/usher-certificate", "-n", "usher-system"],
        &["patch", "validatingwebhookconfigurations/usher"],
        &["patch", "accounts.uptimerobot.com"],
        &["patch", "silences.monitoring.coreos.com", "-A"],
        &["watch", "pods", "-A"],
        &["create", "subjectaccessreviews.authorization.k8s.io"],
    ] {
        assert!(can(granted), "{granted:?} is needed");
    }
    for refused in [
        &["delete", "silences.monitoring.coreos.com", "-A"][..],
        &["update", "silences.monitoring.coreos.com", "-A"],
        &["create", "silences.monitoring.coreos.com", "-A"],
        &["update", "silences.monitoring.coreos.com", "--subresource=status", "-A"],
        &["delete", "accounts.uptimerobot.com"],
        &["list", "secrets", "-A"],
        &["get", "secrets", "-n", "shop"],
        &["get", "secrets/somebody-elses", "-n", "usher-system"],
        &["update", "secrets/somebody-elses", "-n", "usher-system"],
        &["delete", "secrets/usher-certificate", "-n", "usher-system"],
        &["delete", "leases.coordination.k8s.io", "-n", "usher-system"],
        &["get", "leases.coordination.k8s.io", "-n", "kube-system"],
        &["patch", "validatingwebhookconfigurations/somebody-elses"],
        &["create", "validatingwebhookconfigurations"],
        &["patch", "customresourcedefinitions"],
        &["create", "pods", "-n", "usher-system"],
        &["impersonate", "users"],
        &["escalate", "clusterroles"],
    ] {
        assert!(!can(refused), "{refused:?} is granted");
    }
    // Users: an editor of Silences may not mute everything, nor write a status.
    let (_, role, _) = cluster.kubectl(&["get", "clusterrole", "usher-silence-edit", "-o", "json"], None);
    assert!(
        role.contains("\"create\"") && !role.contains("silence-all") && !role.contains("status"),
        "{role}"
    );
    assert!(!role.contains("aggregate-to"), "{role}");
}

/// SIGTERM under load: unready at once, reviews taken while the Service forgets it, none failed. Then every replica is
/// replaced in turn, old and new side by side, as an upgrade does it. `OLD_USHER` names the program to upgrade from
/// (`make upgrade`); it makes certificate, claims and leader's Lease, and the new one must go on with them.
#[tokio::test(flavor = "multi_thread")]
async fn replicas_are_replaced_under_load_without_a_failed_review() {
    let (cluster, _turn) = cluster().await;
    let kubeconfig = install::account(cluster);
    let old = std::env::var_os("OLD_USHER").map_or_else(|| usher().to_owned(), Into::into);
    let origin = if old == usher() { "the same build" } else { "an older build" };
    println!("lifecycle: upgrading from {origin}");
    let mut replicas = vec![start_as(&old, cluster, &kubeconfig), start_as(&old, cluster, &kubeconfig)];
    for replica in &replicas {
        eventually_for(Duration::from_secs(30), "ready", || replica.is_ready()).await;
    }
    let addresses =
        |replicas: &[Process]| replicas.iter().map(|replica| replica.admission).collect::<Vec<_>>();
    let spread = Spread::start(addresses(&replicas)).await;
    install::webhooks_through(cluster, spread.address.port());
    in_force(cluster).await;
    let load = Load::start(cluster, 4).await;
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        // maxSurge 1, maxUnavailable 0: the new one first.
        let new = start(cluster, &kubeconfig);
        eventually_for(Duration::from_secs(30), "ready", || new.is_ready()).await;
        let old = replicas.remove(0);
        replicas.push(new);
        spread.set(addresses(&replicas).into_iter().chain([old.admission]).collect());
        // Before, not after: the replica counts from the signal too.
        let told = Instant::now();
        old.signal_term();
        eventually("unready", || {
            old.get("/readyz").is_some_and(|(status, text)| status == 503 && text.contains("stopping"))
        })
        .await;
        assert!(told.elapsed() < Duration::from_secs(1), "unready only after {:?}", told.elapsed());
        // The Service forgets it a moment later; until then it still gets new connections.
        tokio::time::sleep(Duration::from_millis(500)).await;
        spread.set(addresses(&replicas));
        assert!(old.terminate().success());
        assert!(told.elapsed() >= Duration::from_secs(3), "it did not wait for the Service");
    }
    let reviews = load.end().await;
    println!("lifecycle: three replicas replaced under {reviews} reviews, none failed");
    assert!(reviews > 300, "hardly any load");
    install::no_webhooks_through(cluster);
    for replica in replicas {
        assert!(replica.terminate().success());
    }
}
