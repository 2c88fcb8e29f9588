//! The `gander` command. Only this crate prints, exits and handles signals.

use std::process::ExitCode;

use clap::Parser;
use gander::process::guard;

mod command;
mod process;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|word| word == guard::GUARD) {
        guard::serve(std::io::stdin());
        return ExitCode::SUCCESS;
    }
    guard::enable();
    let args = match command::Args::plain_check(std::env::args_os()) {
        Some(args) => args,
        None => match command::Args::try_parse() {
            Ok(args) => args,
            Err(error) => return command::explain_usage(&error),
        },
    };
    let mut output = process::Output::new();
    let code = command::run(args, &mut output);
    let code = output.finish(code);
    guard::dismiss();
    code
}
