//! Houdini: drops candidates until the rest is `k`-inductive.
//!
//! After Flanagan and Leino, *Houdini, an annotation assistant* (2001). All candidates are assumed
//! in the first `k` states of a path from an arbitrary state, each under an activation literal, and
//! a solver searches for a model that violates one of them in the next state. The candidates that
//! the model violates are dropped, until there is no such model. Before that, candidates must hold
//! in every state of every run of fewer than `k` steps. Together this is k-induction for the
//! conjunction of the remaining candidates, so each of them holds in every reachable state.
//!
//! The work is done in slices: [`Houdini::advance`] continues until a deadline.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use gander_smt::{Answer, Limits, Literal, Reason, Solver, StepSymbol};
use gander_system::{ClaimId, State};
use gander_term::{Features, Value};
use rustc_hash::FxHashMap;

use crate::core::{EngineContext, Purpose};
use crate::encode::encoding::Encoding;
use crate::encode::unrolling::{Origin, Unrolling};

use crate::candidates::candidate::{Candidate, Evaluator};

use super::limits::LIMITS;

/// A path in a session, with the literals of candidates.
struct PathSession {
    unrolling: Unrolling,
    /// The literal that assumes a candidate in this many states.
    assumed: FxHashMap<(Candidate, u32), Literal>,
    violated: FxHashMap<(Candidate, u32), Literal>,
    /// By state: the number of asserted lemmas.
    lemmas: Vec<usize>,
}

impl PathSession {
    fn new(unrolling: Unrolling) -> PathSession {
        PathSession {
            unrolling,
            assumed: FxHashMap::default(),
            violated: FxHashMap::default(),
            lemmas: Vec::new(),
        }
    }

    /// Extends the path to `length`, with lemmas in all states.
    fn grow(&mut self, e: &mut Encoding, lemmas: &[Candidate], length: u32) {
        while self.unrolling.length() < length {
            self.unrolling.extend(e);
        }
        self.lemmas.resize(self.unrolling.length() as usize + 1, 0);
        for state in 0..=self.unrolling.length() {
            for lemma in &lemmas[self.lemmas[state as usize]..] {
                if self.unrolling.nodes(state).binary_search(&lemma.node).is_ok() {
                    let here = e.at(lemma.node);
                    let term = e.pool.implies(here, lemma.formula);
                    self.unrolling.assert_at(e, term, state);
                }
            }
            self.lemmas[state as usize] = lemmas.len();
        }
    }

    /// The literal that assumes a candidate in exactly the first `states` states. A literal for
    /// more states would assume the conclusion.
    fn assume(&mut self, e: &mut Encoding, c: Candidate, states: u32) -> Literal {
        if let Some(&known) = self.assumed.get(&(c, states)) {
            return known;
        }
        let literal = self.unrolling.session.literal();
        for state in 0..states {
            if self.unrolling.nodes(state).binary_search(&c.node).is_ok() {
                let here = e.at(c.node);
                let term = e.pool.implies(here, c.formula);
                self.unrolling.assert_if_at(e, literal, term, state);
            }
        }
        self.assumed.insert((c, states), literal);
        literal
    }

    /// A literal that implies that a candidate is violated in a state; `None` if no path is at its
    /// node there.
    fn violate(&mut self, e: &mut Encoding, c: Candidate, state: u32) -> Option<Literal> {
        if let Some(&known) = self.violated.get(&(c, state)) {
            return Some(known);
        }
        self.unrolling.nodes(state).binary_search(&c.node).ok()?;
        let (here, not) = (e.at(c.node), e.pool.not(c.formula));
        let term = e.pool.and([here, not]);
        let literal = self.unrolling.session.literal();
        self.unrolling.assert_if_at(e, literal, term, state);
        self.violated.insert((c, state), literal);
        Some(literal)
    }

    /// Searches for a model in which one of the candidates is violated in a state.
    fn ask(
        &mut self,
        e: &mut Encoding,
        under: &[Literal],
        shown: &[Candidate],
        state: u32,
    ) -> Answer {
        let violated: Vec<Literal> =
            shown.iter().filter_map(|&c| self.violate(e, c, state)).collect();
        if violated.is_empty() {
            return Answer::Unsat;
        }
        let query = self.unrolling.session.literal();
        let clause: Vec<Literal> = std::iter::once(!query).chain(violated).collect();
        self.unrolling.session.assert_clause(&clause);
        let mut assumptions = under.to_vec();
        assumptions.push(query);
        self.unrolling.check(&assumptions, Limits::time(LIMITS.houdini_query))
    }

    /// The states of the last model at a position: one for each node with a true `at n`.
    fn states(&mut self, e: &mut Encoding, position: u32) -> Result<Vec<State>, Reason> {
        let system = Arc::clone(&e.system);
        let nodes = self.unrolling.nodes(position).to_vec();
        let mut asked: Vec<StepSymbol> =
            system.vars().iter().map(|v| StepSymbol::at(v.current, position)).collect();
        asked.extend(nodes.iter().map(|&n| StepSymbol::at(e.at_symbol(n), position)));
        let mut values =
            self.unrolling.session.values(&e.pool, &asked, Limits::time(LIMITS.houdini_query))?;
        let at = values.split_off(system.vars().len());
        let there = nodes.iter().zip(at).filter(|(_, at)| *at == Value::Bool(true));
        Ok(there.map(|(&node, _)| State { node, values: values.clone() }).collect())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Find the candidates that lemmas imply in a single state.
    Implied,
    /// The base case for runs of this many steps.
    Base(u32),
    Step,
}

/// The candidates being filtered.
struct Task {
    candidates: Vec<Candidate>,
    alive: Vec<bool>,
    evaluator: Evaluator,
    k: u32,
    phase: Phase,
    pending: VecDeque<Vec<usize>>,
    changed: bool,
    /// Known not to follow from lemmas.
    open: Vec<bool>,
    implied: Vec<Candidate>,
}

impl Task {
    fn fill(&mut self) {
        let alive: Vec<usize> = (0..self.candidates.len()).filter(|&c| self.alive[c]).collect();
        self.pending = alive.chunks(LIMITS.houdini_chunk).map(<[usize]>::to_vec).collect();
    }

    /// Records that the candidates that a state violates do not follow from lemmas; true if any is
    /// new.
    fn open_violated(&mut self, e: &Encoding, state: &State) -> bool {
        let values = self.evaluator.values(&e.pool, state);
        let mut some = false;
        for (c, value) in values.into_iter().enumerate() {
            if self.candidates[c].node == state.node && value != Some(Value::Bool(true)) {
                some |= !std::mem::replace(&mut self.open[c], true);
            }
        }
        some
    }

    /// Drops the candidates that a state violates; true if there are any.
    fn drop_violated(&mut self, e: &Encoding, state: &State) -> bool {
        let values = self.evaluator.values(&e.pool, state);
        let mut some = false;
        for (c, value) in values.into_iter().enumerate() {
            if self.alive[c]
                && self.candidates[c].node == state.node
                && value != Some(Value::Bool(true))
            {
                self.alive[c] = false;
                some = true;
            }
        }
        some
    }
}

/// The result of a slice.
pub(crate) enum FilterResult {
    /// There is more to do.
    More,
    /// `proved` are `k`-inductive together with the lemmas; `implied` follow from the lemmas.
    Done { proved: Vec<Candidate>, implied: Vec<Candidate> },
    /// No solver works.
    Failed(String),
}

/// See the module's documentation.
pub(crate) struct Houdini {
    claims: Vec<ClaimId>,
    features: Features,
    solvers: Option<Vec<Solver>>,
    current: usize,
    failures: usize,
    /// The proved lemmas.
    lemmas: Vec<Candidate>,
    base: Option<PathSession>,
    step: Option<PathSession>,
    single: Option<PathSession>,
    widening: Option<PathSession>,
    task: Option<Task>,
    /// Reachable states that violated candidates.
    pub found: Vec<State>,
}

impl Houdini {
    pub(crate) fn new(features: Features, claims: Vec<ClaimId>) -> Houdini {
        Houdini {
            claims,
            features,
            solvers: None,
            current: 0,
            failures: 0,
            lemmas: Vec::new(),
            base: None,
            step: None,
            single: None,
            widening: None,
            task: None,
            found: Vec::new(),
        }
    }

    /// The lemmas so far.
    pub(crate) fn lemmas(&self) -> &[Candidate] {
        &self.lemmas
    }

    /// Adds lemmas, to be used from now on.
    pub(crate) fn add_lemmas(&mut self, proved: &[Candidate]) {
        self.lemmas.extend_from_slice(proved);
    }

    /// Begins to filter candidates at depth `k`.
    pub(crate) fn begin(&mut self, e: &Encoding, candidates: Vec<Candidate>, k: u32) {
        let terms = candidates.iter().map(|c| c.formula).collect();
        let evaluator = Evaluator::new(&e.system, &e.pool, terms);
        let alive = vec![true; candidates.len()];
        let open = vec![false; candidates.len()];
        let (pending, implied) = (VecDeque::new(), Vec::new());
        let (phase, changed) = (Phase::Implied, false);
        let mut task =
            Task { candidates, alive, evaluator, k, phase, pending, changed, open, implied };
        if self.lemmas.is_empty() {
            task.phase = Phase::Base(0);
        }
        task.fill();
        self.task = Some(task);
    }

    /// Continues until a deadline.
    pub(crate) fn advance(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        until: Instant,
    ) -> FilterResult {
        let Some(mut task) = self.task.take() else {
            return FilterResult::Done { proved: Vec::new(), implied: Vec::new() };
        };
        loop {
            if context.is_cancelled() || Instant::now() >= until {
                self.task = Some(task);
                return FilterResult::More;
            }
            let Some(mut chunk) = task.pending.pop_front() else {
                match task.phase {
                    Phase::Implied => task.phase = Phase::Base(0),
                    Phase::Base(depth) if depth + 1 < task.k => task.phase = Phase::Base(depth + 1),
                    Phase::Base(_) => task.phase = Phase::Step,
                    Phase::Step if task.changed => {}
                    Phase::Step => {
                        let all = task.candidates.iter().zip(&task.alive);
                        let proved = all.filter(|(_, alive)| **alive).map(|(c, _)| *c).collect();
                        return FilterResult::Done { proved, implied: task.implied };
                    }
                }
                task.changed = false;
                task.fill();
                continue;
            };
            chunk.retain(|&c| task.alive[c] && (task.phase != Phase::Implied || !task.open[c]));
            if chunk.is_empty() {
                continue;
            }
            match self.ask(e, context, &mut task, &chunk) {
                Ok(true) if task.phase == Phase::Implied => {
                    for &c in &chunk {
                        task.alive[c] = false;
                        task.implied.push(task.candidates[c]);
                    }
                }
                Ok(true) => {}
                Ok(false) => {
                    task.changed = true;
                    task.pending.push_front(chunk);
                }
                Err(Reason::NotStarted(why)) => return FilterResult::Failed(why),
                Err(Reason::Interrupted) if context.is_cancelled() => {}
                Err(_) if chunk.len() > 1 => {
                    let rest = chunk.split_off(chunk.len() / 2);
                    task.pending.push_front(rest);
                    task.pending.push_front(chunk);
                }
                Err(_) if task.phase == Phase::Implied => task.open[chunk[0]] = true,
                Err(_) => {
                    // Too hard to show, so drop it.
                    task.alive[chunk[0]] = false;
                    task.changed = true;
                }
            }
        }
    }

    /// Searches for a violation of some candidates; true if there is none, false if some were
    /// dropped.
    fn ask(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        task: &mut Task,
        chunk: &[usize],
    ) -> Result<bool, Reason> {
        let answer = self.try_ask(e, context, task, chunk);
        if let Err(reason) = &answer {
            // Open a new session next time; after repeated failures, with the next solver.
            match task.phase {
                Phase::Implied => self.single = None,
                Phase::Base(_) => self.base = None,
                Phase::Step => self.step = None,
            }
            let solvers = self.solvers.as_ref().map_or(0, Vec::len);
            self.failures += 1;
            self.current = if self.failures.is_multiple_of(3) {
                (self.current + 1) % solvers.max(1)
            } else {
                self.current
            };
            if self.failures > LIMITS.houdini_failures {
                return Err(Reason::NotStarted(format!("too many failures: {reason}")));
            }
        }
        answer
    }

    fn try_ask(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        task: &mut Task,
        chunk: &[usize],
    ) -> Result<bool, Reason> {
        let solver = self.solver(context)?;
        let shown: Vec<Candidate> = chunk.iter().map(|&c| task.candidates[c]).collect();
        let purpose = |part| Purpose { part, claims: self.claims.clone() };
        let (ground, state, under) = match task.phase {
            Phase::Implied => {
                let ground = self.single.get_or_insert_with(|| {
                    let session = context.session(&solver, &purpose("implied"));
                    PathSession::new(Unrolling::new(e, session, Origin::Anywhere))
                });
                ground.grow(e, &self.lemmas, 0);
                (ground, 0, Vec::new())
            }
            Phase::Base(depth) => {
                let ground = self.base.get_or_insert_with(|| {
                    let session = context.session(&solver, &purpose("base"));
                    PathSession::new(Unrolling::new(e, session, Origin::Starts))
                });
                ground.grow(e, &self.lemmas, depth);
                (ground, depth, Vec::new())
            }
            Phase::Step => {
                let ground = self.step.get_or_insert_with(|| {
                    let session = context.session(&solver, &purpose("step"));
                    PathSession::new(Unrolling::new(e, session, Origin::Anywhere))
                });
                ground.grow(e, &self.lemmas, task.k);
                let mut under = Vec::new();
                for (c, &alive) in task.candidates.iter().zip(&task.alive) {
                    if alive {
                        under.push(ground.assume(e, *c, task.k));
                    }
                }
                (ground, task.k, under)
            }
        };
        match ground.ask(e, &under, &shown, state) {
            Answer::Unsat => return Ok(true),
            Answer::Unknown(reason) => return Err(reason),
            Answer::Sat => {}
        }
        let states = ground.states(e, state)?;
        let mut some = false;
        for state in &states {
            some |= match task.phase {
                Phase::Implied => task.open_violated(e, state),
                _ => task.drop_violated(e, state),
            };
        }
        if matches!(task.phase, Phase::Base(_)) {
            self.found.extend(states);
        }
        if some { Ok(false) } else { Err(Reason::Garbage("a model that violates nothing".into())) }
    }

    /// The target states of a step from a state that satisfies lemmas and candidates to a state
    /// that violates a candidate.
    pub(crate) fn leads_out(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        candidates: &[Candidate],
    ) -> Result<Option<Vec<State>>, Reason> {
        let solver = self.solver(context)?;
        let ground = self.widening.get_or_insert_with(|| {
            let session =
                context.session(&solver, &Purpose { part: "climb", claims: self.claims.clone() });
            PathSession::new(Unrolling::new(e, session, Origin::Anywhere))
        });
        ground.grow(e, &self.lemmas, 1);
        let under: Vec<Literal> = candidates.iter().map(|&c| ground.assume(e, c, 1)).collect();
        let answer = match ground.ask(e, &under, candidates, 1) {
            Answer::Unsat => Ok(None),
            Answer::Unknown(reason) => Err(reason),
            Answer::Sat => ground.states(e, 1).map(Some),
        };
        if answer.is_err() {
            self.widening = None;
        }
        answer
    }

    fn solver(&mut self, context: &EngineContext) -> Result<Solver, Reason> {
        let (all, features) = (&context.config().solvers, self.features);
        let solvers = self
            .solvers
            .get_or_insert_with(|| all.candidates(features).into_iter().cloned().collect());
        solvers
            .get(self.current)
            .cloned()
            .ok_or_else(|| Reason::NotStarted("no solver for this was found".into()))
    }

    /// The proved candidates that do not follow from the others and the lemmas. Later ones are
    /// dropped first. If a solver does not know, the candidate is kept.
    pub(crate) fn without_redundant(
        &mut self,
        e: &mut Encoding,
        context: &EngineContext,
        proved: Vec<Candidate>,
        until: Instant,
    ) -> Vec<Candidate> {
        let Ok(solver) = self.solver(context) else { return proved };
        let ground = self.single.get_or_insert_with(|| {
            let session =
                context.session(&solver, &Purpose { part: "implied", claims: self.claims.clone() });
            PathSession::new(Unrolling::new(e, session, Origin::Anywhere))
        });
        ground.grow(e, &self.lemmas, 0);
        let literals: Vec<Literal> = proved.iter().map(|&c| ground.assume(e, c, 1)).collect();
        let mut kept = vec![true; proved.len()];
        for i in (0..proved.len()).rev() {
            if context.is_cancelled() || Instant::now() >= until {
                break;
            }
            let others = (0..proved.len()).filter(|&o| o != i && kept[o]).map(|o| literals[o]);
            let under: Vec<Literal> = others.collect();
            match ground.ask(e, &under, &[proved[i]], 0) {
                Answer::Unsat => kept[i] = false,
                Answer::Sat => {}
                Answer::Unknown(_) => {
                    self.single = None;
                    break;
                }
            }
        }
        proved.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(c, _)| c).collect()
    }
}
