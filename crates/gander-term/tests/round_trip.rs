//! Random terms of every operator are equal after printing and parsing, and after import.

use std::collections::HashMap;

use gander_term::random::{Shape, TermGenerator};
use gander_term::{Op, Pool, SymbolId, TermId, parse_term, parse_value};

/// Equality up to the names of bound symbols and the ids of the two pools. Recursion is safe:
/// random terms are shallow.
fn same(a: &Pool, s: TermId, b: &Pool, t: TermId, bound: &mut HashMap<SymbolId, SymbolId>) -> bool {
    let (x, y) = (a.args(s), b.args(t));
    if x.len() != y.len() {
        return false;
    }
    match (a.op(s), b.op(t)) {
        (Op::Symbol(x), Op::Symbol(y)) if a.symbol(x).bound => bound.get(&x) == Some(&y),
        (Op::Symbol(x), Op::Symbol(y)) => a.symbol(x).name == b.symbol(y).name,
        (Op::Const(v), Op::Const(w)) => a.value(v) == b.value(w),
        (Op::Forall, Op::Forall) | (Op::Exists, Op::Exists) => {
            for (&x, &y) in x.iter().zip(y).take(x.len() - 1) {
                if a.sort(x) != b.sort(y) {
                    return false;
                }
                bound.insert(a.as_symbol(x).expect("bound"), b.as_symbol(y).expect("bound"));
            }
            same(a, *x.last().expect("a body"), b, *y.last().expect("a body"), bound)
        }
        (x, y) if x != y => false,
        _ => x.iter().zip(y).all(|(&x, &y)| same(a, x, b, y, bound)),
    }
}

#[test]
fn printed_terms_are_parsed_back() {
    for seed in 0..2_000 {
        let mut p = Pool::new();
        let shape =
            Shape { depth: 2 + seed as usize % 5, quantifiers: seed % 2 == 0, ..Shape::default() };
        let mut g = TermGenerator::new(&mut p, seed, shape);
        let t = g.any_term(&mut p);
        let text = p.display(t).to_string();
        let again =
            parse_term(&mut p, &text).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
        assert!(
            same(&p, t, &p, again, &mut HashMap::new()),
            "seed {seed}\n{text}\n{}",
            p.display(again)
        );
        if !p.has_quantifier(t) {
            assert_eq!(t, again, "seed {seed}\n{text}");
        }
        let short = p.display_bounded(t, 20).to_string();
        let whole = p.display_bounded(t, 1_000_000).to_string();
        let expected: String = whole.chars().take(20).collect();
        assert!(short == whole || short == format!("{expected}…"), "{short}\n{whole}");
        // Only fractions are written differently for people.
        if !text.contains('/') {
            assert_eq!(whole, text);
        }
    }
}

#[test]
fn imported_terms_are_equal() {
    for seed in 0..500 {
        let mut p = Pool::new();
        let mut g = TermGenerator::new(&mut p, seed, Shape::default());
        let t = g.any_term(&mut p);
        let mut other = Pool::new();
        let r = other.import(&p, t).expect("an empty pool has no clash");
        assert!(same(&p, t, &other, r, &mut HashMap::new()), "seed {seed}\n{}", p.display(t));
    }
}

#[test]
fn displayed_values_are_parsed_back() {
    let mut p = Pool::new();
    let mut g = TermGenerator::new(&mut p, 1, Shape::default());
    for _ in 0..200 {
        for sort in g.sorts() {
            let v = g.value(sort);
            assert_eq!(parse_value(&p, sort, &p.show_value(&v)), Ok(v));
        }
    }
}
