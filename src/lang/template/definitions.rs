//! What a text has declared so far: variables with their scopes, and templates with their names.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// The variables that are visible, innermost last. One lookup is one hash, however many there are.
#[derive(Default)]
pub(super) struct Variables<'a> {
    /// Every declaration with the one of the same name that it hides.
    stack: Vec<(&'a [u8], Option<usize>)>,
    latest: HashMap<&'a [u8], usize>,
}

impl<'a> Variables<'a> {
    /// How many declarations there are: a mark to return to.
    pub(super) fn mark(&self) -> usize {
        self.stack.len()
    }

    /// Adds a declaration.
    pub(super) fn declare(&mut self, name: &'a [u8]) {
        let hidden = self.latest.insert(name, self.stack.len());
        self.stack.push((name, hidden));
    }

    /// Forgets every declaration after the mark.
    pub(super) fn forget_after(&mut self, mark: usize) {
        while self.stack.len() > mark {
            if let Some((name, hidden)) = self.stack.pop() {
                match hidden {
                    Some(earlier) => self.latest.insert(name, earlier),
                    None => self.latest.remove(name),
                };
            }
        }
    }

    /// Whether the name was declared after the mark and not forgotten.
    pub(super) fn is_visible(&self, name: &[u8], mark: usize) -> bool {
        self.latest.get(name).is_some_and(|&declared| declared >= mark)
    }

    /// The names declared after the mark.
    pub(super) fn since(&self, mark: usize) -> impl Iterator<Item = &'a [u8]> {
        self.stack.iter().skip(mark).map(|&(name, _)| name)
    }
}

/// The template that is being read: the root, or the body of a `define` or `block`.
pub(super) struct Tree<'a> {
    /// The template's name; the root's is known only at the end.
    pub(super) name: Cow<'a, [u8]>,
    /// Where the template is named.
    pub(super) span: Range<usize>,
    /// Nothing but white space and comments so far.
    pub(super) blank: bool,
    /// How many `range` bodies are open.
    pub(super) ranges: usize,
    /// Where this template's variables start: it does not see those of the text around it.
    pub(super) variables: usize,
}

/// The templates that the text has defined.
#[derive(Default)]
pub(super) struct Templates<'a> {
    by_name: HashMap<Cow<'a, [u8]>, Template>,
}

struct Template {
    blank: bool,
    span: Range<usize>,
}

impl<'a> Templates<'a> {
    /// Adds a template, unless it and an earlier one of its name both have content: then the answer is no.
    pub(super) fn add(&mut self, name: Cow<'a, [u8]>, span: Range<usize>, blank: bool) -> bool {
        if self.by_name.get(&name).is_some_and(|earlier| !earlier.blank) {
            return blank;
        }
        self.by_name.insert(name, Template { blank, span });
        true
    }

    /// Where a template of that name with content was defined.
    pub(super) fn with_content(&self, name: &[u8]) -> Option<Range<usize>> {
        self.by_name.get(name).filter(|template| !template.blank).map(|template| template.span.clone())
    }
}
