//! The step case: a path from an arbitrary state, in a solver session.
//!
//! Candidates are hypotheses in all states but the last. Lemmas hold in all states. Each hypothesis
//! and each lemma has an activation literal, and so have the constraints "states are distinct" and
//! "only the first state may be a start state". An unsatisfiable core of these literals tells what
//! a proof needs.

use std::sync::Arc;

use gander_smt::{Answer, CoreSession, Limits, Literal, Reason};
use gander_system::{NodeId, State};
use gander_term::{TermId, Value, evaluate};

use crate::encode::encoding::Encoding;
use crate::encode::question::{Place, Target};
use crate::encode::unrolling::{Path, Unrolling};

use super::lemma::Lemma;

/// The constraints on paths that the step case may add.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assumable {
    pub loop_free: bool,
    /// Compare only the variables that determine later states (path compression).
    pub compress: bool,
    pub no_restart: bool,
}

/// The assumptions in the core of an unsatisfiable step case.
#[derive(Clone, Debug, Default)]
pub(super) struct RestsOn {
    pub candidates: Vec<usize>,
    pub lemmas: Vec<usize>,
    pub loop_free: bool,
    pub no_restart: bool,
}

/// The result of a step case.
#[derive(Debug)]
pub(super) enum Preserved {
    Yes,
    /// A path leads to a target of this candidate.
    No(usize),
}

/// See the module's documentation.
pub(super) struct StepCase {
    unrolling: Unrolling<CoreSession>,
    /// By candidate: the literal, created on first use, and the number of states in which it is a
    /// hypothesis.
    hypotheses: Vec<Option<(Literal, u32)>>,
    lemmas: Vec<(Literal, u32)>,
    distinct: Literal,
    fresh: Literal,
    /// The states `k` for which the meaning of target flags is asserted.
    prepared: Vec<u32>,
    not_start: Vec<u32>,
}

/// A candidate in the step case.
pub(super) struct Claimed<'a> {
    /// By node: the formula to assume of a state.
    pub exclusion: &'a [(NodeId, TermId)],
    pub targets: &'a [Target],
}

impl StepCase {
    pub(super) fn new(mut unrolling: Unrolling<CoreSession>, candidates: usize) -> StepCase {
        let (distinct, fresh) = (unrolling.session.literal(), unrolling.session.literal());
        StepCase {
            unrolling,
            hypotheses: vec![None; candidates],
            lemmas: Vec::new(),
            distinct,
            fresh,
            prepared: Vec::new(),
            not_start: Vec::new(),
        }
    }

    /// Adds lemmas and extends the path, so that targets in state `k` or by a step from it can be
    /// queried.
    fn grow(&mut self, e: &mut Encoding, lemmas: &[Lemma], all: &[Claimed<'_>], k: u32) {
        let steps = all.iter().flat_map(|c| c.targets).any(|t| matches!(t.place, Place::Taking(_)));
        while self.unrolling.length() < k + u32::from(steps) {
            self.unrolling.extend(e);
        }
        for (i, lemma) in lemmas.iter().enumerate() {
            if i == self.lemmas.len() {
                let literal = self.unrolling.session.literal();
                self.lemmas.push((literal, 0));
            }
            let (literal, from) = self.lemmas[i];
            for state in from..=k {
                assume(&mut self.unrolling, e, literal, &lemma.by_node, state);
            }
            self.lemmas[i].1 = self.lemmas[i].1.max(k + 1);
        }
        if !self.prepared.contains(&k) {
            self.prepared.push(k);
            for target in all.iter().flat_map(|c| c.targets) {
                let nodes = self.unrolling.nodes(k).to_vec();
                if let Some(meaning) = target.meaning(e, &nodes) {
                    self.unrolling.assert_at(e, meaning, k);
                }
            }
        }
    }

    /// The literal that assumes a candidate in exactly the first `k` states. A literal that was
    /// used at a greater depth would assume the conclusion, so it is replaced.
    fn hypothesis(
        &mut self,
        e: &mut Encoding,
        at: usize,
        candidate: &Claimed<'_>,
        k: u32,
    ) -> Literal {
        let (literal, from) = match self.hypotheses[at] {
            Some((literal, from)) if from <= k => (literal, from),
            _ => (self.unrolling.session.literal(), 0),
        };
        for state in from..k {
            assume(&mut self.unrolling, e, literal, candidate.exclusion, state);
        }
        self.hypotheses[at] = Some((literal, k));
        literal
    }

    /// If the candidates `assumed` hold in `k` states, and the lemmas in all, can the next state be
    /// a target of the candidates `shown`? For `k = 0` this is any state.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn ask(
        &mut self,
        e: &mut Encoding,
        lemmas: &[Lemma],
        all: &[Claimed<'_>],
        assumed: &[usize],
        shown: &[usize],
        k: u32,
        assumable: Assumable,
        limits: Limits,
    ) -> Result<Preserved, Reason> {
        self.grow(e, lemmas, all, k);
        let mut assumptions: Vec<Literal> = self.lemmas.iter().map(|l| l.0).collect();
        if k > 0 {
            assumptions.extend([self.distinct, self.fresh]);
            for &c in assumed {
                let literal = self.hypothesis(e, c, &all[c], k);
                assumptions.push(literal);
            }
        }
        let targets: Vec<(usize, &Target)> =
            shown.iter().flat_map(|&c| all[c].targets.iter().map(move |t| (c, t))).collect();
        let Some(query) = self.query(e, &targets, k) else { return Ok(Preserved::Yes) };
        assumptions.push(query);
        loop {
            match self.unrolling.check(&assumptions, limits) {
                Answer::Unsat => return Ok(Preserved::Yes),
                Answer::Unknown(reason) => return Err(reason),
                Answer::Sat => {}
            }
            let (candidate, path) = self.met(e, &targets, k)?;
            if self.unrolling.refine(e, &path) {
                continue;
            }
            if !self.refine(e, &path, k, assumable) {
                return Ok(Preserved::No(candidate));
            }
        }
    }

    /// The core of the last [`StepCase::ask`] that returned `Preserved::Yes`.
    pub(super) fn rests_on(&mut self) -> Result<RestsOn, Reason> {
        let core = self.unrolling.session.core(Limits::NONE)?;
        let has = |l: Literal| core.contains(&l);
        let known = |h: &Option<(Literal, u32)>| h.is_some_and(|(l, _)| has(l));
        Ok(RestsOn {
            candidates: (0..self.hypotheses.len())
                .filter(|&i| known(&self.hypotheses[i]))
                .collect(),
            lemmas: (0..self.lemmas.len()).filter(|&i| has(self.lemmas[i].0)).collect(),
            loop_free: has(self.distinct),
            no_restart: has(self.fresh),
        })
    }

    /// A literal that implies that one of the targets is met in state `k` or by the step from it.
    fn query(&mut self, e: &mut Encoding, targets: &[(usize, &Target)], k: u32) -> Option<Literal> {
        let nodes = self.unrolling.nodes(k).to_vec();
        let (mut by_state, mut by_step) = (Vec::new(), Vec::new());
        for (_, target) in targets {
            if target.meaning(e, &nodes).is_none() {
                continue;
            }
            let flag = e.pool.var(target.flag);
            match target.place {
                Place::Taking(_) => by_step.push(flag),
                _ => by_state.push(flag),
            }
        }
        if by_state.is_empty() && by_step.is_empty() {
            return None;
        }
        let query = self.unrolling.session.literal();
        let mut clause = vec![!query];
        for (flags, state) in [(by_state, k), (by_step, k + 1)] {
            if !flags.is_empty() {
                let some = e.pool.or(flags);
                let literal = self.unrolling.session.literal();
                self.unrolling.assert_if_at(e, literal, some, state);
                clause.push(literal);
            }
        }
        self.unrolling.session.assert_clause(&clause);
        Some(query)
    }

    /// The candidate whose target the last model meets, and the path to it.
    fn met(
        &mut self,
        e: &mut Encoding,
        targets: &[(usize, &Target)],
        k: u32,
    ) -> Result<(usize, Path), Reason> {
        for by_step in [false, true] {
            let of_kind: Vec<_> = targets
                .iter()
                .filter(|(_, t)| matches!(t.place, Place::Taking(_)) == by_step)
                .collect();
            let state = k + u32::from(by_step);
            let symbols: Vec<_> = of_kind.iter().map(|(_, t)| t.flag).collect();
            let truths = if symbols.is_empty() {
                Vec::new()
            } else {
                self.unrolling.truths(e, &symbols, state)?
            };
            if let Some(((c, t), _)) = of_kind.iter().zip(truths).find(|(_, met)| *met) {
                return Ok((*c, self.unrolling.path(e, t.place, state)?));
            }
        }
        Err(Reason::Garbage("a model that meets no target".into()))
    }

    /// Adds the allowed constraints that the path violates; false if it violates none.
    fn refine(&mut self, e: &mut Encoding, path: &Path, k: u32, assumable: Assumable) -> bool {
        let nodes = self.unrolling.nodes(0).to_vec();
        let states = &path.states[..=k as usize];
        let mut refined = false;
        if assumable.no_restart {
            for (i, state) in states.iter().enumerate().skip(1) {
                let i = i as u32;
                if !self.not_start.contains(&i) && is_start(e, state) {
                    let term = e.no_restart(&nodes);
                    self.unrolling.assert_if_at(e, self.fresh, term, i);
                    self.not_start.push(i);
                    refined = true;
                }
            }
        }
        if assumable.loop_free && !refined {
            let (memory, everything) = (e.compared(assumable.compress), e.everything());
            for j in 1..states.len() {
                let compared = if j < k as usize { &memory } else { &everything };
                if let Some(i) = (0..j).find(|&i| same(&states[i], &states[j], compared)) {
                    let term = e.distinct(&nodes, (j - i) as u32, compared);
                    self.unrolling.assert_if_at(e, self.distinct, term, i as u32);
                    refined = true;
                }
            }
        }
        refined
    }
}

/// True if both states agree on the compared variables.
pub(super) fn same(a: &State, b: &State, compared: &[bool]) -> bool {
    a.node == b.node
        && a.values
            .iter()
            .zip(&b.values)
            .zip(compared)
            .all(|((x, y), compared)| !compared || x == y)
}

/// Asserts formulas by node in a state, under a literal.
fn assume(
    unrolling: &mut Unrolling<CoreSession>,
    e: &mut Encoding,
    literal: Literal,
    by_node: &[(NodeId, TermId)],
    state: u32,
) {
    let nodes = unrolling.nodes(state).to_vec();
    for &(n, formula) in by_node {
        if nodes.binary_search(&n).is_ok() {
            let here = e.at(n);
            let term = e.pool.implies(here, formula);
            unrolling.assert_if_at(e, literal, term, state);
        }
    }
}

/// True if evaluation shows that the state is a start state.
fn is_start(e: &mut Encoding, state: &State) -> bool {
    let system = Arc::clone(&e.system);
    let term = e.is_start(state.node);
    let value =
        |s| system.vars().iter().position(|v| v.current == s).map(|i| state.values[i].clone());
    evaluate(&e.pool, term, &value) == Ok(Value::Bool(true))
}
