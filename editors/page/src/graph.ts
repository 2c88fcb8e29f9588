// The control graph: the picture of the server, with the current state and transition marked. In a
// simulation, transitions that can be taken are buttons.

import { fill, h, svgElement } from "./dom";
import type { Graph } from "./protocol";

export interface GraphMarks {
  node: string | null;
  /** The transition that led here. */
  transition: number | null;
  visited: Set<string>;
  taken: Set<number>;
}

export class GraphView {
  readonly element = h("div", { class: "graph-frame" });
  /** The pictures, each with the names of its nodes. */
  private pictures: { svg: SVGSVGElement; nodes: string[] }[] = [];
  private graph: Graph | null = null;
  private onChoose: ((transition: number) => void) | null = null;

  /** Shows a graph; none is an empty frame. */
  show(graph: Graph | null): void {
    if (graph === this.graph) return;
    this.graph = graph;
    this.pictures = [];
    fill(this.element);
    for (const { name, svg: source, nodes } of graph?.graphs ?? []) {
      const svg = svgElement(source);
      if (!svg) continue;
      svg.classList.add("graph");
      own(svg);
      this.pictures.push({ svg, nodes });
      const caption = graph!.graphs.length > 1 ? h("figcaption", {}, name) : "";
      this.element.append(h("figure", {}, caption, svg));
      svg.addEventListener("click", (event) => this.choose(event.target));
      svg.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        if (this.choose(event.target)) event.preventDefault();
      });
    }
    if (graph?.note) this.element.append(h("p", { class: "soft" }, graph.note));
    this.element.hidden = this.element.childElementCount === 0;
  }

  mark(marks: GraphMarks): void {
    for (const { svg, nodes } of this.pictures) {
      for (const node of svg.querySelectorAll<SVGElement>("[data-node]")) {
        const name = nodes[Number(node.dataset.node)] ?? "";
        const isIn = (of: string) => of === name || of.split(", ").includes(name);
        node.classList.toggle("now", marks.node !== null && isIn(marks.node));
        node.classList.toggle("visited", [...marks.visited].some(isIn));
      }
      for (const edge of svg.querySelectorAll<SVGElement>("[data-transitions]")) {
        const ids = transitionsOf(edge);
        const isNow = marks.transition !== null && ids.includes(marks.transition);
        edge.classList.toggle("now", isNow);
        edge.classList.toggle("taken", ids.some((id) => marks.taken.has(id)));
        edge.classList.remove("moving");
        if (isNow) {
          // A movement along the arrow shows its direction; it begins anew with each step.
          void edge.getBoundingClientRect();
          edge.classList.add("moving");
        }
      }
    }
    this.keepVisible();
  }

  /** Makes these transitions buttons. */
  offer(enabled: Map<number, string>, choose: (transition: number) => void): void {
    this.onChoose = choose;
    const edges = this.pictures.flatMap(({ svg }) => [...svg.querySelectorAll<SVGElement>("g[data-transitions]")]);
    for (const edge of edges) {
      const label = transitionsOf(edge).flatMap((id) => enabled.get(id) ?? []);
      edge.classList.toggle("enabled", label.length > 0);
      if (label.length > 0) {
        edge.setAttribute("role", "button");
        edge.setAttribute("tabindex", "0");
        edge.setAttribute("aria-label", `Take ${label.join(" or ")}`);
      } else {
        for (const name of ["role", "tabindex", "aria-label"]) edge.removeAttribute(name);
      }
    }
  }

  private choose(target: EventTarget | null): boolean {
    const edge = target instanceof Element ? target.closest<SVGElement>("g.enabled") : null;
    const [id] = edge ? transitionsOf(edge) : [];
    if (id === undefined || !this.onChoose) return false;
    this.onChoose(id);
    return true;
  }

  private keepVisible(): void {
    const now = this.element.querySelector(".now[data-node]");
    const frame = this.element;
    if (!now || frame.scrollHeight <= frame.clientHeight) return;
    const [inner, outer] = [now.getBoundingClientRect(), frame.getBoundingClientRect()];
    if (inner.top < outer.top) frame.scrollTop += inner.top - outer.top - 12;
    if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom + 12;
  }
}

let pictures = 0;

/** Gives the identifiers of a picture names of their own: the page shows the same graph twice. */
function own(svg: SVGSVGElement): void {
  const prefix = `picture${(pictures += 1)}`;
  for (const element of svg.querySelectorAll("[id]")) element.id = `${prefix}-${element.id}`;
  for (const element of svg.querySelectorAll("[marker-end]")) {
    const end = element.getAttribute("marker-end")!;
    element.setAttribute("marker-end", end.replace("url(#", `url(#${prefix}-`));
  }
}

function transitionsOf(element: SVGElement): number[] {
  return (element.dataset.transitions ?? "").split(" ").filter(Boolean).map(Number);
}
