//! A simulation that obeys commands, typed one by one or from a script.

use std::io::{BufRead, IsTerminal};

use gander::read_input;

use super::WRONG;
use super::args::SimulateArgs;
use super::check::unreadable;
use super::output::Output;

/// What to do after a command.
pub enum After {
    /// Nothing is to be shown.
    GoOn,
    /// The state is another one now.
    Moved,
    Stop,
}

/// What commands are given to.
pub trait Session {
    /// Obeys a line; a message says what is wrong with it.
    fn obey(&mut self, line: &str, output: &mut Output) -> Result<After, String>;

    /// What is printed before the first command.
    fn greet(&mut self, output: &mut Output);

    fn prompt(&self) -> String;

    /// The command that an empty line stands for.
    fn by_default(&self) -> &'static str;

    fn show(&mut self, output: &mut Output);

    fn print_run(&self, output: &mut Output);
}

/// Gives a session the commands of the script that the arguments name, or of the standard input. `instead` says how
/// commands can be given where the model came from there.
pub fn serve(session: &mut dyn Session, args: &SimulateArgs, instead: &str, output: &mut Output) -> u8 {
    match &args.script {
        Some(file) => match read_input(file) {
            Ok(text) => script(session, file, &mut text.as_bytes(), output),
            Err(error) => {
                let message = unreadable(file, &error, output.paint_err());
                output.complain(&message.rendered);
                WRONG
            }
        },
        None if args.file == "-" => {
            output.error(&format!("the model came from the standard input: {instead}"));
            WRONG
        }
        None if std::io::stdin().is_terminal() => interactive(session, output),
        None => script(session, "standard input", &mut std::io::stdin().lock(), output),
    }
}

fn interactive(session: &mut dyn Session, output: &mut Output) -> u8 {
    session.greet(output);
    let mut input = std::io::stdin().lock();
    loop {
        output.put(&session.prompt());
        output.flush();
        let mut line = String::new();
        match input.read_line(&mut line) {
            Ok(0) => {
                output.put("\n");
                return 0;
            }
            Ok(_) => {}
            Err(error) => {
                output.error(&format!("the input cannot be read: {error}"));
                return WRONG;
            }
        }
        let line = if line.trim().is_empty() { session.by_default() } else { &line };
        match session.obey(line, output) {
            Ok(After::Stop) => return 0,
            Ok(After::Moved) => session.show(output),
            Ok(After::GoOn) => {}
            Err(message) => output.put(&format!("{message}\n")),
        }
        if output.is_closed() {
            return 0;
        }
    }
}

/// Obeys the lines of a script; the first mistake ends it. Prints the run at the end.
fn script(session: &mut dyn Session, name: &str, input: &mut dyn BufRead, output: &mut Output) -> u8 {
    for (number, line) in input.lines().enumerate() {
        let obeyed = match line {
            Ok(line) => session.obey(&line, output),
            Err(error) => Err(error.to_string()),
        };
        match obeyed {
            Ok(After::Stop) => break,
            Ok(After::GoOn | After::Moved) => {}
            Err(message) => {
                session.print_run(output);
                output.error(&format!("{name}, line {}: {message}", number + 1));
                return WRONG;
            }
        }
    }
    session.print_run(output);
    0
}
