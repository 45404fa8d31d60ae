//! Faults of the parser, with advice for the mistakes that people make most.

use std::ops::Range;

use super::super::Fault;
use super::advice::{quote, short};
use super::functions::FunctionSet;
use super::lexer::{Keyword, Kind, Lexer, Token};
use super::parser::BlockKind;

/// Where in an action the parser is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Command,
    If,
    With,
    Range,
    Template,
    Block,
    Define,
    Parentheses,
    /// Right after an operand.
    Operand,
    Else,
    End,
    /// `break` or `continue`.
    Loop,
}

impl Place {
    fn expected(self) -> &'static str {
        match self {
            Self::Command => "an action needs a value or a function call",
            Self::If => "`if` needs a condition",
            Self::With => "`with` needs a value",
            Self::Range => "`range` needs something to go through",
            Self::Template => "`template` needs a quoted name, and after it at most one value",
            Self::Block => "`block` needs a quoted name and a value",
            Self::Define => "`define` needs a quoted name and nothing else",
            Self::Parentheses => "parentheses need a value or a function call",
            Self::Operand => "after a value only a space, `|`, `)` or `}}` can follow",
            Self::Else => "`else` stands alone, or before `if` or `with`",
            Self::End => "`end` stands alone",
            Self::Loop => "`break` and `continue` stand alone",
        }
    }
}

/// A token that cannot stand where it stands.
pub(super) fn token(lexer: &Lexer<'_>, token: Token, place: Place) -> Fault {
    let fault =
        Fault::new(token.span(), format!("{}, but found {}", place.expected(), quote(lexer.bytes(token))));
    let next = lexer.text().get(token.end).copied();
    match (token.kind, place) {
        (Kind::Assign, _) if next == Some(b'=') => fault.hint("write `eq A B` to compare"),
        (Kind::Assign | Kind::Declare, _) => fault
            .hint("only a variable at the start of a pipeline can be assigned; to compare, write `eq A B`"),
        (Kind::Pipe, _) if lexer.text().get(token.start.wrapping_sub(1)) == Some(&b'|') => {
            fault.hint("write `or A B`")
        }
        (Kind::Pipe, Place::Command | Place::Parentheses) => fault.hint("put a value before `|`"),
        (Kind::Comma, _) => fault.hint("arguments are separated by spaces, not by commas"),
        (Kind::LeftParen, Place::Operand) => fault
            .hint("arguments are not put in parentheses: write `function A B`, or put a space before `(`"),
        (Kind::Keyword(keyword), _) => fault.hint(match keyword {
            Keyword::Define => "`define` stands at the top level of the text, in an action of its own",
            _ => "keywords start an action of their own",
        }),
        (Kind::Dot, Place::Operand) => fault.hint("a name has to follow the dot"),
        (_, Place::Operand) => fault.hint("put a space before it"),
        _ => fault,
    }
}

/// Something else where a template's name has to stand.
pub(super) fn name(lexer: &Lexer<'_>, found: Token, place: Place) -> Fault {
    let fault = token(lexer, found, place);
    match found.kind {
        Kind::Identifier => {
            let word = short(lexer.bytes(found));
            fault.hint(format!("write the name in double quotes: `\"{word}\"`"))
        }
        _ => fault.hint("a template's name is a string in double quotes"),
    }
}

pub(super) fn no_value(span: Range<usize>, action: Range<usize>, place: Place) -> Fault {
    let span = if place == Place::Parentheses { span } else { action };
    Fault::new(span, format!("{}, but there is nothing", place.expected()))
}

pub(super) fn field_of_value(lexer: &Lexer<'_>, field: Token) -> Fault {
    Fault::new(field.span(), format!("{} cannot follow a literal, `nil` or `.`", quote(lexer.bytes(field))))
        .hint("only variables, fields, functions and parentheses have fields")
}

pub(super) fn value_as_command(lexer: &Lexer<'_>, token: Token) -> Fault {
    Fault::new(
        token.span(),
        format!("{} cannot take the value from `|`: it is no function", quote(lexer.bytes(token))),
    )
    .hint("name a function after `|`, such as `| printf \"%s\"`")
}

pub(super) fn too_deep(span: Range<usize>, deepest: usize) -> Fault {
    Fault::new(span, format!("parentheses nest deeper than {deepest}"))
}

pub(super) fn many_declarations(span: Range<usize>, place: Place) -> Fault {
    let fault = Fault::new(span, "too many variables are declared at once");
    match place {
        Place::Range => fault.hint("`range` declares at most two: `range $key, $value := …`"),
        _ => fault.hint("only `range` declares two variables"),
    }
}

pub(super) fn no_second_variable(span: Range<usize>) -> Fault {
    Fault::new(span, "a second variable has to follow the comma").hint("write `range $key, $value := …`")
}

pub(super) fn missing_end(kind: BlockKind, span: Range<usize>) -> Fault {
    Fault::new(span, format!("this `{}` has no `end`", kind.word())).hint("close it with `{{ end }}`")
}

pub(super) fn stray_end(span: Range<usize>) -> Fault {
    Fault::new(span, "this `end` closes nothing")
        .hint("remove it, or open an `if`, `range` or `with` before it")
}

pub(super) fn stray_else(span: Range<usize>, open: Option<BlockKind>) -> Fault {
    let fault = Fault::new(span, "this `else` belongs to nothing");
    match open {
        Some(kind) => fault.hint(format!("`{}` has no `else`", kind.word())),
        None => fault.hint("open an `if`, `range` or `with` before it"),
    }
}

pub(super) fn second_else(span: Range<usize>, kind: BlockKind) -> Fault {
    Fault::new(span, format!("this `{}` has had its `else` already", kind.word()))
        .hint("an `end` has to come first")
}

pub(super) fn wrong_chain(span: Range<usize>, kind: BlockKind, found: &[u8]) -> Fault {
    let found = short(found);
    Fault::new(span, format!("`else {found}` cannot continue `{}`", kind.word()))
        .hint(format!("write `{{{{ else }}}}{{{{ {found} … }}}}` with an `end` for each"))
}

pub(super) fn outside_range(span: Range<usize>, word: &[u8]) -> Fault {
    Fault::new(span, format!("{} works only inside of a `range`", quote(word)))
}

pub(super) fn nested_define(span: Range<usize>, kind: BlockKind) -> Fault {
    Fault::new(span, format!("`define` cannot stand inside of `{}`", kind.word()))
        .hint("move it to the top level of the text, or use `block`")
}

pub(super) fn defined_twice(span: Range<usize>, name: &[u8]) -> Fault {
    Fault::new(span, format!("the template {} is defined twice", quote(name)))
        .hint("give one of them another name")
}

pub(super) fn defines_itself(span: Range<usize>, name: &str) -> Fault {
    Fault::new(span, format!("{} is the name of the whole text", quote(name.as_bytes())))
        .hint("give the template another name")
}

/// What people write who come from other languages.
const FOREIGN_WORDS: &[(&str, &str)] = &[
    ("elif", "else if"),
    ("elseif", "else if"),
    ("elsif", "else if"),
    ("endif", "end"),
    ("endfor", "end"),
    ("endrange", "end"),
    ("endwith", "end"),
    ("fi", "end"),
    ("for", "range"),
    ("foreach", "range"),
    ("null", "nil"),
    ("none", "nil"),
    ("True", "true"),
    ("False", "false"),
];

pub(super) fn unknown_function(span: Range<usize>, name: &[u8], set: &FunctionSet) -> Fault {
    let fault = Fault::new(span, format!("there is no function {}", quote(name)));
    let word = short(name);
    if let Some((_, meant)) = FOREIGN_WORDS.iter().find(|(foreign, _)| *foreign == word) {
        return fault.hint(format!("write `{meant}`"));
    }
    if let Some(nearest) = nearest(name, set.functions().map(str::as_bytes)) {
        return fault.hint(format!("did you mean `{nearest}`?"));
    }
    let labels = if set.has_variable(b"$labels") { "$labels." } else { "." };
    fault.hint(format!("if a label is meant, write `{labels}{word}`; a string stands in double quotes"))
}

pub(super) fn undefined_variable<'n>(
    span: Range<usize>,
    name: &[u8],
    known: impl Iterator<Item = &'n [u8]>,
    outside: bool,
    set: &FunctionSet,
) -> Fault {
    let fault = Fault::new(span, format!("the variable {} is not declared", quote(name)));
    if outside {
        return fault
            .hint("a definition does not see the variables around it; pass what it needs as its value");
    }
    if let Some(nearest) = nearest(name, known) {
        return fault.hint(format!("did you mean `{nearest}`?"));
    }
    let word = short(name);
    match name {
        b"$labels" | b"$label" if !set.has_variable(b"$labels") => {
            fault.hint("labels are fields here: write `.app` instead of `$labels.app`")
        }
        _ => {
            fault.hint(format!("declare it first: `{{{{ {word} := … }}}}`; it lives until the block's `end`"))
        }
    }
}

/// The known name that is most like this one, if any is like it.
fn nearest<'n>(name: &[u8], known: impl Iterator<Item = &'n [u8]>) -> Option<String> {
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    // Short names are all alike; only longer ones can be told to be meant.
    let most = (name.len() / 3).min(2);
    known
        .filter(|other| other.len().abs_diff(name.len()) <= most)
        .take(1000)
        .map(|other| (if name.eq_ignore_ascii_case(other) { 0 } else { distance(name, other) }, other))
        .filter(|&(distance, _)| distance <= most)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, other)| String::from_utf8_lossy(other).into_owned())
}

/// How many letters have to be put in, left out or changed.
fn distance(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, a) in left.iter().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(right) {
            let changed = diagonal + usize::from(!a.eq_ignore_ascii_case(b));
            diagonal = *cell;
            before = changed.min(diagonal + 1).min(before + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = line + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
