//! The webhook door on a socket: TLS, limits, health, an orderly end.
//!
//! Two listeners: admission over TLS, diagnostics in plain HTTP. The process is ready when its certificate is loaded and
//! every shelf of the View is filled or known to be empty.

pub mod admission;
pub mod certificate;
pub mod diagnostics;
pub mod limits;
pub mod listener;
pub mod objects;
pub mod run;
pub mod tls;
