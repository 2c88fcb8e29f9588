//! The front-end for scripts agrees with docs/script.md, on random scripts;
//! `examples/random_scripts.rs` compares more of them.

mod scripts;

#[test]
fn systems_of_scripts_have_the_answers_of_the_reference() {
    let mut tally = scripts::Tally::default();
    for seed in 0..400 {
        if let Err(message) = scripts::compare(seed, &mut tally) {
            panic!("{message}");
        }
    }
    let decided = tally.holds + tally.fails;
    assert!(
        tally.scripts > 250 && tally.with_processes > 100 && tally.refused * 10 < decided,
        "{tally:?}"
    );
    assert!(tally.holds > 200 && tally.fails > 200, "{tally:?}");
}
