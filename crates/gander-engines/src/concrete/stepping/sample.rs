//! Sampling: likely values for a parameter, an input or a next value.
//!
//! These are the constants of the model and their neighbours, values of variables of the same sort,
//! and above all the bounds in the formula itself: for a conjunct that is linear in the symbol, the
//! value at which its truth changes.

use gander_system::System;
use gander_term::{ArrayValue, BitVec, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value, Width};
use rustc_hash::FxHashMap;

use crate::arith::eliminate::{bound_of, solution_of};

use super::super::limits::LIMITS;
use super::formula::{Formula, Moment, Scope, Workspace};
use super::random::Random;

/// The constants of a model, and its variables by sort.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    ints: Vec<Value>,
    reals: Vec<Value>,
    strings: Vec<Value>,
    bits: Vec<BitVec>,
    variables: FxHashMap<Sort, Vec<usize>>,
}

impl Constants {
    /// The constants in these terms of a system, with their neighbours.
    pub(crate) fn of(system: &System, pool: &Pool, roots: &[TermId]) -> Constants {
        let mut found = Constants::default();
        for (i, v) in system.vars().iter().enumerate() {
            found.variables.entry(v.sort).or_default().push(i);
        }
        let mut ints: Vec<IBig> = [0, 1, -1, 2, 10, 100].map(IBig::from).to_vec();
        let mut reals: Vec<RBig> = Vec::new();
        let mut strings: Vec<Value> = vec![Value::str(""), Value::str("a")];
        for t in pool.postorder(roots) {
            match pool.as_constant(t) {
                Some(Value::Int(i)) => ints.extend([i.clone() - 1, i.clone(), i + 1]),
                Some(Value::Real(r)) => {
                    reals.extend([r.clone() - RBig::ONE, r.clone(), r + RBig::ONE])
                }
                Some(s @ Value::Str(_)) => strings.push(s),
                Some(Value::BitVec(v)) => found.bits.push(v),
                _ => {}
            }
        }
        reals.extend(ints.iter().take(LIMITS.sample_ints).map(|i| RBig::from(i.clone())));
        ints.sort_unstable();
        ints.dedup();
        reals.sort_unstable();
        reals.dedup();
        strings.sort_unstable();
        strings.dedup();
        found.bits.sort_unstable();
        found.bits.dedup();
        found.bits.truncate(LIMITS.sample_constants);
        found.ints.extend(ints.into_iter().take(LIMITS.sample_constants).map(Value::Int));
        found.reals.extend(reals.into_iter().take(LIMITS.sample_constants).map(Value::Real));
        found.strings.extend(strings.into_iter().take(LIMITS.sample_constants));
        found
    }

    pub(crate) fn pick(&self, pool: &Pool, sort: Sort, random: &mut Random) -> Value {
        match sort {
            Sort::Bool => Value::Bool(random.coin()),
            Sort::Int => random.pick(&self.ints).clone(),
            Sort::Real => random.pick(&self.reals).clone(),
            Sort::String => random.pick(&self.strings).clone(),
            Sort::Enum(e) => {
                Value::Enum(e, random.below(pool.enumeration(e).variants.len()) as u32)
            }
            Sort::BitVec(width) => self.pick_bits(width, random),
            // A default value with exceptions at some indices. Recurses only over nested arrays,
            // whose depth is limited.
            Sort::Array(array) => {
                let default = self.pick(pool, array.element(), random);
                let mut elements = Vec::new();
                for _ in 0..random.below(3) {
                    let index = self.pick(pool, array.index(), random);
                    elements.push((index, self.pick(pool, array.element(), random)));
                }
                ArrayValue::new(array, default, elements)
                    .map_or_else(|| sort.first_value(), Value::array)
            }
        }
    }

    /// A constant of this width or its neighbour, a small number, or an edge of the signed range.
    fn pick_bits(&self, width: Width, random: &mut Random) -> Value {
        let near = IBig::from(random.below(3) as i32 - 1);
        let of_width: Vec<&BitVec> = self.bits.iter().filter(|v| v.width() == width).collect();
        let base = match random.below(4) {
            0 => IBig::ONE << (width.bits() as usize - 1),
            1 | 2 if !of_width.is_empty() => random.pick(&of_width).unsigned(),
            _ => IBig::from(random.below(8)),
        };
        Value::bits(width, base + near)
    }
}

/// The source of values for one symbol.
#[derive(Debug)]
pub(crate) struct Source {
    sort: Sort,
    /// Terms whose values bound the symbol.
    bounds: Vec<Formula>,
    /// Terms that it must equal; tried first.
    solutions: Vec<Formula>,
}

impl Source {
    /// The source for `symbol` under `conjuncts`. Bounds may mention symbols that are chosen
    /// `before` it.
    pub(crate) fn new(
        pool: &mut Pool,
        scope: &Scope,
        symbol: SymbolId,
        conjuncts: &[TermId],
        before: impl Fn(SymbolId) -> bool,
    ) -> Source {
        let mut source =
            Source { sort: pool.symbol(symbol).sort, bounds: Vec::new(), solutions: Vec::new() };
        let mut literals = Vec::new();
        let mut stack = conjuncts.to_vec();
        while let Some(t) = stack.pop() {
            match pool.op(t) {
                Op::And | Op::Or | Op::Not | Op::Implies => stack.extend_from_slice(pool.args(t)),
                _ => literals.push((t, conjuncts.contains(&t))),
            }
            if literals.len() > LIMITS.sample_literals {
                break;
            }
        }
        for (l, must) in literals {
            let solution =
                solution_of(pool, symbol, l).or_else(|| truth_of(pool, symbol, l, conjuncts));
            let term = solution.or_else(|| bound_of(pool, symbol, l));
            let Some(term) = term else { continue };
            if !pool.free_symbols(&[term]).into_iter().all(&before) {
                continue;
            }
            let Some(formula) = Formula::new(scope, pool, &[term]) else { continue };
            let must = must || (solution.is_some() && pool.as_symbol(l) == Some(symbol));
            if must && solution.is_some() {
                source.solutions.push(formula)
            } else {
                source.bounds.push(formula)
            }
        }
        source
    }

    /// A value to try.
    pub(crate) fn pick(
        &self,
        system: &System,
        constants: &Constants,
        at: Moment<'_>,
        random: &mut Random,
        work: &mut Workspace,
    ) -> Value {
        if let Some(formula) = self.solutions.first()
            && let Some(values) = formula.values(at, work)
        {
            return values[0].clone();
        }
        if !self.bounds.is_empty() && !random.one_in(4) {
            let a = random.pick(&self.bounds).values(at, work).map(|v| v[0].clone());
            let b = random.pick(&self.bounds).values(at, work).map(|v| v[0].clone());
            if let (Some(a), Some(b)) = (a, b) {
                return between(&a, &b, random);
            }
        }
        if random.one_in(3) {
            let same = constants.variables.get(&self.sort).map_or(&[][..], Vec::as_slice);
            if !same.is_empty()
                && let Some(value) = at.current.get(*random.pick(same))
            {
                return nudge(value, random);
            }
        }
        constants.pick(system.pool(), self.sort, random)
    }
}

/// The truth value of `x` by a conjunct `x` or `not x`.
fn truth_of(pool: &mut Pool, x: SymbolId, literal: TermId, conjuncts: &[TermId]) -> Option<TermId> {
    if pool.as_symbol(literal) != Some(x) {
        return None;
    }
    let truth = conjuncts.contains(&literal);
    let not = pool.not(literal);
    (truth || conjuncts.contains(&not)).then(|| pool.constant(Value::Bool(truth)))
}

/// A value at or near one of two, or between them.
fn between(a: &Value, b: &Value, random: &mut Random) -> Value {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) if !random.one_in(3) => {
            let part = IBig::from(random.below(17));
            Value::Int(x + (y - x) * part / IBig::from(16))
        }
        (Value::Real(x), Value::Real(y)) if !random.one_in(3) => {
            let part = RBig::from(random.below(17)) / RBig::from(16u8);
            Value::Real(x + (y - x) * part)
        }
        _ => nudge(a, random),
    }
}

fn nudge(value: &Value, random: &mut Random) -> Value {
    let by = random.below(3) as i32 - 1;
    match value {
        Value::Int(i) => Value::Int(i + IBig::from(by)),
        Value::Real(r) => Value::Real(r + RBig::from(IBig::from(by))),
        other => other.clone(),
    }
}
