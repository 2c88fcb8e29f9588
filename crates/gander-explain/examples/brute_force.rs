//! Compares the algorithms with brute force on many random systems: `brute_force [COUNT]
//! [FIRST_SEED]`.

#![allow(clippy::print_stdout, dead_code, missing_docs)]

#[path = "../tests/agreement/mod.rs"]
mod agreement;
#[path = "../tests/brute/mod.rs"]
mod brute;
#[path = "../tests/prover/mod.rs"]
mod prover;

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let (count, first) = (given.next().unwrap_or(2_000), given.next().unwrap_or(0));
    let mut engines = prover::Engines::new();
    let (mut compared, mut seed) = (0, first);
    while compared < count {
        if agreement::agrees(&mut engines, seed) {
            compared += 1;
        }
        agreement::agrees_on_any(&mut engines, seed);
        agreement::bounded_agrees(&mut engines, seed);
        seed += 1;
        if seed % 500 == 0 {
            println!("{compared} compared, {seed} seeds");
        }
    }
    println!("{compared} systems: all agree");
}
