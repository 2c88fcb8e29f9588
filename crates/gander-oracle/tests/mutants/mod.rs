//! Mutated BTOR2 files: the front-end's acceptance and answers against a strict reader.

use gander_lang::{Code, btor2};
use gander_oracle::languages::{Expected, Language, model, mutate, read_btor2};
use gander_oracle::{Limits, decide};

/// Results of comparing some texts.
#[derive(Default, Debug)]
pub struct Mutants {
    pub accepted: usize,
    pub rejected: usize,
    /// Number of texts with features that the front-end reports as unsupported.
    pub unsupported: usize,
    pub holds: usize,
    pub fails: usize,
    /// Number of claims that one side does not decide.
    pub open: usize,
}

/// The text of a seed: one of the given files or a random model, mutated.
pub fn mutant(files: &[String], seed: u64) -> Option<String> {
    let text = match seed % 3 {
        0 if !files.is_empty() => files[(seed / 3) as usize % files.len()].clone(),
        _ => model(Language::Btor2, seed)?.text,
    };
    Some(mutate(&text, seed))
}

/// Compares a text.
pub fn compare(text: &str, tally: &mut Mutants) -> Result<(), String> {
    let strict = read_btor2(text);
    let loaded = btor2::load(text, "mutated.btor2");
    let errors: Vec<_> = loaded.errors().collect();
    if errors.iter().any(|d| d.code == Code::E0510) {
        tally.unsupported += 1;
        return Ok(());
    }
    let claims = match (strict, errors.is_empty()) {
        (Ok(claims), true) => claims,
        (Err(_), false) => {
            tally.rejected += 1;
            return Ok(());
        }
        (Ok(_), false) => {
            return Err(format!("is well-formed, but refused: {}", errors[0].message));
        }
        (Err(why), true) => return Err(format!("is accepted, but: {why}")),
    };
    tally.accepted += 1;
    for system in loaded.system.iter().chain(&loaded.others) {
        let answers = decide(system, Limits::default()).unwrap_or_default();
        for (i, claim) in system.claims().iter().enumerate() {
            let expected = claims.iter().find(|(name, _)| *name == claim.name).map(|(_, e)| *e);
            match (expected, answers.get(i)) {
                (Some(Expected::Holds), Some(Ok(a))) if a.holds => tally.holds += 1,
                (Some(Expected::Fails), Some(Ok(a))) if !a.holds => tally.fails += 1,
                (Some(Expected::Holds | Expected::Fails), Some(Ok(a))) => {
                    return Err(format!(
                        "{} must be {expected:?}, the system says {}",
                        claim.name, a.holds
                    ));
                }
                _ => tally.open += 1,
            }
        }
    }
    Ok(())
}

/// The BTOR2 files of the corpus.
pub fn corpus() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/btor2");
    let mut files = Vec::new();
    for folder in ["holds", "fails", "error"] {
        let Ok(entries) = std::fs::read_dir(format!("{root}/{folder}")) else { continue };
        let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
        paths.sort();
        files.extend(paths.iter().filter_map(|p| std::fs::read_to_string(p).ok()));
    }
    files
}
