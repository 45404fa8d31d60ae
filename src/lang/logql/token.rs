//! The words and signs of LogQL.

use super::tree::{Conversion, RangeOp, Span, Text, VectorOp};

/// One token of a query, with the bytes that it covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The end of the query.
    End,
    /// A name, or any character that means nothing else.
    Ident,
    /// A string; the text between its quotes, escapes resolved.
    Str(Text),
    Number,
    /// In nanoseconds.
    Duration(i64),
    Bytes(u64),
    /// `[5m]`, in nanoseconds.
    Range(i64),
    StrictFlag,
    KeepEmptyFlag,

    Comma,
    Dot,
    OpenBrace,
    CloseBrace,
    OpenParen,
    CloseParen,
    CloseBracket,
    Eq,
    Neq,
    Re,
    Nre,
    Npa,
    PipeExact,
    PipeMatch,
    PipePattern,
    Pipe,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Pow,
    CmpEq,
    Gt,
    Gte,
    Lt,
    Lte,

    By,
    Without,
    Bool,
    Offset,
    On,
    Ignoring,
    GroupLeft,
    GroupRight,
    Or,
    And,
    Unless,
    Json,
    Regexp,
    Logfmt,
    Unpack,
    Pattern,
    LabelFormat,
    LineFormat,
    Decolorize,
    Drop,
    Keep,
    Unwrap,
    Variants,
    Of,

    Ip,
    LabelReplace,
    Vector,
    RangeOp(RangeOp),
    VectorOp(VectorOp),
    Conversion(Conversion),
}

impl Kind {
    /// Words that no label can have as its name.
    pub(super) fn is_reserved(self) -> bool {
        use Kind::{
            And, Bool, By, Decolorize, Drop, GroupLeft, GroupRight, Ignoring, Json, Keep, LabelFormat,
            LineFormat, Logfmt, Of, Offset, On, Or, Pattern, Regexp, Unless, Unpack, Unwrap, Variants,
            Without,
        };
        matches!(
            self,
            And | Bool
                | By
                | Decolorize
                | Drop
                | GroupLeft
                | GroupRight
                | Ignoring
                | Json
                | Keep
                | LabelFormat
                | LineFormat
                | Logfmt
                | Of
                | Offset
                | On
                | Or
                | Pattern
                | Regexp
                | Unless
                | Unpack
                | Unwrap
                | Variants
                | Without
        )
    }
}

/// The longest word below.
const LONGEST: usize = 18;

/// The word that a name is, whatever its case, and whether it is one only in front of a parenthesis.
pub(super) fn word(name: &str) -> Option<(Kind, bool)> {
    let mut lower = [0_u8; LONGEST];
    let mut length = 0;
    if name.is_ascii() {
        let letters = lower.get_mut(..name.len())?;
        letters.copy_from_slice(name.as_bytes());
        letters.make_ascii_lowercase();
        length = name.len();
    } else {
        // Two letters beyond ASCII become ASCII letters in lower case, and Loki lowers by Unicode.
        for c in name.chars() {
            *lower.get_mut(length)? = match c {
                '\u{212A}' => b'k',
                '\u{130}' => b'i',
                _ if c.is_ascii() => u8::try_from(c).ok()?.to_ascii_lowercase(),
                _ => return None,
            };
            length += 1;
        }
    }
    let lower = &lower[..length];
    reserved(lower).map(|kind| (kind, false)).or_else(|| function(lower).map(|kind| (kind, true)))
}

fn reserved(lower: &[u8]) -> Option<Kind> {
    Some(match lower {
        b"by" => Kind::By,
        b"without" => Kind::Without,
        b"bool" => Kind::Bool,
        b"offset" => Kind::Offset,
        b"on" => Kind::On,
        b"ignoring" => Kind::Ignoring,
        b"group_left" => Kind::GroupLeft,
        b"group_right" => Kind::GroupRight,
        b"or" => Kind::Or,
        b"and" => Kind::And,
        b"unless" => Kind::Unless,
        b"json" => Kind::Json,
        b"regexp" => Kind::Regexp,
        b"logfmt" => Kind::Logfmt,
        b"unpack" => Kind::Unpack,
        b"pattern" => Kind::Pattern,
        b"label_format" => Kind::LabelFormat,
        b"line_format" => Kind::LineFormat,
        b"decolorize" => Kind::Decolorize,
        b"drop" => Kind::Drop,
        b"keep" => Kind::Keep,
        b"unwrap" => Kind::Unwrap,
        b"variants" => Kind::Variants,
        b"of" => Kind::Of,
        _ => return None,
    })
}

fn function(lower: &[u8]) -> Option<Kind> {
    Some(match lower {
        b"rate" => Kind::RangeOp(RangeOp::Rate),
        b"rate_counter" => Kind::RangeOp(RangeOp::RateCounter),
        b"count_over_time" => Kind::RangeOp(RangeOp::CountOverTime),
        b"bytes_rate" => Kind::RangeOp(RangeOp::BytesRate),
        b"bytes_over_time" => Kind::RangeOp(RangeOp::BytesOverTime),
        b"avg_over_time" => Kind::RangeOp(RangeOp::AvgOverTime),
        b"sum_over_time" => Kind::RangeOp(RangeOp::SumOverTime),
        b"min_over_time" => Kind::RangeOp(RangeOp::MinOverTime),
        b"max_over_time" => Kind::RangeOp(RangeOp::MaxOverTime),
        b"stdvar_over_time" => Kind::RangeOp(RangeOp::StdvarOverTime),
        b"stddev_over_time" => Kind::RangeOp(RangeOp::StddevOverTime),
        b"quantile_over_time" => Kind::RangeOp(RangeOp::QuantileOverTime),
        b"first_over_time" => Kind::RangeOp(RangeOp::FirstOverTime),
        b"last_over_time" => Kind::RangeOp(RangeOp::LastOverTime),
        b"absent_over_time" => Kind::RangeOp(RangeOp::AbsentOverTime),
        b"sum" => Kind::VectorOp(VectorOp::Sum),
        b"avg" => Kind::VectorOp(VectorOp::Avg),
        b"max" => Kind::VectorOp(VectorOp::Max),
        b"min" => Kind::VectorOp(VectorOp::Min),
        b"count" => Kind::VectorOp(VectorOp::Count),
        b"stddev" => Kind::VectorOp(VectorOp::Stddev),
        b"stdvar" => Kind::VectorOp(VectorOp::Stdvar),
        b"bottomk" => Kind::VectorOp(VectorOp::Bottomk),
        b"topk" => Kind::VectorOp(VectorOp::Topk),
        b"approx_topk" => Kind::VectorOp(VectorOp::ApproxTopk),
        b"sort" => Kind::VectorOp(VectorOp::Sort),
        b"sort_desc" => Kind::VectorOp(VectorOp::SortDesc),
        b"bytes" => Kind::Conversion(Conversion::Bytes),
        b"duration" => Kind::Conversion(Conversion::Duration),
        b"duration_seconds" => Kind::Conversion(Conversion::DurationSeconds),
        b"vector" => Kind::Vector,
        b"label_replace" => Kind::LabelReplace,
        b"ip" => Kind::Ip,
        _ => return None,
    })
}
