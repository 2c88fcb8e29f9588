//! `gander simulate --replay`: a simulation that begins with the run of an evidence file.

use std::sync::Arc;

use gander::system::{Decided, Evidence, Run, System, read_evidence_text};
use gander::{read_input, run_of_evidence};
use gander_text::{message, shown};

use super::session::Session;
use crate::command::inputs::unreadable;
use crate::process::Output;

/// The run of an evidence file.
pub struct Replayed {
    /// The system that it is about, with the claims of its author.
    pub system: Arc<System>,
    pub run: Run,
    claim: String,
    verdict: Decided,
    /// The last state of an infinite run is that of this step.
    back_to: Option<u64>,
}

impl Replayed {
    /// Reads the file. The error says what is wrong with it.
    pub fn read(
        file: &str,
        systems: &[Arc<System>],
        root: Option<&str>,
    ) -> Result<Replayed, String> {
        let text = read_input(file).map_err(|e| unreadable(file, &e).message)?;
        let json = serde_json::from_str::<serde_json::Value>(&text).ok();
        let about = json.as_ref().and_then(|json| json["system"].as_str());
        // The systems of a script with bounded and unbounded goals have the same name.
        let named = || systems.iter().filter(|s| Some(s.name()) == root.or(about));
        let fits = |s: &&Arc<System>| {
            let (whole, _) = System::clone(s).and_structural_claims().and_run_claim();
            read_evidence_text(&whole, &text).is_ok()
        };
        let Some(system) = named().find(fits).or(named().next()).or(systems.first()) else {
            return Err("the model has no system".to_string());
        };
        // The evidence may be about a structural claim.
        let (whole, _) = System::clone(system).and_structural_claims().and_run_claim();
        let read = read_evidence_text(&whole, &text)
            .map_err(|e| message(&format!("the evidence does not fit the model: {e}")))?;
        let claim = whole.claims()[read.claim.index()].name.clone();
        let Some(run) = run_of_evidence(&read.evidence) else {
            return Err(format!(
                "the evidence that {} {} is a proof, not a run; `gander certify` checks it",
                shown(&claim),
                read.verdict.word()
            ));
        };
        let back_to = match &read.evidence {
            Evidence::Lasso { back_to, .. } => Some(*back_to),
            _ => None,
        };
        let (run, verdict) = (run.clone(), read.verdict);
        Ok(Replayed { system: Arc::clone(system), run, claim, verdict, back_to })
    }

    /// Says what was replayed, and prints the run if commands are typed after it.
    pub fn tell(&self, session: &mut dyn Session, output: &mut Output) {
        let steps = match self.run.length() {
            1 => "1 step".to_string(),
            n => format!("{n} steps"),
        };
        let (claim, word) = (shown(&self.claim), self.verdict.word());
        output.put(&format!("replayed: {claim} {word}, {steps}\n"));
        if let Some(back) = self.back_to {
            output.put(&format!(
                "the last state is that of step {back}; what follows it repeats for ever\n"
            ));
        }
        if super::session::is_interactive() {
            session.print_run(output);
        }
    }
}
