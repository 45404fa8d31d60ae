//! Where the parsers of Loki's versions differ. The verdict is that of 3.7.8; what changes with the next version is told.

use crate::lang::Fault;

/// What Loki 3.7.8 takes and a newer Loki refuses.
pub(super) enum Note {
    /// `variants(..) of (..)`.
    Variants,
    /// A number in a label filter that is no float: `0x10`, `1e999`.
    FilterNumber,
}

impl Note {
    pub(super) fn message(&self) -> &'static str {
        match self {
            Self::Variants => {
                "`variants` is taken by Loki 3.5 to 3.7 only: newer versions refuse it (grafana/loki#23905)"
            }
            Self::FilterNumber => {
                "Loki up to 3.7 reads this number as 0 or infinity, newer versions refuse it (grafana/loki#24039)"
            }
        }
    }

    pub(super) fn hint(&self) -> &'static str {
        match self {
            Self::Variants => "write the queries one by one",
            Self::FilterNumber => "write it as a decimal number",
        }
    }
}

/// The refusal of a number with a `p` directly behind it: newer versions know it as the unit of petabytes.
pub(super) fn peta(text: &str, start: usize, at: usize) -> Fault {
    let rest = text.get(at..).unwrap_or_default();
    let unit = rest.find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest, |end| &rest[..end]);
    let message = "Loki takes a `p` behind a number for an exponent, which only hexadecimal numbers have";
    let fault = Fault::new(start..at + 1, message);
    if matches!(unit, "P" | "PB" | "Pi" | "PiB") {
        fault
            .hint("units of petabytes are read by versions of Loki newer than 3.7 only: write the size in TB")
    } else {
        fault
    }
}

/// Advice for a word that is reserved until 3.7 and a name afterwards.
pub(super) fn reserved(word: &str) -> String {
    format!("`{word}` is reserved up to Loki 3.7; only newer versions take it as the name of a label")
}
