//! The `gander` command: the only place that owns the standard streams and exit codes.

use std::process::ExitCode;

use clap::Parser;
use gander_bench::process::LAUNCH;

mod command;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).map_while(|w| w.into_string().ok());
    if words.next().as_deref() == Some(LAUNCH) {
        return command::become_job(words.collect());
    }
    let args = match command::Args::plain_check(std::env::args_os()) {
        Some(args) => args,
        None => match command::Args::try_parse() {
            Ok(args) => args,
            Err(error) => return command::explain_usage(&error),
        },
    };
    let mut output = command::Output::new();
    let code = command::run(args, &mut output);
    output.finish(code)
}
