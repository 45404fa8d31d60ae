//! Reads metric expressions: operators by precedence, brackets on a stack of its own, so that no query is too long for the
//! stack of the thread.

use super::lexer::Lexer;
use super::token::{Kind, Token};
use super::tree::{self, BinaryOp, Expr, ExprKind, List, Matching, Side, Span, Tree, VectorOp};
use crate::lang::Fault;

/// What kind of value an expression has. Grammar, not check: some places take only one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Log,
    Metric,
    Variants,
}

/// An expression that was read and waits for what contains it.
#[derive(Clone, Copy)]
struct Operand {
    node: u32,
    value: Value,
    span: Span,
}

/// Something that was begun and waits for its end.
enum Open {
    Operator { op: BinaryOp, returns_bool: bool, matching: Option<u32> },
    Paren { start: Span },
    Vector { op: VectorOp, start: Span, grouping: Option<u32>, parameter: Option<u32> },
    LabelReplace { start: Span },
    Variants { start: Span, first_node: u32, operands: Vec<u32> },
}

/// What may come next.
enum Next {
    /// An expression begins.
    Operand,
    /// An expression is complete.
    Operator,
}

pub(super) struct Parser<'t> {
    pub(super) lexer: Lexer<'t>,
    pub(super) token: Token,
    pub(super) previous: Token,
    pub(super) tree: Tree,
    open: Vec<Open>,
    operands: Vec<Operand>,
}

/// Reads a whole query.
pub(super) fn parse(text: &str) -> Result<Tree, Fault> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser {
        lexer,
        token,
        previous: Token { kind: Kind::End, span: Span::default() },
        tree: Tree::default(),
        open: Vec::new(),
        operands: Vec::new(),
    };
    parser.query()?;
    let mut tree = parser.tree;
    tree.pool = parser.lexer.pool;
    tree.slashes = parser.lexer.slashes;
    text.clone_into(&mut tree.source);
    Ok(tree)
}

impl Parser<'_> {
    fn push(&mut self, kind: ExprKind, value: Value, span: Span) {
        let node = tree::add(&mut self.tree.exprs, Expr { kind, span });
        self.operands.push(Operand { node, value, span });
    }

    fn query(&mut self) -> Result<(), Fault> {
        let mut next = Next::Operand;
        loop {
            next = match next {
                Next::Operand => self.operand()?,
                Next::Operator => {
                    if let Some(op) = binary_op(self.token.kind) {
                        self.operator(op)?
                    } else if matches!(self.token.kind, Kind::CloseParen | Kind::Comma) {
                        self.close()?
                    } else {
                        self.reduce(None);
                        if !self.open.is_empty() {
                            return Err(self.unexpected("an operator or `)`"));
                        }
                        return if self.token.kind == Kind::End {
                            Ok(())
                        } else {
                            Err(self.unexpected("an operator or the end of the query"))
                        };
                    }
                }
            };
        }
    }

    /// The beginning of an expression, or a whole one.
    fn operand(&mut self) -> Result<Next, Fault> {
        let start = self.token.span;
        match self.token.kind {
            Kind::OpenBrace => {
                let selector = self.selector()?;
                let stages = self.pipeline()?;
                self.push(ExprKind::Log { selector, stages }, Value::Log, start.to(self.previous.span));
            }
            Kind::OpenParen => {
                self.enter()?;
                self.open.push(Open::Paren { start });
                return Ok(Next::Operand);
            }
            Kind::Number | Kind::Add | Kind::Sub => {
                let negative = self.token.kind == Kind::Sub;
                if self.token.kind != Kind::Number {
                    self.advance()?;
                }
                let number = self.number("a number behind its sign")?;
                self.push(
                    ExprKind::Literal { number, negative },
                    Value::Metric,
                    start.to(self.previous.span),
                );
            }
            Kind::RangeOp(op) => {
                let kind = self.range_aggregation(op)?;
                self.push(kind, Value::Metric, start.to(self.previous.span));
            }
            Kind::VectorOp(op) => return self.vector_aggregation(op),
            Kind::Vector => {
                self.advance()?;
                self.enter()?;
                let number = self.number("a number without a sign")?;
                self.leave("`)` behind the number of vector")?;
                self.push(ExprKind::Constant { number }, Value::Metric, start.to(self.previous.span));
            }
            Kind::LabelReplace => {
                self.advance()?;
                self.enter()?;
                self.open.push(Open::LabelReplace { start });
                return Ok(Next::Operand);
            }
            Kind::Variants => {
                self.advance()?;
                self.enter()?;
                let first_node = tree::next(&self.tree.exprs);
                self.open.push(Open::Variants { start, first_node, operands: Vec::new() });
                return Ok(Next::Operand);
            }
            _ => return Err(self.unexpected("a selector, an aggregation or a number")),
        }
        Ok(Next::Operator)
    }

    fn vector_aggregation(&mut self, op: VectorOp) -> Result<Next, Fault> {
        let start = self.advance()?.span;
        let grouping = self.grouping()?;
        self.enter()?;
        let mut open = Open::Vector { op, start, grouping, parameter: None };
        if self.token.kind == Kind::Number {
            // Either the parameter or the beginning of the operand: the comma tells.
            let number = self.number("a number")?;
            if let Open::Vector { parameter, .. } = &mut open
                && self.token.kind == Kind::Comma
            {
                self.advance()?;
                *parameter = Some(number);
            } else {
                self.open.push(open);
                self.push(ExprKind::Literal { number, negative: false }, Value::Metric, self.previous.span);
                return Ok(Next::Operator);
            }
        }
        self.open.push(open);
        Ok(Next::Operand)
    }

    fn operator(&mut self, op: BinaryOp) -> Result<Next, Fault> {
        self.reduce(Some(op));
        self.advance()?;
        let returns_bool = self.eat(Kind::Bool)?;
        let matching = self.matching()?;
        self.open.push(Open::Operator { op, returns_bool, matching });
        Ok(Next::Operand)
    }

    /// `on (..)` or `ignoring (..)`, perhaps with `group_left` or `group_right`.
    fn matching(&mut self) -> Result<Option<u32>, Fault> {
        if !matches!(self.token.kind, Kind::On | Kind::Ignoring) {
            return Ok(None);
        }
        let on = self.advance()?.kind == Kind::On;
        let names = self.name_list()?;
        let group = match self.token.kind {
            Kind::GroupLeft => Some(Side::Left),
            Kind::GroupRight => Some(Side::Right),
            _ => None,
        };
        let mut include = List::default();
        if group.is_some() {
            self.advance()?;
            // A parenthesis here always opens the list of labels, never the operand.
            if self.token.kind == Kind::OpenParen {
                include = self.name_list()?;
            }
        }
        Ok(Some(tree::add(&mut self.tree.matchings, Matching { on, names, group, include })))
    }

    /// Joins what binds tighter than the operator to come; everything back to the last bracket when none comes.
    fn reduce(&mut self, coming: Option<BinaryOp>) {
        while let Some(&Open::Operator { op, returns_bool, matching }) = self.open.last() {
            if let Some(coming) = coming {
                let (waiting, next) = (op.precedence(), coming.precedence());
                if waiting < next || (waiting == next && coming.is_right_associative()) {
                    return;
                }
            }
            self.open.pop();
            let (Some(right), Some(left)) = (self.operands.pop(), self.operands.pop()) else { return };
            let kind = ExprKind::Binary { op, returns_bool, matching, left: left.node, right: right.node };
            self.push(kind, Value::Metric, left.span.to(right.span));
        }
    }

    /// A `)` or `,` behind a complete expression.
    fn close(&mut self) -> Result<Next, Fault> {
        self.reduce(None);
        let comma = self.token.kind == Kind::Comma;
        let (Some(open), Some(inner)) = (self.open.pop(), self.operands.pop()) else {
            return Err(self.unexpected("an operator or the end of the query"));
        };
        match open {
            Open::Paren { start } if !comma => {
                if inner.value == Value::Variants {
                    return Err(Fault::new(inner.span.range(), "variants(..) cannot stand in parentheses"));
                }
                let end = self.leave("`)`")?.span;
                self.operands.push(Operand { span: start.to(end), ..inner });
                Ok(Next::Operator)
            }
            Open::Vector { op, start, grouping, parameter } if !comma => {
                metric(inner, op.as_str())?;
                self.leave("`)`")?;
                let grouping = if grouping.is_none() { self.grouping()? } else { grouping };
                let kind = ExprKind::Vector { op, parameter, grouping, operand: inner.node };
                self.push(kind, Value::Metric, start.to(self.previous.span));
                Ok(Next::Operator)
            }
            Open::LabelReplace { start } if comma => {
                metric(inner, "label_replace")?;
                let first = tree::next(&self.tree.strings);
                for what in ["a destination label", "a replacement", "a source label", "a regular expression"]
                {
                    self.expect(Kind::Comma, "`,` between the arguments of label_replace")?;
                    let string = self.expect_string(&format!("{what} as a string"))?;
                    self.tree.strings.push(string);
                }
                self.leave("`)` behind the regular expression of label_replace")?;
                let strings = List { first, end: tree::next(&self.tree.strings) };
                let kind = ExprKind::LabelReplace { operand: inner.node, strings };
                self.push(kind, Value::Metric, start.to(self.previous.span));
                Ok(Next::Operator)
            }
            Open::LabelReplace { .. } => Err(self.unexpected("`,` and the four strings of label_replace")),
            Open::Variants { start, first_node, operands } => {
                self.variant(start, first_node, operands, inner)
            }
            _ => Err(self.unexpected("an operator or `)`")),
        }
    }

    /// One more operand of `variants`, or its end with the range that all of them share.
    fn variant(
        &mut self,
        start: Span,
        first_node: u32,
        mut list: Vec<u32>,
        inner: Operand,
    ) -> Result<Next, Fault> {
        metric(inner, "variants")?;
        list.push(inner.node);
        if self.eat(Kind::Comma)? {
            self.open.push(Open::Variants { start, first_node, operands: list });
            return Ok(Next::Operand);
        }
        self.leave("`)`")?;
        self.tree.unchecked.push(List { first: first_node, end: tree::next(&self.tree.exprs) });
        self.expect(Kind::Of, "`of` behind variants(..)")?;
        self.enter()?;
        let range = self.log_range()?;
        self.leave("`)` behind the range of variants")?;
        let first = tree::next(&self.tree.variants);
        self.tree.variants.extend(list);
        let operands = List { first, end: tree::next(&self.tree.variants) };
        self.push(ExprKind::Variants { operands, range }, Value::Variants, start.to(self.previous.span));
        Ok(Next::Operator)
    }
}

/// Whether the operand is one that a function can work on.
fn metric(inner: Operand, function: &str) -> Result<(), Fault> {
    match inner.value {
        Value::Metric => Ok(()),
        Value::Log => Err(Fault::new(inner.span.range(), format!("{function} needs numbers, not log lines"))
            .hint("count the lines first, as in rate({..}[5m])")),
        Value::Variants => {
            Err(Fault::new(inner.span.range(), format!("variants(..) cannot stand inside of {function}")))
        }
    }
}

fn binary_op(kind: Kind) -> Option<BinaryOp> {
    Some(match kind {
        Kind::Or => BinaryOp::Or,
        Kind::And => BinaryOp::And,
        Kind::Unless => BinaryOp::Unless,
        Kind::CmpEq => BinaryOp::Equal,
        Kind::Neq => BinaryOp::NotEqual,
        Kind::Gt => BinaryOp::Greater,
        Kind::Gte => BinaryOp::GreaterEqual,
        Kind::Lt => BinaryOp::Less,
        Kind::Lte => BinaryOp::LessEqual,
        Kind::Add => BinaryOp::Add,
        Kind::Sub => BinaryOp::Sub,
        Kind::Mul => BinaryOp::Mul,
        Kind::Div => BinaryOp::Div,
        Kind::Mod => BinaryOp::Mod,
        Kind::Pow => BinaryOp::Pow,
        _ => return None,
    })
}
