//! The control graph of a system, with the numbers by which runs and simulations refer to it.

use gander_report::panel_svg;
use serde_json::{Value, json};

use crate::Context;

/// A picture for each instance of a composition, else one, and the names of what they show. Without
/// a picture, `note` says why.
pub fn graph_json(context: &Context<'_>) -> Result<Value, String> {
    let index = context.system_index()?;
    let system = context.system()?;
    let views = context.model.graphs().into_iter().nth(index).unwrap_or_default();
    let is_trivial = |v: &gander_report::GraphView| v.nodes.len() <= 1 && v.edges.len() <= 1;
    let mut note = None;
    let mut graphs = Vec::new();
    for (i, view) in views.iter().enumerate().filter(|(_, v)| !is_trivial(v)) {
        match panel_svg(view, &format!("graph{i}")) {
            Ok(svg) => graphs.push(json!({
                "name": view.name,
                "svg": svg,
                "nodes": view.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
            })),
            Err(_) => note = Some("The control graph is too large to be drawn."),
        }
    }
    let transition = |(i, t): (usize, &gander_system::Transition)| {
        json!({
            "id": i,
            "name": t.name,
            "source": system.node(t.source).name,
            "target": system.node(t.target).name,
        })
    };
    Ok(json!({
        "system": system.name(),
        "graphs": graphs,
        "transitions": system.transitions().iter().enumerate().map(transition).collect::<Vec<_>>(),
        "note": note,
    }))
}
