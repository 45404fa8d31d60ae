//! Letters, digits and numbers as Go's `unicode` package knows them: Unicode 15.0, the edition that Go 1.26 carries.
//!
//! The standard library follows a newer edition and knows only wider classes (`is_alphabetic`), so a text could be cut into
//! other tokens than the originals cut it.

use super::re2;

/// Whether the character is a letter.
pub(super) fn is_letter(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { re2::is_in_category("L", c) }
}

/// Whether the character is a decimal digit of any script.
pub(super) fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { re2::is_in_category("Nd", c) }
}

/// Whether the character is a number of any kind: digits, fractions, numerals in letters.
pub(super) fn is_number(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { re2::is_in_category("N", c) }
}

/// Whether the character may stand in a name: a letter, a digit or the underscore.
pub(super) fn is_name_character(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_beyond_ascii() {
        assert!(is_letter('é') && is_letter('ß') && is_letter('字') && is_letter('\u{212A}'));
        assert!(!is_letter('\u{A0}') && !is_letter('²') && !is_letter('Ⅷ') && !is_letter('€'));
        assert!(is_digit('٣') && !is_digit('²') && is_number('²') && is_number('Ⅷ') && !is_number('x'));
        // New in Unicode 16.
        assert!(!is_letter('\u{1C89}'));
    }
}
