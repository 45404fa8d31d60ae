//! What one client may cost, with the arithmetic.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest body. The API server takes requests of 3 MiB; a review holds the new and the old object, 3 MiB each at
/// most, and 1 MiB is left for the envelope: user, options and escapes.
pub const LARGEST_BODY: usize = (3 + 3 + 1) * 1024 * 1024;

/// Bodies that are being read or judged, together. 36 of the largest; real reviews are a thousand times smaller.
const BODY_BUDGET: usize = 256 * 1024 * 1024;

/// A TLS handshake; the API server needs milliseconds.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// The headers of a request on an open connection.
pub const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// The whole body. The API server waits 10 s for an answer at most, so a slower body helps nobody.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Open requests at the end of the process.
pub const DRAIN_TIMEOUT: Duration = Duration::from_secs(15);
/// Connections at once. The API server holds a handful; each idle one costs some 30 KiB.
pub const MOST_CONNECTIONS: usize = 2_000;
/// Streams of one HTTP/2 connection at once.
pub const MOST_STREAMS: u32 = 250;
/// Requests between headers and answer, unless a flag says otherwise.
pub const MOST_IN_FLIGHT: usize = 512;

/// The limits of one server.
#[derive(Debug, Clone)]
pub struct Limits {
    in_flight: Arc<Semaphore>,
    budget: Arc<Semaphore>,
}

impl Limits {
    /// Limits with that many requests in flight.
    pub fn new(in_flight: usize) -> Self {
        Self { in_flight: Arc::new(Semaphore::new(in_flight)), budget: Arc::new(Semaphore::new(BODY_BUDGET)) }
    }

    /// A place for one request, or nothing when the server is full.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.in_flight).try_acquire_owned().ok()
    }

    /// Memory for bytes that have arrived; a slow client holds only what it has sent.
    pub fn reserve(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        Arc::clone(&self.budget).try_acquire_many_owned(bytes).ok()
    }
}
