//! What several test binaries and the demo share.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

pub mod client;
pub mod cluster;
pub mod corpus;
pub mod install;
