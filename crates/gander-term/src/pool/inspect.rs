//! Queries about terms: free symbols, quantifiers, and the theories that a solver needs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bits::Width;
use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::Sort;
use gander_runtime::check_cancelled;

/// The theories that a set of terms uses; determines which solvers can handle them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Features {
    /// Some term has sort int.
    pub ints: bool,
    /// Some term has sort real.
    pub reals: bool,
    /// Some term has sort string.
    pub strings: bool,
    /// Some term has an enumeration sort.
    pub enums: bool,
    /// A product of two non-constants, a division by a non-constant, or a power with a non-constant
    /// side.
    pub nonlinear: bool,
    /// `div` or `mod`.
    pub int_division: bool,
    /// `to_real` or `to_int`.
    pub conversions: bool,
    /// `forall` or `exists`.
    pub quantifiers: bool,
    /// Some term is a bit-vector.
    pub bit_vectors: bool,
    /// Some bit-vector has exactly 64 bits. Listed separately because Yices 2.6.5 gives wrong
    /// answers on them.
    pub bit_vectors_of_64: bool,
    /// A conversion between bit-vectors and ints.
    pub bit_vector_conversions: bool,
    /// Some term is an array.
    pub arrays: bool,
}

impl Features {
    /// True if a solver for quantifier-free linear arithmetic over ints and reals suffices.
    /// Enumerations count as linear because they can be encoded.
    pub fn is_linear(self) -> bool {
        !(self.nonlinear || self.quantifiers || self.strings || self.bit_vectors || self.arrays)
    }

    /// Records a sort; recurses over nested arrays only, whose depth is limited.
    pub fn see(&mut self, sort: Sort) {
        match sort {
            Sort::Bool => {}
            Sort::Int => self.ints = true,
            Sort::Real => self.reals = true,
            Sort::String => self.strings = true,
            Sort::Enum(_) => self.enums = true,
            Sort::BitVec(width) => {
                self.bit_vectors = true;
                self.bit_vectors_of_64 |= width == Width::W64;
            }
            Sort::Array(array) => {
                self.arrays = true;
                self.see(array.index());
                self.see(array.element());
            }
        }
    }

    /// The features of both sets of terms together.
    #[must_use]
    pub fn join(self, other: Features) -> Features {
        Features {
            ints: self.ints || other.ints,
            reals: self.reals || other.reals,
            strings: self.strings || other.strings,
            enums: self.enums || other.enums,
            nonlinear: self.nonlinear || other.nonlinear,
            int_division: self.int_division || other.int_division,
            conversions: self.conversions || other.conversions,
            quantifiers: self.quantifiers || other.quantifiers,
            bit_vectors: self.bit_vectors || other.bit_vectors,
            bit_vectors_of_64: self.bit_vectors_of_64 || other.bit_vectors_of_64,
            bit_vector_conversions: self.bit_vector_conversions || other.bit_vector_conversions,
            arrays: self.arrays || other.arrays,
        }
    }
}

impl Pool {
    /// The two sides of an equation `x == e`, where `x` is one of the symbols: the entry of `x`,
    /// and `e`. A Boolean `x` is `x == true`, and `not x` is `x == false`. If both sides are such
    /// symbols, `preferred` is taken as `x`, otherwise the left one.
    pub fn equation_for<V: Copy + PartialEq>(
        &mut self,
        t: TermId,
        symbols: &FxHashMap<SymbolId, V>,
        preferred: Option<V>,
    ) -> Option<(V, TermId)> {
        let known = |s: Option<SymbolId>| s.and_then(|s| symbols.get(&s).copied());
        match (self.op(t), self.args(t)) {
            (Op::Symbol(s), _) => {
                let x = known(Some(s))?;
                Some((x, self.tt()))
            }
            (Op::Not, &[a]) => {
                let x = known(self.as_symbol(a))?;
                Some((x, self.ff()))
            }
            (Op::Eq, &[a, b]) => match (known(self.as_symbol(a)), known(self.as_symbol(b))) {
                (_, Some(x)) if Some(x) == preferred => Some((x, a)),
                (Some(x), _) => Some((x, b)),
                (None, Some(x)) => Some((x, a)),
                (None, None) => None,
            },
            _ => None,
        }
    }

    /// The free symbols of `roots`, sorted by id.
    pub fn free_symbols(&self, roots: &[TermId]) -> Vec<SymbolId> {
        let mut found = self.all_symbols(roots);
        found.retain(|&s| !self.symbol(s).bound);
        found
    }

    /// The symbols that occur in `roots`, bound ones too, sorted by id.
    pub(crate) fn all_symbols(&self, roots: &[TermId]) -> Vec<SymbolId> {
        let mut found = Vec::new();
        self.visit(roots, |pool, t| {
            if let Op::Symbol(s) = pool.op(t) {
                found.push(s);
            }
            true
        });
        found.sort_unstable();
        found
    }

    /// True if `forall` or `exists` occurs in `t`.
    pub fn has_quantifier(&self, t: TermId) -> bool {
        let mut found = false;
        self.visit(&[t], |pool, t| {
            found |= matches!(pool.op(t), Op::Forall | Op::Exists);
            !found
        });
        found
    }

    /// The features of `roots`.
    pub fn features(&self, roots: &[TermId]) -> Features {
        let mut f = Features::default();
        self.visit(roots, |pool, t| {
            f.see(pool.sort(t));
            let variable = |a: &&TermId| !matches!(pool.op(**a), Op::Const(_));
            let args = pool.args(t);
            match pool.op(t) {
                Op::Mul => f.nonlinear |= args.iter().filter(variable).nth(1).is_some(),
                Op::Div => f.nonlinear |= args.last().filter(variable).is_some(),
                Op::IntDiv | Op::Mod => {
                    f.int_division = true;
                    f.nonlinear |= args.last().filter(variable).is_some();
                }
                Op::Pow => f.nonlinear |= args.iter().any(|a| variable(&a)),
                Op::ToReal | Op::ToInt => f.conversions = true,
                Op::Forall | Op::Exists => f.quantifiers = true,
                Op::Bv(op) => f.bit_vector_conversions |= op.is_conversion(),
                _ => {}
            }
            true
        });
        f
    }

    /// Calls `see` once for every term below and including `roots`, in no particular order, until
    /// it returns false.
    pub(crate) fn visit(&self, roots: &[TermId], mut see: impl FnMut(&Pool, TermId) -> bool) {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            check_cancelled();
            if seen.insert(t) {
                if !see(self, t) {
                    return;
                }
                stack.extend_from_slice(self.args(t));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_symbols_are_not_free() {
        let mut p = Pool::new();
        let y = p.variable("y", Sort::Int);
        let x = p.variable("x", Sort::Int);
        let b = p.declare_bound("b", Sort::Int);
        let bv = p.var(b);
        let le = p.le(bv, x);
        let q = p.forall(&[b], le);
        let other = p.le(y, x);
        let both = p.and([q, other]);
        let names: Vec<_> =
            p.free_symbols(&[both]).iter().map(|&s| p.symbol(s).name.clone()).collect();
        assert_eq!(names, ["y", "x"]);
        assert!(p.has_quantifier(both) && !p.has_quantifier(other));
    }

    #[test]
    fn features_distinguish_linear_from_nonlinear() {
        let mut p = Pool::new();
        let x = p.variable("x", Sort::Int);
        let y = p.variable("y", Sort::Int);
        let two = p.int(2);
        let linear = p.mul(two, x);
        assert!(p.features(&[linear]).is_linear());
        let square = p.mul(x, y);
        assert!(p.features(&[square]).nonlinear);
        let by_const = p.mk(Op::IntDiv, &[x, two]).unwrap();
        let f = p.features(&[by_const]);
        assert!(f.int_division && !f.nonlinear && f.ints && !f.reals);
        let by_var = p.mk(Op::Mod, &[two, x]).unwrap();
        assert!(p.features(&[by_var]).nonlinear);
        let pow = p.mk(Op::Pow, &[x, two]).unwrap();
        assert!(p.features(&[pow]).nonlinear);
    }
}
