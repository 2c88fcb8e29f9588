//! Values of expressions: terms, and values without a sort: symbols of enumerations, sets, and case
//! distinctions between them.

use gander_term::{BvOp, IBig, Op, Pool, Sort, TermId, Value as Constant, Width, evaluate};

/// The value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A term; for a word, whether it is signed.
    Term(TermId, bool),
    /// A symbol of an enumeration.
    Literal(String),
    Set(Vec<Value>),
    /// All ints between two bounds, inclusive.
    Range(TermId, TermId),
    /// The value of the first condition that holds; the last entry is the default.
    Cases(Vec<(TermId, Value)>),
    /// The elements of an array, starting at the least index.
    Array(IBig, Vec<Value>),
}

pub(super) type Made<T> = Result<T, String>;

/// Builds a term; constants are folded, for example the shift amount in `w << 1 + 1`.
fn mk(pool: &mut Pool, op: Op, args: &[TermId]) -> Made<TermId> {
    let made = pool.mk(op, args).map_err(|error| {
        let found: Vec<String> = error.found.iter().map(|s| s.name(pool).into_owned()).collect();
        format!("{error}, and these are {}", found.join(" and "))
    })?;
    if args.iter().any(|a| pool.as_constant(*a).is_none()) {
        return Ok(made);
    }
    Ok(evaluate(pool, made, &|_| None).map_or(made, |value| pool.constant(value)))
}

fn same_numbers(pool: &mut Pool, a: TermId, b: TermId) -> (TermId, TermId) {
    match (pool.sort(a), pool.sort(b)) {
        (Sort::Int, Sort::Real) => (gander_term::smtlib::to_real(pool, a), b),
        (Sort::Real, Sort::Int) => (a, gander_term::smtlib::to_real(pool, b)),
        _ => (a, b),
    }
}

impl Value {
    pub(super) fn term(&self) -> Made<TermId> {
        match self {
            Value::Term(t, _) => Ok(*t),
            Value::Literal(name) => {
                Err(format!("`{name}` is a symbol, which can only be compared"))
            }
            Value::Set(_) | Value::Range(..) => {
                Err("a set stands only behind `in` and `:=`".to_string())
            }
            Value::Array(..) => {
                Err("an array is used by its elements; one as a whole is not supported".to_string())
            }
            Value::Cases(_) => {
                Err("cases with symbols or sets can only be compared or assigned".to_string())
            }
        }
    }

    fn signed(&self) -> bool {
        matches!(self, Value::Term(_, true))
    }
}

/// `a = b`, or membership if one of them is a set. The parser limits the nesting of cases.
pub(super) fn equal(pool: &mut Pool, a: &Value, b: &Value) -> Made<TermId> {
    match (a, b) {
        (Value::Array(..), _) | (_, Value::Array(..)) => {
            Err("a comparison of whole arrays is not supported".to_string())
        }
        (Value::Cases(cases), other) | (other, Value::Cases(cases)) => {
            let mut result = None;
            for (condition, value) in cases.iter().rev() {
                let here = equal(pool, value, other)?;
                result = Some(match result {
                    None => here,
                    Some(rest) => pool.ite(*condition, here, rest),
                });
            }
            result.ok_or_else(|| "a `case` without branches".to_string())
        }
        (Value::Set(values), other) | (other, Value::Set(values)) => {
            let mut any = Vec::new();
            for v in values {
                any.push(equal(pool, v, other)?);
            }
            Ok(pool.or(any))
        }
        (Value::Range(low, high), other) | (other, Value::Range(low, high)) => {
            let t = other.term()?;
            let (a, b) = (mk(pool, Op::Le, &[*low, t])?, mk(pool, Op::Le, &[t, *high])?);
            Ok(pool.and([a, b]))
        }
        (Value::Literal(x), Value::Literal(y)) => Ok(if x == y { pool.tt() } else { pool.ff() }),
        (Value::Term(t, _), Value::Literal(name)) | (Value::Literal(name), Value::Term(t, _)) => {
            let Sort::Enum(id) = pool.sort(*t) else {
                return Err(format!("`{name}` is a symbol, and the other side is not"));
            };
            match pool.enumeration(id).position(name) {
                Some(k) => {
                    let constant = pool.constant(Constant::Enum(id, k));
                    Ok(pool.eq(*t, constant))
                }
                None => Ok(pool.ff()),
            }
        }
        (Value::Term(a, _), Value::Term(b, _)) => {
            if let (Sort::Enum(x), Sort::Enum(y)) = (pool.sort(*a), pool.sort(*b))
                && x != y
            {
                let shared: Vec<String> = pool.enumeration(x).variants.clone();
                let mut any = Vec::new();
                for name in shared {
                    if pool.enumeration(y).position(&name).is_some() {
                        let literal = Value::Literal(name);
                        let left = equal(pool, &Value::Term(*a, false), &literal)?;
                        let right = equal(pool, &Value::Term(*b, false), &literal)?;
                        any.push(pool.and([left, right]));
                    }
                }
                return Ok(pool.or(any));
            }
            let (a, b) = same_numbers(pool, *a, *b);
            if pool.sort(a) != pool.sort(b) {
                let (x, y) =
                    (pool.sort(a).name(pool).into_owned(), pool.sort(b).name(pool).into_owned());
                return Err(format!("{x} and {y} cannot be compared"));
            }
            Ok(pool.eq(a, b))
        }
    }
}

/// The value of the first condition that holds; a term if all values are terms.
pub(super) fn cases(pool: &mut Pool, branches: Vec<(TermId, Value)>) -> Made<Value> {
    let plain: Option<Vec<(TermId, TermId, bool)>> = branches
        .iter()
        .map(|(c, v)| match v {
            Value::Term(t, signed) => Some((*c, *t, *signed)),
            _ => None,
        })
        .collect();
    let Some(plain) = plain else { return Ok(Value::Cases(branches)) };
    let mut result: Option<(TermId, bool)> = None;
    for (condition, value, signed) in plain.into_iter().rev() {
        result = Some(match result {
            None => (value, signed),
            Some((rest, _)) => {
                let (value, rest) = same_numbers(pool, value, rest);
                if pool.sort(value) != pool.sort(rest) {
                    // Symbols of different enumerations are compared case by case.
                    return Ok(Value::Cases(branches));
                }
                (mk(pool, Op::Ite, &[condition, value, rest])?, signed)
            }
        });
    }
    result
        .map(|(t, signed)| Value::Term(t, signed))
        .ok_or_else(|| "a `case` without branches".to_string())
}

/// An operator between two values.
pub(super) fn binary(pool: &mut Pool, op: &str, a: &Value, b: &Value) -> Made<Value> {
    let plain = |t: TermId| Ok(Value::Term(t, false));
    match op {
        "=" | "in" => return equal(pool, a, b).and_then(plain),
        "!=" => {
            let same = equal(pool, a, b)?;
            return plain(pool.not(same));
        }
        "union" => {
            let mut all = Vec::new();
            for v in [a, b] {
                match v {
                    Value::Set(values) => all.extend(values.iter().cloned()),
                    other => all.push(other.clone()),
                }
            }
            return Ok(Value::Set(all));
        }
        _ => {}
    }
    let signed = a.signed();
    let (x, y) = (a.term()?, b.term()?);
    let (x, y) = same_numbers(pool, x, y);
    if let (Sort::BitVec(w), sort) = (pool.sort(x), pool.sort(y)) {
        return word_operator(pool, op, (x, w), (y, sort), signed);
    }
    let made = match op {
        "&" => mk(pool, Op::And, &[x, y])?,
        "|" => mk(pool, Op::Or, &[x, y])?,
        "->" => mk(pool, Op::Implies, &[x, y])?,
        "<->" | "xnor" => mk(pool, Op::Eq, &[x, y])?,
        "xor" => {
            let same = mk(pool, Op::Eq, &[x, y])?;
            pool.not(same)
        }
        "<" => mk(pool, Op::Lt, &[x, y])?,
        "<=" => mk(pool, Op::Le, &[x, y])?,
        ">" => mk(pool, Op::Gt, &[x, y])?,
        ">=" => mk(pool, Op::Ge, &[x, y])?,
        "+" => mk(pool, Op::Add, &[x, y])?,
        "-" => mk(pool, Op::Sub, &[x, y])?,
        "*" => mk(pool, Op::Mul, &[x, y])?,
        "/" | "mod" => quotient(pool, op, x, y)?,
        _ => return Err(format!("`{op}` does not take these arguments")),
    };
    plain(made)
}

/// `/` and `mod` of ints truncate towards zero, so they are Euclidean for non-negative dividends.
fn quotient(pool: &mut Pool, op: &str, x: TermId, y: TermId) -> Made<TermId> {
    match pool.as_constant(y) {
        Some(Constant::Int(c)) if c > IBig::ZERO => {
            let zero = pool.int(0);
            let negative = mk(pool, Op::Lt, &[x, zero])?;
            let opposite = mk(pool, Op::Neg, &[x])?;
            let inner = if op == "/" { Op::IntDiv } else { Op::Mod };
            let (plus, minus) = (mk(pool, inner, &[x, y])?, mk(pool, inner, &[opposite, y])?);
            let minus = mk(pool, Op::Neg, &[minus])?;
            mk(pool, Op::Ite, &[negative, minus, plus])
        }
        Some(Constant::Real(_)) if op == "/" => mk(pool, Op::Div, &[x, y]),
        _ => Err(format!("`{op}` by something else than a positive constant is not supported")),
    }
}

fn word_operator(
    pool: &mut Pool,
    op: &str,
    (x, width): (TermId, Width),
    (y, sort): (TermId, Sort),
    signed: bool,
) -> Made<Value> {
    if op == "::" {
        return Ok(Value::Term(mk(pool, Op::Bv(BvOp::Concat), &[x, y])?, false));
    }
    if matches!(op, "<<" | ">>") {
        let amount = match pool.as_constant(y) {
            Some(Constant::Int(i)) => pool.bits(width, i),
            _ if sort == Sort::BitVec(width) => y,
            _ => {
                return Err(
                    "a shift by something else than a constant or a word of the same size is not supported".to_string()
                );
            }
        };
        let how = match (op, signed) {
            ("<<", _) => BvOp::Shl,
            (_, true) => BvOp::Ashr,
            _ => BvOp::Lshr,
        };
        return Ok(Value::Term(mk(pool, Op::Bv(how), &[x, amount])?, signed));
    }
    if sort != Sort::BitVec(width) {
        return Err(format!("`{op}` takes two words of one size"));
    }
    let nonzero = pool
        .as_constant(y)
        .is_some_and(|v| v.as_bits().is_some_and(|b| b.unsigned() != IBig::ZERO));
    let bv = match (op, signed) {
        ("&", _) => BvOp::And,
        ("|", _) => BvOp::Or,
        ("xor", _) => BvOp::Xor,
        ("+", _) => BvOp::Add,
        ("-", _) => BvOp::Sub,
        ("*", _) => BvOp::Mul,
        ("/" | "mod", _) if !nonzero => {
            return Err(format!(
                "`{op}` of words by something else than a constant is not supported"
            ));
        }
        ("/", false) => BvOp::Udiv,
        ("/", true) => BvOp::Sdiv,
        ("mod", false) => BvOp::Urem,
        ("mod", true) => BvOp::Srem,
        ("<", false) => BvOp::Ult,
        ("<=", false) => BvOp::Ule,
        (">", false) => BvOp::Ugt,
        (">=", false) => BvOp::Uge,
        ("<", true) => BvOp::Slt,
        ("<=", true) => BvOp::Sle,
        (">", true) => BvOp::Sgt,
        (">=", true) => BvOp::Sge,
        ("xnor" | "<->", _) => {
            let different = mk(pool, Op::Bv(BvOp::Xor), &[x, y])?;
            return Ok(Value::Term(mk(pool, Op::Bv(BvOp::Not), &[different])?, signed));
        }
        ("->", _) => {
            let not = mk(pool, Op::Bv(BvOp::Not), &[x])?;
            return Ok(Value::Term(mk(pool, Op::Bv(BvOp::Or), &[not, y])?, signed));
        }
        _ => return Err(format!("`{op}` does not take words")),
    };
    let made = mk(pool, Op::Bv(bv), &[x, y])?;
    Ok(Value::Term(made, signed && !bv.is_comparison()))
}

/// `!` and `-`.
pub(super) fn unary(pool: &mut Pool, op: &str, a: &Value) -> Made<Value> {
    let (x, signed) = (a.term()?, a.signed());
    let made = match (op, pool.sort(x)) {
        ("!", Sort::BitVec(_)) => mk(pool, Op::Bv(BvOp::Not), &[x])?,
        ("-", Sort::BitVec(_)) => mk(pool, Op::Bv(BvOp::Neg), &[x])?,
        ("!", Sort::Bool) => pool.not(x),
        ("-", _) => match pool.as_constant(x) {
            Some(Constant::Int(i)) => pool.int(-i),
            _ => mk(pool, Op::Neg, &[x])?,
        },
        _ => return Err(format!("`{op}` does not take this argument")),
    };
    Ok(Value::Term(made, signed))
}

/// Functions with names.
pub(super) fn call(pool: &mut Pool, name: &str, args: &[Value]) -> Made<Value> {
    let number = |v: &Value, pool: &Pool| -> Made<u32> {
        match v {
            Value::Term(t, _) => match pool.as_constant(*t) {
                Some(Constant::Int(i)) => {
                    u32::try_from(&i).map_err(|_| "this number is too large".to_string())
                }
                _ => Err("a constant is needed here".to_string()),
            },
            _ => Err("a number is needed here".to_string()),
        }
    };
    match (name, args) {
        ("unsigned", [a]) => Ok(Value::Term(a.term()?, false)),
        ("signed", [a]) => Ok(Value::Term(a.term()?, true)),
        ("bool", [a]) => {
            let t = a.term()?;
            match pool.sort(t) {
                Sort::Bool => Ok(Value::Term(t, false)),
                Sort::BitVec(Width::W1) => {
                    let one = pool.bits(Width::W1, 1);
                    Ok(Value::Term(pool.eq(t, one), false))
                }
                Sort::Int => {
                    let zero = pool.int(0);
                    Ok(Value::Term(pool.ne(t, zero), false))
                }
                _ => Err("`bool` takes a word of one bit".to_string()),
            }
        }
        ("word1", [a]) => {
            let t = a.term()?;
            let (one, zero) = (pool.bits(Width::W1, 1), pool.bits(Width::W1, 0));
            Ok(Value::Term(mk(pool, Op::Ite, &[t, one, zero])?, false))
        }
        ("toint", [a]) => {
            let t = a.term()?;
            match pool.sort(t) {
                Sort::Int => Ok(Value::Term(t, false)),
                Sort::BitVec(_) => {
                    let op = if a.signed() { BvOp::ToSignedInt } else { BvOp::ToInt };
                    Ok(Value::Term(mk(pool, Op::Bv(op), &[t])?, false))
                }
                Sort::Bool => {
                    let (one, zero) = (pool.int(1), pool.int(0));
                    Ok(Value::Term(pool.ite(t, one, zero), false))
                }
                _ => Err("`toint` takes a bool, an int or a word".to_string()),
            }
        }
        ("uwconst" | "swconst", [a, b]) => {
            let (value, bits) = (a.term()?, number(b, pool)?);
            let (Some(Constant::Int(i)), Some(width)) = (pool.as_constant(value), Width::new(bits))
            else {
                return Err(format!("`{name}` takes a constant and a number of bits"));
            };
            Ok(Value::Term(pool.bits(width, i), name == "swconst"))
        }
        ("extend", [a, b]) => {
            let (t, by) = (a.term()?, number(b, pool)?);
            if by == 0 {
                return Ok(a.clone());
            }
            let op = if a.signed() { BvOp::SignExtend(by) } else { BvOp::ZeroExtend(by) };
            Ok(Value::Term(mk(pool, Op::Bv(op), &[t])?, a.signed()))
        }
        ("count", args) => {
            let (one, zero) = (pool.int(1), pool.int(0));
            let mut sum = zero;
            for a in args {
                let t = a.term()?;
                let counted = mk(pool, Op::Ite, &[t, one, zero])?;
                sum = mk(pool, Op::Add, &[sum, counted])?;
            }
            Ok(Value::Term(sum, false))
        }
        ("abs", [a]) => Ok(Value::Term(mk(pool, Op::Abs, &[a.term()?])?, false)),
        ("max" | "min", [a, b]) => {
            let op = if name == "max" { Op::Max } else { Op::Min };
            Ok(Value::Term(mk(pool, op, &[a.term()?, b.term()?])?, false))
        }
        _ => Err(format!("the function `{name}` is not supported")),
    }
}

/// `w[high:low]`
pub(super) fn bits(pool: &mut Pool, word: &Value, high: &Value, low: &Value) -> Made<Value> {
    let position = |v: &Value, pool: &Pool| -> Made<u16> {
        match v.term().map(|t| pool.as_constant(t)) {
            Ok(Some(Constant::Int(i))) => {
                u16::try_from(&i).map_err(|_| "there is no such bit".to_string())
            }
            _ => Err("the bits of a word are constants".to_string()),
        }
    };
    let (high, low) = (position(high, pool)?, position(low, pool)?);
    let t = word.term()?;
    Ok(Value::Term(mk(pool, Op::Bv(BvOp::Extract { high, low }), &[t])?, false))
}

/// `a[i]`: a fixed element if `i` is a constant, otherwise a case distinction over the indices.
/// NuSMV rejects models in which `i` may be out of bounds; here the last element is taken then.
pub(super) fn element(pool: &mut Pool, array: &Value, at: &Value) -> Made<Value> {
    let Value::Array(low, elements) = array else { return Err("this is not an array".to_string()) };
    let at = at.term()?;
    if pool.sort(at) != Sort::Int {
        return Err("an index is an int".to_string());
    }
    if let Some(Constant::Int(i)) = pool.as_constant(at) {
        let place = usize::try_from(&i - low).ok().and_then(|k| elements.get(k));
        return place.cloned().ok_or_else(|| format!("the array has no element {i}"));
    }
    let mut branches = Vec::new();
    for (k, element) in elements.iter().enumerate() {
        let index = pool.int(low + IBig::from(k));
        let here = if k + 1 == elements.len() { pool.tt() } else { pool.eq(at, index) };
        branches.push((here, element.clone()));
    }
    chosen(pool, branches)
}

/// The value of the first condition that holds; arrays are combined element by element. Recursion
/// is bounded by the nesting of arrays.
fn chosen(pool: &mut Pool, branches: Vec<(TermId, Value)>) -> Made<Value> {
    let Some((_, Value::Array(low, first))) = branches.first().cloned() else {
        return cases(pool, branches);
    };
    let mut elements = Vec::new();
    for k in 0..first.len() {
        let mut inner = Vec::new();
        for (condition, value) in &branches {
            let Value::Array(_, values) = value else {
                return Err("arrays of one size are needed here".to_string());
            };
            let Some(value) = values.get(k) else {
                return Err("arrays of one size are needed here".to_string());
            };
            inner.push((*condition, value.clone()));
        }
        elements.push(chosen(pool, inner)?);
    }
    Ok(Value::Array(low, elements))
}
