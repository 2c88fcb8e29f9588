//! LinearForm constraints in normal form, and the comparisons that they are read from.

use dashu_base::{Abs, Signed};
use gander_term::{IBig, Op, Pool, RBig, Sort, TermId};

use super::form::{LinearForm, Opaque, sum_term};
use crate::arith::number::{gcd, lcm, remainder};

/// How a form relates to 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) enum Relation {
    AtMost,
    Below,
    Equal,
    /// It is a multiple of this.
    Multiple(IBig),
}

/// What a literal that compares two numbers says: `small - large` has the relation to 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Comparison {
    pub small: TermId,
    pub large: TermId,
    pub relation: Relation,
}

impl Comparison {
    /// A comparison of two numbers, or the negation of one; none for any other formula, and for
    /// disequalities.
    pub(crate) fn of(pool: &Pool, literal: TermId) -> Option<Comparison> {
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
        Some(Comparison { small, large, relation })
    }
}

/// A form over atoms of one sort and how it relates to 0.
///
/// In normal form its coefficients are coprime integers (on reals: the first one is 1 or -1),
/// bounds of ints are as tight as can be, nothing on ints is strict, and equivalent constraints of
/// one relation are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Constraint {
    pub form: LinearForm,
    pub relation: Relation,
    /// Of its atoms: int or real.
    pub sort: Sort,
}

impl Constraint {
    /// A comparison of sums of variables in normal form; none for any other formula.
    pub(crate) fn of(pool: &Pool, literal: TermId) -> Option<Constraint> {
        let Comparison { small, large, relation } = Comparison::of(pool, literal)?;
        let read = |t: TermId| LinearForm::read(pool, t, Opaque::Refuse);
        let form = read(small)?.minus(&read(large)?);
        Constraint { form, relation, sort: pool.sort(small) }.normal()
    }

    /// The normal form; none if it holds whatever the atoms are.
    pub(crate) fn normal(mut self) -> Option<Constraint> {
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
        let scale =
            denominators.fold(IBig::ONE, |acc, c| lcm(&acc, &IBig::from(c.denominator().clone())));
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
        if self.relation == Relation::Equal
            && self.form.terms.values().next().is_some_and(Signed::is_negative)
        {
            by = -by;
        }
        self.form.scale(&(RBig::ONE / by));
        if self.relation == Relation::AtMost {
            self.form.constant = RBig::from(self.form.constant.ceil());
        }
        Some(self)
    }

    /// The constraint as a term.
    pub(crate) fn term(&self, pool: &mut Pool) -> TermId {
        let constant = self.form.constant.clone();
        if let Relation::Multiple(m) = &self.relation {
            let sum = self.form.term(pool, self.sort);
            let m = pool.int(m.clone());
            let zero = pool.int(0);
            return match pool.mk(Op::Mod, &[sum, m]) {
                Ok(remainder) => pool.eq(remainder, zero),
                Err(_) => pool.tt(),
            };
        }
        // Atoms with positive coefficients to the left, the others to the right.
        let (left, right): (Vec<_>, Vec<_>) = self
            .form
            .terms
            .iter()
            .map(|(&t, c)| (t, c.clone()))
            .partition(|(_, c)| !c.is_negative());
        let right = right.into_iter().map(|(t, c)| (t, -c));
        let (to_left, to_right) =
            if left.is_empty() { (constant, RBig::ZERO) } else { (RBig::ZERO, -constant) };
        let (left, right) = (
            sum_term(pool, self.sort, left.into_iter(), to_left),
            sum_term(pool, self.sort, right, to_right),
        );
        match self.relation {
            Relation::Equal => pool.eq(left, right),
            Relation::Below => pool.lt(left, right),
            _ => pool.le(left, right),
        }
    }
}

/// `m` divides the sum.
fn multiple(mut form: LinearForm, m: IBig) -> Option<Constraint> {
    let modulus = |x: &RBig| RBig::from(remainder(x.numerator(), &m));
    form.terms = form
        .terms
        .iter()
        .map(|(&t, c)| (t, modulus(c)))
        .filter(|(_, c)| *c != RBig::ZERO)
        .collect();
    form.constant = modulus(&form.constant);
    if form.terms.is_empty() {
        return None;
    }
    let all = form
        .terms
        .values()
        .chain([&form.constant])
        .fold(m.clone(), |acc, c| gcd(&acc, c.numerator()));
    form.scale(&RBig::from_parts(IBig::ONE, all.clone().try_into().unwrap_or_default()));
    let m = m / all;
    (m != IBig::ONE).then_some(Constraint {
        form,
        relation: Relation::Multiple(m),
        sort: Sort::Int,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(pool: &mut Pool, terms: &[(&str, i32)], constant: i32) -> LinearForm {
        let terms =
            terms.iter().map(|(n, c)| (pool.variable(n, Sort::Int), RBig::from(*c))).collect();
        LinearForm { terms, constant: RBig::from(constant) }
    }

    fn shown(pool: &mut Pool, form: LinearForm, relation: Relation) -> Option<String> {
        let c = Constraint { form, relation, sort: Sort::Int }.normal()?;
        let t = c.term(pool);
        Some(pool.display(t).to_string())
    }

    #[test]
    fn constants_of_int_constraints_are_rounded() {
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
        for (text, expected) in [
            ("x + 1 > 2 * y", "2 * y <= x"),
            ("not (x - y >= 3)", "x <= y + 2"),
            ("x == y", "x == y"),
        ] {
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
        assert_eq!(
            shown(p, f.clone(), Relation::Multiple(4.into())).unwrap(),
            "(y + 1) mod 2 == 0"
        );
        assert_eq!(shown(p, f, Relation::Multiple(2.into())), None);
    }
}
