//! Acceleration of repetitions: the state after many rounds, without replaying them.
//!
//! If every round adds the same numbers to the variables, the state before round i is `s + i * d`,
//! with d computed from two rounds. Obligations with the symbol i, for all i in the range, say that
//! this is so and that every step of round i is possible. Nested repetitions have their own index.
//! If an obligation is not discharged, nothing is concluded, and the rounds are replayed one by
//! one.

use gander_system::{Leg, NodeId, State, Step};
use gander_term::{IBig, Op, RBig, Simplifier, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::discharge::{CheckContext, Obligation};
use crate::evidence::replay::next_values;
use crate::formula::fits;
use crate::rejection::{Rejection, undecided};

/// The nesting depth of repetitions that are accelerated; each level triples the cost.
const MAX_DEPTH: u32 = 4;

/// The state after `times` rounds of a body, from an admissible state.
pub(crate) fn skip(
    cx: &mut CheckContext<'_>,
    state: &State,
    times: u64,
    body: &[Leg],
) -> Result<State, Rejection> {
    let values: Vec<TermId> = state.values.iter().map(|v| cx.pool.constant(v.clone())).collect();
    let mut rounds = Rounds {
        cx,
        simplifier: Simplifier::new(),
        ranges: Vec::new(),
        obligations: Vec::new(),
        computed: FxHashMap::default(),
    };
    let end = rounds.repeat(SymbolicState { node: state.node, values }, times, body, MAX_DEPTH)?;
    let obligations = rounds.obligations;
    cx.refute_all(&obligations)?;
    let values = end.values.iter().map(|&t| evaluate(&cx.pool, t, &|_| None));
    let values: Result<Vec<Value>, _> = values.collect();
    Ok(State { node: end.node, values: values.map_err(|e| undecided(e.to_string()))? })
}

/// A state whose values are terms over indices.
#[derive(Clone)]
struct SymbolicState {
    node: NodeId,
    values: Vec<TermId>,
}

struct Rounds<'c, 'a> {
    cx: &'c mut CheckContext<'a>,
    simplifier: Simplifier,
    /// The bounds of the indices of the enclosing repetitions.
    ranges: Vec<TermId>,
    obligations: Vec<Obligation>,
    /// By transition: the values after it.
    computed: FxHashMap<u32, Vec<TermId>>,
}

fn give_up() -> Rejection {
    undecided("the rounds are not alike")
}

impl Rounds<'_, '_> {
    /// Recursion is bounded by `depth`.
    fn repeat(
        &mut self,
        from: SymbolicState,
        times: u64,
        body: &[Leg],
        depth: u32,
    ) -> Result<SymbolicState, Rejection> {
        let depth = depth.checked_sub(1).ok_or_else(give_up)?;
        self.cx.check_cancelled()?;
        if times == 0 {
            return Ok(from);
        }
        // The first round may differ from the later ones: it may set a variable that these keep.
        let first = self.round(from, body, depth)?;
        if times == 1 {
            return Ok(first);
        }
        let second = self.round(first.clone(), body, depth)?;
        if times == 2 {
            return Ok(second);
        }
        let differences: Vec<Option<RBig>> = (0..first.values.len())
            .map(|v| self.difference(first.values[v], second.values[v]))
            .collect::<Result<_, _>>()?;
        let index = self.cx.pool.declare_fresh("round", Sort::Int);
        let i = self.cx.pool.var(index);
        let (zero, last) = (self.cx.pool.int(0), self.cx.pool.int(times - 2));
        let (low, high) = (self.cx.pool.le(zero, i), self.cx.pool.le(i, last));
        self.ranges.extend([low, high]);
        let now = self.moved(&first, &differences, i)?;
        let one = self.cx.pool.int(1);
        let later = self.cx.pool.add(i, one);
        let expected = self.moved(&first, &differences, later)?;
        let next = self.round(now, body, depth)?;
        let same: Vec<TermId> = next
            .values
            .iter()
            .zip(&expected.values)
            .map(|(&a, &b)| self.cx.pool.eq(a, b))
            .collect();
        let same = self.cx.pool.and(same);
        self.add_obligation(same);
        self.ranges.truncate(self.ranges.len() - 2);
        let all = self.cx.pool.int(times - 1);
        self.moved(&first, &differences, all)
    }

    /// The difference of two values where all indices are zero; `None` if they are equal.
    fn difference(&self, a: TermId, b: TermId) -> Result<Option<RBig>, Rejection> {
        let zero = |_: SymbolId| Some(Value::Int(IBig::ZERO));
        let value =
            |t: TermId| evaluate(&self.cx.pool, t, &zero).map_err(|e| undecided(e.to_string()));
        let difference = match (value(a)?, value(b)?) {
            (Value::Int(a), Value::Int(b)) => RBig::from(b - a),
            (Value::Real(a), Value::Real(b)) => b - a,
            (a, b) if a == b => RBig::ZERO,
            _ => return Err(give_up()),
        };
        Ok((difference != RBig::ZERO).then_some(difference))
    }

    /// The state with `times` times the differences added.
    fn moved(
        &mut self,
        from: &SymbolicState,
        differences: &[Option<RBig>],
        times: TermId,
    ) -> Result<SymbolicState, Rejection> {
        let pool = &mut self.cx.pool;
        let mut values = Vec::with_capacity(from.values.len());
        for (&value, difference) in from.values.iter().zip(differences) {
            let Some(d) = difference else {
                values.push(value);
                continue;
            };
            let (d, times) = match pool.sort(value) {
                Sort::Int => (pool.constant(Value::Int(d.numerator().clone())), times),
                _ => (
                    pool.constant(Value::Real(d.clone())),
                    pool.mk(Op::ToReal, &[times]).map_err(|_| give_up())?,
                ),
            };
            let product = pool.mul(d, times);
            let sum = pool.add(value, product);
            values.push(self.simplifier.simplify(pool, sum));
        }
        Ok(SymbolicState { node: from.node, values })
    }

    /// Adds the obligation that the formula holds for all indices in their ranges.
    fn add_obligation(&mut self, formula: TermId) {
        let formula = self.simplifier.simplify(&mut self.cx.pool, formula);
        if self.cx.pool.as_bool(formula) != Some(true) {
            let not = self.cx.pool.not(formula);
            let wrong = self.cx.pool.and(self.ranges.iter().copied().chain([not]));
            self.obligations.push((wrong, "a round of a repetition cannot be done".to_string()));
        }
    }

    fn round(
        &mut self,
        from: SymbolicState,
        body: &[Leg],
        depth: u32,
    ) -> Result<SymbolicState, Rejection> {
        let mut now = from;
        for leg in body {
            now = match leg {
                Leg::Step(step) => self.step(now, step)?,
                Leg::Repeat { times, body } => self.repeat(now, *times, body, depth)?,
            };
        }
        Ok(now)
    }

    fn step(&mut self, from: SymbolicState, step: &Step) -> Result<SymbolicState, Rejection> {
        let system = self.cx.system;
        let transition = system.transitions().get(step.transition.index()).ok_or_else(give_up)?;
        let fit = |values: &[Value], sorts: &mut dyn Iterator<Item = Sort>| {
            values.iter().zip(sorts).all(|(v, s)| fits(system.pool(), v, s))
        };
        let params = step.params.len() == transition.params.len()
            && fit(&step.params, &mut transition.params.iter().map(|p| p.sort));
        let next = step.next.as_ref().is_none_or(|next| {
            next.len() == system.vars().len()
                && fit(next, &mut system.vars().iter().map(|v| v.sort))
        });
        if transition.source != from.node || !params || !next {
            return Err(give_up());
        }
        if !self.computed.contains_key(&step.transition.0) {
            let values = next_values(self.cx, step.transition);
            self.computed.insert(step.transition.0, values);
        }
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        for (p, v) in transition.params.iter().zip(&step.params) {
            map.insert(p.symbol, self.cx.pool.constant(v.clone()));
        }
        map.extend(system.vars().iter().map(|v| v.current).zip(from.values.iter().copied()));
        // Variables that the effect does not determine have the value of the last round.
        for (var, v) in system.vars().iter().zip(step.next.iter().flatten()) {
            map.insert(var.next, self.cx.pool.constant(v.clone()));
        }
        let pool = &mut self.cx.pool;
        let mut values = Vec::with_capacity(from.values.len());
        for t in self.computed[&step.transition.0].clone() {
            let value = pool.substitute(t, &map);
            values.push(self.simplifier.simplify(pool, value));
        }
        map.extend(system.vars().iter().map(|v| v.next).zip(values.iter().copied()));
        let (guard, effect) =
            (system.guard_term(pool, step.transition), system.effect_term(pool, step.transition));
        let taken = pool.and([guard, effect]);
        let taken = pool.substitute(taken, &map);
        let there: FxHashMap<SymbolId, TermId> =
            system.vars().iter().map(|v| v.current).zip(values.iter().copied()).collect();
        let assumption = system.assumption_term(pool, transition.target);
        let assumption = pool.substitute(assumption, &there);
        let both = pool.and([taken, assumption]);
        let indices = pool.free_symbols(&[both]);
        if indices.iter().any(|s| system.vars().iter().any(|v| v.next == *s || v.current == *s)) {
            return Err(give_up());
        }
        self.add_obligation(both);
        Ok(SymbolicState { node: transition.target, values })
    }
}
