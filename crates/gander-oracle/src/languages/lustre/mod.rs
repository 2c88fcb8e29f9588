//! Lustre: random programs, their text, and their meaning by docs/lustre.md.
//!
//! A node is a list of equations for streams; at every instant a stream has one value. `pre` is the
//! value of its operand at the previous instant at which its node ran; `a -> b` is `a` at the first
//! of these instants. An unguarded `pre` at the first instant has two readings: the value of its
//! operand for arbitrary values of the streams before the first instant (JKind), or an arbitrary
//! value (Kind 2). If the answer to a claim depends on the reading, neither answer counts.

mod generate;
mod interpret;
mod print;

use super::Model;
use super::expression::{Expr, Sort};
use crate::random::Random;

/// Leaves numbered from here are operators with memory, by their position in [`Node::temporals`].
const TEMPORAL: usize = 1_000;

/// An operator with memory.
#[derive(Clone, Debug)]
enum Temporal {
    /// `first -> pre operand`
    Delay(Expr, Expr),
    /// `pre operand` on the right-hand side of an arrow.
    Guarded(Expr),
    /// `pre operand` that is evaluated at the first instant, too.
    Unguarded(Expr),
    /// `first -> later`
    Arrow(Expr, Expr),
}

impl Temporal {
    /// The remembered expression.
    fn operand(&self) -> Option<&Expr> {
        match self {
            Temporal::Delay(_, e) | Temporal::Guarded(e) | Temporal::Unguarded(e) => Some(e),
            Temporal::Arrow(..) => None,
        }
    }
}

#[derive(Clone, Debug)]
struct Stream {
    name: String,
    sort: Sort,
    /// The values of an input of the root.
    domain: Vec<i64>,
}

#[derive(Clone, Debug)]
enum Rhs {
    Expr(Expr),
    /// `N(arguments)`
    Call(usize, Vec<Expr>),
    /// `condact(clock, N(arguments), defaults)`
    Condact(Expr, usize, Vec<Expr>, Vec<Expr>),
    /// `(restart N every condition)(arguments)`
    Restart(Expr, usize, Vec<Expr>),
    /// The elements of an array or the fields of a record.
    Aggregate(Vec<Expr>),
}

/// An equation for consecutive streams, starting with the target.
#[derive(Clone, Debug)]
struct Equation {
    target: usize,
    rhs: Rhs,
}

/// A node: inputs, then other streams in dependency order.
#[derive(Clone, Debug, Default)]
struct Node {
    streams: Vec<Stream>,
    inputs: usize,
    /// The number of outputs, which follow the inputs.
    outputs: usize,
    equations: Vec<Equation>,
    temporals: Vec<(Sort, Temporal)>,
    asserts: Vec<Expr>,
    /// Streams that are claimed; at the root only.
    properties: Vec<usize>,
    /// Assumptions and guarantees of the contract of the root.
    assumes: Vec<Expr>,
    guarantees: Vec<Expr>,
}

/// A program: nodes that are called, then the root.
#[derive(Clone, Debug)]
struct Program {
    nodes: Vec<Node>,
    enumerations: Vec<Vec<String>>,
    /// True if it uses syntax that only Kind 2 accepts.
    only_kind2: bool,
}

/// The model of a seed.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    let program = generate::generate(random);
    let claims = interpret::decide(&program)?;
    Some(Model { text: print::text(&program, random), claims })
}
