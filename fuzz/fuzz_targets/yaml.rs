//! Any text is read or refused.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = usher::yaml::read(text);
});
