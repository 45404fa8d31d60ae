//! The formats that the API server checks, as it checks them (kube-openapi's `strfmt`).

/// `date-time`: a date, `t` in either case, a time with seconds and a zone. Looser than RFC 3339 in its offset and in
/// the sign before the fraction, stricter in that the 60th second is refused.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

/// Go's layout `2006-01-02`, with the days that the month has.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0..4), number(5..7), number(8..10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    };
    shape && (1..=days).contains(&day)
}

/// `^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`, hours to 23, minutes and seconds to 59.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let two = |at: usize, most: &str| {
        text.get(at..at + 2)
            .is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && part <= most)
    };
    if !(two(0, "23") && two(3, "59") && two(6, "59"))
        || bytes.get(2) != Some(&b':')
        || bytes.get(5) != Some(&b':')
    {
        return false;
    }
    let rest = text.get(8..).unwrap_or_default();
    let zone = |zone: &str| {
        let bytes = zone.as_bytes();
        zone == "z"
            || bytes.len() == 6
                && matches!(bytes[0], b'+' | b'-')
                && bytes[3] == b':'
                && [1, 2, 4, 5].iter().all(|at| bytes[*at].is_ascii_digit())
    };
    if zone(rest) {
        return true;
    }
    // Any one character, then digits, then the zone.
    let mut characters = rest.chars();
    if characters.next().is_none_or(|mark| mark == '\n') {
        return false;
    }
    let fraction = characters.as_str();
    let digits = fraction.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && zone(&fraction[digits..])
}

/// `byte`: base64 with padding; empty is refused.
pub(super) fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_times_as_the_api_server_takes_them() {
        for text in [
            "2026-01-10T10:00:00Z",
            "2026-01-10t10:00:00z",
            "2024-02-29T23:59:59.123+01:00",
            "2026-01-10T10:00:00,5Z",
            "2026-01-10T10:00:00+99:99",
        ] {
            assert!(is_date_time(text), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "2026-01-10",
            "2026-01-10 10:00:00Z",
            "2026-01-10T10:00:00",
            "2026-02-29T10:00:00Z",
            "2026-01-10T24:00:00Z",
            "2026-01-10T10:00:60Z",
            "2026-1-10T10:00:00Z",
            "2026-13-01T10:00:00Z",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn base64_needs_its_padding() {
        assert!(is_base64("YWI=") && is_base64("YWJj") && is_base64("YQ=="));
        assert!(!is_base64("") && !is_base64("YWI") && !is_base64("YW-_") && !is_base64("===="));
    }
}
