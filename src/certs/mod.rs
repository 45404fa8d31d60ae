//! usher's own certificates (`--cert-mode self`): made, kept in a Secret that all replicas share, rotated with overlap.
//!
//! Every renewal is a new CA that signs one leaf and is forgotten: its key is never stored. [`material`] makes them,
//! [`stage`] decides what is next (pure), [`secret`] is their form in the cluster, [`bundle`] puts what is trusted into
//! usher's own webhook configurations, [`keeper`] runs all of it in each replica. No leader is needed: every write is a
//! compare-and-swap, and whoever comes second looks again.

pub mod bundle;
pub mod keeper;
pub mod material;
pub mod secret;
pub mod stage;
