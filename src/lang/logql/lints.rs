//! What Loki takes but probably nobody means.

use super::tree::{ExprKind, FilterNode, LineOp, List, LogRange, MatchOp, RangeOp, Span, StageKind, Tree};
use super::{LintContext, is_literal, stages};
use crate::lang::{Fault, names};

/// All hints about a query, in the order of the text.
pub(super) fn all(tree: &Tree, context: &LintContext) -> Vec<Fault> {
    let mut hints = Vec::new();
    slashes(tree, &mut hints);
    exprs(tree, context, &mut hints);
    ranges(tree, context, &mut hints);
    selectors(tree, &mut hints);
    label_names(tree, &mut hints);
    line_filters(tree, &mut hints);
    hints.sort_by_key(|hint| hint.span.start);
    hints
}

/// `//` with something behind it that would be the second half of a division.
fn slashes(tree: &Tree, hints: &mut Vec<Fault>) {
    for comment in &tree.slashes {
        let text = tree.name(*comment).trim_start_matches('/');
        if super::parse(text).is_ok_and(|query| query.is_metric()) {
            let hint = Fault::new(comment.range(), "`//` begins a comment: everything behind it is ignored");
            hints.push(hint.hint("write a division with one `/`, a comment with `#`"));
        }
    }
}

fn exprs(tree: &Tree, context: &LintContext, hints: &mut Vec<Fault>) {
    let root = tree.root();
    let Some(whole) = tree.exprs.get(root as usize) else { return };
    if is_literal(tree, root) {
        hints.push(Fault::new(whole.span.range(), "the query is a plain number and reads no logs"));
    } else if context.alert && !tree.exprs.iter().any(|expr| is_comparison(&expr.kind)) {
        let hint = Fault::new(
            whole.span.range(),
            "nothing is compared: the alert fires for every series of the result",
        );
        hints.push(hint.hint("compare with a threshold, as in > 0"));
    }
    for expr in &tree.exprs {
        match &expr.kind {
            ExprKind::Range { op: RangeOp::QuantileOverTime, parameter: Some(parameter), .. } => {
                let Some(number) = tree.numbers.get(*parameter as usize) else { continue };
                if number.value.is_some_and(|value| value > 1.0) {
                    let hint = Fault::new(number.span.range(), "a quantile above 1 yields infinity");
                    hints.push(hint.hint("a quantile goes from 0 to 1, as in 0.99"));
                }
            }
            ExprKind::LabelReplace { strings, .. } => {
                let Some(target) = strings.of(&tree.strings).first() else { continue };
                if !std::str::from_utf8(tree.bytes(target.text)).is_ok_and(names::is_label) {
                    hints.push(Fault::new(
                        target.span.range(),
                        "label_replace writes a label with an invalid name",
                    ));
                }
            }
            _ => {}
        }
    }
}

fn is_comparison(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Binary { op, .. } if op.is_comparison())
}

fn ranges(tree: &Tree, context: &LintContext, hints: &mut Vec<Fault>) {
    for range in &tree.ranges {
        let span = range.interval_span.range();
        let shorter =
            |interval: std::time::Duration| i128::from(range.interval) < interval.as_nanos().cast_signed();
        if range.interval == 0 {
            hints.push(Fault::new(span, "the range is empty: no line falls into it"));
        } else if context.interval.is_some_and(shorter) {
            let hint = Fault::new(
                span,
                "the range is shorter than the interval of evaluation: lines between are never seen",
            );
            hints.push(hint.hint("make the range at least as long as the interval"));
        }
        unguarded_unwrap(tree, range, hints);
    }
}

/// `unwrap` fails the whole query on the first line whose value is no number, unless such lines are filtered out.
fn unguarded_unwrap(tree: &Tree, range: &LogRange, hints: &mut Vec<Fault>) {
    let Some(unwrap) = &range.unwrap else { return };
    let stages = range.stages.of(&tree.stages);
    let parses = |kind: &StageKind| {
        use StageKind::{Json, Logfmt, Pattern, Regexp, Unpack};
        matches!(kind, Json { .. } | Logfmt { .. } | Regexp(_) | Pattern(_) | Unpack)
    };
    let roots = stages.iter().filter_map(|stage| match stage {
        StageKind::LabelFilter { root } => Some(*root),
        _ => None,
    });
    let guards = |root: u32| leaves(tree, root).any(|name| tree.name(name).starts_with("__error__"));
    let drops = |list: List| list.of(&tree.matchers).iter().any(|pick| tree.name(pick.name) == "__error__");
    let dropped =
        stages.iter().any(|stage| matches!(stage, StageKind::Drop { matchers } if drops(*matchers)));
    let guarded = roots.chain(unwrap.filters.of(&tree.post_filters).iter().copied()).any(guards);
    if stages.iter().any(parses) && !guarded && !dropped {
        let hint = Fault::new(unwrap.span.range(), "one line whose value is no number fails the whole query");
        hints.push(hint.hint("filter such lines out behind it: | __error__=\"\""));
    }
}

/// The labels that a filter compares. Its nodes stand directly before their root.
fn leaves(tree: &Tree, root: u32) -> impl Iterator<Item = Span> {
    let mut waiting = vec![root];
    std::iter::from_fn(move || {
        while let Some(index) = waiting.pop() {
            match tree.filters.get(index as usize)? {
                FilterNode::Join { left, right, .. } => waiting.extend([*right, *left]),
                FilterNode::Match { matcher } => {
                    return tree.matchers.get(*matcher as usize).map(|matcher| matcher.name);
                }
                FilterNode::Ip { name, .. }
                | FilterNode::Duration { name, .. }
                | FilterNode::Bytes { name, .. }
                | FilterNode::Number { name, .. } => return Some(*name),
            }
        }
        None
    })
}

fn selectors(tree: &Tree, hints: &mut Vec<Fault>) {
    for selector in &tree.selectors {
        let matchers = selector.matchers.of(&tree.matchers);
        let is_regex = |op: Option<MatchOp>| matches!(op, Some(MatchOp::Regex | MatchOp::NotRegex));
        if !matchers.is_empty() && matchers.iter().all(|matcher| is_regex(matcher.op)) {
            let hint = Fault::new(
                selector.span.range(),
                "every matcher of the selector is a regular expression, which is slow",
            );
            hints.push(hint.hint("add a matcher with `=` if there is one"));
        }
    }
}

fn label_names(tree: &Tree, hints: &mut Vec<Fault>) {
    let compared = tree.filters.iter().filter_map(|filter| match filter {
        FilterNode::Ip { name, .. }
        | FilterNode::Duration { name, .. }
        | FilterNode::Bytes { name, .. }
        | FilterNode::Number { name, .. } => Some(*name),
        FilterNode::Match { .. } | FilterNode::Join { .. } => None,
    });
    let all = tree.matchers.iter().map(|matcher| matcher.name);
    let all =
        all.chain(tree.names.iter().copied()).chain(tree.pairs.iter().map(|pair| pair.name)).chain(compared);
    for span in all {
        let name = tree.name(span);
        if !names::is_label(name) {
            hints.push(Fault::new(span.range(), format!("`{name}` is no name that a label can have")));
        }
    }
}

fn line_filters(tree: &Tree, hints: &mut Vec<Fault>) {
    for stage in &tree.stages {
        let StageKind::LineFilter { op, operands } = stage else { continue };
        let operands = operands.of(&tree.operands);
        for operand in operands {
            let text = tree.bytes(operand.text.text);
            let plain = !text.is_empty() && !text.iter().any(|byte| br"\.+*?()|[]{}^$".contains(byte));
            if plain && !operand.ip && matches!(op, LineOp::Regex | LineOp::NotRegex) {
                let better = if *op == LineOp::Regex { "|=" } else { "!=" };
                let hint = Fault::new(operand.text.span.range(), "the regular expression is plain text");
                hints.push(hint.hint(format!("{better} does the same and is faster")));
            }
        }
        if operands.len() > 1 && !op.is_negated() {
            let kept = stages::last_piece(operands);
            let lost = |place: usize| place > 0 && place < kept;
            for (place, operand) in
                operands.iter().enumerate().filter(|(place, operand)| operand.ip || lost(*place))
            {
                let message = if lost(place) {
                    "Loki up to 3.7 forgets this operand, because ip(..) and `or` follow it"
                } else {
                    "Loki up to 3.7 takes ip(..) in an `or` chain for plain text"
                };
                hints.push(
                    Fault::new(operand.text.span.range(), message)
                        .hint("write a filter of its own for the address"),
                );
            }
        }
    }
}
