//! Random steps and first states of a simulation.
//!
//! Whatever a step leaves open is chosen at random: parameters, inputs, and next values that the
//! effect does not assign. Values are drawn from the bounds that conjuncts such as `0 <= x` or
//! `x == 3` give for single symbols, and evaluation accepts or rejects them. If no draw is
//! accepted, a solver completes random values of single symbols.

use std::sync::Arc;

use gander_runtime::{Random, check_cancelled};
use gander_system::{Effect, StartId, State, Step, TransitionId};
use gander_term::{IBig, Op, Pool, Simplifier, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use super::simulator::{SimulationError, Simulator, find_values, random_value, truth};

/// Random values that are tried by evaluation.
const TRIES: u32 = 100;
/// Queries that add a random value of one symbol each.
const QUERIES: usize = 3;
/// Random values of an unbounded side of a range are at most this far from its other bound.
const REACH: usize = 10;

/// What the conjuncts of a formula say about the values of single symbols.
#[derive(Default)]
struct Bounds {
    exact: FxHashMap<SymbolId, Value>,
    low: FxHashMap<SymbolId, IBig>,
    high: FxHashMap<SymbolId, IBig>,
}

impl Bounds {
    fn of(pool: &Pool, formula: TermId) -> Bounds {
        let mut bounds = Bounds::default();
        let mut open = vec![formula];
        while let Some(t) = open.pop() {
            check_cancelled();
            match (pool.op(t), pool.args(t)) {
                (Op::And, args) => open.extend(args),
                (Op::Symbol(s), _) => drop(bounds.exact.insert(s, Value::Bool(true))),
                (Op::Not, &[a]) => {
                    if let Some(s) = pool.as_symbol(a) {
                        bounds.exact.insert(s, Value::Bool(false));
                    }
                }
                (op @ (Op::Eq | Op::Le | Op::Lt | Op::Ge | Op::Gt), &[a, b]) => {
                    if let (Some(s), Some(value)) = (pool.as_symbol(a), pool.as_constant(b)) {
                        bounds.compare(s, op, value);
                    } else if let (Some(value), Some(s)) = (pool.as_constant(a), pool.as_symbol(b))
                    {
                        let mirrored = match op {
                            Op::Le => Op::Ge,
                            Op::Lt => Op::Gt,
                            Op::Ge => Op::Le,
                            Op::Gt => Op::Lt,
                            op => op,
                        };
                        bounds.compare(s, mirrored, value);
                    }
                }
                _ => {}
            }
        }
        bounds
    }

    fn compare(&mut self, s: SymbolId, op: Op, value: Value) {
        let Some(number) = value.as_int().cloned() else {
            if op == Op::Eq {
                self.exact.insert(s, value);
            }
            return;
        };
        let mut at_least = |low: IBig| {
            let known = self.low.entry(s).or_insert_with(|| low.clone());
            *known = low.max(known.clone());
        };
        let mut at_most = |high: IBig| {
            let known = self.high.entry(s).or_insert_with(|| high.clone());
            *known = high.min(known.clone());
        };
        match op {
            Op::Eq => drop(self.exact.insert(s, value)),
            Op::Ge => at_least(number),
            Op::Gt => at_least(number + IBig::ONE),
            Op::Le => at_most(number),
            Op::Lt => at_most(number - IBig::ONE),
            _ => {}
        }
    }

    /// A random value within the bounds.
    fn draw(&self, random: &mut Random, pool: &Pool, s: SymbolId, sort: Sort) -> Value {
        if let Some(value) = self.exact.get(&s) {
            return value.clone();
        }
        let reach = |random: &mut Random| IBig::from(random.below(REACH + 1));
        match (self.low.get(&s), self.high.get(&s)) {
            (Some(low), Some(high)) if low <= high => {
                let width = usize::try_from(high - low).unwrap_or(usize::MAX - 1);
                Value::Int(low + IBig::from(random.below(width + 1)))
            }
            (Some(low), None) => Value::Int(low + reach(random)),
            (None, Some(high)) => Value::Int(high - reach(random)),
            _ => random_value(random, pool, sort),
        }
    }
}

impl Simulator {
    /// Begins a new run with a random start, in a random state of it. An error if there is none.
    pub fn begin_at_random(&mut self) -> Result<(), SimulationError> {
        let system = Arc::clone(&self.system);
        let mut random = self.starts.clone();
        let mut order: Vec<usize> = (0..system.starts().len()).collect();
        random.shuffle(&mut order);
        let mut trouble = SimulationError::Impossible("the system has no start".to_string());
        for s in order {
            let start = StartId::from(s);
            let target = system.starts()[s].target;
            let mut pool = Pool::fork(system.pool());
            let constraint = system.start_term(&mut pool, start);
            let assumption = system.assumption_term(&mut pool, target);
            let all = pool.and([constraint, assumption]);
            let wanted: Vec<SymbolId> = system.vars().iter().map(|v| v.current).collect();
            let drawn = self.drawn(&mut random, &mut pool, all, &wanted);
            let values = drawn.and_then(|values| {
                values.ok_or_else(|| {
                    let name = &system.starts()[s].name;
                    SimulationError::Impossible(format!("`{name}` has no start state"))
                })
            });
            match values {
                Ok(values) => {
                    self.start = start;
                    self.states = vec![State { node: target, values }];
                    self.steps.clear();
                    return Ok(());
                }
                Err(t) => trouble = t,
            }
        }
        Err(trouble)
    }

    /// A step of a transition with random values of all that it leaves open; none if it leaves
    /// nothing open, or if no step was found.
    pub(super) fn random_step(&mut self, t: TransitionId) -> Option<Step> {
        let system = Arc::clone(&self.system);
        let transition = system.transition(t);
        if transition.params.is_empty() && transition.is_functional(&system) {
            return None;
        }
        let state = self.state()?.clone();
        let mut pool = Pool::fork(system.pool());
        let guard = system.guard_term(&mut pool, t);
        let effect = system.effect_term(&mut pool, t);
        let assumption = system.assumption_term(&mut pool, transition.target);
        let prime = system.vars().iter().map(|v| (v.current, pool.var(v.next))).collect();
        let assumption = pool.substitute(assumption, &prime);
        let here = self.constants(&mut pool, &state);
        let step = pool.and([guard, effect]);
        let step = pool.substitute(step, &here);
        let whole = pool.and([step, assumption]);
        let whole = Simplifier::new().simplify(&mut pool, whole);
        let params: Vec<SymbolId> = transition.params.iter().map(|p| p.symbol).collect();
        let next: Vec<SymbolId> = system.vars().iter().map(|v| v.next).collect();
        let wanted: Vec<SymbolId> = params.iter().chain(&next).copied().collect();
        let mut random = self.random.clone();
        let bounds = Bounds::of(&pool, whole);
        let known = self.known_values(&state, &[]);
        for _ in 0..TRIES {
            check_cancelled();
            let mut env = known.clone();
            for p in &transition.params {
                env.insert(p.symbol, bounds.draw(&mut random, &pool, p.symbol, p.sort));
            }
            let mut assigned = FxHashMap::default();
            for e in &transition.effect {
                match *e {
                    Effect::Assign { var, value, .. } => {
                        let value = evaluate(&pool, value.term(), &|s| env.get(&s).cloned()).ok();
                        assigned.insert(var.index(), value);
                    }
                    Effect::Keep { var, .. } => {
                        assigned.insert(var.index(), Some(state.values[var.index()].clone()));
                    }
                    Effect::Constrain { .. } => {}
                }
            }
            for (i, v) in system.vars().iter().enumerate() {
                let value = match assigned.remove(&i) {
                    Some(value) => value,
                    None => Some(bounds.draw(&mut random, &pool, v.next, v.sort)),
                };
                env.extend(value.map(|x| (v.next, x)));
            }
            if truth(&pool, whole, &env) == Some(true) {
                self.random = random;
                let values: Option<Vec<Value>> =
                    wanted.iter().map(|s| env.get(s).cloned()).collect();
                let mut values = values?;
                let next = values.split_off(params.len());
                return Some(Step { transition: t, params: values, next: Some(next) });
            }
        }
        let found = self.completed(&mut random, &mut pool, whole, &wanted, &bounds).ok().flatten();
        self.random = random;
        let mut values = found?;
        let next = values.split_off(params.len());
        Some(Step { transition: t, params: values, next: Some(next) })
    }

    /// Random values that satisfy a formula; none if there are none.
    fn drawn(
        &self,
        random: &mut Random,
        pool: &mut Pool,
        formula: TermId,
        wanted: &[SymbolId],
    ) -> Result<Option<Vec<Value>>, SimulationError> {
        let bounds = Bounds::of(pool, formula);
        for _ in 0..TRIES {
            let values: Vec<Value> =
                wanted.iter().map(|&s| bounds.draw(random, pool, s, pool.symbol(s).sort)).collect();
            let env: FxHashMap<SymbolId, Value> =
                wanted.iter().copied().zip(values.iter().cloned()).collect();
            if truth(pool, formula, &env) == Some(true) {
                return Ok(Some(values));
            }
        }
        self.completed(random, pool, formula, wanted, &bounds)
    }

    /// Values of a solver that satisfy a formula, some of them drawn at random before.
    fn completed(
        &self,
        random: &mut Random,
        pool: &mut Pool,
        formula: TermId,
        wanted: &[SymbolId],
        bounds: &Bounds,
    ) -> Result<Option<Vec<Value>>, SimulationError> {
        let Some(mut best) = find_values(&self.solvers, pool, formula, &[], wanted)? else {
            return Ok(None);
        };
        let mut order = wanted.to_vec();
        random.shuffle(&mut order);
        let mut fixed: Vec<(SymbolId, Value)> = Vec::new();
        for &s in order.iter().filter(|s| !bounds.exact.contains_key(s)).take(QUERIES) {
            fixed.push((s, bounds.draw(random, pool, s, pool.symbol(s).sort)));
            match find_values(&self.solvers, pool, formula, &fixed, wanted) {
                Ok(Some(values)) => best = values,
                Ok(None) | Err(_) => drop(fixed.pop()),
            }
        }
        Ok(Some(best))
    }
}
