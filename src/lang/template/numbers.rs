//! Number literals: how far Go's lexer reads them, and which of them its number parser then accepts.

use super::literals::decode;
use crate::lang::letters::is_name_character;

/// What the lexer found where a number starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scan {
    /// End of what belongs to the number.
    pub(super) end: usize,
    /// Where the imaginary part of a complex number starts, with its sign.
    pub(super) split: Option<usize>,
    /// Whether the number ends where a number may end.
    pub(super) complete: bool,
}

/// Reads the number at `start`: a real or imaginary one, or a complex one such as `1+2i`.
pub(super) fn scan(text: &[u8], start: usize) -> Scan {
    let (end, complete) = scan_part(text, start);
    if complete && matches!(text.get(end), Some(b'+' | b'-')) {
        let (last, complete) = scan_part(text, end);
        let imaginary = text.get(last.saturating_sub(1)) == Some(&b'i');
        return Scan { end: last, split: Some(end), complete: complete && imaginary };
    }
    Scan { end, split: None, complete }
}

/// Reads one signed number; false where a letter or digit follows that does not belong to it.
fn scan_part(text: &[u8], start: usize) -> (usize, bool) {
    let mut at = start;
    let accept = |at: &mut usize, set: &[u8]| {
        let found = text.get(*at).is_some_and(|byte| set.contains(byte));
        *at += usize::from(found);
        found
    };
    accept(&mut at, b"+-");
    let mut radix = 10;
    if accept(&mut at, b"0") {
        if accept(&mut at, b"xX") {
            radix = 16;
        } else if accept(&mut at, b"oO") {
            radix = 8;
        } else if accept(&mut at, b"bB") {
            radix = 2;
        }
    }
    let digits = |at: usize, radix: u32| {
        let rest = text.get(at..).unwrap_or_default();
        at + rest
            .iter()
            .position(|&byte| byte != b'_' && !char::from(byte).is_digit(radix))
            .unwrap_or(rest.len())
    };
    at = digits(at, radix);
    if accept(&mut at, b".") {
        at = digits(at, radix);
    }
    if radix == 10 && accept(&mut at, b"eE") || radix == 16 && accept(&mut at, b"pP") {
        accept(&mut at, b"+-");
        at = digits(at, 10);
    }
    accept(&mut at, b"i");
    match decode(text.get(at..).unwrap_or_default()) {
        Some((character, length)) if is_name_character(character) => (at + length, false),
        _ => (at, true),
    }
}

/// Why Go's number parser refuses a number that its lexer has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// An integer outside of 64 bits, or one with a leading zero that is no octal number.
    Integer,
    /// A float that rounds to infinity.
    TooLarge,
    /// Anything else.
    Syntax,
}

/// Whether Go accepts the number; `split` is where the imaginary part of a complex number starts.
pub(super) fn check(literal: &[u8], split: Option<usize>) -> Result<(), BadNumber> {
    if let Some((real, imaginary)) = split.and_then(|split| literal.split_at_checked(split)) {
        check_float(real)?;
        return check_float(imaginary.strip_suffix(b"i").unwrap_or_default());
    }
    if let Some(number) = literal.strip_suffix(b"i") {
        return check_float(number);
    }
    if is_integer(literal) {
        return Ok(());
    }
    check_float(literal)?;
    // What reads as a float but looks like an integer is an integer that does not fit.
    if literal.iter().any(|byte| b".eEpP".contains(byte)) { Ok(()) } else { Err(BadNumber::Integer) }
}

/// Integers of 64 bits: from -2^63 with a sign to 2^64-1 without one, in the bases that Go knows.
fn is_integer(literal: &[u8]) -> bool {
    let (sign, number) = match literal {
        [sign @ (b'+' | b'-'), number @ ..] => (Some(*sign), number),
        number => (None, number),
    };
    let (radix, digits) = match number {
        [] => return false,
        [b'0', b'x' | b'X', digits @ ..] if !digits.is_empty() => (16, digits),
        [b'0', b'o' | b'O', digits @ ..] if !digits.is_empty() => (8, digits),
        [b'0', b'b' | b'B', digits @ ..] if !digits.is_empty() => (2, digits),
        [b'0', digits @ ..] => (8, digits),
        digits => (10, digits),
    };
    let mut value: u64 = 0;
    for &byte in digits.iter().filter(|&&byte| byte != b'_') {
        let grown = char::from(byte).to_digit(radix).and_then(|digit| {
            value.checked_mul(u64::from(radix)).and_then(|value| value.checked_add(u64::from(digit)))
        });
        let Some(grown) = grown else { return false };
        value = grown;
    }
    let fits = match sign {
        None => true,
        Some(b'-') => value <= 1 << 63,
        Some(_) => value < 1 << 63,
    };
    fits && underscores_separate(number)
}

/// Underscores stand between digits, or between a base prefix and a digit.
fn underscores_separate(literal: &[u8]) -> bool {
    #[derive(PartialEq)]
    enum Seen {
        Digit,
        Underscore,
        Other,
    }
    if !literal.contains(&b'_') {
        return true;
    }
    let ([b'+' | b'-', unsigned @ ..] | unsigned) = literal;
    let (mut seen, radix, digits) = match unsigned {
        [b'0', b'x' | b'X', digits @ ..] => (Seen::Digit, 16, digits),
        [b'0', b'o' | b'O' | b'b' | b'B', digits @ ..] => (Seen::Digit, 10, digits),
        digits => (Seen::Other, 10, digits),
    };
    for &byte in digits {
        seen = if char::from(byte).is_digit(radix) {
            Seen::Digit
        } else if byte == b'_' {
            if seen != Seen::Digit {
                return false;
            }
            Seen::Underscore
        } else if seen == Seen::Underscore {
            return false;
        } else {
            Seen::Other
        };
    }
    seen != Seen::Underscore
}

/// Decimal floats and hexadecimal ones with a binary exponent, unless they round to infinity.
fn check_float(literal: &[u8]) -> Result<(), BadNumber> {
    let ([b'+' | b'-', unsigned @ ..] | unsigned) = literal;
    let (radix, number) = match unsigned {
        [b'0', b'x' | b'X', number @ ..] if !number.is_empty() => (16, number),
        number => (10, number),
    };
    let is_digit = |byte: u8| byte == b'_' || byte == b'.' || char::from(byte).is_digit(radix);
    let length = number.iter().position(|&byte| !is_digit(byte)).unwrap_or(number.len());
    let (mantissa, rest) = number.split_at(length);
    if mantissa.split(|&byte| byte == b'.').nth(2).is_some()
        || !mantissa.iter().any(|&byte| char::from(byte).is_digit(radix))
    {
        return Err(BadNumber::Syntax);
    }
    let exponent = match (radix, rest) {
        (10, []) => 0,
        (10, [b'e' | b'E', digits @ ..]) | (16, [b'p' | b'P', digits @ ..]) => match exponent(digits) {
            Some(exponent) => exponent,
            None => return Err(BadNumber::Syntax),
        },
        _ => return Err(BadNumber::Syntax),
    };
    if !underscores_separate(literal) {
        return Err(BadNumber::Syntax);
    }
    let fits =
        if radix == 16 { hexadecimal_fits(mantissa, exponent) } else { decimal_fits(mantissa, exponent) };
    if fits { Ok(()) } else { Err(BadNumber::TooLarge) }
}

/// The exponent's value. Go stops counting at 10,000 and so do we, since a very long mantissa can tell the difference.
fn exponent(digits: &[u8]) -> Option<i64> {
    let (sign, digits) = match digits {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] | digits => (1, digits),
    };
    if !digits.first()?.is_ascii_digit() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        match byte {
            b'0'..=b'9' if value < 10_000 => value = value * 10 + i64::from(byte - b'0'),
            b'_' | b'0'..=b'9' => {}
            _ => return None,
        }
    }
    Some(sign * value)
}

/// As many digits as Go's decimal conversion keeps. It forgets to count the dropped ones before the point, which makes
/// some oversized numbers acceptable; so must we.
const KEPT_DIGITS: usize = 800;

/// Whether a decimal number stays below infinity.
fn decimal_fits(mantissa: &[u8], exponent: i64) -> bool {
    let mut kept = Vec::new();
    let (mut point, mut seen_point) = (0_i64, false);
    for &byte in mantissa {
        match byte {
            b'.' => seen_point = true,
            b'_' => {}
            b'0' if kept.is_empty() => point -= i64::from(seen_point),
            digit if kept.len() < KEPT_DIGITS => {
                kept.push(digit);
                point += i64::from(!seen_point);
            }
            _ => {}
        }
    }
    // The value is 0.kept times ten to this power; the largest float is just below 1.8e308.
    match point + exponent {
        _ if kept.is_empty() => true,
        ..=308 => true,
        309 => {
            let text = format!("0.{}e309", String::from_utf8_lossy(&kept));
            text.parse::<f64>().is_ok_and(f64::is_finite)
        }
        _ => false,
    }
}

/// Whether a hexadecimal number stays below infinity.
fn hexadecimal_fits(mantissa: &[u8], exponent: i64) -> bool {
    let (mut bits, mut kept, mut point, mut seen_point) = (0_u64, 0_u32, 0_i64, false);
    for &byte in mantissa {
        match char::from(byte).to_digit(16) {
            None => seen_point |= byte == b'.',
            Some(0) if kept == 0 => point -= 4 * i64::from(seen_point),
            Some(digit) => {
                if kept < 16 {
                    bits = bits << 4 | u64::from(digit);
                    kept += 1;
                }
                point += 4 * i64::from(!seen_point);
            }
        }
    }
    if bits == 0 {
        return true;
    }
    // The value lies below two to this power.
    let top = point + exponent - i64::from(4 * kept) + i64::from(u64::BITS - bits.leading_zeros());
    // At the very top, 54 leading ones round up to infinity.
    top < 1024 || top == 1024 && (bits << bits.leading_zeros()).leading_ones() < 54
}
