//! The parts of the generator that do not follow the grammar: one odd text in a short query, and small mistakes.

use crate::logql_grammar::Generator;
use crate::logql_pools::{POOLS, frames};

impl Generator {
    /// A short query around one odd text; the texts of all pools take turns.
    pub fn focused(&mut self) -> String {
        let total: usize = POOLS.iter().map(|pool| pool.odd.len()).sum();
        let mut at = self.focus % total;
        self.focus += 1;
        let pool = POOLS.iter().find(|pool| {
            let here = at < pool.odd.len();
            at -= if here { 0 } else { pool.odd.len() };
            here
        });
        let pool = pool.unwrap();
        let text = pool.odd[at];
        self.count(&format!("{}: {text}", pool.name));
        let frame = self.dice.pick(frames(pool.name));
        frame.replace('@', text)
    }

    /// The text with one to three small changes: pieces left out, doubled or swapped, or characters changed.
    pub fn mutated(&mut self, text: &str) -> String {
        let mut text = text.to_owned();
        for _ in 0..=self.dice.below(3) {
            let mut pieces = pieces(&text);
            if pieces.is_empty() {
                return text;
            }
            let at = self.dice.below(pieces.len());
            match self.dice.below(8) {
                0 | 1 => {
                    self.count("mutation: piece left out");
                    pieces.remove(at);
                }
                2 => {
                    self.count("mutation: piece doubled");
                    pieces.insert(at, pieces[at].clone());
                }
                3 => {
                    self.count("mutation: pieces swapped");
                    let other = self.dice.below(pieces.len());
                    pieces.swap(at, other);
                }
                4 => {
                    self.count("mutation: piece replaced");
                    let with = self.dice.pick(&[
                        "(", ")", "{", "}", ",", "|", "=", "!=", "or", "by", "5", "5m", "[5m]", "\"x\"", "a",
                        "rate", "sum", "-", "/", "|=", "offset", "ip", "of", "json", "unwrap", "==", "bool",
                        "on", ".", "!", "#", "0b1",
                    ]);
                    pieces[at] = with.to_owned();
                }
                _ => {
                    self.count("mutation: character");
                    let mut chars: Vec<char> = pieces[at].chars().collect();
                    let place = self.dice.below(chars.len());
                    let odd = *self.dice.pick(&[
                        &'(',
                        &')',
                        &'"',
                        &'\\',
                        &'`',
                        &'\'',
                        &'\n',
                        &' ',
                        &'-',
                        &'0',
                        &'9',
                        &'x',
                        &'e',
                        &'p',
                        &'_',
                        &'.',
                        &'~',
                        &'=',
                        &'!',
                        &'>',
                        &'|',
                        &'\u{A0}',
                        &'\u{FEFF}',
                        &'\u{130}',
                        &'²',
                        &'\0',
                        &'#',
                        &'/',
                        &'*',
                        &'b',
                    ]);
                    match self.dice.below(3) {
                        0 => drop(chars.remove(place)),
                        1 => chars.insert(place, odd),
                        _ => chars[place] = odd,
                    }
                    pieces[at] = chars.into_iter().collect();
                }
            }
            text = pieces.concat();
        }
        text
    }
}

/// Words, strings, blanks and single signs.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let mut piece = first.to_string();
        if matches!(first, '"' | '`') {
            for c in chars.by_ref() {
                piece.push(c);
                if c == first {
                    break;
                }
            }
        } else if first.is_alphanumeric() || first == '_' {
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                piece.push(c);
            }
        }
        pieces.push(piece);
    }
    pieces
}
