//! Files that a check writes: runs, evidence, internal errors.

use std::path::PathBuf;

use gander::engines::Outcome;
use gander::report::describe::trace_streams;
use gander::report::{DiagnosticView, Origin, Severity, VerdictView, streams_csv, streams_vcd};
use gander::system::{Evidence, Run, System, Verdict, write_evidence};
use gander::{CheckOptions, Checked, InternalErrorFile, evidence_file_name, trace_file_name};
use gander_io::write::{Target, replace};
use gander_text::{shown, shown_path};

use super::error;
use crate::command::args::CheckArgs;
use crate::command::provenance::Versions;

/// Writes the runs of verdicts as files for other tools.
pub(super) fn save_traces(file: &str, args: &CheckArgs, checked: &mut Checked) {
    let Some(folder) = &args.save_traces else { return };
    let mut problems = Vec::new();
    let mut others = 0;
    for claim in &checked.view.claims {
        let trace = claim
            .verdict
            .evidence()
            .and_then(|e| e.shown.trace())
            .filter(|_| claim.origin != Origin::Structural);
        let Some(trace) = trace else { continue };
        let made = match &trace.streams {
            Some(_) => None,
            None => run_of(checked, &claim.name)
                .and_then(|(system, run)| trace_streams(system, run, trace)),
        };
        let Some(streams) = trace.streams.as_deref().or(made.as_ref()) else {
            others += 1;
            continue;
        };
        for (extension, text) in [("csv", streams_csv(streams)), ("vcd", streams_vcd(streams))] {
            let path = folder.join(trace_file_name(file, &claim.name, extension));
            if let Err(problem) = replace(&path, text.as_bytes(), Target::Managed) {
                problems.push(error("unwritable", &problem.to_string()));
            }
        }
    }
    if others > 0 {
        let runs = if others == 1 { "1 run is".to_string() } else { format!("{others} runs are") };
        let message = format!("{}: {runs} too long for --save-traces", shown(file));
        let help = "`--save-evidence` keeps every run".to_string();
        let warning = DiagnosticView::plain("no-trace-file", Severity::Warning, message, [help]);
        problems.push(warning);
    }
    checked.view.diagnostics.extend(problems);
}

/// The run that decided a claim, with its system.
fn run_of<'c>(checked: &'c Checked, claim: &str) -> Option<(&'c System, &'c Run)> {
    checked.systems.iter().find_map(|(system, report)| {
        let named = |o: &&Outcome| system.claims()[o.claim.index()].name == claim;
        match &report.outcomes.iter().find(named)?.verdict {
            Verdict::Holds(evidence) | Verdict::Fails(evidence) => match evidence {
                Evidence::Run(run)
                | Evidence::Lasso { run, .. }
                | Evidence::Recurrent { run, .. }
                | Evidence::Impossible { run, .. } => Some((&**system, run)),
                _ => None,
            },
            Verdict::Unknown { .. } => None,
        }
    })
}

/// Writes the evidence of every verdict. A failure is an error.
pub(super) fn save_evidence(
    file: &str,
    source: &str,
    args: &CheckArgs,
    checked: &mut Checked,
    options: &CheckOptions,
) {
    let Some(folder) = &args.save_evidence else { return };
    let mut versions = Versions::new(options.solvers.clone());
    let mut files: Vec<(&str, serde_json::Value)> = Vec::new();
    let vacuous: Vec<&str> = checked
        .view
        .claims
        .iter()
        .filter(|c| c.verdict == VerdictView::Vacuous)
        .map(|c| c.name.as_str())
        .collect();
    for (system, report) in &checked.systems {
        for outcome in &report.outcomes {
            let name = &system.claims()[outcome.claim.index()].name;
            if vacuous.contains(&name.as_str()) {
                continue;
            }
            let Ok(json) = write_evidence(system, outcome.claim, &outcome.verdict) else {
                continue;
            };
            files.push((name, json));
        }
    }
    let trees = checked.trees.iter().filter(|(claim, _)| !vacuous.contains(&claim.as_str()));
    files.extend(trees.map(|(claim, json)| (claim.as_str(), json.clone())));
    let mut problems = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (claim, mut json) in files {
        let shown = checked.view.claims.iter().find(|c| c.name == claim);
        json["provenance"] = versions.provenance(source, shown).to_json();
        // The systems of a file may have claims of the same name.
        let mut name = evidence_file_name(file, claim);
        let mut number = 2;
        while names.contains(&name) {
            name = evidence_file_name(file, &format!("{claim} {number}"));
            number += 1;
        }
        let path = folder.join(&name);
        names.push(name);
        let mut content = serde_json::to_vec_pretty(&json).unwrap_or_default();
        content.push(b'\n');
        if let Err(problem) = replace(&path, &content, Target::Managed) {
            problems.push(error("unwritable", &problem.to_string()));
        }
    }
    checked.view.diagnostics.extend(problems);
}

/// Writes a file for every internal error, and adds to its message what to do with the file.
pub(super) fn save_internal_errors(
    file: &str,
    source: &str,
    args: &CheckArgs,
    checked: &mut Checked,
) {
    let folder = args.save_evidence.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut texts = std::mem::take(&mut checked.view.internal_errors);
    let errors = checked
        .systems
        .iter()
        .flat_map(|(system, report)| report.internal_errors.iter().map(move |e| (system, e)));
    for ((system, error), text) in errors.zip(&mut texts) {
        let record = InternalErrorFile {
            file: file.to_string(),
            model: source.to_string(),
            engine: error.engine.clone(),
            problem: error.problem.clone(),
            evidence: write_evidence(system, error.claim, &error.verdict).unwrap_or_default(),
        };
        match record.save(&folder, &system.claims()[error.claim.index()].name) {
            Ok(path) => text.push_str(&format!(
                "\n  this is an error of gander, not of the model, and no verdict is given\n  please report it with the file \
                 {0}, which `gander certify {0}` checks again",
                shown_path(&path)
            )),
            Err(problem) => text.push_str(&format!("\n  no file to reproduce it could be written: {problem}")),
        }
    }
    checked.view.internal_errors = texts;
}
