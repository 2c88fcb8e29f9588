//! Linear forms: sums of multiples of terms, and a constant.

use std::collections::BTreeMap;

use gander_term::{IBig, Op, Pool, RBig, Sort, TermId, Value};

/// `c1 * t1 + ... + cn * tn + constant`, no coefficient zero. The terms are symbols, or what is not linear.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) struct Linear {
    pub terms: BTreeMap<TermId, RBig>,
    pub constant: RBig,
}

impl Linear {
    pub(super) fn number(constant: RBig) -> Linear {
        Linear { terms: BTreeMap::new(), constant }
    }

    pub(super) fn term(t: TermId) -> Linear {
        Linear { terms: BTreeMap::from([(t, RBig::ONE)]), constant: RBig::ZERO }
    }

    /// The number that it is, if it is one.
    pub(super) fn as_number(&self) -> Option<&RBig> {
        self.terms.is_empty().then_some(&self.constant)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant == RBig::ZERO
    }

    pub(super) fn coefficient(&self, t: TermId) -> RBig {
        self.terms.get(&t).cloned().unwrap_or(RBig::ZERO)
    }

    /// Adds `factor * other`.
    pub(super) fn add(&mut self, factor: &RBig, other: &Linear) {
        if *factor == RBig::ZERO {
            return;
        }
        self.constant += factor * &other.constant;
        for (&t, c) in &other.terms {
            let sum = self.coefficient(t) + factor * c;
            if sum == RBig::ZERO {
                self.terms.remove(&t);
            } else {
                self.terms.insert(t, sum);
            }
        }
    }

    pub(super) fn minus(&self, other: &Linear) -> Linear {
        let mut difference = self.clone();
        difference.add(&-RBig::ONE, other);
        difference
    }

    pub(super) fn scaled(&self, factor: &RBig) -> Linear {
        let mut product = Linear::number(RBig::ZERO);
        product.add(factor, self);
        product
    }

    fn is_whole(&self) -> bool {
        let whole = |r: &RBig| r.denominator() == RBig::ONE.denominator();
        whole(&self.constant) && self.terms.values().all(whole)
    }

    /// The form as a term of a sort; none if an int would need a fraction.
    pub(super) fn build(&self, pool: &mut Pool, sort: Sort) -> Option<TermId> {
        if sort == Sort::Int && !self.is_whole() {
            return None;
        }
        let mut parts = Vec::new();
        for (&t, c) in &self.terms {
            let t = match (sort, pool.sort(t)) {
                (Sort::Real, Sort::Int) => pool.mk(Op::ToReal, &[t]).ok()?,
                (a, b) if a == b => t,
                _ => return None,
            };
            if *c == RBig::ONE {
                parts.push(t);
            } else {
                let c = constant(pool, sort, c);
                parts.push(pool.mk(Op::Mul, &[c, t]).ok()?);
            }
        }
        if parts.is_empty() || self.constant != RBig::ZERO {
            parts.push(constant(pool, sort, &self.constant));
        }
        match parts[..] {
            [one] => Some(one),
            _ => pool.mk(Op::Add, &parts).ok(),
        }
    }

    /// The value, given those of the terms.
    pub(super) fn value(&self, of: impl Fn(TermId) -> Option<Value>) -> Option<RBig> {
        let mut sum = self.constant.clone();
        for (&t, c) in &self.terms {
            sum += c * as_number(&of(t)?)?;
        }
        Some(sum)
    }
}

fn constant(pool: &mut Pool, sort: Sort, r: &RBig) -> TermId {
    match sort {
        Sort::Int => pool.constant(Value::Int(r.numerator().clone())),
        _ => pool.constant(Value::Real(r.clone())),
    }
}

/// A number of either sort.
pub(super) fn as_number(value: &Value) -> Option<RBig> {
    match value {
        Value::Int(i) => Some(RBig::from(i.clone())),
        Value::Real(r) => Some(r.clone()),
        _ => None,
    }
}

/// How a form relates to zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Relation {
    AtMost,
    Below,
    Equal,
}

/// A literal of a cube.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Literal {
    /// `form <= 0`, `form < 0` or `form == 0`.
    Number { form: Linear, relation: Relation },
    /// Anything else.
    Other(TermId),
}

impl Literal {
    /// `form (relation) 0`, not strict where that can be.
    pub(super) fn number(pool: &Pool, form: Linear, relation: Relation) -> Literal {
        let ints = form.terms.keys().all(|&t| pool.sort(t) == Sort::Int) && form.is_whole();
        if relation == Relation::Below && ints {
            let mut form = form;
            form.constant += RBig::from(IBig::ONE);
            return Literal::Number { form, relation: Relation::AtMost };
        }
        Literal::Number { form, relation }
    }

    /// The literal as a formula.
    pub(super) fn build(&self, pool: &mut Pool) -> Option<TermId> {
        match self {
            Literal::Other(t) => Some(*t),
            Literal::Number { form, relation } => {
                let ints = form.terms.keys().all(|&t| pool.sort(t) == Sort::Int) && form.is_whole();
                let sort = if ints { Sort::Int } else { Sort::Real };
                let mut left = form.clone();
                let bound = -std::mem::replace(&mut left.constant, RBig::ZERO);
                let (left, right) = (left.build(pool, sort)?, Linear::number(bound).build(pool, sort)?);
                Some(match relation {
                    Relation::AtMost => pool.le(left, right),
                    Relation::Below => pool.lt(left, right),
                    Relation::Equal => pool.eq(left, right),
                })
            }
        }
    }
}
