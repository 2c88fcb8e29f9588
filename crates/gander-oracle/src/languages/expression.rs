//! Expressions over finite domains, and the meaning of their operators.
//!
//! The languages differ in the syntax of operators and in a few meanings (division). Each meaning
//! is a separate operator here, so that one evaluator serves all languages. Every value is an
//! `i64`: a truth value is 0 or 1, a bit-vector its unsigned number, a symbol its position in its
//! enumeration.

/// The sort of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Sort {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Bit-vectors of this width, signed or unsigned.
    Bits { width: u32, signed: bool },
    /// Values of an enumeration: its number, and the number of values.
    Symbol { number: usize, count: i64 },
    /// Arrays from bit-vectors of the first width to bit-vectors of the second; element `i` is
    /// stored at bit `i * width`.
    Array { index: u32, element: u32 },
}

impl Sort {
    /// Unsigned bit-vectors.
    pub fn bits(width: u32) -> Sort {
        Sort::Bits { width, signed: false }
    }

    /// The width of a bit-vector; 1 for others.
    pub fn width(self) -> u32 {
        match self {
            Sort::Bits { width, .. } => width,
            Sort::Array { index, element } => element << index,
            _ => 1,
        }
    }

    /// The number of values; `None` for ints.
    pub fn count(self) -> Option<i64> {
        match self {
            Sort::Bool => Some(2),
            Sort::Int => None,
            Sort::Bits { .. } | Sort::Array { .. } => Some(1 << self.width()),
            Sort::Symbol { count, .. } => Some(count),
        }
    }
}

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    // Truth values.
    Not,
    And,
    Or,
    Xor,
    Xnor,
    Iff,
    Implies,
    // Any sort.
    Ite,
    Eq,
    Neq,
    // Ints.
    Lt,
    Le,
    Gt,
    Ge,
    Neg,
    Add,
    Sub,
    Mul,
    Abs,
    Min,
    Max,
    /// Quotient truncated towards zero; undefined for zero divisors.
    DivCut,
    /// The remainder of [`Op::DivCut`].
    ModCut,
    /// Euclidean quotient; 0 by zero.
    DivEuclid,
    /// Euclidean remainder; the dividend by zero.
    ModEuclid,
    // Bit-vectors, as in SMT-LIB.
    BvNot,
    BvNeg,
    BvInc,
    BvDec,
    BvAnd,
    BvOr,
    BvXor,
    BvNand,
    BvNor,
    BvXnor,
    BvAdd,
    BvSub,
    BvMul,
    BvUdiv,
    BvUrem,
    BvSdiv,
    BvSrem,
    BvSmod,
    BvShl,
    BvLshr,
    BvAshr,
    BvRol,
    BvRor,
    BvRedand,
    BvRedor,
    BvRedxor,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
    /// True if the unsigned or signed operation overflows.
    Uaddo,
    Saddo,
    Usubo,
    Ssubo,
    Umulo,
    Smulo,
    Sdivo,
    Concat,
    Extract(u32, u32),
    ZeroExtend(u32),
    SignExtend(u32),
    /// The same bits as a signed instead of an unsigned vector, or vice versa.
    Recast,
    // Arrays.
    Read,
    Write,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Expr {
    /// A constant.
    Const(Sort, i64),
    /// The value of a variable.
    Var(Sort, usize),
    /// The value of a variable in the next state.
    Next(Sort, usize),
    /// An operator with its arguments.
    Op(Sort, Op, Vec<Expr>),
}

impl Expr {
    /// True or false.
    pub fn bool(b: bool) -> Expr {
        Expr::Const(Sort::Bool, i64::from(b))
    }

    /// An int.
    pub fn int(n: i64) -> Expr {
        Expr::Const(Sort::Int, n)
    }

    /// An operator with two arguments.
    pub fn two(sort: Sort, op: Op, a: Expr, b: Expr) -> Expr {
        Expr::Op(sort, op, vec![a, b])
    }

    /// `low <= e and e <= high`.
    pub fn within(e: &Expr, low: i64, high: i64) -> Expr {
        let at_least = Expr::two(Sort::Bool, Op::Le, Expr::int(low), e.clone());
        let at_most = Expr::two(Sort::Bool, Op::Le, e.clone(), Expr::int(high));
        Expr::two(Sort::Bool, Op::And, at_least, at_most)
    }

    /// The sort.
    pub fn sort(&self) -> Sort {
        match self {
            Expr::Const(sort, _)
            | Expr::Var(sort, _)
            | Expr::Next(sort, _)
            | Expr::Op(sort, ..) => *sort,
        }
    }

    /// True if the predicate holds for some subexpression, including itself.
    pub fn any(&self, is: &impl Fn(&Expr) -> bool) -> bool {
        is(self) || matches!(self, Expr::Op(_, _, args) if args.iter().any(|a| a.any(is)))
    }

    /// The expression with other leaves.
    pub fn replace(&self, leaf: &impl Fn(&Expr) -> Expr) -> Expr {
        match self {
            Expr::Op(sort, op, args) => {
                Expr::Op(*sort, *op, args.iter().map(|a| a.replace(leaf)).collect())
            }
            other => leaf(other),
        }
    }

    /// The value, given the current and next values of the variables.
    pub fn value(&self, now: &[i64], next: &[i64]) -> i64 {
        match self {
            Expr::Const(_, v) => *v,
            Expr::Var(_, i) => now[*i],
            Expr::Next(_, i) => next[*i],
            Expr::Op(_, Op::Ite, args) => {
                let chosen = if args[0].value(now, next) != 0 { &args[1] } else { &args[2] };
                chosen.value(now, next)
            }
            Expr::Op(sort, op, args) => {
                let a = args[0].value(now, next);
                let b = args.get(1).map_or(0, |e| e.value(now, next));
                let c = args.get(2).map_or(0, |e| e.value(now, next));
                apply(*op, *sort, args[0].sort(), args.get(1).map(Expr::sort), [a, b, c])
            }
        }
    }

    /// The value, given those of the leaves that are not constants.
    pub fn value_by(&self, leaf: &dyn Fn(&Expr) -> i64) -> i64 {
        match self {
            Expr::Const(_, v) => *v,
            Expr::Var(..) | Expr::Next(..) => leaf(self),
            Expr::Op(_, Op::Ite, args) => {
                let chosen = if args[0].value_by(leaf) != 0 { &args[1] } else { &args[2] };
                chosen.value_by(leaf)
            }
            Expr::Op(sort, op, args) => {
                let value = |i: usize| args.get(i).map_or(0, |e| e.value_by(leaf));
                apply(
                    *op,
                    *sort,
                    args[0].sort(),
                    args.get(1).map(Expr::sort),
                    [value(0), value(1), value(2)],
                )
            }
        }
    }

    /// True if the formula holds.
    pub fn holds(&self, now: &[i64], next: &[i64]) -> bool {
        self.value(now, next) != 0
    }

    /// The number of operators, constants and variables.
    pub fn size(&self) -> usize {
        match self {
            Expr::Op(_, _, args) => 1 + args.iter().map(Expr::size).sum::<usize>(),
            _ => 1,
        }
    }
}

/// The signed number of a bit-vector in two's complement.
pub(crate) fn signed(width: u32, v: i64) -> i64 {
    if v >> (width - 1) & 1 == 1 { v - (1 << width) } else { v }
}

fn cut(width: u32, v: i64) -> i64 {
    v & ((1 << width) - 1)
}

/// Euclidean quotient and remainder of `a` by `b`; the quotient by zero is 0.
fn euclid(a: i64, b: i64) -> (i64, i64) {
    if b == 0 {
        return (0, a);
    }
    let mut remainder = a % b;
    if remainder < 0 {
        remainder += b.abs();
    }
    ((a - remainder) / b, remainder)
}

/// Applies an operator with this result sort; the first two arguments have the given sorts.
pub(crate) fn apply(
    op: Op,
    sort: Sort,
    first: Sort,
    second: Option<Sort>,
    [a, b, c]: [i64; 3],
) -> i64 {
    let w = first.width();
    let ones = if w < 63 { (1 << w) - 1 } else { -1 };
    let bool = |x: bool| i64::from(x);
    let (sa, sb) = match first {
        Sort::Bits { .. } => (signed(w, a), signed(w, b)),
        _ => (a, b),
    };
    let fits = |n: i64| n >= -(1 << (w - 1)) && n < 1 << (w - 1);
    match op {
        Op::Not => bool(a == 0),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Iff | Op::Xnor | Op::Eq => bool(a == b),
        Op::Implies => bool(a == 0 || b != 0),
        Op::Ite => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        Op::Neq => bool(a != b),
        Op::Lt => bool(a < b),
        Op::Le => bool(a <= b),
        Op::Gt => bool(a > b),
        Op::Ge => bool(a >= b),
        Op::Neg => -a,
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a.wrapping_mul(b),
        Op::Abs => a.abs(),
        Op::Min => a.min(b),
        Op::Max => a.max(b),
        Op::DivCut => a.checked_div(b).unwrap_or(0),
        Op::ModCut => a.checked_rem(b).unwrap_or(a),
        Op::DivEuclid => euclid(a, b).0,
        Op::ModEuclid => euclid(a, b).1,
        Op::BvNot => cut(w, !a),
        Op::BvNeg => cut(w, -a),
        Op::BvInc => cut(w, a + 1),
        Op::BvDec => cut(w, a - 1),
        Op::BvAnd => a & b,
        Op::BvOr => a | b,
        Op::BvXor => a ^ b,
        Op::BvNand => cut(w, !(a & b)),
        Op::BvNor => cut(w, !(a | b)),
        Op::BvXnor => cut(w, !(a ^ b)),
        Op::BvAdd => cut(w, a + b),
        Op::BvSub => cut(w, a - b),
        Op::BvMul => cut(w, a * b),
        Op::BvUdiv => a.checked_div(b).unwrap_or(ones),
        Op::BvUrem => a.checked_rem(b).unwrap_or(a),
        Op::BvSdiv if b == 0 => cut(w, if sa < 0 { 1 } else { -1 }),
        Op::BvSdiv => cut(w, sa / sb),
        Op::BvSrem if b == 0 => a,
        Op::BvSrem => cut(w, sa % sb),
        Op::BvSmod if b == 0 => a,
        Op::BvSmod => {
            let r = sa % sb;
            cut(w, if r != 0 && (r < 0) != (sb < 0) { r + sb } else { r })
        }
        Op::BvShl if b >= i64::from(w) => 0,
        Op::BvShl => cut(w, a << b),
        Op::BvLshr if b >= i64::from(w) => 0,
        Op::BvLshr => a >> b,
        Op::BvAshr => cut(w, sa >> b.min(i64::from(w))),
        Op::BvRol => (0..b % i64::from(w)).fold(a, |a, _| cut(w, a << 1) | a >> (w - 1)),
        Op::BvRor => (0..b % i64::from(w)).fold(a, |a, _| a >> 1 | (a & 1) << (w - 1)),
        Op::BvRedand => bool(a == ones),
        Op::BvRedor => bool(a != 0),
        Op::BvRedxor => i64::from(a.count_ones() & 1),
        Op::Ult => bool(a < b),
        Op::Ule => bool(a <= b),
        Op::Ugt => bool(a > b),
        Op::Uge => bool(a >= b),
        Op::Slt => bool(sa < sb),
        Op::Sle => bool(sa <= sb),
        Op::Sgt => bool(sa > sb),
        Op::Sge => bool(sa >= sb),
        Op::Uaddo => bool(a + b > ones),
        Op::Saddo => bool(!fits(sa + sb)),
        Op::Usubo => bool(a < b),
        Op::Ssubo => bool(!fits(sa - sb)),
        Op::Umulo => bool(a * b > ones),
        Op::Smulo => bool(!fits(sa * sb)),
        Op::Sdivo => bool(b != 0 && !fits(sa / sb)),
        Op::Concat => a << second.map_or(0, Sort::width) | b,
        Op::Extract(high, low) => cut(high - low + 1, a >> low),
        Op::ZeroExtend(_) | Op::Recast => a,
        Op::SignExtend(_) => cut(sort.width(), sa),
        Op::Read => {
            let Sort::Array { element, .. } = first else { return 0 };
            cut(element, a >> (b * i64::from(element)))
        }
        Op::Write => {
            let Sort::Array { element, .. } = first else { return a };
            let place = b * i64::from(element);
            a & !(((1 << element) - 1) << place) | c << place
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(op: Op, width: u32, a: i64, b: i64) -> i64 {
        apply(op, Sort::bits(width), Sort::bits(width), Some(Sort::bits(width)), [a, b, 0])
    }

    #[test]
    fn signed_division_of_bit_vectors_cuts_off() {
        assert_eq!(bits(Op::BvSdiv, 4, 9, 2), 13, "-7 / 2 = -3");
        assert_eq!(bits(Op::BvSrem, 4, 9, 2), 15, "-7 rem 2 = -1");
        assert_eq!(bits(Op::BvSmod, 4, 9, 2), 1, "-7 mod 2 = 1");
        assert_eq!(bits(Op::BvSmod, 4, 7, 14), 15, "7 mod -2 = -1");
        assert_eq!(bits(Op::BvSdiv, 4, 9, 0), 1);
        assert_eq!(bits(Op::BvSdiv, 4, 7, 0), 15);
        assert_eq!(bits(Op::BvSdiv, 4, 8, 15), 8, "the least number by -1 wraps around");
    }

    #[test]
    fn shifts_and_rotations_move_bits() {
        assert_eq!(bits(Op::BvShl, 3, 5, 1), 2);
        assert_eq!(bits(Op::BvShl, 3, 5, 3), 0);
        assert_eq!(bits(Op::BvAshr, 3, 5, 7), 7);
        assert_eq!(bits(Op::BvRol, 3, 5, 1), 3);
        assert_eq!(bits(Op::BvRor, 3, 5, 1), 6);
        assert_eq!(bits(Op::BvRor, 3, 5, 3), 5);
    }

    #[test]
    fn arrays_keep_other_elements() {
        let sort = Sort::Array { index: 1, element: 2 };
        let written = apply(Op::Write, sort, sort, Some(Sort::bits(1)), [0b1101, 1, 2]);
        assert_eq!(written, 0b1001);
        assert_eq!(apply(Op::Read, Sort::bits(2), sort, Some(Sort::bits(1)), [written, 1, 0]), 2);
    }
}
