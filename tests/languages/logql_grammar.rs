//! A generator of LogQL texts: derives them from the grammar, with a measured share of mistakes, and counts what it used.

use std::collections::BTreeMap;

use crate::logql_pools::POOLS;
use crate::oracle::Dice;

pub struct Generator {
    pub dice: Dice,
    pub counts: BTreeMap<String, usize>,
    pub(crate) turns: Vec<usize>,
    pub(crate) focus: usize,
    pub(crate) out: String,
    /// Mistakes are made once in so many choices.
    pub(crate) sobriety: usize,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            counts: BTreeMap::new(),
            turns: vec![0; POOLS.len()],
            focus: 0,
            out: String::new(),
            sobriety: 40,
        }
    }

    pub fn query(&mut self) -> String {
        self.out.clear();
        self.sobriety = *self.dice.pick(&[&200, &60, &30]);
        if self.dice.one_in(3) {
            self.log(2)
        } else {
            self.metric(3)
        }
        std::mem::take(&mut self.out)
    }

    pub fn count(&mut self, what: &str) {
        match self.counts.get_mut(what) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(what.to_owned(), 1)),
        }
    }

    pub(crate) fn slip(&mut self) -> bool {
        self.dice.one_in(self.sobriety)
    }

    pub(crate) fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    pub(crate) fn blank(&mut self) {
        let text = if self.dice.one_in(12) { self.pick("blank") } else { " " };
        self.put(text);
    }

    /// Words in any case.
    pub(crate) fn word(&mut self, word: &str) {
        if self.dice.one_in(20) {
            self.count("upper case");
            let upper = if self.dice.one_in(3) { word.replace('k', "\u{212A}") } else { word.to_uppercase() };
            self.put(&upper);
        } else {
            self.put(word);
        }
    }

    pub(crate) fn pick(&mut self, name: &str) -> &'static str {
        let at = POOLS.iter().position(|pool| pool.name == name).unwrap();
        let pool = &POOLS[at];
        if self.dice.one_in(if name == "blank" { 3 } else { self.sobriety / 5 + 2 }) {
            self.turns[at] += 1;
            let text = pool.odd[self.turns[at] % pool.odd.len()];
            self.count(&format!("{name}: {text}"));
            text
        } else {
            let text = self.dice.pick(pool.good);
            self.count(&format!("{name}: {text}"));
            text
        }
    }

    pub(crate) fn name(&mut self) {
        let name = self.pick("name");
        self.put(name);
    }

    pub(crate) fn string(&mut self, pool: &str) {
        let text = self.pick(pool);
        if self.dice.one_in(4) && !text.contains('`') {
            let raw = text.replace("\\\\", "\\").replace("\\\"", "\"");
            self.put(&format!("`{raw}`"));
        } else {
            self.put(&format!("\"{text}\""));
        }
    }

    pub(crate) fn list(&mut self, most: usize, mut element: impl FnMut(&mut Self)) {
        let length = 1 + self.dice.below(most);
        for place in 0..length {
            if place > 0 {
                self.put(",");
                self.blank();
            }
            element(self);
        }
        if self.slip() {
            self.put(",");
        }
    }

    pub(crate) fn selector(&mut self) {
        self.put("{");
        if self.slip() {
            self.count("selector empty");
        } else {
            self.count("selector");
            if !self.dice.one_in(3) {
                self.put("app=\"foo\"");
                if self.dice.one_in(2) {
                    self.count("selector comma");
                    self.put(", ");
                    self.matcher();
                }
            } else {
                self.list(2, Self::matcher);
            }
        }
        self.put("}");
    }

    pub(crate) fn matcher(&mut self) {
        self.name();
        let op = *self.dice.pick(&[&"=", &"!=", &"=~", &"!~"]);
        self.count(&format!("matcher {op}"));
        if self.dice.one_in(15) {
            self.blank();
        }
        self.put(op);
        if self.dice.one_in(8) {
            self.count("matcher matches empty");
            self.put(if op.contains('~') { "\".*\"" } else { "\"\"" });
        } else {
            self.string(if op.contains('~') { "regex" } else { "text" });
        }
    }

    pub(crate) fn log(&mut self, depth: usize) {
        if depth > 0 && self.dice.one_in(8) {
            self.count("log in parens");
            self.put("(");
            self.log(depth - 1);
            self.put(")");
            return;
        }
        self.count("log");
        self.selector();
        let stages = self.dice.below(4);
        for _ in 0..stages {
            self.stage();
        }
        if self.slip() {
            self.count("unwrap in a log query");
            self.put(" | unwrap x");
        }
    }

    pub(crate) fn stage(&mut self) {
        self.blank();
        if self.dice.one_in(3) {
            self.line_filter();
            return;
        }
        self.put("|");
        self.blank();
        match self.dice.below(13) {
            0 => {
                self.word("json");
                self.count("json");
                if self.dice.one_in(2) {
                    self.count("json list");
                    self.put(" ");
                    self.list(3, |g| g.extraction("json path"));
                }
            }
            1 => {
                self.word("logfmt");
                self.count("logfmt");
                for flag in ["--strict", "--keep-empty", "--bogus"] {
                    if if flag == "--bogus" { self.dice.one_in(8) } else { self.dice.one_in(4) } {
                        self.count(&format!("logfmt {flag}"));
                        self.put(&format!(" {flag}"));
                    }
                }
                if self.dice.one_in(2) {
                    self.count("logfmt list");
                    self.put(" ");
                    self.list(3, |g| g.extraction("logfmt key"));
                }
            }
            2 => self.with_string("regexp", "capture"),
            3 => self.with_string("pattern", "pattern"),
            4 => self.with_string("line_format", "template"),
            5 => {
                self.count("unpack");
                self.word("unpack");
            }
            6 => {
                self.count("label_format");
                self.word("label_format");
                self.put(" ");
                self.list(3, Self::label_format);
            }
            7 => {
                self.count("decolorize");
                self.word("decolorize");
            }
            8 | 9 => {
                let stage = if self.dice.one_in(2) { "drop" } else { "keep" };
                self.count(stage);
                self.word(stage);
                self.put(" ");
                self.list(3, |g| {
                    if g.dice.one_in(2) {
                        g.count("pick name");
                        g.name();
                    } else {
                        g.count("pick matcher");
                        g.matcher();
                    }
                });
            }
            _ => self.label_filter(3),
        }
    }

    pub(crate) fn with_string(&mut self, stage: &str, pool: &str) {
        self.count(stage);
        self.word(stage);
        self.blank();
        self.string(pool);
    }

    pub(crate) fn extraction(&mut self, pool: &str) {
        self.name();
        if self.dice.one_in(2) {
            self.count(&format!("{pool} given"));
            self.put("=");
            self.string(pool);
        } else {
            self.count(&format!("{pool} left out"));
        }
    }

    pub(crate) fn label_format(&mut self) {
        if self.dice.one_in(15) {
            self.count("label_format __error__");
            self.put("__error__=x");
        } else if self.dice.one_in(12) {
            self.count("label_format twice");
            self.put("q=x,q=y");
        } else {
            self.name();
            self.put("=");
            if self.dice.one_in(2) {
                self.count("label_format of a name");
                self.name();
            } else {
                self.count("label_format of a template");
                self.string("template");
            }
        }
    }

    pub(crate) fn line_filter(&mut self) {
        let op = *self.dice.pick(&[&"|=", &"|~", &"|>", &"!=", &"!~", &"!>"]);
        self.count(&format!("line {op}"));
        self.put(op);
        let mut first = true;
        while first || self.dice.one_in(3) {
            if !first {
                self.count("line or");
                self.put(" ");
                self.word("or");
                if self.slip() {
                    self.put(op);
                }
            }
            self.blank();
            if self.dice.one_in(if op.ends_with('=') { 5 } else { 15 }) {
                self.count(if first { "line ip" } else { "line or ip" });
                self.ip();
            } else {
                self.string(match op.as_bytes()[1] {
                    b'~' => "regex",
                    b'>' => "line pattern",
                    _ => "text",
                });
            }
            first = false;
        }
    }

    pub(crate) fn ip(&mut self) {
        self.word("ip");
        self.put("(");
        self.string("ip");
        self.put(")");
    }

    pub(crate) fn label_filter(&mut self, depth: usize) {
        if depth > 0 && self.dice.one_in(6) {
            self.count("filter parens");
            self.put("(");
            self.label_filter(depth - 1);
            self.put(")");
        } else {
            self.comparison();
        }
        if depth > 0 && self.dice.one_in(3) {
            let joiner = *self.dice.pick(&[&"and", &"or", &"comma", &"nothing"]);
            self.count(&format!("filter {joiner}"));
            match joiner {
                "comma" => self.put(","),
                "nothing" => {}
                word => {
                    self.put(" ");
                    self.word(word);
                }
            }
            self.blank();
            self.label_filter(depth - 1);
        }
    }

    pub(crate) fn comparison(&mut self) {
        if self.dice.one_in(3) {
            self.count("filter matcher");
            self.matcher();
            return;
        }
        self.name();
        if self.dice.one_in(6) {
            let negated = self.dice.one_in(2);
            self.count(if negated { "filter ip !=" } else { "filter ip" });
            let op = if self.slip() {
                "=~"
            } else if negated {
                "!="
            } else {
                "="
            };
            self.put(op);
            self.ip();
            return;
        }
        if self.dice.one_in(40) {
            self.count("filter string ==");
            self.put("==\"x\"");
            return;
        }
        let op = *self.dice.pick(&[&"=", &"==", &"!=", &">", &">=", &"<", &"<="]);
        self.count(&format!("compare {op}"));
        self.put(op);
        if self.dice.one_in(2) {
            self.put(" ");
        }
        let quantity = match self.dice.below(3) {
            0 => {
                self.count("filter duration");
                self.pick("duration")
            }
            1 => {
                self.count("filter bytes");
                self.pick("bytes")
            }
            _ => {
                self.count("filter number");
                if self.dice.one_in(3) {
                    self.count("filter number signed");
                    let sign = *self.dice.pick(&[&"-", &"+", &"- "]);
                    self.put(sign);
                }
                self.pick("number")
            }
        };
        self.put(quantity);
    }
}
