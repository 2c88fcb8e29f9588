//! The `gander` command: the only place that owns the standard streams and exit codes.

use std::process::ExitCode;

use clap::Parser;
use gander::smt::guard;
use gander_bench::process::LAUNCH;

mod command;

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).map_while(|w| w.into_string().ok());
    match words.next().as_deref() {
        Some(LAUNCH) => return command::become_job(words.collect()),
        Some(guard::GUARD) => {
            guard::serve(std::io::stdin());
            return ExitCode::SUCCESS;
        }
        _ => {}
    }
    guard::enable();
    let args = match command::Args::plain_check(std::env::args_os()) {
        Some(args) => args,
        None => match command::Args::try_parse() {
            Ok(args) => args,
            Err(error) => return command::explain_usage(&error),
        },
    };
    let mut output = command::Output::new();
    let code = command::run(args, &mut output);
    let code = output.finish(code);
    guard::dismiss();
    code
}
