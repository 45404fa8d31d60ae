//! The admission API: a review comes in as bytes, a verdict goes out as bytes. Nothing here knows about sockets.

pub mod admit;
pub mod door;
pub mod edits;
pub mod envelope;
pub mod verdict;
