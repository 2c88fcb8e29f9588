//! Parsing terms: operator precedence with an explicit stack, so that nesting depth is limited by
//! memory only.

mod array;

use rustc_hash::FxHashMap;

use crate::bits::{BvOp, Width};
use crate::op::{Op, SortError};
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::{EnumId, Sort};
use crate::value::{IBig, Value};

use super::ParseError;
use super::lexer::{Kind, Lexer, Token};
use super::names::{enum_constant, reads_as_bits};
use super::print::level;

const BAD_WIDTH: &str = "a number of bits from 1 to 65536 was expected";

/// Reads a term in the form that [`Pool::display`] prints. Symbols and enumerations must be
/// declared in `pool`; each quantifier gets fresh bound symbols.
pub fn parse_term(pool: &mut Pool, text: &str) -> Result<TermId, ParseError> {
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let parser = Parser {
        pool,
        lexer,
        token,
        operands: Vec::new(),
        frames: Vec::new(),
        scope: FxHashMap::default(),
        literals: 0,
    };
    parser.term()
}

/// A construct that waits for its next operand.
struct Frame {
    kind: FrameKind,
    offset: usize,
}

enum FrameKind {
    /// An infix operator with `count` operands on its left.
    Infix {
        op: Infix,
        count: usize,
    },
    Prefix(Op),
    Group,
    /// `a[i`
    Index,
    /// `a[i := v`
    Update,
    /// `array[int](v`, with the index sort.
    Fill(Sort),
    Call {
        op: Op,
        count: usize,
    },
    Condition,
    Then,
    Else,
    /// A quantifier, with the symbols and names that it binds.
    Quantifier {
        op: Op,
        bound: Vec<(SymbolId, String)>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Infix {
    Plain(Op),
    NotEqual,
    Iff,
}

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::Iff => level::IFF,
            Infix::NotEqual => level::EQUAL,
            Infix::Plain(op) => match op {
                Op::Implies => level::IMPLIES,
                Op::Or => level::OR,
                Op::And => level::AND,
                Op::Eq => level::EQUAL,
                Op::Lt | Op::Le | Op::Gt | Op::Ge => level::COMPARE,
                Op::Add | Op::Sub | Op::Concat => level::SUM,
                Op::Pow => level::POWER,
                _ => level::PRODUCT,
            },
        }
    }

    /// True if a row of operands becomes one term, as in `a + b + c`.
    fn is_chain(self) -> bool {
        matches!(self, Infix::Plain(Op::And | Op::Or | Op::Add | Op::Mul | Op::Concat))
    }

    fn groups_right(self) -> bool {
        matches!(self, Infix::Plain(Op::Implies | Op::Pow))
    }
}

struct Parser<'a> {
    pool: &'a mut Pool,
    lexer: Lexer<'a>,
    token: Token,
    operands: Vec<TermId>,
    frames: Vec<Frame>,
    /// The symbols that the enclosing quantifiers bind to each name, innermost last.
    scope: FxHashMap<String, Vec<SymbolId>>,
    /// The number of open array literals.
    literals: usize,
}

impl Parser<'_> {
    fn term(mut self) -> Result<TermId, ParseError> {
        loop {
            self.operand()?;
            if let Some(t) = self.after_operand()? {
                return Ok(t);
            }
        }
    }

    fn advance(&mut self) -> Result<Token, ParseError> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError::new(self.token.start, message))
    }

    fn push(&mut self, kind: FrameKind, offset: usize) {
        self.frames.push(Frame { kind, offset });
    }

    fn expect(&mut self, word: &'static str) -> Result<(), ParseError> {
        if self.token.kind != Kind::Word(word) {
            return self.wrong(format!("`{word}` was expected"));
        }
        self.advance()?;
        Ok(())
    }

    /// Reads up to and including the next complete operand.
    fn operand(&mut self) -> Result<(), ParseError> {
        loop {
            let token = self.advance()?;
            let start = token.start;
            let term = match token.kind {
                Kind::Literal(v) => self.pool.constant(v),
                Kind::Word("true") => self.pool.tt(),
                Kind::Word("false") => self.pool.ff(),
                Kind::Name(name) if self.token.kind == Kind::Word("(") => {
                    let op = self.bit_operator(&name, start)?;
                    self.push(FrameKind::Call { op, count: 0 }, start);
                    continue;
                }
                Kind::Name(name) => self.name(&name, start)?,
                Kind::Quoted(name) => self.quoted(&name, token.end, start)?,
                Kind::Word("-") => match &self.token.kind {
                    Kind::Literal(v) if self.token.start == token.end => {
                        let negated = match v {
                            Value::Int(i) => Value::Int(-i),
                            Value::Real(r) => Value::Real(-r),
                            _ => return self.wrong("a number was expected"),
                        };
                        self.advance()?;
                        self.pool.constant(negated)
                    }
                    _ => {
                        self.push(FrameKind::Prefix(Op::Neg), start);
                        continue;
                    }
                },
                Kind::Word("not") => {
                    self.push(FrameKind::Prefix(Op::Not), start);
                    continue;
                }
                Kind::Word("(") => {
                    self.push(FrameKind::Group, start);
                    continue;
                }
                Kind::Word("array") => match self.array(start)? {
                    Some(constant) => constant,
                    None => continue,
                },
                Kind::Word("if") => {
                    self.push(FrameKind::Condition, start);
                    continue;
                }
                Kind::Word("forall") => {
                    self.binders(Op::Forall, start)?;
                    continue;
                }
                Kind::Word("exists") => {
                    self.binders(Op::Exists, start)?;
                    continue;
                }
                Kind::Word(word) => {
                    let op = match word {
                        "abs" => Op::Abs,
                        "min" => Op::Min,
                        "max" => Op::Max,
                        "to_real" => Op::ToReal,
                        "to_int" => Op::ToInt,
                        _ => {
                            return Err(ParseError::new(
                                start,
                                format!("a term was expected, not `{word}`"),
                            ));
                        }
                    };
                    self.expect("(")?;
                    self.push(FrameKind::Call { op, count: 0 }, start);
                    continue;
                }
                Kind::End => return Err(ParseError::new(start, "a term was expected")),
            };
            self.operands.push(term);
            return Ok(());
        }
    }

    /// The bit-vector operator with this name; reads `(` and the operator's parameters.
    fn bit_operator(&mut self, name: &str, start: usize) -> Result<Op, ParseError> {
        self.expect("(")?;
        if let Some(op) = BvOp::from_name(name) {
            return Ok(Op::Bv(op));
        }
        Ok(Op::Bv(match name {
            "extract" => BvOp::Extract { high: self.parameter()?, low: self.parameter()? },
            "zero_extend" => BvOp::ZeroExtend(self.parameter()?),
            "sign_extend" => BvOp::SignExtend(self.parameter()?),
            "int_to_bv" => {
                let at = self.token.start;
                BvOp::FromInt(
                    Width::new(self.parameter()?).ok_or_else(|| ParseError::new(at, BAD_WIDTH))?,
                )
            }
            _ => return Err(ParseError::new(start, format!("no function is called `{name}`"))),
        }))
    }

    /// Reads a number and a comma.
    fn parameter<N: for<'i> TryFrom<&'i IBig>>(&mut self) -> Result<N, ParseError> {
        let token = self.advance()?;
        let number = match &token.kind {
            Kind::Literal(Value::Int(i)) => N::try_from(i).ok(),
            _ => None,
        };
        self.expect(",")?;
        number.ok_or_else(|| ParseError::new(token.start, "a small number was expected"))
    }

    /// Reads the tokens after an operand; returns the whole term at the end of the text, or `None`
    /// when another operand must follow.
    fn after_operand(&mut self) -> Result<Option<TermId>, ParseError> {
        loop {
            let start = self.token.start;
            let infix = match self.token.kind {
                Kind::Word(word) => match word {
                    "and" => Infix::Plain(Op::And),
                    "or" => Infix::Plain(Op::Or),
                    "->" => Infix::Plain(Op::Implies),
                    "<->" => Infix::Iff,
                    "==" => Infix::Plain(Op::Eq),
                    "!=" => Infix::NotEqual,
                    "<" => Infix::Plain(Op::Lt),
                    "<=" => Infix::Plain(Op::Le),
                    ">" => Infix::Plain(Op::Gt),
                    ">=" => Infix::Plain(Op::Ge),
                    "+" => Infix::Plain(Op::Add),
                    "-" => Infix::Plain(Op::Sub),
                    "++" => Infix::Plain(Op::Concat),
                    "*" => Infix::Plain(Op::Mul),
                    "/" => Infix::Plain(Op::Div),
                    "div" => Infix::Plain(Op::IntDiv),
                    "mod" => Infix::Plain(Op::Mod),
                    "^" => Infix::Plain(Op::Pow),
                    "[" => {
                        self.advance()?;
                        self.push(FrameKind::Index, start);
                        return Ok(None);
                    }
                    ")" | "]" | "," | ":=" | "then" | "else" => {
                        self.close(word)?;
                        if matches!(word, ")" | "]") {
                            continue;
                        }
                        return Ok(None);
                    }
                    _ => return self.wrong(format!("an operator was expected, not `{word}`")),
                },
                Kind::End => {
                    self.reduce(level::OPEN)?;
                    return match self.frames.last() {
                        None => Ok(self.operands.pop()),
                        Some(open) => Err(ParseError::new(open.offset, "this is never closed")),
                    };
                }
                _ => return self.wrong("an operator was expected"),
            };
            self.advance()?;
            let own = infix.level();
            self.reduce(if infix.groups_right() || infix.is_chain() { own + 1 } else { own })?;
            match self.frames.last_mut() {
                Some(Frame { kind: FrameKind::Infix { op, count }, .. })
                    if *op == infix && infix.is_chain() =>
                {
                    *count += 1;
                }
                _ => {
                    // A chain operator after another operator of its level, as in `a - b + c`.
                    if infix.is_chain() {
                        self.reduce(own)?;
                    }
                    self.push(FrameKind::Infix { op: infix, count: 1 }, start);
                }
            }
            return Ok(None);
        }
    }

    /// Handles `)`, `]`, `,`, `:=`, `then` and `else`.
    fn close(&mut self, word: &'static str) -> Result<(), ParseError> {
        self.reduce(level::OPEN)?;
        let Some(Frame { kind, offset }) = self.frames.pop() else {
            return self.wrong(format!("nothing is open that `{word}` could belong to"));
        };
        let next = match (kind, word) {
            (FrameKind::Group, ")") => None,
            (FrameKind::Call { op, count }, ")") => {
                self.build(op, count + 1, offset)?;
                None
            }
            (FrameKind::Call { op, count }, ",") => Some(FrameKind::Call { op, count: count + 1 }),
            (FrameKind::Fill(index), ")") => {
                self.fill(index, offset)?;
                None
            }
            (FrameKind::Index, "]") => {
                self.build(Op::Select, 2, offset)?;
                None
            }
            (FrameKind::Index, ":=") => Some(FrameKind::Update),
            (FrameKind::Update, "]") => {
                self.build(Op::Store, 3, offset)?;
                None
            }
            (FrameKind::Condition, "then") => Some(FrameKind::Then),
            (FrameKind::Then, "else") => Some(FrameKind::Else),
            _ => return self.wrong(format!("`{word}` does not belong here")),
        };
        if let Some(kind) = next {
            self.push(kind, offset);
        }
        self.advance()?;
        Ok(())
    }

    /// Builds the terms of all pending operators that bind at least as tightly as `at_least`.
    fn reduce(&mut self, at_least: u8) -> Result<(), ParseError> {
        while let Some(frame) = self.frames.last() {
            let own = match &frame.kind {
                FrameKind::Infix { op, .. } => op.level(),
                FrameKind::Prefix(Op::Neg) => level::MINUS,
                FrameKind::Prefix(_) => level::NOT,
                FrameKind::Else | FrameKind::Quantifier { .. } => level::OPEN,
                FrameKind::Group
                | FrameKind::Index
                | FrameKind::Update
                | FrameKind::Fill(_)
                | FrameKind::Call { .. }
                | FrameKind::Condition
                | FrameKind::Then => return Ok(()),
            };
            if own < at_least {
                return Ok(());
            }
            let Some(Frame { kind, offset }) = self.frames.pop() else { return Ok(()) };
            match kind {
                FrameKind::Infix { op: Infix::Plain(op), count } => {
                    self.build(op, count + 1, offset)?
                }
                FrameKind::Infix { op: Infix::Iff, .. } => self.build(Op::Eq, 2, offset)?,
                FrameKind::Infix { op: Infix::NotEqual, .. } => {
                    self.build(Op::Eq, 2, offset)?;
                    self.build(Op::Not, 1, offset)?;
                }
                FrameKind::Prefix(op) => self.build(op, 1, offset)?,
                FrameKind::Else => self.build(Op::Ite, 3, offset)?,
                FrameKind::Quantifier { op, bound } => {
                    let body = self.operands.len() - 1;
                    for (i, (s, name)) in bound.iter().enumerate() {
                        let v = self.pool.var(*s);
                        self.operands.insert(body + i, v);
                        self.scope.get_mut(name).and_then(Vec::pop);
                    }
                    self.build(op, bound.len() + 1, offset)?;
                }
                FrameKind::Group
                | FrameKind::Index
                | FrameKind::Update
                | FrameKind::Fill(_)
                | FrameKind::Call { .. }
                | FrameKind::Condition
                | FrameKind::Then => {}
            }
        }
        Ok(())
    }

    fn build(&mut self, op: Op, count: usize, offset: usize) -> Result<(), ParseError> {
        let first = self.operands.len() - count;
        let result = self.pool.mk(op, &self.operands[first..]);
        let t = result.map_err(|e| ParseError::new(offset, self.describe(&e)))?;
        self.operands.truncate(first);
        self.operands.push(t);
        Ok(())
    }

    fn describe(&self, e: &SortError) -> String {
        let found: Vec<_> = e.found.iter().take(4).map(|s| s.name(self.pool)).collect();
        let more = if e.found.len() > 4 { ", ..." } else { "" };
        format!("{e}, not {}{more}", found.join(", "))
    }

    fn name(&mut self, name: &str, start: usize) -> Result<TermId, ParseError> {
        // `Status.`odd variant``
        if self.token.kind == Kind::Word(".")
            && self.token.start == start + name.len()
            && let Some(e) = self.pool.find_enum(name)
        {
            return self.variant(e);
        }
        if let Some(s) = self.bound(name) {
            return Ok(self.pool.var(s));
        }
        if let Some((e, i)) = enum_constant(self.pool, name) {
            return Ok(self.pool.constant(Value::Enum(e, i)));
        }
        self.symbol(name, start)
    }

    fn quoted(&mut self, name: &str, end: usize, start: usize) -> Result<TermId, ParseError> {
        if self.token.kind == Kind::Word(".") && self.token.start == end {
            return match self.pool.find_enum(name) {
                Some(e) => self.variant(e),
                None => Err(ParseError::new(start, format!("no enumeration is called `{name}`"))),
            };
        }
        match self.bound(name) {
            Some(s) => Ok(self.pool.var(s)),
            None => self.symbol(name, start),
        }
    }

    fn bound(&self, name: &str) -> Option<SymbolId> {
        self.scope.get(name)?.last().copied()
    }

    fn symbol(&mut self, name: &str, start: usize) -> Result<TermId, ParseError> {
        match self.pool.find_symbol(name) {
            Some(s) => Ok(self.pool.var(s)),
            None => Err(ParseError::new(start, format!("`{name}` is not declared"))),
        }
    }

    /// The quoted variant after the dot, which is the current token.
    fn variant(&mut self, e: EnumId) -> Result<TermId, ParseError> {
        self.advance()?;
        let token = self.advance()?;
        let enumeration = self.pool.enumeration(e);
        let position = match &token.kind {
            Kind::Quoted(v) | Kind::Name(v) => enumeration.position(v),
            _ => None,
        };
        match position {
            Some(i) => Ok(self.pool.constant(Value::Enum(e, i))),
            None => Err(ParseError::new(
                token.start,
                format!("a variant of `{}` was expected", enumeration.name),
            )),
        }
    }

    /// `x: int, y: bool.` after a quantifier.
    fn binders(&mut self, op: Op, start: usize) -> Result<(), ParseError> {
        let mut bound = Vec::new();
        loop {
            let token = self.advance()?;
            let (Kind::Name(name) | Kind::Quoted(name)) = token.kind else {
                return Err(ParseError::new(token.start, "a name to bind was expected"));
            };
            self.expect(":")?;
            let sort = self.sort()?;
            bound.push((self.pool.declare_bound(&name, sort), name));
            match self.token.kind {
                Kind::Word(",") => self.advance()?,
                Kind::Word(".") => break,
                _ => return self.wrong("`,` or `.` was expected"),
            };
        }
        self.advance()?;
        for (s, name) in &bound {
            self.scope.entry(name.clone()).or_default().push(*s);
        }
        self.push(FrameKind::Quantifier { op, bound }, start);
        Ok(())
    }
}
