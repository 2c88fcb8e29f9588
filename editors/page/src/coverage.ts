// Coverage: which parts of the model the claims rest on, as a figure and as shading of the text.

import { fill, h } from "./dom";
import type { Mark } from "./editor";
import type { Range } from "./protocol";

/** A part of the model. */
export interface Part {
  range: Range;
  text: string;
  covered: Word;
}

/** Whether a proof needs a part: `no-found-core` is in no minimal core that was found. */
export type Word = "covered" | "unknown" | "no-found-core" | "uncovered";

const TITLES = {
  covered: "A proof of some claim needs this.",
  "no-found-core": "In no minimal core that was found; others may exist.",
  uncovered: "No proof needs this: it is in no minimal core.",
};

export interface CoverageActions {
  compute(): void;
  mark(marks: Mark[]): void;
  reveal(range: Range): void;
}

export class CoveragePanel {
  readonly element = h("div", { class: "coverage" });
  private readonly button = h("button", { type: "button", class: "small main", onclick: () => this.compute() }, "Compute coverage");
  private readonly shade = h("input", { type: "checkbox", id: "shade", onchange: () => this.mark() });
  private readonly status = h("p", { role: "status", "aria-live": "polite" });
  private readonly body = h("div");
  private parts: Part[] | null = null;
  private isOutdated = false;
  private isRunning = false;

  constructor(private readonly actions: CoverageActions) {
    this.shade.checked = true;
    fill(
      this.element,
      h("div", { class: "bar" }, this.button, h("label", { for: "shade", class: "auto" }, this.shade, h("span", {}, "shade the text"))),
      this.status,
      this.body,
    );
    this.draw();
  }

  clear(): void {
    this.parts = null;
    this.isOutdated = false;
    this.isRunning = false;
    this.draw();
  }

  setOutdated(): void {
    if (!this.parts || this.isOutdated) return;
    this.isOutdated = true;
    this.actions.mark([]);
    this.draw();
  }

  /** The computation ended without a result. */
  failed(problem: string): void {
    this.isRunning = false;
    this.draw(problem);
  }

  show(parts: Part[]): void {
    this.parts = parts;
    this.isOutdated = false;
    this.isRunning = false;
    this.draw();
    this.mark();
  }

  private compute(): void {
    this.isRunning = true;
    this.draw();
    this.actions.compute();
  }

  private mark(): void {
    const shown = this.shade.checked && !this.isOutdated ? (this.parts ?? []) : [];
    this.actions.mark(
      shown.flatMap(({ range, covered }): Mark[] => {
        if (covered === "unknown") return [];
        return [{ range, kind: covered === "covered" ? "covered" : "no-core", title: TITLES[covered] }];
      }),
    );
  }

  private draw(problem: string | null = null): void {
    this.button.disabled = this.isRunning;
    this.button.textContent = this.isRunning ? "Computing…" : this.parts ? "Compute again" : "Compute coverage";
    const parts = this.parts;
    fill(
      this.status,
      problem ? h("span", { class: "fails" }, problem) : null,
      !parts && !problem && !this.isRunning
        ? h("span", { class: "soft" }, "A proof rests on some parts of the model. What no proof rests on could be changed without any claim noticing: a hint that a claim is missing.")
        : null,
      this.isRunning ? h("span", { class: "soft" }, "Claims are proved, and what each proof needs is sought…") : null,
      this.isOutdated ? h("span", { class: "unknown" }, "The model was edited since.") : null,
    );
    if (!parts) return fill(this.body);
    const of = (word: Part["covered"]) => parts.filter((p) => p.covered === word);
    const [covered, uncovered, notFound, open] = [of("covered"), of("uncovered"), of("no-found-core"), of("unknown")];
    fill(
      this.body,
      parts.length === 0 ? h("p", { class: "soft" }, "No claim of this model has a proof with a core.") : meter(covered.length, notFound.length + open.length, parts.length),
      this.list("No claim rests on", uncovered),
      this.list("In no minimal core that was found", notFound),
      this.list("Not known", open),
    );
  }

  private list(title: string, parts: Part[]): HTMLElement | null {
    if (parts.length === 0) return null;
    const items = parts.map((p) => h("li", {}, placeButton(p.text, p.range, this.actions.reveal)));
    return h("div", {}, h("h3", {}, title), h("ul", { class: "elements" }, ...items));
  }
}

/** A part of the model that leads to its place in the text. */
export function placeButton(name: string, range: Range | null, reveal: (range: Range) => void): HTMLElement {
  if (!range) return h("span", {}, name);
  const place = h("span", { class: "soft" }, ` line ${range.line}`);
  return h("button", { type: "button", class: "link", onclick: () => reveal(range) }, h("code", {}, name), place);
}

/** A share as a bar and in words; hatched where only bounds are known. */
function meter(sure: number, open: number, of: number): HTMLElement {
  const words = open === 0 ? `${sure} of ${of} parts` : `${sure} to ${sure + open} of ${of} parts`;
  const bar = h("span", { class: "meter", role: "img", "aria-label": `${words} are covered` });
  const [first, second] = [h("i", { class: "sure" }), h("i", { class: "maybe" })];
  first.style.width = `${(100 * sure) / of}%`;
  second.style.width = `${(100 * open) / of}%`;
  bar.append(first, second);
  return h("div", { class: "share" }, h("span", { class: "name" }, "Covered"), bar, h("span", { class: "soft" }, words));
}
