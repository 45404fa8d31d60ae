//! Any text is decided; what is accepted prints as a text of the same meaning.
#![no_main]

use usher::lang::promql::{Options, parse};

libfuzzer_sys::fuzz_target!(|input: (u8, &str)| {
    let (features, text) = input;
    let options = Options {
        experimental_functions: features & 1 != 0,
        duration_expressions: features & 2 != 0,
        extended_ranges: features & 4 != 0,
        fill_modifiers: features & 8 != 0,
    };
    let Ok(query) = parse(text, options) else { return };
    let printed = query.to_string();
    assert!(parse(&printed, options).is_ok_and(|again| again == query), "{printed}");
});
