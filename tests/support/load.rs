//! Load on the API server that goes through usher's webhooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::cluster::Cluster;

/// Reviews through the API server for as long as this lives: a failed one is remembered.
pub struct Load {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    failed: Arc<std::sync::Mutex<Vec<String>>>,
    workers: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    pub async fn start(cluster: &Cluster, workers: usize) -> Self {
        let load =
            Self { stop: Arc::default(), done: Arc::default(), failed: Arc::default(), workers: Vec::new() };
        let client = cluster.client().await;
        let work = |worker: usize| {
            let (client, stop) = (client.clone(), Arc::clone(&load.stop));
            let (done, failed) = (Arc::clone(&load.done), Arc::clone(&load.failed));
            async move {
                let silence = json!({
                    "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
                    "metadata": {"name": format!("load-{worker}"), "namespace": "shop"},
                    "spec": {"comment": "load", "duration": "2h", "matchers": [{"name": "a", "value": "b"}]}
                });
                while !stop.load(Ordering::Relaxed) {
                    let request = http::Request::post(
                        "/apis/monitoring.coreos.com/v1alpha1/namespaces/shop/silences?dryRun=All",
                    )
                    .header("content-type", "application/json")
                    .body(silence.to_string().into_bytes())
                    .unwrap();
                    let answer = client.request::<Value>(request).await;
                    done.fetch_add(1, Ordering::Relaxed);
                    match answer {
                        // The mutating webhook may be ignored when it fails, so its work is looked at.
                        Ok(stored)
                            if stored["metadata"]["annotations"]["usher.dev/created-by"] == "admin" => {}
                        Ok(stored) => failed.lock().unwrap().push(format!("not mutated: {stored}")),
                        Err(error) => failed.lock().unwrap().push(error.to_string()),
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        let handles = (0..workers).map(|worker| tokio::spawn(work(worker))).collect();
        Self { workers: handles, ..load }
    }

    /// Ends it; how many reviews there were. Fails when one of them failed.
    pub async fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        join_all(self.workers).await;
        let failed = self.failed.lock().unwrap();
        let done = self.done.load(Ordering::Relaxed);
        assert!(failed.is_empty(), "{} of {done} reviews failed, the first: {}", failed.len(), failed[0]);
        done
    }
}
