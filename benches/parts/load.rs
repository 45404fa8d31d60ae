//! Many connections, each sending one review after the other.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hyper::body::Bytes;

use crate::support::client::{Connection, Trust};

pub struct Measured {
    pub requests: usize,
    pub per_second: f64,
    pub p50: f64,
    pub p99: f64,
}

pub async fn run(
    trust: &Trust,
    address: SocketAddr,
    path: &str,
    body: &[u8],
    connections: usize,
    time: Duration,
) -> Measured {
    let mut workers = Vec::new();
    let started = Instant::now();
    for _ in 0..connections {
        let (trust, path, body) = (trust.clone(), path.to_owned(), Bytes::copy_from_slice(body));
        workers.push(tokio::spawn(async move {
            let mut connection = Connection::open(&trust, address).await.unwrap();
            let mut latencies = Vec::new();
            while started.elapsed() < time {
                let sent = Instant::now();
                let (status, _) = connection.post(address, &path, body.clone()).await.unwrap();
                assert_eq!(status, 200);
                latencies.push(sent.elapsed());
            }
            latencies
        }));
    }
    let mut latencies = Vec::new();
    for worker in workers {
        latencies.extend(worker.await.unwrap());
    }
    let elapsed = started.elapsed().as_secs_f64();
    latencies.sort_unstable();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    Measured {
        requests: latencies.len(),
        per_second: latencies.len() as f64 / elapsed,
        p50: at(0.5),
        p99: at(0.99),
    }
}
