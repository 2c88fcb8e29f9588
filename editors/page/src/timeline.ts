// A run as a table: a column for each state, a row for each value, changes marked. One state is the
// current one.

import { fill, h } from "./dom";
import type { Timeline } from "./protocol";

/** States that are shown around the current one. A table of all of a long run would be slow. */
const WINDOW = 60;

export class TimelineView {
  readonly element = h("div", {
    class: "timeline",
    tabindex: "0",
    role: "group",
    "aria-label": "The run, state by state. Arrow keys go from state to state.",
  });
  private timeline: Timeline | null = null;
  private at = 0;
  private showsAll = false;

  constructor(private readonly chosen: (at: number) => void) {
    this.element.addEventListener("keydown", (event) => {
      const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
      const step = steps[event.key];
      if (step === undefined || !this.timeline) return;
      event.preventDefault();
      const last = this.timeline.steps.length - 1;
      this.chosen(Math.max(0, Math.min(last, this.at + step)));
    });
    this.element.addEventListener("click", (event) => {
      const cell = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-at]") : null;
      if (cell) this.chosen(Number(cell.dataset.at));
    });
  }

  show(timeline: Timeline, at: number): void {
    const isNew = timeline !== this.timeline;
    this.timeline = timeline;
    const shownBefore = this.shown(this.at);
    this.at = Math.max(0, Math.min(timeline.steps.length - 1, at));
    const shown = this.shown(this.at);
    if (isNew || shown.from !== shownBefore.from || !this.element.querySelector("table")) this.draw();
    for (const cell of this.element.querySelectorAll<HTMLElement>("[data-at]")) {
      const isNow = Number(cell.dataset.at) === this.at;
      cell.classList.toggle("on", isNow);
      if (cell.localName === "th") cell.toggleAttribute("aria-current", isNow);
    }
    this.reveal();
  }

  private shown(at: number): { from: number; to: number } {
    const count = this.timeline?.steps.length ?? 0;
    if (count <= WINDOW) return { from: 0, to: count };
    const from = Math.max(0, Math.min(count - WINDOW, Math.floor(at / 20) * 20 - 20));
    return { from, to: from + WINDOW };
  }

  private draw(): void {
    const timeline = this.timeline!;
    const { from, to } = this.shown(this.at);
    const columns = timeline.steps.slice(from, to);
    const hasActions = timeline.steps.some((step) => step.action);
    const hasNodes = timeline.steps.some((step) => step.node);
    const head = h("tr", {}, h("th", { scope: "col" }, "step"));
    columns.forEach((step, i) => {
      const loop = timeline.back_to === from + i;
      head.append(
        h(
          "th",
          { scope: "col", "data-at": from + i, title: loop ? "The run repeats from here for ever" : undefined },
          h("b", {}, `${step.number}${loop ? " ↻" : ""}`),
          hasActions && h("span", {}, step.action || "start"),
        ),
      );
    });
    const body = h("tbody");
    if (hasNodes) {
      body.append(this.row("state", columns.map((step) => step.node), from, false));
    }
    const hidden = timeline.groups.flatMap((g) => g.rows).filter((row) => !row.shown).length;
    for (const group of timeline.groups) {
      const rows = group.rows.filter((row) => this.showsAll || row.shown);
      if (rows.length === 0) continue;
      if (group.title && timeline.groups.length > 1) {
        body.append(
          h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: columns.length + 1 }, h("span", {}, group.title))),
        );
      }
      for (const row of rows) body.append(this.row(row.name, row.cells.slice(from, to), from, true, row.cells[from - 1]));
    }
    const table = h("table", {}, h("thead", {}, head), body);
    const left = timeline.steps.length > columns.length
      ? h("p", { class: "soft" }, `States ${from} to ${to - 1} of ${timeline.steps.length} are shown.`)
      : null;
    const all = hidden > 0
      ? h("button", { type: "button", class: "quiet", onclick: () => { this.showsAll = !this.showsAll; this.draw(); this.show(timeline, this.at); } },
          this.showsAll ? "Fewer rows" : `Show ${hidden} more ${hidden === 1 ? "row" : "rows"}`)
      : null;
    fill(this.element, h("div", { class: "scroll" }, table), left, all,
      timeline.note ? h("p", { class: "soft" }, timeline.note) : null);
  }

  private row(name: string, cells: string[], from: number, marksChanges: boolean, before?: string): HTMLElement {
    const row = h("tr", {}, h("th", { scope: "row", title: name }, name));
    let last = before;
    cells.forEach((value, i) => {
      const isChange = marksChanges && last !== undefined && last !== value && value !== "";
      const style = isChange ? "changed" : "";
      row.append(h("td", { "data-at": from + i, class: style, title: isChange ? `${last || "nothing"} → ${value}` : undefined }, value));
      last = value;
    });
    return row;
  }

  private reveal(): void {
    const scroll = this.element.querySelector<HTMLElement>(".scroll");
    const cell = this.element.querySelector<HTMLElement>("th.on");
    const first = this.element.querySelector<HTMLElement>("thead th");
    if (!scroll || !cell || !first) return;
    const left = cell.offsetLeft - first.offsetWidth;
    const right = cell.offsetLeft + cell.offsetWidth;
    if (left < scroll.scrollLeft) scroll.scrollLeft = left - 8;
    else if (right > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = right - scroll.clientWidth + 8;
  }
}
