//! Time zones by their IANA names, from the data in the binary.
//!
//! Never from the machine's own files: a container may have none, and a verdict must not depend on where it
//! is made.

use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::rule::nearest::nearest;

/// There is no zone of that name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unknown {
    /// The name that was probably meant.
    pub(super) nearest: Option<String>,
}

/// The zone of a name, which must be spelled as in the database; names are compared by letter in manifests.
pub(super) fn find(name: &str) -> Result<TimeZone, Unknown> {
    let found = TimeZoneDatabase::bundled().get(name).ok();
    // The database looks names up in any case, and has one zone for machines whose zone was never set.
    match found.as_ref().and_then(TimeZone::iana_name) {
        None => Err(Unknown { nearest: meant(name) }),
        Some("Factory") => Err(Unknown { nearest: None }),
        Some(spelled) if spelled != name => Err(Unknown { nearest: Some(spelled.to_owned()) }),
        Some(_) => found.ok_or(Unknown { nearest: None }),
    }
}

fn meant(name: &str) -> Option<String> {
    // One digit off is another zone, not a slip: GMT+2 is not GMT+0, and PST is not EST.
    if name.len() < 5 || name.len() > 64 || !name.is_ascii() || name.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let names: Vec<String> = TimeZoneDatabase::bundled().available().map(|known| known.to_string()).collect();
    let city = name.replace(' ', "_");
    let of_city = names.iter().find(|known| {
        known.rsplit('/').next().is_some_and(|last| !name.contains('/') && last.eq_ignore_ascii_case(&city))
    });
    of_city.map(String::as_str).or_else(|| nearest(name, names.iter().map(String::as_str))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_zones_by_their_exact_names() {
        for name in
            ["UTC", "Etc/UTC", "Europe/Berlin", "America/Argentina/Ushuaia", "US/Eastern", "Etc/GMT+5"]
        {
            assert!(find(name).is_ok_and(|zone| zone.iana_name() == Some(name)), "{name}");
        }
    }

    #[test]
    fn tells_the_name_that_was_meant() {
        for (name, nearest) in [
            ("Europe/Berln", Some("Europe/Berlin")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("utc", Some("UTC")),
            ("Berlin", Some("Europe/Berlin")),
            ("New York", Some("America/New_York")),
            ("America/NewYork", Some("America/New_York")),
            ("America/New York", Some("America/New_York")),
            ("Etc/Unknown", None),
            ("Factory", None),
            ("PST", None),
            ("UTC+2", None),
            ("GMT+2", None),
            ("+02:00", None),
            ("Local", None),
            ("", None),
            ("../../etc/passwd", None),
        ] {
            assert_eq!(find(name), Err(Unknown { nearest: nearest.map(str::to_owned) }), "{name}");
        }
    }
}
