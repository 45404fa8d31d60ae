//! What the kinds of loki.grafana.com share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The form of a Prometheus duration. Upstream's pattern is not anchored and so accepts any text; this one is
/// anchored. It matches the empty text too, hence the least length of 1 beside it.
pub const PROMETHEUS_DURATION: &str =
    r"^(0|([0-9]+y)?([0-9]+w)?([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$";

/// A duration as Prometheus writes it: 0, or y w d h m s ms, each at most once, largest first (1h30m).
///
/// Kept as written: the form is the schema's, the arithmetic (i64 nanoseconds at most) comes with the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PrometheusDuration(#[schemars(length(min = 1), regex(pattern = PROMETHEUS_DURATION))] pub String);

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    #[test]
    fn the_pattern_takes_what_prometheus_writes() {
        let pattern = Regex::new(PROMETHEUS_DURATION).unwrap();
        for text in ["0", "0s", "1h30m", "1d12h", "100ms", "292y", "1y2w3d4h5m6s7ms"] {
            assert!(pattern.is_match(text), "{text}");
        }
        for text in ["1mo", "10years", "5", "00", "1m1h", "1m1m", "-1m", "1 m", "1.5h", "1us", "1m\n"] {
            assert!(!pattern.is_match(text), "{text:?}");
        }
    }
}
