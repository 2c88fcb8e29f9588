//! Many rounds of a repetition at once.
//!
//! Where every round adds the same numbers to the variables, the state before round i is `s + i * d`, with d read off two rounds.
//! That this is so, and that every step of round i can be taken, is one formula with i in it for each, which a solver is asked
//! to find wrong for some i in the range. Repetitions inside have an index of their own, besides those around them. If anything
//! of this does not succeed, nothing is known, and the rounds are walked one by one.

use gander_system::{Leg, NodeId, State, Step};
use gander_term::{IBig, Op, RBig, Simplifier, Sort, SymbolId, TermId, Value, evaluate};
use rustc_hash::FxHashMap;

use crate::case::{Case, Obligation};
use crate::formula::fits;
use crate::rejection::{Rejection, undecided};
use crate::replay::next_values;

/// Repetitions inside repetitions are followed this deep; each level costs three times as much.
const MAX_DEPTH: u32 = 4;

/// The state behind `times` rounds of a body, from a state in which it is admissible to be.
pub(crate) fn skip(case: &mut Case<'_>, state: &State, times: u64, body: &[Leg]) -> Result<State, Rejection> {
    let values: Vec<TermId> = state.values.iter().map(|v| case.pool.constant(v.clone())).collect();
    let mut rounds = Rounds {
        case,
        simplifier: Simplifier::new(),
        ranges: Vec::new(),
        obligations: Vec::new(),
        computed: FxHashMap::default(),
    };
    let end = rounds.repeat(Place { node: state.node, values }, times, body, MAX_DEPTH)?;
    let obligations = rounds.obligations;
    case.refute_all(&obligations)?;
    let values = end.values.iter().map(|&t| evaluate(&case.pool, t, &|_| None));
    let values: Result<Vec<Value>, _> = values.collect();
    Ok(State { node: end.node, values: values.map_err(|e| undecided(e.to_string()))? })
}

/// A state with terms over indices for values.
#[derive(Clone)]
struct Place {
    node: NodeId,
    values: Vec<TermId>,
}

struct Rounds<'c, 'a> {
    case: &'c mut Case<'a>,
    simplifier: Simplifier,
    /// What the indices of the repetitions around are between.
    ranges: Vec<TermId>,
    obligations: Vec<Obligation>,
    /// By transition: the values behind it.
    computed: FxHashMap<u32, Vec<TermId>>,
}

fn give_up() -> Rejection {
    undecided("the rounds are not alike")
}

impl Rounds<'_, '_> {
    /// Recursion is bounded by `depth`.
    fn repeat(&mut self, from: Place, times: u64, body: &[Leg], depth: u32) -> Result<Place, Rejection> {
        let depth = depth.checked_sub(1).ok_or_else(give_up)?;
        self.case.look_up()?;
        if times == 0 {
            return Ok(from);
        }
        // The first round may set what later rounds find set.
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
        let index = self.case.pool.declare_fresh("round", Sort::Int);
        let i = self.case.pool.var(index);
        let (zero, last) = (self.case.pool.int(0), self.case.pool.int(times - 2));
        let (low, high) = (self.case.pool.le(zero, i), self.case.pool.le(i, last));
        self.ranges.extend([low, high]);
        let now = self.moved(&first, &differences, i)?;
        let one = self.case.pool.int(1);
        let later = self.case.pool.add(i, one);
        let expected = self.moved(&first, &differences, later)?;
        let next = self.round(now, body, depth)?;
        let same: Vec<TermId> =
            next.values.iter().zip(&expected.values).map(|(&a, &b)| self.case.pool.eq(a, b)).collect();
        let same = self.case.pool.and(same);
        self.oblige(same);
        self.ranges.truncate(self.ranges.len() - 2);
        let all = self.case.pool.int(times - 1);
        self.moved(&first, &differences, all)
    }

    /// What is added from one value to another where all indices are zero; none if nothing is.
    fn difference(&self, a: TermId, b: TermId) -> Result<Option<RBig>, Rejection> {
        let zero = |_: SymbolId| Some(Value::Int(IBig::ZERO));
        let value = |t: TermId| evaluate(&self.case.pool, t, &zero).map_err(|e| undecided(e.to_string()));
        let difference = match (value(a)?, value(b)?) {
            (Value::Int(a), Value::Int(b)) => RBig::from(b - a),
            (Value::Real(a), Value::Real(b)) => b - a,
            (a, b) if a == b => RBig::ZERO,
            _ => return Err(give_up()),
        };
        Ok((difference != RBig::ZERO).then_some(difference))
    }

    /// The state with so many times the differences added.
    fn moved(&mut self, from: &Place, differences: &[Option<RBig>], times: TermId) -> Result<Place, Rejection> {
        let pool = &mut self.case.pool;
        let mut values = Vec::with_capacity(from.values.len());
        for (&value, difference) in from.values.iter().zip(differences) {
            let Some(d) = difference else {
                values.push(value);
                continue;
            };
            let (d, times) = match pool.sort(value) {
                Sort::Int => (pool.constant(Value::Int(d.numerator().clone())), times),
                _ => (pool.constant(Value::Real(d.clone())), pool.mk(Op::ToReal, &[times]).map_err(|_| give_up())?),
            };
            let product = pool.mul(d, times);
            let sum = pool.add(value, product);
            values.push(self.simplifier.simplify(pool, sum));
        }
        Ok(Place { node: from.node, values })
    }

    /// The formula holds for all indices in their ranges.
    fn oblige(&mut self, formula: TermId) {
        let formula = self.simplifier.simplify(&mut self.case.pool, formula);
        if self.case.pool.as_bool(formula) != Some(true) {
            let not = self.case.pool.not(formula);
            let wrong = self.case.pool.and(self.ranges.iter().copied().chain([not]));
            self.obligations.push((wrong, "a round of a repetition cannot be done".to_string()));
        }
    }

    fn round(&mut self, from: Place, body: &[Leg], depth: u32) -> Result<Place, Rejection> {
        let mut now = from;
        for leg in body {
            now = match leg {
                Leg::Step(step) => self.step(now, step)?,
                Leg::Repeat { times, body } => self.repeat(now, *times, body, depth)?,
            };
        }
        Ok(now)
    }

    fn step(&mut self, from: Place, step: &Step) -> Result<Place, Rejection> {
        let system = self.case.system;
        let transition = system.transitions.get(step.transition.index()).ok_or_else(give_up)?;
        let fit = |values: &[Value], sorts: &mut dyn Iterator<Item = Sort>| {
            values.iter().zip(sorts).all(|(v, s)| fits(&system.pool, v, s))
        };
        let params = step.params.len() == transition.params.len()
            && fit(&step.params, &mut transition.params.iter().map(|p| p.sort));
        let next = step
            .next
            .as_ref()
            .is_none_or(|next| next.len() == system.vars.len() && fit(next, &mut system.vars.iter().map(|v| v.sort)));
        if transition.source != from.node || !params || !next {
            return Err(give_up());
        }
        if !self.computed.contains_key(&step.transition.0) {
            let values = next_values(self.case, step.transition);
            self.computed.insert(step.transition.0, values);
        }
        let mut map: FxHashMap<SymbolId, TermId> = FxHashMap::default();
        for (p, v) in transition.params.iter().zip(&step.params) {
            map.insert(p.symbol, self.case.pool.constant(v.clone()));
        }
        map.extend(system.vars.iter().map(|v| v.current).zip(from.values.iter().copied()));
        // What nothing gives has the value of the last round.
        for (var, v) in system.vars.iter().zip(step.next.iter().flatten()) {
            map.insert(var.next, self.case.pool.constant(v.clone()));
        }
        let pool = &mut self.case.pool;
        let mut values = Vec::with_capacity(from.values.len());
        for t in self.computed[&step.transition.0].clone() {
            let value = pool.substitute(t, &map);
            values.push(self.simplifier.simplify(pool, value));
        }
        map.extend(system.vars.iter().map(|v| v.next).zip(values.iter().copied()));
        let (guard, effect) = (system.guard_term(pool, step.transition), system.effect_term(pool, step.transition));
        let taken = pool.and([guard, effect]);
        let taken = pool.substitute(taken, &map);
        let there: FxHashMap<SymbolId, TermId> =
            system.vars.iter().map(|v| v.current).zip(values.iter().copied()).collect();
        let assumption = system.assumption_term(pool, transition.target);
        let assumption = pool.substitute(assumption, &there);
        let both = pool.and([taken, assumption]);
        let indices = pool.free_symbols(&[both]);
        if indices.iter().any(|s| system.vars.iter().any(|v| v.next == *s || v.current == *s)) {
            return Err(give_up());
        }
        self.oblige(both);
        Ok(Place { node: transition.target, values })
    }
}
