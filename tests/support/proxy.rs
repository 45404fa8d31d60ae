//! TCP proxies on loopback: one that spreads connections over replicas, one that slows or refuses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Spreads connections over its targets, in turn.
pub struct Spread {
    pub address: SocketAddr,
    targets: Arc<std::sync::Mutex<Vec<SocketAddr>>>,
    cuts: tokio::sync::watch::Sender<u64>,
    task: tokio::task::JoinHandle<()>,
}

impl Spread {
    pub async fn start(targets: Vec<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let targets = Arc::new(std::sync::Mutex::new(targets));
        let known = Arc::clone(&targets);
        let next = AtomicUsize::new(0);
        let cuts = tokio::sync::watch::Sender::new(0);
        let subscribe = cuts.clone();
        let task = tokio::spawn(async move {
            loop {
                let Ok((mut client, _)) = listener.accept().await else { continue };
                let turn = next.fetch_add(1, Ordering::Relaxed);
                let target = {
                    let known = known.lock().unwrap();
                    if known.is_empty() { None } else { Some(known[turn % known.len()]) }
                };
                let Some(target) = target else { continue };
                let mut cut = subscribe.subscribe();
                tokio::spawn(async move {
                    let Ok(mut server) = TcpStream::connect(target).await else { return };
                    let _ = (client.set_nodelay(true), server.set_nodelay(true));
                    tokio::select! {
                        _ = tokio::io::copy_bidirectional(&mut client, &mut server) => {}
                        _ = cut.changed() => {}
                    }
                });
            }
        });
        Self { address, targets, cuts, task }
    }

    /// Cuts all connections, for moments when nothing is in flight: a client that keeps its connections spreads nothing.
    pub fn cut(&self) {
        self.cuts.send_modify(|count| *count += 1);
    }

    /// What a Service does when the readiness of pods changes: new connections go elsewhere, open ones stay.
    pub fn set(&self, targets: Vec<SocketAddr>) {
        *self.targets.lock().unwrap() = targets;
    }
}

impl Drop for Spread {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Stands between usher and its API server: delays every piece, or refuses everything.
pub struct Fault {
    pub address: SocketAddr,
    delay_ms: Arc<AtomicU64>,
    task: tokio::task::JoinHandle<()>,
}

/// As a delay: refuse.
const REFUSE: u64 = u64::MAX;

impl Fault {
    pub async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let delay_ms = Arc::new(AtomicU64::new(0));
        let shared = Arc::clone(&delay_ms);
        let task = tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { continue };
                if shared.load(Ordering::Relaxed) == REFUSE {
                    continue;
                }
                let delay = Arc::clone(&shared);
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(target).await else { return };
                    let _ = (client.set_nodelay(true), server.set_nodelay(true));
                    let (from_client, to_client) = client.into_split();
                    let (from_server, to_server) = server.into_split();
                    tokio::select! {
                        () = pass(from_client, to_server, &delay) => {}
                        () = pass(from_server, to_client, &delay) => {}
                    }
                });
            }
        });
        Self { address, delay_ms, task }
    }

    pub fn delay(&self, delay: Duration) {
        self.delay_ms.store(delay.as_millis() as u64, Ordering::Relaxed);
    }

    pub fn refuse(&self) {
        self.delay_ms.store(REFUSE, Ordering::Relaxed);
    }

    pub fn heal(&self) {
        self.delay_ms.store(0, Ordering::Relaxed);
    }
}

impl Drop for Fault {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    delay: &AtomicU64,
) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let wait = async {
            // An open connection is cut as soon as everything is refused.
            while delay.load(Ordering::Relaxed) != REFUSE {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let read = tokio::select! {
            read = from.read(&mut buffer) => read,
            () = wait => return,
        };
        let Ok(count @ 1..) = read else { return };
        let pause = delay.load(Ordering::Relaxed);
        if pause == REFUSE {
            return;
        }
        if pause > 0 {
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        if to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}
