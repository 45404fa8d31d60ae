//! The server on a loopback socket: handshakes, rotation, slow and greedy clients, an orderly end.
#![allow(missing_docs, clippy::pedantic, clippy::unwrap_used)]

#[path = "support/mod.rs"]
mod support;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, SerialNumber};
use support::client::{Connection, Trust, silence_review};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use usher::serve::run::{Certificates, Config, Mode, Running, start};
use usher::serve::tls::Files;
use usher::settings::Settings;

const VALIDATE: &str = "/admit/validate/monitoring.coreos.com/silence";

struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

fn authority() -> Authority {
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = parameters.self_signed(&key).unwrap().pem();
    Authority { pem, issuer: Issuer::new(parameters, key) }
}

impl Authority {
    /// A leaf with a serial number of its own: certificate and key as PEM.
    fn leaf(&self, serial: u64) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        parameters.serial_number = Some(SerialNumber::from(serial));
        (parameters.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }
}

/// Puts a pair where a Secret mount would: a new directory, then a swap of the `..data` symlink.
fn swap(mount: &Path, version: usize, (certificate, key): &(String, String)) {
    let fresh = mount.join(format!("..version-{version}"));
    std::fs::create_dir_all(&fresh).unwrap();
    std::fs::write(fresh.join("tls.crt"), certificate).unwrap();
    std::fs::write(fresh.join("tls.key"), key).unwrap();
    let link = mount.join("..data_tmp");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(fresh.file_name().unwrap(), &link).unwrap();
    std::fs::rename(&link, mount.join("..data")).unwrap();
    for name in ["tls.crt", "tls.key"] {
        let _ = std::os::unix::fs::symlink(format!("..data/{name}"), mount.join(name));
    }
    if version > 1 {
        let _ = std::fs::remove_dir_all(mount.join(format!("..version-{}", version - 2)));
    }
}

async fn serve(mount: &Path, client_ca: Option<&Path>) -> Running {
    support::cluster::install_crypto();
    let config = Config {
        mode: Mode::Standalone { objects: Vec::new() },
        listen: "127.0.0.1:0".parse().unwrap(),
        diagnostics_listen: "127.0.0.1:0".parse().unwrap(),
        certificates: Certificates::Files(Files {
            certificate: mount.join("tls.crt"),
            key: mount.join("tls.key"),
            client_ca: client_ca.map(Path::to_owned),
        }),
        poll: Duration::from_secs(10),
        max_in_flight: 512,
        settings: Arc::new(Settings::default()),
        shutdown_delay: Duration::ZERO,
    };
    start(&config).await.unwrap()
}

async fn allowed(connection: &mut Connection, address: SocketAddr) -> bool {
    let (status, body) = connection.post(address, VALIDATE, silence_review()).await.unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
    status == 200 && answer["response"]["allowed"] == true
}

#[tokio::test(flavor = "multi_thread")]
async fn speaks_http_1_and_http_2() {
    let (mount, authority) = (tempfile::tempdir().unwrap(), authority());
    swap(mount.path(), 0, &authority.leaf(1));
    let running = serve(mount.path(), None).await;
    for http2 in [false, true] {
        let mut connection =
            Connection::open(&Trust::new(&authority.pem, http2, None), running.admission).await.unwrap();
        assert_eq!(matches!(connection, Connection::Http2(_)), http2);
        for _ in 0..3 {
            assert!(allowed(&mut connection, running.admission).await);
        }
    }
    running.stop().await;
}

/// 100 changes on disk under load: no failed handshake, no failed review, and each serial seen by a fresh handshake.
#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_certificates_are_exchanged_under_load() {
    const CHANGES: usize = 100;
    let (mount, authority) = (tempfile::tempdir().unwrap(), authority());
    swap(mount.path(), 0, &authority.leaf(1000));
    let running = serve(mount.path(), None).await;
    let address = running.admission;
    let (done, reviews, handshakes) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut load = Vec::new();
    for worker in 0..4 {
        let trust = Trust::new(&authority.pem, worker % 2 == 0, None);
        let (done, reviews, handshakes) = (Arc::clone(&done), Arc::clone(&reviews), Arc::clone(&handshakes));
        load.push(tokio::spawn(async move {
            // Half of the workers keep their connection over all changes, half connect anew each time.
            let mut kept = None;
            while !done.load(Ordering::Relaxed) {
                let mut connection = match kept.take() {
                    Some(connection) => connection,
                    None => {
                        handshakes.fetch_add(1, Ordering::Relaxed);
                        Connection::open(&trust, address).await.expect("a handshake failed")
                    }
                };
                assert!(allowed(&mut connection, address).await, "a review failed");
                reviews.fetch_add(1, Ordering::Relaxed);
                if worker < 2 {
                    kept = Some(connection);
                }
            }
        }));
    }
    let trust = Trust::new(&authority.pem, false, None);
    for change in 1..=CHANGES {
        swap(mount.path(), change, &authority.leaf(1000 + change as u64));
        let wanted = format!("{:04x}", 1000 + change);
        let started = Instant::now();
        loop {
            let serial = trust.serial(address).await.expect("a handshake failed");
            if serial == wanted {
                break;
            }
            assert!(
                started.elapsed() < Duration::from_secs(5),
                "certificate {change} is not served: {serial}"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    done.store(true, Ordering::Relaxed);
    for worker in load {
        worker.await.unwrap();
    }
    let (reviews, handshakes) = (reviews.load(Ordering::Relaxed), handshakes.load(Ordering::Relaxed));
    println!(
        "rotation: {CHANGES} certificates, {reviews} reviews and {handshakes} handshakes under load, none failed"
    );
    assert!(reviews > 100 && handshakes > 100);
    assert_eq!(running.metrics.handshake_failures.get(), 0);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_pair_is_refused_loudly_and_the_old_one_stays() {
    let (mount, authority) = (tempfile::tempdir().unwrap(), authority());
    swap(mount.path(), 0, &authority.leaf(7));
    let running = serve(mount.path(), None).await;
    let trust = Trust::new(&authority.pem, false, None);
    let mixed = (authority.leaf(8).0, authority.leaf(9).1);
    for (version, bad) in [mixed, ("no PEM".to_owned(), "no PEM".to_owned())].iter().enumerate() {
        let before = running.metrics.certificate_reload_failures.get();
        swap(mount.path(), version + 1, bad);
        let started = Instant::now();
        while running.metrics.certificate_reload_failures.get() == before {
            assert!(started.elapsed() < Duration::from_secs(5), "the bad pair was not noticed");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(trust.serial(running.admission).await.unwrap(), "07");
    }
    swap(mount.path(), 5, &authority.leaf(0x2a));
    let started = Instant::now();
    while trust.serial(running.admission).await.unwrap() != "2a" {
        assert!(started.elapsed() < Duration::from_secs(5), "the good pair is not served");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_client_ca_only_its_clients_may_call() {
    let (mount, authority, clients) = (tempfile::tempdir().unwrap(), authority(), authority());
    swap(mount.path(), 0, &authority.leaf(1));
    let file = mount.path().join("clients.pem");
    std::fs::write(&file, &clients.pem).unwrap();
    let running = serve(mount.path(), Some(&file)).await;
    let (certificate, key) = clients.leaf(2);
    let friend = Trust::new(&authority.pem, false, Some((&certificate, &key)));
    let mut connection = Connection::open(&friend, running.admission).await.unwrap();
    assert!(allowed(&mut connection, running.admission).await);

    let stranger = Trust::new(&authority.pem, false, None);
    let refused = match Connection::open(&stranger, running.admission).await {
        Ok(mut connection) => connection.post(running.admission, VALIDATE, silence_review()).await.is_err(),
        Err(_) => true,
    };
    assert!(refused, "a client without a certificate was answered");
    running.stop().await;
}

/// Slow clients, huge bodies and nesting bombs cost their own connection; others are answered meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn hostile_clients_do_not_keep_others_waiting() {
    let (mount, authority) = (tempfile::tempdir().unwrap(), authority());
    swap(mount.path(), 0, &authority.leaf(1));
    let running = serve(mount.path(), None).await;
    let address = running.admission;
    let trust = Trust::new(&authority.pem, false, None);

    // 40 clients that send half a request and stop, 20 that never finish their handshake.
    let mut slow = Vec::new();
    for _ in 0..40 {
        let mut stream = trust.connect(address).await.unwrap();
        let head = format!(
            "POST {VALIDATE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{{"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
        slow.push(stream);
    }
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(tokio::net::TcpStream::connect(address).await.unwrap());
    }
    let mut connection = Connection::open(&trust, address).await.unwrap();
    let started = Instant::now();
    for _ in 0..50 {
        assert!(allowed(&mut connection, address).await);
    }
    assert!(started.elapsed() < Duration::from_secs(2), "others wait: {:?}", started.elapsed());

    // 50 MB, announced: refused before it is read. Not announced: cut off at the limit.
    let started = Instant::now();
    let (status, _) = connection
        .post(address, VALIDATE, Bytes::from(vec![b'['; 50_000_000]))
        .await
        .unwrap_or((413, Bytes::new()));
    assert_eq!(status, 413);
    let mut stream = trust.connect(address).await.unwrap();
    let head = format!(
        "POST {VALIDATE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let piece = format!("{:x}\r\n{}\r\n", 1_000_000, "[".repeat(1_000_000));
    for _ in 0..50 {
        if stream.write_all(piece.as_bytes()).await.is_err() {
            break;
        }
    }
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
    assert!(
        answer.is_empty() || String::from_utf8_lossy(&answer).contains("413"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    let bomb = Bytes::from("[".repeat(5_000_000));
    let mut connection = Connection::open(&trust, address).await.unwrap();
    let (status, text) = connection.post(address, VALIDATE, bomb).await.unwrap();
    assert_eq!((status, String::from_utf8_lossy(&text).contains("nested")), (400, true));
    assert!(started.elapsed() < Duration::from_secs(5), "refusing took {:?}", started.elapsed());

    // The slow ones are cut off by their timeout, with an answer.
    let mut stream = slow.pop().unwrap();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(8), stream.read_to_end(&mut answer)).await;
    assert!(
        read.is_ok() && String::from_utf8_lossy(&answer).contains("408"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    let mut connection = Connection::open(&trust, address).await.unwrap();
    assert!(allowed(&mut connection, address).await);
    running.stop().await;
}

/// Requests that are open when the end comes are answered; the server then ends.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_loses_no_request() {
    let (mount, authority) = (tempfile::tempdir().unwrap(), authority());
    swap(mount.path(), 0, &authority.leaf(1));
    let running = serve(mount.path(), None).await;
    let address = running.admission;
    let trust = Trust::new(&authority.pem, false, None);
    let mut stream = trust.connect(address).await.unwrap();
    let body = silence_review();
    let head = format!(
        "POST {VALIDATE} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&body[..100]).await.unwrap();
    stream.flush().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let diagnostics = running.diagnostics;
    let ending = tokio::spawn(running.stop());
    tokio::time::sleep(Duration::from_millis(200)).await;
    // While it drains, whoever asks is told.
    let mut probe = tokio::net::TcpStream::connect(diagnostics).await.unwrap();
    probe.write_all(b"GET /readyz HTTP/1.0\r\n\r\n").await.unwrap();
    let mut told = String::new();
    probe.read_to_string(&mut told).await.unwrap();
    assert!(told.contains("503") && told.contains("stopping"), "{told}");
    stream.write_all(&body[100..]).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"allowed\":true"), "{answer}");
    tokio::time::timeout(Duration::from_secs(5), ending).await.expect("the server did not end").unwrap();
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the port is still open");
}
