//! Boxes: for each variable an interval of numbers or a set of values.
//!
//! Most guards are of this form, and inclusion of boxes is decided without a solver. The box of a
//! cube contains the cube. It is exact if every conjunct of the cube is a bound on one variable.

use std::collections::BTreeMap;

use gander_term::{IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value};

use crate::arith::interval::{End, Interval};
use crate::arith::linear::{Comparison, Relation};
use crate::arith::number::{self, rational};

#[derive(Clone, PartialEq, Eq, Debug)]
enum Range {
    Numbers(Sort, Interval<RBig>),
    /// Bit `i`: the value with number `i`.
    Choices(u64),
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    ranges: BTreeMap<SymbolId, Range>,
    /// The box equals the conjunction that it was built from.
    pub exact: bool,
}

impl Bounds {
    /// The box of a conjunction.
    pub(super) fn of(pool: &Pool, conjuncts: &[TermId]) -> Bounds {
        let mut bounds = Bounds { ranges: BTreeMap::new(), exact: true };
        for &c in conjuncts {
            let known = bounds.add(pool, c);
            bounds.exact &= known;
        }
        bounds
    }

    /// Takes in a conjunct; false if it is no bound of one variable.
    fn add(&mut self, pool: &Pool, literal: TermId) -> bool {
        let (atom, positive) = match pool.op(literal) {
            Op::Not => (pool.args(literal)[0], false),
            _ => (literal, true),
        };
        if let Some(b) = pool.as_bool(atom) {
            // An empty set of choices of nothing in particular.
            return b == positive;
        }
        if let Some(s) = pool.as_symbol(atom) {
            self.choose(s, 0b11, if positive { 0b10 } else { 0b01 });
            return true;
        }
        let &[a, b] = pool.args(atom) else { return false };
        let (symbol, value) = match (pool.as_symbol(a), pool.as_constant(b)) {
            (Some(s), Some(v)) => (s, v),
            _ => match (pool.as_constant(a), pool.as_symbol(b)) {
                (Some(v), Some(s)) => (s, v),
                _ => return false,
            },
        };
        if let Value::Enum(id, i) = value {
            let variants = pool.enumeration(id).variants.len();
            if pool.op(atom) != Op::Eq || variants > 64 {
                return false;
            }
            let all = if variants == 64 { u64::MAX } else { (1 << variants) - 1 };
            self.choose(symbol, all, if positive { 1 << i } else { all & !(1 << i) });
            return true;
        }
        let (Some(number), Some(comparison)) = (rational(&value), Comparison::of(pool, literal))
        else {
            return false;
        };
        let end = End { value: number, strict: comparison.relation == Relation::Below };
        let interval = match comparison.relation {
            Relation::Equal => Interval::point(end.value),
            _ if pool.as_symbol(comparison.small) == Some(symbol) => Interval::to(end),
            _ => Interval::from(end),
        };
        self.limit(symbol, pool.symbol(symbol).sort, interval);
        true
    }

    fn choose(&mut self, s: SymbolId, all: u64, these: u64) {
        if let Range::Choices(mask) = self.ranges.entry(s).or_insert(Range::Choices(all)) {
            *mask &= these;
        }
    }

    fn limit(&mut self, s: SymbolId, sort: Sort, mut interval: Interval<RBig>) {
        if sort == Sort::Int {
            // On ints nothing is strict and every end is whole.
            interval.lower = interval.lower.map(|End { value, strict }| {
                let least = if strict { value.floor() + IBig::ONE } else { value.ceil() };
                End::closed(RBig::from(least))
            });
            interval.upper = interval.upper.map(|End { value, strict }| {
                let greatest = if strict { value.ceil() - IBig::ONE } else { value.floor() };
                End::closed(RBig::from(greatest))
            });
        }
        let entry = self.ranges.entry(s).or_insert(Range::Numbers(sort, Interval::default()));
        if let Range::Numbers(_, known) = entry {
            *known = std::mem::take(known).meet(&interval);
        }
    }

    /// No values at all, as far as single variables tell.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.values().any(|r| match r {
            Range::Choices(mask) => *mask == 0,
            Range::Numbers(_, interval) => interval.is_empty(),
        })
    }

    /// True if `inner` is included in this box.
    pub(super) fn contains(&self, inner: &Bounds) -> bool {
        self.ranges.iter().all(|(s, outer)| match (outer, inner.ranges.get(s)) {
            (Range::Choices(o), Some(Range::Choices(i))) => i & !o == 0,
            (Range::Numbers(_, o), Some(Range::Numbers(_, i))) => i.is_within(o),
            _ => false,
        })
    }

    /// True if no point is in both boxes, as far as single variables tell.
    pub(super) fn is_apart(&self, other: &Bounds) -> bool {
        self.ranges.iter().any(|(s, a)| match (a, other.ranges.get(s)) {
            (Range::Choices(a), Some(Range::Choices(b))) => a & b == 0,
            (Range::Numbers(_, a), Some(Range::Numbers(_, b))) => a.is_below(b) || b.is_below(a),
            _ => false,
        })
    }

    /// A value of a variable in the box, which is not empty; none if it is not bounded.
    pub(super) fn point(&self, pool: &Pool, s: SymbolId) -> Option<Value> {
        match self.ranges.get(&s)? {
            Range::Choices(mask) => {
                let first = mask.trailing_zeros();
                Some(match pool.symbol(s).sort {
                    Sort::Enum(id) => Value::Enum(id, first),
                    _ => Value::Bool(first == 1),
                })
            }
            Range::Numbers(sort, Interval { lower, upper }) => {
                let r = match (lower, upper) {
                    (Some(End { value, strict: false }), _)
                    | (_, Some(End { value, strict: false })) => value.clone(),
                    (Some(l), Some(u)) => (&l.value + &u.value) / RBig::from(2),
                    (Some(l), None) => &l.value + RBig::ONE,
                    (None, Some(u)) => &u.value - RBig::ONE,
                    (None, None) => RBig::ZERO,
                };
                Some(number::value(*sort, r))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gander_term::parse_term;

    fn bounds(pool: &mut Pool, parts: &[&str]) -> Bounds {
        let terms: Vec<TermId> = parts
            .iter()
            .map(|p| {
                let t = parse_term(pool, p).unwrap();
                pool.simplify(t)
            })
            .collect();
        Bounds::of(pool, &terms)
    }

    fn pool() -> Pool {
        let mut p = Pool::new();
        p.declare("x", Sort::Int).unwrap();
        p.declare("r", Sort::Real).unwrap();
        p.declare("b", Sort::Bool).unwrap();
        let e = p.declare_enum("Colour", &["Red", "Green", "Blue"]).unwrap();
        p.declare("c", Sort::Enum(e)).unwrap();
        p
    }

    #[test]
    fn boxes_are_compared_by_inclusion() {
        let mut p = pool();
        let small = bounds(&mut p, &["x >= 2", "x < 5", "b", "c == Colour.Red"]);
        let large = bounds(&mut p, &["x > 1", "c != Colour.Blue"]);
        assert!(small.exact && large.exact);
        assert!(large.contains(&small) && !small.contains(&large));
        assert!(!small.is_empty() && !small.is_apart(&large));
        let other = bounds(&mut p, &["x == 1"]);
        assert!(other.is_apart(&large) && !large.contains(&other));
    }

    #[test]
    fn strict_bounds_of_reals_are_kept() {
        let mut p = pool();
        let open = bounds(&mut p, &["r > 1.0", "r < 2.0"]);
        let closed = bounds(&mut p, &["r >= 1.0", "r <= 2.0"]);
        assert!(closed.contains(&open) && !open.contains(&closed));
        assert!(bounds(&mut p, &["r > 1.0", "r < 1.0"]).is_empty());
        assert!(bounds(&mut p, &["r >= 1.0", "r < 1.0"]).is_empty());
        let r = p.find_symbol("r").unwrap();
        assert_eq!(open.point(&p, r), Some(Value::Real(RBig::from(3) / RBig::from(2))));
    }

    #[test]
    fn the_tighter_bound_is_kept_in_any_order() {
        let mut p = pool();
        let one = bounds(&mut p, &["x >= 1", "x >= 3", "x <= 9", "x <= 7"]);
        let two = bounds(&mut p, &["x >= 3", "x >= 1", "x <= 7", "x <= 9"]);
        assert_eq!(one, two);
        let tight = bounds(&mut p, &["x >= 3", "x <= 7"]);
        assert_eq!(one, tight);
    }

    #[test]
    fn a_relation_of_two_variables_is_not_exact() {
        let mut p = pool();
        p.declare("y", Sort::Int).unwrap();
        assert!(!bounds(&mut p, &["x <= y"]).exact);
        assert!(bounds(&mut p, &["x <= 3", "x >= 4"]).is_empty());
    }
}
