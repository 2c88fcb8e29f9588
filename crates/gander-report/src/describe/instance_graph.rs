//! The control graph of an instance of a composition, as its specification draws it.

use gander_system::{ElementKind, Instance, InstancePart, InstanceTransition};

use super::graph::{Labels, names_target};
use crate::view::graph::{EdgeView, GraphNodeView, GraphView, StartView};

/// The view of an instance. Transitions that no step of the composition contains are not in it.
pub(super) fn instance_view(labels: &Labels<'_>, instance: &Instance) -> GraphView {
    let system = labels.system;
    let own = format!("{}: ", instance.name);
    let hints: Vec<_> = system.nodes().iter().flat_map(|n| &n.hints).collect();
    let nodes = instance.nodes.iter().map(|n| {
        // The hint of a node is about the states at this node: `at -> formula`.
        let of_node = |h: &&&gander_system::Element<gander_system::StateTerm>| {
            let args = system.pool().args(h.term.term());
            system.element_name(h.id).starts_with(&own)
                && (instance.nodes.len() == 1 || args.first() == Some(&n.at.term()))
        };
        GraphNodeView {
            name: n.name.clone(),
            is_final: n.is_final,
            invariants: hints
                .iter()
                .filter(of_node)
                .map(|h| labels.formula(h.id, h.term.term()))
                .collect(),
            notes: Vec::new(),
        }
    });
    let name_starts = instance.starts.len() > 1;
    let starts = instance.starts.iter().map(|s| {
        let mut shown: Vec<String> =
            s.constraint.iter().filter(|p| p.kind.is_written()).map(|p| part(labels, p)).collect();
        shown.dedup();
        StartView {
            name: if name_starts { s.name.clone() } else { String::new() },
            target: s.target,
            constraint: shown,
            starts: (0..system.starts().len())
                .filter(|&i| {
                    let mut ids = system.starts()[i].constraint.iter().map(|e| e.id);
                    s.elements.is_empty() || ids.any(|id| s.elements.contains(&id))
                })
                .collect(),
        }
    });
    let edges = instance.transitions.iter().filter_map(|t| edge(labels, t));
    GraphView {
        name: format!("{}, instance {}", system.name(), instance.name),
        nodes: nodes.collect(),
        starts: starts.collect(),
        edges: edges.collect(),
    }
}

fn edge(labels: &Labels<'_>, t: &InstanceTransition) -> Option<EdgeView> {
    let system = labels.system;
    let first = t.moves.first()?;
    let transition = system.transition(first.transition);
    let name = t.name.rsplit('.').next().unwrap_or(&t.name);
    let params = t.params.iter().map(|(name, sort)| (name.as_str(), sort.as_str()));
    let (name, has_ranges) = labels.with_params(t.span, params, name);
    let label = match transition.gate {
        Some(gate) if first.is_joint => format!("{name} (in {})", system.gates()[gate.index()]),
        _ => name,
    };
    let is_shown = |p: &&InstancePart| {
        p.kind.is_written() && !(has_ranges && p.kind == ElementKind::ParameterRange)
    };
    let guard = t.guard.iter().filter(is_shown).map(|p| part(labels, p)).collect();
    // A simultaneous update is written once for several variables.
    let mut effect: Vec<String> = t.effect.iter().map(|p| part(labels, p)).collect();
    effect.dedup();
    Some(EdgeView {
        source: t.source,
        target: t.target,
        label,
        guard,
        effect,
        transitions: t.moves.iter().map(|m| m.transition.index()).collect(),
    })
}

/// A part of a start or transition as written, or else as a formula.
fn part(labels: &Labels<'_>, part: &InstancePart) -> String {
    let written = part.span.and_then(|span| labels.text(span));
    match (&part.target, written) {
        (None, text) => text.unwrap_or_else(|| part.formula.clone()),
        (Some(_), Some(text)) if names_target(&text) => text,
        (Some(target), text) => {
            format!("{target} := {}", text.unwrap_or_else(|| part.formula.clone()))
        }
    }
}
