//! What commands about a model begin with: its text, and solvers. What goes wrong is said, and the exit code returned.

use std::sync::Arc;

use gander::read_input;
use gander::smt::Solvers;

use super::WRONG;
use super::args::SolverArgs;
use super::check::{find_solvers, unreadable};
use super::output::Output;

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
