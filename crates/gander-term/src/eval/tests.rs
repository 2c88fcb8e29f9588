use super::*;
use crate::bits::{BvOp, Width};
use crate::op::Op;
use crate::pool::TermId;
use crate::sort::Sort;
use crate::value::{IBig, RBig, Value};

fn both(pool: &Pool, t: TermId, values: &[(&str, Value)]) -> Result<Value, EvalError> {
    let lookup = |s: SymbolId| {
        values.iter().find(|(n, _)| *n == pool.symbol(s).name).map(|(_, v)| v.clone())
    };
    let simple = evaluate(pool, t, &lookup);
    let program = Program::compile(pool, &[t]);
    let inputs: Option<Vec<Value>> = program.inputs().iter().map(|&s| lookup(s)).collect();
    if let Some(inputs) = inputs {
        let mut scratch = Scratch::new();
        assert_eq!(program.run(&inputs, &mut scratch).map(|o| o[0].clone()), simple);
    }
    simple
}

fn ratio(n: i64, d: u64) -> Value {
    Value::Real(RBig::from_parts(IBig::from(n), d.into()))
}

#[test]
fn division_is_euclidean_and_total() {
    let mut p = Pool::new();
    for (a, b, q, r) in [
        (7, 2, 3, 1),
        (-7, 2, -4, 1),
        (7, -2, -3, 1),
        (-7, -2, 4, 1),
        (7, 0, 0, 7),
        (-7, 0, 0, -7),
        (0, 5, 0, 0),
    ] {
        let (ta, tb) = (p.int(a), p.int(b));
        let div = p.mk(Op::IntDiv, &[ta, tb]).unwrap();
        let rem = p.mk(Op::Mod, &[ta, tb]).unwrap();
        assert_eq!(both(&p, div, &[]), Ok(Value::int(q)), "{a} div {b}");
        assert_eq!(both(&p, rem, &[]), Ok(Value::int(r)), "{a} mod {b}");
    }
    let (one, zero) = (p.real(1), p.real(0));
    let t = p.mk(Op::Div, &[one, zero]).unwrap();
    assert_eq!(both(&p, t, &[]), Ok(Value::whole(0)));
}

#[test]
fn ints_at_the_extremes_of_64_bits_are_exact() {
    let mut p = Pool::new();
    let (x, y) = (p.variable("x", Sort::Int), p.variable("y", Sort::Int));
    let extremes = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
    for op in
        [Op::Add, Op::Sub, Op::Mul, Op::IntDiv, Op::Mod, Op::Min, Op::Max, Op::Lt, Op::Le, Op::Eq]
    {
        let t = p.mk(op, &[x, y]).unwrap();
        for a in extremes {
            for b in extremes {
                let v = both(&p, t, &[("x", Value::int(a)), ("y", Value::int(b))]).unwrap();
                if op == Op::Mul {
                    assert_eq!(v, Value::Int(IBig::from(i128::from(a) * i128::from(b))));
                }
            }
        }
    }
    let neg = p.mk(Op::Neg, &[x]).unwrap();
    assert_eq!(
        both(&p, neg, &[("x", Value::int(i64::MIN))]),
        Ok(Value::Int(IBig::from(1u64 << 63)))
    );
    let abs = p.mk(Op::Abs, &[x]).unwrap();
    assert_eq!(
        both(&p, abs, &[("x", Value::int(i64::MIN))]),
        Ok(Value::Int(IBig::from(1u64 << 63)))
    );
}

#[test]
fn rationals_of_64_bits_are_exact() {
    let mut p = Pool::new();
    let (x, y) = (p.variable("x", Sort::Real), p.variable("y", Sort::Real));
    let (min, max) = (i64::MIN, i64::MAX as u64);
    let values = [
        ratio(1, 3),
        ratio(-1, 3),
        ratio(min, max),
        ratio(min, 1),
        ratio(0, 1),
        ratio(5, 6),
        ratio(3, max),
    ];
    for op in [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Min,
        Op::Max,
        Op::Lt,
        Op::Le,
        Op::Gt,
        Op::Ge,
        Op::Eq,
    ] {
        let t = p.mk(op, &[x, y]).unwrap();
        for a in &values {
            for b in &values {
                both(&p, t, &[("x", a.clone()), ("y", b.clone())]).unwrap();
            }
        }
    }
    let sum = p.add(x, y);
    assert_eq!(both(&p, sum, &[("x", ratio(1, 3)), ("y", ratio(1, 6))]), Ok(ratio(1, 2)));
    let quotient = p.mk(Op::Div, &[x, y]).unwrap();
    assert_eq!(both(&p, quotient, &[("x", ratio(1, 3)), ("y", ratio(-1, 6))]), Ok(ratio(-2, 1)));
}

#[test]
fn powers_are_checked_before_they_are_computed() {
    let mut p = Pool::new();
    let (x, n) = (p.variable("x", Sort::Int), p.variable("n", Sort::Int));
    let t = p.mk(Op::Pow, &[x, n]).unwrap();
    let pow = |x: i64, n: i64| both(&p, t, &[("x", Value::int(x)), ("n", Value::int(n))]);
    assert_eq!(pow(0, 0), Ok(Value::int(1)));
    assert_eq!(pow(2, 10), Ok(Value::int(1024)));
    assert_eq!(pow(-2, 3), Ok(Value::int(-8)));
    assert_eq!(pow(5, -3), Ok(Value::int(1)));
    assert_eq!(pow(-1, i64::MAX), Ok(Value::int(-1)));
    assert_eq!(pow(0, i64::MAX), Ok(Value::int(0)));
    assert_eq!(pow(2, i64::MAX), Err(EvalError::TooLarge));
    assert_eq!(pow(3, 2_000_000), Err(EvalError::TooLarge));
    let y = p.variable("y", Sort::Real);
    let t = p.mk(Op::Pow, &[y, n]).unwrap();
    let pow = |y: Value, n: i64| both(&p, t, &[("y", y), ("n", Value::int(n))]);
    assert_eq!(pow(ratio(-2, 3), 3), Ok(ratio(-8, 27)));
    assert_eq!(pow(ratio(1, 2), 2_000_000), Err(EvalError::TooLarge));
    assert_eq!(pow(ratio(1, 2), -1), Ok(ratio(1, 1)));
}

#[test]
fn repeated_squaring_and_doubling_are_too_large() {
    let mut p = Pool::new();
    let mut t = p.variable("x", Sort::Int);
    for _ in 0..100 {
        t = p.mul(t, t);
    }
    assert_eq!(both(&p, t, &[("x", Value::int(2))]), Err(EvalError::TooLarge));
    assert_eq!(both(&p, t, &[("x", Value::int(1))]), Ok(Value::int(1)));
    let mut s = p.variable("s", Sort::String);
    for _ in 0..100 {
        s = p.mk(Op::Concat, &[s, s]).unwrap();
    }
    assert_eq!(both(&p, s, &[("s", Value::str("ab"))]), Err(EvalError::TooLarge));
}

#[test]
fn missing_and_wrong_values_are_named() {
    let mut p = Pool::new();
    let x = p.variable("x", Sort::Int);
    let s = p.as_symbol(x).unwrap();
    assert_eq!(evaluate(&p, x, &|_| None), Err(EvalError::Unassigned(s)));
    assert_eq!(both(&p, x, &[("x", Value::Bool(true))]), Err(EvalError::WrongSort(s)));
    let program = Program::compile(&p, &[x]);
    assert_eq!(program.run(&[], &mut Scratch::new()), Err(EvalError::Unassigned(s)));
    assert_eq!(EvalError::Unassigned(s).describe(&p), "`x` has no value");
}

#[test]
fn finite_quantifiers_are_enumerated() {
    let mut p = Pool::new();
    let n = p.variable("n", Sort::Int);
    let k = p.declare_bound("k", Sort::Int);
    let kv = p.var(k);
    let (zero, three) = (p.int(0), p.int(3));
    let (low, high) = (p.le(zero, kv), p.le(kv, three));
    let range = p.and([low, high]);
    let square = p.mul(kv, kv);
    let is_square = p.eq(square, n);
    let body = p.and([range, is_square]);
    let some = p.exists(&[k], body);
    for (value, expected) in [(9, true), (8, false), (16, false)] {
        assert_eq!(both(&p, some, &[("n", Value::int(value))]), Ok(Value::Bool(expected)));
    }
    let below = p.le(square, n);
    let body = p.implies(range, below);
    let all = p.forall(&[k], body);
    assert_eq!(both(&p, all, &[("n", Value::int(9))]), Ok(Value::Bool(true)));
    assert_eq!(both(&p, all, &[("n", Value::int(8))]), Ok(Value::Bool(false)));
    let unbounded = p.exists(&[k], is_square);
    assert_eq!(both(&p, unbounded, &[("n", Value::int(9))]), Err(EvalError::Unbounded));
    let wide = p.int(1_000_000_000);
    let high = p.le(kv, wide);
    let negative = p.lt(square, zero);
    let body = p.and([low, high, negative]);
    let many = p.exists(&[k], body);
    assert_eq!(both(&p, many, &[]), Err(EvalError::Unbounded));
}

#[test]
fn quantifiers_nest_and_use_outer_symbols() {
    let mut p = Pool::new();
    let e = p.declare_enum("Colour", &["Red", "Green", "Blue"]).unwrap();
    let (a, b) = (p.declare_bound("a", Sort::Enum(e)), p.declare_bound("b", Sort::Bool));
    let c = p.variable("c", Sort::Enum(e));
    let (av, bv) = (p.var(a), p.var(b));
    let same = p.eq(av, c);
    let iff = p.eq(same, bv);
    let inner = p.exists(&[b], iff);
    let outer = p.forall(&[a], inner);
    assert_eq!(both(&p, outer, &[("c", Value::Enum(e, 1))]), Ok(Value::Bool(true)));
    let inner = p.forall(&[b], iff);
    let outer = p.exists(&[a], inner);
    assert_eq!(both(&p, outer, &[("c", Value::Enum(e, 1))]), Ok(Value::Bool(false)));
    let pair = p.exists(&[a, b], iff);
    assert_eq!(both(&p, pair, &[("c", Value::Enum(e, 2))]), Ok(Value::Bool(true)));
    // The range depends on the symbol of the outer quantifier.
    let (i, j) = (p.declare_bound("i", Sort::Int), p.declare_bound("j", Sort::Int));
    let (iv, jv) = (p.var(i), p.var(j));
    let (one, nine) = (p.int(1), p.int(9));
    let (l1, h1, l2, h2) = (p.le(one, iv), p.le(iv, nine), p.lt(one, jv), p.lt(jv, iv));
    let product = p.mul(iv, jv);
    let target = p.variable("n", Sort::Int);
    let hit = p.eq(product, target);
    let body = p.and([l2, h2, hit]);
    let inner = p.exists(&[j], body);
    let body = p.and([l1, h1, inner]);
    let outer = p.exists(&[i], body);
    assert_eq!(both(&p, outer, &[("n", Value::int(72))]), Ok(Value::Bool(true)));
    assert_eq!(both(&p, outer, &[("n", Value::int(64))]), Ok(Value::Bool(false)));
}

#[test]
fn deep_terms_and_deep_quantifiers_do_not_overflow() {
    let mut p = Pool::new();
    let one = p.int(1);
    let mut t = p.variable("x", Sort::Int);
    for _ in 0..1_000_000 {
        t = p.add(t, one);
    }
    assert_eq!(both(&p, t, &[("x", Value::int(5))]), Ok(Value::int(1_000_005)));
    let mut q = p.variable("b", Sort::Bool);
    for _ in 0..100_000 {
        let s = p.declare_bound("k", Sort::Bool);
        let v = p.var(s);
        let body = p.eq(v, q);
        q = p.exists(&[s], body);
    }
    assert_eq!(both(&p, q, &[("b", Value::Bool(true))]), Err(EvalError::Unbounded));
}

/// Programs compute on words up to 64 bits; `both` compares them with the evaluator on values.
#[test]
fn bit_vectors_of_all_widths_are_evaluated() {
    let mut p = Pool::new();
    for bits in [1, 8, 63, 64, 65, 300] {
        let width = Width::new(bits).unwrap();
        let (x, y) = (
            p.variable(&format!("x{bits}"), Sort::BitVec(width)),
            p.variable(&format!("y{bits}"), Sort::BitVec(width)),
        );
        let n = p.variable("n", Sort::Int);
        let (nx, ny) = (format!("x{bits}"), format!("y{bits}"));
        let half: IBig = IBig::ONE << (bits as usize - 1);
        let edges: [IBig; 5] = [0.into(), 1.into(), (-1).into(), half.clone(), half - 1];
        let mut terms: Vec<TermId> = Vec::new();
        for op in BvOp::plain() {
            let pair = [x, y];
            terms.push(p.bv(op, if op.is_unary() { &pair[..1] } else { &pair }));
        }
        terms.push(p.bv(BvOp::SignExtend(3), &[x]));
        terms.push(p.bv(BvOp::FromInt(width), &[n]));
        for t in terms {
            for a in &edges {
                for b in &edges {
                    let values = [
                        (&*nx, Value::bits(width, a.clone())),
                        (&*ny, Value::bits(width, b.clone())),
                    ];
                    let mut values = values.to_vec();
                    values.push(("n", Value::Int(a.clone() * 3)));
                    assert!(both(&p, t, &values).is_ok());
                }
            }
        }
    }
}

#[test]
fn quantifiers_over_short_bit_vectors_are_enumerated() {
    let mut p = Pool::new();
    let n = p.variable("n", Sort::BitVec(Width::W8));
    let k = p.declare_bound("k", Sort::BitVec(Width::W8));
    let kv = p.var(k);
    let square = p.bv(BvOp::Mul, &[kv, kv]);
    let hit = p.eq(square, n);
    let root = p.exists(&[k], hit);
    for (value, expected) in [(9, true), (17, true), (3, false)] {
        assert_eq!(
            both(&p, root, &[("n", Value::bits(Width::W8, value))]),
            Ok(Value::Bool(expected)),
            "{value}"
        );
    }
    let wide = p.declare_bound("w", Sort::BitVec(Width::W32));
    let wv = p.var(wide);
    let never = p.ne(wv, wv);
    let body = p.mk(Op::Eq, &[wv, wv]).unwrap();
    let root = p.exists(&[wide], body);
    assert_eq!(p.as_bool(never), Some(false));
    assert_eq!(both(&p, root, &[]), Err(EvalError::Unbounded));
}
