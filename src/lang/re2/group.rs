//! Groups: `(..)`, `(?:..)`, `(?P<name>..)` and modes such as `(?i)`.

use super::fault::{Code, Trouble};
use super::parser::Parser;
use super::tree::{Flags, Op, index};

impl Parser<'_> {
    /// Opens the group that begins at `start`: `capture` and `name` count from 1, 0 is none.
    pub(super) fn open_group(&mut self, start: usize, capture: u32, name: u32) -> Result<(), Trouble> {
        let pushed = self.builder.push_op(Op::LeftParen);
        let id = self.limited(pushed)?;
        let node = self.builder.tree.node_mut(id);
        (node.capture, node.name, node.offset) = (capture, name, index(start));
        Ok(())
    }

    /// `(?`: a named group, a group with modes, or modes for the rest of the group around.
    pub(super) fn group_with_mode(&mut self) -> Result<(), Trouble> {
        let start = self.at;
        let rest = self.from(start);
        let python = rest.len() > 4 && rest.starts_with(b"(?P<");
        if python || rest.len() > 3 && rest.starts_with(b"(?<") {
            return self.named_group(start, if python { 4 } else { 3 });
        }
        self.at += 2;
        let (mut flags, mut negative, mut saw_flag) = (self.builder.flags, false, false);
        while let Some(rune) = self.next_rune()? {
            let flag = match char::from_u32(rune) {
                Some('i') => Flags::FOLD,
                Some('m') => Flags::ONE_LINE,
                Some('s') => Flags::DOT_NEWLINE,
                Some('U') => Flags::NON_GREEDY,
                Some('-') if !negative => {
                    (negative, saw_flag) = (true, false);
                    continue;
                }
                Some(end @ (':' | ')')) if !negative || saw_flag => {
                    if end == ':' {
                        self.open_group(start, 0, 0)?;
                    }
                    self.builder.flags = flags;
                    return Ok(());
                }
                _ => break,
            };
            saw_flag = true;
            // Multi-line is the absence of the flag.
            flags =
                if negative == (flag == Flags::ONE_LINE) { flags.with(flag) } else { flags.without(flag) };
        }
        Err(Trouble::new(Code::InvalidPerlOp, start..self.at))
    }

    fn named_group(&mut self, start: usize, prefix: usize) -> Result<(), Trouble> {
        let name_start = start + prefix;
        // Go searches from the parenthesis on; what lies before the name holds no `>`.
        let Some(length) = self.from(name_start).iter().position(|&byte| byte == b'>') else {
            self.check_utf8(start, self.text.len())?;
            return Err(Trouble::new(Code::InvalidNamedCapture, start..self.text.len()));
        };
        let end = name_start + length;
        self.check_utf8(name_start, end)?;
        let name =
            std::str::from_utf8(self.text.get(name_start..end).unwrap_or_default()).unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return Err(Trouble::new(Code::InvalidNamedCapture, start..end + 1));
        }
        if prefix == 3 {
            self.note_newer("1.22", start..end + 1);
        }
        self.group_names.push(name.into());
        self.captures += 1;
        self.open_group(start, self.captures, index(self.group_names.len()))?;
        self.at = end + 1;
        Ok(())
    }
}
