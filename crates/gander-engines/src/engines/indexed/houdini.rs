//! An inductive subset of candidates, and the candidates in it that support a claim.
//!
//! A candidate is a formula over the symbols `i` and `j`, meant for all their values. In the
//! induction step for a transition, the hypotheses are instantiated at the terms at which the
//! transition reads and writes arrays, and at two fresh symbols for which the conclusion fails. A
//! model may violate a candidate only because an instance is missing. Then a good candidate is
//! dropped, but the rest is still inductive (Houdini: Flanagan and Leino, FME 2001).

use gander_runtime::Cancellation;
use gander_smt::{Answer, CoreSession, Limits, Literal, Reason, StepSymbol};
use gander_system::{Effect, StartId, System, TransitionId};
use gander_term::{Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::instances::{Instances, choices, index_terms, replace};
use super::limits::LIMITS;

/// Candidates of a system.
pub(super) struct Candidates {
    pub i: TermId,
    pub j: TermId,
    /// Formulas over the state, `i` and `j`.
    pub bodies: Vec<TermId>,
    pub alive: Vec<bool>,
}

/// The step of a transition, with the symbols for which conclusions fail.
struct Step {
    /// The guard, the effect and the assumptions, without quantifiers.
    formula: TermId,
    /// Ground terms for the hypotheses.
    terms: Vec<TermId>,
    /// By current symbol: the next value.
    next: FxHashMap<TermId, TermId>,
    a: TermId,
    b: TermId,
}

/// A place where candidates have to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Start(StartId),
    After(TransitionId),
}

impl Candidates {
    fn at(&self, pool: &mut Pool, body: TermId, i: TermId, j: TermId) -> TermId {
        replace(pool, body, &FxHashMap::from_iter([(self.i, i), (self.j, j)]))
    }

    /// The conjunction of instances of a candidate.
    fn instances(&self, pool: &mut Pool, body: TermId, terms: &[TermId]) -> TermId {
        let symbols = pool.free_symbols(&[body]);
        let mentions =
            |pool: &Pool, t: TermId| pool.as_symbol(t).is_some_and(|s| symbols.contains(&s));
        let parts = match (mentions(pool, self.i), mentions(pool, self.j)) {
            (false, false) => vec![body],
            (true, true) => {
                let pairs = choices(terms, 2);
                pairs.into_iter().map(|c| self.at(pool, body, c[0], c[1])).collect()
            }
            _ => terms.iter().map(|&t| self.at(pool, body, t, t)).collect::<Vec<_>>(),
        };
        let parts: Vec<TermId> = parts.into_iter().map(|p| pool.simplify(p)).collect();
        pool.and(parts)
    }

    /// Drops candidates until the rest is inductive.
    pub(super) fn filter(
        &mut self,
        system: &System,
        pool: &mut Pool,
        session: &mut CoreSession,
        cancel: &Cancellation,
    ) -> Result<(), Reason> {
        let mut places: Vec<Place> =
            (0..system.starts().len()).map(|s| Place::Start(StartId::from(s))).collect();
        for place in places.drain(..) {
            self.filter_at(system, pool, session, place, cancel)?;
        }
        loop {
            let before = self.alive.iter().filter(|a| **a).count();
            for t in system.transition_ids() {
                self.filter_at(system, pool, session, Place::After(t), cancel)?;
            }
            if self.alive.iter().filter(|a| **a).count() == before {
                return Ok(());
            }
        }
    }

    fn step(&self, system: &System, pool: &mut Pool, place: Place) -> Step {
        let (a, b) = (pool.declare_fresh("a", Sort::Int), pool.declare_fresh("b", Sort::Int));
        let (a, b) = (pool.var(a), pool.var(b));
        let mut parts: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
        let mut next = FxHashMap::default();
        match place {
            Place::Start(s) => parts.push(system.start_term(pool, s)),
            Place::After(t) => {
                let t = system.transition(t);
                parts.extend(t.guard.iter().map(|g| g.term.term()));
                for v in system.vars() {
                    let (current, after) = (pool.var(v.current), pool.var(v.next));
                    next.insert(current, after);
                }
                for e in &t.effect {
                    match *e {
                        Effect::Assign { var, value, .. } => {
                            let current = pool.var(system.var(var).current);
                            next.insert(current, value.term());
                        }
                        Effect::Keep { var, .. } => {
                            let current = pool.var(system.var(var).current);
                            next.insert(current, current);
                        }
                        Effect::Constrain { relation, .. } => parts.push(relation.term()),
                    }
                }
                // The next state satisfies the assumptions, too.
                for assumption in system.assumptions() {
                    parts.push(replace(pool, assumption.term.term(), &next));
                }
                // Assigned variables have no next symbol in the step.
                let assigned: FxHashMap<TermId, TermId> = system
                    .vars()
                    .iter()
                    .map(|v| (pool.var(v.next), next[&pool.var(v.current)]))
                    .collect();
                parts = parts.into_iter().map(|p| replace(pool, p, &assigned)).collect();
            }
        }
        let whole = pool.and(parts);
        let mut terms = vec![a, b];
        index_terms(pool, &[whole], &mut terms);
        let values: Vec<TermId> = next.values().copied().collect();
        index_terms(pool, &values, &mut terms);
        terms.truncate(LIMITS.terms);
        let mut instances = Instances { pool, terms };
        let formula = instances.of(whole);
        let mut terms = instances.terms;
        terms.retain(|t| *t != a && *t != b);
        terms.splice(0..0, [a, b]);
        // Pairs of at most this many terms.
        terms.truncate(LIMITS.terms);
        Step { formula, terms, next, a, b }
    }

    fn violated(&self, pool: &mut Pool, step: &Step, body: TermId) -> TermId {
        let after = replace(pool, body, &step.next);
        let after = self.at(pool, after, step.a, step.b);
        let after = pool.simplify(after);
        pool.not(after)
    }

    fn filter_at(
        &mut self,
        system: &System,
        pool: &mut Pool,
        session: &mut CoreSession,
        place: Place,
        cancel: &Cancellation,
    ) -> Result<(), Reason> {
        let step = self.step(system, pool, place);
        session.push();
        session.assert(pool, step.formula);
        let mut hypotheses: Vec<(usize, Literal)> = Vec::new();
        let mut goals: Vec<(usize, SymbolId, Literal)> = Vec::new();
        for at in (0..self.bodies.len()).filter(|&at| self.alive[at]) {
            let body = self.bodies[at];
            if matches!(place, Place::After(_)) {
                let hypothesis = self.instances(pool, body, &step.terms);
                let literal = session.literal();
                session.assert_if(pool, literal, hypothesis);
                hypotheses.push((at, literal));
            }
            let violated = self.violated(pool, &step, body);
            if pool.as_bool(violated) == Some(false) {
                continue;
            }
            let shown = pool.declare_fresh("violated", Sort::Bool);
            let term = pool.var(shown);
            let same = pool.eq(term, violated);
            session.assert(pool, same);
            let literal = session.literal_for(pool, term);
            goals.push((at, shown, literal));
        }
        let result = loop {
            goals.retain(|(at, ..)| self.alive[*at]);
            if goals.is_empty() || cancel.is_cancelled() {
                break Ok(());
            }
            let some = session.literal();
            let clause: Vec<Literal> =
                std::iter::once(!some).chain(goals.iter().map(|g| g.2)).collect();
            session.assert_clause(&clause);
            let mut under: Vec<Literal> = hypotheses
                .iter()
                .filter(|(at, _)| self.alive[*at])
                .map(|(_, literal)| *literal)
                .collect();
            under.push(some);
            let limits = Limits::time(LIMITS.query);
            match session.check(&under, limits) {
                Answer::Unsat => break Ok(()),
                Answer::Unknown(reason) => break Err(reason),
                Answer::Sat => {
                    let asked: Vec<StepSymbol> =
                        goals.iter().map(|g| StepSymbol::rigid(g.1)).collect();
                    match session.values(pool, &asked, limits) {
                        Ok(values) => {
                            let mut dropped = false;
                            for ((at, ..), value) in goals.iter().zip(values) {
                                if value == Value::Bool(true) {
                                    self.alive[*at] = false;
                                    dropped = true;
                                }
                            }
                            if !dropped {
                                break Err(Reason::Garbage("a model without a violation".into()));
                            }
                        }
                        Err(reason) => break Err(reason),
                    }
                }
            }
        };
        session.pop();
        result
    }

    /// Candidates that are inductive together and exclude the bad states; `None` if even all
    /// candidates do not exclude them.
    pub(super) fn support(
        &self,
        system: &System,
        pool: &mut Pool,
        session: &mut CoreSession,
        bad: TermId,
        cancel: &Cancellation,
    ) -> Result<Option<Vec<usize>>, Reason> {
        let mut parts: Vec<TermId> = system.assumptions().iter().map(|a| a.term.term()).collect();
        parts.push(bad);
        let whole = pool.and(parts);
        let mut instances = Instances { pool, terms: Vec::new() };
        let formula = instances.of(whole);
        let terms = instances.terms;
        let Some(mut wanted) = self.needed(pool, session, formula, &terms, None)? else {
            return Ok(None);
        };
        let mut next = 0;
        let steps: Vec<Step> =
            system.transition_ids().map(|t| self.step(system, pool, Place::After(t))).collect();
        while next < wanted.len() {
            let body = self.bodies[wanted[next]];
            for step in &steps {
                if cancel.is_cancelled() {
                    return Ok(None);
                }
                let violated = self.violated(pool, step, body);
                let formula = pool.and([step.formula, violated]);
                if pool.as_bool(formula) == Some(false) {
                    continue;
                }
                match self.needed(pool, session, formula, &step.terms, Some(&wanted))? {
                    Some(more) => {
                        for at in more {
                            if !wanted.contains(&at) {
                                wanted.push(at);
                            }
                        }
                    }
                    None => return Ok(None),
                }
            }
            next += 1;
        }
        Ok(Some(wanted))
    }

    /// Candidates that contradict a formula, preferably of `first`.
    fn needed(
        &self,
        pool: &mut Pool,
        session: &mut CoreSession,
        formula: TermId,
        terms: &[TermId],
        first: Option<&[usize]>,
    ) -> Result<Option<Vec<usize>>, Reason> {
        let all: Vec<usize> = (0..self.bodies.len()).filter(|&at| self.alive[at]).collect();
        for list in first.into_iter().chain([&all[..]]) {
            session.push();
            session.assert(pool, formula);
            let mut literals = Vec::new();
            for &at in list {
                let hypothesis = self.instances(pool, self.bodies[at], terms);
                let literal = session.literal();
                session.assert_if(pool, literal, hypothesis);
                literals.push(literal);
            }
            let limits = Limits::time(LIMITS.query);
            let answer = session.check(&literals, limits);
            let core = match answer {
                Answer::Unsat => session.core(limits).map(Some),
                Answer::Sat => Ok(None),
                Answer::Unknown(reason) => Err(reason),
            };
            session.pop();
            if let Some(core) = core? {
                let is_in = |literal: &Literal| core.contains(literal);
                let used = list.iter().zip(&literals).filter(|(_, l)| is_in(l));
                return Ok(Some(used.map(|(at, _)| *at).collect()));
            }
        }
        Ok(None)
    }
}
