//! Refutations and models of small formulas; wrong proofs are rejected.

use gander_linear::{Answer, Budget, Fact, Flaw, Line, Proof, decide, verify};
use gander_term::{IBig, Pool, RBig, Sort, TermId, Value, evaluate, parse_term};

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
    pool
}

fn term(pool: &mut Pool, text: &str) -> TermId {
    parse_term(pool, text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refutation(pool: &mut Pool, text: &str) -> Proof {
    let t = term(pool, text);
    match decide(pool, t, Budget::SMALL).0 {
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
        "x >= 1 and x + y < 1 and y > 0 and y < 5",
        "(p or x > 3) and (not p or x > 5) and x < 2",
        "(p == q) and (p == (x > 0)) and q and x < 0",
        "(if p then x else y) > 3 and x < 2 and y < 2",
        "x + (if x > 0 then 1 else -1) == 0 and x != 1 and x != -1",
        "to_real(x) < 0.5 and to_real(x) > 0.0",
        "2 * x - 2 * y == 1",
        "x * y > 3 and x * y < 2",
        "x mod 2 == 0 and x mod 2 == 1",
        "not (p -> q or p)",
        "x + y + z >= 10 and x <= 3 and y <= 3 and z <= 3",
        "2 * x + 2 * y >= 3 and 2 * x + 2 * y <= 3",
        "x >= 0 and x <= 1 and 2 * y == x + 1 and 2 * z == x",
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
        "(p or x > 3) and (not p or x > 5) and x < 9",
        "(if p then x else y) > 3 and x < 2",
        "2 * x + 3 * y == 1 and x > 10",
        "3 * x == 2 * y and x >= 1",
        // Only one alternative, and not the first.
        "(p == q) and not p",
        "(p == not q) and not p",
        "x != y and x > y",
        "(p -> q) and not q",
        "(if p then q else x > 0) and not q",
        "not (p and q) and p",
        "x - y >= 1 and x <= 0 and y <= 0",
        "-x > 3 and x < 0",
        "x - (y - z) == 1 and y == 0 and z == 0",
    ] {
        let mut pool = pool();
        let t = term(&mut pool, text);
        match decide(&pool, t, Budget::SMALL).0 {
            Answer::Model(model) => {
                let look_up = |s| model.iter().find(|(t, _)| *t == s).map(|(_, v)| v.clone());
                assert_eq!(evaluate(&pool, t, &look_up), Ok(Value::Bool(true)), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn hard_formulas_are_unknown() {
    for text in [
        "x * x == 2",
        "x mod 2 == 2",
        "forall y: int. y > x",
        // Unbounded.
        "2 * x - 4 * y == z and z >= 1 and 3 * z <= 4 and x > y",
        "x > 1000000000000000000000000000000000000000000 and x < 1000000000000000000000000000000000000000000 + y",
    ] {
        let mut pool = pool();
        let t = term(&mut pool, text);
        let (answer, work) = decide(&pool, t, Budget::SMALL);
        assert_eq!(answer, Answer::Unknown, "{text}");
        assert!(work <= Budget::SMALL.work);
    }
    let mut pool = pool();
    let t = term(&mut pool, "x > 0 and x < 1");
    assert_eq!(decide(&pool, t, Budget::NONE).0, Answer::Unknown);
    assert_eq!(decide(&pool, t, Budget { terms: 3, ..Budget::SMALL }).0, Answer::Unknown);
    let x = term(&mut pool, "x");
    assert_eq!(decide(&pool, x, Budget::SMALL).0, Answer::Unknown, "no formula");
}

fn sum(parts: &[(usize, i32)]) -> Line {
    Line::Sum(parts.iter().map(|&(at, f)| (at, RBig::from(IBig::from(f)))).collect())
}

/// Verifies a proof about `formula`, a conjunction whose conjuncts are given to `proof`.
fn flaw_of(formula: &str, proof: impl Fn(&Pool, &[TermId]) -> Proof) -> Result<(), Flaw> {
    let mut pool = pool();
    let t = term(&mut pool, formula);
    let parts = pool.args(t).to_vec();
    verify(&pool, t, &proof(&pool, &parts))
}

#[test]
fn a_handwritten_proof_is_accepted() {
    let lines = |last: Line| {
        move |_: &Pool, p: &[TermId]| {
            Proof::Lines(vec![
                Line::Of(Fact::Holds(p[0])),
                Line::Of(Fact::Holds(p[1])),
                last.clone(),
            ])
        }
    };
    assert_eq!(flaw_of("r >= s and r < s", lines(sum(&[(0, 1), (1, 1)]))), Ok(()));
    assert_eq!(flaw_of("r > s and r <= s", lines(sum(&[(0, 3), (1, 3)]))), Ok(()));
    // Both are zero at r = s.
    assert_eq!(flaw_of("r >= s and r <= s", lines(sum(&[(0, 1), (1, 1)]))), Err(Flaw::NotWrong));
    assert_eq!(flaw_of("r >= s and r < s", lines(sum(&[(0, 1), (1, 2)]))), Err(Flaw::NotWrong));
    assert_eq!(flaw_of("r >= s and r < s", lines(sum(&[(0, 0), (1, 0)]))), Err(Flaw::NotWrong));
    assert_eq!(flaw_of("r >= s and r > s", lines(sum(&[(0, -1), (1, 1)]))), Err(Flaw::Factor));
    assert_eq!(flaw_of("r == s and r > s", lines(sum(&[(0, -1), (1, 1)]))), Ok(()));
    assert_eq!(flaw_of("r >= s and r < s", lines(sum(&[(0, 1), (2, 1)]))), Err(Flaw::NoSuchLine));
    assert_eq!(flaw_of("r >= s and r < s", lines(Line::Rounded(2))), Err(Flaw::NoSuchLine));
    assert_eq!(flaw_of("r >= s and r < s", lines(Line::Rounded(0))), Err(Flaw::NotAboutInts));
    let other = |_: &Pool, p: &[TermId]| Proof::Lines(vec![Line::Of(Fact::Fails(p[0]))]);
    assert_eq!(flaw_of("r >= s and r < s", other), Err(Flaw::NoFact));
    assert_eq!(flaw_of("p and q", lines(sum(&[]))), Err(Flaw::NoComparison));
    assert_eq!(flaw_of("p and q", |_, _| Proof::Lines(Vec::new())), Err(Flaw::NotWrong));
    assert_eq!(flaw_of("p and q", |_, _| Proof::Clash), Err(Flaw::NoClash));
    assert_eq!(flaw_of("p and not p", |_, _| Proof::Clash), Ok(()));
}

#[test]
fn rounding_is_accepted_for_ints_in_the_right_direction_only() {
    let rounded = |formula: &str, factors: [i32; 2]| {
        flaw_of(formula, |_, p| {
            let mut lines: Vec<Line> = p.iter().map(|&t| Line::Of(Fact::Holds(t))).collect();
            lines.extend([
                Line::Rounded(0),
                Line::Rounded(1),
                sum(&[(2, factors[0]), (3, factors[1])]),
            ]);
            Proof::Lines(lines)
        })
    };
    assert_eq!(rounded("x > 0 and x < 1", [1, 1]), Ok(()));
    assert_eq!(rounded("x > 0 and x < 2", [1, 1]), Err(Flaw::NotWrong));
    assert_eq!(rounded("2 * x >= 1 and 2 * x <= 1", [1, 1]), Ok(()));
    assert_eq!(rounded("2 * x >= 1 and 2 * x <= 2", [1, 1]), Err(Flaw::NotWrong));
    assert_eq!(rounded("2 * x >= -1 and 2 * x <= -1", [1, 1]), Ok(()));
    assert_eq!(rounded("2 * x >= -1 and 2 * x <= 0", [1, 1]), Err(Flaw::NotWrong));
    assert_eq!(rounded("4 * x + 6 * y > 1 and 4 * x + 6 * y < 2", [1, 1]), Ok(()));
    assert_eq!(rounded("4 * x + 6 * y > 1 and 4 * x + 6 * y < 3", [1, 1]), Err(Flaw::NotWrong));
    assert_eq!(rounded("2.0 * r > 1.0 and 2.0 * r < 1.5", [1, 1]), Err(Flaw::NotAboutInts));
    assert_eq!(
        rounded("to_real(x) + r > 0.0 and to_real(x) + r < 1.0", [1, 1]),
        Err(Flaw::NotAboutInts)
    );
}

#[test]
fn case_splits_must_be_complete() {
    let formula = "(x > 0 or x < 0) and x == 0";
    let leaf = |or: TermId, at: usize, pool: &Pool, equation: TermId| {
        let side = if at == 0 { 1 } else { -1 };
        let lines = vec![Line::Of(Fact::Holds(pool.args(or)[at])), Line::Of(Fact::Holds(equation))];
        // x > 0, x == 0: the difference of the two; x < 0: their sum.
        Proof::Lines([lines, vec![sum(&[(0, 1), (1, -side)])]].concat())
    };
    let with = |choose: &dyn Fn(Proof, Proof) -> Vec<Proof>| {
        flaw_of(formula, |pool, p| {
            let (or, equation) =
                if pool.args(p[0]).len() == 2 && pool.op(p[0]) == gander_term::Op::Or {
                    (p[0], p[1])
                } else {
                    (p[1], p[0])
                };
            let (first, second) = (leaf(or, 0, pool, equation), leaf(or, 1, pool, equation));
            Proof::Cases { of: Fact::Holds(or), proofs: choose(first, second) }
        })
    };
    assert_eq!(with(&|a, b| vec![a, b]), Ok(()));
    assert_eq!(with(&|a, _| vec![a]), Err(Flaw::Alternatives));
    assert_eq!(with(&|a, b| vec![b, a]), Err(Flaw::NoFact));
    assert_eq!(with(&|a, b| vec![a.clone(), b, a]), Err(Flaw::Alternatives));
    // The facts of one case are not facts of the next.
    assert_eq!(with(&|a, _| vec![a.clone(), a]), Err(Flaw::NoFact));
    // Not a fact, and one without alternatives.
    let no_fact =
        |_: &Pool, p: &[TermId]| Proof::Cases { of: Fact::Fails(p[0]), proofs: vec![Proof::Clash] };
    assert_eq!(flaw_of(formula, no_fact), Err(Flaw::NoFact));
    let single = |_: &Pool, p: &[TermId]| Proof::Cases { of: Fact::Holds(p[0]), proofs: vec![] };
    assert_eq!(flaw_of("p and q", single), Err(Flaw::Alternatives));
}

#[test]
fn cuts_need_formulas_and_branches_need_ints() {
    let clash = || Box::new([Proof::Clash, Proof::Clash]);
    let cut = |on: &dyn Fn(&Pool, &[TermId]) -> TermId| {
        flaw_of("x > 0 and x < 1", |pool, p| Proof::Cut { on: on(pool, p), proofs: clash() })
    };
    assert_eq!(cut(&|pool, p| pool.args(p[0])[0]), Err(Flaw::NoSuchTerm));
    assert_eq!(cut(&|_, p| p[0]), Err(Flaw::NoClash));
    let branch = |at: i32, formula: &str| {
        flaw_of(formula, |pool, p| {
            let on =
                pool.args(p[0]).iter().copied().find(|&t| pool.as_symbol(t).is_some()).unwrap();
            let below = vec![
                Line::Of(Fact::AtMost(on, at.into())),
                Line::Of(Fact::Holds(p[0])),
                sum(&[(0, 1), (1, 1)]),
            ];
            let above = vec![
                Line::Of(Fact::AtLeast(on, (at + 1).into())),
                Line::Of(Fact::Holds(p[1])),
                sum(&[(0, 1), (1, 1)]),
            ];
            Proof::Branch {
                on,
                at: at.into(),
                proofs: Box::new([Proof::Lines(below), Proof::Lines(above)]),
            }
        })
    };
    assert_eq!(branch(0, "x > 0 and x < 1"), Ok(()));
    assert_eq!(branch(1, "x > 0 and x < 1"), Err(Flaw::NotWrong));
    assert_eq!(branch(0, "x > 0 and x < 2"), Err(Flaw::NotWrong));
    assert_eq!(branch(0, "r > 0.0 and r < 1.0"), Err(Flaw::NoSuchTerm));
}

#[test]
fn a_deep_proof_is_rejected() {
    let mut pool = pool();
    let (p, t) = (term(&mut pool, "p"), term(&mut pool, "p and not p"));
    let mut proof = Proof::Clash;
    for _ in 0..300 {
        proof = Proof::Cut { on: p, proofs: Box::new([proof, Proof::Clash]) };
    }
    assert_eq!(verify(&pool, t, &proof), Err(Flaw::TooDeep));
}

/// A mutated proof is rejected or still right; it never refutes a formula with a solution.
#[test]
fn mutated_proofs_do_not_refute_satisfiable_formulas() {
    let pairs = [
        ("x >= 1 and x + y < 1 and y > 0 and y < 5", "x >= 1 and x + y < 3 and y > 0 and y < 5"),
        (
            "(p or x > 3) and (not p or x > 5) and x < 2",
            "(p or x > 3) and (not p or x > 5) and x < 7",
        ),
        ("2 * x >= 1 and 2 * x <= 1", "2 * x >= 1 and 2 * x <= 2"),
        (
            "(if p then x else y) > 3 and x < 2 and y < 2",
            "(if p then x else y) > 3 and x < 2 and y < 5",
        ),
        ("r > 0.0 and r < s and s < 0.5 * r", "r > 0.0 and r < s and s < 1.5 * r"),
    ];
    for (wrong, right) in pairs {
        let mut pool = pool();
        let proof = refutation(&mut pool, wrong);
        let t = term(&mut pool, right);
        assert!(verify(&pool, t, &proof).is_err(), "{right}");
        for other in mutants(&proof) {
            assert!(verify(&pool, t, &other).is_err(), "{right}");
        }
    }
}

/// Proofs with one mutation.
fn mutants(proof: &Proof) -> Vec<Proof> {
    let mut all = vec![Proof::Clash];
    match proof {
        Proof::Clash => {}
        Proof::Lines(lines) => {
            for at in 0..lines.len() {
                let mut fewer = lines.clone();
                fewer.remove(at);
                all.push(Proof::Lines(fewer));
                let mut changed = lines.clone();
                match &mut changed[at] {
                    Line::Of(fact) => {
                        *fact = match fact.clone() {
                            Fact::Holds(t) => Fact::Fails(t),
                            Fact::Fails(t) => Fact::Holds(t),
                            Fact::Less(t) => Fact::Greater(t),
                            Fact::Greater(t) => Fact::Less(t),
                            Fact::AtMost(t, k) => Fact::AtLeast(t, k),
                            Fact::AtLeast(t, k) => Fact::AtMost(t, k),
                        }
                    }
                    Line::Rounded(of) => *of = of.saturating_sub(1),
                    Line::Sum(parts) => {
                        for i in 0..parts.len() {
                            for factor in [-1, 0, 7] {
                                let mut parts = parts.clone();
                                parts[i].1 *= RBig::from(IBig::from(factor));
                                let mut lines = lines.clone();
                                lines[at] = Line::Sum(parts);
                                all.push(Proof::Lines(lines));
                            }
                        }
                    }
                }
                all.push(Proof::Lines(changed));
            }
        }
        Proof::Cases { of, proofs } => {
            for at in 0..proofs.len() {
                for mutant in mutants(&proofs[at]) {
                    let mut proofs = proofs.clone();
                    proofs[at] = mutant;
                    all.push(Proof::Cases { of: of.clone(), proofs });
                }
                let mut fewer = proofs.clone();
                fewer.remove(at);
                all.push(Proof::Cases { of: of.clone(), proofs: fewer });
            }
        }
        Proof::Cut { on, proofs } => {
            for at in 0..2 {
                for mutant in mutants(&proofs[at]) {
                    let mut proofs = proofs.clone();
                    proofs[at] = mutant;
                    all.push(Proof::Cut { on: *on, proofs });
                }
            }
        }
        Proof::Branch { on, at: bound, proofs } => {
            for at in 0..2 {
                for mutant in mutants(&proofs[at]) {
                    let mut proofs = proofs.clone();
                    proofs[at] = mutant;
                    all.push(Proof::Branch { on: *on, at: bound.clone(), proofs });
                }
            }
        }
    }
    all
}
