//! Durations as Silences and settings write them: `1d12h`.
//!
//! Units w, d, h, m, s, each at most once, largest first, at least one. The Prometheus, Go and LogQL dialects have
//! their own rules and come with the languages.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A span of whole seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

/// Why a text is not a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Not of the form.
    #[error("not a duration: use units w, d, h, m, s, each at most once, largest first, like 1d12h")]
    Syntax,
    /// More seconds than there are.
    #[error("the duration is too large")]
    Overflow,
}

const UNITS: [(char, i64); 5] = [('w', 7 * 86_400), ('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

impl Span {
    /// A span of that many seconds.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// The number of seconds.
    pub const fn as_seconds(self) -> i64 {
        self.0
    }

    /// No time at all; in settings this means off.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl FromStr for Span {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (mut rest, mut total, mut next_unit) = (text, 0_i64, 0);
        if rest.is_empty() {
            return Err(Error::Syntax);
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, tail) = rest.split_at(digits);
            let unit = tail.chars().next().ok_or(Error::Syntax)?;
            let position = UNITS.iter().position(|(name, _)| *name == unit).ok_or(Error::Syntax)?;
            if digits == 0 || position < next_unit {
                return Err(Error::Syntax);
            }
            let number: i64 = number.parse().map_err(|_| Error::Overflow)?;
            let term = number.checked_mul(UNITS[position].1).ok_or(Error::Overflow)?;
            total = total.checked_add(term).ok_or(Error::Overflow)?;
            next_unit = position + 1;
            rest = &tail[1..];
        }
        Ok(Self(total))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return out.write_str("0s");
        }
        let mut rest = self.0;
        for (unit, seconds) in UNITS {
            if rest / seconds > 0 {
                write!(out, "{}{unit}", rest / seconds)?;
                rest %= seconds;
            }
        }
        Ok(())
    }
}

/// From a string in settings; `0` is the same as `0s`.
impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        parse_setting(&text).map_err(serde::de::Error::custom)
    }
}

/// Reads a setting, where a bare `0` means off.
///
/// # Errors
/// When the text is not a duration.
pub fn parse_setting(text: &str) -> Result<Span, Error> {
    if text == "0" { Ok(Span::default()) } else { text.parse() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_units_largest_first() {
        for (text, seconds) in
            [("1d12h", 129_600), ("0s", 0), ("2w", 1_209_600), ("90m", 5_400), ("1h0m5s", 3_605)]
        {
            assert_eq!(text.parse(), Ok(Span(seconds)), "{text}");
        }
        for text in ["", "1", "h", "1h1d", "1h1h", "1.5h", "-1h", "1 h", "1h ", "1y", "1ms", "１h"] {
            assert_eq!(text.parse::<Span>(), Err(Error::Syntax), "{text:?}");
        }
        for text in ["99999999999999999999s", "99999999999999w", "9223372036854775807s1s"] {
            assert!(text.parse::<Span>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(seconds in 0_i64..i64::MAX) {
            prop_assert_eq!(Span(seconds).to_string().parse(), Ok(Span(seconds)));
        }

        #[test]
        fn any_text_is_decided(text in ".{0,32}") {
            let _ = text.parse::<Span>();
        }
    }
}
