//! Random well-sorted terms of every operator, for property tests and fuzzing.
//!
//! Reproducible: the same seed and the same calls give the same terms. Terms are built by
//! [`Pool::mk`], so nothing is simplified on the way, and share subterms.

use gander_runtime::Random;

use crate::array::{ArraySort, ArrayValue};
use crate::bits::{BvOp, Width};
use crate::op::Op;
use crate::pool::{Pool, SymbolId, TermId};
use crate::sort::{EnumId, Sort};
use crate::value::{IBig, RBig, Value};

/// What random terms may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The greatest depth; at most 30.
    pub depth: usize,
    /// `forall` and `exists`, over finitely many values.
    pub quantifiers: bool,
    /// Strings and `++`.
    pub strings: bool,
    /// Products of non-constants, division by non-constants, powers.
    pub nonlinear: bool,
    /// Constants beyond 64 bits.
    pub large_constants: bool,
    /// Bit-vectors of a few widths and all operators on them.
    pub bit_vectors: bool,
    /// Conversions between bit-vectors and ints.
    pub bit_vector_conversions: bool,
    /// Arrays over ints, truth values, variants and small bit-vectors, and arrays of arrays.
    pub arrays: bool,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            depth: 5,
            quantifiers: true,
            strings: true,
            nonlinear: true,
            large_constants: true,
            bit_vectors: true,
            bit_vector_conversions: true,
            arrays: true,
        }
    }
}

/// The widths of symbols: small ones, those of machine words, and one beyond.
fn widths() -> impl Iterator<Item = Width> {
    [1, 3, 8, 64, 70].into_iter().filter_map(Width::new)
}

/// Finite and infinite index sorts, and an array of arrays.
fn array_sorts(pool: &Pool, colour: EnumId, shape: Shape) -> Vec<Sort> {
    let mut pairs =
        vec![(Sort::Int, Sort::Int), (Sort::Bool, Sort::Int), (Sort::Enum(colour), Sort::Bool)];
    if shape.bit_vectors {
        pairs.extend(Width::new(3).map(|w| (Sort::BitVec(Width::W1), Sort::BitVec(w))));
        pairs.extend(Width::new(3).map(|w| (Sort::BitVec(w), Sort::BitVec(Width::W8))));
    }
    let mut sorts: Vec<Sort> =
        pairs.into_iter().filter_map(|(i, e)| pool.array_sort(i, e)).collect();
    sorts.extend(sorts.first().and_then(|&inner| pool.array_sort(Sort::Int, inner)));
    sorts
}

/// Makes random terms over a few symbols of every sort.
#[derive(Clone, Debug)]
pub struct TermGenerator {
    /// The source of randomness.
    pub random: Random,
    shape: Shape,
    symbols: Vec<SymbolId>,
    colour: EnumId,
    /// The sorts of arrays.
    arrays: Vec<Sort>,
    /// Bound symbols that may be used here.
    scope: Vec<SymbolId>,
    /// Earlier terms without bound symbols, to be used again.
    earlier: Vec<TermId>,
}

impl TermGenerator {
    /// A generator for `pool`, in which it declares its symbols `b0 i0 r0 s0 e0 ...` and the
    /// enumeration `Colour`.
    ///
    /// # Panics
    /// If `pool` has these names with other meanings.
    pub fn new(pool: &mut Pool, seed: u64, shape: Shape) -> TermGenerator {
        let colour = pool
            .declare_enum("Colour", &["Red", "Green", "Blue"])
            .expect("a name of the generator");
        let sorts =
            [("b", Sort::Bool), ("i", Sort::Int), ("r", Sort::Real), ("e", Sort::Enum(colour))];
        let mut symbols = Vec::new();
        let mut declare = |name: String, sort| {
            symbols.push(pool.declare(&name, sort).expect("a name of the generator"));
        };
        for (letter, sort) in sorts.into_iter().chain(shape.strings.then_some(("s", Sort::String)))
        {
            (0..3).for_each(|n| declare(format!("{letter}{n}"), sort));
        }
        if shape.bit_vectors {
            for width in widths() {
                (0..2).for_each(|n| declare(format!("v{}.{n}", width.bits()), Sort::BitVec(width)));
            }
        }
        if shape.arrays {
            for (k, sort) in array_sorts(pool, colour, shape).into_iter().enumerate() {
                (0..2).for_each(|n| {
                    symbols.push(
                        pool.declare(&format!("a{k}.{n}"), sort).expect("a name of the generator"),
                    )
                });
            }
        }
        let arrays = if shape.arrays { array_sorts(pool, colour, shape) } else { Vec::new() };
        let shape = Shape { depth: shape.depth.min(30), ..shape };
        TermGenerator {
            random: Random::new(seed),
            shape,
            symbols,
            colour,
            arrays,
            scope: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// The free symbols that terms are made of.
    pub fn symbols(&self) -> &[SymbolId] {
        &self.symbols
    }

    /// The sorts that terms can have.
    pub fn sorts(&self) -> Vec<Sort> {
        let mut sorts = vec![Sort::Bool, Sort::Int, Sort::Real, Sort::Enum(self.colour)];
        sorts.extend(self.shape.strings.then_some(Sort::String));
        if self.shape.bit_vectors {
            sorts.extend(widths().map(Sort::BitVec));
        }
        sorts.extend(&self.arrays);
        sorts
    }

    /// A random term of a random sort.
    pub fn any_term(&mut self, pool: &mut Pool) -> TermId {
        let sorts = self.sorts();
        let sort = self.random.pick(&sorts);
        self.term(pool, sort)
    }

    /// A random term of `sort`.
    pub fn term(&mut self, pool: &mut Pool, sort: Sort) -> TermId {
        self.at_depth(pool, sort, self.shape.depth)
    }

    /// Random values for [`TermGenerator::symbols`].
    pub fn assignment(&mut self, pool: &Pool) -> Vec<(SymbolId, Value)> {
        let symbols = self.symbols.clone();
        symbols.into_iter().map(|s| (s, self.value(pool.symbol(s).sort))).collect()
    }

    /// A random value of `sort`.
    pub fn value(&mut self, sort: Sort) -> Value {
        match sort {
            Sort::Bool => Value::Bool(self.random.one_in(2)),
            Sort::Int => Value::Int(self.int()),
            Sort::Real => {
                let denominator =
                    if self.random.one_in(2) { 1u8 } else { self.random.below(7) as u8 + 1 };
                Value::Real(RBig::from_parts(self.int(), denominator.into()))
            }
            Sort::String => {
                Value::str(self.random.pick(&["", "a", "b", "ab", "\"\\", "é\u{1F600}"]))
            }
            Sort::Enum(e) => Value::Enum(e, self.random.below(3) as u32),
            Sort::BitVec(width) => self.bits(width),
            Sort::Array(array) => self.array(array),
        }
    }

    fn array(&mut self, sort: ArraySort) -> Value {
        let default = self.value(sort.element());
        let elements = (0..self.random.below(5))
            .map(|_| (self.value(sort.index()), self.value(sort.element())))
            .collect();
        Value::array(
            ArrayValue::new(sort, default, elements).expect("the generator knows the sorts"),
        )
    }

    fn int(&mut self) -> IBig {
        if self.shape.large_constants && self.random.one_in(30) {
            let n: IBig = IBig::from(i64::MAX) + self.random.below(5) as i32 - 2;
            return if self.random.one_in(2) { -n } else { n };
        }
        IBig::from(self.random.below(11) as i32 - 5)
    }

    /// Small numbers, positive and negative, the edges of the signed range, and any bits.
    fn bits(&mut self, width: Width) -> Value {
        let half = IBig::ONE << (width.bits() as usize - 1);
        let small = IBig::from(self.random.below(11) as i32 - 5);
        let bits = match self.random.below(4) {
            0 | 1 => small,
            2 => half + small,
            _ => (0..width.bits().div_ceil(64))
                .fold(IBig::ZERO, |n, _| (n << 64) + self.random.next_u64()),
        };
        Value::bits(width, bits)
    }

    /// Recursion is bounded by the depth of the shape.
    fn at_depth(&mut self, pool: &mut Pool, sort: Sort, depth: usize) -> TermId {
        if depth == 0 || self.random.one_in(8) {
            return self.leaf(pool, sort);
        }
        if self.scope.is_empty() && self.random.one_in(8) {
            let known: Vec<TermId> =
                self.earlier.iter().copied().filter(|&t| pool.sort(t) == sort).collect();
            if !known.is_empty() {
                return self.random.pick(&known);
            }
        }
        if sort == Sort::Bool
            && self.shape.quantifiers
            && self.random.one_in(12)
            && self.scope.len() < 3
        {
            return self.quantifier(pool, depth - 1);
        }
        let (op, sorts) = self.operator(sort);
        let mut args: Vec<TermId> =
            sorts.iter().map(|&s| self.at_depth(pool, s, depth - 1)).collect();
        if !self.shape.nonlinear {
            self.make_linear(pool, op, &mut args);
        }
        let t = pool.mk(op, &args).expect("the generator knows the sorts");
        if self.scope.is_empty() {
            if self.earlier.len() < 64 {
                self.earlier.push(t);
            } else {
                let at = self.random.below(64);
                self.earlier[at] = t;
            }
        }
        t
    }

    fn leaf(&mut self, pool: &mut Pool, sort: Sort) -> TermId {
        if self.random.one_in(3) {
            let v = self.value(sort);
            return pool.constant(v);
        }
        let all = self.symbols.iter().chain(&self.scope);
        let candidates: Vec<SymbolId> =
            all.copied().filter(|&s| pool.symbol(s).sort == sort).collect();
        if candidates.is_empty() {
            let v = self.value(sort);
            return pool.constant(v);
        }
        let s = self.random.pick(&candidates);
        pool.var(s)
    }

    /// An operator that gives `sort`, with the sorts of its arguments.
    fn operator(&mut self, sort: Sort) -> (Op, Vec<Sort>) {
        if self.random.one_in(7) {
            return (Op::Ite, vec![Sort::Bool, sort, sort]);
        }
        let of_it: Vec<Sort> = self
            .arrays
            .iter()
            .copied()
            .filter(|a| matches!(a, Sort::Array(a) if a.element() == sort))
            .collect();
        if !of_it.is_empty() && self.random.one_in(5) {
            let array = self.random.pick(&of_it);
            if let Sort::Array(a) = array {
                return (Op::Select, vec![array, a.index()]);
            }
        }
        let few = 2 + self.random.below(3);
        let number = if self.random.one_in(2) { Sort::Int } else { Sort::Real };
        match sort {
            Sort::Bool if self.shape.bit_vectors && self.random.one_in(4) => {
                use BvOp::*;
                let op = self.random.pick(&[Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge]);
                (Op::Bv(op), vec![self.some_bits(); 2])
            }
            Sort::Int
                if self.shape.bit_vector_conversions
                    && self.shape.bit_vectors
                    && self.random.one_in(6) =>
            {
                (
                    Op::Bv(self.random.pick(&[BvOp::ToInt, BvOp::ToSignedInt])),
                    vec![self.some_bits()],
                )
            }
            Sort::BitVec(width) => self.bit_operator(width),
            Sort::Bool => match self.random.below(10) {
                0 => (Op::Not, vec![Sort::Bool]),
                1 => (Op::And, vec![Sort::Bool; few]),
                2 => (Op::Or, vec![Sort::Bool; few]),
                3 => (Op::Implies, vec![Sort::Bool; 2]),
                4 | 5 => {
                    let sorts = self.sorts();
                    (Op::Eq, vec![self.random.pick(&sorts); 2])
                }
                _ => (self.random.pick(&[Op::Lt, Op::Le, Op::Gt, Op::Ge]), vec![number; 2]),
            },
            Sort::Int | Sort::Real => {
                let int = sort == Sort::Int;
                match self.random.below(14) {
                    0 => (Op::Neg, vec![sort]),
                    1..=3 => (Op::Add, vec![sort; few]),
                    4 | 5 => (Op::Sub, vec![sort; 2]),
                    6 | 7 => (Op::Mul, vec![sort; few]),
                    8 => (if int { Op::IntDiv } else { Op::Div }, vec![sort; 2]),
                    9 => (if int { Op::Mod } else { Op::Div }, vec![sort; 2]),
                    10 => (Op::Abs, vec![sort]),
                    11 => (self.random.pick(&[Op::Min, Op::Max]), vec![sort; few]),
                    12 if self.shape.nonlinear => (Op::Pow, vec![sort, Sort::Int]),
                    _ => (
                        if int { Op::ToInt } else { Op::ToReal },
                        vec![if int { Sort::Real } else { Sort::Int }],
                    ),
                }
            }
            Sort::String => (Op::Concat, vec![Sort::String; few]),
            Sort::Enum(_) => (Op::Ite, vec![Sort::Bool, sort, sort]),
            Sort::Array(array) if self.random.one_in(6) => {
                (Op::ConstArray(array), vec![array.element()])
            }
            Sort::Array(array) => (Op::Store, vec![sort, array.index(), array.element()]),
        }
    }

    fn some_bits(&mut self) -> Sort {
        let widths: Vec<Width> = widths().collect();
        Sort::BitVec(self.random.pick(&widths))
    }

    /// An operator that gives a bit-vector.
    fn bit_operator(&mut self, width: Width) -> (Op, Vec<Sort>) {
        use BvOp::*;
        let (sort, bits) = (Sort::BitVec(width), width.bits());
        let plain = [Add, Sub, Mul, Udiv, Urem, Sdiv, Srem, Smod, And, Or, Xor, Shl, Lshr, Ashr];
        let (op, sorts) = match self.random.below(12) {
            0 => (self.random.pick(&[Neg, Not]), vec![sort]),
            1 if bits > 1 => {
                let high = 1 + self.random.below(bits as usize - 1) as u32;
                (
                    Concat,
                    [high, bits - high]
                        .into_iter()
                        .filter_map(Width::new)
                        .map(Sort::BitVec)
                        .collect(),
                )
            }
            2 => {
                let (low, more) = (self.random.below(4) as u32, self.random.below(4) as u32);
                let from = Width::new(bits + low + more).unwrap_or(width);
                let low = low.min(from.bits() - bits);
                (
                    Extract { high: (low + bits - 1) as u16, low: low as u16 },
                    vec![Sort::BitVec(from)],
                )
            }
            3 => {
                let from = Width::new(1 + self.random.below(bits as usize) as u32).unwrap_or(width);
                let more = bits - from.bits();
                let op = if self.random.one_in(2) { ZeroExtend(more) } else { SignExtend(more) };
                (op, vec![Sort::BitVec(from)])
            }
            4 if self.shape.bit_vector_conversions => (FromInt(width), vec![Sort::Int]),
            _ => (self.random.pick(&plain), vec![sort; 2]),
        };
        (Op::Bv(op), sorts)
    }

    /// Replaces arguments by constants until `op` is linear in the rest.
    fn make_linear(&mut self, pool: &mut Pool, op: Op, args: &mut [TermId]) {
        let free = match op {
            Op::Mul | Op::Div | Op::IntDiv | Op::Mod => 0,
            _ => return,
        };
        for (i, a) in args.iter_mut().enumerate() {
            if i != free && pool.as_constant(*a).is_none() {
                let v = self.value(pool.sort(*a));
                *a = pool.constant(v);
            }
        }
    }

    fn quantifier(&mut self, pool: &mut Pool, depth: usize) -> TermId {
        let op = self.random.pick(&[Op::Forall, Op::Exists]);
        let mut sorts = vec![Sort::Bool, Sort::Int, Sort::Enum(self.colour)];
        sorts.extend(self.shape.bit_vectors.then_some(Sort::BitVec(Width::W1)));
        let sort = self.random.pick(&sorts);
        let s = pool.declare_bound("k", sort);
        let k = pool.var(s);
        self.scope.push(s);
        let mut body = self.at_depth(pool, Sort::Bool, depth);
        self.scope.pop();
        if sort == Sort::Int {
            let low = self.random.below(5) as i32 - 2;
            let high = low + self.random.below(4) as i32;
            let (low, high) = (pool.int(low), pool.int(high));
            let range = [pool.le(low, k), pool.mk(Op::Ge, &[high, k]).expect("two ints")];
            body = if op == Op::Exists {
                let args = [range[0], range[1], body];
                pool.mk(Op::And, &args).expect("three bools")
            } else {
                let range = pool.mk(Op::And, &range).expect("two bools");
                pool.mk(Op::Implies, &[range, body]).expect("two bools")
            };
        }
        pool.mk(op, &[k, body]).expect("a bound symbol and a bool")
    }
}
