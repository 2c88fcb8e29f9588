//! Mutated BTOR2 files are read strictly; `examples/mutated_models.rs` compares more of them.

mod mutants;

#[test]
fn mutated_btor2_files_are_read_as_strictly_as_btor2tools_reads_them() {
    let files = mutants::corpus();
    assert!(files.len() > 3);
    let mut tally = mutants::Mutants::default();
    for seed in 0..2_000 {
        let Some(text) = mutants::mutant(&files, seed) else { continue };
        if let Err(message) = mutants::compare(&text, &mut tally) {
            panic!("seed {seed}: {message}\n{text}");
        }
    }
    assert!(
        tally.accepted > 200 && tally.rejected > 500 && tally.holds + tally.fails > 100,
        "{tally:?}"
    );
}
