//! Faults with advice: what people mean when they write what Prometheus does not read.

use std::borrow::Cow;
use std::ops::Range;

use super::functions::{FUNCTIONS, Function};
use super::token::{Aggregator, Kind, Operator, Token};
use super::tree::ValueType;
use crate::lang::Fault;

/// A bracket without its partner.
pub(super) fn never_closed(bracket: &str, span: Range<usize>) -> Fault {
    Fault::new(span, format!("this {bracket} is never closed"))
}

/// How a token is named in a message.
fn named(text: &str, token: Token) -> String {
    if token.kind == Kind::End {
        return "the end".to_owned();
    }
    short(text.get(token.span()).unwrap_or_default()).into_owned()
}

/// A piece of the text as a message shows it: the beginning is enough of a long one.
pub(super) fn short(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(40) {
        Some((cut, _)) => Cow::Owned(format!("{}...", &word[..cut])),
        None => Cow::Borrowed(word),
    }
}

/// A token that does not fit.
pub(super) fn unexpected(text: &str, token: Token, expected: &str) -> Fault {
    let fault = Fault::new(token.span(), format!("expected {expected}, found {}", named(text, token)));
    match token.kind {
        Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace => {
            fault.hint("check that brackets come in pairs")
        }
        _ => fault,
    }
}

/// A token where an expression should begin.
pub(super) fn no_expression(text: &str, token: Token) -> Fault {
    let fault = Fault::new(token.span(), format!("expected an expression, found {}", named(text, token)));
    let hint = match token.kind {
        Kind::Operator(Operator::Atan2) => "a metric called atan2 is written {\"atan2\"}",
        Kind::Bool | Kind::On | Kind::Ignoring => {
            "behind an operator comes bool, then on or ignoring, then the other side"
        }
        Kind::GroupLeft | Kind::GroupRight => "group_left and group_right follow on(...) or ignoring(...)",
        Kind::OpenBracket => "a range follows a selector: metric[5m]",
        Kind::Comma => "an argument is missing before this comma",
        Kind::CloseParen => {
            "something is missing before this bracket; behind group_left, brackets hold labels"
        }
        Kind::Equal => "values are compared with ==",
        Kind::End if text.contains("group_") => "behind group_left and group_right, brackets hold labels",
        Kind::Operator(_) | Kind::End => "an operator needs an expression on both sides",
        _ => return fault,
    };
    fault.hint(hint)
}

/// A token behind a complete expression that cannot follow one.
pub(super) fn after_expression(text: &str, token: Token, expected: &str) -> Fault {
    let fault = unexpected(text, token, expected);
    let hint = match token.kind {
        Kind::Equal => "values are compared with ==; = stands in braces only",
        Kind::OpenBrace => {
            "matchers follow the name of the metric, before a range and before modifiers: metric{a=\"b\"}[5m]"
        }
        Kind::By | Kind::Without => "by and without follow an aggregation: sum by (job) (metric)",
        Kind::On | Kind::Ignoring => "on and ignoring follow an operator: a / on (job) b",
        Kind::GroupLeft | Kind::GroupRight => {
            "write a * on (job) group_left () b: the modifiers follow the operator"
        }
        Kind::Bool => "bool follows a comparison: a > bool b",
        Kind::OpenParen => {
            "only functions and aggregations are called with (; an operator is missing before it"
        }
        Kind::Number | Kind::Duration | Kind::Quoted => "an operator is missing before it",
        Kind::CloseParen => "this bracket was never opened",
        Kind::Comma => "commas separate arguments of functions only",
        kind if kind.names_metric() => "an operator is missing before it",
        _ => return fault,
    };
    fault.hint(hint)
}

/// A character that PromQL does not know.
pub(super) fn foreign_sign(text: &str, at: usize, sign: char) -> Fault {
    let rest = text.get(at..).unwrap_or_default();
    let fault = Fault::new(at..at + sign.len_utf8(), format!("unexpected {}", sign.escape_debug()));
    let hint = match sign {
        '|' if rest.starts_with("||") => "PromQL writes or",
        '|' => "filters and parsers behind | are LogQL; PromQL knows metrics only",
        '&' => "PromQL writes and",
        '!' => "not equal is written !=; PromQL has no other negation, see unless and absent()",
        '\u{201C}' | '\u{201D}' | '\u{2018}' | '\u{2019}' => "replace the typographic quotes by \" or '",
        '\u{A0}' | '\u{FEFF}' | '\u{200B}' => "replace this invisible character by a space",
        '$' => "variables such as $__rate_interval exist in dashboards only: write the value",
        ';' => "a query is one expression, nothing ends it",
        '}' => "this brace was never opened",
        '.' => "a metric whose name is not made of letters, digits, _ and : is written {\"my.metric\"}",
        _ if sign.is_alphanumeric() => "a name with such letters is written in quotes: {\"name\"}",
        _ => return fault,
    };
    fault.hint(hint)
}

/// A character that does not belong between braces.
pub(super) fn foreign_sign_in_braces(text: &str, at: usize, sign: char) -> Fault {
    let fault = Fault::new(at..at + sign.len_utf8(), format!("unexpected {} in braces", sign.escape_debug()));
    let before = text.get(..at).unwrap_or_default();
    let behind_label = before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
    let hint = match sign {
        '-' | '.' | '/' | ':' if behind_label => {
            let start =
                before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |place| place + 1);
            let rest = text.get(start..).unwrap_or_default();
            let part = |c: char| c.is_ascii_alphanumeric() || "_-./:".contains(c);
            let name = rest.find(|c| !part(c)).map_or(rest, |end| &rest[..end]);
            let name = short(name);
            return fault.hint(format!("a label with such a name is quoted: {{\"{name}\"=\"value\"}}"));
        }
        '{' => "the brace before is still open; conditions are not nested",
        '|' => "filters and parsers behind | are LogQL; PromQL knows metrics only",
        '<' | '>' | '!' => "labels are compared with =, !=, =~ and !~ only",
        '\u{201C}' | '\u{201D}' | '\u{2018}' | '\u{2019}' => "replace the typographic quotes by \" or '",
        _ if sign.is_ascii_digit() => "values of labels are quoted, and labels begin with a letter",
        _ => return fault,
    };
    fault.hint(hint)
}

/// A number or duration that is neither.
pub(super) fn bad_number(text: &str, span: Range<usize>) -> Fault {
    let word = text.get(span.clone()).unwrap_or_default();
    let shown = short(word);
    let fault = Fault::new(span, format!("{shown} is neither a number nor a duration"));
    let hexadecimal = word.starts_with("0x") || word.starts_with("0X");
    let hint = if hexadecimal {
        "a hexadecimal number fits into 63 bits, and Prometheus trips over an e right behind its first digit"
            .to_owned()
    } else if word.starts_with(|c: char| c.is_ascii_digit()) && word.ends_with(|c: char| c.is_ascii_digit()) {
        format!("every number of a duration has a unit, {shown}m for minutes; 0.5 and 1e3 are numbers")
    } else if word.contains('.') {
        "durations have no fractions: write 1h30m for one and a half hours".to_owned()
    } else {
        "the units are y, w, d, h, m, s and ms, from biggest to smallest; a metric begins with a letter"
            .to_owned()
    };
    fault.hint(hint)
}

/// A token behind a complete condition that is neither a comma nor the brace.
pub(super) fn after_condition(token: Token, fault: Fault) -> Fault {
    match token.kind {
        Kind::Word | Kind::Quoted => fault.hint("conditions are separated by commas"),
        _ => fault,
    }
}

/// A condition whose value lacks its quotes.
pub(super) fn unquoted_value(text: &str, token: Token, fault: Fault) -> Fault {
    match token.kind {
        Kind::Word => {
            let word = named(text, token);
            fault.hint(format!("values are quoted: \"{word}\""))
        }
        Kind::Equal => fault.hint("labels are compared with a single ="),
        _ => fault,
    }
}

/// `by job` without brackets.
pub(super) fn labels_without_brackets(text: &str, keyword: Token, token: Token, fault: Fault) -> Fault {
    if token.kind.names_label() {
        let (keyword, label) = (named(text, keyword), named(text, token));
        return fault.hint(format!("labels stand in brackets: {keyword} ({label})"));
    }
    fault
}

/// A token in a list of labels that is none.
pub(super) fn label_expected(text: &str, token: Token, fault: Fault) -> Fault {
    let hint = match token.kind {
        Kind::Operator(Operator::Sub | Operator::Div) => {
            "a label whose name is not made of letters, digits and _ is quoted: (\"my-label\")".to_owned()
        }
        Kind::Without | Kind::Number => {
            format!("a label with this name is quoted: (\"{}\")", named(text, token))
        }
        Kind::Equal | Kind::Operator(_) => "only names of labels stand here, without conditions".to_owned(),
        kind if kind.names_label() => "labels are separated by commas".to_owned(),
        _ => return fault,
    };
    fault.hint(hint)
}

/// A plain range behind something that is no selector.
pub(super) fn range_of_expression(text: &str, start: usize, range: Range<usize>) -> Fault {
    let inner = text.get(range.clone()).filter(|inner| inner.len() <= 40).unwrap_or("[5m]");
    let fault = Fault::new(range, "a range can be taken of a selector only");
    let called = text.get(start..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let subquery = inner.replace(']', ":]");
    if called {
        return fault.hint(format!(
            "move it inwards, to the selector: rate(metric{inner}), or write {subquery} for a subquery"
        ));
    }
    fault.hint(format!("write {subquery} for a subquery, which evaluates the expression over that time"))
}

/// `offset` or `@` behind something that cannot be moved in time.
pub(super) fn modifier_of_expression(text: &str, span: Range<usize>, modifier: Token) -> Fault {
    let word = text.get(modifier.span()).unwrap_or_default();
    let fault = Fault::new(
        modifier.start..modifier.end.max(span.start),
        format!("{word} belongs to a selector or a subquery"),
    );
    fault.hint(format!("move it inwards, to each selector: rate(metric[5m] {word} ...)"))
}

/// A range vector where none is wanted.
pub(super) fn needless_range(found: ValueType, fault: Fault) -> Fault {
    match found {
        ValueType::Matrix => fault.hint("leave the range out, or apply a function to it: rate(metric[5m])"),
        _ => fault,
    }
}

/// A selector that every series fulfils.
pub(super) fn selects_everything(span: Range<usize>, empty: bool) -> Fault {
    let message = if empty {
        "an empty selector would select every series"
    } else {
        "this selector would select every series: all its conditions hold for a missing label too"
    };
    Fault::new(span, message)
        .hint("name a metric, or add a condition that a missing label does not fulfil: job=~\".+\"")
}

/// A wrong number of arguments of a function.
pub(super) fn argument_count(function: &Function, count: usize, span: Range<usize>) -> Fault {
    let wanted = match (function.least, function.most) {
        (least, Some(most)) if least == most => format!("{least}"),
        (least, Some(most)) => format!("{least} to {most}"),
        (least, None) => format!("at least {least}"),
    };
    let plural = if wanted == "1" { "" } else { "s" };
    Fault::new(span, format!("{} takes {wanted} argument{plural}, and there are {count}", function.name))
        .hint(format!("write {}", function.signature()))
}

/// An argument of the wrong type.
pub(super) fn argument_type(
    text: &str,
    function: &Function,
    wanted: ValueType,
    found: ValueType,
    span: Range<usize>,
    selects: bool,
    swapped: bool,
) -> Fault {
    let argument = text.get(span.clone()).unwrap_or_default();
    let fault = Fault::new(
        span,
        format!("{} wants {} here, and this is {}", function.name, wanted.described(), found.described()),
    );
    let hint = match (wanted, found) {
        _ if swapped => format!("the arguments are in another order: {}", function.signature()),
        (ValueType::Matrix, ValueType::Vector) if selects && argument.len() <= 60 => {
            format!("add a range: {}({argument}[5m])", function.name)
        }
        (ValueType::Matrix, ValueType::Vector) => {
            "the range belongs to the selector inside, or write a subquery such as (...)[30m:]".to_owned()
        }
        (ValueType::Vector, ValueType::Matrix) => {
            format!("leave the range out, or apply a function to it first: {}", function.signature())
        }
        (ValueType::String, _) => format!("quote it: {}", function.signature()),
        (ValueType::Vector, ValueType::Scalar) => {
            format!("vector(...) makes a vector of a scalar: {}", function.signature())
        }
        (ValueType::Scalar, ValueType::Vector) => {
            format!("scalar(...) makes a scalar of a vector: {}", function.signature())
        }
        _ => format!("write {}", function.signature()),
    };
    fault.hint(hint)
}

/// A wrong number of arguments of an aggregation.
pub(super) fn aggregation_arguments(
    aggregator: Aggregator,
    wanted: usize,
    found: usize,
    span: Range<usize>,
) -> Fault {
    let name = aggregator.name();
    let plural = if wanted == 1 { "" } else { "s" };
    let fault = Fault::new(span, format!("{name} takes {wanted} argument{plural}, and there are {found}"));
    if wanted == 2 {
        return fault.hint(format!("the parameter comes first: {name}(parameter, vector)"));
    }
    fault.hint(format!("labels stand behind by or without: {name} by (label) (vector)"))
}

/// A function that does not exist.
pub(super) fn unknown_function(name: &str, span: Range<usize>) -> Fault {
    let fault = Fault::new(span, format!("there is no function {}", short(name)));
    let hint = match name {
        "rate_interval" | "rate_counter" => "LogQL knows it, PromQL does not".to_owned(),
        "bytes_rate" | "bytes_over_time" | "unwrap" | "line_format" | "label_format" => {
            "LogQL knows it, PromQL does not".to_owned()
        }
        "holt_winters" => "it is called double_exponential_smoothing now".to_owned(),
        "mean" | "average" => "the mean over series is avg, over time avg_over_time".to_owned(),
        _ => match nearest(name) {
            Some(nearest) => format!("did you mean {nearest}?"),
            None => return fault,
        },
    };
    fault.hint(hint)
}

/// The known name that needs the fewest changes, if that is a typing mistake's worth.
fn nearest(name: &str) -> Option<&'static str> {
    const AGGREGATIONS: [&str; 14] = [
        "avg",
        "bottomk",
        "count",
        "count_values",
        "group",
        "limitk",
        "limit_ratio",
        "max",
        "min",
        "quantile",
        "stddev",
        "stdvar",
        "sum",
        "topk",
    ];
    // A name far longer than any known one is no typing mistake, and would cost time.
    if name.len() > 40 {
        return None;
    }
    let lower = name.to_ascii_lowercase();
    let known = FUNCTIONS.iter().map(|function| function.name).chain(AGGREGATIONS);
    let allowed = 1 + name.len() / 5;
    // Among equals, whoever left letters out at the end is served first.
    let ranked = known.map(|known| (changes(&lower, known), !known.starts_with(&lower), known));
    ranked.filter(|(changes, ..)| *changes <= allowed).min().map(|(.., known)| known)
}

/// How many letters must be added, removed or replaced to make one word of the other.
fn changes(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (above, letter) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], above + 1);
        for (column, other) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
