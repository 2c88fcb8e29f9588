//! A run with its states, as rows.

use gander_system::{
    Effect, Leg, Run, Shape, StartId, State, Step, StreamKind, System, TransitionId,
};
use gander_term::{Op, Value, evaluate};
use rustc_hash::FxHashMap;

use super::family_values::{shown_changes, shown_values};
use super::streams::stream_sort;
use crate::view::streams::{GroupKind, StreamGroup, StreamRow, StreamSort, StreamsView};
use crate::view::{RepeatView, TraceRow, TraceView};

/// States are computed for this many steps; later rows have no values.
const MAX_STEPS: u64 = 1_000_000;

/// A transition with the values of its parameters, for example `deposit(amount = 10)`. It is named
/// by its gate if that is unambiguous.
pub fn action_text(system: &System, t: TransitionId, params: &[Value]) -> String {
    let shown: Vec<String> = params.iter().map(|v| system.pool().show_decimal(v)).collect();
    action_with_values(system, t, params, &shown)
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

/// [`action_text`] with these words for the parameters, and parameters of several parts as authors
/// write them; `values` are their values.
pub fn action_with_values(
    system: &System,
    t: TransitionId,
    values: &[Value],
    params: &[String],
) -> String {
    let transition = system.transition(t);
    if transition.aggregates.is_empty() {
        return action_with(system, t, params);
    }
    let shown = transition.show_params(values, params);
    let shown: Vec<String> = shown.iter().map(|(name, v)| format!("{name} = {v}")).collect();
    format!("{}({})", action_with(system, t, &[]), shown.join(", "))
}

/// A start by name; a name that does not say that it is a start gets the word.
pub fn start_text(system: &System, s: StartId) -> String {
    let name = &system.starts()[s.index()].name;
    if name.starts_with("start") { name.clone() } else { format!("start {name}") }
}

/// Every variable with its value.
pub fn state_values(system: &System, values: &[Value]) -> Vec<(String, String)> {
    system.shown_vars().flat_map(|var| shown_values(system, &var, values)).collect()
}

/// The variables, as authors see them, whose value differs in the second state.
pub fn changed_values(system: &System, before: &[Value], now: &[Value]) -> Vec<(String, String)> {
    system.shown_vars().flat_map(|var| shown_changes(system, &var, before, now)).collect()
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
        open: FxHashMap::default(),
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
                walk.steps =
                    walk.steps.saturating_add(skipped.saturating_mul(Leg::count_steps(body)));
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
        actual: Vec::new(),
    };
    let shown = &trace.rows.first()?.values;
    if trace.rows.iter().any(|r| r.values.len() != shown.len()) {
        return None;
    }
    let scalars: FxHashMap<&str, StreamSort> = (system.shown_vars())
        .filter(|var| matches!(var.shape, Shape::Scalar))
        .map(|var| (var.name, stream_sort(system.var(var.first).sort)))
        .collect();
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
        let texts: Vec<String> =
            step.params.iter().map(|value| system.pool().show_decimal(value)).collect();
        for (param, value) in transition.show_params(&step.params, &texts) {
            let sort = transition.params.iter().find(|p| p.name == param).map(|p| p.sort);
            let name = format!("{}.{param}", transition.name);
            let at = params.iter().position(|r| r.full_name == name).unwrap_or_else(|| {
                let values = vec![String::new(); trace.rows.len()];
                params.push(row(&name, sort.map_or(StreamSort::Text, stream_sort), values));
                params.len() - 1
            });
            params[at].values[i + 1] = value;
        }
    }
    rows.extend(params);
    for (i, (name, _)) in shown.iter().enumerate() {
        let values = trace.rows.iter().map(|r| r.values[i].1.clone()).collect();
        let sort = scalars.get(name.as_str()).copied().unwrap_or(StreamSort::Text);
        rows.push(row(name, sort, values));
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
    /// By transition: the variables that it leaves open.
    open: FxHashMap<TransitionId, Vec<usize>>,
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
        let new = self.values.as_deref().unwrap_or_default();
        let values = match new {
            [] => Vec::new(),
            _ => state_values(self.system, new),
        };
        let changes = match &before {
            Some(old) => changed_values(self.system, old, new),
            None => values.clone(),
        };
        let open = &*self
            .open
            .entry(step.transition)
            .or_insert_with(|| open_variables(self.system, step.transition));
        self.rows.push(TraceRow {
            step: self.steps,
            action: action_text(self.system, step.transition, &step.params),
            node: self.system.node(self.system.transition(step.transition).target).name.clone(),
            changes: if new.is_empty() { Vec::new() } else { changes },
            values,
            chosen: self
                .system
                .shown_vars()
                .filter(|var| !new.is_empty() && var.parts().any(|v| open.contains(&v.index())))
                .flat_map(|var| shown_values(self.system, &var, new))
                .collect(),
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
        chosen: Vec::new(),
    }
}

/// The variables whose next value a transition leaves open: no assignment, frame or equation `x' ==
/// e` without `x'` in `e` gives it.
fn open_variables(system: &System, t: TransitionId) -> Vec<usize> {
    let pool = system.pool();
    let mut given = vec![false; system.vars().len()];
    for effect in &system.transition(t).effect {
        match effect {
            Effect::Assign { var, .. } | Effect::Keep { var, .. } => given[var.index()] = true,
            Effect::Constrain { relation, .. } => {
                let mut parts = vec![relation.term()];
                while let Some(part) = parts.pop() {
                    match (pool.op(part), pool.args(part)) {
                        (Op::And, args) => parts.extend(args),
                        (Op::Eq, &[a, b]) => {
                            for (side, other) in [(a, b), (b, a)] {
                                let Op::Symbol(s) = pool.op(side) else { continue };
                                let var = system.vars().iter().position(|v| v.next == s);
                                if let Some(var) = var
                                    && !pool.free_symbols(&[other]).contains(&s)
                                {
                                    given[var] = true;
                                    break;
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    (0..given.len()).filter(|&v| !given[v]).collect()
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
