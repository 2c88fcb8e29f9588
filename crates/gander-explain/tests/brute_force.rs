//! Every algorithm agrees with brute force over all sets of parts, on random systems;
//! `examples/brute_force.rs` runs more of them.

mod agreement;
mod brute;
mod prover;

#[test]
fn all_algorithms_agree_on_random_invariants() {
    let mut engines = prover::Engines::new();
    let compared = (0..).filter(|&seed| agreement::agrees(&mut engines, seed)).take(50).count();
    assert_eq!(compared, 50);
}

#[test]
fn cores_of_every_kind_of_claim_agree() {
    let mut engines = prover::Engines::new();
    let mut compared: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    for seed in 0..300 {
        if let Some(kind) = agreement::agrees_on_any(&mut engines, seed) {
            *compared.entry(kind).or_default() += 1;
        }
    }
    let kinds: Vec<&str> = compared.keys().copied().collect();
    let expected = [
        "always-eventually",
        "can-enable",
        "chain",
        "completable",
        "eventually",
        "exists-always",
        "infinite-run",
        "leads-to",
        "no-deadlock",
        "no-sinkhole",
        "reachable",
        "start-satisfiable",
    ];
    assert_eq!(kinds, expected, "{compared:?}");
}

#[test]
fn bounded_cores_of_every_kind_of_claim_agree() {
    let mut engines = prover::Engines::new();
    let mut compared: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    for seed in 0..200 {
        if let Some(kind) = agreement::bounded_agrees(&mut engines, seed) {
            *compared.entry(kind).or_default() += 1;
        }
    }
    let kinds: Vec<&str> = compared.keys().copied().collect();
    let expected = [
        "can-enable",
        "chain",
        "completable",
        "no-deadlock",
        "no-sinkhole",
        "reachable",
        "start-satisfiable",
    ];
    assert_eq!(kinds, expected, "{compared:?}");
}
