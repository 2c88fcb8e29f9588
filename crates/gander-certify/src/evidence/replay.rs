//! Replay of a run, step by step, by evaluation.
//!
//! A run is accepted if its first state is a start state of its start, every step is one of the
//! system (the transition leaves the node, the guard holds with the parameters, the effect relates
//! the two states) and every state is admissible. Ids, sorts and numbers of values are checked too.
//!
//! The next values in a step of a repetition are those of the last round. In earlier rounds the
//! values that assignments, frames and equations determine are computed, and the other variables
//! have their value of the last round. Computed values are checked against the effect like given
//! ones. Long repetitions are accelerated where that can be shown ([`repetition`]).

use std::collections::hash_map::Entry;

use gander_system::{Effect, Leg, NodeId, Run, StartId, State, Step, TransitionId};
use gander_term::{Op, Pool, Substitution, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use crate::discharge::CheckContext;
use crate::evidence::repetition;
use crate::formula::{Compiled, Situation, fits};
use crate::rejection::{Rejection, undecided, wrong};

/// Repetitions with fewer steps in total are replayed step by step.
const ACCELERATED_STEPS: u64 = 5_000;

/// The states of longer runs are not cached.
const MAX_STATES: usize = 1 << 20;

/// The number of steps between two checks for cancellation.
const STEPS_BETWEEN_CHECKS: u64 = 1024;

/// Observes the states and steps of a run while it is replayed.
pub(crate) trait Observer {
    /// The run is in this state.
    fn state(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<(), Rejection>;
    /// The run takes a step of this transition from this state.
    fn step(
        &mut self,
        cx: &mut CheckContext<'_>,
        from: &State,
        transition: TransitionId,
        params: &[Value],
    ) -> Result<(), Rejection>;
    /// True if it need not see the rounds of a repetition before the last one.
    fn may_skip_rounds(&self) -> bool {
        false
    }
}

/// Observes nothing.
pub(crate) struct NullObserver;

impl Observer for NullObserver {
    fn state(&mut self, _: &mut CheckContext<'_>, _: &State) -> Result<(), Rejection> {
        Ok(())
    }

    fn step(
        &mut self,
        _: &mut CheckContext<'_>,
        _: &State,
        _: TransitionId,
        _: &[Value],
    ) -> Result<(), Rejection> {
        Ok(())
    }

    fn may_skip_rounds(&self) -> bool {
        true
    }
}

/// A transition compiled for evaluation.
struct CompiledTransition {
    params: Vec<SymbolId>,
    /// The guard, then the value of every assignment.
    choice: Compiled,
    assigned: Vec<usize>,
    kept: Vec<usize>,
    /// The constraints over both states.
    relation: Option<Compiled>,
    /// Guard and effect together, if the evaluator cannot compute `choice`.
    whole: Option<Compiled>,
    /// True if the effect determines every next value by assignments and frames.
    functional: bool,
    /// By variable: the value after a step, over the state before it, the parameters and the next
    /// values that the effect does not determine.
    computed: Option<Compiled>,
}

/// A step of a run, and whether its next values are those of this round.
#[derive(Clone, Copy)]
struct Turn<'r> {
    step: &'r Step,
    /// True if every enclosing repetition is in its last round.
    last_round: bool,
}

struct Replay<'r> {
    compiled: FxHashMap<TransitionId, CompiledTransition>,
    /// By node: the assumptions.
    admissible: FxHashMap<NodeId, Compiled>,
    legs: Vec<Frame<'r>>,
}

/// Legs that are being replayed: the position of the next one, and the number of rounds after this
/// one.
struct Frame<'r> {
    legs: &'r [Leg],
    at: usize,
    again: u64,
}

/// Replays a run; returns its last state.
pub(crate) fn replay(
    cx: &mut CheckContext<'_>,
    run: &Run,
    observer: &mut dyn Observer,
) -> Result<State, Rejection> {
    if observer.may_skip_rounds()
        && run.legs.is_flat()
        && run.legs.is_shared()
        && run.legs.len() <= MAX_STATES
    {
        return replay_shared(cx, run);
    }
    let mut replay = Replay::new(run);
    let mut state = run.first.clone();
    replay.start(cx, run.start, &state)?;
    observer.state(cx, &state)?;
    let mut steps = 0u64;
    let mut replayed = 0;
    loop {
        while observer.may_skip_rounds()
            && let Some((later, skipped)) = replay.skip(cx, &state)?
        {
            state = later;
            steps = steps.saturating_add(skipped);
        }
        let Some(turn) = replay.next_step()? else { break };
        let step = turn.step;
        if replayed == cx.limits.replay_steps {
            return Err(undecided(format!(
                "the run has more than {replayed} steps, which is the limit of a replay"
            )));
        }
        if replayed % STEPS_BETWEEN_CHECKS == 0 {
            cx.check_cancelled()?;
        }
        let next = replay.step(cx, &state, turn, steps)?;
        observer.step(cx, &state, step.transition, &step.params)?;
        state = next;
        steps = steps.saturating_add(1);
        replayed += 1;
        observer.state(cx, &state)?;
    }
    Ok(state)
}

/// Replays a run without repetitions from the end of its longest prefix in the cache.
fn replay_shared(cx: &mut CheckContext<'_>, run: &Run) -> Result<State, Rejection> {
    if let Some(end) = cx.known.end_of(run) {
        return Ok(end.clone());
    }
    let mut replay = Replay::new(run);
    let mut states = match cx.known.take_run(run) {
        Some(states) => states,
        None => {
            replay.start(cx, run.start, &run.first)?;
            vec![run.first.clone()]
        }
    };
    let begun = states.len() - 1;
    for (number, leg) in run.legs.iter().enumerate().skip(begun) {
        let Leg::Step(step) = leg else {
            return Err(undecided("a repetition where none was expected"));
        };
        if (number - begun) as u64 == cx.limits.replay_steps {
            return Err(undecided(format!(
                "the run has more than {number} steps, which is the limit of a replay"
            )));
        }
        if ((number - begun) as u64).is_multiple_of(STEPS_BETWEEN_CHECKS) {
            cx.check_cancelled()?;
        }
        let next =
            replay.step(cx, &states[number], Turn { step, last_round: true }, number as u64)?;
        states.push(next);
    }
    let end = states[run.legs.len()].clone();
    cx.known.keep_run(run, states);
    Ok(end)
}

impl<'r> Replay<'r> {
    fn new(run: &'r Run) -> Replay<'r> {
        let legs = vec![Frame { legs: &run.legs, at: 0, again: 0 }];
        Replay { compiled: FxHashMap::default(), admissible: FxHashMap::default(), legs }
    }

    /// Accelerates all rounds but the last of a long repetition that comes next. Returns the state
    /// after them and their number of steps; the last round is replayed next. `None` if there is no
    /// such repetition or it cannot be accelerated.
    fn skip(
        &mut self,
        cx: &mut CheckContext<'_>,
        state: &State,
    ) -> Result<Option<(State, u64)>, Rejection> {
        if self.legs.iter().any(|f| f.again > 0) {
            return Ok(None);
        }
        let Some(frame) = self.legs.last() else { return Ok(None) };
        let Some(Leg::Repeat { times, body }) = frame.legs.get(frame.at) else { return Ok(None) };
        let skipped = Leg::count_steps(body).saturating_mul(times.saturating_sub(1));
        if *times < 3 || skipped < ACCELERATED_STEPS {
            return Ok(None);
        }
        match repetition::skip(cx, state, times - 1, body) {
            Ok(later) => {
                if let Some(frame) = self.legs.last_mut() {
                    frame.at += 1;
                }
                self.legs.push(Frame { legs: body, at: 0, again: 0 });
                Ok(Some((later, skipped)))
            }
            Err(_) => {
                cx.check_cancelled()?;
                Ok(None)
            }
        }
    }

    /// The next step, with repetitions unfolded.
    fn next_step(&mut self) -> Result<Option<Turn<'r>>, Rejection> {
        while let Some(frame) = self.legs.last_mut() {
            match frame.legs.get(frame.at) {
                Some(Leg::Step(step)) => {
                    frame.at += 1;
                    let last_round = self.legs.iter().all(|f| f.again == 0);
                    return Ok(Some(Turn { step, last_round }));
                }
                Some(Leg::Repeat { times, body }) => {
                    frame.at += 1;
                    if *times == 0 || body.is_empty() {
                        return Err(wrong("a repetition of the run is empty"));
                    }
                    self.legs.push(Frame { legs: body, at: 0, again: times - 1 });
                }
                None if frame.again > 0 => {
                    frame.again -= 1;
                    frame.at = 0;
                }
                None => {
                    self.legs.pop();
                }
            }
        }
        Ok(None)
    }

    fn start(
        &mut self,
        cx: &mut CheckContext<'_>,
        id: StartId,
        state: &State,
    ) -> Result<(), Rejection> {
        let system = cx.system;
        let Some(start) = system.starts().get(id.index()) else {
            return Err(wrong("the run begins with a start that the system has not got"));
        };
        if state.node != start.target {
            return Err(wrong(format!(
                "the run begins at another node than the one that `{}` enters",
                start.name
            )));
        }
        check_values(cx, &state.values, "the first state")?;
        let constraint = system.start_term(&mut cx.pool, id);
        if !Compiled::new(cx, &[], &[constraint])?.all_true(cx, Situation::of(state))? {
            return Err(wrong(format!("the first state does not satisfy `{}`", start.name)));
        }
        if !self.admissible(cx, state)? {
            return Err(wrong("the first state breaks an assumption"));
        }
        Ok(())
    }

    fn admissible(&mut self, cx: &mut CheckContext<'_>, state: &State) -> Result<bool, Rejection> {
        if cx.system.assumptions().is_empty() {
            return Ok(true);
        }
        let assumptions = match self.admissible.entry(state.node) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(slot) => {
                let term = cx.system.assumption_term(&mut cx.pool, state.node);
                slot.insert(Compiled::new(cx, &[], &[term])?)
            }
        };
        assumptions.all_true(cx, Situation::of(state))
    }

    /// The state after a step.
    fn step(
        &mut self,
        cx: &mut CheckContext<'_>,
        from: &State,
        turn: Turn<'_>,
        number: u64,
    ) -> Result<State, Rejection> {
        let system = cx.system;
        let step = turn.step;
        let Some(transition) = system.transitions().get(step.transition.index()) else {
            return Err(wrong(format!(
                "step {} takes a transition that the system has not got",
                number.saturating_add(1)
            )));
        };
        let at_step = || format!("step {}, `{}`,", number.saturating_add(1), transition.name);
        if transition.source != from.node {
            return Err(wrong(format!("{} does not leave the node of its state", at_step())));
        }
        if step.params.len() != transition.params.len()
            || transition
                .params
                .iter()
                .zip(&step.params)
                .any(|(p, v)| !fits(system.pool(), v, p.sort))
        {
            return Err(wrong(format!("{} has parameters of the wrong number or sort", at_step())));
        }
        if let Some(next) = &step.next {
            check_values(cx, next, &format!("the state behind step {}", number.saturating_add(1)))?;
        }
        let compiled = match self.compiled.entry(step.transition) {
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(slot) => slot.insert(CompiledTransition::new(cx, step.transition)?),
        };
        let values = compiled.take(cx, from, turn, &at_step)?;
        let next = State { node: transition.target, values };
        if !self.admissible(cx, &next)? {
            return Err(wrong(format!("{} leads to a state that breaks an assumption", at_step())));
        }
        Ok(next)
    }
}

impl CompiledTransition {
    fn new(cx: &mut CheckContext<'_>, id: TransitionId) -> Result<CompiledTransition, Rejection> {
        let transition = cx.system.transition(id);
        let params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let mut choice = vec![cx.system.guard_term(&mut cx.pool, id)];
        let (mut assigned, mut kept, mut relation) = (Vec::new(), Vec::new(), Vec::new());
        for e in &transition.effect {
            match *e {
                Effect::Assign { var, value, .. } => {
                    assigned.push(var.index());
                    choice.push(value.term());
                }
                Effect::Keep { var, .. } => kept.push(var.index()),
                Effect::Constrain { relation: r, .. } => relation.push(r.term()),
            }
        }
        let mut fixed: Vec<usize> = assigned.iter().chain(&kept).copied().collect();
        fixed.sort_unstable();
        fixed.dedup();
        let functional = relation.is_empty() && fixed.len() == cx.system.vars().len();
        let choice = Compiled::new(cx, &params, &choice)?;
        let relation =
            if relation.is_empty() { None } else { Some(Compiled::new(cx, &params, &relation)?) };
        Ok(CompiledTransition {
            params,
            choice,
            assigned,
            kept,
            relation,
            whole: None,
            functional,
            computed: None,
        })
    }

    fn take(
        &mut self,
        cx: &mut CheckContext<'_>,
        from: &State,
        turn: Turn<'_>,
        at_step: &dyn Fn() -> String,
    ) -> Result<Vec<Value>, Rejection> {
        let step = turn.step;
        let before =
            Situation { node: from.node, current: &from.values, params: &step.params, next: &[] };
        let Some(values) = self.choice.run(cx, before)? else {
            return self.take_by_solver(cx, from, step, at_step);
        };
        if values[0] != Value::Bool(true) {
            return Err(wrong(format!("{} is taken where its guard does not hold", at_step())));
        }
        let functional = || {
            let mut next = from.values.clone();
            for (&var, value) in self.assigned.iter().zip(&values[1..]) {
                next[var] = value.clone();
            }
            next
        };
        let next = match &step.next {
            Some(next) if turn.last_round => next.clone(),
            _ if self.functional => functional(),
            Some(last) => {
                if self.computed.is_none() {
                    let values = next_values(cx, step.transition);
                    self.computed = Some(Compiled::new(cx, &self.params, &values)?);
                }
                let at = Situation { next: last, ..before };
                match &mut self.computed {
                    Some(computed) => match computed.run(cx, at)? {
                        Some(next) => next.to_vec(),
                        None => {
                            return Err(undecided(format!("{} cannot be evaluated", at_step())));
                        }
                    },
                    None => return Err(undecided("a transition could not be prepared")),
                }
            }
            None => return Err(wrong(format!("{} does not say what comes behind it", at_step()))),
        };
        let kept = self.kept.iter().all(|&v| next[v] == from.values[v]);
        let assigned = self.assigned.iter().zip(&values[1..]).all(|(&v, value)| next[v] == *value);
        if !(kept && assigned) {
            return Err(wrong(format!(
                "{} leads to values that its effect does not give",
                at_step()
            )));
        }
        if let Some(relation) = &mut self.relation {
            let at = Situation { next: &next, ..before };
            if !relation.all_true(cx, at)? {
                return Err(wrong(format!(
                    "{} leads to values that its effect does not allow",
                    at_step()
                )));
            }
        }
        Ok(next)
    }

    /// [`CompiledTransition::take`] if a quantifier cannot be evaluated.
    fn take_by_solver(
        &mut self,
        cx: &mut CheckContext<'_>,
        from: &State,
        step: &Step,
        at_step: &dyn Fn() -> String,
    ) -> Result<Vec<Value>, Rejection> {
        let Some(next) = &step.next else {
            return Err(undecided(format!(
                "{} cannot be evaluated and does not say what comes behind it",
                at_step()
            )));
        };
        if self.whole.is_none() {
            let guard = cx.system.guard_term(&mut cx.pool, step.transition);
            let effect = cx.system.effect_term(&mut cx.pool, step.transition);
            self.whole = Some(Compiled::new(cx, &self.params, &[guard, effect])?);
        }
        let at = Situation { node: from.node, current: &from.values, params: &step.params, next };
        let Some(whole) = &mut self.whole else {
            return Err(undecided("a transition could not be prepared"));
        };
        if whole.all_true(cx, at)? {
            Ok(next.clone())
        } else {
            Err(wrong(format!("{} is not a step of the system", at_step())))
        }
    }
}

/// By variable: its value after a step, if assignments, frames and equations determine it; else its
/// next symbol. Equations that would close a cycle are not used.
pub(crate) fn next_values(cx: &mut CheckContext<'_>, id: TransitionId) -> Vec<TermId> {
    let (system, pool) = (cx.system, &mut cx.pool);
    let next: FxHashMap<SymbolId, usize> =
        system.vars().iter().enumerate().map(|(i, v)| (v.next, i)).collect();
    let mut given: Vec<Option<TermId>> = vec![None; system.vars().len()];
    for e in &system.transition(id).effect {
        let (var, value) = match *e {
            Effect::Assign { var, value, .. } => (var.index(), value.term()),
            Effect::Keep { var, .. } => (var.index(), pool.var(system.var(var).current)),
            Effect::Constrain { relation, .. } => match equation(pool, relation.term(), &next) {
                Some(found) => found,
                None => continue,
            },
        };
        given[var].get_or_insert(value);
    }
    let mut values: Vec<TermId> = system.vars().iter().map(|v| pool.var(v.next)).collect();
    let mut done = vec![false; values.len()];
    let mut open = vec![false; values.len()];
    let mut unfold = Substitution::new(pool, &FxHashMap::default());
    for root in 0..values.len() {
        let mut stack = vec![root];
        while let Some(&v) = stack.last() {
            let (Some(term), false) = (given[v], done[v]) else {
                stack.pop();
                continue;
            };
            open[v] = true;
            let uses: Vec<usize> =
                pool.free_symbols(&[term]).iter().filter_map(|s| next.get(s).copied()).collect();
            if uses.iter().any(|&u| open[u]) {
                // A cycle: this equation is not used.
                given[v] = None;
                open[v] = false;
                continue;
            }
            let missing = uses.into_iter().find(|&u| given[u].is_some() && !done[u]);
            match missing {
                Some(u) => stack.push(u),
                None => {
                    values[v] = unfold.apply(pool, term);
                    unfold.also(pool, system.vars()[v].next, values[v]);
                    done[v] = true;
                    open[v] = false;
                    stack.pop();
                }
            }
        }
    }
    values
}

/// `x' == e` as its two parts.
fn equation(
    pool: &mut Pool,
    t: TermId,
    next: &FxHashMap<SymbolId, usize>,
) -> Option<(usize, TermId)> {
    let known = |t: TermId| pool.as_symbol(t).and_then(|s| next.get(&s).copied());
    match (pool.op(t), pool.args(t)) {
        (Op::Symbol(_), _) => known(t).map(|v| (v, pool.tt())),
        (Op::Not, &[a]) => known(a).map(|v| (v, pool.ff())),
        (Op::Eq, &[a, b]) => known(a).map(|v| (v, b)).or_else(|| known(b).map(|v| (v, a))),
        _ => None,
    }
}

fn check_values(cx: &CheckContext<'_>, values: &[Value], whose: &str) -> Result<(), Rejection> {
    let vars = cx.system.vars();
    if values.len() != vars.len() {
        return Err(wrong(format!(
            "{whose} has {} values for {} variables",
            values.len(),
            vars.len()
        )));
    }
    match vars.iter().zip(values).find(|(var, value)| !fits(cx.system.pool(), value, var.sort)) {
        Some((var, _)) => {
            Err(wrong(format!("{whose} has a value of another sort for `{}`", var.name)))
        }
        None => Ok(()),
    }
}
