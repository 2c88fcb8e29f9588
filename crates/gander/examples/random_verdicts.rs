//! Checks random models of a language with all engines and compares the verdicts with brute force:
//! `random_verdicts LANGUAGE COUNT [FIRST SEED]`, where the language is the extension of its files,
//! or `all`. The example `random_models` of `gander-oracle` compares systems without engines, and
//! is much faster.

use std::io::{Error, Write};

#[path = "../tests/random_models/verdicts.rs"]
mod verdicts;

use gander_oracle::languages::Language;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().ok_or_else(|| Error::other("which language?"))?;
    let mut numbers = words[1..].iter().filter_map(|a| a.parse::<u64>().ok());
    let count = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let mut out = std::io::stdout();
    for language in Language::ALL.into_iter().filter(|l| name == "all" || l.extension() == name) {
        let mut tally = verdicts::Tally::default();
        let mut disagreements: Vec<String> = Vec::new();
        for seed in first..first + count {
            if let Err(message) = verdicts::compare(language, seed, 20, &mut tally) {
                writeln!(out, "{message}")?;
                disagreements.push(message);
            }
        }
        disagreements.sort_by_key(String::len);
        if let Some(smallest) = disagreements.first() {
            writeln!(out, "the smallest:\n{smallest}")?;
        }
        let number = disagreements.len();
        writeln!(
            out,
            "{}: {number} disagreements, {tally:?}, {count} seeds from {first}",
            language.extension()
        )?;
    }
    Ok(())
}
