//! Decomposes the control graph of a system into a product of processes.
//!
//! In a script with processes, a node is called `P@A || Q@C`, or `P@A || Q` if `Q` has no states,
//! and a step of one instance `P@A || Q@C.P.rule`. The processes are read off these names, then the
//! graph is checked to be their interleaving: every step moves one process, with the same guard and
//! effect whatever the locations of the others, and each location of a process has all its steps.
//! If no process has states, there is one node, and steps are called `P.rule`; each process has one
//! location then. The instances of a composition without synchronisations are processes, too. If
//! the check fails, the system is one process.

use gander_system::{Effect, System, TransitionId, VarId};
use gander_term::{Pool, TermId};
use rustc_hash::{FxHashMap, FxHashSet};

/// An edge of a process.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub from: usize,
    pub to: usize,
    pub name: String,
    /// One of the transitions it represents.
    pub transition: TransitionId,
}

/// A process.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub name: String,
    pub locations: Vec<String>,
    pub edges: Vec<Edge>,
}

/// The processes, and the location of each at every node.
pub(crate) struct Processes {
    pub list: Vec<Process>,
    /// By node, by process.
    pub at: Vec<Vec<usize>>,
}

/// A step of a process: source, target, name, guard, updates.
type ProcessStep = (usize, usize, String, TermId, Vec<(VarId, Option<TermId>)>);

pub(crate) fn processes(system: &System, pool: &mut Pool) -> Processes {
    product(system, pool).or_else(|| at_one_node(system)).unwrap_or_else(|| whole(system))
}

/// The processes of a system with one node, by the first part of the names of its steps. Every step
/// is one of a process, whatever the names are, so any division is right.
fn at_one_node(system: &System) -> Option<Processes> {
    let [node] = system.nodes() else { return None };
    let mut list: Vec<Process> = Vec::new();
    for t in system.transition_ids() {
        let (instance, name) = system.transition(t).name.split_once('.')?;
        let known = system.instances().iter().any(|i| i.name == instance);
        let may_be = system.instances().is_empty() && is_name(instance) && instance != node.name;
        if !known && !may_be {
            return None;
        }
        let at = list.iter().position(|p| p.name == instance).unwrap_or_else(|| {
            let (name, locations) = (instance.to_string(), vec![node.name.clone()]);
            list.push(Process { name, locations, edges: Vec::new() });
            list.len() - 1
        });
        list[at].edges.push(Edge { from: 0, to: 0, name: name.to_string(), transition: t });
    }
    let at = vec![vec![0; list.len()]];
    (list.len() > 1).then_some(Processes { list, at })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn whole(system: &System) -> Processes {
    let edges = system.transition_ids().map(|t| {
        let transition = system.transition(t);
        let (from, to) = (transition.source.index(), transition.target.index());
        Edge { from, to, name: transition.name.clone(), transition: t }
    });
    let process = Process {
        name: system.name().to_owned(),
        locations: system.nodes().iter().map(|n| n.name.clone()).collect(),
        edges: edges.collect(),
    };
    Processes { list: vec![process], at: (0..system.nodes().len()).map(|n| vec![n]).collect() }
}

fn product(system: &System, pool: &mut Pool) -> Option<Processes> {
    let mut list: Vec<Process> = Vec::new();
    let mut at = Vec::new();
    for (n, node) in system.nodes().iter().enumerate() {
        let mut here = Vec::new();
        let several = node.name.contains(" || ");
        for (i, part) in node.name.split(" || ").enumerate() {
            // A process without states has one location.
            let (instance, location) = match part.split_once('@') {
                Some(both) => both,
                None if several && is_name(part) => (part, "main"),
                None => return None,
            };
            if n == 0 {
                list.push(Process {
                    name: instance.to_string(),
                    locations: Vec::new(),
                    edges: Vec::new(),
                });
            }
            let process = list.get_mut(i).filter(|p| p.name == instance)?;
            let known = process.locations.iter().position(|l| l == location);
            here.push(known.unwrap_or_else(|| {
                process.locations.push(location.to_string());
                process.locations.len() - 1
            }));
        }
        if here.len() != list.len() {
            return None;
        }
        at.push(here);
    }
    let mut steps: Vec<FxHashMap<ProcessStep, TransitionId>> =
        vec![FxHashMap::default(); list.len()];
    let mut present: FxHashSet<(usize, usize, ProcessStep)> = FxHashSet::default();
    for t in system.transition_ids() {
        let transition = system.transition(t);
        let (source, target) = (transition.source.index(), transition.target.index());
        let prefix = format!("{}.", system.nodes()[source].name);
        let rest = match transition.name.strip_prefix(&prefix) {
            Some(rest) => rest,
            None if system.nodes().len() == 1 => &transition.name,
            None => return None,
        };
        let mover = list
            .iter()
            .position(|p| rest.strip_prefix(&p.name).is_some_and(|r| r.starts_with('.')))?;
        if !transition.params.is_empty()
            || (0..list.len()).any(|i| i != mover && at[source][i] != at[target][i])
        {
            return None;
        }
        let name = rest[list[mover].name.len() + 1..].to_string();
        let step = (
            at[source][mover],
            at[target][mover],
            name,
            system.guard_term(pool, t),
            updates(system, t)?,
        );
        steps[mover].entry(step.clone()).or_insert(t);
        present.insert((source, mover, step));
    }
    for (i, process) in list.iter_mut().enumerate() {
        let mut all: Vec<(&ProcessStep, &TransitionId)> = steps[i].iter().collect();
        all.sort_by_key(|(_, t)| t.index());
        for (step, t) in all {
            let somewhere = at.iter().enumerate().filter(|(_, here)| here[i] == step.0);
            if !somewhere.into_iter().all(|(n, _)| present.contains(&(n, i, step.clone()))) {
                return None;
            }
            process.edges.push(Edge {
                from: step.0,
                to: step.1,
                name: step.2.clone(),
                transition: *t,
            });
        }
    }
    Some(Processes { list, at })
}

/// The new value of each variable that changes, in order; `None` for an arbitrary value. Returns
/// `None` if the effect has constraints.
pub(crate) fn updates(system: &System, t: TransitionId) -> Option<Vec<(VarId, Option<TermId>)>> {
    let transition = system.transition(t);
    let mut found = Vec::new();
    for v in system.var_ids() {
        match transition.effect_on(v) {
            Some(Effect::Assign { value, .. }) => found.push((v, Some(value.term()))),
            Some(_) => {}
            None => found.push((v, None)),
        }
    }
    let constrained = transition.effect.iter().any(|e| matches!(e, Effect::Constrain { .. }));
    (!constrained).then_some(found)
}
