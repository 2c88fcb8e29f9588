//! Unrollings: a path of states in a solver session, one state longer with each
//! [`Unrolling::extend`].
//!
//! Every formula is compiled once per session ([`gander_smt::Template`]) and instantiated at a step
//! by concatenation, so the cost of a step does not depend on the number of steps. Nodes that the
//! control graph cannot be at after a number of steps are left out.

use std::borrow::BorrowMut;
use std::sync::Arc;

use gander_smt::{Answer, Limits, Literal, Reason, Session, StepSymbol, Template};
use gander_system::{Leg, NodeId, Run, StartId, State, Step, TransitionId};
use gander_term::{SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use crate::encode::abstraction::Abstraction;
use crate::encode::encoding::Encoding;
use crate::encode::question::Place;

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// In a start state.
    Starts,
    /// In any state at a node that is reachable in the control graph.
    Anywhere,
}

/// See the module's documentation.
pub(crate) struct Unrolling<S = Session> {
    pub session: S,
    origin: Origin,
    templates: FxHashMap<TermId, Template>,
    /// The effects that steps have, if not all.
    abstraction: Option<Abstraction>,
    /// By state: the nodes that the control graph can be at, sorted.
    nodes: Vec<Arc<[NodeId]>>,
}

/// A path read from a model, from state 0 on.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub start: Option<StartId>,
    pub states: Vec<State>,
    /// Transitions and parameters.
    pub steps: Vec<(TransitionId, Vec<Value>)>,
}

impl Path {
    /// The path as a run, if it begins with a start.
    pub(crate) fn into_run(self) -> Option<Run> {
        let start = self.start?;
        let mut states = self.states.into_iter();
        let first = states.next()?;
        let legs = self
            .steps
            .into_iter()
            .zip(states)
            .map(|((transition, params), s)| {
                Leg::Step(Step { transition, params, next: Some(s.values) })
            })
            .collect();
        Some(Run { start, first, legs })
    }
}

impl<S: BorrowMut<Session>> Unrolling<S> {
    /// A path of one state.
    pub(crate) fn new(e: &mut Encoding, session: S, origin: Origin) -> Unrolling<S> {
        let (templates, nodes) = (FxHashMap::default(), Vec::new());
        let mut unrolling = Unrolling { session, origin, templates, abstraction: None, nodes };
        let nodes: Vec<NodeId> = match origin {
            Origin::Starts => {
                let mut targets: Vec<NodeId> = e.system.starts().iter().map(|s| s.target).collect();
                targets.sort_unstable();
                targets.dedup();
                for s in 0..e.system.starts().len() {
                    let start = e.start(StartId::from(s));
                    unrolling.assert_at(e, start, 0);
                }
                for &n in &targets {
                    let begun = e.begun_by(n);
                    unrolling.assert_at(e, begun, 0);
                }
                targets
            }
            Origin::Anywhere => e.reachable_nodes(),
        };
        unrolling.add_state(e, nodes);
        unrolling
    }

    /// A path of one state whose steps have only the effects that [`Unrolling::refine`] adds.
    pub(crate) fn abstracted(e: &mut Encoding, session: S, origin: Origin) -> Unrolling<S> {
        let mut unrolling = Unrolling::new(e, session, origin);
        unrolling.abstraction = Some(Abstraction::new(e));
        unrolling
    }

    /// Adds the parts of effects that a path violates, at every step; false if it violates none.
    pub(crate) fn refine(&mut self, e: &Encoding, path: &Path) -> bool {
        let Some(abstraction) = &mut self.abstraction else { return false };
        let added = abstraction.refine(e, path);
        for &part in &added {
            for step in 0..self.length() {
                self.assert_at(e, part, step);
            }
        }
        !added.is_empty()
    }

    /// The number of steps.
    pub(crate) fn length(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// The nodes that the control graph can be at in a state.
    pub(crate) fn nodes(&self, state: u32) -> &[NodeId] {
        &self.nodes[state as usize]
    }

    /// Adds a step and the state it leads to.
    pub(crate) fn extend(&mut self, e: &mut Encoding) {
        let step = self.length();
        let before = Arc::clone(&self.nodes[step as usize]);
        let after = e.successors(&before);
        for &n in before.iter() {
            for t in e.system.leaving(n).to_vec() {
                let relation =
                    if self.abstraction.is_some() { e.skeleton(t) } else { e.relation(t) };
                self.assert_at(e, relation, step);
            }
        }
        let present: Vec<TermId> = self.abstraction.iter().flat_map(Abstraction::present).collect();
        for part in present {
            self.assert_at(e, part, step);
        }
        for &n in &after {
            let transitions = e.entering(n, &before);
            let entered = e.entered_by(n, &transitions);
            self.assert_at(e, entered, step);
        }
        self.add_state(e, after);
    }

    fn add_state(&mut self, e: &mut Encoding, nodes: Vec<NodeId>) {
        let state = self.nodes.len() as u32;
        for &n in &nodes {
            let assumption = e.assumption(n);
            self.assert_at(e, assumption, state);
        }
        // Share equal node sets: after a few steps they repeat.
        let same = self.nodes.iter().rev().take(2).find(|known| known[..] == nodes[..]).cloned();
        self.nodes.push(same.unwrap_or_else(|| nodes.into()));
    }

    /// Asserts a formula at a step.
    pub(crate) fn assert_at(&mut self, e: &Encoding, formula: TermId, step: u32) {
        if e.pool.as_bool(formula) == Some(true) {
            return;
        }
        let template = template(&mut self.templates, self.session.borrow_mut(), e, formula);
        self.session.borrow_mut().assert_at(&e.pool, template, step);
    }

    /// Asserts that a literal implies a formula at a step.
    pub(crate) fn assert_if_at(
        &mut self,
        e: &Encoding,
        literal: Literal,
        formula: TermId,
        step: u32,
    ) {
        if e.pool.as_bool(formula) == Some(true) {
            return;
        }
        let template = template(&mut self.templates, self.session.borrow_mut(), e, formula);
        self.session.borrow_mut().assert_if_at(&e.pool, literal, template, step);
    }

    /// A formula: the state is at some node.
    pub(crate) fn at_some_node(&self, e: &mut Encoding, state: u32) -> TermId {
        let here: Vec<TermId> = self.nodes(state).to_vec().into_iter().map(|n| e.at(n)).collect();
        e.pool.or(here)
    }

    /// Checks satisfiability.
    pub(crate) fn check(&mut self, assumptions: &[Literal], limits: Limits) -> Answer {
        self.session.borrow_mut().check(assumptions, limits)
    }

    /// The values of Boolean variables of a step in the last model.
    pub(crate) fn truths(
        &mut self,
        e: &Encoding,
        symbols: &[SymbolId],
        step: u32,
    ) -> Result<Vec<bool>, Reason> {
        let asked: Vec<StepSymbol> = symbols.iter().map(|&s| StepSymbol::at(s, step)).collect();
        let values = self.session.borrow_mut().values(&e.pool, &asked, Limits::NONE)?;
        Ok(values.iter().map(|v| *v == Value::Bool(true)).collect())
    }

    /// Reads the path to the place in state `end` (or by the step before it) from the last model.
    pub(crate) fn path(
        &mut self,
        e: &mut Encoding,
        place: Place,
        end: u32,
    ) -> Result<Path, Reason> {
        let system = Arc::clone(&e.system);
        let broken = || Reason::Garbage("a model without the path that it should have".to_string());
        let mut reading = Reading::default();
        self.prefetch(e, &mut reading, place, end)?;
        let mut node = match place {
            Place::At(n) => n,
            Place::Anywhere => {
                let nodes = self.nodes(end).to_vec();
                self.first_true(e, &mut reading, end, &nodes, |e, n| e.at_symbol(n))?
                    .ok_or_else(broken)?
            }
            Place::Taking(t) => system.transition(t).target,
            Place::Beginning(s) => system.starts()[s.index()].target,
        };
        let mut nodes = vec![node];
        let mut taken: Vec<TransitionId> = Vec::new();
        for step in (0..end).rev() {
            let t = match place {
                Place::Taking(t) if step + 1 == end => t,
                _ => {
                    let entering = e.entering(node, self.nodes(step));
                    self.first_true(e, &mut reading, step, &entering, |e, t| e.take_symbol(t))?
                        .ok_or_else(broken)?
                }
            };
            taken.push(t);
            node = system.transition(t).source;
            nodes.push(node);
        }
        taken.reverse();
        nodes.reverse();
        let start = match (self.origin, place) {
            (Origin::Anywhere, _) => None,
            (Origin::Starts, Place::Beginning(s)) => Some(s),
            (Origin::Starts, _) => {
                let all = (0..system.starts().len()).map(StartId::from);
                let entering: Vec<StartId> =
                    all.filter(|s| system.starts()[s.index()].target == node).collect();
                Some(
                    self.first_true(e, &mut reading, 0, &entering, |e, s| e.begin_symbol(s))?
                        .ok_or_else(broken)?,
                )
            }
        };
        self.values(e, &mut reading, start, &nodes, &taken)
    }

    /// On a small control graph, reads all values that a path may need with one query instead of
    /// one per step.
    fn prefetch(
        &mut self,
        e: &mut Encoding,
        reading: &mut Reading,
        place: Place,
        end: u32,
    ) -> Result<(), Reason> {
        let system = Arc::clone(&e.system);
        if system.transitions().len() + system.nodes().len() > LIMITS.small_graph {
            return Ok(());
        }
        let mut asked = Vec::new();
        for i in 0..=end {
            asked.extend(system.vars().iter().map(|v| StepSymbol::at(v.current, i)));
            if i == end {
                if place == Place::Anywhere {
                    asked.extend(self.nodes(i).iter().map(|&n| StepSymbol::at(e.at_symbol(n), i)));
                }
                break;
            }
            for n in self.nodes(i).to_vec() {
                for &t in system.leaving(n) {
                    asked.push(StepSymbol::at(e.take_symbol(t), i));
                    asked.extend(e.params(t).into_iter().map(|p| StepSymbol::at(p, i)));
                }
            }
        }
        if self.origin == Origin::Starts {
            asked.extend(
                (0..system.starts().len())
                    .map(|s| StepSymbol::at(e.begin_symbol(StartId::from(s)), 0)),
            );
        }
        asked.sort_unstable();
        asked.dedup();
        self.read(e, reading, &asked)
    }

    /// Reads the values that are not known yet.
    fn read(
        &mut self,
        e: &Encoding,
        reading: &mut Reading,
        asked: &[StepSymbol],
    ) -> Result<(), Reason> {
        let missing: Vec<StepSymbol> =
            asked.iter().copied().filter(|s| !reading.known.contains_key(s)).collect();
        if !missing.is_empty() {
            let values = self.session.borrow_mut().values(&e.pool, &missing, Limits::NONE)?;
            reading.known.extend(missing.into_iter().zip(values));
        }
        Ok(())
    }

    /// The values of the variables and parameters along a path.
    fn values(
        &mut self,
        e: &mut Encoding,
        reading: &mut Reading,
        start: Option<StartId>,
        nodes: &[NodeId],
        taken: &[TransitionId],
    ) -> Result<Path, Reason> {
        let system = Arc::clone(&e.system);
        let mut asked = Vec::new();
        for i in 0..nodes.len() as u32 {
            asked.extend(system.vars().iter().map(|v| StepSymbol::at(v.current, i)));
            if let Some(&t) = taken.get(i as usize) {
                asked.extend(e.params(t).into_iter().map(|p| StepSymbol::at(p, i)));
            }
        }
        self.read(e, reading, &asked)?;
        let mut values = asked.iter().map(|s| reading.known[s].clone());
        let (mut states, mut steps) = (Vec::new(), Vec::new());
        for (i, &node) in nodes.iter().enumerate() {
            states
                .push(State { node, values: values.by_ref().take(system.vars().len()).collect() });
            if let Some(&t) = taken.get(i) {
                steps.push((t, values.by_ref().take(system.transition(t).params.len()).collect()));
            }
        }
        Ok(Path { start, states, steps })
    }

    fn first_true<T: Copy>(
        &mut self,
        e: &Encoding,
        reading: &mut Reading,
        step: u32,
        candidates: &[T],
        symbol: impl Fn(&Encoding, T) -> SymbolId,
    ) -> Result<Option<T>, Reason> {
        if let [only] = candidates {
            return Ok(Some(*only));
        }
        let asked: Vec<StepSymbol> =
            candidates.iter().map(|&c| StepSymbol::at(symbol(e, c), step)).collect();
        self.read(e, reading, &asked)?;
        let found = asked.iter().position(|s| reading.known[s] == Value::Bool(true));
        Ok(found.map(|i| candidates[i]))
    }
}

/// The values read from a model.
#[derive(Default)]
struct Reading {
    known: FxHashMap<StepSymbol, Value>,
}

fn template<'t>(
    templates: &'t mut FxHashMap<TermId, Template>,
    session: &mut Session,
    e: &Encoding,
    formula: TermId,
) -> &'t Template {
    templates
        .entry(formula)
        .or_insert_with(|| session.compile(&e.pool, formula, &|s| e.placement(s)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_smt::{SessionConfig, Solvers};
    use gander_system::{Role, SystemBuilder};
    use gander_term::{Pool, Sort, parse_term};

    #[test]
    fn extending_compiles_no_new_formulas() {
        let mut b =
            SystemBuilder::new("counter", Pool::new(), &[("A", None), ("B", None)]).unwrap();
        let x = b.var("x", Sort::Int, Role::State, None, None).unwrap();
        let zero = parse_term(&mut b.pool, "x == 0").unwrap();
        b.start("go", NodeId(0), &[(zero, None)], None).unwrap();
        for (name, from, to) in [("there", 0, 1), ("back", 1, 0)] {
            let mut draft = b.transition(name, None, NodeId(from), NodeId(to), None).unwrap();
            let more = parse_term(&mut b.pool, "x + 1").unwrap();
            b.assign(&mut draft, x, more, None).unwrap();
            b.add(draft).unwrap();
        }
        let mut e = Encoding::new(&Arc::new(b.finish()));
        let solvers = Solvers::from_environment();
        let session = Session::start(solvers.all()[0], SessionConfig::default());
        let mut unrolling = Unrolling::new(&mut e, session, Origin::Starts);
        for _ in 0..3 {
            unrolling.extend(&mut e);
        }
        let (terms, templates) = (e.pool.len(), unrolling.templates.len());
        for _ in 0..100 {
            unrolling.extend(&mut e);
        }
        assert_eq!((e.pool.len(), unrolling.templates.len()), (terms, templates));
        assert_eq!(unrolling.nodes(103), [NodeId(1)]);
        let Answer::Sat = unrolling.check(&[], Limits::NONE) else { panic!("the counter can run") };
    }
}
