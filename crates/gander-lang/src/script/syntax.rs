//! The abstract syntax of scripts. Expressions and programs are stored in lists in which parts come
//! before wholes, so no function recurses over them.

use crate::diagnostics::span::Span;
use gander_term::IBig;

/// A name as written.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// An expression: an index into [`Script::expressions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expr {
    /// Its own position.
    pub root: u32,
    /// The position of its first part.
    pub first: u32,
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A part of an expression; numbers are positions of other parts.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Int(IBig),
    Bool(bool),
    Name(String),
    /// `P.x`
    Member(Name, Name),
    Not(u32),
    Negative(u32),
    Binary(Binary, u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int,
    Bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Declared {
    Const { value: Expr },
    Variable { nondet: bool, range: Option<(Expr, Expr)> },
}

/// A declaration of a constant or variable.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub name: Name,
    pub sort: Type,
    pub what: Declared,
}

/// A line of an `INIT` block.
#[derive(Clone, Debug)]
pub(crate) enum Init {
    Assign { name: Name, value: Expr },
    Constraint(Expr),
}

/// An update rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// Its number in its block, from one.
    pub number: usize,
    pub guards: Vec<Expr>,
    /// `S -> A`
    pub states: Option<(Name, Name)>,
    pub updates: Vec<(Name, Expr)>,
    pub span: Span,
}

/// The blocks of a process, or of the whole script.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub declarations: Vec<Declaration>,
    /// `state S, A, B;`
    pub states: Vec<Name>,
    /// `proc P = p;`
    pub procs: Vec<(Name, Name)>,
    pub inits: Vec<Init>,
    pub rules: Vec<Rule>,
    /// The start of its `TRANS`, if it has one.
    pub trans: Option<Span>,
}

#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub name: Name,
    pub block: Block,
}

/// An operator that combines two programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Composition {
    /// `P || Q`
    Parallel,
    /// `P | Q`
    Choice,
    /// `P >: Q`
    Sequence,
}

/// A part of a program; numbers are positions of other parts.
#[derive(Clone, Debug)]
pub(crate) enum ProgramPart {
    Process(Name),
    Both(Composition, usize, usize),
}

/// The kinds of goals.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GoalKind {
    /// `REACH: p`, `E<> p`
    Reach(Expr),
    /// `SAFE: p`, `A[] p`
    Safe(Expr),
    /// `INF:`
    Infinite,
    /// `LIVENESS: p`
    Live(Expr),
    /// `POSSIBLE: p`, `A[] E<> p`
    AlwaysPossible(Expr),
    /// `A<> p`
    Eventually(Expr),
    /// `p ~> q`
    LeadsTo(Expr, Expr),
    /// `E[] p`
    ExistsAlways(Expr),
    /// `DEADLOCK:`
    Deadlock,
}

#[derive(Clone, Debug)]
pub(crate) struct Goal {
    /// The keyword of the block.
    pub word: &'static str,
    pub name: Option<Name>,
    pub kind: GoalKind,
    pub span: Span,
}

/// A script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    pub max_steps: Option<Expr>,
    pub block: Block,
    pub processes: Vec<Process>,
    /// Parts before wholes; the last one is the program.
    pub program: Vec<ProgramPart>,
    pub program_span: Option<Span>,
    pub goals: Vec<Goal>,
    pub expressions: Vec<(Part, Span)>,
}

impl Script {
    pub fn span(&self, e: Expr) -> Span {
        self.expressions[e.root as usize].1
    }

    /// The name, if an expression is a name.
    pub fn as_name(&self, e: Expr) -> Option<Name> {
        match &self.expressions[e.root as usize] {
            (Part::Name(text), span) => Some(Name { text: text.clone(), span: *span }),
            _ => None,
        }
    }
}
