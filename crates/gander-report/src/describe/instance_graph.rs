//! The control graph of an instance of a composition, from the graph of the composition.
//!
//! A transition of the composition is named `Open|Frozen: a.Open.deposit`, or `Open|Open:
//! transfer(a.Open.withdraw, b.Open.deposit)` (`gander_system::passes`): the names say which
//! instances take part, and with which of their transitions.

use gander_system::{Instance, NodeId, Span, Transition};

use super::graph::Labels;
use crate::view::graph::{EdgeView, GraphNodeView, GraphView, StartView};

/// The view of an instance. Transitions that the composition never takes are not in it.
pub(super) fn instance_view(labels: &Labels<'_>, instance: &Instance) -> GraphView {
    let system = labels.system;
    let prefix = format!("{}.", instance.name);
    let mut place = vec![0; system.nodes().len()];
    for (i, node) in instance.nodes.iter().enumerate() {
        node.places.iter().for_each(|n: &NodeId| place[n.index()] = i);
    }
    let nodes = instance.nodes.iter().map(|n| {
        let hints = n.places.first().map(|p| &system.node(*p).hints[..]).unwrap_or_default();
        let own = format!("{}: ", instance.name);
        let hints = hints.iter().filter(|h| system.element_name(h.id).starts_with(&own));
        GraphNodeView {
            name: n.name.clone(),
            is_final: is_written_final(labels.source, n.span)
                || n.places.iter().any(|p| system.node(*p).is_final),
            invariants: hints.map(|h| labels.formula(h.id, h.term.term())).collect(),
            notes: Vec::new(),
        }
    });
    let mine = |names: &[String]| {
        let others =
            |n: &String| system.instances().iter().any(|i| n.starts_with(&format!("{}.", i.name)));
        names.iter().any(|n| n.starts_with(&prefix)) || !names.iter().any(others)
    };
    let mut starts: Vec<(String, StartView)> = Vec::new();
    for (i, s) in system.starts().iter().enumerate() {
        let own = s.name.split(", ").find_map(|n| n.strip_prefix(&prefix)).unwrap_or(&s.name);
        if let Some((_, known)) = starts.iter_mut().find(|(name, _)| name == own) {
            known.starts.push(i);
            continue;
        }
        let names = |t| {
            let pool = system.pool();
            pool.free_symbols(&[t]).iter().map(|&s| pool.symbol(s).name.to_string()).collect()
        };
        let constraint = s.constraint.iter().filter(|c| {
            let names: Vec<String> = names(c.term.term());
            mine(&names)
        });
        let view = StartView {
            name: String::new(),
            target: place[s.target.index()],
            constraint: constraint.map(|c| labels.formula(c.id, c.term.term())).collect(),
            starts: vec![i],
        };
        starts.push((own.to_string(), view));
    }
    if starts.len() > 1 {
        starts.iter_mut().for_each(|(name, s)| s.name.clone_from(name));
    }
    let mut edges: Vec<(String, EdgeView)> = Vec::new();
    for (i, t) in system.transitions().iter().enumerate() {
        let Some((own, sync)) = own_part(t, &prefix) else { continue };
        if let Some((_, known)) = edges.iter_mut().find(|(name, _)| *name == own) {
            known.transitions.push(i);
            continue;
        }
        let words = labels.transition(t, mine);
        let name = own.rsplit('.').next().unwrap_or(&own);
        let label = match &sync {
            None => labels.with_params(t, name),
            Some(sync) => format!("{name} (in {sync})"),
        };
        let (source, target) = (place[t.source.index()], place[t.target.index()]);
        let (guard, effect) = (words.guard, words.effect);
        edges.push((own, EdgeView { source, target, label, guard, effect, transitions: vec![i] }));
    }
    GraphView {
        name: format!("{}, instance {}", system.name(), instance.name),
        nodes: nodes.collect(),
        starts: starts.into_iter().map(|(_, s)| s).collect(),
        edges: edges.into_iter().map(|(_, e)| e).collect(),
    }
}

/// True if the source says `final node` at or before the span of a node. A node of the composition
/// is final only if all instances are at a final node.
fn is_written_final(source: &str, span: Option<Span>) -> bool {
    let Some(span) = span else { return false };
    let at = source.get(span.range()).is_some_and(|t| t.starts_with("final"));
    let before = source.get(..span.start as usize).unwrap_or_default().trim_end();
    let before = before.strip_suffix("node").map(str::trim_end);
    at || before.is_some_and(|b| b.ends_with("final"))
}

/// The name of the instance's own transition in a transition of the composition, and the
/// synchronisation, if there is one; none if the instance does not take part.
fn own_part(t: &Transition, prefix: &str) -> Option<(String, Option<String>)> {
    let (_, what) = t.name.split_once(": ")?;
    let (parts, sync) = match what.split_once('(') {
        Some((sync, rest)) if !sync.contains('.') => {
            (rest.rsplit_once(')').map_or(rest, |(r, _)| r), Some(sync.to_string()))
        }
        _ => (what, None),
    };
    let own = parts.split(", ").find_map(|p| p.strip_prefix(prefix))?;
    // Names that were made unique end with a number in parentheses.
    let own = own.split_once(" (").map_or(own, |(name, _)| name);
    Some((own.to_string(), sync))
}
