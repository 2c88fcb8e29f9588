//! The functions of SMT-LIB on terms.

use super::terms::Reading;
use crate::{ArraySort, ArrayValue, BvOp, IBig, Op, Pool, RBig, Sort, TermId, Value, Width};

/// Why a function cannot be applied.
#[derive(Clone, Debug)]
pub(super) enum Refused {
    /// No such function.
    Unknown,
    /// Not with these arguments.
    Because(String),
    /// SMT-LIB leaves something open that gander does not.
    Unsupported(&'static str),
}

/// `(_ bv5 32)`
pub(super) fn indexed_constant(pool: &mut Pool, parts: &[&str]) -> Option<TermId> {
    let [name, width] = parts else { return None };
    let value: IBig = name.strip_prefix("bv")?.parse().ok()?;
    let width = Width::new(width.parse().ok()?)?;
    Some(pool.bits(width, value))
}

/// An int as a real; a constant at once.
pub fn to_real(pool: &mut Pool, t: TermId) -> TermId {
    match pool.as_constant(t) {
        Some(Value::Int(i)) => pool.constant(Value::whole(i)),
        _ => pool.mk(Op::ToReal, &[t]).unwrap_or(t),
    }
}

/// Makes all arguments reals if one of them is.
fn same_numbers(pool: &mut Pool, args: &[TermId]) -> Vec<TermId> {
    let real = args.iter().any(|a| pool.sort(*a) == Sort::Real);
    let convert =
        |a: &TermId| if real && pool.sort(*a) == Sort::Int { to_real(pool, *a) } else { *a };
    args.iter().map(convert).collect()
}

fn mk(pool: &mut Pool, op: Op, args: &[TermId]) -> Result<TermId, Refused> {
    pool.mk(op, args).map_err(|error| {
        let found: Vec<String> = error.found.iter().map(|s| s.name(pool).into_owned()).collect();
        Refused::Because(format!("{error}, and these are {}", found.join(", ")))
    })
}

fn array_parts(pool: &Pool, t: TermId) -> Option<ArraySort> {
    match pool.sort(t) {
        Sort::Array(array) => Some(array),
        _ => None,
    }
}

/// An int where a real is needed becomes one.
fn as_needed(pool: &mut Pool, t: TermId, sort: Option<Sort>) -> TermId {
    if sort == Some(Sort::Real) && pool.sort(t) == Sort::Int { to_real(pool, t) } else { t }
}

/// The array that has one element everywhere.
pub(super) fn everywhere(
    pool: &mut Pool,
    sort: ArraySort,
    element: TermId,
) -> Result<TermId, Refused> {
    let element = as_needed(pool, element, Some(sort.element()));
    match pool.as_constant(element).and_then(|v| ArrayValue::constant(sort, v)) {
        Some(value) => Ok(pool.constant(Value::array(value))),
        None => mk(pool, Op::ConstArray(sort), &[element]),
    }
}

/// A quotient or remainder whose value does not matter where the divisor is zero.
pub(super) fn quotient(pool: &mut Pool, name: &str, args: &[TermId]) -> Result<TermId, Refused> {
    let op = match name {
        "div" => Op::IntDiv,
        "mod" => Op::Mod,
        _ => Op::Div,
    };
    let real =
        |pool: &mut Pool, t: TermId| if pool.sort(t) == Sort::Int { to_real(pool, t) } else { t };
    let args = args
        .iter()
        .map(|&t| if op == Op::Div { real(pool, t) } else { t })
        .collect::<Vec<TermId>>();
    mk(pool, op, &args)
}

/// Applies a function with a plain name.
pub(super) fn apply(
    pool: &mut Pool,
    reading: Reading,
    name: &str,
    args: &[TermId],
) -> Result<TermId, Refused> {
    match (name, args.len()) {
        ("not", 1) => {
            let made = mk(pool, Op::Not, args)?;
            // A double negation is none.
            let inner = pool.args(made)[0];
            Ok(if pool.op(inner) == Op::Not { pool.args(inner)[0] } else { made })
        }
        ("and" | "or", 1) => Ok(args[0]),
        ("and", 0) => Ok(pool.tt()),
        ("or", 0) => Ok(pool.ff()),
        ("and" | "or", _) => {
            let op = if name == "and" { Op::And } else { Op::Or };
            match reading {
                Reading::File => mk(pool, op, args),
                Reading::Solver if args.iter().any(|&a| pool.sort(a) != Sort::Bool) => {
                    mk(pool, op, args)
                }
                Reading::Solver if op == Op::And => Ok(pool.and(args.iter().copied())),
                Reading::Solver => Ok(pool.or(args.iter().copied())),
            }
        }
        ("xor", 2..) => fold(pool, args, |pool, a, b| {
            let same = mk(pool, Op::Eq, &[a, b])?;
            mk(pool, Op::Not, &[same])
        }),
        ("=>", 2..) => {
            let mut result = args[args.len() - 1];
            for &a in args[..args.len() - 1].iter().rev() {
                result = mk(pool, Op::Implies, &[a, result])?;
            }
            Ok(result)
        }
        ("ite", 3) => {
            let branches = same_numbers(pool, &args[1..]);
            mk(pool, Op::Ite, &[args[0], branches[0], branches[1]])
        }
        ("=", 2..) => chain(pool, args, |pool, a, b| mk(pool, Op::Eq, &[a, b])),
        ("/=", 2) | ("distinct", 2..) => {
            let args = same_numbers(pool, args);
            let mut parts = Vec::new();
            for (i, &a) in args.iter().enumerate() {
                for &b in &args[i + 1..] {
                    let same = mk(pool, Op::Eq, &[a, b])?;
                    parts.push(mk(pool, Op::Not, &[same])?);
                }
            }
            Ok(if parts.len() == 1 { parts[0] } else { mk(pool, Op::And, &parts)? })
        }
        ("<" | "<=" | ">" | ">=", 2..) => {
            let op = match name {
                "<" => Op::Lt,
                "<=" => Op::Le,
                ">" => Op::Gt,
                _ => Op::Ge,
            };
            chain(pool, args, |pool, a, b| mk(pool, op, &[a, b]))
        }
        ("-", 1) => match pool.as_constant(args[0]) {
            Some(Value::Int(i)) => Ok(pool.int(-i)),
            Some(Value::Real(r)) => Ok(pool.constant(Value::Real(-r))),
            _ => mk(pool, Op::Neg, args),
        },
        ("+" | "*", 1) => Ok(args[0]),
        ("+" | "*" | "-", 2..) => {
            let args = same_numbers(pool, args);
            match name {
                "+" => mk(pool, Op::Add, &args),
                "*" => mk(pool, Op::Mul, &args),
                _ => fold(pool, &args, |pool, a, b| mk(pool, Op::Sub, &[a, b])),
            }
        }
        ("/", 2..) => {
            let reals: Vec<TermId> = args
                .iter()
                .map(|a| if pool.sort(*a) == Sort::Int { to_real(pool, *a) } else { *a })
                .collect();
            fold(pool, &reals, |pool, a, b| {
                let divisor = pool.as_constant(b);
                match (pool.as_constant(a), divisor) {
                    (Some(Value::Real(a)), Some(Value::Real(b))) if b != RBig::ZERO => {
                        Ok(pool.constant(Value::Real(a / b)))
                    }
                    (_, Some(Value::Real(r))) if r != RBig::ZERO => mk(pool, Op::Div, &[a, b]),
                    _ if reading == Reading::Solver => mk(pool, Op::Div, &[a, b]),
                    _ => Err(Refused::Unsupported(
                        "a quotient by something else than a constant that is not 0",
                    )),
                }
            })
        }
        ("div" | "mod", 2) => match pool.as_constant(args[1]) {
            Some(Value::Int(i)) if i != IBig::ZERO => quotient(pool, name, args),
            _ if reading == Reading::Solver => quotient(pool, name, args),
            _ => Err(Refused::Unsupported(
                "a quotient by something else than a constant that is not 0",
            )),
        },
        ("select", 2..) => fold(pool, args, |pool, a, i| {
            let i = as_needed(pool, i, array_parts(pool, a).map(|a| a.index()));
            mk(pool, Op::Select, &[a, i])
        }),
        ("store", 3) => {
            let array = array_parts(pool, args[0]);
            let i = as_needed(pool, args[1], array.map(|a| a.index()));
            let v = as_needed(pool, args[2], array.map(|a| a.element()));
            mk(pool, Op::Store, &[args[0], i, v])
        }
        ("abs", 1) => mk(pool, Op::Abs, args),
        ("to_real", 1) => {
            Ok(if pool.sort(args[0]) == Sort::Real { args[0] } else { to_real(pool, args[0]) })
        }
        ("to_int", 1) => mk(pool, Op::ToInt, args),
        ("is_int", 1) => {
            let floor = mk(pool, Op::ToInt, args)?;
            let back = to_real(pool, floor);
            mk(pool, Op::Eq, &[back, args[0]])
        }
        _ => apply_bits(pool, name, args),
    }
}

fn apply_bits(pool: &mut Pool, name: &str, args: &[TermId]) -> Result<TermId, Refused> {
    let negated = |op: BvOp, pool: &mut Pool| {
        let inner = mk(pool, Op::Bv(op), args)?;
        mk(pool, Op::Bv(BvOp::Not), &[inner])
    };
    match (name, args.len()) {
        ("bvnand", 2) => negated(BvOp::And, pool),
        ("bvnor", 2) => negated(BvOp::Or, pool),
        ("bvxnor", 2) => negated(BvOp::Xor, pool),
        ("bvcomp", 2) => {
            let same = mk(pool, Op::Eq, args)?;
            let (one, zero) = (pool.bits(Width::W1, 1), pool.bits(Width::W1, 0));
            mk(pool, Op::Ite, &[same, one, zero])
        }
        ("bv2nat", 1) => mk(pool, Op::Bv(BvOp::ToInt), args),
        ("bvadd" | "bvmul" | "bvand" | "bvor" | "bvxor" | "concat", 2..) => {
            let op = BvOp::from_name(name).ok_or(Refused::Unknown)?;
            fold(pool, args, |pool, a, b| mk(pool, Op::Bv(op), &[a, b]))
        }
        _ => match BvOp::from_name(name) {
            Some(op) => mk(pool, Op::Bv(op), args),
            None => Err(Refused::Unknown),
        },
    }
}

/// Applies a function with an index: `((_ extract 7 0) x)`.
pub(super) fn apply_indexed(
    pool: &mut Pool,
    parts: &[&str],
    args: &[TermId],
) -> Result<TermId, Refused> {
    let numbers: Option<Vec<u32>> = parts.iter().skip(1).map(|p| p.parse().ok()).collect();
    let numbers = numbers.ok_or(Refused::Unknown)?;
    let [x] = args else { return Err(Refused::Unknown) };
    match (parts.first().copied(), &numbers[..]) {
        (Some("extract"), [high, low]) => {
            let (Ok(high), Ok(low)) = (u16::try_from(*high), u16::try_from(*low)) else {
                return Err(Refused::Unknown);
            };
            mk(pool, Op::Bv(BvOp::Extract { high, low }), args)
        }
        (Some("zero_extend" | "sign_extend"), [0]) => Ok(*x),
        (Some("zero_extend"), [n]) => mk(pool, Op::Bv(BvOp::ZeroExtend(*n)), args),
        (Some("sign_extend"), [n]) => mk(pool, Op::Bv(BvOp::SignExtend(*n)), args),
        (Some("int2bv" | "int_to_bv"), [n]) => {
            let width = Width::new(*n).ok_or(Refused::Unknown)?;
            mk(pool, Op::Bv(BvOp::FromInt(width)), args)
        }
        (Some("repeat"), [n]) if *n >= 1 => {
            let mut result = *x;
            for _ in 1..*n {
                result = mk(pool, Op::Bv(BvOp::Concat), &[result, *x])?;
            }
            Ok(result)
        }
        (Some(name @ ("rotate_left" | "rotate_right")), [n]) => {
            let Sort::BitVec(width) = pool.sort(*x) else { return Err(Refused::Unknown) };
            let bits = width.bits();
            let left = if name == "rotate_left" { n % bits } else { (bits - n % bits) % bits };
            if left == 0 {
                return Ok(*x);
            }
            let cut = (bits - left) as u16;
            let high = mk(pool, Op::Bv(BvOp::Extract { high: (bits - 1) as u16, low: cut }), args)?;
            let low = mk(pool, Op::Bv(BvOp::Extract { high: cut - 1, low: 0 }), args)?;
            mk(pool, Op::Bv(BvOp::Concat), &[low, high])
        }
        _ => Err(Refused::Unknown),
    }
}

/// `((a op b) op c)`
fn fold(
    pool: &mut Pool,
    args: &[TermId],
    two: impl Fn(&mut Pool, TermId, TermId) -> Result<TermId, Refused>,
) -> Result<TermId, Refused> {
    let mut result = args[0];
    for &b in &args[1..] {
        result = two(pool, result, b)?;
    }
    Ok(result)
}

/// `(a op b) and (b op c)`
fn chain(
    pool: &mut Pool,
    args: &[TermId],
    two: impl Fn(&mut Pool, TermId, TermId) -> Result<TermId, Refused>,
) -> Result<TermId, Refused> {
    let args = same_numbers(pool, args);
    let mut parts = Vec::new();
    for pair in args.windows(2) {
        parts.push(two(pool, pair[0], pair[1])?);
    }
    if parts.len() == 1 { Ok(parts[0]) } else { mk(pool, Op::And, &parts) }
}
