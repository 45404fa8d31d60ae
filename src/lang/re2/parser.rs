//! Reads the text of a pattern from left to right and hands what it finds to the builder.

use super::builder::{Builder, Limit};
use super::fault::{Code, Trouble};
use super::limits::MAX_COPIES;
use super::members::Members;
use super::ranges::Range;
use super::segments::Set;
use super::tree::{Flags, Op, Tree};
use super::unicode::Names;

/// A construct that only newer releases of Go take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewerGo {
    /// The first release that takes it, such as `1.25`.
    pub release: &'static str,
    /// Where it stands in the pattern.
    pub span: std::ops::Range<usize>,
}

/// What was read.
pub(super) struct Parsed {
    pub(super) tree: Tree,
    /// The names of the groups, in order.
    pub(super) names: Vec<Box<str>>,
    pub(super) newer: Option<NewerGo>,
    /// Nodes made on the way.
    pub(super) allocated: usize,
    /// The estimate of all counts multiplied.
    pub(super) repeats: i64,
}

/// Reads a pattern under the given modes.
pub(super) fn parse(text: &[u8], names: Names, flags: Flags) -> Result<Parsed, Trouble> {
    let mut parser = Parser::new(text, names, flags);
    parser.run()?;
    let Parser { mut builder, group_names, newer, .. } = parser;
    let [root] = builder.stack[..] else {
        // The innermost group that is still open is the one that was forgotten.
        let open = builder.stack.iter().rev().find(|&&id| builder.tree.node(id).op == Op::LeftParen);
        let at = open.map_or(0, |&id| builder.tree.node(id).offset as usize);
        return Err(Trouble::new(Code::MissingParen, at..(at + 1).min(text.len())));
    };
    builder.tree.root = root;
    builder.tree.dissolve_segments();
    let (allocated, repeats) = (builder.allocated, builder.repeats);
    Ok(Parsed { tree: builder.tree, names: group_names, newer, allocated, repeats })
}

/// A group's key, whether it is negated and whether case is ignored.
pub(super) type GroupKey = (u16, bool, bool);

/// The state while reading.
pub(super) struct Parser<'t> {
    pub(super) text: &'t [u8],
    /// The next byte to read.
    pub(super) at: usize,
    pub(super) names: Names,
    pub(super) builder: Builder,
    /// The ranges of a class that is being read.
    pub(super) class: Vec<Range>,
    /// The ranges that have a name in that class, such as `\d`, folded if case is ignored.
    pub(super) named: Vec<Range>,
    /// Its large groups.
    pub(super) class_set: Option<Set>,
    /// The last large class in brackets.
    pub(super) large_class: Option<Members>,
    /// The groups used outside brackets so far, in the order of their keys.
    pub(super) groups: Vec<(GroupKey, Members)>,
    /// From here on no `:]` follows.
    pub(super) no_named_class_from: usize,
    /// The names of groups so far.
    pub(super) group_names: Vec<Box<str>>,
    /// How many groups capture so far.
    pub(super) captures: u32,
    newer: Option<NewerGo>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t [u8], names: Names, flags: Flags) -> Self {
        Self {
            text,
            at: 0,
            names,
            builder: Builder::new(flags, text.len()),
            class: Vec::new(),
            named: Vec::new(),
            class_set: None,
            large_class: None,
            groups: Vec::new(),
            no_named_class_from: usize::MAX,
            group_names: Vec::new(),
            captures: 0,
            newer: None,
        }
    }

    /// The byte that far ahead.
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// The text from that place on.
    pub(super) fn from(&self, at: usize) -> &'t [u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Reads one character; none at the end.
    pub(super) fn next_rune(&mut self) -> Result<Option<u32>, Trouble> {
        let Some(first) = self.peek(0) else { return Ok(None) };
        if first < 0x80 {
            self.at += 1;
            return Ok(Some(first.into()));
        }
        let width = match first {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            _ => 4,
        };
        let bytes = self.text.get(self.at..self.at + width).unwrap_or_default();
        match std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next()) {
            Some(character) => {
                self.at += width;
                Ok(Some(character.into()))
            }
            None => Err(Trouble::new(Code::InvalidUtf8, self.at..self.at + 1)),
        }
    }

    /// Refuses bytes that are no UTF-8.
    pub(super) fn check_utf8(&self, from: usize, to: usize) -> Result<(), Trouble> {
        match std::str::from_utf8(self.text.get(from..to).unwrap_or_default()) {
            Ok(_) => Ok(()),
            Err(error) => {
                let bad = from + error.valid_up_to();
                Err(Trouble::new(Code::InvalidUtf8, bad..bad + 1))
            }
        }
    }

    /// A limit that was passed, as trouble with the whole pattern.
    pub(super) fn limited<T>(&self, result: Result<T, Limit>) -> Result<T, Trouble> {
        result.map_err(|limit| {
            let code = match limit {
                Limit::Large => Code::Large,
                Limit::Deep => Code::NestingDepth,
            };
            Trouble::new(code, 0..self.text.len())
        })
    }

    /// Notes that the pattern needs a newer Go.
    pub(super) fn note_newer(&mut self, release: &'static str, span: std::ops::Range<usize>) {
        if self.newer.as_ref().is_none_or(|known| known.release < release) {
            self.newer = Some(NewerGo { release, span });
        }
    }

    fn op(&mut self, op: Op, width: usize) -> Result<(), Trouble> {
        let pushed = self.builder.push_op(op);
        self.at += width;
        self.limited(pushed).map(|_| ())
    }

    fn literal(&mut self, rune: u32) -> Result<(), Trouble> {
        let pushed = self.builder.push_literal(rune);
        self.limited(pushed)
    }

    fn run(&mut self) -> Result<(), Trouble> {
        // Where the repetition began that the last construct was, if it was one.
        let mut last_repeat = None;
        while let Some(byte) = self.peek(0) {
            let (start, previous) = (self.at, last_repeat.take());
            match byte {
                b'(' if self.peek(1) == Some(b'?') => self.group_with_mode()?,
                b'(' => {
                    self.captures += 1;
                    self.open_group(start, self.captures, 0)?;
                    self.at += 1;
                }
                b'|' => {
                    let done = self.builder.vertical_bar();
                    self.limited(done)?;
                    self.at += 1;
                }
                b')' => {
                    let closed = self.builder.right_paren();
                    if !self.limited(closed)? {
                        return Err(Trouble::new(Code::UnexpectedParen, start..start + 1));
                    }
                    self.at += 1;
                }
                b'^' if self.builder.flags.has(Flags::ONE_LINE) => self.op(Op::BeginText, 1)?,
                b'^' => self.op(Op::BeginLine, 1)?,
                b'$' if self.builder.flags.has(Flags::ONE_LINE) => {
                    let flags = self.builder.flags;
                    self.builder.flags = flags.with(Flags::DOLLAR);
                    let pushed = self.op(Op::EndText, 1);
                    self.builder.flags = flags;
                    pushed?;
                }
                b'$' => self.op(Op::EndLine, 1)?,
                b'.' if self.builder.flags.has(Flags::DOT_NEWLINE) => self.op(Op::Any, 1)?,
                b'.' => self.op(Op::AnyNotNewline, 1)?,
                b'[' => {
                    let class = self.bracket_class()?;
                    self.limited(class)?;
                }
                b'*' | b'+' | b'?' => {
                    self.at += 1;
                    let op = match byte {
                        b'*' => Op::Star,
                        b'+' => Op::Plus,
                        _ => Op::Quest,
                    };
                    self.repeat(op, 0, None, start, previous)?;
                    last_repeat = Some(start);
                }
                b'{' => {
                    if let Some(Counts { min, max, end }) = self.counts() {
                        let (Some(min), Ok(max)) = (min, max) else {
                            return Err(Trouble::new(Code::InvalidRepeatSize, start..end));
                        };
                        if max.is_some_and(|max| min > max) {
                            return Err(Trouble::new(Code::InvalidRepeatSize, start..end));
                        }
                        self.at = end;
                        self.repeat(Op::Repeat, min, max, start, previous)?;
                        last_repeat = Some(start);
                    } else {
                        self.at += 1;
                        self.literal(byte.into())?;
                    }
                }
                b'\\' => self.backslash()?,
                _ => {
                    if let Some(rune) = self.next_rune()? {
                        self.literal(rune)?;
                    }
                }
            }
        }
        let finished = self.builder.finish_group();
        self.limited(finished)
    }

    /// A repetition whose operator has been read.
    fn repeat(
        &mut self,
        op: Op,
        min: u16,
        max: Option<u16>,
        start: usize,
        previous: Option<usize>,
    ) -> Result<(), Trouble> {
        let mut flags = self.builder.flags;
        if self.peek(0) == Some(b'?') {
            self.at += 1;
            flags = flags.toggled(Flags::NON_GREEDY);
        }
        if let Some(previous) = previous {
            return Err(Trouble::new(Code::InvalidRepeatOp, previous..self.at));
        }
        let repeated = self.builder.repeat(op, min, max, flags);
        if !self.limited(repeated)? {
            return Err(Trouble::new(Code::MissingRepeatArgument, start..self.at));
        }
        let counted = op == Op::Repeat && (min >= 2 || max.is_some_and(|max| max >= 2));
        let product = self.builder.stack.last().map_or(0, |&id| self.builder.tree.node(id).product);
        if counted && product > MAX_COPIES {
            return Err(Trouble::new(Code::InvalidRepeatSize, start..self.at));
        }
        Ok(())
    }

    /// The counts at `{`; none if this is no repetition but a brace that means itself.
    fn counts(&self) -> Option<Counts> {
        let (min, at) = self.number(self.at + 1)?;
        let (max, end) = match self.text.get(at)? {
            b',' => match self.text.get(at + 1)? {
                b'}' => (Ok(None), at + 1),
                _ => self.number(at + 1).map(|(max, end)| (max.map(Some).ok_or(()), end))?,
            },
            _ => (min.map(Some).ok_or(()), at),
        };
        (self.text.get(end) == Some(&b'}')).then_some(Counts { min, max, end: end + 1 })
    }

    /// A number without leading zeros, none within if it is over 1000, and where it ends.
    fn number(&self, start: usize) -> Option<(Option<u16>, usize)> {
        let digits = self.from(start).iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = self.text.get(start..start + digits)?;
        if digits == 0 || digits > 1 && text.first() == Some(&b'0') {
            return None;
        }
        let value = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u16>().ok());
        Some((value.filter(|&value| value <= 1000), start + digits))
    }

    /// `\` outside a class.
    fn backslash(&mut self) -> Result<(), Trouble> {
        let start = self.at;
        match self.peek(1) {
            Some(b'A') => return self.op(Op::BeginText, 2),
            Some(b'b') => return self.op(Op::WordBoundary, 2),
            Some(b'B') => return self.op(Op::NotWordBoundary, 2),
            Some(b'z') => return self.op(Op::EndText, 2),
            Some(b'C') => return Err(Trouble::new(Code::InvalidEscape, start..start + 2)),
            Some(b'Q') => return self.quoted(),
            _ => {}
        }
        // Go takes a node for a class first and gives it back if there is none.
        let id = self.builder.make(Op::Class, self.builder.flags);
        if let Some((group, negated)) = self.unicode_class()? {
            let members = self.group_members(&group, negated);
            let pushed = self.builder.push_class(id, members, false);
            return self.limited(pushed);
        }
        let from = self.builder.tree.ranges.len();
        self.named.clear();
        if self.perl_class() {
            self.builder.tree.ranges.append(&mut self.named);
            let pushed = self.builder.push_listed(id, from);
            return self.limited(pushed);
        }
        self.builder.release(id);
        let rune = self.escape()?;
        self.literal(rune)
    }

    /// `\Q..\E`: everything between means itself.
    fn quoted(&mut self) -> Result<(), Trouble> {
        self.at += 2;
        let rest = self.from(self.at);
        let length = rest.windows(2).position(|two| two == br"\E");
        let end = self.at + length.unwrap_or(rest.len());
        while self.at < end {
            if let Some(rune) = self.next_rune()? {
                self.literal(rune)?;
            }
        }
        self.at = end + if length.is_some() { 2 } else { 0 };
        Ok(())
    }
}

/// Counts of a repetition; what is too large is missing.
struct Counts {
    min: Option<u16>,
    max: Result<Option<u16>, ()>,
    end: usize,
}
