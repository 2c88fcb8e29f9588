//! A wrong answer of Yices 2.6.5, found by fuzzing: the solver that is chosen for such formulas
//! must be right.

mod support;

use gander_smt::{Answer, Limits, Session, SessionConfig, SolverKind, Solvers};
use gander_term::{BvOp, Pool, Sort, Width};

#[test]
fn complements_of_sums_are_right_at_every_width() {
    if support::solver(SolverKind::Z3, "complements of sums").is_none() {
        return;
    }
    let solvers = Solvers::from_environment();
    for bits in [1, 8, 16, 32, 63, 64, 65, 128] {
        let width = Width::new(bits).unwrap();
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::BitVec(width));
        let (one, three, c) =
            (pool.bits(width, 1), pool.bits(width, 3), pool.bits(width, 12_345_678_901_u64));
        let odd = pool.bv(BvOp::Or, &[x, one]);
        let difference = pool.bv(BvOp::Sub, &[odd, c]);
        let complement = pool.bv(BvOp::Not, &[difference]);
        let four = pool.bits(width, 4);
        let expected = pool.bv(BvOp::Sub, &[c, four]);
        let pinned = pool.eq(x, three);
        let wrong = pool.ne(complement, expected);
        let features = pool.features(&[pinned, wrong]);
        for solver in solvers.candidates(features) {
            let mut session = Session::start(solver, SessionConfig::default());
            session.assert(&pool, pinned);
            session.assert(&pool, wrong);
            assert_eq!(
                session.check(&[], Limits::NONE),
                Answer::Unsat,
                "{} at {bits} bits",
                solver.name
            );
        }
    }
}
