//! The webhook behind the real API server: what a user sees.

use std::sync::Arc;

use usher::serve::run::{Config, Mode, Running, start};
use usher::settings::Settings;

use crate::cluster;
use crate::support::cluster::Cluster;
use crate::support::install;

/// usher against the cluster, its certificate made on the fly, its webhooks installed.
pub struct Usher {
    pub running: Running,
}

pub async fn usher(cluster: &Cluster) -> Usher {
    usher_with(cluster, Arc::new(Settings::default())).await
}

pub async fn usher_with(cluster: &Cluster, settings: Arc<Settings>) -> Usher {
    let made = usher::serve::certificate::make(&["127.0.0.1".to_owned()]).unwrap();
    let directory = cluster.directory.join(format!("usher-{}", crate::support::cluster::free_port()));
    std::fs::create_dir_all(&directory).unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let files = usher::serve::tls::Files {
        certificate: file("tls.crt", &made.certificate),
        key: file("tls.key", &made.key),
        client_ca: None,
    };
    let config = Config {
        mode: Mode::Cluster { kubeconfig: Some(cluster.kubeconfig.clone()), context: None },
        listen: "127.0.0.1:0".parse().unwrap(),
        diagnostics_listen: "127.0.0.1:0".parse().unwrap(),
        files: Some(files),
        poll: std::time::Duration::from_secs(10),
        max_in_flight: 512,
        settings,
    };
    let running = start(&config).await.unwrap();
    let started = std::time::Instant::now();
    while !running.state.unready().is_empty() {
        assert!(started.elapsed().as_secs() < 30, "not ready: {:?}", running.state.unready());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    install::webhooks(cluster, running.admission, &made.authority);
    Usher { running }
}

impl Usher {
    pub async fn stop(self, cluster: &Cluster) {
        install::no_webhooks(cluster);
        self.running.stop().await;
    }
}

const PAST: &str = r#"
apiVersion: monitoring.coreos.com/v1alpha1
kind: Silence
metadata: {name: past, namespace: shop}
spec:
  comment: " "
  expiresAt: "2020-01-01T00:00:00Z"
  matchers: [{name: alertname, value: Down}]
"#;

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_shows_every_cause_with_code_and_hint() {
    let (cluster, _turn) = cluster().await;
    let usher = usher(cluster).await;
    // The webhook configuration needs a moment to take effect.
    let mut shown = String::new();
    for _ in 0..100 {
        let (ok, _, errors) = cluster.kubectl(&["apply", "--dry-run=server", "-f", "-"], Some(PAST));
        shown = errors;
        if !ok {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(shown.contains("spec.expiresAt") && shown.contains("USHS004"), "{shown}");
    assert!(shown.contains("spec.comment") && shown.contains("USHS001"), "{shown}");
    assert!(shown.contains("move spec.expiresAt into the future"), "{shown}");
    usher.stop(cluster).await;
}
