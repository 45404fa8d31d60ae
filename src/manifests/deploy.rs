//! The server itself: Service, Deployment, disruption budget, network policy.

use serde_json::{Value, json};

use super::{Certificates, Install, certs, labels};
use crate::names;

/// SIGTERM, 5 s of further reviews, 15 s of draining, and some air.
const GRACE_SECONDS: u32 = 30;
const ADMISSION: u16 = 8443;
const DIAGNOSTICS: u16 = 8081;

/// Everything that runs.
pub fn documents(install: &Install) -> Vec<Value> {
    vec![service(install), deployment(install), disruption_budget(install), network_policy(install)]
}

fn metadata(install: &Install) -> Value {
    json!({"name": names::USHER, "namespace": install.namespace, "labels": labels()})
}

fn service(install: &Install) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(install),
        "spec": {
            "selector": labels(),
            "ports": [{"name": "admission", "port": 443, "protocol": "TCP", "targetPort": "admission"}]
        }
    })
}

fn deployment(install: &Install) -> Value {
    let mut arguments = vec!["serve".to_owned()];
    let (mut mounts, mut volumes) = (json!([]), json!([]));
    match install.certificates {
        Certificates::Own => arguments.push("--cert-mode=self".to_owned()),
        Certificates::CertManager => {
            arguments.push("--cert-mode=cert-manager".to_owned());
            mounts = json!([{"name": "tls", "mountPath": "/etc/usher/tls", "readOnly": true}]);
            volumes = json!([{"name": "tls", "secret": {"secretName": certs::SECRET}}]);
        }
    }
    if install.cluster_resource_namespace != install.namespace {
        arguments.push(format!("--cluster-resource-namespace={}", install.cluster_resource_namespace));
    }
    let spread = |key: &str| {
        json!({
            "maxSkew": 1,
            "topologyKey": key,
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": labels()}
        })
    };
    let probe = |path: &str, period: u32, failures: u32| {
        json!({
            "httpGet": {"path": path, "port": "diagnostics"},
            "periodSeconds": period,
            "failureThreshold": failures
        })
    };
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata(install),
        "spec": {
            "replicas": install.replicas,
            "selector": {"matchLabels": labels()},
            // There is never less than what was asked for.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
            "template": {
                "metadata": {"labels": labels()},
                "spec": {
                    "serviceAccountName": names::USHER,
                    // A Service called usher would inject USHER_* variables, which are usher's settings.
                    "enableServiceLinks": false,
                    "terminationGracePeriodSeconds": GRACE_SECONDS,
                    "securityContext": {
                        "runAsNonRoot": true,
                        "runAsUser": 65532,
                        "runAsGroup": 65532,
                        "fsGroup": 65532,
                        "seccompProfile": {"type": "RuntimeDefault"}
                    },
                    "topologySpreadConstraints": [
                        spread("kubernetes.io/hostname"),
                        spread("topology.kubernetes.io/zone")
                    ],
                    "containers": [{
                        "name": names::USHER,
                        "image": install.image,
                        "args": arguments,
                        "ports": [
                            {"name": "admission", "containerPort": ADMISSION, "protocol": "TCP"},
                            {"name": "diagnostics", "containerPort": DIAGNOSTICS, "protocol": "TCP"}
                        ],
                        "readinessProbe": probe("/readyz", 2, 1),
                        "livenessProbe": probe("/livez", 10, 3),
                        "resources": {
                            "requests": {"cpu": "20m", "memory": "48Mi"},
                            "limits": {"memory": "512Mi"}
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "readOnlyRootFilesystem": true,
                            "capabilities": {"drop": ["ALL"]}
                        },
                        "volumeMounts": mounts
                    }],
                    "volumes": volumes
                }
            }
        }
    })
}

fn disruption_budget(install: &Install) -> Value {
    json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata(install),
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels()}}
    })
}

/// The API server calls from outside the pod network, so its address cannot be named; diagnostics stay inside.
fn network_policy(install: &Install) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata(install),
        "spec": {
            "podSelector": {"matchLabels": labels()},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"ports": [{"port": "admission", "protocol": "TCP"}]},
                {"from": [{"namespaceSelector": {}}], "ports": [{"port": "diagnostics", "protocol": "TCP"}]}
            ]
        }
    })
}
