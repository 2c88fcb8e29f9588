//! `gander certify`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use gander::certify::{Certified, CheckLimits, Checker, Rejection, Trust};
use gander::report::NO_RUN;
use gander::smt::Solvers;
use gander::system::{Decided, EvidenceFile, read_evidence_text};
use gander::system::{System, Verdict};
use gander::{
    InternalErrorFile, LoadOptions, ambiguity_of, check_contract_tree, has_no_run,
    is_contract_tree, needs_a_run, read_input,
};

use gander_text::{message, shown};

use super::args::CertifyArgs;
use super::inputs::{find_solvers, load_model, unreadable};
use super::provenance::other_model;
use crate::process::{Output, WRONG};

pub fn run(args: &CertifyArgs, load: LoadOptions, output: &mut Output) -> u8 {
    match certify(args, load, output) {
        Ok(code) => code,
        Err(message) => {
            output.error(&message);
            WRONG
        }
    }
}

/// The text of a file, or what is wrong with it.
fn text_of(file: &str) -> Result<String, String> {
    read_input(file).map_err(|e| unreadable(file, &e).message)
}

fn certify(args: &CertifyArgs, load: LoadOptions, output: &mut Output) -> Result<u8, String> {
    let mut text = text_of(&args.model)?;
    let mut name = args.model.clone();
    let evidence = match &args.evidence {
        Some(file) => text_of(file)?,
        None => {
            let record = InternalErrorFile::from_json(&text)
                .ok_or("name the file with the evidence, too: gander certify MODEL EVIDENCE")?;
            if record.evidence.is_null() {
                let (engine, problem) = (message(&record.engine), message(&record.problem));
                return Err(format!("the file has no evidence: {engine} broke, {problem}"));
            }
            text = record.model;
            // Only the file name counts: included files are read from the folder of the file that
            // the user named.
            let own = Path::new(&record.file).file_name().unwrap_or_default();
            name = Path::new(&args.model).with_file_name(own).to_string_lossy().into_owned();
            record.evidence.to_string()
        }
    };
    let begun = Instant::now();
    let model = match load_model(&text, &name, &load, &args.limits, output) {
        Ok(model) if !model.systems().is_empty() => model,
        Ok(_) => return Ok(WRONG),
        Err(code) => return Ok(code),
    };
    if let Some(warning) =
        serde_json::from_str(&evidence).ok().and_then(|file| other_model(&text, &file))
    {
        output.write_err(&format!("{} {warning}\n", output.paint_err().open("warning:")));
    }
    let solvers = find_solvers(&args.solvers)?;
    let tree = serde_json::from_str(&evidence).ok().filter(is_contract_tree);
    // The evidence names its system.
    let about = serde_json::from_str::<serde_json::Value>(&evidence).ok();
    let about = about.as_ref().and_then(|json| json["system"].as_str());
    // The systems of a script with bounded and unbounded goals have the same name.
    let named: Vec<&Arc<System>> =
        model.systems().iter().filter(|s| Some(s.name()) == about).collect();
    let fits = |s: &&Arc<System>| {
        let (system, _) = System::clone(s).and_run_claim();
        read_evidence_text(&system, &evidence).is_ok()
    };
    let chosen = named.iter().copied().find(fits).or(named.first().copied());
    let (system, _) = System::clone(chosen.unwrap_or(&model.systems()[0])).and_run_claim();
    if let (Some(tree), Some(modules)) = (tree, model.modules()) {
        let mut checker = checker(args, &solvers, begun)?;
        let claim = tree["claim"].as_str().unwrap_or_default().to_string();
        let outcome =
            check_contract_tree(modules, &tree, &mut checker).map(|(_, certified)| certified);
        let outcome = outcome.and_then(|certified| with_a_run(&system, &solvers, certified));
        return Ok(show(&claim, Decided::Holds.word(), outcome, output));
    }
    let file = read_evidence_text(&system, &evidence)
        .map_err(|e| message(&format!("the evidence does not fit the model: {e}")))?;
    let mut checker = checker(args, &solvers, begun)?;
    Ok(judge(&system, file, &mut checker, &solvers, output))
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

fn checker(args: &CertifyArgs, solvers: &Arc<Solvers>, begun: Instant) -> Result<Checker, String> {
    let total = args.limits.timeout.map(|t| t.saturating_sub(begun.elapsed()));
    let limits = CheckLimits { total, memory: args.limits.memory, ..CheckLimits::default() };
    match &args.second_opinion {
        Some(solver) => Checker::with_solver(solvers, limits, solver)
            .ok_or_else(|| format!("the solver `{solver}` was not found")),
        None => {
            let trust = args.trust.unwrap_or(Trust::Agreement);
            Ok(Checker::new(solvers, CheckLimits { trust, ..limits }))
        }
    }
}

fn judge(
    system: &System,
    file: EvidenceFile,
    checker: &mut Checker,
    solvers: &Arc<Solvers>,
    output: &mut Output,
) -> u8 {
    let claim = &system.claims()[file.claim.index()].name;
    let word = file.verdict.word();
    let verdict = match file.verdict {
        Decided::Holds => Verdict::Holds(file.evidence),
        Decided::Fails => Verdict::Fails(file.evidence),
    };
    let outcome = checker.check(system, file.claim, &verdict).and_then(|certified| {
        match ambiguity_of(system, &verdict) {
            Some(ambiguity) => Err(Rejection::Undecided(ambiguity.to_string())),
            None if needs_a_run(system, &verdict) => with_a_run(system, solvers, certified),
            None => Ok(certified),
        }
    });
    show(claim, word, outcome, output)
}

fn show(claim: &str, word: &str, outcome: Result<Certified, Rejection>, output: &mut Output) -> u8 {
    let paint = output.paint_out();
    let claim = shown(claim);
    match outcome {
        Ok(certified) => {
            let how = match (certified.queries, certified.certificates) {
                (0, 0) => "by evaluation".to_string(),
                (0, _) => "by proofs that were verified".to_string(),
                _ => certified.basis.to_string(),
            };
            output.put(&format!("{} {claim} {word} ({how})\n", paint.good("accepted:")));
            for warning in &certified.warnings {
                output.put(&format!("{} {}\n", paint.open("warning:"), message(warning)));
            }
            0
        }
        Err(Rejection::Wrong(why)) => {
            output.put(&format!(
                "{} the evidence that {claim} {word} is wrong: {}\n",
                paint.bad("rejected:"),
                message(&why)
            ));
            1
        }
        Err(Rejection::Undecided(why)) => {
            output.put(&format!(
                "{} that {claim} {word} could not be checked: {}\n",
                paint.open("undecided:"),
                message(&why)
            ));
            3
        }
    }
}
