//! Times of sessions: finding solvers, starting, queries, instances. `cargo bench -p gander-smt`.
#![allow(clippy::print_stdout, missing_docs)]

use std::time::Instant;

use gander_smt::{Answer, Limits, Placement, Session, SessionConfig, Solvers, StepSymbol};
use gander_term::{Op, Pool, Sort};

fn main() {
    let clock = Instant::now();
    let solvers = Solvers::from_environment();
    println!("finding solvers: {:?}", clock.elapsed());
    let clock = Instant::now();
    let all: Vec<_> = solvers.all().into_iter().cloned().collect();
    println!("finding the others: {:?}", clock.elapsed());
    for solver in &all {
        println!("== {}", solver.name);
        let mut pool = Pool::new();
        let x = pool.variable("x", Sort::Int);
        let zero = pool.int(0);
        let positive = pool.lt(zero, x);

        let rounds = 20;
        let clock = Instant::now();
        for _ in 0..rounds {
            let mut session = Session::start(solver, SessionConfig::default());
            session.assert(&pool, positive);
            assert_eq!(session.check(&[], Limits::NONE), Answer::Sat);
        }
        println!("start, one query, end: {:?}", clock.elapsed() / rounds);

        let mut session = Session::start(solver, SessionConfig::default());
        let literal = session.literal_for(&pool, positive);
        let symbol = StepSymbol::rigid(pool.find_symbol("x").unwrap());
        session.check(&[literal], Limits::NONE);
        let rounds = 2000;
        let clock = Instant::now();
        for _ in 0..rounds {
            assert_eq!(session.check(&[literal], Limits::NONE), Answer::Sat);
        }
        println!("query: {:?}", clock.elapsed() / rounds);
        let clock = Instant::now();
        for _ in 0..rounds {
            session.values(&pool, &[symbol], Limits::NONE).unwrap();
        }
        println!("value: {:?}", clock.elapsed() / rounds);
        unroll(solver);
    }
}

/// Time of this process, without the solver, for each further step of a counter with three
/// variables.
fn unroll(solver: &gander_smt::Solver) {
    let mut pool = Pool::new();
    let mut conjuncts = Vec::new();
    let mut primed = Vec::new();
    for name in ["x", "y", "z"] {
        let v = pool.variable(name, Sort::Int);
        let w = pool.variable(&format!("{name}'"), Sort::Int);
        let (one, limit, zero) = (pool.int(1), pool.int(1000), pool.int(0));
        let more = pool.add(v, one);
        let below = pool.lt(v, limit);
        let next = pool.ite(below, more, zero);
        conjuncts.push(pool.mk(Op::Eq, &[w, next]).unwrap());
        primed.push((pool.as_symbol(w).unwrap(), pool.as_symbol(v).unwrap()));
    }
    let step = pool.and(conjuncts);
    let mut session = Session::start(solver, SessionConfig::default());
    let step = session.compile(&pool, step, &|s| match primed.iter().find(|p| p.0 == s) {
        Some(&(_, symbol)) => Placement::At { symbol, offset: 1 },
        None => Placement::At { symbol: s, offset: 0 },
    });
    for part in 0..4u32 {
        let clock = Instant::now();
        for k in part * 250..(part + 1) * 250 {
            session.assert_at(&pool, &step, k);
        }
        println!(
            "steps {} to {}: {:?} a step",
            part * 250,
            (part + 1) * 250,
            clock.elapsed() / 250
        );
    }
    let clock = Instant::now();
    assert_eq!(session.check(&[], Limits::NONE), Answer::Sat);
    println!("check of 1000 steps: {:?}", clock.elapsed());
}
