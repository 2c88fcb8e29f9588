//! Random models of a language: their expected answers against the oracle's answers about the
//! system that the front-end builds.

use gander_lang::language_of;
use gander_oracle::languages::{Expected, Language, Model, model};
use gander_oracle::{Limits, Reachable, decide};
use gander_system::ClaimKind;

/// Models are small; claims that exceed these limits are refused.
const LIMITS: Limits = Limits { states: 2_000, work: 3_000_000 };

/// Results of comparing some models.
#[derive(Default, Debug)]
pub struct Tally {
    pub models: usize,
    pub holds: usize,
    pub fails: usize,
    /// Number of claims of systems without a run.
    pub no_run: usize,
    /// Number of claims that the definition of the language does not decide, or that have two
    /// readings.
    pub open: usize,
    /// Number of claims that the oracle refuses.
    pub refused: usize,
    /// Number of seeds whose model has too many states.
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

/// True if a claim that holds about all runs holds about fewer runs, too.
fn is_safety(kind: &ClaimKind) -> bool {
    matches!(kind, ClaimKind::Always(..))
}

fn compare_model(language: Language, model: &Model, tally: &mut Tally) -> Result<(), String> {
    let file = format!("random.{}", language.extension());
    let reader = language_of(&file).ok_or("no such language")?;
    let loaded = (reader.load)(&model.text, &file);
    let errors: Vec<String> =
        loaded.errors().map(|d| format!("{:?} {}", d.code, d.message)).collect();
    if !errors.is_empty() {
        return Err(format!("does not load: {errors:?}"));
    }
    tally.models += 1;
    let mut seen = 0;
    for wide in loaded.system.iter().chain(&loaded.others) {
        // The interpreter assumes the assertions of called nodes, as the narrow reading does. What
        // holds in the wide reading holds in the narrow one.
        let narrow = wide.narrow_reading();
        let wide_answers = narrow.as_ref().and_then(|_| decide(wide, LIMITS).ok());
        let system = narrow.as_ref().unwrap_or(wide);
        // For Horn clauses, the node before the first states is not a run.
        let waits = |node| system.entry() == Some(node);
        let no_run = Reachable::explore(system, system.pool(), LIMITS)
            .is_ok_and(|g| g.states.iter().all(|s| waits(s.0)));
        let answers = decide(system, LIMITS).unwrap_or_default();
        for (i, claim) in system.claims().iter().enumerate() {
            let Some((name, expected)) = model.claims.iter().find(|(name, _)| *name == claim.name)
            else {
                continue;
            };
            seen += 1;
            let Some(Ok(answer)) = answers.get(i) else {
                tally.refused += 1;
                continue;
            };
            let holds = answer.holds;
            let in_wide = wide_answers.as_ref().and_then(|all| all.get(i)?.as_ref().ok());
            if in_wide.is_some_and(|wide| wide.holds && is_safety(&claim.kind) && !holds) {
                return Err(format!("{name} holds in the wide reading only"));
            }
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
