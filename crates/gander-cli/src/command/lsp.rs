//! `gander lsp`.

use gander::process::memory;
use gander::{CheckOptions, LoadOptions};
use gander_lsp::{ServerOptions, run_stdio};
use gander_service::ServiceConfig;

use super::args::LspArgs;
use super::inputs::solvers_for;
use crate::process::{Output, WRONG};

/// Serves one editor: exit code 0 after the protocol's `shutdown` and `exit`, 2 if the connection
/// ends without them.
pub fn run(args: &LspArgs, load: LoadOptions, output: &mut Output) -> u8 {
    memory::enforce(args.memory);
    let solvers = match solvers_for(&args.solvers, output) {
        Ok(solvers) => solvers,
        Err(code) => return code,
    };
    let check = CheckOptions {
        load,
        memory: args.memory,
        jobs: args.jobs,
        solvers: Some(solvers),
        ..CheckOptions::default()
    };
    let service = ServiceConfig { check, ..ServiceConfig::default() };
    match run_stdio(ServerOptions { service, cache: args.cache.clone() }) {
        Ok(()) => 0,
        Err(error) => {
            output.error(&format!("language server: {error}"));
            WRONG
        }
    }
}
