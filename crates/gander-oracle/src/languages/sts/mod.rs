//! The language `.sts`: random models, their text by docs/language.md, and their meaning by
//! docs/semantics.md.

mod data;
mod generate;
mod interpret;
mod print;

use super::Model;
use super::expression::{Expr, Sort};
use crate::random::Random;

/// The enumeration number of nodes, for formulas about the node.
const NODE: usize = 99;

/// A state variable, input or parameter, with the values that it can have in runs.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    sort: Sort,
    domain: Vec<i64>,
    is_input: bool,
    /// The declared range; for a state variable it is a claim.
    range: Option<(i64, i64)>,
}

#[derive(Clone, Debug)]
enum Part {
    Assign(usize, Expr),
    /// Over both states.
    Constraint(Expr),
    Any(usize),
}

/// A transition. Its formulas are over the variables, then the node, then its parameters.
#[derive(Clone, Debug)]
struct Transition {
    gate: usize,
    source: usize,
    target: usize,
    parameters: Vec<Variable>,
    guard: Option<Expr>,
    effect: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Start {
    target: usize,
    constraints: Vec<Expr>,
}

#[derive(Clone, Debug)]
enum Fairness {
    Justice(Expr),
    Weak(usize),
    Strong(usize),
}

#[derive(Clone, Debug)]
enum Goal {
    State(Expr),
    /// A step with this gate from a state that satisfies the formula.
    Step(usize, Option<Expr>),
}

#[derive(Clone, Debug)]
enum Claim {
    Always(Expr),
    Reachable(Vec<Goal>),
    Eventually(Expr),
    Recurs(Expr),
    LeadsTo(Expr, Expr),
    Possible(Expr),
    ExistsAlways(Expr),
    NoDeadlock,
    InfiniteRun,
    CanEnable(usize),
    Completable(usize),
}

#[derive(Clone, Debug)]
struct Sts {
    variables: Vec<Variable>,
    enumerations: Vec<Vec<String>>,
    /// By node: whether it is final.
    nodes: Vec<bool>,
    /// False if there is a single node that the text does not mention: transitions are then written
    /// with `step`.
    with_nodes: bool,
    starts: Vec<Start>,
    assumptions: Vec<Expr>,
    transitions: Vec<Transition>,
    fairness: Vec<Fairness>,
    /// The claims, each with its fairness constraints.
    claims: Vec<(Claim, Vec<usize>)>,
}

impl Sts {
    /// The position of the node among the values that formulas mention.
    fn node(&self) -> usize {
        self.variables.len()
    }

    fn node_sort(&self) -> Sort {
        Sort::Symbol { number: NODE, count: self.nodes.len() as i64 }
    }

    fn claim_name(&self, i: usize) -> String {
        match &self.claims[i].0 {
            Claim::NoDeadlock => "no deadlock".to_string(),
            Claim::InfiniteRun => "infinite run".to_string(),
            Claim::CanEnable(t) => format!("can enable t{t}"),
            Claim::Completable(t) => format!("completable t{t}"),
            _ => format!("p{i}"),
        }
    }
}

/// The model of a seed.
pub(super) fn model(random: &mut Random) -> Option<Model> {
    if random.chance(35) {
        return data::model(random);
    }
    let sts = generate::generate(random);
    let claims = interpret::decide(&sts)?;
    Some(Model { text: print::text(&sts, random), claims })
}
