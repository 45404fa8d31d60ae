//! The client itself: names and places, credentials, bounds, kept connections, and what may have arrived.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::{HeaderName, Method};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use usher::model::secret_text::SecretText;
use usher::upstream::endpoint::{Auth, Scheme};
use usher::upstream::error::{Cause, Outage, Surprise};
use usher::upstream::http::{AGENT, Client, Request, Timeouts};
use usher::upstream::{Endpoint, Error};

use crate::server::{Server, client, reply, text_of, timeouts};

fn get() -> Request {
    Request::new("asking", Method::GET, "/thing")
}

fn post() -> Request {
    Request::new("telling", Method::POST, "/thing").with_body("application/json", "{}")
}

fn secret(text: &str) -> SecretText {
    SecretText::from(text.to_owned())
}

/// A port that does this with its one connection.
async fn raw(bytes: &'static [u8], stay: bool) -> Endpoint {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let mut request = [0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(bytes).await;
                if stay {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    Endpoint::new(Scheme::Http, "127.0.0.1", port)
}

#[tokio::test]
async fn a_pod_is_reached_by_address_and_called_by_name() {
    let server = Server::saying(200, "{}").await;
    let mut endpoint = Endpoint::new(Scheme::Http, "alertmanager-main-0.operated.monitoring.svc", 9093);
    endpoint.connect = Some(server.address);
    let endpoint = endpoint.at("/am/").with_header(HeaderName::from_static("x-scope-orgid"), "team").unwrap();
    client(endpoint).send(get()).await.unwrap();
    let seen = server.last();
    assert_eq!(seen.uri, "/am/thing");
    assert_eq!(seen.header("host"), Some("alertmanager-main-0.operated.monitoring.svc:9093"));
    assert_eq!(seen.header("user-agent"), Some(AGENT));
    assert_eq!(seen.header("x-scope-orgid"), Some("team"));
    assert_eq!(seen.header("accept"), Some("application/json"));
    assert!(seen.header("authorization").is_none() && AGENT.starts_with("usher/"));
}

#[tokio::test]
async fn connections_are_used_again() {
    let server = Server::saying(200, "{}").await;
    let client = server.client();
    for _ in 0..20 {
        client.send(get()).await.unwrap();
        client.clone().send(post()).await.unwrap();
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    assert_eq!(server.seen().len(), 40);
}

#[tokio::test]
async fn a_kept_connection_that_the_server_has_closed_is_replaced() {
    let server = Server::start(None, |_| {
        let mut reply = reply(200, "{}");
        reply.headers_mut().insert("connection", "close".parse().unwrap());
        reply
    })
    .await;
    let client = server.client();
    for _ in 0..5 {
        client.send(post()).await.unwrap();
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn a_server_that_never_answers_ends_with_the_time_and_may_have_heard() {
    let endpoint = raw(b"", true).await;
    let short = Timeouts { request: Duration::from_millis(300), ..timeouts() };
    let begun = Instant::now();
    let error = Client::new(endpoint, short).unwrap().send(post()).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(matches!(error.cause(), Cause::Unavailable(Outage::Slow(_))), "{error}");
    assert!(error.may_have_arrived() && error.is_transient());
}

#[tokio::test]
async fn a_body_that_stops_coming_ends_with_the_time() {
    let endpoint = raw(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n[", true).await;
    let short = Timeouts { request: Duration::from_millis(300), ..timeouts() };
    let error = Client::new(endpoint, short).unwrap().send(post()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unavailable(Outage::Slow(_))), "{error}");
    assert!(error.may_have_arrived());
}

#[tokio::test]
async fn a_connection_that_is_not_there_has_carried_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = client(Endpoint::new(Scheme::Http, "127.0.0.1", port)).send(post()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unavailable(Outage::Connect(_))), "{error}");
    assert!(!error.may_have_arrived() && error.is_transient());

    let error =
        client(Endpoint::new(Scheme::Http, "no-such-name.invalid", 80)).send(post()).await.unwrap_err();
    assert!(
        matches!(error.cause(), Cause::Unavailable(Outage::Resolve(_) | Outage::SlowConnect(_))),
        "{error}"
    );
    assert!(!error.may_have_arrived());
}

#[tokio::test]
async fn a_handshake_that_never_ends_has_carried_nothing() {
    let mut endpoint = raw(b"", true).await;
    endpoint.scheme = Scheme::Https;
    endpoint.trust = usher::upstream::endpoint::Trust::Insecure;
    let times = |connect, request| Timeouts {
        connect: Duration::from_millis(connect),
        request: Duration::from_millis(request),
    };
    let error = Client::new(endpoint.clone(), times(200, 3000)).unwrap().send(post()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unavailable(Outage::SlowConnect(_))), "{error}");
    assert!(!error.may_have_arrived());
    let error = Client::new(endpoint, times(3000, 200)).unwrap().send(post()).await.unwrap_err();
    assert!(matches!(error.cause(), Cause::Unavailable(Outage::Slow(_))), "{error}");
    assert!(!error.may_have_arrived());
}

#[tokio::test]
async fn a_connection_that_breaks_may_have_carried_the_request() {
    for bytes in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n[", b"\x00\x01 nonsense\r\n\r\n"] {
        let error = client(raw(bytes, false).await).send(post()).await.unwrap_err();
        assert!(matches!(error.cause(), Cause::Unavailable(Outage::Broken(_))), "{error}");
        assert!(error.may_have_arrived(), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::saying(200, "[]").await;
    let place = format!("http://{}/login", other.address);
    let server = Server::start(None, move |_| {
        let mut reply = reply(302, "");
        reply.headers_mut().insert("location", place.parse().unwrap());
        reply
    })
    .await;
    let answer = server.client().send(get()).await.unwrap();
    assert_eq!(answer.status(), 302);
    assert_eq!(text_of::<()>(Err(answer.failure(None)), "unexpected_response").matches("302").count(), 1);
    assert_eq!(other.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_body_longer_than_its_bound_is_an_error() {
    let too_long = |error: &Error| matches!(error.cause(), Cause::Unexpected(Surprise::TooLong(1000)));
    let server = Server::start(None, |_| reply(200, &"x".repeat(1001))).await;
    let error = server.client().send(get().up_to(1000)).await.unwrap_err();
    assert!(too_long(&error), "{error}");
    assert_eq!(server.client().send(get().up_to(1001)).await.unwrap().body().len(), 1001);

    // Not announced: it is counted as it comes.
    let chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
        258\r\n012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789\r\n\
        258\r\n012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789\
        012345678901234567890123456789012345678901234567890123456789\r\n0\r\n\r\n";
    let error = client(raw(chunks, true).await).send(get().up_to(1000)).await.unwrap_err();
    assert!(too_long(&error), "{error}");

    // Announced and never sent: nobody waits for it, nothing is set aside for it.
    let huge = b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999999\r\n\r\n";
    let error = client(raw(huge, true).await).send(get().up_to(1000)).await.unwrap_err();
    assert!(too_long(&error), "{error}");
}

#[tokio::test]
async fn a_token_file_is_read_for_every_request() {
    let server = Server::saying(200, "{}").await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("token");
    let mut endpoint = server.endpoint();
    endpoint.auth = Auth::BearerFile { path: path.clone(), verified_only: false };
    let client = client(endpoint);

    let text = text_of(client.send(get()).await, "credentials");
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    for token in ["first", "second"] {
        std::fs::write(&path, format!("{token}\n")).unwrap();
        client.send(get()).await.unwrap();
        assert_eq!(server.last().header("authorization"), Some(&*format!("Bearer {token}")));
    }
    for bad in ["", " \n", "hunter2\nhunter2", "hunter2\u{7f}"] {
        std::fs::write(&path, bad).unwrap();
        assert!(!text_of(client.send(get()).await, "credentials").contains("hunter2"));
    }
    std::fs::write(&path, b"hunter2\xff").unwrap();
    assert!(!text_of(client.send(get()).await, "credentials").contains("hunter2"));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn credentials_are_sent_and_never_shown() {
    // Repeats what it was sent, as some proxies do.
    let server = Server::start(None, |seen| {
        let header = seen.header("authorization").unwrap_or_default();
        let value = header.split(' ').nth(1).unwrap_or_default();
        reply(400, &format!("you sent {value} hunter2"))
    })
    .await;
    let basic = Auth::Basic { username: "usher".to_owned(), password: secret("hunter2") };
    for (auth, header) in
        [(Auth::Bearer(secret("hunter2\n")), "Bearer hunter2"), (basic, "Basic dXNoZXI6aHVudGVyMg==")]
    {
        let mut endpoint = server.endpoint();
        endpoint.auth = auth;
        let client = client(endpoint);
        let answer = client.send(get()).await.unwrap();
        assert_eq!(server.last().header("authorization"), Some(header));
        let body = String::from_utf8(answer.body().to_vec()).unwrap();
        let error = answer.failure(Some(&body));
        let shown = format!("{error} {error:?} {client:?} {answer:?} {:?}", client.endpoint());
        assert!(error.to_string().contains("you sent …"), "{error}");
        assert!(!shown.contains("hunter2") && !shown.contains("aHVudGVyMg"), "{shown}");
    }
    let mut endpoint = server.endpoint();
    endpoint.auth = Auth::Basic { username: "a:b".to_owned(), password: secret("hunter2") };
    assert!(!text_of(client(endpoint).send(get()).await, "credentials").contains("hunter2"));
}

#[tokio::test]
async fn what_cannot_be_an_address_is_said_at_once() {
    for endpoint in [
        Endpoint::new(Scheme::Http, "", 80),
        Endpoint::new(Scheme::Http, "a/b", 80),
        Endpoint::new(Scheme::Http, "user@host", 80),
        Endpoint::new(Scheme::Http, "am", 0),
        Endpoint::new(Scheme::Http, "am", 80).at("a b"),
        Endpoint::new(Scheme::Http, "am", 80).at("a?b"),
    ] {
        text_of(Client::new(endpoint, timeouts()), "address");
    }
    let mut endpoint = Endpoint::new(Scheme::Http, "am", 80);
    endpoint.auth = Auth::BearerFile { path: "/token".into(), verified_only: true };
    text_of(Client::new(endpoint.clone(), timeouts()), "tls");
    endpoint.scheme = Scheme::Https;
    endpoint.trust = usher::upstream::endpoint::Trust::Insecure;
    text_of(Client::new(endpoint, timeouts()), "tls");
}
