//! What prometheus-operator and a kubelet would put into the cluster: Alertmanager objects and their pods, which lead to
//! any address on loopback.

use std::net::SocketAddr;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::install;

/// An Alertmanager; the fields of `spec` are added to its spec.
pub fn alertmanager(namespace: &str, name: &str, replicas: usize, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "Alertmanager",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas},
    });
    if let (Value::Object(fields), Some(own)) = (spec, object["spec"].as_object_mut()) {
        own.extend(fields);
    }
    object
}

/// The pod of one replica as the operator labels it, with its container port `web`.
pub fn pod(namespace: &str, name: &str, ordinal: usize, address: SocketAddr) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(name, ordinal),
            "namespace": namespace,
            "labels": {
                "app.kubernetes.io/name": "alertmanager",
                "app.kubernetes.io/managed-by": "prometheus-operator",
                "app.kubernetes.io/instance": name,
                "alertmanager": name,
            },
        },
        "spec": {
            "hostname": pod_name(name, ordinal),
            "subdomain": "alertmanager-operated",
            "containers": [{
                "name": "alertmanager",
                "image": "quay.io/prometheus/alertmanager",
                "ports": [{"name": "web", "containerPort": address.port()}],
            }],
        },
    })
}

/// What a kubelet says about a pod that it started then.
pub fn pod_status(address: SocketAddr, is_ready: bool, started: Timestamp) -> Value {
    let started = seconds(started);
    json!({"status": {
        "phase": "Running",
        "podIP": address.ip(),
        "podIPs": [{"ip": address.ip()}],
        "startTime": started,
        "conditions": conditions(is_ready),
        "containerStatuses": [{
            "name": "alertmanager", "image": "quay.io/prometheus/alertmanager", "imageID": "",
            "ready": is_ready, "restartCount": 0, "state": {"running": {"startedAt": started}},
        }],
    }})
}

fn conditions(is_ready: bool) -> Value {
    let status = if is_ready { "True" } else { "False" };
    json!([{"type": "Ready", "status": status, "lastTransitionTime": seconds(Timestamp::now())}])
}

/// Kubernetes writes these times in whole seconds.
fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The name of one replica's pod.
pub fn pod_name(name: &str, ordinal: usize) -> String {
    format!("alertmanager-{name}-{ordinal}")
}

/// Applies an Alertmanager with one ready pod for each address; the namespace is there.
pub fn place(cluster: &Cluster, object: &Value, addresses: &[SocketAddr]) {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let (namespace, name) = (text(&object["metadata"]["namespace"]), text(&object["metadata"]["name"]));
    let pods =
        addresses.iter().enumerate().map(|(ordinal, &address)| pod(&namespace, &name, ordinal, address));
    let documents: Vec<Value> = std::iter::once(object.clone()).chain(pods).collect();
    install::apply(cluster, &documents);
    for (ordinal, &address) in addresses.iter().enumerate() {
        let status = pod_status(address, true, Timestamp::now());
        patch_status(cluster, &namespace, &pod_name(&name, ordinal), &status);
    }
}

/// Says that a pod is ready, or not any more; its age stays.
pub fn set_ready(cluster: &Cluster, namespace: &str, pod: &str, is_ready: bool) {
    patch_status(cluster, namespace, pod, &json!({"status": {"conditions": conditions(is_ready)}}));
}

/// Changes what a kubelet says.
pub fn patch_status(cluster: &Cluster, namespace: &str, pod: &str, patch: &Value) {
    let patch = patch.to_string();
    let arguments =
        ["patch", "pod", pod, "-n", namespace, "--subresource=status", "--type=merge", "-p", patch.as_str()];
    let (ok, _, errors) = cluster.kubectl(&arguments, None);
    assert!(ok, "{errors}");
}
