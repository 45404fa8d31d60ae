//! What an Alertmanager can do, by its version: `0.34.2`, `v0.32.0-rc.1`, the tag of an image.

use super::spec::AlertmanagerSpec;

/// Major and minor number; nothing when the text begins otherwise.
pub fn release(version: &str) -> Option<(u32, u32)> {
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

/// The first release that takes any UTF-8 for a name of a label, unless it is in classic mode.
pub const UTF8_NAMES: (u32, u32) = (0, 27);

impl AlertmanagerSpec {
    /// The version that it says, by itself or by its image; empty where it says none.
    pub fn stated_version(&self) -> &str {
        let image = self.image.split('@').next().unwrap_or_default();
        let tag = image.rsplit_once(':').map_or("", |(_, tag)| tag);
        if self.version.is_empty() { tag } else { &self.version }
    }
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
        assert_eq!(release("0.27"), Some(UTF8_NAMES));
        assert_eq!(release(""), None);
        let spec = |version: &str, image: &str| AlertmanagerSpec {
            version: version.to_owned(),
            image: image.to_owned(),
            ..AlertmanagerSpec::default()
        };
        assert_eq!(spec("", "host:5000/alertmanager:v0.26.0@sha256:0").stated_version(), "v0.26.0");
        assert_eq!(spec("v0.34.2", "alertmanager:v0.26.0").stated_version(), "v0.34.2");
    }
}
