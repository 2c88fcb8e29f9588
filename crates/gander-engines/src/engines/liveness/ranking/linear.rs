//! Linear ranks with coefficients that a solver finds, from examples of steps.
//!
//! A rank is a sum of features (numeric variables, and truth values as 0 or 1) with a coefficient
//! each, per node. Coefficients are looked for that are right for the steps seen so far; a step for
//! which they are wrong is the next example. What Podelski and Rybalchenko (*A complete method for
//! the synthesis of linear ranking functions*, 2004) get from Farkas' lemma in one query takes a
//! few here, but steps may be any formulas. Coefficients are bounded, so the search ends.

use gander_system::System;
use gander_term::{Pool, RBig, Sort, SymbolId, TermId, Value, evaluate};

use super::super::limits::LIMITS;
use super::super::prover::{Model, Prover};
use super::Edge;
use crate::arith::number::constant;
use crate::core::EngineContext;

/// The features of a system.
pub(super) fn features(system: &System, pool: &mut Pool) -> Vec<TermId> {
    let has_real = system.vars().iter().any(|v| v.sort == Sort::Real);
    let mut found = Vec::new();
    for v in system.vars() {
        let x = pool.var(v.current);
        let feature = match v.sort {
            Sort::Int | Sort::Real => x,
            Sort::Bool => {
                let (one, zero) = (pool.int(1), pool.int(0));
                pool.ite(x, one, zero)
            }
            Sort::Enum(_) | Sort::String | Sort::BitVec(_) | Sort::Array(_) => continue,
        };
        let whole = has_real && pool.sort(feature) == Sort::Int;
        found.push(if whole {
            pool.mk(gander_term::Op::ToReal, &[feature]).unwrap_or(feature)
        } else {
            feature
        });
    }
    found
}

/// What is asked of ranks.
pub(super) struct Wanted<'a> {
    pub edges: &'a [Edge],
    /// The edges to look at, and whether each has to decrease.
    pub inside: &'a [(usize, bool)],
    pub features: &'a [TermId],
}

/// The unknowns of a node.
struct Unknowns {
    node: usize,
    coefficients: Vec<SymbolId>,
    constant: SymbolId,
}

/// By node: a linear term that no edge inside increases and those that have to decrease; zero at
/// other nodes.
pub(super) fn ranks(
    context: &EngineContext,
    prover: &mut Prover,
    pool: &mut Pool,
    nodes: usize,
    wanted: &Wanted<'_>,
) -> Option<Vec<TermId>> {
    let sort = pool.sort(*wanted.features.first()?);
    let mut here: Vec<usize> = wanted
        .inside
        .iter()
        .flat_map(|(i, _)| [wanted.edges[*i].from, wanted.edges[*i].to])
        .collect();
    here.sort_unstable();
    here.dedup();
    if here.len() * (wanted.features.len() + 1) > LIMITS.rank_unknowns {
        return None;
    }
    let mut constraints = Vec::new();
    let mut unknowns = Vec::new();
    for node in here {
        let mut make = |most: i64, constraints: &mut Vec<TermId>| {
            let symbol = pool.declare_fresh("@c", sort);
            let (x, low, high) =
                (pool.var(symbol), number(pool, sort, -most), number(pool, sort, most));
            constraints.extend([pool.le(low, x), pool.le(x, high)]);
            symbol
        };
        let coefficients = wanted
            .features
            .iter()
            .map(|_| make(LIMITS.rank_coefficient, &mut constraints))
            .collect();
        let constant = make(LIMITS.rank_constant, &mut constraints);
        unknowns.push(Unknowns { node, coefficients, constant });
    }
    for _ in 0..LIMITS.rank_examples {
        if context.is_cancelled() {
            return None;
        }
        let all = pool.and(constraints.iter().copied());
        let solution = prover.solve(context, pool, all)??;
        let zero = number(pool, sort, 0);
        let mut by_node = vec![zero; nodes];
        for of in &unknowns {
            by_node[of.node] = term(pool, of, wanted.features, &solution)?;
        }
        match refutation(context, prover, pool, wanted, &by_node)? {
            None => return Some(by_node),
            Some((at, model)) => {
                let (edge, decreases) = (&wanted.edges[wanted.inside[at].0], wanted.inside[at].1);
                let (mut now, mut next) = (Vec::new(), Vec::new());
                for &f in wanted.features {
                    let behind = edge.steps.behind(pool, f);
                    now.push(value(pool, f, &model)?);
                    next.push(value(pool, behind, &model)?);
                }
                let before = at_values(pool, unknowns.iter().find(|u| u.node == edge.from)?, &now);
                let after = at_values(pool, unknowns.iter().find(|u| u.node == edge.to)?, &next);
                constraints.push(condition(pool, before, after, decreases));
            }
        }
    }
    None
}

fn number(pool: &mut Pool, sort: Sort, i: i64) -> TermId {
    constant(pool, sort, RBig::from(i))
}

/// `after <= before`, or `0 <= before and after <= before - 1`.
fn condition(pool: &mut Pool, before: TermId, after: TermId, decreases: bool) -> TermId {
    if !decreases {
        return pool.le(after, before);
    }
    let sort = pool.sort(before);
    let (zero, one) = (number(pool, sort, 0), number(pool, sort, 1));
    let less = pool.sub(before, one);
    let (bounded, smaller) = (pool.le(zero, before), pool.le(after, less));
    pool.and([bounded, smaller])
}

/// The rank that a solution gives a node.
fn term(pool: &mut Pool, of: &Unknowns, features: &[TermId], solution: &Model) -> Option<TermId> {
    let known = |s: SymbolId| solution.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
    let mut sum = pool.constant(known(of.constant)?);
    for (&c, &f) in of.coefficients.iter().zip(features) {
        let c = pool.constant(known(c)?);
        let product = pool.mul(c, f);
        sum = pool.add(sum, product);
    }
    Some(gander_term::Simplifier::default().simplify(pool, sum))
}

/// The unknown rank of a node for given values of the features.
fn at_values(pool: &mut Pool, of: &Unknowns, values: &[Value]) -> TermId {
    let mut sum = pool.var(of.constant);
    for (&c, v) in of.coefficients.iter().zip(values) {
        let (c, v) = (pool.var(c), pool.constant(v.clone()));
        let product = pool.mul(v, c);
        sum = pool.add(sum, product);
    }
    sum
}

/// A step for which the ranks are wrong: its place in `inside`, and values. The outer nothing: a
/// solver did not know.
fn refutation(
    context: &EngineContext,
    prover: &mut Prover,
    pool: &mut Pool,
    wanted: &Wanted<'_>,
    by_node: &[TermId],
) -> Option<Option<(usize, Model)>> {
    for (at, &(i, decreases)) in wanted.inside.iter().enumerate() {
        let edge = &wanted.edges[i];
        let after = edge.steps.behind(pool, by_node[edge.to]);
        let right = condition(pool, by_node[edge.from], after, decreases);
        let wrong = pool.not(right);
        let question = pool.and([edge.formula, wrong]);
        if let Some(model) = prover.solve(context, pool, question)? {
            return Some(Some((at, model)));
        }
    }
    Some(None)
}

/// The value of a term in a model; what the model leaves open can be anything.
fn value(pool: &Pool, t: TermId, model: &Model) -> Option<Value> {
    let known = |s: SymbolId| {
        let found = model.iter().find(|(m, _)| *m == s).map(|(_, v)| v.clone());
        found.or_else(|| Some(pool.symbol(s).sort.first_value()))
    };
    evaluate(pool, t, &known).ok()
}
