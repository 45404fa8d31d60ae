//! The value of a number token, as Go's `strconv` reads it into a 64-bit float.

/// Why a number token has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberError {
    /// Hexadecimal without a `p` exponent, octal with `0o` or binary: integers that no float parser takes.
    Base,
    /// Greater than the greatest float.
    Range,
}

/// The value of a number that the lexer has let through.
pub(super) fn float(token: &str) -> Result<f64, NumberError> {
    let bytes = token.as_bytes();
    if bytes.len() > 1 && bytes[0] == b'0' {
        match bytes[1] | 0x20 {
            b'x' => return hexadecimal(&bytes[2..]),
            b'o' | b'b' => return Err(NumberError::Base),
            _ => {}
        }
    }
    let plain;
    let mut digits = token;
    if bytes.contains(&b'_') {
        plain = token.replace('_', "");
        digits = &plain;
    }
    let value = match digits.find(['e', 'E']) {
        // Go stops counting an exponent at five digits, which shows only beside tens of thousands of other digits.
        Some(at) if digits.len() - at > 6 => {
            let (mantissa, exponent) = digits.split_at(at);
            let (negative, magnitude) = exponent_of(&exponent.as_bytes()[1..]);
            format!("{mantissa}e{}{magnitude}", if negative { "-" } else { "" }).parse::<f64>()
        }
        _ => digits.parse::<f64>(),
    };
    value.ok().filter(|value| value.is_finite()).ok_or(NumberError::Range)
}

/// Sign and size of an exponent, counted as Go counts it.
fn exponent_of(text: &[u8]) -> (bool, i64) {
    let mut magnitude = 0_i64;
    for digit in text.iter().filter(|byte| byte.is_ascii_digit()) {
        if magnitude < 10_000 {
            magnitude = magnitude * 10 + i64::from(digit - b'0');
        }
    }
    (text.first() == Some(&b'-'), magnitude)
}

/// A hexadecimal float, without its `0x`.
fn hexadecimal(text: &[u8]) -> Result<f64, NumberError> {
    let exponent_at = text.iter().position(|byte| byte | 0x20 == b'p').ok_or(NumberError::Base)?;
    let (mantissa_text, exponent_text) = text.split_at(exponent_at);
    // Sixteen digits fill the mantissa; of the others only matters whether they are all zero.
    let (mut mantissa, mut held, mut more) = (0_u64, 0, false);
    let (mut exponent, mut after_dot) = (0_i64, false);
    for &byte in mantissa_text {
        let digit = match byte {
            b'.' => {
                after_dot = true;
                continue;
            }
            b'_' => continue,
            b'0'..=b'9' => byte - b'0',
            _ => (byte | 0x20) - b'a' + 10,
        };
        if held < 16 && (held > 0 || digit > 0) {
            mantissa = mantissa << 4 | u64::from(digit);
            held += 1;
            exponent -= 4 * i64::from(after_dot);
        } else if held == 0 {
            exponent -= 4 * i64::from(after_dot);
        } else {
            more |= digit > 0;
            exponent += 4 * i64::from(!after_dot);
        }
    }
    if mantissa == 0 {
        return Ok(0.0);
    }
    let (negative, magnitude) = exponent_of(&exponent_text[1..]);
    exponent += if negative { -magnitude } else { magnitude };
    let shift = i64::from(mantissa.leading_zeros());
    round(mantissa << shift, more, exponent + 63 - shift)
}

/// The float nearest to `1.mantissa * 2^exponent` (the mantissa's top bit is set), ties to even.
fn round(mantissa: u64, more: bool, exponent: i64) -> Result<f64, NumberError> {
    if exponent > 1023 {
        return Err(NumberError::Range);
    }
    let drop = if exponent >= -1022 { 11 } else { 11 + (-1022 - exponent) };
    if drop > 64 {
        return Ok(0.0);
    }
    let (kept, lost) = if drop == 64 { (0, mantissa) } else { (mantissa >> drop, mantissa << (64 - drop)) };
    let half = 1_u64 << 63;
    let up = lost > half || (lost == half && (more || kept & 1 == 1));
    let kept = kept + u64::from(up);
    // A normal number has its leading bit in place 52, where it adds one to the exponent field; so does a carry.
    let field = u64::try_from((exponent + 1022).max(0)).unwrap_or(0);
    let value = f64::from_bits((field << 52) + kept);
    if value.is_finite() { Ok(value) } else { Err(NumberError::Range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (token, value) in [
            ("1", 1.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("017", 17.0),
            ("1_000", 1000.0),
            ("1e-999", 0.0),
            ("0x1p4", 16.0),
            ("0x1.8p1", 3.0),
            ("0X.8P0", 0.5),
            ("0x1p-1074", f64::from_bits(1)),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", f64::from_bits(1)),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1p-1022", f64::MIN_POSITIVE),
            ("0x10000000000000000000p0", 75_557_863_725_914_323_419_136.0),
        ] {
            assert_eq!(float(token), Ok(value), "{token}");
        }
        for token in ["1e999", "0x1p1024", "0x1.fffffffffffff8p1023"] {
            assert_eq!(float(token), Err(NumberError::Range), "{token}");
        }
        for token in ["0x10", "0o17", "0b1"] {
            assert_eq!(float(token), Err(NumberError::Base), "{token}");
        }
    }
}
