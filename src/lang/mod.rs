//! The languages that people write inside resources, each judged as the program that will read it does.
//!
//! Pure: text in, verdict out. No module here knows kinds, doors or the cluster.

use std::ops::Range;

pub mod duration;
mod letters;
pub mod logql;
pub mod names;
pub mod promql;
pub mod re2;
pub mod size;
pub mod template;
pub mod url;

/// Why a text is refused: where, what, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The part of the text that is meant, in bytes.
    pub span: Range<usize>,
    /// What is wrong, one lower-case clause.
    pub message: String,
    /// What to write instead, when there is something better to say than the message.
    pub hint: Option<String>,
}

impl Fault {
    /// A fault without a hint.
    pub fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    /// The same fault with advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Line and column of a byte offset, both from 1; columns count characters.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
