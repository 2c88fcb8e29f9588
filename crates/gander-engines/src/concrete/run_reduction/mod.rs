//! Shorter and simpler runs: changes a run that decides a claim, computes its states again, and
//! keeps the change if the run still decides the claim.
//!
//! A start or transition *computes* a variable by an assignment, a frame, or an equation
//! `x' == e`; the other variables, and parameters, are *chosen*. A rerun takes transitions, chosen
//! values and parameters from the given run, computes the rest, and checks guards, constraints and
//! assumptions.
//!
//! - [`RunReducer::without_cycles`] removes what lies between two states that the rest of the run
//!   cannot tell apart.
//! - [`RunReducer::without_steps`] removes groups of steps, large groups first (delta debugging:
//!   Zeller and Hildebrandt 2002), as long as there is time.
//! - [`RunReducer::shorter_lasso`] does both to infinite runs, before their loop and in it.
//! - [`RunReducer::with_simple_values`] replaces chosen numbers that are long to write.
//!
//! Nothing here is trusted: the checker replays the result like every other run.

mod end;
mod lasso;
mod machine;
mod numbers;

use std::sync::Arc;
use std::time::Instant;

use gander_system::{ClaimKind, Leg, Run, StartId, State, Step, System, TransitionId};
use gander_term::Value;
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use end::End;
use machine::Machine;

/// A limit on the work for one run: a rerun goes on until both are used up. The first makes results
/// on small models independent of the speed of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Values that are computed.
    pub values: u64,
    /// The time.
    pub until: Instant,
}

/// See the module's documentation.
pub(crate) struct RunReducer {
    machine: Machine,
    constants: Option<numbers::Constants>,
}

/// A run with all its states.
#[derive(Clone, Debug)]
struct Flat {
    start: StartId,
    /// One more than `steps`.
    states: Vec<State>,
    /// By state: the number of goals that are met so far.
    met: Vec<usize>,
    steps: Vec<(TransitionId, Arc<Vec<Value>>)>,
}

impl RunReducer {
    /// For runs of this system; `None` if it is so large that run_reduction would take long.
    pub(crate) fn new(system: &Arc<System>) -> Option<RunReducer> {
        let large = system.pool().len() > LIMITS.rerun_terms;
        (!large).then(|| RunReducer { machine: Machine::new(system), constants: None })
    }

    /// A shorter run that decides the claim, without states that come twice; `None` if there is
    /// none.
    pub(crate) fn without_cycles(&mut self, kind: &ClaimKind, run: &Run) -> Option<Run> {
        let mut end = End::of(&mut self.machine, kind, run)?;
        let flat = self.flat(&mut end, run)?;
        let shorter = self.cut(&flat, &end);
        (shorter.steps.len() < flat.steps.len()).then(|| shorter.into_run())
    }

    /// A shorter run that decides the claim, with some of the steps of this run; `None` if none was
    /// found.
    pub(crate) fn without_steps(
        &mut self,
        kind: &ClaimKind,
        run: &Run,
        effort: Effort,
    ) -> Option<Run> {
        let mut end = End::of(&mut self.machine, kind, run)?;
        let flat = self.flat(&mut end, run)?;
        let length = flat.steps.len();
        let mut best = self.cut(&flat, &end);
        if end.allows_other_states() {
            self.machine.work_done = 0;
            best = self.drop_groups(best, &mut end, effort);
        }
        (best.steps.len() < length).then(|| best.into_run())
    }

    /// A run with the same transitions and simpler numbers that decides the claim; `None` if there
    /// is nothing to simplify, or no simpler number was found.
    pub(crate) fn with_simple_values(
        &mut self,
        kind: &ClaimKind,
        run: &Run,
        effort: Effort,
    ) -> Option<Run> {
        if !run.legs.is_flat() || run.legs.len() as u64 > LIMITS.rerun_steps {
            return None;
        }
        // Most runs have short numbers only; then nothing is compiled.
        let params = run.legs.iter().filter_map(|leg| match leg {
            Leg::Step(step) => Some(&step.params),
            Leg::Repeat { .. } => None,
        });
        let nexts = run.legs.iter().filter_map(|leg| match leg {
            Leg::Step(step) => step.next.as_ref(),
            Leg::Repeat { .. } => None,
        });
        let mut all = params.chain(nexts).flatten().chain(&run.first.values);
        if !all.any(numbers::is_long) {
            return None;
        }
        let mut end = End::of(&mut self.machine, kind, run)?;
        if !end.allows_other_states() {
            return None;
        }
        let flat = self.flat(&mut end, run)?;
        let system = Arc::clone(&self.machine.system);
        let constants = self.constants.take().unwrap_or_else(|| numbers::Constants::of(&system));
        self.machine.work_done = 0;
        let simple = numbers::simplify(&mut self.machine, &mut end, &constants, &flat, effort);
        self.constants = Some(constants);
        simple.map(Flat::into_run)
    }

    /// The run with its states, up to the first one that decides the claim; `None` if it is too
    /// long, or if a value cannot be computed.
    fn flat(&mut self, end: &mut End, run: &Run) -> Option<Flat> {
        let length = run.length();
        let vars = self.machine.system.vars().len() as u64;
        if length > LIMITS.rerun_steps || length.saturating_mul(vars) > LIMITS.rerun_values {
            return None;
        }
        if !is_well_formed(&self.machine.system, run) {
            return None;
        }
        let mut flat = Flat::begin(run.start, run.first.clone());
        flat.met[0] = end.start(&mut self.machine, &run.first)?;
        let mut open: Vec<(&[Leg], usize, u64)> = vec![(&run.legs, 0, 0)];
        while let Some((legs, at, again)) = open.last_mut() {
            match legs.get(*at) {
                Some(Leg::Step(step)) => {
                    *at += 1;
                    if end.is_met(&flat, flat.steps.len()) {
                        return Some(flat);
                    }
                    let last_round = open.iter().all(|o| o.2 == 0);
                    let from = &flat.states[flat.steps.len()];
                    let to = match &step.next {
                        Some(next) if last_round => {
                            let target = self.machine.system.transition(step.transition).target;
                            State { node: target, values: next.clone() }
                        }
                        given => {
                            let chosen = given.as_deref().unwrap_or(&from.values);
                            self.machine.step(from, step.transition, &step.params, chosen)?
                        }
                    };
                    let params = Arc::new(step.params.clone());
                    end.advance(&mut self.machine, &mut flat, step.transition, params, to)?;
                }
                Some(Leg::Repeat { times, body }) => {
                    *at += 1;
                    open.push((body, 0, times.saturating_sub(1)));
                }
                None if *again > 0 => {
                    *again -= 1;
                    *at = 0;
                }
                None => {
                    open.pop();
                }
            }
        }
        end.settle(&flat);
        end.is_met(&flat, flat.steps.len()).then_some(flat)
    }

    /// The run without what lies between two states that agree in node, goals met, and the
    /// variables that some step reads: the step that leaves the later one leaves the earlier one,
    /// too, to the same state.
    fn cut(&mut self, flat: &Flat, end: &End) -> Flat {
        let read = self.machine.read().to_vec();
        let last = flat.steps.len();
        let key = |i: usize| -> Vec<&Value> {
            let values = flat.states[i].values.iter().zip(&read);
            values.filter(|(_, read)| **read).map(|(v, _)| v).collect()
        };
        let mut by_place: FxHashMap<(u32, usize), FxHashMap<Vec<&Value>, usize>> =
            FxHashMap::default();
        for i in 0..last {
            let place = (flat.states[i].node.0, flat.met[i]);
            by_place.entry(place).or_default().insert(key(i), i);
        }
        let mut short = Flat::begin(flat.start, flat.states[0].clone());
        short.met[0] = flat.met[0];
        let mut at = 0;
        while at < last && !end.is_met(flat, at) {
            let place = (flat.states[at].node.0, flat.met[at]);
            let leave = match by_place.get(&place).and_then(|m| m.get(&key(at))) {
                Some(&later) if later > at && end.allows_cuts() => later,
                _ => at,
            };
            let (t, params) = &flat.steps[leave];
            short.push(*t, Arc::clone(params), flat.states[leave + 1].clone(), flat.met[leave + 1]);
            at = leave + 1;
        }
        short
    }

    /// Removes groups of steps: of half the length, then of half that, down to single steps.
    fn drop_groups(&mut self, flat: Flat, end: &mut End, effort: Effort) -> Flat {
        let mut best = flat;
        let mut group = best.steps.len() / 2;
        while group > 0 {
            let stride = if best.steps.len() <= LIMITS.rerun_every_place { 1 } else { group };
            let (mut at, mut dropped) = (0, false);
            while at + group < best.steps.len() {
                if self.machine.work_done > effort.values && Instant::now() >= effort.until {
                    return best;
                }
                match self.dropped(&best, at, group, end) {
                    Some(shorter) => {
                        best = self.cut(&shorter, end);
                        dropped = true;
                    }
                    None => at += stride,
                }
            }
            if group > 1 || !dropped {
                group = (group / 2).min(best.steps.len() / 2);
            }
        }
        best
    }

    /// The run without the steps from `at` on, `count` of them; `None` if that is no run that
    /// decides the claim.
    fn dropped(&mut self, flat: &Flat, at: usize, count: usize, end: &mut End) -> Option<Flat> {
        let (t, params) = flat.steps.get(at + count)?;
        // Most candidates fail at once, so nothing is copied before the first step.
        let first =
            self.machine.step(&flat.states[at], *t, params, &flat.states[at + count + 1].values)?;
        let mut short = flat.prefix(at);
        end.advance(&mut self.machine, &mut short, *t, Arc::clone(params), first)?;
        for i in at + count + 1..flat.steps.len() {
            let here = short.steps.len();
            if end.is_met(&short, here) {
                return Some(short);
            }
            if short.met[here] == flat.met[i] && short.states[here] == flat.states[i] {
                for j in i..flat.steps.len() {
                    let (t, params) = &flat.steps[j];
                    let (to, met) = (flat.states[j + 1].clone(), flat.met[j + 1]);
                    short.push(*t, Arc::clone(params), to, met);
                }
                return Some(short);
            }
            let (t, params) = &flat.steps[i];
            let next =
                self.machine.step(&short.states[here], *t, params, &flat.states[i + 1].values)?;
            end.advance(&mut self.machine, &mut short, *t, Arc::clone(params), next)?;
        }
        end.is_met(&short, short.steps.len()).then_some(short)
    }
}

/// True if ids are in range, and numbers and sorts of values are right. The checker reports other
/// runs as wrong.
fn is_well_formed(system: &System, run: &Run) -> bool {
    let is_state = |values: &[Value]| {
        let vars = system.vars();
        values.len() == vars.len() && values.iter().zip(vars).all(|(v, var)| v.sort() == var.sort)
    };
    let is_step = |step: &Step| {
        system.transitions().get(step.transition.index()).is_some_and(|t| {
            t.params.len() == step.params.len()
                && t.params.iter().zip(&step.params).all(|(p, v)| p.sort == v.sort())
        }) && step.next.as_deref().is_none_or(is_state)
    };
    let known = system.starts().get(run.start.index()).is_some_and(|s| s.target == run.first.node);
    let mut stack: Vec<&Leg> = run.legs.iter().collect();
    while let Some(leg) = stack.pop() {
        match leg {
            Leg::Step(step) if !is_step(step) => return false,
            Leg::Step(_) => {}
            Leg::Repeat { body, .. } => stack.extend(body),
        }
    }
    known && is_state(&run.first.values)
}

impl Flat {
    fn begin(start: StartId, first: State) -> Flat {
        Flat { start, states: vec![first], met: vec![0], steps: Vec::new() }
    }

    fn push(&mut self, t: TransitionId, params: Arc<Vec<Value>>, to: State, met: usize) {
        self.steps.push((t, params));
        self.states.push(to);
        self.met.push(met);
    }

    /// The first steps.
    fn prefix(&self, steps: usize) -> Flat {
        Flat {
            start: self.start,
            states: self.states[..=steps].to_vec(),
            met: self.met[..=steps].to_vec(),
            steps: self.steps[..steps].to_vec(),
        }
    }

    fn into_run(self) -> Run {
        let mut states = self.states.into_iter();
        let first = states.next().unwrap_or(State { node: 0.into(), values: Vec::new() });
        let legs = self.steps.into_iter().zip(states).map(|((transition, params), to)| {
            Leg::Step(Step { transition, params: params.to_vec(), next: Some(to.values) })
        });
        Run { start: self.start, first, legs: legs.collect() }
    }
}
