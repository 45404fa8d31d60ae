//! Texts derived from PromQL's grammar, with a record of what was used, and ways to spoil them.

use super::oracle::Dice;
use super::promql_mistakes::FAULTS;
use super::promql_words::{DURATIONS, FUNCTIONS, LABELS, NUMBERS, STRINGS, TOKENS};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Scalar,
    Vector,
    Matrix,
    Text,
}

/// A source of texts.
pub struct Maker {
    pub dice: Dice,
    /// Which productions the texts used since the last call of `text`.
    pub used: Vec<&'static str>,
    pub(super) out: String,
    fuel: usize,
}

impl Maker {
    pub fn new(seed: u64) -> Self {
        Self { dice: Dice::new(seed), used: Vec::new(), out: String::new(), fuel: 0 }
    }

    /// One text, sound more often than not.
    pub fn text(&mut self) -> String {
        self.used.clear();
        self.out.clear();
        self.fuel = 4 + self.dice.below(14);
        if self.dice.one_in(9) {
            self.fuel += 25;
        }
        match self.dice.below(20) {
            0..3 => self.fault_inside(),
            3..9 => {
                let template = FAULTS[self.dice.below(FAULTS.len())];
                self.template(template);
            }
            9 => self.soup(),
            _ => {
                let want = self.any();
                self.expression(want);
            }
        }
        std::mem::take(&mut self.out)
    }

    fn any(&mut self) -> Want {
        match self.dice.below(12) {
            0 | 1 => Want::Scalar,
            2 => Want::Matrix,
            3 => Want::Text,
            _ => Want::Vector,
        }
    }

    pub(super) fn note(&mut self, production: &'static str) {
        self.used.push(production);
    }

    pub(super) fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Blanks where they do not matter.
    pub(super) fn gap(&mut self) {
        match self.dice.below(14) {
            0 => self.put("\n"),
            1 => self.put("\t "),
            2 => {
                self.note("comment");
                self.put(" # (]{ \" comment\n");
            }
            3 => {}
            _ => self.put(" "),
        }
    }

    pub(super) fn pick(&mut self, choices: &[&'static str]) {
        let choice = self.dice.pick(choices);
        self.put(choice);
    }

    fn expression(&mut self, want: Want) {
        // Rarely something else than what fits.
        let want = if self.dice.one_in(60) { self.any() } else { want };
        if self.fuel == 0 {
            return self.leaf(want);
        }
        self.fuel -= 1;
        match want {
            Want::Scalar => self.scalar(),
            Want::Vector => self.vector(),
            Want::Matrix => self.matrix(),
            Want::Text => self.leaf(want),
        }
    }

    pub(super) fn leaf(&mut self, want: Want) {
        match want {
            Want::Scalar => {
                self.note("number");
                self.pick(NUMBERS);
            }
            Want::Vector => {
                self.selector();
                self.modifiers(false);
            }
            Want::Matrix => self.range_selector(),
            Want::Text => {
                self.note("string");
                if self.dice.one_in(3) {
                    return self.random_string();
                }
                self.pick(STRINGS);
            }
        }
    }

    fn scalar(&mut self) {
        match self.dice.below(10) {
            0 | 1 => self.paren(Want::Scalar),
            2 => self.sign(Want::Scalar),
            3 | 4 => {
                self.expression(Want::Scalar);
                self.gap();
                let comparison = self.dice.one_in(3);
                if comparison {
                    self.note("scalar comparison");
                    self.pick(&["==", "!=", "<", ">", "<=", ">="]);
                    self.put(" bool ");
                } else {
                    self.note("scalar arithmetic");
                    self.pick(&["+", "-", "*", "/", "%", "^", " atan2 ", "</", ">/"]);
                    if self.dice.one_in(12) {
                        self.put(" on () ");
                    }
                    self.gap();
                }
                self.expression(Want::Scalar);
            }
            5..8 => self.call('s'),
            _ => self.leaf(Want::Scalar),
        }
    }

    fn vector(&mut self) {
        match self.dice.below(20) {
            0 => self.paren(Want::Vector),
            1 => self.sign(Want::Vector),
            2..6 => self.binary(),
            6..9 => self.aggregation(),
            9..16 => self.call('v'),
            _ => self.leaf(Want::Vector),
        }
    }

    fn matrix(&mut self) {
        match self.dice.below(8) {
            0..3 => {
                self.note("subquery");
                self.expression(Want::Vector);
                self.gap();
                self.put("[");
                self.duration();
                self.put(":");
                if self.dice.one_in(2) {
                    self.note("subquery step");
                    self.duration();
                }
                self.put("]");
                self.shifts();
            }
            3 => self.paren(Want::Matrix),
            _ => self.range_selector(),
        }
    }

    fn paren(&mut self, want: Want) {
        self.note("paren");
        self.put("(");
        self.gap();
        self.expression(want);
        self.put(")");
    }

    fn sign(&mut self, want: Want) {
        self.note("sign");
        self.pick(&["-", "+", "- ", "--"]);
        self.expression(want);
    }

    fn binary(&mut self) {
        let left = if self.dice.one_in(6) { Want::Scalar } else { Want::Vector };
        let right = if left == Want::Vector && self.dice.one_in(5) { Want::Scalar } else { Want::Vector };
        self.expression(left);
        self.gap();
        let both = left == Want::Vector && right == Want::Vector;
        let set = both && self.dice.one_in(3);
        let (mut comparison, mut grouped) = (false, false);
        if set {
            self.note("set operator");
            self.pick(&[" and ", " or ", " unless ", " AND "]);
        } else if self.dice.one_in(3) {
            self.note("comparison");
            comparison = true;
            self.pick(&["==", "!=", "<", ">", "<=", ">="]);
        } else {
            self.note("arithmetic");
            self.pick(&["+", "-", "*", "/", "%", "^", " atan2 ", "</", ">/"]);
        }
        if comparison && self.dice.one_in(3) {
            self.note("bool");
            self.put(" bool");
        }
        if both && self.dice.one_in(2) {
            let on = self.dice.one_in(2);
            self.note(if on { "on" } else { "ignoring" });
            self.put(if on { " on " } else { " ignoring " });
            self.labels();
            if !set && self.dice.one_in(2) {
                grouped = true;
                let left = self.dice.one_in(2);
                self.note(if left { "group_left" } else { "group_right" });
                self.put(if left { " group_left" } else { " group_right" });
                match self.dice.below(3) {
                    0 => {}
                    1 => self.put(" ()"),
                    _ => self.put(" (version, extra)"),
                }
            }
        }
        if both && !set && self.dice.one_in(5) {
            self.fill();
        }
        self.put(" ");
        // A bracket behind a group modifier would hold labels.
        if grouped {
            self.leaf(right);
        } else {
            self.expression(right);
        }
    }

    fn fill(&mut self) {
        self.note("fill");
        match self.dice.below(5) {
            0 => self.put(" fill(0)"),
            1 => self.put(" fill_left (-5.5)"),
            2 => self.put(" fill_right(+5m)"),
            3 => self.put(" fill_left(1) fill_right( NaN )"),
            _ => self.put(" fill_right(1) fill_left(2)"),
        }
    }

    fn labels(&mut self) {
        self.put("(");
        let count = self.dice.below(4);
        for place in 0..count {
            if place > 0 {
                self.put(",");
                self.gap();
            }
            self.pick(LABELS);
        }
        if count > 0 && self.dice.one_in(8) {
            self.note("trailing comma of labels");
            self.put(",");
        }
        self.put(")");
    }

    fn aggregation(&mut self) {
        const PLAIN: &[&str] = &["sum", "avg", "count", "min", "max", "group", "stddev", "stdvar", "SUM"];
        const WITH: &[&str] = &["topk", "bottomk", "quantile", "count_values", "limitk", "limit_ratio"];
        let with = self.dice.one_in(3);
        let names = if with { WITH } else { PLAIN };
        let name = names[self.dice.below(names.len())];
        self.note(name);
        self.put(name);
        let grouping = self.dice.below(4);
        if grouping == 0 {
            self.grouping("grouping before");
        }
        self.gap();
        self.put("(");
        if with {
            self.expression(if name == "count_values" { Want::Text } else { Want::Scalar });
            self.put(", ");
        }
        self.expression(Want::Vector);
        self.put(")");
        if grouping == 1 {
            self.grouping("grouping behind");
        }
    }

    fn grouping(&mut self, production: &'static str) {
        self.note(production);
        self.pick(&[" by ", " without ", " BY"]);
        self.labels();
    }

    fn call(&mut self, gives: char) {
        let (name, takes, optional, repeats, _) = loop {
            let function = FUNCTIONS[self.dice.below(FUNCTIONS.len())];
            if function.4 == gives {
                break function;
            }
        };
        self.note(name);
        self.put(name);
        let spaced = self.dice.one_in(8);
        self.put(if spaced { " (" } else { "(" });
        let mut count = takes.len() - self.dice.below(optional + 1);
        if repeats {
            count += self.dice.below(4);
        }
        for place in 0..count {
            if place > 0 {
                self.put(",");
                self.gap();
            }
            let kind = takes.as_bytes()[place.min(takes.len() - 1)];
            if name == "info" && place == 1 {
                self.pick(&["{}", "{a=\"b\"}", "{x=~\".*\"}", "{\"target_info\", a!=\"\"}"]);
                continue;
            }
            self.expression(match kind {
                b's' => Want::Scalar,
                b'v' => Want::Vector,
                b'm' => Want::Matrix,
                _ => Want::Text,
            });
        }
        self.put(")");
    }

    /// A sound expression with one unsound part.
    fn fault_inside(&mut self) {
        let template = FAULTS[self.dice.below(FAULTS.len())];
        self.pick(&["(", "sum(", "1 + (", "up and (", "-("]);
        self.template(template);
        self.put(")");
    }

    /// `V`, `S`, `M`, `T` stand for expressions of these types, `D` for a duration, `N` for something like a number.
    fn template(&mut self, template: &'static str) {
        self.fuel = self.fuel.min(3);
        let (_, pattern) = template.split_once(": ").unwrap_or(("", template));
        for letter in pattern.chars() {
            match letter {
                'V' => self.expression(Want::Vector),
                'S' => self.expression(Want::Scalar),
                'M' => self.expression(Want::Matrix),
                'T' => self.leaf(Want::Text),
                'D' => self.pick(DURATIONS),
                'N' => self.number_like(),
                _ => self.out.push(letter),
            }
        }
    }

    /// Spoils a text in a random place.
    pub fn mutate(&mut self, text: &str) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        let at = self.dice.below(chars.len() + 1);
        let end = (at + 1 + self.dice.below(4)).min(chars.len());
        match self.dice.below(8) {
            0 | 1 => {
                chars.drain(at..end);
            }
            2 | 3 => {
                let token = TOKENS[self.dice.below(TOKENS.len())];
                chars.splice(at..at, token.chars());
            }
            4 => {
                let token = TOKENS[self.dice.below(TOKENS.len())];
                chars.splice(at..end, token.chars());
            }
            5 => {
                let copy: Vec<char> = chars[at..end].to_vec();
                chars.splice(at..at, copy);
            }
            6 => chars.truncate(at),
            _ => {
                if let Some(letter) = chars.get_mut(at) {
                    *letter = if letter.is_ascii_uppercase() {
                        letter.to_ascii_lowercase()
                    } else {
                        letter.to_ascii_uppercase()
                    };
                }
            }
        }
        chars.into_iter().collect()
    }
}
