// The simulator: the run so far, and the steps that can be taken next, in the control graph and in a
// list.

import { fill, h } from "./dom";
import { GraphView } from "./graph";
import type { Choice, Graph, Move, Simulation } from "./protocol";
import { messageOf } from "./server";
import { TimelineView } from "./timeline";

export interface SimulatorActions {
  graph(): Promise<Graph | null>;
  /** Takes the moves from the beginning; `random` adds so many random steps. */
  simulate(moves: Move[], random: number | null): Promise<Simulation>;
}

export class SimulatePanel {
  readonly element = h("div", { class: "simulate" });
  private readonly graph = new GraphView();
  private readonly timeline = new TimelineView((at) => this.look(at));
  private readonly choices = h("div", { class: "choices", role: "group", "aria-label": "Next steps" });
  private readonly status = h("p", { class: "status", role: "status", "aria-live": "polite" });
  private readonly body = h("div");
  private readonly begin: HTMLButtonElement;
  private readonly back: HTMLButtonElement;
  private moves: Move[] = [];
  private simulation: Simulation | null = null;
  private at = 0;
  private turn = 0;
  private isOutdated = false;

  constructor(private readonly actions: SimulatorActions) {
    const button = (text: string, run: () => void, style = "small") => h("button", { type: "button", class: style, onclick: run }, text);
    this.begin = button("Start", () => void this.start(), "small main");
    this.back = button("Back", () => void this.take(this.moves.slice(0, -1)));
    this.back.title = "Take back the last step (Backspace)";
    fill(
      this.element,
      h("div", { class: "bar" }, this.begin, this.back, button("Random step", () => void this.take(this.moves, 1)), button("10 random steps", () => void this.take(this.moves, 10))),
      this.status,
      this.body,
    );
    fill(this.body, this.graph.element, this.choices, this.timeline.element);
    this.element.addEventListener("keydown", (event) => {
      if ((event.target as Element).closest("input, select")) return;
      if (event.key === "Backspace" && this.moves.length > 1) {
        event.preventDefault();
        void this.take(this.moves.slice(0, -1));
      }
      const digit = /^[1-9]$/.exec(event.key) && Number(event.key);
      if (digit) this.choices.querySelectorAll<HTMLButtonElement>("button.take")[digit - 1]?.click();
    });
    this.draw();
  }

  get isRunning(): boolean {
    return this.simulation !== null;
  }

  /** The model was changed: the run may not be one of the new model. */
  setOutdated(): void {
    if (!this.simulation || this.isOutdated) return;
    this.isOutdated = true;
    this.draw();
  }

  clear(): void {
    this.turn += 1;
    this.simulation = null;
    this.moves = [];
    this.isOutdated = false;
    this.graph.show(null);
    this.draw();
  }

  async start(): Promise<void> {
    try {
      this.graph.show(await this.actions.graph());
    } catch {
      // Without a graph there is still the list.
    }
    await this.take([]);
  }

  private async take(moves: Move[], random: number | null = null): Promise<void> {
    const turn = ++this.turn;
    this.element.setAttribute("aria-busy", "true");
    try {
      const simulation = await this.actions.simulate(moves, random);
      if (turn !== this.turn) return;
      this.simulation = simulation;
      this.moves = simulation.moves;
      this.at = simulation.timeline.steps.length - 1;
      this.isOutdated = false;
      this.draw(simulation.problem);
    } catch (problem) {
      if (turn === this.turn) this.draw(messageOf(problem));
    } finally {
      if (turn === this.turn) this.element.removeAttribute("aria-busy");
    }
  }

  private look(at: number): void {
    this.at = at;
    this.draw();
  }

  private draw(problem: string | null = null): void {
    const simulation = this.simulation;
    this.begin.textContent = simulation ? "Restart" : "Start";
    this.back.disabled = this.moves.length <= 1;
    for (const button of this.element.querySelectorAll<HTMLButtonElement>(".bar button")) {
      if (button !== this.begin && button !== this.back) button.disabled = !simulation;
    }
    this.body.hidden = !simulation;
    if (!simulation) {
      fill(this.status, problem ? h("span", { class: "fails" }, problem) : h("span", { class: "soft" }, "Walk through the model step by step: you choose the steps, by a click on a transition."));
      return;
    }
    const { timeline, failing } = simulation;
    const last = timeline.steps.length - 1;
    const now = timeline.steps[this.at];
    fill(
      this.status,
      problem ? h("span", { class: "fails" }, problem, " ") : null,
      this.isOutdated ? h("span", { class: "unknown" }, "The model was edited: Restart takes the new one. ") : null,
      failing.length > 0 ? h("span", { class: "fails" }, `False here: ${failing.join(", ")}. `) : null,
      this.at < last ? h("span", { class: "soft" }, `Looking at step ${now?.number}; the run is at step ${timeline.steps[last]?.number}. `) : null,
    );
    const before = timeline.steps.slice(0, this.at + 1);
    this.graph.mark({
      node: now?.node || null,
      transition: this.at === 0 ? null : (now?.transition ?? null),
      visited: new Set(before.map((s) => s.node)),
      taken: new Set(before.flatMap((s) => s.transition ?? [])),
    });
    const enabled = new Map<number, string>();
    for (const choice of simulation.choices) {
      if (choice.enabled !== false && choice.transition !== null) enabled.set(choice.transition, choice.label);
    }
    this.graph.offer(this.at === last ? enabled : new Map(), (transition) => {
      const choice = simulation.choices.find((c) => c.transition === transition);
      if (choice) this.choose(choice);
    });
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.choice;
    fill(
      this.choices,
      h("h3", {}, "Next step"),
      simulation.choices.length === 0 ? h("p", { class: "soft" }, "The run ends here: no step leaves this state.") : null,
      ...simulation.choices.map((choice) => this.choice(choice)),
    );
    if (focused !== undefined) {
      const again = this.choices.querySelector<HTMLElement>(`[data-choice="${CSS.escape(focused)}"]`) ?? this.choices.querySelector<HTMLElement>("button.take");
      again?.focus();
    }
    this.timeline.show(timeline, this.at);
  }

  private choice(choice: Choice): HTMLElement {
    const inputs = choice.parameters.map((parameter) =>
      h("label", {}, h("span", {}, parameter.name), this.input(parameter)),
    );
    const disabled = choice.enabled === false;
    const take = h(
      "button",
      { type: "button", class: "take", disabled, "data-choice": choice.action, title: disabled ? "Not possible in this state" : undefined, onclick: () => this.choose(choice) },
      choice.label,
    );
    const form = h("form", { class: `choice${disabled ? " disabled" : ""}`, "data-action": choice.action }, take, ...(disabled ? [] : inputs));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.choose(choice);
    });
    return form;
  }

  private input(parameter: Choice["parameters"][number]): HTMLElement {
    if (parameter.sort === "bool") {
      return h("select", { name: parameter.name }, h("option", { value: "" }, "any"), ...["true", "false"].map((v) => h("option", { value: v }, v)));
    }
    return h("input", { name: parameter.name, placeholder: parameter.suggestion ?? "any", size: 8, autocomplete: "off", "aria-label": `${parameter.name}: ${parameter.sort}` });
  }

  private choose(choice: Choice): void {
    const form = this.choices.querySelector<HTMLFormElement>(`form[data-action="${CSS.escape(choice.action)}"]`);
    const values: Record<string, string> = {};
    for (const field of form?.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select") ?? []) {
      const value = field.value.trim();
      if (value) values[field.name] = value;
    }
    void this.take([...this.moves, { action: choice.action, values }]);
  }
}
