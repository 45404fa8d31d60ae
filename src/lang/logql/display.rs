//! Prints a query in its canonical form: one spelling for everything, parentheses only where they are needed.
//!
//! The form parses back to the same tree. Long chains of operators are printed without recursion.

use std::fmt::{self, Formatter, Write as _};

use super::display_stage::{
    duration, names, number, pipeline, range_duration, selector, string, unsigned, unwrap,
};
use super::tree::{BinaryOp, ExprKind, Grouping, Matching, Side, Tree};

/// What is still to be printed, the next one last.
enum Task {
    Expr(u32),
    Text(&'static str),
    /// What stands between the operands of the operator with this number.
    Operator(u32),
    /// The strings of `label_replace` with this number.
    Strings(u32),
    /// The range of `variants` with this number.
    Range(u32),
}

pub(super) fn query(tree: &Tree, f: &mut Formatter<'_>) -> fmt::Result {
    let mut tasks = vec![Task::Expr(tree.root())];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(text) => f.write_str(text)?,
            Task::Expr(index) => expr(tree, index, &mut tasks, f)?,
            Task::Operator(index) => operator(tree, index, f)?,
            Task::Strings(index) => {
                if let Some(ExprKind::LabelReplace { strings, .. }) =
                    tree.exprs.get(index as usize).map(|expr| &expr.kind)
                {
                    for text in strings.of(&tree.strings) {
                        f.write_str(", ")?;
                        string(tree, *text, f)?;
                    }
                }
                f.write_char(')')?;
            }
            Task::Range(index) => {
                f.write_str(") of (")?;
                log_range(tree, index, f)?;
                f.write_char(')')?;
            }
        }
    }
    Ok(())
}

fn expr(tree: &Tree, index: u32, tasks: &mut Vec<Task>, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(expr) = tree.exprs.get(index as usize) else { return Ok(()) };
    match &expr.kind {
        ExprKind::Log { selector: index, stages } => {
            selector(tree, *index, f)?;
            pipeline(tree, *stages, f)?;
        }
        ExprKind::Range { op, parameter, range, grouping } => {
            write!(f, "{}(", op.as_str())?;
            if let Some(parameter) = parameter {
                unsigned(tree, *parameter, f)?;
                f.write_str(", ")?;
            }
            log_range(tree, *range, f)?;
            f.write_char(')')?;
            if let Some(grouping) = grouping.and_then(|grouping| tree.groupings.get(grouping as usize)) {
                f.write_char(' ')?;
                write_grouping(tree, grouping, f)?;
            }
        }
        ExprKind::Vector { op, parameter, grouping, operand } => {
            f.write_str(op.as_str())?;
            if let Some(grouping) = grouping.and_then(|grouping| tree.groupings.get(grouping as usize)) {
                f.write_char(' ')?;
                write_grouping(tree, grouping, f)?;
                f.write_char(' ')?;
            }
            f.write_char('(')?;
            if let Some(parameter) = parameter.and_then(|number| tree.numbers.get(number as usize)) {
                // As written: the parameter is a whole number for Loki, not a float.
                write!(f, "{}, ", tree.name(parameter.span))?;
            }
            tasks.extend([Task::Text(")"), Task::Expr(*operand)]);
        }
        ExprKind::Binary { op, left, right, .. } => {
            push_leg(*right, needs_parens(tree, *op, *right, true), tasks);
            tasks.push(Task::Operator(index));
            push_leg(*left, needs_parens(tree, *op, *left, false), tasks);
        }
        ExprKind::Literal { number: index, negative } => number(tree, *index, *negative, f)?,
        ExprKind::Constant { number: index } => {
            f.write_str("vector(")?;
            unsigned(tree, *index, f)?;
            f.write_char(')')?;
        }
        ExprKind::LabelReplace { operand, .. } => {
            f.write_str("label_replace(")?;
            tasks.extend([Task::Strings(index), Task::Expr(*operand)]);
        }
        ExprKind::Variants { operands, range } => {
            f.write_str("variants(")?;
            tasks.push(Task::Range(*range));
            for (place, operand) in operands.of(&tree.variants).iter().enumerate().rev() {
                tasks.push(Task::Expr(*operand));
                if place > 0 {
                    tasks.push(Task::Text(", "));
                }
            }
        }
    }
    Ok(())
}

fn push_leg(leg: u32, parens: bool, tasks: &mut Vec<Task>) {
    if parens {
        tasks.extend([Task::Text(")"), Task::Expr(leg), Task::Text("(")]);
    } else {
        tasks.push(Task::Expr(leg));
    }
}

/// Whether a leg would be read differently without parentheses.
fn needs_parens(tree: &Tree, parent: BinaryOp, leg: u32, is_right: bool) -> bool {
    match tree.exprs.get(leg as usize).map(|expr| &expr.kind) {
        // A pipeline would swallow `or`, `and` and `!=`.
        Some(ExprKind::Log { .. }) => true,
        Some(ExprKind::Binary { op, .. }) => {
            let (inner, outer) = (op.precedence(), parent.precedence());
            inner < outer || (inner == outer && is_right != parent.is_right_associative())
        }
        _ => false,
    }
}

fn operator(tree: &Tree, index: u32, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(ExprKind::Binary { op, returns_bool, matching, .. }) =
        tree.exprs.get(index as usize).map(|expr| &expr.kind)
    else {
        return Ok(());
    };
    write!(f, " {} ", op.as_str())?;
    if *returns_bool {
        f.write_str("bool ")?;
    }
    if let Some(matching) = matching.and_then(|matching| tree.matchings.get(matching as usize)) {
        write_matching(tree, matching, f)?;
    }
    Ok(())
}

fn write_matching(tree: &Tree, matching: &Matching, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(if matching.on { "on (" } else { "ignoring (" })?;
    names(tree, matching.names, f)?;
    f.write_str(") ")?;
    if let Some(side) = matching.group {
        // Always with a list: a parenthesis of the operand would be taken for one.
        f.write_str(if side == Side::Left { "group_left (" } else { "group_right (" })?;
        names(tree, matching.include, f)?;
        f.write_str(") ")?;
    }
    Ok(())
}

fn write_grouping(tree: &Tree, grouping: &Grouping, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(if grouping.without { "without (" } else { "by (" })?;
    names(tree, grouping.names, f)?;
    f.write_char(')')
}

fn log_range(tree: &Tree, index: u32, f: &mut Formatter<'_>) -> fmt::Result {
    let Some(range) = tree.ranges.get(index as usize) else { return Ok(()) };
    selector(tree, range.selector, f)?;
    pipeline(tree, range.stages, f)?;
    if let Some(part) = &range.unwrap {
        unwrap(tree, part, f)?;
        f.write_char(' ')?;
    } else if !range.stages.of(&tree.stages).is_empty() {
        f.write_char(' ')?;
    }
    f.write_char('[')?;
    range_duration(range.interval, f)?;
    f.write_char(']')?;
    if let Some(offset) = range.offset {
        f.write_str(" offset ")?;
        duration(offset, f)?;
    }
    Ok(())
}
