//! Quoted literals as Go reads them: strings, raw strings and character constants.

use std::borrow::Cow;

/// The first character at the start of the bytes with its length; `None` where the bytes are no UTF-8 (Go then reads
/// one byte as a replacement character).
pub(super) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some((char::from(first), 1));
    }
    let piece = bytes.get(..4).unwrap_or(bytes);
    let valid = match std::str::from_utf8(piece) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(piece.get(..error.valid_up_to())?).ok()?,
    };
    valid.chars().next().map(|character| (character, character.len_utf8()))
}

/// A literal that Go cannot read, and where in it the trouble is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadLiteral {
    /// Start of the offending part, counted from the literal's first quote.
    pub(super) start: usize,
    /// Its end.
    pub(super) end: usize,
    /// What is wrong with it.
    pub(super) why: WhyBad,
}

/// What is wrong with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhyBad {
    /// A backslash before something that it cannot stand before.
    Escape,
    /// A character constant without a character.
    NoCharacter,
    /// A character constant with more than one character.
    ManyCharacters,
}

/// What one step through a literal yields.
enum Unit {
    /// A byte as it is, from `\xff` or `\377`.
    Byte(u8),
    /// A character.
    Character(char),
}

/// Reads one character or escape at `at`; the literal's quote decides which quote may be escaped.
fn unit(literal: &[u8], at: usize, quote: u8) -> Result<(Unit, usize), BadLiteral> {
    let rest = literal.get(at..).unwrap_or_default();
    if rest.first() != Some(&b'\\') {
        return Ok(match decode(rest) {
            Some((character, length)) => (Unit::Character(character), at + length),
            None => (Unit::Character(char::REPLACEMENT_CHARACTER), at + 1),
        });
    }
    let bad = |length: usize| {
        let inner = rest.get(1..rest.len().saturating_sub(1)).unwrap_or_default();
        let shown = inner.iter().take(length - 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
        BadLiteral { start: at, end: at + 1 + shown, why: WhyBad::Escape }
    };
    let digits = |from: usize, count: usize, radix: u32| {
        rest.get(from..from + count)?
            .iter()
            .try_fold(0, |value: u32, &byte| Some((value * radix) + char::from(byte).to_digit(radix)?))
    };
    let byte = |value: u8| Ok((Unit::Byte(value), at + 2));
    match rest.get(1).copied() {
        Some(b'a') => byte(0x07),
        Some(b'b') => byte(0x08),
        Some(b'f') => byte(0x0c),
        Some(b'n') => byte(b'\n'),
        Some(b'r') => byte(b'\r'),
        Some(b't') => byte(b'\t'),
        Some(b'v') => byte(0x0b),
        Some(b'\\') => byte(b'\\'),
        Some(escaped) if escaped == quote => byte(quote),
        Some(b'x') => {
            let value = digits(2, 2, 16).and_then(|value| u8::try_from(value).ok()).ok_or(bad(4))?;
            Ok((Unit::Byte(value), at + 4))
        }
        Some(b'0'..=b'7') => {
            let value = digits(1, 3, 8).and_then(|value| u8::try_from(value).ok()).ok_or(bad(4))?;
            Ok((Unit::Byte(value), at + 4))
        }
        Some(letter @ (b'u' | b'U')) => {
            let count = if letter == b'u' { 4 } else { 8 };
            // Two hexadecimal halves, since eight digits may exceed what the fold can hold when they are no character.
            let high = if count == 8 { digits(2, 4, 16) } else { Some(0) };
            let low = digits(count - 2, 4, 16);
            let value = high.zip(low).map(|(high, low)| (high << 16) | low);
            let character = value.and_then(char::from_u32).ok_or(bad(2 + count))?;
            Ok((Unit::Character(character), at + 2 + count))
        }
        other => {
            let length = other.and_then(|_| decode(rest.get(1..)?)).map_or(1, |(_, length)| length);
            Err(BadLiteral { start: at, end: at + 1 + length, why: WhyBad::Escape })
        }
    }
}

/// Whether Go can read a double-quoted string (given with its quotes, which the lexer has matched).
pub(super) fn check_quoted(literal: &[u8]) -> Result<(), BadLiteral> {
    let end = literal.len().saturating_sub(1);
    let mut at = 1;
    while let Some(found) = literal.get(at..end).and_then(|rest| rest.iter().position(|&byte| byte == b'\\'))
    {
        (_, at) = unit(literal, at + found, b'"')?;
    }
    Ok(())
}

/// Whether Go can read a character constant (given with its quotes, which the lexer has matched).
pub(super) fn check_character(literal: &[u8]) -> Result<(), BadLiteral> {
    let end = literal.len().saturating_sub(1);
    if end <= 1 {
        return Err(BadLiteral { start: 0, end: literal.len(), why: WhyBad::NoCharacter });
    }
    let (_, after) = unit(literal, 1, b'\'')?;
    if after == end {
        Ok(())
    } else {
        Err(BadLiteral { start: 0, end: literal.len(), why: WhyBad::ManyCharacters })
    }
}

/// What a string or raw string (given with its quotes) stands for. Literals that cannot be read stand for nothing.
pub(super) fn unquote(literal: &[u8]) -> Cow<'_, [u8]> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if literal.first() == Some(&b'`') {
        // Go drops carriage returns from raw strings.
        return if inner.contains(&b'\r') {
            Cow::Owned(inner.iter().copied().filter(|&byte| byte != b'\r').collect())
        } else {
            Cow::Borrowed(inner)
        };
    }
    if !inner.contains(&b'\\') && std::str::from_utf8(inner).is_ok() {
        return Cow::Borrowed(inner);
    }
    let mut value = Vec::with_capacity(inner.len());
    let mut at = 1;
    while at <= inner.len() {
        let Ok((read, next)) = unit(literal, at, b'"') else { break };
        match read {
            Unit::Byte(byte) => value.push(byte),
            Unit::Character(character) => {
                value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        at = next;
    }
    Cow::Owned(value)
}
