//! Explained runs as plain data: a run with marks on the values that can be changed.

use gander_explain::Parts;
use gander_explain::run_explanation::{Bound, Choice, Contrast, Freedom, RunExplanation};
use gander_report::describe::{
    Answered, action_with_values, claim_view, instance_values, stream_sort,
};
use gander_report::{
    CellMark, ContrastView, DifferenceView, FreeView, LeastView, RunView, StreamSort, StreamsView,
    TimelineCell, TimelineGroup, TimelineRow, TimelineStep, TimelineView, TraceView, VerdictView,
};
use gander_system::{
    ClaimId, Dataflow, Leg, Role, Run, ShownVar, StreamKind, System, TransitionId, VarId,
    write_evidence,
};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

use crate::present::name_lines_of_run;

/// Runs with more states have no timeline.
const MAX_STATES: usize = 5_000;

/// Which values of a run can be changed, and which follow such a change.
struct Marks<'e> {
    by_choice: FxHashMap<Choice, &'e Freedom>,
    varying: FxHashMap<(u32, VarId), ()>,
}

/// The view of an explained run. `script`: the text, if the model is a script; its rules have no
/// names, so their lines are given.
pub(crate) fn run_view(
    system: &System,
    parts: &Parts,
    claim: ClaimId,
    e: &RunExplanation,
    script: Option<&str>,
) -> RunView {
    let about = &system.claims()[claim.index()];
    let flow = Dataflow::of(system);
    let answered = Answered {
        claim: about,
        verdict: &e.verdict,
        engine: "",
        seconds: 0.0,
        warnings: &[],
        shortest: None,
        flow: flow.as_ref(),
    };
    let evidence = write_evidence(system, claim, &e.verdict).unwrap_or_default();
    let shown = claim_view(system, answered, serde_json::Value::Null);
    let (verdict, trace) = match &shown.verdict {
        VerdictView::Holds(found) => ("holds", found.shown.trace().cloned()),
        VerdictView::Fails(found) => ("fails", found.shown.trace().cloned()),
        VerdictView::Unknown { .. } => ("unknown", None),
        VerdictView::Vacuous => ("vacuous", None),
    };
    let marks = Marks {
        by_choice: e.freedoms.iter().map(|(c, f)| (*c, f)).collect(),
        varying: e.varying.iter().map(|p| (*p, ())).collect(),
    };
    let states = states_of(&e.run).filter(|s| s.len() <= MAX_STATES);
    let mut trace = trace.unwrap_or_default();
    if let Some(source) = script {
        name_lines_of_run(system, &e.run, &mut trace, source);
    }
    let timeline = states.as_ref().map(|states| match &trace.streams {
        Some(streams) => stream_timeline(system, streams, &marks),
        None => graph_timeline(system, &e.run, states, &trace, &marks),
    });
    if let Some(states) = &states {
        mark_trace(system, &e.run, states, &mut trace, &marks);
    }
    // Variables made by a front-end have no name that the author knows.
    let is_made = |c: &Choice| match c {
        Choice::Var(_, v) => system.var(*v).stream == Some(StreamKind::Internal),
        Choice::Param(..) => false,
    };
    let free = e.freedoms.iter().filter(|(c, f)| is_free(f) && !is_made(c));
    RunView {
        property: about.name.clone(),
        claim: about.text.clone(),
        verdict,
        span: about.span.map(|s| (s.start as usize, s.end as usize)),
        length: LeastView { count: e.length.steps, before: e.length.before, least: e.length.least },
        changes: e.changes.map(|c| LeastView { count: c.count, before: c.before, least: c.least }),
        free: free.map(|(c, f)| free_view(system, &e.run, *c, f)).collect(),
        maximal: e.maximal,
        forced: e.forced.as_ref().map(|f| f.by.iter().filter(|&p| p < parts.len()).collect()),
        forced_minimal: e.forced.as_ref().is_some_and(|f| f.minimal),
        contrast: e.contrast.as_ref().map(|c| contrast_view(system, &e.run, c, &trace)),
        notes: e.notes.clone(),
        trace,
        timeline,
        evidence,
    }
}

/// The values of every state; none if the run is compressed or leaves some out.
fn states_of(run: &Run) -> Option<Vec<&[Value]>> {
    let mut states = vec![run.first.values.as_slice()];
    for leg in &run.legs {
        let Leg::Step(step) = leg else { return None };
        states.push(step.next.as_deref()?);
    }
    Some(states)
}

fn steps_of(run: &Run) -> impl Iterator<Item = (TransitionId, &[Value])> {
    run.legs.iter().filter_map(|leg| match leg {
        Leg::Step(step) => Some((step.transition, step.params.as_slice())),
        Leg::Repeat { .. } => None,
    })
}

/// True if another value does as well.
fn is_free(freedom: &Freedom) -> bool {
    match freedom {
        Freedom::Fixed => false,
        // The value itself, and nothing else.
        Freedom::Within { low: Some(low), high: Some(high) } => low.value != high.value,
        _ => true,
    }
}

fn show_bound(system: &System, v: Option<VarId>, bound: &Option<Bound>) -> Option<(String, bool)> {
    let b = bound.as_ref()?;
    let text =
        v.map_or_else(|| system.pool().show_decimal(&b.value), |v| system.show_value(v, &b.value));
    Some((text, b.open))
}

/// The freedom of a value; bounds are shown as values of the variable.
fn bounds_view(system: &System, var: Option<VarId>, freedom: &Freedom) -> FreeView {
    let (low, high) = match freedom {
        Freedom::Within { low, high } => {
            (show_bound(system, var, low), show_bound(system, var, high))
        }
        _ => (None, None),
    };
    FreeView {
        step: 0,
        name: String::new(),
        value: String::new(),
        any: *freedom == Freedom::Any,
        low,
        high,
    }
}

fn free_view(system: &System, run: &Run, choice: Choice, freedom: &Freedom) -> FreeView {
    match choice {
        Choice::Var(i, v) => {
            let states = states_of(run);
            let value = states.as_ref().and_then(|s| s.get(i as usize)?.get(v.index()));
            FreeView {
                step: u64::from(i),
                name: system.var(v).name.clone(),
                value: value.map_or(String::new(), |value| system.show_value(v, value)),
                ..bounds_view(system, Some(v), freedom)
            }
        }
        Choice::Param(i, p) => {
            let (t, params) = steps_of(run).nth(i as usize).unwrap_or((TransitionId(0), &[]));
            let name = system.transitions().get(t.index()).and_then(|t| t.params.get(p as usize));
            FreeView {
                step: u64::from(i) + 1,
                name: name.map_or(String::new(), |p| p.name.clone()),
                value: params
                    .get(p as usize)
                    .map_or(String::new(), |v| system.pool().show_decimal(v)),
                ..bounds_view(system, None, freedom)
            }
        }
    }
}

impl Marks<'_> {
    fn of_choice(&self, system: &System, choice: Choice) -> Option<CellMark> {
        match self.by_choice.get(&choice)? {
            freedom if !is_free(freedom) => None,
            Freedom::Any => Some(CellMark::Any),
            within => {
                let var = match choice {
                    Choice::Var(_, v) => Some(v),
                    Choice::Param(..) => None,
                };
                let view = bounds_view(system, var, within);
                Some(CellMark::Within(view.text(), view.phrase()))
            }
        }
    }

    fn of_var(&self, system: &System, state: usize, v: VarId) -> CellMark {
        if self.varying.contains_key(&(state as u32, v)) {
            return CellMark::Varies;
        }
        self.of_choice(system, Choice::Var(state as u32, v)).unwrap_or_default()
    }
}

/// Where a value is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    /// In a table column.
    Column,
    /// In a sentence after "name =".
    Sentence,
}

/// A value with its mark.
fn marked(value: String, mark: &CellMark, place: Where) -> String {
    match mark {
        CellMark::Any => "any".to_string(),
        CellMark::Within(text, phrase) => {
            if place == Where::Column { text } else { phrase }.clone()
        }
        CellMark::Varies => format!("{value}~"),
        CellMark::Plain | CellMark::Absent => value,
    }
}

fn params_marked(system: &System, step: usize, params: &[Value], marks: &Marks<'_>) -> Vec<String> {
    let text = |(p, v): (usize, &Value)| {
        let mark =
            marks.of_choice(system, Choice::Param(step as u32, p as u32)).unwrap_or_default();
        marked(system.pool().show_decimal(v), &mark, Where::Sentence)
    };
    params.iter().enumerate().map(text).collect()
}

/// Replaces values by their marks.
fn mark_trace(
    system: &System,
    run: &Run,
    states: &[&[Value]],
    trace: &mut TraceView,
    marks: &Marks<'_>,
) {
    if let Some(streams) = &mut trace.streams {
        let vars: FxHashMap<&str, VarId> =
            system.var_ids().map(|v| (system.var(v).name.as_str(), v)).collect();
        if streams.instants != states.len() {
            return;
        }
        for row in streams.groups.iter_mut().flat_map(|g| &mut g.rows) {
            let Some(&v) = vars.get(row.full_name.as_str()) else { continue };
            row.actual = row.values.clone();
            for (i, value) in row.values.iter_mut().enumerate() {
                *value = marked(std::mem::take(value), &marks.of_var(system, i, v), Where::Column);
            }
        }
        return;
    }
    if trace.rows.len() != states.len() {
        return;
    }
    for (i, row) in trace.rows.iter_mut().enumerate() {
        if let Some(before) = i.checked_sub(1)
            && let Some((t, params)) = steps_of(run).nth(before)
            && !params.is_empty()
        {
            let texts = params_marked(system, before, params, marks);
            row.action = action_with_values(system, t, params, &texts);
        }
        let scalar = |v: Option<VarId>, value: &Value| match v {
            Some(v) => {
                let value = system.show_value(v, value);
                marked(value, &marks.of_var(system, i, v), Where::Sentence)
            }
            None => system.pool().show_decimal(value),
        };
        let of_instances = |var: &ShownVar<'_>, i: usize| {
            let mark = marks.of_var(system, i, var.first);
            // What is known of an array as a whole is no statement about each of its elements.
            let value = |(name, value): (String, String)| match mark {
                CellMark::Plain | CellMark::Absent => (name, value),
                _ => (name, format!("{value}~")),
            };
            instance_values(system, var, states[i])
                .map(|all| all.into_iter().map(value).collect::<Vec<_>>())
        };
        let shown_var = |var: &ShownVar<'_>| {
            of_instances(var, i).unwrap_or_else(|| {
                vec![(var.name.to_owned(), system.show_var(var, states[i], &scalar))]
            })
        };
        let shown: Vec<(String, String)> =
            system.shown_vars().flat_map(|var| shown_var(&var)).collect();
        row.changes = match i {
            0 => shown.clone(),
            _ => {
                let new = |v: VarId| {
                    let (now, before) = (&states[i][v.index()], &states[i - 1][v.index()]);
                    let mark = marks.of_var(system, i, v);
                    let mark_before = marks.of_var(system, i - 1, v);
                    // A value that is fixed after a marked one is shown, or the mark would seem to
                    // hold for it, too. One that varies after a fixed one is shown, or it would
                    // seem to keep its value. An unchanged varying value is no change.
                    match mark {
                        CellMark::Plain | CellMark::Absent => {
                            now != before || mark_before != CellMark::Plain
                        }
                        CellMark::Varies => now != before || mark_before == CellMark::Plain,
                        CellMark::Any | CellMark::Within(..) => true,
                    }
                };
                let changed = |var: ShownVar<'_>| match of_instances(&var, i - 1) {
                    Some(before) => {
                        shown_var(&var).into_iter().filter(|now| !before.contains(now)).collect()
                    }
                    None if var.parts().any(new) => shown_var(&var),
                    None => Vec::new(),
                };
                system.shown_vars().flat_map(changed).collect()
            }
        };
        row.values = shown;
    }
}

fn stream_timeline(system: &System, streams: &StreamsView, marks: &Marks<'_>) -> TimelineView {
    let vars: FxHashMap<&str, VarId> =
        system.var_ids().map(|v| (system.var(v).name.as_str(), v)).collect();
    let groups = streams.groups.iter().map(|g| TimelineGroup {
        title: g.title.clone(),
        scopes: g.scopes.clone(),
        rows: g
            .rows
            .iter()
            .map(|r| {
                let v = vars.get(r.full_name.as_str());
                let cell = |(i, value): (usize, &String)| TimelineCell {
                    value: value.clone(),
                    mark: v.map_or(CellMark::Plain, |&v| marks.of_var(system, i, v)),
                };
                TimelineRow {
                    name: r.name.clone(),
                    full_name: r.full_name.clone(),
                    sort: r.sort,
                    shown: r.shown && r.kind != StreamKind::Internal,
                    cells: r.values.iter().enumerate().map(cell).collect(),
                }
            })
            .collect(),
    });
    let step = |i: usize| TimelineStep {
        number: streams.step(i),
        action: String::new(),
        node: String::new(),
    };
    TimelineView {
        name: streams.name.clone(),
        steps: (0..streams.instants).map(step).collect(),
        groups: groups.collect(),
        repeats: streams.repeats.clone(),
    }
}

fn graph_timeline(
    system: &System,
    run: &Run,
    states: &[&[Value]],
    trace: &TraceView,
    marks: &Marks<'_>,
) -> TimelineView {
    let steps = trace.rows.iter().map(|r| TimelineStep {
        number: r.step,
        action: r.action.clone(),
        node: if trace.show_nodes { r.node.clone() } else { String::new() },
    });
    let row = |v: VarId| TimelineRow {
        name: system.var(v).name.clone(),
        full_name: system.var(v).name.clone(),
        sort: stream_sort(system.var(v).sort),
        shown: true,
        cells: states
            .iter()
            .enumerate()
            .map(|(i, s)| TimelineCell {
                value: system.show_value(v, &s[v.index()]),
                mark: marks.of_var(system, i, v),
            })
            .collect(),
    };
    // A variable of a family of any size has a row for each instance.
    let of_instances = |v: VarId| -> Option<Vec<TimelineRow>> {
        let var = system.shown_vars().find(|var| var.first == v && var.width == 1)?;
        let first = instance_values(system, &var, states.first()?)?;
        let all: Vec<_> =
            states.iter().map(|s| instance_values(system, &var, s).unwrap_or_default()).collect();
        let row = |(k, (name, _)): (usize, (String, String))| TimelineRow {
            full_name: name.clone(),
            name,
            sort: element_sort(system, v),
            shown: true,
            cells: all
                .iter()
                .enumerate()
                .map(|(i, s)| TimelineCell {
                    value: s.get(k).map(|(_, value)| value.clone()).unwrap_or_default(),
                    mark: match marks.of_var(system, i, v) {
                        CellMark::Plain | CellMark::Absent => CellMark::Plain,
                        _ => CellMark::Varies,
                    },
                })
                .collect(),
        };
        Some(first.into_iter().enumerate().map(row).collect())
    };
    let rows = |role: Role| -> Vec<TimelineRow> {
        let vars = system.var_ids().filter(|&v| system.var(v).role == role);
        vars.flat_map(|v| of_instances(v).unwrap_or_else(|| vec![row(v)])).collect()
    };
    let (inputs, vars) = (rows(Role::Input), rows(Role::State));
    let mut params: Vec<TimelineRow> = Vec::new();
    for (i, (t, values)) in steps_of(run).enumerate() {
        let transition = system.transition(t);
        for (p, (param, value)) in transition.params.iter().zip(values).enumerate() {
            let full_name = format!("{}.{}", transition.name, param.name);
            let at = params.iter().position(|r| r.full_name == full_name).unwrap_or(params.len());
            if at == params.len() {
                params.push(TimelineRow {
                    name: full_name.clone(),
                    full_name,
                    sort: stream_sort(param.sort),
                    shown: true,
                    cells: vec![
                        TimelineCell { value: String::new(), mark: CellMark::Absent };
                        states.len()
                    ],
                });
            }
            let mark =
                marks.of_choice(system, Choice::Param(i as u32, p as u32)).unwrap_or_default();
            params[at].cells[i + 1] =
                TimelineCell { value: system.pool().show_decimal(value), mark };
        }
    }
    let groups = [("Inputs", inputs), ("Parameters", params), ("Variables", vars)];
    let group = |(title, rows): (&str, Vec<TimelineRow>)| TimelineGroup {
        title: title.to_string(),
        scopes: Vec::new(),
        rows,
    };
    TimelineView {
        name: system.name().to_owned(),
        steps: steps.collect(),
        groups: groups.into_iter().filter(|g| !g.1.is_empty()).map(group).collect(),
        repeats: trace.step_repeats(),
    }
}

/// The sort of the elements of an array.
fn element_sort(system: &System, v: VarId) -> StreamSort {
    match system.var(v).sort {
        Sort::Array(array) => stream_sort(array.element()),
        sort => stream_sort(sort),
    }
}

/// The differences between a run and its contrasting run.
fn contrast_view(
    system: &System,
    run: &Run,
    contrast: &Contrast,
    trace: &TraceView,
) -> ContrastView {
    let mut differences = Vec::new();
    let (Some(here), Some(there)) = (states_of(run), states_of(&contrast.run)) else {
        return ContrastView {
            same_transitions: contrast.same_way,
            differing: contrast.differing.len(),
            of: contrast.of,
            least: contrast.least,
            differences,
        };
    };
    let (steps, others): (Vec<_>, Vec<_>) =
        (steps_of(run).collect(), steps_of(&contrast.run).collect());
    let shown: FxHashMap<&str, bool> = trace
        .streams
        .iter()
        .flat_map(|s| s.rows())
        .map(|r| (r.full_name.as_str(), r.shown))
        .collect();
    let root = if trace.streams.is_some() {
        format!("{}.", system.nodes()[0].name)
    } else {
        String::new()
    };
    let mut differing_ways = 0;
    for (i, (a, b)) in here.iter().zip(&there).enumerate() {
        let before = i.checked_sub(1).and_then(|s| Some((steps.get(s)?, others.get(s)?)));
        if let Some((x, y)) = before {
            if x.0 != y.0 {
                differing_ways += 1;
                differences.push(DifferenceView {
                    step: i as u64,
                    name: "transition".to_string(),
                    chosen: true,
                    here: action_with_values(system, x.0, x.1, &shown_values(system, x.1)),
                    there: action_with_values(system, y.0, y.1, &shown_values(system, y.1)),
                });
            } else {
                for (p, (v, w)) in x.1.iter().zip(y.1).enumerate().filter(|(_, (v, w))| v != w) {
                    differences.push(DifferenceView {
                        step: i as u64,
                        name: system.transition(x.0).params[p].name.clone(),
                        chosen: true,
                        here: system.pool().show_decimal(v),
                        there: system.pool().show_decimal(w),
                    });
                }
            }
        }
        for v in system.var_ids().filter(|v| a[v.index()] != b[v.index()]) {
            let name = &system.var(v).name;
            let chosen = contrast.differing.contains(&Choice::Var(i as u32, v));
            if !chosen && !shown.get(name.as_str()).copied().unwrap_or(shown.is_empty()) {
                continue;
            }
            let var = system.shown_vars().find(|var| var.first == v && var.width == 1);
            let both = var.and_then(|var| {
                Some((instance_values(system, &var, a)?, instance_values(system, &var, b)?))
            });
            if let Some((here, there)) = both {
                // The differences at instances.
                for (h, t) in here.into_iter().zip(there).filter(|(h, t)| h != t) {
                    let (step, name) = (i as u64, h.0);
                    differences.push(DifferenceView { step, name, chosen, here: h.1, there: t.1 });
                }
                continue;
            }
            differences.push(DifferenceView {
                step: i as u64,
                name: name.strip_prefix(&root).unwrap_or(name).to_string(),
                chosen,
                here: system.show_value(v, &a[v.index()]),
                there: system.show_value(v, &b[v.index()]),
            });
        }
    }
    let steps_too = if contrast.same_way { 0 } else { steps.len() };
    ContrastView {
        same_transitions: contrast.same_way,
        differing: contrast.differing.len() + differing_ways,
        of: contrast.of + steps_too,
        least: contrast.least,
        differences,
    }
}

fn shown_values(system: &System, values: &[Value]) -> Vec<String> {
    values.iter().map(|v| system.pool().show_decimal(v)).collect()
}
