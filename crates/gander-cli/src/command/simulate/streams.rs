//! `gander simulate` for dataflow programs.

use std::path::Path;

use gander::lang::nearest;
use gander::report::describe::streams_view;
use gander::report::{
    StreamScope, StreamTable, StreamsView, TraceDetail, stream_table, streams_csv, streams_vcd,
};
use gander::system::{StreamKind, VarId};
use gander::term::Value;
use gander::{StreamSimulator, read_input};
use gander_io::write::{Target, replace};
use gander_text::shown;

use super::input_table::{InputTable, read_value};
use super::replay::Replayed;
use super::script::split;
use super::session::{After, Session, serve};
use crate::command::args::SimulateArgs;
use crate::command::inputs::unreadable;
use crate::process::{Output, WRONG};

const HELP: &str = "\
x=3 b=true ...    take a step with these inputs; those that you do not give are
                  chosen at random (an empty line: all of them)
step [x=3 ...]    the same
random [N]        take N steps with random inputs (1)
undo [N]          take N steps back (1)
reset             back to the beginning
run               print the run so far
save FILE         write the run: as value change dump if the name ends with
                  .vcd, else as CSV, which --inputs reads
quit              end
";

const WORDS: [&str; 8] = ["step", "random", "undo", "reset", "run", "save", "quit", "help"];

/// Simulates as the arguments say.
pub fn run(
    simulator: StreamSimulator,
    args: &SimulateArgs,
    replayed: Option<Replayed>,
    output: &mut Output,
) -> u8 {
    let scope = if args.all { StreamScope::All } else { StreamScope::Relevant };
    let mut session = StreamSession { simulator, scope };
    if let Some(replayed) = replayed {
        if let Err(error) = session.simulator.replay(&replayed.run) {
            output.error(&error.to_string());
            return WRONG;
        }
        replayed.tell(&mut session, output);
    }
    if let Some(file) = &args.inputs {
        return match read_input(file) {
            Ok(text) => session.table(file, &text, output),
            Err(error) => {
                output.write_diagnostics([&unreadable(file, &error)]);
                WRONG
            }
        };
    }
    if let Some(steps) = args.random {
        for _ in 0..=steps {
            if let Err(error) = session.simulator.step(&[]) {
                session.print_run(output);
                output.put(&format!(
                    "no further step after {}: {error}\n",
                    session.simulator.length()
                ));
                return 0;
            }
        }
        session.print_run(output);
        return 0;
    }
    serve(&mut session, args, "give inputs with --inputs, --script or --random", output)
}

struct StreamSession {
    simulator: StreamSimulator,
    scope: StreamScope,
}

impl StreamSession {
    /// Runs a table of inputs.
    fn table(&mut self, file: &str, text: &str, output: &mut Output) -> u8 {
        let table = match InputTable::read(text, &self.simulator) {
            Ok(table) => table,
            Err(message) => {
                output.error(&format!("{}, {}", shown(file), gander_text::message(&message)));
                return WRONG;
            }
        };
        for (i, row) in table.rows.iter().enumerate() {
            if let Err(error) = self.simulator.step(row) {
                self.print_run(output);
                output.error(&format!("{}, row {}: {error}", shown(file), i + 2));
                return WRONG;
            }
        }
        self.print_run(output);
        0
    }

    fn step(&mut self, words: &[String]) -> Result<(), String> {
        let system = self.simulator.system();
        let mut given: Vec<(VarId, Value)> = Vec::new();
        for word in words {
            let (name, text) = word
                .split_once('=')
                .ok_or_else(|| format!("`{word}` is not of the form name=value"))?;
            let Some(v) = system.var_ids().find(|v| system.var(*v).name == name) else {
                let near = nearest(name, system.vars().iter().map(|v| v.name.as_str()));
                let help = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                return Err(format!("there is no stream `{name}`{help}"));
            };
            if given.iter().any(|(w, _)| *w == v) {
                return Err(format!("`{name}` is given twice"));
            }
            given.push((v, read_value(system, v, text).map_err(|e| format!("{name}: {e}"))?));
        }
        self.simulator.step(&given).map_err(|e| e.to_string())
    }

    fn view(&self) -> Option<StreamsView> {
        let run = self.simulator.run()?;
        streams_view(self.simulator.system(), self.simulator.flow(), &run, None)
    }
}

impl Session for StreamSession {
    fn execute(&mut self, line: &str, output: &mut Output) -> Result<After, String> {
        let before = self.simulator.length();
        let words = split(line)?;
        let Some((first, rest)) = words.split_first() else { return Ok(After::GoOn) };
        match first.as_str() {
            _ if first.contains('=') => self.step(&words)?,
            "step" | "s" => self.step(rest)?,
            "random" | "r" => {
                for _ in 0..count(rest)? {
                    self.step(&[])?;
                }
            }
            "undo" | "u" => {
                for _ in 0..count(rest)? {
                    if !self.simulator.undo() {
                        return Err("this is the beginning of the run".to_string());
                    }
                }
            }
            "reset" => self.simulator.reset(),
            "run" => self.print_run(output),
            "save" => {
                let [file] = rest else { return Err("save takes the name of a file".to_string()) };
                let view = self.view().ok_or("there is nothing to save yet")?;
                let text =
                    if file.ends_with(".vcd") { streams_vcd(&view) } else { streams_csv(&view) };
                replace(Path::new(file), text.as_bytes(), Target::Named)
                    .map_err(|e| e.to_string())?;
                output.put(&format!("saved {file}\n"));
            }
            "help" | "h" | "?" => output.put(HELP),
            "quit" | "q" | "exit" => return Ok(After::Stop),
            _ => {
                return Err(match nearest(first, WORDS) {
                    Some(near) => format!("`{first}` is not known here; did you mean `{near}`?"),
                    None => format!(
                        "`{first}` is not of the form name=value; `help` lists the commands"
                    ),
                });
            }
        }
        Ok(if self.simulator.length() > before { After::Moved } else { After::GoOn })
    }

    fn greet(&mut self, output: &mut Output) {
        let system = self.simulator.system();
        let shown = |v: &VarId| {
            format!("{}: {}", system.var(*v).name, system.var(*v).sort.name(system.pool()))
        };
        let inputs: Vec<String> = self.simulator.inputs().iter().map(shown).collect();
        let inputs = if inputs.is_empty() { "none".to_string() } else { inputs.join(", ") };
        output.put(&format!("inputs: {inputs}   (`help` lists the commands)\n"));
    }

    fn prompt(&self) -> String {
        format!("step {}> ", self.simulator.length())
    }

    fn empty_line_command(&self) -> &'static str {
        "step"
    }

    fn print_run(&self, output: &mut Output) {
        let Some(view) = self.view() else { return };
        let table = StreamTable {
            detail: TraceDetail::Full,
            scope: self.scope,
            width: output.width(),
            indent: 0,
            paint: output.paint_out(),
            ..StreamTable::default()
        };
        output.put(&stream_table(&view, table));
        for (name, instant) in self.simulator.failures() {
            let line = format!("{} is false at step {instant}\n", output.paint_out().bad(name));
            output.put(&line);
        }
    }

    fn completions(&self) -> Vec<(String, Vec<String>)> {
        let system = self.simulator.system();
        let inputs: Vec<String> =
            self.simulator.inputs().iter().map(|v| format!("{}=", system.var(*v).name)).collect();
        let commands = WORDS.iter().map(|&w| {
            let after = if w == "step" { inputs.clone() } else { Vec::new() };
            (w.to_string(), after)
        });
        let settings = inputs.iter().map(|i| (i.clone(), Vec::new()));
        settings.chain(commands).collect()
    }

    /// Inputs and outputs of the last instant, and what is false there.
    fn show(&mut self, output: &mut Output) {
        let (system, Some(values)) = (self.simulator.system(), self.simulator.values()) else {
            return;
        };
        let list = |kind: StreamKind| {
            let inputs = self.simulator.inputs();
            let wanted = |v: &VarId| match kind {
                StreamKind::Input => inputs.contains(v),
                _ => system.var(*v).stream == Some(kind) && !system.var(*v).name.contains('#'),
            };
            let shown = |v: VarId| {
                format!("{} = {}", system.var(v).name, system.show_value(v, &values[v.index()]))
            };
            system.var_ids().filter(wanted).map(shown).collect::<Vec<_>>().join(", ")
        };
        let paint = output.paint_out();
        for (word, list) in [("in ", list(StreamKind::Input)), ("out", list(StreamKind::Output))] {
            if !list.is_empty() {
                output.put(&format!("  {}  {list}\n", paint.faint(word)));
            }
        }
        for name in self.simulator.failing_now() {
            output.put(&format!("  {} is false\n", paint.bad(name)));
        }
    }
}

fn count(rest: &[String]) -> Result<u64, String> {
    match rest {
        [] => Ok(1),
        [n] => n.parse().map_err(|_| format!("a number was expected, not `{n}`")),
        _ => Err("one number was expected".to_string()),
    }
}
