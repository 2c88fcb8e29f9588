//! `gander doctor` and `gander setup`.

use std::time::Duration;

use gander::engines::Cancellation;
use gander::racing::{ToolSearch, find_all, tools};
use gander::report::Paint;
use gander::smt::setup::{Outcome as Brought, SOLVERS, SetupError, cache_folder, install};
use gander::smt::{Limits, Outcome, Search, Solver, SolverKind, Solvers, conformance};
use gander_text::shown_path;

use crate::command::args::{DoctorArgs, SetupArgs};
use crate::command::inputs::find_solvers;
use crate::process::{ENDED_BY_SIGNAL, Output, WRONG, cancel_on_signal};

/// Time limit of one query of the conformance run.
const QUERY_TIME: Duration = Duration::from_secs(10);

/// Lists solvers and tests them. The exit code is 0 if z3 is there and all solvers pass.
pub fn doctor(args: &DoctorArgs, output: &mut Output) -> u8 {
    let solvers = match find_solvers(&args.solvers) {
        Ok(solvers) => solvers,
        Err(message) => {
            output.error(&message);
            return WRONG;
        }
    };
    let paint = output.paint_out();
    output.put(&format!("gander {}\n", env!("CARGO_PKG_VERSION")));
    match cache_folder() {
        Some(folder) => output.put(&format!("cache   {}\n", shown_path(&folder))),
        None => output.put("cache   none: set GANDER_CACHE to a folder\n"),
    }
    let mut sound = true;
    for solver in solvers.all() {
        sound &= examine(solver, paint, output);
    }
    let missing = |kind: SolverKind| !solvers.all().iter().any(|s| s.kind == kind);
    if missing(SolverKind::Z3) {
        let without = match missing(SolverKind::Cvc5) {
            true => "only linear models can be decided",
            false => "the engine `horn` does not work, and some queries take longer",
        };
        output.put(&format!(
            "{}  `gander setup` fetches it; without it {without}\n",
            paint.bad("no z3")
        ));
    }
    if missing(SolverKind::Yices) {
        output.put(&format!(
            "{}  `gander setup` fetches it; without it checks are slower\n",
            paint.open("no yices")
        ));
    }
    list_tools(&solvers, output);
    u8::from(!sound || missing(SolverKind::Z3))
}

/// Lists the tools for `check --with`.
fn list_tools(solvers: &Solvers, output: &mut Output) {
    let paint = output.paint_out();
    output.put("tools for check --with\n");
    for (tool, found) in tools().iter().zip(find_all(&ToolSearch::from_environment(), solvers)) {
        let line = match found {
            Ok(entrant) => format!("{:<7} {}\n", tool.name(), shown_path(&entrant.program)),
            Err(missing) => format!("{:<7} {}\n", tool.name(), paint.faint(&missing.looked_for)),
        };
        output.put(&line);
        output.put(&format!("        {}\n", paint.faint(tool.about())));
    }
}

/// Prints a solver with its version and the result of its conformance run; false if it fails.
fn examine(solver: &Solver, paint: Paint, output: &mut Output) -> bool {
    let version = match solver.version() {
        Ok(version) => version,
        Err(reason) => format!("version unknown: {reason}"),
    };
    output.put(&format!("{:<7} {version}\n        {}\n", solver.name, shown_path(&solver.program)));
    output.flush();
    let report = conformance(solver, Limits::time(QUERY_TIME));
    let mut lacks: Vec<&str> = Vec::new();
    for entry in &report.entries {
        if let Outcome::NotSupported(what) = &entry.outcome
            && !lacks.contains(&what.as_str())
        {
            lacks.push(what);
        }
    }
    if report.passed() {
        let cases = report.passed_cases();
        output.put(&format!(
            "        {} {cases} cases of the conformance run\n",
            paint.good("passes")
        ));
    } else {
        output.put(&format!("        {} the conformance run\n", paint.bad("fails")));
        for entry in report
            .entries
            .iter()
            .filter(|e| matches!(e.outcome, Outcome::Failed(_) | Outcome::Unknown(_)))
        {
            output.put(&format!("          {entry}\n"));
        }
    }
    if !lacks.is_empty() {
        output.put(&format!(
            "        {}\n",
            paint.faint(&format!("not asked for: {}", lacks.join(", ")))
        ));
    }
    report.passed()
}

/// Installs the solvers that are not in the cache.
pub fn setup(args: &SetupArgs, output: &mut Output) -> u8 {
    let Some(cache) = cache_folder() else {
        output.error(&SetupError::NoCacheFolder.to_string());
        return WRONG;
    };
    let cancel = Cancellation::new();
    cancel_on_signal(&cancel);
    let mut code = 0;
    for kind in SOLVERS {
        match install(&cache, kind, &cancel) {
            Ok(_) if args.quiet => {}
            Ok(Brought::Present(path)) => {
                output.put(&format!("{:<7} is there: {}\n", kind.name(), shown_path(&path)))
            }
            Ok(Brought::Installed(path)) => {
                output.put(&format!("{:<7} installed: {}\n", kind.name(), shown_path(&path)))
            }
            Err(SetupError::Interrupted) => {
                output.error(&SetupError::Interrupted.to_string());
                return ENDED_BY_SIGNAL;
            }
            Err(error) => {
                output.error(&error.to_string());
                // Yices is optional.
                if kind == SolverKind::Z3 {
                    code = WRONG;
                }
            }
        }
        output.flush();
    }
    code
}

/// Installs the solvers that are not found. The error says why the required one could not be
/// installed.
pub fn install_missing(output: &mut Output) -> Result<(), String> {
    let cancel = Cancellation::new();
    let found = Solvers::find(Search::from_environment());
    let there = |kind: SolverKind| found.all().iter().any(|s| s.kind == kind);
    for kind in SOLVERS.into_iter().filter(|&k| !there(k)) {
        let cache = cache_folder().ok_or_else(|| SetupError::NoCacheFolder.to_string())?;
        output.write_err(&format!("fetching {}", kind.name()));
        cancel_on_signal(&cancel);
        let brought = install(&cache, kind, &cancel);
        if let Err(SetupError::Interrupted) = brought {
            return Err(SetupError::Interrupted.to_string());
        }
        if let Err(error) = brought {
            if kind == SolverKind::Z3 && !there(SolverKind::Yices) {
                return Err(error.to_string());
            }
            output.write_err(&format!("warning: {error}"));
        }
    }
    Ok(())
}
