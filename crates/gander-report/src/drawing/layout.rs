//! Layered drawing of a directed graph (Sugiyama, Tagawa, Toda 1981), with labels as part of the
//! layout.
//!
//! - Cycles are broken by turning the back edges of a depth-first search around.
//! - Layers are longest paths, counted double: every edge crosses at least one layer of its own, on
//!   which its label sits as if it were a node. So labels never cover nodes or each other.
//! - Crossings are reduced by barycentre sweeps; the best order seen is kept.
//! - Horizontal positions minimise the squared distance to the neighbours layer by layer, subject
//!   to the order and the gaps; for one layer that is an isotonic regression, solved exactly by
//!   pooling adjacent violators.
//! - Loops do not take part: they and their labels stand to the right of their node, in space
//!   reserved for them.

use rustc_hash::FxHashMap;

/// Width and height.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Size {
    pub width: f64,
    pub height: f64,
}

/// A rectangle, by its upper left corner.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub size: Size,
}

impl Rect {
    pub fn right(self) -> f64 {
        self.x + self.size.width
    }

    pub fn bottom(self) -> f64 {
        self.y + self.size.height
    }
}

/// What is to be drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Request {
    pub nodes: Vec<Size>,
    /// Source, target, size of the label.
    pub edges: Vec<(usize, usize, Size)>,
}

/// The route of an edge: points from source to target, joined by curves with vertical tangents.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Route {
    pub points: Vec<(f64, f64)>,
    pub label: Rect,
    pub is_loop: bool,
}

/// Where everything is.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Drawing {
    pub nodes: Vec<Rect>,
    pub edges: Vec<Route>,
    pub size: Size,
}

/// A graph that is too large to be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge {
    /// Its nodes.
    pub nodes: usize,
    /// Its transitions.
    pub edges: usize,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a graph of {} nodes and {} transitions is too large to be drawn",
            self.nodes, self.edges
        )
    }
}

impl std::error::Error for TooLarge {}

const LAYER_GAP: f64 = 26.0;
const ITEM_GAP: f64 = 26.0;
const LOOP_REACH: f64 = 26.0;
const LOOP_GAP: f64 = 8.0;
const MARGIN: f64 = 16.0;
const MAX_EDGES: usize = 3000;
const MAX_ITEMS: usize = 60_000;
const SWEEPS: usize = 24;

/// Something on a layer: a node, the label of an edge, or a bend of a long edge. `left` and `right`
/// are its extents around the line where edges run.
#[derive(Clone, Debug, Default)]
struct Item {
    layer: usize,
    left: f64,
    right: f64,
    height: f64,
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
    is_node: bool,
}

struct Layered {
    items: Vec<Item>,
    layers: Vec<Vec<usize>>,
    /// Items of each edge from its upper to its lower node, both included; empty for loops.
    chains: Vec<Vec<usize>>,
    label_at: Vec<usize>,
    turned: Vec<bool>,
}

/// Lays a graph out.
pub(crate) fn lay_out(request: &Request) -> Result<Drawing, TooLarge> {
    let too_large = TooLarge { nodes: request.nodes.len(), edges: request.edges.len() };
    if request.edges.len() > MAX_EDGES || request.nodes.len() > MAX_EDGES {
        return Err(too_large);
    }
    let mut layered = layers(request).ok_or(too_large)?;
    reduce_crossings(&mut layered);
    position(&mut layered);
    Ok(draw(request, &layered))
}

/// The back edges of a depth-first search that begins with nodes without incoming edges.
fn back_edges(request: &Request) -> Vec<bool> {
    let n = request.nodes.len();
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut entered = vec![false; n];
    for (e, &(a, b, _)) in request.edges.iter().enumerate() {
        if a != b {
            leaving[a].push(e);
            entered[b] = true;
        }
    }
    let mut turned = vec![false; request.edges.len()];
    let mut state = vec![0u8; n]; // 0 not seen, 1 on the path, 2 done
    let roots = (0..n).filter(|&v| !entered[v]).chain((0..n).filter(|&v| entered[v]));
    for root in roots {
        if state[root] != 0 {
            continue;
        }
        state[root] = 1;
        let mut path = vec![(root, 0)];
        while let Some((v, next)) = path.last_mut() {
            let Some(&e) = leaving[*v].get(*next) else {
                state[*v] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            let to = request.edges[e].1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    path.push((to, 0));
                }
                1 => turned[e] = true,
                _ => {}
            }
        }
    }
    turned
}

/// Longest-path layers. Nodes without incoming edges then move down to just above their successors.
fn node_layers(request: &Request, ends: &[(usize, usize)]) -> Vec<usize> {
    let n = request.nodes.len();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut open = vec![0usize; n];
    for &(a, b) in ends.iter().filter(|(a, b)| a != b) {
        below[a].push(b);
        open[b] += 1;
    }
    let is_source: Vec<bool> = open.iter().map(|&o| o == 0).collect();
    let mut layer = vec![0usize; n];
    let mut ready: Vec<usize> = (0..n).filter(|&v| open[v] == 0).collect();
    while let Some(v) = ready.pop() {
        for &b in &below[v] {
            layer[b] = layer[b].max(layer[v] + 2);
            open[b] -= 1;
            if open[b] == 0 {
                ready.push(b);
            }
        }
    }
    for v in (0..n).filter(|&v| is_source[v]) {
        if let Some(first) = below[v].iter().map(|&b| layer[b]).min() {
            layer[v] = first - 2;
        }
    }
    layer
}

fn layers(request: &Request) -> Option<Layered> {
    let turned = back_edges(request);
    let ends: Vec<(usize, usize)> = request
        .edges
        .iter()
        .zip(&turned)
        .map(|(&(a, b, _), &t)| if t { (b, a) } else { (a, b) })
        .collect();
    let layer = node_layers(request, &ends);
    let mut items: Vec<Item> = Vec::new();
    for (v, &size) in request.nodes.iter().enumerate() {
        let loops = || request.edges.iter().filter(move |e| e.0 == v && e.1 == v).map(|e| e.2);
        let reach = loops().map(|l| l.width + LOOP_REACH + LOOP_GAP).fold(0.0, f64::max);
        let tall: f64 = loops().map(|l| l.height + LOOP_GAP).sum();
        items.push(Item {
            layer: layer[v],
            left: size.width / 2.0,
            right: size.width / 2.0 + reach,
            height: size.height.max(tall),
            is_node: true,
            ..Item::default()
        });
    }
    let mut chains = Vec::new();
    let mut label_at = Vec::new();
    for (&(a, b), &(.., label)) in ends.iter().zip(&request.edges) {
        if a == b {
            chains.push(Vec::new());
            label_at.push(usize::MAX);
            continue;
        }
        let span = layer[b] - layer[a];
        let middle = layer[a] + ((span / 2) | 1);
        let mut chain = vec![a];
        for l in layer[a] + 1..layer[b] {
            let mut item = Item { layer: l, left: 3.0, right: 3.0, ..Item::default() };
            if l == middle {
                label_at.push(items.len());
                item.right = label.width + 8.0;
                item.height = label.height;
            }
            chain.push(items.len());
            items.push(item);
            if items.len() > MAX_ITEMS {
                return None;
            }
        }
        chain.push(b);
        for pair in chain.windows(2) {
            items[pair[0]].below.push(pair[1]);
            items[pair[1]].above.push(pair[0]);
        }
        chains.push(chain);
    }
    let depth = items.iter().map(|i| i.layer + 1).max().unwrap_or(0);
    let mut rows = vec![Vec::new(); depth];
    for i in initial_order(&items) {
        rows[items[i].layer].push(i);
    }
    Some(Layered { items, layers: rows, chains, label_at, turned })
}

/// Items in the order of a depth-first search from the top, which keeps connected items together.
fn initial_order(items: &[Item]) -> Vec<usize> {
    let mut seen = vec![false; items.len()];
    let mut order = Vec::new();
    let mut roots: Vec<usize> = (0..items.len()).filter(|&i| items[i].is_node).collect();
    roots.sort_by_key(|&i| (items[i].layer, i));
    for root in roots {
        let mut stack = vec![root];
        while let Some(i) = stack.pop() {
            if !std::mem::replace(&mut seen[i], true) {
                order.push(i);
                stack.extend(items[i].below.iter().rev().filter(|&&b| !seen[b]));
            }
        }
    }
    order
}

fn reduce_crossings(g: &mut Layered) {
    let mut best = g.layers.clone();
    let mut fewest = crossings(g);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let depth = g.layers.len();
        let down = sweep % 2 == 0;
        for step in 1..depth {
            let l = if down { step } else { depth - 1 - step };
            let fixed = if down { l - 1 } else { l + 1 };
            let place: FxHashMap<usize, usize> =
                g.layers[fixed].iter().enumerate().map(|(p, &i)| (i, p)).collect();
            let mut row: Vec<(f64, usize)> = Vec::with_capacity(g.layers[l].len());
            for (p, &i) in g.layers[l].iter().enumerate() {
                let near = if down { &g.items[i].above } else { &g.items[i].below };
                let sum: usize = near.iter().map(|n| place[n]).sum();
                let centre =
                    if near.is_empty() { p as f64 } else { sum as f64 / near.len() as f64 };
                row.push((centre, i));
            }
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            g.layers[l] = row.into_iter().map(|r| r.1).collect();
        }
        let now = crossings(g);
        if now < fewest {
            fewest = now;
            best.clone_from(&g.layers);
        }
    }
    g.layers = best;
}

/// The number of crossings between all adjacent layers, counted with a Fenwick tree.
fn crossings(g: &Layered) -> u64 {
    let mut total = 0;
    for pair in g.layers.windows(2) {
        let place: FxHashMap<usize, usize> =
            pair[1].iter().enumerate().map(|(p, &i)| (i, p)).collect();
        let mut tree = vec![0u64; pair[1].len() + 1];
        let mut seen = 0;
        for &i in &pair[0] {
            let mut ends: Vec<usize> = g.items[i].below.iter().map(|b| place[b]).collect();
            ends.sort_unstable();
            for &e in &ends {
                // Earlier ends at or left of e do not cross.
                let mut k = e + 1;
                let mut left = 0;
                while k > 0 {
                    left += tree[k];
                    k &= k - 1;
                }
                total += seen - left;
            }
            for &e in &ends {
                let mut k = e + 1;
                while k < tree.len() {
                    tree[k] += 1;
                    k += k & k.wrapping_neg();
                }
                seen += 1;
            }
        }
    }
    total
}

fn position(g: &mut Layered) {
    for row in &g.layers {
        let mut x = 0.0;
        for &i in row {
            let item = &mut g.items[i];
            item.x = x + item.left;
            x = item.x + item.right + ITEM_GAP;
        }
    }
    for round in 0..2 * SWEEPS {
        let depth = g.layers.len();
        for step in 0..depth {
            let l = if round % 2 == 0 { step } else { depth - 1 - step };
            let row = g.layers[l].clone();
            let preferred: Vec<(f64, f64)> =
                row.iter().map(|&i| preferred_position(g, i, round)).collect();
            place_row(g, &row, &preferred);
        }
    }
}

/// The preferred position of an item and its weight: near its neighbours. Neighbours on long edges
/// weigh more, so that long edges are straight.
fn preferred_position(g: &Layered, i: usize, round: usize) -> (f64, f64) {
    let item = &g.items[i];
    let (mut sum, mut weight) = (0.0, 0.0);
    let mut near = |others: &[usize]| {
        for &o in others {
            let w = if !item.is_node && !g.items[o].is_node { 8.0 } else { 1.0 };
            sum += w * g.items[o].x;
            weight += w;
        }
    };
    // First one direction at a time, then both for balance.
    let last = round >= SWEEPS;
    if last || round.is_multiple_of(2) || item.below.is_empty() {
        near(&item.above);
    }
    if last || round % 2 == 1 || item.above.is_empty() {
        near(&item.below);
    }
    if weight == 0.0 { (item.x, 0.1) } else { (sum / weight, weight) }
}

/// Minimises the weighted squared distance to the preferred positions, keeping order and gaps.
fn place_row(g: &mut Layered, row: &[usize], preferred: &[(f64, f64)]) {
    // With offsets[i] the least distance from the first item, y_i = x_i - offsets[i] must not
    // decrease.
    let mut offsets = Vec::with_capacity(row.len());
    let mut offset = 0.0;
    for (p, &i) in row.iter().enumerate() {
        if p > 0 {
            let gap = if g.items[i].is_node || g.items[row[p - 1]].is_node {
                ITEM_GAP
            } else {
                ITEM_GAP / 2.0
            };
            offset += g.items[row[p - 1]].right + g.items[i].left + gap;
        }
        offsets.push(offset);
    }
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new(); // mean, weight, items
    for (&(x, w), &offset) in preferred.iter().zip(&offsets) {
        let (mut mean, mut weight, mut count) = (x - offset, w, 1);
        while let Some(&(m, v, c)) = blocks.last()
            && m > mean
        {
            mean = (m * v + mean * weight) / (v + weight);
            weight += v;
            count += c;
            blocks.pop();
        }
        blocks.push((mean, weight, count));
    }
    let mut p = 0;
    for (mean, _, count) in blocks {
        for _ in 0..count {
            g.items[row[p]].x = mean + offsets[p];
            p += 1;
        }
    }
}

fn draw(request: &Request, g: &Layered) -> Drawing {
    let left = g.items.iter().map(|i| i.x - i.left).fold(f64::INFINITY, f64::min);
    let left = if left.is_finite() { left } else { 0.0 };
    let x_of = |i: usize| g.items[i].x - left + MARGIN;
    let mut tops = Vec::new();
    let mut y = MARGIN;
    for row in &g.layers {
        let height = row.iter().map(|&i| g.items[i].height).fold(0.0, f64::max);
        tops.push((y, height));
        y += height + LAYER_GAP;
    }
    let middle = |i: usize| {
        let (top, height) = tops[g.items[i].layer];
        top + height / 2.0
    };
    let nodes: Vec<Rect> = request
        .nodes
        .iter()
        .enumerate()
        .map(|(v, &size)| {
            // As tall as its loops, so that each of them touches it.
            let size = Size { height: g.items[v].height, ..size };
            Rect { x: x_of(v) - size.width / 2.0, y: middle(v) - size.height / 2.0, size }
        })
        .collect();
    let ports = Ports::of(g, &nodes, &x_of);
    let mut loops_at: FxHashMap<usize, f64> = FxHashMap::default();
    let mut edges = Vec::new();
    for (e, &(a, b, label)) in request.edges.iter().enumerate() {
        if a == b {
            let taken = loops_at.entry(a).or_insert_with(|| middle(a) - g.items[a].height / 2.0);
            let rect = Rect {
                x: nodes[a].right() + LOOP_REACH + 4.0,
                y: *taken + LOOP_GAP / 2.0,
                size: label,
            };
            *taken += label.height + LOOP_GAP;
            let at = rect.y + label.height / 2.0;
            let points = vec![(nodes[a].right(), at), (nodes[a].right() + LOOP_REACH, at)];
            edges.push(Route { points, label: rect, is_loop: true });
            continue;
        }
        let chain = &g.chains[e];
        let mut points = vec![(ports.below[e], nodes[chain[0]].bottom())];
        for &i in &chain[1..chain.len() - 1] {
            let (top, height) = tops[g.items[i].layer];
            points.push((x_of(i), top));
            points.push((x_of(i), top + height));
        }
        points.push((ports.above[e], nodes[chain[chain.len() - 1]].y));
        let i = g.label_at[e];
        let rect = Rect { x: x_of(i) + 6.0, y: middle(i) - label.height / 2.0, size: label };
        if g.turned[e] {
            points.reverse();
        }
        edges.push(Route { points, label: rect, is_loop: false });
    }
    // Positions may all be negative, so the fold must not begin with zero.
    let right = g.items.iter().map(|i| i.x + i.right).fold(f64::NEG_INFINITY, f64::max);
    let right = if right.is_finite() { right - left } else { 0.0 };
    let size = Size { width: right + 2.0 * MARGIN, height: (y - LAYER_GAP).max(0.0) + MARGIN };
    Drawing { nodes, edges, size }
}

/// Where edges touch their upper and lower node: spread over the side, in the order of what is on
/// the other end.
struct Ports {
    below: Vec<f64>,
    above: Vec<f64>,
}

impl Ports {
    fn of(g: &Layered, nodes: &[Rect], x_of: &dyn Fn(usize) -> f64) -> Ports {
        let mut ports =
            Ports { below: vec![0.0; g.chains.len()], above: vec![0.0; g.chains.len()] };
        let mut sides: FxHashMap<(usize, bool), Vec<(f64, usize)>> = FxHashMap::default();
        for (e, chain) in g.chains.iter().enumerate().filter(|(_, c)| !c.is_empty()) {
            let last = chain.len() - 1;
            sides.entry((chain[0], true)).or_default().push((x_of(chain[1]), e));
            sides.entry((chain[last], false)).or_default().push((x_of(chain[last - 1]), e));
        }
        for ((v, is_below), mut ends) in sides {
            ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let step = nodes[v].size.width / (ends.len() + 1) as f64;
            for (p, &(_, e)) in ends.iter().enumerate() {
                let x = nodes[v].x + step * (p + 1) as f64;
                if is_below {
                    ports.below[e] = x;
                } else {
                    ports.above[e] = x;
                }
            }
        }
        ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Size = Size { width: 60.0, height: 30.0 };
    const LABEL: Size = Size { width: 90.0, height: 28.0 };

    fn request(nodes: usize, edges: &[(usize, usize)]) -> Request {
        Request {
            nodes: vec![NODE; nodes],
            edges: edges.iter().map(|&(a, b)| (a, b, LABEL)).collect(),
        }
    }

    fn overlap(a: Rect, b: Rect) -> bool {
        a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
    }

    fn assert_readable(r: &Request) {
        let d = lay_out(r).unwrap();
        let all: Vec<Rect> =
            d.nodes.iter().copied().chain(d.edges.iter().map(|e| e.label)).collect();
        // Nothing is blank at the right: what is drawn or reserved there ends at the margin.
        let reach = all.iter().map(|r| r.right()).fold(0.0, f64::max);
        assert!(d.size.width <= reach + MARGIN + 12.0, "{} of {reach}", d.size.width);
        for (i, a) in all.iter().enumerate() {
            assert!(
                a.x >= 0.0
                    && a.y >= 0.0
                    && a.right() <= d.size.width
                    && a.bottom() <= d.size.height,
                "{a:?}"
            );
            for b in &all[..i] {
                assert!(!overlap(*a, *b), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn nothing_overlaps() {
        assert_readable(&request(1, &[]));
        assert_readable(&request(1, &[(0, 0), (0, 0), (0, 0)]));
        assert_readable(&request(2, &[(0, 1), (0, 1), (1, 0)]));
        // A wide loop on the left of two branches: positions became negative.
        let wide = Size { width: 320.0, height: 80.0 };
        let mut loan = request(5, &[(4, 0), (0, 1), (0, 3), (1, 1), (1, 2)]);
        loan.edges[0].2 = wide;
        loan.edges[3].2 = wide;
        loan.edges[4].2 = wide;
        assert_readable(&loan);
        assert_readable(&request(
            5,
            &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 3), (3, 1), (0, 4), (4, 3), (1, 0)],
        ));
        let complete: Vec<(usize, usize)> =
            (0..7).flat_map(|a| (0..7).map(move |b| (a, b))).collect();
        assert_readable(&request(7, &complete));
    }

    #[test]
    fn an_empty_graph_has_a_drawing() {
        assert!(lay_out(&Request::default()).unwrap().nodes.is_empty());
    }

    #[test]
    fn a_graph_above_the_limit_is_rejected() {
        let edges: Vec<(usize, usize)> = (0..5000).map(|i| (i, i + 1)).collect();
        assert!(lay_out(&request(5001, &edges)).is_err());
    }

    #[test]
    fn edges_touch_their_nodes_in_the_right_direction() {
        let r = request(2, &[(0, 1), (1, 0)]);
        let d = lay_out(&r).unwrap();
        assert_eq!(d.edges[0].points[0].1, d.nodes[0].bottom());
        assert_eq!(d.edges[1].points[0].1, d.nodes[1].y);
        assert_eq!(d.edges[1].points.last().unwrap().1, d.nodes[0].bottom());
    }
}
