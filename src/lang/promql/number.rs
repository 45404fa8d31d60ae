//! Numbers and durations as literals: where one ends, and what it is worth.
//!
//! The scanner takes more than a number can be, and what it took is then read as Go reads it; both halves
//! follow Prometheus, so that `0x1e` is refused and `0x1f` is not.

/// A number written out, or a duration, which counts as its seconds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Literal {
    /// A plain number.
    Plain(f64),
    /// A duration in nanoseconds.
    Duration(i64),
}

impl Literal {
    /// The literal as a number; a duration is its seconds.
    #[allow(clippy::cast_precision_loss)] // Go divides the same way: whole seconds, and the rest as a fraction.
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Plain(value) => value,
            Self::Duration(nanoseconds) => {
                (nanoseconds / 1_000_000_000) as f64 + (nanoseconds % 1_000_000_000) as f64 / 1e9
            }
        }
    }

    /// The literal with the other sign.
    pub(super) fn negated(self) -> Self {
        match self {
            Self::Plain(value) => Self::Plain(-value),
            Self::Duration(nanoseconds) => Self::Duration(-nanoseconds),
        }
    }
}

impl PartialEq for Literal {
    /// Equal when nothing tells them apart in a query: all NaN are one.
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Plain(a), Self::Plain(b)) => a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan(),
            (Self::Duration(a), Self::Duration(b)) => a == b,
            _ => false,
        }
    }
}

/// What stands at a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scanned {
    /// A number that ends before that offset.
    Number(usize),
    /// A duration that ends before that offset.
    Duration(usize),
    /// Neither; the reading broke off at that offset.
    Neither(usize),
}

/// Measures the number or duration that starts at `start`.
pub(super) fn scan(text: &[u8], start: usize) -> Scanned {
    let mut reader = Reader { text, at: start };
    if reader.number() {
        return Scanned::Number(reader.at);
    }
    if reader.rest_of_duration() { Scanned::Duration(reader.at) } else { Scanned::Neither(reader.at) }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn accept(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let found = self.peek().is_some_and(wanted);
        self.at += usize::from(found);
        found
    }

    fn followed_by_word(&self) -> bool {
        self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// A loose number: digits, one dot, one exponent, single underscores. In hexadecimal an `e` still counts as
    /// an exponent unless another digit carried the reader over it.
    fn number(&mut self) -> bool {
        let start = self.at;
        let mut hexadecimal = false;
        if self.accept(|byte| byte == b'0') && self.accept(|byte| byte == b'x' || byte == b'X') {
            self.accept(|byte| byte == b'_');
            hexadecimal = true;
        }
        let is_digit =
            move |byte: u8| if hexadecimal { byte.is_ascii_hexdigit() } else { byte.is_ascii_digit() };
        let after_exponent_or_underscore = |byte: u8| matches!(byte, b'.' | b'_' | b'e' | b'E');
        self.accept(|byte| byte == b'.');
        self.accept(is_digit);
        let (mut dotted, mut raised) = (false, false);
        while let Some(byte) = self.peek() {
            match byte {
                b'.' => {
                    self.at += 1;
                    if dotted || self.accept(|byte| byte == b'_' || byte == b'.') || hexadecimal {
                        return false;
                    }
                    dotted = true;
                }
                b'e' | b'E' => {
                    self.at += 1;
                    if raised {
                        return false;
                    }
                    raised = true;
                    self.accept(|byte| byte == b'+' || byte == b'-');
                    if self.accept(after_exponent_or_underscore) || self.peek().is_none() {
                        return false;
                    }
                }
                b'_' => {
                    self.at += 1;
                    if self.accept(after_exponent_or_underscore) || self.peek().is_none() {
                        return false;
                    }
                }
                digit if is_digit(digit) => while self.accept(is_digit) {},
                _ => break,
            }
        }
        self.at > start && !self.followed_by_word()
    }

    /// Units and further numbers behind what was already taken for a number. `y` can only come first, and the
    /// order of the others is judged later.
    fn rest_of_duration(&mut self) -> bool {
        if !self.accept(|byte| b"smhdwy".contains(&byte)) {
            return false;
        }
        self.accept(|byte| byte == b's');
        while self.accept(|byte| byte.is_ascii_digit()) {
            while self.accept(|byte| byte.is_ascii_digit()) {}
            if !self.accept(|byte| b"smhdw".contains(&byte)) {
                return false;
            }
            self.accept(|byte| byte == b's');
        }
        !self.followed_by_word()
    }
}

/// The value of a number as Go's `ParseInt` with base 0, and failing that `ParseFloat`, read it: `010` is eight,
/// `08` is eight as well, and what no float can hold is refused.
pub(super) fn value(word: &str) -> Option<f64> {
    let joined: String;
    let digits = if word.contains('_') {
        if !underscores_separate_digits(word.as_bytes()) {
            return None;
        }
        joined = word.replace('_', "");
        joined.as_str()
    } else {
        word
    };
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        return integer(hexadecimal, 16);
    }
    if let Some(octal) = digits.strip_prefix('0')
        && octal.bytes().all(|byte| (b'0'..b'8').contains(&byte))
    {
        // An octal number too large for 64 bits is read as a decimal one.
        let value = if octal.is_empty() { Some(0.0) } else { integer(octal, 8) };
        if value.is_some() {
            return value;
        }
    }
    let value = digits.parse::<f64>().ok()?;
    let infinite_by_name = digits.starts_with(['i', 'I']);
    (value.is_finite() || value.is_nan() || infinite_by_name).then_some(value)
}

#[allow(clippy::cast_precision_loss)] // Go converts the integer the same way.
fn integer(digits: &str, radix: u32) -> Option<f64> {
    i64::from_str_radix(digits, radix).ok().map(|value| value as f64)
}

/// Underscores stand between digits, or between the prefix of a base and a digit.
fn underscores_separate_digits(word: &[u8]) -> bool {
    let hexadecimal = word.len() >= 2 && word[0] == b'0' && (word[1] | 0x20) == b'x';
    let mut previous = if hexadecimal { b'0' } else { b'^' };
    for &byte in &word[if hexadecimal { 2 } else { 0 }..] {
        if byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit() {
            previous = b'0';
        } else if byte == b'_' {
            if previous != b'0' {
                return false;
            }
            previous = b'_';
        } else if previous == b'_' {
            return false;
        } else {
            previous = b'!';
        }
    }
    previous != b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_prometheus_ends_them() {
        for (text, expected) in [
            ("1)", Scanned::Number(1)),
            ("1_000.5e-3 ", Scanned::Number(10)),
            ("0x1f", Scanned::Number(4)),
            ("0x1e", Scanned::Neither(4)),
            ("1h30m]", Scanned::Duration(5)),
            ("1h30", Scanned::Neither(4)),
            ("1__0", Scanned::Neither(3)),
        ] {
            assert_eq!(scan(text.as_bytes(), 0), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_worth_what_go_says() {
        for (text, expected) in [
            ("010", Some(8.0)),
            ("08", Some(8.0)),
            ("0x_1F", Some(31.0)),
            ("0x", None),
            ("1e999", None),
            ("inf", Some(f64::INFINITY)),
            ("1_0.5", Some(10.5)),
            ("1e+", None),
            ("9223372036854775808", Some(9_223_372_036_854_775_808.0)),
            ("0xFFFFFFFFFFFFFFFF", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }
}
