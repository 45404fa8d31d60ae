//! Any text is decided, in every dialect.
#![no_main]

use usher::lang::{duration, names, size, url};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = (duration::prometheus(text), duration::go(text), duration::logql(text), size::parse(text));
    let _ = (names::tenant(text), names::is_metric(text), names::is_label(text));
    if let Err(fault) = url::parse(text) {
        assert!(text.get(fault.span).is_some());
    }
});
