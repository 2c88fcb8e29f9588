//! Control graphs as JSON, for programs that draw them (docs/json.md, section "A control graph").

use gander_system::System;
use serde_json::{Value, json};

use crate::view::graph::{EdgeView, GraphView, StartView};

/// The name of the format.
const GRAPH_SCHEMA: &str = "gander-graph/1";

/// Control graphs as JSON. The system gives the names of starts and transitions; a call graph has
/// none.
pub fn graphs_json(graphs: &[GraphView], system: Option<&System>) -> Value {
    let transition = |i: &usize| {
        let name = |s: &System| Some(s.transitions().get(*i)?.name.clone());
        json!(system.and_then(name))
    };
    let start_name = |i: &usize| {
        let name = |s: &System| Some(s.starts().get(*i)?.name.clone());
        json!(system.and_then(name))
    };
    let edge = |e: &EdgeView| {
        json!({
            "source": e.source,
            "target": e.target,
            "label": e.label,
            "guard": e.guard,
            "effect": e.effect,
            "transitions": e.transitions.iter().map(transition).collect::<Vec<_>>(),
        })
    };
    let start = |s: &StartView| {
        json!({
            "name": s.name,
            "target": s.target,
            "constraint": s.constraint,
            "starts": s.starts.iter().map(start_name).collect::<Vec<_>>(),
        })
    };
    let graph = |g: &GraphView| {
        let nodes = g.nodes.iter().map(|n| {
            json!({ "name": n.name, "final": n.is_final, "invariants": n.invariants, "notes": n.notes })
        });
        json!({
            "name": g.name,
            "nodes": nodes.collect::<Vec<_>>(),
            "starts": g.starts.iter().map(start).collect::<Vec<_>>(),
            "edges": g.edges.iter().map(edge).collect::<Vec<_>>(),
        })
    };
    json!({ "schema": GRAPH_SCHEMA, "graphs": graphs.iter().map(graph).collect::<Vec<_>>() })
}
