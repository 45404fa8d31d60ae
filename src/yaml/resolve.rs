//! What a plain scalar means: the rules of go-yaml 2.4 (`resolve.go`), which kubectl and the API server use.

use serde_json::{Number, Value};

/// Resolves a plain scalar without a tag. `Err` holds what JSON cannot say: `.nan` and `.inf`.
pub(super) fn plain(text: &str) -> Result<Value, &str> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Value::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Value::Bool(false));
        }
        ".nan" | ".NaN" | ".NAN" => return Err(text),
        _ => {}
    }
    if matches!(text.strip_prefix(['+', '-']).unwrap_or(text), ".inf" | ".Inf" | ".INF") {
        return Err(text);
    }
    let number = match text.as_bytes()[0] {
        b'0'..=b'9' | b'+' | b'-' => number(text),
        b'.' => {
            text.parse::<f64>().ok().filter(|float| float.is_finite() && is_float(text)).and_then(shortest)
        }
        _ => None,
    };
    Ok(number.map_or_else(|| Value::String(text.to_owned()), Value::Number))
}

/// Integers in Go's base prefixes, then floats; underscores are dropped first.
fn number(text: &str) -> Option<Number> {
    if is_timestamp(text) {
        return None;
    }
    let bare: String = text.chars().filter(|character| *character != '_').collect();
    if let Some(integer) = integer(&bare) {
        return Some(integer);
    }
    is_float(&bare).then(|| bare.parse::<f64>().ok())?.filter(|float| float.is_finite()).and_then(shortest)
}

/// Dates look like sums; go-yaml keeps them as the text they are.
fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() > 4 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-'
}

/// `strconv.ParseInt(text, 0, 64)` and then `ParseUint`: 0x, 0o, 0b and a leading zero for octal.
fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = if let Some(rest) = lower.strip_prefix("0x") {
        (16, rest)
    } else if let Some(rest) = lower.strip_prefix("0o") {
        (8, rest)
    } else if let Some(rest) = lower.strip_prefix("0b") {
        (2, rest)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    // Rust's own parser would take a second sign.
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0_i64.checked_sub_unsigned(magnitude).map(Number::from)
    } else {
        Some(Number::from(magnitude))
    }
}

/// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && all_digits(fraction),
        Some((whole, fraction)) => !whole.is_empty() && all_digits(whole) && all_digits(fraction),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_ok && exponent_ok
}

/// A float as Go's JSON encoder writes it: `1.0` and `1e3` become integers again.
fn shortest(float: f64) -> Option<Number> {
    const LARGEST_EXACT: f64 = 1e18;
    if float.fract() == 0.0 && float.abs() < LARGEST_EXACT {
        #[allow(clippy::cast_possible_truncation)]
        return Some(Number::from(float as i64));
    }
    Number::from_f64(float)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn resolves_as_kubectl_does() {
        let cases = [
            ("yes", json!(true)),
            ("on", json!(true)),
            ("Off", json!(false)),
            ("n", json!(false)),
            ("017", json!(15)),
            ("0o17", json!(15)),
            ("08", json!(8)),
            ("1_000", json!(1000)),
            ("1e3", json!(1000)),
            ("0x1F", json!(31)),
            ("-0b11", json!(-3)),
            ("1.0", json!(1)),
            ("1.5", json!(1.5)),
            ("5.", json!(5)),
            (".5", json!(0.5)),
            ("1e400", json!("1e400")),
            ("1:30", json!("1:30")),
            ("2026-01-10", json!("2026-01-10")),
            ("2026-01-10T10:00:00Z", json!("2026-01-10T10:00:00Z")),
            ("-", json!("-")),
            ("0x", json!("0x")),
            ("--1", json!("--1")),
            ("18446744073709551615", json!(18_446_744_073_709_551_615_u64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("", Value::Null),
            ("~", Value::Null),
            ("yEs", json!("yEs")),
            ("=", json!("=")),
            ("=~", json!("=~")),
        ];
        for (text, value) in cases {
            assert_eq!(plain(text), Ok(value), "{text:?}");
        }
        assert!(plain(".inf").is_err() && plain("-.Inf").is_err() && plain(".nan").is_err());
    }
}
