//! Text that a terminal shows and does not obey: control characters of the input are made visible.

use std::borrow::Cow;

/// Would a terminal act on it? Besides the control characters, those that turn the direction of a line.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A message, a path or a name; line breaks stay.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_control(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_control(c) && c != '\n' {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// A piece of a file. Every byte stays where it is, so that places hold.
pub(super) fn source(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_control(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\r' if text[at + 1..].starts_with('\n') => shown.push(' '),
            c if is_control(c) => shown.extend(std::iter::repeat_n('?', c.len_utf8())),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_but_text() {
        let text = "a\u{1b}[31mb\u{9b}c\u{7f}\u{202e}d\r\ne\tf\n";
        assert_eq!(line(text), "a\\u{1b}[31mb\\u{9b}c\\u{7f}\\u{202e}d\\u{d}\ne\\u{9}f\n");
        assert_eq!(source(text), "a?[31mb??c????d \ne\tf\n");
        assert_eq!(source(text).len(), text.len());
        assert!(matches!(line("a\nb é"), Cow::Borrowed(_)) && matches!(source("a\tb\n"), Cow::Borrowed(_)));
    }
}
