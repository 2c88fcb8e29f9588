//! Texts of terms.

use super::*;
use crate::solver::dialect::SolverKind;
use gander_runtime::{Cancellation, Stopped};
use gander_term::Width;

/// The text of an instance at step 7: definitions, then the formula.
fn text(
    pool: &Pool,
    kind: SolverKind,
    term: TermId,
    placement: &dyn Fn(SymbolId) -> Placement,
) -> String {
    let template = compile(pool, &Solver::new(kind, ""), term, placement, 1);
    assert_eq!(template.unsupported, None);
    let mut out = String::new();
    template.definitions.fill(&mut out, 7, 5);
    template.root.fill(&mut out, 7, 5);
    out
}

fn rigid(pool: &Pool, term: TermId) -> String {
    text(pool, SolverKind::Z3, term, &|_| Placement::Rigid)
}

#[test]
fn division_by_zero_is_a_case() {
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::Int);
    let y = pool.variable("y", Sort::Int);
    let (zero, three) = (pool.int(0), pool.int(-3));
    let mut show = |op, a, b| {
        let t = pool.mk(op, &[a, b]).unwrap();
        rigid(&pool, t)
    };
    assert_eq!(show(Op::IntDiv, x, three), "(div x@ (- 3))");
    assert_eq!(show(Op::IntDiv, x, zero), "0");
    assert_eq!(show(Op::Mod, x, zero), "x@");
    assert_eq!(show(Op::IntDiv, x, y), "(ite (= y@ 0) 0 (div x@ y@))");
    assert_eq!(show(Op::Mod, x, y), "(ite (= y@ 0) x@ (mod x@ y@))");
}

#[test]
fn holes_are_filled_with_steps() {
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::Int);
    let next = pool.variable("x'", Sort::Int);
    let odd = pool.variable("an input", Sort::Int);
    let (xs, nexts) = (pool.as_symbol(x).unwrap(), pool.as_symbol(next).unwrap());
    let sum = pool.add(x, odd);
    let f = pool.eq(next, sum);
    let place = |s| match s {
        s if s == nexts => Placement::At { symbol: xs, offset: 1 },
        s => Placement::At { symbol: s, offset: 0 },
    };
    assert_eq!(text(&pool, SolverKind::Yices, f, &place), "(= x@8 (+ x@7 |an input@7|))");
}

#[test]
fn shared_terms_are_defined_once() {
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::Int);
    let mut t = x;
    for _ in 0..200 {
        t = pool.add(t, t);
    }
    let out = rigid(&pool, t);
    assert!(out.len() < 200 * 60, "{}", out.len());
    let one = pool.int(1);
    let once = pool.add(x, one);
    let twice = pool.mk(Op::Mul, &[once, once]).unwrap();
    assert_eq!(rigid(&pool, twice), "(define-fun t1.0@!5 () Int (+ x@ 1))\n(* t1.0@!5 t1.0@!5)");
}

#[test]
fn a_shared_term_under_a_quantifier_has_the_bound_variable_as_parameter() {
    let mut pool = Pool::new();
    let b = pool.declare_bound("b", Sort::Int);
    let bound = pool.var(b);
    let one = pool.int(1);
    let once = pool.add(bound, one);
    let less = pool.lt(once, once);
    let f = pool.forall(&[b], less);
    let expected = "(define-fun t1.0@!5 ((b@ Int)) Int (+ b@ 1))\n\
                    (forall ((b@ Int)) (< (t1.0@!5 b@) (t1.0@!5 b@)))";
    assert_eq!(rigid(&pool, f), expected);
}

#[test]
fn enumerations_are_data_types_or_integers() {
    let mut pool = Pool::new();
    let id = pool.declare_enum("Status", &["Open", "Not open"]).unwrap();
    let e = pool.variable("e", Sort::Enum(id));
    let c = pool.constant(Value::Enum(id, 1));
    let f = pool.eq(e, c);
    assert_eq!(rigid(&pool, f), "(= e@ |Status@!v@Not open|)");
    assert_eq!(text(&pool, SolverKind::Yices, f, &|_| Placement::Rigid), "(= e@ 1)");
}

#[test]
fn bit_vector_operators_have_their_smt_lib_names() {
    let mut pool = Pool::new();
    let x = pool.variable("x", Sort::BitVec(Width::W8));
    let c = pool.bits(Width::W8, -1);
    let sum = pool.bv(BvOp::Add, &[x, c]);
    assert_eq!(rigid(&pool, sum), "(bvadd x@ (_ bv255 8))");
    let low = pool.bv(BvOp::Extract { high: 3, low: 0 }, &[x]);
    let wide = pool.bv(BvOp::SignExtend(4), &[low]);
    assert_eq!(rigid(&pool, wide), "((_ sign_extend 4) ((_ extract 3 0) x@))");
    let signed = pool.bv(BvOp::ToSignedInt, &[x]);
    assert_eq!(rigid(&pool, signed), "(ite (bvslt x@ (_ bv0 8)) (- (bv2nat x@) 256) (bv2nat x@))");
    let back = pool.bv(BvOp::FromInt(Width::W16), &[signed]);
    assert!(rigid(&pool, back).starts_with("((_ int2bv 16) (ite "), "{}", rigid(&pool, back));
    assert_eq!(sort_name(&pool, EnumStyle::Ints, Sort::BitVec(Width::W1)), "(_ BitVec 1)");
}

/// The test counts checks for cancellation, not time.
#[test]
fn cancellation_stops_printing() {
    let mut pool = Pool::new();
    let parts: Vec<TermId> = (0..2000)
        .map(|i| {
            let (x, c) = (pool.variable(&format!("x{i}"), Sort::Int), pool.int(i));
            pool.lt(x, c)
        })
        .collect();
    let f = pool.and(parts);
    let compile = || compile(&pool, &Solver::new(SolverKind::Z3, ""), f, &|_| Placement::Rigid, 1);
    for looks in [1, 1000, 10_000, 20_000] {
        assert_eq!(
            Cancellation::after_checks(looks).run_cancellable(compile).map(drop),
            Err(Stopped::Cancelled),
            "{looks}"
        );
    }
    assert!(Cancellation::after_checks(1_000_000).run_cancellable(compile).is_ok());
}
