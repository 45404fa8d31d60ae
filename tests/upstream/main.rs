//! Calls to servers in this process: what is sent, what is made of the answers, and what of servers that give none.
#![allow(missing_docs, unreachable_pub, clippy::pedantic, clippy::unwrap_used)]

mod alertmanager;
mod http;
mod server;
mod tls;
