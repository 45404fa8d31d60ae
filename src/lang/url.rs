//! URLs as Go's `net/url` reads them: accepted or refused by the same texts, with the place of what is wrong.
//!
//! Messages quote nothing of a text but single characters and encodings outside of name and password: a URL may hold
//! a secret.

use std::net::Ipv6Addr;
use std::ops::Range;

use super::Fault;

/// What is known of a URL that Go accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// In lower case; empty in a relative URL.
    pub scheme: String,
    /// Host and port, decoded; empty when there is none.
    pub host: String,
    /// Is there a password, perhaps an empty one?
    pub has_password: bool,
}

impl Url {
    /// Does it say where to go: scheme and host?
    pub fn is_absolute(&self) -> bool {
        !self.scheme.is_empty() && !self.host.is_empty()
    }
}

/// Reads a URL.
///
/// # Errors
/// When Go refuses it.
pub fn parse(text: &str) -> Result<Url, Fault> {
    let (address, fragment) = match text.find('#') {
        Some(at) => (&text[..at], at + 1..text.len()),
        None => (text, 0..0),
    };
    let url = parse_address(address)?;
    unescape(text, fragment, Part::Free)?;
    Ok(url)
}

/// What stands before the fragment.
fn parse_address(text: &str) -> Result<Url, Fault> {
    if let Some(at) = text.bytes().position(|byte| byte.is_ascii_control()) {
        return Err(Fault::new(at..at + 1, "a URL has no control characters"));
    }
    let mut url = Url { scheme: String::new(), host: String::new(), has_password: false };
    let start = scheme_end(text)?.map_or(0, |colon| {
        url.scheme = text[..colon].to_ascii_lowercase();
        colon + 1
    });
    // The query is not decoded here.
    let end = text[start..].find('?').map_or(text.len(), |at| start + at);
    let rest = &text[start..end];
    if !rest.starts_with('/') {
        if !url.scheme.is_empty() {
            // Like mailto: whatever follows is opaque.
            return Ok(url);
        }
        let segment = rest.find('/').unwrap_or(rest.len());
        if let Some(colon) = rest[..segment].find(':') {
            return Err(Fault::new(colon..colon + 1, "what stands before the colon is not a scheme"));
        }
    }
    let mut path = start..end;
    let is_relative_path = url.scheme.is_empty() && rest.starts_with("///");
    if rest.starts_with("//") && !is_relative_path {
        let from = start + 2;
        let to = text[from..end].find('/').map_or(end, |slash| from + slash);
        parse_authority(text, from..to, &mut url)?;
        path = to..end;
    }
    unescape(text, path, Part::Free)?;
    Ok(url)
}

/// Where the colon behind the scheme is; nothing when there is no scheme.
fn scheme_end(text: &str) -> Result<Option<usize>, Fault> {
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at > 0 => return Ok(Some(at)),
            b':' => return Err(Fault::new(0..1, "the scheme before the colon is missing")),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

fn parse_authority(text: &str, range: Range<usize>, url: &mut Url) -> Result<(), Fault> {
    let Some(at) = text[range.clone()].rfind('@').map(|at| range.start + at) else {
        url.host = parse_host(text, range, &url.scheme)?;
        return Ok(());
    };
    url.host = parse_host(text, at + 1..range.end, &url.scheme)?;
    let user = range.start..at;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c);
    if let Some((place, c)) = text[user.clone()].char_indices().find(|(_, c)| !allowed(*c)) {
        let place = user.start + place;
        return Err(Fault::new(
            place..place + c.len_utf8(),
            "the character is not allowed in a name or password",
        )
        .hint("write it percent-encoded"));
    }
    url.has_password = text[user.clone()].contains(':');
    unescape(text, user, Part::User)?;
    Ok(())
}

fn parse_host(text: &str, range: Range<usize>, scheme: &str) -> Result<String, Fault> {
    let host = &text[range.clone()];
    match host.rfind('[') {
        Some(0) => parse_literal(text, range),
        Some(at) => Err(literal_fault(range.start + at..range.end)),
        None => {
            let first = host.find(':');
            let is_web = matches!(scheme, "http" | "https");
            if let Some(colon) = if is_web { first } else { host.rfind(':') } {
                check_port(text, range.start + colon..range.end)?;
            }
            unescape(text, range, Part::Host).map(lossy)
        }
    }
}

/// `[fe80::1%25en0]:80`
fn parse_literal(text: &str, range: Range<usize>) -> Result<String, Fault> {
    let host = &text[range.clone()];
    let Some(close) = host.rfind(']').map(|close| range.start + close) else {
        return Err(Fault::new(range, "the bracket around the address is not closed"));
    };
    check_port(text, close + 1..range.end)?;
    let inner = range.start + 1..close;
    let mut address = match text[inner.clone()].find("%25").map(|zone| inner.start + zone) {
        Some(zone) => {
            let mut address = unescape(text, inner.start..zone, Part::Host)?;
            address.extend(unescape(text, zone..inner.end, Part::Zone)?);
            address
        }
        None => unescape(text, inner.clone(), Part::Host)?,
    };
    let zone = address.iter().position(|byte| *byte == b'%');
    let number = std::str::from_utf8(&address[..zone.unwrap_or(address.len())]).unwrap_or_default();
    if number.parse::<Ipv6Addr>().is_err() || zone.is_some_and(|zone| zone + 1 == address.len()) {
        return Err(literal_fault(inner));
    }
    address.insert(0, b'[');
    address.push(b']');
    address.extend_from_slice(&text.as_bytes()[close + 1..range.end]);
    Ok(lossy(address))
}

fn literal_fault(span: Range<usize>) -> Fault {
    Fault::new(span, "only an IPv6 address stands in brackets").hint("write the host without brackets")
}

/// Nothing, or a colon and digits, perhaps none.
fn check_port(text: &str, range: Range<usize>) -> Result<(), Fault> {
    let port = &text[range.clone()];
    let is_port =
        port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_port || port.is_empty() { Ok(()) } else { Err(Fault::new(range, "the port is not a number")) }
}

/// A part of a URL, by what may stand in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A path or a fragment: any character, any encoding.
    Free,
    /// Name and password: its characters were looked at already.
    User,
    Host,
    /// The zone of an IPv6 address.
    Zone,
}

/// Decodes a part.
fn unescape(text: &str, range: Range<usize>, part: Part) -> Result<Vec<u8>, Fault> {
    let bytes = &text.as_bytes()[range.clone()];
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let place = range.start + at;
        if byte != b'%' {
            if matches!(part, Part::Host | Part::Zone) && byte.is_ascii() && !is_host(byte) {
                let message = format!("the character {:?} is not allowed in a host", char::from(byte));
                return Err(Fault::new(place..place + 1, message));
            }
            decoded.push(byte);
            at += 1;
            continue;
        }
        let value = bytes.get(at + 1..at + 3).and_then(hexadecimal);
        let is_allowed = value.is_some_and(|value| match part {
            Part::Free | Part::User => true,
            // Only what cannot be written directly, and the percent sign before a zone.
            Part::Host => !value.is_ascii() || value == b'%',
            Part::Zone => value == b'%' || value == b' ' || is_host(value),
        });
        let Some(value) = value.filter(|_| is_allowed) else {
            return Err(escape_fault(text, place, range.end, value.is_some(), part));
        };
        decoded.push(value);
        at += 3;
    }
    Ok(decoded)
}

fn escape_fault(text: &str, at: usize, end: usize, is_encoding: bool, part: Part) -> Fault {
    let shown: String = text[at..end].chars().take(3).collect();
    let span = at..at + shown.len();
    match part {
        Part::User => Fault::new(
            span,
            "a % in a name or password begins an encoding, and two hexadecimal digits do not follow",
        )
        .hint("write %25 for the sign itself"),
        _ if is_encoding => Fault::new(span, format!("a host cannot have the encoding {shown:?}")),
        _ => Fault::new(span, format!("{shown:?} is not a percent-encoding"))
            .hint("write %25 for the sign itself"),
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let [high, low] = digits else { return None };
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

/// What a host may hold besides bytes beyond ASCII.
fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!\"$&'()*+,-.:;<=>[]_~".contains(&byte)
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_with_its_place() {
        let cases = [
            ("http://a/%zz", 9..12, "\"%zz\" is not a percent-encoding"),
            ("http://a/b%2", 10..12, "\"%2\" is not a percent-encoding"),
            ("://a", 0..1, "the scheme before the colon is missing"),
            ("am:9093/x y\u{7f}", 11..12, "a URL has no control characters"),
            ("1am:9093", 3..4, "what stands before the colon is not a scheme"),
            ("http://a b/", 8..9, "the character ' ' is not allowed in a host"),
            ("http://a:b:1/", 8..12, "the port is not a number"),
            ("http://[::1", 7..11, "the bracket around the address is not closed"),
            ("http://[1.2.3.4]/", 8..15, "only an IPv6 address stands in brackets"),
            ("http://a%41/", 8..11, "a host cannot have the encoding \"%41\""),
            ("http://u p@a/", 8..9, "the character is not allowed in a name or password"),
            ("/#%", 2..3, "\"%\" is not a percent-encoding"),
        ];
        for (text, span, message) in cases {
            let fault = parse(text).unwrap_err();
            assert_eq!((fault.span, fault.message.as_str()), (span, message), "{text}");
        }
    }

    #[test]
    fn scheme_and_host_are_found() {
        let read = |text: &str| {
            let url = parse(text).unwrap();
            (url.scheme.clone(), url.host.clone(), url.has_password, url.is_absolute())
        };
        let told = |scheme: &str, host: &str, password, absolute| {
            (scheme.to_owned(), host.to_owned(), password, absolute)
        };
        assert_eq!(read("HTTP://Am:9093/x?y#z"), told("http", "Am:9093", false, true));
        assert_eq!(read("https://u:p@q@[fe80::1%25en0]:80"), told("https", "[fe80::1%en0]:80", true, true));
        assert_eq!(read("mailto:a"), told("mailto", "", false, false));
        assert_eq!(read("http:///x"), told("http", "", false, false));
        assert_eq!(read("//am/x"), told("", "am", false, false));
        assert_eq!(read("am:9093"), told("am", "", false, false));
    }

    #[test]
    fn a_password_is_in_no_message() {
        for text in ["http://bob:hunter2%zz@a", "http://bob:hunter2 @a", "http://bob:hunter2@a b"] {
            let fault = parse(text).unwrap_err();
            assert!(!format!("{fault:?}").contains("hunter"), "{fault:?}");
        }
    }
}
