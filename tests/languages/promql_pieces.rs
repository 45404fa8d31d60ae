//! The pieces of generated texts below expressions: selectors, times, strings, and words without grammar.

use super::promql_generator::{Maker, Want};
use super::promql_words::{BAD_REGEXES, DURATIONS, METRICS, REGEXES, STRINGS, TOKENS};

impl Maker {
    pub(super) fn selector(&mut self) {
        match self.dice.below(6) {
            0 => {
                self.note("braces only");
                self.put("{");
                let some = self.dice.below(3);
                self.conditions(some);
                self.pick(&["a=\"b\"", "\"my metric\"", "__name__=\"x\"", "'le'!=\"\"", "a=~\".+\""]);
                self.put("}");
            }
            1 | 2 => {
                self.note("name and braces");
                self.pick(METRICS);
                self.gap();
                self.put("{");
                let count = self.dice.below(4);
                self.conditions(count);
                if count > 0 && self.dice.one_in(2) {
                    // A trailing comma is already there, or is taken back.
                    self.note("trailing comma of conditions");
                } else if count > 0 {
                    let cut = self.out.trim_end_matches([',', ' ']).len();
                    self.out.truncate(cut);
                }
                self.put("}");
            }
            _ => {
                self.note("name");
                self.pick(METRICS);
            }
        }
    }

    fn conditions(&mut self, count: usize) {
        for _ in 0..count {
            self.pick(&["a", "job", "le", "sum", "by", "\"x y\"", "'é'", "``", "inf", "_x1"]);
            if self.dice.one_in(2) {
                self.note("regex matcher");
                self.pick(&["=~", "!~", " =~ "]);
                let bad = self.dice.one_in(40);
                self.pick(if bad { BAD_REGEXES } else { REGEXES });
            } else {
                self.note("equality matcher");
                self.pick(&["=", "!=", " = "]);
                self.pick(STRINGS);
            }
            self.put(", ");
        }
    }

    pub(super) fn range_selector(&mut self) {
        self.note("range");
        self.selector();
        if self.dice.one_in(12) {
            self.note("extension before range");
            self.pick(&[" anchored ", " smoothed "]);
        }
        self.put("[");
        self.duration();
        self.put("]");
        self.modifiers(true);
    }

    pub(super) fn modifiers(&mut self, range: bool) {
        self.shifts();
        if self.dice.one_in(if range { 10 } else { 40 }) {
            self.note("extension");
            self.pick(&[" anchored", " smoothed", " anchored anchored"]);
        }
    }

    pub(super) fn shifts(&mut self) {
        match self.dice.below(14) {
            0 => self.offset(),
            1 => self.at(),
            2 => {
                self.offset();
                self.at();
            }
            3 => {
                self.at();
                self.offset();
            }
            _ => {}
        }
    }

    fn at(&mut self) {
        self.note("at");
        self.put(" @ ");
        self.pick(&["1", "1609746000.123", "-5", "+1e9", "start()", "end()", "START ( )", "5m", "0x10"]);
    }

    fn offset(&mut self) {
        self.note("offset");
        self.put(" offset ");
        match self.dice.below(10) {
            0 => self.put("-5m"),
            1 => {
                self.note("offset expression");
                self.pick(&["step()", "-range()", "max_of(5m, step())", "-min_of(1, 2)"]);
            }
            2 => {
                self.note("offset in brackets");
                self.pick(&["", "-", "+"]);
                self.put("(");
                self.amount(2);
                self.put(")");
            }
            3 => {
                self.note("offset with two signs");
                self.pick(&["- -", "+-", "--", "++"]);
                self.amount(1);
            }
            4 => self.pick(&["0", "0s", "1e-10"]),
            _ => self.pick(DURATIONS),
        }
    }

    pub(super) fn duration(&mut self) {
        if self.dice.one_in(6) {
            self.note("duration expression");
            return self.amount(3);
        }
        self.pick(DURATIONS);
    }

    fn amount(&mut self, depth: usize) {
        match self.dice.below(if depth == 0 { 3 } else { 9 }) {
            0..3 => self.pick(DURATIONS),
            3 => self.pick(&["step()", "range()", "Step()", "range( )"]),
            4 => {
                self.pick(&["-", "+", "- -"]);
                self.amount(depth - 1);
            }
            5 => {
                self.put("(");
                self.amount(depth - 1);
                self.put(")");
            }
            6 => {
                self.pick(&["max_of(", "min_of( ", "MAX_OF ("]);
                self.amount(depth - 1);
                self.put(",");
                self.amount(depth - 1);
                self.put(")");
            }
            _ => {
                self.amount(depth - 1);
                self.pick(&[" + ", "-", " * ", "/", " % ", "^"]);
                self.amount(depth - 1);
            }
        }
    }

    pub(super) fn random_string(&mut self) {
        let quote = ["\"", "'", "`"][self.dice.below(3)];
        self.put(quote);
        for _ in 0..self.dice.below(4) {
            self.pick(&[
                "a", "\\n", "\\x4g", "\\xe9", "\\u12", "\\u00E9", "\\777", "\\12", "\\'", "\\\"", "é", "\\d",
                "\\\\",
            ]);
        }
        self.put(quote);
    }

    /// Tokens without any grammar.
    pub(super) fn soup(&mut self) {
        for _ in 0..1 + self.dice.below(8) {
            match self.dice.below(6) {
                0 => self.number_like(),
                1 => self.leaf(Want::Vector),
                2 => self.leaf(Want::Text),
                _ => {
                    self.pick(TOKENS);
                    self.gap();
                }
            }
        }
    }

    /// Something made of the letters that numbers are made of.
    pub(super) fn number_like(&mut self) {
        const LETTERS: &[u8] = b"0011259xXeE.._+-smhdwyabfF";
        self.out.push(char::from(b'0' + u8::try_from(self.dice.below(10)).unwrap()));
        for _ in 0..self.dice.below(7) {
            let letter = LETTERS[self.dice.below(LETTERS.len())];
            self.out.push(char::from(letter));
        }
        self.put(" ");
    }
}
