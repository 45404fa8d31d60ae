//! Paths into JSON (`a.b[0]["c d"]`) of a `json` stage.
//!
//! Loki's reader of paths ends at a NUL character, and one inside of a key ends only the key.

/// Reads characters; the end reads as NUL, as in Loki.
pub(super) struct Chars<'t> {
    text: std::borrow::Cow<'t, str>,
    at: usize,
}

impl<'t> Chars<'t> {
    /// Bytes that are no UTF-8 read as replacement characters.
    pub(super) fn new(text: &'t [u8]) -> Self {
        Self { text: String::from_utf8_lossy(text), at: 0 }
    }

    pub(super) fn peek(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or('\0')
    }

    pub(super) fn next(&mut self) -> char {
        let next = self.text[self.at..].chars().next();
        self.at += next.map_or(0, char::len_utf8);
        next.unwrap_or('\0')
    }

    pub(super) fn skip_name(&mut self) {
        while self.peek().is_ascii_alphanumeric() || self.peek() == '_' {
            self.next();
        }
    }

    /// Reads to the end of a quoted key: a quote or `]`, whichever comes first.
    pub(super) fn skip_quoted(&mut self) {
        while !matches!(self.next(), '"' | ']' | '\0') {}
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Token {
    End,
    Open,
    Close,
    Dot,
    Field,
    Key,
    Index,
}

/// Whether the text is a path; else what is wrong with it.
pub(super) fn check(path: &[u8]) -> Result<(), &'static str> {
    let mut chars = Chars::new(path);
    let mut first = true;
    loop {
        match (token(&mut chars)?, first) {
            (Token::End, true) => return Err("the path is empty"),
            (Token::End, false) => return Ok(()),
            (Token::Field, true) => {}
            (Token::Dot, false) => {
                if token(&mut chars)? != Token::Field {
                    return Err("a field has to follow the dot");
                }
            }
            (Token::Open, _) => {
                if !matches!(token(&mut chars)?, Token::Key | Token::Index) {
                    return Err("an index or a quoted key has to follow `[`");
                }
                if token(&mut chars)? != Token::Close {
                    return Err("`]` is missing");
                }
            }
            (_, true) => return Err("a path begins with a field or with `[`"),
            (_, false) => return Err("expected `.`, `[` or the end of the path"),
        }
        first = false;
    }
}

fn token(chars: &mut Chars<'_>) -> Result<Token, &'static str> {
    loop {
        return Ok(match chars.peek() {
            ' ' | '\t' | '\n' => {
                chars.next();
                continue;
            }
            '\0' => Token::End,
            '[' => {
                chars.next();
                Token::Open
            }
            ']' => {
                chars.next();
                Token::Close
            }
            '.' => {
                chars.next();
                Token::Dot
            }
            '"' => {
                chars.next();
                chars.skip_quoted();
                Token::Key
            }
            '0'..='9' => return index(chars),
            'a'..='z' | 'A'..='Z' | '_' => {
                chars.skip_name();
                Token::Field
            }
            _ => return Err("the path has a character that is none of a path"),
        });
    }
}

fn index(chars: &mut Chars<'_>) -> Result<Token, &'static str> {
    let mut value = 0_i64;
    while let Some(digit) = chars.peek().to_digit(10) {
        chars.next();
        value = value
            .checked_mul(10)
            .and_then(|value| value.checked_add(i64::from(digit)))
            .ok_or("the index is too great")?;
    }
    match chars.peek() {
        ' ' | '\t' | '\n' | ']' => Ok(Token::Index),
        '.' => Err("an index is a whole number"),
        _ => Err("an index ends with `]`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for good in ["a", "a.b[0][\"c d\"]", "[\"a\"].b", " a . b ", "[ 0 ]", "[\"a]]", "a\0..", "[\"a\0]"] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "",
            ".a",
            "a.",
            "a..b",
            "a.[0]",
            "a[b]",
            "0",
            "a-b",
            "[\"a]",
            "[0.5]",
            "b.[",
            "[99999999999999999999]",
        ] {
            assert!(check(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
