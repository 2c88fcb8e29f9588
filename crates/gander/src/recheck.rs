//! Checks an evidence file against a model again: what `gander certify` does.

use std::sync::Arc;

use gander_certify::{Certified, Checker, Rejection};
use gander_report::NO_RUN;
use gander_smt::Solvers;
use gander_system::{Decided, System, Verdict, read_evidence_text};
use gander_text::message;

use crate::decide::{ambiguity_of, check_contract_tree, has_no_run, is_contract_tree, needs_a_run};
use crate::model::Model;

/// What came of the check of an evidence file.
#[derive(Debug)]
pub struct Recheck {
    /// The claim that it is about.
    pub claim: String,
    /// The verdict that it states.
    pub verdict: Decided,
    /// Whether it shows that.
    pub outcome: Result<Certified, Rejection>,
}

/// Checks the text of an evidence file against a model that has a system. The error says why the
/// text is no evidence about it.
pub fn recheck_evidence(
    model: &Model,
    evidence: &str,
    solvers: &Arc<Solvers>,
    checker: &mut Checker,
) -> Result<Recheck, String> {
    let json: Option<serde_json::Value> = serde_json::from_str(evidence).ok();
    // The evidence names its system.
    let about = json.as_ref().and_then(|json| json["system"].as_str());
    // The systems of a script with bounded and unbounded goals have the same name.
    let named: Vec<&Arc<System>> =
        model.systems().iter().filter(|s| Some(s.name()) == about).collect();
    let fits = |s: &&Arc<System>| {
        let (system, _) = System::clone(s).and_run_claim();
        read_evidence_text(&system, evidence).is_ok()
    };
    let chosen = named.iter().copied().find(fits).or(named.first().copied());
    let Some(chosen) = chosen.or(model.systems().first()) else {
        return Err("the model has no system".to_string());
    };
    let (system, _) = System::clone(chosen).and_run_claim();
    let tree = json.filter(is_contract_tree);
    if let (Some(tree), Some(modules)) = (tree, model.modules()) {
        let claim = tree["claim"].as_str().unwrap_or_default().to_string();
        let outcome = check_contract_tree(modules, &tree, checker).map(|(_, certified)| certified);
        let outcome = outcome.and_then(|certified| with_a_run(&system, solvers, certified));
        return Ok(Recheck { claim, verdict: Decided::Holds, outcome });
    }
    let file = read_evidence_text(&system, evidence)
        .map_err(|e| message(&format!("the evidence does not fit the model: {e}")))?;
    let claim = system.claims()[file.claim.index()].name.clone();
    let stated = file.verdict;
    let verdict = match file.verdict {
        Decided::Holds => Verdict::Holds(file.evidence),
        Decided::Fails => Verdict::Fails(file.evidence),
    };
    let outcome = checker.check(&system, file.claim, &verdict).and_then(|certified| {
        match ambiguity_of(&system, &verdict) {
            Some(ambiguity) => Err(Rejection::Undecided(ambiguity.to_string())),
            None if needs_a_run(&system, &verdict) => with_a_run(&system, solvers, certified),
            None => Ok(certified),
        }
    });
    Ok(Recheck { claim, verdict: stated, outcome })
}

/// Rejects evidence about a system without a run.
fn with_a_run(
    system: &System,
    solvers: &Arc<Solvers>,
    certified: Certified,
) -> Result<Certified, Rejection> {
    if has_no_run(system, solvers) {
        return Err(Rejection::Wrong(format!("{NO_RUN}, so it shows nothing")));
    }
    Ok(certified)
}
