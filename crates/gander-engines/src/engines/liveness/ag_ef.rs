//! `AG EF`: layers of states from which the goal is reachable.
//!
//! The goal states are the first layer. A further layer is a set of states at a node from each of
//! which a step of one transition leads to an earlier layer. If every reachable state is in some
//! layer, the claim holds, and the number of the layer is the rank. Otherwise a run leads to a
//! state `s` outside all layers. If no run from `s` reaches the goal, the claim fails. If one does,
//! the pre-images along it are new layers, one of which contains `s`. On a finite system this
//! terminates.
//!
//! Where paths to the goal can be arbitrarily long, one layer consists of all states from which a
//! step decreases a term ([`super::candidates`]).

use std::sync::Arc;
use std::time::Duration;

use gander_system::passes::{started_at, within};
use gander_system::{
    Choice, Choices, ClaimId, ClaimKind, Evidence, NodeId, NodeTerms, Run, State, StateTerm,
    System, TransitionId, Verdict,
};
use gander_term::{Pool, Simplifier, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::candidates;
use super::fair_cycle::AgEfSearch;
use super::limits::LIMITS;
use super::nested_check::{EngineSelection, NestedQuestion, Path, Reply};
use super::prover::Prover;
use super::step::Steps;
use super::support;
use crate::arith::eliminate::eliminate;
use crate::arith::number;
use crate::core::{EngineContext, portable};

/// States at a node from which a step leads to an earlier layer.
#[derive(Clone, Debug)]
struct Layer {
    node: NodeId,
    formula: TermId,
    transition: TransitionId,
    /// The values of the parameters and of the open next variables, where they are fixed.
    params: Vec<Option<Value>>,
    next: Vec<Option<Value>>,
}

/// A set of layers none of whose steps increases the rank term.
#[derive(Clone, Debug, Default)]
struct LayerSearch {
    rank: Option<TermId>,
    /// Transitions, and the states from which a step decreases the term.
    descents: Vec<(TransitionId, TermId)>,
    layers: Vec<Layer>,
    most: usize,
}

/// The current question.
#[derive(Debug)]
enum Question {
    /// Is every reachable state in a layer?
    Covered(NestedQuestion),
    /// Is the goal unreachable from the end of this run?
    GoalUnreachable(Run, NestedQuestion),
}

/// See the module's documentation.
pub(super) struct AgEf {
    pub claim: ClaimId,
    goal: StateTerm,
    pool: Pool,
    steps: Vec<Steps>,
    now: LayerSearch,
    /// Terms that are left to try; when there are none, layers without a term are used.
    ranks: Option<Vec<TermId>>,
    question: Option<Question>,
    /// The search on the graph of all states, while it runs.
    states: Option<AgEfSearch>,
    looked: bool,
    pub used: Duration,
    over: bool,
    why: Option<String>,
}

impl AgEf {
    pub(super) fn new(system: &System, claim: ClaimId) -> Option<AgEf> {
        let ClaimKind::AlwaysPossible(goal) = system.claims().get(claim.index())?.kind else {
            return None;
        };
        let mut pool = Pool::fork(system.pool());
        let steps = system.transition_ids().map(|t| Steps::of(system, &mut pool, t)).collect();
        let now = LayerSearch { most: LIMITS.first_layers, ..LayerSearch::default() };
        let (used, over, why) = (Duration::ZERO, false, None);
        Some(AgEf {
            claim,
            goal,
            pool,
            steps,
            now,
            ranks: None,
            question: None,
            states: None,
            looked: false,
            used,
            over,
            why,
        })
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn stop(&mut self) {
        self.over = true;
    }

    pub(super) fn obstacle(&self) -> Option<String> {
        self.why.clone().or_else(|| {
            let count = self.now.layers.len();
            (count > 0).then(|| {
                let ways = if count == 1 { "set" } else { "sets" };
                format!(
                    "{count} {ways} of states lead to the goal, but they were not shown to \
                     contain every reachable state"
                )
            })
        })
    }

    /// The states at `n` from which the goal is known to be reachable.
    fn covered(&mut self, system: &System, n: NodeId) -> TermId {
        let goal = system.at_node(&mut self.pool, self.goal, n);
        let descents = self
            .now
            .descents
            .iter()
            .filter(|(t, _)| system.transition(*t).source == n)
            .map(|(_, formula)| *formula);
        let layers = self.now.layers.iter().filter(|l| l.node == n).map(|l| l.formula);
        let parts: Vec<TermId> = [goal].into_iter().chain(descents).chain(layers).collect();
        self.pool.or(parts)
    }

    /// Does a unit of work.
    pub(super) fn advance(&mut self, context: &EngineContext) {
        if !std::mem::replace(&mut self.looked, true) {
            self.states = AgEfSearch::new(context, self.goal);
        }
        if let Some(mut states) = self.states.take() {
            match states.advance(context) {
                Some(Some(verdict)) => {
                    self.over = true;
                    context.propose_given(self.claim, verdict);
                }
                Some(None) => self.states = Some(states),
                None => {}
            }
            return;
        }
        let system = Arc::clone(context.given());
        match self.question.take() {
            None => self.ask_covered(&system),
            Some(Question::Covered(mut question)) => match question.ask(context) {
                Reply::Holds(proof) => match self.evidence(&system, proof) {
                    Some(evidence) => {
                        self.over = true;
                        context.propose_given(self.claim, Verdict::Holds(evidence));
                    }
                    None => self.give_up("the layers could not be written down"),
                },
                Reply::Fails(Evidence::Run(run)) => self.ask_if_goal_unreachable(&system, run),
                Reply::Fails(_) => {
                    self.give_up("no run to a state outside of the layers was given")
                }
                Reply::Undecided => self.question = Some(Question::Covered(question)),
                Reply::Unsupported(why) => self.give_up(&why),
            },
            Some(Question::GoalUnreachable(run, mut question)) => {
                match self.goal_unreachable(context, &mut question) {
                    Reply::Holds(proof) => {
                        self.over = true;
                        let evidence = Evidence::Impossible { run, proof: Box::new(proof) };
                        context.propose_given(self.claim, Verdict::Fails(evidence));
                    }
                    Reply::Fails(Evidence::Run(way)) => match Path::of(&question.system, &way) {
                        Some(way) => {
                            if self.add_layers(&system, &way).is_none() {
                                self.next_attempt(&system);
                            }
                            if !self.over {
                                self.ask_covered(&system);
                            }
                        }
                        None => self.give_up("a way to the goal could not be followed"),
                    },
                    Reply::Fails(_) => self.give_up("a way to the goal could not be followed"),
                    Reply::Undecided => {
                        self.question = Some(Question::GoalUnreachable(run, question))
                    }
                    Reply::Unsupported(why) => self.give_up(&why),
                }
            }
        }
    }

    /// Answers whether the goal is lost. First tries an invariant of comparisons with the values of
    /// the last state.
    fn goal_unreachable(
        &mut self,
        context: &EngineContext,
        question: &mut NestedQuestion,
    ) -> Reply {
        if !question.is_new() {
            return question.ask(context);
        }
        let system = Arc::clone(&question.system);
        let mut pool = Pool::fork(system.pool());
        let mut candidates = candidates::start_formulas(&system, &mut pool);
        candidates.extend(candidates::formulas(&system, &mut pool));
        let candidates = vec![candidates; system.nodes().len()];
        let mut prover = Prover::for_claim(self.claim);
        let found = support::invariant(context, self.claim, &system, &mut pool, &candidates)
            .and_then(|by_node| {
                let ClaimKind::Always(p) = system.claims().first()?.kind else { return None };
                for n in system.node_ids() {
                    let p = system.at_node(&mut pool, p, n);
                    let admissible = system.assumption_term(&mut pool, n);
                    let here = pool.and([by_node[n.index()], admissible]);
                    if !prover.implies(context, &mut pool, here, p) {
                        return None;
                    }
                }
                portable(&system, &pool, &by_node).ok()
            });
        match found {
            Some(invariant) => Reply::Holds(Evidence::Invariant(invariant)),
            None => question.ask(context),
        }
    }

    fn give_up(&mut self, why: &str) {
        self.over = true;
        self.why = Some(why.to_string());
    }

    fn ask_covered(&mut self, system: &System) {
        let by_node: Vec<TermId> = system.node_ids().map(|n| self.covered(system, n)).collect();
        let asked =
            portable(system, &self.pool, &by_node).ok().and_then(|set| within(system, &set));
        match asked {
            Some(made) => {
                self.question =
                    Some(Question::Covered(NestedQuestion::new(made, EngineSelection::All)))
            }
            None => self.give_up("the layers could not be written down"),
        }
    }

    fn ask_if_goal_unreachable(&mut self, system: &System, run: Run) {
        let made = Path::of(system, &run)
            .and_then(|path| path.states.last().cloned())
            .and_then(|end| started_at(system, &end, self.goal));
        match made {
            Some(made) => {
                self.question = Some(Question::GoalUnreachable(
                    run,
                    NestedQuestion::new(made, EngineSelection::All),
                ))
            }
            None => self.give_up("a run could not be followed"),
        }
    }

    /// Starts again with the next term, finally without one.
    fn next_attempt(&mut self, system: &System) {
        if self.now.rank.is_none() && self.ranks.as_ref().is_some_and(Vec::is_empty) {
            self.give_up("there are too many ways to the goal");
            return;
        }
        if self.ranks.is_none() {
            let mut ranks = candidates::ranks(system, &mut self.pool);
            ranks.reverse();
            self.ranks = Some(ranks);
        }
        while let Some(rank) = self.ranks.as_mut().and_then(Vec::pop) {
            if let Some(descents) = self.descents_of(system, rank) {
                self.now = LayerSearch {
                    rank: Some(rank),
                    descents,
                    layers: Vec::new(),
                    most: LIMITS.first_layers,
                };
                return;
            }
        }
        self.now = LayerSearch { most: LIMITS.layers, ..LayerSearch::default() };
    }

    fn descents_of(
        &mut self,
        system: &System,
        rank: TermId,
    ) -> Option<Vec<(TransitionId, TermId)>> {
        let sort = self.pool.sort(rank);
        let zero = candidates::zero(&mut self.pool, sort);
        let one = number::constant(&mut self.pool, sort, gander_term::RBig::ONE);
        let mut found = Vec::new();
        for t in system.transition_ids() {
            let steps = self.steps[t.index()].clone();
            let next = steps.behind(&mut self.pool, rank);
            let less = self.pool.sub(rank, one);
            let (bounded, decreases) = (self.pool.le(zero, rank), self.pool.le(next, less));
            let body = self.pool.and([steps.formula, bounded, decreases]);
            let formula = eliminate(&mut self.pool, &steps.chosen, body)?;
            if self.pool.as_bool(formula) != Some(false) {
                found.push((t, formula));
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Adds layers along a path to the goal, from its end to its beginning; `None` if its first
    /// state is then in no layer.
    fn add_layers(&mut self, system: &System, way: &Path) -> Option<()> {
        let mut simplifier = Simplifier::default();
        for (i, step) in way.steps.iter().enumerate().rev() {
            if self.now.layers.len() >= self.now.most {
                return None;
            }
            if self.is_covered(system, &way.states[i]) {
                continue;
            }
            let steps = self.steps.get(step.transition.index())?.clone();
            let nearer = self.covered(system, way.states[i + 1].node);
            let mut goal = steps.behind(&mut self.pool, nearer);
            if let Some(rank) = self.now.rank {
                let next = steps.behind(&mut self.pool, rank);
                let kept = self.pool.le(next, rank);
                goal = self.pool.and([goal, kept]);
            }
            let body = self.pool.and([steps.formula, goal]);
            let mut layer = Layer {
                node: way.states[i].node,
                formula: body,
                transition: step.transition,
                params: vec![None; step.params.len()],
                next: vec![None; system.vars().len()],
            };
            layer.formula = match eliminate(&mut self.pool, &steps.chosen, body) {
                Some(formula) => formula,
                None => {
                    // Fix the choices to the values of this path.
                    let mut given = FxHashMap::default();
                    for (p, value) in
                        system.transition(step.transition).params.iter().zip(&step.params)
                    {
                        given.insert(p.symbol, self.pool.constant(value.clone()));
                    }
                    layer.params = step.params.iter().cloned().map(Some).collect();
                    for ((v, value), slot) in
                        system.vars().iter().zip(&way.states[i + 1].values).zip(&mut layer.next)
                    {
                        if steps.chosen.contains(&v.next) {
                            given.insert(v.next, self.pool.constant(value.clone()));
                            *slot = Some(value.clone());
                        }
                    }
                    self.pool.substitute(body, &given)
                }
            };
            layer.formula = simplifier.simplify(&mut self.pool, layer.formula);
            self.now.layers.push(layer);
        }
        self.is_covered(system, way.states.first()?).then_some(())
    }

    fn is_covered(&mut self, system: &System, state: &State) -> bool {
        let covered = self.covered(system, state.node);
        let value =
            |s| system.vars().iter().position(|v| v.current == s).map(|i| state.values[i].clone());
        evaluate(&self.pool, covered, &value) == Ok(Value::Bool(true))
    }

    fn evidence(&mut self, system: &System, proof: Evidence) -> Option<Evidence> {
        let by_node: Vec<TermId> = system.node_ids().map(|n| self.covered(system, n)).collect();
        let set = portable(system, &self.pool, &by_node).ok()?;
        let mut own = Pool::fork(system.pool());
        let mut importer = gander_term::Importer::new();
        let mut list = Vec::new();
        let mut ranks = Vec::new();
        let attempt = self.now.clone();
        for n in system.node_ids() {
            // Earlier layers, and their numbers.
            let goal = system.at_node(&mut self.pool, self.goal, n);
            let mut nearer = vec![(goal, 0)];
            for &(t, formula) in
                attempt.descents.iter().filter(|(t, _)| system.transition(*t).source == n)
            {
                let transition = system.transition(t);
                let when = importer.import(&mut own, &self.pool, formula).ok()?;
                let (params, next) =
                    (vec![None; transition.params.len()], vec![None; system.vars().len()]);
                list.push(Choice { transition: t, when, params, next });
                nearer.push((formula, 0));
            }
            for (i, layer) in attempt.layers.iter().enumerate().filter(|(_, l)| l.node == n) {
                let before = self.pool.or(nearer.iter().map(|(formula, _)| *formula));
                let not_before = self.pool.not(before);
                let when = self.pool.and([layer.formula, not_before]);
                nearer.push((layer.formula, i + 1));
                if self.pool.as_bool(when) == Some(false) {
                    continue;
                }
                let when = importer.import(&mut own, &self.pool, when).ok()?;
                let constants = |own: &mut Pool, values: &[Option<Value>]| {
                    values.iter().map(|v| v.clone().map(|v| own.constant(v))).collect::<Vec<_>>()
                };
                let (params, next) =
                    (constants(&mut own, &layer.params), constants(&mut own, &layer.next));
                list.push(Choice { transition: layer.transition, when, params, next });
            }
            let mut number = self.pool.int(attempt.layers.len() + 1);
            for (formula, i) in nearer.into_iter().rev() {
                let i = self.pool.int(i);
                number = self.pool.ite(formula, i, number);
            }
            let mut tuple = Vec::new();
            for t in attempt.rank.into_iter().chain([number]) {
                tuple.push(importer.import(&mut own, &self.pool, t).ok()?);
            }
            ranks.push(tuple);
        }
        let pool = own.freeze();
        let ranks = NodeTerms { pool: Arc::clone(&pool), by_node: ranks };
        Some(Evidence::Possible {
            set,
            proof: Box::new(proof),
            ranks,
            choices: Choices { pool, list },
        })
    }
}
