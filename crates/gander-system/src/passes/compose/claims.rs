//! The claims of the instances, restated for the composition.
//!
//! | claim of instance `a` | in the composition |
//! |---|---|
//! | always, always possible, eventually, leads to, ... | the same about `a`'s variables and nodes, for runs of the composition |
//! | reachable | step goals are met by every step in which `a` takes one of the transitions |
//! | can enable t | some state enables a step in which `a` takes t |
//! | no sinkhole n | always, when `a` is at n, some step of `a` is enabled |
//! | completable t, satisfiable start s | one claim for each transition or start of the composition that contains it |
//! | no deadlock, infinite run | left out: they are about a whole system |
//!
//! Structural claims are dropped, as the composition gets its own.

use gander_term::TermId;
use rustc_hash::FxHashMap;

use super::{ComposeError, Composed, LeftOut};
use crate::claim::{Claim, ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal};
use crate::formula::StateTerm;
use crate::passes::enabled::enabled;
use crate::system::{NodeId, StartId, TransitionId};

impl Composed<'_> {
    pub(super) fn add_claims(&mut self) -> Result<(), ComposeError> {
        for i in 0..self.instances.len() {
            let system = self.instances[i].system;
            let mut fairness = Vec::new();
            for f in &system.fairness {
                let kind = match &f.kind {
                    FairnessKind::Justice(p) => FairnessKind::Justice(self.state_term(i, *p)?),
                    FairnessKind::Weak(t) => FairnessKind::Weak(self.all_moves(i, t)),
                    FairnessKind::Strong(t) => FairnessKind::Strong(self.all_moves(i, t)),
                };
                let name = format!("{}.{}", self.instances[i].name, f.name);
                fairness.push(self.builder.fairness(&name, kind, f.span)?);
            }
            for claim in &system.claims {
                if claim.origin != ClaimOrigin::Structural {
                    self.carry(i, claim, &fairness)?;
                }
            }
        }
        Ok(())
    }

    fn all_moves(&self, instance: usize, transitions: &[TransitionId]) -> Vec<TransitionId> {
        let mut all: Vec<TransitionId> =
            transitions.iter().flat_map(|&t| self.moves(instance, t).iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn carry(
        &mut self,
        i: usize,
        claim: &Claim,
        fairness: &[FairnessId],
    ) -> Result<(), ComposeError> {
        let under =
            |list: &[FairnessId]| list.iter().map(|f| fairness[f.index()]).collect::<Vec<_>>();
        let kind = match &claim.kind {
            ClaimKind::Always(p) => ClaimKind::Always(self.state_term(i, *p)?),
            ClaimKind::Reachable(goals) => {
                let goals: Result<_, _> = goals.iter().map(|g| self.goal(i, g)).collect();
                ClaimKind::Reachable(goals?)
            }
            ClaimKind::CanEnable(t) => {
                let moves = self.moves(i, *t).to_vec();
                let parts: Vec<TermId> = moves.into_iter().map(|m| self.enabled_there(m)).collect();
                let some = self.builder.pool.or(parts);
                let some = self.builder.state_formula(some, &claim.name)?;
                ClaimKind::Reachable(vec![Goal::State(some)])
            }
            ClaimKind::NoSinkhole(n) => ClaimKind::Always(self.can_move(i, *n)?),
            ClaimKind::StartSatisfiable(s) => {
                let with_it: Vec<StartId> = (0..self.product.starts.len())
                    .map(StartId::from)
                    .filter(|&whole| self.starts(whole)[i] == *s)
                    .collect();
                return self.carry_each(
                    i,
                    claim,
                    with_it.into_iter().map(ClaimKind::StartSatisfiable).collect(),
                );
            }
            ClaimKind::Completable(t) => {
                let moves = self.moves(i, *t).to_vec();
                return self.carry_each(
                    i,
                    claim,
                    moves.into_iter().map(ClaimKind::Completable).collect(),
                );
            }
            ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => {
                let reason = "it speaks of a whole system: ask it of the composition";
                self.left_out.push(LeftOut { instance: i, claim: claim.name.clone(), reason });
                return Ok(());
            }
            ClaimKind::Eventually { goal, under: f } => {
                ClaimKind::Eventually { goal: self.state_term(i, *goal)?, under: under(f) }
            }
            ClaimKind::AlwaysEventually { goal, under: f } => {
                ClaimKind::AlwaysEventually { goal: self.state_term(i, *goal)?, under: under(f) }
            }
            ClaimKind::LeadsTo { from, to, under: f } => {
                let (from, to) = (self.state_term(i, *from)?, self.state_term(i, *to)?);
                ClaimKind::LeadsTo { from, to, under: under(f) }
            }
            ClaimKind::AlwaysPossible(p) => ClaimKind::AlwaysPossible(self.state_term(i, *p)?),
            ClaimKind::ExistsAlways(p) => ClaimKind::ExistsAlways(self.state_term(i, *p)?),
        };
        let name = self.claim_name(i, claim);
        self.add(i, claim, &name, kind)
    }

    fn claim_name(&self, i: usize, claim: &Claim) -> String {
        match claim.origin {
            ClaimOrigin::Range(v) => {
                format!(
                    "range of {}.{}",
                    self.instances[i].name,
                    self.instances[i].system.var(v).name
                )
            }
            _ => format!("{}.{}", self.instances[i].name, claim.name),
        }
    }

    fn add(
        &mut self,
        i: usize,
        claim: &Claim,
        name: &str,
        kind: ClaimKind,
    ) -> Result<(), ComposeError> {
        let origin = match claim.origin {
            ClaimOrigin::Range(v) => ClaimOrigin::Range(self.var(i, v)),
            other => other,
        };
        let text = format!("{}: {}", self.instances[i].name, claim.text);
        Ok(self.builder.claim(name, kind, origin, &text, claim.span)?)
    }

    /// One claim for each kind; several claims are named after their subjects.
    fn carry_each(
        &mut self,
        i: usize,
        claim: &Claim,
        kinds: Vec<ClaimKind>,
    ) -> Result<(), ComposeError> {
        if kinds.is_empty() {
            let reason = "the control graphs never get there";
            self.left_out.push(LeftOut { instance: i, claim: claim.name.clone(), reason });
        }
        let stem = self.claim_name(i, claim);
        let several = kinds.len() > 1;
        for kind in kinds {
            let about = match kind {
                ClaimKind::Completable(t) => &self.builder.so_far().transition(t).name,
                ClaimKind::StartSatisfiable(s) => &self.builder.so_far().starts[s.index()].name,
                _ => &stem,
            };
            let name = if several { format!("{stem} of {about}") } else { stem.clone() };
            self.add(i, claim, &name, kind)?;
        }
        Ok(())
    }

    fn goal(&mut self, i: usize, goal: &Goal) -> Result<Goal, ComposeError> {
        match goal {
            Goal::State(p) => Ok(Goal::State(self.state_term(i, *p)?)),
            Goal::Step { choices, gate } => {
                let mut all = Vec::new();
                for &(t, formula) in choices {
                    for m in self.moves(i, t).to_vec() {
                        let symbols = self.params(m, i).unwrap_or_default().to_vec();
                        let terms: Vec<TermId> =
                            symbols.iter().map(|&s| self.builder.pool.var(s)).collect();
                        let part = &mut self.instances[i];
                        let old = part.system.transition(t).params.iter().map(|p| p.symbol);
                        part.transcriber.for_parameters(old.zip(terms));
                        all.push((
                            m,
                            part.transcriber.apply(&mut self.builder.pool, formula.term())?,
                        ));
                    }
                }
                let part = &self.instances[i];
                let gate = gate.map(|g| format!("{}.{}", part.name, part.system.gates[g.index()]));
                let gate = gate.map(|g| self.builder.gate(&g));
                Ok(self.builder.step_goal(gate, &all, "goal")?)
            }
        }
    }

    /// The formula that the state is at the source of the transition and enables it.
    fn enabled_there(&mut self, t: TransitionId) -> TermId {
        let source = self.builder.so_far().transition(t).source;
        let (here, enabled) = (self.at(source), self.enabled(t));
        self.builder.pool.and([here, enabled])
    }

    /// The formula that `@node` is this node of the composition.
    pub fn at(&mut self, node: NodeId) -> TermId {
        let location = self.builder.so_far().location;
        let gander_term::Sort::Enum(sort) = self.builder.pool.symbol(location).sort else {
            unreachable!("@node is of an enumeration")
        };
        let place = self.builder.pool.var(location);
        let here = self.builder.pool.constant(gander_term::Value::Enum(sort, node.0));
        self.builder.pool.eq(place, here)
    }

    /// The formula that the guard of a transition holds for some parameters.
    fn enabled(&mut self, t: TransitionId) -> TermId {
        let transition = self.builder.so_far().transition(t).clone();
        enabled(&mut self.builder.pool, &transition)
    }

    /// The formula that some step of the instance is enabled if it is at the node.
    fn can_move(&mut self, i: usize, n: NodeId) -> Result<StateTerm, ComposeError> {
        let moves: Vec<TransitionId> = self.all_moves(i, self.instances[i].system.leaving(n));
        let mut by_source: FxHashMap<NodeId, Vec<TransitionId>> = FxHashMap::default();
        for m in moves {
            by_source.entry(self.builder.so_far().transition(m).source).or_default().push(m);
        }
        let mut parts = Vec::new();
        for k in 0..self.product.tuples.len() {
            let here = NodeId::from(k);
            if self.tuple(here)[i] != n {
                continue;
            }
            let enabled: Vec<TermId> = by_source
                .remove(&here)
                .unwrap_or_default()
                .into_iter()
                .map(|m| self.enabled(m))
                .collect();
            let some = self.builder.pool.or(enabled);
            let at = self.at(here);
            parts.push(self.builder.pool.implies(at, some));
        }
        let all = self.builder.pool.and(parts);
        Ok(self.builder.state_formula(all, "no sinkhole")?)
    }
}
