//! What Loki's parser checks beyond the grammar: regular expressions, parameters, and what an aggregation can work on.

use super::tree::{ExprKind, MatchOp, MatcherNode, RangeOp, SelectorNode, StageKind, Str, Tree, VectorOp};
use super::{pattern, regex};
use crate::lang::Fault;

/// Everything that Loki's parser refuses, in no order. Inside of `variants(..)` it looks only at matchers and stages.
pub(super) fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut matches_empty = Vec::with_capacity(tree.matchers.len());
    for matcher in &tree.matchers {
        matches_empty.push(judge_matcher(tree, matcher, &mut faults));
    }
    for stage in &tree.stages {
        match stage {
            StageKind::Regexp(text) => faults.extend(regexp_stage(tree, *text)),
            StageKind::Pattern(text) => {
                if let Err(error) = pattern::stage(tree.bytes(text.text)) {
                    faults.push(Fault::new(text.span.range(), error.to_string()));
                }
            }
            _ => {}
        }
    }
    if faults.is_empty() {
        let mut unchecked = tree.unchecked.clone();
        unchecked.sort_unstable_by_key(|list| list.first);
        let mut unchecked = unchecked.into_iter().peekable();
        let mut skip_to = 0;
        for index in 0..super::tree::next(&tree.exprs) {
            while let Some(list) = unchecked.next_if(|list| list.first <= index) {
                skip_to = skip_to.max(list.end);
            }
            if index >= skip_to {
                faults.extend(judge_expr(tree, index, &matches_empty));
            }
        }
    }
    faults
}

/// Faults inside of `variants(..)`, which show only when the query is evaluated.
pub(super) fn variants_faults(tree: &Tree) -> Vec<Fault> {
    if tree.unchecked.is_empty() {
        return Vec::new();
    }
    let mut ignored = Vec::new();
    let empty: Vec<bool> =
        tree.matchers.iter().map(|matcher| judge_matcher(tree, matcher, &mut ignored)).collect();
    let inside = |index: &u32| tree.unchecked.iter().any(|list| (list.first..list.end).contains(index));
    (0..super::tree::next(&tree.exprs))
        .filter(inside)
        .filter_map(|index| judge_expr(tree, index, &empty))
        .collect()
}

/// Whether the matcher matches the empty text, which means that it selects nothing for itself.
fn judge_matcher(tree: &Tree, matcher: &MatcherNode, faults: &mut Vec<Fault>) -> bool {
    let value = tree.bytes(matcher.value.text);
    match matcher.op {
        None => true,
        Some(MatchOp::Equal) => value.is_empty(),
        Some(MatchOp::NotEqual) => !value.is_empty(),
        Some(op) => match regex::matcher(value) {
            Ok(empty) => empty == (op == MatchOp::Regex),
            Err(fault) => {
                faults.push(in_string(tree, matcher.value, fault));
                true
            }
        },
    }
}

fn regexp_stage(tree: &Tree, text: Str) -> Option<Fault> {
    let mut names = match regex::stage(tree.bytes(text.text)) {
        Ok(names) => names,
        Err(fault) => return Some(in_string(tree, text, fault)),
    };
    names.retain(|name| !name.is_empty());
    if names.is_empty() {
        let fault = Fault::new(text.span.range(), "the regular expression has no named capture");
        return Some(fault.hint("name what shall become a label, as in (?P<method>\\w+)"));
    }
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(Fault::new(text.span.range(), format!("the regular expression captures `{}` twice", twice[0])))
}

/// A fault inside of a string, at its place in the query where that can be told.
pub(super) fn in_string(tree: &Tree, string: Str, fault: Fault) -> Fault {
    let inside = string.text.bytes.range();
    let span = if string.text.pooled || inside.start + fault.span.end > tree.source.len() {
        string.span.range()
    } else {
        inside.start + fault.span.start..inside.start + fault.span.end
    };
    Fault { span, ..fault }
}

fn judge_expr(tree: &Tree, index: u32, matches_empty: &[bool]) -> Option<Fault> {
    let expr = tree.exprs.get(index as usize)?;
    let here = |message: String| Some(Fault::new(expr.span.range(), message));
    match &expr.kind {
        ExprKind::Log { selector, .. } => selects(tree, *selector, matches_empty),
        ExprKind::Range { op, parameter, range, grouping } => {
            let range = tree.ranges.get(*range as usize)?;
            range_parameter(tree, *op, *parameter, expr.span)
                .or_else(|| {
                    let grouping = tree.groupings.get((*grouping)? as usize)?;
                    let message = format!("{} cannot be grouped", op.as_str());
                    (!op.takes_grouping()).then(|| {
                        Fault::new(grouping.span.range(), message)
                            .hint("aggregate it, as in sum by (label) (..)")
                    })
                })
                .or_else(|| match &range.unwrap {
                    Some(unwrap) if !op.takes_unwrap() => Some(Fault::new(
                        unwrap.span.range(),
                        format!("{} counts lines and takes no `unwrap`", op.as_str()),
                    )),
                    None if !op.takes_lines() => {
                        here(format!("{} needs `| unwrap` and a label", op.as_str()))
                    }
                    _ => None,
                })
                .or_else(|| selects(tree, range.selector, matches_empty))
        }
        ExprKind::Vector { op, parameter, grouping, .. } => {
            vector(tree, *op, *parameter, *grouping, expr.span)
        }
        ExprKind::Literal { number, .. } | ExprKind::Constant { number } => is_float(tree, *number),
        ExprKind::LabelReplace { strings, .. } => {
            let text = *strings.of(&tree.strings).get(3)?;
            regex::label_replace(tree.bytes(text.text)).err().map(|fault| in_string(tree, text, fault))
        }
        ExprKind::Variants { range, .. } => {
            selects(tree, tree.ranges.get(*range as usize)?.selector, matches_empty)
        }
        ExprKind::Binary { op, left, right, .. } => [*left, *right].into_iter().find_map(|leg| {
            let kind = &tree.exprs.get(leg as usize)?.kind;
            let span = tree.exprs.get(leg as usize)?.span.range();
            if matches!(kind, ExprKind::Log { .. }) {
                let fault = Fault::new(span, format!("`{}` works on numbers, not on log lines", op.as_str()));
                return Some(fault.hint("count the lines first, as in rate({..}[5m])"));
            }
            (op.is_set() && super::is_literal(tree, leg)).then(|| {
                Fault::new(span, format!("`{}` works on series, not on a plain number", op.as_str()))
                    .hint("make the number a series, as in vector(0)")
            })
        }),
    }
}

/// A selector has to select: at least one matcher must not match the empty text.
fn selects(tree: &Tree, selector: u32, matches_empty: &[bool]) -> Option<Fault> {
    let SelectorNode { matchers, span } = tree.selectors.get(selector as usize)?;
    if matchers.of(matches_empty).iter().any(|empty| !empty) {
        return None;
    }
    let fault = Fault::new(span.range(), "the selector would select every stream");
    Some(fault.hint("add a matcher that a missing label does not match, such as app=\"foo\" or app=~\".+\""))
}

fn is_float(tree: &Tree, number: u32) -> Option<Fault> {
    let number = tree.numbers.get(number as usize)?;
    let fault = || {
        Fault::new(
            number.span.range(),
            format!("`{}` is no number that Loki can use", tree.name(number.span)),
        )
    };
    number.value.is_none().then(|| fault().hint("write it as a decimal number below 1.8e308"))
}

fn range_parameter(
    tree: &Tree,
    op: RangeOp,
    parameter: Option<u32>,
    span: super::tree::Span,
) -> Option<Fault> {
    match parameter {
        None if op == RangeOp::QuantileOverTime => {
            let fault =
                Fault::new(span.range(), "quantile_over_time needs the quantile as its first parameter");
            Some(fault.hint("write it as in quantile_over_time(0.99, ..)"))
        }
        Some(number) if op == RangeOp::QuantileOverTime => is_float(tree, number),
        Some(number) => {
            let span = tree.numbers.get(number as usize)?.span;
            Some(Fault::new(span.range(), format!("{} has no parameter", op.as_str())))
        }
        None => None,
    }
}

fn vector(
    tree: &Tree,
    op: VectorOp,
    parameter: Option<u32>,
    grouping: Option<u32>,
    span: super::tree::Span,
) -> Option<Fault> {
    let grouping = grouping.and_then(|grouping| tree.groupings.get(grouping as usize));
    let number = parameter.and_then(|number| tree.numbers.get(number as usize));
    match number {
        None if op.takes_parameter() => {
            let fault =
                Fault::new(span.range(), format!("{} needs the number of series to keep", op.as_str()));
            return Some(fault.hint(format!("write it as in {}(5, ..)", op.as_str())));
        }
        Some(number) if !op.takes_parameter() => {
            return Some(Fault::new(number.span.range(), format!("{} has no parameter", op.as_str())));
        }
        Some(number) => {
            let text = tree.name(number.span);
            let whole = text.bytes().all(|byte| byte.is_ascii_digit());
            if !whole || text.parse::<i64>().is_ok_and(|value| value == 0) || text.parse::<i64>().is_err() {
                return Some(Fault::new(
                    number.span.range(),
                    format!("{} keeps a whole number above 0", op.as_str()),
                ));
            }
        }
        None => {}
    }
    let grouping = grouping?;
    match op {
        VectorOp::ApproxTopk => Some(
            Fault::new(grouping.span.range(), "approx_topk cannot be grouped")
                .hint("group what it works on instead"),
        ),
        VectorOp::Sort | VectorOp::SortDesc if !grouping.names.of(&tree.names).is_empty() => {
            Some(Fault::new(
                grouping.span.range(),
                format!("{} orders by value and cannot be grouped", op.as_str()),
            ))
        }
        _ => None,
    }
}
