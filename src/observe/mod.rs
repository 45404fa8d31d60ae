//! What usher tells about itself: metrics and logs.

pub mod logs;
pub mod metrics;
pub mod silence_metrics;
