// The run view: a timeline, and the control graph with the run on it. Framework-free; the panels of
// the VS Code extension use it, and any page can.
//
// Text of the model gets into the page as text nodes and attribute values only, so nothing in it
// can become markup.
import type { ControlGraph, Layout, PathStep } from "./graph";
import { layOut, pathOf, shortened } from "./graph";
import type { Run } from "./run";
import { actionOf, endingOf, loopRow, shownRows } from "./run";

/** Columns of the timeline; of longer runs the first and last ones are shown. */
const MOST_COLUMNS = 400;
/** Milliseconds from step to step while the run plays. */
const PLAY_DELAY = 700;
const SVG = "http://www.w3.org/2000/svg";

export interface RunViewOptions {
  /** Called when a row is chosen, with its number in `run.rows`. */
  onSelect?: (row: number) => void;
  /** Adds a button that calls this with the chosen row. */
  onSimulate?: (row: number) => void;
}

/** Shows one run at a time in an element, and is removed with [`dispose`]. */
export class RunView {
  private run: Run | null = null;
  private graph: ControlGraph | null = null;
  private path: PathStep[] = [];
  private row = 0;
  private timer: ReturnType<typeof setInterval> | null = null;
  private readonly abort = new AbortController();
  private readonly bar: HTMLElement;
  private readonly graphHost: HTMLElement;
  private readonly tableHost: HTMLElement;
  private readonly status: HTMLElement;
  private play!: HTMLButtonElement;
  private columns = new Map<number, HTMLElement[]>();
  private nodeShapes: SVGElement[] = [];
  private edgeShapes: SVGElement[] = [];

  constructor(
    private readonly host: HTMLElement,
    private readonly options: RunViewOptions = {},
  ) {
    host.classList.add("run-view");
    host.tabIndex = 0;
    this.bar = element("div", "run-bar");
    this.status = element("span", "run-status");
    this.status.setAttribute("aria-live", "polite");
    this.graphHost = element("div", "run-graph");
    this.tableHost = element("div", "run-table");
    host.replaceChildren(this.bar, this.graphHost, this.tableHost);
    this.fillBar();
    host.addEventListener("keydown", (event) => this.key(event), { signal: this.abort.signal });
  }

  /** Shows a run; without a graph the timeline alone. */
  show(run: Run, graph: ControlGraph | null = null): void {
    this.stop();
    this.run = run;
    // A graph of one node says nothing that the timeline does not say.
    this.graph = graph !== null && graph.nodes.length > 1 ? graph : null;
    this.path = this.graph ? pathOf(run, this.graph) : [];
    this.drawTable(run);
    this.drawGraph();
    this.select(run.rows.length - 1, false);
  }

  /** The chosen row. */
  selected(): number {
    return this.row;
  }

  /** Chooses a row. */
  select(row: number, tell = true): void {
    if (!this.run) return;
    this.row = Math.max(0, Math.min(row, this.run.rows.length - 1));
    for (const [column, cells] of this.columns) {
      for (const cell of cells) cell.classList.toggle("run-current", column === this.row);
    }
    const current = this.columns.get(this.row)?.[0];
    current?.scrollIntoView?.({ block: "nearest", inline: "nearest" });
    const step = this.path[this.row];
    this.nodeShapes.forEach((shape, i) => shape.classList.toggle("run-current", i === step?.node));
    this.edgeShapes.forEach((shape, i) => shape.classList.toggle("run-current", i === step?.edge));
    const shown = this.run.rows[this.row]!;
    this.status.textContent = `step ${shown.step} of ${endingOf(this.run)}: ${actionOf(shown)}`;
    if (tell) this.options.onSelect?.(this.row);
  }

  /** Removes listeners and timers. */
  dispose(): void {
    this.stop();
    this.abort.abort();
    this.host.replaceChildren();
  }

  private fillBar(): void {
    const button = (text: string, title: string, act: () => void) => {
      const made = element("button", "run-button", text);
      made.title = title;
      made.setAttribute("aria-label", title);
      made.addEventListener("click", act, { signal: this.abort.signal });
      this.bar.append(made);
      return made as HTMLButtonElement;
    };
    button("|◀", "first state (Home)", () => this.select(0));
    button("◀", "step back (←)", () => this.select(this.row - 1));
    this.play = button("play", "play (space)", () => this.toggle());
    button("▶", "step (→)", () => this.select(this.row + 1));
    button("▶|", "last state (End)", () => this.select(Number.MAX_SAFE_INTEGER));
    const simulate = this.options.onSimulate;
    if (simulate) button("simulate from here", "simulate from this state", () => simulate(this.row));
    this.bar.append(this.status);
  }

  private key(event: KeyboardEvent): void {
    const moves: Record<string, () => void> = {
      ArrowLeft: () => this.select(this.row - 1),
      ArrowRight: () => this.select(this.row + 1),
      Home: () => this.select(0),
      End: () => this.select(Number.MAX_SAFE_INTEGER),
      " ": () => this.toggle(),
    };
    // Space on a button presses it.
    const onButton = (event.target as HTMLElement | null)?.tagName === "BUTTON";
    const move = event.ctrlKey || event.altKey || event.metaKey ? undefined : moves[event.key];
    if (!move || (onButton && event.key === " ")) return;
    event.preventDefault();
    move();
  }

  private toggle(): void {
    if (this.timer !== null) return this.stop();
    if (!this.run) return;
    if (this.row === this.run.rows.length - 1) this.select(0);
    this.play.textContent = "pause";
    this.timer = setInterval(() => {
      const last = (this.run?.rows.length ?? 1) - 1;
      const back = this.run ? loopRow(this.run) : null;
      if (this.row < last) this.select(this.row + 1);
      else if (back !== null && back < last) this.select(back + 1);
      else this.stop();
    }, PLAY_DELAY);
  }

  private stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "play";
  }

  private drawTable(run: Run): void {
    this.columns = new Map();
    const table = element("table", "run-timeline");
    const { rows, leftOut } = shownRows(run.rows.length, MOST_COLUMNS);
    const gap = leftOut > 0 ? rows.findIndex((row, i) => i > 0 && row !== rows[i - 1]! + 1) : -1;
    const loop = loopRow(run);
    const line = (title: string, cell: (row: number) => { text: string; kind?: string }) => {
      const tr = element("tr");
      const head = element("th", "run-name", title);
      head.scope = "row";
      head.title = title;
      tr.append(head);
      rows.forEach((row, i) => {
        if (i === gap) tr.append(element("td", "run-gap", "…"));
        const { text, kind } = cell(row);
        const td = element("td", kind ?? "", text);
        td.title = text;
        if (row === loop) td.classList.add("run-loop");
        td.addEventListener("click", () => this.select(row), { signal: this.abort.signal });
        this.columns.set(row, [...(this.columns.get(row) ?? []), td]);
        tr.append(td);
      });
      table.append(tr);
    };
    line("step", (row) => ({ text: String(run.rows[row]!.step), kind: "run-step" }));
    line("action", (row) => ({ text: actionOf(run.rows[row]!), kind: "run-action" }));
    if (this.graph) {
      const nodes = this.graph.nodes;
      line("node", (row) => {
        const node = this.path[row]?.node;
        return { text: node == null ? "?" : nodes[node]!.name, kind: "run-node" };
      });
    }
    run.variables.forEach((name, i) =>
      line(name, (row) => {
        const { values, changed } = run.rows[row]!;
        return { text: values[i] ?? "·", kind: changed.includes(i) ? "run-changed" : "" };
      }),
    );
    const notes = run.repetitions.map((r) => {
      const last = run.rows[r.firstRow + r.rows - 1]?.step ?? 0;
      const what = r.rows === 1 ? "this step is" : `these ${r.rows} steps are`;
      return `up to step ${last}: ${what} taken ${r.times} times, the last time shown`;
    });
    if (loop !== null) notes.push(`the last state equals that of step ${run.backTo}`);
    if (leftOut > 0) notes.push(`${leftOut} columns are left out`);
    const list = notes.map((note) => element("p", "run-note", note));
    this.tableHost.replaceChildren(table, ...list);
  }

  private drawGraph(): void {
    [this.nodeShapes, this.edgeShapes] = [[], []];
    if (!this.graph) return this.graphHost.replaceChildren();
    const graph = this.graph;
    const layout = layOut(graph);
    const svg = shape("svg", "run-svg", {
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      width: layout.width,
      height: layout.height,
      role: "img",
    });
    svg.append(marker());
    const taken = new Set(this.path.map((step) => step.edge));
    graph.edges.forEach((edge, i) => {
      const group = shape("g", taken.has(i) ? "run-edge run-taken" : "run-edge");
      const place = layout.edges[i]!;
      group.append(shape("path", "", { d: place.path, "marker-end": "url(#run-head)" }));
      group.append(label(shortened(edge.label), place.labelX, place.labelY, hintOf(edge)));
      this.edgeShapes.push(group);
      svg.append(group);
    });
    graph.nodes.forEach((node, i) => this.nodeShapes.push(drawNode(svg, node, layout, i)));
    this.graphHost.replaceChildren(svg);
  }
}

function hintOf(edge: ControlGraph["edges"][number]): string {
  const guard = edge.guard.length > 0 ? `when ${edge.guard.join(" and ")}` : "";
  return [edge.label, guard, ...edge.effect].filter((part) => part !== "").join("\n");
}

function drawNode(
  svg: SVGElement,
  node: ControlGraph["nodes"][number],
  layout: Layout,
  i: number,
): SVGElement {
  const box = layout.nodes[i]!;
  const group = shape("g", node.final ? "run-graph-node run-final" : "run-graph-node");
  group.append(shape("rect", "", { ...box, rx: 9 }));
  if (node.final) {
    const inner = { x: box.x + 4, y: box.y + 4, width: box.width - 8, height: box.height - 8 };
    group.append(shape("rect", "", { ...inner, rx: 6 }));
  }
  group.append(label(shortened(node.name), box.x + 12, box.y + box.height / 2 + 4, node.name));
  svg.append(group);
  return group;
}

function label(text: string, x: number, y: number, hint: string): SVGElement {
  const made = shape("text", "", { x, y });
  made.textContent = text;
  const title = shape("title", "");
  title.textContent = hint;
  made.append(title);
  return made;
}

function marker(): SVGElement {
  const defs = shape("defs", "");
  const head = shape("marker", "", {
    id: "run-head", viewBox: "0 0 9 8", markerWidth: 9, markerHeight: 8, refX: 8, refY: 4,
    orient: "auto", markerUnits: "userSpaceOnUse",
  });
  head.append(shape("path", "run-arrow", { d: "M0,0 L9,4 L0,8 z" }));
  defs.append(head);
  return defs;
}

function shape(name: string, kind: string, attributes: Record<string, string | number> = {}): SVGElement {
  const made = document.createElementNS(SVG, name);
  if (kind !== "") made.setAttribute("class", kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  kind = "",
  text = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (kind !== "") made.className = kind;
  made.textContent = text;
  return made;
}
