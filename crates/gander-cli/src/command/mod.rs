//! The sub-commands.

mod args;
mod bench;
mod certify;
mod check;
mod doctor;
mod engines;
mod explain;
mod export;
mod fmt;
mod graph;
mod impact;
mod input_table;
mod interrupt;
mod output;
mod progress;
mod provenance;
mod reading;
mod script;
mod session;
mod simulate;
mod streams;
mod watchdog;

use std::process::ExitCode;

pub use args::Args;
pub use output::Output;

use args::Command;
use gander::smt::memory;
use watchdog::Watchdog;

/// Exit code for wrong input or usage.
const WRONG: u8 = 2;

/// Runs a sub-command; gives its exit code.
pub fn run(args: Args, output: &mut Output) -> u8 {
    output.set_colour(args.color);
    // `check` has a limit on the time for each file.
    let _watchdog = args.command.limits().map(|limits| {
        memory::enforce(limits.memory);
        Watchdog::plain(limits)
    });
    gander::allow_includes(&args.include_dir);
    match args.command {
        Command::Check(options) => check::run(&options, output),
        Command::Bench(options) => bench::run(&options, output),
        Command::Certify(options) => certify::run(&options, output),
        Command::Fmt(options) => fmt::run(&options, output),
        Command::Simulate(options) => simulate::run(&options, output),
        Command::Graph(options) => graph::run(&options, output),
        Command::Export(options) => export::run(&options, output),
        Command::Engines(options) => engines::run(&options, output),
        Command::Doctor(options) => doctor::doctor(&options, output),
        Command::Setup(options) => doctor::setup(&options, output),
        Command::Explain(options) => explain::run(&options, output),
        Command::Impact(options) => impact::run(&options, output),
    }
}

/// Becomes a job of `gander bench`, in a session of its own. Returns only if that fails.
pub fn become_job(words: Vec<String>) -> ExitCode {
    let mut output = Output::new();
    let error = gander_bench::process::launch(&words);
    output.complain(&format!("{}: {error}", words.get(1).map_or("no program", String::as_str)));
    output.finish(127)
}

/// Shows what is wrong with the command line, or the help that was asked for.
pub fn explain_usage(error: &clap::Error) -> ExitCode {
    let mut output = Output::new();
    let text = error.render().to_string();
    if error.use_stderr() {
        output.complain(&text);
        output.finish(WRONG)
    } else {
        output.put(&text);
        output.finish(0)
    }
}
