//! Candidates for one unknown of formulas, given the values of all other symbols.
//!
//! A [`CandidateSet`] abstracts formulas to what they say about the unknown: equations, and linear
//! comparisons of ints. Evaluated with the other values, it is a finite set that contains every
//! solution, or unknown.

use gander_term::{IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashSet;

/// Formulas are abstracted to this depth.
const DEPTH: usize = 64;

/// The number of intervals in a union; with more, the set is unbounded.
const MAX_INTERVALS: usize = 4096;

/// See the module's documentation.
#[derive(Debug)]
pub(super) enum CandidateSet {
    Anything,
    Nothing,
    All(Vec<CandidateSet>),
    Some(Vec<CandidateSet>),
    /// The unknown equals the term at this position.
    Is(usize),
    /// `factor * x + rest` is 0, or not above 0.
    Linear {
        factor: IBig,
        rest: Vec<(IBig, usize)>,
        equal: bool,
    },
}

/// Lower and upper end, both included; `None` if there is no bound.
type Interval = (Option<IBig>, Option<IBig>);

/// Builds candidate sets for an unknown; collects the terms whose values they need.
pub(super) struct CandidateBuilder<'a> {
    pub pool: &'a mut Pool,
    pub x: SymbolId,
    /// Symbols without a value when the set is evaluated, among them `x`.
    pub open: &'a FxHashSet<SymbolId>,
    pub terms: Vec<TermId>,
}

impl CandidateBuilder<'_> {
    fn term(&mut self, t: TermId) -> Option<usize> {
        if self.pool.free_symbols(&[t]).iter().any(|s| self.open.contains(s)) {
            return None;
        }
        let known = self.terms.iter().position(|&u| u == t);
        Some(known.unwrap_or_else(|| {
            self.terms.push(t);
            self.terms.len() - 1
        }))
    }

    /// The set of values with which the formula has the wanted truth value. Recursion is bounded by
    /// `left`.
    pub(super) fn formula(&mut self, t: TermId, wanted: bool, left: usize) -> CandidateSet {
        if let Some(b) = self.pool.as_bool(t) {
            return if b == wanted { CandidateSet::Anything } else { CandidateSet::Nothing };
        }
        if left == 0 || !self.pool.free_symbols(&[t]).contains(&self.x) {
            return CandidateSet::Anything;
        }
        let left = left - 1;
        let args = self.pool.args(t).to_vec();
        let on_bools = args.first().is_some_and(|&a| self.pool.sort(a) == Sort::Bool);
        match self.pool.op(t) {
            Op::Not => self.formula(args[0], !wanted, left),
            Op::And | Op::Or => {
                let parts = args.iter().map(|&a| self.formula(a, wanted, left)).collect();
                if (self.pool.op(t) == Op::And) == wanted {
                    CandidateSet::All(parts)
                } else {
                    CandidateSet::Some(parts)
                }
            }
            Op::Implies => {
                let parts =
                    vec![self.formula(args[0], !wanted, left), self.formula(args[1], wanted, left)];
                if wanted { CandidateSet::Some(parts) } else { CandidateSet::All(parts) }
            }
            Op::Ite if self.pool.sort(t) == Sort::Bool => CandidateSet::Some(vec![
                CandidateSet::All(vec![
                    self.formula(args[0], true, left),
                    self.formula(args[1], wanted, left),
                ]),
                CandidateSet::All(vec![
                    self.formula(args[0], false, left),
                    self.formula(args[2], wanted, left),
                ]),
            ]),
            Op::Eq if on_bools => CandidateSet::Some(vec![
                CandidateSet::All(vec![
                    self.formula(args[0], true, left),
                    self.formula(args[1], wanted, left),
                ]),
                CandidateSet::All(vec![
                    self.formula(args[0], false, left),
                    self.formula(args[1], !wanted, left),
                ]),
            ]),
            op => self.comparison(op, &args, wanted).unwrap_or(CandidateSet::Anything),
        }
    }

    fn comparison(&mut self, op: Op, args: &[TermId], wanted: bool) -> Option<CandidateSet> {
        let &[a, b] = args else { return None };
        if op == Op::Eq && wanted {
            for (side, other) in [(a, b), (b, a)] {
                if self.pool.as_symbol(side) == Some(self.x)
                    && !self.pool.free_symbols(&[other]).contains(&self.x)
                {
                    return self.term(other).map(CandidateSet::Is);
                }
            }
        }
        if self.pool.sort(a) != Sort::Int {
            return None;
        }
        // Normal form: `p - q <= slack`, or `p - q = 0`.
        let (p, q, slack, equal) = match (op, wanted) {
            (Op::Eq, true) => (a, b, 0, true),
            (Op::Le, true) | (Op::Gt, false) => (a, b, 0, false),
            (Op::Lt, true) | (Op::Ge, false) => (a, b, -1, false),
            (Op::Ge, true) | (Op::Lt, false) => (b, a, 0, false),
            (Op::Gt, true) | (Op::Le, false) => (b, a, -1, false),
            _ => return None,
        };
        let mut factor = IBig::ZERO;
        let mut rest = Vec::new();
        // Split sums from the top; every part has a constant factor.
        let mut parts = vec![(IBig::ONE, p), (-IBig::ONE, q)];
        while let Some((times, t)) = parts.pop() {
            if self.pool.as_symbol(t) == Some(self.x) {
                factor += times;
                continue;
            }
            if !self.pool.free_symbols(&[t]).contains(&self.x) {
                rest.push((times, self.term(t)?));
                continue;
            }
            let args = self.pool.args(t).to_vec();
            match self.pool.op(t) {
                Op::Add => parts.extend(args.into_iter().map(|a| (times.clone(), a))),
                Op::Sub => {
                    parts.push((times.clone(), args[0]));
                    parts.push((-times, args[1]));
                }
                Op::Neg => parts.push((-times, args[0])),
                Op::Mul => {
                    let mut times = times;
                    let mut inner = None;
                    for a in args {
                        match (self.pool.as_constant(a), inner) {
                            (Some(Value::Int(i)), _) => times *= i,
                            (_, None) => inner = Some(a),
                            _ => return None,
                        }
                    }
                    parts.push((times, inner?));
                }
                _ => return None,
            }
        }
        if factor == IBig::ZERO {
            return None;
        }
        if slack != 0 {
            let one = self.pool.int(1);
            rest.push((IBig::ONE, self.term(one)?));
        }
        Some(CandidateSet::Linear { factor, rest, equal })
    }
}

/// The candidate set of a conjunction of formulas, and the terms whose values it needs.
pub(super) fn candidates(
    pool: &mut Pool,
    x: SymbolId,
    formulas: &[TermId],
    open: &FxHashSet<SymbolId>,
) -> (CandidateSet, Vec<TermId>) {
    let mut look = CandidateBuilder { pool, x, open, terms: Vec::new() };
    let parts = formulas.iter().map(|&f| look.formula(f, true, DEPTH)).collect();
    (CandidateSet::All(parts), look.terms)
}

impl CandidateSet {
    /// True if the set is finite for all values.
    pub(super) fn is_finite(&self, sort: Sort) -> bool {
        let (from, to) = self.bounded(sort);
        from && to
    }

    /// Whether there is a lower bound, and an upper bound.
    fn bounded(&self, sort: Sort) -> (bool, bool) {
        match self {
            CandidateSet::Anything => (false, false),
            CandidateSet::Nothing | CandidateSet::Is(_) => (true, true),
            CandidateSet::Linear { .. } if sort != Sort::Int => (false, false),
            CandidateSet::Linear { equal: true, .. } => (true, true),
            CandidateSet::Linear { factor, .. } => (*factor < IBig::ZERO, *factor > IBig::ZERO),
            CandidateSet::All(parts) => {
                let each = parts.iter().map(|p| p.bounded(sort));
                each.fold((false, false), |(a, b), (c, d)| (a || c, b || d))
            }
            CandidateSet::Some(parts) => {
                let each = parts.iter().map(|p| p.bounded(sort));
                each.fold((true, true), |(a, b), (c, d)| (a && c, b && d))
            }
        }
    }

    /// The candidates of sort int, in order; `None` if there are infinitely many or more than
    /// `most`.
    pub(super) fn ints(&self, values: &[Value], most: usize) -> Option<Vec<Value>> {
        let mut bounded: Vec<(IBig, IBig)> = Vec::new();
        for interval in self.intervals(values) {
            let (Some(low), Some(high)) = interval else { return None };
            if low <= high {
                bounded.push((low, high));
            }
        }
        bounded.sort();
        let mut found = Vec::new();
        let mut next: Option<IBig> = None;
        for (low, high) in bounded {
            let mut i = match next.take() {
                Some(n) if n > low => n,
                _ => low,
            };
            while i <= high {
                if found.len() == most {
                    return None;
                }
                found.push(Value::Int(i.clone()));
                i += 1;
            }
            next = Some(i);
        }
        Some(found)
    }

    /// The candidates of another sort; `None` if they are all values of the sort.
    pub(super) fn points(&self, values: &[Value]) -> Option<Vec<Value>> {
        match self {
            CandidateSet::Nothing => Some(Vec::new()),
            CandidateSet::Is(i) => Some(vec![values[*i].clone()]),
            CandidateSet::All(parts) => {
                parts.iter().filter_map(|p| p.points(values)).min_by_key(Vec::len)
            }
            CandidateSet::Some(parts) => {
                let mut all: Vec<Value> = parts
                    .iter()
                    .map(|p| p.points(values))
                    .collect::<Option<Vec<_>>>()?
                    .into_iter()
                    .flatten()
                    .collect();
                all.sort();
                all.dedup();
                Some(all)
            }
            CandidateSet::Anything | CandidateSet::Linear { .. } => None,
        }
    }

    /// The candidates as intervals. The set is not deeper than [`DEPTH`].
    fn intervals(&self, values: &[Value]) -> Vec<Interval> {
        let everything = vec![(None, None)];
        match self {
            CandidateSet::Anything => everything,
            CandidateSet::Nothing => Vec::new(),
            CandidateSet::Is(i) => match &values[*i] {
                Value::Int(n) => vec![(Some(n.clone()), Some(n.clone()))],
                _ => everything,
            },
            CandidateSet::Linear { factor, rest, equal } => {
                let mut sum = IBig::ZERO;
                for (times, i) in rest {
                    let Value::Int(n) = &values[*i] else { return everything };
                    sum += times * n;
                }
                vec![ends(factor, &sum, *equal)]
            }
            CandidateSet::All(parts) => {
                let mut all = everything;
                for part in parts {
                    let more = part.intervals(values);
                    if all.len() * more.len() > MAX_INTERVALS {
                        continue;
                    }
                    all = all.iter().flat_map(|a| more.iter().map(move |b| common(a, b))).collect();
                    all.retain(|(low, high)| !matches!((low, high), (Some(l), Some(h)) if l > h));
                }
                all
            }
            CandidateSet::Some(parts) => {
                let all: Vec<Interval> = parts.iter().flat_map(|p| p.intervals(values)).collect();
                if all.len() > MAX_INTERVALS { everything } else { all }
            }
        }
    }
}

/// The solutions of `factor * x + sum <= 0`, or `= 0`.
fn ends(factor: &IBig, sum: &IBig, equal: bool) -> Interval {
    let positive = *factor > IBig::ZERO;
    let size = if positive { factor.clone() } else { -factor.clone() };
    // size * x <= -sum, or size * x >= sum.
    let right = if positive { -sum.clone() } else { sum.clone() };
    let down = floor(&right, &size);
    let up = if &down * &size == right { down.clone() } else { &down + IBig::ONE };
    match (equal, positive) {
        // Empty if `size` does not divide `right`.
        (true, _) => (Some(up), Some(down)),
        (false, true) => (None, Some(down)),
        (false, false) => (Some(up), None),
    }
}

/// The greatest integer not above `a / b`, for `b > 0`.
fn floor(a: &IBig, b: &IBig) -> IBig {
    let quotient = a / b;
    if &quotient * b > *a { quotient - IBig::ONE } else { quotient }
}

/// The intersection.
fn common(a: &Interval, b: &Interval) -> Interval {
    let later = |x: &Option<IBig>, y: &Option<IBig>| match (x, y) {
        (Some(x), Some(y)) => Some(x.max(y).clone()),
        (one, None) | (None, one) => one.clone(),
    };
    let sooner = |x: &Option<IBig>, y: &Option<IBig>| match (x, y) {
        (Some(x), Some(y)) => Some(x.min(y).clone()),
        (one, None) | (None, one) => one.clone(),
    };
    (later(&a.0, &b.0), sooner(&a.1, &b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_int_intervals_are_rounded_inwards() {
        let n = |i: i32| Some(IBig::from(i));
        let ends = |f: i32, s: i32, equal| ends(&IBig::from(f), &IBig::from(s), equal);
        assert_eq!(ends(3, -7, false), (None, n(2)), "3x <= 7");
        assert_eq!(ends(3, 7, false), (None, n(-3)), "3x <= -7");
        assert_eq!(ends(-3, 7, false), (n(3), None), "3x >= 7");
        assert_eq!(ends(-3, -7, false), (n(-2), None), "3x >= -7");
        assert_eq!(ends(3, -6, true), (n(2), n(2)), "3x = 6");
        assert_eq!(ends(-3, -6, true), (n(-2), n(-2)), "-3x = 6");
        let (low, high) = ends(3, -7, true);
        assert!(low > high, "3x = 7 has no solution");
    }

    #[test]
    fn candidate_sets_contain_every_solution() {
        let mut pool = Pool::new();
        let x = pool.declare("x", Sort::Int).unwrap();
        pool.declare("y", Sort::Int).unwrap();
        let text = "(x == 10 or 2 * x >= y and x <= 3 or not (x < y) and 3 * x - 1 == y + y) and (y > 5 -> x != 4)";
        let formula = gander_term::parse_term(&mut pool, text).unwrap();
        let open = [x].into_iter().collect();
        let (candidates, terms) = candidates(&mut pool, x, &[formula], &open);
        for y in -8..9 {
            let value = |v: i64| move |s: SymbolId| Some(Value::int(if s == x { v } else { y }));
            let values: Vec<Value> = terms
                .iter()
                .map(|&t| gander_term::evaluate(&pool, t, &value(0)).unwrap())
                .collect();
            let found = candidates.ints(&values, 1000).unwrap();
            assert!(found.windows(2).all(|w| w[0] < w[1]), "in order, each once");
            for v in -40..40 {
                if gander_term::evaluate(&pool, formula, &value(v)) == Ok(Value::Bool(true)) {
                    assert!(found.contains(&Value::int(v)), "x = {v} for y = {y}");
                }
            }
        }
    }
}
