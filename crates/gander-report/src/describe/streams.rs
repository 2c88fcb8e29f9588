//! A run of a dataflow program as streams, with the streams that a claim depends on: see
//! [`super::cone`].

use gander_system::{ClaimKind, Dataflow, Goal, Leg, Run, StateTerm, StreamKind, System};
use gander_term::{Sort, Value};
use rustc_hash::FxHashMap;

use super::cone::{Cone, cone};
use crate::view::streams::{
    GroupKind, StreamGroup, StreamRepeat, StreamRow, StreamSort, StreamsView,
};

/// Runs with more values of streams in total are not shown as a table of streams.
const MAX_VALUES: u64 = 20_000_000;

/// Of longer runs only the last round of each repetition is shown.
const MAX_REPEATED: u64 = 1_000;

/// The suffix of the variables for the value of a stream before the first instant, one for each
/// `pre`.
const BEFORE: &str = "@before";

/// The formula whose value in the last state of a run decides a claim.
pub fn focus(kind: &ClaimKind) -> Option<StateTerm> {
    match kind {
        ClaimKind::Always(formula) => Some(*formula),
        ClaimKind::Reachable(goals) => match goals.last()? {
            Goal::State(formula) => Some(*formula),
            _ => None,
        },
        _ => None,
    }
}

/// The run as streams; none if it is too long for that or a state is not given. Without a focus the
/// streams of the root are shown.
pub fn streams_view(
    system: &System,
    flow: &Dataflow,
    run: &Run,
    focus: Option<StateTerm>,
) -> Option<StreamsView> {
    let Followed { states, steps, repeats } = follow(system, flow, run)?;
    let states: Vec<&[Value]> = states.iter().map(Vec::as_slice).collect();
    let matters = match focus {
        Some(formula) if steps.is_empty() => cone(system, flow, formula, &states),
        _ => Cone {
            any: system.vars().iter().map(|v| instance_and_name(&v.name).0.is_empty()).collect(),
            first: vec![false; system.vars().len()],
        },
    };
    let mut groups = Groups::new(system);
    let mut before = Before::default();
    for v in system.var_ids() {
        let var = system.var(v);
        let kind = var.stream.unwrap_or(StreamKind::Internal);
        let (instance, name) = instance_and_name(&var.name);
        let shown = match kind {
            StreamKind::Choice | StreamKind::Internal => false,
            StreamKind::Input | StreamKind::Output if instance.is_empty() => true,
            StreamKind::Input if flow.repeats(v).is_some() => false,
            _ => matters.any[v.index()],
        };
        if let Some((stream, _)) = var.name.split_once(BEFORE).filter(|_| matters.first[v.index()])
        {
            before.add(stream, system.show_value(v, &states[0][v.index()]));
        }
        groups.of(instance, kind).rows.push(StreamRow {
            name: name.to_string(),
            full_name: var.name.clone(),
            kind,
            sort: stream_sort(var.sort),
            shown,
            values: states.iter().map(|s| system.show_value(v, &s[v.index()])).collect(),
            actual: Vec::new(),
        });
    }
    Some(StreamsView {
        name: system.name().to_owned(),
        instants: states.len(),
        steps,
        repeats,
        groups: groups.sorted(),
        before: before.0.into_iter().map(|(name, values)| (name, values.join(" and "))).collect(),
    })
}

/// The groups of streams: those of the root by kind, then one for each instance.
struct Groups<'s> {
    /// The name of the root.
    root: &'s str,
    list: Vec<StreamGroup>,
    /// By instance and kind: the position in the list.
    at: FxHashMap<(String, GroupKind), usize>,
}

impl<'s> Groups<'s> {
    /// The groups of the root, without streams.
    fn new(system: &'s System) -> Groups<'s> {
        let root = system.nodes().first().map_or("", |n| n.name.as_str());
        let mut groups = Groups { root, list: Vec::new(), at: FxHashMap::default() };
        for (kind, title) in [
            (GroupKind::Inputs, "Inputs"),
            (GroupKind::Outputs, "Outputs"),
            (GroupKind::Locals, "Locals"),
            (GroupKind::Internals, "Arbitrary"),
        ] {
            groups.at.insert((String::new(), kind), groups.list.len());
            groups.list.push(StreamGroup {
                kind,
                title: title.to_string(),
                scopes: Vec::new(),
                rows: Vec::new(),
            });
        }
        groups
    }

    /// The group of a stream.
    fn of(&mut self, instance: &str, kind: StreamKind) -> &mut StreamGroup {
        let group = if instance.is_empty() {
            match kind {
                StreamKind::Input => GroupKind::Inputs,
                StreamKind::Output => GroupKind::Outputs,
                StreamKind::Local => GroupKind::Locals,
                StreamKind::Choice | StreamKind::Internal => GroupKind::Internals,
            }
        } else {
            GroupKind::Instance
        };
        let (root, list) = (self.root, &mut self.list);
        let at = *self.at.entry((instance.to_string(), group)).or_insert_with(|| {
            let title =
                instance.strip_prefix(root).and_then(|i| i.strip_prefix('.')).unwrap_or(instance);
            list.push(StreamGroup {
                kind: GroupKind::Instance,
                title: title.to_string(),
                scopes: title.split('.').map(str::to_string).collect(),
                rows: Vec::new(),
            });
            list.len() - 1
        });
        &mut self.list[at]
    }

    /// The groups that have streams, each sorted by the kind of the streams.
    fn sorted(self) -> Vec<StreamGroup> {
        let mut groups = self.list;
        for g in &mut groups {
            g.rows.sort_by_key(|r| match r.kind {
                StreamKind::Input => 0,
                StreamKind::Output => 1,
                StreamKind::Local => 2,
                StreamKind::Choice => 3,
                StreamKind::Internal => 4,
            });
        }
        groups.retain(|g| !g.rows.is_empty());
        groups
    }
}

/// By stream: its values before the first instant. Each unguarded `pre` of a stream may have a
/// different value.
#[derive(Default)]
struct Before(Vec<(String, Vec<String>)>);

impl Before {
    fn add(&mut self, stream: &str, value: String) {
        match self.0.iter_mut().find(|(name, _)| name == stream) {
            Some((_, values)) if values.contains(&value) => {}
            Some((_, values)) => values.push(value),
            None => self.0.push((stream.to_string(), vec![value])),
        }
    }
}

/// The instance that a stream belongs to and its name there. Calls are numbered (`sub#1`), so an
/// instance ends with the last numbered part that is followed by something.
pub fn instance_and_name(full: &str) -> (&str, &str) {
    let mut cut = None;
    let mut start = 0;
    for (dot, _) in full.match_indices('.') {
        if full[start..dot].contains('#') {
            cut = Some(dot);
        }
        start = dot + 1;
    }
    match cut {
        Some(dot) => (&full[..dot], &full[dot + 1..]),
        None => ("", full),
    }
}

/// The sort of values in files for other tools.
pub fn stream_sort(sort: Sort) -> StreamSort {
    match sort {
        Sort::Bool => StreamSort::Bool,
        Sort::Int => StreamSort::Int,
        Sort::Real => StreamSort::Real,
        Sort::BitVec(width) => StreamSort::Bits(width.bits()),
        Sort::Enum(_) | Sort::String | Sort::Array(_) => StreamSort::Text,
    }
}

/// The states of a run.
struct Followed {
    states: Vec<Vec<Value>>,
    /// The step of each state, if some are left out.
    steps: Vec<u64>,
    repeats: Vec<StreamRepeat>,
}

/// The values in every state; of long repetitions in the last round only. In the rounds before,
/// streams with an equation are computed, the others are as in the last round.
fn follow(system: &System, flow: &Dataflow, run: &Run) -> Option<Followed> {
    let length = run.length();
    let repeated = run.legs.iter().any(|leg| matches!(leg, Leg::Repeat { .. }));
    let shortened = repeated && length > MAX_REPEATED;
    if !shortened
        && length.saturating_add(1).saturating_mul(system.vars().len() as u64) > MAX_VALUES
    {
        return None;
    }
    let mut followed =
        Followed { states: vec![run.first.values.clone()], steps: Vec::new(), repeats: Vec::new() };
    let (mut step_number, mut steps) = (0u64, vec![0u64]);
    let mut open: Vec<(&[Leg], usize, u64)> = vec![(&run.legs, 0, 0)];
    while let Some((legs, at, again)) = open.last_mut() {
        match legs.get(*at) {
            Some(Leg::Step(step)) => {
                *at += 1;
                let given = step.next.as_ref()?;
                step_number = step_number.saturating_add(1);
                let state = if open.iter().all(|o| o.2 == 0) {
                    given.clone()
                } else {
                    let before = followed.states.last()?;
                    flow.values(Some(before), |v| given.get(v.index()).cloned()).ok()?
                };
                followed.states.push(state);
                steps.push(step_number);
            }
            Some(Leg::Repeat { times, body }) => {
                *at += 1;
                let once =
                    Run { start: run.start, first: run.first.clone(), legs: body.clone().into() }
                        .length();
                if !shortened {
                    open.push((body, 0, times.saturating_sub(1)));
                    continue;
                }
                let first = step_number.saturating_add(1);
                let last = step_number.saturating_add(times.saturating_mul(once));
                followed.repeats.push(StreamRepeat {
                    first,
                    last,
                    times: *times,
                    growth: Vec::new(),
                });
                step_number = last.saturating_sub(once);
                open.push((body, 0, 0));
            }
            None if *again > 0 => {
                *again -= 1;
                *at = 0;
            }
            None => {
                open.pop();
            }
        }
    }
    if shortened {
        followed.steps = steps;
    }
    followed.states.iter().all(|s| s.len() == system.vars().len()).then_some(followed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_end_with_a_number() {
        assert_eq!(instance_and_name("x"), ("", "x"));
        assert_eq!(instance_and_name("r.f"), ("", "r.f"));
        assert_eq!(instance_and_name("formula#1"), ("", "formula#1"));
        assert_eq!(instance_and_name("top.sub#1.x"), ("top.sub#1", "x"));
        assert_eq!(instance_and_name("top.sub#1.r.f"), ("top.sub#1", "r.f"));
        assert_eq!(instance_and_name("top.sub#1.in#2.x[3]"), ("top.sub#1.in#2", "x[3]"));
        assert_eq!(instance_and_name("top.sub#1.memory#2"), ("top.sub#1", "memory#2"));
    }
}
