//! Templates to ask about: derived from the grammar.

use std::collections::BTreeMap;

use usher::lang::template::FunctionSet;

use crate::oracle::Dice;
use crate::template_words::{CHARACTERS, COMPLEXES, FIELDS, FLOATS, INTEGERS, RAWS, STRINGS, TEXTS};

/// How often each production occurred.
pub type Counts = BTreeMap<&'static str, usize>;

/// Writes one template.
pub struct Writer<'d> {
    dice: &'d mut Dice,
    functions: Vec<&'static str>,
    out: String,
    /// Variables that are visible here; definitions start anew.
    variables: Vec<String>,
    /// Offsets between two statements, where something can be put in.
    joints: Vec<usize>,
    ranges: usize,
    names: usize,
    counts: &'d mut Counts,
}

impl<'d> Writer<'d> {
    pub fn new(dice: &'d mut Dice, set: &'static FunctionSet, counts: &'d mut Counts) -> Self {
        let variables = set.variables().iter().map(ToString::to_string).collect();
        let functions = set.functions().collect();
        Self { dice, functions, out: String::new(), variables, joints: vec![0], ranges: 0, names: 0, counts }
    }

    /// A template that follows the grammar, and the places where something can be put in.
    pub fn template(mut self) -> (String, Vec<usize>) {
        for _ in 0..1 + self.dice.below(4) {
            if self.dice.one_in(8) {
                self.definition();
            } else {
                self.statement(3);
            }
            self.joints.push(self.out.len());
        }
        (self.out, self.joints)
    }

    fn count(&mut self, production: &'static str) {
        *self.counts.entry(production).or_default() += 1;
    }

    fn open(&mut self) {
        match self.dice.below(8) {
            0 => {
                self.count("left trim");
                self.out.push_str("{{- ");
            }
            1 => {
                self.count("left trim");
                self.out.push_str("{{-\n");
            }
            2 | 3 => self.out.push_str("{{"),
            _ => self.out.push_str("{{ "),
        }
    }

    fn close(&mut self) {
        match self.dice.below(8) {
            0 => {
                self.count("right trim");
                self.out.push_str(" -}}");
            }
            1 => {
                self.count("right trim");
                self.out.push_str("  \t-}}");
            }
            2 | 3 => self.out.push_str("}}"),
            _ => self.out.push_str(" }}"),
        }
    }

    fn statements(&mut self, depth: usize) {
        self.joints.push(self.out.len());
        for _ in 0..self.dice.below(3) {
            self.statement(depth);
            self.joints.push(self.out.len());
        }
    }

    fn end(&mut self) {
        self.open();
        self.out.push_str("end");
        self.close();
    }

    fn statement(&mut self, depth: usize) {
        match self.dice.below(if depth == 0 { 10 } else { 17 }) {
            0..=2 => self.text(),
            3 => self.comment(),
            4 => self.call(),
            5 if self.ranges > 0 => {
                let word = self.dice.pick(&["break", "continue"]);
                self.count(if word == "break" { "break" } else { "continue" });
                self.open();
                self.out.push_str(word);
                self.close();
            }
            5..=9 => {
                self.count("pipeline");
                self.open();
                self.declaration("declaration");
                self.pipeline(2);
                self.close();
            }
            10 | 11 => self.branch("if", depth - 1),
            12 => self.branch("with", depth - 1),
            13 | 14 => self.range(depth - 1),
            _ => self.block(depth - 1),
        }
    }

    fn text(&mut self) {
        self.count("text");
        for _ in 0..1 + self.dice.below(3) {
            let piece = self.dice.pick(TEXTS);
            // A brace before an action would become part of it.
            self.out.push_str(piece);
            if piece.ends_with('{') {
                self.out.push(' ');
            }
        }
    }

    fn comment(&mut self) {
        self.count("comment");
        let left = self.dice.pick(&["{{", "{{- ", "{{-\t"]);
        let inner = self.dice.pick(&["", " ", " why ", "*", "{{ }}", "\n", "/*", " \" "]);
        let right = self.dice.pick(&["}}", " -}}", "\n-}}"]);
        self.out.push_str(&format!("{left}/*{inner}*/{right}"));
    }

    fn call(&mut self) {
        self.count("template");
        self.open();
        self.out.push_str("template ");
        let name = if self.dice.one_in(4) { self.dice.pick(RAWS) } else { self.dice.pick(STRINGS) };
        self.out.push_str(name);
        match self.dice.below(4) {
            0 => {}
            1 => self.out.push('.'),
            _ => {
                self.out.push(' ');
                self.declaration("declaration in template");
                self.pipeline(1);
            }
        }
        self.close();
    }

    fn branch(&mut self, word: &'static str, depth: usize) {
        self.count(word);
        let visible = self.variables.len();
        self.open();
        self.out.push_str(word);
        self.out.push(' ');
        self.declaration("declaration in branch");
        self.pipeline(2);
        self.close();
        self.statements(depth);
        while self.dice.one_in(3) {
            self.count(if word == "if" { "else if" } else { "else with" });
            self.open();
            self.out.push_str(&format!("else {word} "));
            self.declaration("declaration in branch");
            self.pipeline(1);
            self.close();
            self.statements(depth);
        }
        if self.dice.one_in(3) {
            self.count("else");
            self.open();
            self.out.push_str("else");
            self.close();
            self.statements(depth);
        }
        self.end();
        self.variables.truncate(visible);
    }

    fn range(&mut self, depth: usize) {
        self.count("range");
        let visible = self.variables.len();
        self.open();
        self.out.push_str("range ");
        match self.dice.below(4) {
            0 => {
                self.count("range with two variables");
                let (key, value) = (self.variable(), self.variable());
                let sign = self.dice.pick(&[" := ", ":=", " = "]);
                let comma = self.dice.pick(&[",", ", ", " , "]);
                self.out.push_str(&format!("{key}{comma}{value}{sign}"));
                self.variables.extend([key, value]);
                self.pipeline(1);
            }
            1 => {
                self.count("range over an integer");
                let number = self.dice.pick(INTEGERS);
                self.out.push_str(number);
            }
            2 if !self.variables.is_empty() => {
                self.count("range with a comma and no sign");
                let (key, value) =
                    (self.variable(), self.variables[self.dice.below(self.variables.len())].clone());
                self.out.push_str(&format!("{key}, {value}"));
                self.variables.push(key);
            }
            _ => {
                self.declaration("declaration in range");
                self.pipeline(1);
            }
        }
        self.close();
        self.ranges += 1;
        self.statements(depth);
        self.ranges -= 1;
        if self.dice.one_in(3) {
            self.count("range else");
            self.open();
            self.out.push_str("else");
            self.close();
            self.statements(depth);
        }
        self.end();
        self.variables.truncate(visible);
    }

    fn name(&mut self) -> String {
        self.names += 1;
        let name = format!("t{}", self.names);
        if self.dice.one_in(4) { format!("`{name}`") } else { format!("\"{name}\"") }
    }

    fn block(&mut self, depth: usize) {
        self.count("block");
        let name = self.name();
        self.open();
        self.out.push_str(&format!("block {name} "));
        self.declaration("declaration in block");
        self.pipeline(1);
        self.close();
        self.body(depth);
    }

    fn definition(&mut self) {
        self.count("define");
        let name = self.name();
        // A second definition is fine as long as one of the two is blank.
        if self.dice.one_in(3) {
            self.count("blank definition");
            let blank =
                self.dice.pick(&["", " ", "\n\u{a0}\u{2003}", "{{/* blank */}}", "\u{3000}{{- /* x */ -}} "]);
            self.out.push_str(&format!("{{{{define {name}}}}}{blank}{{{{end}}}}"));
        }
        self.open();
        self.out.push_str(&format!("define {name}"));
        self.close();
        self.body(2);
    }

    fn body(&mut self, depth: usize) {
        let (outside, ranges) = (std::mem::take(&mut self.variables), std::mem::take(&mut self.ranges));
        self.statements(depth);
        self.end();
        self.variables = outside;
        self.ranges = ranges;
    }

    fn variable(&mut self) -> String {
        format!("${}", self.dice.pick(&["x", "y", "i", "_", "é", "1", "labels", "value", "", "x9"]))
    }

    fn declaration(&mut self, production: &'static str) {
        if !self.dice.one_in(4) {
            return;
        }
        let variable = self.variable();
        let sign = self.dice.pick(&[" := ", ":=", " = ", "\t:=", " ="]);
        self.count(if sign.contains(':') { production } else { "assignment" });
        self.out.push_str(&format!("{variable}{sign}"));
        self.variables.push(variable);
    }

    fn pipeline(&mut self, depth: usize) {
        self.command(depth, true);
        while self.dice.one_in(3) {
            self.count("pipe");
            let pipe = self.dice.pick(&[" | ", "|", " |", "| "]);
            self.out.push_str(pipe);
            self.command(depth, false);
        }
        if self.dice.one_in(24) {
            self.count("trailing pipe");
            self.out.push_str(" | ");
        }
    }

    fn command(&mut self, depth: usize, first: bool) {
        if first && self.dice.one_in(3) {
            self.operand(depth);
            return;
        }
        match self.dice.below(8) {
            0 => self.field(),
            1 => self.chosen_variable(),
            2 if depth > 0 => self.parentheses(depth - 1),
            _ => self.function(),
        }
        for _ in 0..self.dice.below(3) {
            let space = self.dice.pick(&[" ", "  ", "\n", "\t "]);
            self.out.push_str(space);
            self.operand(depth);
        }
    }

    fn function(&mut self) {
        self.count("function");
        let function = self.functions[self.dice.below(self.functions.len())];
        self.out.push_str(function);
        if self.dice.one_in(12) {
            self.count("field of a function");
            self.field();
        }
    }

    fn field(&mut self) {
        self.count("field");
        let field = self.dice.pick(FIELDS);
        self.out.push_str(field);
    }

    fn chosen_variable(&mut self) {
        self.count("variable");
        let variable = match self.variables.len() {
            0 => "$".to_owned(),
            count => self.variables[self.dice.below(count)].clone(),
        };
        self.out.push_str(&variable);
        if self.dice.one_in(2) {
            self.field();
        }
    }

    fn parentheses(&mut self, depth: usize) {
        self.count("parentheses");
        let (left, right) = (self.dice.pick(&["(", "( ", "(\n"]), self.dice.pick(&[")", " )"]));
        self.out.push_str(left);
        self.declaration("declaration in parentheses");
        self.pipeline(depth);
        self.out.push_str(right);
        if self.dice.one_in(3) {
            self.count("field of parentheses");
            self.field();
        }
    }

    fn operand(&mut self, depth: usize) {
        let (production, choices): (_, &[&str]) = match self.dice.below(15) {
            0 => ("string", STRINGS),
            1 => ("raw string", RAWS),
            2 => ("character", CHARACTERS),
            3 => ("integer", INTEGERS),
            4 => ("float", FLOATS),
            5 => ("complex", COMPLEXES),
            6 => ("bool", &["true", "false"]),
            7 => ("nil", &["nil"]),
            8 => ("dot", &["."]),
            9 | 10 => return self.chosen_variable(),
            11 if depth > 0 => return self.parentheses(depth - 1),
            12 => return self.function(),
            _ => return self.field(),
        };
        self.count(production);
        let chosen = self.dice.pick(choices);
        self.out.push_str(chosen);
    }
}
