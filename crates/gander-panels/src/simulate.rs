//! A stateless simulation: each request has all moves from the beginning, so an editor can go back
//! or restart at any time.
//!
//! The parameters are `system`, `moves` (objects with `action` and `values`), `random` (a number of
//! further random steps) and `seed`. Values that a move leaves open are chosen; the moves of the
//! answer have all values, so they give the same run again. States are evaluated, so they are
//! states of a run of the system.

use std::sync::Arc;

use gander::report::describe::{action_text, streams_view, trace_view};
use gander::{SimulationError, Simulator, StreamSimulator};
use gander_report::TraceView;
use gander_system::{Leg, Run, StartId, StreamKind, System, VarId};
use gander_term::{Sort, SymbolId, Value as TermValue, parse_value};
use serde_json::{Map, Value, json};

use crate::Context;
use crate::run::timeline_json;

/// Moves of a request at most.
const MAX_MOVES: usize = 2_000;
/// Random steps of a request at most.
const MAX_RANDOM: u64 = 1_000;
/// Choices that are decided and shown at most.
const MAX_CHOICES: usize = 200;

/// A move: an action by name, and the values that were chosen.
struct Move<'r> {
    action: &'r str,
    values: Vec<(&'r str, &'r str)>,
}

/// Answers a request.
pub fn simulate(context: &Context<'_>) -> Result<Value, String> {
    let system = context.system()?;
    let moves = moves_of(context.params)?;
    let number = |name: &str| context.params.get(name).and_then(Value::as_u64);
    let random = number("random").unwrap_or(0).min(MAX_RANDOM);
    // The seed differs for each length: otherwise undoing and repeating random steps gives others.
    let seed = number("seed").unwrap_or(1).wrapping_add(moves.len() as u64);
    let solvers = Arc::clone(context.solvers);
    match StreamSimulator::new(Arc::clone(&system), Arc::clone(&solvers), seed) {
        Some(simulator) => streams(context, simulator, &moves, random),
        None => graph(context, Simulator::new(system, solvers, seed), &moves, random),
    }
}

fn moves_of(params: &Value) -> Result<Vec<Move<'_>>, String> {
    let list = params.get("moves").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if list.len() > MAX_MOVES {
        return Err(format!("a simulation has at most {MAX_MOVES} steps"));
    }
    let mut moves = Vec::new();
    for given in list {
        let action = given.get("action").and_then(Value::as_str).ok_or("a move has no action")?;
        let values = given.get("values").and_then(Value::as_object);
        let values = values.into_iter().flatten();
        let values: Option<Vec<(&str, &str)>> =
            values.map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
        moves.push(Move { action, values: values.ok_or("a value is not a text")? });
    }
    Ok(moves)
}

/// A value that a person wrote.
fn value_of(system: &System, sort: Sort, name: &str, text: &str) -> Result<TermValue, String> {
    let lower = text.trim().to_ascii_lowercase();
    match (sort, lower.as_str()) {
        (Sort::Bool, "true" | "1") => Ok(TermValue::Bool(true)),
        (Sort::Bool, "false" | "0") => Ok(TermValue::Bool(false)),
        _ => parse_value(system.pool(), sort, text.trim())
            .map_err(|e| format!("{name}: {} (found `{text}`)", e.message)),
    }
}

// Control graphs.

fn graph(
    context: &Context<'_>,
    mut simulator: Simulator,
    moves: &[Move<'_>],
    random: u64,
) -> Result<Value, String> {
    let system = Arc::clone(simulator.system());
    let mut problem = None;
    let (begin, rest) = match moves.split_first() {
        Some((first, rest)) if is_start(&system, first.action) => (Some(first), rest),
        _ => (None, moves),
    };
    start(&mut simulator, begin)?;
    for m in rest {
        if let Err(why) = take(&mut simulator, m) {
            problem = Some(why);
            break;
        }
    }
    for _ in 0..random {
        if problem.is_some() || !simulator.take_random() {
            let reached = simulator.step_limit_reached();
            problem = problem.or_else(|| {
                Some(match reached {
                    Some(limit) => format!("The run has reached {limit}."),
                    None => format!("No further step after {}.", simulator.length()),
                })
            });
            break;
        }
    }
    let run = simulator.run().ok_or("the simulation did not begin")?;
    let choices = choices(&mut simulator);
    let taken: Vec<Option<usize>> = steps(&run).map(|s| Some(s.transition.index())).collect();
    let trace = trace_view(&system, &run, None);
    Ok(json!({
        "timeline": timeline_json(context, &system, &trace, &taken)?,
        "choices": choices,
        "failing": simulator.failing_now(),
        "moves": moves_of_run(&system, &run),
        "problem": problem,
    }))
}

fn steps(run: &Run) -> impl Iterator<Item = &gander_system::Step> {
    run.legs.iter().filter_map(|leg| match leg {
        Leg::Step(step) => Some(step),
        Leg::Repeat { .. } => None,
    })
}

/// The name of the action that begins a run.
fn start_action(system: &System, start: usize) -> String {
    format!("start {}", system.starts()[start].name)
}

fn is_start(system: &System, action: &str) -> bool {
    (0..system.starts().len()).any(|s| start_action(system, s) == action)
}

/// Begins with the start and values that are given, else with the first start that has a state.
fn start(simulator: &mut Simulator, begin: Option<&Move<'_>>) -> Result<(), String> {
    let system = Arc::clone(simulator.system());
    let mut trouble = SimulationError::Impossible("the system has no start".to_string());
    for s in 0..system.starts().len() {
        if begin.is_some_and(|b| start_action(&system, s) != b.action) {
            continue;
        }
        let mut fixed: Vec<(SymbolId, TermValue)> = Vec::new();
        for (name, text) in begin.iter().flat_map(|b| &b.values) {
            let var = system.vars().iter().find(|v| v.name == *name);
            let var = var.ok_or_else(|| format!("there is no variable `{name}`"))?;
            fixed.push((var.current, value_of(&system, var.sort, name, text)?));
        }
        match simulator.begin(StartId::from(s), &fixed) {
            Ok(()) => return Ok(()),
            Err(t) => trouble = t,
        }
    }
    Err(trouble.to_string())
}

fn take(simulator: &mut Simulator, m: &Move<'_>) -> Result<(), String> {
    let system = Arc::clone(simulator.system());
    let node = simulator.node().ok_or("the simulation did not begin")?;
    let leaving = system.leaving(node).iter().copied();
    let t = leaving.clone().find(|t| system.transition(*t).name == m.action);
    let t = t.ok_or_else(|| format!("`{}` does not leave this state", m.action))?;
    let transition = system.transition(t);
    let mut fixed = Vec::new();
    for (name, text) in &m.values {
        let param = transition.params.iter().find(|p| p.name == *name);
        let next =
            || name.strip_suffix('\'').and_then(|n| system.vars().iter().find(|v| v.name == n));
        let (symbol, sort) = match param {
            Some(p) => (p.symbol, p.sort),
            None => match next() {
                Some(var) => (var.next, var.sort),
                None => return Err(format!("`{}` has no parameter `{name}`", m.action)),
            },
        };
        fixed.push((symbol, value_of(&system, sort, name, text)?));
    }
    simulator.take(t, &fixed).map_err(|trouble| trouble.to_string())
}

fn choices(simulator: &mut Simulator) -> Vec<Value> {
    let system = Arc::clone(simulator.system());
    let choices = simulator.choices();
    let one = |choice: &gander::Choice| {
        let transition = system.transition(choice.transition);
        let (enabled, example) = match &choice.step {
            Ok(step) => (Some(true), Some(step)),
            Err(SimulationError::Impossible(_)) => (Some(false), None),
            Err(SimulationError::Unknown(_)) => (None, None),
        };
        let params = transition.params.iter().enumerate().map(|(i, p)| {
            json!({
                "name": p.name,
                "sort": p.sort.name(system.pool()).to_string(),
                "suggestion": example.and_then(|step| step.params.get(i))
                    .map(|v| system.pool().show_decimal(v)),
            })
        });
        let mut label = action_text(&system, choice.transition, &[]);
        if transition.source != transition.target {
            label.push_str(&format!(" → {}", system.node(transition.target).name));
        }
        json!({
            "action": transition.name,
            "label": label,
            "enabled": enabled,
            "transition": choice.transition.index(),
            "parameters": params.collect::<Vec<_>>(),
        })
    };
    choices.iter().take(MAX_CHOICES).map(one).collect()
}

/// The run as moves with all values.
fn moves_of_run(system: &System, run: &Run) -> Vec<Value> {
    let show = |v: &TermValue| system.pool().show_decimal(v);
    let first = system.vars().iter().zip(&run.first.values);
    let values: Map<String, Value> =
        first.map(|(var, v)| (var.name.clone(), json!(show(v)))).collect();
    let begin = json!({ "action": start_action(system, run.start.index()), "values": values });
    let step = |step: &gander_system::Step| {
        let transition = system.transition(step.transition);
        let params = transition.params.iter().zip(&step.params);
        let mut values: Map<String, Value> =
            params.map(|(p, v)| (p.name.clone(), json!(show(v)))).collect();
        let next = step.next.as_deref().unwrap_or_default();
        for (var, value) in system.var_ids().zip(next) {
            if !transition.determines(var) {
                values.insert(format!("{}'", system.var(var).name), json!(show(value)));
            }
        }
        json!({ "action": transition.name, "values": values })
    };
    std::iter::once(begin).chain(steps(run).map(step)).collect()
}

// Dataflow programs.

/// The action of every instant.
const INSTANT: &str = "step";

fn streams(
    context: &Context<'_>,
    mut simulator: StreamSimulator,
    moves: &[Move<'_>],
    random: u64,
) -> Result<Value, String> {
    let system = Arc::clone(simulator.system());
    let mut problem = None;
    let mut given: Vec<Vec<(VarId, TermValue)>> = Vec::new();
    for m in moves {
        let mut values = Vec::new();
        for (name, text) in &m.values {
            let v = system.var_ids().find(|v| system.var(*v).name == *name);
            let v = v.ok_or_else(|| format!("there is no stream `{name}`"))?;
            values.push((v, value_of(&system, system.var(v).sort, name, text)?));
        }
        given.push(values);
    }
    // A run has a first instant: without moves it is chosen.
    let first = usize::from(moves.is_empty());
    given.extend((0..random as usize + first).map(|_| Vec::new()));
    let mut taken = Vec::new();
    for values in given {
        let free: Vec<VarId> = system.var_ids().filter(|v| simulator.is_free(*v)).collect();
        if let Err(trouble) = simulator.step(&values) {
            problem = Some(trouble.to_string());
            break;
        }
        let now = simulator.values().unwrap_or_default();
        let chosen: Map<String, Value> = free
            .iter()
            .filter_map(|v| {
                let value = now.get(v.index())?;
                Some((system.var(*v).name.clone(), json!(system.pool().show_decimal(value))))
            })
            .collect();
        taken.push(json!({ "action": INSTANT, "values": chosen }));
    }
    let Some(run) = simulator.run() else {
        return Err(problem.unwrap_or_else(|| "the simulation did not begin".to_string()));
    };
    let shown = streams_view(&system, simulator.flow(), &run, None);
    let shown = shown.ok_or("the run cannot be shown")?;
    let trace = TraceView { streams: Some(Box::new(shown)), ..TraceView::default() };
    let inputs = system
        .var_ids()
        .filter(|v| simulator.is_free(*v) && system.var(*v).stream == Some(StreamKind::Input));
    let parameter = |v: VarId| {
        let var = system.var(v);
        json!({ "name": var.name, "sort": var.sort.name(system.pool()).to_string(), "suggestion": null })
    };
    let choice = json!({
        "action": INSTANT,
        "label": "Next instant",
        "enabled": true,
        "transition": null,
        "parameters": inputs.map(parameter).collect::<Vec<_>>(),
    });
    Ok(json!({
        "timeline": timeline_json(context, &system, &trace, &[])?,
        "choices": [choice],
        "failing": simulator.failing_now(),
        "moves": taken,
        "problem": problem,
    }))
}
