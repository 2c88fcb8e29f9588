//! Explores the reachable states of a system breadth first, with the enabled choices of each state.

use std::collections::VecDeque;

use gander_system::{Effect, NodeId, StartId, System, Transition, TransitionId};
use gander_term::{Pool, Sort, TermId, Value};
use rustc_hash::FxHashMap;

use crate::decide::evaluate::{Env, Evaluator, Literal, View};
use crate::{Limits, Refusal};

/// A transition enabled in a state with some parameters.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The transition.
    pub transition: TransitionId,
    /// Values of its parameters.
    pub params: Vec<Value>,
    /// True if some next values satisfy the effect, whether or not they satisfy the assumptions.
    pub completable: Result<bool, Refusal>,
    /// The states that steps with this choice lead to.
    pub successors: Vec<usize>,
}

/// The reachable part of a system. States are numbered in the order in which the search finds them.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The states: node and values of variables.
    pub states: Vec<(NodeId, Vec<Value>)>,
    /// The length of a shortest run to each state.
    pub distance: Vec<u64>,
    /// The start states of each start transition.
    pub started: Vec<Vec<usize>>,
    /// The enabled choices of each state.
    pub choices: Vec<Vec<Choice>>,
}

impl Reachable {
    /// Explores a system whose terms are in `pool`.
    pub fn explore(system: &System, pool: &Pool, limits: Limits) -> Result<Reachable, Refusal> {
        Reachable::search(system, pool, limits, None)
    }

    /// Explores a system from these states instead of its start states, as far as the assumptions
    /// allow them. They count as the states of one start.
    pub fn explore_from(
        system: &System,
        pool: &Pool,
        first: &[(NodeId, Vec<Value>)],
        limits: Limits,
    ) -> Result<Reachable, Refusal> {
        Reachable::search(system, pool, limits, Some(first))
    }

    fn search(
        system: &System,
        pool: &Pool,
        limits: Limits,
        first: Option<&[(NodeId, Vec<Value>)]>,
    ) -> Result<Reachable, Refusal> {
        let evaluator = Evaluator::new(pool, system, limits.work);
        let after = conjunction(
            &evaluator,
            View::After,
            system.assumptions().iter().map(|a| a.term.term()),
        );
        let prepared =
            system.transitions().iter().map(|t| Prepared::of(&evaluator, t, &after)).collect();
        let mut search = Search {
            system,
            evaluator: &evaluator,
            limits,
            prepared,
            next: system.vars().iter().map(|v| v.next.index()).collect(),
            found: FxHashMap::default(),
            reachable: Reachable {
                states: Vec::new(),
                distance: Vec::new(),
                started: Vec::new(),
                choices: Vec::new(),
            },
            queue: VecDeque::new(),
        };
        match first {
            Some(first) => search.start_with(first)?,
            None => search.start()?,
        }
        search.run()?;
        Ok(search.reachable)
    }

    /// All steps from a state: the choice and the next state.
    pub fn steps(&self, state: usize) -> impl Iterator<Item = (&Choice, usize)> {
        self.choices[state].iter().flat_map(|c| c.successors.iter().map(move |&next| (c, next)))
    }

    /// True if no step leaves the state.
    pub fn is_stuck(&self, state: usize) -> bool {
        self.choices[state].iter().all(|c| c.successors.is_empty())
    }

    /// True if a step of one of the transitions can be completed in the state.
    pub fn can_take(&self, state: usize, transitions: &[TransitionId]) -> bool {
        self.steps(state).any(|(c, _)| transitions.contains(&c.transition))
    }

    /// The start states of all starts.
    pub fn start_states(&self) -> impl Iterator<Item = usize> + '_ {
        self.started.iter().flatten().copied()
    }
}

/// The solutions of an effect.
struct Completion {
    /// True if the effect has a solution, whether or not it satisfies the assumptions.
    possible: Result<bool, Refusal>,
    /// The values of variables in the admissible next states.
    next: Vec<Vec<Value>>,
}

/// The literals of a transition.
struct Prepared {
    guard: Vec<Literal>,
    params: Vec<usize>,
    /// The constraints of the effect.
    effect: Vec<Literal>,
    /// The constraints of the effect, and the assumptions on the next state.
    step: Vec<Literal>,
}

impl Prepared {
    fn of(evaluator: &Evaluator, t: &Transition, assumptions: &[Literal]) -> Prepared {
        let constraints = t.effect.iter().filter_map(|e| match e {
            Effect::Constrain { relation, .. } => Some(relation.term()),
            Effect::Assign { .. } | Effect::Keep { .. } => None,
        });
        let effect = conjunction(evaluator, View::Here, constraints);
        Prepared {
            guard: conjunction(evaluator, View::Here, t.guard.iter().map(|g| g.term.term())),
            params: t.params.iter().map(|p| p.symbol.index()).collect(),
            step: effect.iter().chain(assumptions).cloned().collect(),
            effect,
        }
    }
}

/// The literals of several formulas.
fn conjunction(
    evaluator: &Evaluator,
    view: View,
    formulas: impl Iterator<Item = TermId>,
) -> Vec<Literal> {
    let mut literals = Vec::new();
    formulas.for_each(|t| evaluator.flatten(t, true, view, &mut literals));
    literals
}

struct Search<'a> {
    system: &'a System,
    evaluator: &'a Evaluator<'a>,
    limits: Limits,
    /// By transition.
    prepared: Vec<Prepared>,
    /// The slots of next values.
    next: Vec<usize>,
    found: FxHashMap<(NodeId, Vec<Value>), usize>,
    reachable: Reachable,
    queue: VecDeque<usize>,
}

/// The value of `@node` at a node.
fn node_value(system: &System, pool: &Pool, node: NodeId) -> Option<Value> {
    match pool.symbol(system.location()).sort {
        Sort::Enum(e) => Some(Value::Enum(e, node.0)),
        _ => None,
    }
}

/// Gives the unprimed variables and `@node` their values in a state.
pub(crate) fn enter(system: &System, pool: &Pool, env: &mut Env, node: NodeId, values: &[Value]) {
    env.0[system.location().index()] = node_value(system, pool, node);
    for (v, value) in system.vars().iter().zip(values) {
        env.0[v.current.index()] = Some(value.clone());
    }
}

impl Search<'_> {
    fn start(&mut self) -> Result<(), Refusal> {
        for s in 0..self.system.starts().len() {
            let states = self.start_states(StartId::from(s))?;
            let mut numbers = Vec::new();
            for values in states {
                numbers.push(self.number(self.system.starts()[s].target, values, 0)?);
            }
            self.reachable.started.push(numbers);
        }
        Ok(())
    }

    fn start_with(&mut self, first: &[(NodeId, Vec<Value>)]) -> Result<(), Refusal> {
        let assumptions = self.system.assumptions().iter().map(|a| a.term.term());
        let literals = conjunction(self.evaluator, View::Here, assumptions);
        let mut numbers = Vec::new();
        for (node, values) in first {
            let mut env = self.evaluator.empty_env();
            enter(self.system, self.evaluator.pool, &mut env, *node, values);
            if !self.solutions(&mut env, &[], &[], &literals)?.is_empty() {
                numbers.push(self.number(*node, values.clone(), 0)?);
            }
        }
        self.reachable.started.push(numbers);
        Ok(())
    }

    fn run(&mut self) -> Result<(), Refusal> {
        while let Some(state) = self.queue.pop_front() {
            // States are numbered in queue order, so these are the choices of the next state.
            let choices = self.choices(state)?;
            self.reachable.choices.push(choices);
        }
        Ok(())
    }

    fn number(
        &mut self,
        node: NodeId,
        values: Vec<Value>,
        distance: u64,
    ) -> Result<usize, Refusal> {
        if let Some(&n) = self.found.get(&(node, values.clone())) {
            return Ok(n);
        }
        let n = self.reachable.states.len();
        if n >= self.limits.states {
            return Err(Refusal::TooManyStates);
        }
        self.reachable.states.push((node, values.clone()));
        self.reachable.distance.push(distance);
        self.found.insert((node, values), n);
        self.queue.push_back(n);
        Ok(n)
    }

    fn start_states(&self, s: StartId) -> Result<Vec<Vec<Value>>, Refusal> {
        let start = &self.system.starts()[s.index()];
        let mut env = self.evaluator.empty_env();
        env.0[self.system.location().index()] =
            node_value(self.system, self.evaluator.pool, start.target);
        let constraint = start.constraint.iter().map(|c| c.term.term());
        let formulas = constraint.chain(self.system.assumptions().iter().map(|a| a.term.term()));
        let literals = conjunction(self.evaluator, View::Here, formulas);
        let slots: Vec<usize> = self.system.vars().iter().map(|v| v.current.index()).collect();
        self.solutions(&mut env, &slots, &slots, &literals)
    }

    /// The values of `wanted` in all solutions for `unknowns`.
    fn solutions(
        &self,
        env: &mut Env,
        unknowns: &[usize],
        wanted: &[usize],
        literals: &[Literal],
    ) -> Result<Vec<Vec<Value>>, Refusal> {
        let mut all = Vec::new();
        self.evaluator.search(env, unknowns, literals, &mut |env| {
            all.push(wanted.iter().filter_map(|&w| env.0[w].clone()).collect());
            Ok(false)
        })?;
        Ok(all)
    }

    fn choices(&mut self, state: usize) -> Result<Vec<Choice>, Refusal> {
        let (node, values) = self.reachable.states[state].clone();
        let mut env = self.evaluator.empty_env();
        enter(self.system, self.evaluator.pool, &mut env, node, &values);
        let mut choices = Vec::new();
        for (i, t) in self.system.transitions().iter().enumerate() {
            if t.source != node {
                continue;
            }
            let slots = self.prepared[i].params.clone();
            for params in self.solutions(&mut env, &slots, &slots, &self.prepared[i].guard)? {
                for (slot, p) in slots.iter().zip(&params) {
                    env.0[*slot] = Some(p.clone());
                }
                let Completion { possible: completable, next } =
                    self.complete(&mut env, t, &self.prepared[i])?;
                let distance = self.reachable.distance[state] + 1;
                let mut successors = Vec::new();
                for values in next {
                    successors.push(self.number(t.target, values, distance)?);
                }
                choices.push(Choice {
                    transition: TransitionId::from(i),
                    params,
                    completable,
                    successors,
                });
                for slot in &slots {
                    env.0[*slot] = None;
                }
            }
        }
        Ok(choices)
    }

    /// The solutions of a transition's effect, given the current state and parameters.
    fn complete(
        &self,
        env: &mut Env,
        t: &Transition,
        prepared: &Prepared,
    ) -> Result<Completion, Refusal> {
        let mut fixed: Vec<(usize, Value)> = Vec::new();
        for e in &t.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    fixed.push((var.index(), self.evaluator.value(env, value.term(), View::Here)?));
                }
                Effect::Keep { var, .. } => {
                    let slot = self.system.vars()[var.index()].current.index();
                    let value = env.0[slot].clone().ok_or(Refusal::IllSorted)?;
                    fixed.push((var.index(), value));
                }
                Effect::Constrain { .. } => {}
            }
        }
        let next = &self.next;
        let mut consistent = true;
        for (var, value) in fixed {
            let slot = &mut env.0[next[var]];
            consistent &= slot.as_ref().is_none_or(|old| *old == value);
            *slot = Some(value);
        }
        if !consistent {
            next.iter().for_each(|&n| env.0[n] = None);
            return Ok(Completion { possible: Ok(false), next: Vec::new() });
        }
        let unknown: Vec<usize> = next.iter().copied().filter(|&n| env.0[n].is_none()).collect();
        let possible = self.evaluator.exists(env, &unknown, &prepared.effect);
        env.0[self.evaluator.next_location()] =
            node_value(self.system, self.evaluator.pool, t.target);
        let solutions = self.solutions(env, &unknown, next, &prepared.step);
        next.iter().for_each(|&n| env.0[n] = None);
        env.0[self.evaluator.next_location()] = None;
        Ok(Completion { possible, next: solutions? })
    }
}
