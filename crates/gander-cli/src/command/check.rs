//! `gander check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander::certify::Trust;
use gander::engines::{Cancellation, CheckReport, EngineOptions, InductionOptions, PathOptions, Portfolio};
use gander::lang::Code;
use gander::lang::codes::CATALOGUE;
use gander::racing::{Entrant, ToolSearch, find, find_all, tools};
use gander::report::{
    CheckText, CheckView, Detail, DiagnosticView, Origin, Severity, StreamScope, TraceDetail, VerdictView, check_text,
    file_json, streams_csv, streams_vcd, worst_exit_code,
};
use gander::smt::{Search, Solvers, memory};
use gander::system::{System, write_evidence};
use gander::{
    Analysis, CheckOptions, Checked, FileForm, Findings, InputError, InternalErrorFile, check_loaded,
    evidence_file_name, read_input, trace_file_name,
};
use gander_io::file_names::model_part;
use gander_io::programs;
use gander_io::write::{Target, create_folder, replace};
use gander_text::{shown, shown_path};

use super::args::{Allowed, CheckArgs, SolverArgs, TraceArg};
use super::output::Output;
use super::progress::Progress;
use super::provenance::Versions;
use super::watchdog::Watchdog;
use super::{WRONG, doctor};

pub fn run(args: &CheckArgs, output: &mut Output) -> u8 {
    match prepare(args, output) {
        Ok(options) => check_files(args, &options, output),
        Err(message) => {
            refuse(args, &message, output);
            WRONG
        }
    }
}

/// Says that nothing can be checked; as JSON for each file, if that is what is read.
fn refuse(args: &CheckArgs, message: &str, output: &mut Output) {
    if args.json {
        let paint = output.paint_err();
        let rejected = |file: &String| CheckView::rejected(file, vec![plain("usage", message, None, paint)]);
        let views: Vec<CheckView> = distinct(&args.files).iter().map(rejected).collect();
        let mut stream = JsonStream::new(views.len());
        for view in &views {
            stream.object(&file_json(view).to_string(), output);
        }
        stream.close(output);
    } else {
        output.error(message);
    }
}

/// Finds solvers and makes folders: what can go wrong before the first file is read.
fn prepare(args: &CheckArgs, output: &mut Output) -> Result<CheckOptions, String> {
    if args.setup {
        doctor::bring_missing(output)?;
    }
    memory::enforce(args.memory);
    let solvers = find_solvers(&args.solvers)?;
    if args.memory.is_none() && args.files.iter().any(|f| is_large(f)) {
        // It starts while we read the model.
        solvers.prepare();
    }
    for folder in args.log_smt.iter().chain(&args.save_evidence).chain(&args.save_traces) {
        make_folder(folder)?;
    }
    let tools = find_tools(&args.with, &args.tool, &solvers, output)?;
    let portfolio = args.portfolio.as_deref().map(read_portfolio).transpose()?;
    let induction = InductionOptions { max_k: args.max_depth, ..args.induction.clone().unwrap_or_default() };
    let paths = PathOptions { order: args.paths.into() };
    let engine_options = EngineOptions { max_depth: args.max_depth, induction, paths, ..EngineOptions::default() };
    Ok(CheckOptions {
        engine_options,
        properties: args.property.clone(),
        checks: args.checks.clone(),
        findings: if args.allow.contains(&Allowed::All) { Findings::LeftOut } else { Findings::Sought },
        allow: allowed_codes(args),
        engines: args.engine.clone(),
        portfolio,
        explain_schedule: args.explain_schedule,
        timeout: args.timeout,
        jobs: args.jobs,
        seed: args.seed,
        memory: args.memory,
        solvers: Some(solvers),
        log_smt: args.log_smt.clone(),
        second_opinion: args.second_opinion.clone(),
        trust: args.trust.unwrap_or(Trust::Agreement),
        paint: if args.json { gander::report::Paint::Plain } else { output.paint_err() },
        file_form: if args.json { FileForm::Included } else { FileForm::LeftOut },
        analysis: if args.modular { Analysis::Modular } else { Analysis::Whole },
        cache: args.cache.clone(),
        tools,
    })
}

fn make_folder(folder: &Path) -> Result<(), String> {
    create_folder(folder).map_err(|e| format!("the folder {} cannot be made: {e}", shown_path(folder)))
}

/// The tools that take part. One that is named and not there costs a warning.
pub fn find_tools(
    with: &[String],
    named: &[(String, PathBuf)],
    solvers: &Solvers,
    output: &mut Output,
) -> Result<Vec<Entrant>, String> {
    let search = tool_search(named)?;
    if with.iter().any(|name| name == "all") {
        return Ok(find_all(&search, solvers).into_iter().flatten().collect());
    }
    let mut found: Vec<Entrant> = Vec::new();
    for name in with {
        let Some(tool) = tools().iter().find(|t| t.name() == name) else {
            let known: Vec<&str> = tools().iter().map(|t| t.name()).collect();
            return Err(format!("there is no tool `{name}`; tools are {}, or all", known.join(", ")));
        };
        match find(*tool, &search, solvers) {
            Ok(entrant) if found.iter().any(|e| e.tool.name() == name) => drop(entrant),
            Ok(entrant) => found.push(entrant),
            Err(missing) => {
                let head = output.paint_err().open("warning:");
                output.complain(&format!("{head} {name} does not take part: {}", missing.looked_for));
            }
        }
    }
    Ok(found)
}

/// Where tools are looked for; every name must be one of a tool.
pub fn tool_search(named: &[(String, PathBuf)]) -> Result<ToolSearch, String> {
    let mut search = ToolSearch::from_environment();
    for (name, program) in named {
        if !tools().iter().any(|t| t.name() == name) {
            return Err(format!("there is no tool `{name}`"));
        }
        search.named.push((name.clone(), program.clone()));
    }
    Ok(search)
}

/// Models of fewer bytes are often decided without a solver, whose start would take longer than all the rest.
const LARGE: u64 = 1024;

fn is_large(file: &str) -> bool {
    std::fs::metadata(file).map_or(true, |m| m.len() >= LARGE)
}

/// The codes of the warnings that are left out.
fn allowed_codes(args: &CheckArgs) -> Vec<Code> {
    let all = || CATALOGUE.iter().map(|e| e.code).filter(|c| c.severity() == gander::lang::Severity::Warning);
    let codes = args.allow.iter().flat_map(|allowed| match *allowed {
        Allowed::All => all().collect::<Vec<Code>>(),
        Allowed::One(code) => vec![code],
    });
    codes.collect()
}

fn read_portfolio(file: &Path) -> Result<Portfolio, String> {
    let text = read_input(&file.to_string_lossy()).map_err(|e| format!("{}: {e}", shown_path(file)))?;
    Portfolio::parse(&text).map_err(|e| format!("the portfolio {} cannot be used: {e}", shown_path(file)))
}

/// The solvers of this machine, with those that the command line names.
pub fn find_solvers(args: &SolverArgs) -> Result<Arc<Solvers>, String> {
    let mut search = Search::from_environment();
    let path_variable = search.path.clone();
    for (name, path) in &args.solver {
        // `none` hides a solver, as in the environment.
        let program = if path.as_os_str() == "none" {
            Some(path.clone())
        } else {
            programs::named(path, path_variable.as_deref()).and_then(|p| p.canonicalize().ok())
        };
        match program.filter(|p| !p.is_dir()) {
            Some(program) => search.named.push((name.clone(), program)),
            None => return Err(format!("the solver `{name}` cannot be used: {} is no program", shown_path(path))),
        }
    }
    Ok(Arc::new(Solvers::find(search)))
}

/// The files without those that were named before.
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
    let mut json = args.json.then(|| JsonStream::new(files.len()));
    let mut codes = Vec::new();
    for (i, file) in files.iter().enumerate() {
        let mut rest = None;
        let watchdog =
            Watchdog::start(args.timeout, last_words(file, json.as_ref(), text_form(args, files.len(), output)));
        // A file that is not looked at any more is not decided.
        let (view, code) = if cancel.is_cancelled() {
            let mut view = CheckView::rejected(file, Vec::new());
            view.stopped = Some("stopped before this file was checked".to_string());
            (view, 3)
        } else {
            let view = match own_log_folder(i, file, files.len(), options) {
                Ok(options) => {
                    let (view, made_of) = check_file(file, args, &options, &cancel);
                    rest = made_of;
                    view
                }
                Err(message) => CheckView::rejected(file, vec![plain("unwritable", &message, None, options.paint)]),
            };
            let warned = view.diagnostics.iter().any(|d| d.severity == Severity::Warning);
            let code = match view.exit_code() {
                0 | 3 if args.deny.is_some() && warned => 1,
                code => code,
            };
            (view, code)
        };
        codes.push(code);
        // What is shown is made within the limits; reading it may take any time.
        match &mut json {
            Some(stream) => {
                let text = file_json(&view).to_string();
                drop(watchdog);
                stream.object(&text, output);
            }
            None => {
                let text = check_text(&view, text_form(args, files.len(), output));
                drop(watchdog);
                show(&view, &text, args, output);
            }
        }
        output.flush();
        if i + 1 == files.len() || cancel.is_cancelled() {
            // The program ends now, and the operating system takes memory back much faster than we could.
            std::mem::forget((view, rest));
        }
        if output.is_closed() {
            break;
        }
    }
    if let Some(stream) = json {
        stream.close(output);
    }
    worst_exit_code(codes)
}

/// What is said of a file if its limits were not kept otherwise: that nothing is known.
fn last_words(file: &str, json: Option<&JsonStream>, form: CheckText) -> impl FnOnce(&str) + Send + 'static {
    let (file, json) = (file.to_string(), json.cloned());
    move |reason| {
        let mut view = CheckView::rejected(&file, Vec::new());
        view.stopped = Some(reason.to_string());
        let mut output = Output::new();
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

/// With several files, each keeps its solver conversations in a folder of its own.
fn own_log_folder(at: usize, file: &str, files: usize, options: &CheckOptions) -> Result<CheckOptions, String> {
    let mut options = options.clone();
    if let Some(folder) = options.log_smt.as_mut().filter(|_| files > 1) {
        *folder = folder.join(format!("{}-{}", at + 1, model_part(file)));
        make_folder(folder)?;
    }
    Ok(options)
}

/// What a view was made of: memory of any size.
type Rest = Option<(String, Vec<(Arc<System>, CheckReport)>)>;

fn check_file(file: &str, args: &CheckArgs, options: &CheckOptions, cancel: &Cancellation) -> (CheckView, Rest) {
    let source = match read_input(file) {
        Ok(source) => source,
        Err(error) => return (CheckView::rejected(file, vec![unreadable(file, &error, options.paint)]), None),
    };
    let progress = Progress::start(file, cancel);
    let mut checked = check_loaded(&source, file, options, cancel, &progress);
    progress.finish();
    if checked.view.claims.iter().any(|c| c.verdict.is_open())
        && options.solvers.as_ref().is_some_and(|s| s.all().is_empty())
    {
        let help = "`gander setup` (or `check --setup`) fetches z3 and yices; or have one on the PATH".to_string();
        let mut warning =
            plain("no-solver", "no solver was found, so little can be decided", Some(help), options.paint);
        warning.severity = Severity::Warning;
        warning.rendered = warning.rendered.replacen("error", "warning", 1);
        checked.view.diagnostics.push(warning);
    }
    keep_evidence(file, &source, args, &mut checked, options);
    keep_traces(file, args, &mut checked.view, options.paint);
    keep_internal_errors(file, &source, args, &mut checked);
    let Checked { view, system, report, others, .. } = checked;
    let systems = system.map(|system| (system, report)).into_iter().chain(others).collect();
    (view, Some((source, systems)))
}

/// The message about a file that cannot be read.
pub fn unreadable(file: &str, error: &InputError, paint: gander::report::Paint) -> DiagnosticView {
    let name = if file == "-" { "standard input".to_string() } else { shown_path(Path::new(file)) };
    plain(error.code(), &format!("{name}: {error}"), error.help().map(str::to_string), paint)
}

fn plain(code: &str, message: &str, help: Option<String>, paint: gander::report::Paint) -> DiagnosticView {
    let mut rendered = format!("{} {message}\n", paint.bad("error:"));
    if let Some(h) = &help {
        rendered.push_str(&format!("  = help: {h}\n"));
    }
    DiagnosticView {
        code: code.to_string(),
        severity: Severity::Error,
        message: message.to_string(),
        place: None,
        help: help.into_iter().collect(),
        rendered,
    }
}

/// Diagnostics go to standard error, everything else to standard output.
fn show(view: &CheckView, text: &str, args: &CheckArgs, output: &mut Output) {
    complain(view, args, output);
    for message in &view.disagreements {
        let head = output.paint_err().bad("DISAGREEMENT:");
        output.complain(&format!("{head} {}", gander_text::message(message)));
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
const MOST_WARNINGS: usize = 2;

/// Shows the diagnostics; of many warnings of one code the first ones.
fn complain(view: &CheckView, args: &CheckArgs, output: &mut Output) {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for d in &view.diagnostics {
        if d.severity != Severity::Warning {
            output.complain(&d.rendered);
            continue;
        }
        if args.quiet {
            continue;
        }
        let at = seen.iter().position(|(code, _)| *code == d.code).unwrap_or(seen.len());
        if at == seen.len() {
            seen.push((&d.code, 0));
        }
        seen[at].1 += 1;
        if args.all || seen[at].1 <= MOST_WARNINGS {
            output.complain(&d.rendered);
        }
    }
    for (code, count) in seen.into_iter().filter(|(_, count)| !args.all && *count > MOST_WARNINGS) {
        let more = count - MOST_WARNINGS;
        let noun = if more == 1 { "warning" } else { "warnings" };
        output.complain(&format!("... and {more} more {noun} {code} (--all shows them)"));
    }
}

/// Writes the run of every verdict that has one, for other tools. Only runs of dataflow programs have such a form.
fn keep_traces(file: &str, args: &CheckArgs, view: &mut CheckView, paint: gander::report::Paint) {
    let Some(folder) = &args.save_traces else { return };
    let mut problems = Vec::new();
    let mut others = 0;
    for claim in &view.claims {
        let trace =
            claim.verdict.evidence().and_then(|e| e.shown.trace()).filter(|_| claim.origin != Origin::Structural);
        let Some(trace) = trace else { continue };
        let Some(streams) = &trace.streams else {
            others += 1;
            continue;
        };
        for (extension, text) in [("csv", streams_csv(streams)), ("vcd", streams_vcd(streams))] {
            let path = folder.join(trace_file_name(file, &claim.name, extension));
            if let Err(error) = replace(&path, text.as_bytes(), Target::Managed) {
                problems.push(plain("unwritable", &error.to_string(), None, paint));
            }
        }
    }
    if others > 0 {
        let message = format!("{}: --save-traces keeps runs of Lustre models only", shown(file));
        let help = "`--save-evidence` keeps every run, `--trace full` shows it".to_string();
        let mut warning = plain("no-trace-file", &message, Some(help), paint);
        warning.severity = Severity::Warning;
        warning.rendered = warning.rendered.replacen("error", "warning", 1);
        problems.push(warning);
    }
    view.diagnostics.extend(problems);
}

/// Writes a file for every verdict. Evidence that was asked for and cannot be kept is an error.
fn keep_evidence(file: &str, source: &str, args: &CheckArgs, checked: &mut Checked, options: &CheckOptions) {
    let Some(folder) = &args.save_evidence else { return };
    let (paint, mut versions) = (options.paint, Versions::new(options.solvers.clone()));
    let mut files: Vec<(&str, serde_json::Value)> = Vec::new();
    let vacuous: Vec<&str> =
        checked.view.claims.iter().filter(|c| c.verdict == VerdictView::Vacuous).map(|c| c.name.as_str()).collect();
    for (system, report) in checked.systems() {
        for outcome in &report.outcomes {
            let name = &system.claims[outcome.claim.index()].name;
            if vacuous.contains(&name.as_str()) {
                continue;
            }
            let Ok(json) = write_evidence(system, outcome.claim, &outcome.verdict) else { continue };
            files.push((name, json));
        }
    }
    let trees = checked.trees.iter().filter(|(claim, _)| !vacuous.contains(&claim.as_str()));
    files.extend(trees.map(|(claim, json)| (claim.as_str(), json.clone())));
    let mut problems = Vec::new();
    for (claim, mut json) in files {
        let shown = checked.view.claims.iter().find(|c| c.name == claim);
        json["provenance"] = versions.provenance(source, shown).to_json();
        let path = folder.join(evidence_file_name(file, claim));
        let mut content = serde_json::to_vec_pretty(&json).unwrap_or_default();
        content.push(b'\n');
        if let Err(error) = replace(&path, &content, Target::Managed) {
            problems.push(plain("unwritable", &error.to_string(), None, paint));
        }
    }
    checked.view.diagnostics.extend(problems);
}

/// Writes a file for every internal error, and says in the message what to do with it.
fn keep_internal_errors(file: &str, source: &str, args: &CheckArgs, checked: &mut Checked) {
    let folder = args.save_evidence.clone().unwrap_or_else(|| PathBuf::from("."));
    let mut texts = std::mem::take(&mut checked.view.internal_errors);
    let errors = checked.systems().flat_map(|(system, report)| report.internal_errors.iter().map(move |e| (system, e)));
    for ((system, error), text) in errors.zip(&mut texts) {
        let record = InternalErrorFile {
            file: file.to_string(),
            model: source.to_string(),
            engine: error.engine.clone(),
            problem: error.problem.clone(),
            evidence: write_evidence(system, error.claim, &error.verdict).unwrap_or_default(),
        };
        match record.save(&folder, &system.claims[error.claim.index()].name) {
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

/// Several files become an array, one file an object, each written when it is known.
#[derive(Clone)]
struct JsonStream {
    files: usize,
    written: usize,
}

impl JsonStream {
    fn new(files: usize) -> JsonStream {
        JsonStream { files, written: 0 }
    }

    fn object(&mut self, text: &str, output: &mut Output) {
        if self.files > 1 {
            output.put(if self.written == 0 { "[\n" } else { ",\n" });
        }
        output.put_json(text);
        self.written += 1;
    }

    fn close(self, output: &mut Output) {
        output.put(if self.files > 1 { "\n]\n" } else { "\n" });
    }
}
