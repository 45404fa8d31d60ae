//! Puts into a cluster what usher needs: CRDs, guests' CRDs, usher's rights, webhook configurations.

use std::net::SocketAddr;
use std::path::PathBuf;

use base64::Engine as _;
use serde_json::{Value, json};
use usher::kinds::{KindInfo, TABLE, owned};
use usher::manifests::crd::crd;
use usher::manifests::webhook::{Target, configurations};
use usher::manifests::{Certificates, Install, rbac};
use usher::yaml;

use super::cluster::Cluster;

/// Guests' kinds with any field kept.
const GUESTS: &str = include_str!("guests.yaml");

/// Applies documents; fails with what kubectl says.
pub fn apply(cluster: &Cluster, documents: &[Value]) {
    let text: String = documents.iter().map(|document| format!("---\n{}", yaml::write(document))).collect();
    let (ok, _, errors) =
        cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], Some(&text));
    assert!(ok, "{errors}");
    // What usher itself tells about guests is its own business.
    let mut warnings =
        errors.lines().filter(|line| line.starts_with("Warning") && !line.starts_with("Warning: usher:"));
    assert!(warnings.next().is_none(), "the API server warns: {errors}");
}

/// The CRDs of guests that usher judges: as their owner publishes them, or, where nobody can be asked, the part that usher
/// reads with every other field kept. Those in `guests.yaml` are left to it.
pub fn judged_guests(cluster: &Cluster) {
    let is_double = |kind: &KindInfo| GUESTS.contains(&format!("name: {}.{}\n", kind.plural, kind.group));
    for guest in TABLE.iter().filter(|kind| kind.is_guest && !is_double(kind)) {
        if guest.group == "loki.grafana.com" {
            apply(cluster, &[crd(guest)]);
            continue;
        }
        let name = format!("{}_{}.yaml", guest.group, guest.plural);
        let file = super::cluster::peers("operator-crds").join(name).display().to_string();
        let (ok, _, errors) = cluster.kubectl(&["apply", "--server-side", "-f", &file], None);
        assert!(ok, "{errors}");
    }
}

/// The owned CRDs, minimal ones of the guests that usher reads, and usher's rights.
pub fn everything(cluster: &Cluster) {
    let own: Vec<Value> = owned().map(crd).collect();
    apply(cluster, &own);
    judged_guests(cluster);
    let (ok, _, errors) = cluster.kubectl(&["apply", "--server-side", "-f", "-"], Some(GUESTS));
    assert!(ok, "{errors}");
    let (ok, _, errors) =
        cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"], None);
    assert!(ok, "{errors}");
    for name in ["shop", "usher-system"] {
        namespace(cluster, name);
    }
    apply(cluster, &rbac::documents(&Install::default()));
}

/// A kubeconfig of usher's service account, which has the printed roles and nothing else.
pub fn account(cluster: &Cluster) -> PathBuf {
    account_at(cluster, cluster.address.port())
}

/// The same through another port: a proxy.
pub fn account_at(cluster: &Cluster, port: u16) -> PathBuf {
    let (ok, token, errors) =
        cluster.kubectl(&["create", "token", "usher", "-n", "usher-system", "--duration=24h"], None);
    assert!(ok, "{errors}");
    cluster.kubeconfig_for(&format!("usher-{port}.kubeconfig"), port, token.trim())
}

/// A namespace, if it is not there yet.
pub fn namespace(cluster: &Cluster, name: &str) {
    let manifest = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&manifest));
    assert!(ok, "{errors}");
}

/// Objects with this label are not shown to usher's webhooks.
pub const CONTEXT_LABEL: &str = "usher.test/context";

/// Webhook configurations that lead to a server on loopback; the CA is left to usher when none is given.
pub fn webhooks(cluster: &Cluster, address: SocketAddr, authority: Option<&str>) {
    webhooks_to(cluster, &Target::Url { base: format!("https://{address}") }, authority);
}

/// Webhook configurations that lead anywhere.
pub fn webhooks_to(cluster: &Cluster, target: &Target, authority: Option<&str>) {
    let bundle = authority.map(|authority| base64::engine::general_purpose::STANDARD.encode(authority));
    let mut documents = configurations(target, bundle.as_deref(), Certificates::Own);
    for entry in documents.iter_mut().flat_map(|document| document["webhooks"].as_array_mut().unwrap()) {
        // Objects that only set the stage pass by.
        entry["objectSelector"] =
            json!({"matchExpressions": [{"key": CONTEXT_LABEL, "operator": "DoesNotExist"}]});
    }
    apply(cluster, &documents);
}

/// Takes the webhook configurations away.
pub fn no_webhooks(cluster: &Cluster) {
    for kind in ["validatingwebhookconfiguration", "mutatingwebhookconfiguration"] {
        let (ok, _, errors) = cluster.kubectl(&["delete", kind, "usher", "--ignore-not-found"], None);
        assert!(ok, "{errors}");
    }
}

/// Webhooks that reach usher through a Service: the API server then speaks HTTP/1.1 and opens several connections.
pub fn webhooks_through(cluster: &Cluster, port: u16) {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "usher", "namespace": "usher-system"},
        "spec": {"type": "ExternalName", "externalName": "localhost"}
    });
    let target = Target::Service { namespace: Install::default().namespace };
    let mut documents = configurations(&target, None, Certificates::Own);
    for entry in documents.iter_mut().flat_map(|document| document["webhooks"].as_array_mut().unwrap()) {
        entry["clientConfig"]["service"]["port"] = json!(port);
    }
    documents.push(service);
    apply(cluster, &documents);
}

pub fn no_webhooks_through(cluster: &Cluster) {
    no_webhooks(cluster);
    assert!(cluster.kubectl(&["delete", "service", "-n", "usher-system", "usher"], None).0);
}
