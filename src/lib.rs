//! usher stands at the Kubernetes API server's door for observability resources.
//!
//! One rulebook ([`kinds`]) behind several doors: the webhook ([`serve`]) and the offline checker ([`check`]).
//! Dependencies point one way: doors know kinds, kinds know [`rule`], [`lang`] and [`model`], and nothing in a kind's rules knows
//! that a door exists.

pub mod certs;
pub mod check;
pub mod claim;
pub mod cli;
pub mod cluster;
pub mod files;
pub mod gates;
pub mod kinds;
pub mod lang;
pub mod manifests;
pub mod model;
pub mod names;
pub mod observe;
pub mod reconcile;
pub mod review;
pub mod rule;
pub mod schema;
pub mod serve;
pub mod settings;
pub mod upstream;
pub mod view;
pub mod yaml;
