//! The models, solvers and tools that a command works with. Functions with an [`Output`] print what
//! is wrong, and their error is the exit code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gander::racing::{FoundTool, ToolSearch, find, find_all, tools};
use gander::report::{DiagnosticView, Severity};
use gander::smt::{Search, Solvers};
use gander::system::System;
use gander::{
    InputError, LoadOptions, LoadStopped, Model, StructuralClaims, load_within, read_input,
};
use gander_io::programs;
use gander_runtime::{Cancellation, memory};
use gander_text::shown_path;

use super::args::{LimitArgs, SolverArgs};
use crate::process::{Output, UNKNOWN, WRONG, memory_limit_text};

/// The text of a file, or of standard input.
pub fn read_model(file: &str, output: &mut Output) -> Result<String, u8> {
    read_input(file).map_err(|error| {
        output.write_diagnostics([&unreadable(file, &error)]);
        WRONG
    })
}

/// The solvers of this machine, with those that the command line names.
pub fn solvers_for(args: &SolverArgs, output: &mut Output) -> Result<Arc<Solvers>, u8> {
    find_solvers(args).map_err(|message| {
        output.error(&message);
        WRONG
    })
}

/// Loads a model within the limits, and prints its errors. A model with errors has no system.
pub fn load_model(
    text: &str,
    file: &str,
    options: &LoadOptions,
    limits: &LimitArgs,
    output: &mut Output,
) -> Result<Model, u8> {
    let loaded = load_within(text, file, options, limits.timeout, &Cancellation::new());
    let model = loaded.map_err(|stopped| {
        let reason = match (stopped, memory::limit()) {
            (LoadStopped::MemoryLimit, Some(limit)) => memory_limit_text(limit),
            (LoadStopped::TimeLimit(limit), _) => {
                format!("stopped by the time limit of {} s", limit.as_secs_f64())
            }
            _ => "stopped".to_string(),
        };
        output.error(&format!("{file}: {reason} while the model was being read"));
        UNKNOWN
    })?;
    output.write_errors(&model.diagnostics());
    Ok(model)
}

/// The message about a file that cannot be read.
pub fn unreadable(file: &str, error: &InputError) -> DiagnosticView {
    let name = if file == "-" { "standard input".to_string() } else { shown_path(Path::new(file)) };
    let help = error.help().map(str::to_string);
    DiagnosticView::plain(error.code(), Severity::Error, format!("{name}: {error}"), help)
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
            None => {
                return Err(format!(
                    "the solver `{name}` cannot be used: {} is no program",
                    shown_path(path)
                ));
            }
        }
    }
    Ok(Arc::new(Solvers::find(search)))
}

/// The tools that take part. A named tool that is missing causes a warning.
pub fn find_tools(
    with: &[String],
    named: &[(String, PathBuf)],
    solvers: &Solvers,
    output: &mut Output,
) -> Result<Vec<FoundTool>, String> {
    let search = tool_search(named)?;
    if with.iter().any(|name| name == "all") {
        return Ok(find_all(&search, solvers).into_iter().flatten().collect());
    }
    let mut found: Vec<FoundTool> = Vec::new();
    for name in with {
        let Some(tool) = tools().iter().find(|t| t.name() == name) else {
            let known: Vec<&str> = tools().iter().map(|t| t.name()).collect();
            return Err(format!(
                "there is no tool `{name}`; tools are {}, or all",
                known.join(", ")
            ));
        };
        match find(*tool, &search, solvers) {
            Ok(entrant) if found.iter().any(|e| e.tool.name() == name) => drop(entrant),
            Ok(entrant) => found.push(entrant),
            Err(missing) => {
                let head = output.paint_err().open("warning:");
                output.write_err(&format!(
                    "{head} {name} does not take part: {}",
                    missing.looked_for
                ));
            }
        }
    }
    Ok(found)
}

/// Where to find tools; every name must be the name of a tool.
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

/// The systems of a model with the claims of its author. Prints its errors; the error is the exit
/// code.
pub fn load_systems(
    file: &str,
    load: LoadOptions,
    limits: &LimitArgs,
    output: &mut Output,
) -> Result<Vec<Arc<System>>, u8> {
    let load = LoadOptions { structural_claims: StructuralClaims::LeftOut, ..load };
    load_systems_with(file, load, limits, output)
}

/// The systems of a model. Prints its errors; the error is the exit code.
pub fn load_systems_with(
    file: &str,
    load: LoadOptions,
    limits: &LimitArgs,
    output: &mut Output,
) -> Result<Vec<Arc<System>>, u8> {
    let source = read_model(file, output)?;
    let model = load_model(&source, file, &load, limits, output)?;
    if model.systems().is_empty() { Err(WRONG) } else { Ok(model.systems().to_vec()) }
}
