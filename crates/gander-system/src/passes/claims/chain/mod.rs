//! Chains of goals, reduced to reachability of a node.
//!
//! For a claim *reachable G1 then ... then Gk* over a system with nodes N, the chain system has
//! nodes `(n, i)` for `n` in N and stages `0 <= i <= k`, named `n/i`: at stage `i` the first `i`
//! goals have been met. Starts enter stage 0. No transition leaves the last stage; below it,
//!
//! - every transition has a copy within each stage;
//! - for a state goal P = G(i+1) an internal step `(n, i) -> (n, i+1)` is possible where P holds;
//!   it keeps every variable, inputs too, so it takes no time in the old system;
//! - for a step goal, each of its transitions has a copy from stage `i` to stage `i+1` with the
//!   goal's formula as a further guard.
//!
//! The claim of the chain system is that some node of the last stage is reachable. A run to the
//! last stage without its internal steps is a run of the old system that meets the goals in order,
//! and vice versa. Every such run has exactly one internal step for each state goal, so shortest
//! runs correspond to shortest runs.

use std::fmt;

use gander_term::{Pool, TermId};

use crate::builder::BuildError;
use crate::claim::{ClaimId, ClaimKind, ClaimOrigin, Goal};
use crate::evidence::{Evidence, Leg, NodeFormulas, Run, State, Step};
use crate::origin::ElementId;
use crate::passes::Restore;
use crate::passes::copying::{Copying, ParamSymbols, Placement, rename};
use crate::passes::relocate::Relocation;
use crate::system::{NodeId, StartId, System, TransitionId};

/// Why there is no chain system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ChainError {
    /// The claim is not a reachability claim with at least one goal.
    NotAChain,
    /// Names clash.
    Build(BuildError),
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChainError::NotAChain => {
                write!(f, "only a claim about reachable goals has a chain system")
            }
            ChainError::Build(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for ChainError {}

impl From<BuildError> for ChainError {
    fn from(e: BuildError) -> ChainError {
        ChainError::Build(e)
    }
}

/// The chain system of a claim. Its only claim, with the old name, is that the last stage is
/// reachable.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The chain system.
    pub system: System,
    nodes: usize,
    /// By transition of the chain system: the old one, `None` for an internal step.
    transitions: Vec<Option<TransitionId>>,
    origins: Vec<Option<ElementId>>,
}

/// The chain system of the claim `of` of `system`. The same system and claim always give the same
/// chain system.
pub fn chain(system: &System, of: ClaimId) -> Result<Chain, ChainError> {
    let claim = system.claims.get(of.index()).ok_or(ChainError::NotAChain)?;
    let ClaimKind::Reachable(goals) = &claim.kind else { return Err(ChainError::NotAChain) };
    if goals.is_empty() {
        return Err(ChainError::NotAChain);
    }
    let count = system.nodes.len();
    let names: Vec<(String, _)> = (0..=goals.len())
        .flat_map(|i| system.nodes.iter().map(move |n| (format!("{}/{i}", n.name), n.span)))
        .collect();
    let nodes: Vec<(&str, _)> = names.iter().map(|(n, span)| (n.as_str(), *span)).collect();
    let mut copy = Copying::new(system, &nodes)?;
    copy.copy_vars(|_| true)?;
    let staged = copy.to.so_far().location;
    let stages = goals.len() + 1;
    let mut relocation = Relocation::new(system, move |pool: &mut Pool, n: NodeId| {
        in_any_stage(pool, staged, n, count, 0..stages)
    });

    copy.copy_assumptions(|pool, t| relocation.apply(pool, t))?;
    for n in system.node_ids() {
        for i in 0..stages {
            let new = at_stage(n, i, count);
            if system.node(n).is_final {
                copy.to.set_final(new);
            }
            copy.copy_hints(n, new, |pool, t| relocation.apply(pool, t))?;
        }
    }
    for (i, s) in system.starts.iter().enumerate() {
        copy.copy_start(StartId::from(i), at_stage(s.target, 0, count), |_, t| t)?;
    }
    let mut transitions = Vec::new();
    for (i, goal) in goals.iter().enumerate() {
        for t in system.transition_ids() {
            // The copies in stage 0 keep the symbols of parameters.
            let symbols = if i == 0 { ParamSymbols::Same } else { ParamSymbols::Fresh };
            let name = format!("{}/{i}", system.transition(t).name);
            copy_transition(&mut copy, t, &name, (i, i), symbols, None)?;
            transitions.push(Some(t));
        }
        match goal {
            Goal::State(p) => {
                for n in system.node_ids() {
                    let here = system.at_node(&mut copy.to.pool, *p, n);
                    advance(&mut copy, n, i, here)?;
                    transitions.push(None);
                }
            }
            Goal::Step { choices, .. } => {
                for (j, &(t, formula)) in choices.iter().enumerate() {
                    let name =
                        format!("{}/{i}>{} choice {}", system.transition(t).name, i + 1, j + 1);
                    copy_transition(
                        &mut copy,
                        t,
                        &name,
                        (i, i + 1),
                        ParamSymbols::Fresh,
                        Some(formula.term()),
                    )?;
                    transitions.push(Some(t));
                }
            }
        }
    }
    let met: Vec<TermId> = system
        .node_ids()
        .map(|n| in_any_stage(&mut copy.to.pool, staged, n, count, goals.len()..stages))
        .collect();
    let met = copy.to.pool.or(met);
    let goal = Goal::State(copy.to.state_formula(met, "the last stage")?);
    copy.to.claim(
        &claim.name,
        ClaimKind::Reachable(vec![goal]),
        ClaimOrigin::Written,
        &claim.text,
        claim.span,
    )?;
    Ok(Chain { nodes: count, transitions, origins: copy.origins, system: copy.to.finish() })
}

fn at_stage(n: NodeId, stage: usize, count: usize) -> NodeId {
    NodeId::from(stage * count + n.index())
}

fn in_any_stage(
    pool: &mut Pool,
    location: gander_term::SymbolId,
    n: NodeId,
    count: usize,
    stages: std::ops::Range<usize>,
) -> TermId {
    let gander_term::Sort::Enum(sort) = pool.symbol(location).sort else {
        unreachable!("a location is of an enum")
    };
    let place = pool.var(location);
    let parts: Vec<TermId> = stages
        .map(|i| {
            let here = pool.constant(gander_term::Value::Enum(sort, at_stage(n, i, count).0));
            pool.eq(place, here)
        })
        .collect();
    pool.or(parts)
}

fn copy_transition(
    copy: &mut Copying<'_>,
    t: TransitionId,
    name: &str,
    (from, to): (usize, usize),
    symbols: ParamSymbols,
    also: Option<TermId>,
) -> Result<(), BuildError> {
    let count = copy.from.nodes.len();
    let old = copy.from.transition(t);
    let (source, target) = (at_stage(old.source, from, count), at_stage(old.target, to, count));
    let at = Placement { name, source, target, symbols };
    let (mut draft, mut renaming) = copy.begin(t, &at, |_, t| t)?;
    if let Some(formula) = also {
        let formula = rename(&mut renaming, &mut copy.to.pool, formula);
        copy.to.guard(&mut draft, formula, None)?;
        copy.came_from(None);
    }
    copy.copy_effect(t, &mut draft, &mut renaming, |_, t| t)?;
    copy.end(draft)?;
    Ok(())
}

/// The internal step from stage `i` to the next at node `n`, where `goal` holds.
fn advance(copy: &mut Copying<'_>, n: NodeId, i: usize, goal: TermId) -> Result<(), BuildError> {
    let count = copy.from.nodes.len();
    let name = format!("@advance {}/{i}", copy.from.node(n).name);
    let (source, target) = (at_stage(n, i, count), at_stage(n, i + 1, count));
    let mut draft = copy.to.transition(&name, None, source, target, None)?;
    copy.to.guard(&mut draft, goal, None)?;
    for v in copy.vars.clone().into_iter().flatten() {
        copy.to.keep(&mut draft, v);
    }
    copy.end(draft)?;
    Ok(())
}

impl Restore for Chain {
    fn run(&self, run: &Run) -> Option<Run> {
        let first = State { node: self.old_node(run.first.node), values: run.first.values.clone() };
        Some(Run { start: run.start, first, legs: self.legs(&run.legs)?.into() })
    }

    /// `None`: formulas of stages are no formulas of old nodes.
    fn invariant(&self, _: &NodeFormulas) -> Option<NodeFormulas> {
        None
    }

    fn is_exact(&self) -> bool {
        false
    }

    fn element(&self, element: ElementId) -> Option<ElementId> {
        self.origins.get(element.index()).copied().flatten()
    }

    /// A run becomes a run, other evidence becomes [`Evidence::OfChain`].
    fn evidence(&self, evidence: &Evidence) -> Option<Evidence> {
        match evidence {
            Evidence::Run(run) => self.run(run).map(Evidence::Run),
            Evidence::OfChain(_) => None,
            other => Some(Evidence::OfChain(Box::new(other.clone()))),
        }
    }
}

impl Chain {
    /// The old node that a node of the chain system is a copy of.
    pub fn old_node(&self, n: NodeId) -> NodeId {
        NodeId::from(n.index() % self.nodes)
    }

    /// The stage of a node of the chain system: the number of goals met.
    pub fn stage(&self, n: NodeId) -> usize {
        n.index() / self.nodes
    }

    /// The old transition that a transition of the chain system is a copy of; `None` for an
    /// internal step.
    pub fn old_transition(&self, t: TransitionId) -> Option<TransitionId> {
        self.transitions.get(t.index()).copied().flatten()
    }

    /// The legs without internal steps. A body with an internal step can be repeated only once, as
    /// stages only grow.
    fn legs(&self, legs: &[Leg]) -> Option<Vec<Leg>> {
        // One open list for every enclosing repetition.
        let mut open: Vec<(u64, std::slice::Iter<'_, Leg>, Vec<Leg>)> =
            vec![(1, legs.iter(), Vec::new())];
        loop {
            let (_, rest, done) = open.last_mut()?;
            match rest.next() {
                Some(Leg::Step(step)) => {
                    let old = *self.transitions.get(step.transition.index())?;
                    if let Some(transition) = old {
                        done.push(Leg::Step(Step { transition, ..step.clone() }));
                    }
                }
                Some(Leg::Repeat { times, body }) => open.push((*times, body.iter(), Vec::new())),
                None => {
                    let (times, _, done) = open.pop()?;
                    let Some((_, _, outer)) = open.last_mut() else { return Some(done) };
                    if !done.is_empty() {
                        outer.push(Leg::Repeat { times, body: done });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
