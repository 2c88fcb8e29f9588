//! `gander certify`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use gander::certify::{Certified, CheckLimits, Checker, Rejection, Trust};
use gander::smt::Solvers;
use gander::{InternalErrorFile, LoadOptions, Recheck, read_input, recheck_evidence};

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
    let mut checker = checker(args, &solvers, begun)?;
    let Recheck { claim, verdict, outcome } =
        recheck_evidence(&model, &evidence, &solvers, &mut checker)?;
    Ok(show(&claim, verdict.word(), outcome, output))
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
