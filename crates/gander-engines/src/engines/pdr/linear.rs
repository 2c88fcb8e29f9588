//! Linear constraints over atoms: the arithmetic literals of cubes while they are projected.
//!
//! An atom is a term: a variable, or something that is not linear and is kept as it is. A constraint relates a sum of
//! atoms with 0. In normal form its coefficients are coprime integers (on reals: the first one is 1 or -1), bounds
//! of ints are as tight as can be, nothing on ints is strict, and equal constraints are equal.

use std::collections::BTreeMap;

use dashu_base::{Abs, Gcd, Signed};
use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};

/// A sum of atoms and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Linear {
    pub terms: BTreeMap<TermId, RBig>,
    pub constant: RBig,
}

impl Linear {
    pub(super) fn constant(constant: RBig) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    pub(super) fn atom(atom: TermId) -> Linear {
        Linear { terms: BTreeMap::from([(atom, RBig::ONE)]), constant: RBig::ZERO }
    }

    /// The number, if there are no atoms.
    pub(super) fn as_constant(&self) -> Option<&RBig> {
        self.terms.is_empty().then_some(&self.constant)
    }

    pub(super) fn coefficient(&self, atom: TermId) -> RBig {
        self.terms.get(&atom).cloned().unwrap_or(RBig::ZERO)
    }

    /// `self + factor * other`
    pub(super) fn add(&mut self, other: &Linear, factor: &RBig) {
        for (&atom, c) in &other.terms {
            let sum = self.coefficient(atom) + c.clone() * factor.clone();
            if sum == RBig::ZERO {
                self.terms.remove(&atom);
            } else {
                self.terms.insert(atom, sum);
            }
        }
        self.constant += other.constant.clone() * factor.clone();
    }

    pub(super) fn scale(&mut self, factor: &RBig) {
        if *factor == RBig::ZERO {
            *self = Linear::default();
            return;
        }
        for c in self.terms.values_mut() {
            *c *= factor.clone();
        }
        self.constant *= factor.clone();
    }

    pub(super) fn scaled(&self, factor: &RBig) -> Linear {
        let mut result = self.clone();
        result.scale(factor);
        result
    }

    pub(super) fn minus(&self, other: &Linear) -> Linear {
        let mut result = self.clone();
        result.add(other, &-RBig::ONE);
        result
    }

    /// The sum without one of its atoms.
    pub(super) fn without(&self, atom: TermId) -> Linear {
        let mut rest = self.clone();
        rest.terms.remove(&atom);
        rest
    }

    /// An atom replaced by a number.
    pub(super) fn fix(&mut self, atom: TermId, value: &RBig) {
        if let Some(c) = self.terms.remove(&atom) {
            self.constant += c * value.clone();
        }
    }

    /// The sum as a term.
    pub(super) fn term(&self, pool: &mut Pool, sort: Sort) -> TermId {
        sum(pool, sort, self.terms.iter().map(|(&t, c)| (t, c.clone())), self.constant.clone())
    }

    /// The value, where `value` gives those of the atoms.
    pub(super) fn value(&self, value: &dyn Fn(TermId) -> RBig) -> RBig {
        self.terms.iter().fold(self.constant.clone(), |sum, (&atom, c)| sum + c.clone() * value(atom))
    }
}

/// How a sum relates to 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Relation {
    Equal,
    AtMost,
    Below,
    /// It is a multiple of this.
    Multiple(IBig),
}

/// A sum and how it relates to 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Constraint {
    pub form: Linear,
    pub relation: Relation,
    /// Of its atoms: int or real.
    pub sort: Sort,
}

impl Constraint {
    /// A comparison of sums as a constraint, or its negation; none for any other formula.
    pub(super) fn of(pool: &Pool, literal: TermId) -> Option<Constraint> {
        let (atom, positive) = match pool.op(literal) {
            Op::Not => (pool.args(literal)[0], false),
            _ => (literal, true),
        };
        let &[a, b] = pool.args(atom) else { return None };
        if !pool.sort(a).is_numeric() {
            return None;
        }
        let (small, large, relation) = match (pool.op(atom), positive) {
            (Op::Eq, true) => (a, b, Relation::Equal),
            (Op::Lt, true) | (Op::Ge, false) => (a, b, Relation::Below),
            (Op::Le, true) | (Op::Gt, false) => (a, b, Relation::AtMost),
            (Op::Gt, true) | (Op::Le, false) => (b, a, Relation::Below),
            (Op::Ge, true) | (Op::Lt, false) => (b, a, Relation::AtMost),
            _ => return None,
        };
        let form = plain_sum(pool, small)?.minus(&plain_sum(pool, large)?);
        Constraint { form, relation, sort: pool.sort(a) }.normal()
    }

    /// The normal form; none if it holds whatever the atoms are.
    pub(super) fn normal(mut self) -> Option<Constraint> {
        if self.form.terms.is_empty() {
            return None;
        }
        if self.sort != Sort::Int {
            let first = self.form.terms.values().next().cloned().unwrap_or(RBig::ONE);
            let by = if self.relation == Relation::Equal { first } else { first.abs() };
            self.form.scale(&(RBig::ONE / by));
            return Some(self);
        }
        let denominators = self.form.terms.values().chain([&self.form.constant]);
        let scale = denominators.fold(IBig::ONE, |acc, c| lcm(&acc, &IBig::from(c.denominator().clone())));
        self.form.scale(&RBig::from(scale.clone()));
        if let Relation::Multiple(m) = self.relation {
            return multiple(self.form, m * scale);
        }
        if self.relation == Relation::Below {
            self.relation = Relation::AtMost;
            self.form.constant += RBig::ONE;
        }
        let gcd = self.form.terms.values().fold(IBig::ZERO, |acc, c| gcd(&acc, c.numerator()));
        let mut by = RBig::from(gcd);
        if self.relation == Relation::Equal && self.form.terms.values().next().is_some_and(Signed::is_negative) {
            by = -by;
        }
        self.form.scale(&(RBig::ONE / by));
        if self.relation == Relation::AtMost {
            self.form.constant = RBig::from(ceil(&self.form.constant));
        }
        Some(self)
    }

    /// The constraint as a term.
    pub(super) fn term(&self, pool: &mut Pool) -> TermId {
        let constant = self.form.constant.clone();
        if let Relation::Multiple(m) = &self.relation {
            let sum = sum(pool, self.sort, self.form.terms.iter().map(|(&t, c)| (t, c.clone())), constant);
            let m = pool.int(m.clone());
            let zero = pool.int(0);
            return match pool.mk(Op::Mod, &[sum, m]) {
                Ok(remainder) => pool.eq(remainder, zero),
                Err(_) => pool.tt(),
            };
        }
        // Atoms with positive coefficients to the left, the others to the right.
        let (left, right): (Vec<_>, Vec<_>) =
            self.form.terms.iter().map(|(&t, c)| (t, c.clone())).partition(|(_, c)| !c.is_negative());
        let right = right.into_iter().map(|(t, c)| (t, -c));
        let (to_left, to_right) = if left.is_empty() { (constant, RBig::ZERO) } else { (RBig::ZERO, -constant) };
        let (left, right) = (sum(pool, self.sort, left.into_iter(), to_left), sum(pool, self.sort, right, to_right));
        match self.relation {
            Relation::Equal => pool.eq(left, right),
            Relation::Below => pool.lt(left, right),
            _ => pool.le(left, right),
        }
    }
}

/// A sum of variables with coefficients.
pub(super) fn plain_sum(pool: &Pool, root: TermId) -> Option<Linear> {
    let mut sum = Linear::default();
    let mut rest = vec![(root, RBig::ONE)];
    while let Some((t, factor)) = rest.pop() {
        let args = pool.args(t);
        match pool.op(t) {
            Op::Symbol(_) => sum.add(&Linear::atom(t), &factor),
            Op::Const(_) => sum.constant += rational(&pool.as_constant(t)?)? * factor,
            Op::Add => rest.extend(args.iter().map(|&a| (a, factor.clone()))),
            Op::Neg => rest.push((args[0], -factor)),
            Op::Sub => rest.extend([(args[0], factor.clone()), (args[1], -factor)]),
            Op::Mul if args.len() == 2 => {
                let constant = |t: TermId| pool.as_constant(t).and_then(|v| rational(&v));
                match (constant(args[0]), constant(args[1])) {
                    (Some(c), _) => rest.push((args[1], factor * c)),
                    (None, Some(c)) => rest.push((args[0], factor * c)),
                    _ => return None,
                }
            }
            _ => return None,
        }
        if rest.len() > 1000 {
            return None;
        }
    }
    Some(sum)
}

/// `m` divides the sum.
fn multiple(mut form: Linear, m: IBig) -> Option<Constraint> {
    let modulus = |x: &RBig| RBig::from(remainder(x.numerator(), &m));
    form.terms = form.terms.iter().map(|(&t, c)| (t, modulus(c))).filter(|(_, c)| *c != RBig::ZERO).collect();
    form.constant = modulus(&form.constant);
    if form.terms.is_empty() {
        return None;
    }
    let all = form.terms.values().chain([&form.constant]).fold(m.clone(), |acc, c| gcd(&acc, c.numerator()));
    form.scale(&RBig::from_parts(IBig::ONE, all.clone().try_into().unwrap_or_default()));
    let m = m / all;
    (m != IBig::ONE).then_some(Constraint { form, relation: Relation::Multiple(m), sort: Sort::Int })
}

fn sum(pool: &mut Pool, sort: Sort, terms: impl Iterator<Item = (TermId, RBig)>, constant: RBig) -> TermId {
    let mut parts = Vec::new();
    for (t, c) in terms {
        if c == RBig::ONE {
            parts.push(t);
        } else {
            let c = number(pool, sort, c);
            parts.push(pool.mul(c, t));
        }
    }
    if constant != RBig::ZERO || parts.is_empty() {
        parts.push(number(pool, sort, constant));
    }
    match parts[..] {
        [one] => one,
        // Products of numbers and atoms of one sort have that sort.
        _ => pool.mk(Op::Add, &parts).unwrap_or(parts[0]),
    }
}

/// A number as a constant of a sort.
pub(super) fn number(pool: &mut Pool, sort: Sort, r: RBig) -> TermId {
    match sort {
        Sort::Int => pool.constant(Value::Int(r.numerator().clone())),
        _ => pool.constant(Value::Real(r)),
    }
}

/// A value as a number.
pub(super) fn rational(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

/// The least integer that is not below.
pub(super) fn ceil(r: &RBig) -> IBig {
    let d = IBig::from(r.denominator().clone());
    let rest = remainder(r.numerator(), &d);
    let down = (r.numerator().clone() - rest.clone()) / d;
    if rest == IBig::ZERO { down } else { down + 1 }
}

/// The remainder that is not negative.
pub(super) fn remainder(a: &IBig, m: &IBig) -> IBig {
    let m = m.clone().abs();
    let r = a.clone() % m.clone();
    if r.is_negative() { r + m } else { r }
}

fn gcd(a: &IBig, b: &IBig) -> IBig {
    match (*a == IBig::ZERO, *b == IBig::ZERO) {
        (true, _) => b.clone().abs(),
        (_, true) => a.clone().abs(),
        _ => IBig::from(a.gcd(b)),
    }
}

pub(super) fn lcm(a: &IBig, b: &IBig) -> IBig {
    (a.clone() / gcd(a, b) * b.clone()).abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pool: &mut Pool, terms: &[(&str, i32)], constant: i32) -> Linear {
        let terms = terms.iter().map(|(n, c)| (pool.variable(n, Sort::Int), RBig::from(*c))).collect();
        Linear { terms, constant: RBig::from(constant) }
    }

    fn shown(pool: &mut Pool, form: Linear, relation: Relation) -> Option<String> {
        let c = Constraint { form, relation, sort: Sort::Int }.normal()?;
        let t = c.term(pool);
        Some(pool.display(t).to_string())
    }

    #[test]
    fn normal_forms_are_tight() {
        let p = &mut Pool::new();
        let f = form(p, &[("x", 2), ("y", -4)], -3);
        assert_eq!(shown(p, f.clone(), Relation::AtMost).unwrap(), "x <= 2 * y + 1");
        assert_eq!(shown(p, f, Relation::Below).unwrap(), "x <= 2 * y + 1");
        let g = form(p, &[("x", -3)], 7);
        assert_eq!(shown(p, g, Relation::AtMost).unwrap(), "3 <= x");
        let h = form(p, &[("x", -1)], 7);
        assert_eq!(shown(p, h, Relation::Equal).unwrap(), "x == 7");
    }

    #[test]
    fn comparisons_are_constraints() {
        let p = &mut Pool::new();
        for (text, expected) in
            [("x + 1 > 2 * y", "2 * y <= x"), ("not (x - y >= 3)", "x <= y + 2"), ("x == y", "x == y")]
        {
            for name in ["x", "y"] {
                p.variable(name, Sort::Int);
            }
            let t = gander_term::parse_term(p, text).unwrap();
            let found = Constraint::of(p, t).unwrap().term(p);
            assert_eq!(p.display(found).to_string(), expected);
        }
        let other = gander_term::parse_term(p, "x * y > 1").unwrap();
        assert_eq!(Constraint::of(p, other), None);
    }

    #[test]
    fn multiples_are_reduced() {
        let p = &mut Pool::new();
        let f = form(p, &[("x", 4), ("y", 6)], 2);
        assert_eq!(shown(p, f.clone(), Relation::Multiple(4.into())).unwrap(), "(y + 1) mod 2 == 0");
        assert_eq!(shown(p, f, Relation::Multiple(2.into())), None);
        assert_eq!(remainder(&IBig::from(-3), &IBig::from(5)), IBig::from(2));
        assert_eq!(ceil(&RBig::from_parts((-3).into(), 2u8.into())), IBig::from(-1));
        assert_eq!(lcm(&4.into(), &6.into()), IBig::from(12));
    }
}
