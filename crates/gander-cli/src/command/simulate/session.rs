//! A simulation that executes commands, typed one by one or from a script.

use std::io::{BufRead, IsTerminal};

use gander::read_input;

use super::line_editor::{Line, LineEditor};
use crate::command::args::SimulateArgs;
use crate::command::inputs::unreadable;
use crate::process::{Output, WRONG};

/// What to do after a command.
pub enum After {
    /// Show nothing.
    GoOn,
    /// Show the new state.
    Moved,
    Stop,
}

/// Executes commands.
pub trait Session {
    /// Executes a line; the error says what is wrong with it.
    fn execute(&mut self, line: &str, output: &mut Output) -> Result<After, String>;

    /// Prints what comes before the first command.
    fn greet(&mut self, output: &mut Output);

    fn prompt(&self) -> String;

    /// The command for an empty line.
    fn empty_line_command(&self) -> &'static str;

    /// The words that a line may begin with, each with the words that may follow it.
    fn completions(&self) -> Vec<(String, Vec<String>)>;

    fn show(&mut self, output: &mut Output);

    fn print_run(&self, output: &mut Output);
}

/// Executes the commands of the script that the arguments name, or of the standard input. `instead`
/// says how to give commands if the model came from the standard input.
pub fn serve(
    session: &mut dyn Session,
    args: &SimulateArgs,
    instead: &str,
    output: &mut Output,
) -> u8 {
    match &args.script {
        Some(file) => match read_input(file) {
            Ok(text) => script(session, file, &mut text.as_bytes(), output),
            Err(error) => {
                output.write_diagnostics([&unreadable(file, &error)]);
                WRONG
            }
        },
        None if args.file == "-" => {
            output.error(&format!("the model came from the standard input: {instead}"));
            WRONG
        }
        None if is_interactive() => interactive(session, output),
        None => script(session, "standard input", &mut std::io::stdin().lock(), output),
    }
}

/// True if commands are typed and answered on a terminal.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

fn interactive(session: &mut dyn Session, output: &mut Output) -> u8 {
    session.greet(output);
    let mut editor = LineEditor::new();
    loop {
        output.flush();
        let line = match editor.read(&session.prompt(), session.completions()) {
            Ok(Line::Text(line)) => line,
            Ok(Line::Interrupted) => {
                output.put("`quit` or Ctrl-D ends the simulation\n");
                continue;
            }
            Ok(Line::End) => return 0,
            Err(error) => {
                output.error(&format!("the input cannot be read: {error}"));
                return WRONG;
            }
        };
        let line = if line.trim().is_empty() { session.empty_line_command() } else { &line };
        match session.execute(line, output) {
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

/// Executes the lines of a script; the first error ends it. Prints the run at the end.
fn script(
    session: &mut dyn Session,
    name: &str,
    input: &mut dyn BufRead,
    output: &mut Output,
) -> u8 {
    for (number, line) in input.lines().enumerate() {
        let executed = match line {
            Ok(line) => session.execute(&line, output),
            Err(error) => Err(error.to_string()),
        };
        match executed {
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
