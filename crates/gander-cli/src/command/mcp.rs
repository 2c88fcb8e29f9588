//! `gander mcp`.

use std::io::{stdin, stdout};
use std::path::PathBuf;

use gander::process::memory;
use gander::{CheckOptions, LoadOptions};
use gander_mcp::{McpConfig, McpLimits, serve};

use super::args::McpArgs;
use super::inputs::solvers_for;
use crate::process::{Output, WRONG};

pub fn run(args: &McpArgs, load: LoadOptions, output: &mut Output) -> u8 {
    let solvers = match solvers_for(&args.solvers, output) {
        Ok(solvers) => solvers,
        Err(code) => return code,
    };
    if args.timeout > args.longest_timeout {
        output.error("`--timeout` is longer than `--longest-timeout`");
        return WRONG;
    }
    let memory = memory::enforce(args.memory);
    let config = McpConfig {
        folder: args.folder.clone().unwrap_or_else(|| PathBuf::from(".")),
        check: CheckOptions {
            load,
            memory,
            solvers: Some(solvers),
            cache: args.cache.clone(),
            ..CheckOptions::default()
        },
        timeout: args.timeout,
        longest_timeout: args.longest_timeout,
        limits: McpLimits::default(),
    };
    // The standard output carries the protocol, so nothing else may be written to it.
    match serve(config, stdin(), stdout()) {
        Ok(()) => 0,
        Err(why) => {
            output.error(&why);
            WRONG
        }
    }
}
