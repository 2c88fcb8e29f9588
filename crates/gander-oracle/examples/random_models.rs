//! Compares random models of a language with their meaning by brute force: `random_models LANGUAGE
//! COUNT [FIRST SEED]`, where the language is the extension of its files, or `all`. Every
//! disagreement is counted, the smallest is shown. With `--write FOLDER` the models are written to
//! files instead, each with a file of the expected answers.

use std::io::{Error, Write};

#[path = "../tests/languages/mod.rs"]
mod languages;

use gander_oracle::languages::{Language, model};

fn main() -> std::io::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let folder = words
        .iter()
        .position(|w| w == "--write")
        .map(|at| words.drain(at..).nth(1).unwrap_or_default());
    let name = words.first().ok_or_else(|| Error::other("which language?"))?;
    let chosen: Vec<Language> =
        Language::ALL.into_iter().filter(|l| name == "all" || l.extension() == name).collect();
    let mut numbers = words[1..].iter().filter_map(|a| a.parse::<u64>().ok());
    let count = numbers.next().unwrap_or(1_000);
    let first = numbers.next().unwrap_or(0);
    let mut out = std::io::stdout();
    for language in chosen {
        if let Some(folder) = &folder {
            for seed in first..first + count {
                let Some(model) = model(language, seed) else { continue };
                let stem = format!("{folder}/{seed}.{}", language.extension());
                std::fs::write(&stem, &model.text)?;
                let expected: Vec<String> =
                    model.claims.iter().map(|(n, e)| format!("{n} {e:?}\n")).collect();
                std::fs::write(format!("{stem}.expected"), expected.concat())?;
            }
            continue;
        }
        let mut tally = languages::Tally::default();
        let mut disagreements: Vec<String> = Vec::new();
        let mut seed = first;
        while ((tally.models + tally.too_large + disagreements.len()) as u64) < count {
            if let Err(message) = languages::compare(language, seed, &mut tally) {
                disagreements.push(message);
            }
            seed += 1;
        }
        disagreements.sort_by_key(String::len);
        for message in disagreements.iter().take(3) {
            writeln!(out, "{message}")?;
        }
        let name = language.extension();
        writeln!(
            out,
            "{name}: {} disagreements, {tally:?}, seeds {first} to {}",
            disagreements.len(),
            seed - 1
        )?;
    }
    Ok(())
}
