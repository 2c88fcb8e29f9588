//! Refutations and models of formulas; wrong proofs are rejected.

use gander_proof::{Answer, Budget, Encoding, Flaw, Proof, Step, decide, verify};
use gander_term::random::{Shape, TermGenerator};
use gander_term::{Op, Pool, RBig, Sort, TermId, Value, evaluate, parse_term};

const BUDGET: Budget = Budget { terms: 4_000, work: 2_000_000 };

fn pool() -> Pool {
    let mut pool = Pool::new();
    for name in ["x", "y", "z"] {
        pool.variable(name, Sort::Int);
    }
    for name in ["r", "s"] {
        pool.variable(name, Sort::Real);
    }
    for name in ["p", "q"] {
        pool.variable(name, Sort::Bool);
    }
    let bits = Sort::BitVec(gander_term::Width::W8);
    for name in ["a", "b", "c"] {
        pool.variable(name, bits);
    }
    let array = pool.array_sort(Sort::Int, Sort::Int).unwrap();
    for name in ["m", "n"] {
        pool.variable(name, array);
    }
    pool
}

fn term(pool: &mut Pool, text: &str) -> TermId {
    parse_term(pool, text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refutation(pool: &mut Pool, text: &str) -> Proof {
    let t = term(pool, text);
    match decide(pool, t, BUDGET).0 {
        Answer::Refuted(proof) => proof,
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn formulas_without_solution_are_refuted() {
    for text in [
        "false",
        "p and not p",
        "x > y and y > x",
        "x > 0 and x < 1",
        "2 * x == 7",
        "3 * x + 6 * y == 4",
        "r > 0.0 and r < s and s < 0.5 * r",
        "x == y and x != y",
        "(p or x > 3) and (not p or x > 5) and x < 2",
        "(p == q) and (p == (x > 0)) and q and x < 0",
        "(if p then x else y) > 3 and x < 2 and y < 2",
        "x + (if x > 0 then 1 else -1) == 0 and x != 1 and x != -1",
        "to_real(x) < 0.5 and to_real(x) > 0.0",
        "x * y > 3 and x * y < 2",
        "x mod 2 == 0 and x mod 2 == 1",
        "x mod 2 == 0 and (x + 1) mod 2 == 0",
        "x div 3 > 4 and x < 12",
        "abs(x) < 0",
        "min(x, y) > x",
        "max(x, max(y, z)) < y",
        "to_int(r) > 3 and r < 3.5",
        "x >= 0 and x <= 1 and 2 * y == x + 1 and 2 * z == x",
        "bvult(a, b) and bvult(b, a)",
        "bvadd(a, b) != bvadd(b, a)",
        "bvmul(a, 3u8) != bvadd(a, bvadd(a, a))",
        "bvand(a, b) == 255u8 and a != 255u8",
        "bvudiv(a, 4u8) != bvlshr(a, 2u8)",
        "bvurem(a, b) == a and bvugt(b, 0u8) and bvuge(a, b)",
        "ubv_to_int(a) > 255",
        "int_to_bv(8, x) == 3u8 and x == 4",
        "sbv_to_int(a) > 127 or sbv_to_int(a) < -128",
        "m[x := 3][x] != 3",
        "m[x := 3][y] != m[y] and x != y",
        "x == y and m[x] != m[y]",
        "array[int](7)[x] != 7",
    ] {
        let mut pool = pool();
        let proof = refutation(&mut pool, text);
        let t = term(&mut pool, text);
        assert_eq!(verify(&pool, t, &proof), Ok(()), "{text}");
    }
}

#[test]
fn formulas_with_a_solution_get_a_model() {
    for text in [
        "true",
        "p and not q",
        "x > y and y > 3",
        "r > 0.0 and r < s and s < 0.001",
        "x != y and x <= y",
        "(if p then x else y) > 3 and x < 2",
        "2 * x + 3 * y == 1 and x > 10",
        "x div 3 == 4 and x mod 3 == 2",
        "bvmul(a, b) == 35u8 and bvugt(a, 1u8) and bvugt(b, 1u8) and bvult(a, 35u8)",
        "bvsdiv(a, b) == 254u8",
        "ubv_to_int(a) == 77",
    ] {
        let mut pool = pool();
        let t = term(&mut pool, text);
        let (answer, _) = decide(&pool, t, BUDGET);
        let Answer::Model(model) = answer else { panic!("{text}: {answer:?}") };
        let look_up = |s| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        assert_eq!(evaluate(&pool, t, &look_up), Ok(Value::Bool(true)), "{text}");
    }
}

/// Random formulas with random values: a formula together with equations for the values is refuted
/// only if it evaluates to false, and a formula that is true for some values is never refuted.
#[test]
fn the_encoding_agrees_with_the_evaluator() {
    let (mut refuted, mut models, mut open) = (0, 0, 0);
    for seed in 0..1_200 {
        let mut pool = Pool::new();
        let shape = Shape {
            depth: 2 + seed as usize % 4,
            quantifiers: seed % 19 == 0,
            strings: seed % 13 == 0,
            nonlinear: seed % 7 == 0,
            large_constants: seed % 11 == 0,
            arrays: seed % 3 == 0,
            ..Shape::default()
        };
        let mut generator = TermGenerator::new(&mut pool, seed, shape);
        let formula = generator.term(&mut pool, Sort::Bool);
        let values = generator.assignment(&pool);
        let look_up = |s| values.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
        let Ok(expected) = evaluate(&pool, formula, &look_up) else { continue };
        let mut parts = vec![formula];
        for (s, v) in &values {
            let (symbol, value) = (pool.var(*s), pool.constant(v.clone()));
            parts.push(pool.mk(Op::Eq, &[symbol, value]).unwrap());
        }
        let fixed = pool.mk(Op::And, &parts).unwrap();
        match (decide(&pool, fixed, BUDGET).0, expected.clone()) {
            (Answer::Refuted(_), Value::Bool(true)) => panic!("seed {seed}: refuted, and true"),
            (Answer::Model(_), Value::Bool(false)) => {
                panic!("seed {seed}: has a model, and is false")
            }
            (Answer::Refuted(_), _) => refuted += 1,
            (Answer::Model(_), _) => models += 1,
            (Answer::Unknown, _) => open += 1,
        }
        if expected == Value::Bool(true) {
            assert!(!matches!(decide(&pool, formula, BUDGET).0, Answer::Refuted(_)), "seed {seed}");
        }
    }
    assert!(refuted > 300 && models > 100, "{refuted} refuted, {models} models, {open} open");
}

#[test]
fn mutated_proofs_are_rejected() {
    let mut pool = pool();
    let text = "(p or x > 3) and (not p or x > 5) and x < 2 and (q or y > x + 1) and (not q or y > 8) and y < 1 and x > 0";
    let proof = refutation(&mut pool, text);
    let t = term(&mut pool, text);
    assert!(!proof.steps.is_empty());
    let mut cut = proof.clone();
    cut.steps.pop();
    assert_eq!(verify(&pool, t, &cut), Err(Flaw::NotEmpty));
    for at in 0..proof.steps.len() {
        let mut changed = proof.clone();
        match &mut changed.steps[at] {
            Step::Lemma { factors, .. } => {
                let Some(first) = factors.first_mut() else { continue };
                *first = -RBig::ONE;
                assert_eq!(verify(&pool, t, &changed), Err(Flaw::BadLemma));
                let mut changed = proof.clone();
                if let Step::Lemma { clause, factors } = &mut changed.steps[at] {
                    clause.pop();
                    factors.pop();
                }
                assert!(verify(&pool, t, &changed).is_err());
            }
            Step::Learned { hints, .. } => {
                hints.clear();
                assert_eq!(verify(&pool, t, &changed), Err(Flaw::BadHint));
            }
        }
    }
    let satisfiable = term(&mut pool, "p or x > 3");
    assert!(verify(&pool, satisfiable, &proof).is_err());
}

#[test]
fn an_encoding_respects_the_limit_on_terms() {
    let mut pool = pool();
    let t = term(&mut pool, "x > 3 and y > 4");
    assert!(Encoding::of(&pool, t, 3).is_none());
    assert!(Encoding::of(&pool, t, 100).is_some());
}
