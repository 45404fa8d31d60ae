//! Patterns with captures (`<ip> - <_> "<method>"`), of the `pattern` stage and of pattern line filters.

/// Why a text is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PatternError {
    Empty,
    /// Begins with a byte that is no UTF-8.
    Encoding,
    NoCapture,
    /// Two captures with nothing between them.
    Adjacent(String),
    Duplicate(String),
    /// A line filter compares, it captures nothing.
    Named(String),
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Empty => f.write_str("the pattern is empty"),
            Self::Encoding => f.write_str("the pattern begins with a byte that is no UTF-8"),
            Self::NoCapture => f.write_str("the pattern has no named capture such as <method>"),
            Self::Adjacent(pair) => write!(f, "the captures {pair} need text between them"),
            Self::Duplicate(name) => write!(f, "the pattern captures <{name}> twice"),
            Self::Named(name) => write!(f, "a pattern line filter knows only <_>, not <{name}>"),
        }
    }
}

/// Checks the pattern of a `pattern` stage.
pub(super) fn stage(pattern: &[u8]) -> Result<(), PatternError> {
    if pattern.is_empty() {
        return Err(PatternError::Empty);
    }
    let captures = captures(pattern)?;
    let mut names: Vec<&str> = captures.into_iter().filter(|&name| name != "_").collect();
    if names.is_empty() {
        return Err(PatternError::NoCapture);
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(PatternError::Duplicate(pair[0].to_owned())),
        None => Ok(()),
    }
}

/// Checks the pattern of a line filter.
pub(super) fn line_filter(pattern: &[u8]) -> Result<(), PatternError> {
    match captures(pattern)?.into_iter().find(|&name| name != "_") {
        Some(name) => Err(PatternError::Named(name.to_owned())),
        None => Ok(()),
    }
}

/// The names of all captures. Everything that is no capture is text, a lone `<` too.
fn captures(pattern: &[u8]) -> Result<Vec<&str>, PatternError> {
    // Loki stops reading at the first byte that is no UTF-8, as if the pattern ended there.
    let text = pattern.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    if text.is_empty() && !pattern.is_empty() {
        return Err(PatternError::Encoding);
    }
    let mut found: Vec<&str> = Vec::new();
    let (mut at, mut last_end) = (0, usize::MAX);
    while let Some(offset) = text[at..].find('<') {
        let start = at + offset;
        let rest = &text[start + 1..];
        let length = rest.bytes().take_while(|&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        let name = &rest[..length];
        let is_capture =
            length > 0 && !name.as_bytes()[0].is_ascii_digit() && rest.as_bytes().get(length) == Some(&b'>');
        // Text that only looked like a capture cannot hold one: it has no `<`.
        at = start + 1 + length;
        if is_capture {
            at += 1;
            if last_end == start
                && let Some(before) = found.last()
            {
                return Err(PatternError::Adjacent(format!("<{before}><{name}>")));
            }
            found.push(name);
            last_end = at;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captures_of_stages_and_filters() {
        assert_eq!(stage(b"<a> <b>"), Ok(()));
        assert_eq!(stage(b"<1a> <b>"), Ok(()));
        assert_eq!(stage(b"<_>"), Err(PatternError::NoCapture));
        assert_eq!(stage(b"<a><b>"), Err(PatternError::Adjacent("<a><b>".into())));
        assert_eq!(stage(b"<a> <a>"), Err(PatternError::Duplicate("a".into())));
        assert_eq!(line_filter(b""), Ok(()));
        assert_eq!(line_filter(b"<_> <<_>>"), Ok(()));
        assert_eq!(line_filter(b"<a> x"), Err(PatternError::Named("a".into())));
    }
}
