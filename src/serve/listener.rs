//! The accept loop: TCP, TLS, HTTP, and an end that loses no request.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::limits::{DRAIN_TIMEOUT, HANDSHAKE_TIMEOUT, HEADER_TIMEOUT, MOST_CONNECTIONS, MOST_STREAMS};
use super::tls::Current;
use crate::observe::metrics::Metrics;

/// Serves a router over TLS until told to stop; then answers what is open and returns.
pub async fn serve_tls(
    listener: TcpListener,
    router: Router,
    certificate: Current,
    metrics: Arc<Metrics>,
    mut stop: watch::Receiver<bool>,
) {
    let graceful = Arc::new(GracefulShutdown::new());
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let accept = async {
            let place = Arc::clone(&connections).acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            (place, accepted) = accept => match accepted {
                Ok((stream, _)) => (place, stream),
                Err(error) => {
                    // Out of file descriptors: waiting is all that helps.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = stopped(&mut stop) => break,
        };
        let (router, metrics) = (router.clone(), Arc::clone(&metrics));
        // Without a certificate yet there is nothing to say; the caller tries again.
        let Some(loaded) = certificate.load_full() else { continue };
        let acceptor = TlsAcceptor::from(Arc::clone(&loaded.config));
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            connection(stream, acceptor, router, &metrics, watcher).await;
            drop(place);
        });
    }
    drop(listener);
    if let Ok(graceful) = Arc::try_unwrap(graceful)
        && tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err()
    {
        tracing::warn!("some connections did not end in time");
    }
}

/// Waits for the word, and lets go of the channel's lock.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    router: Router,
    metrics: &Metrics,
    watcher: hyper_util::server::graceful::Watcher,
) {
    // Answers are small; waiting to fill a packet only adds latency.
    let _ = stream.set_nodelay(true);
    let stream = match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            metrics.handshake_failures.inc();
            tracing::debug!(%error, "handshake failed");
            return;
        }
        Err(_) => {
            metrics.handshake_failures.inc();
            return;
        }
    };
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let service = TowerToHyperService::new(router);
    let io = TokioIo::new(stream);
    let ended = if is_http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_concurrent_streams(MOST_STREAMS)
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(HEADER_TIMEOUT);
        watcher.watch(builder.serve_connection(io, service)).await
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        watcher.watch(builder.serve_connection(io, service)).await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

/// Serves a router in plain HTTP until told to stop.
pub async fn serve_plain(listener: TcpListener, router: Router, mut stop: watch::Receiver<bool>) {
    let end = async move { stopped(&mut stop).await };
    if let Err(error) = axum::serve(listener, router).with_graceful_shutdown(end).await {
        tracing::error!(%error, "diagnostics ended");
    }
}
