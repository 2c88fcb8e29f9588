use super::*;
use gander_term::IBig;

/// `exists p` by trying values, against the eliminated formula, for all small values of two other
/// variables.
fn agrees(sort: Sort, build: impl Fn(&mut Pool, TermId, TermId, TermId) -> TermId) {
    let mut pool = Pool::new();
    let (p, x, y) = (pool.variable("p", sort), pool.variable("x", sort), pool.variable("y", sort));
    let body = build(&mut pool, p, x, y);
    let (sp, sx, sy) =
        (pool.as_symbol(p).unwrap(), pool.as_symbol(x).unwrap(), pool.as_symbol(y).unwrap());
    let result = eliminate(&mut pool, &[sp], body).expect("can be eliminated");
    assert!(!pool.free_symbols(&[result]).contains(&sp));
    // Quarters, so that reals between neighbouring whole numbers are tried too.
    let number = |i: i32| match sort {
        Sort::Int => Value::Int(IBig::from(i)),
        _ => Value::Real(gander_term::RBig::from(IBig::from(i)) / gander_term::RBig::from(4)),
    };
    let spread = if sort == Sort::Int { 30 } else { 90 };
    for a in -6..=6 {
        for b in -6..=6 {
            let value = |s: SymbolId, c: i32| {
                let scale = if sort == Sort::Int { 1 } else { 4 };
                if s == sx {
                    Some(number(a * scale))
                } else if s == sy {
                    Some(number(b * scale))
                } else {
                    Some(number(c))
                }
            };
            let expected = (-spread..=spread)
                .any(|c| evaluate(&pool, body, &|s| value(s, c)).unwrap() == Value::Bool(true));
            let found = evaluate(&pool, result, &|s| value(s, 0)).unwrap();
            assert_eq!(found, Value::Bool(expected), "x = {a}, y = {b}");
        }
    }
}

#[test]
fn elimination_pairs_lower_and_upper_bounds() {
    for sort in [Sort::Int, Sort::Real] {
        agrees(sort, |p, v, x, y| {
            let (a, b) = (p.lt(x, v), p.lt(v, y));
            p.and([a, b])
        });
    }
}

#[test]
fn disequalities_split_and_coefficients_count() {
    agrees(Sort::Int, |p, v, x, y| {
        let (a, b, c) = (p.le(x, v), p.ne(v, x), p.le(v, y));
        p.and([a, b, c])
    });
    agrees(Sort::Int, |p, v, x, y| {
        let three = p.int(3);
        let t = p.mul(three, v);
        let (a, b) = (p.le(x, t), p.le(v, y));
        p.and([a, b])
    });
}

#[test]
fn equations_are_solved() {
    agrees(Sort::Int, |p, v, x, y| {
        let two = p.int(2);
        let t = p.mul(two, v);
        let (a, b) = (p.eq(t, x), p.le(v, y));
        p.and([a, b])
    });
    agrees(Sort::Int, |p, v, x, y| {
        let s = p.add(v, x);
        let (a, b) = (p.eq(s, y), p.lt(v, x));
        p.and([a, b])
    });
}

#[test]
fn elimination_handles_any_boolean_structure() {
    agrees(Sort::Int, |p, v, x, y| {
        let (a, b, c) = (p.lt(v, x), p.lt(y, v), p.eq(v, y));
        let i = p.implies(a, b);
        let n = p.not(c);
        let zero = p.int(0);
        let d = p.le(zero, v);
        let e = p.ite(d, i, n);
        let ten = p.int(10);
        let f = p.lt(v, ten);
        p.and([e, f])
    });
}

#[test]
fn what_is_not_linear_is_refused() {
    let mut pool = Pool::new();
    let (p, x) = (pool.variable("p", Sort::Int), pool.variable("x", Sort::Int));
    let product = pool.mul(p, x);
    let body = pool.lt(product, x);
    let s = pool.as_symbol(p).unwrap();
    assert_eq!(eliminate(&mut pool, &[s], body), None);
    let (two, three) = (pool.int(2), pool.int(3));
    let (a, b) = (pool.mul(two, p), pool.mul(three, p));
    let (l, u) = (pool.le(x, a), pool.le(b, x));
    let both = pool.and([l, u]);
    assert_eq!(eliminate(&mut pool, &[s], both), None, "the dark shadow differs");
}

#[test]
fn finite_sorts_are_expanded_and_strings_solved() {
    let mut pool = Pool::new();
    let (b, x) = (pool.variable("b", Sort::Bool), pool.variable("x", Sort::Bool));
    let body = pool.and([b, x]);
    let s = pool.as_symbol(b).unwrap();
    assert_eq!(eliminate(&mut pool, &[s], body), Some(x));
    let (t, u) = (pool.variable("t", Sort::String), pool.variable("u", Sort::String));
    let s = pool.as_symbol(t).unwrap();
    let differs = pool.ne(t, u);
    let r = eliminate(&mut pool, &[s], differs).unwrap();
    assert_eq!(pool.as_bool(r), Some(true));
}

/// `p - p` has the coefficient zero, but what is made of it still mentions `p`.
#[test]
fn a_variable_that_cancels_out_is_still_mentioned() {
    let mut pool = Pool::new();
    let (p, x, y) = (
        pool.variable("p", Sort::Int),
        pool.variable("x", Sort::Int),
        pool.variable("y", Sort::Int),
    );
    let b = pool.variable("b", Sort::Bool);
    let s = pool.as_symbol(p).unwrap();
    let nothing = pool.mk(Op::Sub, &[p, p]).unwrap();
    let two = pool.int(2);
    let never = pool.mk(Op::Gt, &[nothing, two]).unwrap();
    let equation = pool.mk(Op::Eq, &[b, never]).unwrap();
    assert_eq!(bound_of(&mut pool, s, equation), None);
    let either = pool.mk(Op::Ite, &[never, x, y]).unwrap();
    let body = pool.mk(Op::Le, &[p, either]).unwrap();
    if let Some(result) = eliminate(&mut pool, &[s], body) {
        assert!(!pool.free_symbols(&[result]).contains(&s));
    }
}
