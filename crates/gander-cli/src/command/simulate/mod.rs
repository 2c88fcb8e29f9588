//! `gander simulate`.

mod input_table;
mod line_editor;
mod replay;
mod script;
mod session;
mod streams;

use std::path::Path;
use std::sync::Arc;

use gander::report::describe::{action_text, state_values, trace_view};
use gander::report::{TraceDetail, trace_table};
use gander::system::{Leg, StartId, System, TransitionId};
use gander::{LoadOptions, SimulationError, Simulator, StreamSimulator};
use gander_io::write::{Target, replace};

use super::args::SimulateArgs;
use super::inputs::{find_solvers, load_systems};
use crate::process::{Output, WRONG};
use replay::Replayed;
use script::{Command, HELP, completions, parse};
use session::{After, Session, serve};

pub fn run(args: &SimulateArgs, load: LoadOptions, output: &mut Output) -> u8 {
    let systems = match load_systems(&args.file, load, &args.limits, output) {
        Ok(systems) => systems,
        Err(code) => return code,
    };
    let replayed =
        args.replay.as_deref().map(|file| Replayed::read(file, &systems, args.root.as_deref()));
    let found = match replayed {
        None => chosen(systems, args.root.as_deref()).map(|system| (system, None)),
        Some(replayed) => replayed.map(|r| (Arc::clone(&r.system), Some(r))),
    };
    let (system, replayed) = match found {
        Ok(found) => found,
        Err(message) => {
            output.error(&message);
            return WRONG;
        }
    };
    let solvers = match find_solvers(&args.solvers) {
        Ok(solvers) => solvers,
        Err(message) => {
            output.error(&message);
            return WRONG;
        }
    };
    if let Some(simulator) =
        StreamSimulator::new(Arc::clone(&system), Arc::clone(&solvers), args.seed)
    {
        return streams::run(simulator, args, replayed, output);
    }
    if args.inputs.is_some() {
        output.error("--inputs is for dataflow programs: take --script for this model");
        return WRONG;
    }
    let simulator = Simulator::new(system, solvers, args.seed);
    let mut session = GraphSession { simulator, choices: Vec::new() };
    let begun = match &replayed {
        Some(replayed) => session.simulator.replay(&replayed.run),
        None if args.random.is_some() => session.simulator.begin_at_random(),
        None => session.begin_with_any_start(),
    };
    if let Err(error) = begun {
        output.error(&error.to_string());
        return WRONG;
    }
    session.update_choices();
    if let Some(replayed) = &replayed {
        replayed.tell(&mut session, output);
    }
    if let Some(steps) = args.random {
        return session.random_run(steps, output);
    }
    serve(&mut session, args, "give the commands with --script or --random", output)
}

/// The system of the named root; the first by default.
fn chosen(systems: Vec<Arc<System>>, root: Option<&str>) -> Result<Arc<System>, String> {
    let names: Vec<String> = systems.iter().map(|s| format!("`{}`", s.name())).collect();
    let found = systems.into_iter().find(|s| root.is_none_or(|name| s.name() == name));
    found.ok_or_else(|| {
        format!("there is no root `{}`; there is {}", root.unwrap_or_default(), names.join(", "))
    })
}

/// A simulation and the choices that were last shown.
struct GraphSession {
    simulator: Simulator,
    /// The transitions of the current node, by the numbers that commands use.
    choices: Vec<TransitionId>,
}

impl GraphSession {
    fn system(&self) -> Arc<System> {
        Arc::clone(self.simulator.system())
    }

    /// Begins with the first start that has a state.
    fn begin_with_any_start(&mut self) -> Result<(), SimulationError> {
        let starts = self.system().starts().len();
        let mut error = SimulationError::Impossible("the system has no start".to_string());
        for s in 0..starts {
            match self.simulator.begin(StartId::from(s), &[]) {
                Ok(()) => {
                    self.update_choices();
                    return Ok(());
                }
                Err(t) => error = t,
            }
        }
        Err(error)
    }

    /// Sets the choices to the transitions of the current node. Whether they are enabled is decided
    /// when they are shown.
    fn update_choices(&mut self) {
        self.choices =
            self.simulator.node().map_or(Vec::new(), |n| self.system().leaving(n).to_vec());
    }

    fn random_run(&mut self, steps: u64, output: &mut Output) -> u8 {
        let mut stuck = false;
        for _ in 0..steps {
            if !self.simulator.take_random() {
                stuck = true;
                break;
            }
        }
        self.print_run(output);
        if stuck {
            let text = match self.simulator.step_limit_reached() {
                Some(limit) => format!("the run has reached {limit}"),
                None => format!("no further step after {}", self.simulator.length()),
            };
            output.put(&format!("{text}\n"));
        }
        0
    }

    /// The run as commands that reproduce its states.
    fn as_script(&self) -> String {
        let system = self.system();
        let Some(run) = self.simulator.run() else { return String::new() };
        let show = |v| system.pool().show_decimal(v);
        let mut text = format!("start {}", run.start.index() + 1);
        for (var, value) in system.vars().iter().zip(&run.first.values) {
            text.push_str(&format!(" {}={}", var.name, show(value)));
        }
        text.push('\n');
        for leg in &run.legs {
            let Leg::Step(step) = leg else { continue };
            let transition = system.transition(step.transition);
            text.push_str(&transition.name);
            for (param, value) in transition.params.iter().zip(&step.params) {
                text.push_str(&format!(" {}={}", param.name, show(value)));
            }
            let next = step.next.as_deref().unwrap_or_default();
            for (var, value) in system.var_ids().zip(next) {
                if !transition.determines(var) {
                    text.push_str(&format!(" {}'={}", system.var(var).name, show(value)));
                }
            }
            text.push('\n');
        }
        text
    }
}

impl Session for GraphSession {
    fn execute(&mut self, line: &str, output: &mut Output) -> Result<After, String> {
        let system = self.system();
        let before = (self.simulator.length(), self.simulator.state().cloned());
        match parse(line, &system, &self.choices)? {
            Command::Nothing => {}
            Command::Quit => return Ok(After::Stop),
            Command::Help => output.put(HELP),
            Command::Show => self.show(output),
            Command::Run => self.print_run(output),
            Command::Reset => self.simulator.reset(),
            Command::Take(t, fixed) => self.simulator.take(t, &fixed).map_err(|e| e.to_string())?,
            Command::Begin(s, fixed) => {
                self.simulator.begin(s, &fixed).map_err(|e| e.to_string())?
            }
            Command::Undo(n) => {
                for _ in 0..n {
                    if !self.simulator.undo() {
                        return Err("this is the beginning of the run".to_string());
                    }
                }
            }
            Command::Random(n) => {
                for _ in 0..n {
                    if !self.simulator.take_random() {
                        self.update_choices();
                        return Err(format!("no further step after {}", self.simulator.length()));
                    }
                }
            }
            Command::Save(file) => {
                let text = self.as_script();
                replace(Path::new(&file), text.as_bytes(), Target::Named)
                    .map_err(|e| e.to_string())?;
                output.put(&format!("saved {file}\n"));
            }
        }
        self.update_choices();
        let moved = before != (self.simulator.length(), self.simulator.state().cloned());
        Ok(if moved { After::Moved } else { After::GoOn })
    }

    fn greet(&mut self, output: &mut Output) {
        self.show(output);
    }

    fn prompt(&self) -> String {
        "> ".to_string()
    }

    fn empty_line_command(&self) -> &'static str {
        ""
    }

    fn print_run(&self, output: &mut Output) {
        if let Some(run) = self.simulator.run() {
            let view = trace_view(self.simulator.system(), &run, None);
            let paint = output.paint_out();
            output.put(&trace_table(&view, TraceDetail::Changes, 0, paint));
            for (name, step) in self.simulator.failures() {
                output.put(&format!("{} is false at step {step}\n", paint.bad(&name)));
            }
        }
    }

    fn completions(&self) -> Vec<(String, Vec<String>)> {
        completions(self.simulator.system(), &self.choices)
    }

    /// The state and the numbered transitions.
    fn show(&mut self, output: &mut Output) {
        let system = self.system();
        let choices = self.simulator.choices();
        let Some(state) = self.simulator.state() else { return };
        let paint = output.paint_out();
        let values: Vec<String> = state_values(&system, &state.values)
            .iter()
            .map(|(n, v)| format!("{n} = {v}"))
            .collect();
        let node = if system.nodes().len() > 1 {
            format!("{}  ", system.node(state.node).name)
        } else {
            String::new()
        };
        output.put(&format!(
            "{}  {}{}\n",
            self.simulator.length(),
            paint.bold(&node),
            values.join(", ")
        ));
        for name in self.simulator.failing_now() {
            output.put(&format!("   {} is false\n", paint.bad(&name)));
        }
        if choices.is_empty() {
            output.put("   nothing leaves this node\n");
        }
        if let Some(limit) = self.simulator.step_limit_reached() {
            output.put(&format!("   the run has reached {limit}\n"));
        }
        for (i, choice) in choices.iter().enumerate() {
            let transition = system.transition(choice.transition);
            let params: Vec<String> = transition
                .params
                .iter()
                .map(|p| format!("{}: {}", p.name, p.sort.name(system.pool())))
                .collect();
            let mut line =
                format!("{:>3}  {}", i + 1, action_text(&system, choice.transition, &[]));
            if !params.is_empty() {
                line.push_str(&format!("({})", params.join(", ")));
            }
            if transition.source != transition.target {
                line.push_str(&format!(" -> {}", system.node(transition.target).name));
            }
            match &choice.step {
                Ok(step) if !params.is_empty() => {
                    let example = action_text(&system, choice.transition, &step.params);
                    output.put(&format!(
                        "{line}  {}\n",
                        paint.faint(&format!("for example {example}"))
                    ));
                }
                Ok(_) => output.put(&format!("{line}\n")),
                Err(SimulationError::Impossible(why)) => {
                    let short = if why.contains("` is not enabled") { "not enabled" } else { why };
                    output.put(&paint.faint(&format!("{line}  ({short})")));
                    output.put("\n");
                }
                Err(SimulationError::Unknown(why)) => {
                    output.put(&format!("{line}  {}\n", paint.open(&format!("(unknown: {why})"))))
                }
            }
        }
    }
}
