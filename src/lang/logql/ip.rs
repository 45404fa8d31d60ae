//! What `ip("..")` takes: an address, a prefix, or a range of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether the text is an address, a prefix or a range of addresses.
pub(super) fn is_pattern(text: &[u8]) -> bool {
    address(text).is_some() || is_prefix(text) || is_range(text)
}

/// An address and whether it names a zone (`fe80::1%eth0`).
fn address(text: &[u8]) -> Option<(IpAddr, bool)> {
    match text.iter().find(|byte| matches!(byte, b'.' | b':' | b'%'))? {
        b'.' => std::str::from_utf8(text).ok()?.parse::<Ipv4Addr>().ok().map(|ip| (IpAddr::V4(ip), false)),
        b':' => {
            let zone_at = text.iter().position(|&byte| byte == b'%');
            let (ip, zone) = text.split_at(zone_at.unwrap_or(text.len()));
            if zone.len() == 1 {
                return None;
            }
            let ip = std::str::from_utf8(ip).ok()?.parse::<Ipv6Addr>().ok()?;
            Some((IpAddr::V6(ip), !zone.is_empty()))
        }
        _ => None,
    }
}

fn is_prefix(text: &[u8]) -> bool {
    let Some(slash) = text.iter().rposition(|&byte| byte == b'/') else { return false };
    let Some((ip, zoned)) = address(&text[..slash]) else { return false };
    let bits = &text[slash + 1..];
    let plain = !bits.is_empty() && bits.len() <= 3 && bits.iter().all(u8::is_ascii_digit);
    let leading_zero = bits.len() > 1 && bits[0] == b'0';
    if zoned || !plain || leading_zero {
        return false;
    }
    let value = bits.iter().fold(0_u32, |value, digit| value * 10 + u32::from(digit - b'0'));
    value <= if ip.is_ipv4() { 32 } else { 128 }
}

fn is_range(text: &[u8]) -> bool {
    let Some(hyphen) = text.iter().position(|&byte| byte == b'-') else { return false };
    match (address(&text[..hyphen]), address(&text[hyphen + 1..])) {
        (Some((from, _)), Some((to, _))) => from.is_ipv4() == to.is_ipv4() && from <= to,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for good in
            ["10.0.0.1", "::1", "fe80::1%eth0", "10.0.0.0/8", "::/0", "10.0.0.1-10.0.0.9", "fe80::1%eth0/64"]
        {
            assert!(is_pattern(good.as_bytes()), "{good}");
        }
        for bad in [
            "",
            "bogus",
            "010.0.0.1",
            "10.0.0.0/33",
            "10.0.0.0/08",
            "10.0.0.9-10.0.0.1",
            "10.0.0.1 - 10.0.0.2",
            "::1%",
        ] {
            assert!(!is_pattern(bad.as_bytes()), "{bad}");
        }
    }
}
