//! Running a dataflow program: inputs in, all streams out, instant by instant.
//!
//! Given values for the free streams (inputs, arbitrary values, values before the first instant), the equations give the
//! others by evaluation. What is not given is chosen at random; if no random choice satisfies the assumptions, a solver
//! is asked for one that does. A solver is asked too where equations go round in a circle. Every instant that is kept
//! satisfies the equations and the assumptions, so the run is one of the system.

use std::sync::Arc;

use gander_smt::Solvers;
use gander_system::{ClaimKind, Dataflow, Instant, Leg, NodeId, Role, Run, StartId, State, Step, StreamKind, System};
use gander_system::{TransitionId, VarId};
use gander_term::{Pool, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::simulator::{Random, Trouble, find_values};

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
        // Where the language is read in two ways, the run is one in both.
        let system = system.narrow_reading().map_or(system, Arc::new);
        let flow = Dataflow::of(&system)?;
        let mut pool = Pool::fork(&system.pool);
        let here = NodeId(0);
        let assumed = system.assumptions.iter();
        let assumptions =
            assumed.map(|a| (system.element_name(a.id), system.at_node(&mut pool, a.term, here))).collect();
        let mut properties = Vec::new();
        for claim in &system.claims {
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
            random: Random::new(seed),
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
        let input =
            |v: &VarId| self.system.var(*v).stream == Some(StreamKind::Input) && self.flow.is_free(Instant::First, *v);
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

    /// True if the next instant takes a value for the stream rather than computing it.
    pub fn is_free(&self, v: VarId) -> bool {
        self.flow.is_free(self.instant(), v)
    }

    /// The run so far, once it has an instant.
    pub fn run(&self) -> Option<Run> {
        let first = State { node: NodeId(0), values: self.instants.first()?.clone() };
        let step = |values: &Vec<Value>| {
            Leg::Step(Step { transition: TransitionId(0), params: Vec::new(), next: Some(values.clone()) })
        };
        Some(Run { start: StartId(0), first, legs: self.instants[1..].iter().map(step).collect() })
    }

    /// Takes an instant back; false if there is none.
    pub fn undo(&mut self) -> bool {
        self.instants.pop().is_some()
    }

    /// Back to before the first instant.
    pub fn reset(&mut self) {
        self.instants.clear();
    }

    /// Takes an instant with these values of free streams; others are chosen.
    pub fn step(&mut self, given: &[(VarId, Value)]) -> Result<(), Trouble> {
        if let Some((v, _)) = given.iter().find(|(v, _)| !self.is_free(*v)) {
            let name = &self.system.var(*v).name;
            return Err(Trouble::Impossible(format!("`{name}` cannot be chosen here: its equation gives its value")));
        }
        let given: FxHashMap<VarId, Value> = given.iter().cloned().collect();
        let open: Vec<VarId> = self.system.var_ids().filter(|v| self.is_free(*v) && !given.contains_key(v)).collect();
        if !self.flow.is_causal(self.instant()) {
            return self.constrained_step(&given, &open);
        }
        let mut refused = String::new();
        let mut likely = given.clone();
        for _ in 0..if open.is_empty() { 1 } else { TRIES } {
            let mut chosen = given.clone();
            for &v in &open {
                chosen.insert(v, self.random.value(&self.system.pool, self.system.var(v).sort));
            }
            let before = self.instants.last().map(Vec::as_slice);
            let values = self.flow.values(before, |v| chosen.get(&v).cloned()).map_err(|v| {
                Trouble::Unknown(format!("the value of `{}` cannot be computed", self.system.var(v).name))
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
            return Err(Trouble::Impossible(format!("with these values the assumption `{refused}` does not hold")));
        }
        // Random inputs still, if results of functions without a body and the like are all that does not fit.
        let inner = |v: &VarId| {
            let var = self.system.var(*v);
            matches!(var.stream, Some(StreamKind::Internal | StreamKind::Choice)) && var.role == Role::Input
        };
        likely.retain(|v, _| given.contains_key(v) || !inner(v));
        let values = match self.solved(&likely)? {
            Some(values) => Some(values),
            None => self.solved(&given)?,
        };
        let values = values.ok_or_else(|| {
            let given = if given.is_empty() { "" } else { ", with those that are given," };
            Trouble::Impossible(format!("no values of the inputs{given} satisfy the assumptions"))
        })?;
        self.instants.push(values);
        Ok(())
    }

    /// An instant whose equations are constraints: with random values of the streams that are open, if these allow one.
    fn constrained_step(&mut self, given: &FxHashMap<VarId, Value>, open: &[VarId]) -> Result<(), Trouble> {
        let mut chosen = given.clone();
        for &v in open {
            chosen.insert(v, self.random.value(&self.system.pool, self.system.var(v).sort));
        }
        let mut values = self.solved(&chosen)?;
        if values.is_none() && !open.is_empty() {
            values = self.solved(given)?;
        }
        let with = if given.is_empty() { "" } else { " with the values that are given" };
        let values = values
            .ok_or_else(|| Trouble::Impossible(format!("the equations and assumptions have no solution here{with}")))?;
        self.instants.push(values);
        Ok(())
    }

    /// The name of an assumption that does not hold with these values.
    fn broken(&self, values: &[Value]) -> Option<&str> {
        let broken = self.assumptions.iter().find(|(_, t)| self.truth(*t, values) != Some(true));
        broken.map(|(name, _)| name.as_str())
    }

    fn truth(&self, formula: TermId, values: &[Value]) -> Option<bool> {
        let look = |s: SymbolId| self.current.get(&s).map(|v| values[v.index()].clone());
        evaluate(&self.pool, formula, &look).ok().and_then(|v| v.as_bool())
    }

    /// Properties with the first instant at which they are false, if there is one.
    pub fn failures(&self) -> Vec<(&str, usize)> {
        let first = |t: TermId| self.instants.iter().position(|values| self.truth(t, values) == Some(false));
        self.properties.iter().filter_map(|(name, t)| first(*t).map(|i| (name.as_str(), i))).collect()
    }

    /// Properties that are false at the last instant.
    pub fn failing_now(&self) -> Vec<&str> {
        let Some(values) = self.values() else { return Vec::new() };
        let failing = self.properties.iter().filter(|(_, t)| self.truth(*t, values) == Some(false));
        failing.map(|(name, _)| name.as_str()).collect()
    }

    /// Values of an instant that a solver finds.
    fn solved(&self, given: &FxHashMap<VarId, Value>) -> Result<Option<Vec<Value>>, Trouble> {
        let system = &self.system;
        let mut pool = Pool::fork(&system.pool);
        let assumption = system.assumption_term(&mut pool, NodeId(0));
        let (formula, symbol): (TermId, fn(&System, VarId) -> SymbolId) = match self.instants.last() {
            None => {
                let start = system.start_term(&mut pool, StartId(0));
                (pool.and([start, assumption]), |s, v| s.var(v).current)
            }
            Some(before) => {
                let effect = system.effect_term(&mut pool, TransitionId(0));
                let here = system.vars.iter().zip(before).map(|(v, x)| (v.current, pool.constant(x.clone()))).collect();
                let effect = pool.substitute(effect, &here);
                let prime = system.vars.iter().map(|v| (v.current, pool.var(v.next))).collect();
                let assumption = pool.substitute(assumption, &prime);
                (pool.and([effect, assumption]), |s, v| s.var(v).next)
            }
        };
        let wanted: Vec<SymbolId> = system.var_ids().map(|v| symbol(system, v)).collect();
        let fixed: Vec<(SymbolId, Value)> = given.iter().map(|(v, x)| (symbol(system, *v), x.clone())).collect();
        find_values(&self.solvers, &mut pool, formula, &fixed, &wanted)
    }
}
