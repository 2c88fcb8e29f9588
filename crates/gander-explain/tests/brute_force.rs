//! Brute force over all sets of parts agrees with every algorithm on random systems; `examples/brute_force.rs` does more of them.

mod agreement;
mod brute;
mod prover;

#[test]
fn fifty_random_systems() {
    let mut engines = prover::Engines::new();
    let compared = (0..).filter(|&seed| agreement::agrees(&mut engines, seed)).take(50).count();
    assert_eq!(compared, 50);
}
