//! Any text is decided; what is accepted prints as a text of the same meaning.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(query) = usher::lang::logql::parse(text) else { return };
    let printed = query.to_string();
    // A canonical form can be longer than Loki takes.
    if printed.len() < usher::lang::logql::MAX_LENGTH {
        assert!(usher::lang::logql::parse(&printed).is_ok_and(|again| again == query), "{printed}");
    }
    let _ = (query.selectors(), query.stage_faults(), query.lints(&Default::default()));
});
