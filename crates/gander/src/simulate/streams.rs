//! Simulation of a dataflow program: inputs in, all streams out, instant by instant.
//!
//! Given values for the free streams (inputs, arbitrary values, values before the first instant),
//! the equations give the others by evaluation. Other free streams get random values; if no random
//! choice satisfies the assumptions, a solver finds one. A solver also solves cyclic equations.
//! Every instant satisfies the equations and the assumptions, so the run is a run of the system.
//!
//! A function without a body is a table that grows: calls with arguments that occurred before have
//! the results that they had then. Constants that no stream has shown yet, such as the results of a
//! function for other arguments, may be chosen anew when an instant needs it.

use std::sync::Arc;

use gander_runtime::Random;
use gander_smt::Solvers;
use gander_system::{
    ClaimKind, Dataflow, Instant, Leg, NodeId, Role, Run, StartId, State, StateTerm, Step,
    StreamKind, System,
};
use gander_system::{TransitionId, VarId};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::simulator::{SimulationError, find_values, generator, random_value};

/// Random values that are tried before a solver is asked.
const TRIES: u32 = 24;

/// A run of a dataflow program that grows instant by instant.
#[derive(Debug)]
pub struct StreamSimulator {
    system: Arc<System>,
    flow: Dataflow,
    solvers: Arc<Solvers>,
    /// The pool of the formulas below.
    pool: Arc<Pool>,
    assumptions: Vec<(String, TermId)>,
    properties: Vec<(String, TermId)>,
    /// The values at each instant so far.
    instants: Vec<Vec<Value>>,
    current: FxHashMap<SymbolId, VarId>,
    random: Random,
}

impl StreamSimulator {
    /// A simulation before the first instant; none if the system is no dataflow program.
    pub fn new(system: Arc<System>, solvers: Arc<Solvers>, seed: u64) -> Option<StreamSimulator> {
        // Where the language has two readings, the run is a run of both.
        let system = system.simulated().map_or(system, Arc::new);
        let flow = Dataflow::of(&system)?;
        let mut pool = Pool::fork(system.pool());
        let here = NodeId(0);
        let assumed = system.assumptions().iter();
        let assumptions = assumed
            .map(|a| (system.element_name(a.id), system.at_node(&mut pool, a.term, here)))
            .collect();
        let mut properties = Vec::new();
        for claim in system.claims() {
            if let ClaimKind::Always(formula) = claim.kind {
                properties.push((claim.name.clone(), system.at_node(&mut pool, formula, here)));
            }
        }
        let current = system.var_ids().map(|v| (system.var(v).current, v)).collect();
        Some(StreamSimulator {
            flow,
            solvers,
            pool: pool.freeze(),
            assumptions,
            properties,
            instants: Vec::new(),
            current,
            random: generator(seed),
            system,
        })
    }

    /// The system.
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Its equations.
    pub fn flow(&self) -> &Dataflow {
        &self.flow
    }

    /// The inputs of the program.
    pub fn inputs(&self) -> Vec<VarId> {
        let input = |v: &VarId| {
            self.system.var(*v).stream == Some(StreamKind::Input)
                && self.flow.is_free(Instant::First, *v)
        };
        self.system.var_ids().filter(input).collect()
    }

    /// The number of instants so far.
    pub fn length(&self) -> usize {
        self.instants.len()
    }

    /// The values at the last instant.
    pub fn values(&self) -> Option<&[Value]> {
        self.instants.last().map(Vec::as_slice)
    }

    fn instant(&self) -> Instant {
        if self.instants.is_empty() { Instant::First } else { Instant::Later }
    }

    /// True if the equations of the next instant can be computed one after the other.
    pub(super) fn is_causal(&self) -> bool {
        self.flow.is_causal(self.instant())
    }

    /// True if the next instant takes a value for the stream rather than computing it.
    pub fn is_free(&self, v: VarId) -> bool {
        self.flow.is_free(self.instant(), v)
    }

    /// The run so far, once it has an instant.
    pub fn run(&self) -> Option<Run> {
        let first = State { node: NodeId(0), values: self.instants.first()?.clone() };
        let step = |values: &Vec<Value>| {
            Leg::Step(Step {
                transition: TransitionId(0),
                params: Vec::new(),
                next: Some(values.clone()),
            })
        };
        Some(Run { start: StartId(0), first, legs: self.instants[1..].iter().map(step).collect() })
    }

    /// Takes an instant back; false if there is none.
    pub fn undo(&mut self) -> bool {
        self.instants.pop().is_some()
    }

    /// Back to before the first instant; gives the instants that there were.
    pub(super) fn take_instants(&mut self) -> Vec<Vec<Value>> {
        std::mem::take(&mut self.instants)
    }

    /// Back to these instants, which were taken.
    pub(super) fn set_instants(&mut self, instants: Vec<Vec<Value>>) {
        self.instants = instants;
    }

    /// Back to before the first instant.
    pub fn reset(&mut self) {
        self.instants.clear();
    }

    /// Takes an instant with these values of free streams; others are chosen.
    pub fn step(&mut self, given: &[(VarId, Value)]) -> Result<(), SimulationError> {
        if let Some((v, _)) = given.iter().find(|(v, _)| !self.is_free(*v)) {
            let name = &self.system.var(*v).name;
            return Err(SimulationError::Impossible(format!(
                "`{name}` cannot be chosen here: its equation gives its value"
            )));
        }
        let given: FxHashMap<VarId, Value> = given.iter().cloned().collect();
        let open: Vec<VarId> =
            self.system.var_ids().filter(|v| self.is_free(*v) && !given.contains_key(v)).collect();
        if !self.flow.is_causal(self.instant()) {
            return self.constrained_step(&given, &open);
        }
        let mut refused = String::new();
        let mut likely = given.clone();
        for _ in 0..if open.is_empty() { 1 } else { TRIES } {
            let mut chosen = given.clone();
            for &v in &open {
                chosen.insert(
                    v,
                    random_value(&mut self.random, self.system.pool(), self.system.var(v).sort),
                );
            }
            let before = self.instants.last().map(Vec::as_slice);
            let values = self.flow.values(before, |v| chosen.get(&v).cloned()).map_err(|v| {
                SimulationError::Unknown(format!(
                    "the value of `{}` cannot be computed",
                    self.system.var(v).name
                ))
            })?;
            match self.broken(&values) {
                None => {
                    self.instants.push(values);
                    return Ok(());
                }
                Some(name) => refused = name.to_string(),
            }
            likely = chosen;
        }
        if open.is_empty() {
            return Err(SimulationError::Impossible(format!(
                "with these values the assumption `{refused}` does not hold"
            )));
        }
        // Keep the random inputs if other free values, such as results of functions without a body,
        // can be chosen to fit them.
        let inner = |v: &VarId| {
            let var = self.system.var(*v);
            matches!(var.stream, Some(StreamKind::Internal | StreamKind::Choice))
                && var.role == Role::Input
        };
        likely.retain(|v, _| given.contains_key(v) || !inner(v));
        let values = match self.solved(&likely)? {
            Some(values) => Some(values),
            None => self.solved(&given)?,
        };
        if let Some(values) = values {
            self.instants.push(values);
            return Ok(());
        }
        likely.retain(|v, _| given.contains_key(v) || self.system.var(*v).role == Role::Input);
        if self.revised(&likely)? || self.revised(&given)? {
            return Ok(());
        }
        let given = if given.is_empty() { "" } else { ", with those that are given," };
        let after = if self.instants.is_empty() { "" } else { " after this run" };
        Err(SimulationError::Impossible(format!(
            "no values of the inputs{given} satisfy the assumptions{after}"
        )))
    }

    /// The constants that no stream shows: they are chosen once, but only a later instant may
    /// depend on them.
    fn hidden_constants(&self) -> Vec<VarId> {
        let hidden = |v: &VarId| {
            let var = self.system.var(*v);
            var.stream == Some(StreamKind::Internal)
                && var.role == Role::State
                && self.flow.is_free(Instant::First, *v)
                && !self.flow.is_free(Instant::Later, *v)
        };
        self.system.var_ids().filter(hidden).collect()
    }

    /// Takes an instant with these values, with other hidden constants that fit the instants so
    /// far; false if there are none.
    fn revised(&mut self, given: &FxHashMap<VarId, Value>) -> Result<bool, SimulationError> {
        let constants = self.hidden_constants();
        if constants.is_empty() || self.instants.is_empty() {
            return Ok(false);
        }
        let system = Arc::clone(&self.system);
        let mut pool = Pool::fork(system.pool());
        let start = system.start_term(&mut pool, StartId(0));
        let effect = system.effect_term(&mut pool, TransitionId(0));
        let assumption = system.assumption_term(&mut pool, NodeId(0));
        let mut parts = Vec::new();
        let values_of =
            |pool: &mut Pool, values: &[Value], symbol: fn(&System, VarId) -> SymbolId| {
                let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
                for v in system.var_ids() {
                    let term = match constants.contains(&v) {
                        true => pool.var(system.var(v).current),
                        false => pool.constant(values[v.index()].clone()),
                    };
                    map.insert(symbol(&system, v), term);
                }
                map
            };
        let current: fn(&System, VarId) -> SymbolId = |s, v| s.var(v).current;
        let next: fn(&System, VarId) -> SymbolId = |s, v| s.var(v).next;
        for (j, values) in self.instants.iter().enumerate() {
            let now = values_of(&mut pool, values, current);
            if j == 0 {
                parts.push(pool.substitute(start, &now));
            } else {
                let mut both = values_of(&mut pool, &self.instants[j - 1], current);
                both.extend(values_of(&mut pool, values, next));
                parts.push(pool.substitute(effect, &both));
            }
            parts.push(pool.substitute(assumption, &now));
        }
        let last = self.instants.last().map(Vec::as_slice).unwrap_or_default();
        let before = values_of(&mut pool, last, current);
        parts.push(pool.substitute(effect, &before));
        let prime = system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
        parts.push(pool.substitute(assumption, &prime));
        let functions = self.function_law(&mut pool);
        parts.push(pool.substitute(functions, &prime));
        let formula = pool.and(parts);
        let mut wanted: Vec<SymbolId> = system.var_ids().map(|v| next(&system, v)).collect();
        wanted.extend(constants.iter().map(|v| current(&system, *v)));
        let fixed: Vec<(SymbolId, Value)> =
            given.iter().map(|(v, x)| (next(&system, *v), x.clone())).collect();
        let Some(mut found) = find_values(&self.solvers, &mut pool, formula, &fixed, &wanted)?
        else {
            return Ok(false);
        };
        let chosen = found.split_off(system.vars().len());
        for values in &mut self.instants {
            for (v, value) in constants.iter().zip(&chosen) {
                values[v.index()] = value.clone();
            }
        }
        self.instants.push(found);
        Ok(true)
    }

    /// The arguments and results of the calls of a function at an instant.
    fn calls_at(&self, number: usize, values: &[Value]) -> Vec<(Vec<Value>, Vec<Value>)> {
        let look = |s: SymbolId| self.current.get(&s).map(|v| values[v.index()].clone());
        let all = |terms: &[StateTerm]| -> Option<Vec<Value>> {
            terms.iter().map(|t| evaluate(self.system.pool(), t.term(), &look).ok()).collect()
        };
        let calls = self.system.functions()[number].calls.iter();
        calls.filter_map(|(arguments, results)| Some((all(arguments)?, all(results)?))).collect()
    }

    /// What is known of a function: arguments with results, each once.
    fn known_rows(&self, number: usize) -> Vec<(Vec<Value>, Vec<Value>)> {
        let mut rows: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
        for values in &self.instants {
            for row in self.calls_at(number, values) {
                if !rows.contains(&row) {
                    rows.push(row);
                }
            }
        }
        rows
    }

    /// The formula about an instant that functions without a body give known results to known
    /// arguments.
    fn function_law(&self, pool: &mut Pool) -> TermId {
        let mut laws = Vec::new();
        for (number, function) in self.system.functions().iter().enumerate() {
            let rows = self.known_rows(number);
            for (arguments, results) in &function.calls {
                for (given, gives) in &rows {
                    let mut equal = |terms: &[StateTerm], values: &[Value]| {
                        let parts: Vec<TermId> = terms
                            .iter()
                            .zip(values)
                            .map(|(t, x)| {
                                let x = pool.constant(x.clone());
                                pool.eq(t.term(), x)
                            })
                            .collect();
                        pool.and(parts)
                    };
                    let (same, result) = (equal(arguments, given), equal(results, gives));
                    laws.push(pool.implies(same, result));
                }
            }
        }
        pool.and(laws)
    }

    /// The name of a function without a body that these values contradict.
    fn contradicted(&self, values: &[Value]) -> Option<&str> {
        let functions = self.system.functions().iter().enumerate();
        let contradicted = functions.filter(|(number, _)| {
            let rows = self.known_rows(*number);
            let now = self.calls_at(*number, values);
            let clash = |(a, r): &(Vec<Value>, Vec<Value>)| {
                rows.iter().chain(&now).any(|(b, s)| a == b && r != s)
            };
            now.iter().any(clash)
        });
        contradicted.map(|(_, f)| f.name.as_str()).next()
    }

    /// An instant whose equations are constraints, with random values of the free streams if they
    /// allow one.
    fn constrained_step(
        &mut self,
        given: &FxHashMap<VarId, Value>,
        open: &[VarId],
    ) -> Result<(), SimulationError> {
        let mut chosen = given.clone();
        for &v in open {
            chosen.insert(
                v,
                random_value(&mut self.random, self.system.pool(), self.system.var(v).sort),
            );
        }
        let mut values = self.solved(&chosen)?;
        if values.is_none() && !open.is_empty() {
            values = self.solved(given)?;
        }
        let with = if given.is_empty() { "" } else { " with the values that are given" };
        let values = values.ok_or_else(|| {
            SimulationError::Impossible(format!(
                "the equations and assumptions have no solution here{with}"
            ))
        })?;
        self.instants.push(values);
        Ok(())
    }

    /// The name of an assumption that does not hold with these values.
    fn broken(&self, values: &[Value]) -> Option<&str> {
        let broken = self.assumptions.iter().find(|(_, t)| self.truth(*t, values) != Some(true));
        broken.map(|(name, _)| name.as_str()).or_else(|| self.contradicted(values))
    }

    fn truth(&self, formula: TermId, values: &[Value]) -> Option<bool> {
        let look = |s: SymbolId| self.current.get(&s).map(|v| values[v.index()].clone());
        evaluate(&self.pool, formula, &look).ok().and_then(|v| v.as_bool())
    }

    /// Properties with the first instant at which they are false, if there is one.
    pub fn failures(&self) -> Vec<(&str, usize)> {
        let first = |t: TermId| {
            self.instants.iter().position(|values| self.truth(t, values) == Some(false))
        };
        self.properties
            .iter()
            .filter_map(|(name, t)| first(*t).map(|i| (name.as_str(), i)))
            .collect()
    }

    /// Properties that are false at the last instant.
    pub fn failing_now(&self) -> Vec<&str> {
        let Some(values) = self.values() else { return Vec::new() };
        let failing = self.properties.iter().filter(|(_, t)| self.truth(*t, values) == Some(false));
        failing.map(|(name, _)| name.as_str()).collect()
    }

    /// Values of an instant that a solver finds.
    fn solved(
        &self,
        given: &FxHashMap<VarId, Value>,
    ) -> Result<Option<Vec<Value>>, SimulationError> {
        let system = &self.system;
        let mut pool = Pool::fork(system.pool());
        let assumption = system.assumption_term(&mut pool, NodeId(0));
        let (formula, symbol): (TermId, fn(&System, VarId) -> SymbolId) = match self.instants.last()
        {
            None => {
                let start = system.start_term(&mut pool, StartId(0));
                (pool.and([start, assumption]), |s, v| s.var(v).current)
            }
            Some(before) => {
                let effect = system.effect_term(&mut pool, TransitionId(0));
                let here = system
                    .vars()
                    .iter()
                    .zip(before)
                    .map(|(v, x)| (v.current, pool.constant(x.clone())))
                    .collect();
                let effect = pool.substitute(effect, &here);
                let prime = system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
                let assumption = pool.substitute(assumption, &prime);
                let functions = self.function_law(&mut pool);
                let functions = pool.substitute(functions, &prime);
                (pool.and([effect, assumption, functions]), |s, v| s.var(v).next)
            }
        };
        let wanted: Vec<SymbolId> = system.var_ids().map(|v| symbol(system, v)).collect();
        let fixed: Vec<(SymbolId, Value)> =
            given.iter().map(|(v, x)| (symbol(system, *v), x.clone())).collect();
        find_values(&self.solvers, &mut pool, formula, &fixed, &wanted)
    }
}
