//! Which dialect of regular expressions holds where.

use crate::lang::Fault;
use crate::lang::re2;

/// A matcher's expression; tells whether it matches the empty text.
pub(super) fn matcher(pattern: &[u8]) -> Result<bool, Fault> {
    re2::matcher(pattern).map(|pattern| pattern.matches_empty())
}

/// The expression of a line filter.
pub(super) fn line_filter(pattern: &[u8]) -> Result<(), Fault> {
    re2::line_filter(pattern).map(|_| ())
}

/// The expression of a `regexp` stage; tells the names of its captures.
pub(super) fn stage(pattern: &[u8]) -> Result<Vec<String>, Fault> {
    re2::parse(pattern, re2::Names::Current)
        .map(|pattern| pattern.capture_names().map(ToOwned::to_owned).collect())
}

/// The expression of `label_replace`, anchored by text around it.
pub(super) fn label_replace(pattern: &[u8]) -> Result<(), Fault> {
    re2::parse_wrapped(pattern, re2::Names::Current, re2::Wrap::Group).map(|_| ())
}
