//! Load on the API server that goes through usher's webhooks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::join_all;
use kube::Client;
use serde_json::{Value, json};

use super::cluster::Cluster;

/// Requests through the API server for as long as this lives: a failed one is remembered. One worker applies a Silence and
/// stores it, one turns a default Account on and off (each time a claim), the others only ask (dry run).
pub struct Load {
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    failed: Arc<std::sync::Mutex<Vec<String>>>,
    workers: Vec<tokio::task::JoinHandle<()>>,
    client: Client,
}

const SILENCES: &str = "/apis/monitoring.coreos.com/v1alpha1/namespaces/shop/silences";
const ACCOUNTS: &str = "/apis/uptimerobot.com/v1alpha1/accounts";

impl Load {
    pub async fn start(cluster: &Cluster, workers: usize) -> Self {
        let mut load = Self {
            stop: Arc::default(),
            done: Arc::default(),
            failed: Arc::default(),
            workers: Vec::new(),
            client: cluster.client().await,
        };
        let account = json!({
            "apiVersion": "uptimerobot.com/v1alpha1", "kind": "Account", "metadata": {"name": "load"},
            "spec": {"isDefault": false, "apiKeySecretRef": {"name": "key", "key": "apiKey"}}
        });
        send(&load.client, "POST", ACCOUNTS.to_owned(), "application/json", &account).await.unwrap();
        let defaults = load.has_default().await;
        for worker in 0..workers {
            // Where a default is stored already, another one would be refused.
            let worker = if worker == 1 && defaults { 2 } else { worker };
            load.workers.push(tokio::spawn(work(
                worker,
                load.client.clone(),
                Arc::clone(&load.stop),
                Arc::clone(&load.done),
                Arc::clone(&load.failed),
            )));
        }
        load
    }

    async fn has_default(&self) -> bool {
        let list = send(&self.client, "GET", ACCOUNTS.to_owned(), "application/json", &Value::Null).await;
        let items = list.unwrap()["items"].as_array().cloned().unwrap_or_default();
        items.iter().any(|item| item["spec"]["isDefault"] == true)
    }

    /// Ends it; how many requests there were. Fails when one of them failed.
    pub async fn end(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        join_all(self.workers).await;
        for path in [format!("{SILENCES}/load"), format!("{ACCOUNTS}/load")] {
            let _ = send(&self.client, "DELETE", path, "application/json", &Value::Null).await;
        }
        let failed = self.failed.lock().unwrap();
        let done = self.done.load(Ordering::Relaxed);
        assert!(failed.is_empty(), "{} of {done} requests failed, the first: {}", failed.len(), failed[0]);
        done
    }
}

async fn work(
    worker: usize,
    client: Client,
    stop: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    failed: Arc<std::sync::Mutex<Vec<String>>>,
) {
    let mut turn = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        turn += 1;
        let silence = json!({
            "apiVersion": "monitoring.coreos.com/v1alpha1", "kind": "Silence",
            "metadata": {"name": "load", "namespace": "shop"},
            "spec": {"comment": format!("turn {turn}"), "duration": "2h", "matchers": [{"name": "a", "value": "b"}]}
        });
        let answer = match worker {
            0 => {
                let path = format!("{SILENCES}/load?fieldManager=load&force=true");
                send(&client, "PATCH", path, "application/apply-patch+yaml", &silence).await
            }
            1 => {
                let patch = json!({"spec": {"isDefault": turn % 2 == 1}});
                send(&client, "PATCH", format!("{ACCOUNTS}/load"), "application/merge-patch+json", &patch)
                    .await
            }
            _ => {
                let mut asked = silence;
                asked["metadata"]["name"] = json!("asked");
                send(&client, "POST", format!("{SILENCES}?dryRun=All"), "application/json", &asked).await
            }
        };
        done.fetch_add(1, Ordering::Relaxed);
        match answer {
            // The mutating webhook may be ignored when it fails, so its work is looked at.
            Ok(stored)
                if stored["kind"] == "Silence"
                    && stored["metadata"]["annotations"]["usher.dev/created-by"].is_null() =>
            {
                failed.lock().unwrap().push(format!("not mutated: {stored}"));
            }
            Ok(_) => {}
            Err(error) => failed.lock().unwrap().push(error.to_string()),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn send(
    client: &Client,
    method: &str,
    path: String,
    kind: &str,
    body: &Value,
) -> Result<Value, kube::Error> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let request =
        http::Request::builder().method(method).uri(path).header("content-type", kind).body(body).unwrap();
    client.request(request).await
}
