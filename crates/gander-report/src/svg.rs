//! The control graph as an SVG picture.
//!
//! Widths are computed for a monospaced font, so labels fit whatever font the viewer has for that.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::graph::{GraphView, Line, LineKind};
use crate::layout::{Rect, Request, Route, Size, TooLarge, lay_out};

const CHARACTER: f64 = 7.3;
const LINE: f64 = 16.0;
const START_DOT: f64 = 12.0;

const STYLE: &str = "\
svg { background: #ffffff; }
text { font: 12px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2933; white-space: pre; }
.title { font-weight: bold; }
.node { fill: #eef4fb; stroke: #33658a; stroke-width: 1.4; }
.final { fill: none; stroke: #33658a; stroke-width: 1; }
.edge { fill: none; stroke: #5c6b7a; stroke-width: 1.2; }
.head, .dot { fill: #5c6b7a; }
@media (prefers-color-scheme: dark) {
  svg { background: #14191f; }
  text { fill: #e4e9ee; }
  .node { fill: #1e2a36; stroke: #7fb2d9; }
  .final { stroke: #7fb2d9; }
  .edge { stroke: #9aa8b5; }
  .head, .dot { fill: #9aa8b5; }
}
";

/// The graph as a complete SVG file, or that it is too large to be drawn.
pub fn to_svg(graph: &GraphView) -> Result<String, TooLarge> {
    let labels: Vec<Vec<Line>> =
        graph.starts.iter().map(|s| s.lines()).chain(graph.edges.iter().map(|e| e.lines())).collect();
    let node_lines: Vec<Vec<Line>> = graph.nodes.iter().map(|n| n.lines()).collect();
    let mut request = Request { nodes: node_lines.iter().map(|lines| node_size(lines)).collect(), edges: Vec::new() };
    for (start, lines) in graph.starts.iter().zip(&labels) {
        request.edges.push((request.nodes.len(), start.target, label_size(lines)));
        request.nodes.push(Size { width: START_DOT, height: START_DOT });
    }
    for (edge, lines) in graph.edges.iter().zip(&labels[graph.starts.len()..]) {
        request.edges.push((edge.source, edge.target, label_size(lines)));
    }
    let drawing = lay_out(&request)?;
    let mut out = String::new();
    let (w, h) = (drawing.size.width.ceil(), drawing.size.height.ceil());
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(&graph.name));
    let _ = writeln!(out, "<style>{STYLE}</style>");
    out.push_str(
        "<defs><marker id=\"head\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\">\
         <path class=\"head\" d=\"M0,0 L9,4 L0,8 z\"/></marker></defs>\n",
    );
    for (route, lines) in drawing.edges.iter().zip(&labels) {
        let path = if route.is_loop { loop_path(route) } else { path(route) };
        let _ = writeln!(out, "<path class=\"edge\" d=\"{path}\" marker-end=\"url(#head)\"/>");
        text_lines(&mut out, lines, route.label.x, route.label.y);
    }
    for ((node, lines), rect) in graph.nodes.iter().zip(&node_lines).zip(&drawing.nodes) {
        rounded(&mut out, "node", *rect);
        if node.is_final {
            let inner = Rect {
                x: rect.x + 4.0,
                y: rect.y + 4.0,
                size: Size { width: rect.size.width - 8.0, height: rect.size.height - 8.0 },
            };
            rounded(&mut out, "final", inner);
        }
        let text_height = lines.len() as f64 * LINE;
        text_lines(&mut out, lines, rect.x + 14.0, rect.y + (rect.size.height - text_height) / 2.0);
    }
    for rect in &drawing.nodes[graph.nodes.len()..] {
        let r = START_DOT / 2.0;
        let _ = writeln!(out, "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{r}\"/>", rect.x + r, rect.y + r);
    }
    out.push_str("</svg>\n");
    Ok(out)
}

fn text_width(lines: &[Line]) -> f64 {
    lines.iter().map(|l| l.text.width()).max().unwrap_or(0) as f64 * CHARACTER
}

fn label_size(lines: &[Line]) -> Size {
    Size { width: text_width(lines), height: lines.len() as f64 * LINE }
}

fn node_size(lines: &[Line]) -> Size {
    Size { width: (text_width(lines) + 28.0).max(56.0), height: lines.len() as f64 * LINE + 18.0 }
}

fn rounded(out: &mut String, class: &str, r: Rect) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"9\"/>",
        r.x, r.y, r.size.width, r.size.height
    );
}

fn text_lines(out: &mut String, lines: &[Line], x: f64, y: f64) {
    for (i, line) in lines.iter().enumerate() {
        let class = if line.kind == LineKind::Title { " class=\"title\"" } else { "" };
        let baseline = y + LINE * i as f64 + 12.0;
        let _ = writeln!(
            out,
            "<text{class} x=\"{x:.1}\" y=\"{baseline:.1}\" xml:space=\"preserve\">{}</text>",
            escaped(&line.text)
        );
    }
}

/// Curves with vertical tangents between layers, straight lines across them.
fn path(route: &Route) -> String {
    let mut out = String::new();
    let mut last = (0.0, 0.0);
    for (i, &(x, y)) in route.points.iter().enumerate() {
        let _ = if i == 0 {
            write!(out, "M{x:.1},{y:.1}")
        } else if (x - last.0).abs() < 0.05 {
            write!(out, " L{x:.1},{y:.1}")
        } else {
            let middle = f64::midpoint(last.1, y);
            write!(out, " C{:.1},{middle:.1} {x:.1},{middle:.1} {x:.1},{y:.1}", last.0)
        };
        last = (x, y);
    }
    out
}

/// A loop out of the right side of a node and back into it.
fn loop_path(route: &Route) -> String {
    let (x, y) = route.points[0];
    let reach = (route.points[1].0 - x) * 1.25;
    format!(
        "M{x:.1},{:.1} C{:.1},{:.1} {:.1},{:.1} {x:.1},{:.1}",
        y - 5.0,
        x + reach,
        y - 14.0,
        x + reach,
        y + 14.0,
        y + 5.0
    )
}

/// Text for XML; characters that XML cannot hold become a replacement sign.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if gander_text::is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
