//! Install manifests, generated from the table. `crds/` and `webhooks/` in the repository are their output.

pub mod crd;
pub mod webhook;
