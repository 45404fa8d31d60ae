//! Any bytes are decided; what is accepted translates to a pattern that the regex crate reads, and both match alike.
#![no_main]

use usher::lang::re2::{Names, Wrap, matcher, parse_wrapped};

libfuzzer_sys::fuzz_target!(|input: (&[u8], &str)| {
    let (pattern, text) = input;
    let _ = matcher(pattern);
    for names in [Names::Classic, Names::Current] {
        for wrap in [Wrap::AsWritten, Wrap::Group, Wrap::DotAll] {
            let Ok(read) = parse_wrapped(pattern, names, wrap) else { continue };
            let _ = (read.matches_empty(), read.to_rust(), read.is_match(text));
        }
    }
});
