//! What a server says, made fit to be shown: short, on one line, without the credentials that were sent to it.
//!
//! A message of a peer ends up in conditions, events and logs. It may be long, hold terminal sequences, or repeat the
//! request's own headers; a [`PeerText`] does none of that.

use std::fmt;

use crate::model::secret_text::SecretText;

/// The most characters that are kept.
pub const MOST: usize = 512;

/// A harmless piece of what a peer said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerText(String);

impl PeerText {
    /// Takes a peer's words; whatever of these secrets is in them is left out.
    pub fn new(text: &str, secrets: &[SecretText]) -> Self {
        let mut text = text.to_owned();
        // Before the cut: half a secret is one too.
        for secret in secrets.iter().filter(|secret| !secret.expose().is_empty()) {
            if text.contains(secret.expose()) {
                text = text.replace(secret.expose(), "…");
            }
        }
        let mut shown = String::new();
        let mut count = 0;
        for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
            if word.is_empty() {
                continue;
            }
            for letter in (count > 0).then_some(' ').into_iter().chain(word.chars()) {
                if count + 1 == MOST {
                    shown.push('…');
                    return Self(shown);
                }
                shown.push(if is_invisible(letter) { char::REPLACEMENT_CHARACTER } else { letter });
                count += 1;
            }
        }
        Self(shown)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Was there nothing to show?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Letters that change how others are read: zero-width ones, directions and their overrides, tags.
const INVISIBLE: [std::ops::RangeInclusive<char>; 8] = [
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{e0000}'..='\u{e007f}',
];

fn is_invisible(letter: char) -> bool {
    INVISIBLE.iter().any(|range| range.contains(&letter))
}

impl fmt::Display for PeerText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_made_harmless() {
        let text = PeerText::new("  bad\u{1b}[31m\r\nlabel\tname \u{202e}x\u{0}", &[]);
        assert_eq!(text.as_str(), "bad [31m label name \u{fffd}x");
        assert!(PeerText::new(" \n\u{7}", &[]).is_empty());
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        for long in ["ä".repeat(2000), "ä b ".repeat(2000)] {
            let text = PeerText::new(&long, &[]);
            assert_eq!(text.as_str().chars().count(), MOST);
            assert!(text.as_str().ends_with('…'));
        }
        let fits = "x".repeat(MOST - 1);
        assert_eq!(PeerText::new(&fits, &[]).as_str(), fits);
    }

    #[test]
    fn what_was_sent_as_a_secret_is_left_out_even_where_the_cut_is() {
        let secret = SecretText::from("hunter2".to_owned());
        let text = PeerText::new("you sent hunter2", std::slice::from_ref(&secret));
        assert_eq!(text.as_str(), "you sent …");
        let long = format!("{}hunter2", "x".repeat(MOST - 4));
        assert!(!PeerText::new(&long, &[secret]).as_str().contains("hun"));
        let none = SecretText::from(String::new());
        assert_eq!(PeerText::new("as it is", &[none]).as_str(), "as it is");
    }
}
