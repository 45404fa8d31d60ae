//! Puts into a cluster what usher needs: CRDs, guests' CRDs, webhook configurations.

use usher::kinds::TABLE;
use usher::manifests::crd::crd;
use usher::manifests::webhook::{Target, configurations};
use usher::yaml;

use super::cluster::Cluster;

/// The owned CRDs and minimal ones of the guests that usher reads.
pub fn crds(cluster: &Cluster) {
    let owned: String = TABLE.iter().map(|kind| format!("---\n{}", yaml::write(&crd(kind)))).collect();
    let (ok, _, errors) = cluster.kubectl(&["apply", "--server-side", "-f", "-"], Some(&owned));
    assert!(ok, "{errors}");
    assert!(!errors.contains("Warning"), "the API server warns about a CRD: {errors}");
    let guests = super::root().join("tests/support/guests.yaml");
    let (ok, _, errors) =
        cluster.kubectl(&["apply", "--server-side", "-f", &guests.display().to_string()], None);
    assert!(ok, "{errors}");
    let (ok, _, errors) =
        cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"], None);
    assert!(ok, "{errors}");
    namespace(cluster, "shop");
    namespace(cluster, "usher-system");
}

/// A namespace, if it is not there yet.
pub fn namespace(cluster: &Cluster, name: &str) {
    let manifest = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    let (ok, _, errors) = cluster.kubectl(&["apply", "-f", "-"], Some(&manifest));
    assert!(ok, "{errors}");
}

/// Objects with this label are not shown to usher's webhooks.
pub const CONTEXT_LABEL: &str = "usher.test/context";

/// Webhook configurations that lead to a server on loopback.
pub fn webhooks(cluster: &Cluster, address: std::net::SocketAddr, authority: &str) {
    use base64::Engine as _;
    let bundle = base64::engine::general_purpose::STANDARD.encode(authority);
    let target = Target::Url { base: format!("https://{address}") };
    let mut documents = configurations(&target, Some(&bundle));
    for entry in documents.iter_mut().flat_map(|document| document["webhooks"].as_array_mut().unwrap()) {
        // Objects that only set the stage pass by.
        entry["objectSelector"] =
            serde_json::json!({"matchExpressions": [{"key": CONTEXT_LABEL, "operator": "DoesNotExist"}]});
    }
    let manifests: String =
        documents.iter().map(|configuration| format!("---\n{}", yaml::write(configuration))).collect();
    let (ok, _, errors) =
        cluster.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", "-"], Some(&manifests));
    assert!(ok, "{errors}");
}

/// Takes the webhook configurations away.
pub fn no_webhooks(cluster: &Cluster) {
    for kind in ["validatingwebhookconfiguration", "mutatingwebhookconfiguration"] {
        let (ok, _, errors) = cluster.kubectl(&["delete", kind, "usher", "--ignore-not-found"], None);
        assert!(ok, "{errors}");
    }
}
