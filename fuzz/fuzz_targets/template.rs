//! Any bytes are decided.
#![no_main]

use usher::lang::template::{LOKI_ALERT, LOKI_LABEL, LOKI_LINE, PROMETHEUS_ALERT, check_bytes};

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    for set in [&LOKI_LINE, &LOKI_LABEL, &LOKI_ALERT, &PROMETHEUS_ALERT] {
        let _ = check_bytes(text, set);
    }
});
