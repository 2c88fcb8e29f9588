//! `simulate_step`: a run that grows step by step.
//!
//! A simulation is open for the session, under a number. Its states are evaluated, so each of its
//! runs is a run of the model that it was begun with.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gander::{Simulator, run_of_evidence};
use gander_runtime::{Cancellation, lock};
use gander_system::{StartId, State, System, TransitionId, read_evidence_text};
use gander_term::{SymbolId, Value as TermValue, parse_value};
use gander_text::shown;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, rejected};
use crate::arguments::Arguments;
use crate::session::{Failure, RejectedText, Session};

/// What a call may do with a simulation.
pub const ACTIONS: [&str; 5] = ["begin", "take", "random", "back", "state"];

/// A simulation that is open.
#[derive(Debug)]
pub struct Simulation {
    simulator: Simulator,
    document: String,
    model_sha256: String,
}

/// The simulations that are open.
#[derive(Debug, Default)]
pub struct Simulations {
    open: BTreeMap<u64, Simulation>,
    last: u64,
}

impl Simulations {
    /// Keeps a simulation; the oldest ones are closed.
    fn keep(&mut self, simulation: Simulation, most: usize) -> u64 {
        self.last += 1;
        self.open.insert(self.last, simulation);
        while self.open.len() > most.max(1) {
            self.open.pop_first();
        }
        self.last
    }
}

/// Answers `simulate_step`.
pub fn simulate(
    session: &Session,
    arguments: &Arguments<'_>,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    let action = arguments.required("action")?;
    if !ACTIONS.contains(&action) {
        let known = ACTIONS.join(", ");
        return Err(Failure::Refused(format!(
            "`action` must be one of {known}, not `{}`",
            shown(action)
        )));
    }
    if action == "begin" {
        return begin(session, arguments, timeout, cancel);
    }
    let number = arguments.number("simulation")?;
    let number = number.ok_or_else(|| "`simulation` is missing: `begin` gives it".to_string())?;
    // Remove it while it works, so that a panic loses only this simulation.
    let taken = lock(&session.simulations).open.remove(&number);
    let Some(mut simulation) = taken else {
        return Err(Failure::Refused(format!("there is no simulation {number}; `begin` one")));
    };
    let done = act(&mut simulation, action, arguments);
    let answer = done.map(|()| state(&mut simulation, number));
    lock(&session.simulations).open.insert(number, simulation);
    answer
}

fn act(
    simulation: &mut Simulation,
    action: &str,
    arguments: &Arguments<'_>,
) -> Result<(), Failure> {
    let simulator = &mut simulation.simulator;
    match action {
        "take" => {
            let system = Arc::clone(simulator.system());
            let t = transition(simulator, arguments.required("transition")?)?;
            let fixed =
                fixed(&system, t, &arguments.values("params")?, &arguments.values("next")?)?;
            simulator.take(t, &fixed).map_err(|trouble| trouble.to_string())?;
        }
        "random" => {
            let none = || Failure::Refused("no step was found from this state".to_string());
            simulator.take_random().then_some(()).ok_or_else(none)?;
        }
        "back" => {
            for _ in 0..arguments.number("steps")?.unwrap_or(1).min(1_000_000) {
                if !simulator.undo() {
                    break;
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn begin(
    session: &Session,
    arguments: &Arguments<'_>,
    timeout: Duration,
    cancel: &Cancellation,
) -> Result<Answer, Failure> {
    let text = session.text(arguments)?;
    let model = match session.model(&text, timeout, cancel)? {
        Ok(model) => model,
        Err(diagnostics) => return Ok(rejected(&RejectedText { text, diagnostics })),
    };
    let named = arguments.text("system")?;
    let systems = model.systems();
    let system = match named {
        None => systems.first(),
        Some(name) => systems.iter().find(|s| s.name() == name),
    };
    let Some(system) = system else {
        let known: Vec<&str> = systems.iter().map(|s| s.name()).collect();
        return Err(Failure::Refused(format!(
            "there is no such system; there are {}",
            known.join(", ")
        )));
    };
    let seed = arguments.number("seed")?.unwrap_or(0);
    let mut simulator = Simulator::new(Arc::clone(system), Arc::clone(&session.solvers), seed);
    match arguments.text("evidence_handle")? {
        Some(handle) => {
            let kept = lock(&session.evidence).get(handle);
            let kept = kept
                .ok_or_else(|| format!("there is no evidence {} in this session", shown(handle)))?;
            let file = read_evidence_text(system, &kept.file).map_err(|e| e.to_string())?;
            let run = run_of_evidence(&file.evidence)
                .ok_or_else(|| "this evidence is a proof, not a run".to_string())?;
            simulator.replay(run).map_err(|trouble| trouble.to_string())?;
        }
        None => {
            let start = start(system, arguments.text("start")?)?;
            let values = arguments.values("values")?;
            let fixed = values.iter().map(|(name, value)| {
                let (v, var) = system
                    .vars()
                    .iter()
                    .enumerate()
                    .find(|(_, v)| v.name == *name)
                    .ok_or_else(|| format!("there is no variable `{}`", shown(name)))?;
                let value = value_of(system, var.sort, value)
                    .map_err(|e| format!("{}: {e}", shown(name)))?;
                Ok((system.vars()[v].current, value))
            });
            let fixed: Vec<(SymbolId, TermValue)> = fixed.collect::<Result<_, String>>()?;
            simulator.begin(start, &fixed).map_err(|trouble| trouble.to_string())?;
        }
    }
    let mut simulation =
        Simulation { simulator, document: text.document, model_sha256: text.sha256 };
    let mut answer = state(&mut simulation, 0);
    let number = lock(&session.simulations).keep(simulation, session.config.limits.simulations);
    answer.object.insert("simulation".to_string(), json!(number));
    Ok(answer)
}

fn start(system: &System, name: Option<&str>) -> Result<StartId, String> {
    let Some(name) = name else { return Ok(StartId::from(0)) };
    let at = system.starts().iter().position(|s| s.name == name);
    at.map(StartId::from).ok_or_else(|| {
        let known: Vec<&str> = system.starts().iter().map(|s| &*s.name).collect();
        format!("there is no start `{}`; there are {}", shown(name), known.join(", "))
    })
}

/// The transition of the current node with a name, or the only one with this gate.
fn transition(simulator: &Simulator, name: &str) -> Result<TransitionId, String> {
    let system = simulator.system();
    let node = simulator.node().ok_or("the simulation has not begun")?;
    let leaving = system.leaving(node);
    let by_name = leaving.iter().copied().find(|t| system.transition(*t).name == name);
    let gate = |t: &TransitionId| {
        system.transition(*t).gate.is_some_and(|g| system.gates()[g.index()] == name)
    };
    let mut by_gate = leaving.iter().copied().filter(gate);
    let only = by_gate.next().filter(|_| by_gate.next().is_none());
    by_name.or(only).ok_or_else(|| {
        let known: Vec<&str> = leaving.iter().map(|t| &*system.transition(*t).name).collect();
        let at = &system.node(node).name;
        format!(
            "no transition `{}` leaves {}; there are {}",
            shown(name),
            shown(at),
            known.join(", ")
        )
    })
}

/// Values of parameters and next values.
fn fixed(
    system: &System,
    t: TransitionId,
    params: &[(&str, String)],
    next: &[(&str, String)],
) -> Result<Vec<(SymbolId, TermValue)>, String> {
    let mut fixed = Vec::new();
    for (name, value) in params {
        let param = system.transition(t).params.iter().find(|p| p.name == *name);
        let param = param.ok_or_else(|| format!("there is no parameter `{}`", shown(name)))?;
        let value =
            value_of(system, param.sort, value).map_err(|e| format!("{}: {e}", shown(name)))?;
        fixed.push((param.symbol, value));
    }
    for (name, value) in next {
        let var = system.vars().iter().find(|v| v.name == *name);
        let var = var.ok_or_else(|| format!("there is no variable `{}`", shown(name)))?;
        let value =
            value_of(system, var.sort, value).map_err(|e| format!("{}: {e}", shown(name)))?;
        fixed.push((var.next, value));
    }
    Ok(fixed)
}

fn value_of(system: &System, sort: gander_term::Sort, text: &str) -> Result<TermValue, String> {
    parse_value(system.pool(), sort, text).map_err(|e| e.to_string())
}

/// Where a simulation is, and what is possible.
fn state(simulation: &mut Simulation, number: u64) -> Answer {
    let violated = simulation.simulator.failing_now();
    let choices = simulation.simulator.choices();
    let simulator = &simulation.simulator;
    let system = simulator.system();
    let values = simulator.state().map_or_else(Map::new, |state| values(system, state));
    let node = simulator.node().map_or(String::new(), |n| system.node(n).name.clone());
    let mut shown_text = format!(
        "Text with SHA-256 {}, step {} at {}.\n",
        simulation.model_sha256,
        simulator.length(),
        shown(&node)
    );
    for (name, value) in &values {
        shown_text.push_str(&format!("  {} = {}\n", shown(name), value.as_str().unwrap_or("")));
    }
    if !violated.is_empty() {
        let names: Vec<String> = violated.iter().map(|n| format!("`{}`", shown(n))).collect();
        shown_text.push_str(&format!("False here: {}.\n", names.join(", ")));
    }
    shown_text.push_str("Steps:\n");
    let mut listed = Vec::new();
    for choice in &choices {
        let transition = system.transition(choice.transition);
        let params = transition.params.iter();
        let sorts = params
            .map(|p| json!({ "name": p.name, "sort": p.sort.name(system.pool()).to_string() }));
        let sorts: Vec<Value> = sorts.collect();
        let (example, why) = match &choice.step {
            Ok(step) => {
                let values = transition.params.iter().zip(&step.params);
                let values =
                    values.map(|(p, v)| (p.name.clone(), json!(system.pool().show_decimal(v))));
                (json!(values.collect::<Map<_, _>>()), Value::Null)
            }
            Err(trouble) => (Value::Null, json!(trouble.to_string())),
        };
        let possible = match &choice.step {
            Ok(_) => "possible".to_string(),
            Err(trouble) => trouble.to_string(),
        };
        shown_text.push_str(&format!(
            "  {}: {}\n",
            shown(&transition.name),
            gander_text::message(&possible)
        ));
        listed.push(json!({
            "transition": transition.name,
            "to": system.node(transition.target).name,
            "params": sorts,
            "example": example,
            "why_not": why,
        }));
    }
    let limit = simulator.step_limit_reached();
    Answer::new(
        shown_text,
        json!({
            "document": simulation.document,
            "model_sha256": simulation.model_sha256,
            "simulation": number,
            "system": system.name(),
            "step": simulator.length(),
            "node": node,
            "values": values,
            "choices": listed,
            "violated": violated,
            "step_limit": limit,
        }),
    )
}

fn values(system: &System, state: &State) -> Map<String, Value> {
    let shown = system.vars().iter().zip(&state.values).enumerate();
    shown.map(|(i, (var, v))| (var.name.clone(), json!(system.show_value(i.into(), v)))).collect()
}
