//! The sub-commands.

mod args;
mod bench;
mod certify;
mod check;
mod convert;
mod explain;
mod impact;
mod inputs;
mod lsp;
mod mcp;
mod provenance;
mod report;
mod serve;
mod setup;
mod simulate;

use std::process::ExitCode;

use gander::LoadOptions;
use gander::process::memory;

use crate::process::{Output, WRONG, Watchdog};
use args::Command;
pub use args::{Args, Colour, LimitArgs};
use convert::{export, fmt, graph};
use setup::{doctor, engines};

/// Runs a sub-command; gives its exit code.
pub fn run(args: Args, output: &mut Output) -> u8 {
    output.set_colour(args.color);
    // `check` has a limit on the time for each file.
    let _watchdog = args.command.limits().map(|limits| {
        memory::enforce(limits.memory);
        Watchdog::plain(limits)
    });
    let load = LoadOptions {
        include_folders: args.include_dir,
        main: args.main,
        constants: args.constants,
        ..LoadOptions::default()
    };
    match args.command {
        Command::Check(options) => check::run(&options, load, output),
        Command::Report(options) => report::run(&options, load, output),
        Command::Bench(options) => bench::run(&options, output),
        Command::Certify(options) => certify::run(&options, load, output),
        Command::Fmt(options) => fmt::run(&options, output),
        Command::Simulate(options) => simulate::run(&options, load, output),
        Command::Serve(options) => serve::run(&options, load, output),
        Command::Graph(options) => graph::run(&options, load, output),
        Command::Export(options) => export::run(&options, load, output),
        Command::Engines(options) => engines::run(&options, output),
        Command::Doctor(options) => doctor::doctor(&options, output),
        Command::Setup(options) => doctor::setup(&options, output),
        Command::Explain(options) => explain::run(&options, load, output),
        Command::Impact(options) => impact::run(&options, load, output),
        Command::Lsp(options) => lsp::run(&options, load, output),
        Command::Mcp(options) => mcp::run(&options, load, output),
    }
}

/// Shows what is wrong with the command line, or the help that was asked for.
pub fn explain_usage(error: &clap::Error) -> ExitCode {
    let mut output = Output::new();
    let text = error.render().to_string();
    if error.use_stderr() {
        output.write_err(&text);
        output.finish(WRONG)
    } else {
        output.put(&text);
        output.finish(0)
    }
}
