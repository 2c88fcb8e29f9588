//! A run as rows of values: a column for each state, with the transition that led to it.

use gander::report::describe::{shown_steps, streams_view, trace_view};
use gander::{SimulationError, Simulator, StreamSimulator};
use gander_report::{TimelineRow, TimelineView, TraceView};
use gander_system::{Dataflow, Evidence, Run, System, Transition, read_evidence_text};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use crate::Context;

/// States that are sent at most.
const MAX_STATES: usize = 5_000;

/// The run of evidence in its file form. It is replayed first, so that only runs of the model are
/// shown.
pub fn run_of_evidence(context: &Context<'_>) -> Result<Value, String> {
    let system = context.system()?;
    let evidence = context.params.get("evidence").ok_or("the request has no evidence")?;
    let file = read_evidence_text(&system, &evidence.to_string())
        .map_err(|e| format!("the evidence is not about this model: {e}"))?;
    let run =
        gander::run_of_evidence(&file.evidence).ok_or("the evidence is a proof, not a run")?;
    replay(context, &system, run)?;
    let back_to = match &file.evidence {
        Evidence::Lasso { back_to, .. } => Some(*back_to),
        _ => None,
    };
    let mut trace = trace_view(&system, run, None);
    trace.back_to = back_to;
    if let Some(flow) = Dataflow::of(&system)
        && let Some(streams) = streams_view(&system, &flow, run, None)
    {
        trace.streams = Some(Box::new(streams));
    }
    let taken: Vec<Option<usize>> =
        shown_steps(run).iter().map(|step| Some(step.transition.index())).collect();
    timeline_json(context, &system, &trace, &taken)
}

/// An error if this is not a run of the system. A step that evaluation cannot decide is accepted:
/// the checker accepted the evidence before.
fn replay(context: &Context<'_>, system: &Arc<System>, run: &Run) -> Result<(), String> {
    let solvers = Arc::clone(context.solvers);
    let replayed = match StreamSimulator::new(Arc::clone(system), Arc::clone(&solvers), 0) {
        Some(mut simulator) => simulator.replay(run),
        None => Simulator::new(Arc::clone(system), solvers, 0).replay(run),
    };
    match replayed {
        Err(SimulationError::Impossible(why)) => Err(why),
        Ok(()) | Err(SimulationError::Unknown(_)) => Ok(()),
    }
}

/// The rows of a run. `taken` has the transition of each state but the first, as far as known.
pub fn timeline_json(
    context: &Context<'_>,
    system: &System,
    trace: &TraceView,
    taken: &[Option<usize>],
) -> Result<Value, String> {
    let view = TimelineView::of_trace(trace, system.name())
        .ok_or("the run leaves states out; `gander check` shows it")?;
    let count = view.steps.len().min(MAX_STATES);
    let is_known = taken.len() + 1 == view.steps.len();
    let transition = |at: usize| {
        let id = at.checked_sub(1).filter(|_| is_known).and_then(|i| taken[i])?;
        Some((id, system.transitions().get(id)?))
    };
    let step = |(at, step): (usize, &gander_report::TimelineStep)| {
        let found = transition(at);
        let span = match found {
            Some((_, Transition { span, .. })) => *span,
            None if at == 0 && system.starts().len() == 1 => system.starts()[0].span,
            None => None,
        };
        json!({
            "number": step.number,
            "action": step.action,
            "node": step.node,
            "transition": found.map(|(id, _)| id),
            "range": context.range(span),
        })
    };
    let row = |row: &TimelineRow| {
        let cells: Vec<&str> = row.cells.iter().take(count).map(|c| c.value.as_str()).collect();
        json!({ "name": row.name, "shown": row.shown, "cells": cells })
    };
    let groups = view
        .groups
        .iter()
        .map(|g| json!({ "title": g.title, "rows": g.rows.iter().map(row).collect::<Vec<_>>() }));
    let back_to = trace.back_to.and_then(|n| view.steps.iter().position(|s| s.number == n));
    let mut notes: Vec<String> = trace.ending.iter().chain(&trace.remarks).cloned().collect();
    if count < view.steps.len() {
        notes.push(format!("Only the first {count} states are shown."));
    }
    for repeat in &view.repeats {
        notes.push(format!(
            "Steps {} to {} are a repetition, {} times; its last round is shown.",
            repeat.first, repeat.last, repeat.times
        ));
    }
    let mut object = Map::new();
    object.insert("system".into(), json!(system.name()));
    object.insert(
        "steps".into(),
        view.steps.iter().take(count).enumerate().map(step).collect::<Value>(),
    );
    object.insert("groups".into(), groups.collect::<Value>());
    object.insert("back_to".into(), json!(back_to));
    object
        .insert("note".into(), if notes.is_empty() { Value::Null } else { json!(notes.join(" ")) });
    Ok(Value::Object(object))
}
