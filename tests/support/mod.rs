//! What several test binaries and the demo share.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

pub mod alertmanager_fake;
pub mod alertmanager_objects;
pub mod alertmanagers;
pub mod audit;
pub mod client;
pub mod cluster;
pub mod corpus;
pub mod install;
pub mod load;
pub mod proxy;
pub mod refuser;
pub mod replica;

/// The checkout that is being tested. Asked at run time: checkouts share their build directory, and cargo may find a
/// binary fresh that another checkout built.
pub fn root() -> std::path::PathBuf {
    let directory =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| ".".into(), std::path::PathBuf::from);
    directory.canonicalize().expect("the checkout is there")
}
