//! The webhook door on a socket: TLS, limits, health, an orderly end.
//!
//! Two listeners: admission over TLS, diagnostics in plain HTTP. The process is ready when its certificate is loaded and
//! every shelf of the View is filled or known to be empty.

pub mod admission;
mod claiming;
pub mod diagnostics;
pub mod expiry;
pub mod in_cluster;
pub mod limits;
pub mod listener;
pub mod objects;
pub mod permission;
pub mod run;
pub mod tls;
