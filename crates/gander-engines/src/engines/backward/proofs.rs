//! Proofs of the backward search.
//!
//! If the sets of a question are complete and contain no start state, their complement is an
//! inductive invariant.
//!
//! Before the search, formulas of the targets are tried as lemmas of the whole system: a conjunct
//! of a target that no visited state satisfies is closed under the pre-images of all transitions,
//! at any node. If the closure is small and contains no start state, its complement is an invariant
//! at every node, and cubes within the closure are dropped. For example, `items > 20` is shown to
//! be unreachable once, instead of once per node and path.

use std::sync::Arc;

use gander_system::{Evidence, NodeFormulas, NodeId, StartId};
use gander_term::{Op, TermId};
use rustc_hash::FxHashMap;

use super::cube::CubeId;
use super::limits::LIMITS;
use super::search::BackwardSearch;
use crate::core::{EngineContext, Fact, portable};
use crate::encode::projection::conjuncts;
use crate::encode::query::Solved;

impl BackwardSearch {
    /// Proposes invariants for questions whose sets are complete and contain no start state.
    pub(super) fn never_met(&mut self, context: &EngineContext, labels: &[usize]) {
        let system = Arc::clone(&self.view.encoding.system);
        let mut of: FxHashMap<usize, Vec<usize>> =
            labels.iter().map(|&l| (l, Vec::new())).collect();
        if labels.is_empty() {
            return;
        }
        for (at, entry) in self.entries.iter().enumerate() {
            for label in entry.labels.iter() {
                if let Some(entries) = of.get_mut(&(label as usize)) {
                    entries.push(at);
                }
            }
        }
        // Questions without any set share their evidence, so that it is checked once.
        let mut shared: Option<NodeFormulas> = None;
        for &label in labels {
            self.open[label] = false;
            let mut by_node: Vec<Vec<TermId>> = vec![Vec::new(); system.nodes().len()];
            for &at in &of[&label] {
                let entry = &self.entries[at];
                // Skip entries that another one contains; of equal ones keep one.
                let covered = entry.above.iter().any(|&o| {
                    let other = &self.entries[o];
                    other.labels.contains(label as u32) && (o < at || !other.above.contains(&at))
                });
                if !covered {
                    let set = self.cubes.closed(&mut self.view.encoding.pool, entry.cube);
                    by_node[entry.node.index()].push(set);
                }
            }
            let empty = by_node.iter().all(Vec::is_empty);
            let common = shared.clone().filter(|_| empty);
            let formulas = match common {
                Some(formulas) => Ok(formulas),
                None => {
                    let pool = &mut self.view.encoding.pool;
                    let mut formulas = Vec::with_capacity(by_node.len());
                    for (n, sets) in by_node.into_iter().enumerate() {
                        if !self.bidirectional.is_within_reach(NodeId::from(n)) {
                            formulas.push(pool.ff());
                            continue;
                        }
                        let some = pool.or(sets);
                        let mut parts = vec![pool.not(some)];
                        if self.lemmas_used {
                            parts.extend_from_slice(&self.lemmas[n]);
                        }
                        formulas.push(pool.and(parts));
                    }
                    portable(&system, pool, &formulas)
                }
            };
            let question = &self.questions[label];
            match formulas {
                Ok(formulas) => {
                    if empty {
                        shared = Some(formulas.clone());
                    }
                    let proof = self.view.proof(Evidence::Invariant(formulas));
                    context.propose(question.claim, question.never_met(proof));
                }
                Err(clash) => self.obstacles.push((question.claim, clash.to_string())),
            }
        }
    }

    /// Adds inductive invariants of other engines.
    pub(super) fn read_facts(&mut self, context: &EngineContext) {
        for fact in context.blackboard().facts_since(&mut self.cursor) {
            let Fact::Invariant(found) = &*fact else { continue };
            if found.k != 1 || found.loop_free || found.no_restart {
                continue;
            }
            let Some(lemma) = self.view.lemma(found) else { continue };
            for (n, term) in lemma {
                let trivial = self.view.encoding.pool.as_bool(term) == Some(true);
                if !trivial && !self.lemmas[n.index()].contains(&term) {
                    self.lemmas[n.index()].push(term);
                }
            }
        }
    }

    /// Tries the formulas of a root as lemmas.
    pub(super) fn try_lemmas(&mut self, context: &EngineContext, level: usize, i: usize) {
        let label = self.roots[level][i].label as usize;
        if !self.open[label] || self.tried.len() > LIMITS.lemma_trials {
            return;
        }
        for &part in self.root_parts(level, i).iter() {
            let pool = &mut self.view.encoding.pool;
            let mut trials = conjuncts(pool, part);
            // A term that never equals a number often stays on one side of it.
            for literal in trials.clone() {
                if pool.op(literal) == Op::Eq && pool.sort(pool.args(literal)[0]).is_numeric() {
                    let (a, b) = (pool.args(literal)[0], pool.args(literal)[1]);
                    for half in [pool.le(a, b), pool.le(b, a)] {
                        trials.push(pool.simplify(half));
                    }
                }
            }
            if trials.len() > 1 {
                trials.push(part);
            }
            for trial in trials {
                if self.tried.insert(trial) && !context.is_cancelled() {
                    self.try_lemma(context, trial);
                }
            }
        }
    }

    fn try_lemma(&mut self, context: &EngineContext, trial: TermId) {
        let Some(cubes) = self.closure(context, trial) else { return };
        let pool = &mut self.view.encoding.pool;
        let nots: Vec<TermId> = cubes.iter().map(|&c| pool.not(self.cubes.get(c).term)).collect();
        let lemma = pool.and(nots);
        if pool.as_bool(lemma) != Some(true) {
            self.lemmas.iter_mut().for_each(|lemmas| lemmas.push(lemma));
        }
    }

    /// The closure of a formula under pre-images; `None` if it becomes large or contains a start
    /// state or a visited state.
    fn closure(&mut self, context: &EngineContext, trial: TermId) -> Option<Vec<CubeId>> {
        let system = Arc::clone(&self.view.encoding.system);
        let mut closure: Vec<CubeId> = Vec::new();
        self.enclose(context, &mut closure, trial)?;
        let mut done = 0;
        while let Some(&cube) = closure.get(done) {
            done += 1;
            let term = self.cubes.get(cube).term;
            for t in system.transition_ids() {
                if context.is_cancelled() {
                    return None;
                }
                for &part in self.pre.pre(&mut self.view.encoding, t, term).iter() {
                    self.enclose(context, &mut closure, part)?;
                }
            }
        }
        Some(closure)
    }

    /// Adds a formula to a closure unless it is included; `None` if the closure is not a lemma.
    fn enclose(
        &mut self,
        context: &EngineContext,
        closure: &mut Vec<CubeId>,
        term: TermId,
    ) -> Option<()> {
        let pool = &mut self.view.encoding.pool;
        let Some(cube) = self.cubes.cube(context, pool, &mut self.query, term) else {
            return Some(());
        };
        for &c in closure.iter() {
            if self.cubes.is_within(context, pool, &mut self.query, cube, c) {
                return Some(());
            }
        }
        let known =
            |at: usize| self.cubes.holds(pool, cube, &self.forward.state(at).values) != Some(false);
        let too_large =
            closure.len() >= LIMITS.closure_cubes || !self.cubes.get(cube).leftover.is_empty();
        if too_large || (0..self.forward.len()).any(known) || self.has_start(context, cube) {
            return None;
        }
        closure.push(cube);
        Some(())
    }

    /// True unless the solver shows that no start state is in the cube.
    fn has_start(&mut self, context: &EngineContext, cube: CubeId) -> bool {
        let starts = self.view.encoding.system.starts().len();
        (0..starts).map(StartId::from).any(|s| {
            let formulas = [self.start_formula(s), self.cubes.get(cube).term];
            self.query.solve(
                context,
                &self.view.encoding.pool,
                &formulas,
                &[],
                LIMITS.closure_query,
            ) != Solved::Nothing
        })
    }
}
