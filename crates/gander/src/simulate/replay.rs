//! Replays the run of evidence in a simulation. Every step is evaluated again, so the result is a
//! run of the system; what evaluation cannot decide is refused.

use std::sync::Arc;

use gander_system::{
    ClaimKind, Effect, Evidence, Leg, NodeId, Run, State, Step, System, TransitionId,
};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::simulator::{SimulationError, Simulator};
use super::streams::StreamSimulator;

/// The most steps of a run that is replayed, with repetitions unfolded.
const MAX_STEPS: u64 = 100_000;

/// The run of evidence; none if it is a proof.
pub fn run_of_evidence(evidence: &Evidence) -> Option<&Run> {
    match evidence {
        Evidence::Run(run)
        | Evidence::Lasso { run, .. }
        | Evidence::Recurrent { run, .. }
        | Evidence::Impossible { run, .. } => Some(run),
        _ => None,
    }
}

/// The steps of a run, with repetitions unfolded. Within a repetition, a step has the values of the
/// last round: the flag says whether this is it.
fn unfolded(run: &Run) -> Result<Vec<(&Step, bool)>, SimulationError> {
    if run.length() > MAX_STEPS {
        let n = run.length();
        let why = format!("the run has {n} steps; at most {MAX_STEPS} are replayed");
        return Err(SimulationError::Unknown(why));
    }
    let mut steps = Vec::new();
    // Legs, the position among them, and the number of rounds that follow.
    let mut open: Vec<(&[Leg], usize, u64)> = vec![(&run.legs, 0, 0)];
    while let Some((legs, at, again)) = open.last_mut() {
        match legs.get(*at) {
            Some(Leg::Step(step)) => {
                *at += 1;
                let is_last_round = open.iter().all(|(_, _, again)| *again == 0);
                steps.push((step, is_last_round));
            }
            Some(Leg::Repeat { times, body }) => {
                *at += 1;
                open.push((body, 0, times.saturating_sub(1)));
            }
            None if *again > 0 => {
                *again -= 1;
                *at = 0;
            }
            None => drop(open.pop()),
        }
    }
    Ok(steps)
}

fn wrong(step: usize, why: &str) -> SimulationError {
    SimulationError::Impossible(format!("the run is no run of this model: at step {step}, {why}"))
}

impl Simulator {
    /// Begins anew and takes the steps of a run.
    pub fn replay(&mut self, run: &Run) -> Result<(), SimulationError> {
        let system = Arc::clone(self.system());
        let Some(start) = system.starts().get(run.start.index()) else {
            return Err(wrong(0, "there is no such start"));
        };
        let mut pool = Pool::fork(system.pool());
        let begins = system.start_term(&mut pool, run.start);
        let assumed = system.assumption_term(&mut pool, start.target);
        let begins = pool.and([begins, assumed]);
        let known = values_of(&system, &run.first.values, None, &[]);
        if run.first.node != start.target || !is_true(&pool, begins, &known)? {
            return Err(wrong(0, "the state is no start state"));
        }
        let mut states = vec![run.first.clone()];
        let mut steps = Vec::new();
        for (i, (step, is_last_round)) in unfolded(run)?.into_iter().enumerate() {
            let before = &states[i];
            let next = next_state(&system, before, step, is_last_round, i + 1)?;
            steps.push(Step { next: Some(next.values.clone()), ..step.clone() });
            states.push(next);
        }
        self.set_run(run.start, states, steps);
        Ok(())
    }

    /// *Always* claims that are false in some state, with the number of the first such state.
    pub fn failures(&self) -> Vec<(String, usize)> {
        self.false_claims(self.states())
    }

    /// *Always* claims that are false in the current state.
    pub fn failing_now(&self) -> Vec<String> {
        let now = self.states().last().map(std::slice::from_ref).unwrap_or_default();
        self.false_claims(now).into_iter().map(|(name, _)| name).collect()
    }

    fn false_claims(&self, states: &[State]) -> Vec<(String, usize)> {
        let system = self.system();
        let mut pool = Pool::fork(system.pool());
        let mut at_nodes: FxHashMap<(usize, NodeId), TermId> = FxHashMap::default();
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (s, state) in states.iter().enumerate() {
            let known = values_of(system, &state.values, None, &[]);
            for (c, claim) in system.claims().iter().enumerate() {
                let ClaimKind::Always(formula) = claim.kind else { continue };
                if found.iter().any(|(claim, _)| *claim == c) {
                    continue;
                }
                let here = *at_nodes
                    .entry((c, state.node))
                    .or_insert_with(|| system.at_node(&mut pool, formula, state.node));
                if truth(&pool, here, &known) == Some(false) {
                    found.push((c, s));
                }
            }
        }
        found.sort_unstable();
        found.into_iter().map(|(c, s)| (system.claims()[c].name.clone(), s)).collect()
    }
}

/// The state after a step of a run, if it is one of the system.
fn next_state(
    system: &System,
    before: &State,
    step: &Step,
    is_last_round: bool,
    number: usize,
) -> Result<State, SimulationError> {
    let t = step.transition;
    let Some(transition) = system.transitions().get(t.index()) else {
        return Err(wrong(number, "there is no such transition"));
    };
    if transition.source != before.node || transition.params.len() != step.params.len() {
        return Err(wrong(number, &format!("`{}` cannot be taken", transition.name)));
    }
    let mut pool = Pool::fork(system.pool());
    let params: Vec<(SymbolId, Value)> =
        transition.params.iter().map(|p| p.symbol).zip(step.params.iter().cloned()).collect();
    let known = values_of(system, &before.values, None, &params);
    let guard = system.guard_term(&mut pool, t);
    if !is_true(&pool, guard, &known)? {
        return Err(wrong(number, &format!("`{}` is not enabled", transition.name)));
    }
    let given = step.next.as_ref().filter(|_| is_last_round || !transition.is_functional(system));
    let values = match given {
        Some(next) if next.len() == before.values.len() => next.clone(),
        Some(_) => return Err(wrong(number, "values are missing")),
        None => assigned(system, t, &pool, before, &known)?,
    };
    let effect = system.effect_term(&mut pool, t);
    let known = values_of(system, &before.values, Some(&values), &params);
    if !is_true(&pool, effect, &known)? {
        let why = format!("the effect of `{}` does not give these values", transition.name);
        return Err(wrong(number, &why));
    }
    let assumed = system.assumption_term(&mut pool, transition.target);
    if !is_true(&pool, assumed, &values_of(system, &values, None, &[]))? {
        return Err(wrong(number, "an assumption does not hold"));
    }
    Ok(State { node: transition.target, values })
}

/// The values that the assignments of a transition give.
fn assigned(
    system: &System,
    t: TransitionId,
    pool: &Pool,
    before: &State,
    known: &FxHashMap<SymbolId, Value>,
) -> Result<Vec<Value>, SimulationError> {
    let mut values = before.values.clone();
    for effect in &system.transition(t).effect {
        if let Effect::Assign { var, value, .. } = effect {
            let value = evaluate(pool, value.term(), &|s| known.get(&s).cloned());
            values[var.index()] = value.map_err(|_| undecided())?;
        }
    }
    Ok(values)
}

fn values_of(
    system: &System,
    now: &[Value],
    next: Option<&[Value]>,
    params: &[(SymbolId, Value)],
) -> FxHashMap<SymbolId, Value> {
    let now = system.vars().iter().map(|v| v.current).zip(now.iter().cloned());
    let next = system.vars().iter().map(|v| v.next).zip(next.unwrap_or_default().iter().cloned());
    now.chain(next).chain(params.iter().cloned()).collect()
}

fn truth(pool: &Pool, formula: TermId, known: &FxHashMap<SymbolId, Value>) -> Option<bool> {
    evaluate(pool, formula, &|s| known.get(&s).cloned()).ok().and_then(|v| v.as_bool())
}

fn is_true(
    pool: &Pool,
    formula: TermId,
    known: &FxHashMap<SymbolId, Value>,
) -> Result<bool, SimulationError> {
    truth(pool, formula, known).ok_or_else(undecided)
}

fn undecided() -> SimulationError {
    SimulationError::Unknown(
        "a formula of the model cannot be evaluated; `gander certify` checks the run".into(),
    )
}

impl StreamSimulator {
    /// Begins anew and takes the instants of a run.
    pub fn replay(&mut self, run: &Run) -> Result<(), SimulationError> {
        let mut instants = vec![run.first.values.clone()];
        for (step, _) in unfolded(run)? {
            let Some(next) = &step.next else {
                let why = "the run leaves states out; `gander certify` checks it";
                return Err(SimulationError::Unknown(why.to_string()));
            };
            instants.push(next.clone());
        }
        let before = self.take_instants();
        for (i, values) in instants.into_iter().enumerate() {
            if let Err(trouble) = self.replay_instant(values, i) {
                self.set_instants(before);
                return Err(trouble);
            }
        }
        Ok(())
    }

    /// Takes an instant with these values of all streams.
    fn replay_instant(&mut self, values: Vec<Value>, number: usize) -> Result<(), SimulationError> {
        let vars = self.system().vars().len();
        if values.len() != vars {
            return Err(wrong(number, "values are missing"));
        }
        if !self.is_causal() {
            let why = "the equations are cyclic, so they cannot be computed; `gander certify` checks the run";
            return Err(SimulationError::Unknown(why.to_string()));
        }
        let free: Vec<_> = (self.system().var_ids().filter(|v| self.is_free(*v)))
            .map(|v| (v, values[v.index()].clone()))
            .collect();
        self.step(&free).map_err(|trouble| wrong(number, &trouble.to_string()))?;
        match self.values() {
            Some(made) if made == values => Ok(()),
            _ => Err(wrong(number, "the equations give other values")),
        }
    }
}
