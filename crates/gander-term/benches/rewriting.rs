//! Measures simplification, substitution, printing and parsing of whole terms: `cargo bench -p
//! gander-term --bench rewriting`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use gander_term::random::{Shape, TermGenerator};
use gander_term::{Op, Pool, Simplifier, Sort, Substitution, TermId, parse_term};

fn report(what: &str, terms: usize, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what:<44} {:>7.2} million terms/s  ({terms} terms, {seconds:.3} s)",
        terms as f64 / seconds / 1e6
    );
}

fn main() {
    let mut pool = Pool::new();
    let shape = Shape { depth: 9, ..Shape::default() };
    let mut generator = TermGenerator::new(&mut pool, 1, shape);
    let roots: Vec<TermId> = (0..2_000).map(|_| generator.term(&mut pool, Sort::Bool)).collect();
    let size = pool.postorder(&roots).len();

    let start = Instant::now();
    let mut simplifier = Simplifier::new();
    for &r in &roots {
        black_box(simplifier.simplify(&mut pool, r));
    }
    report("simplify random terms", size, start);

    let start = Instant::now();
    let symbols = generator.symbols().to_vec();
    let map = symbols.iter().map(|&s| {
        let sort = pool.symbol(s).sort;
        let fresh = pool.declare_fresh("next", sort);
        (s, pool.var(fresh))
    });
    let map = map.collect();
    let mut substitution = Substitution::new(&mut pool, &map);
    for &r in &roots {
        black_box(substitution.apply(&mut pool, r));
    }
    report("substitute all symbols", size, start);

    let start = Instant::now();
    let texts: Vec<String> = roots.iter().take(300).map(|&r| pool.display(r).to_string()).collect();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{:<44} {:>7.1} MB/s", "print", bytes as f64 / start.elapsed().as_secs_f64() / 1e6);
    let start = Instant::now();
    for text in &texts {
        black_box(parse_term(&mut pool, text).is_ok());
    }
    println!("{:<44} {:>7.1} MB/s", "parse", bytes as f64 / start.elapsed().as_secs_f64() / 1e6);

    let mut deep = pool.variable("x", Sort::Int);
    for i in 0..1_000_000 {
        let v = if i % 2 == 0 {
            pool.int(i)
        } else {
            pool.variable(&format!("v{}", i % 1000), Sort::Int)
        };
        deep = pool.mk(Op::Add, &[deep, v]).expect("ints");
    }
    let start = Instant::now();
    black_box(pool.simplify(deep));
    report("simplify a sum nested a million deep", 1_000_000, start);
}
