//! The control graph as an SVG picture.
//!
//! Widths are computed for a monospaced font, so labels fit with every monospaced font.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use super::layout::{Rect, Request, Route, Size, TooLarge, lay_out};
use crate::view::graph::{
    EdgeView, GraphNodeView, GraphPathView, GraphView, Line, LineKind, StartView,
};

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
    Picture::of(graph).svg(graph, Place::File)
}

/// Several graphs as one SVG file, each under its name.
pub fn to_svg_all(graphs: &[GraphView]) -> Result<String, TooLarge> {
    if let [graph] = graphs {
        return to_svg(graph);
    }
    let mut parts: Vec<(&GraphView, Size, String)> = Vec::new();
    for (i, graph) in graphs.iter().enumerate() {
        let id = format!("graph{i}");
        let (size, svg) = Picture::of(graph).drawn(graph, Place::Part(&id))?;
        parts.push((graph, size, svg));
    }
    // Rows from left to right, about as wide as high, and as wide as the widest graph.
    let area: f64 = parts.iter().map(|(_, s, _)| s.width * (s.height + CAPTION)).sum();
    let widest = parts.iter().map(|(g, s, _)| s.width.max(caption_width(g))).fold(0.0, f64::max);
    let limit = widest.max(area.sqrt() * 1.2);
    let (mut x, mut y, mut row, mut width) = (0.0, 0.0, 0.0f64, 0.0f64);
    let mut body = String::new();
    for (graph, size, svg) in &parts {
        let own = size.width.max(caption_width(graph));
        if x > 0.0 && x + own > limit {
            (x, y, row) = (0.0, y + row, 0.0);
        }
        let _ = writeln!(
            body,
            "<text class=\"title\" x=\"{:.1}\" y=\"{:.1}\">{}</text>\n<g transform=\"translate({x:.1},{:.1})\">\n{svg}</g>",
            x + 16.0,
            y + 24.0,
            escaped(&graph.name),
            y + CAPTION
        );
        x += own;
        row = row.max(size.height + CAPTION);
        width = width.max(x);
    }
    let (w, h) = (width.ceil(), (y + row).ceil());
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n\
         <style>{STYLE}</style>\n{body}</svg>\n"
    ))
}

/// The height of the name above a graph.
const CAPTION: f64 = 30.0;

fn caption_width(graph: &GraphView) -> f64 {
    graph.name.width() as f64 * CHARACTER + 32.0
}

/// The graph as a part of a page, whose style it uses. `id` must be unique in the page.
pub(crate) fn inline_svg(graph: &GraphView, id: &str) -> Result<String, TooLarge> {
    Picture::of(graph).svg(graph, Place::Page(id))
}

/// A run on the graph as a part of a page: names only, and the steps that take each transition.
pub(crate) fn path_svg(
    graph: &GraphView,
    path: &GraphPathView,
    id: &str,
) -> Result<String, TooLarge> {
    let marks = PathMarks::of(graph, path);
    let title = |text: &str| Line { kind: LineKind::Title, text: text.to_string() };
    let body = |steps: &[u64]| {
        let text = steps_text(steps);
        (!text.is_empty()).then_some(Line { kind: LineKind::Body, text })
    };
    let start = |(i, s): (usize, &StartView)| {
        let name = (!s.name.is_empty()).then(|| title(&s.name));
        let at = (i == marks.start).then(|| Line { kind: LineKind::Body, text: "start".into() });
        name.or(at).into_iter().collect()
    };
    let edge = |(e, steps): (&EdgeView, &Vec<u64>)| {
        let name = e.label.split('(').next().unwrap_or_default();
        [title(name)].into_iter().chain(body(steps)).collect()
    };
    let picture = Picture {
        labels: (graph.starts.iter().enumerate().map(start))
            .chain(graph.edges.iter().zip(&marks.edges).map(edge))
            .collect(),
        nodes: graph.nodes.iter().map(|n| vec![title(&n.name)]).collect(),
        path: Some(marks),
    };
    picture.svg(graph, Place::Page(id))
}

/// The graph for a panel beside an editor: names only, the rest as titles. A node has the attribute
/// `data-node`, its index; an arrow or label has `data-transitions`, the indices of its transitions
/// in the system; the arrow of a start has `data-start`. `id` must be unique in the page.
pub fn panel_svg(graph: &GraphView, id: &str) -> Result<String, TooLarge> {
    let title = |text: &str| {
        let text = text.split('(').next().unwrap_or_default().to_string();
        let line = Line { kind: LineKind::Title, text };
        if line.text.is_empty() { Vec::new() } else { vec![line] }
    };
    let picture = Picture {
        labels: (graph.starts.iter().map(|s| title(&s.name)))
            .chain(graph.edges.iter().map(|e| title(&e.label)))
            .collect(),
        nodes: graph.nodes.iter().map(|n| title(&n.name)).collect(),
        path: None,
    };
    picture.svg(graph, Place::Panel(id))
}

/// Steps that are listed at most.
const MAX_STEPS: usize = 8;

/// The numbers of steps in words; successive ones as a range.
fn steps_text(steps: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &s in steps {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == s => *last = s,
            _ => ranges.push((s, s)),
        }
    }
    let more = ranges.len() > MAX_STEPS;
    let shown: Vec<String> = ranges
        .iter()
        .take(MAX_STEPS)
        .map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") })
        .collect();
    match (steps.len(), more) {
        (0, _) => String::new(),
        (1, _) => format!("step {}", shown.join(", ")),
        (_, false) => format!("steps {}", shown.join(", ")),
        (n, true) => format!("{n} steps: {}, ...", shown.join(", ")),
    }
}

/// Where a drawing is put.
#[derive(Clone, Copy)]
enum Place<'p> {
    /// A file of its own.
    File,
    /// A page, under an identifier.
    Page(&'p str),
    /// A part of a file, under an identifier.
    Part(&'p str),
    /// A panel, under an identifier: what is drawn says what it stands for.
    Panel(&'p str),
}

/// Where a run goes on a graph.
struct PathMarks {
    /// By edge: the steps that take it.
    edges: Vec<Vec<u64>>,
    /// By node: the numbers of the states there.
    nodes: Vec<Vec<u64>>,
    start: usize,
    /// The node of the last state.
    last: usize,
}

impl PathMarks {
    fn of(graph: &GraphView, path: &GraphPathView) -> PathMarks {
        let mut edges = vec![Vec::new(); graph.edges.len()];
        let mut nodes = vec![Vec::new(); graph.nodes.len()];
        let start = graph.starts.iter().position(|s| s.starts.contains(&path.start)).unwrap_or(0);
        let mut at = graph.starts.get(start).map_or(0, |s| s.target);
        let mut visit = |node: usize, state: u64| {
            if let Some(states) = nodes.get_mut(node) {
                states.push(state);
            }
        };
        visit(at, 0);
        for &(step, transition) in &path.steps {
            if let Some(e) = graph.edges.iter().position(|e| e.transitions.contains(&transition)) {
                edges[e].push(step);
                at = graph.edges[e].target;
            }
            visit(at, step);
        }
        PathMarks { edges, nodes, start, last: at }
    }
}

fn spaced(steps: &[u64]) -> String {
    steps.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

/// Labels, starts first, with their places within the label of one arrow.
struct Bundle {
    labels: Vec<(usize, (f64, f64))>,
    size: Size,
}

/// Loops at a node that have an arrow each.
const MAX_LOOPS: usize = 6;
const LABEL_GAP: f64 = 10.0;
const COLUMN_GAP: f64 = 28.0;

/// Writes what stands before the arrows; returns the id of the arrow head.
fn begin(out: &mut String, name: &str, place: Place<'_>, size: Size) -> String {
    let (w, h) = (size.width.ceil(), size.height.ceil());
    let (kind, id) = match place {
        Place::File => ("xmlns=\"http://www.w3.org/2000/svg\"", "head".to_string()),
        Place::Page(id) | Place::Panel(id) => ("class=\"graph\"", format!("{id}-head")),
        Place::Part(id) => ("", format!("{id}-head")),
    };
    if !matches!(place, Place::Part(_)) {
        let _ = writeln!(
            out,
            "<svg {kind} width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">"
        );
        let _ = writeln!(out, "<title>{}</title>", escaped(name));
    }
    if matches!(place, Place::File) {
        let _ = writeln!(out, "<style>{STYLE}</style>");
    }
    let _ = writeln!(
        out,
        "<defs><marker id=\"{id}\" markerUnits=\"userSpaceOnUse\" viewBox=\"0 0 9 8\" markerWidth=\"10.8\" markerHeight=\"9.6\" refX=\"8\" refY=\"4\" orient=\"auto\">\
         <path class=\"head\" d=\"M0,0 L9,4 L0,8 z\"/></marker></defs>",
    );
    id
}

/// What is drawn.
struct Picture {
    /// The labels of starts, then of edges.
    labels: Vec<Vec<Line>>,
    nodes: Vec<Vec<Line>>,
    path: Option<PathMarks>,
}

impl Picture {
    /// All labels, no run.
    fn of(graph: &GraphView) -> Picture {
        let starts = graph.starts.iter().map(|s| s.lines());
        Picture {
            labels: starts.chain(graph.edges.iter().map(|e| e.lines())).collect(),
            nodes: graph.nodes.iter().map(|n| n.lines()).collect(),
            path: None,
        }
    }

    fn svg(&self, graph: &GraphView, place: Place<'_>) -> Result<String, TooLarge> {
        self.drawn(graph, place).map(|(_, svg)| svg)
    }

    /// The size of the drawing, and its text.
    fn drawn(&self, graph: &GraphView, place: Place<'_>) -> Result<(Size, String), TooLarge> {
        let bundles = self.bundles(graph);
        let mut request = Request {
            nodes: self.nodes.iter().map(|lines| node_size(lines)).collect(),
            edges: Vec::new(),
        };
        for bundle in &bundles {
            let first = bundle.labels[0].0;
            let ends = match first.checked_sub(graph.starts.len()) {
                Some(e) => (graph.edges[e].source, graph.edges[e].target),
                None => {
                    request.nodes.push(Size { width: START_DOT, height: START_DOT });
                    (request.nodes.len() - 1, graph.starts[first].target)
                }
            };
            request.edges.push((ends.0, ends.1, bundle.size));
        }
        let drawing = lay_out(&request)?;
        let mut out = String::new();
        let id = begin(&mut out, &graph.name, place, drawing.size);
        for (route, bundle) in drawing.edges.iter().zip(&bundles) {
            let path = if route.is_loop { loop_path(route) } else { path(route) };
            let steps: Vec<String> =
                bundle.labels.iter().filter_map(|l| self.steps_of_edge(graph, l.0)).collect();
            let taken = if steps.is_empty() { "" } else { " taken" };
            let data = match steps.is_empty() {
                true => String::new(),
                false => format!(" data-taken=\"{}\"", steps.join(" ")),
            };
            let arrow = format!(
                "<path class=\"edge{taken}\"{data} d=\"{path}\" marker-end=\"url(#{id})\"/>"
            );
            let is_panel = matches!(place, Place::Panel(_));
            match &bundle.labels[..] {
                [(label, _)] if is_panel => {
                    let _ =
                        writeln!(out, "<g{}>{}", stands_for(graph, *label), full(graph, *label));
                    let _ = writeln!(out, "<path class=\"hit\" d=\"{path}\"/>\n{arrow}");
                }
                _ => {
                    let _ = writeln!(out, "{arrow}");
                }
            }
            for &(label, (dx, dy)) in &bundle.labels {
                let is_grouped = is_panel && bundle.labels.len() > 1;
                if is_grouped {
                    let _ = writeln!(out, "<g{}>{}", stands_for(graph, label), full(graph, label));
                }
                let lines = &self.labels[label];
                text_lines(&mut out, lines, route.label.x + dx, route.label.y + dy);
                if is_grouped {
                    out.push_str("</g>\n");
                }
            }
            if is_panel && bundle.labels.len() == 1 {
                out.push_str("</g>\n");
            }
        }
        for (i, (node, rect)) in graph.nodes.iter().zip(&drawing.nodes).enumerate() {
            if matches!(place, Place::Panel(_)) {
                let title = titled(&node.lines());
                let _ = writeln!(out, "<g class=\"place\" data-node=\"{i}\">{title}");
                self.node(node, i, *rect, &mut out);
                out.push_str("</g>\n");
            } else {
                self.node(node, i, *rect, &mut out);
            }
        }
        for rect in &drawing.nodes[graph.nodes.len()..] {
            let r = START_DOT / 2.0;
            let _ = writeln!(
                out,
                "<circle class=\"dot\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{r}\"/>",
                rect.x + r,
                rect.y + r
            );
        }
        if !matches!(place, Place::Part(_)) {
            out.push_str("</svg>\n");
        }
        Ok((drawing.size, out))
    }

    /// What is drawn as one arrow: each start and transition, but many loops at a node together.
    fn bundles(&self, graph: &GraphView) -> Vec<Bundle> {
        let single = |label: usize| Bundle {
            labels: vec![(label, (0.0, 0.0))],
            size: label_size(&self.labels[label]),
        };
        let mut bundles: Vec<Bundle> = (0..graph.starts.len()).map(single).collect();
        let mut loops: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
        for (e, edge) in graph.edges.iter().enumerate() {
            let label = graph.starts.len() + e;
            if edge.source == edge.target {
                loops[edge.source].push(label);
            } else {
                bundles.push(single(label));
            }
        }
        for labels in loops {
            if labels.len() <= MAX_LOOPS {
                bundles.extend(labels.into_iter().map(single));
            } else {
                bundles.push(self.in_columns(&labels));
            }
        }
        bundles
    }

    /// Labels in columns, about as wide as high.
    fn in_columns(&self, labels: &[usize]) -> Bundle {
        let sizes: Vec<Size> = labels.iter().map(|&l| label_size(&self.labels[l])).collect();
        let all: f64 = sizes.iter().map(|s| s.height + LABEL_GAP).sum();
        let widest = sizes.iter().map(|s| s.width).fold(1.0, f64::max) + COLUMN_GAP;
        let columns = (1.4 * all / widest).sqrt().ceil().max(1.0);
        let limit = all / columns;
        let (mut x, mut y, mut width) = (0.0, 0.0f64, 0.0f64);
        let mut size = Size::default();
        let mut placed = Vec::new();
        for (&label, s) in labels.iter().zip(&sizes) {
            if y > 0.0 && y + s.height > limit + LINE {
                (x, y, width) = (x + width + COLUMN_GAP, 0.0, 0.0);
            }
            placed.push((label, (x, y)));
            y += s.height + LABEL_GAP;
            width = width.max(s.width);
            size = Size { width: x + width, height: size.height.max(y - LABEL_GAP) };
        }
        Bundle { labels: placed, size }
    }

    /// The steps of the run that take an edge, starts first; none if no step does.
    fn steps_of_edge(&self, graph: &GraphView, at: usize) -> Option<String> {
        let path = self.path.as_ref()?;
        match at.checked_sub(graph.starts.len()) {
            None => (at == path.start).then(|| "0".to_string()),
            Some(e) => Some(spaced(&path.edges[e])).filter(|s| !s.is_empty()),
        }
    }

    fn node(&self, node: &GraphNodeView, at: usize, rect: Rect, out: &mut String) {
        let (class, data) = match &self.path {
            Some(p) if !p.nodes[at].is_empty() => {
                let last = if at == p.last { " last" } else { "" };
                (
                    format!("node visited{last}"),
                    format!(" data-states=\"{}\"", spaced(&p.nodes[at])),
                )
            }
            _ => ("node".to_string(), String::new()),
        };
        rounded(out, &class, &data, rect);
        if node.is_final {
            let inner = Rect {
                x: rect.x + 4.0,
                y: rect.y + 4.0,
                size: Size { width: rect.size.width - 8.0, height: rect.size.height - 8.0 },
            };
            rounded(out, "final", "", inner);
        }
        let lines = &self.nodes[at];
        let text_height = lines.len() as f64 * LINE;
        let left = rect.x + (rect.size.width - text_width(lines)) / 2.0;
        text_lines(out, lines, left, rect.y + (rect.size.height - text_height) / 2.0);
    }
}

/// The attribute that says which start or transitions a label stands for.
fn stands_for(graph: &GraphView, label: usize) -> String {
    match label.checked_sub(graph.starts.len()) {
        None => format!(" class=\"arrow\" data-start=\"{label}\""),
        Some(e) => {
            let ids: Vec<String> =
                graph.edges[e].transitions.iter().map(usize::to_string).collect();
            format!(" class=\"arrow\" data-transitions=\"{}\"", ids.join(" "))
        }
    }
}

/// All that is known of a start or transition, as a title.
fn full(graph: &GraphView, label: usize) -> String {
    match label.checked_sub(graph.starts.len()) {
        None => titled(&graph.starts[label].lines()),
        Some(e) => titled(&graph.edges[e].lines()),
    }
}

fn titled(lines: &[Line]) -> String {
    let text: Vec<String> = lines.iter().map(|line| escaped(&line.text)).collect();
    match text.is_empty() {
        true => String::new(),
        false => format!("<title>{}</title>", text.join("\n")),
    }
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

fn rounded(out: &mut String, class: &str, data: &str, r: Rect) {
    let _ = writeln!(
        out,
        "<rect class=\"{class}\"{data} x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"9\"/>",
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
            c if gander_text::is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            c => out.push(c),
        }
    }
    out
}
