//! Prints the parts below an expression: selectors, stages, strings, numbers and durations.

use std::fmt::{self, Formatter, Write as _};

use super::tree::{
    FilterNode, Joiner, LineOperand, List, MatcherNode, PairValue, Span, StageKind, Str, Tree, Unwrap,
};

pub(super) fn selector(tree: &Tree, index: u32, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(selector) = tree.selectors.get(index as usize) else { return Ok(()) };
    f.write_char('{')?;
    matchers(tree, selector.matchers, f)?;
    f.write_char('}')
}

fn matchers(tree: &Tree, list: List, f: &mut Formatter<'_>) -> fmt::Result {
    for (place, part) in list.of(&tree.matchers).iter().enumerate() {
        if place > 0 {
            f.write_str(", ")?;
        }
        matcher(tree, part, f)?;
    }
    Ok(())
}

fn matcher(tree: &Tree, matcher: &MatcherNode, f: &mut Formatter<'_>) -> fmt::Result {
    name(tree, matcher.name, f)?;
    if let Some(op) = matcher.op {
        f.write_str(op.as_str())?;
        string(tree, matcher.value, f)?;
    }
    Ok(())
}

pub(super) fn names(tree: &Tree, list: List, f: &mut Formatter<'_>) -> fmt::Result {
    for (place, part) in list.of(&tree.names).iter().enumerate() {
        if place > 0 {
            f.write_str(", ")?;
        }
        name(tree, *part, f)?;
    }
    Ok(())
}

/// A name. Signs that Loki takes for names get blanks, so that they do not grow together with their neighbours.
pub(super) fn name(tree: &Tree, span: Span, f: &mut Formatter<'_>) -> fmt::Result {
    let text = tree.name(span);
    if text.starts_with(|c| c == '_' || crate::lang::letters::is_letter(c)) {
        f.write_str(text)
    } else {
        write!(f, " {text} ")
    }
}

pub(super) fn pipeline(tree: &Tree, stages: List, f: &mut Formatter<'_>) -> fmt::Result {
    for part in stages.of(&tree.stages) {
        f.write_char(' ')?;
        stage(tree, part, f)?;
    }
    Ok(())
}

fn stage(tree: &Tree, stage: &StageKind, f: &mut Formatter<'_>) -> fmt::Result {
    match stage {
        StageKind::LineFilter { op, operands } => {
            write!(f, "{} ", op.as_str())?;
            for (place, operand) in operands.of(&tree.operands).iter().enumerate() {
                if place > 0 {
                    f.write_str(" or ")?;
                }
                line_operand(tree, operand, f)?;
            }
            Ok(())
        }
        StageKind::Json { pairs } => {
            f.write_str("| json")?;
            pair_list(tree, *pairs, f)
        }
        StageKind::Logfmt { strict, keep_empty, pairs } => {
            f.write_str("| logfmt")?;
            f.write_str(if *strict { " --strict" } else { "" })?;
            f.write_str(if *keep_empty { " --keep-empty" } else { "" })?;
            pair_list(tree, *pairs, f)
        }
        StageKind::Regexp(text) => with_string(tree, "| regexp ", *text, f),
        StageKind::Pattern(text) => with_string(tree, "| pattern ", *text, f),
        StageKind::LineFormat(text) => with_string(tree, "| line_format ", *text, f),
        StageKind::Unpack => f.write_str("| unpack"),
        StageKind::Decolorize => f.write_str("| decolorize"),
        StageKind::LabelFormat { pairs } => {
            f.write_str("| label_format")?;
            pair_list(tree, *pairs, f)
        }
        StageKind::Drop { matchers: list } => {
            f.write_str("| drop ")?;
            matchers(tree, *list, f)
        }
        StageKind::Keep { matchers: list } => {
            f.write_str("| keep ")?;
            matchers(tree, *list, f)
        }
        StageKind::LabelFilter { root } => {
            f.write_str("| ")?;
            label_filter(tree, *root, f)
        }
    }
}

fn line_operand(tree: &Tree, operand: &LineOperand, f: &mut Formatter<'_>) -> fmt::Result {
    if operand.ip {
        f.write_str("ip(")?;
        string(tree, operand.text, f)?;
        f.write_char(')')
    } else {
        string(tree, operand.text, f)
    }
}

fn with_string(tree: &Tree, stage: &str, text: Str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(stage)?;
    string(tree, text, f)
}

fn pair_list(tree: &Tree, pairs: List, f: &mut Formatter<'_>) -> fmt::Result {
    for (place, pair) in pairs.of(&tree.pairs).iter().enumerate() {
        f.write_str(if place > 0 { ", " } else { " " })?;
        name(tree, pair.name, f)?;
        match pair.value {
            PairValue::None => {}
            PairValue::Name(other) => {
                f.write_char('=')?;
                name(tree, other, f)?;
            }
            PairValue::Text(text) => {
                f.write_char('=')?;
                string(tree, text, f)?;
            }
        }
    }
    Ok(())
}

pub(super) fn unwrap(tree: &Tree, unwrap: &Unwrap, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(" | unwrap ")?;
    if let Some(conversion) = unwrap.conversion {
        write!(f, "{}(", conversion.as_str())?;
        name(tree, unwrap.name, f)?;
        f.write_char(')')?;
    } else {
        name(tree, unwrap.name, f)?;
    }
    for root in unwrap.filters.of(&tree.post_filters) {
        f.write_str(" | ")?;
        label_filter(tree, *root, f)?;
    }
    Ok(())
}

/// What is still to be printed of a label filter, the next one last.
enum Task {
    Filter(u32),
    Text(&'static str),
}

fn label_filter(tree: &Tree, root: u32, f: &mut Formatter<'_>) -> fmt::Result {
    let mut tasks = vec![Task::Filter(root)];
    while let Some(task) = tasks.pop() {
        let index = match task {
            Task::Text(text) => {
                f.write_str(text)?;
                continue;
            }
            Task::Filter(index) => index,
        };
        match tree.filters.get(index as usize) {
            Some(FilterNode::Join { joiner, left, right }) => {
                push_side(*right, needs_parens(tree, *joiner, *right, true), &mut tasks);
                tasks.push(Task::Text(match joiner {
                    Joiner::And => " and ",
                    Joiner::Or => " or ",
                    Joiner::Comma => ", ",
                }));
                push_side(*left, needs_parens(tree, *joiner, *left, false), &mut tasks);
            }
            Some(filter) => comparison(tree, filter, f)?,
            None => {}
        }
    }
    Ok(())
}

fn push_side(side: u32, parens: bool, tasks: &mut Vec<Task>) {
    if parens {
        tasks.extend([Task::Text(")"), Task::Filter(side), Task::Text("(")]);
    } else {
        tasks.push(Task::Filter(side));
    }
}

/// Whether a side would be read differently without parentheses. A comma takes only the filter before it, and everything behind.
fn needs_parens(tree: &Tree, parent: Joiner, side: u32, is_right: bool) -> bool {
    let Some(FilterNode::Join { joiner, .. }) = tree.filters.get(side as usize) else { return false };
    match (parent, is_right) {
        (Joiner::Comma, is_right) => !is_right,
        (_, true) => match joiner {
            Joiner::Comma => false,
            Joiner::And => parent == Joiner::And,
            Joiner::Or => true,
        },
        (_, false) => match joiner {
            Joiner::Comma => true,
            Joiner::And => reaches_on(tree, side),
            Joiner::Or => parent == Joiner::And || reaches_on(tree, side),
        },
    }
}

/// Whether a join ends in a comma's right side, which would take in whatever is printed behind it.
fn reaches_on(tree: &Tree, mut side: u32) -> bool {
    while let Some(FilterNode::Join { joiner, right, .. }) = tree.filters.get(side as usize) {
        if *joiner == Joiner::Comma {
            return true;
        }
        if needs_parens_on_right(tree, *joiner, *right) {
            return false;
        }
        side = *right;
    }
    false
}

fn needs_parens_on_right(tree: &Tree, parent: Joiner, right: u32) -> bool {
    match tree.filters.get(right as usize) {
        Some(FilterNode::Join { joiner: Joiner::And, .. }) => parent == Joiner::And,
        Some(FilterNode::Join { joiner: Joiner::Or, .. }) => true,
        _ => false,
    }
}

fn comparison(tree: &Tree, filter: &FilterNode, f: &mut Formatter<'_>) -> fmt::Result {
    match filter {
        FilterNode::Match { matcher: index } => match tree.matchers.get(*index as usize) {
            Some(found) => matcher(tree, found, f),
            None => Ok(()),
        },
        FilterNode::Ip { name: label, negated, pattern } => {
            name(tree, *label, f)?;
            f.write_str(if *negated { "!=ip(" } else { "=ip(" })?;
            string(tree, *pattern, f)?;
            f.write_char(')')
        }
        FilterNode::Duration { name: label, op, nanoseconds } => {
            name(tree, *label, f)?;
            f.write_str(op.as_str())?;
            duration(*nanoseconds, f)
        }
        FilterNode::Bytes { name: label, op, bytes } => {
            name(tree, *label, f)?;
            write!(f, "{}{bytes}B", op.as_str())
        }
        FilterNode::Number { name: label, op, number: index, negative } => {
            name(tree, *label, f)?;
            f.write_str(op.as_str())?;
            number(tree, *index, *negative, f)
        }
        FilterNode::Join { .. } => Ok(()),
    }
}

/// A string in double quotes. Whatever is no printable character is escaped, bytes that are no UTF-8 too.
pub(super) fn string(tree: &Tree, string: Str, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for chunk in tree.bytes(string.text).utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                c if c < ' ' || c == '\x7f' => write!(f, "\\x{:02x}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        for byte in chunk.invalid() {
            write!(f, "\\x{byte:02x}")?;
        }
    }
    f.write_char('"')
}

/// A number by its value; one that has none as it was written.
pub(super) fn number(tree: &Tree, index: u32, negative: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(number) = tree.numbers.get(index as usize) else { return Ok(()) };
    match number.value {
        None => {
            let text = tree.name(number.span);
            // A minus would make a duration of a zero, and a binary number must follow its sign without a blank.
            let sign = if negative {
                "- "
            } else if text.starts_with("0b") || text.starts_with("0B") {
                "+"
            } else {
                ""
            };
            write!(f, "{sign}{text}")
        }
        Some(value) => {
            f.write_str(if !negative {
                ""
            } else if value == 0.0 {
                "- "
            } else {
                "-"
            })?;
            if value == 0.0 || (1e-5..1e16).contains(&value) {
                write!(f, "{value}")
            } else {
                write!(f, "{value:e}")
            }
        }
    }
}

/// A number where no sign may stand.
pub(super) fn unsigned(tree: &Tree, index: u32, f: &mut Formatter<'_>) -> fmt::Result {
    match tree.numbers.get(index as usize) {
        Some(number) if number.value.is_none() => f.write_str(tree.name(number.span)),
        _ => number(tree, index, false, f),
    }
}

/// A duration as LogQL takes it outside of brackets, exact to the nanosecond.
pub(super) fn duration(nanoseconds: i64, f: &mut Formatter<'_>) -> fmt::Result {
    const UNITS: [(u64, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    f.write_str(if nanoseconds < 0 { "-" } else { "" })?;
    units(nanoseconds.unsigned_abs(), &UNITS, f)
}

/// A duration as it stands in brackets, where milliseconds are the smallest unit.
pub(super) fn range_duration(nanoseconds: i64, f: &mut Formatter<'_>) -> fmt::Result {
    const UNITS: [(u64, &str); 5] = [
        (86_400_000_000_000, "d"),
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
    ];
    units(nanoseconds.unsigned_abs(), &UNITS, f)
}

fn units(mut rest: u64, units: &[(u64, &str)], f: &mut Formatter<'_>) -> fmt::Result {
    if rest == 0 {
        return f.write_str("0s");
    }
    for (size, unit) in units {
        if rest >= *size {
            write!(f, "{}{unit}", rest / size)?;
            rest %= size;
        }
    }
    Ok(())
}
