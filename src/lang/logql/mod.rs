//! LogQL: whether Loki takes a query, whether it can evaluate it, and what about it looks like a mistake.
//!
//! The verdict is that of Loki 3.7.8. What is different in other versions is told, as notes or in messages.

mod advice;
mod check;
mod cursor;
mod digits;
mod display;
mod display_stage;
mod equal;
mod ip;
mod jsonpath;
mod lexer;
mod lints;
mod logfmt;
mod number;
mod operators;
mod parser;
mod parser_filter;
mod parser_pipeline;
mod parser_range;
mod pattern;
mod regex;
mod stages;
mod strings;
mod token;
mod tree;
mod versions;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::lang::Fault;
use tree::{ExprKind, FilterNode, Tree};
use versions::Note;

pub use tree::MatchOp;

/// A query has to be shorter than this, in bytes.
pub const MAX_LENGTH: usize = 131_072;

/// A query that Loki takes.
#[derive(Debug, Clone)]
pub struct Query {
    tree: Tree,
}

/// A stream selector of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector<'q> {
    /// The whole selector, braces included.
    pub span: Range<usize>,
    /// The place directly behind the opening brace, where a matcher and a comma can be inserted.
    pub inside: usize,
    /// Its matchers, in order.
    pub matchers: Vec<Matcher<'q>>,
}

/// A matcher of a stream selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matcher<'q> {
    /// The label.
    pub name: &'q str,
    /// How it is compared.
    pub op: MatchOp,
    /// With what; strings of LogQL may hold bytes that are no UTF-8.
    pub value: &'q [u8],
    /// Where the label's name stands.
    pub name_span: Range<usize>,
    /// Where the value stands, quotes included.
    pub value_span: Range<usize>,
}

/// What is known about the place of a query, for hints that depend on it.
#[derive(Debug, Clone, Copy, Default)]
pub struct LintContext {
    /// How often the query is evaluated.
    pub interval: Option<Duration>,
    /// Whether an alert fires for every series of the result.
    pub alert: bool,
}

/// Reads a query; refuses what Loki's parser refuses.
pub fn parse(text: &str) -> Result<Query, Fault> {
    if text.len() >= MAX_LENGTH {
        let message = format!("the query has {} bytes, Loki takes at most {}", text.len(), MAX_LENGTH - 1);
        return Err(Fault::new(0..text.len(), message));
    }
    if let Some(at) = text.bytes().position(|byte| byte == 0) {
        return Err(
            Fault::new(at..at + 1, "the query has a NUL character").hint("write \\x00 inside of a string")
        );
    }
    let tree = parser::parse(text)?;
    match check::faults(&tree).into_iter().min_by_key(|fault| fault.span.start) {
        Some(fault) => Err(fault),
        None => Ok(Query { tree }),
    }
}

impl Query {
    /// Whether the query yields numbers, as rules need them, and not log lines.
    pub fn is_metric(&self) -> bool {
        !matches!(self.tree.exprs.last().map(|expr| &expr.kind), Some(ExprKind::Log { .. }))
    }

    /// Every stream selector, in order, those that Loki does not look at included.
    pub fn selectors(&self) -> Vec<Selector<'_>> {
        let tree = &self.tree;
        let selector = |node: &tree::SelectorNode| Selector {
            span: node.span.range(),
            inside: node.span.start as usize + 1,
            matchers: node
                .matchers
                .of(&tree.matchers)
                .iter()
                .filter_map(|matcher| self.matcher(matcher))
                .collect(),
        };
        tree.selectors.iter().map(selector).collect()
    }

    fn matcher(&self, node: &tree::MatcherNode) -> Option<Matcher<'_>> {
        Some(Matcher {
            name: self.tree.name(node.name),
            op: node.op?,
            value: self.tree.bytes(node.value.text),
            name_span: node.name.range(),
            value_span: node.value.span.range(),
        })
    }

    /// What Loki 3.7.8 takes and other versions refuse.
    pub fn notes(&self) -> Vec<Fault> {
        let tree = &self.tree;
        let note = |span: tree::Span, note: Note| Fault::new(span.range(), note.message()).hint(note.hint());
        let variants = tree.exprs.iter().filter(|expr| matches!(expr.kind, ExprKind::Variants { .. }));
        let numbers = tree.filters.iter().filter_map(|filter| match filter {
            FilterNode::Number { number, .. } => {
                tree.numbers.get(*number as usize).filter(|number| number.value.is_none())
            }
            _ => None,
        });
        variants
            .map(|expr| note(expr.span, Note::Variants))
            .chain(numbers.map(|number| note(number.span, Note::FilterNumber)))
            .collect()
    }

    /// What Loki's parser lets pass and what then fails in every evaluation. Each message names the stage.
    pub fn stage_faults(&self) -> Vec<Fault> {
        stages::faults(&self.tree)
    }

    /// What Loki accepts but probably nobody means.
    pub fn lints(&self, context: &LintContext) -> Vec<Fault> {
        lints::all(&self.tree, context)
    }

    /// Whether the query compares anywhere; an alert without a comparison fires for every series that there is.
    pub fn has_comparison(&self) -> bool {
        let compares = |kind: &ExprKind| matches!(kind, ExprKind::Binary { op, .. } if op.is_comparison());
        self.tree.exprs.iter().any(|expr| compares(&expr.kind))
    }
}

impl fmt::Display for Query {
    /// The canonical form, which parses back to the same query.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::query(&self.tree, f)
    }
}

impl PartialEq for Query {
    /// The same tree, wherever its parts stand in the text.
    fn eq(&self, other: &Self) -> bool {
        equal::same(&self.tree, &other.tree)
    }
}

/// Whether an expression is a plain number for Loki, which computes operators between two numbers at once.
fn is_literal(tree: &Tree, index: u32) -> bool {
    // A chain of operators leans to one side; the other side is looked at first, so that the walk is short.
    let mut waiting = vec![index];
    while let Some(index) = waiting.pop() {
        match tree.exprs.get(index as usize).map(|expr| &expr.kind) {
            Some(ExprKind::Literal { .. }) => {}
            Some(ExprKind::Binary { left, right, op, .. }) if !op.is_set() => waiting.extend([*left, *right]),
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
