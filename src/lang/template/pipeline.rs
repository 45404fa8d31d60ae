//! Pipelines: declarations, commands, operands and parentheses.

use super::super::Fault;
use super::lexer::{Declaring, Kind, Token};
use super::parser::Parser;
use super::unexpected::{self, Place};

/// How deep Go lets parentheses nest.
const DEEPEST: usize = 10_000;

/// One pipeline: that of the action or of a pair of parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    /// Where it starts.
    start: usize,
    /// How many commands it has so far.
    commands: usize,
}

/// What has just been read.
enum Read {
    /// The start of a pipeline, or a `|`.
    Nothing,
    /// An operand, with nothing after it; a value cannot have fields.
    Operand { value: bool },
    /// An operand and a space.
    Argument,
}

impl Parser<'_> {
    /// Reads a pipeline up to the end of its action.
    pub(super) fn pipeline(&mut self, place: Place) -> Result<(), Fault> {
        self.levels.clear();
        self.declarations(place)?;
        let mut level = Level { start: self.lexer.action().end, commands: 0 };
        let mut read = Read::Nothing;
        loop {
            let token = self.lexer.next()?;
            match (&read, token.kind) {
                (Read::Nothing | Read::Argument, Kind::Space)
                | (Read::Operand { value: false }, Kind::Field) => {}
                (Read::Operand { .. }, Kind::Space) => read = Read::Argument,
                (Read::Operand { value: true }, Kind::Field) => {
                    return Err(unexpected::field_of_value(&self.lexer, token));
                }
                (Read::Operand { .. } | Read::Argument, Kind::Pipe) => read = Read::Nothing,
                // The lexer has counted the parentheses: each closing token ends the pipeline that it should.
                (_, Kind::Close | Kind::RightParen) => {
                    let outer = self.levels.pop();
                    if level.commands == 0 {
                        let place = if outer.is_some() { Place::Parentheses } else { place };
                        return Err(unexpected::no_value(level.start..token.end, self.lexer.action(), place));
                    }
                    match outer {
                        Some(outer) => level = outer,
                        None => return Ok(()),
                    }
                    read = Read::Operand { value: false };
                }
                (Read::Nothing | Read::Argument, kind) if kind.starts_operand() => {
                    if matches!(read, Read::Nothing) {
                        level.commands += 1;
                        if level.commands > 1 && kind.is_value() {
                            return Err(unexpected::value_as_command(&self.lexer, token));
                        }
                    }
                    self.term(token)?;
                    read = Read::Operand { value: kind.is_value() };
                    if kind == Kind::LeftParen {
                        self.levels.push(level);
                        if self.levels.len() > DEEPEST {
                            return Err(unexpected::too_deep(token.span(), DEEPEST));
                        }
                        self.declarations(Place::Parentheses)?;
                        level = Level { start: token.start, commands: 0 };
                        read = Read::Nothing;
                    }
                }
                (Read::Nothing, _) => {
                    let place = if self.levels.is_empty() { place } else { Place::Parentheses };
                    return Err(unexpected::token(&self.lexer, token, place));
                }
                _ => return Err(unexpected::token(&self.lexer, token, Place::Operand)),
            }
        }
    }

    /// The variables that the pipeline declares. To assign is to declare too: nothing asks for an earlier declaration.
    fn declarations(&mut self, place: Place) -> Result<(), Fault> {
        let mut count = 0;
        while let Some((variable, declaring)) = self.lexer.declaration() {
            count += 1;
            self.variables.declare(self.lexer.bytes(variable));
            if declaring == Declaring::Value {
                break;
            }
            if place != Place::Range || count > 1 {
                return Err(unexpected::many_declarations(variable.span(), place));
            }
            if !self.lexer.at_variable() {
                return Err(unexpected::no_second_variable(variable.start..self.lexer.action().end));
            }
        }
        Ok(())
    }

    /// Names must be known.
    fn term(&self, token: Token) -> Result<(), Fault> {
        let name = self.lexer.bytes(token);
        match token.kind {
            Kind::Identifier if !self.set.has_function(name) => {
                Err(unexpected::unknown_function(token.span(), name, self.set))
            }
            Kind::Variable if !self.knows(name) => Err(self.undefined_variable(token)),
            _ => Ok(()),
        }
    }

    fn knows(&self, name: &[u8]) -> bool {
        let visible = self.trees.last().map_or(0, |tree| tree.variables);
        name == b"$"
            || self.variables.is_visible(name, visible)
            // What is declared in front of the text belongs to the root, not to the definitions in it.
            || self.trees.len() == 1 && self.set.has_variable(name)
    }

    fn undefined_variable(&self, token: Token) -> Fault {
        let visible = self.trees.last().map_or(0, |tree| tree.variables);
        let in_root = self.trees.len() == 1;
        let beforehand = if in_root { self.set.variables() } else { &[] };
        let known = self.variables.since(visible).chain(beforehand.iter().map(|name| name.as_bytes()));
        let name = self.lexer.bytes(token);
        let outside = !in_root && (self.set.has_variable(name) || self.variables.is_visible(name, 0));
        unexpected::undefined_variable(token.span(), name, known, outside, self.set)
    }
}
