//! The actions of a template and how they nest: conditions, loops, definitions.

use std::borrow::Cow;
use std::ops::Range;

use super::super::Fault;
use super::definitions::{Templates, Tree, Variables};
use super::functions::FunctionSet;
use super::lexer::{Keyword, Kind, Lexer, Token};
use super::literals::{decode, unquote};
use super::pipeline::Level;
use super::unexpected::{self, Place};

/// A block that waits for its `end`.
struct Block {
    kind: BlockKind,
    /// The action that opened it.
    span: Range<usize>,
    /// Its plain `else` has been seen.
    in_else: bool,
    /// The variables declared since are forgotten at its end.
    variables: usize,
}

/// What an `end` can close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    If,
    With,
    Range,
    Define,
    Block,
}

impl BlockKind {
    /// The word that opens it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::If => "if",
            Self::With => "with",
            Self::Range => "range",
            Self::Define => "define",
            Self::Block => "block",
        }
    }
}

/// The state of reading one text.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) set: &'a FunctionSet,
    pub(super) variables: Variables<'a>,
    /// The root template and, while one is being read, the definition inside of it (and the blocks inside of that).
    pub(super) trees: Vec<Tree<'a>>,
    /// Pipelines around the innermost parentheses; kept here only to be reused.
    pub(super) levels: Vec<Level>,
    blocks: Vec<Block>,
    templates: Templates<'a>,
}

/// Judges a text whose root template is called after the set and its owner.
pub(super) fn parse(text: &[u8], set: &FunctionSet, owner: &str) -> Result<(), Fault> {
    let root = Tree {
        name: Cow::Borrowed(b""),
        span: 0..0,
        // Variables are declared by actions in front of the text, so that it is never blank.
        blank: set.variables().is_empty(),
        ranges: 0,
        variables: 0,
    };
    let mut parser = Parser {
        lexer: Lexer::new(text, set),
        set,
        variables: Variables::default(),
        trees: vec![root],
        levels: Vec::new(),
        blocks: Vec::new(),
        templates: Templates::default(),
    };
    parser.run(owner)
}

impl Parser<'_> {
    fn run(&mut self, owner: &str) -> Result<(), Fault> {
        loop {
            let token = self.lexer.next()?;
            match token.kind {
                Kind::Open => self.action()?,
                Kind::EndOfText => return self.finish(owner),
                _ => {
                    let bytes = self.lexer.bytes(token);
                    if let Some(tree) = self.trees.last_mut() {
                        tree.blank = tree.blank && is_blank(bytes);
                    }
                }
            }
        }
    }

    fn finish(&self, owner: &str) -> Result<(), Fault> {
        if let Some(block) = self.blocks.last() {
            return Err(unexpected::missing_end(block.kind, block.span.clone()));
        }
        if self.trees.first().is_some_and(|root| root.blank) {
            return Ok(());
        }
        let name = [self.set.root(), owner].concat();
        match self.templates.with_content(name.as_bytes()) {
            Some(span) => Err(unexpected::defines_itself(span, &name)),
            None => Ok(()),
        }
    }

    /// One action, whose `{{` has been read.
    fn action(&mut self) -> Result<(), Fault> {
        let before = self.lexer;
        let token = self.lexer.next_non_space()?;
        match token.kind {
            Kind::Keyword(Keyword::If) => self.control(BlockKind::If),
            Kind::Keyword(Keyword::With) => self.control(BlockKind::With),
            Kind::Keyword(Keyword::Range) => self.control(BlockKind::Range),
            Kind::Keyword(Keyword::Else) => self.else_control(token),
            Kind::Keyword(Keyword::End) => self.end_control(token),
            Kind::Keyword(Keyword::Break | Keyword::Continue) => self.loop_control(token),
            Kind::Keyword(Keyword::Template) => self.template_control(),
            Kind::Keyword(Keyword::Block) => self.block_control(),
            Kind::Keyword(Keyword::Define) => self.define_control(token),
            _ => {
                self.lexer = before;
                self.has_content();
                self.pipeline(Place::Command)
            }
        }
    }

    /// The template that is being read is more than white space.
    fn has_content(&mut self) {
        if let Some(tree) = self.trees.last_mut() {
            tree.blank = false;
        }
    }

    fn close(&mut self, place: Place) -> Result<(), Fault> {
        let token = self.lexer.next_non_space()?;
        match token.kind {
            Kind::Close => Ok(()),
            _ => Err(unexpected::token(&self.lexer, token, place)),
        }
    }

    fn control(&mut self, kind: BlockKind) -> Result<(), Fault> {
        self.has_content();
        let variables = self.variables.mark();
        self.pipeline(match kind {
            BlockKind::Range => Place::Range,
            BlockKind::With => Place::With,
            _ => Place::If,
        })?;
        self.count_range(kind, true);
        self.blocks.push(Block { kind, span: self.lexer.action(), in_else: false, variables });
        Ok(())
    }

    /// Enters or leaves the body of a `range`, where `break` and `continue` are allowed.
    fn count_range(&mut self, kind: BlockKind, enter: bool) {
        if let (BlockKind::Range, Some(tree)) = (kind, self.trees.last_mut()) {
            tree.ranges = if enter { tree.ranges + 1 } else { tree.ranges.saturating_sub(1) };
        }
    }

    fn else_control(&mut self, token: Token) -> Result<(), Fault> {
        let before = self.lexer;
        let next = self.lexer.next_non_space()?;
        let open = self.blocks.last_mut().map(|block| (block.kind, block));
        let Some((kind @ (BlockKind::If | BlockKind::With | BlockKind::Range), block)) = open else {
            return Err(unexpected::stray_else(token.span(), open.map(|(kind, _)| kind)));
        };
        if block.in_else {
            return Err(unexpected::second_else(token.span(), kind));
        }
        // The chain `if … else if … end` has one end and one scope.
        match (kind, next.kind) {
            (BlockKind::If, Kind::Keyword(Keyword::If)) => self.pipeline(Place::If),
            (BlockKind::With, Kind::Keyword(Keyword::With)) => self.pipeline(Place::With),
            (_, Kind::Keyword(Keyword::If | Keyword::With)) => {
                Err(unexpected::wrong_chain(token.start..next.end, kind, self.lexer.bytes(next)))
            }
            _ => {
                block.in_else = true;
                self.lexer = before;
                self.close(Place::Else)?;
                self.count_range(kind, false);
                Ok(())
            }
        }
    }

    fn end_control(&mut self, token: Token) -> Result<(), Fault> {
        self.close(Place::End)?;
        let Some(block) = self.blocks.pop() else {
            return Err(unexpected::stray_end(token.span()));
        };
        self.variables.forget_after(block.variables);
        match block.kind {
            BlockKind::Define | BlockKind::Block => {
                let Some(tree) = self.trees.pop() else { return Ok(()) };
                let (name, span) = (tree.name.clone(), tree.span.clone());
                if self.templates.add(tree.name, tree.span, tree.blank) {
                    Ok(())
                } else {
                    Err(unexpected::defined_twice(span, &name))
                }
            }
            kind => {
                if !block.in_else {
                    self.count_range(kind, false);
                }
                Ok(())
            }
        }
    }

    fn loop_control(&mut self, token: Token) -> Result<(), Fault> {
        self.close(Place::Loop)?;
        if self.trees.last().is_none_or(|tree| tree.ranges == 0) {
            return Err(unexpected::outside_range(token.span(), self.lexer.bytes(token)));
        }
        Ok(())
    }

    fn template_control(&mut self) -> Result<(), Fault> {
        self.has_content();
        self.name(Place::Template)?;
        let before = self.lexer;
        if self.lexer.next_non_space()?.kind == Kind::Close {
            return Ok(());
        }
        self.lexer = before;
        self.pipeline(Place::Template)
    }

    fn block_control(&mut self) -> Result<(), Fault> {
        self.has_content();
        let name = self.name(Place::Block)?;
        self.pipeline(Place::Block)?;
        self.define(name, BlockKind::Block);
        Ok(())
    }

    fn define_control(&mut self, token: Token) -> Result<(), Fault> {
        if let Some(block) = self.blocks.last() {
            return Err(unexpected::nested_define(token.span(), block.kind));
        }
        let name = self.name(Place::Define)?;
        self.close(Place::Define)?;
        self.define(name, BlockKind::Define);
        Ok(())
    }

    /// A template's name, which must be a string.
    fn name(&mut self, place: Place) -> Result<Token, Fault> {
        let token = self.lexer.next_non_space()?;
        match token.kind {
            Kind::String => Ok(token),
            _ => Err(unexpected::name(&self.lexer, token, place)),
        }
    }

    /// Starts a template of its own, which sees nothing of what surrounds it.
    fn define(&mut self, name: Token, kind: BlockKind) {
        let variables = self.variables.mark();
        self.trees.push(Tree {
            name: unquote(self.lexer.bytes(name)),
            span: name.span(),
            blank: true,
            ranges: 0,
            variables,
        });
        self.blocks.push(Block { kind, span: self.lexer.action(), in_else: false, variables });
    }
}

/// Whether there is nothing but white space, in Go's sense.
fn is_blank(mut bytes: &[u8]) -> bool {
    while let Some((character, length)) = decode(bytes) {
        if !character.is_whitespace() {
            return false;
        }
        bytes = bytes.get(length..).unwrap_or_default();
    }
    bytes.is_empty()
}
