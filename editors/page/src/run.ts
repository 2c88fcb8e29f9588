// The panel of a run: the control graph with the current step, a player, the timeline.

import { fill, h } from "./dom";
import { GraphView } from "./graph";
import type { Claim, Graph, Timeline } from "./protocol";
import { TimelineView } from "./timeline";
import { SIGN, WORD } from "./words";

/** Time for a step while the run is played. */
const STEP_TIME = 900;

export interface RunActions {
  choose(claim: Claim): void;
  /** A step was chosen: its number among the shown states. */
  step(timeline: Timeline, at: number): void;
}

export class RunPanel {
  readonly element = h("div", { class: "run" });
  private readonly select = h("select", { "aria-label": "The claim whose run is shown", onchange: () => this.pick() });
  private readonly verdict = h("span", { class: "verdict" });
  private readonly place = h("output", { class: "place", "aria-live": "polite" });
  private readonly slider = h("input", { type: "range", min: 0, value: 0, "aria-label": "Step of the run", oninput: () => this.go(Number(this.slider.value)) });
  private readonly play = h("button", { type: "button", class: "icon", "aria-label": "Play", title: "Play (space)", onclick: () => this.toggle() }, "▶");
  private readonly graph = new GraphView();
  private readonly timeline = new TimelineView((at) => this.go(at));
  private readonly body = h("div", { class: "run-body" });
  private readonly empty = h("p", { class: "soft empty" }, "No run yet. Check the model: a claim that fails, or a reachable one that holds, has a run to step through.");
  private claims: Claim[] = [];
  private shown: { claim: Claim; timeline: Timeline; graph: Graph | null } | null = null;
  private at = 0;
  private timer: number | undefined;

  constructor(private readonly actions: RunActions) {
    const button = (sign: string, label: string, target: () => number) =>
      h("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick: () => { this.stop(); this.go(target()); } }, sign);
    const player = h(
      "div",
      { class: "player", role: "toolbar", "aria-label": "Player" },
      button("⇤", "First state", () => 0),
      button("←", "One step back", () => this.at - 1),
      this.play,
      button("→", "One step forward", () => this.at + 1),
      button("⇥", "Last state", () => this.last),
      this.slider,
      this.place,
    );
    append(this.body, [player, this.graph.element, this.timeline.element]);
    fill(this.element, h("div", { class: "bar" }, this.select, this.verdict), this.empty, this.body);
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== " " || (event.target as Element).closest("button, select, input, g[role=button]")) return;
      event.preventDefault();
      this.toggle();
    });
    this.refresh();
  }

  private get last(): number {
    return (this.shown?.timeline.steps.length ?? 1) - 1;
  }

  /** The claims that have a run. */
  setClaims(claims: Claim[]): void {
    this.claims = claims.filter((c) => c.known?.is_current && c.known.result.length !== null && c.known.result.length !== undefined);
    const current = this.shown?.claim.claim;
    fill(
      this.select,
      ...this.claims.map((c) => {
        const word = c.known!.result.verdict;
        return h("option", { value: c.claim, selected: c.claim === current }, `${SIGN[word]} ${c.claim}`);
      }),
    );
    if (this.shown && !this.claims.some((c) => c.claim === current)) this.clear();
    this.refresh();
  }

  get hasRuns(): boolean {
    return this.claims.length > 0;
  }

  get isShown(): boolean {
    return this.shown !== null;
  }

  /** Chooses the first run that shows a failure, if none is shown. */
  pickFirst(): void {
    const first = this.claims.find((c) => c.known?.result.verdict === "fails") ?? this.claims[0];
    if (!this.shown && first) this.actions.choose(first);
  }

  show(claim: Claim, timeline: Timeline, graph: Graph | null): void {
    this.stop();
    this.shown = { claim, timeline, graph };
    this.at = 0;
    this.graph.show(graph);
    this.slider.max = String(this.last);
    this.select.value = claim.claim;
    this.refresh();
    this.go(0);
  }

  clear(): void {
    this.stop();
    this.shown = null;
    this.graph.show(null);
    this.refresh();
  }

  private pick(): void {
    const claim = this.claims.find((c) => c.claim === this.select.value);
    if (claim) this.actions.choose(claim);
  }

  private refresh(): void {
    this.body.hidden = !this.shown;
    this.empty.hidden = this.shown !== null || this.hasRuns;
    (this.select.parentElement as HTMLElement).hidden = !this.hasRuns;
    const word = this.shown?.claim.known?.result.verdict;
    fill(this.verdict, word ? h("span", { class: `word ${word}` }, WORD[word]) : null);
  }

  private go(at: number): void {
    const shown = this.shown;
    if (!shown) return;
    this.at = Math.max(0, Math.min(this.last, at));
    const { timeline } = shown;
    this.slider.value = String(this.at);
    const step = timeline.steps[this.at]!;
    const action = this.at === 0 ? "the start" : step.action;
    const text = [`Step ${step.number} of ${timeline.steps[this.last]!.number}`, action, step.node && `in ${step.node}`];
    this.place.textContent = text.filter(Boolean).join(" · ");
    this.slider.setAttribute("aria-valuetext", this.place.textContent);
    this.timeline.show(timeline, this.at);
    const before = timeline.steps.slice(0, this.at + 1);
    this.graph.mark({
      node: step.node || null,
      transition: this.at === 0 ? null : step.transition,
      visited: new Set(before.map((s) => s.node)),
      taken: new Set(before.flatMap((s) => s.transition ?? [])),
    });
    this.actions.step(timeline, this.at);
  }

  private toggle(): void {
    if (this.timer !== undefined) return this.stop();
    if (!this.shown || this.last < 1) return;
    if (this.at >= this.last) this.go(0);
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", "Pause");
    this.timer = window.setInterval(() => {
      if (this.at >= this.last) return this.stop();
      this.go(this.at + 1);
    }, STEP_TIME);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play");
  }
}

function append(element: Element, children: Element[]): void {
  element.append(...children);
}
