//! What commands about a model begin with: its text, and solvers. What goes wrong is said, and the exit code returned.

use std::sync::Arc;
use std::time::Instant;

use gander::lang::Loaded;
use gander::read_input;
use gander::report::DiagnosticView;
use gander::smt::Solvers;
use gander_runtime::memory;
use gander_runtime::{Cancellation, Stopped};

use super::WRONG;
use super::args::LimitArgs;
use super::args::SolverArgs;
use super::check::{find_solvers, unreadable};
use super::output::Output;
use super::watchdog::{UNKNOWN, out_of_memory};

/// The text of a file, or of standard input.
pub fn read_model(file: &str, output: &mut Output) -> Result<String, u8> {
    read_input(file).map_err(|error| {
        let message = unreadable(file, &error, output.paint_err());
        output.complain(&message.rendered);
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

/// What is in a model, read within the limits.
pub fn load_within(
    source: &str,
    file: &str,
    limits: &LimitArgs,
    output: &mut Output,
) -> Result<(Loaded, Vec<DiagnosticView>), u8> {
    let deadline = limits.timeout.and_then(|t| Instant::now().checked_add(t));
    let (text, name, paint) = (source.to_string(), file.to_string(), output.paint_err());
    let loaded = Cancellation::new()
        .with_deadline(deadline)
        .run_cancellable_on_thread(move || gander::load(&text, &name, paint));
    loaded.map_err(|stopped| {
        let reason = match (stopped, limits.timeout, memory::limit()) {
            (Stopped::OutOfMemory, _, Some(limit)) => out_of_memory(limit),
            (Stopped::Cancelled, Some(limit), _) => format!("stopped by the time limit of {} s", limit.as_secs_f64()),
            _ => "stopped".to_string(),
        };
        output.error(&format!("{file}: {reason} while the model was being read"));
        UNKNOWN
    })
}
