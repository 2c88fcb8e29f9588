//! `gander check`.

mod gradual;
mod json_array;
mod json_lines;
mod saved_files;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander::certify::Trust;
use gander::engines::{
    Cancellation, CheckReport, EngineOptions, InductionOptions, PathOptions, Portfolio,
};
use gander::lang::Code;
use gander::lang::codes::CATALOGUE;
use gander::process::memory;
use gander::report::{
    CheckText, CheckView, Detail, DiagnosticView, GradualText, Severity, StreamScope, TraceDetail,
    check_text, file_json, worst_exit_code,
};
use gander::system::System;
use gander::{
    Analysis, CheckOptions, Checked, FileForm, Findings, LoadOptions, VerdictObserver,
    load_and_check_with, read_input,
};
use gander_io::file_names::model_part;
use gander_io::write::create_folder;
use gander_text::shown_path;

use super::args::{Allowed, CheckArgs, TraceArg};
use super::inputs::{find_solvers, find_tools, unreadable};
use super::setup::doctor;
use crate::process::{Output, Progress, UNKNOWN, WRONG, Watchdog};
use gradual::{GradualPrinter, Listener};
use json_array::JsonArray;
use json_lines::JsonLines;
use saved_files::{save_evidence, save_internal_errors, save_traces};

pub fn run(args: &CheckArgs, load: LoadOptions, output: &mut Output) -> u8 {
    match prepare(args, load, output) {
        Ok(options) => check_files(args, &options, output),
        Err(message) => {
            refuse(args, &message, output);
            WRONG
        }
    }
}

/// Prints why nothing can be checked; with `--json`, as JSON for each file.
fn refuse(args: &CheckArgs, message: &str, output: &mut Output) {
    let rejected = |file: &String| CheckView::rejected(file, vec![error("usage", message)]);
    if args.json_stream {
        let lines = JsonLines::new(output);
        for view in distinct(&args.files).iter().map(rejected) {
            lines.begin(&view.file);
            lines.end(&view, WRONG);
        }
        lines.close(WRONG, output);
    } else if args.json {
        let views: Vec<CheckView> = distinct(&args.files).iter().map(rejected).collect();
        let mut stream = JsonArray::new(views.len());
        for view in &views {
            stream.object(&file_json(view).to_string(), output);
        }
        stream.close(output);
    } else {
        output.error(message);
    }
}

/// Makes the options: finds solvers and tools, creates folders.
fn prepare(
    args: &CheckArgs,
    load: LoadOptions,
    output: &mut Output,
) -> Result<CheckOptions, String> {
    if args.setup {
        doctor::install_missing(output)?;
    }
    memory::enforce(args.memory);
    let solvers = find_solvers(&args.solvers)?;
    if args.memory.is_none() && args.files.iter().any(|f| is_large(f)) {
        // The solver starts while the model is loaded.
        solvers.prepare();
    }
    for folder in args.log_smt.iter().chain(&args.save_evidence).chain(&args.save_traces) {
        make_folder(folder)?;
    }
    let tools = find_tools(&args.with, &args.tool, &solvers, output)?;
    let portfolio = args.portfolio.as_deref().map(read_portfolio).transpose()?;
    let induction =
        InductionOptions { max_k: args.max_depth, ..args.induction.clone().unwrap_or_default() };
    let paths = PathOptions { order: args.paths.into() };
    let engine_options = EngineOptions {
        max_depth: args.max_depth,
        induction,
        paths,
        without: args.without.clone(),
        ..EngineOptions::default()
    };
    Ok(CheckOptions {
        load,
        engine_options,
        properties: args.property.clone(),
        checks: args.checks.clone().unwrap_or_default(),
        findings: if args.allow.contains(&Allowed::All) {
            Findings::LeftOut
        } else {
            Findings::Sought
        },
        allow: allowed_codes(args),
        engines: args.engine.clone(),
        portfolio,
        explain_schedule: args.explain_schedule,
        show_invariants: args.show_invariants,
        induction_counterexamples: args.induction_counterexamples,
        timeout: args.timeout,
        jobs: args.jobs,
        seed: args.seed,
        memory: args.memory,
        solvers: Some(solvers),
        log_smt: args.log_smt.clone(),
        second_opinion: args.second_opinion.clone(),
        trust: args.trust.unwrap_or(Trust::Agreement),
        file_form: if args.json || args.json_stream {
            FileForm::Included
        } else {
            FileForm::LeftOut
        },
        analysis: if args.modular { Analysis::Modular } else { Analysis::Whole },
        cache: args.cache.clone(),
        earlier: None,
        tools,
    })
}

fn make_folder(folder: &Path) -> Result<(), String> {
    create_folder(folder)
        .map_err(|e| format!("the folder {} cannot be made: {e}", shown_path(folder)))
}

/// Smaller models are often decided without a solver, whose start would take longer than the check.
const LARGE: u64 = 1024;

fn is_large(file: &str) -> bool {
    std::fs::metadata(file).map_or(true, |m| m.len() >= LARGE)
}

/// The codes of the allowed warnings.
fn allowed_codes(args: &CheckArgs) -> Vec<Code> {
    let all = || {
        CATALOGUE.iter().map(|e| e.code).filter(|c| c.severity() == gander::lang::Severity::Warning)
    };
    let codes = args.allow.iter().flat_map(|allowed| match *allowed {
        Allowed::All => all().collect::<Vec<Code>>(),
        Allowed::One(code) => vec![code],
    });
    codes.collect()
}

fn read_portfolio(file: &Path) -> Result<Portfolio, String> {
    let text =
        read_input(&file.to_string_lossy()).map_err(|e| format!("{}: {e}", shown_path(file)))?;
    Portfolio::parse(&text)
        .map_err(|e| format!("the portfolio {} cannot be used: {e}", shown_path(file)))
}

/// The files without duplicates.
fn distinct(files: &[String]) -> Vec<String> {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut distinct = Vec::new();
    for file in files {
        let identity = if file == "-" {
            PathBuf::from("-")
        } else {
            Path::new(file).canonicalize().unwrap_or_else(|_| file.into())
        };
        if !seen.contains(&identity) {
            seen.push(identity);
            distinct.push(file.clone());
        }
    }
    distinct
}

fn check_files(args: &CheckArgs, options: &CheckOptions, output: &mut Output) -> u8 {
    let cancel = Cancellation::new();
    let files = distinct(&args.files);
    let mut json = args.json.then(|| JsonArray::new(files.len()));
    let lines = args.json_stream.then(|| JsonLines::new(output));
    let mut codes = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let (mut rest, mut printer) = (None, None);
        if let Some(lines) = &lines {
            lines.begin(file);
        }
        let watchdog = Watchdog::start(
            args.timeout,
            final_message(file, json.as_ref(), lines.clone(), text_form(args, files.len(), output)),
        );
        // After an interrupt, the remaining files are unknown.
        let (view, code) = if cancel.is_cancelled() {
            let mut view = CheckView::rejected(file, Vec::new());
            view.stopped = Some("stopped before this file was checked".to_string());
            (view, UNKNOWN)
        } else {
            let view = match own_log_folder(i, file, files.len(), options) {
                Ok(options) => {
                    let form = text_form(args, files.len(), output);
                    let sink = Sink { lines: lines.as_ref(), printer: &mut printer, form };
                    let (view, made_of) = check_file(file, args, &options, &cancel, sink, output);
                    rest = made_of;
                    view
                }
                Err(message) => CheckView::rejected(file, vec![error("unwritable", &message)]),
            };
            let warned = view.diagnostics.iter().any(|d| d.severity == Severity::Warning);
            let code = match view.exit_code() {
                0 | 3 if args.deny.is_some() && warned => 1,
                code => code,
            };
            (view, code)
        };
        codes.push(code);
        // The text is made within the limits; writing it may take any time.
        match (&mut json, &lines) {
            (Some(array), _) => {
                let text = file_json(&view).to_string();
                drop(watchdog);
                array.object(&text, output);
            }
            (None, Some(lines)) => {
                drop(watchdog);
                lines.end(&view, code);
            }
            (None, None) => {
                let text = match &printer {
                    Some(text) => GradualText::rest(text, &view),
                    None => check_text(&view, text_form(args, files.len(), output)),
                };
                drop(watchdog);
                show(&view, &text, args, output);
            }
        }
        output.flush();
        if i + 1 == files.len() || cancel.is_cancelled() {
            // The process ends now, and the operating system frees memory much faster than
            // destructors.
            std::mem::forget((view, rest));
        }
        if output.is_closed() || lines.as_ref().is_some_and(JsonLines::is_closed) {
            break;
        }
    }
    if let Some(array) = json {
        array.close(output);
    }
    let code = worst_exit_code(codes);
    if let Some(lines) = lines {
        lines.close(code, output);
    }
    code
}

/// Prints that nothing is known of a file, if the watchdog ends the process.
fn final_message(
    file: &str,
    json: Option<&JsonArray>,
    lines: Option<JsonLines>,
    form: CheckText,
) -> impl FnOnce(&str) + Send + 'static {
    let (file, json) = (file.to_string(), json.cloned());
    move |reason| {
        let mut view = CheckView::rejected(&file, Vec::new());
        view.stopped = Some(reason.to_string());
        let mut output = Output::new();
        if let Some(lines) = lines {
            lines.end(&view, UNKNOWN);
            return lines.close(UNKNOWN, &mut output);
        }
        match json {
            Some(mut stream) => {
                stream.object(&file_json(&view).to_string(), &mut output);
                stream.close(&mut output);
            }
            None => output.put(&check_text(&view, form)),
        }
        output.flush();
    }
}

/// With several files, the solver conversations of each are logged to a separate folder.
fn own_log_folder(
    at: usize,
    file: &str,
    files: usize,
    options: &CheckOptions,
) -> Result<CheckOptions, String> {
    let mut options = options.clone();
    if let Some(folder) = options.log_smt.as_mut().filter(|_| files > 1) {
        *folder = folder.join(format!("{}-{}", at + 1, model_part(file)));
        make_folder(folder)?;
    }
    Ok(options)
}

/// Where verdicts go as they are settled.
struct Sink<'a> {
    /// JSON, one object a line.
    lines: Option<&'a JsonLines>,
    /// Gets the text on a terminal that was printed in part.
    printer: &'a mut Option<GradualText>,
    /// How text is written.
    form: CheckText,
}

/// What a view was made of. It may be large, so the caller decides when to free it.
type Rest = Option<(String, Vec<(Arc<System>, CheckReport)>)>;

fn check_file(
    file: &str,
    args: &CheckArgs,
    options: &CheckOptions,
    cancel: &Cancellation,
    sink: Sink<'_>,
    output: &mut Output,
) -> (CheckView, Rest) {
    let source = match read_input(file) {
        Ok(source) => source,
        Err(error) => return (CheckView::rejected(file, vec![unreadable(file, &error)]), None),
    };
    let progress = Progress::start(file, cancel);
    let gradual = output.is_terminal() && !args.json && !args.json_stream;
    let printer = gradual.then(|| {
        output.flush();
        GradualPrinter::start(file, sink.form, progress.line(), output.sibling())
    });
    let listener = Listener { progress, lines: sink.lines, printer: printer.as_ref(), cancel };
    let verdicts: &dyn VerdictObserver = &listener;
    let verdicts = listener.needs_verdicts().then_some(verdicts);
    let mut checked = load_and_check_with(&source, file, options, cancel, &listener, verdicts);
    listener.progress.finish();
    *sink.printer = printer.and_then(GradualPrinter::finish);
    if checked.view.claims.iter().any(|c| c.verdict.is_open())
        && options.solvers.as_ref().is_some_and(|s| s.all().is_empty())
    {
        let help =
            "`gander setup` (or `check --setup`) fetches z3 and yices; or have one on the PATH"
                .to_string();
        let message = "no solver was found, so little can be decided";
        let warning = DiagnosticView::plain("no-solver", Severity::Warning, message, [help]);
        checked.view.diagnostics.push(warning);
    }
    save_evidence(file, &source, args, &mut checked, options);
    save_traces(file, args, &mut checked);
    save_internal_errors(file, &source, args, &mut checked);
    let Checked { view, systems, .. } = checked;
    (view, Some((source, systems)))
}

fn error(code: &str, message: &str) -> DiagnosticView {
    DiagnosticView::plain(code, Severity::Error, message, [])
}

/// Diagnostics go to standard error, everything else to standard output.
fn show(view: &CheckView, text: &str, args: &CheckArgs, output: &mut Output) {
    write_messages(view, args, output);
    for message in &view.disagreements {
        let head = output.paint_err().bad("DISAGREEMENT:");
        output.write_err(&format!("{head} {}", gander_text::message(message)));
    }
    output.put(text);
}

/// How the text about a file is written.
fn text_form(args: &CheckArgs, files: usize, output: &Output) -> CheckText {
    CheckText {
        detail: if args.quiet { Detail::Quiet } else { Detail::Normal },
        trace: match args.trace {
            TraceArg::Changes => TraceDetail::Changes,
            TraceArg::Full => TraceDetail::Full,
        },
        streams: if args.all { StreamScope::All } else { StreamScope::Relevant },
        width: Some(output.width()),
        paint: output.paint_out(),
        files,
    }
}

/// Warnings of one code that are shown.
const MAX_WARNINGS: usize = 2;

/// Prints the diagnostics; without `--all` only the first warnings of each code.
fn write_messages(view: &CheckView, args: &CheckArgs, output: &mut Output) {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    let mut shown: Vec<&DiagnosticView> = Vec::new();
    for d in &view.diagnostics {
        if args.quiet && d.severity != Severity::Error {
            continue;
        }
        if d.severity != Severity::Warning {
            shown.push(d);
            continue;
        }
        let at = seen.iter().position(|(code, _)| *code == d.code).unwrap_or(seen.len());
        if at == seen.len() {
            seen.push((&d.code, 0));
        }
        seen[at].1 += 1;
        if args.all || seen[at].1 <= MAX_WARNINGS {
            shown.push(d);
        }
    }
    output.write_diagnostics(shown);
    for (code, count) in seen.into_iter().filter(|(_, count)| !args.all && *count > MAX_WARNINGS) {
        let more = count - MAX_WARNINGS;
        let noun = if more == 1 { "warning" } else { "warnings" };
        output.write_err(&format!("... and {more} more {noun} {code} (--all shows them)"));
    }
}
