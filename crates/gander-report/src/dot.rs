//! The control graph in the DOT language of Graphviz.

use std::fmt::Write;

use crate::graph::{GraphView, Line};

/// The graph as DOT text.
pub fn to_dot(graph: &GraphView) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "digraph {} {{", quoted(&graph.name));
    out.push_str("  node [shape=box, style=rounded, fontname=monospace, fontsize=11];\n");
    out.push_str("  edge [fontname=monospace, fontsize=10];\n");
    for (i, node) in graph.nodes.iter().enumerate() {
        let borders = if node.is_final { ", peripheries=2" } else { "" };
        let _ = writeln!(out, "  n{i} [label={}{borders}];", label(&node.lines()));
    }
    for (i, start) in graph.starts.iter().enumerate() {
        let _ = writeln!(out, "  s{i} [shape=point, width=0.12, label=\"\"];");
        let _ = writeln!(out, "  s{i} -> n{} [label={}];", start.target, label(&start.lines()));
    }
    for edge in &graph.edges {
        let _ = writeln!(out, "  n{} -> n{} [label={}];", edge.source, edge.target, label(&edge.lines()));
    }
    out.push_str("}\n");
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
