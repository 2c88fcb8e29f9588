// The control graph as data (`gander graph --format json`), the way of a run through it, and its
// layout in layers. Pure functions.
import type { Run } from "./run";

export interface GraphNode {
  name: string;
  final: boolean;
}

export interface GraphEdge {
  /** Indices of nodes. */
  source: number;
  target: number;
  /** Gate with parameters. */
  label: string;
  guard: string[];
  effect: string[];
  /** Names of the transitions that take it, as in evidence. */
  transitions: string[];
}

export interface ControlGraph {
  name: string;
  nodes: GraphNode[];
  starts: { name: string; target: number }[];
  edges: GraphEdge[];
}

/** The graph of an answer of `gander graph --format json`; null if it has none, or several. */
export function onlyGraph(answer: unknown): ControlGraph | null {
  const { schema, graphs } = (answer ?? {}) as { schema?: unknown; graphs?: unknown };
  if (schema !== "gander-graph/1" || !Array.isArray(graphs) || graphs.length !== 1) return null;
  return graphs[0] as ControlGraph;
}

/** Where a run is after each of its rows, and the edge that led there; null if it is not known. */
export interface PathStep {
  node: number | null;
  edge: number | null;
}

/** The way of a run. Transitions that the graph does not have leave the place unknown. */
export function pathOf(run: Run, graph: ControlGraph): PathStep[] {
  const byName = new Map<string, number[]>();
  graph.edges.forEach((edge, i) => {
    for (const name of edge.transitions) byName.set(name, [...(byName.get(name) ?? []), i]);
  });
  const named = graph.nodes.findIndex((node) => node.name === run.firstNode);
  let at: number | null = named >= 0 ? named : graph.nodes.length === 1 ? 0 : null;
  return run.rows.map((row, i) => {
    if (i === 0) return { node: at, edge: null };
    const edges = byName.get(row.transition) ?? [];
    const taken = edges.find((e) => graph.edges[e]!.source === at) ?? edges[0];
    const named = graph.nodes.findIndex((node) => node.name === row.node);
    at = named >= 0 ? named : taken === undefined ? null : graph.edges[taken]!.target;
    return { node: at, edge: taken ?? null };
  });
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  nodes: Box[];
  /** SVG paths. */
  edges: { path: string; labelX: number; labelY: number }[];
}

const CHARACTER = 7.5;
const NODE_HEIGHT = 34;
const LOOP_HEIGHT = 20;
const LAYER_GAP = 76;
const NODE_GAP = 46;
const MARGIN = 40;
const LONGEST_LABEL = 28;

/** A label that is not too wide. */
export function shortened(label: string): string {
  return label.length <= LONGEST_LABEL ? label : `${label.slice(0, LONGEST_LABEL - 1)}…`;
}

/**
 * A layered layout: the layer of a node is its distance from a start; within a layer nodes are
 * ordered by the mean place of the nodes that lead to them (the barycentre heuristic of Sugiyama,
 * Tagawa and Toda, 1981).
 */
export function layOut(graph: ControlGraph): Layout {
  const layers = layersOf(graph);
  order(graph, layers);
  const nodes: Box[] = graph.nodes.map((_, i) => ({ x: 0, y: 0, width: 0, height: heightOf(graph, i) }));
  const widths = layers.map((layer) =>
    layer.reduce((sum, node) => sum + widthOf(graph, node) + NODE_GAP, -NODE_GAP),
  );
  const widest = Math.max(120, ...widths);
  let y = MARGIN;
  layers.forEach((layer, depth) => {
    let x = MARGIN + (widest - widths[depth]!) / 2;
    for (const node of layer) {
      const width = widthOf(graph, node);
      nodes[node] = { x, y, width, height: nodes[node]!.height };
      x += width + NODE_GAP;
    }
    y += Math.max(...layer.map((node) => nodes[node]!.height)) + LAYER_GAP;
  });
  const together = new Map<string, number>();
  const edges = graph.edges.map((edge) => {
    const key = [edge.source, edge.target].sort((a, b) => a - b).join(" ");
    const nth = together.get(key) ?? 0;
    together.set(key, nth + 1);
    return edgePath(nodes[edge.source]!, nodes[edge.target]!, edge.source === edge.target, nth);
  });
  const right = Math.max(
    ...nodes.map((box) => box.x + box.width),
    ...edges.map((edge, i) => edge.labelX + shortened(graph.edges[i]!.label).length * CHARACTER),
  );
  const bottom = Math.max(...nodes.map((box) => box.y + box.height));
  return { width: right + MARGIN, height: bottom + MARGIN, nodes, edges };
}

function widthOf(graph: ControlGraph, node: number): number {
  return Math.max(56, shortened(graph.nodes[node]!.name).length * CHARACTER + 24);
}

/** A node is as high as its loops need. */
function heightOf(graph: ControlGraph, node: number): number {
  const loops = graph.edges.filter((edge) => edge.source === node && edge.target === node).length;
  return Math.max(NODE_HEIGHT, loops * LOOP_HEIGHT + 8);
}

function layersOf(graph: ControlGraph): number[][] {
  const depth = graph.nodes.map(() => -1);
  let next = [...new Set(graph.starts.map((start) => start.target))];
  if (next.length === 0 && graph.nodes.length > 0) next = [0];
  const layers: number[][] = [];
  const rest = () => {
    const open = depth.findIndex((d) => d < 0);
    return open < 0 ? [] : [open];
  };
  while (next.length > 0) {
    const layer = next.filter((node) => depth[node]! < 0);
    layer.forEach((node) => (depth[node] = layers.length));
    if (layer.length > 0) layers.push(layer);
    const inLayer = new Set(layer);
    const targets = graph.edges.filter((e) => inLayer.has(e.source)).map((e) => e.target);
    next = [...new Set(targets)].filter((node) => depth[node]! < 0);
    // Nodes that cannot be reached along edges come last.
    if (next.length === 0) next = rest();
  }
  return layers;
}

function order(graph: ControlGraph, layers: number[][]): void {
  const place = new Map<number, number>();
  layers[0]?.forEach((node, i) => place.set(node, i));
  for (const layer of layers.slice(1)) {
    const middle = (node: number) => {
      const before = graph.edges.flatMap((e) => {
        const at = e.target === node ? place.get(e.source) : undefined;
        return at === undefined ? [] : [at];
      });
      return before.length === 0 ? 0 : before.reduce((a, b) => a + b, 0) / before.length;
    };
    const keyed = layer.map((node) => [middle(node), node] as const);
    keyed.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    keyed.forEach(([, node], i) => {
      layer[i] = node;
      place.set(node, i);
    });
  }
}

function edgePath(from: Box, to: Box, isLoop: boolean, nth: number): Layout["edges"][number] {
  const point = (x: number, y: number) => `${x.toFixed(1)},${y.toFixed(1)}`;
  if (isLoop) {
    const [x, y] = [from.x + from.width, from.y + 4 + (nth + 0.5) * LOOP_HEIGHT];
    const path = `M${point(x, y - 5)} C${point(x + 30, y - 11)} ${point(x + 30, y + 11)} ${point(x, y + 5)}`;
    return { path, labelX: x + 28, labelY: y + 4 };
  }
  const down = to.y > from.y;
  const level = to.y === from.y;
  const side = (nth % 2 === 0 ? 1 : -1) * Math.ceil(nth / 2) * 30;
  const start = { x: from.x + from.width / 2 + side / 3, y: down ? from.y + from.height : from.y };
  const end = { x: to.x + to.width / 2 + side / 3, y: down || level ? to.y : to.y + to.height };
  // An edge upwards, or within a layer, swings out so that it does not cover the edge downwards.
  const swing = down ? side : -54 - Math.abs(side);
  const bend = level ? -50 : (end.y - start.y) / 2;
  const c1 = point(start.x + swing, start.y + bend);
  const c2 = point(end.x + swing, end.y - (level ? 50 : bend));
  const path = `M${point(start.x, start.y)} C${c1} ${c2} ${point(end.x, end.y)}`;
  return {
    path,
    labelX: (start.x + end.x) / 2 + swing * 0.75 + 6,
    labelY: (start.y + end.y) / 2 + (level ? -36 : 4) + (down ? nth * 4 : -10),
  };
}
