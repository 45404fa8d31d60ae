//! Byte sizes with units (`5KB`, `1.5GiB`), as the library that Loki uses reads them.

/// Why a text is no byte size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeError {
    /// The text does not begin with a number.
    Number,
    /// The unit is unknown.
    Unit,
    /// 2^64 bytes or more.
    TooLarge,
}

/// The number of bytes that a text names. Units in any case, with or without `B`; `k` is 1000 and `Ki` is 1024.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn parse(text: &str) -> Result<u64, SizeError> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ',')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = if number.contains(',') {
        number.replace(',', "").parse().map_err(|_| SizeError::Number)?
    } else {
        number.parse().map_err(|_| SizeError::Number)?
    };
    if number.is_infinite() {
        return Err(SizeError::Number);
    }
    let size = number * scale(unit.trim()).ok_or(SizeError::Unit)?;
    // 2^64, the smallest value that no longer fits.
    if size >= 18_446_744_073_709_551_616.0 {
        return Err(SizeError::TooLarge);
    }
    Ok(size as u64)
}

/// How many bytes one unit has. Every one of them is a float without loss.
#[allow(clippy::cast_precision_loss)]
fn scale(unit: &str) -> Option<f64> {
    let mut letters = unit.chars().map(plain_letter);
    let power = match letters.next() {
        None => return Some(1.0),
        Some('b') => return letters.next().is_none().then_some(1.0),
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some('p') => 5,
        Some('e') => 6,
        Some(_) => return None,
    };
    let (base, last) = match letters.next() {
        Some('i') => (1024_u64, letters.next()),
        other => (1000_u64, other),
    };
    let complete = matches!(last, None | Some('b')) && letters.next().is_none();
    complete.then(|| base.pow(power) as f64)
}

/// The letter in lower case; the two letters beyond ASCII that Unicode lowers into it are included.
fn plain_letter(c: char) -> char {
    match c {
        '\u{212A}' => 'k',
        '\u{130}' => 'i',
        other => other.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!(parse("5kB"), Ok(5000));
        assert_eq!(parse("1.5KiB"), Ok(1536));
        assert_eq!(parse("1,000"), Ok(1000));
        assert_eq!(parse("5 Mi"), Ok(5 << 20));
        assert_eq!(parse("17EB"), Ok(17_000_000_000_000_000_000));
        assert_eq!(parse("16EiB"), Err(SizeError::TooLarge));
        assert_eq!(parse("5x"), Err(SizeError::Unit));
        assert_eq!(parse("B"), Err(SizeError::Number));
        assert_eq!(parse("5bb"), Err(SizeError::Unit));
    }
}
