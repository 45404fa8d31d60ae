//! The systems that usher writes to: how they are reached, and what each of them says.
//!
//! Everything that leaves for a server goes through one [`Client`]: its time is bounded, its answers are bounded,
//! redirects are not followed, and what comes back in an error never holds a credential. A system's own folder knows its
//! calls and turns answers into types; it retries nothing, which is the reconciler's business.

pub mod alertmanager;
pub mod answer;
mod connect;
pub mod endpoint;
pub mod error;
pub mod http;
pub mod peer_text;
mod trust;

pub use answer::Answer;
pub use endpoint::Endpoint;
pub use error::{Cause, Error};
pub use http::Client;
