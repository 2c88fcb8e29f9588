//! Evidence renamed by automorphisms.
//!
//! If `g` maps the claim `A` to the claim `B`, evidence for `A` renamed by `g` is evidence for `B`.
//!
//! A nearly symmetric invariant, such as the conjunction of one formula for each instance, has
//! renamed forms that differ little. Then all claims get their conjunction, which is inductive if
//! each of them is, so that the checker shows induction once. An invariant about few instances
//! stays separate for each claim: the checker needs fewer and smaller formulas for it than for the
//! conjunction.
//!
//! Evidence about a system derived from the claim (a chain of goals, a ranking, the runs outside of
//! a trap) is not renamed.

use std::sync::Arc;

use gander_term::{Importer, Op, Pool, Substitution, TermId, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Automorphism;
use super::normal::Normal;
use crate::claim::ClaimId;
use crate::evidence::{
    Choice, Choices, Evidence, Leg, Legs, NodeFormulas, Run, State, Step, Verdict,
};
use crate::system::System;

/// The largest number of steps of all renamed forms of a run, and of conjuncts of a joint
/// invariant.
const MAX_SIZE: usize = 200_000;

impl Automorphism {
    fn values(&self, values: &[Value]) -> Vec<Value> {
        let mut renamed = values.to_vec();
        for (value, to) in values.iter().zip(&self.vars) {
            if let Some(there) = renamed.get_mut(to.index()) {
                there.clone_from(value);
            }
        }
        renamed
    }

    /// The renamed state.
    pub fn state(&self, state: &State) -> State {
        State { node: state.node, values: self.values(&state.values) }
    }

    fn step(&self, step: &Step) -> Step {
        let mut params = step.params.clone();
        if let Some(positions) = self.params.get(&step.transition) {
            for (value, &to) in step.params.iter().zip(positions) {
                if let Some(there) = params.get_mut(to) {
                    there.clone_from(value);
                }
            }
        }
        Step {
            transition: self.transition(step.transition),
            params,
            next: step.next.as_ref().map(|values| self.values(values)),
        }
    }

    /// The renamed run.
    pub fn run(&self, run: &Run) -> Run {
        Run {
            start: self.starts[run.start.index()],
            first: self.state(&run.first),
            legs: self.legs(&run.legs),
        }
    }

    /// Recurses over nested repetitions only, whose depth is limited.
    fn legs(&self, legs: &[Leg]) -> Legs {
        legs.iter()
            .map(|leg| match leg {
                Leg::Step(step) => Leg::Step(self.step(step)),
                Leg::Repeat { times, body } => {
                    Leg::Repeat { times: *times, body: self.legs(body).to_vec() }
                }
            })
            .collect()
    }

    /// Renames the state variables in terms of a pool.
    fn renaming(&self, system: &System, pool: &mut Pool) -> Substitution {
        let mut map = FxHashMap::default();
        for (v, to) in system.var_ids().zip(&self.vars).filter(|(v, to)| v != *to) {
            map.insert(system.var(v).current, pool.var(system.var(*to).current));
        }
        Substitution::new(pool, &map)
    }

    fn formulas(&self, system: &System, formulas: &NodeFormulas) -> NodeFormulas {
        let mut pool = Pool::fork(&formulas.pool);
        let mut renaming = self.renaming(system, &mut pool);
        let by_node = formulas.by_node.iter().map(|&t| renaming.apply(&mut pool, t)).collect();
        NodeFormulas { pool: pool.freeze(), by_node }
    }

    fn choices(&self, system: &System, choices: &Choices) -> Choices {
        let mut pool = Pool::fork(&choices.pool);
        let mut renaming = self.renaming(system, &mut pool);
        let mut renamed = |t: &Option<TermId>| t.map(|t| renaming.apply(&mut pool, t));
        let mut list = Vec::with_capacity(choices.list.len());
        for choice in &choices.list {
            let mut params = choice.params.clone();
            let positions = self.params.get(&choice.transition);
            for (i, param) in choice.params.iter().enumerate() {
                let to = positions.map_or(i, |p| p[i]);
                if let Some(there) = params.get_mut(to) {
                    *there = renamed(param);
                }
            }
            let mut next = choice.next.clone();
            for (value, to) in choice.next.iter().zip(&self.vars) {
                if let Some(there) = next.get_mut(to.index()) {
                    *there = renamed(value);
                }
            }
            let when = renamed(&Some(choice.when)).unwrap_or(choice.when);
            let transition = self.transition(choice.transition);
            list.push(Choice { transition, when, params, next });
        }
        Choices { pool: pool.freeze(), list }
    }
}

/// The verdict about each of the claims that automorphisms map the claim of a verdict to. Empty if
/// its evidence is of a kind that is not renamed, or too large.
pub(super) fn transfer(
    system: &System,
    verdict: &Verdict,
    images: &[(ClaimId, Automorphism)],
) -> Vec<(ClaimId, Verdict)> {
    let (evidence, holds) = match verdict {
        Verdict::Holds(evidence) => (evidence, true),
        Verdict::Fails(evidence) => (evidence, false),
        Verdict::Unknown { .. } => return Vec::new(),
    };
    let evidence: Vec<Evidence> = match evidence {
        Evidence::Run(run) if fits(run, images.len()) => {
            images.iter().map(|(_, g)| Evidence::Run(g.run(run))).collect()
        }
        Evidence::Lasso { run, back_to } if fits(run, images.len()) => images
            .iter()
            .map(|(_, g)| Evidence::Lasso { run: g.run(run), back_to: *back_to })
            .collect(),
        Evidence::Recurrent { run, set, choices } if fits(run, images.len()) => images
            .iter()
            .map(|(_, g)| Evidence::Recurrent {
                run: g.run(run),
                set: g.formulas(system, set),
                choices: g.choices(system, choices),
            })
            .collect(),
        Evidence::Invariant(formulas) => {
            invariants(system, formulas, images).into_iter().map(Evidence::Invariant).collect()
        }
        Evidence::KInductive { k, invariant, loop_free, no_restart } => {
            let (k, loop_free, no_restart) = (*k, *loop_free, *no_restart);
            let renamed = invariants(system, invariant, images).into_iter();
            renamed
                .map(|invariant| Evidence::KInductive { k, invariant, loop_free, no_restart })
                .collect()
        }
        Evidence::Diameter { .. } | Evidence::ClosedSet { .. } | Evidence::Refutation => {
            vec![evidence.clone(); images.len()]
        }
        _ => return Vec::new(),
    };
    let verdict = |e| if holds { Verdict::Holds(e) } else { Verdict::Fails(e) };
    images.iter().zip(evidence).map(|((claim, _), e)| (*claim, verdict(e))).collect()
}

fn fits(run: &Run, images: usize) -> bool {
    run.legs.len().saturating_mul(images) <= MAX_SIZE
}

/// For each image, an invariant that includes the renamed formulas; empty if they are too large.
fn invariants(
    system: &System,
    formulas: &NodeFormulas,
    images: &[(ClaimId, Automorphism)],
) -> Vec<NodeFormulas> {
    let mut pool = Pool::fork(&system.pool);
    let mut importer = Importer::new();
    let mut given: Vec<Vec<TermId>> = Vec::new();
    for &t in formulas.by_node.iter() {
        let Ok(t) = importer.import(&mut pool, &formulas.pool, t) else { return Vec::new() };
        given.push(match pool.op(t) {
            Op::And => pool.args(t).to_vec(),
            _ => vec![t],
        });
    }
    let count: usize = given.iter().map(Vec::len).sum();
    if count.saturating_mul(images.len()) > MAX_SIZE {
        return Vec::new();
    }
    let mut normal = Normal::default();
    let mut joint = given.clone();
    let mut seen: Vec<FxHashSet<TermId>> = Vec::new();
    for list in &given {
        seen.push(list.iter().map(|&t| normal.of(&mut pool, t)).collect());
    }
    let mut separate: Vec<Arc<[TermId]>> = Vec::with_capacity(images.len());
    for (_, g) in images {
        let mut renaming = g.renaming(system, &mut pool);
        let mut by_node = Vec::with_capacity(given.len());
        for ((list, joint), seen) in given.iter().zip(&mut joint).zip(&mut seen) {
            let renamed: Vec<TermId> = list.iter().map(|&t| renaming.apply(&mut pool, t)).collect();
            for &t in &renamed {
                if seen.insert(normal.of(&mut pool, t)) {
                    joint.push(t);
                }
            }
            by_node.push(pool.and(renamed));
        }
        separate.push(by_node.into());
    }
    // Only then are formulas with one normal form equivalent.
    if joint.iter().map(Vec::len).sum::<usize>() <= 2 * count && normal.is_reliable() {
        let by_node: Arc<[TermId]> = joint.into_iter().map(|list| pool.and(list)).collect();
        return vec![NodeFormulas { pool: pool.freeze(), by_node }; images.len()];
    }
    let pool = pool.freeze();
    let formulas = |by_node| NodeFormulas { pool: Arc::clone(&pool), by_node };
    separate.into_iter().map(formulas).collect()
}
