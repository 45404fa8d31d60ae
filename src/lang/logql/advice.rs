//! What to say about a token that cannot stand where it stands, and what to write instead.

use super::token::{Kind, Token};
use super::tree::Span;
use super::versions;
use crate::lang::Fault;

/// Functions of PromQL that people expect here.
const PROMQL_ONLY: [&str; 22] = [
    "increase",
    "irate",
    "delta",
    "idelta",
    "deriv",
    "predict_linear",
    "histogram_quantile",
    "quantile",
    "count_values",
    "group",
    "limitk",
    "abs",
    "ceil",
    "floor",
    "round",
    "clamp_min",
    "clamp_max",
    "label_join",
    "absent",
    "time",
    "changes",
    "resets",
];

/// The fault of a token that is not what had to come.
pub(super) fn unexpected(
    text: &str,
    expected: &str,
    previous: Token,
    found: Token,
    slashes: Option<Span>,
) -> Fault {
    let here = text.get(found.span.range()).unwrap_or_default();
    let what = match found.kind {
        Kind::End => "the end of the query".to_owned(),
        Kind::Str(_) => "a string".to_owned(),
        Kind::Ident if here.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            format!("the name `{here}`")
        }
        kind if kind.is_reserved() => format!("the reserved word `{here}`"),
        _ => format!("`{here}`"),
    };
    let fault = Fault::new(found.span.range(), format!("expected {expected}, found {what}"));
    let before = text.get(previous.span.range()).unwrap_or_default();
    match hint(text, expected, (previous, before), (found, here), slashes) {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

fn hint(
    text: &str,
    expected: &str,
    (previous, before): (Token, &str),
    (found, here): (Token, &str),
    slashes: Option<Span>,
) -> Option<String> {
    let attached = previous.span.end == found.span.start;
    if expected.starts_with("a comparison")
        && let Some(hint) = unit(text, previous, before)
    {
        return Some(hint);
    }
    match found.kind {
        Kind::Str(_) if previous.kind == Kind::CmpEq => Some("compare text with a single `=`".into()),
        Kind::Str(_) if expected.starts_with("a number") => Some(
            "text is compared with `=`, `!=`, `=~` or `!~`; leave out the quotes to compare numbers".into(),
        ),
        Kind::Str(_) if expected.starts_with("a label name") => Some("a label name has no quotes".into()),
        Kind::CmpEq if expected.starts_with("`=`") => Some("a matcher compares with a single `=`".into()),
        Kind::Of | Kind::Variants if expected.starts_with("a label name") => Some(versions::reserved(here)),
        kind if kind.is_reserved() && expected.starts_with("a label name") => {
            Some(format!("`{here}` is reserved and cannot name a label in a query"))
        }
        Kind::CloseBrace | Kind::CloseParen | Kind::Pipe | Kind::End if previous.kind == Kind::Comma => {
            Some("leave out the comma before it".into())
        }
        Kind::Offset => Some("`offset` stands directly behind the range, as in [5m] offset 1h".into()),
        Kind::Number if previous.kind == Kind::Offset => Some(format!("give it a unit, as in {here}m")),
        Kind::Ident if here.chars().all(char::is_whitespace) => {
            Some("it looks like a blank and is none: replace it with a plain one".into())
        }
        Kind::By | Kind::Without if matches!(previous.kind, Kind::RangeOp(_)) => {
            Some(format!("write the grouping behind the parentheses: {before}(..) {here} (..)"))
        }
        Kind::RangeOp(_) | Kind::VectorOp(_) | Kind::OpenParen if expected.starts_with("a number behind") => {
            Some("only a number has a sign: multiply by -1 instead".into())
        }
        Kind::End | Kind::Pipe if expected.starts_with("a comparison") => Some(format!(
            "`{before}` is no stage: the parsers are json, logfmt, regexp, pattern and unpack; a label needs a comparison"
        )),
        kind if kind.is_reserved() && kind != Kind::Unwrap && expected.starts_with("a parser") => {
            Some(format!("`{here}` is reserved and cannot name a label in a query"))
        }
        Kind::Ident if here.starts_with('\'') => {
            Some("single quotes make no string: use double quotes or backticks".into())
        }
        Kind::Ident if here == "$" => {
            Some("variables of Grafana such as $__interval are only known to Grafana: write the value".into())
        }
        Kind::Ident if here == "@" => Some("LogQL has no `@` modifier".into()),
        Kind::Ident if expected.starts_with("a selector") => Some(operand(text, found, here)),
        Kind::Ident if expected.starts_with("an operator") && here == ";" => {
            Some("a query has no statements".into())
        }
        Kind::Ident | Kind::Sub | Kind::Dot
            if attached && previous.kind == Kind::Ident && expected.starts_with("`=`") =>
        {
            Some("label names have letters, digits and `_` only".into())
        }
        Kind::Duration(_) | Kind::Bytes(_) if expected.starts_with("a selector") => {
            Some("a metric is compared with plain numbers, without a unit".into())
        }
        Kind::CloseParen if expected.starts_with("a range") => Some(
            "the aggregation needs a range: put one such as [5m] behind the selector or its pipeline".into(),
        ),
        Kind::OpenBrace if previous.kind == Kind::Ident => Some(format!(
            "`{before}` cannot stand in front of a selector: streams have labels but no metric name"
        )),
        Kind::PipeExact | Kind::PipeMatch if previous.kind == Kind::Or => {
            Some("`or` in a line filter repeats only the string: |= \"a\" or \"b\"".into())
        }
        Kind::Unwrap => Some("`unwrap` works only inside of an aggregation over a range".into()),
        Kind::End => slashes.map(|_| "`//` begins a comment; a division has one `/`".into()),
        _ => None,
    }
}

/// Advice for a name that was meant as the unit of the number before it.
fn unit(text: &str, previous: Token, name: &str) -> Option<String> {
    let before = text.get(..previous.span.start as usize)?;
    let number =
        |text: &str| text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).map_or(0, |at| at + 1);
    let attached = before.get(number(before)..)?;
    if attached.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let word = format!("{attached}{name}");
        return Some(match word.strip_suffix('b') {
            Some(size) => format!("units of bytes end in a capital B: write {size}B"),
            None => format!("`{word}` is neither a duration such as 1h30m nor a byte size such as 5MB"),
        });
    }
    let apart = before.trim_end();
    let value = apart.get(number(apart)..)?;
    let is_unit = matches!(
        name,
        "B" | "kB" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB" | "s" | "m" | "h" | "ms"
    );
    (is_unit && value.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| format!("write the unit directly behind the number: {value}{name}"))
}

/// Advice for a name where an expression has to begin.
fn operand(text: &str, found: Token, name: &str) -> String {
    let rest = text.get(found.span.end as usize..).unwrap_or_default().trim_start();
    let lower = name.to_ascii_lowercase();
    if lower == "increase" && rest.starts_with('(') {
        return "LogQL has no `increase`: use count_over_time".into();
    }
    if PROMQL_ONLY.contains(&lower.as_str()) || rest.starts_with('(') {
        return format!("`{name}` is no function of LogQL");
    }
    if super::token::word(name).is_some() {
        return format!("`{name}` needs parentheses behind it, and around the labels of a grouping");
    }
    if matches!(lower.as_str(), "inf" | "nan") {
        return "LogQL has no literals for infinity and not-a-number".into();
    }
    "LogQL has no metric names: select streams by their labels, as in {app=\"foo\"}".into()
}

/// Advice for a range that is none.
pub(super) fn range(inside: &str) -> Option<String> {
    let trimmed = inside.trim();
    if inside.contains('$') {
        return Some("variables of Grafana are only known to Grafana: write a duration such as [5m]".into());
    }
    if inside.contains(':') {
        return Some("LogQL has no subqueries: write one duration".into());
    }
    if trimmed.len() < inside.len() && crate::lang::duration::prometheus(trimmed).is_ok() {
        return Some(format!("leave out the blanks: [{trimmed}]"));
    }
    if crate::lang::duration::go(trimmed).is_ok() {
        return Some("a range has whole numbers of y, w, d, h, m, s and ms, without a sign".into());
    }
    trimmed.bytes().all(|byte| byte.is_ascii_digit()).then(|| format!("give it a unit, as in [{trimmed}s]"))
}
