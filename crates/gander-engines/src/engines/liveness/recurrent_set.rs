//! Recurrent sets: states in which a run can stay forever, where no single lasso shows it.
//!
//! After Gupta, Henzinger, Majumdar, Rybalchenko and Xu (*Proving non-termination*, 2008). A set is
//! the greatest fixpoint below a guess: the states from which some step leads to another state of
//! the set are kept, until nothing changes. Guesses are the condition that the run has to maintain,
//! alone and with one of the comparisons of the system. If the run has to be fair, the set is
//! restricted so that every run that stays in it is fair. Finally, some run must lead into the set.

use gander_system::passes::{
    Aspect, DecidingRuns, LivenessToSafety, Stage, liveness_to_safety, within,
};
use gander_system::{Choice, Choices, ClaimId, Evidence, FairnessKind, System, TransitionId};
use gander_term::{Pool, Simplifier, TermId};

use super::candidates;
use super::limits::LIMITS;
use super::nested_check::{EngineSelection, NestedQuestion, Reply};
use super::prover::Prover;
use super::step::Steps;
use crate::core::{EngineContext, portable};

/// A recurrent set, and the question whether it is reachable.
#[derive(Debug)]
struct Goal {
    by_node: Vec<TermId>,
    of: LivenessToSafety,
    question: NestedQuestion,
}

/// See the module's documentation.
#[derive(Debug)]
pub(super) struct Recurrent {
    claim: ClaimId,
    asked: DecidingRuns,
    work: Option<Work>,
    goal: Option<Goal>,
}

#[derive(Debug)]
struct Work {
    pool: Pool,
    prover: Prover,
    steps: Vec<Steps>,
    /// The transitions to use: all, unless fairness requires that only some are taken.
    taken: Vec<TransitionId>,
    base: Vec<TermId>,
    guesses: Vec<TermId>,
    tried: usize,
}

impl Recurrent {
    pub(super) fn new(claim: ClaimId, asked: DecidingRuns) -> Recurrent {
        Recurrent { claim, asked, work: None, goal: None }
    }

    /// Does a unit of work: `Some(Some(_))` is evidence, `Some(None)` means more to do, and `None`
    /// means nothing left to try.
    pub(super) fn advance(&mut self, context: &EngineContext) -> Option<Option<Evidence>> {
        let system = std::sync::Arc::clone(context.given());
        if let Some(goal) = &mut self.goal {
            match goal.question.ask(context) {
                Reply::Fails(Evidence::Run(run)) => {
                    let run = goal.of.run(&run)?;
                    let by_node = std::mem::take(&mut goal.by_node);
                    let work = self.work.as_mut()?;
                    return Some(Some(work.evidence(&system, run, &by_node)?));
                }
                Reply::Undecided => return Some(None),
                Reply::Holds(_) | Reply::Fails(_) | Reply::Unsupported(_) => self.goal = None,
            }
        }
        if self.work.is_none() {
            self.work = Some(Work::new(&system, self.claim, &self.asked)?);
        }
        let work = self.work.as_mut()?;
        for _ in 0..LIMITS.recurrent_guesses {
            if work.tried >= work.guesses.len() || context.is_cancelled() {
                return None;
            }
            let guess = work.guesses[work.tried];
            work.tried += 1;
            if let Some(by_node) = work.fixpoint(context, &system, guess) {
                self.goal = work.reach(&system, self.claim, by_node);
                if self.goal.is_some() {
                    return Some(None);
                }
            }
        }
        Some(None)
    }
}

impl Work {
    fn new(system: &System, claim: ClaimId, asked: &DecidingRuns) -> Option<Work> {
        let mut pool = Pool::fork(system.pool());
        let steps: Vec<Steps> =
            system.transition_ids().map(|t| Steps::of(system, &mut pool, t)).collect();
        let mut taken: Vec<TransitionId> = system.transition_ids().collect();
        let mut base = Vec::new();
        for n in system.node_ids() {
            let (stay, admissible) =
                (asked.stay_at(system, &mut pool, n), system.assumption_term(&mut pool, n));
            base.push(pool.and([stay, admissible]));
        }
        for f in &asked.under {
            match &system.fairness().get(f.index())?.kind {
                FairnessKind::Justice(p) => {
                    for n in system.node_ids() {
                        let p = system.at_node(&mut pool, *p, n);
                        base[n.index()] = pool.and([base[n.index()], p]);
                    }
                }
                FairnessKind::Weak(set) | FairnessKind::Strong(set) => {
                    taken.retain(|t| set.contains(t))
                }
            }
        }
        let mut guesses = vec![pool.tt()];
        guesses.extend(candidates::formulas(system, &mut pool));
        Some(Work { pool, prover: Prover::for_claim(claim), steps, taken, base, guesses, tried: 0 })
    }

    /// The states within a guess from which a run can stay within it forever; `None` if there are
    /// none or no fixpoint was found.
    fn fixpoint(
        &mut self,
        context: &EngineContext,
        system: &System,
        guess: TermId,
    ) -> Option<Vec<TermId>> {
        let mut set: Vec<TermId> = self.base.clone();
        for formula in &mut set {
            *formula = self.pool.and([*formula, guess]);
        }
        let mut simplifier = Simplifier::default();
        for _ in 0..LIMITS.recurrent_rounds {
            if context.is_cancelled() {
                return None;
            }
            let mut stable = true;
            let mut next = Vec::new();
            for n in system.node_ids() {
                let mut ways = Vec::new();
                for &t in system.leaving(n).iter().filter(|t| self.taken.contains(t)) {
                    let target = system.transition(t).target.index();
                    ways.push(self.steps[t.index()].before(&mut self.pool, set[target])?);
                }
                let some = self.pool.or(ways);
                let here = set[n.index()];
                if self.prover.implies(context, &mut self.pool, here, some) {
                    next.push(here);
                } else {
                    stable = false;
                    let kept = self.pool.and([here, some]);
                    next.push(simplifier.simplify(&mut self.pool, kept));
                }
            }
            set = next;
            if self.pool.postorder(&set).len() > LIMITS.recurrent_terms {
                return None;
            }
            if stable {
                let any = self.pool.or(set.iter().copied());
                return (!self.prover.is_empty(context, &self.pool, any)).then_some(set);
            }
        }
        None
    }

    /// The question whether a run of the kind asked for leads into the set.
    fn reach(&mut self, system: &System, claim: ClaimId, by_node: Vec<TermId>) -> Option<Goal> {
        let of = liveness_to_safety(system, claim, &Aspect::Rounds).ok()?;
        let mut pool = Pool::fork(of.system.pool());
        let mut outside = Vec::new();
        for n in of.system.node_ids() {
            outside.push(match of.stage(n) {
                Stage::Pending => {
                    let inside = pool.import(&self.pool, by_node[of.old_node(n).index()]).ok()?;
                    pool.not(inside)
                }
                Stage::Free | Stage::Answered => pool.tt(),
            });
        }
        let outside = portable(&of.system, &pool, &outside).ok()?;
        let question = NestedQuestion::new(within(&of.system, &outside)?, EngineSelection::All);
        Some(Goal { by_node, of, question })
    }

    fn evidence(
        &mut self,
        system: &System,
        run: gander_system::Run,
        by_node: &[TermId],
    ) -> Option<Evidence> {
        let set = portable(system, &self.pool, by_node).ok()?;
        let mut own = Pool::fork(system.pool());
        let mut importer = gander_term::Importer::new();
        let mut list = Vec::new();
        for &t in &self.taken {
            let transition = system.transition(t);
            let when =
                self.steps[t.index()].before(&mut self.pool, by_node[transition.target.index()])?;
            let when = self.pool.and([by_node[transition.source.index()], when]);
            if self.pool.as_bool(when) == Some(false) {
                continue;
            }
            let when = importer.import(&mut own, &self.pool, when).ok()?;
            let (params, next) =
                (vec![None; transition.params.len()], vec![None; system.vars().len()]);
            list.push(Choice { transition: t, when, params, next });
        }
        Some(Evidence::Recurrent { run, set, choices: Choices { pool: own.freeze(), list } })
    }
}
