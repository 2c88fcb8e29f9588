//! Short reasons for verdicts of a check.
//!
//! The proof that a transition is dead is an invariant of all nodes. A reader needs the part that
//! contradicts the guard: the conjuncts at the source of the transition, without those that are not
//! needed. Likewise for a start that no state satisfies: constraints that contradict each other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gander_engines::Outcome;
use gander_report::{DeadBecause, DeadView, InductionView, InvariantView};
use gander_smt::{Answer, Limits, SessionConfig, Solvers, StepSymbol};
use gander_system::{
    ClaimId, ClaimKind, ClaimOrigin, Effect, ElementId, Evidence, Goal, Leg, NodeFormulas, Run,
    System, TransitionId, Verdict,
};
use gander_term::{Importer, Op, Pool, Simplifier, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::decide::Decision;
use crate::lint::next_values;

/// A claim about more dead transitions gets no reason.
const MAX_DEAD: usize = 3;
/// Formulas with more conjuncts are not shortened.
const MAX_CONJUNCTS: usize = 40;
/// Time limit for all claims of a system.
const TIME: Duration = Duration::from_millis(300);
/// Characters of a formula that are shown.
const MAX_FORMULA: usize = 400;
/// For proofs without a solver.
const PROOF: gander_linear::Budget = gander_linear::Budget { terms: 2000, work: 100_000 };

/// Why a verdict is as it is; empty where no short reason is known.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Reason {
    /// For a transition that is proved dead: what excludes its guard.
    pub(crate) because: Vec<DeadView>,
    /// For a start that no state satisfies: constraints and assumptions that contradict each other.
    pub(crate) contradiction: Vec<(ElementId, String)>,
    /// For a relation that cannot be completed in the last state of the run: parameters with which
    /// its guard holds there and its effect has no solution.
    pub(crate) stuck: Option<Vec<Value>>,
    /// The invariant that proves the verdict, if it was requested.
    pub(crate) invariant: Option<InvariantView>,
    /// Why induction does not prove the claim, if that was requested.
    pub(crate) induction: Option<InductionView>,
}

/// The reasons for the verdicts of a decision, in their order, without a search for those that are
/// `known`.
pub(crate) fn reasons(
    decision: &Decision,
    solvers: Option<Arc<Solvers>>,
    known: &dyn Fn(ClaimId) -> Option<Reason>,
) -> Vec<Reason> {
    let mut search = ReasonSearch::new(solvers);
    let outcomes = decision.report.outcomes.iter();
    let reason = |o: &Outcome| known(o.claim).unwrap_or_else(|| search.reason(&decision.system, o));
    outcomes.map(reason).collect()
}

/// Searches for reasons of verdicts about one system.
pub(crate) struct ReasonSearch {
    solvers: Option<Arc<Solvers>>,
    /// When the first query for the verdict began, minus the time for earlier verdicts: [`TIME`]
    /// counts from here.
    begun: Option<Instant>,
    /// The time used for earlier verdicts.
    spent: Duration,
}

impl ReasonSearch {
    pub(crate) fn new(solvers: Option<Arc<Solvers>>) -> ReasonSearch {
        ReasonSearch { solvers, begun: None, spent: Duration::ZERO }
    }

    /// The reason for a verdict.
    pub(crate) fn reason(&mut self, system: &System, outcome: &Outcome) -> Reason {
        let (claim, verdict) = (&system.claims()[outcome.claim.index()], &outcome.verdict);
        let stuck = match (&claim.kind, verdict) {
            (ClaimKind::Completable(t), Verdict::Fails(Evidence::Run(run))) => {
                self.stuck_with(system, *t, run)
            }
            _ => None,
        };
        let reason = Reason {
            because: self.because(system, claim, verdict),
            contradiction: self.contradiction(system, claim, verdict),
            stuck,
            ..Reason::default()
        };
        self.spent = self.begun.take().map_or(self.spent, |begun| begun.elapsed());
        reason
    }

    /// The beginning of the time limit.
    fn begun(&mut self) -> Instant {
        let now = Instant::now();
        *self.begun.get_or_insert(now.checked_sub(self.spent).unwrap_or(now))
    }

    fn because(
        &mut self,
        system: &System,
        claim: &gander_system::Claim,
        verdict: &Verdict,
    ) -> Vec<DeadView> {
        let evidence = match verdict {
            Verdict::Fails(evidence) => evidence,
            _ => return Vec::new(),
        };
        let dead: Vec<TransitionId> = match &claim.kind {
            ClaimKind::CanEnable(t) => vec![*t],
            ClaimKind::Reachable(goals) if claim.origin == ClaimOrigin::Structural => {
                match &goals[..] {
                    [Goal::Step { choices, .. }] => choices.iter().map(|(t, _)| *t).collect(),
                    _ => return Vec::new(),
                }
            }
            _ => return Vec::new(),
        };
        if dead.len() > MAX_DEAD {
            return Vec::new();
        }
        let of_transition = |t: &TransitionId| match evidence {
            Evidence::Invariant(formulas) | Evidence::KInductive { invariant: formulas, .. } => {
                self.at_node(system, formulas, *t)
            }
            Evidence::ClosedSet { states } => Some(enumerated(system, *t, *states)),
            _ => None,
        };
        let views: Option<Vec<DeadView>> = dead.iter().map(of_transition).collect();
        views.unwrap_or_default()
    }

    /// None of them can be left out, unless time runs out.
    fn contradiction(
        &mut self,
        system: &System,
        claim: &gander_system::Claim,
        verdict: &Verdict,
    ) -> Vec<(ElementId, String)> {
        let (ClaimKind::StartSatisfiable(start), Verdict::Fails(Evidence::Refutation)) =
            (&claim.kind, verdict)
        else {
            return Vec::new();
        };
        let start = &system.starts()[start.index()];
        let mut pool = Pool::fork(system.pool());
        let mut parts: Vec<(ElementId, TermId)> =
            start.constraint.iter().map(|c| (c.id, c.term.term())).collect();
        for a in system.assumptions() {
            parts.push((a.id, system.at_node(&mut pool, a.term, start.target)));
        }
        let begun = self.begun();
        let all = pool.and(parts.iter().map(|(_, t)| *t));
        if parts.len() > MAX_CONJUNCTS
            || system.vars().iter().any(|v| v.stream.is_some())
            || !self.contradicts(&pool, all)
        {
            return Vec::new();
        }
        // Later elements are tried first: of duplicates the first one stays.
        let order: Vec<ElementId> = parts.iter().rev().map(|(id, _)| *id).collect();
        for id in order {
            if begun.elapsed() >= TIME || parts.len() == 1 {
                break;
            }
            let fewer: Vec<(ElementId, TermId)> =
                parts.iter().copied().filter(|(other, _)| *other != id).collect();
            let formula = pool.and(fewer.iter().map(|(_, t)| *t));
            if self.contradicts(&pool, formula) {
                parts = fewer;
            }
        }
        parts
            .into_iter()
            .map(|(id, t)| (id, pool.display_bounded(t, MAX_FORMULA).to_string()))
            .collect()
    }

    /// Why a transition is dead, if what is known at its source contradicts its guard.
    pub(crate) fn dead(
        &mut self,
        system: &System,
        formulas: &NodeFormulas,
        t: TransitionId,
    ) -> Option<DeadView> {
        let node = system.transition(t).source;
        let mut pool = Pool::fork(system.pool());
        let formula = *formulas.by_node.get(node.index())?;
        let formula = Importer::new().import(&mut pool, &formulas.pool, formula).ok()?;
        let guard = system.guard_term(&mut pool, t);
        let assumed = system.assumption_term(&mut pool, node);
        let all = pool.and([formula, guard, assumed]);
        self.contradicts(&pool, all).then(|| self.at_node(system, formulas, t)).flatten()
    }

    fn at_node(
        &mut self,
        system: &System,
        formulas: &NodeFormulas,
        t: TransitionId,
    ) -> Option<DeadView> {
        let node = system.transition(t).source;
        let mut pool = Pool::fork(system.pool());
        let formula = *formulas.by_node.get(node.index())?;
        let formula = Importer::new().import(&mut pool, &formulas.pool, formula).ok()?;
        let mut parts = conjuncts(&pool, formula);
        let guard = system.guard_term(&mut pool, t);
        let assumed = system.assumption_term(&mut pool, node);
        // Assumptions may be what contradicts the guard, so they belong to what is known.
        parts.extend(conjuncts(&pool, assumed).into_iter().filter(|&a| pool.as_bool(a).is_none()));
        parts.dedup();
        if self.contradicts(&pool, guard) {
            parts.clear();
        } else if parts.len() <= MAX_CONJUNCTS && parts.len() > 1 {
            self.shorten(&mut pool, guard, &mut parts);
        }
        let mut shown = pool.and(parts);
        let known = shown;
        let mut conditions = conjuncts(&pool, guard);
        if pool.as_bool(shown) == Some(false) {
            conditions.clear();
        } else if let Some((condition, opposite)) = self.opposite(system, &mut pool, guard, known)
            && pool.postorder(&[opposite]).len() < pool.postorder(&[shown]).len()
        {
            shown = opposite;
            conditions = vec![condition];
        } else if conditions.len() <= MAX_CONJUNCTS && conditions.len() > 1 {
            self.shorten(&mut pool, known, &mut conditions);
        }
        let known = pool.display_bounded(shown, MAX_FORMULA).to_string();
        Some(dead_view(system, t, DeadBecause::Invariant(known), &pool, &conditions))
    }

    /// A state condition of the guard with its negation, if `known` implies that: the condition
    /// never holds.
    fn opposite(
        &mut self,
        system: &System,
        pool: &mut Pool,
        guard: TermId,
        known: TermId,
    ) -> Option<(TermId, TermId)> {
        let begun = self.begun();
        let is_state = |s: &SymbolId| system.vars().iter().any(|v| v.current == *s);
        for condition in conjuncts(pool, guard).into_iter().take(MAX_CONJUNCTS) {
            if begun.elapsed() >= TIME {
                return None;
            }
            if !pool.free_symbols(&[condition]).iter().all(is_state) {
                continue;
            }
            let both = pool.and([known, condition]);
            if self.contradicts(pool, both) {
                let opposite = pool.not(condition);
                return Some((condition, Simplifier::new().simplify(pool, opposite)));
            }
        }
        None
    }

    /// Removes conjuncts that are not needed to contradict the context.
    fn shorten(&mut self, pool: &mut Pool, context: TermId, parts: &mut Vec<TermId>) {
        let begun = self.begun();
        // Try to remove long formulas first.
        let mut order = parts.clone();
        order.sort_by_key(|&p| std::cmp::Reverse(pool.postorder(&[p]).len()));
        for part in order {
            if begun.elapsed() >= TIME || parts.len() == 1 {
                return;
            }
            let fewer: Vec<TermId> = parts.iter().copied().filter(|&p| p != part).collect();
            let formula = pool.and(fewer.iter().copied().chain([context]));
            if self.contradicts(pool, formula) {
                *parts = fewer;
            }
        }
    }

    fn stuck_with(&self, system: &System, t: TransitionId, run: &Run) -> Option<Vec<Value>> {
        let params: Vec<_> = system.transition(t).params.iter().map(|p| p.symbol).collect();
        if params.is_empty() {
            return None;
        }
        let state = last_values(system, run)?;
        let mut pool = Pool::fork(system.pool());
        let mut map: FxHashMap<SymbolId, TermId> = system
            .vars()
            .iter()
            .zip(state)
            .map(|(v, value)| (v.current, pool.constant(value)))
            .collect();
        let guard = system.guard_term(&mut pool, t);
        let guard = pool.substitute(guard, &map);
        let demands: Vec<TermId> = system
            .transition(t)
            .effect
            .iter()
            .filter_map(|e| match *e {
                Effect::Constrain { relation, .. } => Some(relation.term()),
                _ => None,
            })
            .collect();
        let effect = pool.and(demands);
        let effect = pool.substitute(effect, &map);
        let primed: Vec<SymbolId> = pool
            .free_symbols(&[effect])
            .into_iter()
            .filter(|s| system.vars().iter().any(|v| v.next == *s))
            .collect();
        let mut bound = Vec::new();
        for s in primed {
            let (name, sort) = (pool.symbol(s).name.clone(), pool.symbol(s).sort);
            let b = pool.declare_bound(&name, sort);
            map.insert(s, pool.var(b));
            bound.push(b);
        }
        let none = pool.substitute(effect, &map);
        let none = pool.not(none);
        let none = if bound.is_empty() { none } else { pool.forall(&bound, none) };
        let formula = pool.and([guard, none]);
        let solvers = self.solvers.as_ref()?;
        let solver = solvers.choose(pool.features(&[formula]))?.clone();
        let limits = Limits::time(Duration::from_millis(200));
        let mut session = solvers.session(&solver, SessionConfig::default());
        params.iter().for_each(|&p| session.declare(&pool, StepSymbol::rigid(p)));
        session.assert(&pool, formula);
        let answer = session.check(&[], limits);
        let symbols: Vec<StepSymbol> = params.iter().map(|&p| StepSymbol::rigid(p)).collect();
        let values =
            if answer == Answer::Sat { session.values(&pool, &symbols, limits).ok() } else { None };
        solvers.end(session);
        // A model of a quantified formula may be wrong: check it without quantifiers.
        let values = values?;
        let chosen: FxHashMap<SymbolId, TermId> =
            params.iter().zip(&values).map(|(&p, v)| (p, pool.constant(v.clone()))).collect();
        let guard = pool.substitute(guard, &chosen);
        let effect = pool.substitute(effect, &chosen);
        let enabled = evaluate(&pool, guard, &|_| None) == Ok(Value::Bool(true));
        (enabled && self.contradicts(&pool, effect)).then_some(values)
    }

    fn contradicts(&self, pool: &Pool, formula: TermId) -> bool {
        if pool.as_bool(formula) == Some(false) {
            return true;
        }
        match gander_linear::decide(pool, formula, PROOF).0 {
            gander_linear::Answer::Refuted(_) => return true,
            gander_linear::Answer::Model(_) => return false,
            gander_linear::Answer::Unknown => {}
        }
        let Some(solvers) = &self.solvers else { return false };
        let Some(solver) = solvers.choose(pool.features(&[formula])).cloned() else { return false };
        let mut session = solvers.session(&solver, SessionConfig::default());
        session.assert(pool, formula);
        let answer = session.check(&[], Limits::time(Duration::from_millis(100)));
        solvers.end(session);
        answer == Answer::Unsat
    }
}

/// A transition whose guard holds in none of the enumerated states.
fn enumerated(system: &System, t: TransitionId, states: u64) -> DeadView {
    let mut pool = Pool::fork(system.pool());
    let guard = system.guard_term(&mut pool, t);
    let conditions = conjuncts(&pool, guard);
    dead_view(system, t, DeadBecause::Enumeration(states), &pool, &conditions)
}

fn dead_view(
    system: &System,
    t: TransitionId,
    known: DeadBecause,
    pool: &Pool,
    conditions: &[TermId],
) -> DeadView {
    let transition = system.transition(t);
    let several = system.nodes().len() > 1;
    // Parameters are named without their transition.
    let of_transition = format!("{}.", transition.name);
    let text =
        |&c: &TermId| pool.display_bounded(c, MAX_FORMULA).to_string().replace(&of_transition, "");
    DeadView {
        node: if several { system.node(transition.source).name.clone() } else { String::new() },
        known,
        guard: conditions.iter().map(text).collect(),
    }
}

/// The values of the last state of a run, if the run gives them or assignments determine them.
fn last_values(system: &System, run: &Run) -> Option<Vec<Value>> {
    let mut values = Some(run.first.values.clone());
    for leg in &run.legs {
        values = match leg {
            Leg::Step(step) => {
                step.next.clone().or_else(|| next_values(system, step, values.as_deref()?))
            }
            Leg::Repeat { .. } => None,
        };
    }
    values
}

/// The conjuncts of a formula, including nested ones.
pub(super) fn conjuncts(pool: &Pool, formula: TermId) -> Vec<TermId> {
    let mut parts = Vec::new();
    let mut stack = vec![formula];
    while let Some(t) = stack.pop() {
        match pool.op(t) {
            Op::And => stack.extend(pool.args(t).iter().rev()),
            _ if !parts.contains(&t) => parts.push(t),
            _ => {}
        }
    }
    parts
}
