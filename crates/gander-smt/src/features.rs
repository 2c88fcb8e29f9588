//! What a formula needs of a solver.

use gander_term::{Op, Pool, Sort, TermId};
use rustc_hash::FxHashSet;

/// The logic features that formulas use. [`Features::join`] adds them up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Integers.
    pub ints: bool,
    /// Reals.
    pub reals: bool,
    /// Strings.
    pub strings: bool,
    /// Enumerations.
    pub enums: bool,
    /// Quantifiers.
    pub quantifiers: bool,
    /// A product, quotient, remainder or power that is not linear.
    pub nonlinear: bool,
}

impl Features {
    /// The features of all formulas together.
    pub fn of(pool: &Pool, roots: &[TermId]) -> Features {
        Features::of_order(pool, &pool.postorder(roots))
    }

    /// As [`Features::of`], for terms whose arguments come before them.
    pub(crate) fn of_order(pool: &Pool, order: &[TermId]) -> Features {
        let mut features = Features::default();
        // Terms without variables: a product with one of them is linear.
        let mut ground: FxHashSet<TermId> = FxHashSet::default();
        for &t in order {
            match pool.sort(t) {
                Sort::Bool => {}
                Sort::Int => features.ints = true,
                Sort::Real => features.reals = true,
                Sort::String => features.strings = true,
                Sort::Enum(_) => features.enums = true,
            }
            let args = pool.args(t);
            let op = pool.op(t);
            if matches!(op, Op::Bool(_) | Op::Const(_)) {
                ground.insert(t);
            } else if op.is_leaf() {
                continue;
            } else if args.iter().all(|a| ground.contains(a)) {
                ground.insert(t);
            }
            match op {
                Op::Forall | Op::Exists => features.quantifiers = true,
                Op::Mul if args.iter().filter(|a| !ground.contains(a)).count() > 1 => features.nonlinear = true,
                // Solvers take a division as linear only if they see a number as divisor.
                Op::Div | Op::IntDiv | Op::Mod if pool.as_constant(args[1]).is_none() => features.nonlinear = true,
                Op::Pow => features.nonlinear |= !linear_power(pool, args[0], args[1]),
                _ => {}
            }
        }
        features
    }

    /// Everything that either needs.
    pub fn join(self, other: Features) -> Features {
        Features {
            ints: self.ints || other.ints,
            reals: self.reals || other.reals,
            strings: self.strings || other.strings,
            enums: self.enums || other.enums,
            quantifiers: self.quantifiers || other.quantifiers,
            nonlinear: self.nonlinear || other.nonlinear,
        }
    }

    /// True for linear arithmetic, truth values and enumerations without quantifiers.
    pub fn is_linear(self) -> bool {
        !(self.strings || self.quantifiers || self.nonlinear)
    }
}

/// Powers are expanded into cases by exponent; with a constant base every case is a constant.
fn linear_power(pool: &Pool, base: TermId, exponent: TermId) -> bool {
    use gander_term::{IBig, Value};
    pool.as_constant(base).is_some() || matches!(pool.as_constant(exponent), Some(Value::Int(e)) if e <= IBig::from(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_and_not() {
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let y = pool.variable("y", Sort::Int);
        let three = pool.int(3);
        let minus = pool.mk(Op::Neg, &[three]).unwrap();
        let linear = pool.mk(Op::Mul, &[minus, x]).unwrap();
        let product = pool.mul(x, y);
        let by_three = pool.mk(Op::IntDiv, &[x, three]).unwrap();
        let by_x = pool.mk(Op::Mod, &[three, x]).unwrap();
        let squared = pool.mk(Op::Pow, &[x, three]).unwrap();
        let exponential = pool.mk(Op::Pow, &[three, x]).unwrap();
        for (t, expected) in
            [(linear, true), (product, false), (by_three, true), (by_x, false), (squared, false), (exponential, true)]
        {
            assert_eq!(Features::of(&pool, &[t]).is_linear(), expected);
        }
        assert!(Features::of(&pool, &[linear]).ints && !Features::of(&pool, &[linear]).reals);
    }
}
