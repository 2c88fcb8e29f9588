//! Boxes: for each variable a range of numbers or a set of choices.
//!
//! Most guards of life cycles are of this form, and inclusion of boxes is decided without a solver. The box of a cube
//! contains it; it is *exact* if every conjunct of the cube is a bound of one variable.

use std::collections::BTreeMap;

use gander_term::{Op, Pool, RBig, Sort, SymbolId, TermId, Value};

/// An end of a range: the number, and whether it is left out.
type End = Option<(RBig, bool)>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Range {
    Numbers {
        sort: Sort,
        low: End,
        high: End,
    },
    /// Bit `i`: the value with number `i`.
    Choices(u64),
}

/// See the module's documentation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    ranges: BTreeMap<SymbolId, Range>,
    /// The box is no larger than what it was made of.
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
        let (symbol, value, turned) = match (pool.as_symbol(a), pool.as_constant(b)) {
            (Some(s), Some(v)) => (s, v, false),
            _ => match (pool.as_constant(a), pool.as_symbol(b)) {
                (Some(v), Some(s)) => (s, v, true),
                _ => return false,
            },
        };
        let number = match value {
            Value::Int(i) => RBig::from(i),
            Value::Real(r) => r,
            Value::Enum(id, i) if pool.op(atom) == Op::Eq => {
                let variants = pool.enumeration(id).variants.len();
                if variants > 64 {
                    return false;
                }
                let all = if variants == 64 { u64::MAX } else { (1 << variants) - 1 };
                self.choose(symbol, all, if positive { 1 << i } else { all & !(1 << i) });
                return true;
            }
            _ => return false,
        };
        let op = match (pool.op(atom), turned) {
            (Op::Lt, true) => Op::Gt,
            (Op::Le, true) => Op::Ge,
            (Op::Gt, true) => Op::Lt,
            (Op::Ge, true) => Op::Le,
            (op, _) => op,
        };
        let sort = pool.symbol(symbol).sort;
        match (op, positive) {
            (Op::Eq, true) => self.limit(symbol, sort, Some((number.clone(), false)), Some((number, false))),
            (Op::Le, true) | (Op::Gt, false) => self.limit(symbol, sort, None, Some((number, false))),
            (Op::Lt, true) | (Op::Ge, false) => self.limit(symbol, sort, None, Some((number, true))),
            (Op::Ge, true) | (Op::Lt, false) => self.limit(symbol, sort, Some((number, false)), None),
            (Op::Gt, true) | (Op::Le, false) => self.limit(symbol, sort, Some((number, true)), None),
            _ => return false,
        }
        true
    }

    fn choose(&mut self, s: SymbolId, all: u64, these: u64) {
        if let Range::Choices(mask) = self.ranges.entry(s).or_insert(Range::Choices(all)) {
            *mask &= these;
        }
    }

    fn limit(&mut self, s: SymbolId, sort: Sort, low: End, high: End) {
        let whole = |end: End, up: bool| match end {
            // On ints nothing is strict and every end is whole.
            Some((r, strict)) if sort == Sort::Int => {
                let (floor, ceil) = (RBig::from(r.floor()), RBig::from(r.ceil()));
                let r = match (up, strict) {
                    (true, true) => floor + RBig::ONE,
                    (true, false) => ceil,
                    (false, true) => ceil - RBig::ONE,
                    (false, false) => floor,
                };
                Some((r, false))
            }
            other => other,
        };
        let (low, high) = (whole(low, true), whole(high, false));
        let entry = self.ranges.entry(s).or_insert(Range::Numbers { sort, low: None, high: None });
        if let Range::Numbers { low: l, high: h, .. } = entry {
            // An end that the present one is not within is tighter.
            if low.is_some() && (l.is_none() || !covers_low(&low, l)) {
                *l = low;
            }
            if high.is_some() && (h.is_none() || !covers_high(&high, h)) {
                *h = high;
            }
        }
    }

    /// No values at all, as far as single variables tell.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.values().any(|r| match r {
            Range::Choices(mask) => *mask == 0,
            Range::Numbers { low: Some((l, ls)), high: Some((h, hs)), .. } => l > h || (l == h && (*ls || *hs)),
            Range::Numbers { .. } => false,
        })
    }

    /// True if every point of `inner` is one of this box.
    pub(super) fn contains(&self, inner: &Bounds) -> bool {
        self.ranges.iter().all(|(s, outer)| match (outer, inner.ranges.get(s)) {
            (Range::Choices(o), Some(Range::Choices(i))) => i & !o == 0,
            (Range::Numbers { low: ol, high: oh, .. }, Some(Range::Numbers { low, high, .. })) => {
                covers_low(ol, low) && covers_high(oh, high)
            }
            _ => false,
        })
    }

    /// True if no point is in both boxes, as far as single variables tell.
    pub(super) fn is_apart(&self, other: &Bounds) -> bool {
        self.ranges.iter().any(|(s, a)| match (a, other.ranges.get(s)) {
            (Range::Choices(a), Some(Range::Choices(b))) => a & b == 0,
            (Range::Numbers { low, high, .. }, Some(Range::Numbers { low: l, high: h, .. })) => {
                is_below(high, l) || is_below(h, low)
            }
            _ => false,
        })
    }

    /// A value of a variable in the box, which is not empty; none if it is not bounded.
    pub(super) fn point(&self, pool: &Pool, s: SymbolId) -> Option<Value> {
        let number = |r: RBig, sort: Sort| match sort {
            Sort::Int => Value::Int(r.numerator().clone()),
            _ => Value::Real(r),
        };
        match self.ranges.get(&s)? {
            Range::Choices(mask) => {
                let first = mask.trailing_zeros();
                Some(match pool.symbol(s).sort {
                    Sort::Enum(id) => Value::Enum(id, first),
                    _ => Value::Bool(first == 1),
                })
            }
            Range::Numbers { sort, low, high } => {
                let r = match (low, high) {
                    (Some((l, false)), _) => l.clone(),
                    (_, Some((h, false))) => h.clone(),
                    (Some((l, _)), Some((h, _))) => (l.clone() + h.clone()) / RBig::from(2),
                    (Some((l, _)), None) => l.clone() + RBig::ONE,
                    (None, Some((h, _))) => h.clone() - RBig::ONE,
                    (None, None) => RBig::ZERO,
                };
                Some(number(r, *sort))
            }
        }
    }
}

/// A lower end that is not above the inner one.
fn covers_low(outer: &End, inner: &End) -> bool {
    match (outer, inner) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((o, os)), Some((i, is))) => o < i || (o == i && (!os || *is)),
    }
}

/// An upper end that is not below the inner one.
fn covers_high(outer: &End, inner: &End) -> bool {
    match (outer, inner) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((o, os)), Some((i, is))) => o > i || (o == i && (!os || *is)),
    }
}

/// Everything up to `high` is below everything from `low`.
fn is_below(high: &End, low: &End) -> bool {
    match (high, low) {
        (Some((h, hs)), Some((l, ls))) => h < l || (h == l && (*hs || *ls)),
        _ => false,
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
    fn boxes_within_boxes() {
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
    fn ends_of_reals_may_be_left_out() {
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
    fn the_tighter_end_stays_whatever_the_order() {
        let mut p = pool();
        let one = bounds(&mut p, &["x >= 1", "x >= 3", "x <= 9", "x <= 7"]);
        let two = bounds(&mut p, &["x >= 3", "x >= 1", "x <= 7", "x <= 9"]);
        assert_eq!(one, two);
        let tight = bounds(&mut p, &["x >= 3", "x <= 7"]);
        assert_eq!(one, tight);
    }

    #[test]
    fn a_relation_of_two_variables_is_no_box() {
        let mut p = pool();
        p.declare("y", Sort::Int).unwrap();
        assert!(!bounds(&mut p, &["x <= y"]).exact);
        assert!(bounds(&mut p, &["x <= 3", "x >= 4"]).is_empty());
    }
}
