//! Random models of a language: what their claims must be against the oracle's answers about the system that the
//! front-end makes.

use gander_lang::language_of;
use gander_oracle::languages::{Expected, Language, Model, model};
use gander_oracle::{Limits, Reachable, decide};

/// Models are small; what takes longer is refused.
const LIMITS: Limits = Limits { states: 2_000, work: 3_000_000 };

/// What came of comparing some models.
#[derive(Default, Debug)]
pub struct Tally {
    pub models: usize,
    pub holds: usize,
    pub fails: usize,
    /// Claims of systems without any run.
    pub no_run: usize,
    /// Claims that the definition of the language does not decide, or that have two readings.
    pub open: usize,
    /// Claims that the oracle refuses to decide.
    pub refused: usize,
    /// Seeds whose model has too many states.
    pub too_large: usize,
}

/// Compares the model of a seed.
pub fn compare(language: Language, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let Some(model) = model(language, seed) else {
        tally.too_large += 1;
        return Ok(());
    };
    compare_model(language, &model, tally)
        .map_err(|e| format!("{} seed {seed}: {e}\n{}", language.extension(), model.text))
}

fn compare_model(language: Language, model: &Model, tally: &mut Tally) -> Result<(), String> {
    let file = format!("random.{}", language.extension());
    let reader = language_of(&file).ok_or("no such language")?;
    let loaded = (reader.load)(&model.text, &file);
    let errors: Vec<String> = loaded.errors().map(|d| format!("{:?} {}", d.code, d.message)).collect();
    if !errors.is_empty() {
        return Err(format!("does not load: {errors:?}"));
    }
    tally.models += 1;
    let mut seen = 0;
    for system in loaded.system.iter().chain(&loaded.others) {
        // The node before the first states of Horn clauses is no run.
        let waits = |node| system.entry == Some(node);
        let no_run =
            Reachable::explore(system, &system.pool, LIMITS).is_ok_and(|g| g.states.iter().all(|s| waits(s.0)));
        let answers = decide(system, LIMITS).unwrap_or_default();
        for (i, claim) in system.claims.iter().enumerate() {
            let Some((name, expected)) = model.claims.iter().find(|(name, _)| *name == claim.name) else { continue };
            seen += 1;
            let Some(Ok(answer)) = answers.get(i) else {
                tally.refused += 1;
                continue;
            };
            let holds = answer.holds;
            match expected {
                Expected::Holds if holds => tally.holds += 1,
                Expected::Fails if !holds => tally.fails += 1,
                Expected::NoRun if no_run => tally.no_run += 1,
                Expected::Ambiguous | Expected::Unspecified => tally.open += 1,
                _ => return Err(format!("{name} must be {expected:?}, the system says {holds}")),
            }
        }
    }
    if seen < model.claims.len() {
        return Err(format!("{} claims, but {seen} in the system", model.claims.len()));
    }
    Ok(())
}
