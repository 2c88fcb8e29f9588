//! From what a tool printed to evidence that `gander-certify` checks.

use std::collections::HashMap;

use gander_export::{NameMap, Place};
use gander_smt::read_formula;
use gander_system::{ClaimKind, Evidence, Goal, NodeFormulas, NodeId, System, Verdict};
use gander_term::smtlib::Sexpr;
use gander_term::{Pool, Sort, TermId, Value};

use crate::rebuild::Rebuilder;
use crate::tool::Says;
use crate::trace::Trace;

/// What may become evidence for an answer.
#[derive(Clone, Debug)]
pub enum Candidate {
    /// A trace, finite or infinite.
    Trace(Trace),
    /// Formulas of nodes that may be an inductive invariant.
    Invariant(NodeFormulas),
    /// The claim may be k-inductive.
    Inductive {
        /// The number of steps.
        k: u32,
    },
    /// The number of reachable states.
    States(u64),
}

/// States that are enumerated at most to check an answer.
const MAX_STATES: u64 = 500_000;

/// The verdict with the candidate as its evidence.
pub(crate) fn verdict(
    system: &System,
    kind: &ClaimKind,
    says: Says,
    candidate: &Candidate,
    rebuilder: &mut Rebuilder<'_>,
) -> Result<Verdict, String> {
    let evidence = match candidate {
        Candidate::Trace(trace) => {
            let rebuilt = rebuilder.run(trace)?;
            match trace.back_to {
                Some(back) if !rebuilt.stays => {
                    Evidence::Lasso { run: rebuilt.run, back_to: back as u64 }
                }
                _ => Evidence::Run(rebuilt.run),
            }
        }
        Candidate::Invariant(formulas) => Evidence::Invariant(formulas.clone()),
        Candidate::Inductive { k } => {
            let invariant = claim_invariant(system, kind).ok_or("it gives no evidence")?;
            Evidence::KInductive { k: (*k).max(1), invariant, loop_free: false, no_restart: false }
        }
        Candidate::States(states) if *states > MAX_STATES => {
            return Err(format!(
                "it gives no evidence, and {states} states are too many to look at"
            ));
        }
        Candidate::States(states) => Evidence::ClosedSet { states: *states },
    };
    Ok(match says {
        Says::Holds => Verdict::Holds(evidence),
        Says::Fails => Verdict::Fails(evidence),
    })
}

/// The claim itself as an invariant, as formulas of nodes: for a reachability claim its negation.
fn claim_invariant(system: &System, kind: &ClaimKind) -> Option<NodeFormulas> {
    let mut pool = Pool::fork(system.pool());
    let by_node: Vec<TermId> = match kind {
        ClaimKind::Always(p) => {
            system.node_ids().map(|n| system.at_node(&mut pool, *p, n)).collect()
        }
        ClaimKind::Reachable(goals) => match &goals[..] {
            [Goal::State(p)] => system
                .node_ids()
                .map(|n| {
                    let here = system.at_node(&mut pool, *p, n);
                    pool.not(here)
                })
                .collect(),
            _ => return None,
        },
        _ => return None,
    };
    Some(NodeFormulas { pool: pool.freeze(), by_node: by_node.into() })
}

/// The definition of the predicate over all variables (`(define-fun state ((a Int) …) Bool
/// formula)`) as formulas of nodes. In the exported text a value of an enumeration is its position.
pub(crate) fn invariant_of(
    system: &System,
    names: &NameMap,
    definition: Sexpr<'_>,
) -> Option<NodeFormulas> {
    let [define, _, parameters, sort, body] = definition.elements()?;
    if define.atom() != Some("define-fun") || sort.atom() != Some("Bool") {
        return None;
    }
    let parameters = parameters.list()?;
    let variables: Vec<Place> = names
        .places()
        .iter()
        .map(|(_, p)| *p)
        .filter(|p| !matches!(p, Place::Param { .. }))
        .collect();
    if parameters.len() != variables.len() {
        return None;
    }
    let mut pool = Pool::fork(system.pool());
    let mut by_node = Vec::new();
    for n in system.node_ids() {
        let mut scope = HashMap::new();
        for (parameter, place) in parameters.iter().zip(&variables) {
            let name = parameter.list()?.first()?.atom()?.to_string();
            scope.insert(name, number_of(system, &mut pool, *place, n)?);
        }
        by_node.push(read_formula(&mut pool, &scope, body)?);
    }
    Some(NodeFormulas { pool: pool.freeze(), by_node: by_node.into() })
}

/// The term for a variable of the exported text, at a node: enumerations become numbers.
fn number_of(system: &System, pool: &mut Pool, place: Place, node: NodeId) -> Option<TermId> {
    match place {
        Place::Node => Some(pool.int(node.index() as i64)),
        Place::Var(v) => {
            let var = system.var(v);
            let term = pool.var(var.current);
            let Sort::Enum(id) = var.sort else { return Some(term) };
            let count = pool.enumeration(id).variants.len() as u32;
            let mut number = pool.int(i64::from(count) - 1);
            for k in (0..count.saturating_sub(1)).rev() {
                let variant = pool.constant(Value::Enum(id, k));
                let (is, position) = (pool.eq(term, variant), pool.int(i64::from(k)));
                number = pool.ite(is, position, number);
            }
            Some(number)
        }
        Place::Param { .. } => None,
    }
}
