//! Random variables with small closed domains, and next values that stay in them.
//!
//! A state variable of sort int or real has a nominal domain. Assignments keep the number of values
//! finite: by `mod`, by `min` and `max`, by if-then-else or by a guard. If a combination still
//! leaves the domain without bound, the oracle refuses and the generator tries again.

use gander_system::{Range, Role, SystemBuilder, VarId};
use gander_term::{
    ArraySort, ArrayValue, BvOp, EnumId, IBig, Op, Pool, Sort, SymbolId, TermId, Value, Width,
};

use super::terms::{Flavour, SMALL_WIDTHS, STRINGS, Terms, ratio};
use crate::random::Random;

/// A variable and its nominal domain.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub id: VarId,
    pub sort: Sort,
    pub role: Role,
    pub current: SymbolId,
    pub next: SymbolId,
    /// In order, never empty.
    pub domain: Vec<Value>,
}

impl Variable {
    fn ends(&self) -> (Value, Value) {
        (self.domain[0].clone(), self.domain[self.domain.len() - 1].clone())
    }
}

/// A random domain of a sort with at most `most` values.
pub(super) fn domain(random: &mut Random, sort: Sort, variants: usize, most: usize) -> Vec<Value> {
    match sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Enum(e) => (0..variants as u32).map(|i| Value::Enum(e, i)).collect(),
        Sort::BitVec(width) => {
            (0..1u32 << width.bits().min(8)).map(|i| Value::bits(width, i)).collect()
        }
        Sort::Array(array) => array_domain(array, most),
        Sort::Int => {
            let low = *random.pick(&[0, 0, 0, 1, -2]);
            let size = random.between(2, most as i64);
            (low..low + size).map(Value::int).collect()
        }
        Sort::Real => {
            let denominator = *random.pick(&[1, 2, 2, 3]);
            let low = *random.pick(&[0, 0, 1, -1]);
            let size = random.between(2, most.min(6) as i64);
            (low..low + size).map(|n| ratio(n, denominator)).collect()
        }
        Sort::String => {
            let first = random.below(3);
            let size = random.between(2, 3) as usize;
            let mut values: Vec<Value> =
                STRINGS[first..first + size].iter().map(|s| Value::str(s)).collect();
            if random.chance(10) {
                values.push(Value::str(STRINGS[random.below(STRINGS.len())]));
            }
            values.sort();
            values.dedup();
            values
        }
    }
}

/// Sorts of arrays with few values, or with few reachable values.
fn small_arrays() -> Vec<Sort> {
    let pool = Pool::new();
    let [one, two, ..] = SMALL_WIDTHS.map(Sort::BitVec);
    let pairs =
        [(Sort::Bool, Sort::Bool), (one, Sort::Bool), (Sort::Bool, two), (Sort::Int, Sort::Bool)];
    pairs.into_iter().filter_map(|(index, element)| pool.array_sort(index, element)).collect()
}

/// Every array that has one element everywhere except at the first two indices.
fn array_domain(sort: ArraySort, most: usize) -> Vec<Value> {
    let two = |sort: Sort| match sort {
        Sort::Bool => [false, true].map(Value::Bool).to_vec(),
        Sort::BitVec(width) => {
            (0..1u32 << width.bits().min(2)).map(|i| Value::bits(width, i)).collect()
        }
        _ => [0, 1].map(Value::int).to_vec(),
    };
    let (indices, elements) = (two(sort.index()), two(sort.element()));
    let mut values = Vec::new();
    for default in &elements[..1] {
        for a in &elements {
            for b in &elements {
                let written =
                    vec![(indices[0].clone(), a.clone()), (indices[1].clone(), b.clone())];
                values.extend(ArrayValue::new(sort, default.clone(), written).map(Value::array));
            }
        }
    }
    values.sort();
    values.dedup();
    values.truncate(most.max(4));
    values
}

/// Declares a random variable.
pub(super) fn declare(
    builder: &mut SystemBuilder,
    random: &mut Random,
    index: usize,
    sort: Sort,
    role: Role,
    most: usize,
) -> Variable {
    let variants = match sort {
        Sort::Enum(e) => builder.pool.enumeration(e).variants.len(),
        _ => 0,
    };
    let domain =
        domain(random, sort, variants, if role == Role::Input { most.min(3) } else { most });
    let letter = match (sort, role) {
        (_, Role::Input) => "in",
        (Sort::Bool, _) => "b",
        (Sort::Int, _) => "n",
        (Sort::Real, _) => "r",
        (Sort::String, _) => "s",
        (Sort::Enum(_), _) => "e",
        (Sort::BitVec(_), _) => "v",
        (Sort::Array(_), _) => "a",
    };
    let name = format!("{letter}{index}");
    let range = match (&domain[0], &domain[domain.len() - 1]) {
        (Value::Int(low), Value::Int(high)) if role == Role::Input || random.chance(50) => {
            let mut range = Range { low: low.clone(), high: high.clone() };
            // Some ranges are too small, so that their claims fail.
            if role == Role::State && random.chance(40) {
                range.high -= IBig::ONE;
            }
            Some(range)
        }
        _ => None,
    };
    let id = builder.var(&name, sort, role, range, None).expect("names are fresh");
    let var = builder.so_far().var(id);
    Variable { id, sort, role, current: var.current, next: var.next, domain }
}

/// The sorts that variables may have.
pub(super) fn sort(random: &mut Random, flavour: Flavour, enums: &[EnumId]) -> Sort {
    let when = |there, weight| if there { weight } else { 0 };
    let (strings, bits, arrays) =
        (when(flavour.strings, 16), when(flavour.bit_vectors, 160), when(flavour.arrays, 160));
    match random.weighted(&[22, when(!enums.is_empty(), 14), 44, 12, strings, bits, arrays]) {
        0 => Sort::Bool,
        1 => Sort::Enum(*random.pick(enums)),
        2 => Sort::Int,
        3 => Sort::Real,
        4 => Sort::String,
        5 => Sort::BitVec(*random.pick(&SMALL_WIDTHS)),
        _ => *random.pick(&small_arrays()),
    }
}

/// The conjuncts of "`x` (or `x'`) is in its domain".
pub(super) fn within(terms: &mut Terms, x: TermId, domain: &[Value]) -> Vec<TermId> {
    match (&domain[0], &domain[domain.len() - 1]) {
        (low @ Value::Int(_), high @ Value::Int(_)) => {
            let (low, high) = (terms.pool.constant(low.clone()), terms.pool.constant(high.clone()));
            let a = if terms.random.chance(50) {
                terms.mk(Op::Le, &[low, x])
            } else {
                terms.mk(Op::Ge, &[x, low])
            };
            let b = terms.mk(Op::Le, &[x, high]);
            if terms.random.chance(50) { vec![a, b] } else { vec![terms.mk(Op::And, &[a, b])] }
        }
        (Value::Bool(_) | Value::Enum(..) | Value::BitVec(_), _) => Vec::new(),
        _ => vec![terms.one_of(x, domain)],
    }
}

/// A next value and, if needed, a guard conjunct that keeps it in the domain.
pub(super) fn next_value(terms: &mut Terms, v: &Variable) -> (TermId, Option<TermId>) {
    let x = terms.pool.var(v.current);
    match v.sort {
        Sort::Bool => (terms.boolean(2), None),
        Sort::Enum(_) => (terms.term(v.sort, 1), None),
        Sort::BitVec(width) => (next_bits(terms, v, x, width), None),
        Sort::Int => next_int(terms, v, x),
        Sort::Real => (next_real(terms, v, x), None),
        Sort::String => (next_string(terms, v, x), None),
        Sort::Array(array) => (terms.array(array, 2), None),
    }
}

fn ends(terms: &mut Terms, v: &Variable) -> (TermId, TermId) {
    let (low, high) = v.ends();
    (terms.pool.constant(low), terms.pool.constant(high))
}

fn some_value(terms: &mut Terms, v: &Variable) -> TermId {
    let value = terms.random.pick(&v.domain).clone();
    terms.pool.constant(value)
}

fn clamped(terms: &mut Terms, v: &Variable, e: TermId) -> TermId {
    let (low, high) = ends(terms, v);
    let capped = terms.mk(Op::Min, &[e, high]);
    terms.mk(Op::Max, &[low, capped])
}

fn next_int(terms: &mut Terms, v: &Variable, x: TermId) -> (TermId, Option<TermId>) {
    let (low, high) = ends(terms, v);
    let one = terms.int(1);
    let up = terms.mk(Op::Add, &[x, one]);
    match terms.random.weighted(&[22, 14, 16, 8, 10, 10, 12, 8]) {
        0 => {
            let bound = terms.mk(Op::Lt, &[x, high]);
            (up, Some(bound))
        }
        1 => {
            let fits = terms.mk(Op::Le, &[up, high]);
            (terms.mk(Op::Ite, &[fits, up, low]), None)
        }
        2 => (terms.mk(Op::Min, &[up, high]), None),
        3 => {
            let down = terms.mk(Op::Sub, &[x, one]);
            (terms.mk(Op::Max, &[down, low]), None)
        }
        4 => {
            // low + (e mod size)
            let e = terms.term(Sort::Int, 2);
            let size = terms.int(v.domain.len() as i64);
            let rest = terms.mk(Op::Mod, &[e, size]);
            (terms.mk(Op::Add, &[low, rest]), None)
        }
        5 => {
            let e = terms.term(Sort::Int, 2);
            (clamped(terms, v, e), None)
        }
        6 => (some_value(terms, v), None),
        _ => {
            let c = terms.boolean(1);
            let (a, guard) = next_int(terms, v, x);
            let b = some_value(terms, v);
            (terms.mk(Op::Ite, &[c, a, b]), guard)
        }
    }
}

fn next_real(terms: &mut Terms, v: &Variable, x: TermId) -> TermId {
    let (low, high) = ends(terms, v);
    let step = if v.domain.len() > 1 {
        match (&v.domain[0], &v.domain[1]) {
            (Value::Real(a), Value::Real(b)) => terms.pool.constant(Value::Real(b - a)),
            _ => terms.ratio(1, 2),
        }
    } else {
        terms.ratio(1, 2)
    };
    let up = terms.mk(Op::Add, &[x, step]);
    match terms.random.weighted(&[24, 20, 8, 12, 8, 6, 8, 5]) {
        0 => {
            let fits = terms.mk(Op::Lt, &[x, high]);
            terms.mk(Op::Ite, &[fits, up, low])
        }
        1 => terms.mk(Op::Min, &[up, high]),
        2 => {
            let down = terms.mk(Op::Sub, &[x, step]);
            terms.mk(Op::Max, &[low, down])
        }
        3 => some_value(terms, v),
        4 => {
            let i = terms.term(Sort::Int, 0);
            terms.mk(Op::ToReal, &[i])
        }
        5 => {
            // Halve once only, as repeated halving gives infinitely many values.
            let (from, other) = (some_value(terms, v), some_value(terms, v));
            let two = terms.ratio(2, 1);
            let here = terms.mk(Op::Eq, &[x, from]);
            let half = terms.mk(Op::Div, &[x, two]);
            terms.mk(Op::Ite, &[here, half, other])
        }
        6 => {
            let c = terms.boolean(1);
            let (a, b) = (some_value(terms, v), some_value(terms, v));
            terms.mk(Op::Ite, &[c, a, b])
        }
        _ => {
            let op = *terms.random.pick(&[Op::Neg, Op::Abs]);
            terms.mk(op, &[x])
        }
    }
}

fn next_bits(terms: &mut Terms, v: &Variable, x: TermId, width: Width) -> TermId {
    match terms.random.weighted(&[30, 40, 15, 15]) {
        0 => {
            let one = terms.pool.bits(width, 1);
            let op = *terms.random.pick(&[BvOp::Add, BvOp::Add, BvOp::Sub]);
            terms.mk(Op::Bv(op), &[x, one])
        }
        1 => terms.term(v.sort, 2),
        2 => some_value(terms, v),
        _ => {
            let c = terms.boolean(1);
            let (a, b) = (terms.term(v.sort, 1), some_value(terms, v));
            terms.mk(Op::Ite, &[c, a, b])
        }
    }
}

fn next_string(terms: &mut Terms, v: &Variable, x: TermId) -> TermId {
    let (from, other) = (some_value(terms, v), some_value(terms, v));
    match terms.random.weighted(&[40, 20, 20]) {
        0 => {
            let mut conditions = vec![terms.mk(Op::Eq, &[x, from])];
            if terms.random.chance(40) {
                let second = some_value(terms, v);
                conditions.push(terms.mk(Op::Eq, &[x, second]));
            }
            let here =
                if conditions.len() > 1 { terms.mk(Op::Or, &conditions) } else { conditions[0] };
            let letter = terms.constant(Sort::String);
            let longer = if terms.random.chance(70) {
                terms.mk(Op::Concat, &[x, letter])
            } else {
                terms.mk(Op::Concat, &[letter, x])
            };
            terms.mk(Op::Ite, &[here, longer, other])
        }
        1 => other,
        _ => {
            let c = terms.boolean(1);
            terms.mk(Op::Ite, &[c, from, other])
        }
    }
}
