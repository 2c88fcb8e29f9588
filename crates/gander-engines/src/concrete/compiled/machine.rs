//! A system compiled for enumerating its start states and steps, and for evaluating targets.
//!
//! Starts and steps are [`Plan`]s. The unknowns of a start are the variables. The unknowns of a
//! transition are the parameters and the next values that the effect neither assigns nor keeps;
//! assigned and kept values are substituted.

use std::sync::Arc;

use gander_runtime::Cancellation;
use gander_system::{Effect, NodeId, StartId, State, Step, System, TransitionId};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::code::{Compiler, Frame, Instruction, Slots, StepError, execute, is_numbered, value};
use super::plan::{Plan, Progress, check_cancelled};
use crate::encode::targets::{StateTarget, StepTarget, Targets};

/// A target that cannot be compiled, and why.
pub(crate) type UncompiledTarget = (usize, String);

/// A compiled start.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub start: StartId,
    pub target: NodeId,
    pub plan: Plan,
}

/// A compiled transition.
#[derive(Debug)]
pub(crate) struct Move {
    pub transition: TransitionId,
    pub target: NodeId,
    plan: Plan,
    /// Computes the assigned values of a step.
    last: Vec<Instruction>,
    /// Slots of the parameters.
    pub params: Vec<u32>,
    /// Slots of the next values.
    pub next: Vec<u32>,
    /// Step targets: the goal, its instructions, and the slot of its truth value.
    watched: Vec<(usize, Vec<Instruction>, u32)>,
}

#[derive(Debug)]
struct Check {
    goal: usize,
    node: Option<NodeId>,
    plan: Plan,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Machine {
    pub system: Arc<System>,
    pub(crate) frame: Frame,
    pub(crate) beginnings: Vec<Beginning>,
    moves: Vec<Move>,
    checks: Vec<Check>,
    pub(crate) stuck: Vec<usize>,
}

/// The working memory of a worker.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) slots: Slots,
    pub(crate) progress: Progress,
}

/// The inputs of compilation.
struct Builder<'a> {
    system: &'a System,
    pool: &'a mut Pool,
    frame: Frame,
    cancellation: &'a Cancellation,
}

impl Machine {
    /// Compiles a system. `pool` is a fork of the system's pool that contains the targets'
    /// formulas. The error says what is not finite. Targets that cannot be compiled are returned
    /// with the reasons. Ends early if cancelled.
    pub(crate) fn new(
        system: &Arc<System>,
        pool: &mut Pool,
        targets: &Targets,
        cancellation: &Cancellation,
    ) -> Result<(Machine, Vec<UncompiledTarget>), String> {
        if let Some(v) = system.vars().iter().find(|v| !is_numbered(v.sort)) {
            return Err(format!(
                "`{}` is of sort {}, whose values are not enumerated",
                v.name,
                v.sort.name(pool)
            ));
        }
        let mut frame = Frame::default();
        for v in system.vars() {
            frame.place(v.current);
        }
        let mut b = Builder { system, pool, frame, cancellation };
        let mut blind = Vec::new();
        let mut beginnings = Vec::new();
        for s in 0..system.starts().len() {
            beginnings.push(b.beginning(StartId::from(s))?);
        }
        let mut moves = Vec::new();
        for t in system.transition_ids() {
            moves.push(b.movement(t, &targets.steps, &mut blind)?);
        }
        let mut checks = Vec::new();
        for target in &targets.states {
            check_cancelled(cancellation)?;
            match b.check(target) {
                Ok(check) => checks.push(check),
                Err(why) => blind.push((target.goal, why)),
            }
        }
        let machine = Machine {
            system: Arc::clone(system),
            frame: b.frame,
            beginnings,
            moves,
            checks,
            stuck: targets.stuck.clone(),
        };
        Ok((machine, blind))
    }

    pub(crate) fn worker(&self) -> Worker {
        Worker { slots: self.frame.slots(), progress: Progress::default() }
    }

    /// Loads a state into the frame.
    #[inline]
    pub(crate) fn enter(&self, w: &mut Worker, values: impl Iterator<Item = i64>) {
        // Variables have the first slots.
        for (slot, value) in w.slots.values.iter_mut().zip(values.take(self.system.vars().len())) {
            *slot = value;
        }
    }

    /// Calls `found` for every start state of every start, with its slots.
    pub(crate) fn starts(
        &self,
        w: &mut Worker,
        cancellation: &Cancellation,
        found: &mut dyn FnMut(&Beginning, &mut Slots) -> Result<bool, StepError>,
    ) -> Result<(), StepError> {
        for b in &self.beginnings {
            b.plan.run(&self.frame, &mut w.slots, &mut w.progress, cancellation, &mut |slots| {
                found(b, slots)
            })?;
        }
        Ok(())
    }

    /// Calls `found` for every step from the state in the frame, which is at `node`, until it
    /// returns true.
    #[inline]
    pub(crate) fn steps(
        &self,
        node: NodeId,
        w: &mut Worker,
        cancellation: &Cancellation,
        found: &mut dyn FnMut(&Move, &mut Slots) -> Result<bool, StepError>,
    ) -> Result<(), StepError> {
        for &t in self.system.leaving(node) {
            let m = &self.moves[t.index()];
            m.plan.run(&self.frame, &mut w.slots, &mut w.progress, cancellation, &mut |slots| {
                execute(&m.last, &self.frame, slots)?;
                found(m, slots)
            })?;
        }
        Ok(())
    }

    /// Calls `met` for the open goals that the state in the frame meets.
    pub(crate) fn met_goals(
        &self,
        node: NodeId,
        w: &mut Worker,
        open: &[bool],
        cancellation: &Cancellation,
        met: &mut dyn FnMut(usize),
    ) -> Result<(), StepError> {
        for c in self.checks.iter().filter(|c| open[c.goal] && c.node.is_none_or(|n| n == node)) {
            let mut yes = false;
            c.plan.run(&self.frame, &mut w.slots, &mut w.progress, cancellation, &mut |_| {
                yes = true;
                Ok(true)
            })?;
            if yes {
                met(c.goal);
            }
        }
        Ok(())
    }

    /// Calls `met` for the open goals that the step in the frame meets.
    #[inline]
    pub(crate) fn look_at_step(
        &self,
        m: &Move,
        slots: &mut Slots,
        open: &[bool],
        met: &mut dyn FnMut(usize),
    ) -> Result<(), StepError> {
        for (goal, tape, slot) in &m.watched {
            if open[*goal] {
                execute(tape, &self.frame, slots)?;
                if slots.values[*slot as usize] != 0 {
                    met(*goal);
                }
            }
        }
        Ok(())
    }
}

/// Gets the transition, target node, parameters and next state of a step; returns true to stop.
pub(crate) type FoundStep<'f> = dyn FnMut(TransitionId, NodeId, &[i64], &[i64]) -> bool + 'f;

/// Terms over the variables, compiled for evaluation on states.
#[derive(Debug)]
pub(crate) struct Measures {
    tape: Vec<Instruction>,
    slots: Vec<u32>,
}

/// For searches that store states themselves, as numbers in the order of the variables.
impl Machine {
    /// Compiles terms. Workers must be created afterwards.
    pub(crate) fn measures(&mut self, pool: &Pool, terms: &[TermId]) -> Result<Measures, String> {
        let mut c = Compiler::new(&mut self.frame);
        let mut tape = Vec::new();
        let slots =
            terms.iter().map(|&t| c.compile(pool, t, &mut tape)).collect::<Result<_, _>>()?;
        Ok(Measures { tape, slots })
    }

    /// The values of the measured terms in a state.
    pub(crate) fn measure<'w>(
        &self,
        measures: &'w Measures,
        state: &[i64],
        w: &'w mut Worker,
    ) -> Result<impl Iterator<Item = i64> + 'w, StepError> {
        self.enter(w, state.iter().copied());
        execute(&measures.tape, &self.frame, &mut w.slots)?;
        let slots = &w.slots;
        Ok(measures.slots.iter().map(|&s| slots.values[s as usize]))
    }

    /// Calls `found` with the start, node and numbers of each start state, until it returns true.
    pub(crate) fn each_start(
        &self,
        w: &mut Worker,
        cancellation: &Cancellation,
        found: &mut dyn FnMut(StartId, NodeId, &[i64]) -> bool,
    ) -> Result<(), StepError> {
        let (mut enough, mut numbers) = (false, Vec::new());
        self.starts(w, cancellation, &mut |b, slots| {
            numbers.clear();
            numbers.extend(b.plan.unknowns.iter().map(|&s| slots.values[s as usize]));
            enough = enough || found(b.start, b.target, &numbers);
            Ok(enough)
        })
    }

    /// Calls `found` with each step from a state, until it returns true.
    pub(crate) fn each_step(
        &self,
        node: NodeId,
        state: &[i64],
        w: &mut Worker,
        cancellation: &Cancellation,
        found: &mut FoundStep<'_>,
    ) -> Result<(), StepError> {
        self.enter(w, state.iter().copied());
        let (mut enough, mut params, mut next) = (false, Vec::new(), Vec::new());
        self.steps(node, w, cancellation, &mut |m, slots| {
            let read = |to: &mut Vec<i64>, from: &[u32]| {
                to.clear();
                to.extend(from.iter().map(|&s| slots.values[s as usize]));
            };
            read(&mut params, &m.params);
            read(&mut next, &m.next);
            enough = enough || found(m.transition, m.target, &params, &next);
            Ok(enough)
        })
    }

    /// Converts numbers to a state.
    pub(crate) fn state(&self, node: NodeId, numbers: &[i64]) -> State {
        let sorts = self.system.vars().iter().map(|v| v.sort);
        State { node, values: sorts.zip(numbers).map(|(sort, &n)| value(sort, n)).collect() }
    }

    /// Converts numbers to a step.
    pub(crate) fn step(&self, t: TransitionId, params: &[i64], next: &[i64]) -> Step {
        let transition = self.system.transition(t);
        let sorts = transition.params.iter().map(|p| p.sort);
        let params = sorts.zip(params).map(|(sort, &n)| value(sort, n)).collect();
        Step { transition: t, params, next: Some(self.state(transition.target, next).values) }
    }
}

impl Builder<'_> {
    fn assumptions(&mut self, n: NodeId) -> TermId {
        self.system.assumption_term(self.pool, n)
    }

    fn beginning(&mut self, s: StartId) -> Result<Beginning, String> {
        let start = &self.system.starts()[s.index()];
        let unknowns: Vec<SymbolId> = self.system.vars().iter().map(|v| v.current).collect();
        let formulas = [self.system.start_term(self.pool, s), self.assumptions(start.target)];
        let mut c = Compiler::new(&mut self.frame);
        let plan = Plan::new(&mut c, self.pool, &unknowns, &formulas, self.cancellation)
            .map_err(|why| format!("in the start `{}`, {why}", start.name))?;
        Ok(Beginning { start: s, target: start.target, plan })
    }

    fn movement(
        &mut self,
        t: TransitionId,
        targets: &[StepTarget],
        blind: &mut Vec<UncompiledTarget>,
    ) -> Result<Move, String> {
        let system = self.system;
        let transition = system.transition(t);
        let (mut defined, mut demands) =
            (FxHashMap::default(), vec![system.guard_term(self.pool, t)]);
        for part in &transition.effect {
            match *part {
                Effect::Assign { var, value, .. } => {
                    defined.insert(system.var(var).next, value.term());
                }
                Effect::Keep { var, .. } => {
                    let value = self.pool.var(system.var(var).current);
                    defined.insert(system.var(var).next, value);
                }
                Effect::Constrain { relation, .. } => demands.push(relation.term()),
            }
        }
        let target = transition.target;
        let mut behind = FxHashMap::default();
        for v in system.vars() {
            let value = match defined.get(&v.next) {
                Some(&value) => value,
                None => self.pool.var(v.next),
            };
            behind.insert(v.current, value);
        }
        let assumptions = self.assumptions(target);
        let mut formulas: Vec<TermId> =
            demands.iter().map(|&d| self.pool.substitute(d, &defined)).collect();
        formulas.push(self.pool.substitute(assumptions, &behind));
        let mut unknowns: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        unknowns.extend(system.vars().iter().map(|v| v.next).filter(|n| !defined.contains_key(n)));
        let mut c = Compiler::new(&mut self.frame);
        let place = |why: String| format!("in `{}`, {why}", transition.name);
        let plan =
            Plan::new(&mut c, self.pool, &unknowns, &formulas, self.cancellation).map_err(place)?;
        let mut last = Vec::new();
        let mut next = Vec::new();
        for v in system.vars() {
            let value = behind[&v.current];
            next.push(c.compile(self.pool, value, &mut last).map_err(place)?);
        }
        let params = plan.unknowns[..transition.params.len()].to_vec();
        let mut watched = Vec::new();
        for target in targets.iter().filter(|target| target.transition == t) {
            // Compile separately: a target must not rely on slots of another, which may not be
            // open.
            let mut tape = Vec::new();
            match c.scoped(|c| c.compile(self.pool, target.formula, &mut tape)) {
                Ok(slot) => watched.push((target.goal, tape, slot)),
                Err(why) => blind.push((target.goal, why)),
            }
        }
        Ok(Move { transition: t, target, plan, last, params, next, watched })
    }

    fn check(&mut self, target: &StateTarget) -> Result<Check, String> {
        let mut c = Compiler::new(&mut self.frame);
        let plan = match Plan::new(
            &mut c,
            self.pool,
            &target.choices,
            &[target.formula],
            self.cancellation,
        ) {
            Ok(plan) => plan,
            Err(why) => {
                // Try to eliminate the choices.
                let Some(without) =
                    crate::arith::eliminate::eliminate(self.pool, &target.choices, target.formula)
                else {
                    return Err(why);
                };
                let mut c = Compiler::new(&mut self.frame);
                Plan::new(&mut c, self.pool, &[], &[without], self.cancellation)?
            }
        };
        Ok(Check { goal: target.goal, node: target.node, plan })
    }
}
