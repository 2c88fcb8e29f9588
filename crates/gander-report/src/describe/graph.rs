//! The control graph of a system.

use gander_system::{Effect, System, Transition};
use gander_term::{Pool, SymbolId, TermId};
use rustc_hash::FxHashMap;

use super::start_text;
use crate::graph::{EdgeView, GraphNodeView, GraphView, StartView};

/// Labels are cut off behind this many characters.
const LONGEST_LABEL: usize = 160;

/// The view of a system's control graph.
pub fn graph_view(system: &System) -> GraphView {
    let pool = &system.pool;
    let show = |pool: &Pool, t: TermId| pool.display_bounded(t, LONGEST_LABEL).to_string();
    let nodes = system
        .nodes
        .iter()
        .map(|n| GraphNodeView {
            name: n.name.clone(),
            is_final: n.is_final,
            invariants: n.hints.iter().map(|h| show(pool, h.term.term())).collect(),
        })
        .collect();
    let starts = system
        .starts
        .iter()
        .enumerate()
        .map(|(i, s)| StartView {
            name: if system.starts.len() > 1 { start_text(system, i.into()) } else { String::new() },
            target: s.target.index(),
            constraint: s.constraint.iter().map(|c| show(pool, c.term.term())).collect(),
        })
        .collect();
    let edges = system.transitions.iter().map(|t| edge(system, t)).collect();
    GraphView { name: system.name.clone(), nodes, starts, edges }
}

fn edge(system: &System, t: &Transition) -> EdgeView {
    let mut pool = Pool::fork(&system.pool);
    let short = short_names(system, t, &mut pool);
    let mut show = |term: TermId| {
        let term = if short.is_empty() { term } else { pool.substitute(term, &short) };
        pool.display_bounded(term, LONGEST_LABEL).to_string()
    };
    let mut guard = Vec::new();
    for g in &t.guard {
        guard.push(show(g.term.term()));
    }
    let mut effect = Vec::new();
    for e in &t.effect {
        match e {
            Effect::Assign { var, value, .. } => {
                effect.push(format!("{} := {}", system.var(*var).name, show(value.term())));
            }
            Effect::Constrain { relation, .. } => effect.push(show(relation.term())),
            Effect::Keep { .. } => {}
        }
    }
    let name = t.gate.map_or(&t.name, |g| &system.gates[g.index()]);
    let params: Vec<String> = t.params.iter().map(|p| format!("{}: {}", p.name, p.sort.name(&system.pool))).collect();
    let label = if params.is_empty() { name.clone() } else { format!("{name}({})", params.join(", ")) };
    EdgeView { source: t.source.index(), target: t.target.index(), label, guard, effect }
}

/// Parameters under the names that the author gave them, where these mean nothing else.
fn short_names(system: &System, t: &Transition, pool: &mut Pool) -> FxHashMap<SymbolId, TermId> {
    let mut short = FxHashMap::default();
    for p in &t.params {
        if system.pool.find_symbol(&p.name).is_none()
            && let Ok(symbol) = pool.declare(&p.name, p.sort)
        {
            short.insert(p.symbol, pool.var(symbol));
        }
    }
    short
}
