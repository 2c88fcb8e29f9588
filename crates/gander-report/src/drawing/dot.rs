//! The control graph in the DOT language of Graphviz.

use std::fmt::Write;

use crate::view::graph::{GraphView, Line};

const DEFAULTS: &str = "  node [shape=box, style=rounded, fontname=monospace, fontsize=11];\n\
    \x20 edge [fontname=monospace, fontsize=10];\n";

/// The graph as DOT text.
pub fn to_dot(graph: &GraphView) -> String {
    let name = quoted(&graph.name);
    format!("digraph {name} {{\n{DEFAULTS}{}}}\n", body(graph, ""))
}

/// Several graphs as DOT text, each a cluster.
pub fn to_dot_all(graphs: &[GraphView]) -> String {
    if let [graph] = graphs {
        return to_dot(graph);
    }
    let mut out = format!("digraph graphs {{\n{DEFAULTS}");
    for (i, graph) in graphs.iter().enumerate() {
        let _ = writeln!(out, "  subgraph cluster_{i} {{\n  label={};", quoted(&graph.name));
        out.push_str(&body(graph, &format!("g{i}_")));
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

/// The statements of a graph; names of nodes begin with `p`.
fn body(graph: &GraphView, p: &str) -> String {
    let mut out = String::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        let borders = if node.is_final { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  {p}n{i} [label={}{borders}];", label(&node.lines()));
    }
    for (i, start) in graph.starts.iter().enumerate() {
        let _ = writeln!(out, "  {p}s{i} [shape=point, width=0.12, label=\"\"];");
        let _ =
            writeln!(out, "  {p}s{i} -> {p}n{} [label={}];", start.target, label(&start.lines()));
    }
    for edge in &graph.edges {
        let _ = writeln!(
            out,
            "  {p}n{} -> {p}n{} [label={}];",
            edge.source,
            edge.target,
            label(&edge.lines())
        );
    }
    out
}

/// Lines of a label, each set flush left.
fn label(lines: &[Line]) -> String {
    let mut text = String::from("\"");
    for line in lines {
        text.push_str(&escaped(&line.text));
        if lines.len() > 1 {
            text.push_str("\\l");
        }
    }
    text.push('"');
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
