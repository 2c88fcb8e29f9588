//! Sums of multiples of terms, and a constant.

use std::collections::BTreeMap;

use gander_term::{Op, Pool, RBig, Sort, TermId};

use crate::arith::limits::LIMITS;
use crate::arith::number::{as_rational, constant};

/// `c1 * t1 + ... + cn * tn + constant`. No coefficient is 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Default)]
pub(crate) struct LinearForm {
    /// The coefficient of each atom.
    pub terms: BTreeMap<TermId, RBig>,
    pub constant: RBig,
}

/// What [`LinearForm::read`] makes of a subterm that is neither linear nor a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Opaque {
    /// An atom.
    Keep,
    /// Nothing: the whole term is not read.
    Refuse,
}

impl LinearForm {
    /// A number.
    pub(crate) fn number(constant: RBig) -> LinearForm {
        LinearForm { terms: BTreeMap::new(), constant }
    }

    /// A single atom.
    pub(crate) fn atom(t: TermId) -> LinearForm {
        LinearForm { terms: BTreeMap::from([(t, RBig::ONE)]), constant: RBig::ZERO }
    }

    /// A term as a sum; none if it has something opaque that is refused, or is too large.
    pub(crate) fn read(pool: &Pool, root: TermId, opaque: Opaque) -> Option<LinearForm> {
        let mut sum = LinearForm::default();
        let mut rest = vec![(root, RBig::ONE)];
        let mut visits = 0;
        while let Some((t, factor)) = rest.pop() {
            visits += 1;
            if visits > LIMITS.linear_visits {
                return None;
            }
            if let Some(c) = as_rational(pool, t) {
                sum.constant += c * factor;
                continue;
            }
            let args = pool.args(t);
            match pool.op(t) {
                Op::Add => rest.extend(args.iter().map(|&a| (a, factor.clone()))),
                Op::Neg => rest.push((args[0], -factor)),
                Op::Sub => rest.extend([(args[0], factor.clone()), (args[1], -factor)]),
                op => match multiple(pool, op, args) {
                    Some((c, other)) => rest.push((other, factor * c)),
                    None if opaque == Opaque::Keep || matches!(op, Op::Symbol(_)) => {
                        sum.add(&factor, &LinearForm::atom(t));
                    }
                    None => return None,
                },
            }
        }
        Some(sum)
    }

    /// The number that it is, if it has no atoms.
    pub(crate) fn as_number(&self) -> Option<&RBig> {
        self.terms.is_empty().then_some(&self.constant)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty() && self.constant == RBig::ZERO
    }

    /// True if the constant and all coefficients are whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        self.constant.is_int() && self.terms.values().all(RBig::is_int)
    }

    /// The coefficient of an atom; 0 if it does not occur.
    pub(crate) fn coefficient(&self, atom: TermId) -> RBig {
        self.terms.get(&atom).cloned().unwrap_or(RBig::ZERO)
    }

    /// Adds `factor * other`.
    pub(crate) fn add(&mut self, factor: &RBig, other: &LinearForm) {
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

    pub(crate) fn minus(&self, other: &LinearForm) -> LinearForm {
        let mut difference = self.clone();
        difference.add(&-RBig::ONE, other);
        difference
    }

    /// Multiplies by a number.
    pub(crate) fn scale(&mut self, factor: &RBig) {
        if *factor == RBig::ZERO {
            *self = LinearForm::default();
            return;
        }
        self.terms.values_mut().for_each(|c| *c *= factor);
        self.constant *= factor;
    }

    pub(crate) fn scaled(&self, factor: &RBig) -> LinearForm {
        let mut product = self.clone();
        product.scale(factor);
        product
    }

    /// The sum without one of its atoms.
    pub(crate) fn without(&self, atom: TermId) -> LinearForm {
        let mut rest = self.clone();
        rest.terms.remove(&atom);
        rest
    }

    /// Replaces an atom by a number.
    pub(crate) fn fix(&mut self, atom: TermId, value: &RBig) {
        if let Some(c) = self.terms.remove(&atom) {
            self.constant += c * value;
        }
    }

    /// The value, given those of the atoms; none if one of them has none.
    pub(crate) fn value(&self, of: impl Fn(TermId) -> Option<RBig>) -> Option<RBig> {
        let mut sum = self.constant.clone();
        for (&t, c) in &self.terms {
            sum += c * of(t)?;
        }
        Some(sum)
    }

    /// The sum as a term. All atoms must have the sort; on ints the form must be whole.
    pub(crate) fn term(&self, pool: &mut Pool, sort: Sort) -> TermId {
        let terms = self.terms.iter().map(|(&t, c)| (t, c.clone()));
        sum_term(pool, sort, terms, self.constant.clone())
    }

    /// [`LinearForm::term`] for atoms of both numeric sorts: ints become reals in a real sum. None
    /// if an int would need a fraction or a real.
    pub(crate) fn mixed_term(&self, pool: &mut Pool, sort: Sort) -> Option<TermId> {
        if sort == Sort::Int && !self.is_whole() {
            return None;
        }
        let mut terms = Vec::with_capacity(self.terms.len());
        for (&t, c) in &self.terms {
            let t = match (sort, pool.sort(t)) {
                (Sort::Real, Sort::Int) => pool.mk(Op::ToReal, &[t]).ok()?,
                (a, b) if a == b => t,
                _ => return None,
            };
            terms.push((t, c.clone()));
        }
        Some(sum_term(pool, sort, terms.into_iter(), self.constant.clone()))
    }
}

/// The factors of a product of a constant and another term.
fn multiple(pool: &Pool, op: Op, args: &[TermId]) -> Option<(RBig, TermId)> {
    let (Op::Mul, &[a, b]) = (op, args) else { return None };
    match as_rational(pool, a) {
        Some(c) => Some((c, b)),
        None => as_rational(pool, b).map(|c| (c, a)),
    }
}

/// A sum of products as a term.
pub(super) fn sum_term(
    pool: &mut Pool,
    sort: Sort,
    terms: impl Iterator<Item = (TermId, RBig)>,
    number: RBig,
) -> TermId {
    let mut parts = Vec::new();
    for (t, c) in terms {
        if c == RBig::ONE {
            parts.push(t);
        } else {
            let c = constant(pool, sort, c);
            parts.push(pool.mul(c, t));
        }
    }
    if number != RBig::ZERO || parts.is_empty() {
        parts.push(constant(pool, sort, number));
    }
    match parts[..] {
        [one] => one,
        // Products of numbers and atoms of one sort have that sort.
        _ => pool.mk(Op::Add, &parts).unwrap_or(parts[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_read_and_written() {
        let p = &mut Pool::new();
        for name in ["x", "y"] {
            p.variable(name, Sort::Int);
        }
        let mut shown = |text: &str, opaque| {
            let t = gander_term::parse_term(p, text).unwrap();
            let form = LinearForm::read(p, t, opaque)?;
            let t = form.term(p, Sort::Int);
            Some(p.display(t).to_string())
        };
        assert_eq!(shown("2 * (x - y * 3) + y + 5 - x", Opaque::Refuse).unwrap(), "x + -5 * y + 5");
        assert_eq!(shown("x - x", Opaque::Refuse).unwrap(), "0");
        assert_eq!(shown("x * y + 1", Opaque::Refuse), None);
        assert_eq!(shown("1 + x * y", Opaque::Keep).unwrap(), "x * y + 1");
    }
}
