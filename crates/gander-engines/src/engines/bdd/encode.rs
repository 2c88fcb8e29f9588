//! Terms as vectors of BDDs.
//!
//! A Boolean is one BDD. An enumeration value is its index and a bit-vector its bits, both
//! unsigned. An int is in two's complement with as many bits as its term needs.

use gander_term::{BvOp, IBig, Op, Pool, Sort, SymbolId, TermId, Value};
use rustc_hash::FxHashMap;

use super::limits::LIMITS;
use super::manager::{Bdd, BddManager, Halt, Work};
use super::vector::Vector;

/// Why some terms cannot be encoded.
const NO_BITS: &str = "reals, strings and arrays have no bits";

/// Encodes terms, with a vector for each symbol.
pub(super) struct Encoder<'k> {
    pub manager: &'k BddManager,
    env: FxHashMap<SymbolId, Vector>,
    known: FxHashMap<TermId, Vector>,
}

/// The number of bits for this many values.
pub(super) fn bits_for(values: usize) -> usize {
    (usize::BITS - values.saturating_sub(1).leading_zeros()).max(1) as usize
}

impl<'k> Encoder<'k> {
    pub(super) fn new(manager: &'k BddManager, env: FxHashMap<SymbolId, Vector>) -> Encoder<'k> {
        Encoder { manager, env, known: FxHashMap::default() }
    }

    /// The vectors of the symbols.
    pub(super) fn into_env(self) -> FxHashMap<SymbolId, Vector> {
        self.env
    }

    /// A formula as a BDD.
    pub(super) fn formula(&mut self, pool: &Pool, t: TermId) -> Work<Bdd> {
        Ok(self.term(pool, t)?[0].clone())
    }

    pub(super) fn term(&mut self, pool: &Pool, t: TermId) -> Work<Vector> {
        let mut stack = vec![t];
        while let Some(&u) = stack.last() {
            if self.known.contains_key(&u) {
                stack.pop();
                continue;
            }
            let op = pool.op(u);
            let vector = match op {
                Op::Symbol(s) => match self.env.get(&s) {
                    Some(v) => v.clone(),
                    None => return unable(format!("`{}` is not encoded", pool.symbol(s).name)),
                },
                Op::Bool(b) => vec![self.manager.constant(b)],
                Op::Const(v) => self.constant(pool, &pool.value(v).clone())?,
                Op::Forall | Op::Exists => return unable("a quantifier is left".into()),
                _ => {
                    let before = stack.len();
                    stack.extend(pool.args(u).iter().filter(|a| !self.known.contains_key(a)));
                    if stack.len() > before {
                        continue;
                    }
                    self.apply(pool, u, op)?
                }
            };
            stack.pop();
            self.known.insert(u, vector);
        }
        Ok(self.known[&t].clone())
    }

    fn constant(&self, pool: &Pool, value: &Value) -> Work<Vector> {
        let natural = |n: u64, bits: usize| {
            (0..bits).map(|i| self.manager.constant(n >> i & 1 == 1)).collect()
        };
        match value {
            Value::Bool(b) => Ok(vec![self.manager.constant(*b)]),
            Value::Int(i) => self.manager.number(i),
            Value::Enum(id, i) => {
                Ok(natural(u64::from(*i), bits_for(pool.enumeration(*id).variants.len())))
            }
            Value::BitVec(v) => {
                Ok((0..v.width().bits()).map(|i| self.manager.constant(v.bit(i))).collect())
            }
            Value::Real(_) | Value::Str(_) | Value::Array(_) => unable(NO_BITS.into()),
        }
    }

    fn apply(&self, pool: &Pool, u: TermId, op: Op) -> Work<Vector> {
        let manager = self.manager;
        let args: Vec<&Vector> = pool.args(u).iter().map(|a| &self.known[a]).collect();
        let sort = pool.sort(pool.args(u)[0]);
        let without = |sort: Sort| matches!(sort, Sort::Real | Sort::String | Sort::Array(_));
        if without(sort) || without(pool.sort(u)) {
            return unable(NO_BITS.into());
        }
        let one = |b: Bdd| Ok(vec![b]);
        let fold = |f: &dyn Fn(&Vector, &Vector) -> Work<Vector>| {
            let mut total = args[0].clone();
            for a in &args[1..] {
                total = f(&total, a)?;
            }
            Ok(total)
        };
        match op {
            Op::Not => one(manager.not(&args[0][0])?),
            Op::And => fold(&|a, b| Ok(vec![manager.and(&a[0], &b[0])?])),
            Op::Or => fold(&|a, b| Ok(vec![manager.or(&a[0], &b[0])?])),
            Op::Implies => {
                let not = manager.not(&args[0][0])?;
                one(manager.or(&not, &args[1][0])?)
            }
            // Vectors of other sorts have equal lengths.
            Op::Eq => one(manager.equal(args[0], args[1])?),
            Op::Ite if pool.sort(u) == Sort::Int => manager.choose(&args[0][0], args[1], args[2]),
            Op::Ite => {
                args[1].iter().zip(args[2]).map(|(x, y)| manager.ite(&args[0][0], x, y)).collect()
            }
            Op::Neg => manager.sub(&manager.number(&IBig::ZERO)?, args[0]),
            Op::Add => fold(&|a, b| manager.add(a, b)),
            Op::Sub => manager.sub(args[0], args[1]),
            Op::Mul => fold(&|a, b| manager.mul(a, b)),
            Op::Abs => {
                let minus = manager.sub(&manager.number(&IBig::ZERO)?, args[0])?;
                manager.choose(&args[0][args[0].len() - 1], &minus, args[0])
            }
            Op::Min => fold(&|a, b| manager.choose(&manager.less(a, b, true)?, a, b)),
            Op::Max => fold(&|a, b| manager.choose(&manager.less(a, b, true)?, b, a)),
            Op::Lt => one(manager.less(args[0], args[1], false)?),
            Op::Le => one(manager.less(args[0], args[1], true)?),
            Op::Gt => one(manager.less(args[1], args[0], false)?),
            Op::Ge => one(manager.less(args[1], args[0], true)?),
            Op::IntDiv | Op::Mod => self.division(op, args[0], pool.as_constant(pool.args(u)[1])),
            Op::Bv(op) => self.bits(op, &args),
            _ => unable(format!("`{}` is not put into diagrams", op.name())),
        }
    }

    fn division(&self, op: Op, a: &Vector, divisor: Option<Value>) -> Work<Vector> {
        let manager = self.manager;
        let divisor = match &divisor {
            Some(Value::Int(d)) => i32::try_from(d).ok(),
            _ => None,
        };
        match (divisor, op) {
            (Some(0), Op::Mod) => Ok(a.clone()),
            (Some(0), _) => manager.number(&IBig::ZERO),
            (Some(d), Op::Mod) => Ok(manager.div_mod(a, d.unsigned_abs())?.1),
            (Some(d), _) => {
                let quotient = manager.div_mod(a, d.unsigned_abs())?.0;
                if d > 0 {
                    Ok(quotient)
                } else {
                    manager.sub(&manager.number(&IBig::ZERO)?, &quotient)
                }
            }
            (None, _) => unable("a division by something that is not a small constant".into()),
        }
    }

    fn bits(&self, op: BvOp, args: &[&Vector]) -> Work<Vector> {
        let manager = self.manager;
        let a = args[0];
        let b = args[args.len() - 1];
        let w = a.len();
        let zip =
            |f: &dyn Fn(&Bdd, &Bdd) -> Work<Bdd>| a.iter().zip(b).map(|(x, y)| f(x, y)).collect();
        // With the sign bits flipped, signed order is unsigned order.
        let flipped = |v: &Vector| {
            let mut v = v.clone();
            v[w - 1] = manager.not(&v[w - 1])?;
            Ok::<Vector, Halt>(v)
        };
        match op {
            BvOp::Not => manager.complement(a),
            BvOp::And => zip(&|x, y| manager.and(x, y)),
            BvOp::Or => zip(&|x, y| manager.or(x, y)),
            BvOp::Xor => zip(&|x, y| manager.xor(x, y)),
            BvOp::Add => manager.sum(a, b, false),
            BvOp::Sub => manager.sum(a, &manager.complement(b)?, true),
            BvOp::Neg => {
                let zero = vec![manager.constant(false); w];
                manager.sum(&zero, &manager.complement(a)?, true)
            }
            BvOp::Mul if w <= LIMITS.product_bits => manager.product(a, b),
            BvOp::Shl | BvOp::Lshr | BvOp::Ashr => self.shift(op, a, b),
            BvOp::Concat => Ok(b.iter().chain(a).cloned().collect()),
            BvOp::Extract { high, low } => Ok(a[usize::from(low)..=usize::from(high)].to_vec()),
            BvOp::ZeroExtend(n) => {
                let mut v = a.clone();
                v.extend((0..n).map(|_| manager.constant(false)));
                Ok(v)
            }
            BvOp::SignExtend(n) => Ok(manager.extended(a, w + n as usize)),
            BvOp::Ult => Ok(vec![manager.below(a, b, false)?]),
            BvOp::Ule => Ok(vec![manager.below(a, b, true)?]),
            BvOp::Ugt => Ok(vec![manager.below(b, a, false)?]),
            BvOp::Uge => Ok(vec![manager.below(b, a, true)?]),
            BvOp::Slt => Ok(vec![manager.below(&flipped(a)?, &flipped(b)?, false)?]),
            BvOp::Sle => Ok(vec![manager.below(&flipped(a)?, &flipped(b)?, true)?]),
            BvOp::Sgt => Ok(vec![manager.below(&flipped(b)?, &flipped(a)?, false)?]),
            BvOp::Sge => Ok(vec![manager.below(&flipped(b)?, &flipped(a)?, true)?]),
            BvOp::ToInt => {
                let mut v = a.clone();
                v.push(manager.constant(false));
                Ok(v)
            }
            BvOp::ToSignedInt => Ok(a.clone()),
            BvOp::FromInt(width) => {
                let mut v = manager.extended(a, width.bits() as usize);
                v.truncate(width.bits() as usize);
                Ok(v)
            }
            _ => unable(format!("`{}` is not put into diagrams", op.name())),
        }
    }

    fn shift(&self, op: BvOp, a: &Vector, by: &Vector) -> Work<Vector> {
        let manager = self.manager;
        let w = a.len();
        let filler = if op == BvOp::Ashr { a[w - 1].clone() } else { manager.constant(false) };
        let mut v = a.clone();
        for (i, bit) in by.iter().enumerate() {
            let distance = 1usize.checked_shl(i as u32).unwrap_or(usize::MAX);
            let moved = |j: usize| {
                let from =
                    if op == BvOp::Shl { j.checked_sub(distance) } else { j.checked_add(distance) };
                from.filter(|&f| f < w).map_or(&filler, |f| &v[f])
            };
            v = (0..w).map(|j| manager.ite(bit, moved(j), &v[j])).collect::<Work<Vector>>()?;
        }
        Ok(v)
    }
}

fn unable<T>(why: String) -> Work<T> {
    Err(Halt::Obstacle(why))
}
