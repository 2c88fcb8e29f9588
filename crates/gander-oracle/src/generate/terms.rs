//! Random terms of every sort and operator, built by [`Pool::mk`] without simplification.

use gander_term::{
    ArraySort, ArrayValue, BvOp, EnumId, IBig, Op, Pool, RBig, Sort, SymbolId, TermId, Value, Width,
};

use crate::random::Random;

/// Which operators occur.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flavour {
    /// Strings, and `++`.
    pub strings: bool,
    /// Products and powers of variables, division and remainder by variables or by zero.
    pub nonlinear: bool,
    /// `forall` and `exists` over bools and enumerations.
    pub quantifiers: bool,
    /// Bit-vectors of one to four bits, with conversions from and to int.
    pub bit_vectors: bool,
    /// Arrays of a few values; most variables are such.
    pub arrays: bool,
}

/// The widths of bit-vectors.
pub(super) const SMALL_WIDTHS: [Width; 4] = [width(1), width(2), width(3), width(4)];

const fn width(bits: u32) -> Width {
    match Width::new(bits) {
        Some(width) => width,
        None => Width::W1,
    }
}

/// String constants; the unusual ones test the escapes of text forms.
pub(super) const STRINGS: [&str; 8] = ["", "a", "b", "ab", "aa", "\"", "λ", "a\\u{7a}"];

/// Generates random terms over some symbols.
pub(super) struct Terms<'a> {
    pub pool: &'a mut Pool,
    pub random: &'a mut Random,
    pub flavour: Flavour,
    /// The symbols that may occur.
    pub symbols: Vec<SymbolId>,
    /// The enumerations that quantifiers may range over.
    pub enums: &'a [EnumId],
}

impl Terms<'_> {
    /// `op(args)`, which must be well-sorted.
    pub fn mk(&mut self, op: Op, args: &[TermId]) -> TermId {
        self.pool.mk(op, args).expect("the generator makes well-sorted terms")
    }

    pub fn int(&mut self, i: i64) -> TermId {
        self.pool.constant(Value::int(i))
    }

    pub fn ratio(&mut self, numerator: i64, denominator: i64) -> TermId {
        self.pool.constant(ratio(numerator, denominator))
    }

    /// A symbol of the sort.
    pub fn symbol(&mut self, sort: Sort) -> Option<TermId> {
        let fitting: Vec<SymbolId> =
            self.symbols.iter().copied().filter(|&s| self.pool.symbol(s).sort == sort).collect();
        if fitting.is_empty() {
            return None;
        }
        let s = *self.random.pick(&fitting);
        Some(self.pool.var(s))
    }

    /// A constant of the sort.
    pub fn constant(&mut self, sort: Sort) -> TermId {
        let value = match sort {
            Sort::Bool => Value::Bool(self.random.chance(50)),
            Sort::Int => Value::int(self.random.between(-2, 6)),
            Sort::Real => {
                let denominator = *self.random.pick(&[1, 2, 2, 3]);
                ratio(self.random.between(-2, 5), denominator)
            }
            Sort::String => {
                let likely = if self.random.chance(85) { 5 } else { STRINGS.len() };
                Value::str(STRINGS[self.random.below(likely)])
            }
            Sort::Enum(e) => {
                let n = self.pool.enumeration(e).variants.len();
                Value::Enum(e, self.random.below(n) as u32)
            }
            Sort::BitVec(width) => Value::bits(width, self.random.below(16) as u32),
            Sort::Array(array) => return self.array_constant(array),
        };
        self.pool.constant(value)
    }

    fn array_constant(&mut self, sort: ArraySort) -> TermId {
        let value = |t: TermId, pool: &Pool| pool.as_constant(t).expect("a constant");
        let default = self.constant(sort.element());
        let mut elements = Vec::new();
        for _ in 0..self.random.below(3) {
            let (i, v) = (self.index(sort.index()), self.constant(sort.element()));
            elements.push((value(i, self.pool), value(v, self.pool)));
        }
        let default = value(default, self.pool);
        let array =
            ArrayValue::new(sort, default, elements).expect("the generator knows the sorts");
        self.pool.constant(Value::array(array))
    }

    /// A constant index; for ints, one of the two that occur in arrays.
    fn index(&mut self, sort: Sort) -> TermId {
        match sort {
            Sort::Int => {
                let i = self.random.between(0, 1);
                self.int(i)
            }
            _ => self.constant(sort),
        }
    }

    /// A store, a constant array, or a leaf. Arrays over ints are written at 0 and 1 only, so that
    /// there are finitely many.
    pub fn array(&mut self, sort: ArraySort, depth: usize) -> TermId {
        let whole = Sort::Array(sort);
        match self.random.weighted(&[60, 10, 30]) {
            0 => {
                let i = match sort.index() {
                    Sort::Int => self.index(Sort::Int),
                    index => self.term(index, depth - 1),
                };
                let (a, v) = (self.term(whole, depth - 1), self.term(sort.element(), depth - 1));
                self.mk(Op::Store, &[a, i, v])
            }
            1 => {
                let v = self.term(sort.element(), depth - 1);
                self.mk(Op::ConstArray(sort), &[v])
            }
            _ => self.leaf(whole),
        }
    }

    fn leaf(&mut self, sort: Sort) -> TermId {
        if self.random.chance(75)
            && let Some(t) = self.symbol(sort)
        {
            return t;
        }
        self.constant(sort)
    }

    /// A term of the sort, nested at most `depth` operators deep (a few more where an operator
    /// needs a helper).
    pub fn term(&mut self, sort: Sort, depth: usize) -> TermId {
        if depth == 0 {
            return self.leaf(sort);
        }
        if sort != Sort::Bool && self.random.chance(12) {
            let (c, a, b) =
                (self.boolean(depth - 1), self.term(sort, depth - 1), self.term(sort, depth - 1));
            return self.mk(Op::Ite, &[c, a, b]);
        }
        match sort {
            Sort::Bool => self.boolean(depth),
            Sort::Int => self.integer(depth),
            Sort::Real => self.real(depth),
            Sort::String => self.string(depth),
            Sort::Enum(_) => self.leaf(sort),
            Sort::BitVec(width) => self.bits(width, depth),
            Sort::Array(array) => self.array(array, depth),
        }
    }

    /// Two or, sometimes, three arguments.
    fn several(&mut self, sort: Sort, depth: usize) -> Vec<TermId> {
        let n = if self.random.chance(30) { 3 } else { 2 };
        (0..n).map(|_| self.term(sort, depth)).collect()
    }

    fn integer(&mut self, depth: usize) -> TermId {
        let d = depth - 1;
        let nonlinear = self.flavour.nonlinear && self.random.chance(50);
        match self.random.weighted(&[16, 12, 10, 10, 5, 7, 7, 6, 6, 6, 5, 10]) {
            0 => {
                let args = self.several(Sort::Int, d);
                self.mk(Op::Add, &args)
            }
            1 => {
                let (a, k) = (self.term(Sort::Int, d), self.random.between(1, 2));
                let k = self.int(k);
                self.mk(Op::Add, &[a, k])
            }
            2 => {
                let (a, b) = (self.term(Sort::Int, d), self.term(Sort::Int, d));
                self.mk(Op::Sub, &[a, b])
            }
            3 if nonlinear => {
                let args = self.several(Sort::Int, d);
                self.mk(Op::Mul, &args)
            }
            3 => {
                let (k, a) = (self.random.between(-2, 3), self.term(Sort::Int, d));
                let k = self.int(k);
                self.mk(Op::Mul, &[k, a])
            }
            4 => {
                let a = self.term(Sort::Int, d);
                self.mk(Op::Neg, &[a])
            }
            5 => self.by_divisor(Op::IntDiv, d, nonlinear),
            6 => self.by_divisor(Op::Mod, d, nonlinear),
            7 => {
                // A power of a variable is not linear.
                let n = self.random.between(-1, 3);
                let a = if nonlinear { self.term(Sort::Int, d) } else { self.constant(Sort::Int) };
                let n = self.int(n);
                self.mk(Op::Pow, &[a, n])
            }
            8 => {
                let a = self.term(Sort::Int, d);
                self.mk(Op::Abs, &[a])
            }
            9 => {
                let op = *self.random.pick(&[Op::Min, Op::Max]);
                let args = self.several(Sort::Int, d);
                self.mk(op, &args)
            }
            10 => {
                let a = self.term(Sort::Real, d);
                self.mk(Op::ToInt, &[a])
            }
            _ => self.leaf(Sort::Int),
        }
    }

    fn by_divisor(&mut self, op: Op, d: usize, nonlinear: bool) -> TermId {
        let a = self.term(Sort::Int, d);
        let b = if nonlinear {
            if self.random.chance(70) { self.leaf(Sort::Int) } else { self.int(0) }
        } else {
            let k = *self.random.pick(&[2, 2, 3, 4, -2, -3]);
            self.int(k)
        };
        self.mk(op, &[a, b])
    }

    fn real(&mut self, depth: usize) -> TermId {
        let d = depth - 1;
        let nonlinear = self.flavour.nonlinear && self.random.chance(50);
        match self.random.weighted(&[16, 10, 10, 5, 8, 6, 6, 6, 10, 10]) {
            0 => {
                let args = self.several(Sort::Real, d);
                self.mk(Op::Add, &args)
            }
            1 => {
                let (a, b) = (self.term(Sort::Real, d), self.term(Sort::Real, d));
                self.mk(Op::Sub, &[a, b])
            }
            2 if nonlinear => {
                let args = self.several(Sort::Real, d);
                self.mk(Op::Mul, &args)
            }
            2 => {
                let (k, a) = (self.constant(Sort::Real), self.term(Sort::Real, d));
                self.mk(Op::Mul, &[a, k])
            }
            3 => {
                let a = self.term(Sort::Real, d);
                self.mk(Op::Neg, &[a])
            }
            4 => {
                let a = self.term(Sort::Real, d);
                let k = *self.random.pick(&[2, 3, -2]);
                let b = if nonlinear { self.leaf(Sort::Real) } else { self.ratio(k, 1) };
                self.mk(Op::Div, &[a, b])
            }
            5 => {
                let n = self.random.between(-1, 3);
                let a =
                    if nonlinear { self.term(Sort::Real, d) } else { self.constant(Sort::Real) };
                let n = self.int(n);
                self.mk(Op::Pow, &[a, n])
            }
            6 => {
                let a = self.term(Sort::Real, d);
                self.mk(Op::Abs, &[a])
            }
            7 => {
                let op = *self.random.pick(&[Op::Min, Op::Max]);
                let args = self.several(Sort::Real, d);
                self.mk(op, &args)
            }
            8 => {
                let a = self.term(Sort::Int, d);
                self.mk(Op::ToReal, &[a])
            }
            _ => self.leaf(Sort::Real),
        }
    }

    fn string(&mut self, depth: usize) -> TermId {
        if self.random.chance(50) {
            let args = self.several(Sort::String, depth - 1);
            self.mk(Op::Concat, &args)
        } else {
            self.leaf(Sort::String)
        }
    }

    fn bits(&mut self, width: Width, depth: usize) -> TermId {
        use BvOp::*;
        let (d, sort, bits) = (depth - 1, Sort::BitVec(width), width.bits());
        let one_of = |w: u32| Sort::BitVec(Width::new(w).unwrap_or(width));
        match self.random.weighted(&[60, 10, 6, 8, 8, 6, 20]) {
            0 => {
                let operators =
                    [Add, Sub, Mul, Udiv, Urem, Sdiv, Srem, Smod, And, Or, Xor, Shl, Lshr, Ashr];
                let op = *self.random.pick(&operators);
                let (a, b) = (self.term(sort, d), self.term(sort, d));
                self.mk(Op::Bv(op), &[a, b])
            }
            1 => {
                let op = *self.random.pick(&[Neg, Not]);
                let a = self.term(sort, d);
                self.mk(Op::Bv(op), &[a])
            }
            2 if bits > 1 => {
                let high = 1 + self.random.below(bits as usize - 1) as u32;
                let (a, b) = (self.term(one_of(high), d), self.term(one_of(bits - high), d));
                self.mk(Op::Bv(Concat), &[a, b])
            }
            3 => {
                let (low, more) = (self.random.below(2) as u16, self.random.below(2) as u32);
                let a = self.term(one_of(bits + u32::from(low) + more), d);
                self.mk(Op::Bv(Extract { high: low + bits as u16 - 1, low }), &[a])
            }
            4 => {
                let from = 1 + self.random.below(bits as usize) as u32;
                let extend = [ZeroExtend(bits - from), SignExtend(bits - from)];
                let op = *self.random.pick(&extend);
                let a = self.term(one_of(from), d);
                self.mk(Op::Bv(op), &[a])
            }
            5 => {
                let n = self.term(Sort::Int, d);
                self.mk(Op::Bv(FromInt(width)), &[n])
            }
            _ => self.leaf(sort),
        }
    }

    /// A formula.
    pub fn boolean(&mut self, depth: usize) -> TermId {
        if depth == 0 {
            return self.atom(0);
        }
        let d = depth - 1;
        match self.random.weighted(&[40, 10, 14, 14, 6, 5, 4]) {
            0 => self.atom(d),
            1 => {
                let a = self.boolean(d);
                self.mk(Op::Not, &[a])
            }
            2 => {
                let args = self.several(Sort::Bool, d);
                self.mk(Op::And, &args)
            }
            3 => {
                let args = self.several(Sort::Bool, d);
                self.mk(Op::Or, &args)
            }
            4 => {
                let (a, b) = (self.boolean(d), self.boolean(d));
                self.mk(Op::Implies, &[a, b])
            }
            5 => {
                let (c, a, b) = (self.boolean(d), self.boolean(d), self.boolean(d));
                self.mk(Op::Ite, &[c, a, b])
            }
            _ if self.flavour.quantifiers => self.quantified(d),
            _ => self.atom(d),
        }
    }

    fn quantified(&mut self, d: usize) -> TermId {
        let sort = match self.enums {
            [] => Sort::Bool,
            enums if self.random.chance(60) => Sort::Enum(*self.random.pick(enums)),
            _ => Sort::Bool,
        };
        let bound = self.pool.declare_bound("q", sort);
        self.symbols.push(bound);
        let variable = self.pool.var(bound);
        let plain = self.boolean(d);
        // In half of the cases, ensure that the bound variable occurs.
        let body = if self.random.chance(50) {
            let other = self.term(sort, d);
            let equal = self.mk(Op::Eq, &[variable, other]);
            let op = *self.random.pick(&[Op::And, Op::Or, Op::Implies]);
            self.mk(op, &[equal, plain])
        } else {
            plain
        };
        self.symbols.pop();
        let op = *self.random.pick(&[Op::Forall, Op::Exists]);
        self.mk(op, &[variable, body])
    }

    /// A comparison or a variable, over a sort that the symbols have.
    fn atom(&mut self, d: usize) -> TermId {
        if self.symbols.is_empty() {
            return self.constant(Sort::Bool);
        }
        let s = *self.random.pick(&self.symbols);
        let sort = self.pool.symbol(s).sort;
        let variable = self.pool.var(s);
        match sort {
            Sort::Bool if self.random.chance(70) => variable,
            Sort::Bool => {
                let b = self.leaf(Sort::Bool);
                self.mk(Op::Eq, &[variable, b])
            }
            Sort::Int | Sort::Real => {
                let op = *self.random.pick(&[Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge]);
                let a = if self.random.chance(60) { variable } else { self.term(sort, d) };
                let b =
                    if self.random.chance(60) { self.constant(sort) } else { self.term(sort, d) };
                self.mk(op, &[a, b])
            }
            Sort::BitVec(_) => {
                use BvOp::*;
                if self.random.chance(8) {
                    let op = *self.random.pick(&[ToInt, ToSignedInt]);
                    let (a, b) = (self.mk(Op::Bv(op), &[variable]), self.term(Sort::Int, d));
                    return self.mk(Op::Le, &[a, b]);
                }
                let b =
                    if self.random.chance(60) { self.constant(sort) } else { self.term(sort, d) };
                let op = *self.random.pick(&[Ult, Ule, Ugt, Uge, Slt, Sle, Sgt, Sge]);
                let op = if self.random.chance(30) { Op::Eq } else { Op::Bv(op) };
                self.mk(op, &[variable, b])
            }
            Sort::Array(array) => {
                if self.random.chance(25) {
                    let b = self.term(sort, d);
                    return self.mk(Op::Eq, &[variable, b]);
                }
                let a = if self.random.chance(60) { variable } else { self.term(sort, d) };
                let i = self.term(array.index(), d);
                let element = self.mk(Op::Select, &[a, i]);
                match array.element() {
                    Sort::Bool => element,
                    other => {
                        let b = self.term(other, d);
                        self.mk(Op::Eq, &[element, b])
                    }
                }
            }
            Sort::String | Sort::Enum(_) => {
                let b = if self.random.chance(60) {
                    self.constant(sort)
                } else {
                    self.term(sort, d.max(1))
                };
                self.mk(Op::Eq, &[variable, b])
            }
        }
    }

    /// `x == v` for one of the values.
    pub fn one_of(&mut self, x: TermId, values: &[Value]) -> TermId {
        let mut sides = Vec::new();
        for v in values {
            let v = self.pool.constant(v.clone());
            sides.push(self.mk(Op::Eq, &[x, v]));
        }
        match sides[..] {
            [] => self.pool.constant(Value::Bool(false)),
            [only] => only,
            _ => self.mk(Op::Or, &sides),
        }
    }
}

/// A real value.
pub(super) fn ratio(numerator: i64, denominator: i64) -> Value {
    Value::Real(RBig::from(IBig::from(numerator)) / RBig::from(IBig::from(denominator)))
}
