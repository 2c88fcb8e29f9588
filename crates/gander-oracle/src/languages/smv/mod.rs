//! SMV as NuSMV reads it: random models, their text, and their meaning by the NuSMV manual.
//!
//! A state assigns a value of its type to every `VAR` and `FROZENVAR`. Inputs (`IVAR`) belong to
//! steps: a step is a state, values of the inputs and a next state that satisfy `TRANS` and the
//! `next` assignments and keep frozen variables. `INVAR` and the assignments `x := e` hold in every
//! state; runs begin in states that satisfy `INIT` and the `init` assignments. `F` is about
//! infinite runs. A property that mentions inputs is about steps.

mod generate;
mod interpret;
mod print;

use super::expression::{Expr, Sort};
use super::{Expected, Model};
use crate::random::Random;

/// What a name of a module refers to.
#[derive(Clone, Debug)]
enum Role {
    /// A variable with the values of its type.
    Var(Kind, Vec<i64>),
    /// A definition.
    Define(Expr),
    /// A parameter.
    Parameter,
    /// The symbol with the second number in the instance with the first number.
    Of(usize, usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    State,
    Frozen,
    Input,
}

/// A name of a module.
#[derive(Clone, Debug)]
struct Symbol {
    name: String,
    sort: Sort,
    role: Role,
    /// The type as written.
    type_text: String,
}

/// The right-hand side of an assignment: a set of values.
#[derive(Clone, Debug)]
enum Rhs {
    /// One of these.
    Set(Vec<Expr>),
    /// The first branch whose condition is true; the last condition is `TRUE`.
    Case(Vec<(Expr, Rhs)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum When {
    /// `init(x) := e`
    Init,
    /// `next(x) := e`
    Next,
    /// `x := e`
    Now,
}

#[derive(Clone, Debug)]
struct Assign {
    when: When,
    target: usize,
    rhs: Rhs,
}

#[derive(Clone, Debug)]
enum Spec {
    Invariant(Expr),
    Globally(Expr),
    AlwaysGlobally(Expr),
    Finally(Expr),
    Recurs(Expr),
    Response(Expr, Expr),
}

impl Spec {
    fn formulas(&self) -> Vec<&Expr> {
        match self {
            Spec::Invariant(p)
            | Spec::Globally(p)
            | Spec::AlwaysGlobally(p)
            | Spec::Finally(p)
            | Spec::Recurs(p) => {
                vec![p]
            }
            Spec::Response(p, q) => vec![p, q],
        }
    }
}

/// A module; expressions are over the numbers of its symbols.
#[derive(Clone, Debug, Default)]
struct Module {
    symbols: Vec<Symbol>,
    assigns: Vec<Assign>,
    init: Vec<Expr>,
    trans: Vec<Expr>,
    invar: Vec<Expr>,
    specs: Vec<Spec>,
}

/// A model: `main`, and optionally another module with its instances.
#[derive(Clone, Debug)]
struct Smv {
    main: Module,
    cell: Option<Module>,
    /// Instances of the other module: the arguments, over the symbols of `main`.
    instances: Vec<Vec<Expr>>,
    /// Names of the values of the enumerations.
    enumerations: Vec<Vec<String>>,
}

/// The model of a seed.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    let smv = generate::generate(random);
    let claims = interpret::decide(&smv)?;
    let text = print::text(&smv, random);
    let claims = claims
        .into_iter()
        .enumerate()
        .map(|(i, e): (usize, Expected)| (format!("p{i}"), e))
        .collect();
    Some(Model { text, claims })
}
