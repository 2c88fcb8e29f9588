//! Verdicts of a whole check, with all engines, on random models of a language, against their
//! meaning by brute force.

use std::time::Duration;

use gander::{CheckOptions, FileForm, Findings, StructuralChecks, check_source};
use gander_oracle::languages::{Expected, Language, model};

/// What came of checking some models.
#[derive(Default, Debug)]
pub struct Tally {
    pub models: usize,
    pub holds: usize,
    pub fails: usize,
    /// Claims that must not count as proved, as there is no run, and do not.
    pub no_run: usize,
    /// Claims with two readings that differ, and *unknown* as they must be.
    pub ambiguous: usize,
    /// Claims that the definition of the language does not decide.
    pub unspecified: usize,
    /// Claims that are *unknown* although brute force decides them.
    pub unknown: usize,
}

/// Checks the model of a seed; says what is wrong.
pub fn compare(
    language: Language,
    seed: u64,
    seconds: u64,
    tally: &mut Tally,
) -> Result<(), String> {
    let Some(model) = model(language, seed) else { return Ok(()) };
    let options = CheckOptions {
        checks: StructuralChecks::None,
        findings: Findings::LeftOut,
        timeout: Some(Duration::from_secs(seconds)),
        file_form: FileForm::LeftOut,
        ..CheckOptions::default()
    };
    let file = format!("random.{}", language.extension());
    let view = check_source(&model.text, &file, &options);
    let wrong = |what: String| Err(format!("{file} seed {seed}: {what}\n{}", model.text));
    if view.has_errors() {
        let messages: Vec<String> =
            view.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
        return wrong(format!("does not load: {messages:?}"));
    }
    tally.models += 1;
    for (name, expected) in &model.claims {
        let Some(claim) = view.claims.iter().find(|c| c.name == *name) else {
            return wrong(format!("the claim {name} is not in the report"));
        };
        let verdict = claim.verdict.word();
        if !expected.agrees(verdict) {
            return wrong(format!("{name} must be {expected:?}, the verdict is {verdict}"));
        }
        match (expected, verdict) {
            (Expected::Unspecified, _) => tally.unspecified += 1,
            (Expected::NoRun, _) => tally.no_run += 1,
            (Expected::Ambiguous, _) => tally.ambiguous += 1,
            (_, "holds") => tally.holds += 1,
            (_, "fails") => tally.fails += 1,
            _ => tally.unknown += 1,
        }
    }
    Ok(())
}
