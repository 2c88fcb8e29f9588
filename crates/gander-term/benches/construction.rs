//! Measures how many terms per second are built and interned on one core: `cargo bench -p
//! gander-term --bench construction`. The goal is 5 million per second.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use gander_term::{Op, Pool, Sort, SymbolId, TermId};

/// The variables of one step of an unrolled counter model.
fn declare(pool: &mut Pool, steps: usize) -> Vec<Vec<SymbolId>> {
    (0..=steps)
        .map(|k| {
            (0..8).map(|v| pool.declare(&format!("x{v}@{k}"), Sort::Int).expect("fresh")).collect()
        })
        .collect()
}

/// Builds the transition relation between all steps; returns the number of constructor calls.
fn unroll(pool: &mut Pool, variables: &[Vec<SymbolId>]) -> usize {
    let mut asked = 0;
    let mut mk = |pool: &mut Pool, op: Op, args: &[TermId]| {
        asked += 1;
        pool.mk(op, args).expect("well-sorted")
    };
    for k in 0..variables.len() - 1 {
        let mut conjuncts = Vec::with_capacity(8);
        for v in 0..8 {
            let x = pool.var(variables[k][v]);
            let y = pool.var(variables[k][(v + 1) % 8]);
            let next = pool.var(variables[k + 1][v]);
            let one = pool.int(1);
            let limit = pool.int(100 + v as i32);
            let guard = mk(pool, Op::Lt, &[x, limit]);
            let other = mk(pool, Op::Le, &[y, x]);
            let both = mk(pool, Op::And, &[guard, other]);
            let up = mk(pool, Op::Add, &[x, one]);
            let down = mk(pool, Op::Sub, &[y, one]);
            // `again` here and `known` below exist already: table hits.
            let again = mk(pool, Op::Add, &[x, one]);
            let value = mk(pool, Op::Ite, &[both, up, down]);
            let other_value = mk(pool, Op::Ite, &[other, again, x]);
            let least = mk(pool, Op::Min, &[value, other_value]);
            conjuncts.push(mk(pool, Op::Eq, &[next, least]));
            let known = mk(pool, Op::Lt, &[x, limit]);
            black_box(known);
        }
        black_box(mk(pool, Op::And, &conjuncts));
    }
    asked
}

fn report(what: &str, terms: usize, seconds: f64) {
    println!(
        "{what:<44} {:>7.2} million terms/s  ({terms} terms, {seconds:.3} s)",
        terms as f64 / seconds / 1e6
    );
}

fn main() {
    let steps = 20_000;
    for round in 0..3 {
        let mut pool = Pool::new();
        let variables = declare(&mut pool, steps);
        // Calls for variables and constants count too: five beside ten operators.
        let start = Instant::now();
        let asked = unroll(&mut pool, &variables) + steps * 8 * 5;
        let first = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let again = unroll(&mut pool, &variables) + steps * 8 * 5;
        let second = start.elapsed().as_secs_f64();
        if round == 2 {
            report("unrolling, two of three new", asked, first);
            report("the same again, all known", again, second);
            println!("{:<44} {:>7} terms", "in the pool", pool.len());
        }
    }
    let mut base = Pool::new();
    let variables = declare(&mut base, steps);
    unroll(&mut base, &variables[..steps / 2]);
    let base = Arc::new(base);
    let mut fork = Pool::fork(&base);
    let start = Instant::now();
    let asked = unroll(&mut fork, &variables) + steps * 8 * 5;
    report("in a fork, half of it known to the base", asked, start.elapsed().as_secs_f64());
}
