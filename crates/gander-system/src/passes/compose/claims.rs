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

use super::{ComposeError, Composed, LeftOut};
use crate::builder::SystemBuilder;
use crate::claim::{Claim, ClaimKind, ClaimOrigin, FairnessId, FairnessKind, Goal};
use crate::passes::enabled::enabled_when;
use crate::system::{StartId, TransitionId};

impl Composed<'_> {
    /// Adds the claims and the fairness constraints of the instances.
    pub fn add_claims(&mut self, builder: &mut SystemBuilder) -> Result<(), ComposeError> {
        for i in 0..self.instances.len() {
            let system = self.instances[i].system;
            let mut fairness = Vec::new();
            for f in &system.fairness {
                let name = format!("{}.{}", self.instances[i].name, f.name);
                let kind = match &f.kind {
                    FairnessKind::Justice(p) => {
                        FairnessKind::Justice(self.state_term(builder, i, *p)?)
                    }
                    FairnessKind::Weak(t) => FairnessKind::Weak(self.fair_moves(i, t, &name)?),
                    FairnessKind::Strong(t) => FairnessKind::Strong(self.fair_moves(i, t, &name)?),
                };
                fairness.push(builder.fairness(&name, kind, f.span)?);
            }
            for claim in &system.claims {
                if claim.origin != ClaimOrigin::Structural {
                    self.carry(builder, i, claim, &fairness)?;
                }
            }
        }
        Ok(())
    }

    /// The transitions of the composition in which the instance takes one of these transitions.
    /// Fairness is about whole transitions: it must take one of them in each.
    fn fair_moves(
        &self,
        instance: usize,
        transitions: &[TransitionId],
        fairness: &str,
    ) -> Result<Vec<TransitionId>, ComposeError> {
        let mut all = Vec::new();
        for &t in transitions {
            for (m, condition) in self.moves(instance, t) {
                if condition.is_some() {
                    let fairness = fairness.to_string();
                    return Err(ComposeError::ConditionalFairness { fairness });
                }
                all.push(m);
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn carry(
        &mut self,
        builder: &mut SystemBuilder,
        i: usize,
        claim: &Claim,
        fairness: &[FairnessId],
    ) -> Result<(), ComposeError> {
        let under =
            |list: &[FairnessId]| list.iter().map(|f| fairness[f.index()]).collect::<Vec<_>>();
        let kind = match &claim.kind {
            ClaimKind::Always(p) => ClaimKind::Always(self.state_term(builder, i, *p)?),
            ClaimKind::Reachable(goals) => {
                let goals: Result<_, _> = goals.iter().map(|g| self.goal(builder, i, g)).collect();
                ClaimKind::Reachable(goals?)
            }
            ClaimKind::CanEnable(t) => {
                let some = self.enabled(builder, i, &[*t]);
                let some = builder.state_formula(some, &claim.name)?;
                ClaimKind::Reachable(vec![Goal::State(some)])
            }
            ClaimKind::NoSinkhole(n) => {
                let leaving = self.instances[i].system.leaving(*n).to_vec();
                let some = self.enabled(builder, i, &leaving);
                let here = self.in_node(builder, i, *n)?;
                let formula = builder.pool.implies(here, some);
                ClaimKind::Always(builder.state_formula(formula, &claim.name)?)
            }
            ClaimKind::StartSatisfiable(s) => {
                let with_it: Vec<StartId> = (0..self.starts.len())
                    .filter(|&whole| self.starts[whole].get(i) == Some(s))
                    .map(StartId::from)
                    .collect();
                let kinds = with_it.into_iter().map(ClaimKind::StartSatisfiable).collect();
                return self.carry_each(builder, i, claim, kinds);
            }
            ClaimKind::Completable(t) => {
                let moves: Vec<TransitionId> = self.moves(i, *t).map(|(m, _)| m).collect();
                let kinds = moves.into_iter().map(ClaimKind::Completable).collect();
                return self.carry_each(builder, i, claim, kinds);
            }
            ClaimKind::NoDeadlock | ClaimKind::InfiniteRun => {
                let reason = "it speaks of a whole system: ask it of the composition";
                self.left_out.push(LeftOut { instance: i, claim: claim.name.clone(), reason });
                return Ok(());
            }
            ClaimKind::Eventually { goal, under: f } => {
                ClaimKind::Eventually { goal: self.state_term(builder, i, *goal)?, under: under(f) }
            }
            ClaimKind::AlwaysEventually { goal, under: f } => {
                let goal = self.state_term(builder, i, *goal)?;
                ClaimKind::AlwaysEventually { goal, under: under(f) }
            }
            ClaimKind::LeadsTo { from, to, under: f } => {
                let from = self.state_term(builder, i, *from)?;
                let to = self.state_term(builder, i, *to)?;
                ClaimKind::LeadsTo { from, to, under: under(f) }
            }
            ClaimKind::AlwaysPossible(p) => {
                ClaimKind::AlwaysPossible(self.state_term(builder, i, *p)?)
            }
            ClaimKind::ExistsAlways(p) => ClaimKind::ExistsAlways(self.state_term(builder, i, *p)?),
        };
        let name = self.claim_name(i, claim);
        self.add(builder, i, claim, &name, kind)
    }

    fn claim_name(&self, i: usize, claim: &Claim) -> String {
        let name = self.instances[i].name;
        match claim.origin {
            ClaimOrigin::Range(v) => {
                format!("range of {name}.{}", self.instances[i].system.var(v).name)
            }
            _ => format!("{name}.{}", claim.name),
        }
    }

    fn add(
        &mut self,
        builder: &mut SystemBuilder,
        i: usize,
        claim: &Claim,
        name: &str,
        kind: ClaimKind,
    ) -> Result<(), ComposeError> {
        let origin = match claim.origin {
            ClaimOrigin::Range(v) => {
                self.var(i, v).map_or(ClaimOrigin::Written, ClaimOrigin::Range)
            }
            other => other,
        };
        let text = format!("{}: {}", self.instances[i].name, claim.text);
        Ok(builder.claim(name, kind, origin, &text, claim.span)?)
    }

    /// One claim for each kind; several claims are named after their subjects.
    fn carry_each(
        &mut self,
        builder: &mut SystemBuilder,
        i: usize,
        claim: &Claim,
        kinds: Vec<ClaimKind>,
    ) -> Result<(), ComposeError> {
        if kinds.is_empty() {
            let reason = match claim.kind {
                ClaimKind::StartSatisfiable(_) => {
                    "one start stands for all combinations of the starts of the instances"
                }
                _ => "no step of the system contains it",
            };
            self.left_out.push(LeftOut { instance: i, claim: claim.name.clone(), reason });
        }
        let stem = self.claim_name(i, claim);
        let several = kinds.len() > 1;
        for kind in kinds {
            let about = match kind {
                ClaimKind::Completable(t) => &builder.so_far().transition(t).name,
                ClaimKind::StartSatisfiable(s) => &builder.so_far().starts[s.index()].name,
                _ => &stem,
            };
            let name = if several { format!("{stem} of {about}") } else { stem.clone() };
            self.add(builder, i, claim, &name, kind)?;
        }
        Ok(())
    }

    fn goal(
        &mut self,
        builder: &mut SystemBuilder,
        i: usize,
        goal: &Goal,
    ) -> Result<Goal, ComposeError> {
        match goal {
            Goal::State(p) => Ok(Goal::State(self.state_term(builder, i, *p)?)),
            Goal::Step { choices, gate } => {
                let mut all = Vec::new();
                for &(t, formula) in choices {
                    for m in self.instances[i].moves[t.index()].clone() {
                        let terms: Vec<TermId> =
                            m.params.iter().map(|&s| builder.pool.var(s)).collect();
                        let part = &mut self.instances[i];
                        let old = part.system.transition(t).params.iter().map(|p| p.symbol);
                        part.transcriber.for_parameters(old.zip(terms));
                        let met = part.transcriber.apply(&mut builder.pool, formula.term())?;
                        let met = builder.pool.and(m.condition.into_iter().chain([met]));
                        all.push((m.transition, met));
                    }
                }
                let part = &self.instances[i];
                let gate = gate.map(|g| format!("{}.{}", part.name, part.system.gates[g.index()]));
                let gate = gate.map(|g| builder.gate(&g));
                Ok(builder.step_goal(gate, &all, "goal")?)
            }
        }
    }

    /// True if some step is enabled in which the instance takes one of the transitions.
    fn enabled(
        &self,
        builder: &mut SystemBuilder,
        i: usize,
        transitions: &[TransitionId],
    ) -> TermId {
        let mut all = Vec::new();
        for &t in transitions {
            for (m, condition) in self.moves(i, t) {
                let transition = builder.so_far().transition(m).clone();
                all.push(enabled_when(&mut builder.pool, &transition, condition));
            }
        }
        builder.pool.or(all)
    }
}
