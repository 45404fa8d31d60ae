//! What Loki notices only when it evaluates a query: it stores the rule, and then every evaluation fails.

use super::check::in_string;
use super::tree::{FilterNode, LineOp, LineOperand, PairValue, StageKind, Str, Tree};
use super::{check, ip, jsonpath, logfmt, pattern, regex};
use crate::lang::{Fault, template};

/// Everything that fails in a stage. Each message begins with the stage.
pub(super) fn faults(tree: &Tree) -> Vec<Fault> {
    let mut faults = check::variants_faults(tree);
    for stage in &tree.stages {
        match stage {
            StageKind::LineFilter { op, operands } => {
                line_filter(tree, *op, operands.of(&tree.operands), &mut faults);
            }
            StageKind::LineFormat(text) => faults.extend(line_format(tree, *text)),
            StageKind::LabelFormat { pairs } => label_format(tree, pairs.of(&tree.pairs), &mut faults),
            StageKind::Json { pairs } => {
                extractions(tree, "json", pairs.of(&tree.pairs), jsonpath::check, &mut faults);
            }
            StageKind::Logfmt { pairs, .. } => {
                extractions(tree, "logfmt", pairs.of(&tree.pairs), logfmt::check, &mut faults);
            }
            StageKind::LabelFilter { root } => faults.extend(alone(tree, *root)),
            _ => {}
        }
    }
    nested_addresses(tree, &mut faults);
    faults
}

/// Line filters. Behind `or`, Loki 3.7 keeps only the last piece of the chain that ends with `ip(..)` or a string, and treats
/// addresses there as plain text; a negated filter is as many single filters.
fn line_filter(tree: &Tree, op: LineOp, operands: &[LineOperand], faults: &mut Vec<Fault>) {
    let chained = operands.len() > 1 && !op.is_negated();
    let kept = if chained { last_piece(operands) } else { 0 };
    for (place, operand) in operands.iter().enumerate() {
        if chained && place > 0 && place < kept {
            continue;
        }
        if operand.ip && !chained {
            if !matches!(op, LineOp::Contains | LineOp::NotContains) {
                let fault = Fault::new(
                    operand.text.span.range(),
                    format!("{}: ip(..) does not work here", op.as_str()),
                );
                faults.push(fault.hint("use it with |= or !="));
            } else if !ip::is_pattern(tree.bytes(operand.text.text)) {
                faults.push(address(operand.text, op.as_str()));
            }
            continue;
        }
        let text = tree.bytes(operand.text.text);
        match op {
            LineOp::Regex | LineOp::NotRegex => {
                if let Err(fault) = regex::line_filter(text) {
                    faults.push(of_stage(op.as_str(), in_string(tree, operand.text, fault)));
                }
            }
            LineOp::Pattern | LineOp::NotPattern => {
                if let Err(error) = pattern::line_filter(text) {
                    faults.push(Fault::new(operand.text.span.range(), format!("{}: {error}", op.as_str())));
                }
            }
            LineOp::Contains | LineOp::NotContains => {}
        }
    }
}

/// Where the last piece of an `or` chain begins: behind the last `ip(..)` that something follows.
pub(super) fn last_piece(operands: &[LineOperand]) -> usize {
    let body = operands.len().saturating_sub(1);
    operands.iter().take(body).skip(1).rposition(|operand| operand.ip).map_or(1, |place| place + 2)
}

fn line_format(tree: &Tree, text: Str) -> Option<Fault> {
    let fault = template_fault(tree, text, &template::LOKI_LINE)?;
    Some(of_stage("line_format", fault))
}

fn template_fault(tree: &Tree, text: Str, set: &template::FunctionSet) -> Option<Fault> {
    template::check_bytes(tree.bytes(text.text), set).err().map(|fault| in_string(tree, text, fault))
}

fn label_format(tree: &Tree, pairs: &[super::tree::Pair], faults: &mut Vec<Fault>) {
    let mut targets: Vec<(&str, usize)> = pairs.iter().map(|pair| tree.name(pair.name)).zip(0..).collect();
    targets.sort_unstable();
    for pair in targets.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let span = pairs[pair[1].1].name.range();
        faults.push(Fault::new(span, format!("label_format: writes `{}` twice in one stage", pair[0].0)));
    }
    for pair in pairs {
        if tree.name(pair.name) == "__error__" {
            faults.push(Fault::new(pair.name.range(), "label_format: `__error__` cannot be written"));
        }
        if let PairValue::Text(text) = pair.value
            && let Some(fault) = template_fault(tree, text, &template::LOKI_LABEL)
        {
            faults.push(of_stage("label_format", fault));
        }
    }
}

fn extractions(
    tree: &Tree,
    stage: &str,
    pairs: &[super::tree::Pair],
    check: fn(&[u8]) -> Result<(), &'static str>,
    faults: &mut Vec<Fault>,
) {
    for pair in pairs {
        let (bytes, span) = match pair.value {
            PairValue::Text(text) => (tree.bytes(text.text), text.span),
            _ => (tree.name(pair.name).as_bytes(), pair.name),
        };
        if let Err(problem) = check(bytes) {
            faults.push(Fault::new(span.range(), format!("{stage}: {problem}")));
        }
    }
}

/// A label filter that is nothing but an address.
fn alone(tree: &Tree, root: u32) -> Option<Fault> {
    match tree.filters.get(root as usize)? {
        FilterNode::Ip { pattern, .. } if !ip::is_pattern(tree.bytes(pattern.text)) => {
            Some(address(*pattern, "label filter"))
        }
        _ => None,
    }
}

/// Addresses in label filters that are joined or stand behind `unwrap`: Loki lets a bad one pass, and it never matches.
fn nested_addresses(tree: &Tree, faults: &mut Vec<Fault>) {
    let mut single = vec![false; tree.filters.len()];
    for stage in &tree.stages {
        if let StageKind::LabelFilter { root } = *stage
            && let Some(place) = single.get_mut(root as usize)
        {
            *place = true;
        }
    }
    for (filter, _) in tree.filters.iter().zip(single).filter(|(_, single)| !single) {
        if let FilterNode::Ip { pattern, .. } = filter
            && !ip::is_pattern(tree.bytes(pattern.text))
        {
            let fault = address(*pattern, "label filter");
            let message = format!("{}, and Loki would silently never match it", fault.message);
            faults.push(Fault { message, ..fault });
        }
    }
}

fn address(text: Str, stage: &str) -> Fault {
    let fault =
        Fault::new(text.span.range(), format!("{stage}: not an address, a prefix or a range of addresses"));
    fault.hint("write it as 10.0.0.1, 10.0.0.0/8 or 10.0.0.1-10.0.0.9")
}

fn of_stage(stage: &str, fault: Fault) -> Fault {
    Fault { message: format!("{stage}: {}", fault.message), ..fault }
}
