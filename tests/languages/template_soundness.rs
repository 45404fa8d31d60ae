//! Any text is decided, and every fault points into the text.

use proptest::prelude::*;
use usher::lang::template::{LOKI_LABEL, LOKI_LINE, PROMETHEUS_ALERT, check, check_bytes};

use crate::oracle::Dice;
use crate::template::{SETS, generate};
use crate::template_mutations::mutate;
use crate::template_texts::Counts;

fn sound(text: &str) {
    for (_, set) in SETS {
        if let Err(fault) = check(text, set) {
            assert!(text.get(fault.span.clone()).is_some(), "{text:?}: {fault:?}");
            assert!(!fault.message.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_decided(text in any::<String>(), bytes in any::<Vec<u8>>()) {
        sound(&text);
        sound(&format!("{{{{{text}}}}}"));
        sound(&format!("{{{{ \"{text}\" }}}}"));
        let _ = check_bytes(&bytes, &LOKI_LINE);
        let _ = check_bytes(&[b"{{", bytes.as_slice()].concat(), &LOKI_LINE);
    }

    #[test]
    fn any_mutated_text_is_decided(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let mut text = generate(&mut dice, &PROMETHEUS_ALERT, &mut Counts::new());
        mutate(&mut text, &mut dice);
        sound(&String::from_utf8_lossy(&text));
        let _ = check_bytes(&text, &LOKI_LABEL);
    }
}
