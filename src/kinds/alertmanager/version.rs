//! What an Alertmanager can do, by its version: `0.34.2`, `v0.32.0-rc.1`, the tag of an image.

/// Major and minor number; nothing when the text begins otherwise.
fn release(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim_start_matches('v').split('.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    });
    Some((numbers.next()??, numbers.next()??))
}

/// Do its silences have annotations?
pub fn keeps_annotations(version: &str) -> Option<bool> {
    release(version).map(|release| release >= (0, 32))
}

/// May names of labels in its silences be any UTF-8, unless it is in classic mode?
pub fn takes_utf8_names(version: &str) -> Option<bool> {
    release(version).map(|release| release >= (0, 27))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_tell_what_can_be_done() {
        assert_eq!(keeps_annotations("0.34.2"), Some(true));
        assert_eq!(keeps_annotations("v0.32.0-rc.1"), Some(true));
        assert_eq!(keeps_annotations("0.31.1"), Some(false));
        assert_eq!(keeps_annotations("1.0.0"), Some(true));
        assert_eq!(keeps_annotations("master"), None);
        assert_eq!(takes_utf8_names("v0.26.0"), Some(false));
        assert_eq!(takes_utf8_names("0.27"), Some(true));
        assert_eq!(takes_utf8_names(""), None);
    }
}
