//! The grammar: operands, operators by their strength, calls and aggregations.
//!
//! Nothing recurses: operators, signs and open brackets wait on stacks of their own, so that no query is too deep or too
//! long for the stack of the thread.

use std::ops::Range;

use super::Options;
use super::functions::{self, Function};
use super::hints;
use super::lexer::Lexer;
use super::number::{self, Literal};
use super::quoted;
use super::token::{Aggregator, Kind, Operator, Token};
use super::tree::{Grouping, Id, Node, Query, Slice, index};
use crate::lang::Fault;
use crate::lang::duration::{self, DurationError};

/// An operator that waits for its right side.
pub(super) enum Waiting {
    Sign { minus: bool, start: usize },
    Binary { operator: Operator, left: Id, matching: Option<Id> },
}

impl Waiting {
    /// Whether it takes what stands to its right before `next` can have it.
    fn goes_before(&self, next: Operator) -> bool {
        match self {
            Self::Sign { .. } => Operator::Mul.goes_before(next),
            Self::Binary { operator, .. } => operator.goes_before(next),
        }
    }
}

/// An operator of a duration expression that waits for its right side.
pub(super) enum WaitingAmount {
    Sign { minus: bool },
    Binary { operator: Operator, left: Id, sign: Token },
}

/// A bracket around expressions that is still open.
enum Around {
    Paren { start: usize },
    Call { function: &'static Function, name: Token, arguments: usize },
    Aggregation { aggregator: Aggregator, name: Token, grouping: Option<Grouping>, arguments: usize },
}

/// An operand, or the bracket that it begins with.
enum Operand {
    Whole(Id),
    Begun(Around),
}

/// What the end of an expression inside a bracket means.
pub(super) enum Ended<A> {
    /// The bracket is closed, and is an operand itself.
    Bracket(Id),
    /// The bracket goes on behind a comma.
    More(A),
}

/// A bracket around duration expressions that is still open.
pub(super) enum AroundAmount {
    Paren,
    /// `max_of(` or `min_of(`.
    First {
        larger: bool,
    },
    /// The same behind the comma.
    Second {
        larger: bool,
        left: Id,
    },
}

/// The parser over one text.
pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) options: Options,
    pub(super) ahead: Token,
    pub(super) tree: Query,
    pub(super) waiting_amounts: Vec<WaitingAmount>,
    lexer: Lexer<'t>,
    waiting: Vec<Waiting>,
    arguments: Vec<Id>,
    /// Brackets around the expression, each with the number of operators that wait further out.
    around: Vec<(Around, usize)>,
    pub(super) around_amounts: Vec<(AroundAmount, usize)>,
    open: Vec<Token>,
    /// Where the bracket that was closed last ended.
    closed_at: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, options: Options) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(text);
        let ahead = lexer.next()?;
        Ok(Self {
            text,
            options,
            ahead,
            tree: Query::new(8),
            waiting_amounts: Vec::new(),
            lexer,
            waiting: Vec::new(),
            arguments: Vec::new(),
            around: Vec::new(),
            around_amounts: Vec::new(),
            open: Vec::new(),
            closed_at: 0,
        })
    }

    /// Reads the whole text.
    pub(super) fn query(&mut self) -> Result<(), Fault> {
        if self.ahead.kind == Kind::End {
            return Err(Fault::new(0..self.text.len(), "there is no expression"));
        }
        self.tree.root = self.expression()?;
        if self.ahead.kind == Kind::End {
            Ok(())
        } else {
            Err(self.unexpected_after_expression("an operator or the end"))
        }
    }

    /// Takes the next token.
    pub(super) fn advance(&mut self) -> Result<Token, Fault> {
        let taken = self.ahead;
        self.ahead = self.lexer.next()?;
        Ok(taken)
    }

    /// Takes an opening bracket, and remembers it until it is closed.
    pub(super) fn open_bracket(&mut self) -> Result<Token, Fault> {
        self.open.push(self.ahead);
        self.advance()
    }

    /// Takes the bracket that closes the last one opened; the caller saw that it is there.
    pub(super) fn close_bracket(&mut self) -> Result<Token, Fault> {
        self.open.pop();
        self.closed_at = self.ahead.end;
        self.advance()
    }

    pub(super) fn word(&self, token: Token) -> &'t str {
        self.text.get(token.span()).unwrap_or_default()
    }

    /// The fault of a token that does not fit; at the end of the text, of the bracket that is still open.
    pub(super) fn unexpected(&self, expected: &str) -> Fault {
        match self.open.last() {
            Some(opener) if self.ahead.kind == Kind::End => {
                hints::never_closed(self.word(*opener), opener.span())
            }
            _ => hints::unexpected(self.text, self.ahead, expected),
        }
    }

    /// The same behind a complete expression, where advice is known for many mistakes.
    pub(super) fn unexpected_after_expression(&self, expected: &str) -> Fault {
        match self.open.last() {
            Some(opener) if self.ahead.kind == Kind::End => {
                hints::never_closed(self.word(*opener), opener.span())
            }
            _ => hints::after_expression(self.text, self.ahead, expected),
        }
    }

    /// Expressions joined by operators, with everything that they hold in brackets.
    fn expression(&mut self) -> Result<Id, Fault> {
        let mut floor = self.waiting.len();
        'operand: loop {
            while let Kind::Operator(sign @ (Operator::Add | Operator::Sub)) = self.ahead.kind {
                let start = self.advance()?.start;
                self.waiting.push(Waiting::Sign { minus: sign == Operator::Sub, start });
            }
            let mut operand = match self.operand()? {
                Operand::Whole(operand) => operand,
                Operand::Begun(around) => {
                    self.around.push((around, floor));
                    floor = self.waiting.len();
                    continue;
                }
            };
            loop {
                operand = self.modified(operand)?;
                if let Kind::Operator(operator) = self.ahead.kind {
                    while self.waiting[floor..].last().is_some_and(|waiting| waiting.goes_before(operator)) {
                        operand = self.join(operand);
                    }
                    self.advance()?;
                    let matching = self.matching()?;
                    self.waiting.push(Waiting::Binary { operator, left: operand, matching });
                    continue 'operand;
                }
                while self.waiting.len() > floor {
                    operand = self.join(operand);
                }
                let Some((around, further_out)) = self.around.pop() else { return Ok(operand) };
                match self.end_of_expression(operand, around)? {
                    Ended::Bracket(bracket) => (operand, floor) = (bracket, further_out),
                    Ended::More(around) => {
                        self.around.push((around, further_out));
                        continue 'operand;
                    }
                }
            }
        }
    }

    /// Takes what stands behind an expression inside a bracket: the end of the bracket, or the comma before more.
    fn end_of_expression(&mut self, inner: Id, around: Around) -> Result<Ended<Around>, Fault> {
        self.arguments.push(inner);
        let is_list = !matches!(around, Around::Paren { .. });
        match self.ahead.kind {
            Kind::Comma if is_list => {
                let comma = self.advance()?;
                if self.ahead.kind == Kind::CloseParen {
                    return Err(Fault::new(comma.span(), "an argument is missing behind this comma")
                        .hint("leave the last comma out: only lists of labels and matchers may end in one"));
                }
                Ok(Ended::More(around))
            }
            Kind::CloseParen => {
                let end = self.close_bracket()?.end;
                self.closed(around, end).map(Ended::Bracket)
            }
            _ if is_list => Err(self.unexpected_after_expression("an operator, a comma or )")),
            _ => Err(self.unexpected_after_expression("an operator or )")),
        }
    }

    /// Gives the operator that waits last its right side.
    fn join(&mut self, right: Id) -> Id {
        let end = self.tree.span(right).end;
        match self.waiting.pop() {
            Some(Waiting::Sign { minus, start }) => {
                // A sign is part of a number, as it is in Prometheus' tree.
                if let Node::Number(literal) = &mut self.tree.nodes[right as usize] {
                    *literal = if minus { literal.negated() } else { *literal };
                    self.tree.spans[right as usize].start = index(start);
                    return right;
                }
                self.tree.add(Node::Sign { minus, inner: right }, start..end)
            }
            Some(Waiting::Binary { operator, left, matching }) => {
                let start = self.tree.span(left).start;
                self.tree.add(Node::Binary { operator, left, right, matching }, start..end)
            }
            None => right,
        }
    }

    fn operand(&mut self) -> Result<Operand, Fault> {
        match self.ahead.kind {
            Kind::Number | Kind::Duration => {
                let token = self.advance()?;
                let literal = self.literal(token)?;
                Ok(Operand::Whole(self.tree.add(Node::Number(literal), token.span())))
            }
            Kind::Quoted => {
                let token = self.advance()?;
                let text = self.unquoted(token);
                Ok(Operand::Whole(self.tree.add(Node::Text(text), token.span())))
            }
            Kind::OpenParen => {
                let start = self.open_bracket()?.start;
                Ok(Operand::Begun(Around::Paren { start }))
            }
            Kind::OpenBrace => self.selector(None).map(Operand::Whole),
            kind if kind.names_metric() => {
                let name = self.advance()?;
                match (kind, self.ahead.kind) {
                    (Kind::Aggregator(aggregator), Kind::OpenParen | Kind::By | Kind::Without) => {
                        self.aggregation(aggregator, name)
                    }
                    (
                        Kind::Word
                        | Kind::Start
                        | Kind::Finish
                        | Kind::Step
                        | Kind::Range
                        | Kind::MaxOf
                        | Kind::MinOf,
                        Kind::OpenParen,
                    ) => self.call(name),
                    _ => self.selector(Some(name)).map(Operand::Whole),
                }
            }
            _ => Err(self.no_operand()),
        }
    }

    fn no_operand(&self) -> Fault {
        match self.open.last() {
            Some(opener) if self.ahead.kind == Kind::End => {
                hints::never_closed(self.word(*opener), opener.span())
            }
            _ => hints::no_expression(self.text, self.ahead),
        }
    }

    pub(super) fn literal(&self, token: Token) -> Result<Literal, Fault> {
        let word = self.word(token);
        if token.kind == Kind::Duration {
            return duration::prometheus(word).map(Literal::Duration).map_err(|error| match error {
                DurationError::Order | DurationError::TooLong => Fault::new(token.span(), error.to_string()),
                _ => hints::bad_number(self.text, token.span()),
            });
        }
        number::value(word).map(Literal::Plain).ok_or_else(|| hints::bad_number(self.text, token.span()))
    }

    /// Keeps what a string stands for.
    pub(super) fn unquoted(&mut self, token: Token) -> Slice {
        let start = index(self.tree.pool.len());
        quoted::unquote(self.text, token.span(), &mut self.tree.pool);
        Slice { start, end: index(self.tree.pool.len()) }
    }

    /// Keeps a word of the text.
    pub(super) fn kept(&mut self, span: Range<usize>) -> Slice {
        let start = index(self.tree.pool.len());
        self.tree.pool.extend_from_slice(self.text.get(span).unwrap_or_default().as_bytes());
        Slice { start, end: index(self.tree.pool.len()) }
    }

    fn call(&mut self, name: Token) -> Result<Operand, Fault> {
        let word = self.word(name);
        let Some(function) = functions::find(word) else {
            return Err(hints::unknown_function(word, name.span()));
        };
        if function.experimental && !self.options.experimental_functions {
            return Err(experimental(word, name.span()));
        }
        let arguments = self.arguments.len();
        self.begun(Around::Call { function, name, arguments })
    }

    fn aggregation(&mut self, aggregator: Aggregator, name: Token) -> Result<Operand, Fault> {
        let grouping = self.grouping()?;
        if self.ahead.kind != Kind::OpenParen {
            return Err(self.unexpected("( and the vector to aggregate"));
        }
        let arguments = self.arguments.len();
        self.begun(Around::Aggregation { aggregator, name, grouping, arguments })
    }

    /// Takes the bracket before arguments; without arguments the closing one too.
    fn begun(&mut self, around: Around) -> Result<Operand, Fault> {
        self.open_bracket()?;
        if self.ahead.kind != Kind::CloseParen {
            return Ok(Operand::Begun(around));
        }
        let end = self.close_bracket()?.end;
        self.closed(around, end).map(Operand::Whole)
    }

    /// Makes a node of a call or an aggregation; its arguments lie on the stack, and its bracket was closed there.
    fn closed(&mut self, around: Around, mut end: usize) -> Result<Id, Fault> {
        let (aggregator, name, mut grouping, floor) = match around {
            Around::Aggregation { aggregator, name, grouping, arguments } => {
                (aggregator, name, grouping, arguments)
            }
            Around::Call { function, name, arguments: floor } => {
                let start = index(self.tree.arguments.len());
                self.tree.arguments.extend(self.arguments.drain(floor..));
                let arguments = Slice { start, end: index(self.tree.arguments.len()) };
                return Ok(self.tree.add(Node::Call { function, arguments }, name.start..end));
            }
            Around::Paren { start } => {
                let inner = self.arguments.pop().unwrap_or_default();
                return Ok(self.tree.add(Node::Paren(inner), start..end));
            }
        };
        if grouping.is_none() {
            grouping = self.grouping()?;
            end = self.closed_at;
        }
        let span = name.start..end;
        let wanted = if aggregator.takes_parameter() { 2 } else { 1 };
        let found = self.arguments.len() - floor;
        if aggregator.is_experimental() && !self.options.experimental_functions {
            return Err(experimental(aggregator.name(), name.span()));
        }
        if found != wanted {
            return Err(hints::aggregation_arguments(aggregator, wanted, found, span));
        }
        let inner = self.arguments.pop().unwrap_or_default();
        let parameter = if wanted == 2 { self.arguments.pop() } else { None };
        Ok(self.tree.add(Node::Aggregate { aggregator, parameter, inner, grouping }, span))
    }

    fn grouping(&mut self) -> Result<Option<Grouping>, Fault> {
        let without = match self.ahead.kind {
            Kind::By => false,
            Kind::Without => true,
            _ => return Ok(None),
        };
        let keyword = self.advance()?;
        let labels = self.label_list(keyword)?;
        Ok(Some(Grouping { without, labels }))
    }
}

fn experimental(name: &str, span: Range<usize>) -> Fault {
    Fault::new(span, format!("{name} is experimental and not enabled"))
        .hint("it exists only when Prometheus runs with --enable-feature=promql-experimental-functions")
}
