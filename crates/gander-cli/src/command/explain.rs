//! `gander explain`: why properties hold, or what the code of a message means.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gander::engines::{Cancellation, NullObserver};
use gander::explanation::run_explanation::{Contrasting, RunRequest};
use gander::explanation::{CoreSelection, Grain, Granularity, Request};
use gander::lang::codes::CATALOGUE;
use gander::lang::{Code, nearest};
use gander::report::{
    Completeness, DiagnosticView, ExplainView, MutantFate, NoCore, PLAIN_WIDTH, RunText, Severity,
    TraceDetail, core_text, coverage, coverage_json, coverage_text, explain_json, explain_text,
    matrix_csv, matrix_html, matrix_text, mutation_csv, mutation_html, mutation_json,
    mutation_text, run_text, runs_html, streams_csv, streams_vcd,
};
use gander::{
    CheckOptions, ExplainOptions, Explained, LoadOptions, explain_source, trace_file_name,
};
use gander_io::write::{Target, create_folder, replace};
use gander_text::shown_path;

use super::args::{
    AlgorithmArg, AllArg, ExplainArgs, GranularityArg, MatrixArg, MutationArg, TraceArg,
};
use super::inputs::{read_model, solvers_for};
use crate::process::{Output, UNKNOWN, WRONG, cancel_on_signal};

pub fn run(args: &ExplainArgs, load: LoadOptions, output: &mut Output) -> u8 {
    let Some(target) = &args.target else {
        for entry in CATALOGUE {
            output.put(&format!("{}  {}\n", entry.code.as_str(), entry.title));
        }
        return 0;
    };
    let is_file = target == "-" || target.contains(['.', '/', '\\']) || Path::new(target).is_file();
    if is_file {
        explain_model(target, args, load, output).unwrap_or_else(|code| code)
    } else {
        explain_code(target, output)
    }
}

fn explain_code(text: &str, output: &mut Output) -> u8 {
    let Some(code) = Code::find(&text.to_ascii_uppercase()) else {
        let codes = CATALOGUE.iter().map(|e| e.code.as_str());
        let near = nearest(text, codes).map_or(String::new(), |n| format!("; did you mean {n}?"));
        output.error(&format!("there is no code `{text}`{near} (`gander explain` lists all)"));
        return WRONG;
    };
    let entry = code.entry();
    let head = output.paint_out().bold(&format!("{}: {}", code.as_str(), entry.title));
    output.put(&format!("{head}\n\n{}\n", entry.explanation));
    if !entry.example.is_empty() {
        output.put(&format!("\nFor example:\n\n    {}\n", entry.example));
    }
    0
}

fn core_selection(args: &ExplainArgs) -> CoreSelection {
    match args.all {
        Some(AllArg::Online) => CoreSelection::All,
        Some(AllArg::Offline) => CoreSelection::AllOffline,
        None if args.smallest => CoreSelection::Smallest,
        None if args.minimal || args.algorithm == Some(AlgorithmArg::Ucbf) => {
            CoreSelection::Minimal
        }
        None if args.algorithm == Some(AlgorithmArg::Bf) => CoreSelection::BruteForce,
        // Coverage marks need all cores.
        None if args.matrix.is_some() || args.coverage || args.mutation.is_some() => {
            CoreSelection::All
        }
        None => CoreSelection::One,
    }
}

/// Whether to find the elements that are in every core.
fn must(args: &ExplainArgs) -> bool {
    args.must || args.algorithm == Some(AlgorithmArg::Must)
}

fn explain_model(
    file: &str,
    args: &ExplainArgs,
    load: LoadOptions,
    output: &mut Output,
) -> Result<u8, u8> {
    let source = read_model(file, output)?;
    let solvers = solvers_for(&args.solvers, output)?;
    solvers.prepare();
    // An unreadable file is ignored: its cores are only suggestions.
    let earlier = args
        .from
        .as_ref()
        .map(|path| gander::read_input(&path.to_string_lossy()).unwrap_or_default());
    let mut options = ExplainOptions {
        check: CheckOptions {
            load,
            properties: args.property.clone(),
            engines: args.engine.clone(),
            timeout: args.limits.timeout,
            memory: args.limits.memory,
            solvers: Some(solvers),
            cache: args.cache.clone(),
            jobs: args.jobs,
            ..CheckOptions::default()
        },
        request: Request { cores: core_selection(args), must: must(args), cut_sets: args.cut_sets },
        bounded: args.bounded.clone(),
        vacuity: args.vacuity,
        runs: (shows_text(args) || wants_files(args)).then_some(request_for_runs(args)),
        granularity: if args.instances { Granularity::Instances } else { Granularity::Written },
        grain: match args.granularity {
            GranularityArg::Equations => None,
            GranularityArg::Conjuncts => Some(Grain::Conjuncts),
            GranularityArg::Branches => Some(Grain::Branches),
            GranularityArg::Operations => Some(Grain::Operations),
        },
        mutation: args.mutation.map(|_| args.mutant_time.unwrap_or(Duration::from_secs(2))),
        earlier,
        ..ExplainOptions::default()
    };
    if let Some(share) = args.share {
        options.share = share;
    }
    let cancel = Cancellation::new();
    cancel_on_signal(&cancel);
    let watching =
        args.all == Some(AllArg::Online) && !args.json && args.matrix.is_none() && !args.coverage;
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut found = |property: &str, names: &[String]| {
        if watching && args.output.is_none() {
            let at = counts.iter().position(|(p, _)| p == property).unwrap_or(counts.len());
            if at == counts.len() {
                counts.push((property.to_string(), 0));
            }
            counts[at].1 += 1;
            output.put(&core_text(property, counts[at].1, names));
            output.flush();
        }
    };
    let explained = explain_source(&source, file, &options, &cancel, &NullObserver, &mut found);
    if watching && args.output.is_none() && !counts.is_empty() {
        output.put("\n");
    }
    let shown = |d: &&DiagnosticView| d.severity == Severity::Error || d.code == "cache";
    output.write_diagnostics(explained.diagnostics.iter().filter(shown));
    for notice in &explained.notices {
        output.write_err(&format!("warning: {notice}\n"));
    }
    for e in &explained.internal_errors {
        output.error(e);
    }
    write(&explained, args, output)?;
    Ok(exit_code(&explained, args))
}

fn mutants(views: &[ExplainView], form: MutationArg, paint: gander::report::Paint) -> String {
    match form {
        MutationArg::Text => views.iter().map(|v| mutation_text(v, paint)).collect(),
        MutationArg::Csv => views.iter().map(mutation_csv).collect(),
        MutationArg::Html => mutation_html(views),
        MutationArg::Json => {
            let systems: Vec<serde_json::Value> = views.iter().map(mutation_json).collect();
            format!(
                "{}\n",
                serde_json::json!({ "schema": "gander-mutation/1", "systems": systems })
            )
        }
    }
}

/// True if the text about each property is printed.
fn shows_text(args: &ExplainArgs) -> bool {
    args.matrix.is_none() && !args.coverage && args.mutation.is_none()
}

/// True if runs are written to files.
fn wants_files(args: &ExplainArgs) -> bool {
    args.html.is_some() || args.save_traces.is_some()
}

fn request_for_runs(args: &ExplainArgs) -> RunRequest {
    RunRequest { contrast: if args.contrast { Contrasting::Sought } else { Contrasting::LeftOut } }
}

fn exit_code(explained: &Explained, args: &ExplainArgs) -> u8 {
    let unexplained = |status: NoCore| {
        explained.views.iter().any(|v| v.unexplained.iter().any(|u| u.status == status))
    };
    if !explained.internal_errors.is_empty() {
        4
    } else if explained.views.is_empty() && !explained.open {
        WRONG
    } else if (explained.failed && args.bounded.is_none()) || unexplained(NoCore::Fails) {
        1
    } else if explained.open || explained.views.iter().any(|v| is_incomplete(v, args)) {
        UNKNOWN
    } else {
        0
    }
}

/// True if something that was asked for is not known exactly.
fn is_incomplete(view: &ExplainView, args: &ExplainArgs) -> bool {
    let counts_matter = args.coverage || args.matrix.is_some();
    // One core may be larger than necessary.
    let only_one = core_selection(args) == CoreSelection::One && !must(args) && !args.cut_sets;
    (!only_one && view.completeness() != Completeness::Exact)
        || view
            .unexplained
            .iter()
            .any(|u| matches!(u.status, NoCore::Undecided | NoCore::NotDefined))
        || view.results.iter().any(|r| r.cores.is_empty())
        || (counts_matter && coverage(view).completeness != Completeness::Exact)
        || view.mutation.mutants.iter().any(|m| view.mutation.together(m) == MutantFate::Undecided)
}

fn write(explained: &Explained, args: &ExplainArgs, output: &mut Output) -> Result<(), u8> {
    let paint =
        if args.output.is_some() { gander::report::Paint::Plain } else { output.paint_out() };
    let mut text = String::new();
    if args.json {
        let mut object = explain_json(&explained.views);
        if args.coverage {
            object["coverage"] = coverage_json(&ExplainView::merged(&explained.views));
        }
        if explained.views.is_empty() {
            object["completeness"] = Completeness::Unfinished.word().into();
        }
        text = format!("{object}\n");
    } else if explained.views.is_empty() {
        // The model was not loaded; a message says why.
    } else if let Some(form) = args.mutation {
        text = mutants(&explained.views, form, paint);
    } else if let Some(form) = args.matrix {
        let merged = ExplainView::merged(&explained.views);
        text = match form {
            MatrixArg::Text => matrix_text(&merged),
            MatrixArg::Csv => matrix_csv(&merged),
            MatrixArg::Html => matrix_html(&merged),
        };
    } else if args.coverage {
        text = coverage_text(&ExplainView::merged(&explained.views), paint);
    } else {
        for view in &explained.views {
            let width = if args.output.is_none() { output.width() } else { PLAIN_WIDTH };
            let detail = match args.trace {
                TraceArg::Changes => TraceDetail::Changes,
                TraceArg::Full => TraceDetail::Full,
            };
            let how = RunText { detail, width, paint };
            let runs: String = view.runs.iter().map(|run| run_text(view, run, how)).collect();
            text.push_str(&(runs + &explain_text(view, paint)));
        }
    }
    write_files(explained, args, output)?;
    match &args.output {
        None if args.json => output.put_json(&text),
        None if is_document(args) => output.put_document(&text),
        None => output.put(&text),
        Some(path) => {
            if let Err(error) = replace(path, text.as_bytes(), Target::Named) {
                output.error(&error.to_string());
                return Err(WRONG);
            }
        }
    }
    Ok(())
}

/// True if the output is for programs.
fn is_document(args: &ExplainArgs) -> bool {
    matches!(args.matrix, Some(MatrixArg::Csv | MatrixArg::Html))
        || matches!(args.mutation, Some(form) if form != MutationArg::Text)
}

/// Writes the runs as a page and as files for other tools.
fn write_files(explained: &Explained, args: &ExplainArgs, output: &mut Output) -> Result<(), u8> {
    let mut files: Vec<(PathBuf, String, Target)> = Vec::new();
    if let Some(path) = &args.html {
        files.push((path.clone(), runs_html(&explained.views), Target::Named));
    }
    if let Some(folder) = &args.save_traces {
        if let Err(error) = create_folder(folder) {
            output.error(&format!("the folder {} cannot be made: {error}", shown_path(folder)));
            return Err(WRONG);
        }
        for view in &explained.views {
            for run in &view.runs {
                let Some(timeline) = &run.timeline else { continue };
                let streams = timeline.streams();
                let name = |extension: &str| {
                    folder.join(trace_file_name(&view.file, &run.property, extension))
                };
                files.push((name("csv"), streams_csv(&streams), Target::Managed));
                files.push((name("vcd"), streams_vcd(&streams), Target::Managed));
            }
        }
    }
    for (path, text, target) in files {
        if let Err(error) = replace(&path, text.as_bytes(), target) {
            output.error(&error.to_string());
            return Err(WRONG);
        }
    }
    Ok(())
}
