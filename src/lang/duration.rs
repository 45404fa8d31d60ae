//! Durations in the three spellings that people meet: Prometheus', Go's, and LogQL's, which takes either.

use std::fmt;

/// Why a text is no duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DurationError {
    /// Nothing is there.
    Empty,
    /// Not a sequence of numbers with units.
    Shape,
    /// A number stands without a unit.
    MissingUnit,
    /// The unit is not one of this spelling.
    UnknownUnit,
    /// Prometheus wants the units from biggest to smallest, each once.
    Order,
    /// More than a signed 64-bit number of nanoseconds holds, about 292 years.
    TooLong,
}

impl fmt::Display for DurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the duration is empty",
            Self::Shape => "not a duration: write numbers with units, such as 5m or 1h30m",
            Self::MissingUnit => "a number of the duration has no unit",
            Self::UnknownUnit => "the duration has an unknown unit",
            Self::Order => "the units of a duration go from biggest to smallest, each at most once",
            Self::TooLong => "the duration is longer than about 292 years",
        })
    }
}

impl std::error::Error for DurationError {}

/// The longest duration, in nanoseconds, plus one.
const LIMIT: u64 = 1 << 63;

/// A duration as Prometheus spells it (`1w2d`, `5m`, `500ms`, `0`), in nanoseconds. No sign, no fraction.
pub fn prometheus(text: &str) -> Result<i64, DurationError> {
    if text == "0" {
        return Ok(0);
    }
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut rest = text.as_bytes();
    let (mut total, mut last) = (0_u64, 0);
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Err(DurationError::Shape);
        }
        let mut value = 0_u64;
        for digit in &rest[..digits] {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(u64::from(digit - b'0')))
                .ok_or(DurationError::TooLong)?;
        }
        rest = &rest[digits..];
        let letters = rest.iter().take_while(|byte| !byte.is_ascii_digit()).count();
        let (rank, unit) = match &rest[..letters] {
            b"" => return Err(DurationError::MissingUnit),
            b"y" => (1, 365 * 24 * 3_600_000_000_000),
            b"w" => (2, 7 * 24 * 3_600_000_000_000),
            b"d" => (3, 24 * 3_600_000_000_000),
            b"h" => (4, 3_600_000_000_000),
            b"m" => (5, 60_000_000_000),
            b"s" => (6, 1_000_000_000),
            b"ms" => (7, 1_000_000),
            _ => return Err(DurationError::UnknownUnit),
        };
        rest = &rest[letters..];
        if rank <= last {
            return Err(DurationError::Order);
        }
        last = rank;
        if value > LIMIT / unit {
            return Err(DurationError::TooLong);
        }
        // Both are at most 2^63: the sum fits in 64 bits.
        total = total.wrapping_add(value * unit);
        if total >= LIMIT {
            return Err(DurationError::TooLong);
        }
    }
    i64::try_from(total).map_err(|_| DurationError::TooLong)
}

/// A duration as Go's standard library spells it (`1.5h`, `-300us`, `1h1h`, `+0`), in nanoseconds.
pub fn go(text: &str) -> Result<i64, DurationError> {
    let mut rest = text.as_bytes();
    let negative = rest.first() == Some(&b'-');
    if matches!(rest.first(), Some(b'-' | b'+')) {
        rest = &rest[1..];
    }
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        if !(rest[0] == b'.' || rest[0].is_ascii_digit()) {
            return Err(DurationError::Shape);
        }
        let (whole, digits) = leading_integer(rest)?;
        rest = &rest[digits..];
        let (mut fraction, mut scale, mut fraction_digits) = (0, 1.0, 0);
        if rest.first() == Some(&b'.') {
            rest = &rest[1..];
            (fraction, scale, fraction_digits) = leading_fraction(rest);
            rest = &rest[fraction_digits..];
        }
        if digits == 0 && fraction_digits == 0 {
            return Err(DurationError::Shape);
        }
        let letters = rest.iter().take_while(|&&byte| byte != b'.' && !byte.is_ascii_digit()).count();
        let unit = match &rest[..letters] {
            b"" => return Err(DurationError::MissingUnit),
            b"ns" => 1,
            b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1_000,
            b"ms" => 1_000_000,
            b"s" => 1_000_000_000,
            b"m" => 60_000_000_000,
            b"h" => 3_600_000_000_000_u64,
            _ => return Err(DurationError::UnknownUnit),
        };
        rest = &rest[letters..];
        if whole > LIMIT / unit {
            return Err(DurationError::TooLong);
        }
        let mut value = whole * unit;
        if fraction > 0 {
            value = value.wrapping_add(fraction_of(fraction, unit, scale));
            if value > LIMIT {
                return Err(DurationError::TooLong);
            }
        }
        total = total.wrapping_add(value);
        if total > LIMIT {
            return Err(DurationError::TooLong);
        }
    }
    if negative {
        // The one value without a positive twin is 2^63 itself.
        return Ok(0_i64.wrapping_sub_unsigned(total));
    }
    i64::try_from(total).map_err(|_| DurationError::TooLong)
}

/// A duration as LogQL takes it outside of brackets: Prometheus' spelling, else Go's.
pub fn logql(text: &str) -> Result<i64, DurationError> {
    prometheus(text).or_else(|_| go(text))
}

/// The value of the leading digits and how many there are.
fn leading_integer(text: &[u8]) -> Result<(u64, usize), DurationError> {
    let mut value = 0_u64;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for digit in &text[..digits] {
        if value > LIMIT / 10 {
            return Err(DurationError::TooLong);
        }
        value = value * 10 + u64::from(digit - b'0');
        if value > LIMIT {
            return Err(DurationError::TooLong);
        }
    }
    Ok((value, digits))
}

/// The leading digits as numerator and denominator, and how many there are. Digits beyond the precision are passed over.
fn leading_fraction(text: &[u8]) -> (u64, f64, usize) {
    let (mut value, mut scale, mut full) = (0_u64, 1.0, false);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for digit in &text[..digits] {
        if full || value > (LIMIT - 1) / 10 {
            full = true;
            continue;
        }
        let longer = value * 10 + u64::from(digit - b'0');
        if longer > LIMIT {
            full = true;
            continue;
        }
        value = longer;
        scale *= 10.0;
    }
    (value, scale, digits)
}

/// The fraction of a unit in whole nanoseconds; in floating point because Go computes it so.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn fraction_of(fraction: u64, unit: u64, scale: f64) -> u64 {
    (fraction as f64 * (unit as f64 / scale)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_spellings() {
        const HOUR: i64 = 3_600_000_000_000;
        assert_eq!(prometheus("1h30m"), Ok(HOUR + HOUR / 2));
        assert_eq!(prometheus("0"), Ok(0));
        assert_eq!(prometheus("30m1h"), Err(DurationError::Order));
        assert_eq!(prometheus("1.5h"), Err(DurationError::UnknownUnit));
        assert_eq!(prometheus("5"), Err(DurationError::MissingUnit));
        assert!(prometheus("292y").is_ok() && prometheus("293y").is_err());
        assert_eq!(go("1.5h"), Ok(HOUR + HOUR / 2));
        assert_eq!(go("-0"), Ok(0));
        assert_eq!(go("-9223372036854775808ns"), Ok(i64::MIN));
        assert_eq!(go("9223372036854775808ns"), Err(DurationError::TooLong));
        assert_eq!(go("1d"), Err(DurationError::UnknownUnit));
        assert_eq!(logql("1d"), Ok(24 * HOUR));
        assert_eq!(logql("5us"), Ok(5_000));
    }
}
