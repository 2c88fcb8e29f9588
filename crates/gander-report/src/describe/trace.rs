//! A run with its states, as rows.

use gander_system::{Effect, Leg, Run, StartId, State, Step, StreamKind, System, TransitionId};
use gander_term::{Value, evaluate};

use super::streams::stream_sort;
use crate::view::streams::{GroupKind, StreamGroup, StreamRow, StreamSort, StreamsView};
use crate::view::{RepeatView, TraceRow, TraceView};

/// States are computed for this many steps; later rows have no values.
const MAX_STEPS: u64 = 1_000_000;

/// A transition with the values of its parameters, for example `deposit(amount = 10)`. It is named
/// by its gate if that is unambiguous.
pub fn action_text(system: &System, t: TransitionId, params: &[Value]) -> String {
    let shown: Vec<String> = params.iter().map(|v| system.pool().show_decimal(v)).collect();
    action_with(system, t, &shown)
}

/// [`action_text`] with these words for the parameters.
pub fn action_with(system: &System, t: TransitionId, params: &[String]) -> String {
    let transition = system.transition(t);
    let alone = |g| {
        system
            .leaving(transition.source)
            .iter()
            .filter(|&&o| system.transition(o).gate == Some(g))
            .count()
            == 1
    };
    let name = match transition.gate {
        Some(g) if alone(g) => &system.gates()[g.index()],
        _ => &transition.name,
    };
    if params.is_empty() {
        return name.clone();
    }
    let values: Vec<String> =
        transition.params.iter().zip(params).map(|(p, v)| format!("{} = {v}", p.name)).collect();
    format!("{name}({})", values.join(", "))
}

/// A start by name; a name that does not say that it is a start gets the word.
pub fn start_text(system: &System, s: StartId) -> String {
    let name = &system.starts()[s.index()].name;
    if name.starts_with("start") { name.clone() } else { format!("start {name}") }
}

/// Every variable with its value.
pub fn state_values(system: &System, values: &[Value]) -> Vec<(String, String)> {
    system
        .vars()
        .iter()
        .zip(values)
        .enumerate()
        .map(|(i, (var, v))| (var.name.clone(), system.show_value(i.into(), v)))
        .collect()
}

/// The run with its states. States that the run leaves out because the effect gives them are
/// computed.
pub fn trace_view(system: &System, run: &Run, ending: Option<String>) -> TraceView {
    let length = run.length();
    let mut walk = Walk {
        system,
        values: Some(run.first.values.clone()),
        steps: 0,
        rows: vec![first_row(system, run.start, &run.first)],
        repeats: Vec::new(),
    };
    // Inside a repetition a step has the values of the last round, which is the round that is
    // shown.
    let all_given = gives_values(&run.legs);
    if length > MAX_STEPS && !all_given {
        walk.values = None;
    }
    let mut open: Vec<Round<'_>> = vec![Round { legs: &run.legs, at: 0, again: 0 }];
    while let Some(round) = open.last_mut() {
        match round.legs.get(round.at) {
            Some(Leg::Step(step)) => {
                round.at += 1;
                let is_last_round = open.iter().all(|r| r.again == 0);
                walk.step(step, is_last_round);
            }
            Some(Leg::Repeat { times, body }) => {
                round.at += 1;
                if open.iter().all(|r| r.again == 0) && *times > 1 {
                    let rows = flat_length(body);
                    walk.repeats.push(RepeatView {
                        first_row: walk.rows.len(),
                        rows,
                        times: *times,
                    });
                }
                let again = times.saturating_sub(1);
                // If states are not computed, one round is enough.
                let skipped = if walk.values.is_none() || all_given { again } else { 0 };
                walk.steps = walk.steps.saturating_add(skipped.saturating_mul(body_length(body)));
                open.push(Round { legs: body, at: 0, again: again - skipped });
            }
            None if round.again > 0 => {
                round.again -= 1;
                round.at = 0;
            }
            None => {
                open.pop();
            }
        }
    }
    let Walk { rows, repeats, .. } = walk;
    TraceView {
        length,
        rows,
        repeats,
        show_nodes: system.nodes().len() > 1,
        ending,
        ..TraceView::default()
    }
}

/// The steps of the rows of a run after the first: each repetition once.
pub fn shown_steps(run: &Run) -> Vec<&Step> {
    let mut steps: Vec<&Step> = Vec::new();
    let mut stack: Vec<&Leg> = run.legs.iter().rev().collect();
    while let Some(leg) = stack.pop() {
        match leg {
            Leg::Step(step) => steps.push(step),
            Leg::Repeat { body, .. } => stack.extend(body.iter().rev()),
        }
    }
    steps
}

/// The rows of a run in the form for files of other tools: a column for the transition, for the
/// node if there are several, for each parameter and for each variable. `None` if values are
/// missing.
pub fn trace_streams(system: &System, run: &Run, trace: &TraceView) -> Option<StreamsView> {
    let row = |name: &str, sort: StreamSort, values: Vec<String>| StreamRow {
        name: name.to_string(),
        full_name: name.to_string(),
        kind: StreamKind::Local,
        sort,
        shown: true,
        values,
    };
    if trace.rows.iter().any(|r| r.values.len() != system.vars().len()) {
        return None;
    }
    let mut rows = Vec::new();
    let actions = trace.rows.iter().map(|r| r.action.clone()).collect();
    rows.push(row("@transition", StreamSort::Text, actions));
    if trace.show_nodes {
        let nodes = trace.rows.iter().map(|r| r.node.clone()).collect();
        rows.push(row("@node", StreamSort::Text, nodes));
    }
    let steps = shown_steps(run);
    if steps.len() + 1 != trace.rows.len() {
        return None;
    }
    let mut params: Vec<StreamRow> = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let transition = system.transition(step.transition);
        for (param, value) in transition.params.iter().zip(&step.params) {
            let name = format!("{}.{}", transition.name, param.name);
            let at = params.iter().position(|r| r.full_name == name).unwrap_or_else(|| {
                let values = vec![String::new(); trace.rows.len()];
                params.push(row(&name, stream_sort(param.sort), values));
                params.len() - 1
            });
            params[at].values[i + 1] = system.pool().show_decimal(value);
        }
    }
    rows.extend(params);
    for (i, var) in system.vars().iter().enumerate() {
        let values = trace.rows.iter().map(|r| r.values[i].1.clone()).collect();
        rows.push(row(&var.name, stream_sort(var.sort), values));
    }
    Some(StreamsView {
        name: system.name().to_owned(),
        instants: trace.rows.len(),
        steps: trace.rows.iter().map(|r| r.step).collect(),
        groups: vec![StreamGroup {
            kind: GroupKind::Locals,
            title: String::new(),
            scopes: Vec::new(),
            rows,
        }],
        ..StreamsView::default()
    })
}

/// True if every step has its next state.
fn gives_values(legs: &[Leg]) -> bool {
    let mut stack: Vec<&Leg> = legs.iter().collect();
    while let Some(leg) = stack.pop() {
        match leg {
            Leg::Step(step) if step.next.is_none() => return false,
            Leg::Step(_) => {}
            Leg::Repeat { body, .. } => stack.extend(body),
        }
    }
    true
}

struct Round<'r> {
    legs: &'r [Leg],
    at: usize,
    again: u64,
}

/// The number of steps of legs, repetitions counted out; saturates.
fn body_length(body: &[Leg]) -> u64 {
    let mut total: u64 = 0;
    let mut stack: Vec<(&Leg, u64)> = body.iter().map(|leg| (leg, 1)).collect();
    while let Some((leg, times_around)) = stack.pop() {
        match leg {
            Leg::Step(_) => total = total.saturating_add(times_around),
            Leg::Repeat { times, body } => {
                let times = times.saturating_mul(times_around);
                stack.extend(body.iter().map(|leg| (leg, times)));
            }
        }
    }
    total
}

/// The number of rows for legs when every repetition is shown once.
fn flat_length(legs: &[Leg]) -> usize {
    let mut count = 0;
    let mut stack: Vec<&Leg> = legs.iter().collect();
    while let Some(leg) = stack.pop() {
        match leg {
            Leg::Step(_) => count += 1,
            Leg::Repeat { body, .. } => stack.extend(body),
        }
    }
    count
}

struct Walk<'a> {
    system: &'a System,
    /// The current values, as long as they are known.
    values: Option<Vec<Value>>,
    steps: u64,
    rows: Vec<TraceRow>,
    repeats: Vec<RepeatView>,
}

impl Walk<'_> {
    fn step(&mut self, step: &Step, is_last_round: bool) {
        self.steps = self.steps.saturating_add(1);
        let before = self.values.take();
        self.values = before
            .as_ref()
            .and_then(|values| next_values(self.system, values, step, is_last_round));
        if !is_last_round {
            return;
        }
        let changed = |(var, _): &(usize, &Value)| match (&before, &self.values) {
            (Some(old), Some(new)) => old[*var] != new[*var],
            _ => true,
        };
        let show = |(var, v): (usize, &Value)| {
            (self.system.vars()[var].name.clone(), self.system.show_value(var.into(), v))
        };
        let new = self.values.as_deref().unwrap_or_default();
        self.rows.push(TraceRow {
            step: self.steps,
            action: action_text(self.system, step.transition, &step.params),
            node: self.system.node(self.system.transition(step.transition).target).name.clone(),
            changes: new.iter().enumerate().filter(changed).map(show).collect(),
            values: new.iter().enumerate().map(show).collect(),
        });
    }
}

fn first_row(system: &System, start: StartId, first: &State) -> TraceRow {
    let values = state_values(system, &first.values);
    TraceRow {
        step: 0,
        action: start_text(system, start),
        node: system.node(first.node).name.clone(),
        changes: values.clone(),
        values,
    }
}

/// The values after a step: those that it has (inside a repetition, of the last round), or those
/// that its assignments give.
fn next_values(
    system: &System,
    before: &[Value],
    step: &Step,
    is_last_round: bool,
) -> Option<Vec<Value>> {
    let functional = system.transition(step.transition).is_functional(system);
    if let Some(next) = step.next.as_ref().filter(|_| is_last_round || !functional) {
        return (next.len() == before.len()).then(|| next.clone());
    }
    let transition = system.transition(step.transition);
    let value_of = |symbol| {
        let var = system.vars().iter().position(|v| v.current == symbol).map(|i| before[i].clone());
        var.or_else(|| {
            transition
                .params
                .iter()
                .position(|p| p.symbol == symbol)
                .map(|i| step.params[i].clone())
        })
    };
    let mut next = before.to_vec();
    for effect in &transition.effect {
        if let Effect::Assign { var, value, .. } = effect {
            next[var.index()] = evaluate(system.pool(), value.term(), &value_of).ok()?;
        }
    }
    Some(next)
}
