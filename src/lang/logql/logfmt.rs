//! Keys of a `logfmt` stage: a name or a quoted text, then any number of quoted texts.

use super::jsonpath::Chars;

/// Whether the text is a key; else what is wrong with it.
pub(super) fn check(key: &[u8]) -> Result<(), &'static str> {
    let mut chars = Chars::new(key);
    let mut first = true;
    loop {
        match chars.peek() {
            ' ' | '\t' | '\n' => {
                chars.next();
                continue;
            }
            '\0' if first => return Err("the key is empty"),
            '\0' => return Ok(()),
            '"' => {
                chars.next();
                chars.skip_quoted();
            }
            'a'..='z' | 'A'..='Z' | '_' if first => chars.skip_name(),
            'a'..='z' | 'A'..='Z' | '_' => return Err("a key is one name"),
            _ => return Err("a key has letters, digits and `_` only"),
        }
        first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys() {
        for good in ["a", "a \"b\"", "\"a", "a\"", "\"a b\""] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in ["", "a b", "\"a\" b", "a.b", "a-b"] {
            assert!(check(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
