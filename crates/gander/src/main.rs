//! The `gander` command: the only place that owns the standard streams and exit codes.

use std::process::ExitCode;

use clap::Parser;

mod command;

fn main() -> ExitCode {
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
