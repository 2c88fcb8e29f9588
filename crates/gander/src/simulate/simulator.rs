//! Simulation of a system step by step: which steps are possible, and their results.
//!
//! Guards and assignments are evaluated. A solver finds only what evaluation cannot give: values of
//! parameters, of a first state, and of variables that an effect constrains or leaves free. Values
//! from a solver are evaluated again, so every state is a state of a run of the system.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gander_runtime::Random;
use gander_smt::{Answer, Limits, Session, SessionConfig, Solvers, StepSymbol};
use gander_system::{Leg, NodeId, Run, StartId, State, Step, System, TransitionId};
use gander_term::{ArrayValue, IBig, Pool, RBig, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

/// Time limit of one solver query.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// Why something cannot be done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SimulationError {
    /// There is no such step or state.
    Impossible(String),
    /// It is not known whether there is one.
    Unknown(String),
}

impl fmt::Display for SimulationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimulationError::Impossible(why) | SimulationError::Unknown(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for SimulationError {}

/// A transition of the current node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The transition.
    pub transition: TransitionId,
    /// A step of it, or why there is none.
    pub step: Result<Step, SimulationError>,
}

/// A run that grows step by step.
#[derive(Debug)]
pub struct Simulator {
    pub(super) system: Arc<System>,
    pub(super) solvers: Arc<Solvers>,
    pub(super) start: StartId,
    pub(super) states: Vec<State>,
    pub(super) steps: Vec<Step>,
    /// For steps.
    pub(super) random: Random,
    /// For first states, so that steps do not depend on how a run began.
    pub(super) starts: Random,
}

/// Values that the user fixed: symbols with values.
type Fixed = [(SymbolId, Value)];

impl Simulator {
    /// A simulation that has not begun: [`Simulator::begin`] begins it.
    pub fn new(system: Arc<System>, solvers: Arc<Solvers>, seed: u64) -> Simulator {
        Simulator {
            system,
            solvers,
            start: StartId(0),
            states: Vec::new(),
            steps: Vec::new(),
            random: generator(seed),
            starts: generator(!seed),
        }
    }

    /// The system.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// The current state, once it has begun.
    pub fn state(&self) -> Option<&State> {
        self.states.last()
    }

    /// The run so far, once it has begun.
    pub fn run(&self) -> Option<Run> {
        let first = self.states.first()?.clone();
        Some(Run {
            start: self.start,
            first,
            legs: self.steps.iter().cloned().map(Leg::Step).collect(),
        })
    }

    /// The steps so far, each with the state after it.
    pub fn steps_with_states(&self) -> impl Iterator<Item = (&Step, &State)> {
        self.steps.iter().zip(self.states.iter().skip(1))
    }

    /// The number of steps taken.
    pub fn length(&self) -> usize {
        self.steps.len()
    }

    /// Begins a new run with a start, in a state with these values.
    pub fn begin(&mut self, start: StartId, fixed: &Fixed) -> Result<(), SimulationError> {
        let system = Arc::clone(&self.system);
        let Some(s) = system.starts().get(start.index()) else {
            return Err(SimulationError::Impossible("there is no such start".to_string()));
        };
        let mut pool = Pool::fork(system.pool());
        let constraint = system.start_term(&mut pool, start);
        let assumption = system.assumption_term(&mut pool, s.target);
        let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
        let all = pool.and([constraint, assumption]);
        let found = find_values(&self.solvers, &mut pool, all, fixed, &wanted)?;
        let values = found.ok_or_else(|| {
            let given = if fixed.is_empty() { "" } else { " with these values" };
            SimulationError::Impossible(format!("`{}` has no start state{given}", s.name))
        })?;
        self.start = start;
        self.states = vec![State { node: s.target, values }];
        self.steps.clear();
        Ok(())
    }

    /// The states so far.
    pub(super) fn states(&self) -> &[State] {
        &self.states
    }

    /// Replaces the run by one that was checked.
    pub(super) fn set_run(&mut self, start: StartId, states: Vec<State>, steps: Vec<Step>) {
        (self.start, self.states, self.steps) = (start, states, steps);
    }

    /// Takes a step back; false at the beginning.
    pub fn undo(&mut self) -> bool {
        let some = self.steps.pop().is_some();
        if some {
            self.states.pop();
        }
        some
    }

    /// Back to the first state.
    pub fn reset(&mut self) {
        self.states.truncate(1);
        self.steps.clear();
    }

    /// Every transition of the current node, with an example of a step where there is one.
    pub fn choices(&mut self) -> Vec<Choice> {
        let system = Arc::clone(&self.system);
        let Some(node) = self.state().map(|s| s.node) else { return Vec::new() };
        system
            .leaving(node)
            .iter()
            .map(|&transition| Choice { transition, step: self.find_step(transition, &[]) })
            .collect()
    }

    /// Takes a step of a transition. Parameters and next values (by their primed symbols) that are
    /// not fixed are chosen.
    pub fn take(&mut self, transition: TransitionId, fixed: &Fixed) -> Result<(), SimulationError> {
        let step = self.find_step(transition, fixed)?;
        self.push(step);
        Ok(())
    }

    /// Takes one step at random; false if none was found.
    pub fn take_random(&mut self) -> bool {
        let system = Arc::clone(&self.system);
        let Some(node) = self.state().map(|s| s.node) else { return false };
        let mut order = system.leaving(node).to_vec();
        self.random.shuffle(&mut order);
        for t in order {
            let step = self.random_step(t).or_else(|| self.find_step(t, &[]).ok());
            if let Some(step) = step {
                self.push(step);
                return true;
            }
        }
        false
    }

    fn push(&mut self, step: Step) {
        let node = self.system.transition(step.transition).target;
        let values = step.next.clone().unwrap_or_default();
        self.states.push(State { node, values });
        self.steps.push(step);
    }

    /// The step with these parameters if evaluation alone determines it.
    fn evaluated_step(
        &self,
        t: TransitionId,
        fixed: &Fixed,
    ) -> Result<Option<Step>, SimulationError> {
        let system = &self.system;
        let transition = system.transition(t);
        let value_of = |s: SymbolId| fixed.iter().find(|(f, _)| *f == s).map(|(_, v)| v.clone());
        let params: Option<Vec<Value>> =
            transition.params.iter().map(|p| value_of(p.symbol)).collect();
        let (Some(params), Some(state)) = (params, self.state()) else { return Ok(None) };
        if !transition.is_functional(system) || fixed.len() > params.len() {
            return Ok(None);
        }
        let mut pool = Pool::fork(system.pool());
        let mut known = self.known_values(state, fixed);
        let guard = system.guard_term(&mut pool, t);
        match truth(&pool, guard, &known) {
            Some(true) => {}
            Some(false) => return Err(self.not_enabled(t, fixed)),
            None => return Ok(None),
        }
        let mut next = state.values.clone();
        for e in &transition.effect {
            if let gander_system::Effect::Assign { var, value, .. } = e {
                let Ok(v) = evaluate(&pool, value.term(), &|s| known.get(&s).cloned()) else {
                    return Ok(None);
                };
                next[var.index()] = v;
            }
        }
        known.extend(system.vars().iter().map(|v| v.current).zip(next.iter().cloned()));
        let assumption = system.assumption_term(&mut pool, transition.target);
        match truth(&pool, assumption, &known) {
            Some(true) => Ok(Some(Step { transition: t, params, next: Some(next) })),
            Some(false) => Err(no_step(&transition.name)),
            None => Ok(None),
        }
    }

    fn find_step(&mut self, t: TransitionId, fixed: &Fixed) -> Result<Step, SimulationError> {
        if let Some(step) = self.evaluated_step(t, fixed)? {
            return Ok(step);
        }
        let system = Arc::clone(&self.system);
        let transition = system.transition(t);
        let Some(state) = self.state().cloned() else {
            return Err(SimulationError::Impossible("the simulation has not begun".to_string()));
        };
        let mut pool = Pool::fork(system.pool());
        let guard = system.guard_term(&mut pool, t);
        let effect = system.effect_term(&mut pool, t);
        let assumption = system.assumption_term(&mut pool, transition.target);
        let mut prime = FxHashMap::default();
        for v in system.vars() {
            prime.insert(v.current, pool.var(v.next));
        }
        let assumption = pool.substitute(assumption, &prime);
        let here = self.constants(&mut pool, &state);
        let whole = pool.and([guard, effect]);
        let whole = pool.substitute(whole, &here);
        let whole = pool.and([whole, assumption]);
        let params = transition.params.iter().map(|p| p.symbol);
        let wanted: Vec<SymbolId> = params.chain(system.vars().iter().map(|v| v.next)).collect();
        let found = find_values(&self.solvers, &mut pool, whole, fixed, &wanted)?;
        let Some(mut values) = found else {
            let guard = pool.substitute(guard, &here);
            let given = if fixed.is_empty() { "" } else { " with these values" };
            return Err(match find_values(&self.solvers, &mut pool, guard, &[], &[])? {
                None => self.not_enabled(t, &[]),
                Some(_) if fixed.is_empty() => no_step(&transition.name),
                Some(_) => {
                    SimulationError::Impossible(format!("`{}` has no step{given}", transition.name))
                }
            });
        };
        let next = values.split_off(transition.params.len());
        Ok(Step { transition: t, params: values, next: Some(next) })
    }

    /// That the transition is not enabled with these values of its parameters.
    fn not_enabled(&self, t: TransitionId, fixed: &Fixed) -> SimulationError {
        let transition = self.system.transition(t);
        let name = &transition.name;
        let show = |v: &Value| self.system.pool().show_decimal(v);
        let given: Vec<String> = (transition.params.iter())
            .filter_map(|p| {
                let (_, value) = fixed.iter().find(|(s, _)| *s == p.symbol)?;
                Some(format!("{} = {}", p.name, show(value)))
            })
            .collect();
        let with = match &given[..] {
            [] => String::new(),
            given => format!(" with {}", given.join(", ")),
        };
        SimulationError::Impossible(match self.step_limit_reached() {
            Some(limit) => format!("`{name}` is not enabled: the run has reached {limit}"),
            None => format!("`{name}` is not enabled{with}"),
        })
    }

    /// The author's limit on the number of steps, in words, if the run has reached it.
    pub fn step_limit_reached(&self) -> Option<String> {
        let limit = self.system.step_limit()?;
        (*limit <= IBig::from(self.length()))
            .then(|| format!("the step limit of the script, MAXSTEPS {limit}"))
    }

    /// Every variable of a state as a constant.
    pub(super) fn constants(&self, pool: &mut Pool, state: &State) -> FxHashMap<SymbolId, TermId> {
        self.system
            .vars()
            .iter()
            .zip(&state.values)
            .map(|(v, x)| (v.current, pool.constant(x.clone())))
            .collect()
    }

    pub(super) fn known_values(&self, state: &State, fixed: &Fixed) -> FxHashMap<SymbolId, Value> {
        let vars = self.system.vars().iter().map(|v| v.current).zip(state.values.iter().cloned());
        vars.chain(fixed.iter().cloned()).collect()
    }

    /// The node of the current state.
    pub fn node(&self) -> Option<NodeId> {
        self.state().map(|s| s.node)
    }
}

/// Values for `wanted` that satisfy a formula in which the fixed symbols have their values; none if
/// there are none.
pub(crate) fn find_values(
    solvers: &Solvers,
    pool: &mut Pool,
    formula: TermId,
    fixed: &Fixed,
    wanted: &[SymbolId],
) -> Result<Option<Vec<Value>>, SimulationError> {
    find_values_within(solvers, pool, formula, fixed, wanted, QUERY_TIME)
}

/// The same with another time limit for each query.
pub(crate) fn find_values_within(
    solvers: &Solvers,
    pool: &mut Pool,
    formula: TermId,
    fixed: &Fixed,
    wanted: &[SymbolId],
    time: Duration,
) -> Result<Option<Vec<Value>>, SimulationError> {
    let mut parts = vec![formula];
    for (symbol, value) in fixed {
        let (a, b) = (pool.var(*symbol), pool.constant(value.clone()));
        parts.push(pool.eq(a, b));
    }
    let formula = pool.and(parts);
    if wanted.is_empty()
        && let Some(known) = truth(pool, formula, &FxHashMap::default())
    {
        return Ok(known.then(Vec::new));
    }
    let features = pool.features(&[formula]);
    let Some(solver) = solvers.choose(features) else {
        let help = "no solver was found that can do this: `gander setup` brings one";
        return Err(SimulationError::Unknown(help.to_string()));
    };
    let mut session = Session::start(solver, SessionConfig::default());
    let symbols: Vec<StepSymbol> = wanted.iter().map(|&s| StepSymbol::rigid(s)).collect();
    for &s in &symbols {
        session.declare(pool, s);
    }
    session.assert(pool, formula);
    match session.check(&[], Limits::time(time)) {
        Answer::Unsat => Ok(None),
        Answer::Unknown(reason) => Err(SimulationError::Unknown(reason.to_string())),
        Answer::Sat => {
            let values = session
                .values(pool, &symbols, Limits::time(time))
                .map_err(|reason| SimulationError::Unknown(reason.to_string()))?;
            let known: FxHashMap<SymbolId, Value> =
                wanted.iter().copied().zip(values.iter().cloned()).collect();
            match truth(pool, formula, &known) {
                Some(false) => Err(SimulationError::Unknown(
                    "the solver gave values that are not right".to_string(),
                )),
                _ => Ok(Some(values)),
            }
        }
    }
}

fn no_step(name: &str) -> SimulationError {
    SimulationError::Impossible(format!(
        "`{name}` is enabled, but no next state satisfies its effect and the assumptions"
    ))
}

pub(super) fn truth(
    pool: &Pool,
    formula: TermId,
    known: &FxHashMap<SymbolId, Value>,
) -> Option<bool> {
    evaluate(pool, formula, &|s| known.get(&s).cloned()).ok().and_then(|v| v.as_bool())
}

/// The generator of a simulation: the same seed gives the same run.
pub(crate) fn generator(seed: u64) -> Random {
    Random::new(seed ^ 0x9e37_79b9_7f4a_7c15)
}

/// A random value; small numbers are likelier.
pub(crate) fn random_value(random: &mut Random, pool: &Pool, sort: Sort) -> Value {
    let magnitude = random.pick(&[3, 10, 100, 1000]);
    let number = IBig::from(random.below(2 * magnitude + 1)) - IBig::from(magnitude);
    match sort {
        Sort::Bool => Value::Bool(random.below(2) == 1),
        Sort::Int => Value::Int(number),
        Sort::Real => Value::Real(RBig::from(number)),
        Sort::String => Value::str(random.pick(&["", "a", "b", "ab"])),
        Sort::Enum(id) => Value::Enum(id, random.below(pool.enumeration(id).variants.len()) as u32),
        Sort::BitVec(width) => Value::bits(width, number),
        // Recurses over nested arrays only, whose depth is limited.
        Sort::Array(array) => {
            let default = random_value(random, pool, array.element());
            let mut elements = Vec::new();
            for _ in 0..random.below(4) {
                let index = random_value(random, pool, array.index());
                elements.push((index, random_value(random, pool, array.element())));
            }
            ArrayValue::new(array, default, elements)
                .map_or_else(|| sort.first_value(), Value::array)
        }
    }
}
